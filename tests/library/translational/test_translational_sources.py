"""Sources: direction, signals that take over, and tables."""

from __future__ import annotations

import numpy as np
import pytest
from benches import seconds, signal, values
from benches.translational import driven, thrown
from numpy.testing import assert_allclose

from blocks import Model, quantity, sin
from library.translational import (
    AccelerationSource,
    Damper,
    ForceSource,
    Mass,
    PositionSource,
    Reference,
    Spring,
    VelocitySource,
    table,
)

TIGHT = {"rtol": 1e-11, "method": "DOP853"}
OMEGA = quantity("3 rad/s")


def test_a_positive_force_pushes_the_body_at_r_forward_and_the_one_at_c_back():
    model = Model("between")
    model.front, model.rear = Mass(mass="1 kg"), Mass(mass="4 kg")
    model.push = ForceSource(force="2 N")
    model.connect(model.push.R, model.front.M)
    model.connect(model.push.C, model.rear.M)
    run = model.simulate("1 s", **TIGHT)
    assert_allclose(values(run, "front.v", "m/s", [1.0]), 2.0, rtol=1e-10)
    assert_allclose(values(run, "rear.v", "m/s", [1.0]), -0.5, rtol=1e-10)
    assert_allclose(values(run, "push.power_supplied", "W", [1.0]), 2 * 2.5, rtol=1e-10)


def test_a_positive_velocity_moves_r_ahead_of_c():
    run = driven(Damper(damping="10 N*s/m"), "0.5 m/s").simulate("1 s")
    assert_allclose(values(run, "source.R.v", "m/s"), 0.5)
    assert_allclose(values(run, "source.f", "N"), -5.0)  # pushes R, so C → R is carried
    assert_allclose(values(run, "source.power_supplied", "W"), 2.5)


def test_a_prescribed_position_is_followed_with_its_derivatives():
    source = PositionSource(position=lambda t: quantity("2 cm") * sin(OMEGA * t))
    model = driven(Spring(stiffness="1 kN/m", x="0 m"), source=source)
    model.load = Mass(mass="5 kg")
    model.connect(model.source.R, model.load.M)
    run = model.simulate("2 s", **TIGHT)
    t = seconds(run)
    assert_allclose(values(run, "source.x", "m"), 0.02 * np.sin(3 * t), atol=1e-15)
    assert_allclose(values(run, "load.v", "m/s"), 0.06 * np.cos(3 * t), atol=1e-14)
    assert_allclose(values(run, "load.f", "N"), -5 * 0.18 * np.sin(3 * t), atol=1e-12)
    assert_allclose(values(run, "part.f", "N"), 20 * np.sin(3 * t), atol=1e-8)


def test_a_prescribed_acceleration_is_integrated_twice():
    source = AccelerationSource(acceleration=lambda t: quantity("6 m/s^3") * t, v="1 m/s", x="2 m")
    run = driven(Damper(), source=source).simulate("2 s", **TIGHT)
    t = seconds(run)
    assert_allclose(values(run, "source.v", "m/s"), 1 + 3 * t**2, rtol=1e-11)
    assert_allclose(values(run, "source.x", "m"), 2 + t + t**3, rtol=1e-11)


@pytest.mark.parametrize(
    ("source", "unit", "path"),
    [
        (ForceSource(force="3 N"), "N", "f"),
        (VelocitySource(velocity="3 m/s"), "m/s", "v"),
        (PositionSource(position="3 m"), "m", "x"),
        (AccelerationSource(acceleration="3 m/s^2"), "m/s^2", "S"),
    ],
    ids=lambda p: type(p).__name__,
)
def test_a_connected_signal_takes_the_place_of_the_parameter(source, unit, path):
    model = Model("signal")
    model.source, model.damper, model.ground = source, Damper(), Reference()
    model.connect(model.source.R, model.damper.R)
    model.connect(model.source.C, model.damper.C, model.ground.V)
    sign = -1 if path == "f" else 1
    alone = model.simulate("1 s")
    assert_allclose(values(alone, f"source.{path}", unit), 3.0 * sign)
    model.wave = signal(unit, lambda t: quantity(2, unit) * sin(OMEGA * t))
    model.connect(model.wave.y, model.source.S)
    run = model.simulate("1 s")
    assert_allclose(
        values(run, f"source.{path}", unit), sign * 2 * np.sin(3 * seconds(run)), atol=1e-12
    )


def test_a_table_is_linear_between_its_points_and_held_outside():
    motion = table(["1 s", "2 s", "4 s"], ["10 mm/s", "30 mm/s", "-10 mm/s"])
    run = driven(Damper(), motion).simulate("5 s")
    t = seconds(run)
    assert_allclose(
        values(run, "part.v", "mm/s"), np.interp(t, [1, 2, 4], [10, 30, -10]), atol=1e-11
    )


def test_the_jump_of_a_table_is_stepped_onto():
    push = table(quantity([0, 1, 1, 2, 2, 3], "s"), quantity([0, 0, 6, 6, 0, 0], "N"))
    run = thrown(Damper(damping="0 N*s/m"), mass="2 kg", velocity="0 m/s", force=push).simulate(
        "3 s", rtol=1e-8
    )
    assert_allclose(values(run, "body.v", "m/s", [1.0, 1.5, 2.0, 3.0]), [0, 1.5, 3, 3], atol=1e-9)
    assert_allclose(run["push.S"].at("1 s", side="left").to("N").magnitude, 0)
    assert_allclose(run["push.S"].at("1 s", side="right").to("N").magnitude, 6)


@pytest.mark.parametrize(
    ("times", "heights", "text"),
    [(["1 s", "0 s"], ["0 N", "1 N"], "decrease"), (["0 s", "1 s"], ["0 N"], "as many")],
)
def test_a_table_in_disorder_is_refused(times, heights, text):
    with pytest.raises(ValueError, match=text):
        table(times, heights)
