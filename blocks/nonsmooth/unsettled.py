"""What is said where a search has used up its rounds: a guess is no answer."""

from __future__ import annotations

from collections.abc import Iterable

from ..exceptions import SimulationError

__all__ = ["unsettled"]


def unsettled(names: Iterable[str], t: float, what: str, advice: str = "") -> SimulationError:
    """The error for elements whose laws, looked at again and again, do not come to one answer.

    ``names`` are paths of the elements, at least one; ``what`` was sought, such as "modes at rest".
    """
    paths = list(dict.fromkeys(names))
    return SimulationError(
        ", ".join(paths[:5]),
        f"at t = {t:.9g} s no {what} were found that obey the laws of friction and contact: what "
        "each of these elements can hold depends on the others, and no answer fits all.",
        advice or "Let one of the contacts yield (a spring with a damper), or lower the "
        "coefficients of friction.", code="simulation.unsettled", time=float(t),
        variables=tuple(paths),
    )  # fmt: skip
