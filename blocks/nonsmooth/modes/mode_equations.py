"""Which equations hold the modes of elements at nodes without mass?

Every element states one equation: a kinetic effort where it slides, no flow where it sticks.
What it takes is among the inputs ``u``, what it gives follows from states and inputs::

                 gives its effort            gives its flow
    sliding      u == kinetic effort         effort == kinetic effort
    stuck        flow == 0                   u == 0

Where a combination of them does not contain ``u`` it says something about the states (the
force of a spring between two that slide, the velocity of a body that sticks), and its time
derivative takes its place.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ...language.expression import TIME
from ...numerics.arrays import Array, Flags, Indices, grouped
from ...numerics.cache import Cache
from ...numerics.copies import put_back
from ...numerics.rewriting import contained, dependent_pairs, symbols_in
from ...numerics.sparse_solves import factors_if_regular
from ...numerics.tolerances import (
    BLOCK_SINGULAR,
    LAST_BITS,
    PIVOT_NONE,
    SAME_AS_BEFORE,
    TERMS_ROUNDING,
)
from ...system import Problem, System
from .elements import Elements
from .loop_unknowns import Followed, LoopUnknowns

if TYPE_CHECKING:
    from .law_expressions import LawExpressions

__all__ = ["JOINED", "LinearEquations", "ModeEquations", "rows_of", "told_sliding",
           "without_rounding"]  # fmt: skip

MOST_KEPT = 500  # combinations of modes whose matrices are kept
MOST_ENTRIES = 1 << 22  # of such a matrix of all elements, all modes together
MOST_WHOLE = 12  # elements that are one island where they feel each other by rates alone
MOST_COEFFICIENTS = 8  # values of parameters and relations whose coefficients are kept
JOINED = "parts joined by rates"  # in the cache of a system where rates tie large groups


@dataclass
class LinearEquations:
    """The equations of some modes at one point, linearised in the inputs."""

    made: ModeMatrices
    residual: Array  # of as many equations as there are inputs
    violation: Array  # what combinations without inputs miss

    def step(self) -> Array | None:
        """Change of the inputs that solves the equations, the least one; None if not finite."""
        step = self.solved(self.residual[:, None])[:, 0]
        return step if np.isfinite(step).all() else None

    def solved(self, right: Array) -> Array:
        """What the matrix makes columns of, the least of it; nan if that is not finite."""
        if self.made.solver is None or not np.isfinite(right).all():
            return np.full(right.shape, np.nan)
        return self.made.solver @ right

    def error(self, rounding: Array | float = 0.0, lasting: bool = False) -> float:
        """The largest residual beyond rounding, with rows of the matrix scaled to 1; with
        ``lasting``, of what no step mends."""
        residual, step = self.residual, self.step() if lasting else None
        if step is not None:
            residual = residual - self.made.matrix @ step
        excess = np.maximum(np.abs(residual) - rounding, 0.0)
        return float((excess / _even(self.made.matrix)[1]).max(initial=0.0))


@dataclass(frozen=True)
class ModeMatrices:
    """What the equations of some modes are made of, but for their values."""

    matrix: Array  # of as many equations as there are inputs
    combine: Array  # weights of the equations in combinations, a row each, within their island
    free: Flags  # which of these contain no inputs and give way to their rates
    null: Array  # directions of the inputs that no equation determines, as columns
    solver: Array | None  # what makes a step of a residual; None where that is not finite
    alone: bool = True  # whether no part of elements feels another one by these

    @cached_property
    def weight(self) -> Array:
        """Weights of the combinations that say something about states."""
        return self.combine[self.free]

    def combined(self, value: Array, rate: Array) -> Array:
        """What combinations come to, by values and by rates of the equations."""
        if not self.free.any():
            return value
        out: Array = self.combine @ value
        out[self.free] = self.weight @ rate
        return out


class ModeEquations:
    """Equations of modes, their derivatives, and what elements come to."""

    def __init__(self, system: System, elements: Elements, laws: LawExpressions) -> None:
        # side: expressions of the flows; of contacts, of their gaps with the other sign
        tape, self.elements, self.side = system.tape, elements, laws.sides
        self.size = n = elements.size
        rows = rows_of(system, elements, laws)
        values = [self.side, laws.effort, laws.low, laws.high]
        # ``side``, efforts, bounds at rest; what is given, back and forth, and rates of these
        self.all_values = system.function("values_in_modes", ca.densify(ca.vertcat(*values, *rows)))
        inputs = elements.column.tolist()
        by_u = [ca.jacobian(e, tape.u)[:, inputs] for e in rows]
        self.endless = laws.endless
        # elements that feel each other, in large groups only those that do so by values: rates may
        # tie these, too, of what modes hold
        self.islands = grouped(_islands(by_u, n if JOINED in system.cache else MOST_WHOLE))
        #: Relations that coefficients depend on.
        self.by_relations = contained(tape.m, ca.veccat(*(by.nz[:] for by in by_u)))
        self._by_u = system.function("rows_u", ca.vertcat(*by_u))
        self._by_x = system.jacobian(ca.vertcat(*rows), tape.x)
        everything = ca.vertcat(*values, *rows)
        # whether all of it is linear in the inputs
        self.affine = not any(ca.which_depends(everything, tape.u, 2, True)) and (
            not system.nz or system.linear)
        self.loops = LoopUnknowns(system, elements) if system.nz else None
        self._by_z = system.jacobian(ca.vertcat(*rows), tape.z)
        self._has_switches = bool(elements.switch.any())
        self._tape = tape
        self._decisive = everything, ca.veccat(laws.low, laws.high, *by_u)
        self._strengths = np.flatnonzero(contained(tape.p, laws.bounds)).tolist()
        # whether its coefficients depend on parameters and relations only
        self.constant = not system.nz and _is_constant(*self._decisive, tape)
        # by what they depend on: parameters too, which a look at the effect of rounding changes
        self._kept: Cache[tuple[bytes, bytes, bytes], ModeMatrices] = Cache(
            min(MOST_KEPT, MOST_ENTRIES // max(n, 1)**2))
        self._inputs_kept: Cache[tuple[bytes, bytes], Array] = Cache(MOST_COEFFICIENTS)
        self._linear_at: dict[bytes, bool] = {}  # by strengths
        self._constant: ModeEquations | None = None  # these, where that is so
        self._parameters = np.zeros(0), b""  # values, and what stands for them in keys

    def at_parameters(self, p: Array) -> ModeEquations:
        """These equations, as those they are where values of parameters make them linear.

        As where nothing is viscous: what does not follow the flow is a number.
        """
        if self.constant or self.loops is not None:
            return self
        strengths = p[self._strengths]
        key = strengths.tobytes()
        if key not in self._linear_at:
            everything, coefficients = ca.substitute(
                list(self._decisive), [self._tape.p[self._strengths]], [ca.SX(strengths)])
            self._linear_at[key] = _is_constant(everything, coefficients, self._tape)
        if not self._linear_at[key]:
            return self
        if self._constant is None:
            self._constant = copy.copy(self)
            self._constant.affine = self._constant.constant = True
        return self._constant

    def values(self, problem: Problem, t: float) -> Array:
        """Flows (of contacts the gap, negative), efforts, bounds at rest and moving; a row each."""
        return self._values(problem, t)[[0, 1, 2, 3, 5, 6]]

    def _values(self, problem: Problem, t: float) -> Array:
        return self.all_values(*problem.arguments(t)).reshape(10, self.size)

    def _values_with_rates(self, problem: Problem, t: float) -> Array:
        """What elements come to, (10, elements), with rates that count in those of loops."""
        out = self._values(problem, t)
        if self.loops is not None:
            by_z, follows = self._through_unknowns(problem, t, self.loops)
            out[7:] += by_z[:3] @ follows.rate
        return out

    def given(self, problem: Problem, t: float) -> tuple[Array, Array]:
        """What the elements give, and its rate."""
        out = self._values_with_rates(problem, t)
        return out[4], out[7]

    def by_inputs(self, problem: Problem, t: float) -> Array:
        """Given, back, forth and their rates by what the elements take."""
        if not self.constant:
            return self._by_inputs_at(problem, t)
        return self._inputs_kept.once(self.coefficients(problem),
                                      lambda: self._by_inputs_at(problem, t))

    def coefficients(self, problem: Problem) -> tuple[bytes, bytes]:
        """What the coefficients of constant equations depend on."""
        return problem.m[self.by_relations].tobytes(), self._key_of_parameters(problem)

    def _key_of_parameters(self, problem: Problem) -> bytes:
        """The bytes of the parameters: one object while these stay, which is hashed once."""
        if not np.array_equal(self._parameters[0], problem.p):
            self._parameters = problem.p.copy(), problem.p.tobytes()
        return self._parameters[1]

    def _by_inputs_at(self, problem: Problem, t: float) -> Array:
        out = self._by_u.dense(*problem.arguments(t)).reshape(6, self.size, self.size)
        out *= self.elements.unit
        return self._through_loops(problem, t, out, "taken")

    def _by_states(self, problem: Problem, t: float) -> Array:
        """Given, back, forth and their rates, derived by the states, (6, elements, states)."""
        out = self._by_x.dense(*problem.arguments(t)).reshape(6, self.size, -1)
        return self._through_loops(problem, t, out, "x")

    def _through_loops(self, problem: Problem, t: float, out: Array, which: str) -> Array:
        """Derivatives, with those through the unknowns of loops."""
        if self.loops is None:
            return out
        by_z, follows = self._through_unknowns(problem, t, self.loops)
        out = out + by_z @ getattr(follows, f"by_{which}")
        out[3:] += by_z[:3] @ getattr(follows, f"rate_by_{which}")
        return out

    def _through_unknowns(self, problem: Problem, t: float, loops: LoopUnknowns
                          ) -> tuple[Array, Followed]:
        """How rows follow unknowns of loops, and these all else."""
        return (self._by_z.dense(*problem.arguments(t)).reshape(6, self.size, -1),
                loops.at(problem, t))

    def at(self, problem: Problem, t: float, modes: Indices) -> LinearEquations:
        """The equations of some modes."""
        out, made = self._values_with_rates(problem, t), self.matrices(problem, t, modes)
        if self.loops is not None:  # as they are with these solved
            by_z, follows = self._through_unknowns(problem, t, self.loops)
            out[4:] += by_z @ follows.missed
        value, rate = self.held_rows(modes, out[4:7], out[7:])
        direct = self._direct(modes)
        value[direct] += self.elements.efforts_of(problem.u)[direct]
        return LinearEquations(made, made.combined(value, rate), made.weight @ value)

    def sizes(self, problem: Problem, t: float, modes: Indices) -> Array:
        """How large the terms are that cancel in the equations of some modes."""
        made = self.matrices(problem, t, modes)
        with put_back(problem.u):
            problem.u[:] = 0.0
            out = self._values(problem, t)
        value, rate = np.abs(self.held_rows(modes, out[4:7], out[7:]))
        untaken = replace(made, combine=np.abs(made.combine)).combined(value, rate)
        return untaken + np.abs(made.matrix) @ np.abs(self.elements.efforts_of(problem.u))

    def open_inputs(self, problem: Problem, t: float, modes: Indices) -> Array:
        """Directions of the inputs that some modes leave open, as columns."""
        return self.matrices(problem, t, modes).null

    def matrices(self, problem: Problem, t: float, modes: Indices) -> ModeMatrices:
        """The matrices of some modes, kept by all that changes them."""
        by_inputs = self.by_inputs(problem, t)
        key = self.coefficients(problem) if self.constant else (by_inputs.tobytes(), b"")
        return self._kept.once((modes.tobytes(), *key), lambda: self._matrices(by_inputs, modes))

    def _matrices(self, by_inputs: Array, modes: Indices) -> ModeMatrices:
        """The matrices of some modes: of islands, or of all elements where some feel the others by
        what their modes hold, or through loops."""
        n, direct = self.size, self._direct(modes)
        value, rate = self.held_rows(modes, by_inputs[:3], by_inputs[3:])
        value[direct, np.flatnonzero(direct)] += 1.0
        everyone = [np.arange(n)]
        for islands in (self.islands, everyone) if self.loops is None else (everyone,):
            matrix, combine, solver, null = np.zeros((4, n, n))
            free, alone, solved, open_ = np.zeros(n, dtype=bool), True, True, 0
            for island in islands:
                own = np.ix_(island, island)
                combine[own], free[island], unsure = _combinations(value[own])
                matrix[own], held = value[own], island[free[island]]
                if len(held):
                    matrix[own] = without_rounding(combine[own], value[own])
                    rates = without_rounding(combine[np.ix_(held, island)], rate[island], unsure)
                    matrix[np.ix_(held, island)], rates[:, island] = rates[:, island], 0.0
                    alone &= not rates.any()
                inverse, left = _inverse(matrix[own])
                solved &= inverse is not None
                solver[own] = 0.0 if inverse is None else inverse
                null[island, open_ : open_ + left.shape[1]] = left
                open_ += left.shape[1]
            if alone:
                break
        return ModeMatrices(matrix, combine, free, null[:, :open_], solver if solved else None,
                            islands is self.islands or len(self.islands) == 1)

    def islands_of(self, some: Flags) -> Flags:
        """All elements of the islands that some belong to."""
        out = np.zeros(self.size, dtype=bool)
        for island in self.islands:
            out[island] = some[island].any()
        return out

    def by_x(self, problem: Problem, t: float, modes: Indices) -> tuple[Array, Array]:
        """Derivatives of the equations by the states, and those of what is missed."""
        by_x = self._by_states(problem, t)
        value, rate = self.held_rows(modes, by_x[:3], by_x[3:])
        made = self.matrices(problem, t, modes)
        return made.combined(value, rate), without_rounding(made.weight, value)

    def projections(self, problem: Problem, t: float, modes: Indices, islands: list[Indices]
                    ) -> list[tuple[Array, Array]]:
        """Of parts of elements that feel no others: combinations that say something about states,
        and what brings these there."""
        weight = self.matrices(problem, t, modes).weight
        of = [weight[(weight[:, island] != 0.0).any(axis=1)] for island in islands]
        if not any(map(len, of)):
            return [(mine, np.zeros((len(problem.x), 0))) for mine in of]
        by_x = self._by_states(problem, t)
        value, _ = self.held_rows(modes, by_x[:3], by_x[3:])
        push = self.slope_by_taken(problem, t)
        return [(mine, push[:, island] @ np.linalg.pinv(without_rounding(
            without_rounding(mine[:, island], value[island]), push[:, island]), rcond=PIVOT_NONE))
                for mine, island in zip(of, islands, strict=True)]

    def given_by_states(self, problem: Problem, t: float, taken: Array) -> Array:
        """Changes of what is given per change of the states, which changes what is taken."""
        out: Array = self._by_states(problem, t)[0] + self.by_inputs(problem, t)[0] @ taken
        return out

    def by_taken(self, problem: Problem, t: float, taken: Array) -> tuple[Array, Array]:
        """Changes of efforts and flows per change of what is taken."""
        through = self.by_inputs(problem, t)[0] @ taken
        gives = self.elements.gives_flow[:, None]
        return np.where(gives, through, taken), np.where(gives, taken, through)

    def slope_by_taken(self, problem: Problem, t: float) -> Array:
        """Change of the states' slopes per change of what the elements take."""
        system, at = problem.system, problem.arguments(t)
        taken = self.elements.columns_of(system.slope_u.dense(*at))
        if self.loops is not None:
            slope_z = system.slope_z.sparse(*at)
            taken = taken + slope_z @ self.loops.at(problem, t).by_taken
        return taken

    def changes_nothing(self, problem: Problem, t: float, null: Array, efforts: Flags, flows: Flags
                        ) -> bool:
        """Whether directions of what is taken change none of some efforts and flows, and no state's
        slope, but for rounding.

        Where nothing else heats a part, what friction at rest heats it by is its effort times a
        velocity that is rounding: all of it is rounding of what the others do.
        """
        of_efforts, of_flows = self.by_taken(problem, t, null)
        push, top = self.slope_by_taken(problem, t), np.abs(null).max()
        for changes in (of_efforts[efforts], of_flows[flows]):
            if not (np.abs(changes) <= SAME_AS_BEFORE * top).all():
                return False
        most = np.abs(push).sum(axis=1)
        relative = most / problem.scale_x
        felt = relative > LAST_BITS * relative.max(initial=0.0)
        unchanged = np.abs(push @ null) <= SAME_AS_BEFORE * top * most[:, None]
        return bool(unchanged[felt].all())

    def switched(self, problem: Problem, t: float, modes: Indices) -> Indices:
        """Modes with those of switches as their conditions say."""
        if not self._has_switches:
            return modes
        opened, closed = self.told(problem, t)
        return np.where(opened, -1, np.where(closed, 0, modes))

    def told(self, problem: Problem, t: float) -> tuple[Flags, Flags]:
        """Elements that a condition opens, and that one closes."""
        _, _, low, high, *_ = self.values(problem, t)
        switch = self.elements.switch
        return switch & (low == high), switch & np.isinf(low) & np.isinf(high)

    def _direct(self, modes: Indices) -> Flags:
        """Elements whose equation is about what they take."""
        return self.elements.gives_flow != (modes != 0)

    def held_rows(self, modes: Indices, values: Array, rates: Array) -> tuple[Array, Array]:
        """What the equations come to but for what is taken, and their rates.

        From given, back and forth; or from the rows of their derivatives.
        """
        shape = (len(modes), *[1] * (values.ndim - 2))
        ahead, slides = (modes > 0).reshape(shape), (modes != 0).reshape(shape)
        follows = ~self._direct(modes).reshape(shape)
        out = [np.where(follows, given, 0.0) - np.where(slides, np.where(ahead, forth, back), 0.0)
               for given, back, forth in (values, rates)]  # fmt: skip
        return out[0], out[1]


