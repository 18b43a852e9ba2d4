"""Prescribed forces and motions between two ports.

Each source takes its value from a parameter, a constant or a function of time,
unless a signal is connected to its input S.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from blocks import Input, Parameter, Variable, der, quantity, where

from .domain import TwoPort

__all__ = ["AccelerationSource", "ForceSource", "PositionSource", "VelocitySource", "table"]


class ForceSource(TwoPort):
    """Prescribed force, whatever the motion.

    Equation: f = -S, where S is the signal, or the parameter ``force`` while
    nothing is connected. A positive force acts from C to R: with C on the
    reference it accelerates the body at R towards positive velocities.

    Ports: R, C. Inputs: S in N.

    Examples
    --------
    >>> from blocks import quantity, sin
    >>> push = ForceSource(force="10 N")
    >>> shake = ForceSource(force=lambda t: quantity("5 N") * sin(quantity("3 rad/s") * t))
    """

    force = Parameter("0 N", varying=True, doc="Force from C to R")
    S = Input("N", default="force", doc="force from C to R")
    power_supplied = Variable("W", doc="power given to the circuit")

    def equations(self) -> Iterator[Any]:
        yield self.f == -self.S
        yield self.power_supplied == -self.f * self.v


class VelocitySource(TwoPort):
    """Prescribed velocity of R against C, whatever the force.

    Equation: v = S, where S is the signal, or the parameter ``velocity`` while
    nothing is connected. f is the force carried from R to C: negative where the
    source pushes in the direction of S.

    Ports: R, C. Inputs: S in m/s.
    """

    velocity = Parameter("0 m/s", varying=True, doc="Velocity of R against C")
    S = Input("m/s", default="velocity", doc="velocity of R against C")
    power_supplied = Variable("W", doc="power given to the circuit")

    def equations(self) -> Iterator[Any]:
        yield self.v == self.S
        yield self.power_supplied == -self.f * self.v


class PositionSource(TwoPort):
    """Prescribed position of R against C, whatever the force.

    Equations: x = S, v = dx/dt, where S is the signal, or the parameter
    ``position`` while nothing is connected. The position must be continuous; a
    kink in it is a jump of velocity, which rigidly joined masses cannot follow.

    Ports: R, C. Inputs: S in m.
    """

    position = Parameter("0 m", varying=True, doc="Position of R against C")
    S = Input("m", default="position", doc="position of R against C")
    x = Variable("m", doc="position of R against C")
    power_supplied = Variable("W", doc="power given to the circuit")

    def equations(self) -> Iterator[Any]:
        yield self.x == self.S
        yield self.v == der(self.x)
        yield self.power_supplied == -self.f * self.v


class AccelerationSource(TwoPort):
    """Prescribed acceleration of R against C, whatever the force.

    Equations: dv/dt = S, dx/dt = v, where S is the signal, or the parameter
    ``acceleration`` while nothing is connected.

    Ports: R, C. Inputs: S in m/s². Initial targets: v (high, 0 m/s), x (high, 0 m).
    """

    acceleration = Parameter("0 m/s^2", varying=True, doc="Acceleration of R against C")
    S = Input("m/s^2", default="acceleration", doc="acceleration of R against C")
    v = Variable("m/s", "0 m/s", priority="high", doc="v of R minus v of C")
    x = Variable("m", "0 m", priority="high", doc="position of R against C")
    power_supplied = Variable("W", doc="power given to the circuit")

    def equations(self) -> Iterator[Any]:
        yield der(self.v) == self.S
        yield der(self.x) == self.v
        yield self.power_supplied == -self.f * self.v


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
    >>> ramp = VelocitySource(velocity=table(["0 s", "2 s"], ["0 m/s", "1 m/s"]))
    >>> pulse = ForceSource(force=table(quantity([0, 1, 1], "s"), quantity([5, 5, 0], "N")))

    Raises
    ------
    ValueError
        If the times decrease or there are not as many values as times.
    """
    points, heights = _quantities(times), _quantities(values)
    if len(points) < 2 or len(points) != len(heights):
        raise ValueError(f"table() takes two or more times and as many values, but was given "
                         f"{len(points)} times and {len(heights)} values.")  # fmt: skip
    if any(b < a for a, b in zip(points, points[1:], strict=False)):
        raise ValueError("table() takes times that do not decrease. Sort the table by time.")

    def value(t: Any) -> Any:
        result = heights[-1]
        for i in reversed(range(len(points) - 1)):
            a, b, low, high = points[i], points[i + 1], heights[i], heights[i + 1]
            if a < b:
                result = where(t < b, low + (high - low) / (b - a) * (t - a), result)
        return where(t < points[0], heights[0], result)

    return value


def _quantities(values: Any) -> list[Any]:
    if hasattr(values, "magnitude"):
        return [quantity(float(m), f"{values.units:~C}") for m in np.ravel(values.magnitude)]
    return [quantity(v) for v in values]
