"""Signals from tables: of other signals, and of time.

Three ways to read between points: ``"linear"``; ``"smooth"``, the modified Akima
interpolation, once differentiable and without overshoot; ``"held"``, the value of
the point before, with an event at every point.

References
----------
Akima, A new method of interpolation and smooth curve fitting based on local
procedures, J. ACM 17 (1970) 589-602; the weights are those of the modified method, as
in scipy's ``Akima1DInterpolator(method="makima")``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blocks import (
    Component,
    Discrete,
    Input,
    Option,
    Output,
    Parameter,
    breakpoints,
    every,
    interpolate,
    maximum,
    minimum,
    time,
    where,
)
from blocks.exceptions import ParameterError

from ._units import same_length

__all__ = ["RepeatingSequence", "Table1D", "Table2D", "TimeTable"]

INTERPOLATION = ("linear", "smooth", "held")
EXTRAPOLATION = ("linear", "nearest")


class Table1D(Component):
    """A table of one signal.

    Equation: y = value at u, read between the points (x, values). Outside the table it
    continues with its last slope or, with ``extrapolation="nearest"``, holds the last
    value (always so for ``interpolation="held"``).

    Parameters
    ----------
    x : list of quantities
        Points, increasing; their unit is that of the input. [0, 1] by default.
    values : list of quantities
        One per point; their unit is that of the output. [0, 1] by default.
    interpolation : str
        "linear" (default), "smooth" (from three points on) or "held".
    extrapolation : str
        "linear" (default) or "nearest".

    Ports: input u, output y.
    """

    interpolation = Option("linear", choices=INTERPOLATION, doc="How to read between points")
    extrapolation = Option("linear", choices=EXTRAPOLATION, doc="How to read outside the table")
    x = Parameter([0.0, 1.0], unit="any", doc="Points")
    values = Parameter([0.0, 1.0], unit="any", doc="Values at the points")
    u = Input(lambda c: c.x.units)
    y = Output(lambda c: _checked(c, "x"))

    def verify(self):
        yield from _increasing(self, "x")

    def equations(self):
        yield self.y == _read(self, self.u, self.x, self.values, self.extrapolation)


class Table2D(Component):
    """A table of two signals.

    Equation: y = value at (u1, u2), linear in either between the points (x1, x2).

    Parameters
    ----------
    x1, x2 : list of quantities
        Points of the first and second input, increasing; [0, 1] by default.
    values : matrix
        One row per point of x1, one column per point of x2; a quantity with a matrix,
        such as ``quantity([[1, 2], [3, 4]], "N")``, or rows of texts.
    extrapolation : str
        "linear" (default) or "nearest".

    Ports: inputs u1 and u2, output y.
    """

    extrapolation = Option("linear", choices=EXTRAPOLATION, doc="How to read outside the table")
    x1 = Parameter([0.0, 1.0], unit="any", doc="Points of the first input")
    x2 = Parameter([0.0, 1.0], unit="any", doc="Points of the second input")
    values = Parameter([[0.0, 0.0], [0.0, 1.0]], unit="any", doc="Values, a row per point of x1")
    u1 = Input(lambda c: c.x1.units)
    u2 = Input(lambda c: c.x2.units)
    y = Output(lambda c: _checked_matrix(c))

    def verify(self):
        yield from _increasing(self, "x1")
        yield from _increasing(self, "x2")

    def equations(self):
        hold = self.extrapolation == "nearest"
        columns = range(len(self.x2))
        along = [interpolate(self.u1, self.x1, self.values[:, j], hold=hold) for j in columns]
        u = minimum(maximum(self.u2, self.x2[0]), self.x2[len(self.x2) - 1]) if hold else self.u2
        value = along[0] + (u - self.x2[0]) * (along[1] - along[0]) / (self.x2[1] - self.x2[0])
        for j in list(columns)[1:-1]:
            slope = (along[j + 1] - along[j]) / (self.x2[j + 1] - self.x2[j])
            there = along[j] + (u - self.x2[j]) * slope
            value = where(u > self.x2[j], there, value, events=False)
        yield self.y == value


class TimeTable(Component):
    """A table of time.

    Equation: y = value at time t, read between the points (times, values); the first and
    last values are held outside. The run steps onto every point.

    Parameters
    ----------
    times : list of times
        Increasing; [0 s, 1 s] by default.
    values : list of quantities
        One per time; their unit is that of the output. [0, 1] by default.
    interpolation : str
        "linear" (default), "smooth" (from three points on) or "held".

    Ports: output y.
    """

    interpolation = Option("linear", choices=INTERPOLATION, doc="How to read between points")
    times = Parameter(["0 s", "1 s"], doc="Instants")
    values = Parameter([0.0, 1.0], unit="any", doc="Values at the instants")
    y = Output(lambda c: _checked(c, "times"))

    def verify(self):
        yield from _increasing(self, "times")

    def equations(self):
        for instant in self.times:
            yield breakpoints(instant)
        yield self.y == _read(self, time, self.times, self.values, "nearest")


class RepeatingSequence(Component):
    """A table of time, repeated.

    Equation: y = value at t - start - k period, linear between the points, with the
    period times[-1] - times[0]; before the start y holds the first value. Where the
    last value differs from the first, the signal jumps. The run steps onto every
    point.

    Parameters
    ----------
    times : list of times
        Increasing; [0 s, 1 s] by default.
    values : list of quantities
        One per time; their unit is that of the output. [0, 1] (a sawtooth) by default.
    start : time
        Instant of the first point, 0 s by default.

    Ports: output y.
    """

    times = Parameter(["0 s", "1 s"], doc="Instants within the sequence")
    values = Parameter([0.0, 1.0], unit="any", doc="Values at the instants")
    start = Parameter("0 s", doc="Instant of the first point")
    y = Output(lambda c: _checked(c, "times"))
    begin = Discrete("s", doc="When the present repetition began")

    def verify(self):
        yield from _increasing(self, "times")

    def equations(self):
        first, period = self.times[0], self.times[len(self.times) - 1] - self.times[0]
        for instant in list(self.times)[1:-1]:
            yield breakpoints(self.start + instant - first, period)
        yield every(period, {self.begin: time}, start=self.start)
        running = interpolate(first + time - self.begin, self.times, self.values)
        yield self.y == where(time >= self.start, running, self.values[0])


def _checked(component: Any, points: str) -> Any:
    """The unit of the values, once their number is known to fit."""
    smooth = getattr(component, "interpolation", "linear") == "smooth"
    same_length(component, points, "values", 3 if smooth else 2)
    return component.values.units


def _checked_matrix(component: Any) -> Any:
    n, m = len(component.x1), len(component.x2)
    rows, columns = np.shape(component.values)
    if (rows, columns) != (n, m) or min(n, m) < 2:
        raise ParameterError(
            f"{component.path}.values", f"has {rows} rows and {columns} columns, but there are {n} "
            f"points of x1 and {m} of x2.",
            "Give one row per point of x1, and at least two of each.",
        )  # fmt: skip
    return component.values.units


def _increasing(component: Any, name: str) -> Any:
    points = getattr(component, name)
    wrong = np.flatnonzero(np.diff(points.magnitude) <= 0)
    if len(wrong):
        k = int(wrong[0])
        yield (f"the points {name!r} must increase, but {points[k]:~P} is followed by "
               f"{points[k + 1]:~P}.")


def _read(component: Any, u: Any, x: Any, values: Any, extrapolation: str) -> Any:
    """The table's value at u, as one expression."""
    if component.interpolation == "linear":
        return interpolate(u, x, values, hold=extrapolation == "nearest")
    if component.interpolation == "held":
        value = values[0]
        for k in range(1, len(x)):
            value = where(u >= x[k], values[k], value)
        return value
    inside = minimum(maximum(u, x[0]), x[len(x) - 1])
    slopes = _akima_slopes(x, values)
    value = _cubic(inside, x, values, slopes, 0)
    for k in range(1, len(x) - 1):
        value = where(inside > x[k], _cubic(inside, x, values, slopes, k), value, events=False)
    if extrapolation == "linear":
        beyond = where(u > x[0], slopes[-1], slopes[0], events=False)
        value = value + beyond * (u - inside)
    return value


