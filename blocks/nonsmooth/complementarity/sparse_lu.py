"""Sparse linear equations whose pattern is symmetric, compiled.

Unknowns come in nodes (those of one component), which are eliminated in an order of least degree,
bounded from above [P. R. Amestoy, T. A. Davis, I. S. Duff, SIAM J. Matrix Anal. Appl. 17 (1996)
886-905]; pivots stay on the diagonal. What is
filled in follows from the nodes alone, so one order serves all matrices of a pattern. CSparse,
called from machine code with its analysis kept, takes 1.9 to 2.9 times as long for the matrices of
a heap of 200 discs, SuperLU four times.
"""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import numpy as np

from ...machine.functions import machine_code
from ...numerics.arrays import Flags, Indices, Vector

__all__ = ["Factors", "analyse", "eliminate", "factors_of", "solve_sparse"]


class Factors(NamedTuple):
    """Triangular factors, row by row in the order of elimination."""

    # degree, node_order, later_starts, later: of nodes: how many they act on, the order in which
    # they are eliminated, and those that each one then acts on
    degree: Indices
    node_order: Indices
    later_starts: Indices
    later: Indices
    others: Indices  # of nodes: those that each one acts on and that share no list of ``later``
    place: Indices  # place, at: of unknowns: where each is in the order, and who is there
    at: Indices
    # above_starts, above, below_starts, below: of rows: columns above and below the diagonal
    above_starts: Indices
    above: Indices
    below_starts: Indices
    below: Indices
    upper: Vector  # upper, lower, inverse: entries there, and reciprocals of the diagonal
    lower: Vector
    inverse: Vector
    row: Vector  # where a row is worked out
    cursor: Indices  # of every row
    # whether a row and the next one are of one node, and no row before is paired with it
    paired: Flags


def factors_of(most: int, entries: int) -> Factors:
    """Room for so many unknowns, and entries above the diagonal."""
    def whole(n: int) -> Indices:
        return np.zeros(n, dtype=np.int64)

    return Factors(
        whole(most), whole(most), whole(most + 1), whole(min(most * most, entries)), whole(entries),
        whole(most), whole(most), whole(most + 1), whole(entries), whole(most + 1), whole(entries),
        np.zeros(entries), np.zeros(entries), np.zeros(most), np.zeros(most), whole(most),
        np.zeros(most, dtype=bool))  # fmt: skip


def _noted(factors: Factors, nodes: Indices, first: int, end: int, seen: int, filled: int) -> int:
    """Note nodes that are left and not ``seen`` yet as ``later`` ones; what is filled then."""
    for q in range(first, end):
        u = nodes[q]
        if factors.degree[u] >= 0 and factors.cursor[u] != seen:
            factors.cursor[u] = seen
            if filled < factors.later.size:
                factors.later[filled] = u
            filled += 1
    return filled


def _order_nodes(factors: Factors, starts: Indices, columns: Indices, nodes: int) -> bool:
    """Eliminate a node of about least degree, again and again; whether there is room.

    Those that a node was beside are beside each other from then on, which its list of ``later``
    ones tells. Of each node the lists that it is in are chained (``last``, ``before``) by the
    ``step`` that made them, until they are ``taken`` up by a later one.
    """
    last, before, step, taken = factors.place, factors.above, factors.below, factors.paired
    degree, later, others, seen = factors.degree, factors.later, factors.others, factors.cursor
    lists, ends, beyond = factors.later_starts, factors.above_starts, factors.at
    least, v, filled = 0, 0, 0
    for u in range(nodes):
        last[u], seen[u], ends[u] = -1, -1, starts[u]
        for q in range(starts[u], starts[u + 1]):
            if columns[q] != u:
                others[ends[u]] = columns[q]
                ends[u] += 1
        degree[u] = ends[u] - starts[u]
    for k in range(nodes):
        tried = 0
        while degree[v] != least:
            v = v + 1 if v + 1 < nodes else 0
            tried += 1
            if tried == nodes:
                least, tried = least + 1, 0
        first, seen[v], degree[v] = filled, k, -1
        filled, at = _noted(factors, others, starts[v], ends[v], k, filled), last[v]
        while at >= 0:
            if not taken[step[at]]:
                taken[step[at]] = True
                filled = _noted(factors, later, lists[step[at]], lists[step[at] + 1], k, filled)
            at = before[at]
        if filled > later.size:
            return False
        factors.node_order[k], lists[k], lists[k + 1], taken[k] = v, first, filled, False
        for q in range(first, filled):
            at, last[later[q]] = last[later[q]], -1
            while at >= 0:
                after = before[at]
                if not taken[step[at]]:
                    before[at], last[later[q]] = last[later[q]], at
                    beyond[step[at]] = lists[step[at] + 1] - lists[step[at]]
                at = after
        for q in range(first, filled):
            at = last[later[q]]
            while at >= 0:
                beyond[step[at]] -= 1
                at = before[at]
        for q in range(first, filled):
            u = later[q]
            at, end, count = last[u], starts[u], filled - first - 1
            while at >= 0:
                count += beyond[step[at]]
                taken[step[at]] = beyond[step[at]] == 0
                at = before[at]
            for p in range(starts[u], ends[u]):
                if degree[others[p]] >= 0 and seen[others[p]] != k:
                    others[end] = others[p]
                    end += 1
            before[q], step[q], last[u], ends[u] = last[u], k, q, end
            degree[u] = min(count + end - starts[u], nodes - k - 2)
            least = min(least, degree[u])
    return True


