"""Do the efforts of held modes come out the same in one evaluation as step by step?"""

import numpy as np
import pytest
from benches import few, wire, wired

import library.rotational as rot
import library.translational as tr
from blocks import Component, Input, Output, quantity, sin
from blocks.nonsmooth.modes.law_functions import LawFunctions
from library.mechanisms import GearBox
from library.signal import Sine, Table1D


def shaken_masses():
    """Three masses on springs over rough floors, the last between rigid stops."""
    return wired("masses", "springs.R masses.M floors.R", "springs[1:].C masses[:-1].M",
                 "springs[0].C floors.C ground.V stop.C shake.C", "masses[2].M stop.R shake.R",
                 ground=tr.Reference(), masses=tr.Mass(count=3, mass=["1 kg", "2 kg", "3 kg"]),
                 springs=tr.Spring(count=3, stiffness="900 N/m"),
                 floors=tr.TranslationalFriction(count=3, law="coulomb", breakaway_force="12 N",
                                                 coulomb_force="9 N",
                                                 viscous_coefficient="1 N*s/m"),
                 stop=tr.HardStop(model="restitution", upper_bound="15 mm", lower_bound="-15 mm"),
                 shake=tr.ForceSource(
                     force=lambda t: quantity("60 N") * sin(quantity("9 rad/s") * t)))


def pairs_on_floors(n):
    """Pairs of masses that rub on each other and on the floor, each pulled by a spring."""
    random = np.random.default_rng(7)
    model = wired("pairs", ground=tr.Reference(), drive=tr.VelocitySource(velocity="0.1 m/s"),
                  below=tr.Mass(count=n, mass="2 kg"), above=tr.Mass(count=n, mass="1 kg"),
                  pull=tr.Spring(count=n, stiffness=quantity(random.uniform(20, 40, n), "N/m")))
    model.floor, model.between = (tr.TranslationalFriction(
        count=n, law="coulomb", coulomb_force=quantity(size * random.uniform(1, 1.2, n), "N"),
        breakaway_force=quantity(1.5 * size, "N")) for size in (4, 2))
    wire(model, "drive.C ground.V floor.C", "below.M floor.R between.C", "above.M between.R pull.C",
         "pull.R drive.R")
    return model


@few(1, "ratio", [2.0, 2.5])
def test_what_is_singular_for_some_parameters_only_goes_the_general_way_there(ratio):
    """Two clutches between the same two shafts, one of them through gears: alike for equal ratios,
    where nothing tells how they share the torque, which brakes the shafts all the same."""
    n, random = 10, np.random.default_rng(4)
    inertia, speed = random.uniform(0.1, 2, n), random.uniform(-9, 9, n)
    model = wired("row", "clutches.R shafts[1:].I", "clutches.C shafts[:-1].I", "one.S shafts[3].I",
                  "other.S shafts[4].I", "one.O through.R", "other.O through.C",
                  shafts=rot.Inertia(count=n, inertia=quantity(inertia, "kg*m^2"),
                                     w=quantity(speed, "rad/s")),
                  clutches=rot.RotationalFriction(count=n - 1, law="coulomb",
                                                  coulomb_torque=quantity(random.uniform(1, 2,
                                                                                         n - 1),
                                                                          "N*m"),
                                                  breakaway_torque="2.5 N*m"), one=GearBox(ratio=2),
                  other=GearBox(ratio=ratio),
                  through=rot.RotationalFriction(law="coulomb", coulomb_torque="1 N*m",
                                                 breakaway_torque="1 N*m"))
    held = LawFunctions.of(model.compile()).held_modes
    assert len(held.kept.factored) == 1
    runs = [model.simulate("12 s", rtol=1e-9, method=name) for name in ("auto", "rodas4")]
    problem = runs[0].recording.problem
    assert held.kept.fits(problem, np.zeros(n, dtype=int)) == (ratio != 2.0)
    a, b = (run["shafts[3].w"].final.m for run in runs)
    assert a == pytest.approx(b, abs=1e-7)
    if ratio == 2.0:  # the torques of all clutches cancel, and in the end nothing slides
        assert a == pytest.approx(inertia @ speed / inertia.sum(), abs=1e-9)


@pytest.mark.parametrize("felt", [False, True])
def test_rates_follow_efforts_by_the_same_matrix_beside_a_loop_that_feels_none_of_them(felt):
    """A loop that follows no effort moves nothing of what efforts do, however it is curved."""

    class Loop(Component):
        u, y = Input("N"), Output("N")

        def equations(self):
            yield self.y + self.y**3 / quantity("1 N^2") == self.u

    model = wired("pushed", "block.M floor.R push.R sensor.R", "sensor.C stop.R",
                  "floor.C push.C stop.C ground.V", "loop.y push.S",
                  block=tr.Mass(), ground=tr.Reference(), push=tr.ForceSource(), loop=Loop(),
                  floor=tr.TranslationalFriction(law="coulomb"), sensor=tr.ForceSensor(),
                  stop=tr.HardStop(model="restitution"), sine=Sine(amplitude="1 N"))
    model.connect(model.sensor.F if felt else model.sine.y, model.loop.u)
    functions = LawFunctions.of(model.compile())
    assert (functions.constant, functions.fixed) == (not felt, not felt)


def test_the_bounds_of_stops_in_a_row_act_on_each_other_by_factors():
    """Of the two bounds of a stop only one closes: 160 balls hand their speed on."""
    n = 160
    model = wired("row", "stops.R balls[:-1].M", "stops.C balls[1:].M",
                  balls=tr.Mass(count=n, v=quantity(np.eye(n)[0], "m/s")),
                  stops=tr.HardStop(count=n - 1, model="restitution", restitution=1.0, x="-1 mm",
                                    upper_bound="0 m", lower_bound="-9 m"))
    assert len(LawFunctions.of(model.compile()).held_modes.kept.factored) == 1
    run = model.simulate("0.2 s")
    assert "in machine code" in run.statistics.why and len(run.events) == n - 1
    assert run[f"balls[{n - 1}].v"].final.m == pytest.approx(1.0, rel=1e-9)


def test_a_torque_by_a_table_of_the_speed_leaves_what_efforts_push_constant():
    """Otherwise every step solves for efforts: T = 4 - 2 w against 1 N*m of friction."""
    model = wired("table", "wheel.I drag.R drive.R speed.R", "drag.C drive.C speed.C housing.W",
                  "speed.W map.u", "map.y drive.S",
                  housing=rot.RotationalReference(), wheel=rot.Inertia(inertia="1 kg*m^2"),
                  drag=rot.RotationalFriction(law="coulomb", coulomb_torque="1 N*m",
                                              breakaway_torque="1 N*m"), drive=rot.TorqueSource(),
                  speed=rot.RotationalMotionSensor(),
                  map=Table1D(x=quantity([0.0, 1.0, 2.0], "rad/s"),
                              values=quantity([4, 2, 0], "N*m")))
    assert LawFunctions.of(model.compile()).fixed
    end = model.simulate("2 s", rtol=1e-9)["wheel.w"].final.m
    assert end == pytest.approx(1.5 * (1 - np.exp(-4.0)), abs=1e-8)
