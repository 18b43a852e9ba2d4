"""Efforts of many elements at once, by all ways: closed forms, their own laws, other methods."""

import json
from pathlib import Path

import numpy as np
import pytest
from benches.rigid_bodies import rough
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from blocks.machine import compiling
from blocks.nonsmooth.complementarity import Status, choose, solve, solve_mixed
from blocks.nonsmooth.complementarity.decide import proved
from blocks.nonsmooth.complementarity.problem import Problem, connect, pose, problem_of
from blocks.nonsmooth.complementarity.smoothing import by_smoothing
from blocks.nonsmooth.complementarity.sparse_lu import Factors, analyse, factors_of


# -- efforts that end a step ------------------------------------------------------------------
def solved(D, b, low, high, L, H, start=None, loose=False, prove=proved):
    """Whether efforts are found, and they; bounds are low + L x and high + H x."""
    n = len(b)
    problem, factors = problem_of(n, n * n), factors_of(n, n * n)
    problem.starts[:], problem.columns[:] = np.arange(n + 1) * n, np.tile(np.arange(n), n)
    problem.b[:], problem.D[:] = b, D.ravel()
    assert analyse(factors, problem.starts, problem.columns, np.arange(n + 1), n)
    pose(problem, n)
    unit = problem.unit
    problem.low[:], problem.high[:] = low / unit, high / unit
    problem.new[:] = 0 if start is None else start / unit
    problem.L[:], problem.H[:] = ((m / unit[:, None] * unit).ravel() for m in (L, H))
    connect(problem, n)
    return prove(problem, factors, n, loose), problem.x * unit


@pytest.mark.parametrize("seed", range(20))
def test_many_contacts_at_once_obey_the_laws_whatever_pushes_them(seed):
    # contacts among a few bodies: hold each other in more ways than there are motions
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 40))
    motions = rng.normal(size=(2 * count, max(3, count)))
    motions[rng.random(motions.shape) < 0.5] = 0.0
    D = motions @ motions.T
    low, high, L, H = rough(count, rng.uniform(0, 0.5, count))
    b = motions @ rng.normal(size=motions.shape[1])
    found, x = solved(D, b, low, high, L, H)
    assert found
    rate, diagonal = b - D @ x, np.maximum(np.diag(D), 1e-9)
    natural = np.abs(x - np.clip(x + rate / diagonal, low + L @ x, np.maximum(
        high + H @ x, low + L @ x))) * diagonal
    assert natural.max() < 1e-6 * max(np.abs(b).max(), np.abs(rate).max())


def test_a_column_of_a_hundred_contacts_carries_what_is_above_and_friction_holds_it():
    # n bodies of 1 kg above each other, pushed aside by a tenth of their weight, mu = 0.3
    n = 100
    relative = np.eye(n) - np.eye(n, k=-1)  # velocity of body i over body i - 1
    D = np.zeros((2 * n, 2 * n))
    D[::2, ::2] = D[1::2, 1::2] = relative @ relative.T
    b = np.zeros(2 * n)
    b[::2] = relative @ np.ones(n)  # everything falls
    b[1::2] = relative @ np.full(n, 0.1)
    found, effort = solved(D, b, *rough(n, np.full(n, 0.3)))
    above = np.arange(n, 0, -1.0)
    assert found
    assert_allclose(effort[::2], above, rtol=1e-8)
    assert_allclose(effort[1::2], 0.1 * above, rtol=1e-7)
    assert solved(D, b, *rough(n, np.full(n, 0.3)), start=effort)[0]


@pytest.mark.parametrize("n", [20, 80])
def test_friction_too_weak_for_the_push_slides_with_the_force_of_its_load(n):
    b, mu = np.tile([10.0, 3.0], n), np.linspace(0.05, 0.5, n)
    found, effort = solved(np.eye(2 * n), b, *rough(n, mu))
    assert found
    assert_allclose(effort[1::2], np.minimum(10 * mu, 3.0), rtol=1e-9)


# -- from inside their bounds -----------------------------------------------------------------
TOL = 1e-10


def contacts(seed: int, count: int, velocities: int, friction: float
             ) -> tuple[np.ndarray, np.ndarray, Problem, Factors]:
    """Directions of normal and friction by turns, free velocities; more contacts than velocities.
    """
    rng = np.random.default_rng(seed)
    n = 2 * count
    directions = rng.normal(size=(n, velocities))
    free = rng.normal(size=velocities)
    problem, factors = problem_of(n, n * n), factors_of(n, n * n)
    problem.starts[:] = np.arange(n + 1) * n
    problem.columns[:] = np.tile(np.arange(n), n)
    problem.unit[:] = 1.0
    problem.b[:] = directions @ free
    problem.D[:] = (directions @ directions.T).ravel()
    problem.high[::2] = np.inf
    for matrix, bound in ((problem.L, -friction), (problem.H, friction)):
        matrix.reshape(n, n)[np.arange(1, n, 2), np.arange(0, n, 2)] = bound
    assert analyse(factors, np.arange(count + 1) * count, np.tile(np.arange(count), count),
                   np.arange(count + 1) * 2, count)
    connect(problem, n)
    return directions, free, problem, factors


