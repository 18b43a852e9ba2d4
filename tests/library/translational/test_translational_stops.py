"""Stops and contacts: their force laws and what becomes of a body that hits them."""

from __future__ import annotations

import numpy as np
import pytest
from benches import values
from benches.translational import driven, thrown
from numpy.testing import assert_allclose
from scipy.integrate import quad

from blocks import quantity
from blocks.exceptions import BlocksError
from library.translational import ElastoGap, HardStop, PositionDependentSupport

TIGHT = {"rtol": 1e-11, "method": "DOP853"}
BOUNDS = {"upper_bound": "20 mm", "lower_bound": "-10 mm"}
CONTACT = {"upper_stiffness": "2 kN/m", "lower_stiffness": "3 kN/m",
           "upper_damping": "40 N*s/m", "lower_damping": "50 N*s/m"}  # fmt: skip


def sweep(part, start, velocity, end):
    """(x, f) while R moves at constant velocity from start to end, in m and N."""
    part.x = quantity(start, "m")
    run = driven(part, quantity(velocity, "m/s")).simulate(
        quantity((end - start) / velocity, "s"), **TIGHT
    )
    return values(run, "part.x", "m"), values(run, "part.f", "N")


def away_from(x, *places):
    """Samples that are not within rounding of a place where the law jumps."""
    return np.all([np.abs(x - p) > 1e-9 for p in places], axis=0)


@pytest.mark.parametrize("velocity", [0.1, -0.1])
@pytest.mark.parametrize("model", ["full", "undamped rebound", "smooth"])
def test_the_stop_force_follows_the_published_law(model, velocity):
    width = {"transition": "2 mm"} if model == "smooth" else {}
    ends = (-0.02, 0.03) if velocity > 0 else (0.03, -0.02)
    stop = HardStop(model=model, **BOUNDS, **CONTACT, **width)
    x, f = sweep(stop, ends[0], velocity, ends[1])

    up, low = x - 0.02, -0.01 - x  # penetrations
    v_up, v_low = velocity, -velocity
    if model == "undamped rebound":
        v_up, v_low = max(v_up, 0), max(v_low, 0)
    share_up = share_low = 1.0
    if model == "smooth":
        share_up, share_low = (
            3 * l**2 - 2 * l**3 for l in (np.clip(up / 2e-3, 0, 1), np.clip(low / 2e-3, 0, 1))
        )
    exact = np.where(up > 0, share_up * (2e3 * up + 40 * v_up), 0) - np.where(
        low > 0, share_low * (3e3 * low + 50 * v_low), 0
    )
    some = away_from(x, 0.02, -0.01)
    assert some.sum() > 100
    assert_allclose(f[some], exact[some], atol=1e-8)


def test_a_body_between_the_bounds_flies_freely():
    run = thrown(HardStop(upper_bound="1 m", lower_bound="-1 m")).simulate("0.9 s", **TIGHT)
    assert_allclose(values(run, "part.f", "N"), 0.0, atol=0)
    assert not len(run.events)


def test_an_undamped_stop_returns_the_body_after_half_a_period():
    m, k, v0 = 2.0, 2e3, 1.0
    stop = HardStop(model="full", **BOUNDS, upper_stiffness="2 kN/m", upper_damping="0 N*s/m")
    run = thrown(stop).simulate("0.2 s", **TIGHT)
    hit, contact = 0.02 / v0, np.pi * np.sqrt(m / k)
    deepest = hit + contact / 2
    assert_allclose(values(run, "part.x", "m", [deepest]), 0.02 + v0 * np.sqrt(m / k), rtol=1e-8)
    assert_allclose(values(run, "body.v", "m/s", [hit + contact + 1e-3]), -v0, rtol=1e-8)
    times = [e.time if isinstance(e.time, float) else e.time.to("s").magnitude for e in run.events]
    assert_allclose(times[:2], [hit, hit + contact], rtol=1e-9)


def test_damping_at_full_contact_sets_the_restitution():
    # x of a damped oscillator returns to the bound after half a damped period
    m, k, d = 2.0, 2e3, 40.0
    stop = HardStop(model="full", **BOUNDS, upper_stiffness="2 kN/m", upper_damping="40 N*s/m")
    run = thrown(stop).simulate("0.15 s", **TIGHT)
    decay = d / (2 * m)
    omega = np.sqrt(k / m - decay**2)
    assert_allclose(values(run, "body.v", "m/s", [0.02 + np.pi / omega + 1e-3]),
                    -np.exp(-decay * np.pi / omega), rtol=1e-8)  # fmt: skip


def test_an_undamped_rebound_keeps_half_of_the_restitution_exponent():
    # damped to the turning point, undamped back: the speed is that of the energy stored there
    m, k, d = 2.0, 2e3, 40.0
    stop = HardStop(
        model="undamped rebound", **BOUNDS, upper_stiffness="2 kN/m", upper_damping="40 N*s/m"
    )
    run = thrown(stop).simulate("0.15 s", **TIGHT)
    decay = d / (2 * m)
    omega = np.sqrt(k / m - decay**2)
    turn = np.arctan2(omega, decay) / omega
    depth = np.exp(-decay * turn) * np.sin(omega * turn) / omega
    back = 0.02 + turn + np.pi / 2 * np.sqrt(m / k) + 1e-3
    assert_allclose(values(run, "body.v", "m/s", [back]), -depth * np.sqrt(k / m), rtol=1e-7)


def test_the_lower_stop_mirrors_the_upper_one():
    stop = {"upper_bound": "20 mm", "lower_bound": "-20 mm"}
    up = thrown(HardStop(**stop), velocity="1 m/s").simulate("0.05 s", **TIGHT)
    down = thrown(HardStop(**stop), velocity="-1 m/s").simulate("0.05 s", **TIGHT)
    at = np.linspace(0, 0.05, 101)
    assert values(up, "body.v", "m/s", [0.05]) < 0
    assert_allclose(values(down, "part.x", "m", at), -values(up, "part.x", "m", at), atol=1e-9)


def test_bounds_in_the_wrong_order_are_refused_by_name():
    with pytest.raises(BlocksError, match=r"part.*upper_bound.*lower_bound"):
        thrown(HardStop(upper_bound="-1 cm", lower_bound="1 cm")).simulate("1 s")


@pytest.mark.parametrize("model", ["full", "undamped rebound", "smooth"])
@pytest.mark.parametrize("depth", [1e-3, 2e-3, 8e-3])  # within, at and beyond the transition
def test_a_stop_stores_the_work_of_its_elastic_force(model, depth):
    width = {"transition": "2 mm"} if model == "smooth" else {}
    stop = HardStop(model=model, **BOUNDS, **CONTACT, **width, x=quantity(0.02 + depth, "m"))
    stop.lower_bound = "-1 m"
    run = driven(stop, "0 m/s").simulate("1 s")

    def elastic(p):
        l = min(p / 2e-3, 1) if model == "smooth" else 1
        return 2e3 * p * (3 * l**2 - 2 * l**3)

    work = quad(elastic, 0, depth, points=[2e-3])[0]
    assert_allclose(values(run, "part.energy_stored", "J"), work, rtol=1e-10)


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
