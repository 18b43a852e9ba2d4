"""Boxes whose bounds depend on efforts: contacts with friction as arrays."""

import numpy as np
import pytest
from benches.rigid_bodies import rough
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from blocks.nonsmooth import complementarity
from blocks.nonsmooth.complementarity import (
    Friction,
    Status,
    choose,
    sequential_impact,
    share_of,
    solve,
)

CHECKED = settings(deadline=None, derandomize=True)


def violation(D, b, low, high, L, H, x):
    """Natural residual by its definition, in units of the largest rate."""
    w = b - D @ x
    natural = np.abs(x - np.clip(x + w, low + L @ x, high + H @ x))
    return natural.max() / max(np.abs(b).max(), np.abs(w).max(), 1e-300)


@settings(CHECKED, max_examples=100)
@given(st.integers(1, 5), st.integers(1, 7), st.integers(0, 10**6), st.sampled_from([0, 1, 8]))
def test_bodies_on_rough_contacts_at_rest_always_have_an_answer(count, freedom, seed, digits):
    # as many contacts as one likes on few degrees of freedom: mostly redundant
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(2 * count, freedom)).round(digits)
    D, b = W @ W.T, W @ rng.normal(size=freedom)
    bounds = rough(count, rng.choice([0.0, 0.3, 1.0, 3.0], count))
    found = solve(D, b, *bounds)
    assert found.status is Status.SOLVED
    scale = 1 / np.sqrt(np.where(np.diag(D) > 0, np.diag(D), 1.0))
    equal = scale[:, None] * D * scale, scale * b
    x, (low, high, L, H) = found.effort / scale, bounds
    ratio = scale[None, :] / scale[:, None]
    assert violation(*equal, low, high, L * ratio, H * ratio, x) < 1e-8
    assert np.all(found.effort[::2] >= 0)


@settings(CHECKED, max_examples=100)
@given(st.integers(1, 6), st.integers(0, 10**6))
def test_constant_bounds_are_the_box_problem(n, seed):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n, n))
    D, b, F = W @ W.T + 1e-3 * np.eye(n), 3 * rng.normal(size=n), rng.uniform(0.1, 2, n)
    none = np.zeros((n, n))
    coupled, box = solve(D, b, -F, F, none, none), solve(D, b, -F, F)
    assert_allclose(coupled.rate, box.rate, rtol=0, atol=1e-7 * np.abs(b).max())
    assert np.array_equal(coupled.state, box.state)


@pytest.mark.parametrize("mixed, load, expected", [
    (0.5, 1.0, Status.SOLVED), (2.0, 1.0, Status.NO_SOLUTION),
    (2.0, -1.0, Status.NOT_UNIQUE), (0.5, -1.0, Status.SOLVED)])  # fmt: skip
def test_a_sliding_contact_has_one_answer_while_its_friction_leaves_it_a_positive_mass(
        mixed, load, expected):
    # D_NN = 1, slides backward with mu = 1: effective 1 - mixed
    D = np.array([[1.0, mixed], [mixed, 5.0]])
    low, high, L, H = rough(1, [1.0])
    found = choose(D, np.array([load, 0.0]), np.array(2 * [low, high]), 4 * [L],
                   slides=np.array([0.0, -1.0]), moved=np.zeros(2), near=np.zeros(2),
                   noise=np.zeros(2))
    assert found.status is expected
    if expected is Status.SOLVED:
        assert_allclose(found.effort, np.array([1.0, -1.0]) * max(load, 0) / (1 - mixed))


def test_no_effort_is_found_where_there_is_none():
    assert solve([[-1.0]], [1.0], 0.0, np.inf).status is Status.NO_SOLUTION  # rate = 1 + effort
    found = solve([[0.0, 1.0], [-1.0, 0.0]], [1.0, -2.0], 0.0, np.inf)
    assert found.status is Status.SOLVED
    assert_allclose(found.effort[1], 1.0)


# -- impacts --------------------------------------------------------------------------------
@settings(CHECKED, max_examples=75)
@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 10**6),
       st.sampled_from([0.0, 0.5, 1.0]))
