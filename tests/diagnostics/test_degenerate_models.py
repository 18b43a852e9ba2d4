"""Is every degenerate model told, with the names of its parts, by `check()`?

Constraints that only rest fulfils, and loops whose gain is exactly one. With another value each of
the latter is a model like any other.
"""

import pytest
from benches import wire

from blocks import Component, Input, Model, Output, Parameter, Variable, der, quantity, sin
from library.mechanisms import (
    BeltDrive,
    Differential,
    GearBox,
    Lever,
    PlanetaryGear,
    RackAndPinion,
    WheelAndAxle,
)
from library.rotational import AngularVelocitySource, Inertia, RotationalReference, TorqueSensor
from library.rotational import TorqueSource as Torque
from library.translational import ForceSensor, Mass, Reference, Rod, VelocitySource

SECOND = quantity("1 s")


def model(**parts):
    made = Model("degenerate")
    for name, part in parts.items():
        setattr(made, name, part)
    return made


# -- constraints that only rest fulfils ------------------------------------------------------------
def two_racks(kind=RackAndPinion, axle="P", rim="R"):
    m = model(shaft=Inertia(), a=kind(radius="40 mm"), b=kind(radius="60 mm"), rod=Rod(),
              drive=Torque(torque="1 N*m"), frame=RotationalReference())
    m.connect(m.shaft.I, getattr(m.a, axle), getattr(m.b, axle), m.drive.R)
    m.connect(m.drive.C, m.frame.W)
    m.connect(getattr(m.a, rim), m.rod.R)
    m.connect(getattr(m.b, rim), m.rod.C)
    return m


def two_wheels():
    return two_racks(WheelAndAxle, "A", "P")


def one_body_on_two_wheels():
    m = model(a=WheelAndAxle(radius="40 mm"), b=WheelAndAxle(radius="60 mm"), body=Mass())
    wire(m, "a.A b.A", "a.P b.P body.M")
    return m


def two_gears():
    m = model(one=Inertia(), other=Inertia(), a=GearBox(ratio=2), b=GearBox(ratio=3),
              drive=Torque(torque="1 N*m"), frame=RotationalReference())
    wire(m, "one.I a.S b.S drive.R", "other.I a.O b.O", "drive.C frame.W")
    return m


def a_gear_beside_a_belt():
    m = model(one=Inertia(), other=Inertia(), a=GearBox(ratio=2), b=BeltDrive(),
              drive=Torque(torque="1 N*m"), frame=RotationalReference())
    wire(m, "one.I a.S b.A drive.R", "other.I a.O b.B", "drive.C frame.W")
    return m


def three_gears_in_a_ring():
    m = model(one=Inertia(), a=GearBox(ratio=2), b=GearBox(ratio=2), c=GearBox(ratio=2),
              drive=Torque(torque="1 N*m"), frame=RotationalReference())
    wire(m, "one.I a.S c.O drive.R", "a.O b.S", "b.O c.S", "drive.C frame.W")
    return m


def a_lever_with_a_rod():
    m = model(arm=Lever(AC="1 m", BC="2 m"), rod=Rod(), body=Mass(), floor=Reference())
    wire(m, "arm.A rod.R body.M", "arm.B rod.C", "arm.C floor.V")
    return m


def a_differential_on_one_shaft():
    m = model(axle=Differential(ratio=4), one=Inertia(), drive=Torque(torque="1 N*m"),
              frame=RotationalReference())
    wire(m, "axle.D axle.S1 axle.S2 one.I drive.R", "drive.C frame.W")
    return m


def a_rack_and_a_wheel():
    m = model(one=Inertia(), a=RackAndPinion(radius="40 mm"), b=WheelAndAxle(radius="60 mm"),
              body=Mass())
    wire(m, "one.I a.P b.A", "a.R b.P body.M")
    return m


def a_planetary_gear_of_which_two_members_stand_still():
    m = model(axle=PlanetaryGear(), one=Inertia(), drive=Torque(torque="1 N*m"),
              frame=RotationalReference())
    wire(m, "axle.S axle.R drive.C frame.W", "axle.C one.I drive.R")
    return m


class Rates(Component):
    """Two tanks whose levels keep two ratios."""

    a, b, q, p = Variable("m", "0 m"), Variable("m", "0 m"), Variable("m/s"), Variable("m/s")
    first, second = Parameter(2.0), Parameter(3.0)

    def equations(self):
        yield der(self.a) == self.q
        yield der(self.b) == self.p
        yield self.a == self.first * self.b
        yield self.a == self.second * self.b


def two_ratios():
    return model(part=Rates())


LOCKED = {
    two_racks: "a b rod", two_wheels: "a b rod", one_body_on_two_wheels: "a b",
    a_gear_beside_a_belt: "a b", three_gears_in_a_ring: "a b c", a_lever_with_a_rod: "arm rod",
    a_differential_on_one_shaft: "axle", a_rack_and_a_wheel: "a b", two_ratios: "part",
    a_planetary_gear_of_which_two_members_stand_still: "axle"}


@pytest.mark.parametrize("make", LOCKED, ids=lambda make: make.__name__)
def test_what_only_rest_fulfils_is_told(make):
    told = make().check().filter(code="network.locked")
    assert told
    assert any(set(LOCKED[make].split()) <= set(finding.where) for finding in told)
    assert {finding.severity for finding in told} == {"warning"}


@pytest.mark.parametrize(("gear", "effect"), [
    (GearBox(ratio=3), "holds still"), (PlanetaryGear(), "joins nothing")])
