"""Boxes whose answer is seen at once: one element, or all at rest within their bounds.

What is asked at most events. A guess that meets all conditions is the answer where there is
only one: D of one element is positive, D of several symmetric positive definite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics.arrays import Array
from ...numerics.tolerances import SAFE_PIVOT, SYMMETRIC
from .scaling import EPS

__all__ = ["OneElement", "all_at_rest", "one_element"]

FEW = 32
"""Largest number of elements that are tried at rest."""


@dataclass(frozen=True)
class OneElement:
    """Answer to the box problem of one element, as in :class:`.solution.Solution`."""

    effort: float
    rate: float
    state: int
    grazing: bool


def one_element(d: float, b: float, low: float, high: float, noise: float, tol: float = 1e-10
                ) -> OneElement | None:
    """The box problem of one element in plain numbers; None where it is not regular.

    Parameters are those of :func:`.solving.solve`.
    """
    if not (0.0 < d < np.inf and low < high and -np.inf < b < np.inf):
        return None
    effort = min(max(b / d, low), high)
    if low < effort < high:
        return OneElement(effort, 0.0, 0, False)
    rate = b - d * effort
    floor = noise + 4 * EPS * d * max(abs(v) for v in (low, high) if abs(v) < np.inf)
    moves = abs(rate) > tol * max(abs(b), d * abs(effort)) + floor
    if not moves or (rate > 0) != (effort == high):
        return OneElement(effort, 0.0, 0, True)
    return OneElement(effort, rate, 1 if rate > 0 else -1, False)


def all_at_rest(matrix: Array, b: Array, low: Array, high: Array) -> Array | None:
    """Efforts of a few elements that all rest strictly within constant bounds, or None."""
    if not 1 < len(b) <= FEW:
        return None
    diagonal = matrix.diagonal()
    if not diagonal.min() > 0.0:
        return None
    size = np.sqrt(diagonal)
    hat = matrix / size / size[:, None]
    if np.abs(hat - hat.T).max() > SYMMETRIC:
        return None
    try:
        pivots = np.linalg.cholesky(hat).diagonal()
    except np.linalg.LinAlgError:
        return None
    if pivots.min() ** 2 <= SAFE_PIVOT:
        return None
    effort: Array = np.linalg.solve(hat, b / size) / size
    return effort if ((low < effort) & (effort < high)).all() else None
