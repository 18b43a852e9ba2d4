"""Tables of time: linear between their points, exact at jumps, long ones at no great cost."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import Component, Model, Output, interpolate, quantity, sin, time
from blocks.exceptions import EquationError
from blocks.system.time_functions import TimeFunctions
from library.mechanisms import GearBox
from library.rotational import (
    Inertia,
    RotationalHardStop,
    RotationalReference,
    RotationalSpring,
    TorqueSource,
)
from library.tables import table
from library.translational import (
    Damper,
    ForceSource,
    Mass,
    PositionSource,
    Reference,
    Spring,
    TranslationalFriction,
    VelocitySource,
)


def pushed(force, mass="2 kg"):
    return wired("pushed", "body.M push.R", "floor.V push.C",
                 body=Mass(mass=mass), floor=Reference(), push=ForceSource(force=force))


def newtons(values):
    return quantity(values, "N")


def impulse(times, forces, at):
    """The integral of a table, held outside, from 0 s."""
    areas = np.concatenate([[0], np.cumsum(np.diff(times) * (forces[1:] + forces[:-1]) / 2)])
    k = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    here = np.interp(at, times, forces)
    return areas[k] + (at - times[k]) * (forces[k] + here) / 2


@pytest.mark.parametrize("method", ["auto", "dopri5", "DOP853"])
def test_a_measured_force_gives_its_impulse(method):
    rng = np.random.default_rng(3)
    times = np.concatenate([[0], np.sort(rng.uniform(0, 1, 60)), [1]])
    forces = rng.normal(size=62)
    run = pushed(table(quantity(times, "s"), newtons(forces))).simulate(
        "1 s", method=method, rtol=1e-8)
    at = np.linspace(0.05, 1, 20)
    assert_allclose(run["body.v"].at(quantity(at, "s")).to("m/s").magnitude,
                    impulse(times, forces, at) / 2, atol=1e-7)


def test_a_table_of_many_points_stays_small_as_equations():
    times = np.linspace(0, 100, 20_000)
    system = pushed(table(quantity(times, "s"), newtons(np.sin(times)))).compile()
    assert system.nm == 0
    assert system.slope.function.n_instructions() < 30
    assert len(system.tables.instants(0.0, 1e9)) == 19_999


def test_a_jump_belongs_to_the_time_after_it():
    force = table(quantity([0, 1, 1, 2], "s"), newtons([0, 0, 6, 0]))
    run = pushed(force).simulate("3 s", rtol=1e-9)
    assert run["push.S"].at("1 s", side="left").to("N").magnitude == 0
    assert_allclose(run["push.S"].at("1 s", side="right").to("N").magnitude, 6)
    assert_allclose(run["body.v"].final.to("m/s").magnitude, 1.5, rtol=1e-9)


def test_the_derivative_of_a_table_is_its_slope():
    motion = table(quantity([0, 1, 3], "s"), quantity([0, 2, 0], "m/s"))
    model = wired("driven", "belt.R body.M damper.R", "belt.C floor.V damper.C",
                  belt=VelocitySource(velocity=motion), body=Mass(mass="2 kg"), floor=Reference(),
                  damper=Damper(damping="1 N*s/m"))
    run = model.simulate("3 s")
    force = run["belt.f"].at(quantity([0.5, 2.0], "s")).to("N").magnitude
    assert_allclose(np.abs(force), np.abs([2 * 2 + 1, -2 * 1 + 1]), rtol=1e-9)


def test_what_is_curved_between_two_points_is_not_stepped_over():
    ramp = table(quantity([0, 10], "s"), quantity([0, 1000], "rad"))
    system = pushed(lambda t: newtons(1.0) * sin(ramp(t))).compile()
    functions = TimeFunctions(system, system.parameters(), 0.0, 10.0, np.zeros(0))
    assert len(functions.pieces) > 8 * 1000 / (2 * np.pi)


class Continued(Component):
    """A table of time that goes on with its last segments."""

    y = Output("1")
    points = (0.0, 1.0)

    def equations(self):
        yield self.y == interpolate(time, quantity(list(self.points), "s"), [0.0, 2.0])


class EndsWithAJump(Continued):
    points = (1.0, 1.0)


class Unsorted(Continued):
    points = (1.0, 0.0)


def test_a_table_of_time_is_continued_unless_held():
    model = wired("continued", table=Continued())
    run = model.simulate("3 s")
    assert_allclose(run["table.y"].final.magnitude, 6.0)


@pytest.mark.parametrize(("kind", "text"), [(EndsWithAJump, "jump"), (Unsorted, "decrease")])
def test_a_table_of_time_in_disorder_is_refused(kind, text):
    model = Model("refused")
    model.table = kind()
    with pytest.raises(EquationError, match=text):
        model.compile()


def shaken(between):
    """A measured motion shakes a body that sticks to the floor."""
    times = np.linspace(0, 1, 31)
    way = quantity(np.cumsum(np.random.default_rng(2).normal(size=31)), "cm")
    model = wired("shaken", "table.R near.M spring.R damper.R",
                  "spring.C damper.C far.M friction.R", "table.C friction.C floor.V",
                  table=PositionSource(position=table(quantity(times, "s"), way, between=between)),
                  near=Mass(mass="1 kg"), far=Mass(mass="2 kg"), spring=Spring(stiffness="200 N/m"),
                  damper=Damper(damping="3 N*s/m"),
                  friction=TranslationalFriction(law="coulomb", breakaway_force="1.5 N",
                                                 coulomb_force="1 N"), floor=Reference())
    return model, "far.v"


def pressed(between):
    """A measured torque presses a geared shaft against stops without springs."""
    times = np.linspace(0, 1, 31)
    torque = quantity(np.cumsum(np.random.default_rng(4).normal(size=31)), "N*m")
    model = wired("pressed", "table.R motor.I gear.S", "gear.O load.I stop.R spring.R",
                  "table.C stop.C spring.C ground.W",
                  table=TorqueSource(torque=table(quantity(times, "s"), torque, between=between)),
                  motor=Inertia(inertia="1 kg*m^2"), load=Inertia(inertia="0.2 kg*m^2"),
                  gear=GearBox(ratio=3), ground=RotationalReference(),
                  stop=RotationalHardStop(upper_bound="0.2 rad", lower_bound="-0.2 rad",
                                          model="restitution"),
                  spring=RotationalSpring(stiffness="30 N*m/rad"))
    return model, "load.w"


@pytest.mark.parametrize(("make", "between"), [
    (shaken, "linear"), (pressed, "held"), (pressed, "cubic"),
])  # fmt: skip
def test_points_are_passed_in_machine_code_as_methods_in_python_pass_them(make, between):
    at = quantity(np.linspace(0.05, 1.1, 30), "s")
    found = []
    for method in ("dopri5", "rodas4", "Radau"):
        model, path = make(between)
        found.append(model.simulate("1.2 s", method=method, rtol=1e-9)[path].at(at).magnitude)
    assert np.abs(found[2]).max() > 0.05
    for one in found[:2]:
        assert_allclose(one, found[2], atol=2e-8)
