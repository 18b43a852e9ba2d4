"""Ideal mechanisms whose ratio depends on the angle: slider-crank and cam."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from blocks import Component, Parameter, Port, Variable, cos, der, mod, sin, sqrt, where

from .. import symbols
from ..rotational import rotational
from ..tables import table_faults
from ..translational import translational


class SliderCrank(Component):
    """Crank on the shaft A that moves a slider P through a connecting rod.

    Equations, with crank radius r, rod length l, offset e of the slider's line from
    the shaft and c = sqrt(l² - (r sin phi - e)²):

    * x = r cos phi + c, the distance of the slider from the shaft along its line;
    * v_P = dx/dt = k w_A with k = -r sin phi - r cos phi (r sin phi - e) / c;
    * t_A = -k f_P for the torque and force into the ports;
    * dphi/dt = w_A. phi = 0 is the outer dead centre where e = 0.

    Neglects mass, friction and play.

    Raises
    ------
    ModelError
        If the rod is too short for a full turn.
    """

    symbol = symbols.CRANK

    A = Port(rotational, doc="crankshaft")
    P = Port(translational, doc="slider")
    crank = Parameter("0.05 m", above=0, doc="Crank radius")
    rod = Parameter("0.2 m", above=0, doc="Length of the connecting rod")
    offset = Parameter("0 m", doc="Distance of the slider's line from the shaft")
    phi = Variable("rad", "0 rad", priority="high", doc="crank angle")
    x = Variable("m", doc="distance of the slider from the shaft")

    def verify(self):
        if np.any(self.rod <= self.crank + abs(self.offset)):
            yield (f"rod is {self.rod:~P} and thus no longer than crank {self.crank:~P} plus "
                   f"offset {self.offset:~P}: the crank cannot turn round. Lengthen the rod.")

    def equations(self):
        r, height = self.crank, self.crank * sin(self.phi) - self.offset
        along = sqrt(self.rod**2 - height**2)
        k = -r * sin(self.phi) - r * cos(self.phi) * height / along
        yield der(self.phi) == self.A.w
        yield self.P.v == k * self.A.w
        yield self.A.t == -k * self.P.f
        yield self.x == r * cos(self.phi) + along


class CamTransmission(Component):
    """Cam on the shaft A that moves a follower P which never lifts off.

    Equations: x = lift(phi), v_P = lift'(phi) w_A, t_A = -lift'(phi) f_P for the torque and force
    into the ports, dphi/dt = w_A. The lift is read from a table of one turn, repeated, by quintics
    that have at every point the slope and curvature of the parabola through it and its neighbours:
    velocities and accelerations are continuous, the jerk jumps at the points. Neglects mass,
    friction and lift-off.

    Raises
    ------
    ModelError
        If the angles do not increase over one turn, or the lift does not close.
    """

    symbol = symbols.CRANK

    A = Port(rotational, doc="camshaft")
    P = Port(translational, doc="follower")
    angles = Parameter(["0 deg", "90 deg", "180 deg", "270 deg", "360 deg"],
                       doc="Angles of the table, over one turn")  # fmt: skip
    lifts = Parameter(["0 mm", "5 mm", "10 mm", "5 mm", "0 mm"],
                      doc="Lift at the angles; last as first")  # fmt: skip
    phi = Variable("rad", "0 rad", priority="high", doc="cam angle")
    x = Variable("m", doc="lift")

    def verify(self):
        yield from table_faults(("angles", self.angles), lifts=self.lifts)
        angles, lifts = self.angles.to("rad").magnitude, self.lifts.magnitude
        if not np.isclose(angles[-1] - angles[0], 2 * pi, rtol=1e-12):
            yield (f"angles goes from {self.angles[0]:~P} to {self.angles[-1]:~P}, which is not "
                   "one turn. Give the table from 0 deg to 360 deg.")  # fmt: skip
        if lifts[0] != lifts[-1]:
            yield (f"lifts starts at {self.lifts[0]:~P} and ends at {self.lifts[-1]:~P}. The last "
                   "lift belongs to the same place of the cam as the first: give it the same "
                   "value.")  # fmt: skip

    def equations(self):
        a, y = self.angles, self.lifts
        last = len(a) - 1
        steps = [a[i + 1] - a[i] for i in range(last)]
        secants = [(y[i + 1] - y[i]) / steps[i] for i in range(last)]
        slopes = [
            (secants[i - 1] * steps[i] + secants[i] * steps[i - 1]) / (steps[i] + steps[i - 1])
            for i in range(last)
        ]
        bends = [2 * (secants[i] - secants[i - 1]) / (steps[i] + steps[i - 1]) for i in range(last)]
        place = a[0] + mod(self.phi - a[0], 2 * pi, events=False)
        lift: Any = None
        slope: Any = None
        for i in range(last):
            j = (i + 1) % last
            x, k = _quintic(place - a[i], steps[i], (y[i], slopes[i], bends[i]),
                            (y[i + 1], slopes[j], bends[j]))  # fmt: skip
            lift = x if lift is None else where(place >= a[i], x, lift, events=False)
            slope = k if slope is None else where(place >= a[i], k, slope, events=False)
        yield der(self.phi) == self.A.w
        yield self.P.v == slope * self.A.w
        yield self.A.t == -slope * self.P.f
        yield self.x == lift


def _quintic(u, h, left, right):
    """Value and slope at u of the quintic with given value, slope and curvature at 0 and h."""
    s, rise = u / h, right[0] - left[0]
    d0, d1, c0, c1 = h * left[1], h * right[1], h**2 * left[2] / 2, h**2 * right[2] / 2
    a3 = 10 * rise - 6 * d0 - 4 * d1 - 3 * c0 + c1
    a4 = -15 * rise + 8 * d0 + 7 * d1 + 3 * c0 - 2 * c1
    a5 = 6 * rise - 3 * d0 - 3 * d1 - c0 + c1
    value = left[0] + s * (d0 + s * (c0 + s * (a3 + s * (a4 + s * a5))))
    slope = (d0 + s * (2 * c0 + s * (3 * a3 + s * (4 * a4 + s * 5 * a5)))) / h
    return value, slope