def _combinations(matrix: Array) -> tuple[Array, Flags, float]:
    """Combinations of equations; which of them contain no inputs; and the share of their terms by
    which rounding may have changed these."""
    if len(matrix) == 1:  # which is free where its number is zero
        return np.eye(1), matrix[0] == 0.0, TERMS_ROUNDING
    even, rows, _ = _even(matrix)
    left, values, _, rank = _decomposed(even)
    free, combine, unsure = np.arange(len(matrix)) >= rank, np.eye(len(matrix)), TERMS_ROUNDING
    if free.any():
        left = np.where(np.abs(left) > TERMS_ROUNDING * np.abs(left).max(axis=0), left, 0.0)
        combine = left.T / rows
    if rank and len(values):  # what is nearly such a combination mixes with one that is
        unsure = max(unsure, LAST_BITS * values[0] / values[rank - 1])
    return combine, free, unsure


def _inverse(matrix: Array) -> tuple[Array | None, Array]:
    """What makes the least step of a residual, None where that is not finite; and directions of
    the inputs that a matrix leaves open, as columns."""
    even, rows, columns = _even(matrix)
    left, values, right, rank = _decomposed(even)
    null = right[rank:].T / columns[:, None]
    if not np.isfinite(even).all():
        return None, null
    inverse = np.linalg.inv(even) if not null.shape[1] else (
        right[:rank].T / values[:rank]) @ left[:, :rank].T
    return inverse / rows / columns[:, None], null


