"""Piecewise linear tables as parameters: of other quantities, and of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from blocks import interpolate, maximum, minimum, quantity, where
from blocks.exceptions import ParameterError, WrongDimension

__all__ = ["integral", "table", "table_faults"]


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


def table(times: Any, values: Any) -> Callable[[Any], Any]:
    """A function of time from a table: linear between points, held outside.

    Take it wherever a parameter may vary in time. Every point is a known time the
    solver steps onto; two points at one time make a jump.

    Parameters
    ----------
    times : quantity array or list of str
        Not decreasing.
    values : quantity array or list of str
        As many.

    Examples
    --------
    >>> from blocks import quantity
    >>> from library.rotational import TorqueSource
    >>> ramp = TorqueSource(torque=table(["0 s", "2 s"], ["0 N*m", "1 N*m"]))
    >>> pulse = TorqueSource(torque=table(quantity([0, 1, 1], "s"), quantity([5, 5, 0], "N*m")))

    Raises
    ------
    ParameterError
        If the times decrease or there are not as many values as times.
    WrongDimension, UnknownUnit
        For times that are none, and values of several dimensions.
    """
    points, heights = _quantities(times, quantity("1 s")), _quantities(values)
    if len(points) < 2 or len(points) != len(heights):
        raise ParameterError("table()", "takes two or more times and as many values, but was given "
                             f"{len(points)} times and {len(heights)} values.",
                             "Give one value for every time.", code="parameter.size")  # fmt: skip
    if any(b < a for a, b in zip(points, points[1:], strict=False)):
        raise ParameterError("table()", "takes times that do not decrease.",
                             "Sort the table by time.")  # fmt: skip

    def value(t: Any) -> Any:
        result = heights[-1]
        for i in reversed(range(len(points) - 1)):
            a, b, low, high = points[i], points[i + 1], heights[i], heights[i + 1]
            if a < b:
                result = where(t < b, low + (high - low) / (b - a) * (t - a), result)
        return where(t < points[0], heights[0], result)

    return value


def _quantities(values: Any, like: Any = None) -> list[Any]:
    """The values, which are of one dimension: that of ``like``, or of the first."""
    if hasattr(values, "magnitude"):
        found = [quantity(float(m), values.units) for m in np.ravel(values.magnitude)]
    elif isinstance(values, Iterable) and not isinstance(values, str):
        found = [quantity(v) for v in values]
    else:
        raise ParameterError("table()", f"takes lists, but was given {values!r}.",
                             "Write ['0 s', '2 s'] or quantity([0, 2], 's').")  # fmt: skip
    for value in found:
        if not value.is_compatible_with(found[0] if like is None else like):
            raise WrongDimension("table()", f"was given {value:~P} among values in "
                                 f"{(found[0] if like is None else like).units:~P}.",
                                 "Times are in a unit of time, and values all of one kind.")
    return found
