"""Box problems: closed forms, brute force, hypothesis, and bounds on the work."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy.optimize import lsq_linear

from blocks.nonsmooth.complementarity import Status, solve

PARALLEL = np.ones((2, 2))  # two frictions side by side on 1 kg


def natural_residual(D, b, lower, upper, effort):
    """|x - clip(x + w)| in units that make the diagonal of D one; from the definition."""
    d = 1 / np.sqrt(np.where(np.diag(D) > 0, np.diag(D), 1.0))
    x, w = effort / d, d * (b - D @ effort)
    error = np.abs(x - np.clip(x + w, lower / d, upper / d))
    return np.max(error) / max(np.max(np.abs(d * b)), np.max(np.abs(d * (D @ effort))), 1e-300)


def every_solution(D, b, lower, upper, slack=1e-9):
    """All solutions by trying all 3^n modes; reference for n <= 6."""
    n = len(b)
    found = []
    for modes in product((-1, 0, 1), repeat=n):
        at = np.array(modes)
        if np.any(~np.isfinite(np.where(at > 0, upper, lower)[at != 0])):
            continue
        x = np.where(at > 0, upper, np.where(at < 0, lower, 0.0))
        free = at == 0
        if free.any():
            x[free] = np.linalg.lstsq(D[np.ix_(free, free)],
                                      b[free] - D[np.ix_(free, ~free)] @ x[~free], rcond=None)[0]
        w = b - D @ x
        inside = np.all(x >= lower - slack) and np.all(x <= upper + slack)
        if inside and np.all(np.abs(w[free]) < slack) and np.all(at * w >= -slack):
            found.append(x)
    return found


# Closed forms --------------------------------------------------------------------------------


def test_friction_across_a_rigid_path_rests_without_effort():
    answer = solve(np.diag([0.0, 1.0]), [0.0, 0.5], -1.0, 1.0)
    assert answer.converged
    assert_allclose(answer.effort, [0.0, 0.5])
    assert answer.state.tolist() == [0, 0]
    assert solve([[1e-18]], [1e-17], -1.0, 1.0, noise=1e-12).state[0] == 0


def test_contact_that_is_driven_shut_by_a_prescribed_motion_has_no_solution():
    answer = solve([[0.0]], [1.0], 0.0, np.inf)
    assert answer.status is Status.NO_SOLUTION
    assert not answer.converged
    assert answer.suspects.tolist() == [0]
    pair = solve(PARALLEL, [1.0, 2.0], 0.0, [np.inf, 1.0])  # rates differ by 1 for ever
    assert pair.converged
    opposed = solve([[1.0, -1.0], [-1.0, 1.0]], [1.0, 1.0], 0.0, np.inf)  # clamped
    assert opposed.status is Status.NO_SOLUTION


def test_sliding_element_of_known_effort_loads_its_neighbour():
    answer = solve(np.array([[2.0, -1.0], [-1.0, 1.0]]), [0.0, 0.0], [-5.0, 1.5], [5.0, 1.5])
    assert_allclose(answer.effort, [0.75, 1.5])
    assert_allclose(answer.rate, [0.0, -0.75])
    assert answer.state.tolist() == [0, -1]


def test_balanced_load_on_parallel_brakes_is_not_decided_by_rounding():
    noise = 3e-17
    answer = solve(PARALLEL, [noise, -noise], -1.0, 1.0)
    assert np.all(answer.state == 0)
    assert np.all(np.abs(answer.effort) < 1e-6)


def test_efforts_of_different_units_do_not_disturb_each_other():
    unit = np.array([1.0, 1e6, 1e-5])
    D = np.array([[2.0, -1, 0], [-1, 2, -1], [0, -1, 2]])
    b, F = np.array([1.0, 3.0, -4.0]), np.array([1.0, 1.0, 1.0])
    plain = solve(D, b, -F, F)
    scaled = solve(np.outer(1 / unit, 1 / unit) * D, b / unit, -F * unit, F * unit)
    assert_allclose(scaled.effort, plain.effort * unit, rtol=1e-12)
    assert_allclose(scaled.state, plain.state)


# Properties ----------------------------------------------------------------------------------

NUMBER = st.floats(-8, 8).map(lambda v: round(v, 3))


@st.composite
def passive_problems(draw, largest=6):
    n = draw(st.integers(1, largest))
    rank = draw(st.integers(0, n))
    whole = draw(st.booleans())
    entries = st.integers(-2, 2).map(float) if whole else NUMBER
    W = draw(arrays(float, (n, rank), elements=entries))
    b = draw(arrays(float, n, elements=NUMBER))
    F = draw(arrays(float, n, elements=st.floats(0.01, 10).map(lambda v: round(v, 2))))
    return W @ W.T, b, np.where(draw(arrays(bool, n)), 0.0, -F), F


@settings(max_examples=100, deadline=None)
@given(passive_problems())
def test_passive_networks_are_solved_for_any_rank(problem):
    D, b, lower, upper = problem
    answer = solve(D, b, lower, upper)
    assert answer.status is Status.SOLVED
    assert np.all(answer.effort >= lower)
    assert np.all(answer.effort <= upper)
    assert natural_residual(D, b, lower, upper, answer.effort) <= 1e-10
    moving = answer.state != 0
    assert np.array_equal(answer.effort[moving], np.where(answer.state > 0, upper, lower)[moving])
    assert np.all(answer.rate[~moving] == 0)
    assert np.all(answer.rate * answer.state >= 0)


@settings(max_examples=75, deadline=None)
@given(passive_problems(largest=4))
def test_rates_are_the_ones_of_every_enumerated_solution(problem):
    D, b, lower, upper = problem
    answer = solve(D, b, lower, upper)
    for other in every_solution(D, b, lower, upper):
        assert_allclose(answer.rate, b - D @ other, atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 12), st.integers(0, 12))
def test_efforts_solve_the_bounded_least_squares_problem(seed, n, rank):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(max(1, min(rank, n)), n))
    target = rng.normal(size=len(A))
    F = rng.exponential(size=n) + 0.01
    answer = solve(A.T @ A, A.T @ target, -F, F)
    reference = lsq_linear(A, target, (-F, F), method="bvls", tol=1e-14, max_iter=500)
    assert_allclose(A @ answer.effort, A @ reference.x, atol=1e-8)


@settings(max_examples=75, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 5), st.booleans())
def test_p_matrices_without_symmetry_have_the_enumerated_solution(seed, n, contacts):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    skew = rng.normal(size=(n, n)) * rng.uniform(0, 4)
    D = A @ A.T + 0.05 * np.eye(n) + skew - skew.T
    b = rng.normal(size=n)
    upper = np.full(n, np.inf) if contacts else rng.exponential(size=n) + 0.01
    lower = np.zeros(n) if contacts else -upper
    answer = solve(D, b, lower, upper)
    assert answer.status is Status.SOLVED
    reference = every_solution(D, b, lower, upper)
    assert reference
    assert_allclose(answer.effort, reference[0], atol=1e-7)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 6))
def test_a_solution_in_a_finite_box_is_found_for_any_matrix(seed, n):
    rng = np.random.default_rng(seed)
    D, b, F = rng.normal(size=(n, n)), rng.normal(size=n), rng.exponential(size=n) + 0.01
    answer = solve(D, b, -F, F)
    assert answer.converged
    assert any(np.allclose(answer.effort, x, atol=1e-6) for x in every_solution(D, b, -F, F))


@settings(max_examples=40, deadline=None)
@given(passive_problems(largest=6))
def test_start_guides_the_search_but_not_the_motion(problem):
    D, b, lower, upper = problem
    cold = solve(D, b, lower, upper)
    warm = solve(D, b, lower, upper, guess=cold.effort)
    wrong = solve(D, b, lower, upper, guess=np.where(cold.effort > 0, lower, upper))
    for other in (warm, wrong):
        assert_allclose(other.rate, cold.rate, atol=1e-8 * max(1, np.max(np.abs(b))))


# Painlevé ------------------------------------------------------------------------------------


def test_jammed_contact_is_reported_as_painleve():
    # Rate grows with the effort: 1 - mu s k < 0.
    assert solve([[-0.5]], [1.0], 0.0, np.inf).status is Status.NO_SOLUTION
    opening = solve([[-0.5]], [-1.0], 0.0, np.inf)  # stays open, or jams with 2 N
    assert opening.status is Status.NOT_UNIQUE
    assert opening.converged
    assert opening.effort[0] == 0.0
    assert str(opening.status) == "no unique solution (Painlevé)"


def test_coupled_part_without_the_p_property_names_its_elements_only():
    D = np.diag([1.0, 1.0, 1.0, 1.0])
    D[1, 2] = D[2, 1] = 3.0
    answer = solve(D, [0.5, 1.0, 1.0, 0.5], -1.0, 1.0)
    assert answer.status is Status.NOT_UNIQUE
    assert answer.suspects.tolist() == [1, 2]


# Work ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ring", [False, True])
def test_a_chain_of_ten_thousand_coupled_elements_takes_few_steps(ring):
    rng = np.random.default_rng(4)
    n = 10_000
    D = sp.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    D = sp.lil_array(D)
    if ring:  # singular: a load that goes round has no effect
        D[0, n - 1] = D[n - 1, 0] = -1.0
    b, F = rng.normal(size=n), 20 * rng.exponential(size=n)
    answer = solve(D, b, -F, F)
    assert answer.converged
    assert answer.iterations < 40
    assert (answer.state == 0).sum() > 5_000
    w = b - D.tocsr() @ answer.effort
    assert np.max(np.abs(answer.effort - np.clip(answer.effort + w, -F, F))) < 1e-9


@pytest.mark.parametrize(("n", "rank"), [(40, 10), (200, 100)])
def test_strongly_singular_parts_are_solved_with_bounded_work(n, rank):
    rng = np.random.default_rng(11)
    W, b, F = rng.normal(size=(n, rank)), rng.normal(size=n), rng.exponential(size=n)
    answer = solve(W @ W.T, b, -F, F)
    assert answer.converged
    assert natural_residual(W @ W.T, b, -F, F, answer.effort) <= 1e-10
    assert answer.iterations < 2_000


def test_unsolved_is_admitted_and_never_endless():
    # No P-matrix, no finite box, too large to try all modes.
    rng = np.random.default_rng(0)
    n = 450
    answer = solve(rng.normal(size=(n, n)), rng.normal(size=n), 0.0, np.inf)
    assert not answer.converged
    assert answer.status in (Status.WORK_BOUND, Status.NO_SOLUTION)
    assert answer.iterations < 200
    assert len(answer.suspects)


# Mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("arguments", "text"), [
    (([[1.0]], [1.0], 2.0, 1.0), "bounds of element 0 leave no effort (got 2.0 .. 1.0)"),
    (([[1.0]], [np.nan], -1.0, 1.0), "rate 0 of b is not finite"),
    ((np.eye(2), [1.0], -1.0, 1.0), "the matrix must be 1 x 1 (got (2, 2))"),
    (([[np.inf]], [1.0], -1.0, 1.0), "the matrix has entries that are not finite"),
    (([[1.0]], [1.0], np.inf, np.inf), "bounds of element 0 leave no effort (got inf .. inf)"),
])  # fmt: skip
def test_impossible_input_is_refused_with_its_place(arguments, text):
    with pytest.raises(ValueError) as caught:
        solve(*arguments)
    assert str(caught.value) == text


def test_no_elements_are_no_problem():
    answer = solve(np.zeros((0, 0)), [], [], [])
    assert answer.converged
    assert answer.effort.shape == (0,)


@pytest.mark.parametrize(("flows", "strength", "load"), [
    ([[1.0], [1]], [1.0, 3], [3.5]), ([[1.0], [2]], [1.0, 3], [3.5]),
    ([[1.0], [1], [1]], [1.0, 2, 4], [5.0]), ([[1.0, 0], [0, 1], [1, 1]], [1.0, 1, 1], [1.0, 0.5])])
def test_what_the_motion_leaves_open_has_the_least_weighted_square(flows, strength, load):
    """Shares are even where there is one motion; no internal stress lowers the sum of squares."""
    W, F = np.array(flows), np.array(strength)
    D = W @ W.T
    held = solve(D, W @ np.array(load), -F, F)
    assert not held.state.any()
    assert_allclose(W.T @ held.effort, load, rtol=1e-12)
    stress = np.linalg.svd(W.T)[2][W.shape[1]:]
    assert_allclose(stress @ (np.sqrt(np.diag(D)) * held.effort / F), 0.0, atol=1e-9)
    if W.shape[1] == 1:
        assert_allclose(held.effort / F, held.effort[0] / F[0], rtol=1e-9)
