"""Efforts and flows of elements of which some take their effort and others their flow.

Between what elements take and what they give the network is affine, ``given = offset + matrix
taken``; each law asks that the flow is in the normal cone of the bounds of the effort. Elements
without a choice (no bounds: the flow is zero; equal bounds: the effort is known) are eliminated,
the others are a linear complementarity problem, with a pair of unknowns for every finite bound:
the effort's distance from it and the part of the flow that is allowed there.

References
----------
Acary, Bonnefon, Brogliato, Nonsmooth Modeling and Simulation for Switched Circuits, 2011.
Camlibel, Heemels, Schumacher, IEEE Trans. Circuits Syst. I 49(3), 2002 (passive networks).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics.arrays import Array, Flags
from ...numerics.tolerances import FLOW_NONE, PSEUDO_INVERSE, TINY
from .lemke import lemke_lcp

__all__ = ["Hybrid", "solve_hybrid"]

SINGULAR = 1e-9  # of an even matrix: a singular value that is none
EVEN_ROUNDS = 8  # of making rows and columns of a matrix of size one


@dataclass(frozen=True)
class Hybrid:
    """Efforts and flows, exactly 0.0 where the law makes them so, and whether they were found."""

    effort: Array
    flow: Array
    converged: bool


def solve_hybrid(matrix: Array, offset: Array, gives_flow: Flags, low: Array, high: Array
                 ) -> Hybrid:
    """Solve the laws of all elements together; small and dense.

    Parameters
    ----------
    matrix, offset : what the elements give by what they take, and without it
    gives_flow : which of them take the effort from the network and give the flow
    low, high : bounds of the efforts, which may be endless

    Examples
    --------
    A diode between 1 V and a resistor of 2 ohm, ``v == 1 - 2 i``, and one the other way round:

    >>> found = solve_hybrid(np.diag([-2.0, -2.0]), np.array([1.0, -1.0]),
    ...                      np.array([False, False]), np.zeros(2), np.full(2, np.inf))
    >>> found.effort.tolist(), found.flow.tolist()
    ([0.5, 0.0], [0.0, -1.0])
    """
    scale = _even(matrix)
    matrix, offset = scale[:, None] * matrix * scale, scale * offset
    of_effort = np.where(gives_flow, scale, 1.0 / scale)  # an effort is taken, or it is given
    low, high = low * of_effort, high * of_effort
    fixed, free = low == high, np.isinf(low) & np.isinf(high) & (low < high)
    known = fixed | free
    value = np.where(fixed, low, 0.0)
    swapped = _to_swap(matrix, known & (fixed == gives_flow), ~known)
    matrix, offset = _exchanged(matrix, offset, swapped)
    gives = gives_flow ^ swapped  # now what is known is taken
    left = ~known
    base = offset + matrix[:, known] @ value[known]
    effort, flow = np.where(fixed, value, 0.0), np.zeros(len(offset))
    effort[left], flow[left], converged = _with_choice(
        matrix[np.ix_(left, left)], base[left], gives[left], low[left], high[left])
    given = base + matrix[:, left] @ np.where(gives, flow, effort)[left]
    flow, effort = np.where(fixed, given, flow), np.where(free, given, effort)
    return Hybrid(effort / of_effort, flow * of_effort, converged)


def _even(matrix: Array) -> Array:
    """Factors of rows and of columns that make the largest entry of each about one."""
    scale = np.ones(len(matrix))
    for _ in range(EVEN_ROUNDS):
        size = np.abs(scale[:, None] * matrix * scale).max(axis=1, initial=0.0)
        scale /= np.sqrt(np.where(size > 0, size, 1.0))
    return scale


def _to_swap(matrix: Array, asked: Flags, others: Flags) -> Flags:
    """Elements whose roles change: those that are asked for what they give, and those that make
    their block regular, as the diodes of two legs do where all switches of a bridge are open.
    """
    from scipy.linalg import qr

    swap, index, rest = asked.copy(), np.flatnonzero(asked), np.flatnonzero(others)
    if not len(index) or not len(rest):
        return swap
    left, values, _ = np.linalg.svd(matrix[np.ix_(index, index)])
    dependent = left[:, values <= SINGULAR].T @ matrix[np.ix_(index, rest)]
    if len(dependent):
        _, r, order = qr(dependent, mode="economic", pivoting=True)
        swap[rest[order[: int(np.sum(np.abs(np.diagonal(r)) > SINGULAR))]]] = True
    return swap


def _exchanged(matrix: Array, offset: Array, swap: Flags) -> tuple[Array, Array]:
    """The same relation with what some elements take and give exchanged."""
    if not swap.any():
        return matrix, offset
    inverse = np.linalg.pinv(matrix[np.ix_(swap, swap)], rcond=PSEUDO_INVERSE)
    rest = ~swap
    out, q = matrix.copy(), offset.copy()
    through = matrix[np.ix_(rest, swap)] @ inverse
    out[np.ix_(swap, swap)] = inverse
    out[np.ix_(swap, rest)] = -inverse @ matrix[np.ix_(swap, rest)]
    out[np.ix_(rest, swap)] = through
    out[np.ix_(rest, rest)] = matrix[np.ix_(rest, rest)] - through @ matrix[np.ix_(swap, rest)]
    q[swap], q[rest] = -inverse @ offset[swap], offset[rest] - through @ offset[swap]
    return out, q


def _with_choice(matrix: Array, offset: Array, gives: Flags, low: Array, high: Array
                 ) -> tuple[Array, Array, bool]:
    """Efforts and flows of elements with one or two finite bounds."""
    n = len(offset)
    above = np.isfinite(low)  # a flow below zero is allowed at this bound
    below = np.isfinite(high)
    one = np.where(above, 1.0, -1.0)  # the sense in which effort and flow are counted
    base = np.where(above, low, high)
    # first pairs: distance from the base, and the flow against it; second ones from the other
    pair = np.where(gives, -one, one)
    shift = offset + matrix @ np.where(gives, 0.0, base) - np.where(gives, base, 0.0)
    first = np.where(gives, 1.0, -1.0) * one
    M = first[:, None] * matrix * pair
    q = first * shift
    both = np.flatnonzero(above & below)
    m = len(both)
    whole, right = np.zeros((n + m, n + m)), np.zeros(n + m)
    whole[:n, :n], right[:n] = M, q
    room = (high - low)[both]
    for j, k in enumerate(both):
        if gives[k]:  # flow = forth - against: effort and its other distance follow
            whole[:n, n + j] = -M[:, k]
            whole[n + j, :n], right[n + j] = -M[k], room[j] - q[k]
            continue
        whole[k, n + j] = 1.0  # against = forth - flow
        whole[n + j, k], right[n + j] = -1.0, room[j]
    for j, k in enumerate(both):  # what the second flows of others do to second distances
        if gives[k]:
            whole[n + j, n:] = -whole[k, n:]
    largest = max(float(np.abs(right).max(initial=0.0)), TINY)
    z, found = lemke_lcp(whole, right / largest)
    z = z * largest
    w = whole @ z + right
    distance = np.where(gives, w[:n], z[:n])
    against = np.where(gives, z[:n], w[:n])
    forth = np.zeros(n)
    forth[both] = z[n:]
    # of each pair that is zero which is outside the basis, or where both are, the flow
    rounding = FLOW_NONE * (np.abs(whole[:n]) @ np.abs(z) + np.abs(right[:n]))
    slips = np.where(gives, z[:n] > 0, (z[:n] <= 0) & (w[:n] > rounding))
    effort = base + one * np.where(slips, 0.0, distance)
    flow = np.where(forth > against, forth, np.where(slips, -one * against, 0.0))
    if m:
        effort[both] = np.where(forth[both] > 0, high[both], effort[both])
    return effort, flow, found
