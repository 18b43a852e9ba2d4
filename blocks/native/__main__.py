"""``python -m blocks.native``: compile the steps now and keep them on disk."""

from __future__ import annotations

from .. import Component, Model, Variable, der, quantity
from ..exceptions import MissingPackage


class Decay(Component):
    """x' = -x / (1 s)."""

    x = Variable("1", "1", priority="high")

    def equations(self):  # type: ignore[no-untyped-def]
        yield der(self.x) == -self.x / quantity("1 s")


def main() -> None:
    model = Model("decay")
    model.part = Decay()
    try:
        result = model.simulate("1 s", method="dopri5")
    except MissingPackage as error:
        raise SystemExit(str(error)) from error
    print(f"The compiled method is ready: exp(-1) = {result['part.x'].final:.9f~P}")


if __name__ == "__main__":
    main()
