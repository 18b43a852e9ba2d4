"""How do blocks of equations read as machine code?

Blocks with equally many torn unknowns are solved side by side: residuals with torn unknowns of
zero, their derivatives by these (exactly: laws differentiated, not differences), elimination, and
all unknowns from the torn ones. Where equations are not linear, that is a round of Newton's method,
which starts from the unknowns in ``x``.
"""

from __future__ import annotations

from typing import Protocol

import casadi as ca
import numpy as np

from ..assembly.algebraic_loops import Block
from ..assembly.flatten import Flat
from ..assembly.tape import alike
from ..machine.compiling import compiled, name_of_code
from ..machine.functions import machine_code, vector_code
from ..machine.signatures import run_code, vector_at
from ..numerics.arrays import Flags, Indices, Vector, grouped
from ..numerics.tolerances import NEWTON_CONVERGES, NEWTON_STALLED, NO_SHORTER
from .loop_text import LoopText, Operand, entries_of
from .lu import factor_beside, solve_beside
from .newton import is_taken
from .places import Places, Q, X
from .steps import are_finite
from .text import Beginning, function_of

__all__ = ["Solution", "write_blocks", "write_changes"]

ROUNDS = 15  # of Newton's method, which starts from the last solution
FEW = 8  # blocks side by side that are not worth compiling well
MORE_ROUNDS = 750  # with parts of steps; down an exponential by 1 of its exponent a round


class Loops(Protocol):
    """What blocks are written with: :class:`blocks.native.instance_loops.Loops`."""

    flat: Flat
    text: LoopText
    values: Places
    starts: Indices
    magnitudes: Indices
    solutions: dict[int, Solution]

    def room(self, count: int) -> Indices: ...
    def moved(self, g: int, rows: Indices, changes: Places) -> Flags: ...
    def solve(self, g: int, rows: Indices, position: int, unknowns: Indices, target: Operand,
              tangents: Places | None, in_loop: bool, derived: Places | None) -> None: ...
    def residuals(self, equations: Indices, targets: Indices, tangents: Places | None = None,
                  derived: Places | None = None) -> None: ...
    def call(self, function: ca.Function, operands: dict[tuple[int, int], Operand],
             *targets: Operand) -> None: ...


def write_blocks(loops: Loops, blocks: list[Block]) -> None:
    """Append the solution of blocks that have the same number of torn unknowns."""
    if blocks:
        main, loops.text = loops.text, LoopText()
        _write_blocks(loops, blocks)
        own = compiled(function_of(loops.text, Beginning()), quick=len(blocks) < FEW)
        loops.text = main
        loops.text.run(name_of_code(own))


def _write_blocks(loops: Loops, blocks: list[Block]) -> None:
    torn = np.stack([b.torn for b in blocks], axis=1)
    starts = loops.starts[torn]
    linear = bool((starts < 0).all())
    order, unknowns = _unknowns_of(loops, blocks, loops.values, linear)
    if not len(torn):
        order.write(loops.values)
        return
    newton = loops.solutions[int(torn[0, 0])] = Solution(loops, blocks, order, unknowns)
    if linear:
        newton.write()
    else:
        newton.write_rounds(loops.magnitudes[torn].ravel(), starts.ravel())
    order.write(loops.values)


def write_changes(loops: Loops, blocks: list[Block], changes: Places) -> None:
    """Append how the unknowns of blocks that have been solved change with those before them.

    The implicit function theorem, with the matrix of the solution.
    """
    if not blocks:
        return
    order, unknowns = _unknowns_of(loops, blocks, changes, True)
    order.write(changes, changes)
    if not len(unknowns):
        return
    solution = loops.solutions[int(blocks[0].torn[0])]
    loops.residuals(solution.leftover, solution.residual, changes)
    _solve(loops, solution.factors, solution.residual, len(unknowns))
    _put(loops, unknowns.ravel(), -ca.SX.sym("r"), r=solution.residual)
    order.write(changes, changes)


def _unknowns_of(loops: Loops, blocks: list[Block], places: Places, from_zero: bool
                 ) -> tuple[_Assignments, Indices]:
    """Give the unknowns of blocks their places; how they are assigned, and where torn ones are."""
    order, torn = _Assignments(loops, blocks), np.stack([b.torn for b in blocks], axis=1)
    entries = loops.room(torn.size).reshape(torn.shape)
    for row, mine in zip(torn, entries, strict=True):
        places.put(row, Q, mine)
        if from_zero:
            _fill(loops, mine, 0.0)
    places.put(order.unknowns, Q, loops.room(len(order.unknowns)))
    return order, entries


