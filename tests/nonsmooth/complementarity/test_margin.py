"""Who shares internal stress."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from blocks.nonsmooth.complementarity import open_load, solve, undetermined_groups
from blocks.nonsmooth.complementarity.undetermined import stresses

PARALLEL = np.ones((2, 2))


def test_free_internal_stress_of_a_group_is_described():
    D = np.zeros((4, 4))
    D[:3, :3] = 1.0
    D[3, 3] = 1.0
    F = np.array([1.0, 2.0, 4.0, 1.0])
    held = solve(D, [3.0, 3.0, 3.0, 0.5], -F, F)
    (group,) = undetermined_groups(D, -F, F, held.effort, held.state == 0)
    assert group.tolist() == [0, 1, 2]
    (stress,) = stresses(D, -F, F, held.state == 0)
    assert stress.basis.shape[1] == 2


def test_independent_groups_are_told_apart_within_one_part():
    # Two pairs of parallel brakes on two masses that a fifth friction couples.
    W = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1], [1, -1]])
    F = np.array([1.0, 1, 1, 3, 0.1])
    D = W @ W.T
    held = solve(D, W @ np.array([0.4, 0.8]), -F, F)
    groups = undetermined_groups(D, -F, F, held.effort, held.state == 0)
    assert len(groups) == 1  # the coupling makes all five one group
    apart = undetermined_groups(D[:4, :4], -F[:4], F[:4], held.effort[:4], np.arange(4))
    assert [g.tolist() for g in apart] == [[0, 1], [2, 3]]


def test_determined_efforts_belong_to_no_group_and_stay():
    D, F = np.array([[2.0, -1.0], [-1.0, 2.0]]), np.ones(2)
    held = solve(D, [0.3, 0.1], -F, F)
    assert undetermined_groups(D, -F, F, held.effort, held.state == 0) == []


def test_efforts_pinned_by_their_bounds_are_determined():
    held = solve(PARALLEL, [4.0, 4.0], [-1, -3], [1, 3])
    assert undetermined_groups(PARALLEL, [-1, -3], [1, 3], held.effort, [0, 1]) == []


@pytest.mark.parametrize(("sum_of_all", "is_open"), [(7.0, False), (6.999, True), (-7.0, False)])
def test_three_brakes_are_determined_where_all_of_them_are_at_their_bounds(sum_of_all, is_open):
    D, F = np.ones((3, 3)), np.array([1.0, 2.0, 4.0])
    effort = F * sum_of_all / 7
    if is_open:  # two at their bounds all the same
        effort[:2], effort[2] = F[:2], sum_of_all - 3
    groups = undetermined_groups(D, -F, F, effort, np.arange(3))
    assert [g.tolist() for g in groups] == ([[0, 1, 2]] if is_open else [])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.integers(3, 8), st.integers(1, 4))
def test_efforts_are_open_where_one_of_them_can_be_changed(seed, n, rank):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n, min(rank, n - 2)))
    D = W @ W.T
    efforts = np.where(rng.random(n) < 0.8, rng.choice([-1.0, 1.0], n), rng.uniform(-1, 1, n))
    (stress,) = stresses(D, -np.ones(n), np.ones(n), np.arange(n))
    turn = np.vstack([stress.basis, -stress.basis])
    room = np.maximum(np.concatenate([1 - efforts, 1 + efforts]), 0)
    change = max(-linprog(-row, turn, room, bounds=(None, None)).fun for row in turn)
    assume(not 1e-12 < change < 1e-6)
    groups = undetermined_groups(D, -1.0, 1.0, efforts, np.arange(n))
    assert bool(groups) == (change > 1e-6)


def test_the_weight_of_a_table_on_four_legs_is_shared():
    corners = np.array([[1.0, 1, 1], [1, 1, -1], [1, -1, -1], [1, -1, 1]])  # lift, two tilts
    D = corners @ corners.T
    held = solve(D, D @ np.array([3.0, 1.0, 3.0, 1.0]), 0.0, np.inf)
    (group,) = undetermined_groups(D, 0.0, np.inf, held.effort, held.state == 0)
    assert group.tolist() == [0, 1, 2, 3]


def test_friction_across_a_rigid_path_may_have_any_effort():
    (group,) = undetermined_groups([[0.0]], -2.0, 2.0, [1.5], [0])
    assert group.tolist() == [0]


def test_a_shared_load_moves_nothing_by_its_rounding():
    """Two elements at rest share one motion; what slides feels a third, and of these rounding."""
    d = np.array([[5.0, 5.0, 0.0], [5.0, 5.0, 0.0], [0.0, 0.0, 2.0]])
    through = np.zeros((3, 3))
    through[2, 0] = 3e-16  # the shared load presses the third by rounding
    assert not open_load(d, through, np.array([[1e-16, 1e-16, -0.4]]))
    assert open_load(d, through, np.array([[1.0, 0.5, -0.4]]))
