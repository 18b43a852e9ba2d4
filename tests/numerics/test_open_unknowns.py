"""Linear equations that leave unknowns open, in Python and in machine code."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks.native.sparse_factors import SparseFactors, factorize_blocks, room_for, solve_blocks
from blocks.numerics.open_unknowns import open_unknowns, pinned


def solved(matrix, right, may):
    """The solution, whether there is none, and what is missed by rows that say nothing new."""
    n = len(right)
    factors = SparseFactors(ca.Sparsity.dense(n, n), 0, carried=(may, may))
    values, plan = np.asfortranarray(matrix).ravel(order="F"), factors.plan()
    room = np.empty(room_for(n))
    given = values.ctypes.data, plan.ctypes.data, room.ctypes.data
    singular, x = factorize_blocks(*given), right.copy()
    solve_blocks(*given, x.ctypes.data)
    return x, singular, room[factors.missed - n * n]


def equations(chance, n, rank):
    """A matrix of a rank, some columns without any entry, and a right side that agrees."""
    matrix = np.zeros((n, n))
    columns = chance.permutation(n)[:rank]
    rows = chance.normal(size=(rank, rank))
    matrix[:, columns] = chance.normal(size=(n, rank)) @ rows
    return matrix, matrix @ chance.normal(size=n), np.setdiff1d(np.arange(n), columns)


@pytest.mark.parametrize("seed", range(20))
def test_what_no_equation_names_does_not_change(seed):
    chance = np.random.default_rng(seed)
    n = int(chance.integers(1, 7))
    rank = int(chance.integers(0, n + 1))
    matrix, right, unnamed = equations(chance, n, rank)
    rows, columns = open_unknowns(matrix)
    assert sorted(columns) == sorted(unnamed)
    plain = right.copy()
    plain[rows] = 0
    step = np.linalg.solve(pinned(matrix, rows, columns), plain)
    assert_allclose(matrix @ step, right, atol=1e-9)
    assert_allclose(step[unnamed], 0, atol=1e-12)

    compiled, singular, missed = solved(matrix, right, np.ones(n, dtype=bool))
    assert not singular and missed < 1e-9
    assert_allclose(compiled, step, atol=1e-8)


def test_equations_that_contradict_each_other_are_refused():
    may = np.ones(2, dtype=bool)
    _, singular, missed = solved(np.array([[1.0, 0], [1, 0]]), np.array([1.0, 2.0]), may)
    assert not singular and missed == 1.0


def test_only_what_a_flow_carries_may_be_left_open():
    may = np.zeros(2, dtype=bool)
    assert solved(np.array([[1.0, 0], [1, 0]]), np.array([1.0, 1.0]), may)[1]


@pytest.mark.parametrize("seed", range(10))
def test_rows_of_what_a_flow_carries_follow_from_those_of_flows_and_not_they_from_them(seed):
    """Before any flow is known: H == m * h says of m what it says of h when m is found."""
    chance = np.random.default_rng(seed)
    flows, carried = 4, 3
    n = flows + carried
    may = np.arange(n) >= flows
    matrix = np.zeros((n, n))
    matrix[:flows, :flows] = chance.normal(size=(flows, flows)) * 10.0 ** chance.uniform(-3, 0)
    matrix[flows:, :flows] = chance.normal(size=(carried, flows)) * 1e5
    solution = np.append(chance.normal(size=flows), np.zeros(carried))
    right = matrix @ solution
    rows, columns = open_unknowns(matrix, None, may)
    assert sorted(rows) == sorted(columns) == [4, 5, 6]

    x, singular, missed = solved(matrix, right, may)
    assert not singular and missed < 1e-9 * abs(right).max()
    assert_allclose(x, solution, atol=1e-9)


def test_a_block_counts_its_entries_beside_those_of_whole_rows():
    """H == m * h: beside h, by which H changes with m, a flow of rounding is none."""
    flows = np.array([[1e-18]]), np.array([[1e-3]])
    carried, whole_row = np.ones(1, dtype=bool), np.array([300.0])
    assert [len(open_unknowns(m, None, carried, whole_row)[1]) for m in flows] == [1, 0]
    assert [len(open_unknowns(m, None, carried)[1]) for m in flows] == [0, 0]
