"""Places in arrays, curves of solutions, sparse equations and the table of tolerances."""

import re
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csc_matrix, diags, kronsum, random_array

from blocks.numerics import tolerances
from blocks.numerics.arrays import all_finite, ranks
from blocks.numerics.continuation import curve
from blocks.numerics.sparse_solves import factored


@pytest.mark.parametrize("numbers", [[], [0], [5, 5, 5], [7, 0, 3, 3, 9, 0]])
def test_ranks_are_those_that_sorting_gives(numbers):
    given = np.array(numbers, dtype=int)
    values, place = np.unique(given, return_inverse=True)
    found, count = ranks(given)
    assert found.tolist() == place.tolist()
    assert count == len(values)


@pytest.mark.parametrize(("values", "finite"), [
    ([], True), ([0.0, -1e308, 1e308], True), ([1e200, 1e200], True), ([1.0, np.inf], False),
    ([np.nan, 1.0], False), ([np.inf, -np.inf], False)])
def test_numbers_are_finite_however_large(values, finite):
    assert all_finite(np.array(values)) is finite


def test_a_circle_is_followed_around():
    def residual(point):
        return np.array([point @ point - 1.0])

    def jacobian(point):
        return 2 * point[None, :]

    points = np.array([p for p, _ in islice(
        curve(residual, jacobian, np.array([1.0, 0.0]), np.array([0.0, 1.0])), 400)])
    assert_allclose(np.linalg.norm(points, axis=1), 1.0, atol=1e-9)
    turned = np.unwrap(np.arctan2(points[:, 1], points[:, 0]))
    assert np.all(np.diff(turned) > 0)
    assert turned[-1] > 2 * np.pi


def test_a_curve_that_ends_is_followed_no_further():
    def residual(point):
        return np.array([point[0] - np.sqrt(1.0 - point[1])])

    def jacobian(point):
        return np.array([[1.0, 0.5 / np.sqrt(1.0 - point[1])]])

    with np.errstate(invalid="ignore", divide="ignore"):
        points = [p for p, _ in curve(residual, jacobian, np.array([1.0, 0.0]),
                                      np.array([0.0, 1.0]))]
    assert_allclose(points[-1], [0.0, 1.0], atol=1e-3)


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


LINES = [line for line in Path(tolerances.__file__).read_text(encoding="utf-8").splitlines()
         if re.match(r"[A-Z_0-9, ]+ = ", line)]  # fmt: skip


def test_every_tolerance_has_a_name_of_its_own_and_a_reason():
    assert len(LINES) > 50
    names = Counter(line.split(" =")[0] for line in LINES)
    assert [name for name, count in names.items() if count > 1] == []
    assert [line for line in LINES if not re.search(r"  # \S", line)] == []


def test_every_tolerance_is_used():
    words = Counter(word for file in Path(tolerances.__file__).parents[1].rglob("*.py")
                    for word in re.findall(r"\w+", file.read_text(encoding="utf-8")))
    unused = [name for line in LINES for name in line.split(" =")[0].split(", ") if words[name] < 2]
    assert unused == []
