"""Which states do stuck elements hold at a constant value? What sticks does not creep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...machine.functions import machine_code
from ...numerics.arrays import Array, Flags, Indices, Vector
from ...numerics.tolerances import FLOW_NONE, INSTANT, SHORT_TIME, SHORTEST_INSTANT
from ...system import Problem

if TYPE_CHECKING:
    from .evaluation import Evaluation

__all__ = ["HeldStates", "hold_states", "next_instant"]


class HeldStates:
    """States that stuck elements hold: alone, or from one to the next."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation, self.state = evaluation, evaluation.state

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
        """Held states that only rounding moves, by what they add to flows of stuck elements."""
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
        functions, free = self.evaluation.functions, np.ones(self.evaluation.system.nx)
        holds = ~functions.flow_varies & ~self.evaluation.delassus.immovable(problem, t)
        hold_states(*functions.flow_x.by_rows, free, self.state.modes.astype(float), holds)
        return np.flatnonzero(free == 0.0)


@machine_code
def hold_states(flow_starts: Indices, flow_states: Indices, free: Vector, modes: Vector,
                holds: Flags) -> None:
    """Hold the states of what sticks: alone, or from one element to the next."""
    again = True
    while again:
        again = False
        for e in range(modes.size):
            if modes[e] == 0.0 and holds[e]:
                again |= _hold_last_state(flow_starts, flow_states, free, e)


@machine_code
def _hold_last_state(flow_starts: Indices, flow_states: Indices, free: Vector, e: int) -> bool:
    """Hold the state of an element's flow that alone is free still; whether there is one."""
    count, last = 0, 0
    for j in range(flow_starts[e], flow_starts[e + 1]):
        if free[flow_states[j]] != 0.0:
            count += 1
            last = flow_states[j]
    if count == 1:
        free[last] = 0.0
    return count == 1


@machine_code
def next_instant(slope: Vector, x: Vector) -> float:
    """How much later it is seen, with the present modes held, who moves where rounding tells."""
    fastest = far = 0.0
    for i in range(x.size):
        fastest, far = max(fastest, abs(slope[i])), max(far, abs(x[i]))
    h = INSTANT * (far / fastest if fastest > 0.0 else 1.0)
    return min(max(h, SHORTEST_INSTANT), SHORT_TIME)
