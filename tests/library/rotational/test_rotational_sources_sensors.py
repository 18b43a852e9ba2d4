"""Sources prescribe with the documented sign, sensors read without disturbing."""

from __future__ import annotations

import numpy as np
import pytest
from benches import seconds, signal, values
from benches.rotational import TIGHT, driven, spun
from numpy.testing import assert_allclose

from blocks import Model, cos, quantity, sin
from blocks.exceptions import BlocksError
from library.rotational import (
    AngleSource,
    AngularAccelerationSource,
    AngularVelocitySource,
    Inertia,
    MultiSensor,
    PowerSensor,
    RotationalDamper,
    RotationalMotionSensor,
    RotationalReference,
    TorqueSensor,
    TorqueSource,
)

DAMPER = {"damping": "4 N*m*s/rad"}


def test_a_positive_torque_acts_from_c_to_r():
    model = Model("pair")
    model.a, model.b = Inertia(inertia="1 kg*m^2"), Inertia(inertia="2 kg*m^2")
    model.source = TorqueSource(torque="6 N*m")
    model.connect(model.source.R, model.a.I)
    model.connect(model.source.C, model.b.I)
    run = model.simulate("1 s", **TIGHT)
    assert_allclose(values(run, "a.w", "rad/s", [1.0]), 6.0, rtol=1e-11)
    assert_allclose(values(run, "b.w", "rad/s", [1.0]), -3.0, rtol=1e-11)
    assert_allclose(values(run, "source.t", "N*m"), -6.0)
    assert_allclose(values(run, "source.power_supplied", "W", [1.0]), 6 * 9, rtol=1e-11)


def test_a_velocity_source_carries_a_negative_torque_where_it_drives():
    run = driven(RotationalDamper(**DAMPER), "3 rad/s").simulate("1 s")
    assert_allclose(values(run, "part.w", "rad/s"), 3.0)
    assert_allclose(values(run, "source.t", "N*m"), -12.0)
    assert_allclose(values(run, "source.power_supplied", "W"), 36.0)


def test_an_angle_source_moves_with_the_derivative_of_its_angle():
    source = AngleSource(angle=lambda t: quantity("0.5 rad") * sin(quantity("3 rad/s") * t))
    run = driven(RotationalDamper(**DAMPER), source=source).simulate("2 s")
    t = seconds(run)
    assert_allclose(values(run, "part.t", "N*m"), 6 * np.cos(3 * t), atol=1e-12)
    assert_allclose(values(run, "source.phi", "rad"), 0.5 * np.sin(3 * t), atol=1e-12)


def test_an_acceleration_source_is_integrated_twice():
    source = AngularAccelerationSource(acceleration="2 rad/s^2", w="1 rad/s", phi="3 rad")
    run = driven(RotationalDamper(**DAMPER), source=source).simulate("2 s", **TIGHT)
    t = seconds(run)
    assert_allclose(values(run, "part.t", "N*m"), 4 * (1 + 2 * t), rtol=1e-11)
    assert_allclose(values(run, "source.phi", "rad"), 3 + t + t**2, rtol=1e-11)


@pytest.mark.parametrize(
    ("source", "unit", "factor"),
    [
        (TorqueSource(torque="99 N*m"), "N*m", 1 / 4),
        (AngularVelocitySource(velocity="99 rad/s"), "rad/s", 1.0),
    ],
)
def test_a_connected_signal_replaces_the_parameter(source, unit, factor):
    model = driven(RotationalDamper(**DAMPER), source=source)
    model.wave = signal(unit, lambda t: quantity(1, unit) * cos(quantity("2 rad/s") * t))
    model.connect(model.wave.y, model.source.S)
    run = model.simulate("2 s")
    exact = factor * np.cos(2 * seconds(run))
    assert_allclose(values(run, "part.w", "rad/s"), exact, atol=1e-12)


@pytest.mark.parametrize("sensor", [TorqueSensor(), PowerSensor(), MultiSensor()],
                         ids=lambda s: type(s).__name__)  # fmt: skip
def test_a_series_sensor_is_rigid_and_reads_positive_from_r_to_c(sensor):
    model = Model("series")
    model.drive = AngularVelocitySource(velocity="3 rad/s")
    model.sensor, model.damper = sensor, RotationalDamper(**DAMPER)
    model.ground = RotationalReference()
    model.connect(model.drive.R, model.sensor.R)
    model.connect(model.sensor.C, model.damper.R)
    model.connect(model.damper.C, model.drive.C, model.ground.W)
    run = model.simulate("1 s")
    expected = {"T": (12.0, "N*m"), "W": (3.0, "rad/s"), "P": (36.0, "W")}
    for name, (number, unit) in expected.items():
        if f"sensor.{name}" in run:
            assert_allclose(values(run, f"sensor.{name}", unit), number)
    assert_allclose(values(run, "damper.w", "rad/s"), 3.0)


def test_a_motion_sensor_reads_speed_angle_and_acceleration():
    model = spun(RotationalDamper(damping="2 N*m*s/rad"), velocity="3 rad/s")
    model.sensor = RotationalMotionSensor(acceleration_port=True, offset="1 rad")
    model.connect(model.sensor.R, model.body.I)
    model.connect(model.sensor.C, model.ground.W)
    run = model.simulate("2 s", **TIGHT)
    w = 3 * np.exp(-seconds(run))
    assert_allclose(values(run, "sensor.W", "rad/s"), w, rtol=1e-10)
    assert_allclose(values(run, "sensor.A", "rad"), 1 + 3 - w, rtol=1e-10)
    assert_allclose(values(run, "sensor.ACC", "rad/s^2"), -w, rtol=1e-10)


@pytest.mark.parametrize("speed", [7.0, -7.0])
def test_a_wrapped_angle_stays_within_one_turn(speed):
    model = Model("wrapped")
    model.body = Inertia(w=quantity(speed, "rad/s"))
    model.sensor = RotationalMotionSensor(reference="absolute", wrap_angle=True, offset="15 rad")
    model.connect(model.sensor.R, model.body.I)
    run = model.simulate("5 s", **TIGHT)
    t = np.linspace(0.013, 4.987, 300)
    assert_allclose(values(run, "sensor.A", "rad", t), np.mod(15 + speed * t, 2 * np.pi), atol=1e-9)
    jumps = [e.time for e in run.events]
    turns = 2 * np.pi * np.arange(-10, 12)
    crossings = sorted(x for x in (turns - 15) / speed if 0 < x < 5)
    assert_allclose(jumps, crossings, atol=1e-9)


def test_a_difference_sensor_has_ports_an_absolute_one_has_not():
    with pytest.raises(BlocksError, match="reference|options"):
        _ = RotationalMotionSensor(reference="absolute").C
