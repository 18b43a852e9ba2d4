"""Impacts, freewheels and loaded friction in machine code, against closed forms and Python."""

import numpy as np
import pytest
from benches import few, wire, wired
from benches.parts import assert_same, by_python
from benches.rigid_bodies import Box
from numpy.testing import assert_allclose

import library.rotational as ro
import library.translational as tr
from benchmarks.cases.planar import disc
from blocks import quantity, sin
from library.mechanisms import DiscBrake, DiscClutch, OneWayClutch, SliderCrank
from library.signal import Pulse
from library.thermal import ThermalMass


def falling_mass(restitution, friction=None):
    model = wired("falling mass", "mass.M stop.R weight.R", "stop.C weight.C frame.V",
                  mass=tr.Mass(mass="2 kg"), frame=tr.Reference(),
                  weight=tr.ForceSource(force=quantity(-2 * 9.81, "N")),
                  stop=tr.HardStop(model="restitution", restitution=restitution, lower_bound="0 m",
                                   upper_bound="10 m", x="1 m"))
    if friction is not None:
        wire(model, "rail.R mass.M", "rail.C frame.V",
             rail=tr.TranslationalFriction(law="coulomb", coulomb_force=quantity(friction, "N"),
                                           breakaway_force=quantity(friction, "N")))
    return model


def test_a_ball_bounces_until_it_rests(in_python):
    run = falling_mass(0.7).simulate("4 s", method="dopri5", rtol=1e-9)
    assert not in_python
    fall = np.sqrt(2 / 9.81)
    bounces = [e.time for e in run.events if "rebounds" in e.description]
    n = np.arange(len(bounces))
    assert len(n) > 50
    assert_allclose(bounces, fall * (1 + 2 * 0.7 * (1 - 0.7**n) / 0.3), atol=1e-9)
    last = list(run.events)[-1]
    assert last.mode == "closed"
    assert_allclose(last.time, fall * 1.7 / 0.3, atol=1e-8)
    assert_allclose(run["stop.lower_force"].final.m, 2 * 9.81, rtol=1e-9)
    assert_allclose(run["stop.x"].final.m, 0.0, atol=1e-12)
    assert_allclose(run["stop.x"].at(quantity(fall * (1 + 0.7), "s")).m, 0.7**2, rtol=1e-9)


def test_a_plastic_impact_closes_at_once(in_python):
    run = falling_mass(0.0).simulate("1 s", method="dopri5")
    assert not in_python
    assert [(e.time, e.mode) for e in run.events] == [
        (pytest.approx(np.sqrt(2 / 9.81), rel=1e-10), "closed")]


def test_heat_of_impacts_is_all_energy_that_they_take(in_python):
    """A ball falls from 1 m; its stop keeps the heat, as its release takes very long."""
    model = falling_mass(0.7)
    model.stop.thermal_port, model.stop.release_time = True, "1e9 s"
    wire(model, "stop.H bath.M", bath=ThermalMass())
    run = model.simulate("4 s", method="dopri5", rtol=1e-9)
    assert not in_python
    fall, weight = np.sqrt(2 / 9.81), 2 * 9.81
    n = np.arange(5)
    between = fall * (1 + 2 * 0.7 * (1 - 0.7**n) / 0.3) + fall * 0.7 ** (n + 1)
    heat = run["stop.impact_heat"]
    assert_allclose([heat.at(quantity(t, "s")).m for t in between],
                    weight * (1 - 0.7 ** (2 * (n + 1))), rtol=1e-7)
    assert_allclose(heat.final.m, weight, rtol=1e-7)


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
def test_a_crank_between_stops_keeps_a_share_of_its_energy_at_each(method, in_python):
    """A ram of 0.5 kg at a crank of 50 mm bounces between two stops; J = 0.01 kg m^2."""
    model = wired(
        "crank", "wheel.I crank.A", "crank.P ram.M stop.R", "stop.C block.V",
        wheel=ro.Inertia(inertia="0.01 kg*m^2", w="20 rad/s"), frame=ro.RotationalReference(),
        block=tr.Reference(), crank=SliderCrank(crank="50 mm", rod="200 mm", phi="60 deg"),
        ram=tr.Mass(mass="0.5 kg"), stop=tr.HardStop(model="restitution", restitution=0.8,
                                                     lower_bound="-20 mm", upper_bound="15 mm"))
    run = model.simulate("0.25 s", method=method, rtol=1e-10)
    assert not in_python
    hits = np.array([0.0, *(e.time for e in run.events)])
    assert 4 < len(hits) < 12
    t = quantity((hits[1:] + hits[:-1]) / 2, "s")
    w, v = run["wheel.w"].at(t).m, run["ram.v"].at(t).m
    energy = 0.01 * w**2 / 2 + 0.5 * v**2 / 2
    w, v = run["wheel.w"].initial.m, run["ram.v"].initial.m
    assert_allclose(energy, (0.01 * w**2 / 2 + 0.5 * v**2 / 2) * 0.64 ** np.arange(len(energy)),
                    rtol=1e-7)


