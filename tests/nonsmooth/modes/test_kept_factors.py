"""Do the efforts of held modes come out the same in one evaluation as step by step?"""

import numpy as np
import pytest
from benches import wire, wired
from benches.friction import train
from numpy.testing import assert_allclose

import library.rotational as rot
import library.translational as tr
from blocks import quantity, sin
from blocks.nonsmooth.modes.law_functions import LawFunctions
from library.mechanisms import DiscClutch, GearBox, OneWayClutch, WheelAndAxle
from library.signal import Table1D


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


def clutched_shafts():
    """Two clutches and a freewheel between three shafts and a gear."""
    return wired("shafts", "drive.R a.I first.C free.C", "first.R free.R b.I second.C",
                 "second.R gear.S", "gear.O c.I shaft.R", "shaft.C drive.C housing.W",
                 housing=rot.RotationalReference(), a=rot.Inertia(w="30 rad/s"),
                 b=rot.Inertia(inertia="0.02 kg*m^2"), c=rot.Inertia(),
                 first=DiscClutch(normal_force="5 N"), second=DiscClutch(normal_force="8 N"),
                 free=OneWayClutch(), gear=GearBox(ratio=-2),
                 shaft=rot.RotationalSpring(stiffness="4 N*m/rad"),
                 drive=rot.TorqueSource(
                     torque=lambda t: quantity("2 N*m") * sin(quantity("5 rad/s") * t)))


def go_the_general_way(monkeypatch):
    for name in ("law_functions.MOST", "kept_factors.MOST", "kept_factors.MOST_FACTORED"):
        monkeypatch.setattr(f"blocks.nonsmooth.modes.{name}", 0)


@pytest.mark.parametrize(("build", "paths"), [
    (shaken_masses, ["masses[0].v", "masses[2].v", "floors[1].f", "stop.f"]),
    (clutched_shafts, ["a.w", "b.w", "first.t", "second.t", "free.t"])])
def test_one_evaluation_gives_what_the_general_way_gives(build, paths, monkeypatch):
    fast = build().simulate("1 s", rtol=1e-8)
    go_the_general_way(monkeypatch)
    slow = build().simulate("1 s", rtol=1e-8)
    assert len(fast.events) > 4
    assert [e.description for e in fast.events] == [e.description for e in slow.events]
    assert_allclose(*[[e.time for e in run.events] for run in (fast, slow)], rtol=1e-7, atol=1e-9)
    t = quantity(np.linspace(0, 1, 21), "s")
    for path in paths:
        a, b = (run[path].at(t).m for run in (fast, slow))
        assert_allclose(a, b, atol=1e-6 * max(1.0, np.abs(b).max()), err_msg=path)


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


def test_many_elements_that_act_on_few_others_are_held_by_parts(monkeypatch):
    """60 elements in parts of two: more than could all act on each other."""
    fast = pairs_on_floors(30).simulate("3 s", rtol=1e-8)
    assert fast.statistics["method"] == "dopri5"
    go_the_general_way(monkeypatch)
    slow = pairs_on_floors(30).simulate("3 s", rtol=1e-8)
    assert len(fast.events) > 60
    key = [[(e.component, e.description) for e in sorted(
        run.events, key=lambda e: (e.component, e.time))] for run in (fast, slow)]
    assert key[0] == key[1]
    assert_allclose(*[sorted(e.time for e in run.events) for run in (fast, slow)], rtol=1e-6)


def belt(n=14):
    """Boxes on springs, on a belt that a shaft in a rubbing bearing drives: all act on the belt,
    and the bearing on nothing else."""
    random = np.random.default_rng(6)
    return wired("belt", "shaft.I bearing.R drive.R wheel.A", "bearing.C drive.C frame.W",
                 "wheel.P belt.M", "rub.C belt.M", "rub.R boxes.M springs.R", "springs.C floor.V",
                 floor=tr.Reference(), frame=rot.RotationalReference(), belt=tr.Mass(mass="3 kg"),
                 shaft=rot.Inertia(inertia="2e-3 kg*m^2"), wheel=WheelAndAxle(radius="5 cm"),
                 bearing=rot.RotationalFriction(law="coulomb", coulomb_torque="0.1 N*m",
                                                breakaway_torque="0.15 N*m"),
                 drive=rot.TorqueSource(
                     torque=lambda t: quantity("4 N*m") * sin(quantity("6 rad/s") * t)),
                 boxes=tr.Mass(count=n, mass=quantity(random.uniform(0.5, 2, n), "kg")),
                 springs=tr.Spring(count=n, stiffness=quantity(random.uniform(200, 800, n), "N/m")),
                 rub=tr.TranslationalFriction(count=n, law="coulomb",
                                              coulomb_force=quantity(random.uniform(3, 6, n), "N"),
                                              breakaway_force=quantity(random.uniform(6, 9, n),
                                                                       "N")))


def below(k):
    """The shaft of a tree that another hangs on."""
    return int(np.random.default_rng(k).integers(k))


def tree(n=20):
    """Shafts of a tree, each with a clutch to one before it, of random inertias."""
    random = np.random.default_rng(5)
    model = wired("tree", frame=rot.RotationalReference())
    model.shafts = rot.Inertia(count=n, inertia=quantity(random.uniform(0.1, 2, n), "kg*m^2"),
                               w=quantity(random.uniform(-9, 9, n), "rad/s"))
    model.clutches = rot.RotationalFriction(
        count=n, law="coulomb", coulomb_torque=quantity(random.uniform(1, 2, n), "N*m"),
        breakaway_torque="2.5 N*m")
    model.drive = rot.TorqueSource(
        torque=lambda t: quantity("6 N*m") * sin(quantity("9 rad/s") * t))
    model.connect(model.drive.R, model.shafts[0].I)
    model.connect(model.drive.C, model.frame.W)
    for k in range(n):
        model.connect(model.clutches[k].R, model.shafts[k].I)
        model.connect(model.clutches[k].C, model.shafts[below(k)].I if k else model.frame.W)
    return model


@pytest.mark.parametrize(("build", "path"), [(train, "wagons[7].v"), (tree, "shafts[7].w"),
                                             (belt, "boxes[7].v")])
def test_rows_and_trees_and_crowds_are_held_by_factors(build, path, monkeypatch):
    fast = build().simulate("2 s", rtol=1e-9)
    go_the_general_way(monkeypatch)
    slow = build().simulate("2 s", rtol=1e-9)
    assert len(fast.events) > 10
    changes = [[(e.component, e.description) for e in run.events] for run in (fast, slow)]
    assert changes[0] == changes[1]
    assert_allclose(*([e.time for e in run.events] for run in (fast, slow)), rtol=1e-7)
    t = quantity(np.linspace(0, 2, 31), "s")
    a, b = (run[path].at(t).m for run in (fast, slow))
    assert_allclose(a, b, atol=1e-7 * np.abs(b).max())


@pytest.mark.parametrize("ratio", [2.0, 2.5])
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
    problem = runs[0]._recording.problem
    d = problem.laws.delassus.matrix(problem, 0.0)
    assert held.kept.fresh().fits(problem, d) == (ratio != 2.0)
    a, b = (run["shafts[3].w"].final.m for run in runs)
    assert a == pytest.approx(b, abs=1e-7)
    if ratio == 2.0:  # the torques of all clutches cancel, and in the end nothing slides
        assert a == pytest.approx(inertia @ speed / inertia.sum(), abs=1e-9)


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
