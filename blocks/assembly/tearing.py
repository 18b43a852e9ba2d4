"""Which unknowns of a block are iterated on, and in what order do the others follow?

Sees integers only: equations and unknowns of one block, numbered from zero, and
which equation can be solved for which unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..numerics.arrays import Flags, Indices, Matrix

__all__ = ["GROWTH", "Tearing", "tear"]

SMALL = 50  # equations of a block of which many may be alike
GROWTH = 2.0  # of rounding errors by an assignment, whose terms are of one size


@dataclass(frozen=True)
class Tearing:
    """Torn unknowns, explicit assignments in order, and the equations left as residuals."""

    torn: Indices
    pairs: Indices  # per assignment, its place among the pairs given
    depth: Indices  # per assignment, the longest chain of assignments that ends with it
    leftover: Indices


def tear(rows: Indices, columns: Indices, solvable: Flags, size: int, wanted: Flags,
         most: float, sizes: Matrix | None = None) -> Tearing:
    """Tear a block greedily.

    Whenever no equation has a single open unknown it can be solved for, the unknown
    in most open equations is torn [Elmqvist & Otter 1994].

    Parameters
    ----------
    rows, columns : equation and unknown of every pair that occurs; no pair twice, rows ascending
    solvable : per pair, whether the equation can be solved for the unknown
    size : number of equations, and of unknowns
    wanted : per unknown, whether it is torn before all others
    most : how much a chain of assignments may amplify rounding errors of torn unknowns
    sizes : of the coefficients of the pairs, as pivots and as terms; ones if not given
    """
    if sizes is not None:
        return _torn(rows, columns, solvable, size, wanted, most, sizes)
    if size > SMALL:
        return _torn(rows, columns, solvable, size, wanted, most, np.ones((2, len(rows))))
    return _torn_before(rows.astype(int).tobytes(), columns.astype(int).tobytes(),
                        solvable.tobytes(), size, wanted.tobytes(), most)


@lru_cache(maxsize=1000)
def _torn_before(rows: bytes, columns: bytes, solvable: bytes, size: int, wanted: bytes,
                 most: float) -> Tearing:
    """A small block torn once, however many blocks of networks are like it."""
    equation = np.frombuffer(rows, dtype=int)
    return _torn(equation, np.frombuffer(columns, dtype=int), np.frombuffer(solvable, dtype=bool),
                 size, np.frombuffer(wanted, dtype=bool), most, np.ones((2, len(equation))))


def _torn(rows: Indices, columns: Indices, solvable: Flags, size: int, wanted: Flags,
          most: float, sizes: Matrix) -> Tearing:
    degree = np.bincount(columns, minlength=size)
    preferred = np.lexsort((np.arange(size), -degree, ~wanted)).tolist()
    pairs_of = np.argsort(columns, kind="stable").tolist()
    first = np.concatenate([[0], np.cumsum(degree)]).tolist()
    left = np.bincount(rows, minlength=size)
    # per equation the sum of the numbers of its open pairs: in the end the number of the last one
    total = np.bincount(rows, weights=np.arange(len(rows)), minlength=size).astype(
        np.int64).tolist()
    ready = np.flatnonzero(left == 1).tolist()
    left = left.tolist()
    equation, unknown, good = rows.tolist(), columns.tolist(), solvable.tolist()
    pivot, weight = sizes.tolist()
    depth, deepest = [-1] * size, [0] * size  # of unknowns, and of the deepest in an equation
    largest = [1.0] * size  # error of what is known in an equation
    torn: list[int] = []
    pairs: list[int] = []

    def close(c: int, deep: int, error: float) -> None:
        depth[c] = deep
        for k in pairs_of[first[c] : first[c + 1]]:
            e = equation[k]
            left[e] -= 1
            total[e] -= k
            if deep > deepest[e]:  # for max(), which takes three times as long
                deepest[e] = deep
            known = weight[k] * error
            if known > largest[e]:
                largest[e] = known
            if left[e] == 1:
                ready.append(e)

    for c in preferred:
        for e in ready:  # which grows meanwhile
            at = total[e]
            if left[e] != 1 or not good[at]:
                continue
            error = GROWTH * largest[e] / pivot[at]
            if error <= most:
                pairs.append(at)
                close(unknown[at], deepest[e] + 1, error)
            else:
                torn.append(unknown[at])
                close(unknown[at], 0, 1.0)
        ready.clear()
        if depth[c] < 0:
            torn.append(c)
            close(c, 0, 1.0)
    order = np.array(pairs, dtype=int)
    deep = np.array(depth, dtype=int)[columns[order]]
    leftover = np.delete(np.arange(size), rows[order])
    return Tearing(np.array(torn, dtype=int), order, deep, leftover)
