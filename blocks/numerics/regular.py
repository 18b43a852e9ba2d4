"""Is a matrix far enough from singular to be solved with?"""

from __future__ import annotations

import numpy as np

from .arrays import Array, Indices

__all__ = ["factors_if_regular"]

ESTIMATED = 1e2  # times as far from singular as would do, where that is an estimate


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
