"""Ideal mechanisms whose ratio depends on the angle: slider-crank and cam."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any

import numpy as np

from blocks import Component, Parameter, Port, Variable, cos, der, mod, sin, sqrt, where

from ..rotational import rotational
from ..tables import table_faults
from ..translational import translational

__all__ = ["CamTransmission", "SliderCrank"]


class SliderCrank(Component):
    """Crank on the shaft A that moves a slider P through a connecting rod.

    Equations, with crank radius r, rod length l, offset e of the slider's line from
    the shaft and c = sqrt(l² - (r sin phi - e)²):

    * x = r cos phi + c, the distance of the slider from the shaft along its line;
    * v_P = dx/dt = k w_A with k = -r sin phi - r cos phi (r sin phi - e) / c;
    * t_A = -k f_P for the torque and force into the ports;
    * dphi/dt = w_A. phi = 0 is the outer dead centre where e = 0.

    Neglects mass, friction and play.

    Ports: A (crankshaft), P (slider). Initial target: phi (high, 0 rad).

    Raises
    ------
    ModelError
        If the rod is too short for a full turn.
    """

    A = Port(rotational, doc="crankshaft")
    P = Port(translational, doc="slider")
    crank = Parameter("0.05 m", above=0, doc="Crank radius")
    rod = Parameter("0.2 m", above=0, doc="Length of the connecting rod")
    offset = Parameter("0 m", doc="Distance of the slider's line from the shaft")
    phi = Variable("rad", "0 rad", priority="high", doc="crank angle")
    x = Variable("m", doc="distance of the slider from the shaft")

    def verify(self) -> Iterator[str]:
        if np.any(self.rod <= self.crank + abs(self.offset)):
            yield (f"rod is {self.rod:~P} and thus no longer than crank {self.crank:~P} plus "
                   f"offset {self.offset:~P}: the crank cannot turn round. Lengthen the rod."
                   )  # fmt: skip

    def equations(self) -> Iterator[Any]:
        r, height = self.crank, self.crank * sin(self.phi) - self.offset
        along = sqrt(self.rod**2 - height**2)
        k = -r * sin(self.phi) - r * cos(self.phi) * height / along
        yield der(self.phi) == self.A.w
        yield self.P.v == k * self.A.w
        yield self.A.t == -k * self.P.f
        yield self.x == r * cos(self.phi) + along


class CamTransmission(Component):
    """Cam on the shaft A that moves a follower P which never lifts off.

    Equations: x = lift(phi), v_P = lift'(phi) w_A, t_A = -lift'(phi) f_P for the
    torque and force into the ports, dphi/dt = w_A. The lift is read from a table of
    one turn, repeated, by cubics whose slopes at the points are those of the
    parabola through each point and its neighbours: once differentiable, so
    velocities are continuous and accelerations jump at the points.
    Neglects mass, friction and lift-off.

    Ports: A (camshaft), P (follower). Initial target: phi (high, 0 rad).

    Raises
    ------
    ModelError
        If the angles do not increase over one turn, or the lift does not close.
    """

    A = Port(rotational, doc="camshaft")
    P = Port(translational, doc="follower")
    angles = Parameter(["0 deg", "90 deg", "180 deg", "270 deg", "360 deg"],
                       doc="Angles of the table, over one turn")  # fmt: skip
    lifts = Parameter(["0 mm", "5 mm", "10 mm", "5 mm", "0 mm"],
                      doc="Lift at the angles; last as first")  # fmt: skip
    phi = Variable("rad", "0 rad", priority="high", doc="cam angle")
    x = Variable("m", doc="lift")

    def verify(self) -> Iterator[str]:
        yield from table_faults(("angles", self.angles), lifts=self.lifts)
        angles, lifts = self.angles.to("rad").magnitude, self.lifts.magnitude
        if not np.isclose(angles[-1] - angles[0], 2 * pi, rtol=1e-12):
            yield (f"angles goes from {self.angles[0]:~P} to {self.angles[-1]:~P}, which is not "
                   "one turn. Give the table from 0 deg to 360 deg.")  # fmt: skip
        if lifts[0] != lifts[-1]:
            yield (f"lifts starts at {self.lifts[0]:~P} and ends at {self.lifts[-1]:~P}. The last "
                   "lift belongs to the same place of the cam as the first: give it the same "
                   "value.")  # fmt: skip

    def equations(self) -> Iterator[Any]:
        a, y = self.angles, self.lifts
        last = len(a) - 1
        steps = [a[i + 1] - a[i] for i in range(last)]
        secants = [(y[i + 1] - y[i]) / steps[i] for i in range(last)]
        slopes = [
            (secants[i - 1] * steps[i] + secants[i] * steps[i - 1]) / (steps[i] + steps[i - 1])
            for i in range(last)
        ]
        slopes.append(slopes[0])
        place = a[0] + mod(self.phi - a[0], 2 * pi)
        lift, slope = None, None
        for i in range(last):
            s = (place - a[i]) / steps[i]
            bend, turn = slopes[i] - secants[i], slopes[i + 1] - secants[i]
            x = y[i] + steps[i] * s * (secants[i] + (1 - s) * ((1 - s) * bend - s * turn))
            k = secants[i] + (1 - s) * (1 - 3 * s) * bend - s * (2 - 3 * s) * turn
            lift = x if lift is None else where(place >= a[i], x, lift, events=False)
            slope = k if slope is None else where(place >= a[i], k, slope, events=False)
        yield der(self.phi) == self.A.w
        yield self.P.v == slope * self.A.w
        yield self.A.t == -slope * self.P.f
        yield self.x == lift
