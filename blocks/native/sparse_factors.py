"""Linear equations in machine code, of two unknowns or hundreds.

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

from functools import cached_property

import casadi as ca
import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import indices_at, vector_at
from ..numerics.arrays import Array, Flags, Indices
from ..numerics.tolerances import OPEN_UNKNOWN
from .expressions import Writer

__all__ = ["SparseFactors", "is_mostly_zeros", "pattern_of_choice"]

SHARE = 0.1  # of the operations of a full matrix, below which it is mostly zeros
HEAD = 4  # numbers of a plan before its lists


def is_mostly_zeros(pattern: ca.Sparsity) -> bool:
    """Whether a square matrix takes few operations, by what is filled in without a choice of
    pivots."""
    n = pattern.size1()
    if pattern.size2() != n or ca.sprank(ca.DM(pattern, 1)) < n:
        return False
    operations = 0
    rows, columns, bounds = _order(pattern)
    full = _filled(pattern)[np.ix_(rows, columns)]
    for first, last in zip(bounds[:-1], bounds[1:], strict=True):
        left = full[first:last, first:last].copy()
        for k in range(last - first):
            below = k + np.flatnonzero(left[k:, k])
            left[[k, below[0]]] = left[[below[0], k]]
            behind = k + 1 + np.flatnonzero(left[k, k + 1 :])
            left[np.ix_(below[1:], behind)] = True
            operations += 2 * (len(below) - 1) * len(behind)
    return bool(operations < SHARE * 2 / 3 * n**3)


def pattern_of_choice(pattern: ca.Sparsity, torn: int) -> ca.Sparsity:
    """The square pattern for one choice of tied states.

    Parameters
    ----------
    pattern : rows of torn unknowns, then constraints; columns of all states that may be tied, then
        torn unknowns
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rows, tied = pattern.size1(), pattern.size2() - torn
    if rows == torn:
        return pattern
    constraints = csr_matrix(_filled(pattern)[torn:, :tied])
    chosen = maximum_bipartite_matching(constraints, perm_type="column")
    columns = [*np.sort(chosen[chosen >= 0]).tolist(), *range(tied, tied + torn)]
    return pattern.sub(list(range(rows)), columns)[0]


def _filled(pattern: ca.Sparsity) -> Array:
    out = np.zeros(pattern.shape, dtype=bool)
    out[pattern.row(), pattern.get_col()] = True
    return out


