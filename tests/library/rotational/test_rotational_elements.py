"""One closed form for every body, spring, damper and resistance."""

from __future__ import annotations

import numpy as np
import pytest
from benches import seconds, values
from benches.rotational import TIGHT, driven, ramp, spun
from numpy.testing import assert_allclose

from blocks import Model, quantity
from blocks.exceptions import BlocksError, ParameterError, WrongDimension
from library.rotational import (
    AngularAccelerationSource,
    Inertia,
    QuadraticSpeedDependentTorque,
    RotationalDamper,
    RotationalFreeEnd,
    RotationalInerter,
    RotationalNonlinearDamper,
    RotationalReference,
    RotationalSpring,
    RotationalSpringDamper,
    TorqueSource,
)


def test_a_constant_torque_accelerates_an_inertia_uniformly():
    model = Model("drive")
    model.body = Inertia(inertia="4 kg*m^2", w="1 rad/s")
    model.drive = TorqueSource(torque="10 N*m")
    model.ground = RotationalReference()
    model.connect(model.drive.R, model.body.I)
    model.connect(model.drive.C, model.ground.W)
    run = model.simulate("3 s", **TIGHT)
    assert_allclose(values(run, "body.w", "rad/s"), 1 + 2.5 * seconds(run), rtol=1e-11)
    assert_allclose(values(run, "body.w", "rpm", [3.0]), 8.5 * 30 / np.pi, rtol=1e-11)
    assert_allclose(values(run, "body.energy_stored", "J", [3.0]), 4 * 8.5**2 / 2, rtol=1e-11)
    assert_allclose(values(run, "ground.W.t", "N*m"), -10.0)  # the source pushes itself off


def test_the_reference_takes_the_torque_of_a_twisted_spring():
    run = driven(RotationalSpring(stiffness="2 kN*m/rad", phi="5 mrad"), "0 rad/s").simulate("1 s")
    assert_allclose(values(run, "part.t", "N*m"), 10.0)
    assert_allclose(values(run, "ground.W.t", "N*m") + values(run, "source.C.t", "N*m"), 10.0)


def test_a_free_end_turns_along_and_takes_no_torque():
    model = spun(RotationalDamper(damping="3 N*m*s/rad"))
    model.end = RotationalFreeEnd()
    model.connect(model.end.W, model.body.I)
    run = model.simulate("1 s", **TIGHT)
    assert_allclose(values(run, "end.w", "rad/s"), values(run, "body.w", "rad/s"))
    assert_allclose(values(run, "end.W.t", "N*m"), 0.0, atol=0)


def test_an_inertia_on_a_spring_oscillates_at_the_root_of_stiffness_over_inertia():
    model = spun(RotationalSpring(stiffness="18 N*m/rad"), velocity="3 rad/s")
    run = model.simulate("5 s", **TIGHT)
    t = seconds(run)
    assert_allclose(values(run, "part.phi", "rad"), np.sin(3 * t), atol=1e-9)
    assert_allclose(values(run, "body.w", "rad/s"), 3 * np.cos(3 * t), atol=1e-9)


def test_a_preload_turns_the_rest_position():
    spring = RotationalSpring(stiffness="8 N*m/rad", preload="4 N*m", phi="-0.5 rad")
    run = spun(spring, velocity="0 rad/s").simulate("2 s", **TIGHT)
    assert_allclose(values(run, "part.phi", "rad"), -0.5, rtol=1e-12)


def test_a_table_spring_follows_its_points_and_its_end_segments():
    spring = RotationalSpring(law="table", deformations=quantity([-1, 0, 1, 2], "rad"),
                              torques=quantity([-2, 0, 2, 8], "N*m"), phi="-2 rad")  # fmt: skip
    run = driven(spring, "1 rad/s").simulate("5 s", **TIGHT)
    phi = [-2, -1.5, 0.5, 1.5, 3]
    t = [p + 2 for p in phi]
    assert_allclose(values(run, "part.t", "N*m", t), [-4, -3, 1, 5, 14], rtol=1e-9)
    stored = values(run, "part.energy_stored", "J", [1, 3, 4])
    assert_allclose(stored, [1, 1, 1 + 5], rtol=1e-9)


def test_a_damper_stops_an_inertia_exponentially():
    run = spun(RotationalDamper(damping="3 N*m*s/rad"), velocity="5 rad/s").simulate("4 s", **TIGHT)
    assert_allclose(values(run, "body.w", "rad/s"), 5 * np.exp(-1.5 * seconds(run)), rtol=1e-9)


def test_a_damper_may_brake_one_direction_more_than_the_other():
    for speed, torque in ((2, 20), (-3, -120)):
        damper = RotationalNonlinearDamper(damping_forward="10 N*m*s/rad",
                                           damping_backward="40 N*m*s/rad")
        run = driven(damper, f"{speed} rad/s").simulate("1 s")
        assert_allclose(values(run, "part.t", "N*m"), torque, rtol=1e-14)
        assert_allclose(values(run, "part.power_dissipated", "W"), torque * speed, rtol=1e-14)


