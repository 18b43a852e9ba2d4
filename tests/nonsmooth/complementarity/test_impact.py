"""Impacts, and Moreau-Jean steps with bouncing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from blocks.nonsmooth.complementarity import sequential_impact


def row_of_balls(masses):
    """Delassus matrix and velocity map of balls in a row; contact i is v_i - v_(i+1)."""
    n = len(masses)
    W = np.zeros((n - 1, n))
    W[np.arange(n - 1), np.arange(n - 1)] = 1.0
    W[np.arange(n - 1), np.arange(1, n)] = -1.0
    inverse = np.diag(1 / np.asarray(masses, dtype=float))
    return W, inverse, W @ inverse @ W.T


def velocities(W, inverse, before, impulse):
    return before - inverse @ W.T @ impulse


@pytest.mark.parametrize("struck", [1, 2, 3, 4])
def test_newtons_cradle_sends_out_as_many_balls_as_come_in(struck):
    W, inverse, D = row_of_balls(np.ones(5))
    before = np.array([1.0] * struck + [0.0] * (5 - struck))
    out = sequential_impact(D, W @ before, 1.0)
    after = velocities(W, inverse, before, out.impulse)
    assert_allclose(after, [0.0] * (5 - struck) + [1.0] * struck, atol=1e-15)
    assert out.converged
    assert out.collisions == struck * (5 - struck)
    assert out.energy_loss == pytest.approx(0.0, abs=1e-15)


def test_cradle_struck_from_both_ends_stays_symmetric():
    W, inverse, D = row_of_balls(np.ones(5))
    before = np.array([1.0, 0, 0, 0, -1.0])
    out = sequential_impact(D, W @ before, 1.0)
    assert_allclose(velocities(W, inverse, before, out.impulse), [-1, 0, 0, 0, 1], atol=1e-14)


@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
def test_single_impact_follows_newton(e):
    mass, speed = 0.5, 3.0
    out = sequential_impact([[1 / mass]], [speed], e)
    assert out.flow[0] == pytest.approx(-e * speed)
    assert out.impulse[0] == pytest.approx(mass * (1 + e) * speed)
    assert out.energy_loss == pytest.approx(0.5 * mass * speed**2 * (1 - e**2))


def test_separating_contacts_get_no_impulse():
    out = sequential_impact([[1.0, 0.2], [0.2, 1.0]], [-1.0, -0.5], 0.8)
    assert_allclose(out.impulse, 0.0)
    assert_allclose(out.flow, [-1.0, -0.5])


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 6), st.sampled_from([0.0, 0.5, 0.9, 1.0]))
def test_no_impact_gains_energy_or_leaves_an_approach(seed, n, e):
    rng = np.random.default_rng(seed)
    W, inverse, D = row_of_balls(rng.uniform(0.2, 3, n + 1))
    before = rng.normal(size=n + 1)
    out = sequential_impact(D, W @ before, e)
    after = velocities(W, inverse, before, out.impulse)
    kinetic = 0.5 * np.array([before @ (before / np.diag(inverse)), after @ (
        after / np.diag(inverse))])  # fmt: skip
    assert out.converged
    assert np.all(out.impulse >= 0)
    assert np.all(W @ after <= 1e-10)
    assert_allclose(W @ after, out.flow, atol=1e-10)
    assert out.energy_loss == pytest.approx(kinetic[0] - kinetic[1], abs=1e-10)
    assert out.energy_loss >= -1e-12
    assert np.sum(after / np.diag(inverse)) == pytest.approx(
        np.sum(before / np.diag(inverse)), abs=1e-10
    )


def test_collapsing_sequence_is_cut_and_ends_without_approach():
    _, _, D = row_of_balls(np.ones(4))
    out = sequential_impact(D, [1.0, 0.0, -0.01], 0.05, limit=50)
    assert out.converged
    assert out.restitution_used in (0.0, 1.0)
    assert np.all(out.flow <= 1e-12)
    tight = sequential_impact(D, [1.0, 0.5, 0.2], 0.05, limit=2)
    assert tight.restitution_used == 0.0
    assert tight.collisions <= 3
    assert np.all(tight.flow <= 1e-12)


def test_impact_against_an_immovable_path_is_reported():
    out = sequential_impact([[0.0]], [1.0], 0.5)
    assert not out.converged


def test_restitution_outside_zero_to_one_is_refused():
    with pytest.raises(ValueError, match=r"restitution 1 must be in 0 .. 1 \(got 1.5\)"):
        sequential_impact(np.eye(2), [1.0, 1.0], [0.5, 1.5])
