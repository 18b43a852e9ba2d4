"""What a sensor of turning reads."""

import numpy as np
import pytest
from benches import seconds, values, wire, wired
from benches.rotational import TIGHT, spun
from numpy.testing import assert_allclose

from blocks import quantity
from blocks.exceptions import BlocksError
from library.rotational import Inertia, RotationalDamper, RotationalMotionSensor


def test_a_motion_sensor_reads_speed_angle_and_acceleration():
    model = spun(RotationalDamper(damping="2 N*m*s/rad"), velocity="3 rad/s")
    wire(model, "sensor.R body.I", "sensor.C ground.W",
         sensor=RotationalMotionSensor(acceleration_port=True, offset="1 rad"))
    run = model.simulate("2 s", **TIGHT)
    w = 3 * np.exp(-seconds(run))
    assert_allclose(values(run, "sensor.W", "rad/s"), w, rtol=1e-10)
    assert_allclose(values(run, "sensor.A", "rad"), 1 + 3 - w, rtol=1e-10)
    assert_allclose(values(run, "sensor.ACC", "rad/s^2"), -w, rtol=1e-10)


@pytest.mark.parametrize("speed", [7.0, -7.0])
def test_a_wrapped_angle_stays_within_one_turn(speed):
    model = wired("wrapped", "sensor.R body.I", body=Inertia(w=quantity(speed, "rad/s")),
                  sensor=RotationalMotionSensor(reference="absolute", wrap_angle=True,
                                                offset="15 rad"))
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