def test_blocks_that_stick_and_slide_heat_a_bath_by_what_they_lose(in_python):
    """Blocks in a row with exact friction swing to rest; the first one is drawn aside by 0.2 m.

    At rest springs hold what is left of 0.5 k x^2 = 10 J; the rest is heat of 2 J/K.
    """
    n = 4
    model = wired("row", "blocks.M rails.R springs.R", "blocks[:-1].M springs[1:].C",
                  "springs[0].C rails.C frame.V", "rails.H bath.M",
                  frame=tr.Reference(), blocks=tr.Mass(count=n, mass="1 kg"),
                  springs=tr.Spring(count=n, stiffness="500 N/m", x=["0.2 m", *["0 m"] * (n - 1)]),
                  rails=tr.TranslationalFriction(count=n, law="coulomb", coulomb_force="3 N",
                                                 breakaway_force="4 N", thermal_port=True),
                  bath=ThermalMass(mass="1 kg", specific_heat="2 J/(kg*K)", T="300 K"))
    run = model.simulate("6 s", method="dopri5", rtol=1e-10)
    assert len(run.events) > 30
    assert not in_python
    assert all(run[f"blocks[{k}].v"].final.m == 0.0 for k in range(n))
    left = sum(250 * run[f"springs[{k}].x"].final.m ** 2 for k in range(n))
    assert_allclose(run["bath.T"].final.m, 300 + (10 - left) / 2, rtol=1e-9)


@pytest.mark.parametrize(("restitution", "friction"), [(0.4, 8.0), (0.7, 0.5), (0.95, 3.0)])
def test_friction_beside_a_stop_brakes_a_ball_up_and_down(restitution, friction, in_python):
    run = falling_mass(restitution, friction).simulate("3 s", method="dopri5", rtol=1e-10)
    assert not in_python
    down, up = 9.81 - friction / 2, 9.81 + friction / 2
    flights = np.sqrt(2 / down) * restitution * (down / up + np.sqrt(down / up)) * (
        restitution * np.sqrt(down / up)) ** np.arange(3)
    strikes = np.sqrt(2 / down) + np.cumsum([0.0, *flights])
    found = [e.time for e in run.events if "rebounds" in e.description]
    assert_allclose(found[:4], strikes, rtol=1e-8)


def test_a_stop_lets_go(in_python):
    """A mass on a spring that a growing force draws off its stop."""
    model = wired("stop", "mass.M stop.R pull.R spring.R", "stop.C pull.C spring.C frame.V",
                  mass=tr.Mass(mass="1 kg"), frame=tr.Reference(),
                  spring=tr.Spring(stiffness="100 N/m", x="0.1 m"),
                  pull=tr.ForceSource(force=lambda t: quantity("20 N/s") * t), stop=tr.HardStop(
                      model="restitution", lower_bound="0 m", upper_bound="1 m", x="0 m"))
    run = model.simulate("0.8 s", method="dopri5", rtol=1e-10)
    assert not in_python
    # 10 N of the spring hold it; then x = (20 N/s) (s - sin(10 s)/10) / 100 N/m
    assert_allclose([e.time for e in run.events], [0.5], rtol=1e-9)
    after = 0.3
    assert_allclose(run["stop.x"].final.m, 0.2 * (after - np.sin(10 * after) / 10), rtol=1e-7)


def test_a_freewheel_locks_and_overruns(in_python):
    model = wired("freewheel", "torque.R drive.I clutch.C", "clutch.R load.I damper.R",
                  "torque.C damper.C frame.W",
                  drive=ro.Inertia(inertia="0.1 kg*m^2"), load=ro.Inertia(inertia="0.2 kg*m^2"),
                  clutch=OneWayClutch(), damper=ro.RotationalDamper(damping="0.1 N*m*s/rad"),
                  torque=ro.TorqueSource(torque=lambda t: quantity("2 N*m") * sin(
                      quantity("5 rad/s") * t)), frame=ro.RotationalReference())
    run = model.simulate("4 s", method="dopri5", rtol=1e-9)
    assert not in_python
    assert [e.description for e in run.events] == ["slides forward", "sticks"] * 2 + [
        "slides forward"]
    other = by_python(model, "4 s", method="dopri5", rtol=1e-9)
    assert_same(run, other, ["drive.w", "load.w"], 1e-8)


