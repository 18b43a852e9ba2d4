"""Small systems of linear equations, compiled.

Gaussian elimination in plain loops, for a few unknowns an order of magnitude faster than a call of
LAPACK. Rows are chosen in units of their equations [G. H. Golub and C. F. Van Loan, "Matrix
Computations", 4th ed., sec. 3.4 and 3.5], so that newtons and pascals are treated alike, and zeros
are passed over. The inverses of pivots are kept in their place: a matrix is solved with many times,
and a division takes as long as all else in a row. Sums end with what was solved for last, so that
their other terms need not wait for it.
"""

from __future__ import annotations

from ..machine.functions import machine_code, vector_code
from ..machine.signatures import indices_at, vector_at
from ..numerics.arrays import Indices, Matrix, Vector

__all__ = ["factor_beside", "factor_columns", "factorize", "solve", "solve_beside",
           "solve_columns"]  # fmt: skip


@machine_code
def factorize(a: Matrix, unit: Vector, order: Indices) -> float:
    """Triangular factors take the place of a matrix, not finite if it is singular; its determinant.

    ``a`` is (n, n), or more, of which the first are taken; ``unit``, (n,), is what an equation is
    measured in; ``order`` is filled with the order of the rows.
    """
    n, determinant = unit.size, 1.0
    for i in range(n):
        order[i] = i
    for k in range(n):
        best, largest = k, 0.0
        for i in range(k, n):
            size = abs(a[i, k]) / unit[order[i]]
            if size > largest:
                best, largest = i, size
        if best != k:
            determinant = -determinant
            order[k], order[best] = order[best], order[k]
            for j in range(n):
                kept = a[k, j]
                a[k, j] = a[best, j]
                a[best, j] = kept
        determinant *= a[k, k]
        a[k, k] = 1.0 / a[k, k]
        for i in range(k + 1, n):
            if a[i, k] != 0.0:
                a[i, k] *= a[k, k]
                for j in range(k + 1, n):
                    a[i, j] -= a[i, k] * a[k, j]
    return determinant


@machine_code
def solve(factors: Matrix, order: Indices, b: Vector, room: Vector) -> None:
    """The solution takes the place of the right side ``b``."""
    n = b.size
    for i in range(n):
        value = b[order[i]]
        for j in range(i):
            value -= factors[i, j] * room[j]
        room[i] = value
    for i in range(n - 1, -1, -1):
        value = room[i]
        for j in range(n - 1, i, -1):
            value -= factors[i, j] * b[j]
        b[i] = value * factors[i, i]


@vector_code
def factor_columns(matrix: int, order: int, size: int) -> int:
    """Triangular factors take the place of a full matrix; 1 if it is singular.

    In place of LAPACK, of which each kind of processor has its own, with other last digits.
    ``matrix`` is the address of (size, size) numbers, column after column, ``order`` that of
    integers: which row each one is exchanged with, in turn.
    """
    n, singular = size, 0
    a, rows = vector_at(matrix, n * n), indices_at(order, n)
    for k in range(n):
        best, largest = k, abs(a[k * n + k])
        for i in range(k + 1, n):
            if abs(a[k * n + i]) > largest:
                best, largest = i, abs(a[k * n + i])
        rows[k] = best
        if largest == 0.0:
            singular = 1
        else:
            inverse = 1.0 / a[k * n + best]
            for j in range(n if best != k else 0):
                kept = a[j * n + k]
                a[j * n + k] = a[j * n + best]
                a[j * n + best] = kept
            for i in range(k + 1, n):
                a[k * n + i] *= inverse
            for j in range(k + 1, n):
                factor = a[j * n + k]
                if factor != 0.0:
                    for i in range(k + 1, n):
                        a[j * n + i] -= factor * a[k * n + i]
    return singular


