"""A solution of 0 <= z, 0 <= w = q + M z, z'w = 0 by Lemke's path.

Knows a matrix and a vector only. Lexicographic, so that ties (two feet that carry the
same load) cannot make it cycle. For copositive M, which frictional contact has, it ends
at a solution wherever the theory promises one.

References
----------
Lemke, Management Science 11 (1965) 681-689.
Cottle, Pang, Stone, The Linear Complementarity Problem, 1992, sec. 4.4 and 4.9.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["lemke_lcp"]

Array = NDArray[np.float64]
ZERO = 1e-11


def lemke_lcp(M: Array, q: Array, limit: int = 1000) -> tuple[Array, bool, int]:
    """Pivot until the artificial variable leaves; returns z, whether it did, and the pivots.

    Examples
    --------
    >>> z, found, _ = lemke_lcp(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0]))
    >>> z.round(12).tolist(), found
    ([1.333333333333, 2.333333333333], True)
    """
    n = len(q)
    if n == 0 or q.min() >= 0:
        return np.zeros(n), True, 0
    # columns: w (the inverse of the basis: decides ties), z, artificial, right side
    cover = np.ones(n)
    table = np.hstack([np.eye(n), -M, -cover[:, None], q[:, None]])
    basis = np.arange(n)
    artificial = 2 * n
    row = _least(table, np.flatnonzero(q < 0), cover)
    entering = artificial
    for pivot in range(1, limit + 1):
        leaving = int(basis[row])
        table[row] /= table[row, entering]
        others = np.arange(n) != row
        table[others] -= np.outer(table[others, entering], table[row])
        basis[row] = entering
        if leaving == artificial:
            z = np.zeros(2 * n + 1)
            z[basis] = table[:, -1]
            return np.maximum(z[n : 2 * n], 0.0), True, pivot
        entering = leaving + n if leaving < n else leaving - n
        column = table[:, entering]
        rising = np.flatnonzero(column > ZERO * max(1.0, float(np.abs(column).max())))
        if not len(rising):
            break
        last = np.flatnonzero(basis[rising] == artificial)
        ratio = table[rising, -1] / column[rising]
        if len(last) and ratio[last[0]] <= ratio.min() + 1e-13 * max(1.0, abs(ratio.min())):
            row = int(rising[last[0]])  # the artificial variable may leave: prefer to end
        else:
            row = _least(table, rising, column)
    z = np.zeros(2 * n + 1)
    z[basis] = table[:, -1]
    return np.maximum(z[n : 2 * n], 0.0), False, pivot


def _least(table: Array, rows: NDArray[np.intp], column: Array) -> int:
    """The row of the lexicographically least ratio to ``column``."""
    for k in (-1, *range(len(table))):
        ratio = table[rows, k] / column[rows]
        least = ratio.min()
        rows = rows[ratio <= least + 1e-12 * max(1.0, abs(float(least)))]
        if len(rows) == 1:
            break
    return int(rows[0])