def _decomposed(even: Array) -> tuple[Array, Array, Array, int]:
    """Singular vectors and values of a matrix, and its rank; no values where it is regular, or no
    matrix of numbers."""
    if not np.isfinite(even).all() or factors_if_regular(even, BLOCK_SINGULAR) is not None:
        return np.eye(len(even)), np.zeros(0), np.eye(len(even)), len(even)
    left, values, right = np.linalg.svd(even)
    return left, values, right, int(np.sum(values > BLOCK_SINGULAR * values.max(initial=0.0)))


def rows_of(system: System, elements: Elements, laws: LawExpressions) -> list[ca.SX]:
    """What elements give, their efforts when sliding back and forth, and the rates of these.

    Of kinetic efforts that :func:`told_sliding` names the rates are not asked for, and 0.
    """
    tape, gives = system.tape, elements.gives_flow.tolist()
    output = ca.vertcat(*(laws.effort[k] if g else laws.flow[k] for k, g in enumerate(gives)))
    rows = [output, laws.back, laws.forth]
    rates = [ca.jtimes(e, tape.x, tape.slope) + ca.jacobian(e, TIME) for e in rows]
    told = np.flatnonzero(told_sliding(rows, elements, tape)).tolist()
    for rate in rates[1:]:
        rate[told] = 0
    return rows + rates


