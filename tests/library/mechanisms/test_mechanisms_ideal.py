"""Ideal mechanisms: a textbook case for each; that power in is power out is in power_balance."""

import numpy as np
import pytest
from benches import seconds, values, wire, wired
from benches.mechanisms import TIGHT, loaded
from numpy.testing import assert_allclose

import library.mechanisms as me
import library.rotational as ro
from blocks import BlocksError, Target, quantity
from library.translational import ForceSource, Mass, MotionSensor, Reference, VelocitySource


def test_the_output_of_a_gear_box_turns_slower_and_pulls_harder():
    run = loaded(me.GearBox(ratio=5), "SO", sizes=[2, 30], drives=[4, 0]).simulate("1 s", **TIGHT)
    slow = 4 * 5 / (2 * 25 + 30)  # rad/s² of the output
    assert_allclose(values(run, "body_O.w", "rad/s", [1.0]), slow, rtol=1e-11)
    assert_allclose(values(run, "body_S.w", "rad/s", [1.0]), 5 * slow, rtol=1e-11)
    assert_allclose(values(run, "part.S.t", "N*m"), 4 - 2 * 5 * slow, rtol=1e-10)
    assert_allclose(values(run, "part.O.t", "N*m"), -30 * slow, rtol=1e-10)


def test_the_housing_of_a_gear_box_takes_the_difference_of_the_torques():
    model = loaded(me.GearBox(ratio=3, housing=True), "SOC", drives=[1, 0, 0])
    run = model.simulate("1 s", **TIGHT)
    t = {n: values(run, f"part.{n}.t", "N*m") for n in "SOC"}
    assert_allclose(t["O"], -3 * t["S"], rtol=1e-10)
    assert_allclose(t["C"], 2 * t["S"], rtol=1e-10)
    assert np.all(t["S"] > 0)


@pytest.mark.parametrize("crossed", [False, True])
def test_a_belt_keeps_the_same_speed_and_force_on_both_pulleys(crossed):
    run, sense = loaded(me.BeltDrive(radius_A="0.1 m", radius_B="0.3 m", crossed=crossed), "AB",
                        sizes=[1, 9], drives=[2, 0]).simulate("1 s", **TIGHT), -1 if crossed else 1
    assert_allclose(values(run, "body_A.w", "rad/s", [1.0]), 1.0, rtol=1e-11)  # 2/(1 + 9/9)
    assert_allclose(values(run, "body_B.w", "rad/s", [1.0]), sense / 3, rtol=1e-11)
    assert_allclose(values(run, "part.B.t", "N*m"), -3.0 * sense, rtol=1e-11)


@pytest.mark.parametrize(("held", "driven", "out", "ratio"), [
    ("R", "S", "C", 1 / 3.5), ("C", "S", "R", -1 / 2.5), ("S", "R", "C", 2.5 / 3.5)])
def test_a_planetary_gear_has_the_three_textbook_ratios(held, driven, out, ratio):
    model = wired("planetary", f"drive.R gear.{driven}", f"gear.{held} ground.W drive.C load.C",
                  f"gear.{out} load.R", gear=me.PlanetaryGear(ratio=2.5),
                  ground=ro.RotationalReference(),
                  drive=ro.AngularVelocitySource(velocity="7 rad/s"),
                  load=ro.RotationalSpringDamper(damping="1 N*m*s/rad"))
    run = model.simulate("1 s")
    assert_allclose(values(run, "load.w", "rad/s"), 7 * ratio, rtol=1e-12)
    t = {n: values(run, f"gear.{n}.t", "N*m") for n in "CRS"}
    assert_allclose(t["R"], 2.5 * t["S"], rtol=1e-12)
    assert_allclose(t["C"] + t["R"] + t["S"], 0, atol=1e-11 * np.abs(t["C"]).max())


