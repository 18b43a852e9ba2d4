"""Lemke's path of a linear complementarity problem, and of a box: complementary pivoting.

The problem (:func:`lemke_lcp`) is 0 <= z, 0 <= w = q + M z, z'w = 0. Its pivots are lexicographic,
so that ties (two feet that carry the same load) cannot make it cycle. For copositive M, which
frictional contact has, it ends at a solution wherever the theory promises one.

On a box (:func:`lemke_box`) all elements start at a bound, held there by an artificial rate alone,
which is driven to zero. In a compact box the path cannot run off: efforts are bounded, and the rate
is endless only on the starting ray. So it ends at a solution for *every* matrix D, also where the
answer is not unique. Where there are no bounds it may run off, which is reported as unbounded.

References
----------
Lemke, Management Science 11 (1965) 681-689.
Cao, Ferris, Math. Oper. Res. 21 (1996) 44-64 (pivoting for affine
variational inequalities over a box).
Cottle, Pang, Stone, The Linear Complementarity Problem, 1992, ch. 4.
"""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array, Indices
from ...numerics.tolerances import NO_SPEED, RISING, TIED_RATIO, TINY
from .active_set import Trial
from .scaling import ScaledBox

__all__ = ["lemke_box", "lemke_lcp"]

FAR = 1e8
"""Stand-in for the bound of an effort without any, in multiples of the largest finite number."""


def lemke_box(box: ScaledBox, limit: int) -> Trial:
    """Follow the path on a box of a dense matrix; efforts are counted from a bound on."""
    n, D = box.size, np.asarray(box.D)
    known = np.concatenate([box.b, box.lower, box.upper])
    far = FAR * np.max(np.abs(known[np.isfinite(known)]), initial=TINY)
    inward = np.where(np.abs(box.lower) <= np.abs(box.upper), 1.0, -1.0)  # from the nearer bound
    base = np.clip(np.where(inward > 0, box.lower, box.upper), -far, far)
    width = np.where(inward > 0, box.upper - base, base - box.lower)
    ends = np.flatnonzero(np.isfinite(width))  # where there is another bound
    across = np.eye(n)[:, ends]
    M = np.block([[inward[:, None] * D * inward, across], [-across.T, np.zeros((len(ends),) * 2)]])
    q = np.concatenate([inward * (D @ base - box.b), width[ends]])
    cover = np.where(np.arange(len(q)) < n, 1.0, 0.0)
    z, found, pivots = lemke_lcp(M, q, limit, cover)
    x = np.clip(base + inward * z[:n], box.lower, box.upper)
    return Trial(x, pivots, unbounded=not found and pivots < limit)


def lemke_lcp(M: Array, q: Array, limit: int = 1000, cover: Array | None = None
              ) -> tuple[Array, bool, int]:
    """Pivot until the artificial variable leaves; returns z, whether it did, and the pivots.

    ``cover`` tells by how much it adds to every w, by default to all alike.

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
    cover = np.ones(n) if cover is None else cover
    begun = np.hstack([np.eye(n), -M, -cover[:, None], q[:, None]])
    table = begun.copy()
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
            return _values(table, basis, begun), True, pivot
        entering = leaving + n if leaving < n else leaving - n
        column = table[:, entering]
        rising = np.flatnonzero(column > RISING * max(1.0, float(np.abs(column).max())))
        if not len(rising):
            break
        last = np.flatnonzero(basis[rising] == artificial)
        ratio = table[rising, -1] / column[rising]
        if len(last) and ratio[last[0]] <= ratio.min() + NO_SPEED * max(1.0, abs(ratio.min())):
            row = int(rising[last[0]])  # the artificial variable may leave: prefer to end
        else:
            row = _least(table, rising, column)
    return _values(table, basis, begun), False, pivot


def _values(table: Array, basis: Indices, begun: Array) -> Array:
    """What z comes to, once more by the equations as they were ``begun``.

    A flow beside efforts a million times as large would be rounding of these.
    """
    n = len(table)
    inverse, matrix, q = table[:, :n], begun[:, basis], begun[:, -1]
    value = inverse @ q
    value += inverse @ (q - matrix @ value)
    z = np.zeros(2 * n + 1)
    z[basis] = np.maximum(value, 0.0)
    return z[n : 2 * n]


def _least(table: Array, rows: Indices, column: Array) -> int:
    """The row of the lexicographically least ratio to ``column``."""
    for k in (-1, *range(len(table))):
        ratio = table[rows, k] / column[rows]
        least = ratio.min()
        rows = rows[ratio <= least + TIED_RATIO * max(1.0, abs(float(least)))]
        if len(rows) == 1:
            break
    return int(rows[0])
