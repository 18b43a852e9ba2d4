"""Runs of one system that machine code carries out whole, begun without what they have in common.

Nothing is said of a run that is not one of these: who asks for it runs it in the ordinary way
(:mod:`blocks.simulation.run`), which tells what is to be told. What such runs come to is the same
to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..exceptions import BlocksError
from ..native import COMPILED
from ..native.courses import WholeRun
from ..native.joined_courses import JoinedCourses
from ..native.method import OneStep
from ..native.own_events import EventRules
from ..numerics.arrays import Array
from ..numerics.tolerances import LEAST_ERROR
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem
from .event_log import CHATTER, are_crowded
from .method_choice import automatic
from .several_runs import SeveralRuns
from .start import laws_at_events
from .time_events import TimeEvents

__all__ = ["WholeRuns"]

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
        self._method: Any = None  # with which others can be run
        self._parts: Any = None  # that it knows of elements

    @np.errstate(all="ignore")
    def run(self, p: Array, x: Array, scale: Array, atol: Array) -> WholeRun | None:
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
            found = None if method is None else method.run_whole(self.t1)
        except FAILURES:
            return None
        return None if found is None or self._may_chatter(found) else found

    def read_together(self, runs: Sequence[WholeRun]) -> SeveralRuns:
        """What came of runs with one kind of steps."""
        return SeveralRuns(self.problem, JoinedCourses(runs), np.array([run.p for run in runs]))

    def _may_chatter(self, run: WholeRun) -> bool:
        """Whether it has to be asked who switches how often."""
        if len(run.times) * self.system.nu <= CHATTER:
            return False
        modes = run.form.equations.part_of_constants("modes")
        switches = np.count_nonzero(
            np.diff(run.held[:, modes], axis=0, prepend=run.q[None, modes]), axis=1)
        return are_crowded(np.repeat(run.times, switches), self.t1 - self.t0,
                           self.time_events.apart)

    def _begun(self, problem: Problem, atol: Array) -> OneStep | None:
        """A method at the start of a run; None where it does not carry out all events."""
        t0, t1, times, laws = self.t0, self.t1, self.time_events, problem.laws
        kind: Any
        kind, _ = automatic(problem, t0, t1, self.rtol)
        laws.start(problem, t0)
        if kind.name not in COMPILED or laws.restless or not kind.fits(problem, t0):
            return None
        parts = laws.decision_parts(problem, t0)
        if parts is None:
            return None
        method = self._method
        if type(method) is kind and not method.equations.reserve and parts.is_like(self._parts):
            method.begin_run(problem, t0, atol, parts.fast)
        else:
            method = kind(problem, t0, problem.start_vector(), t_end=t1, rtol=self.rtol,
                          atol=atol / problem.scale, max_step=self.max_step)
            method.carry_out(EventRules(
                times.relations.at_zero, times.timed, np.zeros_like(times.timed),
                self.system.tables.slots, times.ahead, parts=parts))
            method.pieces = times.functions.around(t0)
            self._method, self._parts = method, parts
        slack = laws.slack(problem, t0, LEAST_ERROR * atol)
        method.watch(times.timed, times.curved, slack, times.known_from(t0))
        return None if method.carries else method
