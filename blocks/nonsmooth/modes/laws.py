"""Which set-valued elements stick or touch, and with what effort?

The reduced network has every set-valued effort lambda as an input and its flow
gamma as an output. Where the network has inertia, ``rate = d gamma/dt = b - D
lambda``; sticking efforts follow from ``rate == 0``, modes from one
box-constrained problem for the whole network (:mod:`blocks.nonsmooth.complementarity`).

Modes: 0 stuck (or closed), +1 sliding forward, -1 sliding backward (or open). Within an episode
they are held; sliding elements watch their flow, stuck ones their margin, open contacts their gap.
Every decision is taken on flows and efforts of the element's own convention.

The laws of one run are composed of parts: what they come to at a point
(:mod:`~blocks.nonsmooth.modes.evaluation`), efforts of the present modes
(:mod:`~blocks.nonsmooth.modes.efforts`), how far these are from their end
(:mod:`~blocks.nonsmooth.modes.margins`), what follows
(:mod:`~blocks.nonsmooth.modes.decisions`), efforts that the motion leaves open
(:mod:`~blocks.nonsmooth.modes.indeterminacy`), bounds that depend on other efforts
(:mod:`~blocks.nonsmooth.modes.load_dependence`), and what is refused of these
(:mod:`~blocks.nonsmooth.modes.painleve`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import SAFE_PIVOT, SEMIDEFINITE
from ...system import Problem
from ...system.points import Points
from ..complementarity import is_positive
from ..contract import IndeterminateGroup, Laws
from .decisions import Decisions
from .efforts import Efforts
from .elements import Change
from .evaluation import Evaluation
from .gaps import gap_states
from .held_states import HeldStates
from .indeterminacy import Indeterminacy
from .islands import IslandsWithMass
from .law_functions import LawFunctions
from .margins import CompiledMargins, Margins
from .painleve import Painleve
from .resting_relations import with_resting
from .sensitivities import Sensitivities
from .solved_modes import SolvedModes

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

__all__ = ["SetValuedLaws"]


class SetValuedLaws(Laws):
    """All set-valued elements of a system with inertia, and their modes in one run.

    ``functions`` are the laws of the system, compiled; shared by its runs.
    """

    def __init__(self, functions: LawFunctions) -> None:
        super().__init__(functions.system, functions.elements)
        self.functions = functions
        self.evaluation = evaluation = Evaluation(functions)
        self.state, self.delassus = evaluation.state, evaluation.delassus
        self.held_modes, self.load = evaluation.held_modes, evaluation.load
        self.efforts = Efforts(evaluation)
        self.painleve: Painleve | None = None
        if self.load is not None:
            self.painleve = Painleve(evaluation, self.load, self.efforts)
        self.indeterminacy = Indeterminacy(evaluation)
        self.held_states = HeldStates(evaluation)
        self.switching = Margins(evaluation, self.indeterminacy, self.painleve)
        self.decisions = Decisions(evaluation, self.efforts, self.switching, self.indeterminacy,
                                   self.painleve, self.held_states)
        self.compiled = CompiledMargins(evaluation, self.indeterminacy, self.held_states)
        self.sensitivities = Sensitivities(evaluation)

    # -- modes -----------------------------------------------------------------------------
    def start(self, problem: Problem, t: float) -> None:
        self.decisions.start(problem, t)
        self.state.decided = True

    def decide(self, problem: Problem, t: float, touched: Indices) -> list[Change]:
        return self.decisions.decide(problem, t, touched)

    def margins(self, problem: Problem, t: float) -> Array:
        return self.switching.present(problem, t)

    def crossings(self, problem: Problem, g: Array, t: float) -> Array:
        return with_resting(self.system, g, self.state, *problem.arguments(t))

    def notice(self, margins: Array) -> None:
        self.switching.notice(margins)

    def no_flow(self, problem: Problem, t: float, nothing: Array | float) -> Array:
        self.state.nothing = nothing
        slides = (self.modes != 0) & ~self.elements.contact
        if not slides.any():
            return np.zeros(self.size)
        return np.where(slides, self.evaluation.rounding.of_flows(problem, t, nothing), 0.0)

    # -- efforts ---------------------------------------------------------------------------
    def slack(self, problem: Problem, t: float, nothing: Array | float) -> Array:
        return self.no_flow(problem, t, nothing)  # constants of held modes have the rest

    @property
    def restless(self) -> str:
        return self.efforts.restless if self.load is None else ""

    def refuse_jam(self, problem: Problem, t: float) -> None:
        if self.painleve is not None:
            self.painleve.refuse_jam(problem, t, np.ones(self.size, dtype=bool))

    def apply(self, problem: Problem, t: float) -> None:
        self.efforts.apply(problem, t)
        self.indeterminacy.take_shares(problem, t)

    def correct(self, slope: Array, problem: Problem, t: float) -> Array:
        return self.held_states.stop(slope, problem, t)

    def jacobian_through_efforts(self, problem: Problem, t: float) -> csc_matrix:
        return self.sensitivities.jacobian_through_efforts(problem, t)

    # -- finished runs ---------------------------------------------------------------------
    def fresh(self) -> SetValuedLaws:
        return SetValuedLaws(self.functions)

    def split_at(self, problem: Problem, points: Points) -> Flags:
        held = self.held_modes
        assert isinstance(held, SolvedModes)
        if self.efforts.linear:
            self.indeterminacy.split_at(problem, points)
        elif held.shared or held.with_loops:
            return ~self.indeterminacy.open_at(problem, points)
        return super().split_at(problem, points)

    def are_open(self, problem: Problem, points: Points) -> Flags:
        if not self.efforts.linear:
            return super().are_open(problem, points)
        out = np.zeros(len(points), dtype=bool)
        for modes, columns in points.modes:
            out[columns] = any(map(len, self.indeterminacy.elements_of(problem, 0.0, modes == 0)))
        return out

    def impulses(self, problem: Problem, t: float, struck: Flags) -> tuple[Array, Array]:
        return self.decisions.impacts.impulses(problem, t, struck)

    # -- static indeterminacy --------------------------------------------------------------
    def split_internal_stress(self, problem: Problem, t: float) -> None:
        self.indeterminacy.split(problem, t)

    def indeterminate_groups(self, problem: Problem, t: float) -> list[IndeterminateGroup]:
        return self.indeterminacy.groups(problem, t)

    # -- machine code ----------------------------------------------------------------------
    def runs_compiled(self, problem: Problem, t: float) -> bool:
        return self.compiled.fit(problem, t)

    def decision_data(self, problem: Problem, t: float) -> IslandsWithMass | None:
        if self.elements.contact.any():
            return islands_in(self.evaluation, problem, t)
        islands = self.evaluation.memory.once_simple(
            problem.p, "decision data", lambda: islands_in(self.evaluation, problem, t))
        return islands and replace(islands, fast=self.state.by_kind(self.state.fast))

    def take_over(self, modes: Indices, fast: Array) -> None:
        self.state.modes, self.state.slack = modes.copy(), 0.0  # which decisions change in place
        self.state.ends = None
        self.state.notice_flow(fast)

    def held_constants(self, problem: Problem, t: float) -> Array:
        return self.compiled.constants(problem, t)

    def margin_expressions(self) -> ca.SX:
        return self.compiled.expressions()


def islands_in(evaluation: Evaluation, problem: Problem, t: float) -> IslandsWithMass | None:
    """The islands of a network in one run; None where decisions take more."""
    held, functions, elements = evaluation.held_modes, evaluation.functions, evaluation.elements
    if not isinstance(held, SolvedModes) or not held.blocks or not (
            held.affine or held.affine_rates and not elements.contact.any()):
        return None
    starts, states = functions.flow_x.by_rows
    reach = np.abs(functions.flow_x.row_by_row(*problem.arguments(t)))
    island = np.zeros(held.size, dtype=int)
    for k, block in enumerate(held.blocks):
        island[block] = k
    ends_at, who = np.full(held.size, -1), np.concatenate([np.zeros(0, dtype=int), *held.shared])
    ends_at[who] = np.arange(len(who))
    islands = IslandsWithMass(
        elements.kinds, evaluation.state.by_kind(evaluation.state.fast),
        np.ones(held.size, dtype=bool), elements.contact,
        ~functions.flow_varies, bool(held.dependent.any()), held.in_a_circle, held.bends,
        held.bent_by(), starts, states, np.where(reach > 0, reach, np.inf),
        gap_states(evaluation.system), np.array(problem.scale_x, dtype=float), island, ends_at,
        held.turns, np.cumsum([0, *map(len, held.blocks)]), np.concatenate(held.blocks),
        np.array([(ends_at[b] >= 0).all() for b in held.blocks]))
    return islands if held.kept is None else _kept_islands(evaluation, held, problem, t, islands)


def _kept_islands(evaluation: Evaluation, held: SolvedModes, problem: Problem, t: float,
                  islands: IslandsWithMass) -> IslandsWithMass | None:
    """Complete the islands where numbers are kept by modes; None where decisions take more."""
    functions, delassus, n = evaluation.functions, evaluation.delassus, held.size
    kept, pushed = held.kept, functions.pushed
    assert kept is not None
    if functions.turns or pushed is not None and ca.depends_on(pushed, evaluation.system.tape.u):
        return None
    d = np.ascontiguousarray(sp.dense(delassus.matrix(problem, t)))
    still, every = delassus.at_rest_for_good(problem, t), np.arange(n)
    columns, column_of, upper_starts, upper_rows = kept.columns
    regular = np.array([_is_regular(d[np.ix_(m, m)]) for m in (
        block[~still[block]] for block in kept.members)])
    ends_at = np.full(n, -1)
    ends_at[kept.stressed] = np.arange(kept.entries)[kept.stress]
    shared = ~regular & [bool((ends_at[m] >= 0).all()) and _is_regular(
        d[np.ix_(m, m)], -SEMIDEFINITE) for m in kept.members]
    return replace(
        islands, moves=~still, holds=islands.holds & ~delassus.immovable(problem, t), d=d,
        push=np.zeros(0) if pushed is not None else np.ascontiguousarray(sp.dense(
            delassus.slope_by_efforts(problem, t, every)).T),
        first=kept.first, columns=columns, column_of=column_of, upper_starts=upper_starts,
        upper_rows=upper_rows, factors=held.factors if kept.factored else None,
        regular=regular, shared=shared, ends_at=ends_at)


def _is_regular(block: Array, least: float = SAFE_PIVOT) -> bool:
    """Whether a block of D, and so every block within it, is safely positive definite."""
    return is_positive(block, np.empty_like(block), len(block), least)
