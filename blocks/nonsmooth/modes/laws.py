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

import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...system import Problem
from ...system.points import Points
from ..contract import IndeterminateGroup, Laws
from .decisions import Decisions
from .efforts import Efforts
from .elements import Change
from .evaluation import Evaluation
from .held_states import HeldStates
from .indeterminacy import Indeterminacy
from .law_functions import LawFunctions
from .margins import CompiledMargins, Margins
from .painleve import Painleve
from .parts import PredictedParts
from .predicted_parts import predicted_parts
from .resting_relations import with_resting
from .sensitivities import Sensitivities
from .solved_modes import SolvedModes

if TYPE_CHECKING:
    import casadi as ca
    from scipy.sparse import csc_matrix


__all__ = ["SetValuedLaws"]


class SetValuedLaws(Laws):
    """All set-valued elements of a system with inertia, and their modes in one run.

    Parameters
    ----------
    functions : the laws of the system, compiled; shared by its runs
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

    def flow_rounding(self, problem: Problem, t: float) -> Array:
        return self.evaluation.rounding.of_flows(problem, t)

    # -- efforts ---------------------------------------------------------------------------
    @property
    def slack(self) -> Array:
        if isinstance(self.held_modes, SolvedModes):  # its constants have it
            return np.zeros(0)
        return np.broadcast_to(self.state.slack, self.size)

    @property
    def restless(self) -> str:
        return self.efforts.restless if self.load is None else ""

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

    def inputs_at(self, problem: Problem, points: Points, split: bool
                  ) -> tuple[Array, Flags] | None:
        found = self.efforts.at_points(problem, points)
        if found is None:
            return None
        effort, known, open_, bounds = found
        if split and bounds is not None:
            self.indeterminacy.split_at_points(problem, points, bounds, effort)
        elif split and open_.any():
            at, known = np.flatnonzero(open_), known.copy()
            known[at] &= self.load is not None and self.indeterminacy.split_loaded_at_points(
                points.some(at), effort, at)
        return self.elements.inputs_of(effort, self.system.nu), known

    def open_inputs(self, problem: Problem, points: Points) -> Flags:
        if not self.efforts.linear:
            return super().open_inputs(problem, points)
        out = np.zeros(self.system.nu, dtype=bool)
        for modes, _ in points.modes:
            for elements in self.indeterminacy.elements_of(problem, 0.0, modes == 0):
                out[self.elements.column[elements]] = True
        return out

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

    def decision_parts(self, problem: Problem, t: float) -> PredictedParts | None:
        if self.elements.contact.any():
            return predicted_parts(self.evaluation, problem, t)
        parts = self.evaluation.memory.once_simple(
            problem.p, "decision parts", lambda: predicted_parts(self.evaluation, problem, t))
        return parts and replace(parts, fast=self.state.by_kind(self.state.fast))

    def take_over(self, modes: Indices, fast: Array, t: float) -> None:
        self.state.modes, self.state.slack = modes.copy(), 0.0  # which decisions change in place
        self.state.ends = None
        self.decisions.last = t
        self.state.notice_flow(fast)

    def held_constants(self, problem: Problem, t: float) -> Array:
        return self.compiled.constants(problem, t)

    def margin_expressions(self) -> ca.SX:
        return self.compiled.expressions()
