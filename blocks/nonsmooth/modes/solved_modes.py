"""What do efforts and slopes come to while no mode changes, by one small solve?

Between two events the modes of set-valued laws are held, and the efforts lambda satisfy as many
equations as there are elements: ``rate(lambda) == 0`` for what sticks, ``lambda ==
kinetic(lambda)`` for what slides. Where the matrix of the rates moves with the states (arms
of a planar contact) or bounds depend on efforts (friction loaded by a normal force), they are
solved at every point: residuals and their matrix are one function, slopes and whatever the
laws look at another. Rows of what sticks are divided by the own rate per effort, so that
determinants have no unit. Where nothing of this moves with the states, factors are kept as long as
modes last (:mod:`blocks.nonsmooth.modes.kept_factors`), and efforts are functions of the states.
"""

from __future__ import annotations

from functools import reduce

import casadi as ca
import numpy as np

from ...language.lookup import jacobian
from ...numerics.arrays import Array, Flags, Indices, Matrix
from ...numerics.rewriting import dependent_pairs, symbols_in
from ...numerics.tolerances import (
    BLOCK_SINGULAR,
    FAR_FROM_PARADOX,
    NOTHING_AT_ALL,
    PARADOX,
    SAFE_PIVOT,
)
from ...system import Evaluator, Problem, System
from .block_diagonal import BlockDiagonal
from .bound_functions import BoundFunctions
from .delassus import torn_by
from .elements import Elements
from .gaps import positions_of
from .kept_factors import KeptFactors, connected
from .law_expressions import LawExpressions
from .resting_relations import RestingRelations

__all__ = ["ROUNDS", "SolvedModes"]

ROUNDS = 25  # of Newton's method, where bounds have kinks