@vector_code
def solve_columns(factors: int, order: int, size: int, right: int) -> int:
    """The solution takes the place of a right side, with what ``factor_columns`` has left."""
    n = size
    a, rows, b = vector_at(factors, n * n), indices_at(order, n), vector_at(right, n)
    for k in range(n):
        kept = b[k]
        b[k] = b[rows[k]]
        b[rows[k]] = kept
    for k in range(n):
        if b[k] != 0.0:
            for i in range(k + 1, n):
                b[i] -= b[k] * a[k * n + i]
    for k in range(n - 1, -1, -1):
        b[k] /= a[k * n + k]
        if b[k] != 0.0:
            for i in range(k):
                b[i] -= b[k] * a[k * n + i]
    return 0


@vector_code
def factor_beside(matrices: int, lost: int, size: int, count: int) -> int:
    """Triangular factors take the place of small matrices, entry by entry side by side.

    A row is as large as its largest entry. Whether two rows have changed places is kept, for every
    pair in turn, and how large rows are. ``matrices`` is the address of (size, size, count)
    numbers, a column after the other, with as many more behind, for what is kept; ``lost`` that of
    ``count`` numbers: 0, and for a matrix with an infinite entry, none.
    """
    n, m = size, count
    a, none = vector_at(matrices, 2 * n * n * m), vector_at(lost, m)
    kept = a[n * n * m:]
    none[:] = 0.0
    for i in range(n):
        unit = kept[i * (n + 1) * m:]
        unit[:m] = 0.0
        for j in range(n):
            entry = a[(j * n + i) * m:]
            for b in range(m):
                unit[b] = max(unit[b], abs(entry[b]))
                none[b] += 0.0 * entry[b]
    for k in range(n):
        pivot, unit = a[k * (n + 1) * m:], kept[k * (n + 1) * m:]
        for i in range(k + 1, n):
            other, its_unit = a[(k * n + i) * m:], kept[i * (n + 1) * m:]
            swapped = kept[(k * n + i) * m:]
            for b in range(m):
                swapped[b] = 0.0
                if abs(other[b]) * unit[b] > abs(pivot[b]) * its_unit[b]:
                    swapped[b] = 1.0
            for j in range(n):
                _exchange(swapped, a[(j * n + k) * m:], a[(j * n + i) * m:], m)
            _exchange(swapped, unit, its_unit, m)
        for b in range(m):
            pivot[b] = 1.0 / pivot[b]
        for i in range(k + 1, n):
            factor = a[(k * n + i) * m:]
            for b in range(m):
                factor[b] *= pivot[b]
            for j in range(k + 1, n):
                _take(a[(j * n + i) * m:], factor, a[(j * n + k) * m:], m)
    return 0


@vector_code
def solve_beside(factors: int, right: int, size: int, count: int) -> int:
    """The solutions take the place of (size, count) right sides, by what ``factor_beside`` left."""
    n, m = size, count
    a, x = vector_at(factors, 2 * n * n * m), vector_at(right, n * m)
    kept = a[n * n * m:]
    for k in range(n):
        for i in range(k + 1, n):
            _exchange(kept[(k * n + i) * m:], x[k * m:], x[i * m:], m)
    for k in range(n):
        for i in range(k + 1, n):
            _take(x[i * m:], a[(k * n + i) * m:], x[k * m:], m)
    for k in range(n - 1, -1, -1):
        value, inverse = x[k * m:], a[k * (n + 1) * m:]
        for b in range(m):
            value[b] *= inverse[b]
        for i in range(k):
            _take(x[i * m:], a[(k * n + i) * m:], value, m)
    return 0


@machine_code
def _exchange(swapped: Vector, one: Vector, other: Vector, count: int) -> None:
    """Exchange those of two rows of entries that are told to be."""
    for b in range(count):
        first, second = one[b], other[b]
        so = swapped[b] > 0.0
        one[b] = second if so else first
        other[b] = first if so else second


@machine_code
def _take(target: Vector, factor: Vector, entries: Vector, count: int) -> None:
    """Take a product away from a row of entries."""
    for b in range(count):
        target[b] -= factor[b] * entries[b]
