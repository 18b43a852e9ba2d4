"""What came of several runs of one system, read together."""

from __future__ import annotations

import numpy as np

from ..native.columns import LANES, column_values
from ..native.costs import is_written
from ..native.joined_courses import JoinedCourses
from ..numerics.arrays import Array, Indices, Matrix
from ..system.evaluator import Evaluator
from ..system.points import Points, modes_in
from ..system.problem import Problem
from .episode import StepTable
from .replay import READING
from .shown_times import times_of_steps
from .wanted import Wanted

__all__ = ["SeveralRuns"]


class SeveralRuns:
    """Runs with exact friction alone, which machine code has carried out whole.

    Parameters
    ----------
    problem : of any of them; it is copied
    courses : of all runs
    p : (runs, parameters)
    """

    def __init__(self, problem: Problem, courses: JoinedCourses, p: Matrix) -> None:
        self.problem, self.courses, self.p = problem.copy_for_reading(), courses, p
        self._modes: Indices = courses.constants("modes").astype(int)
        table = StepTable(*courses.steps())
        run_of_step = courses.run[table.which]
        #: Times at which runs are shown, and the pieces that they are in.
        self.times, self.pieces = times_of_steps(
            table, np.searchsorted(run_of_step, np.arange(len(p))), resolved=True)
        #: The first of these times of each run.
        self.first: Indices = np.searchsorted(courses.run[self.pieces], np.arange(len(p)))
        self._shown: Array | None = None  # states there

    def values(self, function: Evaluator, wanted: Wanted) -> Array:
        """A function of what the system's functions take at the times of all runs."""
        if self._shown is None:
            self._shown = self._states(self.times, self.pieces)
        return self._values(function, wanted, self.times, self.pieces, self._shown)

    def values_at(self, function: Evaluator, wanted: Wanted, runs: Indices, times: Array) -> Array:
        """The same at times of some runs; just after events."""
        order = np.argsort(runs, kind="stable")
        times, numbers = times[order], np.arange(len(self.p) + 1)
        cuts = np.searchsorted(runs[order], numbers).tolist()
        starts = np.searchsorted(self.courses.run, numbers).tolist()
        pieces = np.concatenate([low + np.maximum(np.searchsorted(
            self.courses.events.times[low:high], times[a:b], side="right") - 1, 0)
            for a, b, low, high in zip(cuts, cuts[1:], starts, starts[1:], strict=False)])
        found = self._values(function, wanted, times, pieces, self._states(times, pieces))
        out = np.empty_like(found)
        out[:, order] = found
        return out

    def at_start(self, function: Evaluator, wanted: Wanted) -> Array:
        """The same at the starts of all runs."""
        times, pieces = self.times[self.first], self.pieces[self.first]
        return self._values(function, wanted, times, pieces, self._states(times, pieces)).T

    def _states(self, times: Array, pieces: Indices) -> Array:
        with READING:
            return self.courses.values(times, pieces).T

    def _values(self, function: Evaluator, wanted: Wanted, times: Array, pieces: Indices, x: Array
                ) -> Array:
        system, asked = self.problem.system, len(times)
        if asked < LANES:  # as many as machine code looks at at a time, the last one again
            some = np.minimum(np.arange(LANES), asked - 1)
            times, pieces, x = times[some], pieces[some], x[:, some]
        runs, count = self.courses.run[pieces], len(times)
        p = self.p[0] if len(self.p) == 1 else self.p[runs].T
        points = Points(times, x, np.zeros((0, count)), p, np.zeros((0, count)),
                        np.zeros((0, count)), np.zeros((system.nu, count)))
        with READING:
            if wanted.of_efforts:
                self._find_efforts(points, wanted, pieces, runs)
            values = column_values(function, points) if is_written(function) else (
                points.values(function))
        return values[:, :asked]

    def _find_efforts(self, points: Points, wanted: Wanted, pieces: Indices, runs: Indices
                      ) -> None:
        """Fill in the efforts at points, run by run; nan where that takes more."""
        problem = self.problem
        cuts = np.append(np.flatnonzero(np.diff(runs, prepend=-1)), len(runs))
        for a, b in zip(cuts[:-1], cuts[1:], strict=True):
            problem.p = self.p[runs[a]]
            here = Points(points.t[a:b], points.x[:, a:b], points.z[:, a:b], problem.p,
                          points.m[:, a:b], points.d[:, a:b], points.u[:, a:b],
                          modes_in(self._modes, pieces[a:b]))
            left_open = problem.laws.open_inputs(problem, here)
            split = wanted.split and bool((wanted.inputs & left_open).any())
            found = problem.laws.inputs_at(problem, here, split)
            points.u[:, a:b] = np.nan if found is None else np.where(found[1], found[0], np.nan)

