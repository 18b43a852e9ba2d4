"""How are matrices factored: large sparse ones, and full ones far enough from singular? How scaled?

Sparse ones are, where rows can be paired with columns so that the pattern is symmetric, as in the
matrix of a graph, by an ordering for such patterns with pivots from the diagonal as long as these
are not small: a fraction of the fill, and of the time, of an ordering for any pattern.

References
----------
A. George and J. W. H. Liu, "The evolution of the minimum degree ordering algorithm", SIAM Review
31 (1989) 1-19. X. S. Li, "An overview of SuperLU", ACM Trans. Math. Softw. 31 (2005) 302-325.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .arrays import Array, Indices
from .tolerances import DIAGONAL_PIVOT

if TYPE_CHECKING:
    # imported with the first matrix, not with the package
    from scipy.sparse import csc_matrix, csr_matrix

__all__ = ["equilibrated", "factored", "factors_if_regular", "inverse_by_parts"]

ESTIMATED = 1e2  # times as far from singular as would do, where that is an estimate


def factored(matrix: csc_matrix) -> Callable[[Array], Array]:
    """What solves linear equations with a square matrix, for one or more right-hand sides; a
    RuntimeError if it is singular."""
    from scipy.sparse.linalg import splu

    rows = _paired(matrix)
    paired = matrix if rows is None else matrix[rows].sorted_indices()
    transposed = paired.T.tocsc()
    if rows is None or not (np.array_equal(paired.indptr, transposed.indptr)
                            and np.array_equal(paired.indices, transposed.indices)):
        solve: Callable[[Array], Array] = splu(matrix).solve
        return solve
    lu = splu(paired, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=DIAGONAL_PIVOT,
              options={"SymmetricMode": True})
    return lambda b: lu.solve(b[rows])


def _paired(matrix: csc_matrix) -> Indices | None:
    """Per column the row of its largest entry, if each is of one column."""
    n, starts = matrix.shape[1], matrix.indptr
    if not n or (np.diff(starts) == 0).any():
        return None
    size = np.abs(matrix.data)
    largest = np.repeat(np.maximum.reduceat(size, starts[:-1]), np.diff(starts))
    at = np.flatnonzero(size == largest)[::-1]
    rows = np.zeros(n, dtype=np.intp)
    rows[np.searchsorted(starts, at, side="right") - 1] = matrix.indices[at]
    # or entries that are no numbers
    return rows if np.bincount(rows, minlength=n).max() == 1 else None


def factors_if_regular(matrix: Array, least: float) -> tuple[Array, Indices] | None:
    """LU factors and pivots of a square matrix; None where it may be singular, or is empty.

    Singular values are told by an estimate, which is cheap beside them: the smallest one is surely
    more than ``least`` of the largest one.
    """
    from scipy.linalg.lapack import dgecon, dgetrf

    if not matrix.size:
        return None  # LAPACK says in the terminal that it takes none
    lu, pivots, failed = dgetrf(matrix)
    if failed:
        return None
    size = float(np.abs(matrix).sum(axis=0).max(initial=0.0))
    reciprocal, failed = dgecon(lu, size)
    return None if failed or reciprocal <= ESTIMATED * len(matrix) * least else (lu, pivots)


def equilibrated(matrix: Array) -> tuple[Array, Array, Array]:
    """Full matrices whose rows and columns have largest entries from 1 to 2, and what they were
    divided by, (…, rows, 1) and (…, 1, columns): powers of two, so no digit is lost."""
    rows = _power_of_two(np.abs(matrix).max(axis=-1, keepdims=True, initial=0.0))
    matrix = matrix / rows
    columns = _power_of_two(np.abs(matrix).max(axis=-2, keepdims=True, initial=0.0))
    return matrix / columns, rows, columns


def _power_of_two(size: Array) -> Array:
    """The largest power up to each size; 1 of zero, and of what is not finite."""
    return np.ldexp(1.0, np.where(size > 0, np.frexp(size)[1] - np.isfinite(size), 0))


def inverse_by_parts(matrix: csr_matrix, least: float) -> csr_matrix:
    """The pseudoinverse, found apart for rows and columns that have to do with each other; of their
    singular values those below ``least`` of the largest count as zero."""
    from scipy.sparse import block_array, csr_matrix
    from scipy.sparse.csgraph import connected_components

    part = connected_components(block_array([[None, matrix], [matrix.T, None]]), directed=False)[1]
    of = np.split(part, [matrix.shape[0]])  # rows, and columns
    count = np.array([np.bincount(one, minlength=part.max(initial=-1) + 1) for one in of])
    first, order = np.cumsum(count, axis=1) - count, [np.argsort(o, kind="stable") for o in of]
    found = csr_matrix(matrix.T.shape)
    for sizes in np.unique(count[:, count.all(axis=0)], axis=1).T:
        mine = first[:, (count == sizes[:, None]).all(axis=0)]
        rows, columns = (o[k[:, None] + np.arange(n)]
                         for o, k, n in zip(order, mine, sizes, strict=True))
        i, j = np.repeat(rows, sizes[1]), np.repeat(columns, sizes[0], axis=0).ravel()
        alike = np.asarray(matrix[i, j]).reshape(len(rows), *sizes)
        inverse = np.linalg.pinv(alike, rcond=least).transpose(0, 2, 1).ravel()
        found += csr_matrix((inverse, (j, i)), shape=found.shape)
    return found