def test_impacts_with_friction_end_apart_and_never_gain_energy(count, freedom, seed, e):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(2 * count, freedom))
    v = rng.normal(size=freedom)
    D, flow = W @ W.T, W @ v
    low, high, L, H = rough(count, rng.choice([0.0, 0.3, 1.0, 3.0], count))
    touching = np.arange(2 * count) % 2 == 0
    hit = sequential_impact(D, flow, np.where(touching, e, 0.0),
                            Friction(touching, low, high, L, H))  # fmt: skip
    assert hit.converged
    assert hit.flow[::2].max() <= 1e-8 * np.abs(flow).max()
    assert np.all(hit.impulse[::2] >= 0)
    assert np.all(np.abs(hit.impulse[1::2]) <= H[1::2, ::2] @ hit.impulse[::2] + 1e-9)
    after = v - W.T @ hit.impulse
    loss = hit.impulse @ (flow + hit.flow) / 2
    assert_allclose(loss, (v @ v - after @ after) / 2, rtol=0, atol=1e-9 * (1 + v @ v))
    assert loss >= -1e-9 * (1 + v @ v)


def test_restitution_is_lowered_where_friction_would_make_it_gain_energy():
    # a rod that strikes while its end slips fast: Newton's law alone gains energy (Kane)
    D = np.array([[1.0, 0.9], [0.9, 1.0]])  # normal, tangential
    flow = np.array([0.1, 4.0])
    low, high, L, H = rough(1, [0.8])
    free = solve(D, flow + [0.1, 0.0], low, high, L, H)
    gain = -free.effort @ (flow + free.rate - [0.1, 0.0]) / 2
    hit = sequential_impact(D, flow, [1.0, 0.0], Friction(np.array([True, False]), low, high, L, H))
    assert hit.impulse @ (flow + hit.flow) / 2 >= -1e-12
    assert (hit.restitution_used < 1) == (gain > 0)


@settings(CHECKED, max_examples=40)
@given(st.integers(0, 10**6))
def test_what_would_gain_energy_rebounds_with_as_much_as_it_has(seed):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(2, 3))
    D, flow, e = W @ W.T, rng.normal(size=2), np.array([1.0, 0.0])
    low, high, L, H = rough(1, rng.choice([0.3, 1.0, 3.0], 1))
    hit = sequential_impact(D, flow, e, Friction(np.array([True, False]), low, high, L, H))
    size, loss = np.abs(hit.impulse) @ np.abs(flow), hit.impulse @ (flow + hit.flow) / 2
    if hit.restitution_used < 1:
        assert loss == pytest.approx(0.0, abs=1e-12 * size)
        rebound = min(1.0, hit.restitution_used + 1e-6) * e * np.maximum(flow, 0.0)
        found = solve(D, flow + rebound, *(low, high, L, H))
        assert found.effort @ (flow + found.rate - rebound) / 2 < 0
    else:
        assert loss >= -1e-12 * (flow @ flow)


# -- splits -----------------------------------------------------------------------------------
def resting(D, load, low, high, L, H):
    return complementarity.Island(D, D @ np.array(load), low, high, L, H)


