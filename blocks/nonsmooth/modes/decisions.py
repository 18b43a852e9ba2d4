"""Which modes follow? At the start, at the end of a mode, at an impact.

Flows at rest are told from flows that pass through zero, impacts go through the network, and
one problem for all elements in doubt says who sticks, slides, touches or lets go. Friction
that was overcome acts with its kinetic bounds while the others are decided; what would slide
with exactly no acceleration then, stays at rest. Loads exactly at a bound are decided by the
next instant.
"""

from __future__ import annotations

import numpy as np

from ...exceptions import SimulationError
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.copies import put_back
from ...numerics.tolerances import (
    AT_BOUND,
    CANCELLATION,
    CLEAR,
    FLOW_NONE,
    FOUR_LAST_BITS,
    FULFILLED,
    MODE_ENDED,
    NOISE,
    NOTHING_AT_ALL,
    ROUNDING,
    SAME_AS_BEFORE,
    SETTLED,
    TINY,
)
from ...system import Problem
from ..complementarity import Solution, choose
from ..complementarity.moving import LET_GO
from ..unsettled import unsettled
from .delassus import at_dead_centres, stopping_effort, without
from .efforts import ROUNDS, Efforts
from .elements import Change, LawValues
from .evaluation import Evaluation
from .gaps import largest_position
from .held_states import HeldStates, next_instant
from .impacts import Impacts
from .indeterminacy import Indeterminacy
from .margins import Margins
from .painleve import Painleve
from .solved_modes import SolvedModes

__all__ = ["Decisions"]

FRUITLESS = 20  # decisions without any change that are still no reason to worry


