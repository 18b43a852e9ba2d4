"""What do set-valued laws evaluate? Compiled once for a system, and shared by all of its runs.

With efforts lambda as inputs and flows gamma as outputs of the reduced network,
``rate = d gamma/dt = b - D lambda``: flows, bounds and rates, and their derivatives by efforts,
states and unknowns of algebraic loops.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import casadi as ca
import numpy as np

from ...language.expression import TIME
from ...numerics.arrays import Flags
from ...numerics.rewriting import contained, symbols_in
from ...system import System
from .bound_functions import BoundFunctions
from .elements import MOST_TOGETHER, MOST_WRITTEN, Elements, elements_of
from .kept_factors import Acting, KeptFactors, connected
from .law_expressions import LawExpressions, effort_units, expressions_of, held_in_motion
from .memory import Runs
from .solved_modes import SolvedModes

__all__ = ["LawFunctions"]

FEW_ENTRIES = 200_000  # entries up to which constant matrices are remembered


class LawFunctions:
    """Functions of the set-valued laws of a system, and what is known of their structure."""

    def __init__(self, system: System, elements: Elements, laws: LawExpressions) -> None:
        self.system, self.elements, tape = system, elements, system.tape
        # elements whose flow is no constant combination of states
        self.flow_varies = _flow_varies(laws)
        fast = ca.vertcat(tape.u, tape.z)
        coupled = any(ca.which_depends(laws.bounds, fast, 1, True))  # normal forces
        if coupled:
            laws = held_in_motion(elements, laws, self.flow_varies)
        self.values = system.function("laws", ca.densify(laws.values))  # what elements come to
        by_u = laws.rate_u
        slope_u, flow_x = laws.slope_u, laws.flow_x
        kinetic = ca.vertcat(laws.back, laws.forth)
        self.restitution = system.function("restitution", ca.densify(laws.restitution))
        self.kinetic_x = system.jacobian(kinetic, tape.x)
        self.rate_u = system.function("rate_u", by_u)
        # slope_u, flow_x: how inputs change slopes, and states flows
        self.slope_u = system.function("jacobian", slope_u)
        self.flow_x = system.function("jacobian", flow_x)
        self.rate_x = system.jacobian(laws.rate, tape.x)
        self.rate_z = system.jacobian(laws.rate, tape.z) if system.nz else None
        self.kinetic_z = system.jacobian(kinetic, tape.z) if system.nz and coupled else None
        # derivatives of bounds by efforts, where there are any
        self.bounds = BoundFunctions(system, elements, laws.bounds) if coupled else None
        # whether torn unknowns and tied states follow efforts at once
        self.loops_follow = ca.jacobian_sparsity(
            ca.vertcat(tape.residual, tape.constraints), tape.u).nnz() > 0
        # whether efforts depend on each other nonlinearly, or through bounds
        self.nonlinear = coupled or (self.loops_follow and not system.linear) \
            or any(ca.which_depends(laws.rate, fast, 2, True))
        straight = not self.loops_follow and _is_fixed(system, by_u)
        # whether D and the slopes of the bounds depend on parameters only
        self.constant = straight and (self.bounds is None or self.bounds.constant)
        # whether directions of efforts and flows move with the states
        self.turns = not (straight and _is_fixed(system, flow_x))
        # whether what efforts push, and flows follow, is remembered as dense matrices
        self.few = not system.nz and elements.size * system.nx <= FEW_ENTRIES
        # whether what efforts push and flows follow is constant, too
        self.fixed = self.constant and _is_fixed(system, slope_u) and _is_fixed(system, flow_x)
        self.simple = self.few and self.fixed  # both
        # expressions of what efforts push, by slopes and elements, where that moves
        self.pushed = None if _is_fixed(system, slope_u) else elements.pushed(slope_u)
        # efforts and slopes in one or two evaluations, where the network is simple enough
        self.held_modes = self._held_modes(laws)
        matrices = ca.veccat(*(by.nz[:] for by in (by_u, slope_u, flow_x)))
        # what the last run has found out, and the parameters that it is true for
        self.runs: Runs = Runs(1)
        self.matrix_parameters = np.arange(system.parameter_count) if coupled else np.flatnonzero(
            contained(tape.p, matrices))  # all, where bounds move as well

    @classmethod
    def of(cls, system: System) -> LawFunctions:
        """Return the functions of a system's laws, efforts and flows in units of each element."""
        elements, laws = elements_of(system), expressions_of(system)
        units = effort_units(elements, laws)
        elements, laws = replace(elements, unit=elements.unit * units), laws.in_units(units)
        return cls(system, elements, laws)

    @cached_property
    def are_felt(self) -> bool:
        """Whether conditions of the model look at efforts."""
        tape = self.system.tape
        return bool(ca.jacobian_sparsity(ca.vertcat(tape.crossings, tape.exponents), tape.u).nnz())

    def _held_modes(self, laws: LawExpressions) -> SolvedModes | None:
        """Held modes in one or two evaluations.

        Those of few elements, of more that act on few others, or on others through loops alone;
        where unknowns of loops follow efforts at once, only linearly.
        """
        system, tape, size = self.system, self.system.tape, self.elements.size
        if size != system.nu or ca.jacobian_sparsity(tape.constraints, tape.u).nnz():
            return None
        kept = None
        apart = self.loops_follow and not ca.jacobian_sparsity(  # loops, whose text is short
            ca.vertcat(laws.back, laws.forth), ca.vertcat(tape.z, tape.u)).nnz()
        if self.constant and not (self.nonlinear or system.nz or system.clusters):
            kept = self._kept_factors(laws)
            if not kept.few:
                return None
        elif size > (MOST_WRITTEN if self.loops_follow and not apart else MOST_TOGETHER):
            return None
        solved = SolvedModes(system, self.elements, laws, self.bounds, kept)
        few = kept or apart or max(map(len, solved.blocks)) <= MOST_WRITTEN
        return solved if few and solved.follows_linearly else None

    def _kept_factors(self, laws: LawExpressions) -> KeptFactors:
        """Numbers that efforts follow by while modes last, where D depends on parameters only."""
        islands = connected(laws.rate_u[:, self.elements.column.tolist()].sparsity())
        acting = Acting(laws.flow_x, self.elements.pushed(laws.slope_u), self.system.tape.p,
                        self.elements.contact & ~self.elements.valve)
        return KeptFactors(
            self.elements.size, islands, acting if _is_fixed(self.system, acting.motion) else None)


def _flow_varies(laws: LawExpressions) -> Flags:
    """Elements whose flow is no constant combination of states."""
    tape = laws.system.tape
    varies = np.array(ca.which_depends(laws.flow, tape.x, 2, True), dtype=bool)
    for other in (TIME, ca.vertcat(tape.m, tape.d)):
        if other.numel():
            varies |= np.array(ca.which_depends(laws.flow, other, 1, True), dtype=bool)
    return varies


def _is_fixed(system: System, sx: ca.SX) -> bool:
    """Whether an expression depends on parameters only."""
    return symbols_in(sx) <= symbols_in(system.tape.p)
