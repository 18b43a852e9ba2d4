"""Which loops of piecewise laws may have several solutions?

A limited amplifier that feeds back on itself has three: at both limits, and between them. As long
as the determinant of a loop has one sign, whichever pieces of its laws hold, there is one solution
[T. Fujisawa and E. S. Kuh, "Piecewise-linear theory of nonlinear networks", SIAM J. Appl. Math. 22
(1972) 307-328]; where it has both, the pieces become relations, so that a solution is held until
it ends.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from ..language.expression import TIME
from ..language.kernel import Kernel, Law
from ..language.readable import readable
from ..numerics.arrays import Array, Indices, distinct
from ..numerics.rewriting import rewritten, symbols_in
from ..numerics.tolerances import PIVOT_NONE, TINY
from .flatten import Parameters
from .network import Network
from .tape import Tape

__all__ = ["PIECES", "has_several_branches", "network_with_pieces"]

#: An expression with pieces that relations choose; crossing function and symbol of each.
Pieces = tuple[ca.SX, list[tuple[ca.SX, ca.SX]]]
#: Crossing function of an operation, and what it is where that is positive and elsewhere.
PIECES: dict[int, Callable[[ca.SX, ca.SX], tuple[ca.SX, ca.SX, ca.SX]]] = {
    ca.OP_FMIN: lambda a, b: (b - a, a, b), ca.OP_FMAX: lambda a, b: (a - b, a, b),
    ca.OP_FABS: lambda a, _: (a, a, -a), ca.OP_SIGN: lambda a, _: (a, ca.SX(1), ca.SX(-1))}
_known: WeakKeyDictionary[Kernel, dict[frozenset[int], Kernel | None]] = WeakKeyDictionary()
TRIALS = 64  # choices of pieces, points and parameters near the present ones
NEAR = 0.2
ROUNDS = 3  # until pieces within pieces are those at a point


def network_with_pieces(network: Network, tape: Tape) -> Network | None:
    """The network with the pieces of laws in nonlinear loops as relations; None without any."""
    flat = tape.reduced.flat
    loops = [step.equations for step in tape.steps if step.group < 0 and not step.linear]
    looped = distinct(flat.groups_of(np.concatenate([np.zeros(0, int), *loops]))).tolist()
    inside = {(flat.groups[g].family, flat.groups[g].law) for g in looped}
    kernels = [with_pieces(family.kernel, {law for g, law in inside if g == f})
               for f, family in enumerate(network.families)]
    families = [family if kernel is family.kernel else replace(family, kernel=kernel)
                for family, kernel in zip(network.families, kernels, strict=True)]
    return None if families == network.families else replace(network, families=families)


def has_several_branches(tape: Tape, parameters: Parameters) -> bool:
    """Whether a loop with pieces has determinants of both signs, whichever of them hold."""
    spans = np.cumsum([0, *tape.loops])
    pieces = tape.switched_loops
    if not pieces:
        return False
    symbols = [tape.x, tape.z, tape.p, tape.m, tape.d, tape.u]
    p = np.concatenate([np.zeros(0), *(v.T.ravel() for of in parameters for v in of)])
    chance = np.random.default_rng(0)
    parts = [slice(int(spans[b]), int(spans[b + 1])) for b in pieces]
    jacobian = ca.diagcat(*(ca.jacobian(tape.residual[one], tape.z[one]) for one in parts))
    loop = np.repeat(np.arange(len(parts)), [one.stop - one.start for one in parts])
    function = ca.Function("loops", [TIME, *symbols], [jacobian])
    crossings = ca.Function("crossings", [TIME, *symbols], [tape.crossings])
    bent = ca.depends_on(jacobian, tape.z)
    sides = np.empty((TRIALS, len(parts)))
    for trial in range(TRIALS):
        given = p if trial < TRIALS // 2 else p * chance.uniform(1 - NEAR, 1 + NEAR, p.size)
        x, z, d, u = (chance.normal(size=s.numel()) for s in (tape.x, tape.z, tape.d, tape.u))
        point = [x, z, given, chance.integers(0, 2, tape.m.numel()).astype(float), d, u]
        for _ in range(ROUNDS if bent else 0):  # slopes are those of the pieces at that point
            point[3] = (np.array(crossings(0.0, *point)).ravel() > 0).astype(float)
        sides[trial] = _sides(function(0.0, *point), loop)
    return bool(((sides == 1).any(axis=0) & (sides == -1).any(axis=0)).any())


def _sides(matrix: ca.DM, loop: Indices) -> Array:
    """The signs of the determinants of loops, or the other ones for all matrices of a pattern.

    They are 0 where singular, and nan where something is not finite. Each is a product of
    reflections and a triangle: which rows and columns are exchanged for a sparse one, the pattern
    decides.

    Parameters
    ----------
    matrix : with the matrices of the loops on its diagonal
    loop : of each row
    """
    rows = ca.diag(1 / ca.fmax(ca.sum2(ca.fabs(matrix)), TINY))
    _, upper, reflected, _, columns = ca.qr_sparse(rows @ matrix)
    pivots = (ca.diag(upper) / ca.fmax(ca.sqrt(ca.sum1(upper**2).T), TINY)).full().ravel()
    pivots[np.abs(pivots) <= PIVOT_NONE] = 0.0
    sides = np.ones(int(loop[-1]) + 1)
    np.multiply.at(sides, loop[columns],
                   np.sign(pivots) * np.where(reflected.full().ravel() == 0, 1.0, -1.0))
    return sides


def with_pieces(kernel: Kernel, nonlinear: set[Law | None]) -> Kernel:
    """Return the kernel with the pieces of these of its laws as relations, made once; itself if
    they have none."""
    known = _known.setdefault(kernel, {})
    chosen = frozenset(k for k, law in enumerate(kernel.laws) if law in nonlinear)
    if chosen not in known:
        laws = {k: pieces for k in sorted(chosen)
                if (pieces := _in_pieces(kernel, kernel.laws[k].residual))[1]}
        known[chosen] = _in_relations(kernel, laws) if laws else None
    return known[chosen] or kernel


def _in_relations(kernel: Kernel, laws: dict[int, Pieces]) -> Kernel:
    new = copy.copy(kernel)
    new.symbols, new._key_by_hash = dict(kernel.symbols), dict(kernel._key_by_hash)
    found = [piece for _, pieces in laws.values() for piece in pieces]
    new.relations = [*kernel.relations, *((crossing, False) for crossing, _ in found)]
    new.relation_symbols = [*kernel.relation_symbols, *(symbol for _, symbol in found)]
    new.pieces = set(range(len(kernel.relations), len(new.relations)))
    new._default_laws = {}
    new.laws = [Law(new, laws[k][0] if k in laws else law.residual, law.wording, law.order)
                for k, law in enumerate(kernel.laws)]
    return new


def _in_pieces(kernel: Kernel, expression: ca.SX) -> Pieces:
    """An expression with pieces chosen by relations; crossing function and symbol of each."""
    moving = {s.__hash__() for s in kernel.symbols.values()}
    found: list[tuple[ca.SX, ca.SX]] = []

    def chosen(operation: int, given: list[ca.SX]) -> ca.SX | None:
        if operation not in PIECES or moving.isdisjoint(symbols_in(ca.veccat(*given))):
            return None
        crossing, then, otherwise = PIECES[operation](given[0], given[-1])
        symbol = next((s for known, s in found if ca.is_equal(known, crossing, 5)), None)
        if symbol is None:
            symbol = ca.SX.sym(f"{readable(crossing)} > 0")
            found.append((crossing, symbol))
        return ca.if_else(symbol, then, otherwise)

    return rewritten(expression, chosen), found
