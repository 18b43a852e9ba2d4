"""Gears whose friction depends on the load they transmit, and can hold them at rest."""

from math import pi

import numpy as np

from blocks import (
    Option,
    Parameter,
    Port,
    Variable,
    abs_,
    cos,
    interpolate,
    maximum,
    minimum,
    set_valued,
)

from .. import symbols
from ..heat import Dissipative
from ..rotational import rotational
from ..tables import friction_at, friction_faults
from ..translational import translational
from .gears import nonzero_ratio


def _constant(gear):
    return gear.law == "constant"


def _table(gear):
    return gear.law == "table"


class LossyGear(Dissipative):
    """Gear with mesh efficiency and bearing friction that can stick.

    Equations, for the torques into the ports: w_S = ratio w_O and t_O = -ratio (t_S - loss). With
    the mesh efficiency e1 and bearing torque b1 while S drives, e2 and b2 while O drives,

    * turning forward: loss = max((1 - e1) t_S + b1, (1 - 1/e2) t_S + b2);
    * turning backward: loss = min((1 - e1) t_S - b1, (1 - 1/e2) t_S - b2);
    * at rest: loss is whatever keeps the gear still, between these two at w_S = 0.

    Forward, the first term is the larger one while S drives. All four are constants,
    or with ``law="table"`` interpolated over the speed |w_S|; beyond the table
    efficiencies are held and torques continue by their last segment, but not below zero.
    Neglects the inertia of the gear, play and elasticity.

    Notes
    -----
    The shafts need inertia. Where a second part with exact friction, such as a brake, is
    stuck on the same rigid shafts, only their sum is known: they hold as long as any
    split of the load is within the bounds of both, which follow that split. The split
    that is shown has both at the same share of the way between their bounds.

    Raises
    ------
    ModelError
        If the ratio is 0, or the table does not increase from 0 on.

    References
    ----------
    Modelica Standard Library, ``Mechanics.Rotational.Components.LossyGear`` (S is
    flange_a; e1, e2, b1, b2 are eta_mf1, eta_mf2, tau_bf1, tau_bf2).
    Pelchen, Schweiger, Otter, "Modeling and Simulating the Efficiency of Gearboxes and
    of Planetary Gearboxes", Modelica Conference, 2002.
    """

    symbol = symbols.GEAR

    law = Option("constant", ("constant", "table"), doc="how losses depend on the speed")
    S = Port(rotational, doc="input shaft")
    O = Port(rotational, doc="output shaft")
    ratio = Parameter(5.0, doc="Turns of S per turn of O")
    forward_efficiency = Parameter(0.9, above=0, maximum=1, when=_constant,
                                   doc="Mesh efficiency, S driving")  # fmt: skip
    backward_efficiency = Parameter(0.9, above=0, maximum=1, when=_constant,
                                    doc="Mesh efficiency, O driving")  # fmt: skip
    forward_bearing_torque = Parameter("0 N*m", minimum=0, when=_constant,
                                       doc="Bearing friction at S, S driving")  # fmt: skip
    backward_bearing_torque = Parameter("0 N*m", minimum=0, when=_constant,
                                        doc="Bearing friction at S, O driving")  # fmt: skip
    speeds = Parameter(["0 rad/s", "1 rad/s"], minimum=0, when=_table, doc="Speeds of S, from 0 on")
    forward_efficiencies = Parameter([0.9, 0.9], above=0, maximum=1, when=_table,
                                     doc="Mesh efficiencies at the speeds, S driving")  # fmt: skip
    backward_efficiencies = Parameter([0.9, 0.9], above=0, maximum=1, when=_table,
                                      doc="Mesh efficiencies at the speeds, O driving")  # fmt: skip
    forward_bearing_torques = Parameter(["0 N*m", "0 N*m"], minimum=0, when=_table,
                                        doc="Bearing friction at S, S driving")  # fmt: skip
    backward_bearing_torques = Parameter(["0 N*m", "0 N*m"], minimum=0, when=_table,
                                         doc="Bearing friction at S, O driving")  # fmt: skip
    w = Variable("rad/s", doc="speed of S")
    loss = Variable("N*m", doc="torque lost, at S")

    def verify(self):
        yield from nonzero_ratio(self)
        if self.law == "table":
            yield from friction_faults(("speeds", self.speeds),
                                       forward_efficiencies=self.forward_efficiencies,
                                       backward_efficiencies=self.backward_efficiencies,
                                       forward_bearing_torques=self.forward_bearing_torques,
                                       backward_bearing_torques=self.backward_bearing_torques)

    def equations(self):
        forward, backward, b1, b2 = self._losses()
        by_input, by_output = (1 - forward) * self.S.t, (1 - 1 / backward) * self.S.t
        yield self.w == self.S.w
        yield self.S.w == self.ratio * self.O.w
        yield self.O.t == -self.ratio * (self.S.t - self.loss)
        bounds = minimum(by_input - b1, by_output - b2), maximum(by_input + b1, by_output + b2)
        yield set_valued(self.loss, self.w, static=bounds, kinetic=bounds)
        yield self.power_dissipated == self.loss * self.w

    def _losses(self):
        """Both efficiencies and both bearing torques at the present speed."""
        if self.law == "constant":
            return (self.forward_efficiency, self.backward_efficiency,
                    self.forward_bearing_torque, self.backward_bearing_torque)  # fmt: skip
        speed = abs_(self.w)
        return (interpolate(speed, self.speeds, self.forward_efficiencies, hold=True),
                interpolate(speed, self.speeds, self.backward_efficiencies, hold=True),
                friction_at(speed, self.speeds, self.forward_bearing_torques),
                friction_at(speed, self.speeds, self.backward_bearing_torques))


