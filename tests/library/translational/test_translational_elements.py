"""One closed form for every body, spring, damper and link."""

from __future__ import annotations

import numpy as np
import pytest
from benches import seconds, values
from benches.translational import driven, thrown
from numpy.testing import assert_allclose

from blocks import Model, quantity
from blocks.exceptions import BlocksError, ParameterError, WrongDimension
from library.translational import (
    AccelerationSource,
    Damper,
    ForceSource,
    FreeEnd,
    Inerter,
    Mass,
    NonlinearDamper,
    QuadraticSpeedDependentForce,
    Reference,
    Rod,
    Spring,
    SpringDamper,
    VelocitySource,
)

TIGHT = {"rtol": 1e-12, "method": "DOP853"}


def ramp(slope):
    """v = slope t, to sweep through velocities."""
    return lambda t: quantity(slope) * t


def test_a_constant_force_accelerates_a_mass_uniformly():
    model = Model("push")
    model.body = Mass(mass="4 kg", v="1 m/s")
    model.push = ForceSource(force="10 N")
    model.ground = Reference()
    model.connect(model.push.R, model.body.M)
    model.connect(model.push.C, model.ground.V)
    run = model.simulate("3 s", **TIGHT)
    assert_allclose(values(run, "body.v", "m/s"), 1 + 2.5 * seconds(run), rtol=1e-11)
    assert_allclose(values(run, "body.f", "N"), 10.0)
    assert_allclose(values(run, "body.energy_stored", "J", [3.0]), 4 * 8.5**2 / 2, rtol=1e-11)
    assert_allclose(values(run, "ground.V.f", "N"), -10.0)  # the source pushes itself off


def test_the_reference_takes_the_force_of_a_stretched_spring():
    model = driven(Spring(stiffness="2 N/mm", x="5 mm"), "0 m/s")
    run = model.simulate("1 s")
    assert_allclose(values(run, "part.f", "N"), 10.0)
    # the spring pulls the reference along with R, the source carries the force back
    assert_allclose(values(run, "part.C.f", "N"), -10.0)
    assert_allclose(values(run, "source.C.f", "N"), 10.0)
    assert_allclose(values(run, "ground.V.f", "N"), 0.0, atol=1e-12)


def test_a_free_end_takes_no_force_and_moves_with_the_spring_it_hangs_on():
    model = Model("free")
    model.source = VelocitySource(velocity="0.3 m/s")
    model.spring = Spring(x="0 m")
    model.end = FreeEnd()
    model.ground = Reference()
    model.connect(model.source.R, model.spring.R)
    model.connect(model.source.C, model.ground.V)
    model.connect(model.spring.C, model.end.V)
    run = model.simulate("1 s")
    assert_allclose(values(run, "spring.f", "N"), 0.0, atol=1e-12)
    assert_allclose(values(run, "end.v", "m/s"), 0.3)


def test_a_spring_force_grows_with_deformation_from_its_preload():
    run = driven(Spring(stiffness="3 N/mm", preload="4 N", x="-1 mm"), "2 mm/s").simulate(
        "3 s", **TIGHT
    )
    x = -1e-3 + 2e-3 * seconds(run)
    assert_allclose(values(run, "part.x", "m"), x, atol=1e-15)
    assert_allclose(values(run, "part.f", "N"), 4 + 3e3 * x, rtol=1e-11)
    assert_allclose(values(run, "part.energy_stored", "J"), 4 * x + 3e3 * x**2 / 2, atol=1e-13)


