"""What was found at the times at which a run is shown, kept from one variable to the next?"""

from __future__ import annotations

from ..numerics.arrays import Array, Indices
from ..system.points import Points
from .replay import Replay
from .wanted import Wanted

__all__ = ["KeptPoints"]


class KeptPoints:
    """Points of a run at some times, each solved for when it is first needed.

    Parameters
    ----------
    replay : of the run
    t, which : times, and the numbers of the episodes that they are in

    Attributes
    ----------
    looked_at : whether anybody has seen how far states move
    """

    looked_at = False

    def __init__(self, replay: Replay, t: Array, which: Indices) -> None:
        self.replay, self.which = replay, which
        self.states, self.incomplete = replay.interpolated(t, which)
        self._solved: dict[bool, Points] = {}  # by whether undetermined efforts are split

    def points(self, wanted: Wanted) -> Points:
        """Points that hold what is wanted."""
        if not self.replay.must_solve(self.incomplete, wanted):
            return self.states
        self.states = self.replay.with_modes(self.states, self.which)
        split = self.replay.must_split(self.states, wanted)
        if split not in self._solved:
            everything = Wanted.all_of(self.replay.system, split)
            self._solved[split] = self.replay.solved(
                self.states, self.which, self.incomplete, everything)
        return self._solved[split]
