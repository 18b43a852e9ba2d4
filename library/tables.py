"""Piecewise linear tables as parameters: of other quantities, and of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from blocks import interpolate, quantity, time, where
from blocks.exceptions import ParameterError, WrongDimension

__all__ = ["jumps", "table", "table_faults", "with_jumps"]


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
    points, heights = _array(times, quantity("1 s")), _array(values)
    if len(points) < 2 or len(points) != len(heights):
        raise ParameterError("table()", "takes two or more times and as many values, but was given "
                             f"{len(points)} times and {len(heights)} values.",
                             "Give one value for every time.", code="parameter.size")  # fmt: skip
    if np.any(np.diff(points.magnitude) < 0):
        raise ParameterError("table()", "takes times that do not decrease.",
                             "Sort the table by time.")  # fmt: skip

    def value(t: Any) -> Any:
        return with_jumps(t, points, heights, jumps(points.magnitude))

    return value


def jumps(points: Any) -> tuple[int, ...]:
    """Numbers of the points that are followed by another one at the same place."""
    return tuple(np.flatnonzero(np.diff(points) == 0).tolist())


def with_jumps(t: Any, times: Any, values: Any, jumps: tuple[int, ...]) -> Any:
    """The value of a table at a time, held outside."""
    if t is time and (hasattr(times, "magnitude") or times.is_number):
        return interpolate(t, times, values, hold=True)  # jumps and all
    ends = [*jumps, len(times) - 1]
    value = None
    for first, last in zip([0, *(k + 1 for k in jumps)], ends, strict=True):
        piece = values[first] if first == last else interpolate(
            t, times[first : last + 1], values[first : last + 1], hold=True)
        value = piece if value is None else where(t >= times[first], piece, value)
    return value


def _array(values: Any, like: Any = None) -> Any:
    """The values as one quantity, of one dimension: that of ``like``, or of the first."""
    if hasattr(values, "magnitude"):
        found = quantity(np.asarray(values.magnitude, dtype=float).ravel(), values.units)
        _refuse_other(found, found if like is None else like)
        return found
    if not isinstance(values, Iterable) or isinstance(values, str):
        raise ParameterError("table()", f"takes lists, but was given {values!r}.",
                             "Write ['0 s', '2 s'] or quantity([0, 2], 's').")  # fmt: skip
    each = [quantity(v) for v in values]
    for value in each:
        _refuse_other(value, each[0] if like is None else like)
    units = each[0].units if each else quantity("1").units
    return quantity(np.array([v.to(units).magnitude for v in each]), units)


def _refuse_other(value: Any, like: Any) -> None:
    if not value.is_compatible_with(like):
        first = value if np.ndim(value.magnitude) == 0 else value[0]
        raise WrongDimension("table()", f"was given {first:~P} among values in "
                             f"{like.units:~P}.",
                             "Times are in a unit of time, and values all of one kind.")
