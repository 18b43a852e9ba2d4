"""Which unknowns do linear equations leave open, and which equations say nothing new?

By QR factorization with column pivoting [G. H. Golub and C. F. Van Loan, "Matrix Computations",
4th ed., sec. 5.4], rows and columns scaled to their largest entry.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array, Indices
from .tolerances import OPEN_UNKNOWN

__all__ = ["open_unknowns", "pinned"]


def open_unknowns(matrix: Array, scale: Array | None = None) -> tuple[Indices, Indices]:
    """Rows that follow from the others, and as many columns that these leave open.

    Parameters
    ----------
    matrix : square
    scale : of the unknowns
    """
    from scipy.linalg import qr

    sized = matrix if scale is None else matrix * scale
    largest = np.max(np.abs(sized), axis=1, initial=0.0, keepdims=True)
    sized = sized / np.where(largest > 0, largest, 1.0)
    _, r, columns = qr(sized, mode="economic", pivoting=True)
    size = np.abs(np.diag(r))
    rank = int(np.sum(size > OPEN_UNKNOWN * size[0])) if len(size) else 0
    if rank == len(matrix):
        none = np.zeros(0, dtype=int)
        return none, none
    _, _, rows = qr(sized[:, columns[:rank]].T, mode="economic", pivoting=True)
    return rows[rank:], columns[rank:]


def pinned(matrix: Array, rows: Indices, columns: Indices) -> Array:
    """The matrix with rows that say nothing new replaced by the open unknowns themselves."""
    out = matrix.copy()
    out[rows] = 0.0
    out[rows, columns] = 1.0
    return out
