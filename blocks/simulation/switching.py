"""Which relations hold after an event? Iterated to a fixpoint, or refused by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from ..exceptions import SimulationError
from ..numerics.arrays import Array, Flags, Indices
from ..numerics.copies import put_back
from ..numerics.tolerances import (
    CEASED_FLOW,
    DIRECTION_STEP,
    JUST_SWITCHED,
    LAST_DIGITS,
    LEAST_ERROR,
    NEVER_LEFT,
    ROUNDING,
    TINY,
)
from ..solvers.looks import SCATTER
from ..solvers.samples import MOST_ROUNDS
from ..system.problem import Problem
from .actions import Resets, Samplings
from .event_log import EventLog
from .next_branch import next_branch, tried_branch
from .time_events import TimeEvents
from .zero_crossings import ZeroCrossings

__all__ = ["Switching"]

JITTER = 32.0  # times what the last digits do to a relation: which side it is on is not known


class Switching:
    """The relations of a problem, with what acts at events."""

    def __init__(self, problem: Problem, time_events: TimeEvents, resets: Resets,
                 samplings: Samplings, crossings: ZeroCrossings, log: EventLog, t_end: float
                 ) -> None:
        self.problem, self.time_events = problem, time_events
        self.resets, self.samplings = resets, samplings
        self.crossings, self.log, self.t_end = crossings, log, t_end
        # of the present event: crossing functions as it was reached, and what has just crossed
        self._first, self._frozen = np.zeros(0), np.zeros(0, dtype=bool)

    @cached_property
    def indirect(self) -> Flags:
        """Relations that are judged where modes are decided: those that follow efforts at nodes
        without mass, and act on these only through what switches with them, and :attr:`resting`.
        """
        system, laws = self.problem.system, self.problem.laws
        if laws is None or not laws.massless:
            return self.resting
        from ..nonsmooth.modes.indirect_relations import indirect_relations

        return indirect_relations(system) | self.resting

    @cached_property
    def resting(self) -> Flags:
        """Relations that look at nothing but what modes may hold at zero: where they cross with a
        mode that ends, it is the next one that tells."""
        system, laws = self.problem.system, self.problem.laws
        out = np.zeros(system.nm, dtype=bool)
        if laws is not None and laws.set_valued.size and not laws.recorded:
            from ..nonsmooth.modes.resting_relations import RestingRelations

            out[RestingRelations.of(system).which] = True
        return out

    def begin(self, t: float, modes_known: bool = True) -> None:
        """Bring relations and discrete values in line with each other at the start.

        As far as they can be while modes are not known yet.
        """
        problem = self.problem
        if not problem.system.nm and not self.samplings.active:
            return
        self.samplings.begin(t, first=True)
        problem.settle(t)
        unsettled = self._unsettled_at_first(t)
        if unsettled is None or not modes_known:
            return
        tried = self._take_tried(t, lambda g: self.time_events.holding(g, t) != problem.m)
        if not tried or self._unsettled_at_first(t) is not None:
            self._no_fixpoint(t, unsettled)

    def _unsettled_at_first(self, t: float) -> Indices | None:
        """Iterate relations and discrete values at the start; what does not come to rest."""
        problem = self.problem
        for _ in range(MOST_ROUNDS):
            changed = self.samplings.apply(problem, t)
            self.resets.note(problem, t)
            holding = self.time_events.holding(problem.crossings_here(t), t)
            unsettled = np.flatnonzero(holding != problem.m)
            if not len(unsettled) and not changed:
                self._look_ahead(t)
                self.resets.remember(problem, t)
                return None
            problem.m[:] = holding
        return unsettled

    def flip(self, t: float, which: Indices, with_modes: bool) -> None:
        """Flip relations at an event, iterate until all agree, and tell what switched.

        ``with_modes`` : whether modes end there, too.
        """
        problem = self.problem
        if with_modes:
            which = which[~self.resting[which]]
        before = problem.m.copy()
        self.crossings.relation_tolerance[which] = 0.0
        if problem.system.nm or self.samplings.active:
            self.samplings.begin(t)
            timed = self.time_events.timed
            problem.m[timed] = self.time_events.right_limits(t)[timed]
            flips = which[~timed[which]]
            problem.m[flips] = 1.0 - problem.m[flips]
            self._switch(t, flips, before)
            self._look_ahead(t)
        for r in which[problem.m[which] == before[which]]:  # switched, and back again at once
            self.log.suspect(t, self.time_events.relations.describe(int(r), True)[0])
        self._note(t, np.flatnonzero(problem.m != before))

    def follow(self, t: float, last: bool) -> bool:
        """Bring what follows efforts in line with modes that have been decided.

        Returns whether anything has changed, which is refused where it is the ``last`` time.
        """
        problem, indirect = self.problem, self.indirect
        if not (indirect.any() or np.any(self._waiting(self.samplings.late))
                or np.any(self._waiting(self.resets.late))):
            return False
        before = problem.m.copy()
        problem.settle(t)
        g = self._crossings(t)
        turned = np.flatnonzero(indirect & self._wrong(t, g, self._first, self._frozen))
        problem.m[turned] = 1.0 - problem.m[turned]
        self._frozen[turned] = False
        _, acted, restless = self._agree(t, g, decided=True)
        changed = acted or not np.array_equal(problem.m, before)
        if restless is None and last and changed:
            restless = turned
        if restless is not None:
            self._no_fixpoint(t, restless)
        self._note(t, np.flatnonzero(problem.m != before))
        return changed

    def _crossings(self, t: float) -> Array:
        """Crossing functions at an event, behind what jumps there as ``mod`` of time does."""
        return self.problem.crossings_here(t, self.time_events.behind_jumps(t))

    def _waiting(self, late: Flags) -> Flags | bool:
        """Who waits for modes to be decided, of those that follow efforts."""
        laws = self.problem.laws
        return laws is not None and laws.massless and late

    def _agree(self, t: float, g: Array, decided: bool
               ) -> tuple[Array, bool, Indices | None]:
        """Switch relations and assign until all agree with the equations that they switch.

        Relations that have just crossed stay as they are while they are zero but for rounding;
        what follows efforts is looked at only where modes are ``decided``.

        Returns
        -------
        crossing functions; whether anything has been assigned; and, where not all comes to rest,
        the relations that do not
        """
        problem, frozen, indirect = self.problem, self._frozen, self.indirect
        acted = False
        for k in range(MOST_ROUNDS):
            now = decided and k == 0
            changed = self.samplings.apply(
                problem, t, not now and self._waiting(self.samplings.late))
            if changed:
                problem.settle(t)
            moved = self.resets.apply(problem, t, not now and self._waiting(self.resets.late))
            if moved:
                problem.settle(t)
                self.samplings.kept[self.resets.assigned_last] = True
            g, last = self._crossings(t), g
            if moved:  # relations that the state has moved are judged anew
                changed = True
                same = np.abs(g - last) <= _rounding(self._first)  # loops are solved for anew
                frozen &= same | indirect
            todo = np.flatnonzero(~indirect & self._wrong(t, g, self._first, frozen))
            acted |= changed
            if not len(todo) and not changed:
                return g, acted, None
            problem.m[todo] = 1.0 - problem.m[todo]
        return g, acted, todo

    def _switch(self, t: float, flips: Indices, before: Array) -> None:
        """Bring relations in line with each other where some have crossed."""
        problem = self.problem
        g0 = self._first = self._crossings(t)
        self._frozen = np.zeros(len(g0), dtype=bool)
        self._frozen[flips] = True
        turned = np.where(self._frozen, 2 * problem.m - 1, 0)  # as machine code lets x < 0 wait
        waits = (turned > 0) & ~self.time_events.relations.at_zero & (
            (g0[:, None] == -g0) & (turned < 0)).any(axis=1)
        if waits.any():
            problem.m[waits] = 0.0
            doubt = self._in_doubt(t, g0)
            problem.m[waits] = g0[waits] + self._going(t, g0)[waits] > doubt[waits]
            self.crossings.relation_tolerance[waits] = doubt[waits] * (problem.m[waits] == 0.0)
        g, acted, restless = self._agree(t, g0, decided=False)
        if restless is not None:
            if self._goes_on_elsewhere(t, flips, before):
                return
            none = np.zeros(len(g0), dtype=bool)
            tried = self._take_tried(t, lambda g: self._wrong(t, g, g, none) & ~self.indirect)
            if tried:
                self._first, self._frozen = self._crossings(t), none
                tried = self._agree(t, self._first, decided=False)[2] is None
            if not tried:
                self._no_fixpoint(t, restless)
            return
        unchanged = len(flips) and not acted and np.array_equal(problem.m, before)
        if unchanged and not self._passes(t, g, flips).all() and (  # else nothing had crossed
                not self._goes_on_elsewhere(t, flips, before)):
            self._no_fixpoint(t, flips)  # neither side of the crossing agrees with itself
        largest, past = self.crossings.largest[flips], NEVER_LEFT * np.abs(g0)
        stayed = flips[(largest > 0.0) & (largest <= past[flips])]
        if len(stayed):
            self.crossings.relation_tolerance[stayed] = np.minimum(
                past, self._in_doubt(t, g))[stayed]
        if len(flips) and self.crossings.atol.size:  # else steps know no tolerance
            self._let_dust_be(t, g, flips)

    def _let_dust_be(self, t: float, g: Array, flips: Indices) -> None:
        """As :mod:`blocks.native.switches` does it: relations that have just crossed may be beyond
        zero by what states make of them that move by nothing, if both sides lead to the same."""
        problem, crossings = self.problem, self.crossings
        y, allowed = problem.start_vector(), np.zeros(len(g))
        nothing = LEAST_ERROR * crossings.atol
        moves = nothing, nothing * (2 * np.modf(SCATTER * np.arange(len(y)))[0] - 1)
        for move in moves:
            allowed = np.maximum(allowed, np.abs(problem.crossings(t, y + move) - g))
        dust = flips[((crossings.largest <= NEVER_LEFT * allowed) & (allowed < np.inf)
                      & ~self.indirect)[flips]]
        part = 1.0
        for _ in range(2 if len(dust) else 0):
            apart = max(self._apart(t, y + part * move, dust) for move in moves)
            if apart <= LEAST_ERROR:
                crossings.relation_tolerance[dust] = np.maximum(
                    crossings.relation_tolerance, part * allowed)[dust]
                break
            part *= 0.5 * LEAST_ERROR / apart
        problem.solve(t, y)

    def _apart(self, t: float, y: Array, which: Indices) -> float:
        """How far two sides of relations lead from each other within a step, in units of
        tolerances; inf where a condition of ``when`` becomes true on the other one."""
        problem, crossings = self.problem, self.crossings
        here = problem.slope(t, y)
        problem.m[which] = 1.0 - problem.m[which]
        there = problem.slope(t, y)
        risen = self.resets.would_act(problem, t)
        problem.m[which] = 1.0 - problem.m[which]
        apart = crossings.step * np.abs(there - here) / crossings.atol
        return float(np.max(apart, initial=0.0)) if np.isfinite(apart).all() and not risen else (
            np.inf)

    def _goes_on_elsewhere(self, t: float, flips: Indices, before: Array) -> bool:
        """Go on with another solution of the same equations where the present one has ended."""
        problem = self.problem
        if problem.system.clusters or not len(flips):
            return False
        m = next_branch(problem, t, before, flips, self.time_events.timed,
                        self.time_events.duration)
        if m is None or np.array_equal(m, before):
            return False
        problem.m[:] = m
        g = self._crossings(t)
        return not self._wrong(t, g, g, np.zeros(len(g), dtype=bool)).any()

    def _take_tried(self, t: float, wrong: Callable[[Array], Flags]) -> bool:
        """Go on with relations found by trial, where iterating them goes in circles."""
        def judge() -> tuple[Array, Flags]:
            g = self._crossings(t)
            return g, wrong(g)

        m = tried_branch(self.problem, judge)
        if m is not None:
            self.problem.m[:] = m
            self.problem.settle(t)
        return m is not None

    def _look_ahead(self, t: float) -> None:
        """Switch relations of what is about to flow, before the wrong side of it is integrated.

        Where nothing flows, all sides of a law agree; as soon as something does, the wrong ones
        may have no solution at all.
        """
        problem, system = self.problem, self.problem.system
        if not system.tape.carried.any():
            return
        asked = system.tape.directions & ~self.time_events.timed
        zero = np.flatnonzero(asked & (np.abs(problem.crossings_here(t)) <= 2 * CEASED_FLOW))
        if not len(zero):
            return
        slope = system.slope(*problem.arguments(t))
        speed = float(np.max(np.abs(slope) / (np.abs(problem.x) + problem.scale_x), initial=0.0))
        h = min(DIRECTION_STEP / max(speed, TINY), DIRECTION_STEP * (self.t_end - t))
        with put_back(problem.x, problem.z), np.errstate(all="ignore"):
            problem.x += h * slope
            problem.unknowns.solve_in_order(problem.arguments(t + h))
            going = system.crossings(*problem.arguments(t + h))[zero]
        problem.m[zero] = np.where(going > 0, 1.0, np.where(going < 0, 0.0, problem.m[zero]))
        problem.settle(t)

    def _wrong(self, t: float, g: Array, g0: Array, frozen: Flags) -> Flags:
        """Relations that do not hold as assumed, where their crossing functions are ``g``.

        ``g0`` is what these were as the event was reached, ``frozen`` what has just crossed.
        """
        holds = self.problem.m > 0.5
        at_first = np.abs(g0)
        wrong: Flags = np.where(holds, g, -g) < -np.maximum(
            self.crossings.relation_tolerance, ROUNDING * (at_first + TINY))
        wrong |= (g == 0) & (holds != self.time_events.relations.at_zero)  # discrete values
        wrong &= ~self.time_events.timed
        rested = self.resting & (g0 == 0)
        if rested.any():  # but for those that rest in the present modes
            from ..nonsmooth.modes.resting_relations import RestingRelations

            known = RestingRelations.of(self.problem.system)
            rested[known.which[known.resting(
                self.problem.laws.set_valued.state.solved_modes)]] = False
        if rested.any():  # what begins to move is as near to zero as rounding has left it
            doubt = JITTER * self._in_doubt(t, g)
            rested &= np.abs(g) <= doubt
            wrong &= ~rested | (g == 0)
            self.crossings.relation_tolerance[rested] = doubt[rested]
        if wrong.any() and frozen.any():
            wrong &= ~frozen | (np.abs(g) > _rounding(g0))
            doubtful = np.flatnonzero(wrong & frozen)
            if len(doubtful):  # a law may be continuous, and steep on one side
                wrong[doubtful] &= ~self._passes(t, g, doubtful)
        return wrong

    def _passes(self, t: float, g: Array, which: Indices) -> Flags:
        """Relations that are on a side by rounding only, and on their way to the one they hold.

        Where a piecewise law is continuous, both of its branches agree on where a relation goes.
        As long as the mode is held, rounding may go on to put it on the wrong side.
        """
        doubt, side = JITTER * self._in_doubt(t, g), np.where(self.problem.m > 0.5, 1.0, -1.0)
        passes = ((np.abs(g) <= doubt) & (side * self._going(t, g) > 0))[which]
        self.crossings.relation_tolerance[which[passes]] = doubt[which[passes]]
        return passes

    def _going(self, t: float, g: Array) -> Array:
        """By how much crossing functions change a little later."""
        problem, y = self.problem, self.problem.start_vector()
        slope = problem.slope(t, y)
        with np.errstate(divide="ignore"):
            steps = DIRECTION_STEP * np.maximum(np.abs(y), 1.0) / np.abs(slope)
        h = min(float(steps.min(initial=np.inf)), DIRECTION_STEP * (self.t_end - t))
        going: Array = problem.crossings(t + h, y + h * slope) - g
        problem.solve(t, y)
        return going

    def _in_doubt(self, t: float, g: Array) -> Array:
        """How much of every crossing function the last digits of the states leave unknown."""
        problem = self.problem
        y = problem.start_vector()
        change = LAST_DIGITS * np.maximum(np.abs(y), 1.0) * (-1.0) ** np.arange(len(y))
        later = LAST_DIGITS * self.time_events.duration
        moved = [np.abs(problem.crossings(t + dt, y + dy) - g)
                 for dt, dy in ((0.0, change), (0.0, np.abs(change)), (later, 0.0 * change))]
        problem.solve(t, y)
        return np.maximum.reduce(moved)

    def _note(self, t: float, changed: Indices) -> None:
        acted = self.resets.told()
        relations = self.time_events.relations
        for r in changed:
            component, text = relations.describe(int(r), bool(self.problem.m[r] > 0.5))
            if relations.told[r] and component not in dict(acted):
                self.log.remember(t, component, text)
            else:
                self.log.suspect(t, component)
        for component, text in acted:
            self.log.remember(t, component, text)
        self.log.refuse_chatter(t)

    def _no_fixpoint(self, t: float, which: Indices) -> None:
        relations = self.time_events.relations
        names = [relations.condition(int(r)) for r in which[:3]]
        parts = [relations.describe(int(r), True)[0] for r in which[:3]]
        samplers = self.samplings.unsettled(self.problem, t, which)
        names = names or samplers
        self.log.recording.fail("relations without a fixpoint")
        raise SimulationError(
            ", ".join(dict.fromkeys(parts or samplers)), f"at t = {t:.9g} s "
            + (f"the condition {names[0]} contradicts itself: the equations undo it wherever it "
               "holds." if len(names) == 1 else
               f"the conditions {', '.join(names)} contradict each other: each switches the other "
               f"within {MOST_ROUNDS} rounds."),
            "Who samples reads what all samples of this instant lead to, its own among them: hand "
            "the new value on one period later, by a UnitDelay or a second Discrete variable that "
            "takes over the first." if samplers else
            "Give one of them a hysteresis or a Discrete variable to remember its state.",
            says_where=True, time=t, variables=tuple(names),
        )  # fmt: skip


def _rounding(at_first: Array) -> Array:
    """How much of crossing functions may be rounding, where they were that at an event."""
    out: Array = JUST_SWITCHED * np.maximum(JUST_SWITCHED, np.abs(at_first))
    return out
