"""Friction laws against published numbers."""

from __future__ import annotations

import numpy as np
import pytest
from benches import seconds, signal, values
from benches.translational import driven, thrown
from numpy.testing import assert_allclose

from blocks import quantity
from blocks.exceptions import BlocksError, ParameterError
from library.translational import RollingResistance, TranslationalFriction, table

STEEL = {"breakaway_force": "15 N", "coulomb_force": "10 N", "breakaway_velocity": "0.01 m/s",
         "viscous_coefficient": "5 N*s/m"}  # fmt: skip

# F at v/v_brk for STEEL, made with an independent program from the formula published for
# Simscape's Translational Friction block
PUBLISHED = {
    0.01: 1.0796118880844312,
    0.1: 8.4411906790861709,
    0.2: 11.266350202951062,
    0.5: 13.661570579171455,
    1: 15.049999958776928,
    2: 12.331301601484298,
    5: 10.250153605308833,
    100: 15.0,
}
SLOPE_AT_REST = 10829.360635350064
PEAK = (1.0050127009335089, 15.050125172614819)  # v/v_brk and N


def force(v, **parameters):
    """Friction force of a model whose source runs at the given velocities."""
    v = np.atleast_1d(v)
    span = np.ptp(v) + 1e-12
    friction = TranslationalFriction(**parameters)
    start = v.min()
    run = driven(friction, lambda t: quantity(start, "m/s") + quantity("1 m/s^2") * t).simulate(
        quantity(span * 1.001, "s")
    )
    return values(run, "part.f", "N", v - start)


@pytest.mark.parametrize("ratio", PUBLISHED)
def test_friction_at_a_velocity_is_the_published_number(ratio):
    v = ratio * 0.01
    run = driven(TranslationalFriction(**STEEL), quantity(v, "m/s")).simulate("1 s")
    assert_allclose(values(run, "part.f", "N"), PUBLISHED[ratio], rtol=1e-13)
    assert_allclose(values(run, "source.f", "N"), -PUBLISHED[ratio], rtol=1e-13)


@pytest.mark.parametrize("ratio", PUBLISHED)
def test_friction_against_the_motion_has_the_same_size(ratio):
    run = driven(TranslationalFriction(**STEEL), quantity(-0.01 * ratio, "m/s")).simulate("1 s")
    assert_allclose(values(run, "part.f", "N"), -PUBLISHED[ratio], rtol=1e-13)


def test_friction_at_rest_is_a_damper_of_the_published_coefficient():
    v = 1e-10
    assert_allclose(force([-v, v], **STEEL) / [-v, v], SLOPE_AT_REST, rtol=1e-11)
    assert_allclose(force(v, **STEEL) / v, SLOPE_AT_REST, rtol=1e-13)


def test_the_largest_friction_is_at_the_published_velocity():
    u = PEAK[0] * (1 + 0.01 * np.linspace(-1, 1, 13))
    curve = np.polynomial.Chebyshev.fit(u, force(0.01 * u, **STEEL), 12)
    (top,) = (r.real for r in curve.deriv().roots() if abs(r.imag) < 1e-9 and u[0] < r.real < u[-1])
    assert_allclose(top, PEAK[0], rtol=1e-9)
    assert_allclose(force(0.01 * PEAK[0], **STEEL), PEAK[1], rtol=1e-13)


def test_friction_with_default_values_grows_all_the_way():
    assert_allclose(force([0.1, 1.0]), [34.999999917553855, 120.0], rtol=1e-13)
    assert np.all(np.diff(force(np.linspace(0, 1, 400))) > 0)


def test_friction_without_viscous_part_peaks_just_above_the_breakaway_velocity():
    u = 1.00000016489 + 2e-2 * np.linspace(-1, 1, 13)
    curve = np.polynomial.Chebyshev.fit(u, force(0.1 * u, viscous_coefficient="0 N*s/m"), 12)
    (top,) = (r.real for r in curve.deriv().roots() if abs(r.imag) < 1e-9 and u[0] < r.real < u[-1])
    assert_allclose(top, 1.00000016489, rtol=1e-9)
    assert_allclose(curve(top), 24.999999917553991, rtol=1e-13)


def test_friction_only_ever_dissipates():
    motion = table(["0 s", "2 s"], ["-0.1 m/s", "0.1 m/s"])
    run = driven(TranslationalFriction(**STEEL), motion).simulate("2 s")
    power = values(run, "part.power_dissipated", "W")
    assert np.all(power >= 0)
    assert_allclose(power, values(run, "part.f", "N") * values(run, "part.v", "m/s"), rtol=1e-14)


def test_a_breakaway_force_below_the_coulomb_force_is_refused_by_name():
    model = driven(TranslationalFriction(breakaway_force="19 N", coulomb_force="20 N"), "1 m/s")
    with pytest.raises(BlocksError) as error:
        model.simulate("1 s")
    for word in ("part", "breakaway_force", "19", "coulomb_force", "20"):
        assert word in str(error.value)


def test_a_breakaway_force_equal_to_the_coulomb_force_is_allowed():
    run = driven(
        TranslationalFriction(breakaway_force="20 N", viscous_coefficient="0 N*s/m"), "9 m/s"
    )
    assert_allclose(values(run.simulate("1 s"), "part.f", "N"), 20.0, rtol=1e-13)


@pytest.mark.parametrize(
    "wrong",
    [
        {"viscous_coefficient": "-1 N*s/m"},
        {"coulomb_force": "-1 N"},
        {"breakaway_velocity": "0 m/s"},
    ],
)
def test_friction_that_could_drive_is_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        TranslationalFriction(**wrong)


def test_a_mistyped_friction_law_is_answered_with_the_right_one():
    with pytest.raises(BlocksError, match="simscape"):
        TranslationalFriction(law="simscpae")


# -- rolling ------------------------------------------------------------------------------


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
