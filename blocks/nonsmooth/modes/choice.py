"""Which laws does a network need: those of nodes with inertia, or those of nodes without mass?"""

from __future__ import annotations

from ...language.kernel import VALVES
from ...numerics.arrays import Indices
from ...system import Problem, System
from ..contract import Laws
from ..mode_state import ModeState
from .elements import Change, elements_of
from .law_functions import LawFunctions
from .laws import SetValuedLaws
from .massless_nodes import MasslessLaws, without_mass

__all__ = ["set_valued_laws"]


def set_valued_laws(system: System) -> Laws:
    """The set-valued laws of a system, at the start of a run."""
    if not system.network.set_valued:
        return _NoElements(system)
    if any(law.kind in VALVES for *_, law in system.network.set_valued) or without_mass(system):
        return MasslessLaws(system)
    return SetValuedLaws(system.once("laws", lambda: LawFunctions.of(system)))


class _NoElements(Laws):
    """Laws of a network in which only those of the load have modes: nothing to decide."""

    def __init__(self, system: System) -> None:
        super().__init__(system, elements_of(system))
        self.state = ModeState(self.elements.kinds)

    def start(self, problem: Problem, t: float) -> None:
        """Nothing to choose."""

    def decide(self, problem: Problem, t: float, touched: Indices) -> list[Change]:
        return []

    def fresh(self) -> _NoElements:
        return self

    def apply(self, problem: Problem, t: float) -> None:
        """No efforts to set."""
