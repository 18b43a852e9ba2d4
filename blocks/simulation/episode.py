"""What is kept of the stretches of time without events, and of all of them in a run?"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np

from ..numerics.arrays import Array, Indices
from ..numerics.tolerances import TINY
from ..solvers.trajectory import KeptCourse
from ..system.problem import Problem

if TYPE_CHECKING:
    from .passed_events import PassedEpisodes

__all__ = ["Episode", "EpisodeList", "StepTable"]

OBJECTS = 2000  # bytes of an episode and its course beside their arrays
FEWEST_SAMPLES = 200  # also what the longest step has its share of
FEWEST_IN_STEP = 6
MANY_STEPS = 2000


@dataclass
class Episode:
    """A stretch of time without events.

    Relations, discrete values, modes and the choice of integrated states are constant in it.
    """

    trajectory: KeptCourse
    m: Array
    d: Array
    tied: Indices
    x: Array  # full states, unknowns and inputs at the start, as first guess
    z: Array
    u: Array
    modes: Indices | None = None  # of set-valued laws, where there are any
    struck: tuple[tuple[int, int], ...] = ()  # (family, instance) of contacts struck at its start
    #: Torn unknowns of nonlinear loops at times within it, where the trajectory does not hold them.
    marks: list[tuple[float, Array]] | None = None

    @classmethod
    def begun(cls, problem: Problem, trajectory: KeptCourse,
              struck: tuple[tuple[int, int], ...] = ()) -> Episode:
        """The episode that begins at a problem's present point."""
        return cls(
            trajectory, problem.m.copy(), problem.d.copy(), problem.tied.copy(),
            problem.x.copy(), problem.z.copy(), problem.u.copy(),
            None if problem.laws is None else problem.laws.modes.copy(), struck,
        )  # fmt: skip

    @property
    def arrays(self) -> list[Array | Indices]:
        """What is kept beside the trajectory."""
        every = (self.m, self.d, self.tied, self.x, self.z, self.u, self.modes)
        return [a for a in every if a is not None] + [z for _, z in self.marks or ()]

    def marks_around(self, t: float) -> list[tuple[float, Array]]:
        """The last time up to another one at which torn unknowns are known, and the next, with
        these."""
        marks, begin = self.marks or [], (self.start, self.z)
        k = bisect_right(marks, t, key=lambda mark: mark[0])
        before = marks[k - 1] if k else begin
        return [before, marks[k] if k < len(marks) else before]

    @property
    def start(self) -> float:
        return self.trajectory.start

    @property
    def end(self) -> float:
        return self.trajectory.end

    # -- as of several at once, see PassedEpisodes -----------------------------------------
    def __len__(self) -> int:
        return 1

    @property
    def courses(self) -> KeptCourse:
        return self.trajectory

    def discrete_values(self, number: Indices) -> Array:
        return self.d[:, None]

    def episode(self, number: int) -> Episode:
        return self


@dataclass(frozen=True)
class StepTable:
    """The steps of a run; an episode without any has one of no length.

    Attributes
    ----------
    starts, ends : (k,) of the steps
    which : (k,) numbers of their episodes
    """

    starts: Array
    ends: Array
    which: Indices

    @property
    def last(self) -> Array:
        """Whether a step is the last one of its episode."""
        return np.diff(self.which, append=-1) != 0

    def shown(self, first: Indices, resolved: bool, fewest_in_step: int = FEWEST_IN_STEP
              ) -> tuple[Array, Indices]:
        """Times at which runs are shown if none are asked for, ends of all steps and some between,
        and their episodes.

        Parameters
        ----------
        first : (runs,) the first step of each run, one run after the other
        resolved : whether steps are as short as curves need them; those without states only see
            every wave of the sources
        fewest_in_step : parts of every step that is not very short
        """
        run = np.repeat(np.arange(len(first)), np.diff(first, append=len(self.ends)))
        length = self.ends - self.starts
        steps = np.add.reduceat((length > 0).astype(np.int64), first)
        # high-order methods take long steps; the curve between is known
        fewest = np.maximum(fewest_in_step, np.ceil(FEWEST_SAMPLES / np.maximum(steps, 1)))
        whole = self.ends[np.append(first[1:], len(run)) - 1] - self.starts[first]
        short = np.where(resolved & (steps >= MANY_STEPS), whole / MANY_STEPS, 0.0)
        share = np.ceil(length / np.maximum(whole, TINY)[run] * FEWEST_SAMPLES)
        parts: Indices = np.maximum(fewest[run], share).astype(int)
        parts[length <= short[run]] = 1
        parts[length <= 0] = 0
        counts = parts + self.last.astype(np.int64)
        step = np.repeat(np.arange(len(counts)), counts)
        number = np.arange(len(step)) - np.repeat(np.cumsum(counts) - counts, counts)
        inside = self.starts[step] + (length / np.maximum(parts, 1))[step] * number
        times = np.where(number < parts[step], inside, self.ends[step])
        return times, self.which[step]


class EpisodeList(Sequence[Episode]):
    """Episodes of a run, in the order of time, and what is constant in each, as arrays.

    Of those that a method has passed by itself only arrays are kept.
    """

    def __init__(self) -> None:
        self._parts: list[Episode | PassedEpisodes] = []
        self._firsts: list[int] = []  # number of the first episode of each part,
        self._first = np.zeros(0, dtype=int)  # and as an array, as of the last look
        self._count = 0
        self._ended = 0  # bytes of all parts but the last, and of what that holds beside its steps

    def append(self, episode: Episode) -> None:
        """Add an episode."""
        self._add(episode)

    def extend(self, passed: PassedEpisodes) -> None:  # type: ignore[override]
        """Add episodes that a method has passed, and the one that goes on from there."""
        if len(passed):
            self._add(passed)
        self._add(passed.last)

    def _add(self, part: Episode | PassedEpisodes) -> None:
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
        part = self._parts[place]
        if not isinstance(part, Episode):
            return 0
        known: set[int] = set()
        if place:
            before = self._parts[place - 1]
            known = {id(a) for a in (
                before.arrays if isinstance(before, Episode) else [before.u])}
        return OBJECTS + sum([a.nbytes for a in part.arrays if id(a) not in known])

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

    @overload
    def __getitem__(self, which: int) -> Episode: ...

    @overload
    def __getitem__(self, which: slice) -> list[Episode]: ...

    def __getitem__(self, which: int | slice) -> Episode | list[Episode]:
        if isinstance(which, slice):
            return [self[k] for k in range(*which.indices(len(self)))]
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
        return np.vstack([part.m for part in self._parts])

    @property
    def modes(self) -> Indices:
        """Modes of set-valued laws, a row per episode."""
        return np.vstack([np.asarray(part.modes) for part in self._parts])

    @property
    def courses(self) -> list[KeptCourse]:
        """What knows the values of the integrated unknowns, of one episode or of several."""
        return [part.courses for part in self._parts]

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