class Decisions:
    """Decisions on the modes of all elements of one run."""

    def __init__(self, evaluation: Evaluation, efforts: Efforts, margins: Margins,
                 indeterminacy: Indeterminacy, painleve: Painleve | None,
                 held_states: HeldStates) -> None:
        self.evaluation, self.efforts, self.margins = evaluation, efforts, margins
        self.indeterminacy, self.painleve = indeterminacy, painleve
        self.held_states = held_states
        self.elements, self.state = evaluation.elements, evaluation.state
        self.impacts = Impacts(evaluation)
        self.at_rest = AtRest(evaluation, painleve)
        self._fruitless = 0  # decisions in a row that changed nothing

    # -- at the start ----------------------------------------------------------------------
    def start(self, problem: Problem, t: float) -> None:
        """Modes at the start of a run, from flows, gaps and loads."""
        evaluation, state, contact = self.evaluation, self.state, self.elements.contact
        now = evaluation.values(problem, t)
        state.fast, state.slack = state.largest_of_kinds(now.flow), 0.0
        # of velocities that come out of equations, rounding is measured against nominal ones too;
        # tied states come out of one least-squares problem, with the rounding of the largest
        least = np.max(np.abs(problem.x / problem.scale_x), initial=1.0) if (
            evaluation.system.nc) else 1e-3
        noise = NOISE * evaluation.rounding.flow_magnitudes(
            problem, t, np.maximum(np.abs(problem.x), least * problem.scale_x))
        rest = np.abs(now.flow) <= noise
        closed = now.gap <= ROUNDING * max(1.0, largest_position(problem))
        closing = contact & closed & (now.flow > 0)
        if closing.any():
            state.modes = np.where(contact, np.where(closed, 0, -1),
                                   np.where(rest, 0, np.sign(now.flow))).astype(int)
            self.impacts.strike(problem, t, closing)
            now = evaluation.values(problem, t)
            rest = np.abs(now.flow) <= noise
        still = np.where(contact, closed & rest, rest)
        state.modes = np.where(still, 0, np.where(contact, -1, np.sign(now.flow))).astype(int)
        unclear = self._choose(problem, t, still, np.zeros(self.elements.size, dtype=bool))
        self.efforts.apply(problem, t)
        self.at_rest.refuse_negative(problem, t)
        self.indeterminacy.update_ends(problem, t)
        state.slack = np.where(unclear, self._slack_of_friction(problem, t), 0.0)
        if self.painleve is not None:
            self.painleve.refuse_jam(problem, t, np.ones(self.elements.size, dtype=bool))
            self.painleve.refuse_several(problem, t)
            effort = np.abs(evaluation.efforts(problem)).max(initial=0.0)
            idle = evaluation.values(problem, t).idle & ~contact & (state.modes == 0)
            if idle.any():  # friction without strength lets go of a load, not of rounding
                state.slack = np.where(idle, ROUNDING * effort, state.slack)

    # -- at an event -----------------------------------------------------------------------
    def decide(self, problem: Problem, t: float, touched: Indices) -> list[Change]:
        """Choose the modes at an event.

        The margin of elements that are ``touched`` has just become negative.
        """
        before = self.state.modes.copy()
        struck = self._decide_jointly(problem, t, touched)
        problem.x[self.held_states.creeping(problem, t)] = 0.0
        self.efforts.apply(problem, t)
        if self.painleve is not None:
            self.painleve.refuse_several(problem, t)
            if self.efforts.restless:
                self.painleve.refuse_jam(problem, t, self.state.modes != 0)
        if self.efforts.restless:
            raise unsettled([self.efforts.restless], t, "efforts")
        self.at_rest.refuse_negative(problem, t)
        settled = self.indeterminacy.update_ends(problem, t)
        self._allow_rounding(problem, t)
        changes = self.elements.changes(before, self.state.modes, struck)
        told = changes or settled or not len(touched)
        self._fruitless = 0 if told else self._fruitless + 1
        if self._fruitless > FRUITLESS:  # so that whoever counts events can see it
            return [Change(int(i), int(before[i]), int(before[i])) for i in touched]
        return changes

    def _allow_rounding(self, problem: Problem, t: float) -> None:
        """What is at the end of its mode by rounding is left there until it is well beyond.

        Friction that sticks at its bound lets go by a clear load: of one that is the bound's but
        for rounding it would go by a flow that is rounding, which turns at once. What has just
        opened has a gap that is rounding.
        """
        state, parting = self.state, self.elements.contact & (self.state.modes != 0)
        state.slack = self._slack_of_friction(problem, t)
        if parting.any():
            grain = CANCELLATION * largest_position(problem)
            parting &= np.abs(self.evaluation.values(problem, t).gap) <= grain
            state.slack = np.where(parting, 2 * grain, state.slack)

    def _slack_of_friction(self, problem: Problem, t: float) -> Array | float:
        waits = (self.state.modes == 0) & ~self.elements.contact  # until its load is clear
        if not waits.any():
            return 0.0
        now, effort = self.evaluation.values(problem, t), self.evaluation.efforts(problem)
        allowed = AT_BOUND * np.where(np.isfinite(now.high - now.low), now.high - now.low, 0.0)
        room = np.minimum(now.high - effort, effort - now.low)
        open_ = self.indeterminacy.elements_of(problem, t, self.state.modes == 0)[1]
        if waits[open_].any():
            room[open_] = self.indeterminacy.rooms(problem, t, open_, now)[open_]
        slack = np.where(waits & (room <= allowed), allowed, 0.0)
        return slack if slack.any() else 0.0

    # -- all elements in doubt -------------------------------------------------------------
    def _decide_jointly(self, problem: Problem, t: float, touched: Indices) -> Flags:
        """Choose the modes of all elements in doubt; returns which ones an impact struck."""
        evaluation, state, contact = self.evaluation, self.state, self.elements.contact
        before, margin = state.modes.copy(), self.margins.present(problem, t)
        crossed = self._crossed(problem, t, touched, margin)
        if len(touched) and not crossed.any():  # another split holds
            return crossed
        if self.painleve is not None:
            self.indeterminacy.split(problem, t)  # of which bounds are those that results show
            self.painleve.refuse_jam(problem, t, crossed)
        struck = self.impacts.strike(problem, t, crossed & contact & (before != 0))
        felt = evaluation.connected_with(problem, t, struck)
        now = evaluation.values(problem, t)
        pace = np.maximum(state.fast, state.largest_of_kinds(now.flow))
        leaving = crossed & (before == 0)
        free = ~contact
        turned = free & (  # has changed sign while idle
            before * now.flow < -CLEAR * pace - 2 * evaluation.rounding.of_flows(
                problem, t, state.nothing))  # by more than it was left to go beyond zero
        idle = np.abs(now.flow) <= FLOW_NONE * pace
        arrived = free & (before != 0) & ~turned & (crossed | (
            idle & ~self._moves_on(problem, t, now)) | (
            felt & (np.abs(now.flow) <= SAME_AS_BEFORE * pace)))
        touching = contact & (np.abs(now.flow) <= SAME_AS_BEFORE * pace) & (
            now.gap <= ROUNDING * largest_position(problem))
        still = (before == 0) | arrived | (struck & contact) | touching
        state.modes[turned] = np.sign(now.flow[turned]).astype(int)
        if struck.any():
            jumped = self._slide_after_impact(now, pace)
            still &= ~jumped
            leaving &= still
        state.modes[still] = 0
        doubt = crossed | arrived | turned | ((before == 0) & (margin < 0))
        active = evaluation.connected_with(problem, t, doubt) | felt
        self._choose(problem, t, active & still, leaving)
        moves = state.modes != 0
        self.impacts.stop(problem, t, active & still & ~moves, still & (before != 0),
                          active & still & moves & (state.modes * now.flow < 0))
        loaded = False if evaluation.load is None else evaluation.load.dependent & active
        powerless = (crossed | loaded | (before != 0)) & free & (state.modes == 0)
        # friction without strength holds nothing, not even by rounding
        state.modes[powerless & evaluation.values(problem, t).idle] = 1
        return struck

    def _moves_on(self, problem: Problem, t: float, now: LawValues) -> Flags:
        """What is driven the way that it slides, by more than the rounding of all efforts."""
        rounding = self.margins.rounding_of_rates(problem, t, self.evaluation.efforts(problem))
        return np.asarray(self.state.modes * now.rate > rounding)

    def _crossed(self, problem: Problem, t: float, touched: Indices, margin: Array) -> Flags:
        """Which of the elements announced are at the end of their mode at this instant."""
        crossed = np.zeros(self.elements.size, dtype=bool)
        if not len(touched):
            return crossed
        now = self.evaluation.values(problem, t)
        width = now.high - now.low
        width = np.where(np.isfinite(width), width, np.abs(self.evaluation.efforts(problem)))
        far = largest_position(problem)
        size = np.where(self.state.modes == 0, width,
                        np.where(self.elements.contact, far, self.state.fast))
        crossed[touched] = margin[touched] <= MODE_ENDED * size[touched]
        if isinstance(self.evaluation.held_modes, SolvedModes):  # which know one split alone
            open_ = self.indeterminacy.elements_of(problem, t, self.state.modes == 0)[1]
            if np.isin(touched, open_).any():
                crossed[open_] = self.indeterminacy.loose(problem, t, open_) | (
                    crossed & now.idle)[open_]  # without strength: lets go
                if np.isin(touched, open_).all():
                    return crossed
        if not crossed.any():
            crossed[touched[np.argmin(margin[touched] / np.maximum(size[touched], TINY))]] = True
        return crossed

    def _slide_after_impact(self, now: LawValues, pace: Array) -> Flags:
        """Velocities have jumped: what was at rest may slide now; returns what moves."""
        contact, modes = self.elements.contact, self.state.modes
        jumped = np.abs(now.flow) > SAME_AS_BEFORE * pace
        slides = jumped & ~contact
        modes[slides] = np.sign(now.flow[slides]).astype(int)
        modes[contact & jumped] = -1
        return jumped

    # -- who stays at rest -----------------------------------------------------------------
    def _choose(self, problem: Problem, t: float, still: Flags, leaving: Flags) -> Flags:
        """Choose the modes of elements at rest; those that are ``leaving`` less holds.

        Where rounding tells who moves the next instant does; returns of whom it does not, either.
        """
        index, unclear = np.flatnonzero(still), np.zeros(self.elements.size, dtype=bool)
        if not len(index):
            return unclear
        self.at_rest.refuse_no_bounds(problem, t)
        chosen = self.at_rest.choose(problem, t, index, leaving[index])
        self.state.modes[index] = state = self._told(problem, t, index, chosen, leaving)
        unsure = chosen.unclear & ~((state != 0) & leaving[index])  # what leaves and moves does so
        if unsure.any():
            with put_back(problem.x, problem.u, problem.z):
                self.efforts.apply(problem, t)
                h = self._move_on(problem, t)
                later = self.at_rest.choose(problem, t + h, index, leaving[index])
                later_state = self._told(problem, t + h, index, later, leaving)
                self.state.modes[index] = np.where(unsure, later_state, state)
                if self.painleve is not None:  # what nothing presses yet may jam
                    self.efforts.apply(problem, t + h)
                    self.painleve.refuse_several(problem, t + h)
            unclear[index] = unsure & later.unclear
        return unclear

    def _told(self, problem: Problem, t: float, index: Indices, chosen: Solution, leaving: Flags
              ) -> Indices:
        """Modes of elements at rest, as chosen. What others move through a dead centre slides their
        way: nothing could hold it there."""
        evaluation = self.evaluation
        state = np.where((chosen.moved == LET_GO) & ~leaving[index], 0, chosen.state)
        there = at_dead_centres(evaluation.delassus.matrix(problem, t))[index] & ~(
            self.elements.contact[index])
        if there.any():
            now = evaluation.values(problem, t)
            moved = self.margins.moved_by_others(problem, t, now)[index]
            state[there] = np.where(moved, np.sign(now.rate[index]), 0)[there]
        return state

    def _move_on(self, problem: Problem, t: float) -> float:
        """Move on by an instant, with the present modes; returns how long it is."""
        slope = self.evaluation.system.slope(*problem.arguments(t))
        h = next_instant(slope, problem.x)
        problem.x += h * slope
        problem.update(t + h)
        return h


