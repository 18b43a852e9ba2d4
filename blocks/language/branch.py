"""What do all two-ports of a domain share?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ..exceptions import EquationError
from ..units import as_unit
from .component import Component
from .declarations import Declaration, Port, Variable
from .domain import Domain

__all__ = ["Branch"]


class Branch(Component):
    """Base of two-ports of a domain.

    A domain's base is made once, ``class TwoPort(Branch, domain=electrical,
    ports=("p", "n"))``, and gives its subclasses the two ports (R and C where no
    others are named), one variable per through variable (positive from the first port to
    the second) and one per across variable (the first minus the second).

    Parameters
    ----------
    domain : Domain
    ports : pair of str
        Names of the ports, the positive end first.
    """

    def __init_subclass__(cls, domain: Domain | None = None,
                          ports: tuple[str, str] = ("R", "C"), **kwargs: Any) -> None:
        if domain is not None:
            first, second = ports
            made: dict[str, Declaration] = {
                first: Port(domain, doc="rod side, positive end" if first == "R" else
                            "positive end"),
                second: Port(domain, doc="case side" if second == "C" else "negative end"),
            }
            for name, u in domain.across.items():
                made[name] = Variable(as_unit(u).as_difference,
                                      doc=f"{name} of {first} minus {name} of {second}")
            for name, u in domain.through.items():
                made[name] = Variable(u, doc=f"{name} carried from {first} to {second}")
            for name, declaration in made.items():
                if name not in vars(cls):
                    declaration.name = name
                    setattr(cls, name, declaration)
            cls._branch_domain, cls._branch_ports = domain, (first, second)
        super().__init_subclass__(**kwargs)

    _branch_domain: ClassVar[Domain | None] = None
    _branch_ports: ClassVar[tuple[str, str]] = ("R", "C")

    def port_equations(self) -> Iterator[Any]:
        domain = self._branch_domain
        if domain is None:
            raise EquationError(type(self).__name__, "this branch has no domain.",
                                "Write class MyBranch(Branch, domain=translational).")
        first, second = (getattr(self, name) for name in self._branch_ports)
        for name in domain.across:
            yield getattr(self, name) == getattr(first, name) - getattr(second, name)
        for name in domain.through:
            yield getattr(first, name) == getattr(self, name)
            yield getattr(second, name) == -getattr(self, name)
