"""Piecewise linear tables as component parameters: the checks and the integral."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from blocks import interpolate, maximum, minimum

__all__ = ["integral", "table_faults"]


def integral(x: Any, xs: Any, ys: Any) -> Any:
    """Integral from 0 to x of the table (xs, ys), continued by its end segments."""
    return _from_first(x, xs, ys) - _from_first(0 * xs[0], xs, ys)


def _from_first(x: Any, xs: Any, ys: Any) -> Any:
    total, last = 0.0, len(xs) - 2
    for i in range(last + 1):
        end = x if i == 0 else maximum(x, xs[i])
        end = end if i == last else minimum(end, xs[i + 1])
        total = total + (end - xs[i]) * (ys[i] + interpolate(end, xs[i : i + 2], ys[i : i + 2])) / 2
    return total


def table_faults(xs: Any, **columns: Any) -> Iterator[str]:
    """What is wrong with table parameters; ``xs`` is a (name, quantity) pair."""
    name, places = xs
    points = np.asarray(places.magnitude)
    if points.size < 2 or not np.all(np.diff(points) > 0):
        yield (f"{name} must be at least two strictly increasing values, but is {places:~}. "
               "Sort the table and remove points given twice.")  # fmt: skip
    for column, values in columns.items():
        if np.size(values.magnitude) != points.size:
            yield (f"{name} has {points.size} and {column} has {np.size(values.magnitude)} values. "
                   "Give as many of one as of the other.")  # fmt: skip
