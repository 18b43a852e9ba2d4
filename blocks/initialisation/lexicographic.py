"""Least squares in an order of importance, each level within what those before leave free."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..numerics.arrays import Array
from ..numerics.tolerances import RANK_OF_TARGETS

__all__ = ["lexicographic_step"]


def lexicographic_step(jacobians: Sequence[Array | None], residuals: Sequence[Array], n: int
                       ) -> tuple[Array, Array]:
    """The Gauss-Newton step that makes residuals small, level by level.

    Parameters
    ----------
    jacobians : of every level, (rows, n); None where a level has no rows
    residuals : of every level, (rows,)

    Returns
    -------
    first, whole : the step of the first level (the constraints) alone, and that of all
    """
    step = first = np.zeros(n)
    null = np.eye(n)
    for level, (j, r) in enumerate(zip(jacobians, residuals, strict=True)):
        if level == 1:
            first = step
        if j is None or not null.shape[1]:
            continue
        reduced = j @ null
        u, s, vt = np.linalg.svd(reduced, full_matrices=True)
        rank = int(np.sum(s > RANK_OF_TARGETS * max(1.0, s[0] if len(s) else 0.0)))
        target = -(r + j @ step)
        y = vt[:rank].T @ ((u[:, :rank].T @ target) / s[:rank])
        step = step + null @ y
        null = null @ vt[rank:].T
    return first, step
