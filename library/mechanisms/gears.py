"""Gears without losses between rotating shafts."""

import numpy as np

from blocks import Component, Option, Parameter, Port

from .. import symbols
from ..rotational import rotational


class GearBox(Component):
    """Ideal gear with a fixed ratio between the shafts S and O.

    Equations: w_S = ratio w_O and t_O = -ratio t_S for the torques into the ports: what S takes in
    leaves at O, ratio times larger. With ``housing=True`` the gear stands on port C instead of the
    ground: w_S - w_C = ratio (w_O - w_C) and t_S + t_O + t_C = 0. A negative ratio turns the output
    the other way round. Neglects inertia, play, elasticity and losses: see ``LossyGear``.

    Raises
    ------
    ModelError
        If the ratio is 0.
    """

    symbol = symbols.GEAR

    housing = Option(False, doc="whether the port C of the housing exists")
    S = Port(rotational, doc="input shaft")
    O = Port(rotational, doc="output shaft")
    C = Port(rotational, when="housing", doc="housing")
    ratio = Parameter(5.0, doc="Turns of S per turn of O")

    def verify(self):
        yield from nonzero_ratio(self)

    def equations(self):
        yield self.O.t == -self.ratio * self.S.t
        if self.housing:
            yield self.S.w - self.C.w == self.ratio * (self.O.w - self.C.w)
            yield self.S.t + self.O.t + self.C.t == 0
        else:
            yield self.S.w == self.ratio * self.O.w


class BeltDrive(Component):
    """Ideal belt or chain over two pulleys on the shafts A and B.

    Equations: radius_A w_A = radius_B w_B (negative with ``crossed=True``) and
    t_A / radius_A = -t_B / radius_B (positive with ``crossed=True``): the belt pulls
    with the force t_A / radius_A. Neglects slip, elasticity and mass of the belt.
    """

    symbol = symbols.GEAR

    crossed = Option(False, doc="whether the belt is crossed, so that the pulleys counter-rotate")
    A = Port(rotational, doc="shaft of pulley A")
    B = Port(rotational, doc="shaft of pulley B")
    radius_A = Parameter("0.1 m", above=0, doc="Radius of pulley A")
    radius_B = Parameter("0.1 m", above=0, doc="Radius of pulley B")

    def equations(self):
        sense = -1 if self.crossed else 1
        yield self.radius_A * self.A.w == sense * self.radius_B * self.B.w
        yield self.radius_B * self.A.t == -sense * self.radius_A * self.B.t


class PlanetaryGear(Component):
    """Ideal planetary gear of sun S, ring R and carrier C.

    Equations: w_S + ratio w_R = (1 + ratio) w_C and, for the torques into the ports,
    t_R = ratio t_S and t_C = -(1 + ratio) t_S. Two speeds determine the third.
    Neglects losses and the inertia of the planets.

    References
    ----------
    Modelica Standard Library, ``Mechanics.Rotational.Components.IdealPlanetary``.
    """

    symbol = symbols.PLANETS

    C = Port(rotational, doc="carrier")
    R = Port(rotational, doc="ring")
    S = Port(rotational, doc="sun")
    ratio = Parameter(2.0, above=1, doc="Teeth of the ring over teeth of the sun")

    def equations(self):
        yield self.S.w + self.ratio * self.R.w == (1 + self.ratio) * self.C.w
        yield self.R.t == self.ratio * self.S.t
        yield self.C.t == -(1 + self.ratio) * self.S.t


class Differential(Component):
    """Ideal open differential between the drive shaft D and the half shafts S1 and S2.

    Equations: w_D = ratio (w_S1 + w_S2) / 2 and t_S1 = t_S2 = -ratio t_D / 2 for the torques into
    the ports: both wheels get the same torque at any speeds. Neglects losses and inertia.

    Raises
    ------
    ModelError
        If the ratio is 0.
    """

    symbol = symbols.DIFFERENTIAL

    D = Port(rotational, doc="drive shaft")
    S1 = Port(rotational, doc="first half shaft")
    S2 = Port(rotational, doc="second half shaft")
    ratio = Parameter(4.0, doc="Turns of D per turn of both half shafts")

    def verify(self):
        yield from nonzero_ratio(self)

    def equations(self):
        yield 2 * self.D.w == self.ratio * (self.S1.w + self.S2.w)
        yield self.S1.t == -self.ratio * self.D.t / 2
        yield self.S2.t == -self.ratio * self.D.t / 2


def nonzero_ratio(component):
    """What is wrong with a ratio of 0."""
    if np.any(component.ratio.magnitude == 0):
        yield (
            "ratio is 0, so the output could turn without the input. Give the number of turns of "
            "the input per turn of the output, such as 5, or -5 for opposite directions."
        )
