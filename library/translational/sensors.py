"""Ideal sensors: no mass, no friction, no slip."""

from blocks import Component, Option, Output, Parameter, Port, Variable, der

from .. import symbols
from .domain import TwoPort, translational


class ForceSensor(TwoPort):
    """Force through a rigid connection of R and C.

    Equations: v = 0; F = f. Inserted in series, it reads a positive force that acts
    at R and is passed on to C as positive.
    """

    symbol = symbols.METER

    F = Output("N", doc="force carried from R to C")

    def equations(self):
        yield self.v == 0
        yield self.F == self.f


class PowerSensor(TwoPort):
    """Power through a rigid connection of R and C.

    Equations: v = 0; P = f v_R, with the velocity against the reference. Positive
    where power flows from R to C.
    """

    symbol = symbols.METER

    P = Output("W", doc="power from R to C")

    def equations(self):
        yield self.v == 0
        yield self.P == self.f * self.R.v


class MultiSensor(ForceSensor):
    """Force, velocity and power in a rigid connection of R and C.

    Equations: v = 0; F = f; V = v_R; P = F V.
    """

    V = Output("m/s", doc="velocity of the connection")
    P = Output("W", doc="power from R to C")

    def equations(self):
        yield from super().equations()
        yield self.V == self.R.v
        yield self.P == self.f * self.R.v


class MotionSensor(Component):
    """Velocity, position and acceleration of R, against C or the reference.

    Equations: v = v_R - v_C, or v = v_R with ``reference="absolute"``, where the
    port C does not exist; V = v; P = x + offset with dx/dt = v; A = dv/dt, which is off by
    default. Draws no force.

    Notes
    -----
    Where the velocity jumps (an impact, a source that steps), A is what it is before and
    after: the pulse in between has no width, and is in no integral of A. Where such jumps
    count, lead V through ``library.signal.Derivative(input="m/s")``, which makes of each
    a pulse with the area of the jump.
    """

    symbol = symbols.METER

    reference = Option("difference", ("difference", "absolute"), doc="what R is measured against")
    velocity_port = Option(True, doc="whether the output V exists")
    position_port = Option(True, doc="whether the output P exists")
    acceleration_port = Option(False, doc="whether the output A exists")
    R = Port(translational, doc="the measured body")
    C = Port(translational, when=lambda c: c.reference == "difference",
             doc="what R is measured against")  # fmt: skip
    offset = Parameter("0 m", when="position_port", doc="Reading P at x = 0")
    V = Output("m/s", when="velocity_port", doc="velocity of R")
    P = Output("m", when="position_port", doc="position of R")
    A = Output("m/s^2", when="acceleration_port", doc="acceleration of R")
    v = Variable("m/s", doc="velocity of R")
    x = Variable("m", "0 m", priority="high", when="position_port", doc="distance travelled by R")

    def equations(self):
        yield self.R.f == 0
        if self.reference == "difference":
            yield self.C.f == 0
            yield self.v == self.R.v - self.C.v
        else:
            yield self.v == self.R.v
        if self.velocity_port:
            yield self.V == self.v
        if self.position_port:
            yield der(self.x) == self.v
            yield self.P == self.x + self.offset
        if self.acceleration_port:
            yield self.A == der(self.v)
