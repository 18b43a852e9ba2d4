"""What has a flow carried last, where nothing flows any more?

The equations say nothing of it there, and nothing depends on it: it is shown as it was when the
flow ceased, whichever times are looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..numerics.arrays import Array
from ..system.failure import AlgebraicFailure

if TYPE_CHECKING:
    from .replay import Replay

__all__ = ["LastValues"]

LOOKS = 1 - np.array([1e-9, 1e-6, 1e-3, 0.5, 1 - 1e-9])  # of an episode, the last one first
HALVINGS = 40  # until a flow has ceased
EPISODES_BACK = 1000


class LastValues:
    """Finds them in the episodes of a run.

    Parameters
    ----------
    replay : brings points of the run back
    """

    def __init__(self, replay: Replay) -> None:
        self.replay = replay

    def kept(self, number: int, times: Array, found: Array) -> Array:
        """Unknowns at times of an episode, what is left open there with its last value.

        Parameters
        ----------
        number : of the episode
        times : (k,)
        found : (unknowns, k) solutions there
        """
        replay, z, last = self.replay, found.copy(), None
        for k, t in enumerate(times.tolist()):
            try:
                problem = replay.solved_at(number, t, z[:, k])
                if not problem.unknowns.left_open:
                    last = None
                    continue
                if last is None:
                    last = self._before(number, t)
                z[:, k] = replay.solved_at(number, t, last).z
            except AlgebraicFailure:
                last = None
        return z

    def _before(self, number: int, t: float) -> Array:
        """Unknowns when all of them were last determined; as the run began, if they never were."""
        for k in range(number, max(number - EPISODES_BACK, -1), -1):
            episode = self.replay.episodes[k]
            end = t if k == number else episode.end
            later = end
            for at in (episode.start + LOOKS * (end - episode.start)).tolist():
                if self._is_determined(k, at):
                    return self._until_ceased(k, at, later)
                later = at
        return np.array(self.replay.episodes[0].z)

    def _until_ceased(self, number: int, low: float, high: float) -> Array:
        """Unknowns at the last time before ``high`` at which all of them are determined."""
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            if not low < middle < high:
                break
            low, high = (middle, high) if self._is_determined(number, middle) else (low, middle)
        return self.replay.solved_at(number, low).z.copy()

    def _is_determined(self, number: int, t: float) -> bool:
        try:
            return not self.replay.solved_at(number, t).unknowns.left_open
        except AlgebraicFailure:
            return False
