"""Are predicted modes the only ones? Proved by determinants of the elements that feel each other.

They are where, whatever rows one takes, of an element that sticks or of one that slides either way,
the determinant is positive (R. W. Cottle, G. B. Dantzig, "A generalization of the linear
complementarity problem", J. Comb. Theory 8, 1970). Where bounds move with no effort these are the
principal minors of D: all positive, of whatever number of elements, where it is symmetric and
positive definite.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..numerics.tolerances import (
    FAR_FROM_PARADOX,
    SAFE_PIVOT,
    SURELY_DETERMINED,
    WITHOUT_EFFECT,
)
from .lu import factorize
from .predicted_elements import BACK, FORTH, HIGH, LOW, MOST_PREDICTED, PredictedElements

__all__ = ["bounds_move", "is_only", "is_regular", "part_of"]


@machine_code
def part_of(elements: PredictedElements, e: int) -> int:
    """Fill in the elements that act on ``e``, by rates or bounds; how many."""
    index, n = elements.members, elements.modes.size
    if elements.k.size > 0:
        part, count = elements.part[e], 0
        for k in range(elements.starts[part], elements.starts[part + 1]):
            i = elements.parted[k]
            if elements.leader[i] == i:
                index[count] = i
                count += 1
        return count
    index[0] = e
    count, k = 1, 0
    while k < count:
        i = index[k]
        k += 1
        for j in range(n):
            new = elements.leader[j] == j and _act(elements, i, j)
            for a in range(count):
                new = new and index[a] != j
            if new:
                index[count] = j
                count += 1
    return count


@machine_code
def _act(elements: PredictedElements, i: int, j: int) -> bool:
    """Whether two elements act on each other."""
    d, bounds = elements.d, elements.bounds
    acts = d[i, j] != 0.0 or d[j, i] != 0.0 or (
        elements.bent_by[i, j] != 0.0 or elements.bent_by[j, i] != 0.0)
    for side in range(4):
        acts = acts or bounds[side, i, j] != 0.0 or bounds[side, j, i] != 0.0
    return acts


@machine_code
def is_only(elements: PredictedElements, e: int, count: int) -> bool:
    """Whether all choices of rows have determinants well above zero."""
    if count > MOST_PREDICTED:
        return False
    sizes, chosen, rows = elements.sizes, elements.chosen, elements.rows
    for k in range(count):
        if not _rows_of(elements, e, count, k):
            return False
        chosen[k] = 0
    while True:
        for k in range(count):
            for a in range(count):
                elements.matrix[k, a] = rows[k, chosen[k], a]
        if not factorize(elements.matrix, elements.unit[:count], elements.order) > FAR_FROM_PARADOX:
            return False
        k = 0
        while k < count and chosen[k] + 1 == sizes[k]:
            chosen[k] = 0
            k += 1
        if k == count:
            return True
        chosen[k] += 1


@machine_code
def bounds_move(elements: PredictedElements, count: int) -> bool:
    """Whether bounds in a part depend on efforts."""
    if elements.dependent[0]:
        for a in range(count):
            for b in range(count):
                for side in range(4):
                    if elements.bounds[side, elements.members[a], elements.members[b]] != 0.0:
                        return True
    return False


@machine_code
def _rows_of(elements: PredictedElements, e: int, count: int, k: int) -> bool:
    """Fill in the rows that an element may have; whether it acts on its own rate."""
    i, modes, found = elements.members[k], elements.modes, elements.found
    below, above, size = LOW, HIGH, 0
    if i == e or modes[i] != 0.0:
        below, above = BACK, FORTH
    if i != e and modes[i] != 0.0:
        _row_of_bound(elements, count, k, 0, below if modes[i] < 0.0 else above)
        elements.sizes[k] = 1
        return elements.d[i, i] > 0.0
    for a in range(count):
        elements.rows[k, 0, a] = elements.d[i, elements.members[a]] / elements.d[i, i]
    size = 1
    if np.isfinite(found[LOW, i]):
        _row_of_bound(elements, count, k, size, below)
        size += 1
    if np.isfinite(found[HIGH, i]):
        _row_of_bound(elements, count, k, size, above)
        size += 1
    elements.sizes[k] = size
    return elements.d[i, i] > 0.0


@machine_code
def _row_of_bound(elements: PredictedElements, count: int, k: int, place: int, side: int) -> None:
    """The row of an element whose effort is at a bound."""
    for a in range(count):
        unit = 1.0 if a == k else 0.0
        elements.rows[k, place, a] = unit - elements.bounds[
            side - LOW, elements.members[k], elements.members[a]]


@machine_code
def is_regular(elements: PredictedElements) -> bool:
    """Whether what sticks has no undetermined efforts, and what slides is far from a paradox."""
    for part in range(elements.share.size // 3):  # noqa: SIM110
        if not _is_regular_part(elements, part):
            return False
    return True


@machine_code
def _is_regular_part(elements: PredictedElements, part: int) -> bool:
    """The same of one part."""
    d, parts = elements.d, elements.share.size // 3
    share, alone = elements.share[part], elements.share[2 * parts + part]
    held, largest = np.inf, 0.0
    for e in range(elements.modes.size):
        if elements.leader[e] == e and elements.part[e] == part:
            largest = max(largest, d[e, e])
            if elements.modes[e] == 0.0:
                held = min(held, d[e, e])
    if not held > WITHOUT_EFFECT * largest:
        return False
    if not elements.dependent[0]:
        return share > SAFE_PIVOT
    if not alone > SURELY_DETERMINED:
        return False
    left = share / alone
    if elements.in_a_circle[0]:
        sliding = elements.share[parts + part]
        if not sliding > FAR_FROM_PARADOX:
            return False
        left = min(sliding, left / sliding)
    return left > FAR_FROM_PARADOX
