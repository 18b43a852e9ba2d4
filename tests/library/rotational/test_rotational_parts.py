"""What there is about an axis alone: bearings and backlash; and what a sensor of turning reads."""

import numpy as np
import pytest
from benches import seconds, values, wire, wired
from benches.rotational import TIGHT, driven, ramp, spun
from numpy.testing import assert_allclose

import library.rotational as ro
from blocks import BlocksError, quantity, sin


def test_bearing_friction_follows_its_table():
    bearing = ro.BearingFriction(speeds=quantity([0, 2, 6], "rad/s"),
                              torques=quantity([4, 2, 4], "N*m"))  # fmt: skip
    run = spun(bearing, velocity="8 rad/s").simulate("1 s", **TIGHT)
    w = values(run, "body.w", "rad/s")
    assert_allclose(values(run, "part.t", "N*m"), np.where(w > 2, 2 + (w - 2) / 2, 4 - w),
                    rtol=1e-12)  # fmt: skip


@pytest.mark.parametrize("friction", [
    ro.BearingFriction(speeds=["0 rad/s", "10 rad/s"], torques=["2 N*m", "1 N*m"]),
    ro.RotationalFriction(law="table", speeds=["0 rad/s", "10 rad/s"], levels=["2 N*m", "1 N*m"]),
], ids=["bearing", "law"])  # fmt: skip
def test_friction_that_falls_in_its_table_is_never_below_zero_beyond_it(friction):
    # 2 kg m² from 30 rad/s by -2 N m; 2 N m - w/10 below 20 rad/s, which are reached at 10 s
    run = spun(friction, velocity="30 rad/s", torque="-2 N*m").simulate("20 s", **TIGHT)
    t = seconds(run)
    assert_allclose(values(run, "body.w", "rad/s"),
                    np.where(t < 10, 30 - t, 40 - 20 * np.exp((t - 10) / 20)), atol=1e-8)
    assert_allclose(values(run, "part.t", "N*m", [2.0, 9.0]), 0, atol=1e-15)


def test_a_bearing_holds_up_to_its_peak():
    bearing = ro.BearingFriction(speeds=quantity([0, 1], "rad/s"), torques=quantity([2, 2], "N*m"),
                              peak=1.5)  # fmt: skip
    run = spun(bearing, velocity="0 rad/s", torque=ramp("-1 N*m/s")).simulate("4 s", **TIGHT)
    (event,) = run.events.of("part")
    assert event.time == pytest.approx(3.0, rel=1e-11)
    assert event.description == "slides backward"


@pytest.mark.parametrize(
    ("part", "words"),
    [(ro.BearingFriction(speeds=["0 rad/s", "2 rad/s", "1 rad/s"],
                         torques=["1 N*m", "1 N*m", "1 N*m"]),
      ["part", "speeds must be at least two strictly increasing values"]),
     (ro.BearingFriction(speeds=["1 rad/s", "2 rad/s"]),
      ["part", "speeds starts at 1", "must be 0 rad/s"]),
     (ro.BearingFriction(speeds=["0 rad/s", "1 rad/s", "2 rad/s"]),
      ["3", "torques has 2 values"]),])
def test_parameters_that_contradict_each_other_are_named(part, words):
    with pytest.raises(BlocksError) as error:
        spun(part).simulate("1 s")
    assert all(word in str(error.value) for word in words)


def test_backlash_lets_the_body_coast_and_then_swing_back():
    play = ro.ElastoBacklash(stiffness="200 N*m/rad", backlash="0.4 rad")
    run = spun(play).simulate("1.5 s", **TIGHT)
    touch, half = 0.2, np.pi / 10
    assert_allclose(values(run, "part.t", "N*m", [0.1, 0.15]), 0.0, atol=0)
    assert_allclose(values(run, "part.t", "N*m", [touch + half / 2]), 20.0, rtol=1e-9)
    assert_allclose(values(run, "body.w", "rad/s", [touch + half + 0.1]), -1.0, rtol=1e-10)
    assert_allclose(values(run, "part.t", "N*m", [touch + half + 0.4 + half / 2]), -20.0, rtol=1e-9)


def test_backlash_never_pulls():
    play = ro.ElastoBacklash(stiffness="50 N*m/rad", damping="30 N*m*s/rad", backlash="0.1 rad")
    run = driven(play, lambda t: quantity("2 rad/s") * sin(quantity("5 rad/s") * t)
                 ).simulate("2 s", **TIGHT)  # fmt: skip
    phi, t = values(run, "part.phi", "rad"), values(run, "part.t", "N*m")
    assert np.all(t[phi > 0.05] >= 0)
    assert np.all(t * phi >= 0)
    w = values(run, "part.w", "rad/s")
    deep = phi > 0.05
    elastic = 50 * (phi[deep] - 0.05)
    assert_allclose(t[deep], elastic + np.clip(30 * w[deep], -elastic, elastic), atol=1e-9)
    assert np.any(np.abs(30 * w[deep]) > elastic), "the limit is never reached"
    assert np.any(np.abs(30 * w[deep]) < elastic), "the limit is always reached"


# -- sensors ---------------------------------------------------------------------------------------
def test_a_motion_sensor_reads_speed_angle_and_acceleration():
    model = spun(ro.RotationalDamper(damping="2 N*m*s/rad"), velocity="3 rad/s")
    wire(model, "sensor.R body.I", "sensor.C ground.W",
         sensor=ro.RotationalMotionSensor(acceleration_port=True, offset="1 rad"))
    run = model.simulate("2 s", **TIGHT)
    w = 3 * np.exp(-seconds(run))
    assert_allclose(values(run, "sensor.W", "rad/s"), w, rtol=1e-10)
    assert_allclose(values(run, "sensor.A", "rad"), 1 + 3 - w, rtol=1e-10)
    assert_allclose(values(run, "sensor.ACC", "rad/s^2"), -w, rtol=1e-10)


@pytest.mark.parametrize("speed", [7.0, -7.0])
def test_a_wrapped_angle_stays_within_one_turn(speed):
    model = wired("wrapped", "sensor.R body.I", body=ro.Inertia(w=quantity(speed, "rad/s")),
                  sensor=ro.RotationalMotionSensor(reference="absolute", wrap_angle=True,
                                                   offset="15 rad"))
    run = model.simulate("5 s", **TIGHT)
    t = np.linspace(0.013, 4.987, 300)
    assert_allclose(values(run, "sensor.A", "rad", t), np.mod(15 + speed * t, 2 * np.pi), atol=1e-9)
    jumps = [e.time for e in run.events]
    turns = 2 * np.pi * np.arange(-10, 12)
    assert_allclose(jumps, sorted(x for x in (turns - 15) / speed if 0 < x < 5), atol=1e-9)


def test_a_difference_sensor_has_ports_an_absolute_one_has_not():
    with pytest.raises(BlocksError, match="reference|options"):
        _ = ro.RotationalMotionSensor(reference="absolute").C
