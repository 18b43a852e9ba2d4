"""Prescribed forces and motions between two ports.

Each source takes its value from a parameter, a constant or a function of time
(``table`` makes one of points), unless a signal is connected to its input S.
"""

from blocks import Input, Parameter, Variable, der

from .. import symbols
from ..heat import Supplying
from .domain import TwoPort


class ForceSource(Supplying, TwoPort):
    """Prescribed force, whatever the motion.

    Equation: f = -S. A positive force acts from C to R: with C on the reference it accelerates the
    body at R towards positive velocities.

    Examples
    --------
    >>> from blocks import quantity, sin
    >>> push = ForceSource(force="10 N")
    >>> shake = ForceSource(force=lambda t: quantity("5 N") * sin(quantity("3 rad/s") * t))
    """

    symbol = symbols.FORCE_SOURCE

    force = Parameter("0 N", varying=True, doc="Force from C to R",
                      advice={"N*m": "A torque belongs to TorqueSource(torque=…)."})  # fmt: skip
    S = Input("N", default="force", doc="force from C to R")

    def equations(self):
        yield self.f == -self.S


class VelocitySource(Supplying, TwoPort):
    """Prescribed velocity of R against C, whatever the force.

    Equation: v = S. f is the force carried from R to C: negative where the source pushes in the
    direction of S.
    """

    symbol = symbols.MOTION_SOURCE

    velocity = Parameter("0 m/s", varying=True, doc="Velocity of R against C")
    S = Input("m/s", default="velocity", doc="velocity of R against C")

    def equations(self):
        yield self.v == self.S


class PositionSource(Supplying, TwoPort):
    """Prescribed position of R against C, whatever the force.

    Equations: x = S, v = dx/dt. The position must be continuous; a kink in it is a jump of
    velocity, which rigidly joined masses cannot follow.
    """

    symbol = symbols.MOTION_SOURCE

    position = Parameter("0 m", varying=True, doc="Position of R against C")
    S = Input("m", default="position", doc="position of R against C")
    x = Variable("m", doc="position of R against C")

    def equations(self):
        yield self.x == self.S
        yield self.v == der(self.x)


class AccelerationSource(Supplying, TwoPort):
    """Prescribed acceleration of R against C, whatever the force.

    Equations: dv/dt = S, dx/dt = v.
    """

    symbol = symbols.MOTION_SOURCE

    acceleration = Parameter("0 m/s^2", varying=True, doc="Acceleration of R against C")
    S = Input("m/s^2", default="acceleration", doc="acceleration of R against C")
    v = Variable("m/s", "0 m/s", priority="high", doc="velocity of R minus that of C")
    x = Variable("m", "0 m", priority="high", doc="position of R against C")

    def equations(self):
        yield der(self.v) == self.S
        yield der(self.x) == self.v