def test_a_differential_gives_both_wheels_half_the_torque_at_any_speed():
    model = loaded(me.Differential(ratio=4), ["D", "S1", "S2"], sizes=[0.1, 1, 3], drives=[6, 0, 0])
    run = model.simulate("1 s", **TIGHT)
    t = {n: values(run, f"part.{n}.t", "N*m") for n in ("D", "S1", "S2")}
    assert_allclose(t["S1"], -2 * t["D"], rtol=1e-10)
    assert_allclose(t["S2"], t["S1"], rtol=1e-10)
    w = {n: values(run, f"body_{n}.w", "rad/s", [1.0]) for n in ("D", "S1", "S2")}
    assert_allclose(w["D"], 2 * (w["S1"] + w["S2"]), rtol=1e-11)
    assert_allclose(w["S1"], 3 * w["S2"], rtol=1e-11)  # same torque, inertias 1 and 3


@pytest.mark.parametrize(("part", "ports", "sense"), [
    (me.WheelAndAxle(radius="0.2 m"), "AP", 1), (me.RollingWheel(radius="0.2 m"), "AH", 1),
    (me.WheelAndAxle(radius="0.2 m", direction="negative"), "AP", -1),
    (me.RackAndPinion(radius="0.2 m"), "PR", 1),
    (me.RackAndPinion(radius="0.2 m", direction="negative"), "PR", -1)])
def test_a_torque_on_a_wheel_pushes_its_load_by_torque_over_radius(part, ports, sense):
    run = loaded(part, ports, sizes=[0.04, 3], drives=[2, 0]).simulate("1 s", **TIGHT)
    # the inertia counts as 0.04/0.2² = 1 kg: 10 N on 4 kg
    assert_allclose(values(run, f"body_{ports[1]}.v", "m/s", [1.0]), sense * 2.5, rtol=1e-11)
    assert_allclose(values(run, f"part.{ports[1]}.f", "N"), -sense * 7.5, rtol=1e-10)
    assert_allclose(values(run, f"part.{ports[0]}.t", "N*m"), 1.5, rtol=1e-10)


def test_a_lever_with_its_joint_as_fulcrum_lifts_with_the_ratio_of_its_arms():
    model = wired("lever", "lever.C ground.V push.C", "lever.A push.R", "lever.B load.M",
                  lever=me.Lever(AC="0.6 m", BC="0.2 m"), load=Mass(mass="9 kg"),
                  push=ForceSource(force="5 N"), ground=Reference())
    run = model.simulate("1 s", **TIGHT)
    assert_allclose(values(run, "load.f", "N"), -15.0, rtol=1e-12)  # other side, other direction
    v = values(run, "load.v", "m/s", [1.0])
    assert_allclose(v, -15 / 9, rtol=1e-11)
    assert_allclose(values(run, "lever.A.v", "m/s", [1.0]), -3 * v, rtol=1e-11)
    assert_allclose(values(run, "lever.C.f", "N"), -20.0, rtol=1e-12)  # ground pulls back


def test_a_lever_with_its_end_as_fulcrum_moves_the_joint_between():
    model = wired("lever", "lever.B ground.V move.C", "lever.A move.R", "lever.C load.M",
                  lever=me.Lever(AC="0.6 m", BC="0.2 m"), move=VelocitySource(velocity="0.4 m/s"),
                  load=Mass(mass="2 kg"), ground=Reference())
    model.load.v = Target("0 m/s", priority="none")
    assert_allclose(values(model.simulate("1 s"), "load.v", "m/s"), 0.1, rtol=1e-12)


# -- slider-crank and cam ------------------------------------------------------------------
def turned(part, speed="3 rad/s", force="0 N"):
    """The shaft A turns steadily; a force acts on P."""
    return wired("turned", "drive.R part.A", "drive.C ground.W", "part.P push.R place.R",
                 "push.C place.C wall.V", part=part, drive=ro.AngularVelocitySource(velocity=speed),
                 ground=ro.RotationalReference(), wall=Reference(), push=ForceSource(force=force),
                 place=MotionSensor())


