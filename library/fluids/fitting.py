"""Which polynomial of the temperature lies closest to a table?

It goes through the table's curve at Chebyshev's nodes, which leaves nearly the least error that
its degree allows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import Akima1DInterpolator

from blocks import interpolate

from .chambers import sum_of

__all__ = ["missed", "polynomial_of"]

FEW = 3  # points that a curve takes


def _nodes(degree: int) -> np.ndarray:
    return np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))


def polynomial_of(degree: int, xs: Any, ys: Any, count: int, low: Any, high: Any) -> list[Any]:
    """Coefficients, lowest power first, of x between -1 and 1 for a table of ``count`` points."""
    middle, half = (low + high) / 2, (high - low) / 2
    at = _nodes(degree)
    values = [interpolate(middle + half * x, xs, ys, hold=True, smooth=count >= FEW) for x in at]
    back = np.linalg.inv(np.vander(at, increasing=True))
    return [sum_of(float(w) * v for w, v in zip(row, values, strict=True)) for row in back]


def missed(degree: int, xs: np.ndarray, ys: np.ndarray) -> float:
    """The largest part of its value by which that polynomial misses a point of a table."""
    scaled = (2 * xs - xs[0] - xs[-1]) / (xs[-1] - xs[0])
    at = np.clip(_nodes(degree), -1, 1)
    curve = Akima1DInterpolator(scaled, ys, method="makima")(at) if len(xs) >= FEW else np.interp(
        at, scaled, ys)  # fmt: skip
    back = np.polynomial.polynomial.polyfit(at, curve, degree)
    return float(np.max(np.abs(np.polynomial.polynomial.polyval(scaled, back) / ys - 1)))
