"""Signals from tables: of other signals, and of time.

Ways to read between points: ``"linear"``; ``"smooth"``, the modified Akima
interpolation, once differentiable and without overshoot; ``"held"``, the value of
the point before, with an event at every point; and of one signal or of time
``"monotone"``, a cubic that is monotone where the points are, and ``"cubic"``, the spline,
which is twice differentiable and overshoots at steps.

Tables with more than 20 points are found by search: how long they are costs nothing while a model
runs.
"""

from __future__ import annotations

from typing import Any, ClassVar

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
    interpolate_grid,
    require,
    time,
    where,
)
from blocks.exceptions import ParameterError

from ..tables import BETWEEN, ENDS, jumps, stairs, with_jumps

INTERPOLATION = ("linear", "smooth", "held")  # of several signals
EXTRAPOLATION = ("linear", "nearest")
ROUNDING = 1e-9  # part of a table's length that a run may go on beyond it


class Table1D(Component):
    """A table of one signal.

    Equation: y = value at u, read between the points (x, values). Outside the table it continues
    with its last slope or, with ``extrapolation="nearest"``, holds the last value (always so for
    ``interpolation="held"``). Curves take three points or more.
    """

    interpolation = Option("linear", choices=tuple(BETWEEN), doc="How to read between points")
    extrapolation = Option("linear", choices=EXTRAPOLATION, doc="How to read outside the table")
    x = Parameter([0.0, 1.0], unit="any", doc="Points, increasing")
    values = Parameter([0.0, 1.0], unit="any", doc="Values at the points")
    u = Input(lambda c: c.x.units)
    y = Output(lambda c: _checked(c, "x"))

    def verify(self):
        yield from _increasing(self, "x")

    def equations(self):
        yield self.y == _read(self, self.u, self.x, self.values, self.extrapolation)


class Table2D(Component):
    """A table of two signals.

    Equation: y = value at (u1, u2), read between the points (x1, x2): linear in either, held in
    either (beyond the table, too), or smooth along x1 and then, of what this gives, along x2, from
    three points on. Values are a quantity with a matrix, such as ``quantity([[1, 2], [3, 4]],
    "N")``, or rows of texts.
    """

    axes: ClassVar[tuple[str, ...]] = ("x1", "x2")

    interpolation = Option("linear", choices=INTERPOLATION, doc="How to read between points")
    extrapolation = Option("linear", choices=EXTRAPOLATION, doc="How to read outside the table")
    x1 = Parameter([0.0, 1.0], unit="any", doc="Points of the first input, increasing")
    x2 = Parameter([0.0, 1.0], unit="any", doc="Points of the second input, increasing")
    values = Parameter([[0.0, 0.0], [0.0, 1.0]], unit="any", doc="Values, a row per point of x1")
    u1 = Input(lambda c: c.x1.units)
    u2 = Input(lambda c: c.x2.units)
    y = Output(lambda c: _checked_grid(c, *c.axes))

    def verify(self):
        for name in self.axes:
            yield from _increasing(self, name)

    def equations(self):
        axes = [(getattr(self, f"u{k}"), getattr(self, x)) for k, x in enumerate(self.axes, 1)]
        values: Any = self.values
        if self.interpolation == "held" and len(axes) == 2:
            values = [values[i, j] for i in range(len(self.x1)) for j in range(len(self.x2))]
        yield self.y == _grid(self, axes, values)


class Table3D(Table2D):
    """A table of three signals.

    Equation: y = value at (u1, u2, u3), read between the points (x1, x2, x3) as in
    :class:`Table2D`; ``values[i][j][k]`` is at the points x1[i], x2[j] and x3[k].
    """

    axes = ("x1", "x2", "x3")

    x3 = Parameter([0.0, 1.0], unit="any", doc="Points of the third input, increasing")
    values = Parameter([[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]]], unit="any",
                       doc="Values at the points")  # fmt: skip
    u3 = Input(lambda c: c.x3.units)


