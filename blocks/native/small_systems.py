"""Solution and determinant of a few linear equations, compiled.

Gaussian elimination with the largest pivot of each column [G. H. Golub and C. F. Van Loan, "Matrix
Computations", 4th ed., sec. 3.4], in the first rows and columns of matrices that may be larger.
"""

from __future__ import annotations

from ..numerics.arrays import Matrix, Vector
from .functions import machine_code

__all__ = ["eliminate"]


@machine_code
def eliminate(a: Matrix, b: Vector, n: int) -> float:
    """The determinant of the first n rows and columns; the solution takes the place of ``b``.

    Factors take the place of the matrix. Of a singular one the determinant is 0, and ``b`` no
    solution.
    """
    determinant = 1.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[best, k]):
                best = i
        if a[best, k] == 0.0:
            return 0.0
        if best != k:
            determinant = -determinant
            b[k], b[best] = b[best], b[k]
            for j in range(k, n):
                a[k, j], a[best, j] = a[best, j], a[k, j]
        determinant *= a[k, k]
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            b[i] -= factor * b[k]
            for j in range(k + 1, n):
                a[i, j] -= factor * a[k, j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= a[i, j] * b[j]
        b[i] = b[i] / a[i, i]
    return determinant
