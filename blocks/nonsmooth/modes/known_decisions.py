"""Which modes were chosen before, at the very same point of a run?

A run that is repeated comes to the same points to the last bit: what was found there need not be
searched for again, and numbers are those of the first run.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from ...numerics.arrays import Array, Indices
from ...numerics.cache import Cache
from ...system import Problem
from ..mode_state import ModeState

__all__ = ["KnownDecisions"]

MOST = 1000  # decisions of a system, of which each is a few hundred numbers


class _Decision(NamedTuple):
    """What a decision has left behind."""

    x: Array
    z: Array
    u: Array
    state: dict[str, Any]
    noise: Array | float  # of the modes taken


class KnownDecisions:
    """Decisions of all runs of a system."""

    def __init__(self) -> None:
        self._found: Cache[bytes, _Decision] = Cache(MOST)

    @staticmethod
    def key(problem: Problem, t: float, state: ModeState, touched: Indices) -> bytes:
        """All that a decision depends on."""
        numbers = [t, state.drift, state.least_flow, state.approach]
        parts = (problem.x, problem.z, problem.u, problem.p, problem.m, problem.d, problem.scale_x,
                 state.noise, np.array(numbers), state.largest, state.modes, touched)
        return b"|".join(np.ascontiguousarray(part).tobytes() for part in parts)

    def recall(self, key: bytes, problem: Problem, state: ModeState) -> Array | float | None:
        """Take the modes that were chosen; returns their noise, None where nobody has chosen."""
        if (found := self._found.get(key)) is None:
            return None
        problem.x[:], problem.z[:], problem.u[:] = found.x, found.z, found.u
        vars(state).update(deepcopy(found.state))
        return found.noise

    def note(self, key: bytes, problem: Problem, state: ModeState, noise: Array | float) -> None:
        """Keep what has just been chosen."""
        self._found.keep(key, _Decision(problem.x.copy(), problem.z.copy(), problem.u.copy(),
                                        deepcopy(vars(state)), noise))
