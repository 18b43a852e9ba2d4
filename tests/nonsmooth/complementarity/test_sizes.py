"""Networks of 1 to 200 frictions and contacts: every law holds, and the work stays bounded."""

import numpy as np
import pytest

from blocks.nonsmooth.complementarity import solve

SIZES = [1, 2, 3, 5, 8, 13, 24, 40, 60, 100, 200]


def row(n):
    """Masses that rub on the floor and on their neighbour."""
    return np.vstack([np.eye(n), (np.eye(n) - np.eye(n, k=1))[:-1]])


def ring(n):
    return np.vstack([np.eye(n), np.eye(n) - np.roll(np.eye(n), 1, axis=1)])


def tree(n):
    branches = np.eye(n)
    for i in range(1, n):
        branches[i, (i - 1) // 2] = -1.0
    return branches


def in_parallel(n):
    """Brakes on one shaft, by gears."""
    return np.linspace(1.0, 3.0, n)[:, None]


@pytest.mark.parametrize("shape", [row, ring, tree, in_parallel])
@pytest.mark.parametrize("n", SIZES)
def test_frictions_of_any_number_obey_their_laws_with_bounded_work(shape, n):
    rng = np.random.default_rng(n)
    moves = shape(n)
    inverse = np.diag(1 / rng.uniform(0.5, 2.0, moves.shape[1]))
    D, F = moves @ inverse @ moves.T, rng.uniform(0.1, 1.0, len(moves))
    for push in (0.1, 1.0, 3.0):
        b = moves @ inverse @ (push * rng.normal(size=moves.shape[1]))
        found = solve(D, b, -F, F)
        rate, size = b - D @ found.effort, max(np.abs(b).max(), 1e-9)
        assert found.converged
        assert np.all(np.abs(found.effort) <= F)
        assert np.abs(rate[found.state == 0]).max(initial=0.0) <= 1e-8 * size
        moving = found.state != 0
        assert np.array_equal(found.effort[moving], (found.state * F)[moving])
        assert np.all(found.state[moving] * rate[moving] > 0)
        assert found.iterations <= 100


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