class LeadScrew(Dissipative):
    """Screw S that moves a nut N along its axis, with friction in the thread.

    Equations, with the lead l per turn, lead angle a (tan a = l/(pi d)), friction angle
    r (tan r = friction / cos(thread_angle)) and the load F = -f_N on the nut:

    * v_N = l/(2 pi) w_S;
    * t_S = F d/2 tan(a) + loss, for the torque and force into the ports;
    * raising the load (F w_S > 0): loss = F d/2 (tan(a + r) - tan a);
    * lowering it: loss = F d/2 (tan(a - r) - tan a);
    * at rest the loss is what keeps the screw still, between these two.

    A screw with r >= a is self-locking: no load on the nut turns it. Dry friction on the nut takes
    more load off such a thread than it bears: it breaks away at its kinetic force, where the motion
    goes on. Neglects the inertia of the screw, play, and friction of collar and bearings.

    Raises
    ------
    ModelError
        If the lead angle and the friction angle reach 90 degrees together.

    References
    ----------
    Budynas, Nisbett, "Shigley's Mechanical Engineering Design", 9th ed., section 8-2.
    """

    symbol = symbols.SCREW

    S = Port(rotational, doc="screw")
    N = Port(translational, doc="nut")
    lead = Parameter("5 mm", above=0, doc="Travel of the nut per turn")
    diameter = Parameter("20 mm", above=0, doc="Mean diameter of the thread")
    friction = Parameter(0.1, minimum=0, doc="Coefficient of friction in the thread")
    thread_angle = Parameter("0 deg", minimum=0, below="90 deg", doc="Half angle of the thread")
    w = Variable("rad/s", doc="speed of the screw")
    loss = Variable("N*m", doc="torque lost in the thread")

    def verify(self):
        slope = (self.lead / (pi * self.diameter)).to("").magnitude
        grip = self.friction.magnitude / np.cos(self.thread_angle.to("rad").magnitude)
        if np.any(slope * grip >= 1):
            yield (f"friction is {self.friction:~P} with a lead of {self.lead:~P} on a diameter "
                   f"of {self.diameter:~P}: no torque can raise a load with such a steep thread. "
                   "Lower the friction or the lead.")  # fmt: skip

    def equations(self):
        slope = self.lead / (pi * self.diameter)
        grip = self.friction / cos(self.thread_angle)
        load = -self.N.f * self.diameter / 2
        raising = load * ((slope + grip) / (1 - slope * grip) - slope)
        lowering = load * ((slope - grip) / (1 + slope * grip) - slope)
        yield self.w == self.S.w
        yield self.N.v == self.lead / (2 * pi) * self.S.w
        yield self.S.t == slope * load + self.loss
        bounds = minimum(raising, lowering), maximum(raising, lowering)
        yield set_valued(self.loss, self.w, static=bounds, kinetic=bounds)
        yield self.power_dissipated == self.loss * self.w
