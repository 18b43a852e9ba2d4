"""Which boxes, in which units, and what counts as zero?

A box problem is brought to rate-and-effort units in which every element
weighs the same: with d_i = 1/sqrt(D_ii) it becomes D_hat = d D d (unit
diagonal), b_hat = d b, lambda_hat = lambda/d. Both hats have the unit
sqrt(power rate), so newtons and newton metres can be compared, and the
projection step of the natural residual needs no extra factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Indices
from ...numerics.tolerances import NOISE, ROUNDING

__all__ = ["DENSE_LIMIT", "Matrix", "MatrixLike", "ScaledBox", "as_bounds", "as_matrix",
           "components", "dense_block", "scale"]  # fmt: skip

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

    Small dense matrices take a plain search, five times faster than building
    a graph; the answer is numbered by first member either way.
    """
    n = matrix.shape[0]
    if sp.issparse(matrix) or n > FEW:
        from scipy.sparse.csgraph import connected_components

        graph = matrix if sp.issparse(matrix) else sp.csr_array((matrix != 0) | (matrix != 0).T)
        return connected_components(graph, directed=False)
    linked = (matrix != 0) | (matrix != 0).T
    near = [np.flatnonzero(row).tolist() for row in linked]
    labels = np.full(n, -1, dtype=np.int32)
    count = 0
    for seed in range(n):
        if labels[seed] >= 0:
            continue
        labels[seed] = count
        stack = [seed]
        while stack:
            for j in near[stack.pop()]:
                if labels[j] < 0:
                    labels[j] = count
                    stack.append(j)
        count += 1
    return count, labels


@dataclass(frozen=True)
class ScaledBox:
    """Find x in [lower, upper] with w = b - D x in the normal cone of the box at x.

    ``floor`` is the rate, per element, that rounding alone can cause (plus
    what the caller says is noise); ``group`` numbers the islands.
    """

    D: Matrix
    b: Array
    lower: Array
    upper: Array
    floor: Array
    group: NDArray[np.int32]
    groups: int
    symmetric: bool

    @property
    def size(self) -> int:
        return len(self.b)

    def rate(self, x: Array) -> Array:
        return self.b - self.D @ x

    def unit(self, w: Array) -> Array:
        """Per element, the largest rate in its island: what a residual is measured by.

        Of b and D x only: |D||x| would grow with a huge internal stress and
        call any answer converged.
        """
        size = np.maximum(np.abs(self.b), np.abs(self.b - w))
        if self.groups == 1:
            return np.full(self.size, size.max(initial=0.0))
        top = np.zeros(self.groups)
        np.maximum.at(top, self.group, size)
        return top[self.group]

    def residual(self, x: Array, w: Array, tol: float) -> Array:
        """Natural residual |x - clip(x + w)| per element; solved when <= tol."""
        natural = np.abs(x - np.clip(x + w, self.lower, self.upper))
        unit = self.unit(w) + self.floor / tol
        return np.divide(natural, unit, out=np.where(natural > 0, np.inf, 0.0), where=unit > 0)


def scale(D: Matrix, b: Array, lower: Array, upper: Array, noise: Array) -> tuple[ScaledBox, Array]:
    """Bring a problem to equal units; returns it with d (effort = d * x).

    Rows whose entries are rounding noise beside the rest of their island
    (an element across a rigid path) are cut out and become islands of their own.
    """
    if sp.issparse(D) and not D.shape[0]:
        D = D.toarray()  # nothing is open: sparse arrays have no largest entry then
    sparse = sp.issparse(D)
    size = abs(D)
    if sparse:
        reach = np.maximum(size.max(axis=1).toarray(), size.max(axis=0).toarray()).ravel()
    else:
        reach = np.maximum(size.max(axis=1, initial=0.0), size.max(axis=0, initial=0.0))
    count, group = components(D)
    top = np.zeros(count)
    np.maximum.at(top, group, reach)
    dead = reach <= 4 * EPS * top[group]
    diagonal = np.array(D.diagonal())
    weight = np.where(diagonal > 4 * EPS * top[group], diagonal, reach)
    d = np.where(dead, 1.0, 1 / np.sqrt(np.where(dead, 1.0, weight)))
    bound = np.maximum(
        np.where(np.isfinite(lower), np.abs(lower), 0.0),
        np.where(np.isfinite(upper), np.abs(upper), 0.0),
    )
    floor = d * noise + 4 * EPS * d * (size @ bound)
    if dead.any():
        load = np.zeros(count)
        np.maximum.at(load, group, np.abs(b))
        floor = np.where(dead & (top[group] > 0), np.maximum(floor, NOISE * load[group]), floor)
    keep = np.where(dead, 0.0, d)
    if sparse:
        hat = sp.csr_array(sp.diags_array(keep) @ D @ sp.diags_array(keep))
        hat.eliminate_zeros()
        skew = abs(hat - hat.T)
        symmetric = skew.nnz == 0 or skew.max() <= ROUNDING
    else:
        hat = keep[:, None] * D * keep
        symmetric = bool(np.all(np.abs(hat - hat.T) <= ROUNDING))
    if dead.any():
        count, group = components(hat)
    return ScaledBox(hat, d * b, lower / d, upper / d, floor, group, count, symmetric), d
