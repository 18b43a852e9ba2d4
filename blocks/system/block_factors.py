"""Linear equations, block by block, in plain loops.

Rows and columns are ordered so that the matrix is block triangular [I. S. Duff and J. K. Reid, ACM
Trans. Math. Softw. 4 (1978) 137-147], as those of a mechanism are, loop by loop, and accelerations
after speeds and positions: only blocks on the diagonal are factored [as in KLU: T. A. Davis and
E. Palamadai Natarajan, ACM Trans. Math. Softw. 37 (2010) 36]. In each, Gaussian elimination with
a choice of rows passes zeros over, its columns in an order of least degree: what moves 24 pistons
takes 330 operations instead of 600,000.

What flows carry is left open where nothing flows: a column in which, rows scaled to their largest
entry, nothing is left for a pivot stays as it is, and a row that is left in the end says nothing
new. Rows of what flows carry are chosen last, so that it is these.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import address_of, indices_at, vector_at
from ..numerics.arrays import Array, Flags, Indices
from ..numerics.tolerances import DEPENDENT_EXACTLY

__all__ = ["BlockFactors", "factorize_blocks", "order_of", "plan_of", "room_for", "solve_blocks"]

HEAD = 5  # numbers of a plan before its lists
SMALL = 30  # unknowns of a block, up to which factors have room for all entries


class BlockFactors:
    """Factors of a matrix, by a plan of :func:`plan_of` and the numbers of its pattern."""

    def __init__(self, plan: Indices, values: Array) -> None:
        self._kept = values, plan, np.empty(room_for(*plan[[0, 4]].tolist()))
        self._given = [address_of(one) for one in self._kept]
        self.singular = factorize_blocks(*self._given) != 0  # whether there are none

    def solve(self, right: Array) -> Array:
        """The solution for a right side, or for each of several columns."""
        out = np.array(right.T, dtype=float, order="C")
        for column in np.atleast_2d(out):
            solve_blocks(*self._given, address_of(column))
        return out.T

    @property
    def says_nothing(self) -> Indices:
        """Rows that say nothing new; as many unknowns stay as they are."""
        _, plan, room = self._kept
        n = int(plan[0])
        which: Indices = room.view(np.int64)[2 * n : 3 * n][room[5 * n + 1 : 6 * n + 1] != 0.0]
        return plan[HEAD:][which]


def plan_of(pattern: ca.Sparsity, columns: Indices | None = None,
            carried: tuple[Flags, Flags] | None = None) -> Indices:
    """The way to the factors of a matrix, or of some ``columns`` of one: lists end to end.

    How many unknowns, blocks, entries and numbers there are, and how many may be in factors; the
    row and the column at every place of the order; where each block begins and ends; where the
    entries of each column do; which of all numbers each is, and the place of its row; which places
    may be left open, and which rows there are of what flows carry. ``carried`` says which rows and
    which columns of the pattern are of what flows carry, if any are.
    """
    n = pattern.size1()
    chosen = np.arange(n) if columns is None else columns
    square, which = pattern.sub(list(range(n)), chosen.tolist())
    says, may = np.zeros((2, pattern.size2()), dtype=bool) if carried is None else carried
    rows, order, bounds = order_of(square, may[chosen])
    starts = np.array(square.colind())
    listed = np.concatenate([np.arange(starts[c], starts[c + 1]) for c in order])
    begins = np.append(0, np.cumsum(np.diff(starts)[order]))
    head = n, len(bounds) - 1, len(listed), pattern.nnz(), _most_entries(
        square.sub(rows.tolist(), order.tolist())[0], bounds, bool(may.any()))
    return np.concatenate([
        head, rows, order, bounds, begins, np.array(which, dtype=int)[listed],
        np.argsort(rows)[np.array(square.row(), dtype=int)[listed]], may[chosen][order], says[rows],
    ]).astype(np.int64)


def _most_entries(pattern: ca.Sparsity, bounds: Indices, open_: bool) -> int:
    """How many entries the factors of blocks in this order may have, whatever rows are pivots.

    Both have no more than the root of the block times itself [A. George and E. Ng, SIAM J. Sci.
    Stat. Comput. 8 (1987) 877-898], as long as every column has a pivot; twice that otherwise.
    """
    most = 0
    for first, last in zip(bounds[:-1], bounds[1:], strict=True):
        size = int(last - first)
        if size > SMALL:
            block = ca.DM(pattern.sub([*range(first, last)], [*range(first, last)])[0], 1)
            root = ca.mtimes(block.T, block).sparsity().ldl(False)[0].nnz()
            most += min(size**2, 2 * (1 + open_) * (root + size))
        else:
            most += size**2
    return most


def order_of(pattern: ca.Sparsity, carried: Flags | None = None
             ) -> tuple[Indices, Indices, Indices]:
    """Rows and columns in an order that is block lower triangular, and where blocks begin and end.

    Each column has an entry in the row of its place, but for those that are ``carried``, which come
    last in their blocks.
    """
    n = pattern.size1()
    if pattern.is_dense() or ca.sprank(ca.DM(pattern, 1)) < n:
        return np.arange(n), np.arange(n), np.array([0, n])
    _, rows, columns, bounds, *_ = pattern.btf()
    for first, last in zip(bounds[:-1], bounds[1:], strict=True):
        if last - first > 2:
            block = ca.DM(pattern.sub(rows[first:last], columns[first:last])[0], 1)
            least = ca.mtimes(block.T, block).sparsity().amd()
            for order in (rows, columns):
                order[first:last] = [order[first + k] for k in least]
        if carried is not None:
            columns[first:last] = sorted(columns[first:last], key=lambda c: bool(carried[c]))
    return np.array(rows), np.array(columns), np.array(bounds)


def room_for(n: int, entries: int) -> int:
    """Numbers that factors take: pivots, a right side, rows of pivots, where what is above and
    below them begins, which are left open, the largest entries of rows, what is missed, columns
    that rows are pivots of, in which rows were met last, columns and rows that wait; and all above
    and below."""
    return 11 * n + 2 + 2 * entries


@machine_code
def _lists_of(plan: int) -> tuple[int, int, int, int, int, int, int, int]:
    """How many unknowns, blocks and numbers a plan at an address is of, and entries of factors;
    where it tells the starts of columns, which number each entry is, the place of its row, and what
    may be left open."""
    head = indices_at(plan, HEAD)
    n, starts = head[0], HEAD + 2 * head[0] + head[1] + 1
    source, places = starts + n + 1, starts + n + 1 + head[2]
    return n, head[1], head[3], head[4], starts, source, places, places + head[2]


@machine_code
def factorize_blocks(values: int, plan: int, room: int) -> int:
    """Factor the blocks on the diagonal; 1 where one is singular, else 0.

    Column by column, each by those before it that it has entries in [J. R. Gilbert and T. Peierls,
    SIAM J. Sci. Stat. Comput. 9 (1988) 862-874]. Factors are lists: of each column, what stands
    above the pivot, by places in the order, then what stands below, by rows. ``values`` is the
    address of the numbers of the pattern, ``plan`` of what :func:`plan_of` tells, ``room`` of
    :func:`room_for` entries.
    """
    n, blocks, numbers, most, starts, source, places, may = _lists_of(plan)
    told, bounds, at = indices_at(plan, may + 2 * n), HEAD + 2 * n, 11 * n + 2
    v, a = vector_at(values, numbers), vector_at(room, at + 2 * most)
    kept = indices_at(room, at + 2 * most)
    chosen, above, below, which = kept[2 * n:], kept[3 * n:], kept[4 * n + 1:], kept[at + most:]
    x, opened, rest, factors = a[n:], a[5 * n + 1:], a[6 * n + 1:], a[at:]
    pivot_of, met, heap, open_rows = (
        kept[7 * n + 2 :], kept[8 * n + 2 :], kept[9 * n + 2 :], kept[10 * n + 2 :])
    filled = 0
    for i in range(n):
        rest[i], x[i], pivot_of[i], met[i] = 0.0, 0.0, -1, -1
    for e in range(told[starts + n]):
        rest[told[places + e]] = max(rest[told[places + e]], abs(v[told[source + e]]))
    for b in range(blocks):
        first, last = told[bounds + b], told[bounds + b + 1]
        by_flows = told[may + last - 1] != 0
        for k in range(first, last):
            waiting = rows = 0
            for e in range(told[starts + k], told[starts + k + 1]):
                i = told[places + e]
                if i < last:
                    x[i] = v[told[source + e]]
                    waiting, rows = _meet(i, k, pivot_of, met, heap, open_rows, waiting, rows)
            above[k] = filled
            while waiting > 0:
                j = heap[0]
                waiting -= 1
                _sink(heap, heap[waiting], waiting)
                factor = x[chosen[j]]
                if factor != 0.0:
                    if filled == most:
                        return 1
                    x[chosen[j]] = 0.0
                    factors[filled] = factor
                    which[filled] = j
                    filled += 1
                    for e in range(below[j], above[j + 1]):
                        i = which[e]
                        x[i] -= factors[e] * factor
                        if met[i] != k:
                            waiting, rows = _meet(i, k, pivot_of, met, heap, open_rows, waiting,
                                                  rows)
            largest, row, carried, carrying = 0.0, first, 0.0, first
            for r in range(rows):
                i = open_rows[r]
                part = abs(x[i])
                if by_flows and part > 0.0:
                    part /= rest[i]
                if told[may + n + i] != 0 and (part > carried or part == carried and i < carrying):
                    carried, carrying = part, i
                elif told[may + n + i] == 0 and (part > largest or part == largest and i < row):
                    largest, row = part, i
            if by_flows and largest <= DEPENDENT_EXACTLY:
                largest, row = carried, carrying
            opened[k], below[k], above[k + 1] = 0.0, filled, filled
            if told[may + k] != 0 and largest <= DEPENDENT_EXACTLY:
                opened[k], a[k] = 1.0, 1.0
                for r in range(rows):
                    if not abs(x[open_rows[r]]) < np.inf:
                        return 1
                    x[open_rows[r]] = 0.0
                continue
            if not largest > 0.0 or filled + rows > most + 1:
                return 1
            pivot = x[row]
            x[row], rest[row] = 0.0, -1.0
            a[k] = pivot
            chosen[k] = row
            pivot_of[row] = k
            for r in range(rows):
                i = open_rows[r]
                if x[i] != 0.0:
                    factors[filled] = x[i] / pivot
                    which[filled] = i
                    filled += 1
                    x[i] = 0.0
            above[k + 1] = filled
        row = first
        for k in range(first, last):
            if opened[k] != 0.0:
                while rest[row] < 0.0:
                    row += 1
                chosen[k] = row
                row += 1
    return 0


@machine_code
def _meet(row: int, column: int, pivot_of: Indices, met: Indices, heap: Indices,
          open_rows: Indices, waiting: int, rows: int) -> tuple[int, int]:
    """Take a row that a column comes to have an entry in to those that wait: the column that it is
    the pivot of, of which the first comes next, or the row itself. Returns how many columns wait,
    and rows.
    """
    met[row] = column
    new = pivot_of[row]
    if new < 0:
        open_rows[rows] = row
        return waiting, rows + 1
    at = waiting
    while at > 0 and heap[(at - 1) // 2] > new:
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = new
    return waiting + 1, rows


@machine_code
def _sink(heap: Indices, last: int, count: int) -> None:
    """Put the last of the columns that wait into the place of the first, and the next one there."""
    at, child = 0, 1
    while child < count:
        if child + 1 < count and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= last:
            break
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    heap[at] = last


@machine_code
def solve_blocks(values: int, plan: int, room: int, right: int) -> int:
    """Put the solution into the place of a right side; addresses as there."""
    n, blocks, numbers, most, starts, source, places, may = _lists_of(plan)
    told, bounds, at = indices_at(plan, may + 2 * n), HEAD + 2 * n, 11 * n + 2
    v, a = vector_at(values, numbers), vector_at(room, at + 2 * most)
    kept = indices_at(room, at + 2 * most)
    chosen, above, below, which = kept[2 * n:], kept[3 * n:], kept[4 * n + 1:], kept[at + most:]
    x, y, opened, factors = vector_at(right, n), a[n:], a[5 * n + 1:], a[at:]
    missed = 0.0
    for k in range(n):
        y[k] = x[told[HEAD + k]]
    for b in range(blocks):
        first, last = told[bounds + b], told[bounds + b + 1]
        for k in range(first, last):
            value = y[chosen[k]]
            if value != 0.0:  # below what is left open nothing stands
                for e in range(below[k], above[k + 1]):
                    y[which[e]] -= factors[e] * value
        for k in range(last - 1, first - 1, -1):
            value = y[chosen[k]]
            if opened[k] != 0.0:
                if not abs(value) <= missed:  # no number either
                    missed = abs(value)
                value = 0.0
            if value != 0.0:
                value /= a[k]
                for e in range(above[k], below[k]):
                    y[chosen[which[e]]] -= factors[e] * value
                for e in range(told[starts + k], told[starts + k + 1]):
                    if told[places + e] >= last:
                        y[told[places + e]] -= v[told[source + e]] * value
            x[told[HEAD + n + k]] = value
    a[7 * n + 1] = missed
    return 0
