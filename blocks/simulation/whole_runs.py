"""Runs of one system that machine code carries out whole, begun without what they have in common.

Nothing is said of a run that is not one of these: who asks for it runs it in the ordinary way
(:mod:`blocks.simulation.run`), which tells what is to be told. What such runs come to is the same
to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..exceptions import BlocksError
from ..native.courses import Course, joined
from ..native.method import OneStep
from ..native.own_events import EventRules
from ..numerics.arrays import Array, Indices, Matrix
from ..numerics.tolerances import LEAST_ERROR
from ..system.evaluator import Evaluator
from ..system.failure import AlgebraicFailure
from ..system.points import Points, modes_in
from ..system.problem import Problem
from .auto import begins_with
from .episode import StepTable
from .event_log import CHATTER, are_crowded
from .method_choice import running_method
from .replay import READING
from .run_start import laws_at_events
from .time_events import TimeEvents
from .wanted import Wanted

__all__ = ["SeveralRuns", "WholeRuns"]

FAILURES = BlocksError, AlgebraicFailure, ArithmeticError, ValueError, RuntimeError


class WholeRuns:
    """Runs of a system with exact friction, in which nothing else is decided or solved for.

    Parameters
    ----------
    problem : of one of them, at its start
    t0, t1 : start and end of all, s
    rtol, max_step : of the method
    """

    def __init__(self, problem: Problem, t0: float, t1: float, rtol: float, max_step: float
                 ) -> None:
        self.problem, self.system = problem, problem.system
        self.t0, self.t1, self.rtol, self.max_step = t0, t1, rtol, max_step
        self.time_events = TimeEvents(self.system, problem.p, t0, t1)

    @np.errstate(all="ignore")
    def run(self, p: Array, x: Array, scale: Array, atol: Array) -> Course | None:
        """What is kept of a run; None where it is none of these.

        Parameters
        ----------
        p, x, scale, atol : parameters; states at the start, their nominal values, and absolute
            tolerances of them in SI units
        """
        problem = Problem(self.system, p, scale, self.problem.scale_z)
        problem.x[:] = x
        problem.laws = laws_at_events(self.system)
        try:
            method = self._begun(problem, atol)
            if method is None:
                return None
            found = method.run_whole(self.t1)
            method.rest()
        except FAILURES:
            return None
        return None if found is None or self._may_chatter(found) else found

    def read_together(self, runs: Sequence[Course]) -> SeveralRuns:
        """What came of runs with one kind of steps."""
        return SeveralRuns(self.problem, joined(runs), np.array([run.common.p for run in runs]))

    def _may_chatter(self, run: Course) -> bool:
        """Whether it has to be asked who switches how often."""
        times = run.starts[1:]
        if len(times) * self.system.nu <= CHATTER:
            return False
        modes = run.common.equations.span_of("modes")
        switches = np.count_nonzero(np.diff(run.q[:, modes], axis=0), axis=1)
        return are_crowded(np.repeat(times, switches), self.t1 - self.t0, self.time_events.apart)

    def _begun(self, problem: Problem, atol: Array) -> OneStep | None:
        """A method at the start of a run; None where it does not carry out all events."""
        t0, t1, times, laws = self.t0, self.t1, self.time_events, problem.laws
        begins, _ = begins_with(problem, t0, t1, self.rtol)
        kind: Any = running_method(begins, problem, self.rtol)[0]
        laws.start(problem, t0)
        laws.go_on(problem, t0)
        if not kind.looks_itself or laws.restless or not kind.fits(problem, t0):
            return None
        parts = laws.decision_data(problem, t0)
        if parts is None:
            return None
        y, options = problem.solver_vector(), {
            "t_end": t1, "rtol": self.rtol, "atol": atol / problem.scale, "max_step": self.max_step}
        method = kind.for_run(problem, t0, y, **options)
        if method.carries:
            method.rest()
            return None
        method.carry_out(EventRules(
            times.relations.at_zero, times.timed, times.relations.loops, times.duration,
            np.zeros_like(times.timed), times.ahead, islands=parts))
        method.pieces = times.functions.around(t0)
        slack = laws.slack(problem, t0, LEAST_ERROR * atol)
        method.watch(times.timed, times.curved, ~times.relations.told, slack, times.known_from(t0))
        return method  # type: ignore[no-any-return]


class SeveralRuns:
    """Runs with exact friction alone, which machine code has carried out whole.

    Parameters
    ----------
    problem : of any of them; it is copied
    courses : of all runs
    p : (runs, parameters)
    """

    def __init__(self, problem: Problem, courses: Course, p: Matrix) -> None:
        self.problem, self.courses, self.p = problem.copy_for_reading(), courses, p
        modes = courses.common.equations.span_of("modes")
        self._modes: Indices = courses.q[:, p.shape[1] :][:, modes].astype(int)
        self._run: Indices = courses.run  # type: ignore[assignment]  # of each piece
        table = StepTable(*courses.steps())
        run_of_step = self._run[table.which]
        #: Times at which runs are shown, and the pieces that they are in.
        self.times, self.pieces = table.shown(
            np.searchsorted(run_of_step, np.arange(len(p))), resolved=True)
        #: The first of these times of each run.
        self.first: Indices = np.searchsorted(self._run[self.pieces], np.arange(len(p)))
        self._shown: Array | None = None  # states there

    def values(self, function: Evaluator, wanted: Wanted) -> Array:
        """A function of what the system's functions take at the times of all runs."""
        if self._shown is None:
            self._shown = self._states(self.times, self.pieces)
        return self._values(function, wanted, self.times, self.pieces, self._shown)

    def values_at(self, function: Evaluator, wanted: Wanted, runs: Indices, times: Array) -> Array:
        """A function at times of some runs; just after events."""
        order = np.argsort(runs, kind="stable")
        runs, times = runs[order], times[order]
        pieces = np.maximum(np.searchsorted(
            self._run + 1j * self.courses.starts, runs + 1j * times, side="right") - 1,
            np.searchsorted(self._run, runs))
        found = self._values(function, wanted, times, pieces, self._states(times, pieces))
        out = np.empty_like(found)
        out[:, order] = found
        return out

    def _states(self, times: Array, pieces: Indices) -> Array:
        with READING:
            return self.courses.values(times, pieces).T

    def _values(self, function: Evaluator, wanted: Wanted, times: Array, pieces: Indices, x: Array
                ) -> Array:
        runs, count = self._run[pieces], len(times)
        p = self.p[0] if len(self.p) == 1 else self.p[runs].T
        points = Points(times, x, np.zeros((0, count)), p, np.zeros((0, count)),
                        np.zeros((0, count)), np.zeros((self.problem.system.nu, count)))
        with READING:
            if wanted.of_efforts:
                self._find_efforts(points, wanted, pieces, runs)
            return points.values(function)

    def _find_efforts(self, points: Points, wanted: Wanted, pieces: Indices, runs: Indices) -> None:
        """Fill in the efforts at points; nan where that takes more."""
        problem, equations = self.problem, self.courses.common.equations
        points.u[:] = equations.held_at(
            points.t, points.x, points.z, self.courses.constants(pieces))[1]
        cuts = np.append(np.flatnonzero(np.diff(runs, prepend=-1)), len(runs))
        for a, b in zip(cuts[:-1], cuts[1:], strict=True) if wanted.split else ():
            problem.p = self.p[runs[a]]
            here = replace(points.some(np.arange(a, b)), p=problem.p,
                           modes=modes_in(self._modes, pieces[a:b]))
            known = problem.laws.split_at(problem, here)
            points.u[:, a:b] = np.where(known, here.u, np.nan)
