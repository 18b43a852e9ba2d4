"""When does the first of the held relations, or modes, no longer hold? Zeros of event functions.

The margin of a relation or a mode is its switching function, with the sign that makes it positive
while it holds as assumed. Within a step it is looked at in four places, at borders of pieces of
time, between which the functions of time change little, and again wherever a parabola through
neighbouring looks, made steeper by as much as neighbouring parabolas differ, would come below zero:
what dips and comes back is found between looks, and comes before anything that is found further on.
So a margin that bends is looked at more closely where it is near zero, and no step is shortened for
it. A zero crossing lies in the interval up to the first look where a margin is negative; several
relations may cross in it, and the least of their margins says when the first one does. What the
crossing leaves of the step is looked at as a step is, for what comes before it. The instant that
counts is on the far side, as near to it as times can be told apart: rounding cannot undo the
switch. All relations whose margin is zero there, compared with the look, have crossed. A condition
of ``when`` that is negative within a step alone, by no more than tolerances make of it, has not: at
the end of the step, where its error is weighed, it is right.

All of that is done by the plain loops of :mod:`blocks.native.zero_crossings`, whose method ever
takes the steps. What they ask of a model, and of the dense output of a step in Python, is called
back by address here. How long a step may be, while nothing moves, is said by
:mod:`blocks.system.time_functions`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..machine.functions import Kept, MachineCode, empty
from ..native.callbacks import Callbacks
from ..native.events import ENTRIES, LOOKED, TIME
from ..native.one_step import EARLY, FULL, watched
from ..native.pulses import END, START, step_to_pulse
from ..native.stages import ATOL, EXTENSION, NEW
from ..native.steps import EXPLICIT, Code, known_of, workspace
from ..native.zero_crossings import LARGEST, Relations, relations_of, step_within_pieces
from ..numerics.arrays import Array, Indices
from ..solvers import Step
from ..system.problem import Problem
from .time_events import TimeEvents

__all__ = ["ZeroCrossings"]


class ZeroCrossings:
    """Looks at the margins of a problem along the steps of an episode."""

    def __init__(self, problem: Problem, time_events: TimeEvents) -> None:
        self.problem, self.time_events = problem, time_events
        self.nothing: Array | float = 0.0  # errors of states that no step is shortened for
        #: What relations may be below zero by, and their largest margins since the last event.
        self.relation_tolerance, self.largest = np.zeros((2, problem.system.nm))
        self.step, self.atol = 0.0, np.zeros(0)  # length of the last step, tolerances of unknowns
        self._n = -1  # unknowns of the steps that are looked into, where any are
        self._relations: Relations
        self._state: Array
        self._k: Array
        self._x: Array

    def begin(self, t: float) -> None:
        """Begin an episode: what has just switched, or come to rest, begins at zero."""
        if self._n < 0:
            return
        nm, relations, times = self.problem.system.nm, self._relations, self.time_events
        self._state[LOOKED], self._seen, relations.looks[LARGEST] = 0.0, np.nan, 0.0
        relations.known[:nm], relations.timed[:nm], relations.alone[:nm] = (
            times.straight, times.curved, ~times.relations.told)
        relations.instant[0] = times.known_from(t)
        relations.slack[nm:] = 0.0
        if (laws := self.problem.laws) is not None and laws.watched:
            plain = laws.set_valued
            slides = slice(nm, nm + plain.size)
            relations.slack[slides] = plain.no_flow(self.problem, t, self.nothing)

    def length(self, step: Step, atol: Array, rtol: float) -> float:
        """How long a step may be: as it was, or up to the foot of a pulse within it that its method
        has not seen, or to where it passes a border of a table of the states, or a kink."""
        self._look_into(step)
        h, relations, exponents = step.t - step.t_old, self._relations, self._relations.exponents
        self._k[ATOL], self._work.record.rtol[0] = atol, rtol
        if self._code.record.exponents:
            length = float(self._run(step_to_pulse, self._work, exponents, relations.inside,
                                     self._x, step.t_old, h, rtol, bool(self._seen == step.t_old),
                                     False))
            if length < h:
                return length
            exponents[START], self._seen = exponents[END], step.t
        return float(self._run(step_within_pieces, self._given, self._work, self._x, step.t_old, h)
                     ) if self._code.record.places else h

    def first(self, step: Step, early: float = 0.0) -> tuple[float, Indices, bool, Array] | None:
        """The first crossing in a step, and what has crossed: relations, then modes.

        And whether it is ``early``, less than so far from the start: such a one is found about; and
        the unknowns there.
        """
        self._look_into(step)
        relations, nm, state = self._relations, self.problem.system.nm, self._state
        self._k[ATOL] = self.atol if len(self.atol) == self._n else 0.0
        relations.slack[:nm] = self.relation_tolerance
        if state[TIME] != step.t_old:
            state[LOOKED] = 0.0
        pieces = self.time_events.functions.around(step.t_old)
        status, at = self._run(
            watched, self._given, self._work, self._x, step.t_old, step.t, step.t - step.t_old,
            state, early, step.t, pieces, int(np.searchsorted(pieces, step.t_old, side="right")))
        state[TIME] = step.t if status == FULL else np.nan
        self.relation_tolerance[:], self.largest[:] = (
            relations.slack[:nm], relations.looks[LARGEST, :nm])
        if status == FULL:
            return None
        return at, np.flatnonzero(relations.wrong), status == EARLY, self._k[NEW].copy()

    def _look_into(self, step: Step) -> None:
        """Let loops look into a step."""
        if self._n != len(step.y):
            self._n = len(step.y)
            self._make_loops(self._n)
            self.begin(step.t_old)
        self._step, self._x[:], self._k[NEW] = step, step.dense(step.t_old), step.y

    def _make_loops(self, n: int) -> None:
        """What the loops are given for steps of so many unknowns."""
        problem, system = self.problem, self.problem.system
        count = system.nm + len(() if problem.laws is None else problem.laws.modes)
        exponents, self._calls, self._seen = system.tape.exponents.numel(), Callbacks(), np.nan
        self._relations = relations_of(problem, count, n, exponents)
        work, arithmetic = workspace(n), np.zeros(EXTENSION + 1, dtype=np.int64)
        work.k[:] = 0.0
        arithmetic[EXTENSION] = self._calls.address(lambda part: self._step.dense(
            self._step.t_old + part[1] * part[0]), (None,) * 4 + (2,), n, 2)
        self._k, self._x, self._state = work.k, np.zeros(n), np.zeros(ENTRIES)

        def at_point(function: Callable[[float, Array], Any], size: int) -> int:
            return self._calls.address(lambda at, y: function(float(at[0]), y.copy()),
                                       (1, n, None, None), size) if size else 0

        self._code = Kept(empty(Code)._replace(
            arithmetic=arithmetic, kind=EXPLICIT, crossings=at_point(self._margins, count),
            angles=at_point(partial(problem.values, system.angles_now), system.angles.numel()),
            places=at_point(partial(problem.values, system.places_now),
                            len(self._relations.borders)),
            exponents=at_point(partial(problem.values, system.exponents), exponents),
            slope=at_point(problem.slope, n)))
        self._given, self._work = Kept(self._relations), Kept(work)

    def _margins(self, t: float, y: Array) -> Array:
        """Margins of relations, then of modes: negative where one no longer holds as assumed."""
        g = self.problem.crossings(t, y)
        margin: Array = np.where(self.problem.m > 0.5, g, -g)
        if self.problem.laws is not None:
            margin = np.concatenate([margin, self.problem.laws.margins(self.problem, t)])
        margin[np.isnan(margin)] = np.inf  # of what is no number nobody can tell
        return margin

    def _run(self, loops: MachineCode, *given: Any) -> Any:
        found = loops.knowing(known_of(self._code.record))(self._code, *given)
        self._calls.check()
        return found
