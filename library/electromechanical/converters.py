"""Ideal converters between current and torque or force, and what all machines share."""

from blocks import Parameter, Port, Variable

from .. import symbols
from ..electrical import TwoPort
from ..rotational import rotational
from ..translational import translational


class RotationalMachine(TwoPort):
    """Base of machines with the electrical ports p and n and the rotational ports R and C.

    Gives v = v_p - v_n, i from p to n and w = w_R - w_C. A subclass states the torques R.t
    and C.t, and one equation more.
    """

    symbol = symbols.MOTOR

    R = Port(rotational, doc="rotor")
    C = Port(rotational, doc="case")
    w = Variable("rad/s", doc="angular velocity of R minus that of C")

    def port_equations(self):
        yield from super().port_equations()
        yield self.w == self.R.w - self.C.w


class TranslationalMachine(TwoPort):
    """Base of machines with the electrical ports p and n and the translational ports R and C.

    Gives v = v_p - v_n, i from p to n, u = v_R - v_C and f, the force carried from R to C. A
    subclass states two equations more.
    """

    R = Port(translational, doc="rod")
    C = Port(translational, doc="case")
    u = Variable("m/s", doc="velocity of R minus that of C")
    f = Variable("N", doc="force carried from R to C")

    def port_equations(self):
        yield from super().port_equations()
        yield self.u == self.R.v - self.C.v
        yield self.R.f == self.f
        yield self.C.f == -self.f


class RotationalElectromechanicalConverter(RotationalMachine):
    """Ideal motor and generator: no resistance, no inductance, no inertia, no loss.

    Equations: v = constant w; t = constant i, the torque from C to R: positive where a positive
    current from p to n drives R forward. Lossless: v i = t w. A negative constant reverses it.
    """

    constant = Parameter("0.1 V*s/rad", doc="Torque over current, and voltage over speed")
    t = Variable("N*m", doc="torque from C to R")

    def equations(self):
        yield self.v == self.constant * self.w
        yield self.t == self.constant * self.i
        yield self.R.t == -self.t
        yield self.C.t == self.t


class TranslationalElectromechanicalConverter(TranslationalMachine):
    """Ideal linear motor: no resistance, no inductance, no mass, no loss.

    Equations: v = constant u with u = v_R - v_C; f = -constant i, the force carried from R
    to C (that of the rotational converter counts from C to R): negative where a positive
    current from p to n drives R forward. Lossless: v i + f u = 0. The default is not verified.
    """

    symbol = symbols.LINEAR_MOTOR

    constant = Parameter("0.1 V*s/m", doc="Force over current, and voltage over velocity")

    def equations(self):
        yield self.v == self.constant * self.u
        yield self.f == -self.constant * self.i
