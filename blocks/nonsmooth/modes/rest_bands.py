"""Which elements does a band of velocity hold at rest, as long as the load is below a strength?"""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import LEAST_CHANGE_LOADED
from ...system import Problem
from .load_functions import LoadFunctions

__all__ = ["RestBands"]


class RestBands:
    """Elements with a law of the load and a band of rest, in one run.

    Attributes
    ----------
    held : which of them are held
    """

    def __init__(self, functions: LoadFunctions) -> None:
        self.functions, self.elements = functions, functions.elements
        self.index = self.elements.resting
        self.size = len(self.index)
        self.held: Flags = np.zeros(self.size, dtype=bool)
        self._way: Indices = np.ones(self.size, dtype=int)  # in which they moved off

    @property
    def modes(self) -> Indices:
        """0 where they are held, else the way in which they moved off."""
        return np.where(self.held, 0, self._way)

    @modes.setter
    def modes(self, value: Indices) -> None:
        self.held, self._way = value == 0, np.where(value == 0, self._way, value)

    def margins(self, problem: Problem, t: float) -> Array:
        """Negative where a mode no longer holds."""
        if not self.size:
            return np.zeros(0)
        flow, load, band, strength = self._values(problem, t)
        room = strength - np.abs(load)
        return np.where(self.held, room, np.maximum(np.abs(flow) - band, -room))

    def start(self, problem: Problem, t: float) -> None:
        """Hold what is within its band and loaded less than its strength."""
        if not self.size:
            return
        flow, load, band, strength = self._values(problem, t)
        self._hold(problem, t, (np.abs(flow) <= band) & (np.abs(load) < strength))
        self._way = np.where(self.held, 1, np.where(flow < 0, -1, 1))

    def switch(self, problem: Problem, t: float, touched: Indices) -> None:
        """Let go what is held of the elements touched, and hold what is not."""
        if not self.size:
            return
        own = np.zeros(self.size, dtype=bool)
        own[touched] = True
        load = self._values(problem, t)[1]
        self._way = np.where(self.held & own, np.where(load < 0, -1, 1), self._way)
        self._hold(problem, t, self.held ^ own)

    def stop(self, slope: Array, problem: Problem, t: float) -> Array:
        """Slopes with the rounding of what is held removed."""
        if self.held.any():
            slope[self._held_states(problem, t)] = 0.0
        return slope

    def _values(self, problem: Problem, t: float) -> tuple[Array, Array, Array, Array]:
        """Flows, loads, bands and strengths."""
        flow, band, strength = self.functions.flow(*problem.arguments(t)).reshape(3, -1)
        load = self.elements.loads_of(problem.u)
        return flow[self.index], load[self.index], band[self.index], strength[self.index]

    def _hold(self, problem: Problem, t: float, held: Flags) -> None:
        """Hold these elements; flows of those that were not held before are set to zero."""
        new, self.held = bool(np.any(held & ~self.held)), held
        if not new:
            return
        index = self.index[held]
        args = problem.arguments(t)
        by_u = problem.system.slope_u.sparse(*args)[:, self.elements.effort_at]
        push = by_u.multiply(self.elements.effort_sign).tocsc()
        d = -(self.functions.flow_x.sparse(*args) @ push)[index][:, index].toarray()
        flow = self.functions.flow(*args)[index]
        problem.x += push[:, index] @ np.linalg.lstsq(d, flow, rcond=LEAST_CHANGE_LOADED)[0]
        problem.x[self._held_states(problem, t)] = 0.0
        problem.solve_algebraic(t)

    def _held_states(self, problem: Problem, t: float) -> Indices:
        """States that are, alone, the flow of an element that is held."""
        rows = self.functions.flow_x.sparse(*problem.arguments(t)).tocsr()[self.index[self.held]]
        single = np.flatnonzero(np.diff(rows.indptr) == 1)
        return rows.indices[rows.indptr[single]]