class SolvedModes:
    """Efforts, flows, bounds and slopes of elements whose equations are solved at every point.

    ``bounds`` tell how they move with efforts, where they do; ``kept`` are numbers by which efforts
    follow as long as modes last, where there are such.
    """

    def __init__(self, system: System, elements: Elements, laws: LawExpressions,
                 bounds: BoundFunctions | None, kept: KeptFactors | None = None) -> None:
        n, tape, column, unit = elements.size, system.tape, elements.column, elements.unit
        modes, effort = ca.SX.sym("modes", n), ca.SX.sym("effort", n)
        place = ca.DM.triplet(column.tolist(), list(range(n)), ca.DM(unit), system.nu, n)
        inputs = ca.densify(ca.mtimes(place, effort))
        crossings = RestingRelations.of(system).put_in(tape.crossings, modes)
        values, slope, crossings, exponents = ca.substitute(
            [laws.values, tape.slope, crossings, tape.exponents], [tape.u], [inputs])
        flow, low, high, back, forth, rate, gap = ca.vertsplit(values, n)
        restitution = ca.substitute(laws.restitution, tape.u, inputs)
        loops = ca.substitute(ca.vertcat(tape.residual, tape.constraints), tape.u, inputs)
        self.loops = loops
        #: Whether torn unknowns of loops follow efforts at once: these are solved for together.
        self.with_loops = ca.jacobian_sparsity(loops, effort).nnz() > 0
        self.follows = ca.SX.sym("follows", system.nz * self.with_loops, n)
        self._unknowns = ca.vertcat(tape.z, effort)
        self.effort = effort
        sliding = ca.if_else(modes > 0, forth, ca.if_else(modes < 0, back, 0))
        self.size, self.elements, self.kept = n, elements, kept
        #: Whether slopes change by efforts in a way that moves with the states.
        self.turns = bool(system.nz) or not symbols_in(laws.slope_u) <= symbols_in(tape.p)
        # dependent, in_a_circle: see :class:`.bound_functions.BoundFunctions`
        self.dependent = np.zeros(n, dtype=bool) if bounds is None else bounds.dependent
        self.in_a_circle = bounds is not None and bounds.in_a_circle
        self.symbols = [*system.arguments[:-1], modes, effort]
        #: Blocks that have more elements than motions, where these may rest in many ways.
        self.shared: list[Indices] = []
        self.expressions = {
            "flow": flow, "low": low, "high": high, "back": back, "forth": forth, "rate": rate,
            "effort": effort, "gap": gap, "restitution": restitution, "slope": slope,
            "crossings": crossings, "exponents": exponents, "inputs": inputs, "push": ca.SX(0, 1)}
        self.evaluate = Evaluator(ca.Function("solved", self.symbols, [ca.densify(
            ca.vertcat(values, slope))]))  # fmt: skip
        if kept is None:
            self._pose(system, sliding)
        else:
            self._keep(sliding)
        #: Whether machine code writes derivatives of slopes.
        self.has_derivatives = not self.with_loops
        self.positions = positions_of(system)

    def _keep(self, sliding: ca.SX) -> None:
        """Let efforts follow from numbers that last as long as modes do.

        What rests cancels the rates that there are by what slides, or is at a bound, alone.
        """
        kept, e = self.kept, self.expressions
        assert kept is not None
        numbers = ca.SX.sym("kept", kept.entries)
        # 1 and -1 of what is at a bound, held there by others, where numbers are kept
        self.ends = kept.ends(numbers)
        bound = ca.if_else(self.ends > 0, e["high"], ca.if_else(self.ends < 0, e["low"], 0))
        unheld = ca.substitute(e["rate"], self.effort, sliding + bound)
        own = ca.densify(sliding + bound + kept.efforts(numbers, unheld))
        if self.turns:
            e["push"] = ca.vec(ca.densify(jacobian(e["slope"], self.effort)))
        for name in e:
            e[name] = ca.substitute(e[name], self.effort, own)
        # affine: whether rates and bounds are known to be linear in the efforts; affine_rates:
        # rates at least; follows_linearly: whether torn unknowns of loops are linear in these, too;
        # direct: whether efforts follow from the point and the modes alone, without a guess
        self.affine = self.affine_rates = self.direct = self.follows_linearly = True
        # whether anything is solved for at every point; entries: numbers that are kept
        self.length, self.entries = 0, kept.entries
        #: Of parts that have them, in these ``symbols``.
        self.factors = ca.substitute(kept.factors, kept.modes, self.symbols[-2])
        self.blocks, self.symbols = kept.members, [*self.symbols[:-1], numbers]

    def _pose(self, system: System, kinetic: ca.SX) -> None:
        """Pose the equations that efforts are solved from at every point."""
        n, e, effort, loops = self.size, self.expressions, self.effort, self.loops
        modes, rate = self.symbols[-2], e["rate"]
        own = -self.by_effort(rate)
        diagonal = ca.densify(ca.diag(own))
        scale = ca.if_else(diagonal > 0, 1 / diagonal, 1)
        stuck, shared = modes == 0, ca.SX(0)
        # at a dead centre the lever is rounding: whatever it would take to hold there is none
        largest = ca.mmax(diagonal)
        acts = ca.logic_or(largest <= 0, diagonal > NOTHING_AT_ALL * largest)
        holds = ca.logic_and(stuck, acts)
        residual = ca.if_else(holds, -scale * rate, effort - kinetic)
        matrix = _row_by_row(holds, scale, own, ca.SX.eye(n) - self.by_effort(kinetic))
        #: Elements whose equations have to do with each other, part by part.
        acting = [matrix.sparsity(), *(self.by_effort(e[name]).sparsity() for name in (
            "low", "high"))]
        self.blocks = [np.arange(n)] if self.with_loops else connected(
            reduce(ca.Sparsity.unite, acting))
        self.diagonal = BlockDiagonal(self.blocks)
        self.affine = not any(ca.which_depends(residual, effort, 2, True))
        self.affine_rates = not any(ca.which_depends(rate, self._unknowns, 2, True))
        self.follows_linearly = True
        if self.with_loops:
            together = ca.vertcat(loops[: system.nz], ca.if_else(stuck, -rate, effort - kinetic))
            self.affine = not any(ca.which_depends(together, self._unknowns, 2, True))
            self.follows_linearly = not any(ca.which_depends(loops, self._unknowns, 2, True))
        if not self.affine:  # efforts that are none are differences of what would stop what moves
            shared = ca.mmax(ca.if_else(acts, scale * ca.fabs(rate), 0))
        self.direct = self.affine and not self.with_loops
        self.shared = self._shared(system, own) if self.affine_rates else []
        e |= {"matrix": matrix, "residual": ca.densify(residual), "shared": shared}
        equations = ca.vertcat(self.diagonal.entries_of(matrix), residual, diagonal, shared)
        given, self.entries = self.symbols + [self.follows] * self.with_loops, 0
        self._solve = Evaluator(ca.Function("equations", given, [ca.densify(equations)]))
        self.length = 1

    def by_effort(self, expression: ca.SX) -> ca.SX:
        """Derivative by efforts, which torn unknowns of loops may follow at once."""
        direct = min((jacobian(expression, self.effort, backward) for backward in (False, True)),
                     key=lambda sx: ca.Function("n", ca.symvar(sx), [sx]).n_instructions())
        if not self.with_loops:
            return direct
        torn = self._unknowns[: self.follows.shape[0]]
        return direct + ca.mtimes(jacobian(expression, torn), self.follows)

    def _shared(self, system: System, own: ca.SX) -> list[Indices]:
        """Blocks in which rates do not tell all efforts, wherever they are but for chance."""
        blocks = [block for block in self.blocks if len(block) > 1]
        if not blocks:
            return []
        chance, given = np.random.default_rng(0), [*system.arguments[:-1], self.effort]
        point, z = [chance.uniform(0.5, 1.5, a.shape) for a in given], system.tape.z
        follows: Array = np.zeros(self.follows.shape)
        if self.with_loops:
            by_z, by_effort = (np.array(a) for a in ca.Function("loops", given, [
                ca.densify(ca.jacobian(self.loops[: system.nz], by))
                for by in (z, self.effort)]).call(point))
            follows = np.asarray(-np.linalg.lstsq(by_z, by_effort)[0], dtype=float)
        d = np.array(ca.Function("own", [*given, self.follows], [ca.densify(own)]).call(
            [*point, follows])[0])
        size = np.sqrt(np.where(d.diagonal() > 0, d.diagonal(), 1.0))
        d = d / np.outer(size, size)
        return [b for b in blocks if np.isfinite(part := d[np.ix_(b, b)]).all()
                and np.linalg.matrix_rank(part, tol=BLOCK_SINGULAR) < len(b)]

    @property
    def bends(self) -> Flags:
        """(elements,) whose bounds bend as efforts change."""
        return self.dependent & (not self.affine)

    def bent_by(self) -> Matrix:
        """(elements, elements) 1 where bounds may bend as an effort changes, else 0."""
        out = np.zeros((self.size, self.size))
        for name in () if self.affine else ("low", "high", "back", "forth"):
            bound, torn = self.expressions[name], self._unknowns[: self.follows.shape[0]]
            out[dependent_pairs(bound, self.effort)] = 1.0
            out[ca.jacobian_sparsity(bound, torn).row()] = 1.0  # which follow any effort
        return out

    @property
    def present(self) -> ca.SX:
        """What decisions on modes look at: rows of elements; where numbers are kept, what efforts
        push, too, if that moves."""
        return ca.densify(ca.vertcat(*(self.expressions[name] for name in (
            "flow", "low", "high", "back", "forth", "rate", "effort", "gap", "restitution",
            "push"))))

    def with_efforts(self, function: ca.Function) -> ca.Function:
        """A function of what the system's functions take as one of these ``symbols``."""
        given = [*self.symbols[:-2], self.expressions["inputs"]]
        return ca.Function("held", self.symbols, function.call(given))

    # -- one point ---------------------------------------------------------------------
    def equations(self, problem: Problem, t: float, modes: Indices, effort: Array
                  ) -> tuple[Array, Array]:
        """Entries of the matrix of the equations, whose loops follow efforts, and own rates per
        effort."""
        follows, at = [], self.diagonal.size
        if self.with_loops:
            by_u = torn_by(problem.system.residual_u, problem, t)
            follows = [self.elements.columns_of(by_u).T.ravel()]
        out = self._solve(*problem.arguments(t)[:-1], modes, effort, *follows)
        return out[:at], out[at + self.size : -1]

    def determinants(self, modes: Indices, entries: Array) -> tuple[Array, Array]:
        """Determinants of the equations and of those of what slides, block by block."""
        every, tell = np.ones(self.size, dtype=bool), self.diagonal.determinants
        return tell(entries[None], every)[0], tell(entries[None], modes != 0)[0]

    def reserves(self, entries: Array, diagonal: Array, modes: Indices) -> Array:
        """Determinants per that of what sticks; 0 where no quick look can tell.

        Far from 0 what sticks has no undetermined efforts, and what slides no paradox. Where no
        bound depends on efforts there is none, and pivots tell: determinants of many elements are
        small in any case.
        """
        sticks = modes == 0  # what slides at a dead centre has an effort all the same
        least = diagonal[:, sticks].min(axis=1, initial=np.inf)
        held = least > NOTHING_AT_ALL * diagonal.max(axis=1, initial=0.0)
        if not self.dependent.any():
            return np.where(held & (self.diagonal.least_pivots(entries) > SAFE_PIVOT), 1.0, 0.0)
        alone, whole = (self.diagonal.determinants(entries, take) for take in (
            sticks, np.ones(self.size, dtype=bool)))
        sure = (alone > PARADOX) & held[:, None]
        share = np.divide(whole, alone, out=np.zeros_like(whole), where=sure)
        if self.in_a_circle:  # what slides may jam by itself
            slides = self.diagonal.determinants(entries, modes != 0)
            share = np.minimum(slides, np.divide(
                share, slides, out=np.zeros_like(share), where=slides > FAR_FROM_PARADOX))
        least_share = share.min(axis=1)
        return np.where(least_share > FAR_FROM_PARADOX, least_share, 0.0)


def _row_by_row(stuck: ca.SX, scale: ca.SX, at_rest: ca.SX, sliding: ca.SX) -> ca.SX:
    """A matrix whose rows are those of one where elements are stuck, scaled, else of another."""
    pattern = at_rest.sparsity().unite(sliding.sparsity())
    rows = pattern.row()
    entries = ca.if_else(stuck[rows], scale[rows] * ca.project(at_rest, pattern).nz[:],
                         ca.project(sliding, pattern).nz[:])
    return ca.SX(pattern, entries)
