"""Prescribed torques and motions between two ports.

Each source takes its value from a parameter, a constant or a function of time,
unless a signal is connected to its input S.
"""

from blocks import Input, Parameter, Variable, der

from .. import symbols
from ..heat import Supplying
from .domain import TwoPort


class TorqueSource(Supplying, TwoPort):
    """Prescribed torque, whatever the motion.

    Equation: t = -S. A positive torque acts from C to R: with C on the reference it accelerates the
    body at R towards positive angular velocities.

    Examples
    --------
    >>> from blocks import quantity, sin
    >>> drive = TorqueSource(torque="10 N*m")
    >>> shake = TorqueSource(torque=lambda t: quantity("5 N*m") * sin(quantity("3 rad/s") * t))
    """

    symbol = symbols.FORCE_SOURCE

    torque = Parameter("0 N*m", varying=True, doc="Torque from C to R",
                       advice={"N": "A force belongs to ForceSource(force=…)."})  # fmt: skip
    S = Input("N*m", default="torque", doc="torque from C to R")

    def equations(self):
        yield self.t == -self.S


class AngularVelocitySource(Supplying, TwoPort):
    """Prescribed angular velocity of R against C, whatever the torque.

    Equation: w = S. t is the torque carried from R to C: negative where the source drives in the
    direction of S.
    """

    symbol = symbols.TURNING_SOURCE

    velocity = Parameter("0 rad/s", varying=True, doc="Angular velocity of R against C")
    S = Input("rad/s", default="velocity", doc="angular velocity of R against C")

    def equations(self):
        yield self.w == self.S


class AngleSource(Supplying, TwoPort):
    """Prescribed angle of R against C, whatever the torque.

    Equations: phi = S, w = dphi/dt. The angle must be continuous; a kink in it is a jump of
    velocity, which rigidly joined inertias cannot follow.
    """

    symbol = symbols.TURNING_SOURCE

    angle = Parameter("0 rad", varying=True, doc="Angle of R against C")
    S = Input("rad", default="angle", doc="angle of R against C")
    phi = Variable("rad", doc="angle of R against C")

    def equations(self):
        yield self.phi == self.S
        yield self.w == der(self.phi)


class AngularAccelerationSource(Supplying, TwoPort):
    """Prescribed angular acceleration of R against C, whatever the torque.

    Equations: dw/dt = S, dphi/dt = w.
    """

    symbol = symbols.TURNING_SOURCE

    acceleration = Parameter("0 rad/s^2", varying=True, doc="Angular acceleration of R against C")
    S = Input("rad/s^2", default="acceleration", doc="angular acceleration of R against C")
    w = Variable("rad/s", "0 rad/s", priority="high", doc="angular velocity of R minus that of C")
    phi = Variable("rad", "0 rad", priority="high", doc="angle of R against C")

    def equations(self):
        yield der(self.w) == self.S
        yield der(self.phi) == self.w
