"""Forces, torques, springs between points, and bridges to the 1-D domains."""

from blocks import (
    Component,
    Input,
    Option,
    Parameter,
    Port,
    Variable,
    cos,
    maximum,
    quantity,
    require,
    sin,
    sqrt,
)
from blocks.shapes import Arrow, Link

from .. import symbols
from ..heat import Dissipative
from ..rotational import rotational
from ..translational import translational
from .domain import TwoFrame, planar, turned

NOTHING = quantity(1e-200, "m^2")  # no length at all still has a derivative


class Force(Component):
    """A force on the origin of a frame.

    Equations: (SX, SY) acts on what hangs on P, in world directions or, with ``turns=True``, in
    those of the frame. A point elsewhere on the body is made by a RigidOffset.
    """

    symbol = symbols.FORCE_ARROW

    P = Port(planar, doc="frame the force acts on")
    turns = Option(False, doc="whether the force turns with the frame")
    fx = Parameter("0 N", varying=True, doc="force along x")
    fy = Parameter("0 N", varying=True, doc="force along y")
    SX = Input("N", default="fx", doc="force along x")
    SY = Input("N", default="fy", doc="force along y")
    power_supplied = Variable("W", doc="power given to the mechanism")

    def equations(self):
        P = self.P
        fx, fy = turned(P.phi, self.SX, self.SY) if self.turns else (self.SX, self.SY)
        yield P.fx == -fx
        yield P.fy == -fy
        yield P.t == 0
        yield self.power_supplied == fx * P.vx + fy * P.vy

    def shapes(self):
        yield Arrow(("P.x", "P.y"), ("P.fx", "P.fy"), sign=-1.0)


class Torque(Component):
    """A torque on a frame, positive counterclockwise: S acts on what hangs on P."""

    symbol = symbols.TORQUE_ARROW

    P = Port(planar, doc="frame the torque acts on")
    torque = Parameter("0 N*m", varying=True, doc="torque, counterclockwise")
    S = Input("N*m", default="torque", doc="torque, counterclockwise")
    power_supplied = Variable("W", doc="power given to the mechanism")

    def equations(self):
        yield self.P.fx == 0
        yield self.P.fy == 0
        yield self.P.t == -self.S
        yield self.power_supplied == self.S * self.P.w


class SpringDamper(Dissipative):
    """Spring and damper in parallel between the origins of two frames.

    Equation: f = stiffness (length - free_length) + damping der(length), along the
    line between the two origins; f > 0 pulls them together. No torque goes through it. The
    origins must not coincide, but where free_length is zero.
    """

    symbol = symbols.SPRING_DAMPER

    B = Port(planar, doc="one end")
    F = Port(planar, doc="the other end")
    stiffness = Parameter("1 kN/m", minimum=0, doc="stiffness")
    damping = Parameter("0 N*s/m", minimum=0, doc="damping coefficient")
    free_length = Parameter("0.1 m", minimum=0, doc="length without force")
    length = Variable("m", doc="distance of the ends")
    v = Variable("m/s", doc="rate of the length")
    f = Variable("N", doc="tension, > 0 pulls the ends together")
    energy_stored = Variable("J", doc="elastic energy")

    def equations(self):
        B, F = self.B, self.F
        dx, dy = F.x - B.x, F.y - B.y
        length = sqrt(dx**2 + dy**2 + NOTHING)
        yield require(maximum(length - quantity(1e-50, "m"), quantity("1 pm") - self.free_length)
                      > 0, "its two ends are at one place, so that nothing tells in which "
                      "direction it pushes. Start a little apart, or give free_length='0 m'.")
        ex, ey = dx / length, dy / length
        yield self.length == length
        yield self.v == (F.vx - B.vx) * ex + (F.vy - B.vy) * ey
        stretch = length - self.free_length
        yield self.f == self.stiffness * stretch + self.damping * self.v
        yield F.fx == self.f * ex
        yield F.fy == self.f * ey
        yield B.fx == -self.f * ex
        yield B.fy == -self.f * ey
        yield F.t == 0
        yield B.t == 0
        yield self.energy_stored == self.stiffness * stretch**2 / 2
        yield self.power_dissipated == self.damping * self.v**2

    def shapes(self):
        yield Link(("B.x", "B.y"), ("F.x", "F.y"), coiled=True)


class RotationalBridge(TwoFrame):
    """A shaft of the rotational domain between two bodies, perpendicular to the plane.

    Equations: w_A = w_F - w_B; the torque into the bridge at A acts from B on F.
    Only rotation is joined: the bodies are held by other joints. With B on the
    ground the shaft turns with the body at F.
    """

    A = Port(rotational, doc="shaft: angular velocity of F against B")

    def port_equations(self):
        yield self.B.fx == 0
        yield self.B.fy == 0
        yield self.F.fx == 0
        yield self.F.fy == 0
        yield self.B.t + self.F.t == 0

    def equations(self):
        yield self.A.w == self.F.w - self.B.w
        yield self.F.t == -self.A.t


class TranslationalBridge(TwoFrame):
    """A rod of the translational domain that feels the motion of F along a line of B.

    Equations: v_A is the velocity of the origin of F, seen from B, along the
    direction ``angle`` of B; the force into the bridge at A acts from B on F along
    that direction.
    """

    A = Port(translational, doc="velocity of F along the line")
    angle = Parameter("0 rad", doc="direction of the line in the frame B")

    def equations(self):
        B, F = self.B, self.F
        c, s = cos(B.phi + self.angle), sin(B.phi + self.angle)
        vx, vy = F.vx - B.vx + B.w * (F.y - B.y), F.vy - B.vy - B.w * (F.x - B.x)
        yield self.A.v == vx * c + vy * s
        yield F.fx == -self.A.f * c
        yield F.fy == -self.A.f * s
        yield F.t == 0
