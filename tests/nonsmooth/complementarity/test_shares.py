"""How elements at rest share what the motion leaves open, who does, and when nothing holds."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import brentq, linprog

from blocks.nonsmooth import complementarity
from blocks.nonsmooth.complementarity import open_load, solve, undetermined_groups, weights
from blocks.nonsmooth.complementarity.undetermined import stresses

PARALLEL = np.ones((2, 2))


def shares(D, rate, low, high):
    """Shares of elements whose bounds follow no efforts."""
    none = np.zeros((2, len(D), len(D)))
    return complementarity.share_of(complementarity.Island(D, rate, low, high, *none))


def at_times(D, rates, low, high):
    """Shares at many times whose bounds stay the same."""
    low, high = (np.tile(side[:, None], rates.shape[1]) for side in (low, high))
    return complementarity.shares_at_times(complementarity.Island(D, rates, low, high,
                                                                  *np.zeros((2, len(D), len(D)))))


def most_of(D, rate, low, high):
    """The largest factor of a load that some efforts within the bounds hold, by definition."""
    n = len(rate)
    size = 1 / np.sqrt(np.diag(D))
    D, rate = D * np.outer(size, size), rate * size
    unit = np.abs(rate).max()
    found = linprog(np.append(np.zeros(n), -1.0), A_eq=np.column_stack([D, -rate / unit]),
                    b_eq=np.zeros(n), bounds=[*zip(low / size, high / size, strict=True),
                                              (0, None)])
    return found.x[-1] / unit if found.x is not None else np.inf


def is_least(D, effort, low, high, weight):
    """Whether one creep common to all proves that the weighted sum of squares is the least."""
    drag, band = weight * effort, 1e-9 * np.abs(effort).max()
    up, down = high - effort <= band, effort - low <= band
    equal = ~up & ~down
    size = np.abs(drag).max()
    rows = np.concatenate([-D[up | equal], D[down | equal]])
    right = np.concatenate([-drag[up | equal], drag[down | equal]]) / size
    off = linprog(np.append(np.zeros(len(D)), 1.0), np.column_stack([rows, -np.ones(len(rows))]),
                  right, bounds=[*[(None, None)] * len(D), (-1.0, None)])
    return off.status == 0 and off.fun <= 1e-8


def drawn(seed, n, rank):
    """D, low, high and a load of which all that can be held is known."""
    rng = np.random.default_rng(seed)
    moves = rng.normal(size=(n, min(rank, n - 1)))
    D, high = moves @ moves.T, rng.exponential(size=n) + 0.05
    low = -high * rng.choice([0.5, 1.0], n)
    contact = rng.random(n) < 0.2
    low[contact], high[contact] = 0.0, np.inf
    rate = D @ rng.normal(size=n)
    most = most_of(D, rate, low, high)
    assume(1e-3 < most < 1e3)
    return D, low, high, most * rate


def test_parallel_brakes_share_in_proportion_to_their_strength_up_to_4():
    ends = np.array([1.0, 3.0])
    found = shares(PARALLEL, np.array([3.5, 3.5]), -ends, ends)
    assert_allclose(found.effort, [0.875, 2.625], rtol=1e-12)
    assert not found.ends.any() and not found.loose.any()
    slip = brentq(lambda load: shares(PARALLEL, np.full(2, load), -ends, ends).loose.any() - 0.5,
                  0.1, 10, xtol=1e-12)
    assert slip == pytest.approx(4.0, rel=2e-9)
    assert shares(PARALLEL, np.full(2, -4.0), -ends, ends).loose.all()


def test_geared_brakes_take_equal_shares_up_to_3_5():
    w, ends = np.array([1.0, 3.0]), np.array([2.0, 0.5])
    D = np.outer(w, w) / 2.8
    for load in (-3.4, 0.7, 3.4):
        found = shares(D, w * load / 2.8, -ends, ends)
        assert_allclose(found.effort / ends, load / 3.5, rtol=1e-11)
        assert not found.loose.any()
    assert shares(D, w * 3.5 / 2.8, -ends, ends).loose.all()


def test_a_loop_breaks_away_at_1_7_and_names_the_elements():
    W = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]]) / np.sqrt([1.0, 2.0])
    ends = np.array([1.0, 2.0, 0.7])
    load = W @ [1.0, 0.0]
    before, at = (shares(W @ W.T, size * load, -ends, ends) for size in (1.699, 1.7))
    assert not before.loose.any()
    assert before.ends.tolist() == [1, 0, 0]  # held by the others
    assert at.loose.tolist() == [True, False, True]
    assert_allclose(at.effort[[0, 2]], [1.0, -0.7], rtol=1e-9)


def test_three_brakes_are_loose_where_all_are_at_their_bounds_alone():
    ends = np.array([1.0, 2.0, 4.0])
    for load, loose in ((7.0, True), (6.999, False), (-7.0, True)):
        found = shares(np.ones((3, 3)), np.full(3, load), -ends, ends)
        assert found.loose.all() == found.loose.any() == loose
        assert_allclose(found.effort, ends * load / 7, rtol=1e-9)


@pytest.mark.parametrize("over", [-9e-10, 0.0, 1e-12, 1e-6])
def test_what_is_at_its_bound_beside_brakes_that_share_lets_go_alone(over):
    """Brakes of 2 and 1.5 N between one body and the next, friction of 2 N to a third one."""
    D, strength = np.array([[2.0, -1.0, 2.0], [-1.0, 1.5, -1.0], [2.0, -1.0, 2.0]]), [2.0, 2.0, 1.5]
    load = np.array([0.3 * 2 / 3.5, -2.0 * (1.0 + over), 0.3 * 1.5 / 3.5])
    found = shares(D, D @ load, -np.array(strength), np.array(strength))
    assert_allclose(found.effort, np.clip(load, -2, 2), rtol=0, atol=1e-8 + 2 * abs(over))
    assert found.loose.tolist() == [False, True, False]


def test_a_table_on_four_legs_shares_its_weight_evenly():
    corners = np.array([[1.0, 1, 1], [1, 1, -1], [1, -1, -1], [1, -1, 1]])  # lift, two tilts
    D = corners @ corners.T
    found = shares(D, D @ np.array([3.0, 1.0, 3.0, 1.0]), np.zeros(4), np.full(4, np.inf))
    assert_allclose(found.effort, 2.0, rtol=1e-9)


def test_what_bears_anything_one_way_bears_it():
    ends = np.array([1.0, np.inf])
    found = shares(PARALLEL, np.array([700.0, 700.0]), np.array([-1.0, 0.0]), ends)
    assert found.effort.sum() == pytest.approx(700.0)
    assert 0 <= found.effort[0] < 0.1
    pulled = shares(PARALLEL, np.array([-0.4, -0.4]), np.array([-1.0, 0.0]), ends)
    assert_allclose(pulled.effort, [-0.4, 0.0], atol=1e-12)


def test_a_load_that_no_efforts_balance_lets_all_go():
    ends = np.ones(2)
    assert shares(PARALLEL, np.array([1.0, 0.5]), -ends, ends).loose.all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 9), st.integers(1, 6), st.floats(0.1, 0.999))
def test_shares_keep_the_motion_and_are_the_least(seed, n, rank, size):
    D, low, high, rate = drawn(seed, n, rank)
    found = shares(D, size * rate, low, high)
    assert not found.loose.any()
    assert_allclose(D @ found.effort, size * rate, rtol=0, atol=1e-9 * np.abs(rate).max())
    assert (found.effort <= high).all() and (found.effort >= low).all()
    own, span = np.diag(D), (high - low) * np.sqrt(np.diag(D))
    least = span.min() if np.isfinite(span.min()) else 1.0
    weight = own * np.maximum(least / np.minimum(span, 1e300), 1e-4)  # what is one-sided bears it
    if np.isfinite(span.min()):
        assert_allclose(weights(D, low, high), weight, rtol=1e-9)
    assert is_least(D, found.effort, low, high, weights(D, low, high))
    island = complementarity.Island(D, size * rate, low, high, *np.zeros((2, n, n)))
    bound, by = complementarity.kept(island, found.ends, weights(D, low, high))
    again = bound + by @ (size * rate)
    assert_allclose(again, found.effort, atol=1e-9 * np.abs(found.effort).max())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 9), st.integers(1, 6), st.floats(0.3, 1.7))
def test_elements_let_go_exactly_where_no_efforts_hold(seed, n, rank, size):
    D, low, high, rate = drawn(seed, n, rank)
    assume(abs(size - 1) > 1e-6)
    found = shares(D, size * rate, low, high)
    assert found.loose.any() == (size > 1)
    moved = solve(D, size * rate, low, high).state != 0
    assert moved.any() == (size > 1)
    assert (found.loose | ~moved).all()


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_contacts_and_frictions_share_a_load_whatever_the_unit(unit):
    """Two bodies that rub on each other and the ground, one against two stops, one against one."""
    moves = np.array([[1, 0], [1, 0], [1, 0], [1, -1], [0, 1], [0, 1]])
    low = unit * np.array([0, 0, -1, -1, -1, 0.0])
    high = unit * np.array([np.inf, np.inf, 1, 1, 1, np.inf])
    loads = unit * np.array([[-0.5, 40.0], [0.2, 3.0]])  # on each body, at two times
    found = at_times(moves @ moves.T, moves @ loads, low, high)
    assert_allclose(moves.T @ found, loads, atol=1e-9 * unit)
    assert_allclose(found[0], found[1], rtol=1e-7, atol=1e-12 * unit)  # of one motion and strength
    assert_allclose(found[[0, 5], 1] / unit, [20, 3], rtol=2e-3)  # stops bear all that they can
    assert np.abs(found[2:5, 1]).max() < 5e-3 * unit
    assert_allclose(found[:2, 0], 0.0, atol=1e-12 * unit)  # and do not pull


# -- who shares internal stress ---------------------------------------------------------------
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
    assert bool(undetermined_groups(D, -1.0, 1.0, efforts, np.arange(n))) == (change > 1e-6)


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
