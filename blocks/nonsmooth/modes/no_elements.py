"""A network whose only laws with modes are those of the load has no set-valued elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...numerics.arrays import Indices
from ..contract import Laws
from .elements import Change, elements_of

if TYPE_CHECKING:
    from ...system import Problem, System

__all__ = ["NoElements"]


class NoElements(Laws):
    """Nothing to decide."""

    def __init__(self, system: System) -> None:
        super().__init__(system, elements_of(system))

    @property
    def modes(self) -> Indices:
        return np.zeros(0, dtype=int)

    @modes.setter
    def modes(self, value: Indices) -> None:
        """There are none to set."""

    def start(self, problem: Problem, t: float) -> None:
        """Nothing to choose."""

    def decide(self, problem: Problem, t: float, touched: Indices) -> list[Change]:
        return []

    def fresh(self) -> NoElements:
        return self

    def apply(self, problem: Problem, t: float) -> None:
        """No efforts to set."""