class Solution:
    """Rounds of Newton's method, and where their residuals and matrices stand in ``q``.

    Of a matrix the factors take its place; behind these stand the rows that change places.
    """

    def __init__(self, loops: Loops, blocks: list[Block], order: _Assignments, unknowns: Indices
                 ) -> None:
        n, count = unknowns.shape
        self.loops, self.order, self.unknowns = loops, order, unknowns
        self.leftover = np.stack([b.leftover for b in blocks], axis=1).ravel()
        self.residual = loops.room(n * count)
        zero, one = loops.room(2)
        _fill(loops, np.array([zero]), 0.0)
        _fill(loops, np.array([one]), 1.0)
        torn = np.stack([b.torn for b in blocks], axis=1)
        #: Changes with all torn unknowns, and with each of them alone.
        self.tangents, *self.columns = (Places(loops.flat.classes, int(zero)) for _ in range(n + 1))
        entries = loops.room(len(order.unknowns))
        for row, column in zip(torn, self.columns, strict=True):
            for places in (self.tangents, column):
                places.put(row, Q, np.full(count, one))
            order.follow(column, entries)
        self.tangents.put(order.unknowns, Q, entries)
        self.factors, self.lost = loops.room(2 * n * n * count), loops.room(count)

    def write(self) -> None:
        """Append the solution of equations that are linear, with unknowns of zero."""
        self.derive()
        self.loops.text.call(factor_beside, (self.factors[0], self.lost[0]), *self.unknowns.shape)
        _solve(self.loops, self.factors, self.residual, len(self.unknowns))
        _put(self.loops, self.unknowns.ravel(), -ca.SX.sym("r"), r=self.residual)

    def write_rounds(self, magnitudes: Indices, starts: Indices) -> None:
        """Append rounds from entries of ``x``; ``magnitudes`` are entries of nominal values."""
        loops, (n, count) = self.loops, self.unknowns.shape
        main, loops.text = loops.text, LoopText()
        self.derive()
        code = compiled(function_of(loops.text, Beginning()), quick=count < FEW)
        loops.text = main
        start, nominal = loops.room(2 * n * count).reshape(2, -1)
        loops.text.copy(entries_of(X, starts), entries_of(Q, start))
        loops.text.copy(entries_of(Q, magnitudes), entries_of(Q, nominal))
        room = loops.room((2 * n + 4) * n * count + 3 * count)
        loops.text.call(find_beside, (
            self.unknowns[0, 0], self.residual[0], self.factors[0], self.lost[0], start[0],
            room[0]), n, count, code=name_of_code(code))

    def derive(self) -> None:
        """Append residuals at the torn unknowns, and the matrices there."""
        loops, n = self.loops, len(self.unknowns)
        self.tangents.slopes = {}
        self.order.write(loops.values, derived=self.tangents)
        loops.residuals(self.leftover, self.residual, derived=self.tangents)
        for column, entries in zip(self.columns, np.split(self.factors, 2 * n)[:n], strict=True):
            column.slopes = self.tangents.slopes
            self.order.write(column, column)
            loops.residuals(self.leftover, entries, column)


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

    def follow(self, changes: Places, entries: Indices) -> None:
        """Give what changes with what is known to its place, one of ``entries`` for each."""
        first = 0
        for g, _, rows, unknowns in self._parts:
            moved = self.loops.moved(g, rows, changes)
            places = entries[first : first + len(rows)]
            changes.put(unknowns[moved], Q, places[moved])
            first += len(rows)

    def write(self, places: Places, tangents: Places | None = None, derived: Places | None = None
              ) -> None:
        """Append them; with ``tangents``, as changes of those that have a place there."""
        for g, position, rows, unknowns in self._parts:
            mine = places.known[unknowns]
            if mine.any():
                self.loops.solve(g, rows[mine], position, unknowns[mine],
                                 places.operand(unknowns[mine]), tangents, True, derived)


def _fill(loops: Loops, entries: Indices, value: float) -> None:
    """A constant in some entries of ``q``."""
    loops.text.fill(entries_of(Q, entries), value)


