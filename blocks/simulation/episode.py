"""What is kept of a stretch of time without events?"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from ..numerics.arrays import Array, Indices
from ..solvers.base import Course
from ..system.problem import Problem

__all__ = ["Episode", "StepTable"]


@dataclass
class Episode:
    """A stretch of time without events.

    Relations, discrete values, modes and the choice of integrated states are constant in it.
    """

    trajectory: Course
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
    def begun(cls, problem: Problem, trajectory: Course,
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
    def courses(self) -> Course:
        return self.trajectory

    @property
    def steps(self) -> StepTable:
        t = self.trajectory.t
        if len(t) < 2:
            t = t[[0, 0]]
        return StepTable(t[:-1], t[1:], np.zeros(len(t) - 1, dtype=int))

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
