"""Which relations hold after an event? Iterated to a fixpoint, or refused by name.

At events of steps in Python, and those that machine code hands over, relations, samples and resets
agree by the plain loops that carry out all others (:mod:`blocks.native.switches`). What these ask
of a model is called back.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import cached_property

import numpy as np

from ..exceptions import SimulationError
from ..machine.functions import Kept, MachineCode, empty
from ..native.callbacks import Callbacks
from ..native.next_branch import Switches
from ..native.resets import Resets as ResetRoom
from ..native.resets import resets_of
from ..native.samples import (
    CHANGED,
    FAILED,
    Samples,
    assign_due,
    assigned_in_python,
    begin_samples,
    count_samples,
    samples_of,
)
from ..native.stages import ATOL
from ..native.steps import RUNGE_KUTTA, Code, known_of, workspace
from ..native.switches import follow_modes, look_back, settle_relations
from ..native.zero_crossings import LARGEST, relations_of
from ..numerics.arrays import Array, Flags, Indices
from ..numerics.instants import MOST_ROUNDS
from ..numerics.tolerances import ROUNDING, SAME_INSTANT, TINY
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem
from .actions import Resets, Samplings
from .event_log import EventLog
from .next_branch import Judge, judged_later, next_branch
from .time_events import TimeEvents
from .zero_crossings import ZeroCrossings

__all__ = ["Switching"]

NOMINAL = 1e-6  # of a state: its tolerance where steps know none


class Switching:
    """The relations of a problem, with what acts at events.

    ``crossings`` tell what relations may be below zero by, and how large they have been.
    """

    def __init__(self, problem: Problem, time_events: TimeEvents, resets: Resets,
                 samplings: Samplings, crossings: ZeroCrossings, log: EventLog, t_end: float
                 ) -> None:
        self.problem, self.time_events = problem, time_events
        self.resets, self.samplings = resets, samplings
        self.crossings, self.log, self.t_end = crossings, log, t_end
        self._last = self._t = -np.inf  # time of the last event, and of the one that is looked at

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

    # -- what loops are given, made for the first event ----------------------------------------
    @cached_property
    def _calls(self) -> Callbacks:
        return Callbacks()

    @cached_property
    def _x(self) -> Array:
        """States, which loops may move."""
        return self.problem.x.copy()

    @cached_property
    def _switches(self) -> Switches:
        problem, times, nm = self.problem, self.time_events, self.problem.system.nm
        room, flags = np.empty((3, nm)), np.empty((2, nm), dtype=bool)
        return empty(Switches)._replace(
            m=problem.m, at_zero=times.relations.at_zero, timed=times.timed,
            joint=np.zeros(nm, dtype=bool), indirect=self.indirect, resting=self.resting,
            loops=times.relations.loops, duration=times.duration, holds=np.zeros((1, nm)),
            d=problem.d, rows=np.zeros((1, 0)), before=room[0], first=room[1], now=room[2],
            frozen=flags[0], turns=flags[1])

    @cached_property
    def _samples(self) -> Samples:
        problem, sampled, rules = self.problem, self.samplings.values, self.samplings.rules()
        if rules is None or sampled is None:
            return empty(Samples)
        samples = samples_of(rules, problem.d, self._at_point(
            lambda t: sampled(*problem.arguments(t), self._before), len(rules.owner)))
        return samples if rules.in_python is None else samples._replace(
            in_python=self._calls.address(
                assigned_in_python(rules, samples), (1, None, None, None), 1))

    @cached_property
    def _assigned(self) -> ResetRoom:
        problem, assigned, rules = self.problem, self.resets.assigned, self.resets.rules()
        if rules is None or assigned is None:
            return empty(ResetRoom)
        return resets_of(rules, len(self._x), problem.d, self._at_point(
            lambda t: assigned(*problem.arguments(t)), rules.assigned.nnz_out(0)))

    @cached_property
    def _given(self) -> list[Kept]:
        """Addresses, work space, what is watched, and what may happen, as loops take them."""
        problem, n, nm = self.problem, len(self._x), self.problem.system.nm
        code = empty(Code)._replace(
            kind=RUNGE_KUTTA, crossings=self._at_point(self._crossed, nm, settled=False),
            slope=self._at_point(self._slope, n),
            project=self._at_point(lambda t: problem.x, n) if problem.system.clusters else 0)
        return [Kept(one) for one in (code, workspace(n), relations_of(problem, nm, 1, 0),
                                      self._switches, self._samples, self._assigned)]

    def _at_point(self, function: Callable[[float], Array | list[float]], size: int,
                  settled: bool = True) -> int:
        """The address of a function of the problem at a point; nan where that has no solution."""
        def called(at: Array, x: Array) -> Array | list[float]:
            t = float(at[0])
            self.problem.x[:] = x
            try:
                if settled:
                    self.problem.update_anew(t)
                return function(t)
            except AlgebraicFailure:
                return np.full(size, np.nan)

        return self._calls.address(called, (1, len(self._x), None, None), size)

    def _crossed(self, t: float) -> Array:
        """Crossing functions; at the event behind what jumps there."""
        behind = self.time_events.behind_jumps(t) if t == self._t else t
        return self.problem.crossings_here(t, behind)

    def _slope(self, t: float) -> Array:
        problem = self.problem
        out = np.zeros_like(self._x)
        out[problem.free] = problem.slope(t, problem.solver_vector()) * problem.scale
        return out

    @property
    def _before(self) -> Array:
        """Discrete values before the instant."""
        return self._samples.values[self._samples.owner.size :]

    def _run(self, loops: MachineCode, t: float, *more: float) -> int:
        """Let loops carry out a part of an event; what they return."""
        problem, crossings, (code, work, relations, *_) = self.problem, self.crossings, (
            kept.record for kept in self._given)
        allowed, atol = crossings.relation_tolerance, work.k[ATOL]
        atol[:] = np.inf  # what is tied follows from the others
        atol[problem.free] = problem.scale * (crossings.atol if crossings.atol.size else NOMINAL)
        relations.slack[:], relations.looks[LARGEST] = allowed, crossings.largest
        self._x[:], self._t = problem.x, t
        found = loops.knowing(known_of(code))(*self._given, t, self._x, *more)
        self._calls.check()
        allowed[:], problem.x[:] = relations.slack, self._x
        failed = found == FAILED or loops is settle_relations and not found
        with suppress(AlgebraicFailure) if failed else nullcontext():
            problem.update_anew(t)
        return int(found)

    def _cross(self, which: Indices) -> Flags:
        """Let these relations be those that have crossed; room for what still does."""
        wrong: Flags = self._given[2].record.wrong
        wrong[:] = False
        wrong[which] = True
        return wrong

    # -- at the start ----------------------------------------------------------------------
    def begin(self, t: float, modes_known: bool = True) -> None:
        """Bring relations and discrete values in line with each other at the start.

        As far as they can be while modes are not known yet.
        """
        problem = self.problem
        if not problem.system.nm and not self.samplings.active:
            return
        if self.samplings.active:
            self._begin_samples(t)
            self._samples.due[np.isnan(self._samples.start)] = True
        problem.update_anew(t)
        unsettled = self._unsettled_at_first(t)
        if unsettled is None or not modes_known:
            return

        def judge() -> tuple[Array, Flags]:
            g = problem.crossings_here(t, self.time_events.behind_jumps(t))
            return g, self.time_events.holding(g, t) != problem.m

        if not self._take_next(t, judge) or self._unsettled_at_first(t) is not None:
            self._no_fixpoint(t, unsettled)

    def _begin_samples(self, t: float) -> None:
        """Find who samples at an instant, but at the start alone."""
        samples = self._given[4]
        begin_samples(samples, t)
        count_samples(samples, t)

    def _unsettled_at_first(self, t: float) -> Indices | None:
        """Iterate relations and discrete values at the start; what does not come to rest."""
        problem = self.problem
        for _ in range(MOST_ROUNDS + problem.system.nm + len(self.samplings.owner)):
            changed = self.samplings.active and self._sampled(t)
            self.resets.note(problem, t)
            holding = self.time_events.holding(problem.crossings_here(t), t)
            unsettled = np.flatnonzero(holding != problem.m)
            if not len(unsettled) and not changed:
                self.resets.remember(problem, t)
                return None
            problem.m[:] = holding
        return unsettled

    def _sampled(self, t: float) -> bool:
        """Assign what is due with the present values of all else; whether that has changed any."""
        self._x[:] = self.problem.x
        code, work, *_, samples, _ = self._given
        found = assign_due.knowing(known_of(code.record))(code, work, samples, t, self._x)
        self._calls.check()
        if found == FAILED:
            self.samplings.refuse_clashes(self.problem, t, self._samples.due, self._before)
        return bool(found == CHANGED)

    # -- at an event -----------------------------------------------------------------------
    def look_back(self, t: float, which: Indices) -> Indices:
        """Note what `before` is asked of, before anything happens at an event; what still switches
        then of relations ``which``, and of modes, which are numbered behind them."""
        if not self.resets.active:
            self.resets.note(self.problem, t)
        elif self.resets.noted:
            of_modes = which >= self.problem.system.nm
            wrong = self._cross(which[~of_modes])
            self._run(look_back, t)
            return np.append(np.flatnonzero(wrong), which[of_modes])
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
                self._begin_samples(t)
            again, self._last = t - self._last <= SAME_INSTANT * abs(t), t
            if not self._settles(t, which, self.time_events.right_limits(t), again):
                self._go_on_elsewhere(t, which[~self.time_events.timed[which]], before)
        for r in which[problem.m[which] == before[which]]:  # switched, and back again at once
            self.log.suspect(t, self.time_events.relations.describe(int(r), True)[0])
        self._note(t, np.flatnonzero(problem.m != before))

    def _settles(self, t: float, which: Indices, holds: Array, again: bool) -> bool:
        """Switch relations, and those of time as they hold from here on, until all agree; whether
        they do."""
        self._cross(which)
        self._switches.holds[0] = holds
        for room in (self._assigned.done, self._assigned.changed):
            room[:] = False
        return bool(self._run(settle_relations, t, self._step, 0, again, False))

    def follow(self, t: float, last: bool) -> bool:
        """Bring what follows efforts in line with modes that have been decided.

        Returns whether anything has changed, which is refused where it is the ``last`` time.
        """
        problem, indirect = self.problem, self.indirect
        if not (indirect.any() or self.samplings.late.any() or self.resets.late.any()):
            return False
        before = problem.m.copy()
        found = self._run(follow_modes, t, self._step)
        changed = bool(found) or not np.array_equal(problem.m, before)
        if found < 0 or last and changed:
            self._no_fixpoint(t, np.flatnonzero(
                self._switches.turns if found < 0 else indirect & (problem.m != before)))
        self._note(t, np.flatnonzero(problem.m != before))
        return changed

    @property
    def _step(self) -> float:
        """How long the last step was; the rest of the run where none is known."""
        return self.crossings.step or self.t_end - self.time_events.t_start

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
        self.samplings.refuse_clashes(problem, t, self._samples.due, self._before)
        restless = np.flatnonzero(self._switches.turns)
        undone = np.array_equal(problem.m, before)  # neither side of the crossing holds
        behind, duration = self.time_events.behind_jumps(t), self.time_events.duration
        for crossed in (flips, flips[:0]):  # beyond what has crossed, or anywhere
            later = judged_later(problem, behind, before, crossed, duration, self._wrong)
            if self._take_next(t, later) and self._settles(t, flips[:0], problem.m, False):
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
        rounds, given = self._assigned.changed, self._assigned.given
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
        samplers = self.samplings.unsettled(
            self.problem, t, self._samples.due, self._before, which)
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

