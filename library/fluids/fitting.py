"""Which polynomial of the temperature lies closest to a table?

That of least squares over the points, of as many powers as there are points where these are fewer.

References
----------
G. E. Forsythe, J. Soc. Indust. Appl. Math. 5 (1957) 74-88: by polynomials that are orthogonal over
the points, so that nothing is solved.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .chambers import sum_of
from .polynomials import horner

__all__ = ["missed", "polynomial_of"]


def polynomial_of(degree: int, xs: Any, ys: Any) -> list[Any]:
    """Coefficients, lowest power first, of x between -1 and 1 over all of a table's points."""
    count = len(xs)
    x = (2 * xs - xs[0] - xs[count - 1]) / (xs[count - 1] - xs[0])
    found = [0 * ys[0]] * (degree + 1)
    now, before, size = 0 * x + 1, 0 * x, 1.0
    powers, older = [1.0], [0.0]  # of both
    for k in range(min(degree, count - 1) + 1):
        smaller, size = size, sum_of(now * now)
        share, middle = sum_of(now * ys) / size, sum_of(x * now * now) / size
        for power, coefficient in enumerate(powers):
            found[power] = found[power] + share * coefficient
        back = size / smaller if k else 0.0
        now, before = (x - middle) * now - back * before, now
        powers, older = [rising - middle * same - back * old for rising, same, old in zip(
            [0.0, *powers], [*powers, 0.0], [*older, 0.0, 0.0][: k + 2], strict=True)], powers
    return found


def missed(degree: int, xs: np.ndarray, ys: np.ndarray) -> float:
    """The largest part of its value by which that polynomial misses a point of a table.

    Where the whole table spans more than the value, it is part of that.
    """
    x = (2 * xs - xs[0] - xs[-1]) / (xs[-1] - xs[0])
    off = np.abs(horner(x, polynomial_of(degree, xs, ys)) - ys)
    return float(np.max(off / np.maximum(np.abs(ys), np.ptp(ys))))