def _solve(loops: Loops, factors: Indices, right: Indices, n: int) -> None:
    """The solutions of blocks of n equations in place of their right sides."""
    loops.text.call(solve_beside, (factors[0], right[0]), n, len(right) // n)


def _put(loops: Loops, target: Indices, value: ca.SX, **given: Indices) -> None:
    """An expression into some entries of ``q``, by entries for the names of its symbols."""
    symbols = ca.symvar(value)
    loops.call(ca.Function("part", symbols, [value]), {
        (k, 0): entries_of(Q, given[symbol.name()]) for k, symbol in enumerate(symbols)
    }, entries_of(Q, target))


@vector_code
def find_beside(t: int, x: int, p: int, q: int, derive: int, solution: int, residual: int,
                factors: int, lost: int, given: int, room: int, size: int, count: int) -> int:
    """Solve blocks of equations side by side; where full steps lead nowhere, by shorter ones.

    Of a shorter step so much is taken that the next one by the same matrix is shorter, as in
    :mod:`blocks.native.newton`, of each block as much as it allows. Unknowns that still change in
    the last round are no solution, and become no numbers.

    Parameters
    ----------
    t, x, p, q : addresses, as of every function of a model
    derive : address of code that fills in residuals, and the matrices
    solution, residual, factors, lost : addresses of unknowns, of the others as
        :func:`~blocks.native.lu.factor_beside` takes them
    given : address of the unknowns to begin with, and of their nominal values
    room : address of four numbers an unknown, as many as there are of factors, three a block
    size, count : of a block, and of blocks
    """
    n, m, whole = size, count, size * count
    of_factors = 2 * n * whole
    z, step, nominal = vector_at(solution, whole), vector_at(residual, whole), vector_at(
        given + 8 * whole, whole)
    new, none, start = vector_at(factors, of_factors), vector_at(lost, m), vector_at(given, whole)
    old, a = vector_at(room, of_factors), vector_at(room + 8 * of_factors, 4 * whole + 3 * m)
    before, last, taken, ahead = a, a[whole:], a[2 * whole:], a[3 * whole:]
    length, share, back = a[4 * whole:], a[4 * whole + m:], a[4 * whole + 2 * m:]
    next_step = room + 8 * (of_factors + 3 * whole)
    for damped in range(2):
        z[:] = start
        before[:whole] = np.inf
        length[:m] = np.inf
        back[:m] = 0.0
        rounds, going = 0, True
        while going:
            run_code(derive, t, x, p, q, q)
            if damped == 1 and rounds > 0:
                ahead[:whole] = step
                solve_beside(room, next_step, n, m)
                for b in range(m):
                    back[b] = 0.0 if _goes_on(
                        ahead, last, nominal, b, n, m, length[b], share[b]) else 1.0
            factor_beside(factors, lost, n, m)
            solve_beside(factors, residual, n, m)
            rounds += 1
            late, going = rounds >= (MORE_ROUNDS if damped == 1 else ROUNDS), False
            for b in range(m):
                share[b] = 0.5 * share[b] if back[b] > 0.0 else 1.0
                if back[b] == 0.0:
                    length[b] = 0.0
            for j in range(n):
                for b in range(m):
                    i, change = j * m + b, 1.0
                    if back[b] == 0.0:
                        last[i], taken[i] = z[i], none[b] - step[i]
                        moved = abs(taken[i])
                        length[b] += moved / (abs(z[i]) + nominal[i])
                        change = moved / (abs(z[i] + taken[i]) + nominal[i])
                    rounding = change <= NEWTON_STALLED and change > NO_SHORTER * before[i]
                    before[i] = change
                    z[i] = last[i] + share[b] * taken[i]
                    if not (rounding or change <= NEWTON_CONVERGES):
                        going |= change > NEWTON_CONVERGES
                        z[i] = np.nan if late else z[i]
            # slopes may be steep at first, as of a root that begins: the first round tells nothing
            going = (going or rounds == 1) and not late
            for e in range(2 * n * n if damped == 1 else 0):
                for b in range(m):
                    if back[b] == 0.0:
                        old[e * m + b] = new[e * m + b]
        if are_finite(z):
            return 0
    return 0


@machine_code
def _goes_on(ahead: Vector, last: Vector, nominal: Vector, block: int, size: int, count: int,
             length: float, share: float) -> bool:
    """Whether a block goes on from where a ``share`` of its last step has led.

    ``ahead`` is the next step by the same matrix, from the values ``last``; ``length`` that of the
    step before.
    """
    then = 0.0
    for j in range(size):
        i = j * count + block
        then += abs(ahead[i]) / (abs(last[i]) + nominal[i])
    return not length < np.inf or is_taken(length, then, share)
