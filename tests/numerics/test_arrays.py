"""Places among distinct numbers, counted."""

from __future__ import annotations

import numpy as np
import pytest

from blocks.numerics.arrays import ranks


@pytest.mark.parametrize("numbers", [[], [0], [5, 5, 5], [7, 0, 3, 3, 9, 0]])
def test_ranks_are_those_that_sorting_gives(numbers):
    given = np.array(numbers, dtype=int)
    values, place = np.unique(given, return_inverse=True)
    found, count = ranks(given)
    assert found.tolist() == place.tolist()
    assert count == len(values)