def test_two_feet_hold_until_their_friction_together_is_used_up():
    D = np.kron(np.ones((2, 2)), np.eye(2))  # N1, T1, N2, T2 on two degrees of freedom
    low, high, L, H = rough(2, [0.5, 0.5])
    for pull, holds in ((4.999, True), (5.001, False)):
        found = share_of(resting(D, [10.0, pull, 0.0, 0.0], low, high, L, H))
        assert found.loose.any() != holds
        assert_allclose(found.effort, [5, min(pull, 5) / 2, 5, min(pull, 5) / 2], rtol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_feet_hold_a_box_as_long_as_any_of_their_efforts_do(seed):
    """A box on two to four feet in one plane: at every load as linear programming tells."""
    rng = np.random.default_rng(seed)
    k, h, mu = int(rng.integers(2, 5)), rng.uniform(0.05, 0.4), rng.uniform(0.2, 0.8)
    J = np.array([row for x in rng.uniform(-0.5, 0.5, k) for row in ((0, -1, -x), (1, 0, h))])
    D, n = J @ np.diag([1.0, 1.0, 1 / rng.uniform(0.05, 0.3)]) @ J.T, 2 * k
    low, high, L, H = rough(k, [mu] * k)
    cone = np.vstack([np.eye(n)[1::2] - H[1::2], -np.eye(n)[1::2] - H[1::2]])
    for _ in range(20):
        rate = J @ np.array([4 * rng.normal(), -9.81, rng.normal()])
        any_ = linprog(np.zeros(n), cone, np.zeros(n), D, rate,
                       bounds=[(0, None), (None, None)] * k)
        island = complementarity.Island(D, rate, low, high, L, H)
        found = share_of(island)
        assert found.loose.any() == (any_.status != 0)
        if any_.status == 0:
            bottom, top = island.bounds(found.effort)
            assert_allclose(D @ found.effort, rate, atol=1e-9 * np.abs(rate).max())
            assert (found.effort >= bottom - 1e-8).all() and (found.effort <= top + 1e-8).all()
            bound, by = complementarity.kept(island, found.ends, island.weights)
            assert_allclose(bound + by @ rate, found.effort, atol=1e-8)


@pytest.mark.parametrize("past", [0.3, -2.0, 1e5])
def test_the_split_that_is_shown_knows_of_no_past(past):
    # two brakes and a gear that holds 30 % of what the second one bears, on one shaft
    D, low, high = np.ones((3, 3)), np.array([-1.0, -3.0, -0.1]), np.array([1.0, 3.0, 0.1])
    L, H = np.zeros((3, 3)), np.zeros((3, 3))
    L[2, 1], H[2, 1] = -0.3, 0.3
    load = np.array([0.4, 0.2, 0.1])
    one = share_of(resting(D, load, low, high, L, H))
    other = share_of(resting(D, load + past * np.array([1.0, -2.0, 1.0]), low, high, L, H))
    assert_allclose(other.effort, one.effort, atol=1e-9)
    assert_allclose(one.effort.sum(), 0.7, rtol=1e-12)
    assert (np.abs(one.effort) <= [1.0, 3.0, 0.1 + 0.3 * one.effort[1]]).all()


def test_a_one_way_clutch_beside_a_brake_bears_its_load_alone():
    # l - f = -1.54 and s - t = 36 of a clutch and a brake, a friction and a stop: the clutch's
    # 1e6 N*m are no measure of what it bears
    low, high = np.array([-1e6, -0.8, -4.5, 0.0]), np.array([0.0, 0.8, 4.5, np.inf])
    D, none = np.kron(np.eye(2), np.ones((2, 2))), np.zeros((4, 4))
    found = share_of(resting(D, [-1.54, 0.0, 0.0, 36.0], low, high, none, none))
    assert_allclose(found.effort, [-1.54, 0.0, 0.0, 36.0], atol=36 * 1e-3)


def test_friction_whose_strength_is_rounding_moves_as_all_others():
    # two bodies of 1 kg that 2.1e-7 N move alike: what each rubs on follows what is between them
    D, drive = np.array([[2.0, 1, 1], [1, 1, 0], [1, 0, 1]]), 2.0999999999999982e-7
    H = np.zeros((3, 3))
    H[1, 0], H[2, 1] = 0.6, 0.2
    found = solve(D, [0, drive, -drive], [-0.5, 0, 0], [0.5, 0, 0], -H, H,
                  guess=[9.431078533034407e-25, drive, -drive])
    assert_allclose(found.rate, [0.0, drive, -drive], atol=1e-20)
    assert found.state.tolist() == [0, 1, -1]


# -- impacts without friction, one after the other --------------------------------------------
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
    loss = out.impulse @ (W @ before + out.flow) / 2
    assert loss == pytest.approx(kinetic[0] - kinetic[1], abs=1e-10)
    assert loss >= -1e-12
    assert np.sum(after / np.diag(inverse)) == pytest.approx(np.sum(before / np.diag(inverse)),
                                                             abs=1e-10)


def test_collapsing_sequence_is_cut_and_ends_without_approach():
    _, _, D = row_of_balls(np.ones(4))
    out = sequential_impact(D, [1.0, 0.0, -0.01], 0.05, limit=50)
    assert out.converged
    assert out.restitution_used in (0.0, 1.0)
    assert np.all(out.flow <= 1e-12)
    tight = sequential_impact(D, [1.0, 0.5, 0.2], 0.05, limit=2)
    assert tight.restitution_used == 0.0
    assert np.all(tight.flow <= 1e-12)


def test_impact_against_an_immovable_path_is_reported():
    assert not sequential_impact([[0.0]], [1.0], 0.5).converged


def test_restitution_outside_zero_to_one_is_refused():
    with pytest.raises(ValueError, match=r"restitution 1 must be in 0 .. 1 \(got 1.5\)"):
        sequential_impact(np.eye(2), [1.0, 1.0], [0.5, 1.5])
