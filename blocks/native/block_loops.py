"""How do blocks of linear equations read as machine code?

Blocks with equally many torn unknowns are solved side by side: residuals with torn unknowns of
zero, their derivatives by these (exactly: laws differentiated, not differences), Cramer's rule,
and all unknowns from the torn ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..assembly.algebraic_loops import Block, cramer
from ..assembly.tape import alike, by_level
from ..numerics.arrays import Indices
from .loop_text import Operand
from .places import Places, Q

if TYPE_CHECKING:
    from .instance_loops import Loops

__all__ = ["write_blocks"]


def write_blocks(loops: Loops, blocks: list[Block]) -> None:
    """Append the solution of blocks that have the same number of torn unknowns."""
    if not blocks:
        return
    count, n = len(blocks), len(blocks[0].torn)
    torn = np.stack([b.torn for b in blocks], axis=1)
    leftover = np.stack([b.leftover for b in blocks], axis=1).ravel()
    order = _Assignments(loops, blocks)
    unknowns = loops.room(n * count).reshape(n, count)
    for row, entries in zip(torn, unknowns, strict=True):
        loops.values.put(row, Q, entries)
        _fill(loops, entries, 0.0)
    loops.values.put(order.unknowns, Q, loops.room(len(order.unknowns)))
    order.write(loops.values)
    if not n:
        return
    residual = loops.room(n * count)
    loops.residuals(leftover, residual)
    zero = loops.room(1)
    tangents = Places(loops.flat.classes, int(zero[0]))
    _fill(loops, zero, 0.0)
    changes = loops.room(n * count).reshape(n, count)
    for row, entries in zip(torn, changes, strict=True):
        tangents.put(row, Q, entries)
        _fill(loops, entries, 0.0)
    tangents.put(order.unknowns, Q, loops.room(len(order.unknowns)))
    matrix = np.stack([loops.room(n * count) for _ in range(n)])
    for j in range(n):
        _fill(loops, changes[j], 1.0)
        if j:
            _fill(loops, changes[j - 1], 0.0)
        order.write(tangents, tangents)
        loops.residuals(leftover, matrix[j], tangents)
    _solve(loops, matrix.reshape(n, n, count), residual.reshape(n, count), unknowns)
    order.write(loops.values)


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


def _fill(loops: Loops, entries: Indices, value: float) -> None:
    """A constant in some entries of ``q``."""
    loops.text.add([], _entries_of_q(entries), lambda writer, _: writer.constant(value))


def _solve(loops: Loops, matrix: Indices, residual: Indices, unknowns: Indices) -> None:
    """Cramer's rule, block by block.

    Parameters
    ----------
    matrix : (n, n, blocks), entries of ``q``: by which unknown, of which equation
    residual, unknowns : (n, blocks), entries of ``q``; the latter are filled
    """
    n = len(residual)
    a, r = ca.SX.sym("a", n, n), ca.SX.sym("r", n)
    rows = [[a[i, j] for j in range(n)] for i in range(n)]
    function = ca.Function("cramer", [a, r], cramer(rows, [-r[i] for i in range(n)]))
    given = {(0, i + j * n): _entries_of_q(matrix[j, i]) for j in range(n) for i in range(n)}
    given |= {(1, i): _entries_of_q(residual[i]) for i in range(n)}
    for j in range(n):
        loops.call(function, given, _entries_of_q(unknowns[j]), j)


def _entries_of_q(entries: Indices) -> Operand:
    return Operand(np.full(len(entries), Q), entries, np.ones(len(entries)))
