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
from ..numerics.tolerances import OPEN_UNKNOWN

__all__ = ["BlockFactors", "factorize_blocks", "order_of", "plan_of", "room_for", "solve_blocks"]

HEAD = 5  # numbers of a plan before its lists


class BlockFactors:
    """Factors of a matrix.

    Parameters
    ----------
    plan : of :func:`plan_of`
    values : the numbers of its pattern

    Attributes
    ----------
    singular : whether there are none
    """

    def __init__(self, plan: Indices, values: Array) -> None:
        self._kept = values, plan, np.empty(room_for(*plan[[0, 4]].tolist()))
        self._given = [address_of(one) for one in self._kept]
        self.singular = factorize_blocks(*self._given) != 0

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
    may be left open, and which rows there are of what flows carry.

    Parameters
    ----------
    carried : which rows and which columns of the pattern are of what flows carry, if any are
    """
    n = pattern.size1()
    chosen = np.arange(n) if columns is None else columns
    square, which = pattern.sub(list(range(n)), chosen.tolist())
    says, may = np.zeros((2, pattern.size2()), dtype=bool) if carried is None else carried
    rows, order, bounds = order_of(square, may[chosen])
    starts = np.array(square.colind())
    listed = np.concatenate([np.arange(starts[c], starts[c + 1]) for c in order])
    begins = np.append(0, np.cumsum(np.diff(starts)[order]))
    head = n, len(bounds) - 1, len(listed), pattern.nnz(), int((np.diff(bounds) ** 2).sum())
    return np.concatenate([
        head, rows, order, bounds, begins, np.array(which)[listed],
        np.argsort(rows)[np.array(square.row())[listed]], may[chosen][order], says[rows],
    ]).astype(np.int64)


def order_of(pattern: ca.Sparsity, carried: Flags | None = None
             ) -> tuple[Indices, Indices, Indices]:
    """Rows and columns in an order that is block lower triangular, and where blocks begin and end.

    Columns that are ``carried`` come last in their blocks.
    """
    n = pattern.size1()
    if pattern.is_dense() or ca.sprank(ca.DM(pattern, 1)) < n:
        return np.arange(n), np.arange(n), np.array([0, n])
    _, rows, columns, bounds, *_ = pattern.btf()
    for first, last in zip(bounds[:-1], bounds[1:], strict=True):
        if last - first > 2:
            block = ca.DM(pattern.sub(rows[first:last], columns[first:last])[0], 1)
            least = ca.mtimes(block.T, block).sparsity().amd()
            columns[first:last] = [columns[first + k] for k in least]
        if carried is not None:
            columns[first:last] = sorted(columns[first:last], key=lambda c: bool(carried[c]))
    return np.array(rows), np.array(columns), np.array(bounds)


def room_for(n: int, entries: int) -> int:
    """Numbers that factors take: pivots, a right side, rows of pivots, where what is above and
    below them begins, which are left open, the largest entries of rows, what is missed, and all
    above and below; what is never touched takes no memory."""
    return 7 * n + 2 + 2 * entries


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
    above the pivot, by places in the order, then what stands below, by rows.

    Parameters
    ----------
    values : address of the numbers of the pattern
    plan : address of what :func:`plan_of` tells
    room : address of :func:`room_for` entries
    """
    n, blocks, numbers, most, starts, source, places, may = _lists_of(plan)
    told, bounds, at = indices_at(plan, may + 2 * n), HEAD + 2 * n, 7 * n + 2
    v, a = vector_at(values, numbers), vector_at(room, at + 2 * most)
    kept = indices_at(room, at + 2 * most)
    chosen, above, below, which = kept[2 * n:], kept[3 * n:], kept[4 * n + 1:], kept[at + most:]
    x, opened, rest, factors = a[n:], a[5 * n + 1:], a[6 * n + 1:], a[at:]
    filled = 0
    for i in range(n):
        rest[i] = 0.0
    for e in range(told[starts + n]):
        rest[told[places + e]] = max(rest[told[places + e]], abs(v[told[source + e]]))
    for b in range(blocks):
        first, last = told[bounds + b], told[bounds + b + 1]
        by_flows = told[may + last - 1] != 0
        for i in range(first, last):
            x[i] = 0.0
        for k in range(first, last):
            for e in range(told[starts + k], told[starts + k + 1]):
                if told[places + e] < last:
                    x[told[places + e]] = v[told[source + e]]
            above[k] = filled
            for j in range(first, k):
                factor = 0.0
                if opened[j] == 0.0:
                    factor = x[chosen[j]]
                if factor != 0.0:
                    x[chosen[j]] = 0.0
                    factors[filled] = factor
                    which[filled] = j
                    filled += 1
                    for e in range(below[j], above[j + 1]):
                        x[which[e]] -= factors[e] * factor
            largest, row, carried, carrying = 0.0, first, 0.0, first
            for i in range(first, last):
                part = abs(x[i])
                if by_flows and part > 0.0:
                    part /= rest[i]
                if told[may + n + i] != 0 and part > carried:
                    carried, carrying = part, i
                elif told[may + n + i] == 0 and part > largest:
                    largest, row = part, i
            if by_flows and largest <= OPEN_UNKNOWN:
                largest, row = carried, carrying
            opened[k], below[k], above[k + 1] = 0.0, filled, filled
            if told[may + k] != 0 and largest <= OPEN_UNKNOWN:
                opened[k], a[k] = 1.0, 1.0
                for i in range(first, last):
                    if not abs(x[i]) < np.inf:
                        return 1
                    x[i] = 0.0
                continue
            if not largest > 0.0:
                return 1
            pivot = x[row]
            x[row], rest[row] = 0.0, -1.0
            a[k] = pivot
            chosen[k] = row
            for i in range(first, last):
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
def solve_blocks(values: int, plan: int, room: int, right: int) -> int:
    """Put the solution into the place of a right side; addresses as there."""
    n, blocks, numbers, most, starts, source, places, may = _lists_of(plan)
    told, bounds, at = indices_at(plan, may + 2 * n), HEAD + 2 * n, 7 * n + 2
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
