"""Which unknowns do linear equations leave open, and which equations say nothing new?

By QR factorization with column pivoting [G. H. Golub and C. F. Van Loan, "Matrix Computations",
4th ed., sec. 5.4], rows and columns scaled to their largest entry.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array, Flags, Indices
from .tolerances import OPEN_UNKNOWN

__all__ = ["open_unknowns", "pinned"]

CHOSEN_LAST = 1e-6  # weight of rows of what a flow carries


def open_unknowns(matrix: Array, scale: Array | None = None, carried: Flags | None = None,
                  largest: Array | None = None) -> tuple[Indices, Indices]:
    """Rows that follow from the others, and as many columns that these leave open.

    Parameters
    ----------
    matrix : square
    scale : of the unknowns
    carried : rows of which those are told that follow from the others, where there is a choice
    largest : of each row, the entry beside which others count, of a block that of the whole row;
        by default that in the matrix
    """
    from scipy.linalg import qr

    sized = matrix if scale is None else matrix * scale
    if largest is None:
        largest = np.max(np.abs(sized), axis=1, initial=0.0)
    sized = sized / np.where(largest > 0, largest, 1.0)[:, None]
    _, r, columns = qr(sized, mode="economic", pivoting=True)
    size = np.abs(np.diag(r))
    rank = int(np.sum(size > OPEN_UNKNOWN * max(size[0], 1.0))) if len(size) else 0
    if rank == len(matrix):
        none = np.zeros(0, dtype=int)
        return none, none
    chosen = sized[:, columns[:rank]]
    if carried is not None:
        chosen = np.where(carried[:, None], CHOSEN_LAST * chosen, chosen)
    _, _, rows = qr(chosen.T, mode="economic", pivoting=True)
    return rows[rank:], columns[rank:]


def pinned(matrix: Array, rows: Indices, columns: Indices) -> Array:
    """The matrix with rows that say nothing new replaced by the open unknowns themselves."""
    out = matrix.copy()
    out[rows] = 0.0
    out[rows, columns] = 1.0
    return out
