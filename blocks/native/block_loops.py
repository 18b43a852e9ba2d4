"""How do blocks of equations read as machine code?

Blocks with equally many torn unknowns are solved side by side: residuals with torn unknowns of
zero, their derivatives by these (exactly: laws differentiated, not differences), Cramer's rule,
and all unknowns from the torn ones. Where equations are not linear, that is a round of Newton's
method, which starts from the unknowns in ``x``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..assembly.algebraic_loops import Block, cramer
from ..assembly.tape import alike
from ..numerics.arrays import Indices, grouped
from ..numerics.tolerances import TIED_SOLVED
from .damped_steps import SHORTEST
from .loop_text import entries_of
from .places import Places, Q, X

if TYPE_CHECKING:
    from .instance_loops import Loops

__all__ = ["Solution", "write_blocks", "write_changes"]

ROUNDS = 15  # of Newton's method, which starts from the last solution
MORE_ROUNDS = 750  # with parts of steps; down an exponential by 1 of its exponent a round


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
            loops.text.copy(entries_of(X, start), entries_of(Q, entries))
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
    ending = _Ending(loops.magnitudes[torn], sizes.reshape(n, count), last)
    rounds = loops.text.begin_rounds(int(last[0]), ROUNDS)
    newton.write(ending)
    order.write(loops.values)
    loops.text.end_rounds(rounds, sizes, TIED_SOLVED)
    done = loops.text.begin_unless_numbers(unknowns.ravel())
    for entries, start in zip(unknowns, starts, strict=True):
        loops.text.copy(entries_of(X, start), entries_of(Q, entries))
    order.write(loops.values)
    damped = _PartsOfSteps(newton, ending)
    rounds = loops.text.begin_rounds(int(last[0]), MORE_ROUNDS)
    damped.write()
    order.write(loops.values)
    loops.text.end_rounds(rounds, sizes, TIED_SOLVED)
    loops.text.end_unless_numbers(done)


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
        n, count = self.unknowns.shape
        self.derive()
        _solve(self.loops, self.matrix.reshape(n, n, count), self.residual.reshape(n, count),
               self.unknowns, ending)

    def derive(self) -> None:
        """Append residuals at the unknowns, and the matrices there."""
        loops, n = self.loops, len(self.unknowns)
        loops.residuals(self.leftover, self.residual)
        for j in range(n):
            for k in range(n):
                _fill(loops, self.changes[k], float(j == k))
            self.order.write(self.tangents, self.tangents)
            loops.residuals(self.leftover, self.matrix[j], self.tangents)


class _PartsOfSteps:
    """Rounds in which a block takes no more of a step than makes the next one shorter.

    By the matrix that the step was found with, as :mod:`blocks.native.damped_steps` does: a round
    looks at where the last one has led, and goes on from there, or half the way back.
    """

    def __init__(self, newton: Solution, ending: _Ending) -> None:
        self.newton, self.ending, self.loops = newton, ending, newton.loops
        n, count = newton.unknowns.shape
        room = self.loops.room
        self.from_here, self.step, self.found = (room(n * count).reshape(n, count)
                                                 for _ in range(3))
        self.before = room(n * n * count).reshape(n, n, count)
        self.share, self.size, self.back = room(count), room(count), room(count)
        for entries, value in ((self.step, 0.0), (self.share, 1.0), (self.size, np.inf)):
            _fill(self.loops, entries.ravel(), value)
        for j in range(n):
            for k in range(n):
                _fill(self.loops, self.before[j, k], float(j == k))

    def write(self) -> None:
        """Append a round."""
        n, count = self.newton.unknowns.shape
        self.newton.derive()
        newton, ending = self.newton, self.ending
        places = {"a": newton.matrix, "r": newton.residual, "z": newton.unknowns,
                  "old": self.before, "from_here": self.from_here, "step": self.step,
                  "found": self.found, "share": self.share, "size": self.size, "back": self.back,
                  "change": ending.sizes, "nominal": ending.magnitudes,
                  "last": np.full(count, ending.last[0])}  # fmt: skip
        rows = {name: entries.reshape(-1, count) for name, entries in places.items()}
        s = {name: ca.SX.sym(name, len(entries)) for name, entries in rows.items()}

        def put(target: str, value: ca.SX) -> None:
            given = [name for name in s if ca.depends_on(value, s[name])]
            function = ca.Function("part", [s[name] for name in given], ca.vertsplit(value))
            operands = {(k, i): entries_of(Q, entries) for k, name in enumerate(given)
                        for i, entries in enumerate(rows[name])}
            for j, entries in enumerate(rows[target]):
                self.loops.call(function, operands, entries_of(Q, entries), j)

        def length(step: ca.SX, at: str) -> ca.SX:
            return ca.sum1(ca.fabs(step) / (ca.fabs(s[at]) + s["nominal"]))

        ahead = length(_solved(s["old"], s["r"]), "from_here")
        little = ca.logic_and(s["size"] <= TIED_SOLVED, ahead < np.inf)
        goes_on = _any(ca.logic_not(s["size"] < np.inf), little,
                       ahead <= (1.0 - 0.5 * s["share"]) * s["size"], s["share"] < SHORTEST)
        put("back", ca.if_else(goes_on, 0.0, 1.0))
        finite = ca.sum1(ca.fabs(s["a"])) < np.inf  # as in _solve
        put("found", ca.if_else(finite, _solved(s["a"], s["r"]), np.nan))
        part = ca.fabs(s["found"]) / (ca.fabs(s["z"] + s["found"]) + s["nominal"])
        put("change", ca.if_else(s["back"], 1.0, part))
        put("size", ca.if_else(s["back"], s["size"], length(s["found"], "z")))
        for kept, new in (("old", "a"), ("from_here", "z"), ("step", "found")):
            put(kept, ca.if_else(s["back"], s[kept], s[new]))
        put("share", ca.if_else(s["back"], 0.5 * s["share"], 1.0))
        put("z", s["from_here"] + s["share"] * s["step"]
            + ca.if_else(s["change"] <= TIED_SOLVED, 0.0, s["last"]))


class _Assignments:
    """The explicit assignments of some blocks, in order."""

    def __init__(self, loops: Loops, blocks: list[Block]) -> None:
        self.loops = loops
        equations, self.unknowns, position, depth = (
            np.concatenate([getattr(b, name) for b in blocks])
            for name in ("solved", "assigned", "position", "depth"))
        self._parts: list[tuple[int, int, Indices, Indices]] = []
        for now in grouped(depth):
            for g, k, mine in alike(loops.flat, equations[now], position[now]):
                at = now[mine]
                rows = equations[at] - loops.flat.groups[g].first
                self._parts.append((g, k, rows, self.unknowns[at]))

    def write(self, places: Places, tangents: Places | None = None) -> None:
        """Append them; with ``tangents``, as changes."""
        for g, position, rows, unknowns in self._parts:
            self.loops.solve(g, rows, position, unknowns, places.operand(unknowns), tangents,
                             True)


def _fill(loops: Loops, entries: Indices, value: float) -> None:
    """A constant in some entries of ``q``."""
    loops.text.fill(entries_of(Q, entries), value)


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
    a, r = ca.SX.sym("a", n * n), ca.SX.sym("r", n)
    z, size, last = (ca.SX.sym(name, n) for name in ("z", "size", "last"))
    found = _solved(a, r)
    given = {(0, i + j * n): entries_of(Q, matrix[j, i]) for j in range(n) for i in range(n)}
    given |= {(1, i): entries_of(Q, residual[i]) for i in range(n)}
    if ending is None:
        function = ca.Function("cramer", [a, r], ca.vertsplit(found))
        for j in range(n):
            loops.call(function, given, entries_of(Q, unknowns[j]), j)
        return
    finite = ca.sum1(ca.fabs(a)) < np.inf  # else a step of nothing tells of no solution
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


def _solved(matrix: ca.SX, residual: ca.SX) -> ca.SX:
    """The step that leads from residuals to zero; of the matrix, entries column by column."""
    n = residual.numel()
    a = ca.reshape(matrix, n, n)
    rows = [[a[i, j] for j in range(n)] for i in range(n)]
    return ca.vertcat(*cramer(rows, [-residual[i] for i in range(n)]))


def _any(*conditions: ca.SX) -> ca.SX:
    """Whether one of some conditions holds."""
    return reduce(ca.logic_or, conditions)
