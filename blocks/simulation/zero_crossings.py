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
takes the steps; here margins are told. How long a step may be, while nothing moves, is said by
:mod:`blocks.system.time_functions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..numerics.arrays import Array, Indices
from ..solvers import Step
from ..system.problem import Problem
from .time_events import TimeEvents

if TYPE_CHECKING:
    from ..native.python_steps import StepLooks

__all__ = ["ZeroCrossings"]


class ZeroCrossings:
    """Looks at the margins of a problem along the steps of an episode."""

    def __init__(self, problem: Problem, time_events: TimeEvents) -> None:
        self.problem, self.time_events = problem, time_events
        self.nothing: Array | float = 0.0  # errors of states that no step is shortened for
        self._looks: StepLooks | None = None  # into steps, made for the first one
        #: What relations may be below zero by, and their largest margins since the last event.
        self.relation_tolerance, self.largest = np.zeros((2, problem.system.nm))
        self.step, self.atol = 0.0, np.zeros(0)  # length of the last step, tolerances of unknowns

    def begin(self, t: float) -> None:
        """Begin an episode: what has just switched, or come to rest, begins at zero."""
        if self._looks is not None:
            self._begin_looks(self._looks, t)

    def _begin_looks(self, looks: StepLooks, t: float) -> None:
        looks.begin()
        nm, relations, times = len(self.relation_tolerance), looks.relations, self.time_events
        relations.known[:nm], relations.timed[:nm], relations.alone[:nm] = (
            times.straight, times.curved, ~times.relations.told)
        relations.instant[0] = times.known_from(t)
        relations.slack[nm:] = 0.0
        if (laws := self.problem.laws) is not None and laws.watched:
            plain = laws.set_valued
            slides = slice(nm, nm + plain.size)
            relations.slack[slides] = plain.no_flow(self.problem, t, self.nothing)

    def looks(self, step: Step) -> StepLooks:
        """What looks into the steps of an episode."""
        if self._looks is None or self._looks.n != len(step.y):
            from ..native.python_steps import StepLooks

            modes = () if self.problem.laws is None else self.problem.laws.modes
            count = len(self.relation_tolerance) + len(modes)
            self._looks = StepLooks(self.problem, len(step.y), count, self.margins)
            self._begin_looks(self._looks, step.t_old)
        return self._looks

    def margins(self, t: float, y: Array) -> Array:
        """Margins of relations, then of modes: negative where one no longer holds as assumed."""
        g = self.problem.crossings(t, y)
        margin: Array = np.where(self.problem.m > 0.5, g, -g)
        if self.problem.laws is not None:
            margin = np.concatenate([margin, self.problem.laws.margins(self.problem, t)])
        margin[np.isnan(margin)] = np.inf  # of what is no number nobody can tell
        return margin

    def first(self, step: Step, early: float = 0.0) -> tuple[float, Indices, bool, Array] | None:
        """The first crossing in a step, and what has crossed: relations, then modes.

        And whether it is ``early``, less than so far from the start: such a one is found about; and
        the unknowns there.
        """
        looks, allowed, nm = self.looks(step), self.relation_tolerance, len(self.relation_tolerance)
        slack = looks.relations.slack
        slack[:nm] = allowed
        found = looks.first(step, early, self.atol, self.time_events.functions.around(step.t_old))
        allowed[:], self.largest[:] = slack[:nm], looks.largest[:nm]
        return found
