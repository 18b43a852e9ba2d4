"""Is a table of a position passed piece by piece, however far the steps of a method reach?

The work of a force that follows a table is the table's area, whatever the speed: so the speed
afterwards follows from the energy alone.
"""

import numpy as np
import pytest
from benches import wired

from blocks import (
    Model,
    Parameter,
    Variable,
    der,
    dry_friction,
    integral_of_table,
    interpolate,
    interpolate_grid,
    mod,
    quantity,
)
from library.rotational import Inertia, RotationalReference
from library.rotational import TwoPort as Turning
from library.translational import Mass, Reference, Spring
from library.translational import TwoPort as Moving

METHODS = "auto", "dopri5", "rodas4", "DOP853"
DEAR = "auto", "rodas4"


class Tooth(Turning):
    """A tooth of 0.3 rad in every turn that rubs: 0.6 J a turn."""

    angle = Variable("rad", "0 rad", priority="high")
    power_dissipated = Variable("W")

    def equations(self):
        yield der(self.angle) == self.w
        press = interpolate(mod(self.angle, 2 * np.pi),
                            quantity(np.array([0, 1.0, 1.1, 1.2, 1.3, 2 * np.pi]), "rad"),
                            quantity(np.array([0, 0, 3.0, 3.0, 0, 0]), "N*m"))
        yield dry_friction(self.t, self.w, static=press, kinetic=press)
        yield self.power_dissipated == self.t * self.w


class Road(Moving):
    """A bump of 10 cm far down a road; its force stores and returns what it takes."""

    points = Parameter(["0 m", "50 m", "50.05 m", "50.1 m", "1000 m"])
    forces = Parameter(["0 N", "0 N", "3 kN", "-3 kN", "0 N"])
    x = Variable("m", "0 m", priority="high")
    energy_stored = Variable("J")

    def equations(self):
        yield der(self.x) == self.v
        yield self.f == interpolate(self.x, self.points, self.forces, hold=True)
        yield self.energy_stored == integral_of_table(self.x, self.points, self.forces)


class Cogging(Turning):
    """A smooth table of 100 points: twenty waves of torque in a turn that cancel out."""

    angle = Variable("rad", "0 rad", priority="high")

    def equations(self):
        points = np.linspace(0, 2 * np.pi, 401)
        yield der(self.angle) == self.w
        yield self.t == interpolate(mod(self.angle, 2 * np.pi), quantity(points, "rad"),
                                    quantity(2 * np.sin(20 * points), "N*m"), smooth=True)


def turning(part, speed):
    return wired("shaft", "wheel.I part.R", "part.C frame.W",
                 wheel=Inertia(inertia="0.08 kg*m^2", w=f"{speed} rad/s"), part=part,
                 frame=RotationalReference())


@pytest.mark.parametrize("method", METHODS)
def test_a_tooth_takes_its_work_in_every_turn(method):
    result = turning(Tooth(), 25).simulate("1.1 s", method=method)
    turns = result["part.angle"].final.m / (2 * np.pi)
    assert 4 + 1.3 / (2 * np.pi) < turns < 5  # five teeth, and not yet the sixth
    speed = np.sqrt(25**2 - 2 * 5 * 0.6 / 0.08)
    assert result["wheel.w"].final.m == pytest.approx(speed, rel=3e-5)
    assert abs(result.energy().residual.to("J").m) < 25e-5


@pytest.mark.parametrize("method", METHODS)
def test_a_bump_of_a_road_is_felt(method):
    model = wired("drive", "car.M road.R", "road.C ground.V",
                  car=Mass(mass="100 kg", v="25 m/s"), road=Road(), ground=Reference())
    result = model.simulate("6 s", method=method)
    x = result["road.x"].final.m
    work = 0.5 * 0.05 * 3e3 - 0.5 * 3e3 / 949.9 * (949.9**2 - (1000 - x) ** 2)
    assert result["car.v"].final.m == pytest.approx(np.sqrt(25**2 - 2 * work / 100), rel=1e-4)
    assert abs(result.energy().residual.to("J").m) < 1e-5 * 0.5 * 100 * result["car.v"].final.m**2


@pytest.mark.parametrize("method", DEAR)
def test_cogging_by_a_long_smooth_table_comes_back_to_its_speed(method):
    result = turning(Cogging(), 40).simulate("0.5 s", method=method, rtol=1e-8)
    angle = result["part.angle"].final.m
    speed = np.sqrt(40**2 - 2 * 2 * (1 - np.cos(20 * angle)) / 20 / 0.08)
    assert result["wheel.w"].final.m == pytest.approx(speed, rel=1e-5)
    assert result["part.t"].max().m == pytest.approx(2, rel=1e-2)


class Map(Turning):
    """The tooth, as a map over the angle and the speed."""

    angle = Variable("rad", "0 rad", priority="high")
    power_dissipated = Variable("W")

    def equations(self):
        yield der(self.angle) == self.w
        axes = [quantity(np.array([0, 1.0, 1.1, 1.2, 1.3, 2 * np.pi]), "rad"),
                quantity(np.array([0, 1000.0]), "rad/s")]
        press = interpolate_grid([mod(self.angle, 2 * np.pi), self.w], axes,
                                 quantity(np.repeat([0, 0, 3.0, 3.0, 0, 0], 2), "N*m"))
        yield dry_friction(self.t, self.w, static=press, kinetic=press)
        yield self.power_dissipated == self.t * self.w


@pytest.mark.parametrize("method", DEAR)
def test_a_map_is_felt_as_a_table_is(method):
    result = turning(Map(), 25).simulate("1.1 s", method=method)
    speed = np.sqrt(25**2 - 2 * 5 * 0.6 / 0.08)
    assert result["wheel.w"].final.m == pytest.approx(speed, rel=3e-5)


def test_steps_between_points_are_as_long_as_before():
    """A table without bends over where it is read costs no steps."""
    result = turning(Tooth(), 25).simulate("0.03 s")
    assert result.statistics["steps"] < 15


def springs(**law):
    """Ten bodies in a row, held by springs; the first one is hit."""
    model = Model("row")
    model.ground, model.bodies = Reference(), Mass(count=10, v=["1 m/s"] + 9 * ["0 m/s"])
    model.springs = Spring(count=10, **law)
    for i in range(10):
        model.connect(model.springs[i].R, model.bodies[i - 1].M if i else model.ground.V)
        model.connect(model.springs[i].C, model.bodies[i].M)
    return model


def test_a_straight_table_takes_the_steps_of_a_spring():
    points = quantity(np.linspace(-0.3, 0.3, 13), "m")
    table = springs(law="table", deformations=points, forces=points * quantity("1 kN/m"))
    found, plain = (m.simulate("2 s").statistics["steps"] for m in (table, springs()))
    assert found <= 1.02 * plain


def test_springs_with_corners_keep_their_energy():
    points = np.linspace(-0.3, 0.3, 14)
    forces = 1e3 * points + 50 * np.sign(points)
    model = springs(law="table", deformations=quantity(points, "m"), forces=quantity(forces, "N"))
    assert abs(model.simulate("2 s", rtol=1e-7).energy().residual.to("J").m) < 1e-5 * 0.5
