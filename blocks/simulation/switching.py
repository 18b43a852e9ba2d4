"""Which relations hold after an event? Iterated to a fixpoint, or refused by name."""

from __future__ import annotations

import numpy as np

from ..exceptions import SimulationError
from ..system.problem import Problem
from .event_log import EventLog
from .time_events import Resets, Samples, Stops
from .zero_crossings import Crossings

__all__ = ["Switching"]

MOST_ROUNDS = 50  # of the mode fixpoint at one instant
LAST_DIGITS = 1e-11  # of a state: what rounding leaves unknown of it, amplified by few operations
JITTER = 8.0  # times what that does to a relation: which side it is on is not known
AHEAD = 1e-7  # of a state: how far is looked ahead to see where a relation is going


class Switching:
    """The relations of a problem, with what acts at events."""

    def __init__(self, problem: Problem, stops: Stops, resets: Resets, samples: Samples,
                 crossings: Crossings, log: EventLog, t_end: float) -> None:
        self.problem, self.stops, self.resets, self.samples = problem, stops, resets, samples
        self.crossings, self.log, self.t_end = crossings, log, t_end

    def begin(self, t: float) -> None:
        """Bring relations and discrete values in line with each other at the start."""
        problem = self.problem
        if not self.problem.system.nm and not self.samples.active:
            return
        self.samples.begin(t, first=True)
        problem.settle(t)
        for _ in range(MOST_ROUNDS):
            changed = self.samples.apply(problem, t)
            g = self.problem.crossings_here(t)
            new = self._holds(g, t)
            restless = np.flatnonzero(new != problem.m)
            if not len(restless) and not changed:
                self.resets.remember(problem, t)
                return
            problem.m[:] = new
        self._no_fixpoint(t, restless)

    def _holds(self, g: np.ndarray, t: float) -> np.ndarray:
        held = np.where(self.stops.at_zero, g >= 0, g > 0).astype(float)
        later = self.stops.right_limits(t)
        held[self.stops.timed] = later[self.stops.timed]
        return held

    def flip(self, t: float, which: np.ndarray) -> None:
        """Flip relations at an event, iterate until all agree, and tell what switched."""
        problem = self.problem
        before = problem.m.copy()
        timed = self.stops.timed
        self.crossings.slack[which] = 0.0
        if self.problem.system.nm or self.samples.active:
            self.samples.begin(t)
            later = self.stops.right_limits(t)
            problem.m[timed] = later[timed]
            flips = which[~timed[which]]
            problem.m[flips] = 1.0 - problem.m[flips]
            g = g0 = problem.crossings_here(t)
            size = np.abs(g0) + 1e-300
            frozen, every = set(flips.tolist()), np.arange(self.problem.system.nm)
            acted = False
            for _ in range(MOST_ROUNDS):
                changed = self.samples.apply(problem, t)
                if changed:
                    problem.settle(t)
                moved = self.resets.apply(problem, t)
                if moved:
                    problem.settle(t)
                g, last = problem.crossings_here(t), g
                if moved:  # relations that the state has moved are judged anew
                    changed, frozen = True, {i for i in frozen if g[i] == last[i]}
                wrong = np.where(problem.m > 0.5, g, -g) < -1e-12 * size
                wrong |= (g == 0) & ((problem.m > 0.5) != self.stops.at_zero)  # discrete values
                wrong[timed] = False
                wrong[[i for i in frozen if abs(g[i]) <= 1e-9 * max(1e-9, abs(g0[i]))]] = False
                doubtful = np.flatnonzero(wrong & np.isin(every, list(frozen)))
                if len(doubtful):  # a law may be continuous, and steep on one side
                    wrong[doubtful] &= ~self._passes(t, g, doubtful)
                todo = np.flatnonzero(wrong)
                acted |= changed
                if not len(todo) and not changed:
                    break
                problem.m[todo] = 1.0 - problem.m[todo]
            else:
                self._no_fixpoint(t, todo)
            if len(flips) and not acted and np.array_equal(problem.m, before) \
                    and not self._passes(t, g, flips).all():  # else nothing had crossed
                self._no_fixpoint(t, flips)  # neither side of the crossing agrees with itself
        for r in which[problem.m[which] == before[which]]:  # switched, and back again at once
            self.log.suspect(t, self.stops.describe(int(r), True)[0])
        self._note(t, np.flatnonzero(problem.m != before))

    def _passes(self, t: float, g: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Relations that are on a side by rounding only, and on their way to the one they hold.

        Where a piecewise law is continuous, both of its branches agree on where a relation goes.
        As long as the mode is held, rounding may go on to put it on the wrong side.
        """
        problem = self.problem
        y, side = problem.start_vector(), np.where(problem.m > 0.5, 1.0, -1.0)
        slope = problem.slope(t, y)
        with np.errstate(divide="ignore"):
            steps = AHEAD * np.maximum(np.abs(y), 1.0) / np.abs(slope)
        h = min(float(steps.min(initial=np.inf)), AHEAD * (self.t_end - t))
        going = problem.crossings(t + h, y + h * slope) - g
        doubt = JITTER * self._in_doubt(t, g)
        problem.solve(t, y)
        passes = ((np.abs(g) <= doubt) & (side * going > 0))[which]
        self.crossings.slack[which[passes]] = doubt[which[passes]]
        return passes

    def _in_doubt(self, t: float, g: np.ndarray) -> np.ndarray:
        """How much of every crossing function the last digits of the states leave unknown."""
        problem = self.problem
        y = problem.start_vector()
        change = LAST_DIGITS * np.maximum(np.abs(y), 1.0) * (-1.0) ** np.arange(len(y))
        later = LAST_DIGITS * (self.log.duration)
        moved = [np.abs(problem.crossings(t + dt, y + dy) - g)
                 for dt, dy in ((0.0, change), (0.0, np.abs(change)), (later, 0.0 * change))]
        problem.solve(t, y)
        return np.maximum.reduce(moved)

    def _note(self, t: float, changed: np.ndarray) -> None:
        acted = self.resets.told()
        for r in changed:
            component, text = self.stops.describe(int(r), bool(self.problem.m[r] > 0.5))
            if self.stops.told[r] and component not in dict(acted):
                self.log.remember(t, component, text)
            else:
                self.log.suspect(t, component)
        for component, text in acted:
            self.log.remember(t, component, text)
        self.log.refuse_chatter(t)

    def _no_fixpoint(self, t: float, which: np.ndarray) -> None:
        names = [self.stops.condition(int(r)) for r in which[:3]]
        names = names or self.samples.restless(self.problem, t)
        self.log.recording.status = "failed"
        self.log.recording.message = "relations without a fixpoint"
        raise SimulationError(
            "", f"at t = {t:.9g} s "
            + (f"the condition {names[0]} contradicts itself: the equations undo it wherever it "
               "holds." if len(names) == 1 else
               f"the conditions {', '.join(names)} contradict each other: each switches the other "
               f"within {MOST_ROUNDS} rounds."),
            "Give one of them a hysteresis or a Discrete variable to remember its state.",
            time=t, variables=tuple(names),
        )  # fmt: skip