@pytest.mark.parametrize("seed", range(4))
def test_contacts_without_friction_leave_the_nearest_velocities_that_part(seed):
    directions, free, problem, factors = contacts(seed, 40, 30, 0.0)
    assert by_smoothing(problem, factors, TOL, 80)
    left = free - directions.T @ problem.x
    efforts, _ = nnls(directions[::2].T, free)
    assert_allclose(left, free - directions[::2].T @ efforts, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("friction", [0.2, 0.8])
def test_efforts_of_contacts_with_friction_obey_coulomb(seed, friction):
    directions, free, problem, factors = contacts(seed, 40, 60, friction)
    assert by_smoothing(problem, factors, TOL, 80)
    flow = directions @ (free - directions.T @ problem.x)
    normal, tangential = problem.x[::2], problem.x[1::2]
    assert normal.min() >= -1e-9 and flow[::2].max() <= 1e-8
    assert_allclose(normal * flow[::2], 0.0, atol=1e-8)
    assert np.all(np.abs(tangential) <= friction * normal + 1e-8)
    slides = np.abs(flow[1::2]) > 1e-6
    assert_allclose(tangential[slides], (friction * normal * np.sign(flow[1::2]))[slides],
                    atol=1e-7)


# -- some give efforts, some flows ------------------------------------------------------------
def passive(rng, gives):
    """A relation of a network that makes no power: lossy where both take the same."""
    n = len(gives)
    a = rng.normal(size=(n, n))
    matrix = -a @ a.T / n - 0.01 * np.eye(n)
    mixed = gives[:, None] != gives[None, :]
    skew = rng.normal(size=(n, n))
    matrix[mixed] = (skew - skew.T)[mixed]
    return matrix


@pytest.mark.parametrize("seed", range(20))
def test_the_answer_obeys_the_network_and_every_law(seed):
    rng = np.random.default_rng(seed)
    n = 7
    gives = rng.random(n) < 0.4
    matrix, offset = passive(rng, gives), rng.normal(size=n)
    kind = rng.integers(0, 4, n)  # diode, switch closed, switch open, friction
    low = np.choose(kind, [0.0, -np.inf, 0.0, -0.5])
    high = np.choose(kind, [np.inf, np.inf, 0.0, 0.5])
    found = solve_mixed(matrix, offset, gives, low, high)
    assert found.converged
    e, f = found.effort, found.flow
    assert_allclose(np.where(gives, e, f), offset + matrix @ np.where(gives, f, e), rtol=0,
                    atol=1e-9)  # fmt: skip
    assert np.all(e >= low - 1e-9)
    assert np.all(e <= high + 1e-9)
    assert np.all(np.where(e < high - 1e-9, f <= 1e-9, True))
    assert np.all(np.where(e > low + 1e-9, f >= -1e-9, True))


def test_open_switches_of_a_bridge_leave_the_diodes_their_current():
    # both switches give their voltage, and their currents are the coil's 7 A but for the diodes'
    matrix = np.array([[0.0, 0, -1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, -1, 0, 0]])
    gives = np.array([True, True, False, False])
    found = solve_mixed(matrix, np.array([7.0, -7.0, -24, 0]), gives, np.zeros(4),
                         np.array([0, 0, np.inf, np.inf]))  # fmt: skip
    assert found.effort.tolist() == [0, 0, 7, 7]
    assert found.flow.tolist() == [24, 0, 0, 0]


# of a node without mass between two ends one friction gives its flow, the other its effort
SERIES, GIVES = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.array([True, False])


@pytest.mark.parametrize("apart", [1.0, -1.0])
@pytest.mark.parametrize(("strengths", "slips"), [((1.0, 2.0), [1.0, 0.0]),
                                                  ((2.0, 1.0), [0.0, 1.0])])
def test_the_weaker_of_two_frictions_in_series_slides(strengths, slips, apart):
    bound = np.array(strengths)
    found = solve_mixed(SERIES, np.array([0.0, apart]), GIVES, -bound, bound)
    assert_allclose(found.effort, apart, rtol=1e-12)  # the smaller of both, carried through
    assert found.flow.tolist() == [apart * slip for slip in slips]


def test_equally_strong_frictions_in_series_slip_by_the_whole_together():
    found = solve_mixed(SERIES, np.array([0.0, 1.0]), GIVES, np.full(2, -1.5), np.full(2, 1.5))
    assert_allclose(found.effort, 1.5)
    assert found.flow.sum() == pytest.approx(1.0)
    assert (found.flow >= 0).all()


def test_a_node_pulled_by_a_known_effort_goes_with_the_stronger_friction():
    found = solve_mixed(SERIES, np.array([0.0, 1.0]), GIVES, np.array([0.7, -2.0]),
                         np.array([0.7, 2.0]))
    assert_allclose(found.effort, 0.7)
    assert_allclose(found.flow, [1.0, 0.0], atol=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_nodes_with_dampers_between_frictions_are_in_balance(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 7)), int(rng.integers(1, 4))
    W, c, F = rng.normal(size=(n, m)), rng.normal(size=n), rng.exponential(size=n) + 0.01
    B = rng.normal(size=(m, m))
    C, g = B @ B.T + 0.1 * np.eye(m), rng.normal(size=m)  # C v + W' effort = g, flow = W v + c
    mobility = W @ np.linalg.inv(C)
    found = solve_mixed(-mobility @ W.T, c + mobility @ g, np.zeros(n, dtype=bool), -F, F)
    assert found.converged
    assert_allclose(found.flow, W @ np.linalg.solve(C, g - W.T @ found.effort) + c, atol=1e-9)
    assert (np.abs(found.effort) <= F * (1 + 1e-12)).all()
    slides = found.flow != 0
    assert_allclose(found.effort[slides], (F * np.sign(found.flow))[slides], rtol=1e-12)


# -- sizes ------------------------------------------------------------------------------------
@pytest.mark.parametrize("feet", [1, 2, 3, 4, 8, 20])
def test_a_box_on_any_number_of_feet_holds_until_all_of_them_slide(feet):
    # N1, T1, N2, T2 … of 10 N in all, mu = 0.5, pulled along: it slides from 5 N on
    D = np.kron(np.ones((feet, feet)), np.eye(2))
    high, slope = np.tile([np.inf, 0.0], feet), np.kron(np.eye(feet), [[0.0, 0.0], [0.5, 0.0]])
    for pull, rate in ((4.9, 0.0), (-4.9, 0.0), (6.0, 1.0), (-6.0, -1.0)):
        found = solve(D, np.tile([10.0, pull], feet), np.zeros(2 * feet), high, -slope, slope)
        assert found.converged
        np.testing.assert_allclose(found.effort[::2].sum(), 10.0, rtol=1e-9)
        np.testing.assert_allclose(found.effort[1::2].sum(), pull - rate, rtol=1e-8)
        np.testing.assert_allclose(found.rate[1::2], rate, atol=1e-8)
        assert np.all(np.abs(found.effort[1::2]) <= 0.5 * found.effort[::2] + 1e-9)


# -- what models have asked for ---------------------------------------------------------------
#: Rows of masses that rub on each other, boxes on feet, gears with losses, brakes that share.
RECORDED = [{name: np.array(value) for name, value in given.items()} for given in json.loads(
    Path(__file__).with_name("decisions.json").read_text(encoding="utf-8"))]


def chosen(given):
    """What is asked: elements that are ``known`` slide, with what is their lower bound."""
    low, high, none = given["lower"], given["upper"], np.zeros(len(given["b"]))
    known, by = given.get("known", none) != 0, given.get("by_lower")
    slopes = by if by is None else [
        by, given["by_upper"], by, np.where(known[:, None], by, given["by_upper"])]
    return choose(given["D"], given["b"], np.array([low, high, low, np.where(known, low, high)]),
                  slopes, slides=-1.0 * known, moved=none, near=given.get("guess", none),
                  noise=none + given["noise"])


def test_interpreted_and_compiled_decisions_are_the_same_to_the_last_bit(monkeypatch):
    assert len(RECORDED) > 40
    compiled = [chosen(given)._asdict() for given in RECORDED]
    monkeypatch.setattr(compiling, "is_installed", lambda: False)
    interpreted = [chosen(given)._asdict() for given in RECORDED]
    assert [(number, name, other[name], one[name])
            for number, (one, other) in enumerate(zip(compiled, interpreted, strict=True))
            for name in one if not np.array_equal(one[name], other[name])] == []


@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_what_is_decided_obeys_every_law(number):
    given = RECORDED[number]
    D, b, known = given["D"], given["b"], given.get("known", np.zeros(len(given["b"]), dtype=bool))
    found, none = chosen(given), np.zeros_like(D)
    L, H = given.get("by_lower", none), given.get("by_upper", none)
    if found.status is Status.NO_SOLUTION:  # what slides presses its own contact faster than it
        left = (D + D[:, known] @ L[known])[~known][:, ~known]  # pushes back
        assert np.linalg.det(left) < 0
        return
    x, rate = found.effort, b - D @ found.effort
    low, high = given["lower"] + L @ x, given["upper"] + H @ x
    bounds = np.where(np.isfinite(high), np.abs(high), 0.0) + np.abs(low)
    size = 1e-8 * max(np.abs(b).max(), np.abs(D @ x).max()) + given["noise"].max() + (
        1e-15 * np.abs(D) @ bounds).max()
    own = np.where(np.diag(D) > 0, np.diag(D), 1.0)
    natural = own * np.abs(x - np.clip(x + rate / own, low, np.maximum(low, high)))
    assert natural[~known].max(initial=0.0) <= size
    assert np.abs(x - low)[known].max(initial=0.0) <= 1e-9 * np.abs(x).max()
