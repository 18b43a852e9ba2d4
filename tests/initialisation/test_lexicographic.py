"""Least squares level by level, of unknowns that have to do with each other and of others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import block_diag, null_space
from scipy.sparse import csr_array

from blocks.initialisation.lexicographic import lexicographic_step


def by_projection(jacobians, residuals, n):
    """Each level by least squares in the null space of those before."""
    step, null, first = np.zeros(n), np.eye(n), None
    for j, r in zip(jacobians, residuals, strict=True):
        if j is not None and null.shape[1]:
            step = step - null @ np.linalg.pinv(j @ null, rcond=1e-10) @ (r + j @ step)
            left = null_space(j @ null, rcond=1e-10)
            null = null @ left
        first = step if first is None else first
    return first, step


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("seed", range(6))
def test_parts_are_solved_as_all_together(seed, kind):
    """Three groups of unknowns, unknowns with rows of their own, and some without any."""
    chance = np.random.default_rng(seed)
    alone = np.diag(chance.choice([0.0, 0.3, 2.0], 7))[chance.random(7) < 0.7]
    levels = [block_diag(*(chance.normal(size=(rows, size)) for rows, size in (
        (1, 3), (2, 4), (0, 2))), alone[: 2 + k]) for k in range(3)]
    width = max(level.shape[1] for level in levels)
    order = chance.permutation(width)
    levels = [np.pad(level, [(0, 0), (0, width - level.shape[1])])[:, order] for level in levels]
    if seed % 2:
        levels[0] = None
    right = [np.zeros(0) if level is None else chance.normal(size=len(level)) for level in levels]
    found = lexicographic_step([None if j is None else kind(j) for j in levels], right, width)
    for mine, wanted in zip(found, by_projection(levels, right, width), strict=True):
        assert_allclose(mine, wanted, atol=1e-9)


def test_several_rows_of_one_unknown_meet_in_the_middle():
    _, step = lexicographic_step(
        [None, np.array([[2.0], [2.0]]), np.array([[1.0]])],
        [np.zeros(0), np.array([-2.0, -4.0]), np.array([-9.0])], 1)
    assert_allclose(step, [1.5])