@pytest.mark.parametrize("offset", [0.0, 0.03])
def test_a_slider_follows_the_geometry_of_crank_and_rod(offset):
    crank = me.SliderCrank(crank="0.1 m", rod="0.25 m", offset=quantity(offset, "m"), phi="0.4 rad")
    run = turned(crank, force="10 N").simulate("5 s", **TIGHT)
    t = seconds(run)
    # the pin of the rod on the crank, and the slider at the distance of the rod from it
    pin = 0.1 * np.exp(1j * (0.4 + 3 * t))
    x = values(run, "part.x", "m")
    assert_allclose(np.abs(x + 1j * offset - pin), 0.25, rtol=1e-11)
    assert np.all(x > pin.real)
    assert_allclose(values(run, "place.P", "m"), x - x[0], atol=1e-10)
    k = values(run, "part.P.v", "m/s") / 3
    assert_allclose(values(run, "part.A.t", "N*m"), -10 * k, atol=1e-11)


def test_a_flywheel_keeps_its_energy_over_the_dead_centres_of_a_slider():
    model = wired("engine", "wheel.I crank.A", "crank.P piston.M",
                  wheel=ro.Inertia(inertia="0.02 kg*m^2", w="10 rad/s"),
                  crank=me.SliderCrank(crank="0.1 m", rod="0.25 m"),
                  piston=Mass(mass="1 kg", v=Target("0 m/s", priority="low")))
    run = model.simulate("3 s", **TIGHT)
    phi = values(run, "crank.phi", "rad")
    assert phi[-1] > 4 * np.pi
    height = 0.1 * np.sin(phi)
    k = -height - 0.1 * np.cos(phi) * height / np.sqrt(0.25**2 - height**2)
    assert_allclose(values(run, "wheel.w", "rad/s"), 10 / np.sqrt(1 + k**2 / 0.02), rtol=1e-8)
    assert run.energy().relative_residual < 1e-9


def cosine_cam(points, **start):
    angles = np.linspace(0, 360, points + 1)
    lifts = 5 * (1 - np.cos(np.deg2rad(angles)))
    lifts[-1] = lifts[0]
    return me.CamTransmission(angles=quantity(angles, "deg"), lifts=quantity(lifts, "mm"), **start)


def test_a_cam_passes_through_the_points_of_its_table_turn_after_turn():
    run = turned(cosine_cam(8), speed="1 rad/s").simulate("16 s", **TIGHT)
    at = np.arange(0, 20) * np.pi / 4
    assert_allclose(values(run, "part.x", "mm", at), 5 * (1 - np.cos(at)), atol=1e-9)
    assert_allclose(values(run, "place.P", "m"), values(run, "part.x", "m"), atol=1e-10)


def test_a_cam_with_many_points_is_the_curve_they_are_taken_from():
    errors = []
    for points in (36, 72):
        run = turned(cosine_cam(points, phi="0.01 rad"), force="2 N").simulate("3 s", **TIGHT)
        phi = values(run, "part.phi", "rad")
        assert_allclose(values(run, "part.x", "mm"), 5 * (1 - np.cos(phi)), atol=0.01)
        exact = -2 * 5e-3 * np.sin(phi)
        errors.append(np.abs(values(run, "part.A.t", "N*m") - exact).max() / 1e-2)
    assert errors[0] < 0.01
    assert errors[1] < errors[0] / 3.5  # slopes of parabolas: second order


def test_a_flywheel_gets_back_what_it_gives_to_a_cam():
    model = wired("valve", "wheel.I cam.A", "cam.P follower.M",
                  cam=cosine_cam(8), wheel=ro.Inertia(inertia="0.01 kg*m^2", w="20 rad/s"),
                  follower=Mass(mass="1 kg", v=Target("0 m/s", priority="low")))
    # the jerk jumps at the points of the table, which no error estimate of a long step sees
    run = model.simulate("1 s", rtol=1e-11, method="DOP853", max_step="1 ms")
    assert values(run, "cam.phi", "rad")[-1] > 4 * np.pi
    v, w = values(run, "follower.v", "m/s"), values(run, "wheel.w", "rad/s")
    assert np.ptp(v) > 0.1
    assert_allclose(0.01 * w**2 + v**2, 0.01 * 20**2, rtol=1e-8)
    # the jerk jumps within steps, which costs the quadrature of the audit some digits
    assert run.energy().relative_residual < 1e-6


