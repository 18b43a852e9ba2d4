"""How do elements at rest share what they hold, at an instant or many, if bounds follow efforts?

A contact that bears more lets its friction hold more (``mu N``), a brake on the shaft of a gear
with losses lets that hold more. Who is at such a bound takes more of what presses it; what is
inside its bounds has the least weighted sum of squares, as in :mod:`.shares`; contacts that can
press against each other do so by about the load, as their friction may be needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import (
    AT_BOUND,
    BLOCK_SINGULAR,
    FULFILLED,
    PROXIMAL_POINT,
    ROUNDING,
    TINY,
)
from .shares import Shares, shares, weights
from .solving import solve

__all__ = ["Island", "at_ends", "followed", "given_rows", "kept", "share_of", "shares_at_times"]

EXACT = 1e-12  # of the largest rate


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

    @property
    def is_plain(self) -> bool:
        """Whether no bounds follow efforts, and D is symmetric, as no efforts elsewhere do."""
        own = self.D.diagonal()
        even = np.abs(self.D - self.D.T) <= ROUNDING * np.sqrt(np.maximum(np.outer(own, own), 0))
        return not self.follows.any() and bool(even.all())

    def bounds(self, effort: Array) -> tuple[Array, Array]:
        """Bounds at efforts."""
        return self.low + self.L @ effort, self.high + self.H @ effort

    @property
    def weights(self) -> Array:
        """What squares of efforts count; what has no range of its own counts as the least."""
        follows = self.follows
        return weights(self.D, np.where(follows, 0.0, self.low), np.where(follows, 0.0, self.high))


def followed(island: Island, near: Array | None = None) -> Shares:
    """Share what holds elements at rest whose bounds follow efforts; D may be any matrix.

    Who is at a bound is told where each creeps a little.

    Examples
    --------
    A body of 10 N on two feet, mu = 0.5, pulled by 4 N between them (N1, T1, N2, T2):

    >>> D = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1.0]])
    >>> H = np.zeros((4, 4)); H[1, 0] = H[3, 2] = 0.5
    >>> feet = np.array([np.inf, 0, np.inf, 0])
    >>> found = followed(Part(D, np.array([10, 4, 10, 4.0]), np.zeros(4), feet, -H, H))
    >>> found.effort.round(6).tolist(), bool(found.loose.any())
    ([5.0, 2.0, 5.0, 2.0], False)
    """
    weight, (D, rate, low, high, L, H, _) = island.weights, island
    crept = solve(D + np.diag(PROXIMAL_POINT * weight), rate + PROXIMAL_POINT * island.pressed,
                  low, high, L, H, guess=near, tol=EXACT)
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
    return Shares(x, inside, loose)


def kept(island: Island, ends: Indices, weight: Array) -> tuple[Array, Array]:
    """Efforts, without rates and by rates, as long as the same elements are at their bounds."""
    n, own = len(ends), np.sqrt(np.maximum(island.D.diagonal(), TINY))
    given, all_by, inside = _at_bounds(island, ends)
    left, size, right = _decomposed(island, all_by, inside, own)
    rank = len(size)
    # what the rates of those inside tell, and of efforts with one effect the least
    matrix = np.vstack([size[:, None] * right[:rank],
                        left[:, rank:].T * (weight / own**2)[inside]])
    solved = np.linalg.inv(matrix)
    units = own[inside] if given.ndim == 1 else own[inside][:, None]
    given = given + all_by @ (solved[:, rank:] @ (
        left[:, rank:].T @ (island.pressed[inside] / units)) / units)
    by = np.zeros((n, n))
    by[:, inside] = all_by @ (solved[:, :rank] @ left[:, :rank].T / np.outer(
        own[inside], own[inside]))
    return given - by @ (island.D @ given), by


def given_rows(island: Island, ends: Indices) -> tuple[Array, Array]:
    """Equations that take the place of those that others imply, ``rows @ effort = right``."""
    own, inside = np.sqrt(np.maximum(island.D.diagonal(), TINY)), ends == 0
    _, all_by, _ = _at_bounds(island, ends)
    left, size, _ = _decomposed(island, all_by, inside, own)
    open_ = left[:, len(size):].T * (island.weights / own)[inside]
    even, most = np.zeros((len(open_), len(ends))), np.abs(open_).max(axis=1, initial=TINY)
    even[:, inside] = open_ / most[:, None]
    press = left[:, len(size):].T @ (island.pressed / own)[inside] / most
    slope = np.where((ends > 0)[:, None], island.H, island.L)
    return np.vstack([(np.eye(len(ends)) - slope)[~inside], even]), np.append(
        at_ends(ends, island.low, island.high)[~inside], press)


def _at_bounds(island: Island, ends: Indices) -> tuple[Array, Array, Flags]:
    """All efforts without those inside their bounds and by them, and who is inside."""
    n, inside = len(ends), ends == 0
    slope = np.where((ends > 0)[:, None], island.H, np.where((ends < 0)[:, None], island.L, 0.0))
    back = np.linalg.inv(np.eye(n) - np.where(inside, 0.0, slope))
    by = back @ np.where(np.outer(~inside, inside), slope, np.eye(n))
    return back @ at_ends(ends, island.low, island.high), np.asarray(by[:, inside]), inside


def _decomposed(island: Island, all_by: Array, inside: Flags, own: Array
                ) -> tuple[Array, Array, Array]:
    """The singular values that are none but rounding of what rates of those inside tell of their
    efforts, in equal units, and the bases."""
    told = (island.D @ all_by)[inside] / np.outer(own[inside], own[inside])
    left, size, right = np.linalg.svd(told)
    return left, size[size > BLOCK_SINGULAR * size.max(initial=0.0)], right


def _with_enough(island: Island, ends: Indices, over: Array) -> tuple[Indices, Flags]:
    """Who is at its bound where what is inside can hold every motion, and who else would move."""
    own = np.sqrt(np.maximum(island.D.diagonal(), TINY))
    motions, ends, first = island.D / np.outer(own, own), ends.copy(), np.zeros(len(own), bool)
    for again in range(len(ends) + 1):
        _, size, right = np.linalg.svd(motions[ends == 0])
        held = right[: np.count_nonzero(size > BLOCK_SINGULAR * size.max(initial=0.0))]
        loose = (ends != 0) & (np.abs(motions - motions @ held.T @ held).max(axis=1) > FULFILLED)
        first = first if again else loose
        if not loose.any():
            break
        ends[np.flatnonzero(loose)[np.argmin(over[loose])]] = 0
    return ends, first


def share_of(island: Island, near: Array | None = None) -> Shares:
    """Share what holds elements at rest, whether bounds follow efforts or not."""
    if island.is_plain:
        return shares(island.D, island.rate, island.low, island.high, near)
    return followed(island, near)


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
        _, all_by, inside = _at_bounds(at, first.ends)
        drag, moved = weight * found - at.pressed, island.D @ all_by
        creep = moved @ np.linalg.lstsq(moved[inside], drag[inside], rcond=BLOCK_SINGULAR)[0]
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
