"""How do blocks of equations read as machine code?

Blocks with equally many torn unknowns are solved side by side: residuals with torn unknowns of
zero, their derivatives by these (exactly: laws differentiated, not differences), Cramer's rule,
and all unknowns from the torn ones. Where equations are not linear, that is a round of Newton's
method, which starts from the unknowns in ``x``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..assembly.algebraic_loops import Block, cramer
from ..assembly.tape import alike, by_level
from ..numerics.arrays import Indices
from ..numerics.tolerances import TIED_SOLVED
from .loop_text import Operand
from .places import Places, Q, X

if TYPE_CHECKING:
    from .instance_loops import Loops

__all__ = ["Solution", "entries_of", "write_blocks", "write_changes"]

ROUNDS = 15  # of Newton's method, which starts from the last solution
ROUNDS_DOWN = 750  # down an exponential, by 1 of its exponent a round: above 709 it is infinite


def write_blocks(loops: Loops, blocks: list[Block]) -> None:
    """Append the solution of blocks that have the same number of torn unknowns."""
    if blocks:
        _write_blocks(loops, blocks)
        loops.pairs.unsettled[:] = False


def _write_blocks(loops: Loops, blocks: list[Block]) -> None:
    count, n = len(blocks), len(blocks[0].torn)
    torn = np.stack([b.torn for b in blocks], axis=1)
    starts = loops.starts[torn]
    linear = bool((starts < 0).all())
    order = _Assignments(loops, blocks)
    loops.pairs.unsettled[[*torn.ravel(), *order.unknowns]] = True
    unknowns = loops.room(n * count).reshape(n, count)
    for row, entries, start in zip(torn, unknowns, starts, strict=True):
        loops.values.put(row, Q, entries)
        if linear:
            _fill(loops, entries, 0.0)
        else:
            loops.text.add([entries_of(X, start)], entries_of(Q, entries), lambda _, read: read(0))
    loops.values.put(order.unknowns, Q, loops.room(len(order.unknowns)))
    order.write(loops.values)
    if not n:
        return
    newton = loops.solutions[int(torn[0, 0])] = Solution(loops, blocks, order, unknowns)
    if linear:
        newton.write()
        order.write(loops.values)
        return
    last, sizes = loops.room(1), loops.room(n * count)
    most = ROUNDS_DOWN if loops.tape.exponents.numel() else ROUNDS
    rounds = loops.text.begin_rounds(int(last[0]), most)
    newton.write(_Ending(loops.magnitudes[torn], sizes.reshape(n, count), last))
    order.write(loops.values)
    loops.text.end_rounds(rounds, sizes, TIED_SOLVED)


def write_changes(loops: Loops, blocks: list[Block], changes: Places) -> None:
    """Append how the unknowns of blocks that have been solved change with those before them.

    The implicit function theorem, with the matrix of the solution.
    """
    if not blocks:
        return
    count, n = len(blocks), len(blocks[0].torn)
    torn = np.stack([b.torn for b in blocks], axis=1)
    order = _Assignments(loops, blocks)
    entries = loops.room(n * count).reshape(n, count)
    for row, places in zip(torn, entries, strict=True):
        changes.put(row, Q, places)
        _fill(loops, places, 0.0)
    changes.put(order.unknowns, Q, loops.room(len(order.unknowns)))
    order.write(changes, changes)
    if not n:
        return
    solution = loops.solutions[int(torn[0, 0])]
    loops.residuals(solution.leftover, solution.residual, changes)
    _solve(loops, solution.matrix.reshape(n, n, count), solution.residual.reshape(n, count),
           entries, None)
    order.write(changes, changes)


@dataclass(frozen=True)
class _Ending:
    """By what it is told whether a round was the last one; all are entries of ``q``.

    Attributes
    ----------
    magnitudes : (n, blocks), nominal values of unknowns
    sizes : (n, blocks), filled with changes of the unknowns, per value
    last : one entry, no number in the last round that there may be
    """

    magnitudes: Indices
    sizes: Indices
    last: Indices


class Solution:
    """Rounds of Newton's method, and where their residuals and matrices stand in ``q``."""

    def __init__(self, loops: Loops, blocks: list[Block], order: _Assignments, unknowns: Indices
                 ) -> None:
        n, count = unknowns.shape
        self.loops, self.order, self.unknowns = loops, order, unknowns
        self.leftover = np.stack([b.leftover for b in blocks], axis=1).ravel()
        self.residual = loops.room(n * count)
        zero = loops.room(1)
        self.tangents = Places(loops.flat.classes, int(zero[0]))
        _fill(loops, zero, 0.0)
        self.changes = loops.room(n * count).reshape(n, count)
        torn = np.stack([b.torn for b in blocks], axis=1)
        for row, entries in zip(torn, self.changes, strict=True):
            self.tangents.put(row, Q, entries)
        self.tangents.put(order.unknowns, Q, loops.room(len(order.unknowns)))
        self.matrix = np.stack([loops.room(n * count) for _ in range(n)])

    def write(self, ending: _Ending | None = None) -> None:
        """Append a round; without ``ending`` equations are linear, and unknowns are zero."""
        loops, (n, count) = self.loops, self.unknowns.shape
        loops.residuals(self.leftover, self.residual)
        for j in range(n):
            for k in range(n):
                _fill(loops, self.changes[k], float(j == k))
            self.order.write(self.tangents, self.tangents)
            loops.residuals(self.leftover, self.matrix[j], self.tangents)
        _solve(loops, self.matrix.reshape(n, n, count), self.residual.reshape(n, count),
               self.unknowns, ending)


