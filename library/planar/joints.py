"""Joints between two bodies, with 1-D ports to drive or brake them."""

import numpy as np

from blocks import Option, Parameter, Port, Variable, cos, der, sin
from blocks.shapes import Link, Marker, Outline

from .. import symbols
from ..rotational import rotational
from ..translational import translational
from .domain import TwoFrame


class Revolute(TwoFrame):
    """A hinge: both frames stay at one place, F turns against B.

    Equations: x and y of both frames are equal; phi = phi_F - phi_B, w = der(phi).
    Frictionless; with ``drive=True`` the port A takes friction, a spring, a stop or
    a motor from the rotational library, whose torque acts from B on F.
    """

    symbol = symbols.HINGE

    drive = Option(False, doc="whether the hinge has a port A")
    A = Port(rotational, when="drive", doc="axis: angular velocity of F against B")
    phi = Variable("rad", "0 rad", priority="low", doc="angle of F against B")
    w = Variable("rad/s", "0 rad/s", priority="low", doc="angular velocity of F against B")

    def equations(self):
        B, F = self.B, self.F
        yield F.x == B.x
        yield F.y == B.y
        yield self.phi == F.phi - B.phi
        yield self.w == der(self.phi)
        if self.drive:
            yield self.A.w == self.w
            yield F.t == -self.A.t
        else:
            yield F.t == 0

    def shapes(self):
        yield Marker(("F.x", "F.y", "F.phi"))


class Prismatic(TwoFrame):
    """A slide: F moves along a line that is fixed in B, without turning.

    Equations: F is at the distance s from B along the direction ``angle`` of B, and
    phi_F = phi_B; v = der(s). Frictionless; with ``drive=True`` the port A takes
    friction, a spring, a stop or a motor from the translational library, whose
    force acts from B on F.
    """

    symbol = symbols.SLIDER

    drive = Option(False, doc="whether the slide has a port A")
    A = Port(translational, when="drive", doc="velocity of F along the slide")
    angle = Parameter("0 rad", doc="direction of the slide in the frame B")
    s = Variable("m", "0 m", priority="low", doc="distance of F from B along the slide")
    v = Variable("m/s", "0 m/s", priority="low", doc="velocity of F along the slide")

    def equations(self):
        B, F = self.B, self.F
        c, s = cos(B.phi + self.angle), sin(B.phi + self.angle)
        yield F.x == B.x + self.s * c
        yield F.y == B.y + self.s * s
        yield F.phi == B.phi
        yield self.v == der(self.s)
        if self.drive:
            yield self.A.v == self.v
            yield F.fx * c + F.fy * s == -self.A.f
        else:
            yield F.fx * c + F.fy * s == 0

    def shapes(self):
        yield Link(("B.x", "B.y"), ("F.x", "F.y"), guide=True)
        yield Marker(("F.x", "F.y", "F.phi"), symbol="s")


class RollingWheel(TwoFrame):
    """A wheel that rolls on a straight rail without slip and without leaving it.

    Equations: the centre F stays at the distance ``radius`` above the x axis of B, and
    der(s) + radius w = 0 with s the distance along the rail and w the angular
    velocity against it: to the right is clockwise. The forces ``normal`` and
    ``traction`` act from the rail on the wheel at the contact; a Contact decides
    what they may be, this wheel only says what they would have to be.
    """

    symbol = symbols.WHEEL

    radius = Parameter("0.3 m", above=0, doc="radius of the wheel")
    s = Variable("m", "0 m", priority="low", doc="distance rolled along the rail")
    v = Variable("m/s", "0 m/s", priority="low", doc="velocity along the rail")
    normal = Variable("N", doc="force of the rail on the wheel, away from it")
    traction = Variable("N", doc="force of the rail on the wheel, along it")

    def equations(self):
        B, F = self.B, self.F
        c, s = cos(B.phi), sin(B.phi)
        yield F.x == B.x + self.s * c - self.radius * s
        yield F.y == B.y + self.s * s + self.radius * c
        yield self.v == der(self.s)
        yield self.v == -self.radius * (F.w - B.w)
        yield F.fx == -(self.traction * c - self.normal * s)
        yield F.fy == -(self.traction * s + self.normal * c)
        yield F.t == -self.radius * self.traction

    def shapes(self):
        turn = np.linspace(0, 2 * np.pi, 61)
        r = float(self.radius.to("m").magnitude)
        frame = ("F.x", "F.y", "F.phi")
        yield Outline(frame, r * np.array([np.cos(turn), np.sin(turn)]), filled=True)
        yield Outline(frame, r * np.array([[-1.0, 1.0], [0.0, 0.0]]))
