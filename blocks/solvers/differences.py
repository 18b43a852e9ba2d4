"""A Jacobian by differences whose increments learn from call to call.

Needed where a published run is to be repeated: a law with a jump has no useful
exact Jacobian, and what the differences see decides the steps.

References
----------
D. E. Salane, "Adaptive routines for forming Jacobians numerically",
SAND86-1319, Sandia National Laboratories, 1986.
L. F. Shampine and M. W. Reichelt, "The MATLAB ODE Suite", SIAM J. Sci. Comput.
18(1), 1997, section 6.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .base import Array

__all__ = ["AdaptiveDifferences"]

EPS = float(np.finfo(float).eps)
HOPELESS, SMALL, LARGE = EPS**0.875, EPS**0.75, EPS**0.25  # changes, relative to the slope
LEAST, MOST = EPS**0.78, 0.1  # increments, relative to the unknown


class AdaptiveDifferences:
    """d slope / d y by forward differences, column by column.

    Parameters
    ----------
    threshold : (n,) size below which an unknown does not scale its increment
    """

    def __init__(self, threshold: Array) -> None:
        self.threshold = threshold
        self.factors = np.full(threshold.size, np.sqrt(EPS))

    def __call__(self, slope: Callable[[Array], Array], y: Array, base: Array) -> Array:
        """The (n, n) Jacobian at ``y``, where the slope is ``base``."""
        scale = np.maximum(np.abs(y), self.threshold)
        return np.column_stack([self._column(slope, y, base, i, scale[i]) for i in range(y.size)])

    def _column(
        self, slope: Callable[[Array], Array], y: Array, base: Array, i: int, scale: float
    ) -> Array:
        def change(factor: float) -> tuple[Array, float]:
            increment = abs((y[i] + factor * scale) - y[i])
            if base[i] < 0.0:
                increment = -increment  # go where the solution goes
            moved = y.copy()
            moved[i] += increment
            return slope(moved) - base, increment

        factor = self.factors[i]
        while y[i] + factor * scale == y[i] and factor < MOST:
            factor = min(100.0 * factor, MOST)
        difference, increment = change(factor)
        column = difference / increment
        largest, size, telling = self._compare(difference, base)
        if telling and largest <= HOPELESS * size:
            larger = min(np.sqrt(factor), MOST)
            if larger == factor:
                return column
            difference, increment = change(larger)
            if larger * np.max(np.abs(difference / increment)) < np.max(np.abs(column)):
                return column
            column, factor = difference / increment, larger
            largest, size, _ = self._compare(difference, base)
        if telling and largest <= SMALL * size:
            factor = min(10.0 * factor, MOST)
        elif telling and largest > LARGE * size:
            factor = max(0.1 * factor, LEAST)
        self.factors[i] = factor
        return column

    @staticmethod
    def _compare(difference: Array, base: Array) -> tuple[float, float, bool]:
        """The largest change, what to measure it by, and whether that tells anything."""
        row = int(np.argmax(np.abs(difference)))
        largest, before = abs(difference[row]), abs(base[row])
        after = abs(base[row] + difference[row])
        telling = largest == 0.0 or (before != 0.0 and after != 0.0)
        return float(largest), float(max(before, after)), telling
