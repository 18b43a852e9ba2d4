"""Rigid bodies in the plane with frictional point contacts, written as a user would.

A body with mass m and inertia J about its centre (x, y); its corners touch the floor
y = 0. Normal force N >= 0 up, friction T against the slip of the corner.
"""

import numpy as np

import blocks
from benches import wire, wired
from benches.friction import push
from blocks import Component, Model, Parameter, Variable, cos, der, dry_friction, quantity, sin
from library.planar import Body, Circle, Contact, Corner, Gravity, Ground, Line
from library.translational import Mass, Reference, translational

G = 9.81


class Rod(Component):
    """A slender rod; its lower end, ``half_length`` from the centre, touches a rough floor.

    ``angle`` is that of the rod against the floor, counted anticlockwise from the end in
    touch to the centre: the end is at x - l cos(angle), y - l sin(angle).
    """

    mass, inertia = Parameter("1 kg"), Parameter("0.3333333333333333 kg*m^2")
    half_length, friction = Parameter("1 m"), Parameter(0.5)
    static_friction, restitution = Parameter(0.5), Parameter(0.0)
    push = Parameter("0 N", varying=True)
    x, y = Variable("m", "0 m", priority="high"), Variable("m", "0 m", priority="high")
    angle = Variable("rad", "60 deg", priority="high")
    vx, vy = Variable("m/s", "0 m/s", priority="high"), Variable("m/s", "0 m/s", priority="high")
    w = Variable("rad/s", "0 rad/s", priority="high")
    gap, slip, N, T = Variable("m"), Variable("m/s"), Variable("N"), Variable("N")
    power_dissipated, energy_stored = Variable("W"), Variable("J")
    power_supplied = Variable("W")

    def equations(self):
        l, m = self.half_length, self.mass
        arm_x, arm_y = -l * cos(self.angle), -l * sin(self.angle)
        yield der(self.x) == self.vx
        yield der(self.y) == self.vy
        yield der(self.angle) == self.w
        yield m * der(self.vx) == self.push - self.T
        yield m * der(self.vy) == self.N - m * quantity(G, "m/s^2")
        yield self.inertia * der(self.w) == arm_x * self.N + arm_y * self.T
        yield self.gap == self.y + arm_y
        yield self.slip == self.vx - arm_y * self.w
        yield blocks.contact(self.N, self.gap, restitution=self.restitution)
        yield dry_friction(self.T, self.slip, static=self.static_friction * self.N,
                           kinetic=self.friction * self.N)
        yield self.power_dissipated == self.T * self.slip
        yield self.power_supplied == self.push * self.vx
        yield self.energy_stored == (m * (self.vx**2 + self.vy**2) / 2 + self.inertia * self.w**2
                                     / 2 + m * quantity(G, "m/s^2") * self.y)


class Box(Component):
    """A block on two feet, 2 a apart, with its centre at the height h above them."""

    mass, inertia = Parameter("2 kg"), Parameter("1 kg*m^2")
    a, h = Parameter("1 m"), Parameter("0.5 m")
    friction, static_friction, restitution = Parameter(0.5), Parameter(0.5), Parameter(0.0)
    push = Parameter("0 N", varying=True)
    x, y = Variable("m", "0 m", priority="high"), Variable("m", "0.5 m", priority="high")
    phi = Variable("rad", "0 rad", priority="high")
    vx, vy = Variable("m/s", "0 m/s", priority="high"), Variable("m/s", "0 m/s", priority="high")
    w = Variable("rad/s", "0 rad/s", priority="high")
    gap1, gap2 = Variable("m"), Variable("m")
    slip1, slip2 = Variable("m/s"), Variable("m/s")
    N1, T1, N2, T2 = Variable("N"), Variable("N"), Variable("N"), Variable("N")
    energy_stored = Variable("J")

    def equations(self):
        m, g, s, c = self.mass, quantity(G, "m/s^2"), sin(self.phi), cos(self.phi)
        arms = [(-self.a * c + self.h * s, -self.a * s - self.h * c),
                (self.a * c + self.h * s, self.a * s - self.h * c)]  # fmt: skip
        feet = [(self.gap1, self.slip1, self.N1, self.T1),
                (self.gap2, self.slip2, self.N2, self.T2)]  # fmt: skip
        yield der(self.x) == self.vx
        yield der(self.y) == self.vy
        yield der(self.phi) == self.w
        yield m * der(self.vx) == self.push - self.T1 - self.T2
        yield m * der(self.vy) == self.N1 + self.N2 - m * g
        yield self.inertia * der(self.w) == sum(
            x * N + y * T for (x, y), (_, _, N, T) in zip(arms, feet, strict=True))
        for (_, y), (gap, slip, N, T) in zip(arms, feet, strict=True):
            yield gap == self.y + y
            yield slip == self.vx - y * self.w
            yield blocks.contact(N, gap, restitution=self.restitution)
            yield dry_friction(T, slip, static=self.static_friction * N, kinetic=self.friction * N)
        yield self.energy_stored == (
            m * (self.vx**2 + self.vy**2) / 2 + self.inertia * self.w**2 / 2 + m * g * self.y)


