"""Rolling resistance against closed forms."""

import numpy as np
from benches import seconds, signal, values
from benches.translational import driven, thrown
from numpy.testing import assert_allclose

from blocks import quantity
from library.translational import RollingResistance


def test_rolling_resistance_is_the_coefficient_times_the_load():
    wheel = RollingResistance(coefficient=0.02, normal_force="3 kN", threshold_velocity="0.1 m/s")
    run = driven(wheel, lambda t: quantity("1 m/s^2") * t - quantity("1 m/s")).simulate("2 s")
    v = seconds(run) - 1
    assert_allclose(values(run, "part.f", "N"), 60 * np.tanh(v / 0.1), atol=1e-12)


def test_rolling_resistance_follows_the_load_given_as_a_signal():
    model = driven(RollingResistance(coefficient=0.02), "5 m/s")
    model.load = signal("N", lambda t: quantity("1 kN") + quantity("200 N/s") * t)
    model.connect(model.load.y, model.part.N)
    run = model.simulate("2 s")
    assert_allclose(values(run, "part.f", "N"), 0.02 * (1000 + 200 * seconds(run)), rtol=1e-13)


def test_a_wheel_that_is_lifted_off_does_not_resist():
    model = driven(RollingResistance(coefficient=0.02), "5 m/s")
    model.load = signal("N", lambda t: quantity("1 kN") - quantity("1 kN/s") * t)
    model.connect(model.load.y, model.part.N)
    run = model.simulate("2 s")
    assert_allclose(values(run, "part.f", "N"), 20 * np.maximum(1 - seconds(run), 0), atol=1e-12)


def test_a_rolling_body_slows_down_evenly():
    wheel = RollingResistance(coefficient=0.03, normal_force="50 N", threshold_velocity="1 um/s")
    run = thrown(wheel, mass="3 kg", velocity="2 m/s").simulate("3 s", rtol=1e-10, method="DOP853")
    assert_allclose(values(run, "body.v", "m/s"), 2 - 0.5 * seconds(run), rtol=1e-9)