def _order(pattern: ca.Sparsity, carried: Flags | None = None
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


class SparseFactors:
    """Where a matrix, its factors and the way to them stand in ``q``.

    Parameters
    ----------
    pattern : of the rows of the matrix, and of all columns it may have
    start : the first free entry of ``q``
    chosen : whether its columns are chosen as it runs
    carried : which rows and which columns are of what flows carry, where any are
    values : entry of ``q`` where the numbers of the pattern stand, if not there

    Attributes
    ----------
    pivots : entry of ``q`` where those of the factors stand
    missed : entry of ``q`` with the most that rows which say nothing new have missed in a solution
    end : entry behind all
    """

    def __init__(self, pattern: ca.Sparsity, start: int, chosen: bool = False,
                 carried: tuple[Flags, Flags] | None = None, values: int | None = None) -> None:
        self.pattern, self.chosen, self.carried = pattern, chosen, carried
        n = self.n = pattern.size1()
        at = np.cumsum([start, pattern.nnz() * (values is None), room_for(n),
                        chosen * self._length])
        own, self._room, self._plan, self.end = (int(i) for i in at)
        self.values = own if values is None else values
        self.pivots, self.missed = self._room, self._room + 7 * n + 1
        self._plans: dict[bytes, Indices] = {}  # of columns that have been chosen

    @property
    def _length(self) -> int:
        return HEAD + 6 * self.n + 2 + 2 * self.pattern.nnz()

    def plan(self, columns: Indices | None = None) -> Indices:
        """The way to the factors of the matrix of some columns: lists end to end.

        How many unknowns, blocks, entries and numbers there are; the row and the column at every
        place of the order; where each block begins and ends; where the entries of each column do;
        which of all numbers each is, and the place of its row; which places may be left open, and
        which rows there are of what flows carry.
        """
        n, pattern = self.n, self.pattern
        chosen = np.arange(n) if columns is None else columns
        square, which = pattern.sub(list(range(n)), chosen.tolist())
        says, may = np.zeros((2, pattern.size2()), dtype=bool) if (
            self.carried is None) else self.carried
        rows, order, bounds = _order(square, may[chosen])
        starts = np.array(square.colind())
        listed = np.concatenate([np.arange(starts[c], starts[c + 1]) for c in order])
        begins = np.append(0, np.cumsum(np.diff(starts)[order]))
        head = n, len(bounds) - 1, len(listed), pattern.nnz()
        told = np.concatenate([head, rows, order, bounds, begins, np.array(which)[listed],
                               np.argsort(rows)[np.array(square.row())[listed]],
                               may[chosen][order], says[rows]])
        out = np.zeros(self._length, dtype=np.int64)
        out[: len(told)] = told
        return out

    def fill(self, q: Array, columns: Indices) -> None:
        """Choose columns."""
        key = columns.tobytes()
        if key not in self._plans:
            self._plans[key] = self.plan(columns)
        q.view(np.int64)[self._plan : self._plan + self._length] = self._plans[key]

    @cached_property
    def _fixed_plan(self) -> Indices:
        return self.plan()

    def given(self, w: Writer) -> list[str]:
        """Addresses of numbers, plan and room."""
        plan = w.pointer("%q", self._plan) if self.chosen else w.table(self._fixed_plan)
        return [w.pointer("%q", self.values), plan, w.pointer("%q", self._room)]

    def factor(self, w: Writer) -> str:
        """Append what factors the matrix; whether it is singular."""
        return w.ask(factorize_blocks, *self.given(w))

    def determinant(self, w: Writer) -> str:
        """Of a full matrix, from the factors that have been made."""
        w.call(put_determinant, w.pointer("%q", self._room), self.n)
        return w.load("%q", self.missed)

    def least_pivot(self, w: Writer) -> str:
        """Of the factors that have been made."""
        out = w.constant(np.inf)
        for i in range(self.n):
            out = w.intrinsic("minnum", out, w.intrinsic("fabs", w.load("%q", self.pivots + i)))
        return out

    def solve(self, w: Writer, right: str) -> None:
        """Append what puts the solution into the place of a right side at an address."""
        w.call(solve_blocks, *self.given(w), right)

    def solve_columns(self, w: Writer, first: int, count: int) -> None:
        """The same for so many right sides, one after the other from an entry of ``q``."""
        w.call(solve_each, *self.given(w), w.pointer("%q", first), self.n, count)

    def solve_for_units(self, w: Writer, *given: str) -> None:
        """Append what :func:`solve_blocks_for_units` does, at addresses."""
        w.call(solve_blocks_for_units, *self.given(w), *given)


def room_for(n: int) -> int:
    """Numbers that factors take: pivots, a right side, rows of pivots, where what is above and
    below them begins, which are left open, the largest entries of rows, what is missed, and all
    above and below; what is never touched takes no memory."""
    return 7 * n + 2 + 2 * n * n


@machine_code
def _lists_of(plan: int) -> tuple[int, int, int, int, int, int, int]:
    """How many unknowns, blocks and numbers a plan at an address is of; where it tells the starts
    of columns, which number each entry is, the place of its row, and what may be left open."""
    head = indices_at(plan, HEAD)
    n, starts = head[0], HEAD + 2 * head[0] + head[1] + 1
    source, places = starts + n + 1, starts + n + 1 + head[2]
    return n, head[1], head[3], starts, source, places, places + head[2]


@machine_code
def factorize_blocks(values: int, plan: int, room: int) -> int:
    """Factor the blocks on the diagonal; 1 where one is singular, else 0.

    Column by column, each by those before it that it has entries in [J. R. Gilbert and T. Peierls,
    SIAM J. Sci. Stat. Comput. 9 (1988) 862-874]. Factors are lists: of each column, what stands
    above the pivot, by places in the order, then what stands below, by rows.

    Parameters
    ----------
    values : address of the numbers of the pattern
    plan : address of what :meth:`SparseFactors.plan` tells
    room : address of :func:`room_for` entries
    """
    n, blocks, numbers, starts, source, places, may = _lists_of(plan)
    told, bounds, size, at = indices_at(plan, may + 2 * n), HEAD + 2 * n, room_for(n), 7 * n + 2
    v, a, kept = vector_at(values, numbers), vector_at(room, size), indices_at(room, size)
    chosen, above, below, which = kept[2 * n:], kept[3 * n:], kept[4 * n + 1:], kept[at + n * n:]
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
    n, blocks, numbers, starts, source, places, may = _lists_of(plan)
    told, bounds, size, at = indices_at(plan, may + 2 * n), HEAD + 2 * n, room_for(n), 7 * n + 2
    v, a, kept = vector_at(values, numbers), vector_at(room, size), indices_at(room, size)
    chosen, above, below, which = kept[2 * n:], kept[3 * n:], kept[4 * n + 1:], kept[at + n * n:]
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


@machine_code
def solve_each(values: int, plan: int, room: int, right: int, size: int, count: int) -> int:
    """The same for so many right sides, one after the other."""
    for j in range(count):
        solve_blocks(values, plan, room, right + 8 * size * j)
    return 0


@machine_code
def put_determinant(room: int, size: int) -> int:
    """Put that of a full matrix, as it is factored, where rows say what they have missed."""
    a, chosen = vector_at(room, room_for(size)), indices_at(room, 3 * size)[2 * size:]
    value = 1.0
    for k in range(size):
        value *= a[k]
        for j in range(k):
            if chosen[j] > chosen[k]:
                value = -value
    a[7 * size + 1] = value
    return 0


@machine_code
def solve_blocks_for_units(values: int, plan: int, room: int, unit: int, modes: int, follows: int,
                           sizes: int) -> int:
    """Solve for many right sides, one after the other.

    Parameters
    ----------
    unit : address of right sides, column by column, which solutions take the places of
    modes : address of the modes of those that they belong to
    follows : address of what is filled: the first so many unknowns of each solution
    sizes : address of the numbers of unknowns, of those that are wanted, and of right sides; and
        whether only those of mode 0 are solved, 0 or 1: others are filled with zeros
    """
    told = indices_at(sizes, 4)
    n, wanted, sides, stuck = told[0], told[1], told[2], told[3] != 0
    mode, out = vector_at(modes, sides), vector_at(follows, wanted * sides)
    for j in range(sides):
        asked = mode[j] == 0.0 or not stuck
        if asked:
            solve_blocks(values, plan, room, unit + 8 * n * j)
        x = vector_at(unit + 8 * n * j, n)
        for i in range(wanted):
            out[j * wanted + i] = x[i] if asked else 0.0
    return 0
