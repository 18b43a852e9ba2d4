"""Which relations hold after an event? Iterated to a fixpoint, or refused by name."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..exceptions import SimulationError
from ..numerics.arrays import Array, Flags, Indices
from ..numerics.instants import MOST_ROUNDS
from ..numerics.tolerances import ROUNDING, SAME_INSTANT, TINY
from ..system.problem import Problem
from .actions import Resets, Samplings
from .event_log import EventLog
from .next_branch import Judge, judged_later, next_branch
from .time_events import TimeEvents
from .zero_crossings import ZeroCrossings

if TYPE_CHECKING:
    from ..native.settling import Settling

__all__ = ["Switching"]


class Switching:
    """The relations of a problem, with what acts at events."""

    def __init__(self, problem: Problem, time_events: TimeEvents, resets: Resets,
                 samplings: Samplings, crossings: ZeroCrossings, log: EventLog, t_end: float
                 ) -> None:
        self.problem, self.time_events = problem, time_events
        self.resets, self.samplings = resets, samplings
        self.crossings, self.log, self.t_end = crossings, log, t_end
        self._settling: Settling | None = None  # made for the first event
        self._last = -np.inf  # time of the last event

    @cached_property
    def indirect(self) -> Flags:
        """Relations that are judged where modes are decided: those that follow efforts, at nodes
        without mass if they act on these only through what switches with them, and :attr:`resting`.
        """
        system, laws = self.problem.system, self.problem.laws
        if laws is None:
            return self.resting
        from ..nonsmooth.modes.resting_relations import indirect_relations, relations_of_efforts

        follow = indirect_relations if laws.massless else relations_of_efforts
        return follow(system) | self.resting

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
        if self.samplings.active:
            self.settling.begin_samples(t, first=True)
        problem.update_anew(t)
        unsettled = self._unsettled_at_first(t)
        if unsettled is None or not modes_known:
            return

        def judge() -> tuple[Array, Flags]:
            g = problem.crossings_here(t, self.time_events.behind_jumps(t))
            return g, self.time_events.holding(g, t) != problem.m

        if not self._take_next(t, judge) or self._unsettled_at_first(t) is not None:
            self._no_fixpoint(t, unsettled)

    def _unsettled_at_first(self, t: float) -> Indices | None:
        """Iterate relations and discrete values at the start; what does not come to rest."""
        problem = self.problem
        for _ in range(MOST_ROUNDS + problem.system.nm + len(self.samplings.owner)):
            changed = self.samplings.active and self.settling.assign_due(t)
            self.resets.note(problem, t)
            holding = self.time_events.holding(problem.crossings_here(t), t)
            unsettled = np.flatnonzero(holding != problem.m)
            if not len(unsettled) and not changed:
                self.resets.remember(problem, t)
                return None
            problem.m[:] = holding
        return unsettled

    def look_back(self, t: float, which: Indices) -> Indices:
        """Note what `before` is asked of, before anything happens at an event; what still switches
        then of relations ``which``, and of modes, which are numbered behind them."""
        if not self.resets.active:
            self.resets.note(self.problem, t)
        elif self.resets.noted:
            of_modes = which >= self.problem.system.nm
            return np.append(self.settling.look_back(t, which[~of_modes]), which[of_modes])
        return which

    def flip(self, t: float, which: Indices, with_modes: bool) -> None:
        """Flip relations at an event, iterate until all agree, and tell what switched.

        ``with_modes`` : whether modes end there, too.
        """
        problem = self.problem
        if with_modes:
            which = which[~self.resting[which]]
        before = problem.m.copy()
        if problem.system.nm or self.samplings.active:
            if self.samplings.active:
                self.settling.begin_samples(t)
            again, self._last = t - self._last <= SAME_INSTANT * abs(t), t
            holds = self.time_events.right_limits(t)
            if not self.settling.flip(t, which, holds, self._step, again):
                self._go_on_elsewhere(t, which[~self.time_events.timed[which]], before)
        for r in which[problem.m[which] == before[which]]:  # switched, and back again at once
            self.log.suspect(t, self.time_events.relations.describe(int(r), True)[0])
        self._note(t, np.flatnonzero(problem.m != before))

    def follow(self, t: float, last: bool) -> bool:
        """Bring what follows efforts in line with modes that have been decided.

        Returns whether anything has changed, which is refused where it is the ``last`` time.
        """
        problem, indirect = self.problem, self.indirect
        if not (indirect.any() or self.samplings.late.any() or self.resets.late.any()):
            return False
        before = problem.m.copy()
        found = self.settling.follow(t, self._step)
        changed = bool(found) or not np.array_equal(problem.m, before)
        if found < 0 or last and changed:
            self._no_fixpoint(t, np.flatnonzero(
                self.settling.switches.turns if found < 0 else indirect & (problem.m != before)))
        self._note(t, np.flatnonzero(problem.m != before))
        return changed

    @property
    def _step(self) -> float:
        """How long the last step was; the rest of the run where none is known."""
        return self.crossings.step or self.t_end - self.time_events.t_start

    @property
    def settling(self) -> Settling:
        """The loops by which relations, samples and resets agree with each other."""
        if self._settling is None or self._settling.switches.m is not self.problem.m:
            from ..native.settling import Settling

            self._settling = Settling(self.problem, self.crossings, self.indirect, self.resting,
                                      self.samplings, self.resets)
        return self._settling

    @property
    def _due(self) -> tuple[Flags, Array]:
        """Who samples at the present instant, and discrete values before it."""
        return self.settling.samples.due, self.settling.before

    def _wrong(self, g: Array) -> Flags:
        """Relations that clearly do not hold as assumed, crossing functions being ``g``."""
        holds, times = self.problem.m > 0.5, self.time_events
        wrong: Flags = np.where(holds, g, -g) < -np.maximum(
            self.crossings.relation_tolerance, ROUNDING * (np.abs(g) + TINY))
        wrong |= (g == 0) & (holds != times.relations.at_zero)  # discrete values
        return wrong & ~times.timed & ~self.indirect

    def _go_on_elsewhere(self, t: float, flips: Indices, before: Array) -> None:
        """Go on with another solution of the same equations where the present one has ended, or
        iterating relations goes in circles."""
        problem = self.problem
        self.resets.refuse_clashes(problem, t)
        self.samplings.refuse_clashes(problem, t, *self._due)
        restless = np.flatnonzero(self.settling.switches.turns)
        undone = np.array_equal(problem.m, before)  # neither side of the crossing holds
        behind, duration = self.time_events.behind_jumps(t), self.time_events.duration
        for crossed in (flips, flips[:0]):  # beyond what has crossed, or anywhere
            later = judged_later(problem, behind, before, crossed, duration, self._wrong)
            if self._take_next(t, later) and self.settling.flip(
                    t, flips[:0], problem.m, self._step, False):
                return
        self._no_fixpoint(t, flips if undone or not len(restless) else restless)

    def _take_next(self, t: float, judge: Judge) -> bool:
        """Go on with relations that agree with each other; whether there are any."""
        m = next_branch(self.problem, judge)
        if m is not None:
            self.problem.m[:] = m
            self.problem.update_anew(t)
        return m is not None

    def _note(self, t: float, changed: Indices) -> None:
        acted: list[tuple[str, str]] = []
        if self._settling is not None:
            rounds, given = self._settling.resets.changed, self._settling.resets.given
            some = np.flatnonzero(rounds)
            acted = self.resets.words(some, rounds[some], given[some])
            rounds[:] = 0.0
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
        samplers = self.samplings.unsettled(self.problem, t, *self._due, which)
        names = names or samplers
        self.log.recording.fail("relations without a fixpoint")
        raise SimulationError(
            ", ".join(dict.fromkeys(parts or samplers)), f"at t = {t:.9g} s "
            + (f"the condition {names[0]} contradicts itself: the equations undo it wherever it "
               "holds." if len(names) == 1 else
               f"the conditions {', '.join(names)} contradict each other: each switches the other "
               "again and again."),
            "Who samples reads what all samples of this instant lead to, its own among them: hand "
            "the new value on one period later, by a UnitDelay or a second Discrete variable that "
            "takes over the first." if samplers else
            "Give one of them a hysteresis or a Discrete variable to remember its state.",
            says_where=True, time=t, variables=tuple(names),
        )  # fmt: skip

