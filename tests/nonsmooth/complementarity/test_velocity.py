"""Massless nodes between frictions: closed forms and linear programs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from blocks.nonsmooth.complementarity import solve_velocity

SERIES = np.array([[-1.0], [1.0]])  # flows v1 - v and v - v2 of a node between two ends


@pytest.mark.parametrize("frame", [0.0, 100.0])
@pytest.mark.parametrize(("F", "velocity"), [((1.0, 2.0), 0.0), ((2.0, 1.0), 1.0)])
def test_the_weaker_of_two_frictions_in_series_slides(F, velocity, frame):
    F = np.array(F)
    node = solve_velocity(SERIES, [1.0 + frame, -frame], -F, F)
    assert node.velocity[0] == pytest.approx(velocity + frame, rel=1e-14)
    assert_allclose(node.effort, 1.0, rtol=1e-12)  # the smaller of both, carried through
    assert node.unique
    assert node.converged
    assert node.flow[np.argmax(F)] == 0.0


@pytest.mark.parametrize("frame", [0.0, -7.0])
def test_equally_strong_frictions_share_the_slip_and_say_so(frame):
    node = solve_velocity(SERIES, [1.0 + frame, -frame], -1.5, 1.5)
    assert not node.unique
    assert node.velocity[0] == pytest.approx(0.5 + frame)
    assert_allclose(node.flow, 0.5)
    assert_allclose(node.effort, 1.5)


def test_slip_to_the_other_side_turns_the_efforts():
    node = solve_velocity(SERIES, [-1.0, 0.0], [-1.0, -2.0], [1.0, 2.0])
    assert_allclose(node.effort, -1.0)
    assert_allclose(node.flow, [-1.0, 0.0])


def test_node_at_rest_between_resting_ends_is_unique():
    node = solve_velocity(SERIES, [0.0, 0.0], -1.0, 1.0)
    assert node.unique
    assert node.converged
    assert node.velocity[0] == 0.0


def test_node_follows_the_weighted_median_of_three_ends():
    ends, F = np.array([0.0, 1.0, 5.0]), np.array([1.0, 1.5, 2.0])
    node = solve_velocity(np.ones((3, 1)), -ends, -F, F)
    assert node.velocity[0] == pytest.approx(1.0)
    assert_allclose(node.effort, [1.0, 1.0, -2.0])


def test_damper_carries_what_the_friction_cannot():
    # 3 N on a node with a friction of 1 N and a damper of 4 N s/m to ground.
    node = solve_velocity([[1.0]], [0.0], -1.0, 1.0, damping=[[4.0]], force=[3.0])
    assert node.velocity[0] == pytest.approx(0.5)
    assert node.effort[0] == pytest.approx(1.0)
    weak = solve_velocity([[1.0]], [0.0], -1.0, 1.0, damping=[[4.0]], force=[0.4])
    assert weak.flow[0] == 0.0
    assert weak.effort[0] == pytest.approx(0.4)


def test_node_pulled_harder_than_its_frictions_is_reported():
    held = solve_velocity(SERIES, [0.0, 0.0], [-1, -2], [1, 2], force=[2.9])
    assert held.converged
    assert held.unique
    torn = solve_velocity(SERIES, [0.0, 0.0], [-1, -2], [1, 2], force=[3.5])
    assert not torn.converged
    assert torn.imbalance[0] == pytest.approx(0.5)


def test_element_of_known_effort_only_loads_the_node():
    node = solve_velocity(SERIES, [1.0, 0.0], [0.7, -2.0], [0.7, 2.0])
    assert node.velocity[0] == pytest.approx(0.0, abs=1e-15)
    assert_allclose(node.effort, 0.7)


def test_endless_bounds_are_refused():
    with pytest.raises(ValueError, match="finite bounds"):
        solve_velocity([[1.0]], [0.0], 0.0, np.inf)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(1, 3), st.booleans())
def test_dissipation_is_that_of_the_linear_program(seed, n, m, whole):
    rng = np.random.default_rng(seed)
    W = rng.integers(-1, 2, (n, m)).astype(float) if whole else rng.normal(size=(n, m))
    c = rng.integers(-2, 3, n).astype(float) if whole else rng.normal(size=n)
    F = rng.integers(1, 4, n).astype(float) if whole else rng.exponential(size=n) + 0.01
    g = W.T @ (F * rng.uniform(-0.9, 0.9, n))
    node = solve_velocity(W, c, -F, F, force=g)
    assert node.converged
    assert np.all(np.abs(node.effort) <= F)
    assert_allclose(W.T @ node.effort, g, atol=1e-9 * max(1, np.max(np.abs(g))))
    eye = np.eye(n)
    reference = linprog(
        np.concatenate([-g, F]),
        A_ub=np.block([[W, -eye], [-W, -eye]]), b_ub=np.concatenate([-c, c]),
        bounds=[(None, None)] * m + [(0, None)] * n,
    )  # fmt: skip
    value = F @ np.abs(W @ node.velocity + c) - g @ node.velocity
    assert value == pytest.approx(reference.fun, rel=1e-8, abs=1e-8)
    # Efforts and flows have the same sign, and full effort where there is a flow.
    assert_allclose(node.effort * node.flow, F * np.abs(node.flow), atol=1e-8)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(1, 3))
def test_with_dampers_the_stationarity_conditions_hold(seed, n, m):
    rng = np.random.default_rng(seed)
    W, c, F = rng.normal(size=(n, m)), rng.normal(size=n), rng.exponential(size=n) + 0.01
    B = rng.normal(size=(m, int(rng.integers(1, m + 1))))
    C = B @ B.T
    g = W.T @ (F * rng.uniform(-0.9, 0.9, n)) + C @ rng.normal(size=m)
    node = solve_velocity(W, c, -F, F, damping=C, force=g)
    assert node.converged
    size = max(1.0, np.max(np.abs(g)))
    assert_allclose(W.T @ node.effort + C @ node.velocity, g, atol=1e-9 * size)
    sliding = node.flow != 0
    assert_allclose(node.effort[sliding], F[sliding] * np.sign(node.flow[sliding]))
    assert_allclose(node.flow, W @ node.velocity + c, atol=1e-9)
