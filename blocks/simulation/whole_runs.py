"""Runs of one system that machine code carries out whole, begun without what they have in common.

Nothing is said of a run that is not one of these: who asks for it runs it in the ordinary way
(:mod:`blocks.simulation.run`), which tells what is to be told. What such runs come to is the same
to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import BlocksError
from ..native import COMPILED
from ..native.own_events import EventRules
from ..numerics.arrays import Array
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem
from .episode import Episode
from .event_log import EventLog
from .method_choice import by_stiffness, chosen_method
from .passed_events import PassedEpisodes
from .recording import RunRecording
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
        self.chosen, _ = chosen_method("auto", self.system, None)

    @np.errstate(all="ignore")
    def run(self, p: Array, x: Array, scale: Array, atol: Array) -> RunRecording | None:
        """The record of a run; None where it is none of these.

        Parameters
        ----------
        p, x, scale, atol : parameters; states at the start, their nominal values, and absolute
            tolerances of them in SI units
        """
        problem = Problem(self.system, p, scale, self.problem.scale_z)
        problem.x[:] = x
        problem.laws = laws_at_events(self.system)
        recording = RunRecording("", self.system, problem, p)
        try:
            return recording if self._finished(recording, problem, atol) else None
        except FAILURES:
            return None

    def _finished(self, recording: RunRecording, problem: Problem, atol: Array) -> bool:
        """Whether a run has come to its end in one go, and has nothing to tell."""
        t0, t1, times, laws = self.t0, self.t1, self.time_events, problem.laws
        kind, _ = by_stiffness(problem, t0, t1, self.rtol, self.chosen, "")
        laws.start(problem, t0)
        if kind.name not in COMPILED or laws.restless or not kind.fits(problem, t0):
            return False
        parts = laws.decision_parts(problem, t0)
        if parts is None:
            return False
        method: Any = kind(problem, t0, problem.start_vector(), t_end=t1, rtol=self.rtol,
                           atol=atol / problem.scale, max_step=self.max_step)
        none = np.zeros(0)
        method.watch(times.timed, times.curved, none, times.known_from(t0))
        method.carry_out(EventRules(times.relations.at_zero, times.timed, self.system.tables.slots,
                                    times.ahead, None, parts, None))
        method.pieces = times.functions.around(t0)
        recording.episodes.append(Episode.begun(problem, method.course))
        step = method.advance(t1)
        if step.failure or step.t < t1 or method.waits or method.unsure or step.crossed is not None:
            return False
        if method.passed is not None:
            passed = PassedEpisodes(method.passed, recording.episodes[-1], times.relations,
                                    recording.catalog, laws)
            EventLog(recording, t1 - t0, times.apart).remember_passed(passed)
            recording.episodes.extend(passed)
        return True
