"""Which flows and rates are rounding only?"""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array
from ...numerics.tolerances import (
    LEAST_POSITION,
    RATE_ROUNDING,
    RATE_ROUNDING_OF_NORMALS,
    RATE_ROUNDING_OF_TURNING,
)
from ...system import Problem
from ..mode_state import ModeState
from .law_functions import LawFunctions
from .memory import Memory

__all__ = ["Rounding"]


class Rounding:
    """Rounding of the flows of elements, and of their rates, near the present point."""

    def __init__(self, functions: LawFunctions, memory: Memory, state: ModeState) -> None:
        self.functions, self.memory, self.state = functions, memory, state

    def of_flows(self, problem: Problem, t: float) -> Array:
        """Flows that rounding alone may give to elements."""
        size = np.maximum(np.abs(problem.x), problem.scale_x)
        return 4 * np.finfo(float).eps * self.flow_magnitudes(problem, t, size)

    def of_rates(self, problem: Problem, t: float) -> Array:
        """Rates that are rounding only.

        Raises
        ------
        OverflowError
            If flows are so fast that their squares, as energies have them, are no numbers.
        """
        functions, args = self.functions, problem.arguments(t)
        square = np.array([speed**2 for speed in self.state.fast.tolist()])  # no number: raises
        slope = np.abs(functions.system.slope(*args))
        noise = RATE_ROUNDING * self.flow_magnitudes(problem, t, slope)
        if not functions.turns or not functions.system.nx:
            return noise
        # a normal has its rounding in either direction, and it turns
        if functions.few:
            by_x = np.abs(functions.flow_x.dense(*args))
            largest, seen = by_x.max(axis=1, initial=0.0), functions.flow_x.mask
        else:
            by_x = abs(functions.flow_x.sparse(*args))
            largest, seen = by_x.max(axis=1).toarray().ravel(), by_x
            np.asarray(seen.data)[:] = 1.0
        far = max(float(np.abs(problem.x).max(initial=0.0)), LEAST_POSITION)
        return noise + RATE_ROUNDING_OF_NORMALS * largest * (
            seen @ slope) + RATE_ROUNDING_OF_TURNING * square / far

    def flow_magnitudes(self, problem: Problem, t: float, size: Array) -> Array:
        """Flows of states of a size, each counted with its magnitude."""
        flow_x = self.functions.flow_x
        if self.functions.few:
            return self.memory.once_simple(problem.p, "reach", lambda: np.abs(
                flow_x.dense(*problem.arguments(t)))) @ size
        return abs(flow_x.sparse(*problem.arguments(t))) @ size
