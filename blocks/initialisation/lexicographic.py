"""Least squares in an order of importance, each level within what those before leave free.

Unknowns that no row has to do with others are solved for by themselves, whatever else there is: a
thousand masses beside a pendulum cost no more than they would without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..numerics import sparse as sp
from ..numerics.arrays import Array, Indices, Matrix
from ..numerics.tolerances import BLOCK_SINGULAR

__all__ = ["lexicographic_step"]


def lexicographic_step(jacobians: Sequence[Matrix | None], residuals: Sequence[Array], n: int
                       ) -> tuple[Array, Array]:
    """The Gauss-Newton step that makes residuals small, level by level: that of the first level
    (the constraints) alone, and that of all.

    Per level there are a jacobian, (rows, n), full or sparse, None where it has no rows, and
    residuals.
    """
    first, whole = np.zeros(n), np.zeros(n)
    levels = [(k, sp.csr_array(j), r) for k, (j, r) in enumerate(
        zip(jacobians, residuals, strict=True)) if j is not None and len(r)]
    if not levels:
        return first, whole
    rows = sp.vstack([j for _, j, _ in levels])
    level = np.repeat([k for k, _, _ in levels], [len(r) for *_, r in levels])
    right = np.concatenate([r for *_, r in levels])
    of_rows, of_states = _parts(rows)
    sizes = np.bincount(of_states)
    _step_alone(rows, level, right, sizes[of_states] == 1, first, whole)
    row_order, state_order = (np.argsort(of, kind="stable") for of in (of_rows, of_states))
    for part in np.flatnonzero(sizes > 1):
        mine, states = (order[slice(*np.searchsorted(of[order], [part, part + 1]))]
                        for of, order in ((of_rows, row_order), (of_states, state_order)))
        if len(mine):
            first[states], whole[states] = _step_together(
                rows[mine][:, states].toarray(), level[mine], right[mine])
    return first, whole


def _parts(rows: Any) -> tuple[Indices, Indices]:
    """Per row, and per state, the number of the part that it belongs to."""
    from scipy.sparse.csgraph import connected_components

    rows.eliminate_zeros()
    part = connected_components(sp.block_array([[None, rows], [rows.T, None]]), directed=False)[1]
    return part[: rows.shape[0]], part[rows.shape[0] :]


def _step_alone(rows: Any, level: Indices, right: Array, alone: Array, first: Array,
                whole: Array) -> None:
    """Fill in the steps of states that have rows of their own only: the first level has its way."""
    entries = rows.tocoo()
    mine = alone[entries.col]
    state, row, slope = entries.col[mine], entries.row[mine], entries.data[mine]
    free = np.ones(len(whole), dtype=bool)
    for k in np.unique(level[row]):
        here = level[row] == k
        square, product = (np.bincount(state[here], values[here], len(whole))
                           for values in (slope**2, -slope * right[row]))
        taken = free & (np.sqrt(square) > BLOCK_SINGULAR)
        whole[taken] = product[taken] / square[taken]
        free &= ~taken
        if k == 0:
            first[taken] = whole[taken]


def _step_together(rows: Array, level: Indices, right: Array) -> tuple[Array, Array]:
    """Return the step of states that rows join, level by level, and the first level's alone."""
    n = rows.shape[1]
    step = first = np.zeros(n)
    null = np.eye(n)
    for k in np.unique(level):
        if not null.shape[1]:
            break
        j, r = rows[level == k], right[level == k]
        u, s, vt = np.linalg.svd(j @ null, full_matrices=True)
        rank = int(np.sum(s > BLOCK_SINGULAR * max(1.0, s[0] if len(s) else 0.0)))
        target = -(r + j @ step)
        y = vt[:rank].T @ ((u[:, :rank].T @ target) / s[:rank])
        step = step + null @ y
        null = null @ vt[rank:].T
        if k == 0:
            first = step
    return first, step
