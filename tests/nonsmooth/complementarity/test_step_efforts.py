"""Efforts that end a step, of many elements at once, against closed forms and their own laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks.nonsmooth.complementarity import decide
from blocks.nonsmooth.complementarity.decide import proved
from blocks.nonsmooth.complementarity.problem import connect, pose, problem_of
from blocks.nonsmooth.complementarity.sparse_lu import analyse, factors_of


def contacts(count, mu):
    """Bounds of contacts and their friction, in turns."""
    n = 2 * count
    low, high, slope = np.zeros(n), np.zeros(n), np.zeros((n, n))
    high[::2] = np.inf
    slope[np.arange(1, n, 2), np.arange(0, n, 2)] = mu
    return low, high, -slope, slope


def solved(D, b, low, high, L, H, start=None, loose=False, prove=proved):
    """Whether efforts are found, and they; bounds are low + L x and high + H x."""
    n = len(b)
    problem, factors = problem_of(n, n * n), factors_of(n, n * n)
    problem.starts[:], problem.columns[:] = np.arange(n + 1) * n, np.tile(np.arange(n), n)
    problem.b[:], problem.D[:] = b, D.ravel()
    factors.linked[: n * n] = True
    assert analyse(factors, np.arange(n + 1), n)
    pose(problem, n)
    unit = problem.unit
    problem.low[:], problem.high[:] = low / unit, high / unit
    problem.new[:] = 0 if start is None else start / unit
    problem.L[:], problem.H[:] = ((m / unit[:, None] * unit).ravel() for m in (L, H))
    connect(problem, n)
    found = prove(problem, factors, n, loose)
    return found, problem.x * unit


@pytest.mark.parametrize("seed", range(20))
def test_many_contacts_at_once_obey_the_laws_whatever_pushes_them(seed):
    # contacts among a few bodies: hold each other in more ways than there are motions
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 40))
    motions = rng.normal(size=(2 * count, max(3, count)))
    motions[rng.random(motions.shape) < 0.5] = 0.0
    D = motions @ motions.T
    low, high, L, H = contacts(count, rng.uniform(0, 0.5, count))
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
    found, effort = solved(D, b, *contacts(n, np.full(n, 0.3)))
    above = np.arange(n, 0, -1.0)
    assert found
    assert_allclose(effort[::2], above, rtol=1e-8)
    assert_allclose(effort[1::2], 0.1 * above, rtol=1e-7)
    assert solved(D, b, *contacts(n, np.full(n, 0.3)), start=effort)[0]


@pytest.mark.parametrize("n", [20, 80])
def test_friction_too_weak_for_the_push_slides_with_the_force_of_its_load(n):
    b, mu = np.tile([10.0, 3.0], n), np.linspace(0.05, 0.5, n)
    found, effort = solved(np.eye(2 * n), b, *contacts(n, mu))
    assert found
    assert_allclose(effort[1::2], np.minimum(10 * mu, 3.0), rtol=1e-9)


def test_what_no_other_way_finds_is_found_by_pivoting(monkeypatch):
    for name in ("_by_pieces", "from_inside"):
        monkeypatch.setattr(decide, name, lambda *given: False)
    n = 20
    b, mu = np.tile([10.0, 3.0], n), np.linspace(0.05, 0.5, n)
    found, effort = solved(np.eye(2 * n), b, *contacts(n, mu), prove=proved.python)
    assert found
    assert_allclose(effort[1::2], np.minimum(10 * mu, 3.0), rtol=1e-9)


def test_what_is_not_found_at_all_is_not_proved():
    # friction that presses its own contact together faster than it pushes back
    D = np.array([[1.0, -2.0], [-2.0, 5.0]])
    slope = np.array([[0.0, 0.0], [1.0, 0.0]])
    b, low, high = np.array([1.0, 10.0]), np.zeros(2), np.array([np.inf, 0.0])
    assert not solved(D, b, low, high, slope, slope)[0]
    assert not solved(D, b, low, high, slope, slope, loose=True)[0]