def test_a_table_spring_follows_its_table_and_continues_its_ends():
    spring = Spring(law="table", deformations=quantity([-1, 0, 1, 2], "mm"),
                    forces=quantity([-2, 0, 2, 8], "N"), x="-3 mm")  # fmt: skip
    run = driven(spring, "1 mm/s").simulate("6 s", **TIGHT)
    at = np.array([0.0, 1.0, 2.5, 3.0, 3.25, 4.5, 5.0, 6.0])
    assert_allclose(values(run, "part.f", "N", at), [-6, -4, -1, 0, 0.5, 5, 8, 14], atol=1e-10)
    # areas under the table from 0, in N mm
    area = [9, 4, 0.25, 0, 0.0625, 1 + (2 + 5) / 4, 1 + 5, 1 + 5 + 11]
    assert_allclose(values(run, "part.energy_stored", "mJ", at), area, atol=1e-9)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"deformations": quantity([0, 2, 1], "mm"), "forces": quantity([0, 1, 2], "N")},
            "increasing",
        ),
        ({"deformations": quantity([0, 1, 2], "mm"), "forces": quantity([0, 1], "N")}, "as many"),
    ],
)
def test_a_table_that_is_no_function_is_refused_by_name(changes, text):
    model = driven(Spring(law="table", **changes), "0 m/s")
    with pytest.raises(BlocksError, match=text) as error:
        model.simulate("1 s")
    assert "part" in str(error.value)
    assert "deformations" in str(error.value)


def test_a_damper_carries_its_coefficient_times_velocity():
    run = driven(Damper(damping="30 N*s/m"), ramp("1 m/s^2")).simulate("2 s")
    v = seconds(run)
    assert_allclose(values(run, "part.f", "N"), 30 * v, rtol=1e-14)
    assert_allclose(values(run, "part.power_dissipated", "W"), 30 * v**2, rtol=1e-14)


def test_an_asymmetric_damper_has_a_coefficient_for_each_direction():
    damper = NonlinearDamper(damping_forward="10 N*s/m", damping_backward="40 N*s/m")
    run = driven(damper, lambda t: quantity("1 m/s^2") * t - quantity("1 m/s")).simulate("3 s")
    v = seconds(run) - 1
    assert_allclose(values(run, "part.f", "N"), np.where(v > 0, 10 * v, 40 * v), atol=1e-13)


def test_a_table_damper_follows_its_table():
    damper = NonlinearDamper(law="table", velocities=quantity([-1, 0, 0.5, 1], "m/s"),
                             forces=quantity([-100, 0, 20, 30], "N"))  # fmt: skip
    run = driven(damper, lambda t: quantity("1 m/s^2") * t - quantity("2 m/s")).simulate("4 s")
    v = values(run, "part.v", "m/s")
    exact = np.interp(v, [-2, -1, 0, 0.5, 2], [-200, -100, 0, 20, 50])
    assert_allclose(values(run, "part.f", "N"), exact, atol=1e-12)


def test_drag_slows_a_mass_hyperbolically():
    drag = QuadraticSpeedDependentForce(nominal_force="8 N", nominal_velocity="2 m/s")
    run = thrown(drag, mass="2 kg", velocity="5 m/s").simulate("4 s", method="DOP853", rtol=1e-11)
    # 2 dv/dt = -2 v²
    assert_allclose(values(run, "body.v", "m/s"), 5 / (1 + 5 * seconds(run)), rtol=1e-9)


def test_drag_against_the_motion_backwards_has_the_opposite_force():
    drag = QuadraticSpeedDependentForce(nominal_force="8 N", nominal_velocity="2 m/s")
    run = driven(drag, "-3 m/s").simulate("1 s")
    assert_allclose(values(run, "part.f", "N"), -18.0)
    assert_allclose(values(run, "part.power_dissipated", "W"), 54.0)


def test_a_spring_damper_adds_spring_damper_and_preload():
    part = SpringDamper(stiffness="500 N/m", damping="20 N*s/m", preload="3 N", x="2 cm")
    run = driven(part, ramp("0.5 m/s^2")).simulate("2 s", **TIGHT)
    t = seconds(run)
    exact = 3 + 500 * (0.02 + 0.25 * t**2) + 20 * 0.5 * t
    assert_allclose(values(run, "part.f", "N"), exact, rtol=1e-11)


