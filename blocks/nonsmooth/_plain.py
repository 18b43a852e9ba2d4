"""Boxes whose answer is seen at once: one element, or all at rest within their bounds.

What is asked at most events. A guess that meets all conditions is the answer where there is
only one: D of one element is positive, D of several symmetric positive definite.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._problem import EPS, Array

__all__ = ["alone", "at_rest"]

FEW = 32
"""Largest number of elements that are tried at rest."""
REGULAR = 1e-8
"""Pivots of a matrix in equal units that are no rounding."""


def alone(d: float, b: float, low: float, high: float, noise: float, tol: float
          ) -> tuple[float, float, int, bool] | None:
    """Effort, rate, state of one element, and whether it rests at a bound; None if not regular."""
    if not (0.0 < d < np.inf and low < high and -np.inf < b < np.inf):
        return None
    effort = min(max(b / d, low), high)
    if low < effort < high:
        return effort, 0.0, 0, False
    rate = b - d * effort
    floor = noise + 4 * EPS * d * max(abs(v) for v in (low, high) if abs(v) < np.inf)
    if abs(rate) <= tol * max(abs(b), d * abs(effort)) + floor or (rate > 0) != (effort == high):
        return effort, 0.0, 0, True
    return effort, rate, 1 if rate > 0 else -1, False


def at_rest(matrix: Array, b: Array, low: Array, high: Array) -> NDArray[np.float64] | None:
    """Efforts of several elements that all rest, strictly within their bounds, or None."""
    if not 1 < len(b) <= FEW:
        return None
    diagonal = matrix.diagonal()
    if not diagonal.min() > 0.0:
        return None
    size = np.sqrt(diagonal)
    hat = matrix / size / size[:, None]
    if np.abs(hat - hat.T).max() > 1e-12:
        return None
    try:
        pivots = np.linalg.cholesky(hat).diagonal()
    except np.linalg.LinAlgError:
        return None
    if pivots.min() ** 2 <= REGULAR:
        return None
    effort: Array = np.linalg.solve(hat, b / size) / size
    return effort if ((low < effort) & (effort < high)).all() else None
