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

__all__ = ["factor_columns", "factorize", "solve", "solve_columns"]


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