def test_a_table_damper_follows_its_points_and_its_end_segments():
    points = {"speeds": quantity([-1, 0, 0.5, 1], "rad/s"),
              "torques": quantity([-4, 0, 5, 6], "N*m")}
    for speed, torque in ((-2, -8), (-0.5, -2), (0.25, 2.5), (0.75, 5.5), (3, 10)):
        damper = RotationalNonlinearDamper(law="table", **points)
        run = driven(damper, f"{speed} rad/s").simulate("1 s")
        assert_allclose(values(run, "part.t", "N*m"), torque, rtol=1e-13)


def test_a_polynomial_damper_is_the_same_both_ways():
    law = {"law": "polynomial", "coefficients": quantity([2, 0.5, 3], "N*m*s/rad")}
    for speed, torque in ((2, 2 * (2 + 0.5 * 2 + 3 * 4)), (-2, -2 * (2 + 0.5 * 2 + 3 * 4))):
        run = driven(RotationalNonlinearDamper(**law), f"{speed} rad/s").simulate("1 s")
        assert_allclose(values(run, "part.t", "N*m"), torque, rtol=1e-13)


def test_a_spring_damper_adds_spring_damper_and_preload():
    part = RotationalSpringDamper(stiffness="500 N*m/rad", damping="20 N*m*s/rad",
                                  preload="3 N*m", phi="0.02 rad")  # fmt: skip
    run = driven(part, ramp("0.5 rad/s^2")).simulate("2 s", **TIGHT)
    t = seconds(run)
    exact = 3 + 500 * (0.02 + 0.25 * t**2) + 20 * 0.5 * t
    assert_allclose(values(run, "part.t", "N*m"), exact, rtol=1e-11)


def test_an_inerter_resists_relative_acceleration():
    source = AngularAccelerationSource(acceleration="2 rad/s^2")
    run = driven(RotationalInerter(inertance="3 kg*m^2"), source=source).simulate("1 s", **TIGHT)
    assert_allclose(values(run, "part.t", "N*m"), 6.0, rtol=1e-12)
    assert_allclose(values(run, "part.energy_stored", "J", [1.0]), 3 * 2**2 / 2, rtol=1e-11)


def test_a_fan_slows_an_inertia_hyperbolically():
    fan = QuadraticSpeedDependentTorque(nominal_torque="8 N*m", nominal_speed="2 rad/s")
    run = spun(fan, velocity="5 rad/s").simulate("4 s", **TIGHT)
    # 2 dw/dt = -2 w²
    assert_allclose(values(run, "body.w", "rad/s"), 5 / (1 + 5 * seconds(run)), rtol=1e-10)


def test_a_fan_blows_backwards_with_the_opposite_torque():
    fan = QuadraticSpeedDependentTorque(nominal_torque="8 N*m", nominal_speed="2 rad/s")
    run = driven(fan, "-3 rad/s").simulate("1 s")
    assert_allclose(values(run, "part.t", "N*m"), -18.0)
    assert_allclose(values(run, "part.power_dissipated", "W"), 54.0)


@pytest.mark.parametrize(
    "part", [RotationalSpring(), RotationalDamper(), RotationalNonlinearDamper(),
             RotationalSpringDamper(), RotationalInerter()],
    ids=lambda p: type(p).__name__,
)  # fmt: skip
def test_a_passive_part_brakes_the_body_at_r_and_drags_the_one_at_c(part):
    source = AngularAccelerationSource(acceleration="1 rad/s^2")
    run = driven(part, source=source).simulate("1 s")
    t = values(run, "part.t", "N*m")[1:]
    assert np.all(t > 0)
    assert_allclose(values(run, "part.R.t", "N*m")[1:], t)  # into the part at R
    assert_allclose(values(run, "part.C.t", "N*m")[1:], -t)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Inertia(inertia="0 kg*m^2"), "inertia"),
        (lambda: RotationalSpring(stiffness="-1 N*m/rad"), "stiffness"),
        (lambda: RotationalDamper(damping="-1 N*m*s/rad"), "damping"),
        (lambda: RotationalInerter(inertance="0 kg*m^2"), "inertance"),
    ],
)
def test_values_that_no_part_can_have_are_refused_by_name(make, name):
    with pytest.raises(ParameterError, match=name):
        make()


def test_a_stiffness_given_to_a_damper_is_answered_with_the_right_part():
    with pytest.raises(WrongDimension, match="RotationalSpring"):
        RotationalDamper(damping="100 N*m/rad")
    with pytest.raises(WrongDimension, match="RotationalDamper"):
        RotationalSpring(stiffness="100 N*m*s/rad")


def test_a_force_given_as_a_torque_is_refused():
    with pytest.raises(WrongDimension, match="torque"):
        TorqueSource(torque="10 N")


def test_a_table_that_does_not_increase_is_refused_by_name():
    spring = RotationalSpring(law="table", deformations=quantity([0, 1, 1], "rad"),
                              torques=quantity([0, 1, 2], "N*m"))  # fmt: skip
    with pytest.raises(BlocksError, match=r"part.*deformations must be .*strictly increasing"):
        driven(spring, "1 rad/s").simulate("1 s")
