"""What do efforts and slopes come to while no mode changes, in one evaluation?

Between two events the modes of set-valued laws are held. Efforts that slide are then functions of
the states, and those that stick follow linearly from them: with D the matrix of the rates per
effort and S the elements that stick, lambda_S = D_SS^-1 b_S. Where D is constant this and the
slopes are one function of the states, the modes and K, which is D_SS^-1 on S and 0 elsewhere:
block by block, where not all elements act on each other. Where it is not, see
:mod:`blocks.nonsmooth.modes.solved_modes`; what a general network needs is in
:mod:`blocks.nonsmooth.modes.laws`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ...language.lookup import jacobian
from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.copies import shallow_copy
from ...numerics.tolerances import OWN_RATE_NONE
from ...system import Evaluator
from ..complementarity.scaling import DENSE_LIMIT, components
from .companions import Companions
from .delassus import Delassus, Matrix, pseudo_inverse
from .elements import Elements
from .resting_relations import RestingRelations

if TYPE_CHECKING:
    from ...system import Problem, System
    from .law_expressions import LawExpressions

__all__ = ["MOST", "HeldModes", "connected", "parts_of", "point_to_the_bit"]

MOST = 300  # elements that act on each other: each of them needs all the others
MOST_KEPT = 500_000  # entries of K that are remembered, of all sets of modes


def parts_of(laws: LawExpressions, columns: Indices) -> list[Indices]:
    """Elements that may act on each other's rate, part by part; ``columns`` are their inputs."""
    return connected(jacobian(laws.rate, laws.system.tape.u)[:, columns.tolist()].sparsity())


def connected(pattern: ca.Sparsity) -> list[Indices]:
    """Elements that a matrix connects, part by part."""
    acts = np.array(ca.DM(pattern, 1)) if pattern.size1() <= DENSE_LIMIT else ca.DM(
        pattern, 1).sparse()
    count, part = components(acts)
    order = np.argsort(part, kind="stable")
    return np.split(order, np.cumsum(np.bincount(part, minlength=count))[:-1])


def point_to_the_bit(problem: Problem, t: float, modes: Indices) -> tuple[bytes, ...]:
    """A point and the modes there, to be known again to the last bit."""
    return tuple(np.asarray(a, dtype=float).tobytes()
                 for a in (*problem.arguments(t)[:-1], modes))


