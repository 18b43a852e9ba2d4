"""Matrices of set-valued problems: which are dense, what is connected, in which units.

With d_i = 1/sqrt(D_ii) every element weighs the same: D_hat = d D d has a unit diagonal. Efforts
and rates in these have the unit sqrt(power rate), so newtons and newton metres can be compared.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Indices

__all__ = ["DENSE_LIMIT", "Matrix", "MatrixLike", "as_bounds", "as_matrix", "components",
           "dense_block", "in_equal_units"]  # fmt: skip

Matrix: TypeAlias = Any
"""Dense, or sparse in compressed rows (SciPy has no types for these)."""
MatrixLike: TypeAlias = "ArrayLike | sp.sparray"

EPS = float(np.finfo(float).eps)
FEW = 32  # elements whose graph is searched without building it
DENSE_LIMIT = 256
"""Up to this many elements matrices are dense; above, compressed rows."""


def as_matrix(given: MatrixLike, n: int) -> Matrix:
    """Square finite matrix of order n: ndarray when small, CSR when large."""
    matrix: Matrix = given
    if tuple(np.shape(matrix)) != (n, n):
        raise ValueError(f"the matrix must be {n} x {n} (got {np.shape(matrix)})")
    if sp.issparse(matrix):
        out = matrix.toarray() if n <= DENSE_LIMIT else sp.csr_array(matrix, dtype=float)
    else:
        dense = np.asarray(matrix, dtype=float)
        out = dense if n <= DENSE_LIMIT else sp.csr_array(dense)
    if not np.all(np.isfinite(out.data if sp.issparse(out) else out)):
        raise ValueError("the matrix has entries that are not finite")
    return out


def as_bounds(lower: ArrayLike, upper: ArrayLike, n: int) -> tuple[Array, Array]:
    """Lower and upper bounds of n efforts; scalars hold for all elements."""
    low = np.array(np.broadcast_to(np.asarray(lower, dtype=float), (n,)))
    high = np.array(np.broadcast_to(np.asarray(upper, dtype=float), (n,)))
    wrong = np.flatnonzero(~(low <= high) | (low == np.inf) | (high == -np.inf))
    if wrong.size:
        i = int(wrong[0])
        raise ValueError(f"bounds of element {i} leave no effort (got {low[i]} .. {high[i]})")
    return low, high


def dense_block(matrix: Matrix, rows: Indices, columns: Indices) -> Array:
    """Submatrix of a dense or sparse matrix by index arrays, dense."""
    if sp.issparse(matrix):
        return matrix.tocsr()[rows][:, columns].toarray()
    return matrix[np.ix_(rows, columns)]


def components(matrix: Matrix) -> tuple[int, NDArray[np.int32]]:
    """Connected components of the graph of a matrix, direction ignored.

    Of small dense matrices powers tell, several times faster than building
    a graph; the answer is numbered by first member either way.
    """
    n = matrix.shape[0]
    if sp.issparse(matrix) or n > FEW:
        from scipy.sparse.csgraph import connected_components

        graph = matrix if sp.issparse(matrix) else sp.csr_array((matrix != 0) | (matrix != 0).T)
        return connected_components(graph, directed=False)
    acts = matrix != 0
    reached = acts | acts.T | np.eye(n, dtype=bool)
    for _ in range(n.bit_length()):  # twice as far each time
        reached = reached @ reached
    first, label = np.unique(np.where(reached, np.arange(n), n).min(axis=1, initial=n),
                             return_inverse=True)
    return len(first), label.astype(np.int32)


def in_equal_units(D: Matrix) -> tuple[Matrix, Array]:
    """D with a unit diagonal, and the unit of effort of each element.

    Rows whose diagonal is rounding noise beside the rest of their island (an element across a rigid
    path) are cut out and become islands of their own.
    """
    count, group = components(D)
    own, top = np.array(D.diagonal()), np.zeros(count)
    np.maximum.at(top, group, own)
    dead = own <= 4 * EPS * top[group]
    unit = np.where(dead, 1.0, 1 / np.sqrt(np.where(dead, 1.0, own)))
    keep = np.where(dead, 0.0, unit)
    if not sp.issparse(D):
        return keep[:, None] * D * keep, unit
    hat = sp.csr_array(sp.diags_array(keep) @ D @ sp.diags_array(keep))
    hat.eliminate_zeros()
    return hat, unit
