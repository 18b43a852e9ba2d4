"""Trial points where the equations have no finite value.

Runge-Kutta methods, Radau and BDF of SciPy answer such a point with a smaller
step; at the start of a run, or where derivatives are none, `NotFinite` ends the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .base import Array

__all__ = ["STEEPER", "NotFinite", "finite", "finite_derivatives"]

STEEPER = 2.0  # times what it is a tolerance away: an entry that changes within the tolerance
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


def finite_derivatives(derivatives: Callable[..., Any], t: float, y: Array, atol: Array,
                       *more: Any) -> Any:
    """A Jacobian at a point, but no steeper than a tolerance away from it.

    Where a law is infinitely steep, as a root where it begins, and close to that, Newton's method
    would stay and call it a solution. What is within a tolerance is known no better than that.
    All other entries are those of the point: of an unknown far below its tolerance they may be
    thousands of times smaller than a tolerance away, and Newton's method would end far from what
    others follow from.

    Raises
    ------
    NotFinite
        If derivatives are no numbers there either, or those of no motion.
    """
    for away in (1.0, -1.0):
        try:
            matrix = derivatives(t, y + away * atol, *more)
        except ArithmeticError:  # laws that bear a load here have no solution there
            continue
        if np.isfinite(matrix.data).all():
            return _less_steep(matrix, derivatives, t, y, *more)
    matrix = derivatives(t, y, *more)
    steep = ~(np.abs(matrix.data) < STEEPEST)
    if steep.any():
        raise NotFinite(float(t), tuple(int(i) for i in np.unique(matrix.indices[steep])))
    return matrix


def _less_steep(near: Any, derivatives: Callable[..., Any], t: float, y: Array, *more: Any) -> Any:
    """The entries at a point instead of those near it, where they are not steeper."""
    try:
        here = derivatives(t, y, *more)
    except ArithmeticError:
        return near
    if here.nnz != near.nnz or not np.array_equal(here.indices, near.indices):
        return near
    steeper = ~(np.abs(here.data) <= STEEPER * np.abs(near.data))
    here.data = np.where(steeper, near.data, here.data)
    return here
