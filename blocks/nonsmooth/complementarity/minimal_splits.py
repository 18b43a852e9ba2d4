"""Which split is reported at many times, where only the load that is shared changes?

For given bounds the smallest largest ratio is a linear program of which the load is the right
side: its solution is linear in the load as long as the same bounds decide. So few programs are
solved, and each answer is taken wherever it is proven to hold: the deciding rows have weights that
no load changes, and no other row lies above them. (This is multiparametric linear programming:
Gal, Nedoma, Management Science 18(7), 1972, 406-422.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...numerics.arrays import Array, Flags
from ...numerics.tolerances import FLAT_ROW, TIGHT_ROW
from .internal_stress import even_on_line, even_split, stresses
from .minimax import half_range, minimise_rows, open_sides, rows_of
from .scaling import MatrixLike, as_bounds

__all__ = ["minimal_splits"]


def minimal_splits(D: MatrixLike, lower: ArrayLike, upper: ArrayLike, efforts: Array,
                   stuck: ArrayLike) -> Array:
    """The efforts of smallest largest ratio, then least norm, with the same motion, many at once.

    Ratios are measured as in `MarginProblem`, so that the largest ratio of a group reaches 1
    exactly when the group can hold no more. Each group has its own smallest largest ratio; efforts
    that are determined are returned unchanged.

    Parameters
    ----------
    D, lower, upper, stuck
        As for `undetermined_groups`.
    efforts : (n, k) array
        A solution per column.

    Returns
    -------
    (n, k) array

    Examples
    --------
    >>> loads = np.array([[1.0, -1.0, 0.0], [2.6, -0.8, 0.4]])
    >>> minimal_splits([[1, 1], [1, 1]], [-1, -3], [1, 3], loads, [0, 1]).round(9).tolist()
    [[0.9, -0.45, 0.1], [2.7, -1.35, 0.3]]
    """
    low, high = as_bounds(lower, upper, len(efforts))
    out = np.array(efforts, dtype=float)
    for stress in stresses(D, low, high, stuck):
        i = stress.members
        out[i] = _splits(low[i], high[i], out[i], stress.basis)
    return out


def _splits(low: Array, high: Array, held: Array, basis: Array) -> Array:
    """Those of one group of elements that share internal stress."""
    if basis.shape[1] == 1:
        return even_on_line(low[:, None], high[:, None], held, basis)
    low, high = open_sides(low, high)
    half, out = half_range(low, high, np.abs(held).max(axis=1)), held.copy()
    even = half[:, None] * np.linalg.qr(basis / half[:, None])[0]
    rows = rows_of(low, high, half)
    slopes = rows.slope[:, None] * even[rows.element]
    ratios = rows.ratios(held.T)  # a row per column of efforts
    left = np.arange(held.shape[1])
    while len(left):
        out[:, left[0]] = even_split(low, high, held[:, left[0]], basis)
        found = _of_same_rows(ratios[left], slopes)
        done = np.zeros(len(left), dtype=bool)
        if found is not None:
            step, done = found
            some = left[done]
            out[:, some] = np.clip(held[:, some] + even @ step[:, done], low[:, None],
                                   high[:, None])
        done[0] = True
        left = left[~done]
    return out


def _of_same_rows(ratios: Array, slopes: Array) -> tuple[Array, Flags] | None:
    """The t at which ``max(ratios + slopes t)`` is least, by the rows that decide for the first.

    Returns
    -------
    t of every one as a column, and where it is proven; None where the rows leave t open
    """
    free = slopes.shape[1]
    least, _, weight = minimise_rows(ratios[0], slopes)
    tight = np.flatnonzero(weight > TIGHT_ROW)
    if not np.isfinite(least) or len(tight) != free + 1:
        return None
    matrix = np.column_stack([slopes[tight], -np.ones(free + 1)])
    if np.linalg.matrix_rank(matrix, tol=TIGHT_ROW) <= free:
        return None
    solution = np.linalg.solve(matrix, -ratios[:, tight].T)
    step, value = solution[:free], solution[free]
    above = (ratios + step.T @ slopes.T).max(axis=1) - value
    return step, above <= FLAT_ROW * (1 + np.abs(value))
