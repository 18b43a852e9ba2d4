"""Trial points where the equations have no finite value.

Runge-Kutta methods, Radau and BDF of SciPy answer such a point with a smaller
step; at the start of a run, or where derivatives are none, `NotFinite` ends the call.
"""

from __future__ import annotations

import numpy as np

from .base import Array

__all__ = ["NotFinite", "finite"]


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
