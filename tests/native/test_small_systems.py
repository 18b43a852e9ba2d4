"""A few linear equations, solved in machine code."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks.machine.signatures import address_of
from blocks.native.lu import factor_columns, factorize, solve, solve_columns

pytest.importorskip("llvmlite")


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
