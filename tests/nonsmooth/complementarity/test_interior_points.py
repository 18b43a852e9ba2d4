"""Efforts from inside their bounds, against other ways to the same ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from blocks.nonsmooth.complementarity.interior_points import from_inside
from blocks.nonsmooth.complementarity.problem import Problem, connect, problem_of
from blocks.nonsmooth.complementarity.sparse_lu import Factors, analyse, factors_of

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
    factors.linked[: count * count] = True
    assert analyse(factors, np.arange(count + 1) * 2, count)
    connect(problem, n)
    return directions, free, problem, factors


@pytest.mark.parametrize("seed", range(4))
def test_contacts_without_friction_leave_the_nearest_velocities_that_part(seed):
    directions, free, problem, factors = contacts(seed, 40, 30, 0.0)
    assert from_inside(problem, factors, TOL, 80)
    left = free - directions.T @ problem.x
    efforts, _ = nnls(directions[::2].T, free)
    assert_allclose(left, free - directions[::2].T @ efforts, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("friction", [0.2, 0.8])
def test_efforts_of_contacts_with_friction_obey_coulomb(seed, friction):
    directions, free, problem, factors = contacts(seed, 40, 60, friction)
    assert from_inside(problem, factors, TOL, 80)
    flow = directions @ (free - directions.T @ problem.x)
    normal, tangential = problem.x[::2], problem.x[1::2]
    assert normal.min() >= -1e-9 and flow[::2].max() <= 1e-8
    assert_allclose(normal * flow[::2], 0.0, atol=1e-8)
    assert np.all(np.abs(tangential) <= friction * normal + 1e-8)
    slides = np.abs(flow[1::2]) > 1e-6
    assert_allclose(tangential[slides], (friction * normal * np.sign(flow[1::2]))[slides],
                    atol=1e-7)


def test_the_same_is_found_without_machine_code():
    found = []
    for function in (from_inside, from_inside.python):
        _, _, problem, factors = contacts(1, 10, 12, 0.3)
        assert function(problem, factors, TOL, 20)
        found.append(problem.x.copy())
    assert_allclose(found[1], found[0], rtol=0, atol=1e-10)
