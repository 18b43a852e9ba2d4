"""Efforts and flows where some elements take one and some the other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks.nonsmooth.complementarity import solve, solve_mixed


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


@pytest.mark.parametrize("seed", range(5))
def test_it_agrees_with_the_box_where_all_take_their_efforts(seed):
    rng = np.random.default_rng(seed)
    n = 5
    matrix, offset = passive(rng, np.zeros(n, dtype=bool)), rng.normal(size=n)
    low, high = -rng.uniform(0.1, 1, n), rng.uniform(0.1, 1, n)
    found = solve_mixed(matrix, offset, np.zeros(n, dtype=bool), low, high)
    assert_allclose(found.effort, solve(-matrix, offset, low, high).effort, rtol=0, atol=1e-8)


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
    velocity = np.linalg.solve(C, g - W.T @ found.effort)
    assert_allclose(found.flow, W @ velocity + c, atol=1e-9)
    assert (np.abs(found.effort) <= F * (1 + 1e-12)).all()
    slides = found.flow != 0
    assert_allclose(found.effort[slides], (F * np.sign(found.flow))[slides], rtol=1e-12)
