"""How far are set-valued elements from the end of their modes? Their switching functions.

Sliding elements watch their flow, stuck ones the room to their bounds, open contacts their gap;
friction that loads itself, how far it is from jamming. In Python at a point, and as
expressions for machine code. Modes are decided in :mod:`blocks.nonsmooth.modes.decisions`.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.copies import put_back
from ...numerics.tolerances import RATE_OF_STRESS, SAME_AS_BEFORE, TERMS_ROUNDING
from ...system import Problem
from ..complementarity import kept
from ..complementarity.islands_at_rest import GIVEN, LOOSE, WEIGHT, rows_of_shares
from ..complementarity.scaling import dense_block
from .elements import LawValues
from .evaluation import Evaluation
from .gaps import allowed_gap, open_gap
from .held_states import HeldStates
from .indeterminacy import Indeterminacy
from .painleve import Painleve
from .solved_modes import SolvedModes

__all__ = ["CompiledMargins", "Margins"]


class Margins:
    """Switching functions of the present modes.

    ``indeterminacy`` gives margins of efforts that the motion leaves open, ``painleve`` those of
    friction that loads itself, where there is such.
    """

    def __init__(self, evaluation: Evaluation, indeterminacy: Indeterminacy,
                 painleve: Painleve | None) -> None:
        self.evaluation, self.state, self.elements = evaluation, evaluation.state, \
            evaluation.elements
        self.indeterminacy, self.painleve = indeterminacy, painleve

    def present(self, problem: Problem, t: float) -> Array:
        """Negative where a mode no longer holds: sliding backwards, over a bound, gap closed."""
        evaluation, now = self.evaluation, self.evaluation.values(problem, t)
        self.state.notice_flow(now.flow)
        margin = self.of_determined(now, evaluation.efforts(problem))
        stuck = self.state.modes == 0
        if stuck.any():
            dead, open_ = self.indeterminacy.elements_of(problem, t, stuck)
            margin[dead] = self._of_dead(problem, t, dead, now)
            if len(open_):
                slack = np.broadcast_to(self.state.slack, len(margin))[open_]
                margin[open_] = self.indeterminacy.rooms(problem, t, open_, now)[open_] + slack
        if self.painleve is not None:
            margin = np.minimum(margin, self.painleve.reserve(problem, t))
        return margin

    def _of_dead(self, problem: Problem, t: float, dead: Indices, now: LawValues) -> Array:
        """Margins of stuck elements whose effort has no effect: negative where others move them."""
        if not len(dead):
            return np.zeros(0)
        return np.where(self.moved_by_others(problem, t, now)[dead], -1.0, np.inf)

    def moved_by_others(self, problem: Problem, t: float, now: LawValues) -> Flags:
        """Whether rates are more than rounding, for elements at rest whose effort has no effect.

        At a dead centre, as of a piston behind a crank that a brake holds, the lever is not quite
        zero: an effort within the range would hold what is left there.
        """
        evaluation = self.evaluation
        d = evaluation.delassus.matrix(problem, t)
        width = np.where(np.isfinite(now.high - now.low), now.high - now.low, 0.0)
        rounding = self.rounding_of_rates(problem, t, np.maximum(
            np.abs(evaluation.efforts(problem)), width))
        held = np.abs(np.asarray(d.diagonal())) * width / 2
        return np.asarray(np.abs(evaluation.values(problem, t).rate) > rounding + held)

    def rounding_of_rates(self, problem: Problem, t: float, effort: Array) -> Array:
        """Rates that are rounding only, that of efforts of these sizes against each other too."""
        evaluation = self.evaluation
        return evaluation.rounding.of_rates(problem, t) + TERMS_ROUNDING * np.asarray(
            abs(evaluation.delassus.matrix(problem, t)) @ np.abs(effort))

    def of_determined(self, now: LawValues, effort: Array) -> Array:
        """Margins of elements whose effort is determined.

        A contact that parts has not struck, whatever it overlaps by: that is the error of the run.
        """
        modes, contact = self.state.modes, self.elements.contact
        stuck = modes == 0
        room = np.minimum(now.high - effort, effort - now.low) + self.state.slack
        parting = (now.gap <= 0) & (now.flow <= 0)
        open_gap = np.where(parting, np.finfo(float).tiny, now.gap)
        moving = np.where(contact, open_gap + self.state.slack, modes * now.flow)
        margin = np.where(stuck, room, moving)
        margin[now.idle & ~contact & ~stuck] = np.inf  # stuck with no effort lets go
        return margin

    def notice(self, margins: Array) -> None:
        """Take note of the largest margins of an episode: the speeds of what slid in it."""
        slid = (self.state.modes != 0) & ~self.elements.contact & np.isfinite(margins)
        self.state.notice_flow(np.where(slid, margins, 0.0))


class CompiledMargins:
    """What machine code needs to know of the present modes."""

    def __init__(self, evaluation: Evaluation, indeterminacy: Indeterminacy,
                 held_states: HeldStates) -> None:
        self.evaluation, self.state, self.elements = evaluation, evaluation.state, \
            evaluation.elements
        self.indeterminacy, self.held_states = indeterminacy, held_states

    def expressions(self) -> ca.SX:
        """Margins of elements whose effort is determined, as functions of modes and states.

        The same as :meth:`Margins.of_determined`, but for what is allowed to rounding.
        """
        assert self.evaluation.held_modes is not None
        e, modes = self.evaluation.held_modes.expressions, self.evaluation.held_modes.symbols[-2]
        effort = e["effort"]
        contact = ca.DM(self.elements.contact.astype(float))
        stuck = modes == 0
        moving = ca.if_else(contact, open_gap(e["gap"], e["flow"]), modes * e["flow"])
        idle = ca.logic_and(e["low"] == e["high"], e["back"] == e["forth"])
        moving = ca.if_else(ca.logic_and(idle, ca.logic_not(contact)), np.inf, moving)
        room = ca.fmin(e["high"] - effort, effort - e["low"])
        margins = ca.if_else(stuck, room, moving)
        if self.evaluation.held_modes.kept is not None:  # what others hold at its bound stays
            margins = ca.if_else(self.evaluation.held_modes.ends == 0, margins, np.inf)
        return margins

    def fit(self, problem: Problem, t: float) -> bool:
        """Whether slopes and margins of the present modes are those of the held modes."""
        held = self.evaluation.held_modes
        if held is None:
            return False
        if held.kept is not None:
            return held.kept.fits(problem, self.state.modes) and (
                self._numbers(problem, t, held) is not None)
        return self._quick(problem, t, held) or self._rows_of(problem, t, held) is not None

    def _quick(self, problem: Problem, t: float, held: SolvedModes) -> bool:
        """Whether efforts are determined, for sure, by equations that are solved."""
        modes = self.state.modes
        entries, own = held.equations(problem, t, modes, self.evaluation.efforts(problem))
        return held.reserves(entries[None], own[None], modes)[0] > 0 or (
            self.evaluation.load is None and not any(
                map(len, self.indeterminacy.felt(problem, t, modes == 0))))

    def _rows_of(self, problem: Problem, t: float, held: SolvedModes
                 ) -> tuple[Array, Array, Array] | None:
        """Efforts as shown, determinants, and equations by which shares are held that the motion
        leaves open; None where none are known to hold.

        A box on two feet rests in many ways. Of its equations as many are left out as the others
        imply, and instead of them stand those of how they share what they carry: who is at its
        bound stays there, and of what the others bear the weighted squares are least. Machine code
        solves them as it does all others, and watches that what is left out is implied still.
        """
        if not held.shared:
            return None
        ends = self.indeterminacy.ends(problem, t)
        dead, open_ = self.indeterminacy.felt(problem, t, self.state.modes == 0)
        blocks = [block for block in held.shared if np.isin(open_, block).any()]
        if len(dead) or not blocks or not np.isin(open_, np.concatenate(blocks)).all():
            return None
        with put_back(problem.u, problem.z):
            self.indeterminacy.split(problem, t)
            return self._given_rows(problem, t, held, blocks, ends)

    def _given_rows(self, problem: Problem, t: float, held: SolvedModes, blocks: list[Indices],
                    ends: Indices) -> tuple[Array, Array, Array] | None:
        modes = self.state.modes
        is_given, right, rows = np.zeros(held.size), np.zeros(held.size), np.zeros(
            (held.size, held.size))
        turned = np.ones((held.size, 1))
        now, effort = self.evaluation.values(problem, t), self.evaluation.efforts(problem)
        entries, own = held.equations(problem, t, modes, effort)
        matrix = held.diagonal.full(entries, held.size)
        for block in blocks:
            rests, slides = block[modes[block] == 0], block[modes[block] != 0]
            island, _ = self.indeterminacy.posed(problem, t, rests, slides, now)
            noise = RATE_OF_STRESS * np.abs(island.D.diagonal()) * np.abs(effort).sum()
            if not (own[rests] > 0).all() or (np.abs(now.rate[rests]) > noise).any():
                return None
            told, values = rows_of_shares(island.D, ends[rests], island.weights)
            if told[LOOSE].any() or self._is_wedged(
                    problem, t, held, rests, slides, (values / told[WEIGHT])[told[GIVEN] != 0].T):
                return None
            given, at_bound = told[GIVEN] != 0, rests[ends[rests] != 0]
            implied = rests[given]
            is_given[implied] = told[GIVEN, given]
            right[implied] = (values @ (island.pressed / island.weights))[given]
            rows[np.ix_(implied, rests)] = values[given]
            matrix[implied] = rows[implied]
            matrix[at_bound] = np.eye(held.size)[at_bound]
            if len(at_bound) and (load := self.evaluation.load) is not None:
                low, high = (sp.dense(s) for s in load.slopes(problem, t)[:2])
                matrix[at_bound] -= np.where((ends > 0)[:, None], high, low)[at_bound]
            if given.any() and np.linalg.det(matrix[np.ix_(rests, rests)]) < 0:
                turned[implied[0]] = -1.0  # or else it seems to jam
        entries, as_solved = map(held.diagonal.taken_from, (turned * matrix, matrix))
        if not held.reserves(entries[None], own[None], modes)[0] > 0:
            return None
        who = np.concatenate(held.shared)
        return effort, np.concatenate(held.determinants(modes, as_solved)), np.concatenate([
            is_given[who], right[who],
            *(rows[np.ix_(block, block)].T.ravel() for block in held.shared)])

    def _is_wedged(self, problem: Problem, t: float, held: SolvedModes, rests: Indices,
                   slides: Indices, stress: Array) -> bool:
        """Whether what slides moves otherwise by internal ``stress`` of what rests, a column for
        each: its efforts follow."""
        load = self.evaluation.load
        if load is None or not len(slides) or not stress.size:
            return False
        slope, at = load.kinetic(problem, t), np.ix_(slides, rests)
        # without any load nothing tells which way a bound will turn
        turns = (dense_block(slope, slides, rests) == 0) & (held.bent_by()[at] != 0)
        d, both = self.evaluation.delassus.matrix(problem, t), np.concatenate([rests, slides])
        d = dense_block(d, slides, both)
        change = np.vstack([stress, load.following(slope, slides, rests) @ stress])
        moved = np.abs(d @ change) > SAME_AS_BEFORE * (np.abs(d) @ np.abs(change))
        return bool(moved.any() or (turns @ np.abs(stress) > 0).any())

    def _numbers(self, problem: Problem, t: float, held: SolvedModes) -> Array | None:
        """K, with a split that proves for a while that what sticks holds; None if there is none."""
        numbers, modes = held.kept, self.state.modes
        assert numbers is not None
        dead, open_ = self.indeterminacy.felt(problem, t, modes == 0)
        if not len(dead) and not len(open_):
            return numbers.numbers(problem, modes, self.evaluation.delassus.matrix(problem, t))
        if len(dead):
            return None
        return self._sharing(problem, t, held, open_)

    def _sharing(self, problem: Problem, t: float, held: SolvedModes, open_: Indices
                 ) -> Array | None:
        """K by which some elements share what they hold; None where nothing holds it."""
        numbers, modes, d = held.kept, self.state.modes, self.evaluation.delassus.matrix(problem, t)
        assert numbers is not None
        shares = np.zeros(len(modes), dtype=bool)
        shares[open_] = True
        if np.count_nonzero(shares[numbers.stressed]) < len(open_):
            return None
        k, ends = numbers.numbers(problem, modes, d), np.zeros(len(modes))
        now = self.evaluation.values(problem, t)
        waits = np.broadcast_to(self.state.slack, len(modes)) > 0
        for island, entries in numbers.full:
            here = np.flatnonzero(shares[island])
            mine = island[here]
            if not len(mine):
                continue
            one, _ = self.indeterminacy.posed(problem, t, mine, mine[:0], now)
            found = self.indeterminacy.shared_by(one)
            if found.loose.any() and one.rate.any() and not waits[mine].any():
                return None
            ends[mine] = found.ends
            by = np.zeros((len(island), len(island)))
            by[np.ix_(here, here)] = kept(one, found.ends, one.weights)[1]
            k[entries] = by
        k[numbers.stress] = ends[numbers.stressed]
        return k

    def constants(self, problem: Problem, t: float) -> Array:
        """What is constant between events: modes, the numbers that are kept, 0 for states that
        stuck elements hold, and what these may pull with.

        Where the efforts are solved for, instead of these numbers, the present efforts, and
        determinants and the gap that closed contacts may have.
        """
        held, modes = self.evaluation.held_modes, self.state.modes
        assert held is not None
        free = np.ones(self.evaluation.system.nx)
        free[self.held_states.of(problem, t)] = 0.0
        slack = np.broadcast_to(self.state.slack, self.elements.size)
        if held.kept is not None:
            numbers = self._numbers(problem, t, held)
            assert numbers is not None
            return np.concatenate([modes, numbers, free, slack])
        gap, quick = allowed_gap(problem), self._quick(problem, t, held)
        found = None if quick else self._rows_of(problem, t, held)
        if found:  # what others hold at its bound stays there
            slack = np.where(self.indeterminacy.ends(problem, t) == 0, slack, np.inf)
        effort, whole, given = found or (
            present := self.evaluation.efforts(problem), np.concatenate(held.determinants(
                modes, held.equations(problem, t, modes, present)[0])), np.zeros(
                    sum(2 * len(block) + len(block) ** 2 for block in held.shared)))
        return np.concatenate([modes, effort, free, whole, [gap], slack, given])
