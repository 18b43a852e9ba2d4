"""Many short calls of a method that carries out events by itself.

A program that drives a run changes discrete values and goes on for a millisecond, ten thousand
times. Machine code is bound to its arrays once; what is told is an event at the present time,
and steps and events gather in the record of the method until somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..machine.signatures import run_code
from ..nonsmooth.contract import Laws
from ..nonsmooth.modes.solved_modes import SolvedModes
from ..numerics.arrays import Array, Indices
from ..solvers.base import Step
from ..system.evaluator import Evaluator
from . import one_step
from .events import STEP, TIME
from .method import OneStep
from .own_events import Ahead, OwnEvents

__all__ = ["ShortCalls"]


class ShortCalls:
    """The steps of a method from the start of an episode on, through all events that it passes.

    Of a ``method`` that carries out events by itself. ``slots`` are places among the discrete
    values of tables of time, and of what is told; ``rows`` is what stands there, which others
    change.
    """

    def __init__(self, method: OneStep, slots: Indices, rows: Array, laws: Laws | None) -> None:
        own = method.own_events
        assert isinstance(own, OwnEvents)  # else Python carries out what is told
        # x, m, d: the present states, held relations and discrete values
        self.method, self.x, self._state = method, method.x, method.state
        self._own, self._laws = own, laws
        self._constants = method.code.p, method.code.q
        self.m, self.d = own.values_of("relations"), own.values_of("discrete values")
        #: The present, as an instant at which something is known to happen.
        self._now = Ahead(np.zeros(1), np.zeros((1, len(self.m))), rows[None, :], np.zeros(1))
        self._counts, self._begun = np.zeros((2, 5), dtype=np.int64)
        self._most = len(method.record.ends), own.most
        given = own.given(self._now, slots)
        self._call = method.machine_code(given).bound(
            *method.arguments(given, method.t, self._counts, self._begun))
        self._stop, self._instants = (self._call.place[name] for name in (
            "limits.t_stop", "switches.times"))
        self._status, self._until = one_step.REACHED, method.t
        self._readers: dict[Evaluator, Callable[[], Array] | None] = {}
        #: Whether what was told is not carried out yet.
        self.waiting = False

    def serves(self, method: OneStep) -> bool:
        """Whether a method still has the arrays that are bound here: one that was at rest, while
        Python took the steps, may have begun anew with others."""
        return (method is self.method and method.own_events is self._own
                and (method.code.p, method.code.q) == self._constants)

    def begin(self, known_from: float) -> None:
        """Look at the method, which has been started anew or is asked to go further.

        ``known_from`` is just before the next known instant.
        """
        self._now.until[0], self._now.holds[0] = known_from, self.m
        self._call.numbers[self._call.place["limits.max_step"]] = self.method.longest
        self._call.put("limits.pieces", self.method.pieces)

    @property
    def full(self) -> bool:
        """Whether no further step or event can be kept."""
        steps, events, *_ = self._begun.tolist()
        return steps >= self._most[0] or events >= self._most[1]

    def go(self, until: float, told: bool) -> bool:
        """Go on, at first with what is ``told``; whether that was all done.

        Else the record is full, or Python has to judge what happens at the time that was reached.
        """
        if told:
            self._now.times[0] = self._state[TIME]
            if not self.method.keeps_step:
                self._state[STEP] = 0.0  # the next step is found anew
        passed = self._called(until, told)
        self.waiting = told and not passed
        return self._status == one_step.REACHED and not self.waiting

    def pass_instant(self, t: float, holds: Array, known_from: float) -> bool:
        """Carry out what is known to happen at the time that was reached; whether it was done.

        ``holds`` is what relations of time come to just after it, ``known_from`` just before the
        next known instant.
        """
        now = self._now
        now.times[0], now.holds[0], now.until[0] = t, holds, known_from
        return self._called(t, True)

    def _called(self, until: float, now: bool) -> bool:
        """Let machine code go on, at first through an event at the present time, if there is one;
        whether any events were carried out."""
        call, events = self._call, self._begun.item(1)
        call.numbers[self._stop], call.table[self._instants + 1] = until, now
        call()
        self._status, taken, passed = call.results.tolist()
        self._begun[0], self._begun[1], self._until = taken, passed, until
        return passed > events

    def reader(self, function: Evaluator, needs_efforts: bool) -> Callable[[], Array] | None:
        """What evaluates a function of the present point; None where more has to be solved."""
        if function not in self._readers:
            problem: Any = self.method.problem
            states = self.x[: len(problem.x)]  # behind them stands what is carried along
            given = self._state[TIME : TIME + 1], states, 0.0, self.method.p, self.m, self.d
            self._readers[function] = None
            held = self._laws and self._laws.held_modes
            if not needs_efforts:
                self._readers[function] = partial(function, *given, 0.0)
            elif isinstance(held, SolvedModes) and held.kept is not None:
                self._readers[function] = partial(
                    Evaluator(held.with_efforts(function.function)),
                    *given, self._own.values_of("modes"), self._own.values_of("K"))
        if self.method.code.past:  # slopes bring what is delayed up to date, which functions read
            method, at = self.method, self._state[TIME : TIME + 1]
            run_code(method.code.slope, at, self.x, method.p, method.q, np.empty_like(self.x))
        return self._readers[function]

    def taken(self) -> Step | None:
        """Give all steps and events to the method; the last step, None where nothing was done."""
        steps, events, *_ = self._begun.tolist()
        if not steps and not events and self._status == one_step.REACHED:
            return None
        step = self.method.reached(self._status, steps, events, self._counts, self._until)
        self._counts[:], self._begun[:], self._status = 0, 0, one_step.REACHED
        return step