@machine_code
def analyse(factors: Factors, starts: Indices, columns: Indices, first: Indices,
            nodes: int) -> bool:
    """Order and pattern of the factors; whether there is room.

    ``starts`` and ``columns`` are, per node, those that it acts on, which act on it, too. ``first``
    is, per node, its first unknown; then their number.
    """
    if not _order_nodes(factors, starts, columns, nodes):
        return False
    n, at = first[nodes], 0
    for k in range(nodes):
        v = factors.node_order[k]
        for e in range(first[v], first[v + 1]):
            factors.place[e], factors.at[at] = at, e
            at += 1
    filled, row = 0, 0
    factors.cursor[:n] = 0
    for k in range(nodes):
        v = factors.node_order[k]
        size, reach = first[v + 1] - first[v], 0
        for q in range(factors.later_starts[k], factors.later_starts[k + 1]):
            u = factors.later[q]
            reach += first[u + 1] - first[u]
        for e in range(size):
            factors.above_starts[row] = filled
            factors.paired[row] = e % 2 == 0 and e + 1 < size
            if filled + size + reach > factors.above.size:
                return False
            for other in range(e + 1, size):
                factors.above[filled] = row + other - e
                filled += 1
            for q in range(factors.later_starts[k], factors.later_starts[k + 1]):
                u = factors.later[q]
                for other in range(first[u], first[u + 1]):
                    factors.above[filled] = factors.place[other]
                    filled += 1
            for q in range(factors.above_starts[row], filled):
                factors.cursor[factors.above[q]] += 1
            row += 1
    factors.above_starts[n] = filled
    filled = 0
    for i in range(n):
        factors.below_starts[i] = filled
        filled += factors.cursor[i]
        factors.cursor[i] = factors.below_starts[i]
    factors.below_starts[n] = filled
    for i in range(n):
        for q in range(factors.above_starts[i], factors.above_starts[i + 1]):
            c = factors.above[q]
            factors.below[factors.cursor[c]] = i
            factors.cursor[c] += 1
    return True


def eliminate(factors: Factors, i: int) -> float:
    """Take the factors' row from ``factors.row``, which is left zero; its pivot."""
    row, above, upper = factors.row, factors.above, factors.upper
    starts, q, last = factors.above_starts, factors.below_starts[i], factors.below_starts[i + 1]
    while q < last:
        k = factors.below[q]
        first, count = starts[k], starts[k + 1] - starts[k]
        factor = row[k] * factors.inverse[k]
        row[k] = 0.0
        factors.lower[q] = factor
        q += 1
        if factors.paired[k] and k + 1 < i:  # rows of one node have the same columns
            row[k + 1] -= factor * upper[first]
            other = row[k + 1] * factors.inverse[k + 1]
            row[k + 1] = 0.0
            factors.lower[q] = other
            q += 1
            if factor != 0.0 or other != 0.0:
                for s in range(first + 1, first + count):
                    row[above[s]] -= factor * upper[s] + other * upper[s + count - 1]
        elif factor != 0.0:
            for s in range(first, first + count):
                row[above[s]] -= factor * upper[s]
    for s in range(starts[i], starts[i + 1]):
        upper[s] = row[above[s]]
        row[above[s]] = 0.0
    pivot = row[i]
    row[i] = 0.0
    factors.inverse[i] = 1.0 / pivot if isfinite(pivot) and pivot != 0.0 else 0.0
    return pivot


def solve_sparse(factors: Factors, b: Vector, room: Vector, n: int) -> None:
    """The solution takes the place of the right side ``b``."""
    for i in range(n):
        value = b[factors.at[i]]
        for q in range(factors.below_starts[i], factors.below_starts[i + 1]):
            value -= factors.lower[q] * room[factors.below[q]]
        room[i] = value
    for i in range(n - 1, -1, -1):
        value = room[i]
        for q in range(factors.above_starts[i], factors.above_starts[i + 1]):
            value -= factors.upper[q] * room[factors.above[q]]
        room[i] = value * factors.inverse[i]
        b[factors.at[i]] = room[i]
