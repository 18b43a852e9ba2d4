"""When does the first of the held relations, or of the held modes, no longer hold?

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
switch. All relations whose margin is zero there, compared with the look, have crossed.

Where to look next is decided by :func:`blocks.solvers.looks.next_look` alone, here for methods
that take one step at a time, and in machine code by :mod:`blocks.native.one_step` for its own. How
long a step may be, while nothing moves, is said by :mod:`blocks.system.time_functions`.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..numerics.arrays import Array, Indices
from ..numerics.tolerances import CROSSED_TOO, NEVER_LEFT, ROOT_RTOL, ROOT_XTOL, TIME_GRAIN, TINY
from ..solvers import Step
from ..solvers.looks import FARTHEST, GAP, MOST_LOOKS, SAME, TURN, next_look
from ..system.problem import Problem
from .time_events import TimeEvents

__all__ = ["ZeroCrossings"]

LOOKS_WITHIN = np.array([0.25, 0.5, 0.75, 1.0])  # where a step is looked at in any case
FAR = 10.0  # times the tolerance of a margin
LAST_TIMES = 8  # representable times before a crossing that are looked at one by one
MOST_TRIALS = 5000  # to find a root: of the least of many margins it takes more than usual


class ZeroCrossings:
    """Looks at the margins of a problem along the steps of an episode."""

    def __init__(self, problem: Problem, time_events: TimeEvents) -> None:
        self.problem, self.time_events = problem, time_events
        self.last_look: tuple[float, Array] | None = None  # time and margins
        self.known_from = np.inf  # before the next known instant, at which anything may jump
        self.largest = np.zeros(problem.system.nm)  # margins of relations since the last event
        #: What they may be below zero by, from rounding where they switched.
        self.relation_tolerance = np.zeros(problem.system.nm)
        #: The same of elements that slide.
        self.mode_tolerance: Array | float = 0.0
        self._flow_rounding: Array | None = None  # flows that are nothing but rounding

    def begin(self, t: float) -> None:
        """Begin an episode: what has just switched, or come to rest, begins at zero."""
        self.last_look, self.known_from = None, self.time_events.known_from(t)
        self.largest[:] = 0.0
        laws = self.problem.laws
        if laws is None or not laws.watched:
            return
        plain = laws.set_valued
        if self._flow_rounding is None:
            self._flow_rounding = plain.flow_rounding(self.problem, t)
        slides = (plain.modes != 0) & ~plain.elements.contact
        self.mode_tolerance = np.zeros(len(laws.modes))
        self.mode_tolerance[: plain.size] = np.where(slides, self._flow_rounding, 0.0)

    def never_left(self, which: Indices, past: Array) -> Indices:
        """Relations whose margins were never much larger than what they are ``past`` zero."""
        largest = self.largest[which]
        return which[(largest > 0.0) & (largest <= NEVER_LEFT * past[which])]

    def look_at_start(self, step: Step) -> None:
        """Look at the start of a step whose predecessor was not looked at."""
        self.last_look = step.t_old, self.margins(step.t_old, step.dense(step.t_old))

    def margins(self, t: float, y: Array, mode_tolerance: Array | float | None = None) -> Array:
        """Margins of relations, then of modes: negative where one no longer holds as assumed.

        At a known instant they are those before what jumps there, as ``mod`` of time does.
        """
        before = min(t, self.known_from)
        g = self.problem.crossings(before, y)
        margin: Array = np.where(self.problem.m > 0.5, g, -g) + self.relation_tolerance
        known = self.time_events.stepped_onto(t)  # instants that are not searched for
        margin[known] = np.where(self.time_events.curved[known], np.nan, 1.0)
        if self.problem.laws is not None:
            of_modes = self.problem.laws.margins(self.problem, before)
            allowed = self.mode_tolerance if mode_tolerance is None else mode_tolerance
            margin = np.concatenate([margin, of_modes + allowed])
        return margin

    def first(self, step: Step, parts: int = 1) -> tuple[float, Indices] | None:
        """The first crossing in a step, and what has crossed: relations, then modes.

        Equal ``parts`` of the step are looked at one after the other, each like a step.
        """
        for start, end in pairwise(np.linspace(step.t_old, step.t, parts + 1).tolist()):
            found = self._first_in(step._replace(
                t_old=start, t=end, y=step.y if end == step.t else step.dense(end)))
            if found is not None:
                return found
        return None

    def _first_in(self, step: Step) -> tuple[float, Indices] | None:
        """The same in one of these parts."""
        last = self.last_look
        if last is None or last[0] != step.t_old:
            last = step.t_old, self._margins_at_start(step)
        looks = [last, *self._margins_within(step)]
        found = None
        crossed = bool(np.any(looks[-1][1] < 0)) or self._crosses_between(step, looks)
        while crossed:  # what that leaves of the step is looked at as a step is
            found = at, _ = self._crossing_between(step, looks[-2][0], *looks[-1])
            looks[-1] = at, self.margins(at, step.dense(at))
            crossed = self._crosses_between(step, looks)
        for _, margin in looks[1 : None if found is None else -1]:
            self.largest = np.fmax(self.largest, margin[: len(self.largest)])
        if found is None:
            self.last_look = looks[-1]
            allowed = self.relation_tolerance
            allowed[looks[-1][1][: len(allowed)] > FAR * allowed] = 0.0  # it has left zero for good
        return found

    def _crosses_between(self, step: Step, looks: list[tuple[float, Array]]) -> bool:
        """Add looks between others, until a margin is negative at one; that is the last then."""
        most = max(MOST_LOOKS, len(looks) + MOST_LOOKS // 2)
        while len(looks) < most and (at := _next_look(looks)) < np.inf:
            k = int(np.searchsorted(np.array([t for t, _ in looks]), at))
            looks.insert(k, (at, self.margins(at, step.dense(at))))
            if np.any(looks[k][1] < 0):
                del looks[k + 1 :]
                return True
        return False

    def parts(self, step: Step) -> int:
        """In how many equal parts a step is looked at, so that between two looks no angle of what
        is periodic in the states turns by more than ``TURN``, as its quarters tell."""
        if not self.problem.system.angles.numel():
            return 1
        quarters = np.linspace(step.t_old, step.t, 5)
        angles = np.array([self.problem.angles(t, step.dense(t)) for t in quarters])
        turned = np.fmax.reduce(np.abs(np.diff(angles, axis=0)).ravel(), initial=0.0)
        return 1 + int(min(turned, FARTHEST) / TURN)

    def _margins_at_start(self, step: Step) -> Array:
        """Margins at the start of an episode: what begins at zero says nothing yet."""
        margin = self.margins(step.t_old, step.dense(step.t_old))
        modes = len(margin) - len(self.relation_tolerance)
        zero = 2 * np.append(self.relation_tolerance, np.broadcast_to(self.mode_tolerance, modes))
        return np.where(margin > zero, margin, np.nan)

    def _margins_within(self, step: Step) -> list[tuple[float, Array]]:
        """Times within a step, and the margins there, up to the first one that is negative."""
        h = step.t - step.t_old
        quarters = step.t_old + LOOKS_WITHIN * h
        quarters[-1] = step.t
        pieces = self.time_events.functions.around(step.t_old)
        borders = pieces[np.searchsorted(pieces, step.t_old, "right") :
                         np.searchsorted(pieces, step.t)]
        same = np.abs(borders[:, None] - quarters).min(axis=1, initial=np.inf) <= SAME * h
        looks = []
        for t in np.sort(np.append(borders[~same], quarters)):
            margin = self.margins(t, step.y if t == step.t else step.dense(t))
            looks.append((float(t), margin))
            if np.any(margin < 0):
                break
        return looks

    def _crossing_between(self, step: Step, low: float, high: float, margin: Array
                          ) -> tuple[float, Indices]:
        """The first crossing of the relations and modes that are violated at ``high``."""
        while True:
            wrong = np.flatnonzero(margin < 0)
            at = self._locate(step, low, high, wrong)
            close = self.margins(at, step.dense(at))
            others = np.delete(close, wrong)  # crossed before, and crossed back by ``high``
            if not np.any(others < 0) or not low < at < high:
                break
            high, margin = at, close
        size = np.abs(margin) + TINY
        which = wrong[close[wrong] <= CROSSED_TOO * size[wrong]]
        if not len(which):
            which = wrong[[int(np.argmin(close[wrong] / size[wrong]))]]
        return at, which

    def _locate(self, step: Step, low: float, high: float, wrong: Indices) -> float:
        """The first instant on the far side of the crossing between two looks."""
        def margin(t: float) -> float:
            return float(np.min(self.margins(t, step.dense(t))[wrong]))

        ends = {low: margin(low), high: margin(high)}  # another evaluation may round otherwise
        if ends[high] >= 0:
            return high
        grain = TIME_GRAIN * (step.t - step.t_old)  # near t = 0 times are told apart for ever
        # what begins where another mode has ended may have held for a while
        while not ends[low] > 0 and high - low > grain and (
                low < (middle := (low + high) / 2) < high):
            ends[middle] = margin(middle)
            low, high = (low, middle) if ends[middle] < 0 else (middle, high)
        at = low
        if ends[low] > 0:
            from scipy.optimize import brentq

            at = brentq(lambda t: ends[t] if t in ends else margin(t), low, high,
                        xtol=max(ROOT_XTOL * max(abs(low), abs(high)), grain), rtol=ROOT_RTOL,
                        maxiter=MOST_TRIALS)
        # go to the far side of the crossing, so that rounding cannot undo the switch
        forward = spacing = max(np.spacing(max(abs(low), abs(high))), grain)
        near = at
        while at < high and (at <= step.t_old or margin(at) >= 0):
            near, at, forward = at, min(at + forward, high), 2 * forward
        while at - near > LAST_TIMES * spacing:  # far from the root that was found: that was none
            middle = (near + at) / 2
            near, at = (near, middle) if margin(middle) < 0 else (middle, at)
        return self._without_tolerance(step, at, spacing, wrong)

    def _without_tolerance(self, step: Step, at: float, spacing: float, wrong: Indices) -> float:
        """The first of the few times before ``at`` where a margin itself is below zero."""
        for _ in range(LAST_TIMES):
            before = at - spacing
            if not before > step.t_old or not np.any(
                    self.margins(before, step.dense(before), mode_tolerance=0.0)[wrong] < 0):
                break
            at = before
        return at


def _next_look(looks: list[tuple[float, Array]]) -> float:
    """Where a margin may be below zero between looks; inf if nowhere."""
    times, margins = np.array([t for t, _ in looks]), np.array([m for _, m in looks])
    if np.diff(times).max() <= GAP * (times[-1] - times[0]):
        margins = _that_may_reach_zero(margins)
    return float(next_look(times, margins, len(times)))


def _that_may_reach_zero(margins: Array) -> Array:
    """Most are so large that no parabola through the looks could reach zero, and some the same."""
    finite = np.where(np.isfinite(margins), margins, np.nan)
    with np.errstate(invalid="ignore"):
        low = np.fmin.reduce(margins, axis=0)
        near = low < np.fmax.reduce(finite, axis=0) - low
    return np.unique(margins[:, near], axis=1) if np.count_nonzero(near) > 1 else margins[:, near]
