"""When does the first of the held relations, or of the held modes, no longer hold?

A margin is positive while a relation or a mode holds as assumed. Within a step it is looked at
in four places, and where a parabola through three looks comes near zero: what dips and comes
back is found between looks, and comes before anything that is found further on. A crossing
lies in the interval up to the first look where a margin is negative; several relations may
cross in it, and the least of their margins says when the first one does. The instant that counts is
on the far side, as near to it as times can be told apart: rounding cannot undo the switch.
All relations whose margin is zero there, compared with the look, have crossed.

This is done here for methods that take one step at a time, and likewise in machine code by
:mod:`blocks.native.dopri` for its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .instants import Stops
from .solvers import Step
from .system import Problem

__all__ = ["Crossings"]

INTERIOR = np.array([0.25, 0.5, 0.75, 1.0])  # where a step is looked at for double crossings


class Crossings:
    """Looks at the margins of a problem along the steps of an episode."""

    def __init__(self, problem: Problem, stops: Stops) -> None:
        self.problem, self.stops = problem, stops
        self.seen: list[tuple[float, np.ndarray]] = []  # the last look

    def forget(self) -> None:
        """Begin an episode: at its start margins may be zero."""
        self.seen = []

    def look_back(self, step: Step) -> None:
        """Look at the start of a step whose predecessor was not seen."""
        self.seen = [(step.t_old, self.violated(step.t_old, step.dense(step.t_old)))]

    def violated(self, t: float, y: np.ndarray) -> np.ndarray:
        """Margins of the held relations: negative where one no longer holds as assumed."""
        g = self.problem.crossings(t, y)
        margin = np.where(self.problem.m > 0.5, g, -g)
        margin[self.stops.stepped_onto(t)] = 1.0  # known instants are not searched for
        if self.problem.laws is not None:
            margin = np.concatenate([margin, self.problem.laws.margins(self.problem, t)])
        return margin

    def first(self, step: Step) -> tuple[float, np.ndarray] | None:
        """The first crossing in a step, and what has crossed: relations, then elements."""
        seen = [p for p in self.seen if p[0] == step.t_old]  # times and margins, oldest first
        for t, margin in self._looks(step):
            seen.append((t, margin))
            if len(seen) > 2:
                left, middle, right = seen[-3:]
                for near in _dips(left, middle, right, self._smooth_margins()):
                    margin = self.violated(near, step.dense(near))
                    if np.any(margin < 0):
                        return self._crossing_between(step, left[0], near, margin)
            if np.any(seen[-1][1] < 0):
                before = seen[-2][0] if len(seen) > 1 else step.t_old
                return self._crossing_between(step, before, t, seen[-1][1])
        self.seen = seen[-1:]
        return None

    def _smooth_margins(self) -> np.ndarray:
        """Margins that may dip below zero between two looks: relations and gaps."""
        gaps = np.zeros(0, dtype=int)
        if self.problem.laws is not None:
            gaps = self.problem.system.nm + self.problem.laws.plain.open_contacts
        return np.concatenate([np.arange(self.problem.system.nm), gaps])

    def _looks(self, step: Step) -> Iterator[tuple[float, np.ndarray]]:
        """Times within a step, and the margins there."""
        times = step.t_old + INTERIOR * (step.t - step.t_old)
        laws = self.problem.laws
        if laws is not None and laws.together is not None:
            y = np.column_stack([step.dense(times[:-1]), step.y])
            found = laws.several_margins(self.problem, times, y)
            if found is not None:
                margins = np.where(self.problem.m[:, None] > 0.5, found[0], -found[0])
                for t, g, margin in zip(times, margins.T, found[1].T, strict=True):
                    g[self.stops.stepped_onto(t)] = 1.0
                    yield float(t), np.concatenate([g, margin])
                return
        for t in times:
            yield float(t), self.violated(t, step.y if t == times[-1] else step.dense(t))

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
        return at


def _dips(left: tuple[float, np.ndarray], middle: tuple[float, np.ndarray],
          right: tuple[float, np.ndarray], which: np.ndarray) -> list[float]:
    """Times between three looks where a parabola through a margin comes near zero."""
    (t0, a), (t1, b), (t2, c) = left, middle, right
    a, b, c = a[which], b[which], c[which]
    low, high = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
    uneven = max((t1 - t0) / (t2 - t1), (t2 - t1) / (t1 - t0))
    if (low > 3 * uneven * (high - low)).all():  # a parabola cannot dip by more than a third
        return []
    with np.errstate(all="ignore"):
        rise, last = (b - a) / (t1 - t0), (c - b) / (t2 - t1)
        bend = (last - rise) / (t2 - t0)
        at = (t0 + t1) / 2 - rise / (2 * bend)
        lowest = a + (at - t0) * rise + (at - t0) * (at - t1) * bend
        near = lowest < 0.25 * (high - lowest)
        good = (bend > 0) & (at > t0) & (at < t2) & near & np.isfinite(at)
    return sorted(set(at[good].tolist()))
