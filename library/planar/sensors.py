"""What a mechanism does, as signals: motion and forces of frames."""

from blocks import Component, Output, Port

from .. import symbols
from .domain import TwoFrame, planar, turned


class MotionSensor(Component):
    """Place, angle and velocities of a frame in the world: X = x, VX = vx and so on."""

    symbol = symbols.METER

    P = Port(planar, doc="frame that is looked at")
    X = Output("m", doc="place to the right")
    Y = Output("m", doc="place upwards")
    PHI = Output("rad", doc="angle, counterclockwise")
    VX = Output("m/s", doc="velocity to the right")
    VY = Output("m/s", doc="velocity upwards")
    W = Output("rad/s", doc="angular velocity, counterclockwise")

    def equations(self):
        P = self.P
        for force in (P.fx, P.fy, P.t):
            yield force == 0
        yield self.X == P.x
        yield self.Y == P.y
        yield self.PHI == P.phi
        yield self.VX == P.vx
        yield self.VY == P.vy
        yield self.W == P.w


class RelativeSensor(Component):
    """Place and angle of the frame F as it is seen from the frame B."""

    symbol = symbols.METER

    B = Port(planar, doc="frame that looks")
    F = Port(planar, doc="frame that is looked at")
    X = Output("m", doc="place along the x axis of B")
    Y = Output("m", doc="place along the y axis of B")
    PHI = Output("rad", doc="angle against B")

    def equations(self):
        B, F = self.B, self.F
        for port in (B, F):
            for force in (port.fx, port.fy, port.t):
                yield force == 0
        x, y = turned(-B.phi, F.x - B.x, F.y - B.y)
        yield self.X == x
        yield self.Y == y
        yield self.PHI == F.phi - B.phi


class ForceSensor(TwoFrame):
    """Force and torque through a rigid connection, from B on F, in world directions."""

    symbol = symbols.METER

    FX = Output("N", doc="force from B on F, to the right")
    FY = Output("N", doc="force from B on F, upwards")
    T = Output("N*m", doc="torque from B on F, counterclockwise")

    def equations(self):
        B, F = self.B, self.F
        yield F.x == B.x
        yield F.y == B.y
        yield F.phi == B.phi
        yield self.FX == -F.fx
        yield self.FY == -F.fy
        yield self.T == -F.t
