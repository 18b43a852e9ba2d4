"""Sensors read what is there and change nothing."""

import pytest
from benches import seconds, values, wire, wired
from benches.translational import driven, thrown
from numpy.testing import assert_allclose

from blocks.exceptions import ConnectionRefused
from library.signal import Derivative
from library.translational import (
    Damper,
    ForceSource,
    HardStop,
    Mass,
    MotionSensor,
    Reference,
    VelocitySource,
    table,
)

TIGHT = {"rtol": 1e-11, "method": "DOP853"}


def falling(sensor, difference):
    """A body at 3 m/s² on a sensor against a platform at 1 m/s."""
    model = wired("falling", "body.M pull.R sensor.R", "pull.C platform.C ground.V",
                  body=Mass(mass="2 kg", v="0.5 m/s"), pull=ForceSource(force="6 N"),
                  platform=VelocitySource(velocity="1 m/s"), ground=Reference(), sensor=sensor)
    if difference:
        model.connect(model.sensor.C, model.platform.R)
    return model


def test_motion_is_read_against_c():
    sensor = MotionSensor(acceleration_port=True, offset="10 cm")
    run = falling(sensor, True).simulate("1 s", **TIGHT)
    t = seconds(run)
    assert_allclose(values(run, "sensor.V", "m/s"), 3 * t - 0.5, atol=1e-11)
    assert_allclose(values(run, "sensor.P", "m"), 0.1 + 1.5 * t**2 - 0.5 * t, atol=1e-11)
    assert_allclose(values(run, "sensor.A", "m/s^2"), 3.0, rtol=1e-11)
    assert_allclose(values(run, "platform.f", "N"), 0.0, atol=1e-12)  # draws no force


def test_absolute_motion_is_read_against_the_reference():
    run = falling(MotionSensor(reference="absolute", x="1 m"), False).simulate("1 s", **TIGHT)
    t = seconds(run)
    assert_allclose(values(run, "sensor.V", "m/s"), 3 * t + 0.5, atol=1e-11)
    assert_allclose(values(run, "sensor.P", "m"), 1 + 1.5 * t**2 + 0.5 * t, atol=1e-11)


def test_outputs_and_ports_that_were_not_chosen_do_not_exist():
    sensor = MotionSensor(reference="absolute", velocity_port=False)
    for name in ("C", "V", "A"):
        with pytest.raises(ConnectionRefused):
            getattr(sensor, name)
    assert sensor.P.path.endswith("P")


@pytest.mark.parametrize("model", [
    driven(Damper(), table(["0 s", "0.1 s", "0.1 s"], ["-1 m/s", "-1 m/s", "0.7 m/s"])),
    thrown(HardStop(model="restitution", restitution=0.7, lower_bound="-0.1 m"),
           velocity="-1 m/s"),  # strikes at 0.1 s
], ids=["step", "impact"])  # fmt: skip
def test_a_jump_of_the_velocity_is_a_pulse_behind_a_derivative_alone(model):
    wire(model, "sensor.R part.R", "sensor.V rate.u",
         sensor=MotionSensor(reference="absolute", acceleration_port=True),
         rate=Derivative(input="m/s"))
    run = model.simulate("0.2 s", rtol=1e-9)
    assert run["sensor.A"].integral().to("m/s").magnitude == 0
    assert_allclose(run["rate.y"].integral().to("m/s").magnitude, 1.7, rtol=1e-6)
