"""Linear equations, some of which leave unknowns open where nothing flows."""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks.system.block_factors import BlockFactors, plan_of


def factors_of(matrix, rows, columns=None):
    """Of a full matrix, of which some rows and columns are of what flows carry."""
    n = len(matrix)
    plan = plan_of(ca.Sparsity.dense(n, n), carried=(rows, rows if columns is None else columns))
    return BlockFactors(plan, matrix.ravel(order="F").copy())


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
    factors = factors_of(matrix, np.ones(n, dtype=bool))
    assert not factors.singular and len(factors.says_nothing) == n - rank
    step = factors.solve(right)
    assert_allclose(matrix @ step, right, atol=1e-9)
    assert_allclose(step[unnamed], 0, atol=0)
    several = factors.solve(np.stack([right, 2 * right], axis=1))
    assert_allclose(several, np.stack([step, 2 * step], axis=1), rtol=1e-12)


def test_rows_that_contradict_others_are_told():
    matrix, right = np.array([[1.0, 0], [1, 0]]), np.array([1.0, 2.0])
    factors = factors_of(matrix, np.ones(2, dtype=bool))
    assert len(factors.says_nothing) == 1
    missed = matrix @ factors.solve(right) - right
    assert abs(missed[factors.says_nothing[0]]) == 1.0


def test_only_what_a_flow_carries_may_be_left_open():
    singular = np.array([[1.0, 0], [1, 0]])
    assert factors_of(singular, np.zeros(2, dtype=bool)).singular
    assert factors_of(singular, np.array([False, True]), np.array([True, False])).singular
    assert not factors_of(singular, np.array([False, True])).singular


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
    factors = factors_of(matrix, may)
    assert not factors.singular and sorted(factors.says_nothing) == [4, 5, 6]
    assert_allclose(factors.solve(matrix @ solution), solution, atol=1e-9)


def test_a_block_counts_its_entries_beside_those_of_whole_rows():
    """H == m * h: beside h, by which H changes with m, a flow of rounding is none."""
    pattern, may = ca.Sparsity.lower(2), np.array([False, True])
    for flow, left_open in ((1e-18, 1), (1e-3, 0)):
        factors = BlockFactors(plan_of(pattern, carried=(may, may)), np.array([1.0, 300.0, flow]))
        assert len(factors.says_nothing) == left_open


def ladder(n):
    """A band with corners, rows and columns in disorder: one block, hardly filled in."""
    chance = np.random.default_rng(n)
    entries = {(i, (i + d) % n): chance.normal() for i in range(n) for d in (-7, -1, 0, 1, 7)}
    rows, columns = chance.permutation(n), chance.permutation(n)
    found = {(int(columns[j]), int(rows[i])): value for (i, j), value in entries.items()}
    places = sorted(found)
    pattern = ca.Sparsity.triplet(n, n, [i for _, i in places], [j for j, _ in places])
    return pattern, np.array([found[place] for place in places])


@pytest.mark.parametrize("n", [40, 300])
def test_a_large_block_that_is_mostly_zeros_is_solved(n):
    pattern, values = ladder(n)
    right = np.arange(1.0, n + 1)
    solution = BlockFactors(plan_of(pattern), values).solve(right)
    assert_allclose(np.array(ca.DM(pattern, values)) @ solution, right, atol=1e-8 * n)


def test_factors_of_a_ladder_have_room_by_its_length():
    """Its fill grows with n, that of a full matrix with its square."""
    small, large = (int(plan_of(ladder(n)[0])[4]) for n in (1000, 4000))
    assert large < 6 * small < 1000 * 1000
