"""Derivatives by what would make a stuck start slide, against differences on both sides.

What slides by a little comes to rest at once, so that a body goes on with the speed of its belt;
what is lifted by a little falls back.
"""

import warnings

import numpy as np
import pytest
from benches import wire
from numpy.testing import assert_allclose

from blocks import Component, Model, Port, Variable, der, quantity, sin
from blocks.analysis.sensitivity.sensitivities import SensitivityWarning
from library.rotational import Inertia, RotationalFriction, RotationalReference, RotationalSpring
from library.translational import (
    ForceSource,
    HardStop,
    Mass,
    MotionSensor,
    Reference,
    Spring,
    TranslationalFriction,
    VelocitySource,
    translational,
)

RNG = np.random.default_rng(65)


def dragged(mass, speed, force, stiffness):
    """A box on a belt, held by a spring, both at one speed at first."""
    m = Model("dragged")
    m.box, m.belt = Mass(mass=quantity(mass, "kg")), VelocitySource(velocity=quantity(speed, "m/s"))
    m.box.v = quantity(speed, "m/s")
    wire(m, "belt.R rub.R", "rub.C box.M spring.R sensor.R", "spring.C belt.C ground.V sensor.C",
         rub=TranslationalFriction(law="coulomb", coulomb_force=quantity(force, "N"),
                                   breakaway_force=quantity(1.5 * force, "N")), ground=Reference(),
         spring=Spring(stiffness=quantity(stiffness, "N/m")),
         sensor=MotionSensor(position_port=True))
    return m, ["belt.velocity", "box.v", "spring.x"], "sensor.x"


def clutched(inertia, speed, torque, stiffness):
    """Two shafts that a stuck clutch joins, one of them on a spring."""
    m = Model("clutched")
    m.a, m.b = Inertia(inertia=quantity(inertia, "kg*m^2")), Inertia(inertia="1 kg*m^2")
    m.a.w = m.b.w = quantity(speed, "rad/s")
    wire(m, "a.I clutch.R", "clutch.C b.I spring.R", "spring.C frame.W",
         clutch=RotationalFriction(law="coulomb", coulomb_torque=quantity(torque, "N*m"),
                                   breakaway_torque=quantity(1.5 * torque, "N*m")),
         spring=RotationalSpring(stiffness=quantity(stiffness, "N*m/rad")),
         frame=RotationalReference())
    return m, ["a.w", "b.w", "spring.phi"], "spring.phi"


CASES = [(make, *RNG.uniform((0.5, 0.1, 4.0, 20.0), (3.0, 0.4, 9.0, 60.0)))
         for make in (dragged, clutched) for _ in range(3)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_derivatives_at_a_start_that_sticks_are_those_of_both_sides(case):
    make, *values = case
    model, paths, what = make(*values)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = model.simulate("1 s", sensitivities=paths, rtol=1e-8)
    for path in paths:
        component, name = path.split(".")
        part, step = getattr(model, component), 1e-5
        kept = getattr(part, name)
        given = model[path] if hasattr(kept, "path") else kept
        unit = run[path].final.units if path in run else given.units
        start = run[path].at("0 s").m if path in run else given.m
        ends = []
        for shift in (-2 * step, -step, step, 2 * step):
            setattr(part, name, quantity(start + shift, str(unit)))
            ends.append(model.simulate("1 s", rtol=1e-10)[what].final.m)
        setattr(part, name, quantity(start, str(unit)))
        found = run.sensitivities[what, path].final.m
        left, right = (ends[1] - ends[0]) / step, (ends[3] - ends[2]) / step
        assert_allclose([left, right], found, rtol=2e-3, atol=2e-3)


class Pendulum(Component):
    """A bob in x and y on a rod that hangs from the port."""

    M = Port(translational)
    top, x = Variable("m", "0 m", priority="high"), Variable("m", "30 cm", priority="high")
    y, vx = Variable("m", "-95 cm"), Variable("m/s", "20 cm/s", priority="high")
    vy = Variable("m/s")
    pull = Variable("N/m", doc="force of the rod over its length")

    def equations(self):
        mass, way = quantity("0.5 kg"), self.x - self.top
        yield der(self.top) == self.M.v
        yield der(self.x) == self.vx
        yield der(self.y) == self.vy
        yield mass * der(self.vx) == -self.pull * way
        yield mass * der(self.vy) == -self.pull * self.y - mass * quantity("9.81 m/s^2")
        yield way**2 + self.y**2 == quantity("1 m^2")
        yield self.M.f == -self.pull * way


@pytest.mark.parametrize("height", [None, "-95 cm"])
@pytest.mark.parametrize("path", ["box.v", "belt.velocity"])
def test_a_stuck_start_of_what_carries_a_pendulum_has_the_derivatives_of_both_sides(path, height):
    def swung(step, **options):
        m, _, _ = dragged(2.0, 0.2, 4.0, 40.0)
        m.bob = Pendulum() if height is None else Pendulum(y=height)
        m.connect(m.bob.M, m.box.M)
        part, name = path.split(".")
        setattr(getattr(m, part), name, quantity(0.2 + step, "m/s"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the rod lets the bob not start just where it is asked
            warnings.simplefilter("error", SensitivityWarning)  # but no start decides otherwise
            return m.simulate("1.2 s", **options)

    found, base = swung(0.0, sensitivities=[path], rtol=1e-9).sensitivities, swung(0.0, rtol=1e-11)
    for step in (-1e-5, 1e-5):
        beside = swung(step, rtol=1e-11)
        for what in ("spring.x", "bob.x"):
            difference = (beside[what].final - base[what].final).m / step
            assert_allclose(found[what, path].final.m, difference, rtol=2e-3)


def lifted(path, step, duration="0.36 s", **options):
    """A body that a spring holds on a rigid stop, until a force pulls it off and it bounces."""
    m = Model("lifted")
    m.body, m.force = Mass(mass="0.8 kg"), ForceSource(force=lambda t: quantity("14 N") * sin(
        quantity("13.2 rad/s") * t))
    wire(m, "body.M stop.R spring.R force.R", "stop.C spring.C force.C ground.V",
         stop=HardStop(model="restitution", restitution=0.6, lower_bound="0 m",
                       upper_bound="50 mm"),
         spring=Spring(stiffness="120 N/m", x="40 mm"), ground=Reference())
    part, name = path.split(".")
    setattr(getattr(m, part), name, quantity(step, "m/s" if name == "v" else "m"))
    return m.simulate(duration, **options)


@pytest.mark.parametrize(("path", "sides"), [
    ("body.v", (-1, 1)), ("stop.x", (1,)), ("stop.lower_bound", (-1,))])
def test_what_rests_on_a_stop_at_the_start_falls_back_onto_it(path, sides):
    """What is lifted by a little bounces until it rests, and what is hit rests at once."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = lifted(path, 0.0, sensitivities=[path], rtol=1e-9).sensitivities
    assert [path in str(w.message) for w in told] == [True] * (len(sides) == 1)
    base, step = lifted(path, 0.0, rtol=1e-12), 1e-6
    for side in sides:
        moved = lifted(path, side * step, rtol=1e-12)
        for what in ("spring.x", "body.v"):
            difference = (moved[what].final - base[what].final).m / (side * step)
            assert_allclose(found[what, path].final.m, difference, rtol=2e-3, atol=1e-6)