class TimeTable(Component):
    """A table of time.

    Equation: y = value at time t, read between the points (times, values). The run steps onto every
    point, and a hundred thousand cost no more than as many steps. Several points at one time make a
    jump there: y is the last of their values from that time on. Measured data are read by
    ``library.tables.table``: ``data = table("run7.csv", time="t [ms]", value="F [kN]")`` has
    ``data.times`` and ``data.values``. Curves take three points or more and no jumps. Outside the
    points the first and last value are "held", the table is "continued" by its end slopes, or
    "refused": the run stops there and says so.
    """

    interpolation = Option("linear", choices=tuple(BETWEEN), doc="How to read between points")
    ends = Option("held", choices=ENDS, doc="What holds outside the points")
    times = Parameter(["0 s", "1 s"], structure=lambda times: jumps(times),
                      doc="Instants, not decreasing")
    values = Parameter([0.0, 1.0], unit="any", doc="Values at the instants")
    y = Output(lambda c: _checked(c, "times"))

    def verify(self):
        yield from _increasing(self, "times", jumps=not BETWEEN[self.interpolation])
        steps = np.diff(self.times.magnitude)
        if self.ends == "continued" and 0 in steps[[0, -1]]:
            yield ("a table that begins or ends with a jump cannot be continued. Take "
                   "ends='held', or leave the first or last point out.")

    def equations(self):
        times, values, hold = self.times, self.values, self.ends != "continued"
        if self.ends == "refused":
            first, last = times[0], times[len(times) - 1]
            beyond = ROUNDING * (last - first)
            yield require((time >= first - beyond) & (time <= last + beyond),
                          "it has left its table of time. Simulate a shorter time, or take "
                          "ends='held'.")
        if not times.is_number:
            for instant in times:
                yield breakpoints(instant)
        if self.interpolation == "linear":
            yield self.y == with_jumps(time, times, values, self.structure("times"), hold)
        elif self.interpolation == "held" and times.is_number:
            yield self.y == interpolate(time, *stairs(times, values), hold=True)
        else:
            yield self.y == _read(self, time, times, values, "nearest" if hold else "linear")


class RepeatingSequence(Component):
    """A table of time, repeated.

    Equation: y = value at t - start - k period, linear between the points, with the period
    times[-1] - times[0]; before the start y holds the first value. Where the last value differs
    from the first, the signal jumps. The run steps onto every point.
    """

    times = Parameter(["0 s", "1 s"], doc="Instants within the sequence, increasing")
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


def _checked(component, points):
    """The unit of the values, once their number is known to fit."""
    least = 3 if BETWEEN[getattr(component, "interpolation", "linear")] else 2
    n, m = len(getattr(component, points)), len(component.values)
    if n != m or n < least:
        raise ParameterError(
            f"{component.path}.values", f"has {m} values for {n} points of {points!r}." if n != m
            else f"has {n} points, but at least {least} are needed.", "Give one value per point.",
        )  # fmt: skip
    return component.values.units


def _checked_grid(component, *axes):
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


def _increasing(component, name, jumps=False):
    points = getattr(component, name)
    steps = np.diff(points.magnitude)
    wrong = np.flatnonzero(steps < 0 if jumps else steps <= 0)
    if len(wrong):
        k = int(wrong[0])
        yield (f"the points {name!r} must {'not decrease' if jumps else 'increase'}, but "
               f"{points[k]:~P} is followed by {points[k + 1]:~P}.")


def _grid(component, axes, values):
    """The value of a table of several signals; the last axis is that of neighbours."""
    if component.interpolation != "held":
        return interpolate_grid([u for u, _ in axes], [x for _, x in axes], values,
                                hold=component.extrapolation == "nearest",
                                smooth=component.interpolation == "smooth")
    values = list(values)
    for u, x in axes:
        rest, last = len(values) // len(x), len(x) - 1
        beyond: list[Any] = [1, *(where(u >= x[k], 1, 0) for k in range(1, last + 1)), 0]
        weights = [beyond[k] - beyond[k + 1] for k in range(last + 1)]
        values = [sum(w * v for w, v in zip(weights[1:], values[j + rest :: rest], strict=True))
                  + weights[0] * values[j] for j in range(rest)]  # fmt: skip
    return values[0]


def _read(component, u, x, values, extrapolation):
    """The table's value at u, as one expression."""
    if component.interpolation == "held":
        value = values[0]
        for k in range(1, len(x)):
            value = where(u >= x[k], values[k], value)
        return value
    return interpolate(u, x, values, hold=extrapolation == "nearest",
                       smooth=BETWEEN[component.interpolation])
