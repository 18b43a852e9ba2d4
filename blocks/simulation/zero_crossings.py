"""When does the first of the held relations, or of the held modes, no longer hold?

A margin is positive while a relation or a mode holds as assumed. Within a step it is looked at
in four places, and again wherever a parabola through neighbouring looks, made steeper by as much
as neighbouring parabolas differ, would come below zero: what dips and comes back is found
between looks, and comes before anything that is found further on. So a margin that bends is
looked at more closely where it is near zero, and no step is shortened for it. A crossing
lies in the interval up to the first look where a margin is negative; several relations may
cross in it, and the least of their margins says when the first one does. The instant that counts is
on the far side, as near to it as times can be told apart: rounding cannot undo the switch.
All relations whose margin is zero there, compared with the look, have crossed.

Where to look next is decided by :func:`blocks.solvers.looks.next_look` alone, here for methods
that take one step at a time, and in machine code by :mod:`blocks.native.dopri` for its own. How
long a step may be, while nothing moves, is said by :mod:`blocks.system.time_functions`.
"""

from __future__ import annotations

import numpy as np

from ..solvers import Step
from ..solvers.looks import MOST_LOOKS, next_look
from ..system.system import Problem
from .time_events import Stops

__all__ = ["Crossings"]

INTERIOR = np.array([0.25, 0.5, 0.75, 1.0])  # where a step is looked at in any case