class _Assignments:
    """The explicit assignments of some blocks, in order."""

    def __init__(self, loops: Loops, blocks: list[Block]) -> None:
        self.loops = loops
        equations, self.unknowns, position, depth = (
            np.concatenate([getattr(b, name) for b in blocks])
            for name in ("solved", "assigned", "position", "depth"))
        self._parts: list[tuple[int, int, Indices, Indices]] = []
        for now in by_level(depth):
            for g, k, mine in alike(loops.flat, equations[now], position[now]):
                at = now[mine]
                rows = equations[at] - loops.flat.groups[g].first
                self._parts.append((g, k, rows, self.unknowns[at]))

    def write(self, places: Places, tangents: Places | None = None) -> None:
        """Append them; with ``tangents``, as changes."""
        for g, position, rows, unknowns in self._parts:
            self.loops.solve(g, rows, position, unknowns, places.operand(unknowns), tangents)


def entries_of(base: int, entries: Indices) -> Operand:
    """Entries of an array as they are."""
    return Operand(np.full(len(entries), base), entries, np.ones(len(entries)))


def _fill(loops: Loops, entries: Indices, value: float) -> None:
    """A constant in some entries of ``q``."""
    loops.text.add([], entries_of(Q, entries), lambda writer, _: writer.constant(value))


def _solve(loops: Loops, matrix: Indices, residual: Indices, unknowns: Indices,
           ending: _Ending | None) -> None:
    """Cramer's rule, block by block.

    Parameters
    ----------
    matrix : (n, n, blocks), entries of ``q``: by which unknown, of which equation
    residual, unknowns : (n, blocks), entries of ``q``; the latter are filled, or changed
    ending : told how much they still change; those that do in the last round are no solution, and
        become no number. None where they are found at once
    """
    n, count = residual.shape
    a, r = ca.SX.sym("a", n, n), ca.SX.sym("r", n)
    z, size, last = (ca.SX.sym(name, n) for name in ("z", "size", "last"))
    rows = [[a[i, j] for j in range(n)] for i in range(n)]
    found = ca.vertcat(*cramer(rows, [-r[i] for i in range(n)]))
    given = {(0, i + j * n): entries_of(Q, matrix[j, i]) for j in range(n) for i in range(n)}
    given |= {(1, i): entries_of(Q, residual[i]) for i in range(n)}
    if ending is None:
        function = ca.Function("cramer", [a, r], ca.vertsplit(found))
        for j in range(n):
            loops.call(function, given, entries_of(Q, unknowns[j]), j)
        return
    finite = ca.sum1(ca.fabs(ca.vec(a))) < np.inf  # else a step of nothing tells of no solution
    found = ca.if_else(finite, found, np.nan)
    share = ca.fabs(found) / (ca.fabs(z + found) + size)
    given |= {(2, i): entries_of(Q, unknowns[i]) for i in range(n)}
    given |= {(3, i): entries_of(Q, ending.magnitudes[i]) for i in range(n)}
    shares = ca.Function("share", [a, r, z, size], ca.vertsplit(share))
    for j in range(n):
        loops.call(shares, given, entries_of(Q, ending.sizes[j]), j)
    new = z + found + ca.if_else(share <= TIED_SOLVED, 0.0, last)
    given |= {(4, i): entries_of(Q, np.full(count, ending.last[0])) for i in range(n)}
    function = ca.Function("cramer", [a, r, z, size, last], ca.vertsplit(new))
    for j in range(n):
        loops.call(function, given, entries_of(Q, unknowns[j]), j)
