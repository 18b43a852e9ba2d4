"""Ideal sensors: no inertia, no friction, no slip."""

from math import pi

from blocks import Component, Option, Output, Parameter, Port, Variable, der, mod

from .. import symbols
from .domain import TwoPort, rotational


class TorqueSensor(TwoPort):
    """Torque through a rigid connection of R and C.

    Equations: w = 0; T = t. Inserted in series, it reads a positive torque that acts
    at R and is passed on to C as positive.
    """

    symbol = symbols.METER

    T = Output("N*m", doc="torque carried from R to C")

    def equations(self):
        yield self.w == 0
        yield self.T == self.t


class PowerSensor(TwoPort):
    """Power through a rigid connection of R and C.

    Equations: w = 0; P = t w_R, with the angular velocity against the reference.
    Positive where power flows from R to C.
    """

    symbol = symbols.METER

    P = Output("W", doc="power from R to C")

    def equations(self):
        yield self.w == 0
        yield self.P == self.t * self.R.w


class MultiSensor(TorqueSensor):
    """Torque, angular velocity and power in a rigid connection of R and C.

    Equations: w = 0; T = t; W = w_R; P = T W.
    """

    W = Output("rad/s", doc="angular velocity of the connection")
    P = Output("W", doc="power from R to C")

    def equations(self):
        yield from super().equations()
        yield self.W == self.R.w
        yield self.P == self.t * self.R.w


class RotationalMotionSensor(Component):
    """Angular velocity, angle and acceleration of R, against C or the reference.

    Equations: w = w_R - w_C, or w = w_R with ``reference="absolute"``, where the port
    C does not exist; W = w; A = phi + offset with dphi/dt = w; ACC = dw/dt. With
    ``wrap_angle`` A stays within [0, 2 pi): whole turns are taken off at located
    events. ACC is off by default. Draws no torque.

    Notes
    -----
    Where the velocity jumps (an impact, a source that steps), ACC is what it is before and
    after: the pulse in between has no width, and is in no integral of ACC. Where such jumps
    count, lead W through ``library.signal.Derivative(input="rad/s")``, which makes of each
    a pulse with the area of the jump.
    """

    symbol = symbols.METER

    reference = Option("difference", ("difference", "absolute"), doc="what R is measured against")
    velocity_port = Option(True, doc="whether the output W exists")
    angle_port = Option(True, doc="whether the output A exists")
    acceleration_port = Option(False, doc="whether the output ACC exists")
    wrap_angle = Option(False, doc="whether A is kept within one turn")
    R = Port(rotational, doc="the measured body")
    C = Port(rotational, when=lambda c: c.reference == "difference",
             doc="what R is measured against")  # fmt: skip
    offset = Parameter("0 rad", when="angle_port", doc="Reading A at phi = 0")
    W = Output("rad/s", when="velocity_port", doc="angular velocity of R")
    A = Output("rad", when="angle_port", doc="angle of R")
    ACC = Output("rad/s^2", when="acceleration_port", doc="angular acceleration of R")
    w = Variable("rad/s", doc="angular velocity of R")
    phi = Variable("rad", "0 rad", priority="high", when="angle_port", doc="angle turned by R")

    def equations(self):
        yield self.R.t == 0
        if self.reference == "difference":
            yield self.C.t == 0
            yield self.w == self.R.w - self.C.w
        else:
            yield self.w == self.R.w
        if self.velocity_port:
            yield self.W == self.w
        if self.angle_port:
            yield der(self.phi) == self.w
            angle = self.phi + self.offset
            yield self.A == (mod(angle, 2 * pi) if self.wrap_angle else angle)
        if self.acceleration_port:
            yield self.ACC == der(self.w)
