"""Stops and contacts: their force laws and what becomes of a body that hits them."""

import numpy as np
import pytest
from benches import values
from benches.translational import driven, thrown
from numpy.testing import assert_allclose

from blocks import quantity, sin
from library.translational import ElastoGap, FrictionRing, PositionDependentSupport, PositionSource

TIGHT = {"rtol": 1e-11, "method": "DOP853"}


def sweep(part, start, velocity, end):
    """(x, f) while R moves at constant velocity from start to end, in m and N."""
    part.x = quantity(start, "m")
    run = driven(part, quantity(velocity, "m/s")).simulate(
        quantity((end - start) / velocity, "s"), **TIGHT
    )
    return values(run, "part.x", "m"), values(run, "part.f", "N")


def test_a_gap_stores_the_work_of_its_elastic_force():
    gap = ElastoGap(stiffness="1 kN/m", damping="20 N*s/m", free_length="30 mm", x="10 mm")
    run = driven(gap, "0 m/s").simulate("1 s")
    assert_allclose(values(run, "part.energy_stored", "J"), 1e3 * 0.02**2 / 2, rtol=1e-12)


# -- contact that pushes only ----------------------------------------------------------------


@pytest.mark.parametrize("velocity", [0.5, -0.5])
def test_a_gap_pushes_with_a_damping_force_that_never_exceeds_the_elastic_one(velocity):
    gap = ElastoGap(stiffness="1 kN/m", damping="20 N*s/m", free_length="30 mm")
    ends = (0.0, 0.05) if velocity > 0 else (0.05, 0.0)
    x, f = sweep(gap, ends[0], velocity, ends[1])
    elastic = -1e3 * (0.03 - x)
    exact = np.where(x < 0.03, elastic + np.clip(20 * velocity, elastic, -elastic), 0.0)
    assert_allclose(f, exact, atol=1e-9)
    assert np.all(f <= 1e-12)


def test_a_body_rests_on_a_gap_where_weight_and_stiffness_balance():
    gap = ElastoGap(stiffness="1 kN/m", damping="100 N*s/m", x="5 cm")
    run = thrown(gap, mass="2 kg", velocity="0 m/s", force="-20 N").simulate("3 s", rtol=1e-9)
    assert_allclose(values(run, "part.x", "m", [3.0]), -0.02, rtol=1e-7)
    assert_allclose(values(run, "part.f", "N", [3.0]), -20.0, rtol=1e-7)


# -- supports -----------------------------------------------------------------------------------


def test_a_position_dependent_support_interpolates_force_and_damping():
    support = PositionDependentSupport(
        positions=quantity([-1, 0, 2], "cm"), forces=quantity([3, 0, 8], "N"),
        dampings=quantity([10, 10, 30], "N*s/m"),
    )  # fmt: skip
    x, f = sweep(support, -0.02, 0.1, 0.03)
    force = np.interp(x, [-0.02, -0.01, 0, 0.02, 0.03], [6, 3, 0, 8, 12])
    damping = np.interp(x, [-0.01, 0, 0.02], [10, 10, 30])
    assert_allclose(f, force + 0.1 * damping, atol=1e-9)


def test_a_friction_ring_loads_on_one_line_and_unloads_on_another():
    k, preload, ring, amplitude = 1000.0, 50.0, 8.0, 0.02
    press = PositionSource(position=lambda t: quantity(amplitude, "m") * sin(t * quantity("1 1/s")))
    part = FrictionRing(stiffness="1 kN/m", preload="50 N", ring_friction="8 N")
    run = driven(part, source=press).simulate(f"{2 * np.pi} s", rtol=1e-10)
    for t in (0.7, 2.4, 4.0, 5.9):
        x = amplitude * np.sin(t)
        expected = preload + k * x + ring * np.sign(np.cos(t))
        assert_allclose(run["part.f"].at(f"{t} s").to("N").m, expected, rtol=1e-9)
    assert_allclose(run.energy()["part"].dissipated, 4 * ring * amplitude, rtol=1e-9)
