"""What do efforts and slopes come to while no mode changes, in one evaluation?

Between two events the modes of set-valued laws are held. Efforts that slide are then functions of
the states, and those that stick follow linearly from them: with D the matrix of the rates per
effort and S the elements that stick, lambda_S = D_SS^-1 b_S. Where D is constant this and the
slopes are one function of the states, the modes and K, which is D_SS^-1 on S and 0 elsewhere:
part by part, where not all elements act on each other, or factors of a part
(:mod:`blocks.nonsmooth.modes.held_parts`). Where D is not constant, see
:mod:`blocks.nonsmooth.modes.solved_modes`; what a general network needs is in
:mod:`blocks.nonsmooth.modes.laws`.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Indices, grouped
from ...numerics.copies import shallow_copy
from ...numerics.tolerances import OWN_RATE_NONE
from ...system import Evaluator, Problem, System
from ..complementarity.scaling import DENSE_LIMIT, components
from .companions import Companions
from .delassus import Delassus, Matrix, pseudo_inverse
from .elements import Elements
from .held_parts import HeldParts
from .law_expressions import LawExpressions
from .resting_relations import RestingRelations
from .stopped_frictions import StoppedFrictions

__all__ = ["HeldModes", "connected", "parts_of", "point_to_the_bit"]

MOST_KEPT = 500_000  # entries of K that are remembered, of all sets of modes


def parts_of(laws: LawExpressions, columns: Indices) -> list[Indices]:
    """Elements that may act on each other's rate, part by part; ``columns`` are their inputs."""
    return connected(laws.rate_u[:, columns.tolist()].sparsity())


def connected(pattern: ca.Sparsity) -> list[Indices]:
    """Elements that a matrix connects, part by part."""
    acts = np.array(ca.DM(pattern, 1)) if pattern.size1() <= DENSE_LIMIT else ca.DM(
        pattern, 1).sparse()
    return grouped(components(acts)[1])


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
    parts : elements that act on each other, and where the numbers of K stand
    companions : which of them need no decision of their own
    stopped : frictions and contacts that hold one motion together

    Attributes
    ----------
    slope : slopes at the last evaluation
    length : operations of what is solved for at every point: nothing
    entries : how many numbers K is
    factors : expressions of those that are factors, in the modes and parameters
    affine : whether rates and bounds are known to be linear in the efforts
    direct : whether efforts follow from the point and the modes alone, without a guess
    """

    length = 0
    has_derivatives = True
    affine = False
    direct = True

    def __init__(self, system: System, elements: Elements, laws: LawExpressions,
                 parts: HeldParts, companions: Companions, stopped: StoppedFrictions) -> None:
        n, tape, column = elements.size, system.tape, elements.column.tolist()
        self.size, self.inputs, self.parts, self.entries = n, system.nu, parts, parts.entries
        modes, k = ca.SX.sym("modes", n), ca.SX.sym("K", parts.entries)
        self.companions, self.stopped = companions, stopped
        joined = companions.modes(modes)
        self.factors = parts.factors(modes)
        self._factors = Evaluator(ca.Function("factors", [tape.p, modes], [self.factors]))
        sliding = ca.if_else(joined > 0, laws.forth, ca.if_else(joined < 0, laws.back, 0))
        place = ca.DM.triplet(column, list(range(n)), ca.DM(elements.unit), system.nu, n)
        of_sliding = ca.densify(ca.mtimes(place, sliding))
        unheld = ca.substitute(laws.rate, tape.u, of_sliding)
        # none may be a zero of the structure: what replaces the inputs has their pattern
        at_rest = companions.split(parts.efforts(k, unheld), joined, laws.low, laws.high)
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
        effort, low, high = stopped.together(joined, parts.with_stress(k, effort), low, high)
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
        self.slope: Array = np.zeros(system.nx)
        self._out: Array | None = None  # all of the last evaluation
        self._point: tuple[bytes, ...] = ()  # where that was
        self._inverses: dict[bytes, Array] = {}  # K by modes
        self._blocks: dict[tuple[int, bytes], Array] = {}  # of K, by part and what sticks in it
        self._matrix: Matrix | None = None  # D that they belong to
        self._fits = True

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
        """Set the problem's inputs, and remember what there is besides; whether that is possible.
        """
        d = delassus.matrix(problem, t)
        if not self.fits(problem, d):
            return False
        out = self.evaluate(*problem.arguments(t)[:-1], modes, self._inverse(problem, modes, d))
        problem.u[:] = out[: self.inputs]
        self.slope = out[self.inputs + 7 * self.size :]
        self._out, self._point = out, point_to_the_bit(problem, t, modes)
        return True

    def values(self, problem: Problem, t: float, modes: Indices) -> Array | None:
        """Flows, bounds, efforts, rates and gaps of the last evaluation, if it was here."""
        if self._out is None or self._point != point_to_the_bit(problem, t, modes):
            return None
        return self._out[self.inputs : self.inputs + 7 * self.size].reshape(7, self.size)

    def constants(self, problem: Problem, modes: Indices, d: Matrix) -> Array:
        """Modes and K in one row."""
        return np.concatenate([modes, self._inverse(problem, modes, d)])

    def fits(self, problem: Problem, d: Matrix) -> bool:
        """Whether parts by factors have them: D may be singular for these parameters."""
        self._look_at(problem, d)
        return self._fits

    def _look_at(self, problem: Problem, d: Matrix) -> None:
        if d is not self._matrix:
            self._inverses, self._blocks, self._matrix = {}, {}, d
            self._fits = not self.parts.factored or bool(np.isfinite(
                self._factors(problem.p, np.zeros(self.size))).all())

    def _inverse(self, problem: Problem, modes: Indices, d: Matrix) -> Array:
        """K for the elements that stick."""
        self._look_at(problem, d)
        key = modes.tobytes()
        if key not in self._inverses:
            if len(self._inverses) * self.entries > MOST_KEPT:
                self._inverses = {}
            self._inverses[key] = self._made(problem, modes, d)
        return self._inverses[key]

    def _made(self, problem: Problem, modes: Indices, d: Matrix) -> Array:
        own, parts = np.asarray(d.diagonal()), self.parts
        holds = (modes == 0) & (own > OWN_RATE_NONE**2 * own.max(initial=0.0))
        out = np.zeros(self.entries)
        alone = parts.alone
        np.divide(1.0, own[alone], out=out[: len(alone)], where=holds[alone])
        for i, (part, entries) in enumerate(parts.full):
            which = part[holds[part]]
            if len(which):
                key = i, which.tobytes()
                if key not in self._blocks:
                    self._blocks[key] = _inverse_within(part, which, d)
                out[entries] = self._blocks[key]
        if parts.factored:
            out[parts.behind :] = self._factors(problem.p, modes)
        return out


def _inverse_within(part: Indices, which: Indices, d: Matrix) -> Array:
    """The block of K of a part in which some elements stick."""
    block = sp.dense(d[which][:, which])
    out = np.zeros((len(part), len(part)))
    inside = np.flatnonzero(np.isin(part, which))
    out[np.ix_(inside, inside)] = pseudo_inverse(block)(np.eye(len(which)))
    return out
