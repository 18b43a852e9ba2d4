"""Domains as data: positions beside velocities, and parameters that a circuit shares."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks import Component, Domain, Model, Parameter, Port, UnitError, UnknownName, Variable, der

rail = Domain("rail", across={"v": "m/s", "x": "m"}, through={"f": "N"}, rates={"x": "v"},
              parameters={"slope": "2 m/s^2", "drag": "0 N*s/m"})  # fmt: skip


class Wagon(Component):
    P = Port(rail)
    mass = Parameter("1 kg", above=0)
    x = Variable("m")
    v = Variable("m/s")

    def equations(self):
        yield self.x == self.P.x
        yield self.v == self.P.v
        yield self.mass * (der(self.v) - self.P.slope) == self.P.f - self.P.drag * self.v


class Coupling(Component):
    R = Port(rail)
    C = Port(rail)
    stiffness = Parameter("1 kN/m")
    length = Parameter("1 m")

    def equations(self):
        yield self.R.f == self.stiffness * (self.R.x - self.C.x - self.length)
        yield self.R.f + self.C.f == 0


class Wall(Component):
    P = Port(rail)
    x = Parameter("0 m")

    def equations(self):
        yield self.P.x == self.x


class Weather(Component):
    P = Port(rail, sets=True)
    slope = Parameter("0 m/s^2")
    drag = Parameter("0 N*s/m")

    def equations(self):
        yield self.P.slope == self.slope
        yield self.P.drag == self.drag
        yield self.P.f == 0


def test_positions_follow_their_velocities_at_every_node():
    model = Model("free")
    model.wagon = Wagon(x="3 m", v="1 m/s")
    run = model.simulate("2 s", rtol=1e-10)
    assert_allclose([run["wagon.x"].final.m, run["wagon.P.v"].final.m], [3 + 2 + 4, 1 + 4])


def test_two_bodies_at_one_node_share_position_and_velocity():
    model = Model("joined")
    model.a, model.b = Wagon(x="1 m", v="0 m/s"), Wagon(mass="3 kg")
    model.connect(model.a.P, model.b.P)
    assert model.structure().states == 2
    run = model.simulate("1 s", rtol=1e-10)
    assert_allclose([run["b.x"].final.m, run["b.v"].final.m], [2, 2])


def test_a_position_held_by_a_wall_has_no_velocity():
    model = Model("held")
    model.wagon, model.wall = Wagon(), Wall(x="5 m")
    model.connect(model.wagon.P, model.wall.P)
    run = model.simulate("1 s")
    assert [run[f"wagon.{n}"].final.m for n in ("x", "v")] == [5, 0]
    assert_allclose(run["wall.P.f"].final.m, 2.0)  # into the wall


def test_a_parameter_of_a_domain_is_the_same_throughout_a_circuit_and_not_beyond():
    model = Model("two circuits")
    model.a, model.b, model.spring = Wagon(x="0 m"), Wagon(x="-1 m"), Coupling()
    model.weather, model.alone = Weather(slope="-3 m/s^2"), Wagon()
    model.connect(model.a.P, model.spring.R)
    model.connect(model.spring.C, model.b.P, model.weather.P)
    run = model.simulate("1 s", rtol=1e-10)
    assert_allclose([run[f"{n}.v"].final.m for n in ("a", "b", "alone")], [-3, -3, 2], rtol=1e-9)
    model.weather.slope = "1 m/s^2"  # a value, no new structure
    assert_allclose(model.simulate("1 s", rtol=1e-10)["a.v"].final.m, 1, rtol=1e-9)


def test_a_parameter_set_twice_in_a_circuit_is_refused_with_both_names():
    model = Model("twice")
    model.wagon, model.sun, model.rain = Wagon(), Weather(), Weather()
    model.connect(model.wagon.P, model.sun.P, model.rain.P)
    text = str(model.check())
    assert "sun" in text
    assert "rain" in text


def test_energy_counts_forces_with_their_velocities():
    model = Model("energy")
    model.wagon, model.wall, model.spring = Wagon(x="1.5 m"), Wall(), Coupling()
    model.connect(model.wall.P, model.spring.C)
    model.connect(model.spring.R, model.wagon.P)
    run = model.simulate("1 s", rtol=1e-10)
    (spring,) = [t for t in run.energy() if t.component == "spring"]
    stretch = run["wagon.x"].magnitude - 1
    assert_allclose(spring.work_in, 500 * (stretch[-1] ** 2 - stretch[0] ** 2), rtol=1e-6)
    assert np.ptp(stretch) > 0.5


def test_a_rate_of_another_dimension_is_refused():
    with pytest.raises(UnitError, match="not the time derivative of x"):
        Domain("wrong", across={"x": "m", "v": "m"}, through={"f": "N"}, rates={"x": "v"})
    with pytest.raises(UnknownName, match="'w'"):
        Domain("wrong", across={"x": "m", "v": "m/s"}, through={"f": "N"}, rates={"x": "w"})
