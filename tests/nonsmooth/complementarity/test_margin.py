"""Stick margin and the split of efforts that the motion leaves open."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import brentq, linprog

from blocks.nonsmooth.complementarity import (
    MarginProblem,
    linear_splits,
    minimal_splits,
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


def minimal_split(D, low, high, effort, stuck):
    """Of one solution."""
    return minimal_splits(D, low, high, np.array(effort)[:, None], stuck)[:, 0]


def margin_by_linear_program(D, r, F):
    """min s with D x = r, |x| <= s F, straight from the definition."""
    n = len(r)
    eye = np.eye(n)
    # HiGHS has absolute tolerances: equal units first, then forces of order one.
    d = 1 / np.sqrt(np.diag(D))
    size = np.max(F / d)
    D, r, F = D * np.outer(d, d), r * d / size, F / d / size
    answer = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.block([[eye, -F[:, None]], [-eye, -F[:, None]]]), b_ub=np.zeros(2 * n),
        A_eq=np.column_stack([D, np.zeros(n)]), b_eq=r, bounds=(None, None),
    )  # fmt: skip
    return answer.fun


# Margin --------------------------------------------------------------------------------------


def test_parallel_brakes_of_1_and_3_slip_at_a_load_of_exactly_4():
    brakes = MarginProblem(PARALLEL, [-1, -3], [1, 3], [0, 1])
    slip = brentq(lambda load: brakes.margin([load, load]).value[0] - 1, 0.1, 10, xtol=1e-14)
    assert slip == pytest.approx(4.0, abs=1e-12)
    at = brakes.margin([10 / 3, 10 / 3])
    assert at.value[0] == pytest.approx(10 / 12, abs=1e-14)  # a least-norm split says 1 here
    assert at.first[0].tolist() == [0, 1]
    assert brakes.margin([-4.0, -4.0]).value[0] == pytest.approx(1.0)


def test_geared_brakes_slip_at_a_load_of_exactly_3_5():
    w = np.array([1.0, 3.0])
    D, F = np.outer(w, w) / 2.8, np.array([2.0, 0.5])
    brakes = MarginProblem(D, -F, F, [0, 1])
    for load in (-3.5, 0.7, 3.5):
        assert brakes.margin(w * load / 2.8).value[0] == pytest.approx(abs(load) / 3.5, abs=1e-13)


def test_loop_breaks_away_at_1_7_and_names_the_elements():
    W = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]])
    inverse_mass = np.diag([1.0, 0.5])
    F = np.array([1.0, 2.0, 0.7])
    loop = MarginProblem(W @ inverse_mass @ W.T, -F, F, [0, 1, 2])
    at = loop.margin(W @ inverse_mass @ np.array([1.7, 0.0]))
    assert at.value[0] == pytest.approx(1.0, abs=1e-13)
    assert at.first[0].tolist() == [0, 2]


def test_regular_margin_is_the_largest_ratio():
    D = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    F = np.array([1.0, 4.0, 2.0])
    both = MarginProblem(D, -F, F, [0, 2])
    at = both.margin([-3.0, 0.0, 1.0])  # 2 x0 = -3
    assert_allclose(at.value, [1.5, 0.5])
    assert [f.tolist() for f in at.first] == [[0], [2]]
    assert [p.tolist() for p in both.parts] == [[0], [2]]


def test_contact_lets_go_where_its_effort_is_zero():
    contact = MarginProblem([[2.0]], 0.0, np.inf, [0])
    assert contact.margin([4.0]).value[0] == pytest.approx(1 - 2)  # newtons inside
    assert contact.margin([0.0]).value[0] == pytest.approx(1.0)
    assert contact.margin([-4.0]).value[0] > 1


def test_lopsided_bounds_are_reached_at_one():
    element = MarginProblem([[1.0]], -1.0, 3.0, [0])
    for effort, value in ((3.0, 1.0), (-1.0, 1.0), (1.0, 0.0), (2.0, 0.5)):
        assert element.margin([effort]).value[0] == pytest.approx(value)


def test_prestressed_contacts_never_let_go_together():
    # Clamped from both sides: the stress between the two walls is free.
    clamp = MarginProblem([[1.0, -1.0], [-1.0, 1.0]], 0.0, np.inf, [0, 1])
    assert clamp.margin([5.0, -5.0]).value[0] == -np.inf


def test_load_that_no_effort_can_balance_has_an_infinite_margin():
    assert MarginProblem(PARALLEL, -1.0, 1.0, [0, 1]).margin([1.0, 0.5]).value[0] == np.inf
    across_prescribed = MarginProblem([[0.0]], -1.0, 1.0, [0])
    assert across_prescribed.margin([0.5]).value[0] == np.inf
    assert across_prescribed.margin([0.0]).value[0] == 0.0


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 7), st.integers(1, 7))
@example(48069, 3, 3)  # nearly singular
def test_margin_is_the_one_of_the_linear_program(seed, n, rank):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n, min(n, rank)))
    D, F = W @ W.T, rng.exponential(size=n) + 0.05
    r = D @ rng.normal(size=n)
    problem = MarginProblem(D, -F, F, np.arange(n))
    reference = margin_by_linear_program(D, r, F)
    assert problem.margin(r).value.max() == pytest.approx(reference, rel=1e-6)
    first = np.concatenate(problem.margin(r).first)
    assert len(first) >= 1


def test_large_singular_part_takes_a_linear_program():
    rng = np.random.default_rng(8)
    n = 24
    W = rng.normal(size=(n, 12))
    D, F, r = W @ W.T, np.ones(n), W @ rng.normal(size=12)
    at = MarginProblem(D, -F, F, np.arange(n)).margin(r)
    assert at.value[0] == pytest.approx(margin_by_linear_program(D, r, F), rel=1e-7)
    assert len(at.first[0]) >= 13


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 6), st.floats(0.2, 2.0))
def test_margin_passes_one_exactly_where_stick_ends(seed, n, load):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n, max(1, n - 2)))
    D, F = W @ W.T, rng.exponential(size=n) + 0.05
    b = W @ rng.normal(size=W.shape[1])
    b *= load / MarginProblem(D, -F, F, np.arange(n)).margin(b).value[0]
    if abs(load - 1) > 1e-6:
        assert np.all(solve(D, b, -F, F).state == 0) == (load < 1)


# Split ---------------------------------------------------------------------------------------


def test_parallel_brakes_share_in_proportion_to_their_strength():
    held = solve(PARALLEL, [3.5, 3.5], [-1, -3], [1, 3])
    split = minimal_split(PARALLEL, [-1, -3], [1, 3], held.effort, held.state == 0)
    assert_allclose(split, [0.875, 2.625], atol=1e-12)


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
    split = minimal_split(D, -F, F, held.effort, held.state == 0)
    assert_allclose(split, [3 / 7, 6 / 7, 12 / 7, 0.5], atol=1e-11)


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
    assert np.array_equal(minimal_split(D, -F, F, held.effort, held.state == 0), held.effort)


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


def test_table_on_four_legs_shares_its_weight_evenly():
    corners = np.array([[1.0, 1, 1], [1, 1, -1], [1, -1, -1], [1, -1, 1]])  # lift, two tilts
    D = corners @ corners.T
    held = solve(D, D @ np.array([3.0, 1.0, 3.0, 1.0]), 0.0, np.inf)
    split = minimal_split(D, 0.0, np.inf, held.effort, held.state == 0)
    assert_allclose(split, 2.0, atol=1e-9)
    (group,) = undetermined_groups(D, 0.0, np.inf, held.effort, held.state == 0)
    assert group.tolist() == [0, 1, 2, 3]


def test_what_the_largest_ratio_leaves_open_has_the_least_norm():
    # Beam on legs at x = -1, 0 and three at 1, 12 N in all, moment 9 N m about 0. The
    # least leg can carry 1 N at most (first two), the last three share 10 N in any way.
    legs = np.array([[1.0, -1], [1, 0], [1, 1], [1, 1], [1, 1]])
    D = legs @ legs.T
    for effort in ([1.0, 1, 8, 1, 1], [0.0, 3, 0, 0, 9], [1.5, 0, 10.5, 0, 0]):
        split = minimal_split(D, 0.0, np.inf, effort, np.arange(5))
        assert_allclose(split, [1, 1, 10 / 3, 10 / 3, 10 / 3], atol=1e-9)


def test_friction_across_a_rigid_path_may_have_any_effort_and_reports_none():
    (group,) = undetermined_groups([[0.0]], -2.0, 2.0, [1.5], [0])
    assert group.tolist() == [0]
    assert minimal_split([[0.0]], -2.0, 2.0, [1.5], [0])[0] == pytest.approx(0.0, abs=1e-12)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 7), st.integers(1, 4))
def test_split_keeps_the_motion_and_has_the_smallest_largest_ratio(seed, n, rank):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n, min(rank, n)))
    D, F = W @ W.T, rng.exponential(size=n) + 0.1
    b = W @ rng.normal(size=W.shape[1])
    b /= MarginProblem(D, -F, F, np.arange(n)).margin(b).value[0] * rng.uniform(1.05, 3)
    held = solve(D, b, -F, F)
    split = minimal_split(D, -F, F, held.effort, held.state == 0)
    assert_allclose(D @ split, D @ held.effort, atol=1e-10 * np.max(np.abs(b)))
    assert np.max(np.abs(split) / F) == pytest.approx(margin_by_linear_program(D, b, F), rel=1e-6)
    # Least norm among those: no small internal stress may lower it.
    _, values, right = np.linalg.svd(D / np.sqrt(np.outer(np.diag(D), np.diag(D))))
    stress = right[int(np.sum(values > 1e-11)) :] / np.sqrt(np.diag(D))
    top = np.max(np.abs(split) / F) * (1 + 1e-9)
    for step in (1e-4, -1e-4):
        for direction in stress:
            other = split + step * direction
            if np.max(np.abs(other) / F) <= top:
                assert np.sum((other / F) ** 2) >= np.sum((split / F) ** 2) - 1e-9


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
def test_contacts_and_frictions_share_a_load_whatever_the_unit(unit):
    """Two bodies that rub on each other and the ground, one against two stops, one against one."""
    moves = np.array([[1, 0], [1, 0], [1, 0], [1, -1], [0, 1], [0, 1]])
    low = unit * np.array([0, 0, -1, -1, -1, 0.0])
    high = unit * np.array([np.inf, np.inf, 1, 1, 1, np.inf])
    loads = unit * np.array([[0.5, 40.0], [0.0, 3.0]])  # on each body, at two times
    held = np.linalg.lstsq(moves.T, loads)[0]
    found = minimal_splits(moves @ moves.T, low, high, held, np.arange(6))
    assert_allclose(moves.T @ found, loads, atol=1e-12 * unit)
    assert_allclose(found[0], found[1], rtol=1e-7)  # of one motion and strength
    assert_allclose(found[[0, 5], 1] / unit, [20, 3], atol=1e-6)  # stops bear all that they can
    assert_allclose(found[2:5, 1] / unit, 0.0, atol=1e-6)
    # a stop without a load is short of 1/100 N, of which frictions take the same share s: 1 - s
    assert_allclose(np.abs(found[2:5, 0]) / unit, 0.01 / 2.01, rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_a_linear_split_holds_whatever_the_load_comes_to(unit):
    """Of contacts each bears its part, and beside a friction they bear all."""
    efforts = unit * np.array([700.0, 0.0, 0.0])
    none, ends = np.zeros(3), np.full(3, np.inf)
    split, = linear_splits(np.ones((3, 3)), none, ends, efforts)
    for load in (1.0, 700.0, 1e5):
        other = load * unit * np.array([0.2, 0.5, 0.3])
        assert_allclose(other + split.change @ other + split.level, load * unit / 3, rtol=1e-6)
    none[2], ends[2] = -unit, unit
    split, = linear_splits(np.ones((3, 3)), none, ends, efforts)
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
