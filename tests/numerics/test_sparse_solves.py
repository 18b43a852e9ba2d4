"""Large sparse equations are solved, whatever order their rows come in."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csc_matrix, diags, kronsum, random_array

from blocks.numerics.sparse_solves import factored


def laplacian(n):
    line = diags([-np.ones(n - 1), 2.01 * np.ones(n), -np.ones(n - 1)], [-1, 0, 1])
    return csc_matrix(kronsum(line, line))


@pytest.mark.parametrize("shuffled", [False, True])
def test_the_matrix_of_a_graph_is_solved_with_its_rows_in_any_order(shuffled):
    matrix = laplacian(30)
    rng = np.random.default_rng(1)
    order = rng.permutation(900) if shuffled else np.arange(900)
    matrix = csc_matrix(matrix[order])
    x = rng.normal(size=(900, 2))
    assert_allclose(factored(matrix)(matrix @ x), x, rtol=1e-9, atol=1e-10)
    assert_allclose(factored(matrix)(matrix @ x[:, 0]), x[:, 0], rtol=1e-9, atol=1e-10)


def test_a_matrix_without_a_symmetric_pattern_is_solved_too():
    rng = np.random.default_rng(2)
    matrix = csc_matrix(random_array((50, 50), density=0.1, rng=rng) + 3 * diags(np.ones(50)))
    x = rng.normal(size=50)
    assert_allclose(factored(matrix)(matrix @ x), x, rtol=1e-10, atol=1e-10)


def test_a_singular_matrix_is_refused():
    with pytest.raises(RuntimeError):
        factored(csc_matrix((3, 3)))
