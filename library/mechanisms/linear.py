"""Between rotation and translation, and levers: ideal mechanisms with a constant ratio."""

from blocks import Component, Option, Parameter, Port

from .. import symbols
from ..rotational import rotational
from ..translational import translational


class WheelAndAxle(Component):
    """Wheel on an axle A that winds up (or drives) a periphery P.

    Equations: v_P = radius w_A and t_A = -radius f_P for the torque and force into the ports; with
    ``direction="negative"`` both signs are opposite. Neglects inertia, slip and losses.
    """

    symbol = symbols.WHEEL_AND_AXLE

    direction = Option("positive", ("positive", "negative"),
                       doc="direction of P for positive rotation of A")  # fmt: skip
    A = Port(rotational, doc="axle")
    P = Port(translational, doc="periphery")
    radius = Parameter("0.05 m", above=0, doc="Wheel radius")

    def equations(self):
        r = self.radius if self.direction == "positive" else -self.radius
        yield self.P.v == r * self.A.w
        yield self.A.t == -r * self.P.f


class RackAndPinion(Component):
    """Pinion P that moves a rack R.

    Equations: v_R = radius w_P and t_P = -radius f_R for the torque and force into the ports; with
    ``direction="negative"`` both signs are opposite. Neglects inertia, play and losses.
    """

    symbol = symbols.RACK

    direction = Option("positive", ("positive", "negative"),
                       doc="direction of the rack for positive rotation of the pinion")  # fmt: skip
    P = Port(rotational, doc="pinion")
    R = Port(translational, doc="rack")
    radius = Parameter("0.1 m", above=0, doc="Pitch radius of the pinion")

    def equations(self):
        r = self.radius if self.direction == "positive" else -self.radius
        yield self.R.v == r * self.P.w
        yield self.P.t == -r * self.R.f


class RollingWheel(Component):
    """Wheel that rolls on the ground without slip.

    Equations: v_H = radius w_A and t_A = -radius f_H for the torque and force into
    the ports: a torque at the axle pushes the hub forward, and the ground takes the
    reaction. Neglects mass, inertia, rolling resistance and the limit of adhesion.

    References
    ----------
    Modelica Standard Library, ``Mechanics.Rotational.Components.IdealRollingWheel``.
    """

    symbol = symbols.WHEEL

    A = Port(rotational, doc="axle")
    H = Port(translational, doc="hub")
    radius = Parameter("0.3 m", above=0, doc="Rolling radius")

    def equations(self):
        yield self.H.v == self.radius * self.A.w
        yield self.A.t == -self.radius * self.H.f


class Lever(Component):
    """Rigid massless lever with the ends A and B and the joint C between them.

    Equations, for small angles: v_C = K_A v_A + K_B v_B with K_A = BC/(AC + BC) and
    K_B = AC/(AC + BC); f_A = -K_A f_C and f_B = -K_B f_C for the forces into the
    ports. Put one of the three on a reference to make it the fulcrum.
    """

    symbol = symbols.LEVER

    A = Port(translational, doc="end A")
    B = Port(translational, doc="end B")
    C = Port(translational, doc="joint between the ends")
    AC = Parameter("0.1 m", above=0, doc="Arm length from A to C")
    BC = Parameter("0.1 m", above=0, doc="Arm length from B to C")

    def equations(self):
        length = self.AC + self.BC
        yield self.C.v == (self.BC * self.A.v + self.AC * self.B.v) / length
        yield self.A.f == -self.BC / length * self.C.f
        yield self.B.f == -self.AC / length * self.C.f