# -- trees of gears ----------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(6))
def test_a_tree_of_gears_accelerates_as_its_reflected_inertia(seed):
    chance = np.random.default_rng(seed)
    sizes, speeds = [chance.uniform(0.1, 2)], [1.0]
    model = wired("tree", "drive.R j0.I", "drive.C ground.W", ground=ro.RotationalReference(),
                  drive=ro.TorqueSource(torque="7 N*m"),
                  j0=ro.Inertia(inertia=quantity(sizes[0], "kg*m^2")))
    for i in range(1, 14):
        above = int(chance.integers(0, i))
        ratio = float(chance.choice([-1, 1]) * chance.uniform(0.3, 4))
        sizes.append(chance.uniform(0.1, 2))
        forward = chance.random() < 0.5  # either shaft may be the driving one
        near, far = "SO" if forward else "OS"
        speeds.append(speeds[above] / ratio if forward else speeds[above] * ratio)
        wire(model, f"j{above}.I g{i}.{near}", f"g{i}.{far} j{i}.I",
             **{f"j{i}": ro.Inertia(inertia=quantity(sizes[i], "kg*m^2")),
                f"g{i}": me.GearBox(ratio=ratio)})
    assert model.structure().states == 1
    run = model.simulate("1 s", **TIGHT)
    reflected = np.dot(sizes, np.square(speeds))
    for i, ratio in enumerate(speeds):
        assert_allclose(values(run, f"j{i}.w", "rad/s", [1.0]), 7 / reflected * ratio, rtol=1e-10)
    assert run.energy().relative_residual < 1e-9


# -- mistakes ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("part", "ports", "words"),
    [(me.GearBox(ratio=0), "SO", ["part", "ratio is 0", "such as 5"]),
     (me.Differential(ratio=0), ["D", "S1", "S2"], ["part", "ratio is 0"]),
     (me.SliderCrank(crank="0.2 m", rod="0.2 m"), "AP", ["part", "rod is 0.2", "crank 0.2",
                                                         "Lengthen"]),
     (me.CamTransmission(angles=quantity([0, 90, 80, 360], "deg"),
                         lifts=quantity([0, 1, 1, 0], "mm")), "AP",
      ["part", "angles must be", "strictly increasing"]),
     (me.CamTransmission(angles=quantity([0, 90, 180], "deg"), lifts=quantity([0, 1, 0], "mm")),
      "AP", ["part", "180", "not one turn"]),
     (me.CamTransmission(angles=quantity([0, 90, 360], "deg"), lifts=quantity([0, 1, 2], "mm")),
      "AP", ["part", "lifts starts at 0", "ends at 2", "same"]),])
def test_impossible_mechanisms_are_refused_in_words(part, ports, words):
    with pytest.raises(BlocksError) as error:
        loaded(part, ports).simulate("1 s")
    assert all(word in str(error.value) for word in words)


def test_three_prescribed_speeds_of_a_planetary_gear_are_refused_by_name():
    model = wired("planetary", gear=me.PlanetaryGear(), ground=ro.RotationalReference())
    for port in "CRS":
        wire(model, f"speed_{port}.R gear.{port}", f"speed_{port}.C ground.W",
             **{f"speed_{port}": ro.AngularVelocitySource(velocity="1 rad/s")})
    with pytest.raises(BlocksError) as error:
        model.simulate("1 s")
    for word in ["speed_C", "speed_R", "speed_S", "gear", "angular velocit"]:
        assert word in str(error.value)


def test_a_gear_is_not_joined_to_a_mass():
    model = wired("mixed", gear=me.GearBox(), mass=Mass())
    with pytest.raises(BlocksError, match="rotational.*translational"):
        model.connect(model.gear.O, model.mass.M)
