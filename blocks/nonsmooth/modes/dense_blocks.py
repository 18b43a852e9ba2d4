"""Rows and counts of matrices that are dense for few elements and sparse for many."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Flags, Indices

__all__ = ["at_hand", "count_nonzero", "masked_rows"]

DENSE = 1000  # elements up to which a matrix that many blocks are taken of is dense, of 8 MB


def at_hand(matrix: Any) -> Any:
    """A matrix that many blocks are taken of: dense, unless it is large."""
    return matrix.toarray() if sp.issparse(matrix) and matrix.shape[0] <= DENSE else matrix


def count_nonzero(matrix: Any, rows: Indices | None, axis: int) -> Indices:
    """How many entries of every column (axis 0) or row (1), of some rows, are not zero."""
    part = matrix if rows is None else matrix[rows]
    return np.asarray((part != 0).sum(axis=axis)).ravel()


def masked_rows(mask: Flags, matrix: Any) -> Any:
    """The rows of a mask, zero elsewhere."""
    if sp.issparse(matrix):
        return sp.diags_array(mask.astype(float)).tocsr() @ matrix
    return np.where(mask[:, None], matrix, 0.0)
