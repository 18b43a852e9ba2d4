"""Elastic stops, along an axis and about one: their law of force, and what it does to a body."""

import numpy as np
import pytest
from benches.axis import ROTATIONAL, TRANSLATIONAL
from numpy.testing import assert_allclose
from scipy.integrate import quad

from blocks.exceptions import BlocksError

TIGHT = {"rtol": 1e-11, "method": "DOP853"}
BOUNDS = {"upper_bound": 0.02, "lower_bound": -0.01}
CONTACT = {"upper_stiffness": 2e3, "lower_stiffness": 3e3, "upper_damping": 40, "lower_damping": 50}
MASS = 2.0  # of what is thrown with a velocity of 1


@pytest.fixture(params=[TRANSLATIONAL, ROTATIONAL], ids=str)
def axis(request):
    return request.param


def rises(p, transition):
    """The part of an elastic force that is there at a depth."""
    share = np.clip(p / transition, 0, 1) if transition else 1.0
    return 3 * share**2 - 2 * share**3


@pytest.mark.parametrize("velocity", [0.1, -0.1])
@pytest.mark.parametrize("model", ["full", "undamped rebound", "smooth"])
def test_the_stop_force_follows_the_published_law(axis, model, velocity):
    width = {"transition": 0.002} if model == "smooth" else {}
    start = -0.02 if velocity > 0 else 0.03
    stop = axis("HardStop", model=model, x=start, **BOUNDS, **CONTACT, **width)
    run = axis.driven(stop, velocity).simulate("0.5 s", **TIGHT)
    x, f = axis.read(run, "part.x"), axis.read(run, "part.f")
    up, low, v_up, v_low = x - 0.02, -0.01 - x, velocity, -velocity  # how deep, how fast
    if model == "undamped rebound":
        v_up, v_low = max(v_up, 0), max(v_low, 0)
    rise = width.get("transition", 0.0)
    exact = np.where(up > 0, rises(up, rise) * (2e3 * up + 40 * v_up), 0) - np.where(
        low > 0, rises(low, rise) * (3e3 * low + 50 * v_low), 0)
    some = np.all([np.abs(x - bound) > 1e-9 for bound in (0.02, -0.01)], axis=0)  # no jump there
    assert some.sum() > 100
    assert_allclose(f[some], exact[some], atol=1e-8)


def test_a_body_between_the_bounds_flies_freely(axis):
    run = axis.thrown(axis("HardStop", upper_bound=1, lower_bound=-1)).simulate("0.9 s", **TIGHT)
    assert_allclose(axis.read(run, "part.f"), 0.0, atol=0)
    assert not len(run.events)


def test_an_undamped_stop_returns_the_body_after_half_a_period(axis):
    stop = axis("HardStop", model="full", **BOUNDS, upper_stiffness=2e3, upper_damping=0)
    run = axis.thrown(stop).simulate("0.2 s", **TIGHT)
    hit, omega = 0.02, np.sqrt(2e3 / MASS)
    leave = hit + np.pi / omega
    within = np.linspace(hit, leave, 20)
    assert_allclose(axis.read(run, "part.x", within),
                    hit + np.sin(omega * (within - hit)) / omega, atol=1e-10)  # fmt: skip
    assert_allclose(axis.read(run, "body.v", [leave + 1e-3]), -1, rtol=1e-8)
    assert_allclose([e.time for e in run.events][:2], [hit, leave], rtol=1e-9)


@pytest.mark.parametrize("model", ["full", "undamped rebound"])
def test_damping_at_contact_sets_the_restitution(axis, model):
    """A damped oscillator returns to the bound after half a damped period; undamped on the way
    back, a body has the speed that its stop stores at the turning point."""
    k, decay = 2e3, 40 / (2 * MASS)
    stop = axis("HardStop", model=model, **BOUNDS, upper_stiffness=k, upper_damping=40)
    run = axis.thrown(stop).simulate("0.15 s", **TIGHT)
    omega = np.sqrt(k / MASS - decay**2)
    turn = np.arctan2(omega, decay) / omega
    depth = np.exp(-decay * turn) * np.sin(omega * turn) / omega
    back, speed = (np.pi / omega, np.exp(-decay * np.pi / omega)) if model == "full" else (
        turn + np.pi / 2 * np.sqrt(MASS / k), depth * np.sqrt(k / MASS))
    assert_allclose(axis.read(run, "body.v", [0.02 + back + 1e-3]), -speed, rtol=1e-7)


def test_the_lower_stop_mirrors_the_upper_one(axis):
    up, down = (axis.thrown(axis("HardStop", upper_bound=0.02, lower_bound=-0.02), velocity=v
                            ).simulate("0.05 s", **TIGHT) for v in (1, -1))  # fmt: skip
    at = np.linspace(0, 0.05, 101)
    assert axis.read(up, "body.v", [0.05]) < 0
    assert_allclose(axis.read(down, "part.x", at), -axis.read(up, "part.x", at), atol=1e-9)


def test_bounds_in_the_wrong_order_are_refused_by_name(axis):
    with pytest.raises(BlocksError, match=r"part.*upper_bound.*lower_bound"):
        axis.thrown(axis("HardStop", upper_bound=-0.01, lower_bound=0.01)).simulate("1 s")


@pytest.mark.parametrize(("model", "width"), [
    ("full", {}), ("undamped rebound", {}), ("smooth", {"transition": 0.002}),
    ("smooth", {"transition": 1e200})])  # whose square overflows
@pytest.mark.parametrize("depth", [1e-3, 2e-3, 8e-3])  # within, at and beyond the transition
def test_a_stop_stores_the_work_of_its_elastic_force(axis, model, width, depth):
    stop = axis("HardStop", model=model, **{**BOUNDS, "lower_bound": -1}, **CONTACT, **width,
                x=0.02 + depth)
    run = axis.driven(stop, 0).simulate("1 s")
    work = quad(lambda p: 2e3 * p * rises(p, width.get("transition", 0.0)), 0, depth,
                points=[2e-3])[0]
    assert_allclose(axis.read(run, "part.energy_stored"), work, rtol=1e-10)
