"""How do elements at rest share what the motion does not divide among them?

Brakes in parallel, the legs of a table, frictions in a loop: where the matrix D of what sticks is
singular, many efforts have the same effect. Those are taken that have the least sum of
``effort**2 * sqrt(D_ii) / range``, as if each element crept viscously, all with one creep of the
bodies, until it comes to a bound and is held there by the others. So brakes in parallel share a
load in proportion to their strength, and what bears as good as anything one way (a one-way clutch,
a contact) bears it.

As long as the same elements are at their bounds, efforts are a linear function of what is shared:
:func:`within` of those inside. Elements hold as long as what is inside its bounds can hold every
motion, which is as long as any efforts within all bounds do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import AT_BOUND, CONSISTENT, PROXIMAL_POINT, RANK, TINY
from .problem import LEAST_SHARE
from .solving import solve

__all__ = ["Shares", "at_ends", "shares", "shares_at_times", "weights", "within"]

ROUNDS = 10  # in which all that are wrong come to their bounds, or back, at once

class Shares(NamedTuple):
    """Efforts that have one effect.

    Attributes
    ----------
    effort : those of the least weighted sum of squares within their bounds
    ends : 1 and -1 at an upper or lower bound, held by others; 0 inside. What is inside can hold
        every motion
    loose : elements at their bounds that nothing else holds: they are about to move
    """

    effort: Array
    ends: Indices
    loose: Flags


def weights(D: Array, low: Array, high: Array) -> Array:
    """What squares of efforts count, in units of D: the least range by their own.

    Examples
    --------
    >>> weights(np.ones((2, 2)), np.array([-1.0, -3.0]), np.array([1.0, 3.0])).round(6).tolist()
    [1.0, 0.333333]
    """
    own = np.maximum(D.diagonal(), TINY)
    span = (high - low) * np.sqrt(own)
    least = span[span > 0].min(initial=np.inf)
    if not np.isfinite(least):
        return own
    with np.errstate(divide="ignore"):
        share = np.where(span > 0, np.maximum(least / span, LEAST_SHARE), 1.0)
    return share * own


def within(D: Array, weight: Array, inside: Flags) -> Array:
    """Efforts by the rates that they cancel, of some elements; those of the others are 0.

    Of efforts with one effect they have the least weighted sum of squares.

    Examples
    --------
    >>> by = within(np.ones((2, 2)), np.array([3.0, 1.0]), np.array([True, True]))
    >>> (by @ [4.0, 4.0]).round(9).tolist()
    [1.0, 3.0]
    """
    out, block = np.zeros(D.shape), np.ix_(inside, inside)
    by, free = _inverse(D[block])
    if free.shape[1]:
        felt = weight[inside, None] * free
        by -= free @ np.linalg.solve(free.T @ felt, felt.T @ by)
    out[block] = by
    return out


def _inverse(D: Array) -> tuple[Array, Array]:
    """Efforts by the rates that they cancel, and a basis of those without effect, as columns."""
    size = 1 / np.sqrt(D.diagonal())
    values, vectors = np.linalg.eigh(size[:, None] * D * size)
    vectors *= size[:, None]
    real = values > RANK * values.max(initial=0.0)
    return vectors[:, real] / values[real] @ vectors[:, real].T, vectors[:, ~real]


def shares(D: Array, rate: Array, low: Array, high: Array) -> Shares:
    """Share what holds elements at rest.

    Parameters
    ----------
    D : (n, n) array
        Symmetric and positive semi-definite, with a positive diagonal.
    rate : (n,) array
        Rates without the efforts.
    low, high : (n,) array

    Examples
    --------
    Brakes of 1 N and 3 N side by side:

    >>> strength = np.array([1.0, 3.0])
    >>> found = shares(np.ones((2, 2)), np.array([3.5, 3.5]), -strength, strength)
    >>> found.effort.round(9).tolist(), found.loose.tolist()
    ([0.875, 2.625], [False, False])
    >>> shares(np.ones((2, 2)), np.array([4.0, 4.0]), -strength, strength).loose.tolist()
    [True, True]
    """
    weight = weights(D, low, high)
    ends, over = _pieces(D, rate, low, high, weight)
    while True:
        held, loose = _held_by_others(D, weight, ends, over)
        bound = at_ends(held, low, high)
        found = bound + within(D, weight, held == 0) @ (rate - D @ bound)
        band = AT_BOUND * np.abs(found).max(initial=0.0)
        beyond = np.maximum(found - high, low - found) > band
        new = _at_bounds(found, low, high, band)
        if not (beyond & (ends == 0)).any():
            break
        ends = np.where(beyond, new, ends)
    if not beyond.any():
        held, loose = _held_by_others(D, weight, new, over)
    effort = np.clip(found, low, high)
    missing, largest = np.abs(rate - D @ effort), np.abs(rate).max(initial=0.0)
    if not loose.any() and (missing > CONSISTENT * largest).any():  # no efforts hold that
        loose[:] = True
    return Shares(effort, held, loose)


def _pieces(D: Array, rate: Array, low: Array, high: Array, weight: Array) -> tuple[Indices, Array]:
    """Who is at its bounds, and how far beyond them the common creep would have it.

    All that are wrong change at once; where that does not end, it is the problem of all elements in
    which each creeps a little.
    """
    ends = np.where(low == high, 1, 0)
    for _ in range(ROUNDS):
        found, over = _crept(D, rate, low, high, weight, ends)
        new = np.where(over >= 0, ends, 0) + np.where(ends == 0, _at_bounds(
            found, low, high, 0.0), 0)
        if (new == ends).all():
            if (np.abs(rate - D @ found) <= CONSISTENT * np.abs(rate).max(initial=0.0)).all():
                return ends, over
            break
        ends = new
    crept = solve(D + np.diag(PROXIMAL_POINT * weight), rate, low, high)
    ends = _at_bounds(crept.effort, low, high, 0.0)
    return ends, ends * crept.rate / weight


def _crept(D: Array, rate: Array, low: Array, high: Array, weight: Array, ends: Indices
           ) -> tuple[Array, Array]:
    """Efforts, at one time or at many as columns, if some are at their bounds, and how far beyond
    these the common creep of the others would have them."""
    inside, bound = ends == 0, at_ends(ends, low, high)
    found = (bound + (within(D, weight, inside) @ (rate.T - D @ bound).T).T).T
    creep = D[:, inside] @ (_inverse(D[np.ix_(inside, inside)])[0] @ (weight * found.T).T[inside])
    return found, np.where(inside, 0.0, ends * (creep.T / weight - bound)).T


def shares_at_times(D: Array, rates: Array, low: Array, high: Array) -> Array:
    """The efforts at many times, by the rates at these, as columns.

    What is found at one is taken wherever the same elements are at their bounds.

    Examples
    --------
    >>> loads, strength = np.array([[3.5, 1.0], [3.5, 1.0]]), np.array([1.0, 3.0])
    >>> shares_at_times(np.ones((2, 2)), loads, -strength, strength).round(9).tolist()
    [[0.875, 0.25], [2.625, 0.75]]
    """
    weight, left, out = weights(D, low, high), np.arange(rates.shape[1]), np.empty(rates.shape)
    while len(left):
        first = shares(D, rates[:, left[0]], low, high)
        found, over = _crept(D, rates[:, left], low, high, weight, first.ends)
        band = AT_BOUND * np.abs(found).max(axis=0, initial=0.0)
        beyond = np.maximum(found - high[:, None], low[:, None] - found)
        same = np.maximum(beyond, -over).max(axis=0) <= band
        out[:, left[same]] = np.clip(found[:, same], low[:, None], high[:, None])
        out[:, left[0]], same[0] = first.effort, True
        left = left[~same]
    return out


def at_ends(ends: Indices, low: Array, high: Array) -> Array:
    """Efforts of what is at its bounds; 0 of others."""
    return np.where(ends > 0, high, np.where(ends < 0, low, 0.0))


def _at_bounds(effort: Array, low: Array, high: Array, band: float) -> Indices:
    """1 or -1 where efforts are at their bounds."""
    up, down = high - effort <= band, effort - low <= band
    return np.where(up & (high - effort <= effort - low), 1, np.where(down, -1, 0))


def _held_by_others(D: Array, weight: Array, ends: Indices, over: Array) -> tuple[Indices, Flags]:
    """Ends of what others hold, and who else is at its bounds, about to move.

    Of the latter those that came last have to hold, as if they were inside.
    """
    held, at, loose = ends.copy(), np.flatnonzero(ends), np.zeros(len(ends), dtype=bool)
    moves = D[at][:, at] - D[at] @ within(D, weight, ends == 0) @ D[:, at]
    least = CONSISTENT * D.diagonal()[at]
    loose[at] = moves.diagonal() > least
    while (unheld := moves.diagonal() > least).any():
        k = int(np.argmin(np.where(unheld, over[at], np.inf)))
        held[at[k]] = 0
        moves = moves - np.outer(moves[:, k], moves[k]) / moves[k, k]
        moves[k] = moves[:, k] = 0.0
    return held, loose
