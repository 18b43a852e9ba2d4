"""Trial points where the equations have no finite value.

Runge-Kutta methods, Radau and BDF of SciPy answer such a point with a smaller
step; at the start of a run, or where derivatives are none, `NotFinite` ends the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..numerics.tolerances import BAND_DIFFERENCE
from .base import Array
from .looks import SCATTER

__all__ = ["STEEPER", "NotFinite", "finite", "finite_derivatives"]

STEEPER = 2.0  # times what it is a tolerance away: an entry that changes within the tolerance
APART = 1e-3  # of a tolerance: differences of unknowns, as under roots, are not what they were
STEEPEST = 1e15  # 1/s: a law is infinitely steep where anything would move as fast


class NotFinite(ArithmeticError):
    """The equations gave inf or nan."""

    def __init__(self, t: float, worst: tuple[int, ...]) -> None:
        super().__init__(t, worst)
        self.t, self.worst = self.args

    def __str__(self) -> str:
        return f"inf or nan at t = {self.t:.9g}"


def finite(t: float, values: Array) -> Array:
    """The values, or `NotFinite` with the indices of those that are not."""
    ok = np.isfinite(values)
    if not ok.all():
        raise NotFinite(float(t), tuple(int(i) for i in np.flatnonzero(~ok)))
    return values


def finite_derivatives(derivatives: Callable[..., Any], slope: Callable[[float, Array], Array],
                       t: float, y: Array, atol: Array) -> Any:
    """A Jacobian at a point, but no steeper than a tolerance away from it.

    Where a law is infinitely steep, as a root where it begins, and close to that, Newton's method
    would stay and call it a solution. What is within a tolerance is known no better than that. All
    other entries are those of the point: of an unknown far below its tolerance they may be
    thousands of times smaller than a tolerance away, and Newton's method would end far from what
    others follow from. So are those as steep on one side, such as where a stiff contact is touched.
    Raises NotFinite if derivatives are no numbers there either, or those of no motion.
    """
    beside = atol * (1.0 + APART * (SCATTER * np.arange(len(y)) % 1.0))
    *near, here = (_tried(derivatives, t, y + away * beside) for away in (1.0, -1.0, 0.0))
    near = [matrix for matrix in near if matrix is not None and np.isfinite(matrix.data).all()]
    if not near:
        matrix = derivatives(t, y) if here is None else here
        _fill_by_differences(matrix, slope, t, y, atol)
        steep = ~(np.abs(matrix.data) < STEEPEST)
        if steep.any():
            raise NotFinite(float(t), tuple(int(i) for i in np.unique(matrix.indices[steep])))
        return matrix
    if here is None:
        return near[0]
    from scipy.sparse import csc_matrix

    matrices, n = (here, *near), here.shape[0]
    places = [m.indices + n * np.repeat(np.arange(n), np.diff(m.indptr)) for m in matrices]
    every = np.sort(np.concatenate(places), kind="stable")  # mostly the same, each in order
    stored = every[np.diff(every, prepend=-1) > 0]
    data = np.zeros((len(matrices), len(stored)))
    for row, place, matrix in zip(data, places, matrices, strict=True):
        row[np.searchsorted(stored, place)] = matrix.data
    steepest = np.take_along_axis(data[1:], np.abs(data[1:]).argmax(axis=0)[None], axis=0)[0]
    less = np.where(np.abs(data[0]) <= STEEPER * np.abs(steepest), data[0], steepest)
    return csc_matrix((less, (stored % n, stored // n)), (n, n))


def _fill_by_differences(matrix: Any, slope: Callable[[float, Array], Array], t: float, y: Array,
                         atol: Array) -> None:
    """Differences of slopes in place of derivatives that are no numbers, as those of 1 / exp(x)
    where that has become nothing, and both it is divided by and its fall have overflown."""
    columns = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    for j in np.unique(columns[np.isnan(matrix.data)]).tolist():
        near = y.copy()
        near[j] += BAND_DIFFERENCE * max(abs(y[j]), atol[j])
        change = (slope(t, near) - slope(t, y)) / (near[j] - y[j])
        missing = np.isnan(matrix.data) & (columns == j)
        matrix.data[missing] = change[matrix.indices[missing]]


def _tried(derivatives: Callable[..., Any], *point: Any) -> Any:
    """Derivatives at a point; None where laws that bear a load have no solution."""
    try:
        return derivatives(*point)
    except ArithmeticError:
        return None
