"""A network whose only laws with modes are those of the load has no set-valued elements."""

from __future__ import annotations

from ...numerics.arrays import Indices
from ...system import Problem, System
from ..contract import Laws
from ..mode_state import ModeState
from .elements import Change, elements_of

__all__ = ["NoElements"]


class NoElements(Laws):
    """Nothing to decide."""

    def __init__(self, system: System) -> None:
        super().__init__(system, elements_of(system))
        self.state = ModeState(self.elements.kinds)

    def start(self, problem: Problem, t: float) -> None:
        """Nothing to choose."""

    def decide(self, problem: Problem, t: float, touched: Indices) -> list[Change]:
        return []

    def fresh(self) -> NoElements:
        return self

    def apply(self, problem: Problem, t: float) -> None:
        """No efforts to set."""