class AtRest:
    """The problem of all elements at rest, posed at the present point.

    ``painleve`` is what is refused, where bounds depend on efforts.
    """

    def __init__(self, evaluation: Evaluation, painleve: Painleve | None) -> None:
        self.evaluation, self.painleve = evaluation, painleve
        self.elements, self.state = evaluation.elements, evaluation.state

    def choose(self, problem: Problem, t: float, index: Indices, moved: Flags) -> Solution:
        """Which of some elements begin to move, and their efforts, in the problem too; those that
        ``moved`` are kinetic. Bounds are linearised at present efforts, by repetition.

        Raises SimulationError if no motion, or more than one, obeys the laws.
        """
        evaluation, load = self.evaluation, self.evaluation.load
        noise = evaluation.rounding.of_rates(problem, t)
        here = np.flatnonzero(evaluation.connected_with(problem, t, index))
        at = np.searchsorted(here, index)
        slides, loose = self.state.modes[here], np.zeros(len(here))
        slides[at], loose[at] = 0, moved
        affine = not evaluation.functions.nonlinear if load is None else load.affine
        previous, none, expected, settled = np.inf, 0.0, np.zeros(0), affine
        for again in range(ROUNDS):
            now, effort = evaluation.values(problem, t), evaluation.efforts(problem)[here]
            bounds = np.stack([v[here] for v in (now.low, now.high, now.back, now.forth)])
            d = evaluation.delassus.matrix(problem, t)[here][:, here]
            there = at_dead_centres(d) & ~self.elements.contact[here]
            own = np.where(d.diagonal() > 0, d.diagonal(), np.inf)
            if again:  # what the motion leaves open may be other efforts each time
                told = np.nan_to_num([*bounds, np.where(there, 0.0, now.rate[here] / own)])
                change, largest = np.abs(told - expected).max(), np.abs(effort).max()
                settled = change <= none + SAME_AS_BEFORE * largest
                if settled and (change > 2 * previous or change <= none + SETTLED * largest):
                    break
                previous = change
            drive = np.where(there, 0.0, now.rate[here] + d @ effort)
            d, slopes = without(d, there), None
            if load is not None:
                slopes = [s[here][:, here] for s in load.slopes(problem, t)]
                bounds -= [s @ effort for s in slopes]
                none = FOUR_LAST_BITS * np.abs(bounds[np.isfinite(bounds)]).max(initial=0.0)
                if (np.abs(drive) <= none * d.diagonal()).all():  # no load, but for rounding
                    drive = np.zeros(len(here))
                none = max(none, NOTHING_AT_ALL * stopping_effort(d, drive))
            chosen = choose(d, drive, bounds, slopes, slides=slides, moved=loose,
                            near=np.zeros(len(here)) if load is None else effort,
                            noise=noise[here])
            full = evaluation.efforts(problem)
            full[here] = chosen.effort
            self.elements.put(problem.u, full)
            problem.solve_algebraic(t)
            if affine:
                break
            if slopes is not None:
                bounds += [s @ chosen.effort for s in slopes]
            expected = np.nan_to_num([*bounds, (drive - d @ chosen.effort) / own])
            loose = np.maximum(loose, chosen.moved > 0)
        if self.painleve is not None:
            self.painleve.refuse(t, chosen, here)
        if not settled or not chosen.converged:
            self.refuse_negative(problem, t)
            raise unsettled(self.elements.names(
                here if not len(chosen.suspects) else here[chosen.suspects]), t, "efforts")
        return chosen._replace(effort=chosen.effort[at], state=chosen.state[at],
                               moved=chosen.moved[at], unclear=chosen.unclear[at])

    def refuse_no_bounds(self, problem: Problem, t: float) -> None:
        """Stop at a law whose bounds are no numbers, such as a strength that overflows."""
        now = self.evaluation.values(problem, t)
        none = np.isnan([now.low, now.high, now.back, now.forth]).any(axis=0)
        self._refuse(np.asarray(none), f"the bounds of its law have no value at t = {t:.9g} s.",
                     "Look for a strength that grows without bound, a division by zero, or a root "
                     "or logarithm of a negative number in them.", t)

    def refuse_negative(self, problem: Problem, t: float) -> None:
        """Stop at a law whose bounds are the wrong way round: a strength below zero."""
        now, effort = self.evaluation.values(problem, t), self.evaluation.efforts(problem)
        none = FULFILLED * np.abs(effort).max(initial=0.0)
        self._refuse(
            np.maximum(now.low - now.high, now.back - now.forth) > none, f"the strength of its "
            f"friction is negative at t = {t:.9g} s, so that it would drive what it should hold.",
            "See which way the force that presses it counts. If that may turn round, write "
            "abs_(N) for a guide, which presses on either side, and maximum(N, 0) for what may "
            "lift off.", t)

    def _refuse(self, wrong: Flags, problem: str, advice: str, t: float) -> None:
        for path in map(self.elements.name, np.flatnonzero(wrong).tolist()):
            raise SimulationError(path, problem, advice, time=t, variables=(path,),
                                  code="simulation.value")
