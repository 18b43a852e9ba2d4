"""What is kept of a stretch of time without events?"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from ..numerics.arrays import Array, Indices
from ..numerics.tolerances import TINY
from ..solvers.base import KeptCourse
from ..system.problem import Problem

__all__ = ["Episode", "StepTable"]

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
    #: Tied states and unknowns of nonlinear loops at times within it, where the trajectory does not
    #: hold them.
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

    def expected(self, t: float) -> Array:
        """About what is solved for at a time: on the straight line between the marks around it."""
        marks = self.marks or []
        k = bisect_right(marks, t, key=lambda mark: mark[0])
        (before, old), (after, new) = marks[k - 1], marks[min(k, len(marks) - 1)]
        return old if after == before else old + (t - before) / (after - before) * (new - old)

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
