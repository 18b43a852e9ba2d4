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
    n = len(offset)
    fixed, free = low == high, np.isinf(low) & np.isinf(high) & (low < high)
    known = fixed | free
    # what is known of an element is what it takes, or is asked of what it gives
    value = np.where(fixed, low, 0.0)
    told, asked = known & (fixed != gives_flow), known & (fixed == gives_flow)
    constant = offset + matrix[:, told] @ value[told]
    solve = np.zeros((n, n))
    if asked.any():
        solve[np.ix_(asked, asked)] = np.linalg.pinv(
            matrix[np.ix_(asked, asked)], rcond=PSEUDO_INVERSE)
    take = solve @ (np.where(asked, value, 0.0) - constant)
    by = -solve @ matrix
    left = ~known
    q = (constant + matrix @ take)[left]
    M = (matrix + matrix @ by)[np.ix_(left, left)]
    effort, flow, converged = _with_choice(M, q, gives_flow[left], low[left], high[left])
    taken = np.zeros(n)
    taken[left] = np.where(gives_flow[left], flow, effort)
    taken[told] = value[told]
    taken[asked] = (take + by @ taken)[asked] if left.any() else take[asked]
    given = offset + matrix @ taken
    whole = [np.where(gives_flow, given, taken), np.where(gives_flow, taken, given)]
    whole[0][left], whole[1][left] = effort, flow
    whole[0][fixed], whole[1][free] = low[fixed], 0.0
    return Hybrid(whole[0], whole[1], converged)


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
    z, found = _even_lcp(whole, right)
    w = whole @ z + right
    distance = np.where(gives, w[:n], z[:n])
    against = np.where(gives, z[:n], w[:n])
    forth = np.zeros(n)
    forth[both] = z[n:]
    # of each pair the smaller one is zero
    size = [max(float(np.abs(a).max(initial=0.0)), TINY) for a in (distance, against)]
    slips = (against > FLOW_NONE * size[1]) & (distance / size[0] <= against / size[1])
    effort = base + one * np.where(slips, 0.0, distance)
    flow = np.where(forth > against, forth, np.where(slips, -one * against, 0.0))
    if m:
        effort[both] = np.where(forth[both] > 0, high[both], effort[both])
    return effort, flow, found


def _even_lcp(matrix: Array, offset: Array) -> tuple[Array, bool]:
    """Lemke's method on rows and columns of size one."""
    scale = np.ones(len(offset))
    for _ in range(EVEN_ROUNDS):
        size = np.abs(scale[:, None] * matrix * scale).max(axis=1, initial=0.0)
        scale /= np.sqrt(np.where(size > 0, size, 1.0))
    right = scale * offset
    largest = max(float(np.abs(right).max(initial=0.0)), TINY)
    z, found, _ = lemke_lcp(scale[:, None] * matrix * scale, right / largest)
    return scale * z * largest, found
