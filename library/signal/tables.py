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

from ..tables import jumps, with_jumps
from ._units import same_length

__all__ = ["RepeatingSequence", "Table1D", "Table2D", "Table3D", "TimeTable"]

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

    Equation: y = value at (u1, u2), read between the points (x1, x2): linear in either,
    held in either, or smooth along x1 and then, of what this gives, along x2.

    Parameters
    ----------
    x1, x2 : list of quantities
        Points of the first and second input, increasing; [0, 1] by default.
    values : matrix
        One row per point of x1, one column per point of x2; a quantity with a matrix,
        such as ``quantity([[1, 2], [3, 4]], "N")``, or rows of texts.
    interpolation : str
        "linear" (default), "smooth" (from three points on) or "held".
    extrapolation : str
        "linear" (default) or "nearest" (always so for "held").

    Ports: inputs u1 and u2, output y.
    """

    interpolation = Option("linear", choices=INTERPOLATION, doc="How to read between points")
    extrapolation = Option("linear", choices=EXTRAPOLATION, doc="How to read outside the table")
    x1 = Parameter([0.0, 1.0], unit="any", doc="Points of the first input")
    x2 = Parameter([0.0, 1.0], unit="any", doc="Points of the second input")
    values = Parameter([[0.0, 0.0], [0.0, 1.0]], unit="any", doc="Values, a row per point of x1")
    u1 = Input(lambda c: c.x1.units)
    u2 = Input(lambda c: c.x2.units)
    y = Output(lambda c: _checked_grid(c, "x1", "x2"))

    def verify(self):
        yield from _increasing(self, "x1")
        yield from _increasing(self, "x2")

    def equations(self):
        values = [self.values[i, j] for i in range(len(self.x1)) for j in range(len(self.x2))]
        yield self.y == _grid(self, [(self.u1, self.x1), (self.u2, self.x2)], values)


class Table3D(Component):
    """A table of three signals.

    Equation: y = value at (u1, u2, u3), read between the points (x1, x2, x3) as in
    :class:`Table2D`.

    Parameters
    ----------
    x1, x2, x3 : list of quantities
        Points of the inputs, increasing; [0, 1] by default.
    values : array
        ``values[i][j][k]`` for the points x1[i], x2[j] and x3[k].
    interpolation : str
        "linear" (default), "smooth" (from three points on) or "held".
    extrapolation : str
        "linear" (default) or "nearest" (always so for "held").

    Ports: inputs u1, u2 and u3, output y.
    """

    interpolation = Option("linear", choices=INTERPOLATION, doc="How to read between points")
    extrapolation = Option("linear", choices=EXTRAPOLATION, doc="How to read outside the table")
    x1 = Parameter([0.0, 1.0], unit="any", doc="Points of the first input")
    x2 = Parameter([0.0, 1.0], unit="any", doc="Points of the second input")
    x3 = Parameter([0.0, 1.0], unit="any", doc="Points of the third input")
    values = Parameter([[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]]], unit="any",
                       doc="Values at the points")  # fmt: skip
    u1 = Input(lambda c: c.x1.units)
    u2 = Input(lambda c: c.x2.units)
    u3 = Input(lambda c: c.x3.units)
    y = Output(lambda c: _checked_grid(c, "x1", "x2", "x3"))

    def verify(self):
        for name in ("x1", "x2", "x3"):
            yield from _increasing(self, name)

    def equations(self):
        axes = [(self.u1, self.x1), (self.u2, self.x2), (self.u3, self.x3)]
        yield self.y == _grid(self, axes, list(self.values))


class TimeTable(Component):
    """A table of time.

    Equation: y = value at time t, read between the points (times, values); the first and
    last values are held outside. The run steps onto every point. Several points at one
    time make a jump there: y is the last of their values from that time on.

    Parameters
    ----------
    times : list of times
        Not decreasing, increasing for "smooth"; [0 s, 1 s] by default.
    values : list of quantities
        One per time; their unit is that of the output. [0, 1] by default.
    interpolation : str
        "linear" (default), "smooth" (from three points on) or "held".

    Ports: output y.
    """

    interpolation = Option("linear", choices=INTERPOLATION, doc="How to read between points")
    times = Parameter(["0 s", "1 s"], settles=lambda times: jumps(times), doc="Instants")
    values = Parameter([0.0, 1.0], unit="any", doc="Values at the instants")
    y = Output(lambda c: _checked(c, "times"))

    def verify(self):
        yield from _increasing(self, "times", jumps=self.interpolation != "smooth")

    def equations(self):
        for instant in self.times:
            yield breakpoints(instant)
        if self.interpolation == "linear":
            yield self.y == with_jumps(time, self.times, self.values, self.settled("times"))
        else:
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


def _checked_grid(component: Any, *axes: str) -> Any:
    wanted = tuple(len(getattr(component, name)) for name in axes)
    given = np.shape(component.values)
    fewest = 3 if component.interpolation == "smooth" else 2
    if given != wanted or min(wanted) < fewest:
        points = [f"{n} of {name}" for n, name in zip(wanted, axes, strict=True)]
        shape = f"{given[0]} rows and {given[1]} columns" if len(axes) == 2 else \
            "the shape " + " x ".join(map(str, given))
        raise ParameterError(
            f"{component.path}.values", f"has {shape}, but there are "
            f"{', '.join(points[:-1])} and {points[-1]}.".replace(" of", " points of", 1),
            f"Give {'one row per point of x1' if len(axes) == 2 else 'values[i][j][k]'}, and at "
            f"least {'three' if fewest == 3 else 'two'} points of each.",
        )  # fmt: skip
    return component.values.units


def _increasing(component: Any, name: str, jumps: bool = False) -> Any:
    points = getattr(component, name)
    steps = np.diff(points.magnitude)
    wrong = np.flatnonzero(steps < 0 if jumps else steps <= 0)
    if len(wrong):
        k = int(wrong[0])
        yield (f"the points {name!r} must {'not decrease' if jumps else 'increase'}, but "
               f"{points[k]:~P} is followed by {points[k + 1]:~P}.")


def _grid(component: Any, axes: list[tuple[Any, Any]], values: list[Any]) -> Any:
    """The value of a table of several signals; the last axis is that of neighbours."""
    for u, x in axes:
        rest = len(values) // len(x)
        columns = [values[j::rest] for j in range(rest)]
        if component.interpolation == "smooth":
            values = [_read(component, u, x, c, component.extrapolation) for c in columns]
        else:
            weights = _weights(component, u, x)
            values = [sum(w * y for w, y in zip(weights[1:], c[1:], strict=True))
                      + weights[0] * c[0] for c in columns]  # fmt: skip
    return values[0]


def _weights(component: Any, u: Any, x: Any) -> list[Any]:
    """What every point counts at u: 1 at the point itself, 0 at the others."""
    last = len(x) - 1
    if component.interpolation == "held":
        beyond: list[Any] = [1, *(where(u >= x[k], 1, 0) for k in range(1, last + 1)), 0]
        return [beyond[k] - beyond[k + 1] for k in range(last + 1)]
    if component.extrapolation == "nearest":
        u = minimum(maximum(u, x[0]), x[last])
    shares = [(u - x[k]) / (x[k + 1] - x[k]) for k in range(last)]  # of the way to the next
    for k in range(last):  # outside its own interval a share is held, but for the ends
        shares[k] = minimum(shares[k], 1) if k < last - 1 else shares[k]
        shares[k] = maximum(shares[k], 0) if k else shares[k]
    return [1 - shares[0], *(shares[k - 1] - shares[k] for k in range(1, last)), shares[-1]]


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
