"""How do elements at rest share what the motion does not divide among them, at an instant or many?

Brakes in parallel, the legs of a table, frictions in a loop: where the matrix D of what sticks is
singular, many efforts have the same effect. Those are taken that have the least sum of
``effort**2 * sqrt(D_ii) / range``, as if each element crept viscously, all with one creep of the
bodies, until it comes to a bound and is held there by the others. So brakes in parallel share a
load in proportion to their strength, and what bears as good as anything one way (a one-way clutch,
a contact) bears it.

As long as the same elements are at their bounds, efforts are a linear function of what is shared
(:func:`kept`). Elements hold as long as what is inside its bounds can hold every motion, which is
as long as any efforts within all bounds do.

A contact that bears more lets its friction hold more (``mu N``), a brake on the shaft of a gear
with losses lets that hold more. Who is at such a bound takes more of what presses it; contacts that
can press against each other do so by about the load, as their friction may be needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...machine.functions import machine_code
from ...numerics.arrays import Array, Flags, Indices, Matrix
from ...numerics.tolerances import AT_BOUND, BLOCK_SINGULAR, FULFILLED, PROXIMAL_POINT, TINY
from .problem import weigh_ranges
from .solving import solve

__all__ = ["END", "GIVEN", "LOOSE", "OWN", "PRESS", "PRESSED", "TOLD", "WEIGHT", "Island", "Shares",
           "at_ends", "give_rows", "kept", "rows_of_shares", "share_of", "shares_at_times",
           "weights"]  # fmt: skip

#: What is known of elements, and found for them: rows of a matrix.
END, WEIGHT, GIVEN, LOOSE, OWN, TAKEN, PRESS = range(7)
TOLD = 7

PRESSED = 1.5  # times the largest rate: what contacts creep into each other by


class Shares(NamedTuple):
    """Efforts that have one effect."""

    effort: Array  # those of the least weighted sum of squares within their bounds
    # 1 and -1 at an upper or lower bound, held by others; 0 inside. What is inside can hold every
    # motion
    ends: Indices
    loose: Flags  # elements at their bounds that nothing else holds: they are about to move
    crept: Array  # efforts where each creeps a little, which tell who is at a bound


def weights(D: Array, low: Array, high: Array) -> Array:
    """What squares of efforts count, in units of D: the least range by their own.

    Examples
    --------
    >>> weights(np.ones((2, 2)), np.array([-1.0, -3.0]), np.array([1.0, 3.0])).round(6).tolist()
    [1.0, 0.333333]
    """
    own, share = np.maximum(D.diagonal(), TINY), np.empty(len(D))
    weigh_ranges(np.zeros(len(D)), (high - low) * np.sqrt(own), share, len(D))
    return share * own


class Island(NamedTuple):
    """Elements that share what they hold: rates are rate - D effort, bounds low + L effort and
    high + H effort; at many times ``rate``, ``low`` and ``high`` have a column for each.
    """

    D: Array
    rate: Array
    low: Array
    high: Array
    L: Array
    H: Array
    press: Array | None = None  # rates by which contacts would creep into each other, unloaded

    @property
    def pressed(self) -> Array:
        """Rates by which contacts would creep into each other, unloaded; 0 where none are given."""
        return np.zeros(self.rate.shape) if self.press is None else self.press

    @property
    def follows(self) -> Flags:
        """Elements whose bounds follow efforts."""
        return np.asarray(self.L.any(axis=1) | self.H.any(axis=1))

    def bounds(self, effort: Array) -> tuple[Array, Array]:
        """Bounds at efforts."""
        return self.low + self.L @ effort, self.high + self.H @ effort

    @property
    def weights(self) -> Array:
        """What squares of efforts count; what has no range of its own counts as the least."""
        follows = self.follows
        return weights(self.D, np.where(follows, 0.0, self.low), np.where(follows, 0.0, self.high))


def share_of(island: Island, near: Array | None = None) -> Shares:
    """Share what holds elements at rest, near some efforts; D may be any matrix.

    Who is at a bound is told where each creeps a little.

    Examples
    --------
    Brakes of 1 N and 3 N side by side:

    >>> strength, none = np.array([1.0, 3.0]), np.zeros((2, 2))
    >>> found = share_of(Island(np.ones((2, 2)), np.full(2, 3.5), -strength, strength, none, none))
    >>> found.effort.round(9).tolist(), found.loose.tolist()
    ([0.875, 2.625], [False, False])

    A body of 10 N on two feet, mu = 0.5, pulled by 4 N between them (N1, T1, N2, T2):

    >>> D = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1.0]])
    >>> H = np.zeros((4, 4)); H[1, 0] = H[3, 2] = 0.5
    >>> feet = np.array([np.inf, 0, np.inf, 0])
    >>> found = share_of(Island(D, np.array([10, 4, 10, 4.0]), np.zeros(4), feet, -H, H))
    >>> found.effort.round(6).tolist(), bool(found.loose.any())
    ([5.0, 2.0, 5.0, 2.0], False)
    """
    weight, (D, rate, low, high, L, H, _) = island.weights, island
    crept = solve(D + np.diag(PROXIMAL_POINT * weight), rate + PROXIMAL_POINT * island.pressed,
                  low, high, L, H, guess=near)
    x, over = crept.effort, crept.state * crept.rate / weight
    ends = np.zeros(len(D), dtype=int)
    for allowed in (AT_BOUND, *[-AT_BOUND] * len(D), AT_BOUND):
        lowest, highest = island.bounds(x)
        up, down = highest - x, x - lowest
        there = (ends == 0) & (np.minimum(up, down) <= allowed * np.abs(x).max(initial=0.0))
        if there.any() or x is crept.effort:
            ends = np.where(there, np.where(up <= down, 1, -1), ends)
            inside, loose = _with_enough(island, ends, over)
            bound, by = kept(island, inside, weight)
            x = bound + by @ rate
    lowest, highest = island.bounds(x)
    x = np.clip(x, np.minimum(lowest, highest), highest)
    if not loose.any() and np.abs(rate - D @ x).max() > FULFILLED * np.abs(rate).max():
        loose[:] = True  # no efforts hold that
    return Shares(x, inside, loose, crept.effort)


def kept(island: Island, ends: Indices, weight: Array) -> tuple[Array, Array]:
    """Efforts, without rates and by rates, as long as the same elements are at their bounds."""
    told, rows = rows_of_shares(island.D, ends, weight)
    tells, n = told[GIVEN] == 0, len(ends)
    slope = np.where((ends > 0)[:, None], island.H, island.L)
    matrix = np.where(tells[:, None], island.D, rows)
    matrix[ends != 0] = (np.eye(n) - slope)[ends != 0]
    unit = np.where(tells, told[OWN], 1 / told[OWN])  # of equations
    scaled = matrix / np.outer(unit, told[OWN])
    try:
        solved = np.linalg.inv(scaled)
    except np.linalg.LinAlgError:  # bounds that follow each other in a circle leave efforts open
        solved = np.linalg.pinv(scaled)
    solved = solved / np.outer(told[OWN], unit)
    right = at_ends(ends, island.low, island.high) + np.where(
        (ends == 0) & ~tells, (rows / weight @ island.pressed).T, 0.0).T
    return solved @ right, np.where(tells, solved, 0.0)


def rows_of_shares(D: Array, ends: Indices, weight: Array) -> tuple[Array, Array]:
    """What :func:`give_rows` tells of some elements, and the rows that it finds."""
    n = len(ends)
    told, rows = np.zeros((TOLD, n)), np.empty((n, n))
    told[END], told[WEIGHT] = ends, weight
    give_rows(np.ascontiguousarray(D, dtype=float), told, rows, np.empty((n, n)), n)
    return told, rows


@machine_code
def give_rows(d: Matrix, told: Matrix, rows: Matrix, left: Matrix, n: int) -> int:
    """Find equations of shares for those elements at rest whose rates others imply.

    Who is at its bound stays there, and of what those inside theirs bear the weighted squares are
    least. Returns how many are LOOSE: at bounds, and held by nothing inside its own.

    ``d`` is the change of rates by efforts, with its sign turned. ``told`` are END (1 and -1 at an
    upper or lower bound, else 0) and WEIGHT; GIVEN (2 and -2 where the equation of an element is
    that it is at its bound, 1 where it is that ``rows`` times efforts, less what presses contacts
    together by its weight, are zero, else 0) and LOOSE are found. ``left`` is room.
    """
    for i in range(n):
        told[OWN, i] = np.sqrt(d[i, i]) if d[i, i] > 0.0 else 1.0
        told[GIVEN, i] = told[LOOSE, i] = told[TAKEN, i] = 0.0
    for i in range(n):
        for j in range(n):
            rows[i, j] = 1.0 if i == j else 0.0
            left[i, j] = d[i, j] / (told[OWN, i] * told[OWN, j])
    for _ in range(n):  # those inside their bounds whose rates tell all others
        pivot, column, largest = 0, 0, FULFILLED
        for i in range(n):
            for j in range(n if told[END, i] == 0.0 and told[TAKEN, i] == 0.0 else 0):
                if abs(left[i, j]) > largest:
                    pivot, column, largest = i, j, abs(left[i, j])
        if largest == FULFILLED:
            break
        told[TAKEN, pivot] = 1.0
        for i in range(n):
            factor = left[i, column] / left[pivot, column]
            for j in range(n if told[TAKEN, i] == 0.0 and factor != 0.0 else 0):
                left[i, j] -= factor * left[pivot, j]
                rows[i, j] -= factor * rows[pivot, j]
    loose = 0
    for i in range(n):
        if told[TAKEN, i] != 0.0:
            continue
        told[GIVEN, i], largest = 1.0 if told[END, i] == 0.0 else 2.0 * told[END, i], TINY
        for j in range(n):
            if told[END, i] != 0.0 and abs(left[i, j]) > FULFILLED:
                told[LOOSE, i] = 1.0
            rows[i, j] *= told[WEIGHT, j] / told[OWN, j]
            largest = max(largest, abs(rows[i, j]))
        for j in range(n):
            rows[i, j] = rows[i, j] / largest
        loose += 1 if told[LOOSE, i] != 0.0 else 0
    return loose


def _with_enough(island: Island, ends: Indices, over: Array) -> tuple[Indices, Flags]:
    """Who is at its bound where what is inside can hold every motion, and who else would move."""
    ends, first = ends.copy(), None
    while True:
        loose = rows_of_shares(island.D, ends, island.weights)[0][LOOSE] != 0
        first = loose if first is None else first
        if not loose.any():
            return ends, first
        ends[np.flatnonzero(loose)[np.argmin(over[loose])]] = 0


def shares_at_times(island: Island) -> Array:
    """The efforts at many times, as columns.

    What is found at one is taken wherever the same elements are at their bounds.

    Examples
    --------
    >>> loads, strength = np.array([[3.5, 1.0], [3.5, 1.0]]), np.array([[1.0, 1.0], [3.0, 3.0]])
    >>> none = np.zeros((2, 2))
    >>> island = Island(np.ones((2, 2)), loads, -strength, strength, none, none)
    >>> shares_at_times(island).round(9).tolist()
    [[0.875, 0.25], [2.625, 0.75]]
    """
    follows, left, out = island.follows, np.arange(len(island.rate.T)), np.empty(island.rate.shape)
    while len(left):
        at = island._replace(rate=island.rate[:, left], low=island.low[:, left],
                             high=island.high[:, left], press=island.pressed[:, left])
        now = at._replace(rate=at.rate[:, 0], low=at.low[:, 0], high=at.high[:, 0],
                          press=at.pressed[:, 0])
        first, weight = share_of(now), now.weights[:, None]
        bound, by = kept(at, first.ends, now.weights)
        found = bound + by @ at.rate
        inside, drag = first.ends == 0, weight * found - at.pressed
        creep = at.D @ np.linalg.lstsq(at.D[inside], drag[inside], rcond=BLOCK_SINGULAR)[0]
        over = np.where(inside[:, None], 0.0, first.ends[:, None] * (creep - drag) / weight)
        low, high = at.bounds(found)
        band = AT_BOUND * np.abs(found).max(axis=0, initial=0.0)
        same = np.maximum(np.maximum(found - high, low - found), -over).max(axis=0) <= band
        for bounds in (at.low[~follows], at.high[~follows]):
            same &= (bounds == bounds[:, :1]).all(axis=0)
        out[:, left[same]] = np.clip(found[:, same], low[:, same], high[:, same])
        out[:, left[0]], same[0] = first.effort, True
        left = left[~same]
    return out


def at_ends(ends: Indices, low: Array, high: Array) -> Array:
    """Efforts of what is at its bounds; 0 of others."""
    ends = ends if low.ndim == 1 else ends[:, None]
    return np.where(ends > 0, high, np.where(ends < 0, low, 0.0))
