"""Matching and Dulmage-Mendelsohn parts, judged by brute force and by scipy."""

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

from blocks.assembly.matching import match


def random_pattern(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 9, 2)
    return rng.random((n, m)) < rng.uniform(0.1, 0.6)


PATTERNS = [random_pattern(seed) for seed in range(150)]


def matched(pattern):
    return match(*np.nonzero(pattern), *pattern.shape)


def rank(pattern):
    """Size of a maximum matching, by scipy."""
    if not pattern.any():
        return 0
    return int((maximum_bipartite_matching(csr_matrix(pattern), perm_type="column") >= 0).sum())


def test_the_matching_is_one_and_as_large_as_scipy_finds():
    for pattern in PATTERNS:
        m = matched(pattern)
        for unknown, equation in enumerate(m.equation_of):
            if equation >= 0:
                assert pattern[equation, unknown]
                assert m.unknown_of[equation] == unknown
        assert (m.equation_of >= 0).sum() == (m.unknown_of >= 0).sum() == rank(pattern)
        assert m.perfect == (pattern.shape[0] == pattern.shape[1] == rank(pattern))


def test_an_equation_is_spare_in_some_matching_exactly_if_it_is_over_determined():
    # without it the others can be matched as well: brute force over all rows and columns
    for pattern in PATTERNS:
        m, full = matched(pattern), rank(pattern)
        over = [i for i in range(pattern.shape[0]) if rank(np.delete(pattern, i, 0)) == full]
        under = [j for j in range(pattern.shape[1]) if rank(np.delete(pattern, j, 1)) == full]
        assert sorted(m.over_equations) == over
        assert sorted(m.under_unknowns) == under


def test_parts_cover_everything_once():
    for pattern in PATTERNS:
        m = matched(pattern)
        equations = [*m.over_equations, *m.block_equations, *m.under_equations]
        unknowns = [*m.over_unknowns, *m.block_unknowns, *m.under_unknowns]
        assert sorted(equations) == list(range(pattern.shape[0]))
        assert sorted(unknowns) == list(range(pattern.shape[1]))


@pytest.mark.parametrize("large", [False, True])
def test_an_equation_too_many_is_found_at_any_size(large, monkeypatch):
    monkeypatch.setattr("blocks.assembly.matching.BIG", 0 if large else 100)
    m = match(*np.nonzero(np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1]])), 3, 3)
    assert sorted(m.over_equations) == [0, 1] and sorted(m.under_unknowns) == [1, 2]


@pytest.mark.parametrize("large", [False, True])
def test_blocks_are_the_strong_components_in_an_order_that_can_be_solved(large, monkeypatch):
    monkeypatch.setattr("blocks.assembly.matching.BIG", 0 if large else 100)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 12))
        pattern = (rng.random((n, n)) < 0.2) | np.eye(n, dtype=bool)
        pattern = pattern[rng.permutation(n)][:, rng.permutation(n)]
        m = matched(pattern)
        assert m.perfect
        graph = pattern[:, m.unknown_of]  # equation i needs the unknown of equation j
        count, _ = connected_components(csr_matrix(graph), connection="strong")
        assert len(m.block_starts) - 1 == count
        known: set[int] = set()
        for a, b in zip(m.block_starts[:-1], m.block_starts[1:], strict=True):
            block = set(m.block_unknowns[a:b].tolist())
            for equation in m.block_equations[a:b]:
                assert set(np.flatnonzero(pattern[equation]).tolist()) <= known | block
            known |= block


def test_hall_violators_are_found():
    # three equations in two unknowns, beside one equation in two unknowns
    pattern = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]], dtype=bool)
    m = matched(pattern)
    assert sorted(m.over_equations) == [0, 1, 2]
    assert sorted(m.over_unknowns) == [0, 1]
    assert sorted(m.under_equations) == [3]
    assert sorted(m.under_unknowns) == [2, 3]
    violators = [rows for k in range(1, 5) for rows in combinations(range(4), k)
                 if pattern[list(rows)].any(axis=0).sum() < k]
    assert set(violators[0]) == set(m.over_equations)
