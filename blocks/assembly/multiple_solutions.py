"""Which loops of piecewise laws may have several solutions?

A limited amplifier that feeds back on itself has three: at both limits, and between them. As long
as the determinant of a loop has one sign, whichever pieces of its laws hold, there is one solution
[T. Fujisawa and E. S. Kuh, "Piecewise-linear theory of nonlinear networks", SIAM J. Appl. Math. 22
(1972) 307-328]; where it has both, the pieces become relations, so that a solution is held until
it ends.
"""

from __future__ import annotations

import copy
from dataclasses import replace

import casadi as ca
import numpy as np

from ..language.expression import TIME
from ..language.kernel import Kernel, Law
from ..language.readable import readable
from ..numerics.arrays import Array, distinct
from ..numerics.blas_threads import threads_for
from ..numerics.rewriting import kinds, rewritten
from .flatten import Parameters
from .network import Network
from .tape import Tape

__all__ = ["has_several_branches", "network_with_pieces"]

PIECEWISE = {ca.OP_FMIN, ca.OP_FMAX, ca.OP_FABS, ca.OP_SIGN}
TRIALS = 64  # choices of pieces, points and parameters near the present ones
NEAR = 0.2
ROUNDS = 3  # until pieces within pieces are those at a point


def network_with_pieces(network: Network, tape: Tape) -> Network | None:
    """The network with the pieces of laws in nonlinear loops as relations; None without any."""
    flat = tape.reduced.flat
    found: dict[int, set[int]] = {}  # per family, numbers of laws
    numbers = {law: k for f in network.families for k, law in enumerate(f.kernel.laws)}
    loops = [step.equations for step in tape.steps if step.group < 0 and not step.linear]
    for g in distinct(flat.groups_of(np.concatenate([np.zeros(0, int), *loops]))):
        group = flat.groups[int(g)]
        if group.law in numbers and pieces_of(group.law):
            found.setdefault(group.family, set()).add(numbers[group.law])
    if not found:
        return None
    families = [replace(family, kernel=with_pieces(family.kernel, found[f])) if f in found
                else family for f, family in enumerate(network.families)]  # fmt: skip
    return replace(network, families=families)


def has_several_branches(tape: Tape, parameters: Parameters) -> bool:
    """Whether a loop with pieces has determinants of both signs, whichever of them hold."""
    spans = np.cumsum([0, *tape.loops])
    pieces = tape.switched_loops
    if not pieces:
        return False
    symbols = [tape.x, tape.z, tape.p, tape.m, tape.d, tape.u]
    p = np.concatenate([np.zeros(0), *(v.T.ravel() for of in parameters for v in of)])
    chance = np.random.default_rng(0)
    matrices = [tape.residual[int(spans[b]) : int(spans[b + 1])] for b in pieces]
    jacobian = [ca.densify(ca.jacobian(r, tape.z[int(spans[b]) : int(spans[b + 1])]))
                for r, b in zip(matrices, pieces, strict=True)]
    function = ca.Function("loops", [TIME, *symbols], jacobian)
    crossings = ca.Function("crossings", [TIME, *symbols], [tape.crossings])
    bent = any(ca.depends_on(j, tape.z) for j in jacobian)
    signs: list[set[float]] = [set() for _ in pieces]
    for trial in range(TRIALS):
        given = p if trial < TRIALS // 2 else p * chance.uniform(1 - NEAR, 1 + NEAR, p.size)
        point = _point(tape, given, chance)
        for _ in range(ROUNDS if bent else 0):  # slopes are those of the pieces at that point
            point[3] = (np.array(crossings(0.0, *point)).ravel() > 0).astype(float)
        found = function.call([0.0, *point])
        for kind, matrix in zip(signs, found, strict=True):
            values, sign = np.array(matrix), 0.0
            if np.isfinite(values).all():
                with threads_for(len(values)):
                    sign = np.linalg.slogdet(values)[0]
            if sign:
                kind.add(float(sign))
    return any(len(kind) > 1 for kind in signs)


def _point(tape: Tape, p: Array, chance: np.random.Generator) -> list[Array]:
    x, z, d, u = (chance.normal(size=s.numel()) for s in (tape.x, tape.z, tape.d, tape.u))
    return [x, z, p, chance.integers(0, 2, tape.m.numel()).astype(float), d, u]


def pieces_of(law: Law) -> bool:
    """Whether a law has pieces that depend on its variables."""
    symbols = ca.symvar(law.residual)
    if not symbols:
        return False
    function = ca.Function("law", symbols, [law.residual])
    if kinds(function).isdisjoint(PIECEWISE):
        return False
    return len(_Pieces(law.kernel).of(law.residual)[1]) > 0


def with_pieces(kernel: Kernel, laws: set[int]) -> Kernel:
    """Return the kernel with the pieces of some laws as relations."""
    new = copy.copy(kernel)
    new.symbols, new._key_by_hash = dict(kernel.symbols), dict(kernel._key_by_hash)
    new.relations, new.relation_symbols = list(kernel.relations), list(kernel.relation_symbols)
    new._default_laws = {}
    residuals = []
    for k, law in enumerate(kernel.laws):
        residual = law.residual
        if k in laws:
            residual, found = _Pieces(new).of(residual)
            for crossing, symbol in found:
                new.relations.append((crossing, False))
                new.relation_symbols.append(symbol)
        residuals.append(residual)
    new.pieces = set(range(len(kernel.relations), len(new.relations)))
    new.laws = [Law(new, residual, law.wording, law.order)
                for law, residual in zip(kernel.laws, residuals, strict=True)]
    return new


class _Pieces:
    """Writes an expression anew, its pieces chosen by relations."""

    def __init__(self, kernel: Kernel) -> None:
        self.moving = {s.__hash__() for s in kernel.symbols.values()}
        self.found: list[tuple[ca.SX, ca.SX]] = []  # crossing function and symbol

    def of(self, expression: ca.SX) -> tuple[ca.SX, list[tuple[ca.SX, ca.SX]]]:
        return rewritten(expression, self._value), self.found

    def _value(self, operation: int, given: list[ca.SX]) -> ca.SX | None:
        piecewise = operation in PIECEWISE and any(
            s.__hash__() in self.moving for one in given for s in ca.symvar(one))
        return self._chosen(operation, given) if piecewise else None

    def _chosen(self, operation: int, given: list[ca.SX]) -> ca.SX:
        a, b = given[0], given[-1]
        if operation == ca.OP_FMIN:
            crossing, then, otherwise = b - a, a, b
        elif operation == ca.OP_FMAX:
            crossing, then, otherwise = a - b, a, b
        elif operation == ca.OP_FABS:
            crossing, then, otherwise = a, a, -a
        else:
            crossing, then, otherwise = a, ca.SX(1), ca.SX(-1)
        symbol = next((s for known, s in self.found if ca.is_equal(known, crossing, 5)), None)
        if symbol is None:
            symbol = ca.SX.sym(f"{readable(crossing)} > 0")
            self.found.append((crossing, symbol))
        return ca.if_else(symbol, then, otherwise)