def test_an_inerter_resists_relative_acceleration():
    model = driven(Inerter(inertance="3 kg"), source=AccelerationSource(acceleration="2 m/s^2"))
    run = model.simulate("1 s", **TIGHT)
    assert_allclose(values(run, "part.f", "N"), 6.0, rtol=1e-12)
    assert_allclose(values(run, "part.energy_stored", "J", [1.0]), 3 * 2**2 / 2, rtol=1e-11)


def test_an_inerter_between_two_masses_adds_to_their_mass_matrix():
    model = Model("pair")
    model.a, model.b = Mass(mass="1 kg"), Mass(mass="2 kg")
    model.inerter = Inerter(inertance="3 kg")
    model.push = ForceSource(force="11 N")
    model.ground = Reference()
    model.connect(model.a.M, model.inerter.R, model.push.R)
    model.connect(model.b.M, model.inerter.C)
    model.connect(model.push.C, model.ground.V)
    run = model.simulate("1 s", **TIGHT)
    exact = np.linalg.solve([[1 + 3, -3], [-3, 2 + 3]], [11, 0])
    assert_allclose(values(run, "a.v", "m/s", [1.0]), exact[0], rtol=1e-11)
    assert_allclose(values(run, "b.v", "m/s", [1.0]), exact[1], rtol=1e-11)


def test_a_rod_moves_both_ends_alike_and_shows_the_force_between_them():
    model = Model("train")
    model.engine, model.wagon = Mass(mass="3 kg"), Mass(mass="2 kg")
    model.rod = Rod()
    model.push = ForceSource(force="10 N")
    model.ground = Reference()
    model.connect(model.push.R, model.engine.M, model.rod.R)
    model.connect(model.rod.C, model.wagon.M)
    model.connect(model.push.C, model.ground.V)
    run = model.simulate("1 s", **TIGHT)
    assert_allclose(values(run, "wagon.v", "m/s", [1.0]), 2.0, rtol=1e-11)
    assert_allclose(values(run, "rod.f", "N"), 4.0, rtol=1e-11)  # pushes the 2 kg at 2 m/s²


@pytest.mark.parametrize(
    "part", [Spring(), Damper(), NonlinearDamper(), SpringDamper(), Inerter()],
    ids=lambda p: type(p).__name__,
)  # fmt: skip
def test_a_passive_part_brakes_the_body_at_r_and_drags_the_one_at_c(part):
    source = AccelerationSource(acceleration="1 m/s^2")
    run = driven(part, source=source).simulate("1 s")
    f = values(run, "part.f", "N")[1:]
    assert np.all(f > 0)
    assert_allclose(values(run, "part.R.f", "N")[1:], f)  # into the part at R
    assert_allclose(values(run, "part.C.f", "N")[1:], -f)


def test_a_damper_stops_a_mass_exponentially():
    run = thrown(Damper(damping="3 N*s/m"), mass="2 kg", velocity="5 m/s").simulate("4 s", **TIGHT)
    assert_allclose(values(run, "body.v", "m/s"), 5 * np.exp(-1.5 * seconds(run)), rtol=1e-10)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Mass(mass="0 kg"), "mass"),
        (lambda: Spring(stiffness="-1 N/m"), "stiffness"),
        (lambda: Damper(damping="-1 N*s/m"), "damping"),
        (lambda: Inerter(inertance="0 kg"), "inertance"),
    ],
)
def test_values_that_no_part_can_have_are_refused_by_name(make, name):
    with pytest.raises(ParameterError, match=name):
        make()


def test_a_stiffness_given_to_a_damper_is_answered_with_the_right_part():
    with pytest.raises(WrongDimension, match="Spring"):
        Damper(damping="100 N/m")
    with pytest.raises(WrongDimension, match="Damper"):
        Spring(stiffness="100 N*s/m")
