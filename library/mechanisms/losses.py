"""Gears whose friction depends on the load they transmit, and can hold them at rest."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any

import numpy as np

from blocks import (
    Component,
    Discrete,
    Parameter,
    Port,
    Variable,
    abs_,
    cos,
    interpolate,
    maximum,
    minimum,
    quantity,
)

from ..friction import load_friction
from ..rotational import rotational
from ..tables import table_faults
from ..translational import translational
from .gears import nonzero_ratio

__all__ = ["LeadScrew", "LossyGear"]


class LossyGear(Component):
    """Gear with mesh efficiency and bearing friction that can stick.

    Equations, for the torques into the ports: w_S = ratio w_O and
    t_O = -ratio (t_S - loss). While turning,

    * S drives (t_S w_S > 0 inside): loss = (1 - forward_efficiency) t_S;
    * O drives: loss = (1 - 1/backward_efficiency) t_S;

    plus the bearing friction sign(w_S) T(|w_S|), interpolated in a table of speeds of
    S. At rest the loss is whatever keeps the gear still, between the values of the
    two directions. Which side drives is decided by the torque in the mesh, t_S less
    bearing friction.

    Parameters: ratio (1), forward_efficiency (1), backward_efficiency (1), speeds
    (rad/s), bearing_torques (N*m).
    Ports: S (input shaft), O (output shaft). Neglects the inertia of the gear, play and
    elasticity.

    Notes
    -----
    The shafts need inertia. While it is stuck, nothing else that is stuck may hold the
    same rigid shafts, since the split of the holding torque is then unknown: put an
    elastic shaft between two such gears, or between the gear and a brake.

    Raises
    ------
    ModelError
        If the ratio is 0 or the table does not increase.

    References
    ----------
    Modelica Standard Library, ``Mechanics.Rotational.Components.LossyGear`` (S is
    flange_a; its bearing losses may differ with the driving side, here they do not).
    Pelchen, Schweiger, Otter, "Modeling and Simulating the Efficiency of Gearboxes and
    of Planetary Gearboxes", Modelica Conference, 2002.
    """

    S = Port(rotational, doc="input shaft")
    O = Port(rotational, doc="output shaft")
    ratio = Parameter(5.0, doc="Turns of S per turn of O")
    forward_efficiency = Parameter(0.9, above=0, maximum=1, doc="Mesh efficiency, S driving")
    backward_efficiency = Parameter(0.9, above=0, maximum=1, doc="Mesh efficiency, O driving")
    speeds = Parameter(["0 rad/s", "1 rad/s"], minimum=0, doc="Speeds of S, from 0 on")
    bearing_torques = Parameter(["0 N*m", "0 N*m"], minimum=0,
                                doc="Bearing friction at S at the speeds")  # fmt: skip
    w = Variable("rad/s", doc="speed of S")
    loss = Variable("N*m", doc="torque lost, at S")
    trial = Variable("N*m", doc="loss that would hold the gear")
    mode = Discrete("1", doc="1 turning forward, 0 stuck, -1 turning backward")
    moving = Discrete("1", doc="1 once it turns in the sense of the mode")
    power_dissipated = Variable("W", doc="heat")

    def verify(self) -> Iterator[str]:
        yield from nonzero_ratio(self)
        yield from table_faults(("speeds", self.speeds), bearing_torques=self.bearing_torques)

    def equations(self) -> Iterator[Any]:
        bearing = interpolate(abs_(self.w), self.speeds, self.bearing_torques)
        gain, back = 1 - self.forward_efficiency, 1 - 1 / self.backward_efficiency
        ahead, behind = self.S.t - bearing, self.S.t + bearing  # torque in the mesh
        yield self.w == self.S.w
        yield self.S.w == self.ratio * self.O.w
        yield self.O.t == -self.ratio * (self.S.t - self.loss)
        yield from load_friction(
            self.loss, self.w, self.mode, self.moving, self.trial,
            forward=bearing + maximum(gain * ahead, back * ahead),
            backward=minimum(gain * behind, back * behind) - bearing,
            per_rate=quantity("1 kg*m^2"),
        )  # fmt: skip
        yield self.power_dissipated == self.loss * self.w


class LeadScrew(Component):
    """Screw S that moves a nut N along its axis, with friction in the thread.

    Equations, with the lead l per turn, lead angle a (tan a = l/(pi d)), friction angle
    r (tan r = friction / cos(thread_angle)) and the load F = -f_N on the nut:

    * v_N = l/(2 pi) w_S;
    * t_S = F d/2 tan(a) + loss, for the torque and force into the ports;
    * raising the load (F w_S > 0): loss = F d/2 (tan(a + r) - tan a);
    * lowering it: loss = F d/2 (tan(a - r) - tan a);
    * at rest the loss is what keeps the screw still, between these two.

    A screw with r >= a is self-locking: no load on the nut turns it. Neglects the
    inertia of the screw, play, and friction of collar and bearings.

    Parameters: lead (mm), diameter (mm), friction (1), thread_angle (deg).
    Ports: S (screw, rotational), N (nut, translational).

    Notes
    -----
    As for ``LossyGear``: the screw needs inertia, and no second stuck part.

    Raises
    ------
    ModelError
        If the lead angle and the friction angle reach 90 degrees together.

    References
    ----------
    Budynas, Nisbett, "Shigley's Mechanical Engineering Design", 9th ed., section 8-2.
    """

    S = Port(rotational, doc="screw")
    N = Port(translational, doc="nut")
    lead = Parameter("5 mm", above=0, doc="Travel of the nut per turn")
    diameter = Parameter("20 mm", above=0, doc="Mean diameter of the thread")
    friction = Parameter(0.1, minimum=0, doc="Coefficient of friction in the thread")
    thread_angle = Parameter("0 deg", minimum=0, below="90 deg", doc="Half angle of the thread")
    w = Variable("rad/s", doc="speed of the screw")
    loss = Variable("N*m", doc="torque lost in the thread")
    trial = Variable("N*m", doc="loss that would hold the screw")
    mode = Discrete("1", doc="1 turning forward, 0 stuck, -1 turning backward")
    moving = Discrete("1", doc="1 once it turns in the sense of the mode")
    power_dissipated = Variable("W", doc="heat")

    def verify(self) -> Iterator[str]:
        slope = (self.lead / (pi * self.diameter)).to("").magnitude
        grip = self.friction.magnitude / np.cos(self.thread_angle.to("rad").magnitude)
        if np.any(slope * grip >= 1):
            yield (f"friction is {self.friction:~P} with a lead of {self.lead:~P} on a diameter "
                   f"of {self.diameter:~P}: no torque can raise a load with such a steep thread. "
                   "Lower the friction or the lead.")  # fmt: skip

    def equations(self) -> Iterator[Any]:
        slope = self.lead / (pi * self.diameter)
        grip = self.friction / cos(self.thread_angle)
        load = -self.N.f * self.diameter / 2
        raising = load * ((slope + grip) / (1 - slope * grip) - slope)
        lowering = load * ((slope - grip) / (1 + slope * grip) - slope)
        yield self.w == self.S.w
        yield self.N.v == self.lead / (2 * pi) * self.S.w
        yield self.S.t == slope * load + self.loss
        yield from load_friction(
            self.loss, self.w, self.mode, self.moving, self.trial,
            forward=maximum(raising, lowering), backward=minimum(raising, lowering),
            per_rate=quantity("1 kg*m^2"),
        )  # fmt: skip
        yield self.power_dissipated == self.loss * self.w