def test_a_brake_lets_go_and_grips_what_has_turned_meanwhile(in_python):
    """Pressed by 30 N from 0 to 1 s and from 2 s on, it holds a wheel on a spring at 0.1 rad."""
    model = wired(
        "brake", "force.y brake.N", "wheel.I spring.R brake.R", "spring.C brake.C frame.W",
        wheel=ro.Inertia(inertia="0.1 kg*m^2"), frame=ro.RotationalReference(),
        spring=ro.RotationalSpring(stiffness="10 N*m/rad", phi="0.1 rad"),
        brake=DiscBrake(static_coefficient=0.35, kinetic_coefficient=0.3, mean_radius="150 mm"),
        force=Pulse(amplitude="30 N", period="2 s"))
    run = model.simulate("3 s", method="dopri5", rtol=1e-10)
    assert not in_python
    turned = [(e.time, e.mode) for e in run.events if e.component == "brake"]
    # 0.1 rad cos(10 (t - 1 s)) until 2 s; then about -2.7 N*m / (10 N*m/rad), while w > 0
    far, fast = 0.1 * np.cos(10) + 0.27, -0.1 * np.sin(10)
    rests = 2 + np.arctan2(fast, far) / 10
    assert turned == [(1.0, "slides backward"), (2.0, "slides forward"),
                      (pytest.approx(rests, rel=1e-9), "stuck")]
    assert_allclose(run["spring.phi"].final.m, np.hypot(far, fast) - 0.27, rtol=1e-8)


def test_clutches_in_a_row_that_are_pressed_now_and_then_decide_as_python_does(in_python):
    n = 4
    model = wired(
        "clutches", "forces.y clutches.N", "wheels[:-1].I clutches.R", "wheels[1:].I clutches.C",
        "drive.R wheels[0].I", "load.R spring.R wheels[-1].I", "drive.C load.C spring.C frame.W",
        wheels=ro.Inertia(count=n + 1, inertia="0.1 kg*m^2"), frame=ro.RotationalReference(),
        clutches=DiscClutch(count=n, effective_radius="50 mm"),
        forces=Pulse(count=n, amplitude="30 N", period=[f"{0.5 + 0.017 * k} s" for k in range(n)]),
        drive=ro.TorqueSource(torque=lambda t: quantity("4 N*m") * sin(quantity("3 rad/s") * t)),
        load=ro.RotationalDamper(damping="0.1 N*m*s/rad"),
        spring=ro.RotationalSpring(stiffness="5 N*m/rad"))
    run = model.simulate("10 s", method="dopri5", rtol=1e-10)
    assert len(in_python) < 0.02 * len(run.events)
    assert_same(run, by_python(model, "10 s", method="dopri5", rtol=1e-10),
         [f"wheels[{k}].w" for k in range(n + 1)], 1e-8)


@few(3, "seed", range(6))
def test_boxes_land_on_two_feet_without_python(seed, in_python):
    # one foot strikes while the other touches or is near, both with friction that they load
    rng = np.random.default_rng(seed)
    tilt, rebound = rng.choice([0.2, -0.4]), rng.choice([0.1, 0.3, 0.6])
    model = wired("box", box=Box(
        a="0.5 m", h="1.2 m", y=quantity(1.2 * np.cos(tilt) + 0.5 * abs(np.sin(tilt)) + 0.1, "m"),
        phi=quantity(tilt, "rad"), vx=quantity(rng.uniform(-1, 1), "m/s"), restitution=rebound,
        friction=(mu := rng.choice([0.2, 1.0])), static_friction=mu))  # fmt: skip
    run = model.simulate("0.8 s", rtol=1e-9, method="dopri5")
    assert len(in_python) <= 1  # where it comes to rest on both, and nothing tells how they share
    other = by_python(model, "0.8 s", rtol=1e-9, method="dopri5")
    assert len(in_python) > 1
    assert len(run.events) > 2
    for name in ("x", "y", "phi", "vx", "vy", "w"):
        path = f"box.{name}"
        assert_allclose(run[path].final.m, other[path].final.m, rtol=0, atol=1e-7, err_msg=path)


def test_a_disc_in_a_circle_leaves_python_alone(in_python):
    run = disc().simulate("6 s", method="dopri5", rtol=1e-9)
    assert not in_python
    assert len(run.events) == 9