def test_what_a_gear_does_whose_ports_are_at_one_node_is_said(gear, effect):
    m = model(gear=gear, one=Inertia(), drive=Torque(torque="1 N*m"), frame=RotationalReference())
    wire(m, " ".join(["one.I drive.R", *(f"gear.{p}" for p in gear.ports)]), "drive.C frame.W")
    assert effect in " ".join(f.problem for f in m.check().filter(code="network.shorted"))


# -- what is said twice, and loops whose gain is exactly one ---------------------------------------
class Integral(Component):
    """Integrates an effort into a speed, by a gain."""

    effort, speed = Input("N"), Output("m/s")
    x, gain = Variable("m/s", "0 m/s", priority="high"), Parameter("0.5 1/kg")

    def equations(self):
        yield der(self.x) == self.gain * self.effort
        yield self.speed == self.x


class Turns(Integral):
    """The same of a torque."""

    effort, speed = Input("N*m"), Output("rad/s")
    x, gain = Variable("rad/s", "0 rad/s", priority="high"), Parameter("0.5 1/(kg*m^2)")


class Law(Component):
    """Two unknowns in a circle, driven by a state."""

    x, y, s = Variable("1"), Variable("1"), Variable("1", 1.0, priority="high")
    forth, back = Parameter(2.0), Parameter(0.5)

    def equations(self):
        yield self.x == self.forth * self.y + self.s
        yield self.y == self.back * self.x
        yield SECOND * der(self.s) == -self.s


class Still(Law):
    def equations(self):
        yield self.x == self.forth * self.y
        yield self.y == self.back * self.x
        yield SECOND * der(self.s) == self.x - self.s


class Rate(Component):
    """A rate that stands on both sides, with a gain."""

    x, gain = Variable("1", 1.0, priority="high"), Parameter(1.0)
    r = Variable("1/s")

    def equations(self):
        yield self.r == der(self.x)
        yield der(self.x) == self.gain * self.r + (1 - self.gain) * self.x / SECOND


class Three(Component):
    """Three unknowns of which each is the sum of the others, less a state."""

    a, b, c, s = Variable("1"), Variable("1"), Variable("1"), Variable("1", 1.0, priority="high")
    gain = Parameter(-1.0)

    def equations(self):
        yield self.a == self.gain * (self.b + self.c) + self.s
        yield self.b == self.gain * (self.a + self.c) + self.s
        yield self.c == self.gain * (self.a + self.b) + self.s
        yield SECOND * der(self.s) == -self.s


def driven_by_its_own_force(gain="0.5 1/kg"):
    m = model(src=VelocitySource(), meter=ForceSensor(), body=Mass(mass="2 kg"), floor=Reference(),
              law=Integral(gain=gain))
    wire(m, "floor.V src.C", "src.R meter.R", "meter.C body.M", "meter.F law.effort",
         "law.speed src.S")
    return m


def driven_by_its_own_torque(gain="0.5 1/(kg*m^2)"):
    m = model(src=AngularVelocitySource(), meter=TorqueSensor(), body=Inertia(inertia="2 kg*m^2"),
              floor=RotationalReference(), law=Turns(gain=gain))
    wire(m, "floor.W src.C", "src.R meter.R", "meter.C body.I", "meter.T law.effort",
         "law.speed src.S")
    return m


def a_circle(back=0.5):
    return model(part=Law(back=back))


def a_circle_of_two(back=0.5):
    return model(part=Law(count=2, back=[0.4, back]))


def a_circle_of_nothing(back=0.5):
    return model(part=Still(back=back))


def three_in_a_circle(gain=-1.0):
    return model(part=Three(gain=gain))


def a_rate_by_itself(gain=1.0):
    return model(part=Rate(gain=gain))


class Sums(Component):
    """Two laws that bend, of one sum where ``share`` is 1: three cubed is not what two ask for."""

    a, b = Variable("1"), Variable("1")
    share = Parameter(1.0)

    def equations(self):
        yield (self.a + self.b) ** 3 == 27
        other = self.a + self.share * self.b
        yield 2 * other + sin(other) == 1


def bends_of_one_sum(share=1.0):
    return model(part=Sums(share=share))


def equal_gears(ratio=3):
    m = two_gears()
    m.a.ratio = ratio
    return m


def equal_racks(radius="60 mm"):
    m = two_racks()
    m.a.radius = radius
    return m


def equal_ratios(first=3.0):
    return model(part=Rates(first=first))


#: Models, the parts that are named, and a value with which they are determined.
GAIN_ONE = {
    driven_by_its_own_force: ("src body law", "0.4 1/kg"),
    driven_by_its_own_torque: ("src body law", "0.4 1/(kg*m^2)"),
    a_circle: ("part", 0.4), a_circle_of_two: ("part[1]", 0.4), a_circle_of_nothing: ("part", 0.4),
    three_in_a_circle: ("part", -0.4), a_rate_by_itself: ("part", 0.5),
    bends_of_one_sum: ("part", 0.5),
    equal_gears: ("a b", 2), equal_racks: ("a b rod", "50 mm"), equal_ratios: ("part", 2.0)}


@pytest.mark.parametrize("make", GAIN_ONE, ids=lambda make: make.__name__)
def test_what_is_not_determined_is_told(make):
    parts, other = GAIN_ONE[make]
    errors = make().check().errors
    assert any(set(parts.split()) <= set(finding.where) for finding in errors), errors
    assert not make(other).check().errors
