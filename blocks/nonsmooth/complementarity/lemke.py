"""Lemke's path, on a box and on a linear complementarity problem: complementary pivoting.

On the box (:func:`lemke_box`) all elements start at a bound, held there by an artificial rate
z d; z is driven to zero, one element changing its mode per pivot. In a compact box the path
cannot run off: efforts are bounded, and z -> infinity only on the starting ray. So an end at
z = 0 exists for *every* matrix D, also where the answer is not unique. Infinite bounds are
replaced by far ones; an end on such a bound is reported as unbounded.

The linear complementarity problem (:func:`lemke_lcp`) is 0 <= z, 0 <= w = q + M z, z'w = 0.
Its pivots are lexicographic, so that ties (two feet that carry the same load) cannot make it
cycle. For copositive M, which frictional contact has, it ends at a solution wherever the theory
promises one.

References
----------
Lemke, Management Science 11 (1965) 681-689.
Cao, Ferris, Math. Oper. Res. 21 (1996) 44-64 (pivoting for affine
variational inequalities over a box).
Cottle, Pang, Stone, The Linear Complementarity Problem, 1992, ch. 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics.arrays import Array, Indices
from ...numerics.tolerances import LEAVING, NO_SPEED, RISING, TIED_RATIO, TINY
from .active_set import Trial
from .scaling import ScaledBox

__all__ = ["lemke_box", "lemke_lcp"]

FAR = 1e8
"""Stand-in for an infinite bound, in multiples of the largest finite number."""


# -- on a box -----------------------------------------------------------------------------------
def lemke_box(box: ScaledBox, limit: int) -> Trial:
    """Follow the path; dense matrices, one LU factorisation a pivot."""
    low, high = _far_bounds(box)
    # At the bound nearer to zero; d pushes outward. Its lengths are arbitrary but
    # generic, so that two elements never reach their limit at the same z.
    at = np.where(np.abs(low) <= np.abs(high), -1, 1)
    d = -at * np.random.default_rng(7).uniform(1.0, 2.0, box.size)
    x = np.where(at < 0, low, high)
    need = (box.b - np.asarray(box.D) @ x) / d
    first = int(np.argmax(need))
    if need[first] <= 0:
        return Trial(_within(box, x), 0, unbounded=False)
    path = _Path(np.asarray(box.D), box.b, low, high, d, at, x, first, True, -int(at[first]))
    for pivot in range(1, limit + 1):
        basic = path.basic_unknowns()
        if basic is None:
            return Trial(_within(box, path.x), pivot)
        length = path.follow(*basic)
        if not np.isfinite(length):
            return Trial(_within(box, path.x), pivot, unbounded=True)
        if path.solved:
            x = np.clip(path.x, low, high)
            fake = ((x >= high) & ~np.isfinite(box.upper)) | ((x <= low) & ~np.isfinite(box.lower))
            return Trial(_within(box, x), pivot, unbounded=bool(fake.any()))
    return Trial(_within(box, path.x), limit)


def _far_bounds(box: ScaledBox) -> tuple[Array, Array]:
    """Bounds, far ones where there are none."""
    bounds = np.concatenate([box.lower, box.upper])
    far = FAR * np.max(np.abs(np.concatenate([box.b, bounds[np.isfinite(bounds)]])), initial=TINY)
    return (np.where(np.isfinite(box.lower), box.lower, -far),
            np.where(np.isfinite(box.upper), box.upper, far))


def _within(box: ScaledBox, x: Array) -> Array:
    return np.clip(x, box.lower, box.upper)


@dataclass
class _Path:
    """A point on the path, and what is driven to make z fall.

    Attributes
    ----------
    d : artificial rates per z
    at : -1, 0, 1: at the lower bound, inside, at the upper bound
    x : efforts
    driven : the element that z stands in for
    drives_effort, sign : whether its effort is driven, or its rate; and which way
    solved : z has come to zero
    """

    D: Array
    b: Array
    low: Array
    high: Array
    d: Array
    at: Indices
    x: Array
    driven: int
    drives_effort: bool
    sign: int
    solved: bool = False

    def basic_unknowns(self) -> tuple[Array, Array] | None:
        """Efforts inside the box, rates of elements at a bound, z; and their speeds on the path.

        None where they are not determined.
        """
        from scipy.linalg import lapack

        n, inside = len(self.b), self.at == 0
        basis = np.eye(n)
        basis[:, inside] = self.D[:, inside]
        basis[:, self.driven] = self.d
        held = np.where(inside, 0.0, self.x)
        column = self.D[:, self.driven] if self.drives_effort else np.eye(n)[self.driven]
        lu, order, info = lapack.dgetrf(basis)
        if info != 0:
            return None
        value, _ = lapack.dgetrs(lu, order, self.b - self.D @ held)
        speed, _ = lapack.dgetrs(lu, order, -self.sign * column)
        return value, speed

    def follow(self, value: Array, speed: Array) -> float:
        """Go on until a basic unknown, or the driven effort, reaches its limit; how far."""
        at, driven = self.at, self.driven
        room = self._room(value, speed)
        own = self.high[driven] - self.low[driven] if self.drives_effort else np.inf
        leaving = int(np.argmin(room))
        if room[driven] <= room[leaving] * (1 + LEAVING):
            leaving = driven  # z may leave: prefer to end
        length = min(room[leaving], own)
        self.x = np.where(at == 0, value + length * speed, self.x)
        if own < room[leaving]:  # crosses its whole range: now held at the other bound
            self._hold(driven, self.sign)
            self.drives_effort = False
        elif np.isfinite(length):
            if self.drives_effort:
                self.x[driven] += length * self.sign
                at[driven] = 0
            self._exchange(leaving, speed)
        return float(length)

    def _exchange(self, leaving: int, speed: Array) -> None:
        """What is driven after a basic unknown has reached its limit."""
        if leaving == self.driven:  # z = 0: all conditions hold
            self.solved = True
        elif self.at[leaving] == 0:  # an effort reached a bound: its rate starts to move
            side = 1 if speed[leaving] > 0 else -1
            self._hold(leaving, side)
            self.drives_effort, self.sign = False, side
        else:  # a rate reached zero: its effort starts to move inward
            self.drives_effort, self.sign = True, -int(self.at[leaving])
        self.driven = leaving

    def _hold(self, element: int, side: int) -> None:
        """Put an element at a bound."""
        self.at[element] = side
        self.x[element] = self.high[element] if side > 0 else self.low[element]

    def _room(self, value: Array, speed: Array) -> Array:
        """How far the path may go before each basic unknown reaches its limit."""
        gap = np.full(len(value), np.inf)
        still = NO_SPEED * max(1.0, float(np.max(np.abs(speed))))
        up, down = speed > still, speed < -still
        at, driven = self.at, self.driven
        gap = np.where((at == 0) & up, self.high - value, gap)
        gap = np.where((at == 0) & down, value - self.low, gap)
        gap = np.where((at < 0) & up, -value, gap)  # rates at the lower bound stay <= 0
        gap = np.where((at > 0) & down, value, gap)
        gap[driven] = value[driven] if down[driven] else np.inf  # z >= 0
        return np.where(np.isfinite(gap), np.maximum(gap, 0) / np.maximum(np.abs(speed), still),
                        gap)  # fmt: skip


# -- on a linear complementarity problem --------------------------------------------------------
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
