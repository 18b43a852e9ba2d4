"""A few linear equations, solved in machine code."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks.machine.signatures import address_of
from blocks.native.lu import (
    factor_beside,
    factor_columns,
    factorize,
    solve,
    solve_beside,
    solve_columns,
)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 8])
def test_solution_and_determinant(n):
    random = np.random.default_rng(n)
    room, right, order = np.full((8, 8), np.nan), np.full(8, np.nan), np.zeros(8, dtype=int)
    a, b = random.normal(size=(n, n)), random.normal(size=n)
    if n > 1:
        a[0, 0] = 0.0  # rows have to change places
    room[:n, :n], right[:n] = a, b
    assert_allclose(factorize(room, np.ones(n), order), np.linalg.det(a), rtol=1e-12)
    solve(room, order, right[:n], np.empty(n))
    assert_allclose(right[:n], np.linalg.solve(a, b), rtol=1e-10)


def test_a_singular_matrix_has_no_determinant():
    order = np.zeros(2, dtype=int)
    assert factorize(np.array([[1.0, 2.0], [2.0, 4.0]]), np.ones(2), order) == 0.0


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_full_matrices_are_solved_as_by_lapack(n):
    random = np.random.default_rng(n)
    matrix, right = random.normal(size=(n, n)), random.normal(size=n)
    matrix[0, 0] = 0.0 if n > 1 else 2.0  # rows have to change places
    columns, order, found = matrix.T.copy(), np.zeros(n, dtype=np.int64), right.copy()
    given = address_of(columns), address_of(order), n
    assert factor_columns(*given) == 0
    assert solve_columns(*given, address_of(found)) == 0
    assert_allclose(found, np.linalg.solve(matrix, right), rtol=1e-11)
    assert factor_columns(address_of(np.zeros((n, n))), address_of(order), n) == 1


@pytest.mark.parametrize(("n", "count"), [(1, 5), (2, 1), (3, 40), (8, 7)])
def test_small_matrices_side_by_side_are_solved_as_each_alone(n, count):
    """Equations in pascals beside such in kilograms a second, of which some change places."""
    random = np.random.default_rng(n)
    matrices, right = random.normal(size=(count, n, n)), random.normal(size=(count, n))
    if n > 1:
        matrices[::2, 0, 0] = 0.0
    matrices *= 10.0 ** random.uniform(-9, 9, size=(count, n, 1))
    room, found, lost = np.zeros((2 * n, n, count)), right.T.copy(), np.full(count, np.nan)
    room[:n] = matrices.transpose(2, 1, 0)
    factor_beside(address_of(room), address_of(lost), n, count)
    solve_beside(address_of(room), address_of(found), n, count)
    expected = np.linalg.solve(matrices, right[..., None])[..., 0]
    assert_allclose(found.T, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())
    assert not lost.any()


def test_a_matrix_with_an_infinite_entry_is_told_from_those_beside_it():
    room, lost = np.zeros((4, 2, 2)), np.zeros(2)
    room[:2] = np.eye(2)[..., None]
    room[0, 1, 1] = np.inf
    factor_beside(address_of(room), address_of(lost), 2, 2)
    assert lost[0] == 0.0 and np.isnan(lost[1])
