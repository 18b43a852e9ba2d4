"""Bodies, what holds them, and gravity."""

import numpy as np

from blocks import Component, Parameter, Port, Variable, cos, der, sin
from blocks.shapes import Link, Marker, Outline

from .. import symbols
from .domain import TwoFrame, planar, turned


class Ground(Component):
    """A frame that is fixed in the world.

    Equations: x, y and phi of P are constants, so its velocities are zero.
    """

    symbol = symbols.WALL
    grounds = True
    P = Port(planar, doc="the fixed frame")
    x = Parameter("0 m", doc="where the frame is, to the right")
    y = Parameter("0 m", doc="where the frame is, upwards")
    phi = Parameter("0 rad", doc="angle of the frame, counterclockwise")

    def equations(self):
        yield self.P.x == self.x
        yield self.P.y == self.y
        yield self.P.phi == self.phi

    def shapes(self):
        yield Marker(("P.x", "P.y", "P.phi"), symbol="^")


class Gravity(Component):
    """The gravity that acts on all bodies of the mechanism it is connected to.

    It states the domain parameters gx and gy of its circuit; without one, gravity is
    9.81 m/s^2 against y. Connect it to any frame of the mechanism, such as a Ground; no force
    goes through it.
    """

    symbol = symbols.WEIGHT

    P = Port(planar, sets=True, doc="any frame of the mechanism")
    strength = Parameter("9.81 m/s^2", minimum=0, doc="gravitational acceleration")
    direction = Parameter("-90 deg", doc="where things fall, from the x axis")

    def equations(self):
        yield self.P.gx == self.strength * cos(self.direction)
        yield self.P.gy == self.strength * sin(self.direction)
        yield self.P.fx == 0
        yield self.P.fy == 0
        yield self.P.t == 0


class Body(Component):
    """A rigid body that moves in the plane.

    Equations: with r the arm from the frame to the centre of mass c,
    m a_c = f + m g and J alpha = t - r x f, where f and t are force and torque
    at the frame. The variables are those of the body's frame P; give its place
    and velocity at the start by keyword, ``Body(x="1 m", vy="2 m/s")``.

    Notes
    -----
    Stores kinetic and gravitational energy; the latter is zero at the world's origin.
    """

    symbol = symbols.DISC

    P = Port(planar, doc="frame of the body")
    mass = Parameter("1 kg", above=0, doc="mass")
    inertia = Parameter("1 kg*m^2", above=0, doc="moment of inertia about the centre of mass")
    center_x = Parameter("0 m", doc="centre of mass in the body's frame, along its x axis")
    center_y = Parameter("0 m", doc="centre of mass in the body's frame, along its y axis")
    x = Variable("m", doc="place of the frame, to the right")
    y = Variable("m", doc="place of the frame, upwards")
    phi = Variable("rad", doc="angle of the frame, counterclockwise")
    vx = Variable("m/s", doc="velocity of the frame, to the right")
    vy = Variable("m/s", doc="velocity of the frame, upwards")
    w = Variable("rad/s", doc="angular velocity, counterclockwise")
    energy_stored = Variable("J", doc="kinetic and gravitational energy")

    def equations(self):
        P, m, w = self.P, self.mass, self.w
        yield self.x == P.x
        yield self.y == P.y
        yield self.phi == P.phi
        yield self.vx == P.vx
        yield self.vy == P.vy
        yield self.w == P.w
        rx, ry = turned(self.phi, self.center_x, self.center_y)
        alpha = der(self.w)
        yield m * (der(self.vx) - alpha * ry - w**2 * rx) == P.fx + m * P.gx
        yield m * (der(self.vy) + alpha * rx - w**2 * ry) == P.fy + m * P.gy
        yield self.inertia * alpha == P.t - (rx * P.fy - ry * P.fx)
        ux, uy = self.vx - w * ry, self.vy + w * rx
        yield self.energy_stored == (
            m * (ux**2 + uy**2) / 2 + self.inertia * w**2 / 2
            - m * (P.gx * (self.x + rx) + P.gy * (self.y + ry))
        )  # fmt: skip

    def shapes(self):
        x, y = (float(c.to("m").magnitude) for c in (self.center_x, self.center_y))
        if x or y:
            yield Outline(("x", "y", "phi"), np.array([[0.0, x], [0.0, y]]))
        yield Marker(("x", "y", "phi"), (x, y), "+")


class RigidOffset(TwoFrame):
    """A second frame on a body, at a fixed place in its first one.

    Equations: F is where (dx, dy) of B is, turned against it by ``angle``.
    Has no mass.
    """

    symbol = symbols.ROD

    dx = Parameter("0 m", doc="place of F along the x axis of B")
    dy = Parameter("0 m", doc="place of F along the y axis of B")
    angle = Parameter("0 rad", doc="angle of F against B")

    def equations(self):
        rx, ry = turned(self.B.phi, self.dx, self.dy)
        yield self.F.x == self.B.x + rx
        yield self.F.y == self.B.y + ry
        yield self.F.phi == self.B.phi + self.angle

    def shapes(self):
        yield Link(("B.x", "B.y"), ("F.x", "F.y"))
