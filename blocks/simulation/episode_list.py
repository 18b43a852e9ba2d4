"""What is kept of all stretches of time without events of a run?"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import numpy as np

from ..numerics.arrays import Array, Indices
from .episode import Episode, StepTable
from .passed_events import PassedEpisodes

__all__ = ["EpisodeList"]

OBJECTS = 2000  # bytes of an episode and its course beside their arrays


class EpisodeList:
    """Episodes of a run, in the order of time, and what is constant in each, as arrays.

    Of those that a method has passed by itself only arrays are kept.
    """

    def __init__(self) -> None:
        self._parts: list[Episode | PassedEpisodes] = []
        self._firsts: list[int] = []  # number of the first episode of each part,
        self._first = np.zeros(0, dtype=int)  # and as an array, as of the last look
        self._count = 0
        self._ended = 0  # bytes of all parts but the last, and of what that holds beside its steps

    def append(self, part: Episode | PassedEpisodes) -> None:
        """Add an episode, or several, if any, that ended at the next event."""
        if not len(part):
            return
        if self._parts:
            self._ended += self._parts[-1].courses.nbytes
        self._parts.append(part)
        self._ended += self._bytes_beside(len(self._parts) - 1)
        self._firsts.append(self._count)
        self._count += len(part)

    # -- memory ----------------------------------------------------------------------------
    @property
    def nbytes(self) -> int:
        """Memory of what is kept."""
        return self._ended + sum(part.courses.nbytes for part in self._parts[-1:])

    def _bytes_beside(self, place: int) -> int:
        """What a part holds beside its steps that the one before does not."""
        known = {id(a) for a in self._parts[place - 1].arrays} if place else set()
        return OBJECTS + sum(a.nbytes for a in self._parts[place].arrays if id(a) not in known)

    def thin(self) -> float:
        """Give up about half of the steps; tells by how much values are off for that."""
        off = max((part.courses.thin() for part in self._parts), default=0.0)
        self._ended = sum(map(self._bytes_beside, range(len(self._parts)))) + sum(
            part.courses.nbytes for part in self._parts[:-1])
        return off

    def forget(self) -> None:
        """Give up all but the last episode, which goes on."""
        self._parts, self._firsts, self._count = self._parts[-1:], [0], 1
        self._first = np.zeros(1, dtype=int)
        self._ended = self._bytes_beside(0)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Episode]:
        return (part.episode(k) for part in self._parts for k in range(len(part)))

    def __getitem__(self, which: int) -> Episode:
        if not -self._count <= which < self._count:
            raise IndexError(which)
        number = int(which) % self._count
        place = bisect_right(self._firsts, number) - 1
        return self._parts[place].episode(number - self._firsts[place])

    def parts(self, which: Indices) -> Iterator[tuple[Episode | PassedEpisodes, slice, Indices]]:
        """Who knows some episodes: their places among ``which``, and their numbers there.

        Parameters
        ----------
        which : numbers of episodes; those of an episode stand together
        """
        if len(self._first) != len(self._firsts):
            self._first = np.array(self._firsts)
        of = np.searchsorted(self._first, which, side="right") - 1
        number = which - self._first[of]
        cuts = np.flatnonzero(np.diff(of)) + 1
        for a, b in zip(np.append(0, cuts), np.append(cuts, len(which)), strict=True):
            if b > a:
                yield self._parts[int(of[a])], slice(int(a), int(b)), number[a:b]

    # -- of all episodes -------------------------------------------------------------------
    @property
    def starts(self) -> Array:
        return np.hstack([part.start for part in self._parts])

    @property
    def ends(self) -> Array:
        return np.hstack([part.end for part in self._parts])

    @property
    def m(self) -> Array:
        """Which relations hold, a row per episode."""
        return np.vstack([part.m for part in self._parts], dtype=float)

    @property
    def modes(self) -> Indices:
        """Modes of set-valued laws, a row per episode."""
        return np.vstack([np.asarray(part.modes) for part in self._parts])

    @property
    def struck(self) -> list[tuple[tuple[int, int], ...]]:
        """Families and instances of the contacts struck at the start of each."""
        return [one for part in self._parts
                for one in ([part.struck] if isinstance(part, Episode) else part.struck)]

    @property
    def steps(self) -> StepTable:
        """The steps of all episodes."""
        starts, ends, which = zip(*(part.courses.steps() for part in self._parts), strict=True)
        return StepTable(np.concatenate(starts), np.concatenate(ends), np.concatenate(
            [of + first for of, first in zip(which, self._firsts, strict=True)]))