class HeldModes:
    """Efforts, flows, bounds and slopes of elements whose D is constant.

    Parameters
    ----------
    system : System
        Without algebraic unknowns.
    elements : Elements
    laws : their expressions
    parts : elements that act on each other
    companions : which of them need no decision of their own

    Attributes
    ----------
    slope : slopes at the last evaluation
    length : operations of what is solved for at every point: nothing
    entries : of K that may not be zero
    affine : whether rates and bounds are known to be linear in the efforts
    direct : whether efforts follow from the point and the modes alone, without a guess
    """

    length = 0
    has_derivatives = True
    affine = False
    direct = True

    def __init__(self, system: System, elements: Elements, laws: LawExpressions,
                 parts: list[Indices], companions: Companions) -> None:
        n, tape, column = elements.size, system.tape, elements.column.tolist()
        decided = (part[companions.decides[part]] for part in parts)
        parts = [part for part in decided if len(part)]
        pattern = _pattern(n, parts)
        modes, k = ca.SX.sym("modes", n), ca.SX.sym("K", pattern)
        self.parts, self.entries, self.companions = parts, pattern.nnz(), companions
        self._place = _Place(n, parts, pattern)
        joined = companions.modes(modes)
        sliding = ca.if_else(joined > 0, laws.forth, ca.if_else(joined < 0, laws.back, 0))
        place = ca.DM.triplet(column, list(range(n)), ca.DM(elements.unit), system.nu, n)
        of_sliding = ca.densify(ca.mtimes(place, sliding))
        unheld = ca.substitute(laws.rate, tape.u, of_sliding)
        # none may be a zero of the structure: what replaces the inputs has their pattern
        at_rest = companions.split(ca.mtimes(k, unheld), joined, laws.low, laws.high)
        inputs = ca.densify(of_sliding + ca.mtimes(place, at_rest))
        slope = ca.substitute(tape.slope, tape.u, inputs)
        crossings, exponents = ca.substitute(
            [RestingRelations.of(system).put_in(tape.crossings, joined), tape.exponents],
            [tape.u], [inputs])
        rate = ca.substitute(laws.rate, tape.u, inputs)
        values = laws.flow, laws.low, laws.high, laws.back, laws.forth, unheld, laws.gap
        self.symbols = [*system.arguments[:-1], modes, k]
        effort = inputs[column] / ca.DM(elements.unit)
        (effort, _), (low, high), (back, forth) = (companions.together(*pair) for pair in (
            (effort, effort), (laws.low, laws.high), (laws.back, laws.forth)))
        #: Of all elements by which modes are decided on; ``inputs`` are those of each.
        self.expressions = {
            "slope": slope, "effort": effort, "flow": laws.flow,
            "low": low, "high": high, "back": back, "forth": forth,
            "gap": laws.gap, "rate": rate, "crossings": crossings,
            "exponents": exponents, "inputs": inputs}  # fmt: skip
        #: What machine code decides on modes by: a row of elements each.
        self.decided_by = ca.vertcat(*(self.expressions[name] for name in (
            "flow", "low", "high", "back", "forth", "rate", "effort")))
        everything = ca.vertcat(inputs, *values, slope)
        self.evaluate = Evaluator(ca.Function("held", self.symbols, [ca.densify(everything)]))
        self.size, self.inputs = n, system.nu
        self.slope: Array = np.zeros(system.nx)
        self._out: Array | None = None  # all of the last evaluation
        self._point: tuple[bytes, ...] = ()  # where that was
        self._inverses: dict[bytes, Array] = {}  # K by modes
        self._blocks: dict[tuple[int, bytes], Array] = {}  # of K, by part and what sticks in it
        self._matrix: Matrix | None = None  # D that they belong to

    def with_efforts(self, function: ca.Function) -> ca.Function:
        """A function of what the system's functions take as one of these ``symbols``."""
        given = [*self.symbols[:-2], self.expressions["inputs"]]
        return ca.Function("held", self.symbols, function.call(given))

    def fresh(self) -> HeldModes:
        """The same for another run, without what is known of this one."""
        new = shallow_copy(self)
        new._out, new._inverses, new._blocks, new._matrix = None, {}, {}, None
        return new

    def apply(self, problem: Problem, t: float, modes: Indices, delassus: Delassus) -> bool:
        """Set the problem's inputs, and remember what there is besides; always possible."""
        d = delassus.matrix(problem, t)
        out = self.evaluate(*problem.arguments(t)[:-1], modes, self._inverse(modes, d))
        problem.u[:] = out[: self.inputs]
        self.slope = out[self.inputs + 7 * self.size :]
        self._out, self._point = out, point_to_the_bit(problem, t, modes)
        return True

    def values(self, problem: Problem, t: float, modes: Indices) -> Array | None:
        """Flows, bounds, efforts, rates and gaps of the last evaluation, if it was here."""
        if self._out is None or self._point != point_to_the_bit(problem, t, modes):
            return None
        return self._out[self.inputs : self.inputs + 7 * self.size].reshape(7, self.size)

    @property
    def blocks(self) -> list[tuple[Indices, Indices]]:
        """Parts of elements that act on each other, and where their blocks stand in K."""
        place = self._place
        alone = [(np.array([e]), place.of_alone[[[e]]]) for e in place.alone]
        return alone + place.several

    def constants(self, modes: Indices, d: Matrix) -> Array:
        """Modes and K in one row."""
        return np.concatenate([modes, self._inverse(modes, d)])

    def _inverse(self, modes: Indices, d: Matrix) -> Array:
        """K, column by column, for the elements that stick."""
        if d is not self._matrix:
            self._inverses, self._blocks, self._matrix = {}, {}, d
        key = modes.tobytes()
        if key not in self._inverses:
            if len(self._inverses) * self.entries > MOST_KEPT:
                self._inverses = {}
            self._inverses[key] = self._made(modes == 0, d)
        return self._inverses[key]

    def _made(self, stuck: Flags, d: Matrix) -> Array:
        own, place = np.asarray(d.diagonal()), self._place
        holds = stuck & (own > OWN_RATE_NONE**2 * own.max(initial=0.0))
        out = np.zeros(self.entries)
        alone = place.alone[holds[place.alone]]
        out[place.of_alone[alone]] = 1.0 / own[alone]
        for i, (part, entries) in enumerate(place.several):
            which = part[holds[part]]
            if len(which):
                key = i, which.tobytes()
                if key not in self._blocks:
                    self._blocks[key] = _inverse_within(part, which, d)
                out[entries] = self._blocks[key]
        return out


class _Place:
    """Where the entries of K stand among those that may not be zero."""

    def __init__(self, n: int, parts: list[Indices], pattern: ca.Sparsity) -> None:
        starts, rows = np.array(pattern.colind()), np.array(pattern.row())
        number = {(r, c): k for c in range(n)
                  for k, r in enumerate(rows[starts[c] : starts[c + 1]], starts[c])}
        self.alone = np.array([part[0] for part in parts if len(part) == 1], dtype=int)
        self.of_alone = np.zeros(n, dtype=int)  # by element
        self.of_alone[self.alone] = [number[e, e] for e in self.alone]
        #: Parts of several elements, and where their blocks stand, row by row.
        self.several = [(part, np.array([[number[r, c] for c in part] for r in part]))
                        for part in parts if len(part) > 1]


def _pattern(n: int, parts: list[Indices]) -> ca.Sparsity:
    """Where K may have entries: within parts."""
    nothing = np.zeros(0, dtype=int)
    rows = np.concatenate([nothing, *(np.tile(part, len(part)) for part in parts)])
    columns = np.concatenate([nothing, *(np.repeat(part, len(part)) for part in parts)])
    return ca.Sparsity.triplet(n, n, rows.tolist(), columns.tolist())


def _inverse_within(part: Indices, which: Indices, d: Matrix) -> Array:
    """The block of K of a part in which some elements stick."""
    block = d[which][:, which]
    block = block.toarray() if sp.issparse(block) else block
    out = np.zeros((len(part), len(part)))
    inside = np.flatnonzero(np.isin(part, which))
    out[np.ix_(inside, inside)] = pseudo_inverse(block)(np.eye(len(which)))
    return out