class Crossings:
    """Looks at the margins of a problem along the steps of an episode."""

    def __init__(self, problem: Problem, stops: Stops) -> None:
        self.problem, self.stops = problem, stops
        self.seen: list[tuple[float, np.ndarray]] = []  # the last look
        #: What margins of relations may be below zero by, from rounding where they switched.
        self.slack = np.zeros(problem.system.nm)
        self.grain: np.ndarray | float = 0.0  # the same of elements that slide
        self._flows: np.ndarray | None = None  # that rounding makes

    def begin(self, t: float) -> None:
        """Begin an episode: what has just switched, or come to rest, begins at zero."""
        self.seen = []
        laws = self.problem.laws
        if laws is None or not laws.watched:
            return
        if self._flows is None:
            self._flows = laws.set_valued.flow_rounding(self.problem, t)
        plain, self.grain = laws.set_valued, np.zeros(len(laws.modes))
        self.grain[: plain.size] = np.where((plain.modes != 0) & ~plain.contact, self._flows, 0.0)

    def look_back(self, step: Step) -> None:
        """Look at the start of a step whose predecessor was not seen."""
        self.seen = [(step.t_old, self.violated(step.t_old, step.dense(step.t_old)))]

    def violated(self, t: float, y: np.ndarray, grain: np.ndarray | float | None = None
                 ) -> np.ndarray:
        """Margins of the held relations: negative where one no longer holds as assumed."""
        g = self.problem.crossings(t, y)
        margin = self._relations(g, t)
        if self.problem.laws is not None:
            of_laws = self.problem.laws.margins(self.problem, t)
            grain = self.grain if grain is None else grain
            margin = np.concatenate([margin, of_laws + grain])
        return margin

    def _relations(self, g: np.ndarray, t: float) -> np.ndarray:
        margin = np.where(self.problem.m > 0.5, g, -g) + self.slack
        margin[self.stops.stepped_onto(t)] = 1.0  # known instants are not searched for
        return margin

    def first(self, step: Step, parts: int = 0) -> tuple[float, np.ndarray] | None:
        """The first crossing in a step, and what has crossed: relations, then elements.

        The step is looked at in four ``parts``, or in more.
        """
        at_start = self.seen[-1:] if self.seen and self.seen[-1][0] == step.t_old else [
            (step.t_old, self._at_start(step))]
        looks = at_start + self._looks(step, parts)
        bad = next((k for k, (_, margin) in enumerate(looks[1:], 1) if np.any(margin < 0)), None)
        if bad is not None:
            looks = looks[: bad + 1]
        most = max(MOST_LOOKS, len(looks) + MOST_LOOKS // 2)
        while len(looks) < most:
            times, margins = np.array([t for t, _ in looks]), np.array([m for _, m in looks])
            # most margins are so large that no parabola could reach zero
            finite = np.where(np.isfinite(margins), margins, np.nan)
            with np.errstate(invalid="ignore"):
                low = np.fmin.reduce(margins, axis=0)
                near = low < np.fmax.reduce(finite, axis=0) - low
            if not near.any():
                break
            margins = margins[:, near]
            at = next_look(times, margins, len(times), *np.empty((2, margins.shape[1])))
            if not at < np.inf:
                break
            k = int(np.searchsorted(times, at))
            looks.insert(k, (at, self.violated(at, step.dense(at))))
            if np.any(looks[k][1] < 0):
                bad, looks = k, looks[: k + 1]
        if bad is None:
            self.seen = looks[-1:]
            return None
        return self._crossing_between(step, looks[-2][0], *looks[-1])

    def _at_start(self, step: Step) -> np.ndarray:
        """Margins at the start of an episode: what begins at zero says nothing yet."""
        margin = self.violated(step.t_old, step.dense(step.t_old))
        zero = 2 * np.append(self.slack, np.broadcast_to(self.grain, len(margin) - len(self.slack)))
        return np.where(margin > zero, margin, np.nan)

    def _looks(self, step: Step, parts: int) -> list[tuple[float, np.ndarray]]:
        """Times within a step, and the margins there, up to the first one that is negative."""
        inside = INTERIOR if parts <= len(INTERIOR) else np.arange(1, parts + 1) / parts
        times = step.t_old + inside * (step.t - step.t_old)
        times[-1] = step.t
        laws = self.problem.laws
        if laws is not None and laws.held_modes is not None:
            y = np.column_stack([step.dense(times[:-1]), step.y])
            found = laws.margins_at(self.problem, times, y)
            if found is not None:
                return [(float(t), np.concatenate([self._relations(g, t), margin + self.grain]))
                        for t, g, margin in zip(times, found[0].T, found[1].T, strict=True)]
        looks = []
        for t in times:
            margin = self.violated(t, step.y if t == times[-1] else step.dense(t))
            looks.append((float(t), margin))
            if np.any(margin < 0):
                break
        return looks

    def _crossing_between(self, step: Step, low: float, high: float, margin: np.ndarray
                          ) -> tuple[float, np.ndarray]:
        """The first crossing of the relations that are violated at ``high``."""
        wrong = np.flatnonzero(margin < 0)
        at = self._locate(step, low, high, wrong)
        close = self.violated(at, step.dense(at))
        size = np.abs(margin) + 1e-300
        which = wrong[close[wrong] <= 1e-6 * size[wrong]]
        if not len(which):
            which = wrong[[int(np.argmin(close[wrong] / size[wrong]))]]
        return at, which

    def _locate(self, step: Step, low: float, high: float, wrong: np.ndarray) -> float:
        def margin(t: float) -> float:
            return float(np.min(self.violated(t, step.dense(t))[wrong]))

        ends = {low: margin(low), high: margin(high)}  # another evaluation may round otherwise
        if ends[high] >= 0:
            return high
        # what begins where another mode has ended may have held for a while
        while not ends[low] > 0 and low < (middle := (low + high) / 2) < high:
            ends[middle] = margin(middle)
            low, high = (low, middle) if ends[middle] < 0 else (middle, high)
        at = low
        if ends[low] > 0:
            from scipy.optimize import brentq

            at = brentq(lambda t: ends[t] if t in ends else margin(t), low, high,
                        xtol=4e-16 * max(abs(low), abs(high)), rtol=8.9e-16)
        # go to the far side of the crossing, so that rounding cannot undo the switch
        nudge = grain = np.spacing(max(abs(low), abs(high)))
        near = at
        while at < high and (at <= step.t_old or margin(at) >= 0):
            near, at, nudge = at, min(at + nudge, high), 2 * nudge
        while at - near > 8 * grain:  # far from the root that was found: that was none
            middle = (near + at) / 2
            near, at = (near, middle) if margin(middle) < 0 else (middle, at)
        return self._without_grain(step, at, grain, wrong)

    def _without_grain(self, step: Step, at: float, tick: float, wrong: np.ndarray) -> float:
        """The first of the few times before ``at`` where a margin itself is below zero."""
        for _ in range(8):
            before = at - tick
            if not before > step.t_old or not np.any(
                    self.violated(before, step.dense(before), grain=0.0)[wrong] < 0):
                break
            at = before
        return at