def told_sliding(rows: list[ca.SX], elements: Elements, tape: Any) -> Flags:
    """Elements whose kinetic effort is all that is taken, whatever others do: u == effort(x).

    No combination of equations without inputs contains that one, so neither how the effort follows
    states nor how fast counts: it may be any curve beside equations with constant coefficients.
    """
    by_u = np.zeros((3, elements.size, tape.u.numel()), dtype=bool)
    for row, of in zip(by_u, rows, strict=False):
        row[dependent_pairs(of, tape.u)] = True
    by_u = by_u[:, :, elements.column]
    others = by_u.any(axis=0) & ~np.eye(elements.size, dtype=bool)
    return ~(elements.gives_flow | by_u[1:].any(axis=(0, 2)) | others.any(axis=0))


def _is_constant(everything: ca.SX, coefficients: ca.SX, tape: Any) -> bool:
    """Whether all is linear in the inputs, by coefficients of parameters and relations alone."""
    return not any(ca.which_depends(everything, tape.u, 2, True)) and (
        symbols_in(coefficients) <= symbols_in(ca.veccat(tape.p, tape.m)))


def without_rounding(one: Array, other: Array, fraction: float = TERMS_ROUNDING) -> Array:
    """A product of matrices, with zero where it is rounding only: this share of its terms."""
    out = one @ other
    return np.where(np.abs(out) > fraction * (np.abs(one) @ np.abs(other)), out, 0.0)


def _islands(by_u: list[ca.SX], whole: int) -> Indices:
    """The island of each element; they feel each other by values or, few enough, by rates.

    ``by_u`` are derivatives of values, and of their rates, by what elements take.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    def joined(matrices: list[ca.SX]) -> Indices:
        graph = csr_matrix(by_u[0].shape)
        for matrix in matrices:
            rows, columns = matrix.sparsity().get_triplet()
            graph = graph + csr_matrix((np.ones(len(rows)), (rows, columns)), graph.shape)
        return np.asarray(connected_components(graph, directed=False)[1])

    by_values, by_rates = joined(by_u[:3]), joined(by_u)
    few = np.bincount(by_rates)[by_rates] <= whole
    return np.where(few, by_rates, len(few) + by_values)


def _even(matrix: Array) -> tuple[Array, Array, Array]:
    """A matrix with rows and columns of size 1, and the factors of both."""
    rows = np.abs(matrix).max(axis=1, initial=0.0)
    rows = np.where(rows > 0, rows, 1.0)
    even = matrix / rows[:, None]
    columns = np.abs(even).max(axis=0, initial=0.0)
    columns = np.where(columns > 0, columns, 1.0)
    return even / columns, rows, columns
