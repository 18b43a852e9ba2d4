"""What do all two-ports of a domain share?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ..exceptions import EquationError
from .component import Component
from .declarations import Declaration, Port, Variable
from .domain import Domain

__all__ = ["Branch"]


class Branch(Component):
    """Base of two-ports of a domain with ports R and C.

    A domain's base is made once, ``class TwoPort(Branch, domain=translational)``,
    and gives its subclasses the ports R and C, one variable per through
    variable (positive from R to C) and one per across variable (R minus C).
    """

    def __init_subclass__(cls, domain: Domain | None = None, **kwargs: Any) -> None:
        if domain is not None:
            made: dict[str, Declaration] = {
                "R": Port(domain, doc="rod side, positive end"),
                "C": Port(domain, doc="case side"),
            }
            for name, u in domain.across.items():
                made[name] = Variable(u, doc=f"{name} of R minus {name} of C")
            for name, u in domain.through.items():
                made[name] = Variable(u, doc=f"{name} carried from R to C")
            for name, declaration in made.items():
                if name not in vars(cls):
                    declaration.name = name
                    setattr(cls, name, declaration)
            cls._branch_domain = domain
        super().__init_subclass__(**kwargs)

    _branch_domain: ClassVar[Domain | None] = None

    def port_equations(self) -> Iterator[Any]:
        domain = self._branch_domain
        if domain is None:
            raise EquationError(type(self).__name__, "this branch has no domain.",
                                "Write class MyBranch(Branch, domain=translational).")
        for name in domain.across:
            yield getattr(self, name) == getattr(self.R, name) - getattr(self.C, name)
        for name in domain.through:
            yield getattr(self.R, name) == getattr(self, name)
            yield getattr(self.C, name) == -getattr(self, name)
