"""Who shares internal stress, and splits for given directions of it."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from blocks.nonsmooth.complementarity import (
    solve,
    undetermined_groups,
)
from blocks.nonsmooth.complementarity.internal_stress import (
    even_on_line,
    stresses,
)
from blocks.nonsmooth.complementarity.linear_splits import linear_split
from blocks.nonsmooth.complementarity.minimax import minimise_rows

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


@settings(max_examples=50, deadline=None)
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


@pytest.mark.parametrize("seed", range(40))
def test_an_even_split_along_one_direction_is_that_of_the_linear_program(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 6))
    low, high = -random.uniform(0, 3, n), random.uniform(0, 3, n)
    low[random.random(n) < 0.2] = -np.inf
    high[random.random(n) < 0.2] = np.inf
    direction = random.normal(size=n) * (random.random(n) < 0.8)
    direction[0] = 1.0
    held = random.normal(size=(n, 1))
    found = even_on_line(low[:, None], high[:, None], held, direction[:, None])[:, 0]
    closed = np.isfinite(low) & np.isfinite(high)  # others: a hundredth of what is least of these
    half = np.where(closed, (high - low) / 2, 1.0)
    half[~closed] = 0.01 * half[closed].min(initial=100.0)

    def ratios(effort):
        return np.concatenate([1 + (effort - high) / half, 1 + (low - effort) / half])

    offset, slope = ratios(held[:, 0]), np.concatenate([direction / half, -direction / half])
    real = np.isfinite(offset)
    answer = linprog([0, 1], np.column_stack([slope, -np.ones(2 * n)])[real], -offset[real],
                     bounds=(None, None))
    least = 1.0 if answer.status == 3 else answer.fun
    if least <= 1:  # else no split is within the bounds
        assert ratios(found)[real].max() <= max(least, offset[real & (slope == 0)].max(
            initial=-np.inf)) + 1e-9
        rest = found - held[:, 0]
        assert_allclose(rest, direction * (rest @ direction) / (direction @ direction), atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 7), st.booleans())
def test_the_lowest_point_of_lines_is_that_of_the_linear_program(seed, rows, one_sided):
    rng = np.random.default_rng(seed)
    a, g = rng.normal(size=rows), rng.normal(size=rows) * rng.choice([0.0, 1.0, 1.0], rows)
    g = np.abs(g) if one_sided else g
    value, t, weight = minimise_rows(a, g[:, None])
    found = linprog([0.0, 1.0], A_ub=np.column_stack([g, -np.ones(rows)]), b_ub=-a,
                    bounds=(None, None))
    if not found.success:  # all fall for ever
        assert value == -np.inf
        return
    assert value == pytest.approx(found.fun, abs=1e-9)
    assert np.max(a + g * t) == value
    assert weight.min() >= 0
    assert_allclose([weight.sum(), weight @ g, weight @ a], [1.0, 0.0, value], atol=1e-12)


def test_brakes_and_clutches_that_share_a_load_take_no_linear_program(monkeypatch):
    def refused(*given, **also):
        raise AssertionError("a linear program for one unknown")

    monkeypatch.setattr("scipy.optimize.linprog", refused)
    stress, = stresses(np.ones((2, 2)), np.array([-1.0, 0.0]), np.array([1.0, 1e6]), [0, 1])
    split = linear_split(stress, np.array([-1.0, 0.0]), np.array([1.0, 1e6]), np.array([0.5, 2.5]))
    efforts = np.array([0.5, 2.5])
    shared = efforts + split.change @ efforts + split.level
    assert shared.sum() == pytest.approx(3.0, rel=1e-12)
    assert abs(shared[0]) < 1.0 and shared[1] > 0.0


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_a_linear_split_holds_whatever_the_load_comes_to(unit):
    """Of contacts each bears its part, and beside a friction they bear all."""
    efforts = unit * np.array([700.0, 0.0, 0.0])
    none, ends = np.zeros(3), np.full(3, np.inf)
    (stress,) = stresses(np.ones((3, 3)), none, ends, [0, 1, 2])
    split = linear_split(stress, none, ends, efforts)
    for load in (1.0, 700.0, 1e5):
        other = load * unit * np.array([0.2, 0.5, 0.3])
        assert_allclose(other + split.change @ other + split.level, load * unit / 3, rtol=1e-6)
    none[2], ends[2] = -unit, unit
    (stress,) = stresses(np.ones((3, 3)), none, ends, [0, 1, 2])
    split = linear_split(stress, none, ends, efforts)
    for load in (10.0, 700.0, 1e4):
        other = np.full(3, load * unit / 3)
        shares = other + split.change @ other + split.level
        assert (shares[:2] > 0).all()
        assert abs(shares[2]) < 0.1 * unit


def test_a_shared_load_moves_nothing_by_its_rounding():
    """Two elements at rest share one motion; what slides feels a third, and of these rounding."""
    from blocks.nonsmooth.complementarity import open_load

    d = np.array([[5.0, 5.0, 0.0], [5.0, 5.0, 0.0], [0.0, 0.0, 2.0]])
    through = np.zeros((3, 3))
    through[2, 0] = 3e-16  # the shared load presses the third by rounding
    assert not open_load(d, through, np.array([[1e-16, 1e-16, -0.4]]))
    assert open_load(d, through, np.array([[1.0, 0.5, -0.4]]))
