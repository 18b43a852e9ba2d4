"""What do set-valued laws come to at the present point of a run?

The ground that decisions, switching functions and margins stand on: functions, modes and the
Delassus operator of one run, and values at a point.
"""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import (
    CANCELLATION,
    FOUR_LAST_BITS,
    LEAST_POSITION,
    NOTHING_AT_ALL,
    TERMS_ROUNDING,
)
from ...system import Problem
from ..mode_state import ModeState
from .delassus import Components, Delassus
from .elements import LawValues
from .law_functions import DENSE, LawFunctions
from .load_dependence import LoadDependence
from .memory import Memory

__all__ = ["Evaluation"]


class Evaluation:
    """Set-valued laws of one run at its present point."""

    def __init__(self, functions: LawFunctions) -> None:
        # what is the same in all runs
        self.functions, self.system, self.elements = functions, functions.system, functions.elements
        self.size = self.elements.size
        self.state = ModeState(self.elements.kinds)  # modes, and speeds so far
        runs = functions.runs if self.size <= DENSE else None
        self.memory = Memory(  # matrices that do not move
            runs, functions.matrix_parameters, functions.constant, functions.simple)
        self.delassus = Delassus(functions, self.memory)
        # rates and flows that are none
        self.rounding = _Rounding(functions, self.memory, self.state)
        # efforts and slopes in one or two evaluations, where the network is simple enough
        self.held_modes = functions.held_modes
        # bounds that depend on efforts, where there are any
        self.load = None if functions.bounds is None else LoadDependence(
            functions.bounds, self.delassus, self.state,
            affine=self.held_modes is not None and self.held_modes.affine)

    def values(self, problem: Problem, t: float) -> LawValues:
        """Flows, bounds and rates at the problem's present efforts."""
        out = self.functions.values(*problem.arguments(t)).reshape(7, self.size)
        return LawValues(*out)

    def efforts(self, problem: Problem) -> Array:
        """Present efforts of the elements."""
        return self.elements.efforts_of(problem.u)

    def components(self, problem: Problem, t: float) -> Components:
        """Number of the island of every element, by D and by bounds on efforts."""
        if self.load is not None:
            return self.load.components(problem, t)
        return self.delassus.components(problem, t)

    def connected_with(self, problem: Problem, t: float, some: Flags | Indices) -> Flags:
        """All elements of the islands of some."""
        islands = self.components(problem, t)
        found = np.zeros(islands.max(initial=0) + 1, dtype=bool)
        found[islands[some]] = True
        return np.asarray(found[islands])


class _Rounding:
    """Rounding of the flows of elements, and of their rates, near the present point."""

    def __init__(self, functions: LawFunctions, memory: Memory, state: ModeState) -> None:
        self.functions, self.memory, self.state = functions, memory, state

    def of_flows(self, problem: Problem, t: float, nothing: Array | float = 0.0) -> Array:
        """Flows that rounding alone may give to elements, or what is ``nothing`` of each state."""
        size = FOUR_LAST_BITS * np.maximum(np.abs(problem.x), problem.scale_x)
        return self.flow_magnitudes(problem, t, np.maximum(size, nothing))

    def of_rates(self, problem: Problem, t: float) -> Array:
        """Rates that are rounding only.

        Raises OverflowError if flows are so fast that their squares, as energies have them, are no
        numbers.
        """
        functions, args = self.functions, problem.arguments(t)
        square = np.array([speed**2 for speed in self.state.fast.tolist()])  # no number: raises
        slope = np.abs(functions.system.slope(*args))
        noise = TERMS_ROUNDING * self.flow_magnitudes(problem, t, slope)
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
        return noise + CANCELLATION * largest * (seen @ slope) + NOTHING_AT_ALL * square / far

    def flow_magnitudes(self, problem: Problem, t: float, size: Array) -> Array:
        """Flows of states of a size, each counted with its magnitude."""
        flow_x = self.functions.flow_x
        if self.functions.few:
            return self.memory.once_simple(problem.p, "reach", lambda: np.abs(
                flow_x.dense(*problem.arguments(t)))) @ size
        return abs(flow_x.sparse(*problem.arguments(t))) @ size
