"""Places among distinct numbers, counted; and whether numbers are finite."""

import numpy as np
import pytest

from blocks.numerics.arrays import all_finite, ranks


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