class Wedge(Component):
    """A wedge S driven sideways lifts O along its face; it presses on either side.

    v_O = tan(angle) v_S; normal force N, friction T along the face.
    """

    S, O = blocks.Port(translational), blocks.Port(translational)
    angle, friction = Parameter("20 deg"), Parameter(0.2)
    N, T, slip = Variable("N"), Variable("N"), Variable("m/s")
    power_dissipated = Variable("W")

    def equations(self):
        s, c = sin(self.angle), cos(self.angle)
        limit = self.friction * blocks.abs_(self.N)
        yield self.O.v == blocks.tan(self.angle) * self.S.v
        yield self.slip == self.S.v / c
        yield self.S.f == self.N * s + self.T * c
        yield self.O.f == -(self.N * c - self.T * s)
        yield dry_friction(self.T, self.slip, static=limit, kinetic=limit)
        yield self.power_dissipated == self.T * self.slip


def wedge(angle, mu, force, weight=10.0, v=0.0, masses=(1.0, 1.0)):
    model, a = Model("wedge"), np.deg2rad(angle)
    model.ground = Reference()
    model.wedge = Wedge(angle=quantity(angle, "deg"), friction=mu)
    model.driver = Mass(mass=quantity(masses[0], "kg"), v=quantity(v, "m/s"))
    rise = blocks.Target(quantity(v * np.tan(a), "m/s"), "low")
    wire(model, "driver.M wedge.S drive.R", "load.M wedge.O weight.R", "drive.C weight.C ground.V",
         load=Mass(mass=quantity(masses[1], "kg"), v=rise), drive=push(force),
         weight=push(lambda t: -weight + 0 * t))
    return model


def sliding_disc(static, kinetic, tilt):
    """A disc without spin thrown up a slope."""
    return wired(
        "thrown disc", "ground.P touch.B", "disc.P touch.F", ground=Ground(),
        disc=Body(inertia="5 g*m^2", x="0 m", y="0 m", phi="0 rad",
                  vx=quantity(2 * np.cos(tilt), "m/s"), vy=quantity(2 * np.sin(tilt), "m/s")),
        touch=Contact(curve=Circle("0.1 m"), friction=kinetic, static_friction=static,
                      base=Line(quantity(tilt, "rad"), y=quantity(-0.1 / np.cos(tilt), "m"))))


def falling_pole():
    """A pole that tips over on its foot, which rests on a rough floor: a pendulum upside down."""
    model, lean = Model("falling pole"), 0.35
    wire(model, "foot.F pole.P", "foot.B floor.P weight.P",
         pole=Body(mass="1 kg", inertia="0.1 kg*m^2", phi=quantity(lean, "rad"),
                   x=quantity(-np.sin(lean), "m"), y=quantity(np.cos(lean), "m")),
         foot=Contact(curve=Corner(x="0 m", y="-1 m"), base=Line(), friction=5.0), floor=Ground(),
         weight=Gravity())
    return model, lean


def rough(count, mu):
    """Bounds of contacts and their friction, in turns."""
    n = 2 * count
    low, high, slope = np.zeros(n), np.zeros(n), np.zeros((n, n))
    high[::2] = np.inf
    slope[np.arange(1, n, 2), np.arange(0, n, 2)] = mu
    return low, high, -slope, slope
