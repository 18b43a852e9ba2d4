"""Which states do stuck elements hold at a constant value? What sticks does not creep."""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array, Indices
from ...numerics.tolerances import FLOW_NONE
from ...system import Problem
from .evaluation import Evaluation

__all__ = ["HeldStates"]


class HeldStates:
    """States that stuck elements hold: alone, or from one to the next."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation, self.state = evaluation, evaluation.state
        self._pattern: tuple[Indices, Indices] | None = None  # element and state of flow entries
        self._alone = False  # whether every flow is that of one state

    def of(self, problem: Problem, t: float) -> Indices:
        """The states that are held in the present modes."""
        memory = self.evaluation.memory
        if memory.constant:
            memory.recall(problem.p)
        return memory.once_in_run(("pins", self.state.modes.tobytes()),
                                  lambda: self._found(problem, t))

    def stop(self, slope: Array, problem: Problem, t: float) -> Array:
        """Slopes with the rounding of what is held removed."""
        held = self.of(problem, t)
        if len(held):
            slope[held] = 0.0
        return slope

    def creeping(self, problem: Problem, t: float) -> Indices:
        """Those that rounding has left in motion: what they add to the flows that hold them."""
        held = self.of(problem, t)
        if not problem.x[held].any():
            return held[:0]
        by_state = abs(self.evaluation.functions.flow_x.sparse(*problem.arguments(t))).tocoo()
        stuck = self.state.modes[by_state.row] == 0
        element, state = by_state.row[stuck], by_state.col[stuck]
        moves = by_state.data[stuck] * np.abs(problem.x[state])
        creeps = np.zeros(len(problem.x), dtype=bool)
        creeps[state[moves <= FLOW_NONE * self.state.fast[element]]] = True
        return held[creeps[held]]

    def _found(self, problem: Problem, t: float) -> Indices:
        evaluation, size = self.evaluation, self.evaluation.size
        if self._pattern is None:
            starts, states = evaluation.functions.flow_x.by_rows
            entries_of = np.diff(starts)
            self._pattern = np.repeat(np.arange(size), entries_of), states
            self._alone = bool((entries_of == 1).all())
        dead = evaluation.delassus.immovable(problem, t)
        holds = (self.state.modes == 0) & ~evaluation.functions.flow_varies & ~dead
        held = holds[self._pattern[0]]
        element, state = (entries[held] for entries in self._pattern)
        free, count = np.ones(evaluation.system.nx, dtype=bool), 0
        if self._alone:
            free[state] = False
            return np.flatnonzero(~free)
        while True:
            single = np.bincount(element[free[state]], minlength=size) == 1
            free[state[single[element]]] = False
            if np.count_nonzero(~free) == count:
                return np.flatnonzero(~free)
            count = int(np.count_nonzero(~free))
