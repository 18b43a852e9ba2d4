"""Does it matter when a guard is crossed, and whether it is?

Where slopes are the same on both sides of it and nothing jumps, as where a diode begins to conduct
with no current, a small change of the instant moves nothing: derivatives exist where the guard is
touched without speed, and where others are crossed with it [di Bernardo, Budd, Champneys &
Kowalczyk, Piecewise-smooth Dynamical Systems, 2008, 2.5].
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...exceptions import BlocksError
from ...numerics.arrays import Array, Indices

if TYPE_CHECKING:
    from ...simulation.recording import RunRecording
    from .equations import SensitivityEquations
    from .saltation import Jumps

__all__ = ["Crossings"]

SAME = 1e-6  # of the largest slopes of a run: what moves with an instant by less is none


class Crossings:
    """Slopes on both sides of guards of a run.

    Parameters
    ----------
    recording, equations : of the run
    jumps : at its events
    modes : of set-valued laws in all episodes
    guards : how many belong to relations and to set-valued laws
    """

    def __init__(self, recording: RunRecording, equations: SensitivityEquations, jumps: Jumps,
                 modes: Indices, guards: int) -> None:
        self._recording, self._equations, self._jumps = recording, equations, jumps
        self._modes, self._guards, self._nm = modes, guards, recording.system.nm

    def change_nothing(self, k: int, guards: Indices) -> bool:
        """Whether nothing depends on when each of some guards is crossed at the k-th event."""
        jumps = self._jumps
        before, after = (rates[k] for rates in jumps.sides.rates)
        if jumps.may_jump[k] or not self._are_same(before, after) or (guards >= self._guards).any():
            return False
        if jumps.samplings.active and jumps.samples.due(jumps.times[[k]]).any():
            return False
        # set-valued laws give the same slopes on both sides however many of them change
        time = float(jumps.times[k])
        return all(self._are_same(before, self._beyond(time, k, int(guard), before))
                   for guard in guards[guards < self._nm])

    def is_smooth(self, time: float, episode: int, guard: int) -> bool:
        """Whether nothing would depend on a guard that is touched in an episode."""
        slopes = self._slopes(time, episode)
        beyond = self._beyond(time, episode, guard, slopes)
        if self._is_diode(guard) and not np.isfinite(beyond).all():
            return True  # others keep it from conducting, or from opening: it takes no part
        return self._are_same(slopes, beyond)

    def _is_diode(self, guard: int) -> bool:
        elements = self._equations.elements
        if guard < self._nm or elements is None:
            return False
        element = (guard - self._nm) % elements.size
        return bool(elements.valve[element] and not elements.switch[element])

    def _are_same(self, one: Array, other: Array) -> bool:
        size = np.maximum(self._jumps.sides.sizes, np.abs(one))
        return bool(np.all(np.abs(one - other) <= SAME * size))

    def _slopes(self, time: float, episode: int) -> Array:
        if not self._equations.are_known_by_states:
            problem = self._recording.replay.solved_at(episode, time)
            return np.array(problem.system.slope(*problem.arguments(time)))
        return self._at(time, episode)

    def _at(self, time: float, episode: int, guard: int = -1) -> Array:
        """Slopes by states alone, with a guard crossed."""
        which = np.array([episode])
        point, _ = self._recording.replay.interpolated(np.array([time]), which)
        m, modes = point.m.copy(), self._modes[which].T.copy()
        if 0 <= guard < self._nm:
            m[guard] = 1.0 - m[guard]
        elif guard >= 0:  # room to the upper and to the lower bound, and what moves
            bound, element = divmod(guard - self._nm, len(modes))
            modes[element] = (1, -1, 0)[bound]
        return self._equations.columns.rates(replace(point, m=m), modes)[:, 0]

    def _beyond(self, time: float, episode: int, guard: int, here: Array) -> Array:
        """Slopes behind a guard; nan where they are not known."""
        if self._equations.are_known_by_states:
            return self._at(time, episode, guard)
        if guard >= self._nm:
            return np.full_like(here, np.nan)
        problem = self._recording.replay.solved_at(episode, time)
        problem.m[guard] = 1.0 - problem.m[guard]
        try:
            problem.settle(time)
        except BlocksError:
            return np.full_like(here, np.nan)
        return np.array(problem.system.slope(*problem.arguments(time)))
