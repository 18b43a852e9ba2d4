"""Lemke's path through a linear complementarity problem, in plain loops.

Ties are broken lexicographically, so that it cannot cycle. Where the artificial variable cannot
leave there is no solution, or none that the path leads to.

References
----------
Lemke, Management Science 11 (1965) 681-689.
Cottle, Pang, Stone, The Linear Complementarity Problem, 1992, ch. 4.
"""

from __future__ import annotations

import numpy as np

from ...machine.functions import machine_code
from ...numerics.arrays import Flags, Indices, Matrix
from ...numerics.tolerances import DELASSUS_SINGULAR, NOISE, ROUNDING

__all__ = ["pivot"]


@machine_code
def pivot(table: Matrix, basis: Indices, among: Flags, n: int, limit: int) -> int:
    """Pivot until the artificial variable leaves; how often, or -1 where it never does.

    ``table`` is (n, 2 n + 2) or more: unit matrix, -M, what the artificial variable adds, right
    side; ``basis`` is filled with the variables that are not zero, ``among`` is room.
    """
    right, artificial = 2 * n + 1, 2 * n
    begins = False
    for i in range(n):
        basis[i], among[i] = i, table[i, right] < 0.0
        begins |= among[i]
    if not begins:
        return 0
    row, entering = _least(table, among, artificial, -1.0, n), artificial
    for pivots in range(1, limit + 1):
        leaving, own = basis[row], 1.0 / table[row, entering]
        for j in range(2 * n + 2):
            table[row, j] *= own
        for i in range(n):
            factor = table[i, entering]
            if i != row and factor != 0.0:
                for j in range(2 * n + 2):
                    table[i, j] -= factor * table[row, j]
        basis[row] = entering
        if leaving == artificial:
            return pivots
        entering = leaving + n if leaving < n else leaving - n
        largest, last, least = 1.0, -1, np.inf
        for i in range(n):
            largest = max(largest, abs(table[i, entering]))
        rises = False
        for i in range(n):
            among[i] = table[i, entering] > DELASSUS_SINGULAR * largest
            if among[i]:
                rises = True
                least = min(least, table[i, right] / table[i, entering])
                if basis[i] == artificial:
                    last = i
        if not rises:
            return -1
        if last >= 0 and table[last, right] / table[last, entering] <= least + NOISE * max(
                1.0, abs(least)):
            row = last  # the artificial variable may leave: prefer to end
        else:
            row = _least(table, among, entering, 1.0, n)
    return -1


def _least(table: Matrix, among: Flags, column: int, sign: float, n: int) -> int:
    """The row of the lexicographically least ratio to a column, counted with a sign."""
    for k in range(n + 1):
        least, left, first, at = np.inf, 0, 0, k - 1 if k > 0 else 2 * n + 1
        for i in range(n):
            if among[i]:
                least = min(least, sign * table[i, at] / table[i, column])
        for i in range(n):
            if among[i]:
                among[i] = sign * table[i, at] / table[i, column] <= least + ROUNDING * max(
                    1.0, abs(least))
            if among[i]:
                first = i if left == 0 else first
                left += 1
        if left == 1:
            return first
    return first