def _akima_slopes(x: Any, y: Any) -> list[Any]:
    """Derivatives at the points, from the two secants on either side."""
    n = len(x)
    d = [(y[k + 1] - y[k]) / (x[k + 1] - x[k]) for k in range(n - 1)]
    d = [2 * d[0] - d[1], *d, 2 * d[-1] - d[-2]]
    d = [2 * d[0] - d[1], *d, 2 * d[-1] - d[-2]]
    slopes = []
    for k in range(n):
        left = abs(d[k + 1] - d[k]) + abs(d[k + 1] + d[k]) / 2
        right = abs(d[k + 3] - d[k + 2]) + abs(d[k + 3] + d[k + 2]) / 2
        weighted = (right * d[k + 1] + left * d[k + 2]) / (left + right)
        slopes.append(where(left + right > 0, weighted, 0, events=False))
    return slopes


def _cubic(u: Any, x: Any, y: Any, slope: list[Any], k: int) -> Any:
    """The cubic between points k and k + 1 with given values and slopes at both."""
    h = x[k + 1] - x[k]
    s = (u - x[k]) / h
    bend = slope[k] * h - (y[k + 1] - y[k])
    turn = -slope[k + 1] * h + (y[k + 1] - y[k])
    return (1 - s) * y[k] + s * y[k + 1] + s * (1 - s) * ((1 - s) * bend + s * turn)
