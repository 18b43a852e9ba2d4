"""Newton's method at many points of a finished run at once."""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array, Flags
from ..numerics.blas_threads import threads_for
from ..numerics.tolerances import CANCELLATION, FALLS_NO_MORE, LAST_BITS, NEWTON_CONVERGES
from .evaluator import Evaluator

__all__ = ["solved_at_points"]

ROUNDS = 15


def solved_at_points(function: Evaluator, unknowns: Array, nominal: Array, *given: Array
                     ) -> tuple[Array, Flags]:
    """Unknowns at points, as columns, and where they are found.

    ``function`` is of what is given and of the unknowns: matrix and residual, column after column;
    ``unknowns`` are near those that are sought; ``nominal`` are their nominal values: of one that
    is zero but for rounding, nothing else tells so; of what is ``given``, as columns, one may serve
    for all points.
    """
    unknowns, done = unknowns.copy(), np.zeros(unknowns.shape[1], dtype=bool)
    n, last = len(unknowns), np.full(unknowns.shape[1], np.inf)
    for k in range(ROUNDS):
        left = np.flatnonzero(~done)
        if not len(left):
            break
        some = [a if a.shape[1] == 1 else a[:, left] for a in given]
        out = function.at_columns(*some, unknowns[:, left]).T.reshape(-1, n + 1, n)
        sure = np.asarray(np.isfinite(out).all(axis=(1, 2)))
        step = np.zeros((len(left), n))
        with threads_for(n):
            step[sure], sure[sure] = _steps(out if sure.all() else out[sure])
        if not sure.any():
            break
        unknowns[:, left] -= step.T
        size = np.abs(unknowns[:, left]).T + np.abs(unknowns).max(axis=1)
        little = NEWTON_CONVERGES * size + CANCELLATION * nominal
        # slopes may be steep at first, as of a root: the step tells nothing then
        close = (np.abs(step) <= little).all(axis=1) & (k > 0)
        # a current of nothing beside voltages: what does not shrink any more is their rounding
        largest = np.abs(step).max(axis=1)
        close |= (largest >= FALLS_NO_MORE * last[left]) & (
            largest <= LAST_BITS * np.abs(unknowns[:, left]).max(axis=0))
        last[left] = largest
        done[left] = sure & close
    return unknowns, done


def _steps(out: Array) -> tuple[Array, Flags]:
    """Newton's steps at points, a row for each, and where matrices are regular."""
    n = out.shape[2]
    matrix, residual = out[:, :n].transpose(0, 2, 1), out[:, n, :, None]
    steps, regular = np.zeros((len(out), n)), np.ones(len(out), dtype=bool)
    try:
        steps[:] = np.linalg.solve(matrix, residual)[..., 0]
    except np.linalg.LinAlgError:
        regular[:] = np.linalg.slogdet(matrix)[0] != 0.0  # a determinant may underflow
        steps[regular] = np.linalg.solve(matrix[regular], residual[regular])[..., 0]
    return steps, regular
