"""How near to its bounds must a set of efforts come, if some of it is free?

The efforts of a part are lambda = particular + N t with t free (internal
stress). Every finite bound is a row a + G t, 1 at the bound and less inside;
wanted is min over t of the largest row.

For a fixed N the answer is the maximum of finitely many linear functions of
``a``, one per vertex of the dual polytope {mu >= 0, sum mu = 1, G' mu = 0}.
Small parts list the vertices once, so that an evaluation is one product.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import (
    FLAT_ROW,
    LINEAR_PROGRAM,
    NO_EFFORT,
    RANK,
    VERTEX_BALANCE,
    VERTEX_DETERMINANT,
    VERTEX_LIST,
    VERTEX_WEIGHT,
)

__all__ = ["Rows", "half_range", "kernel", "minimise_rows", "open_sides", "ranges_end", "rows_of",
           "vertices"]

ENDLESS = 1e4
"""Times the smallest range: as good as no bound."""
ONE_WAY = 1e-2
"""Of half the smallest range: what one is to those that bear anything one way, beside others."""
MOST_VERTICES = 4000
"""Candidate vertices up to which they are listed."""


def half_range(lower: Array, upper: Array, effort: Array | float = 0.0) -> Array:
    """The effort that means "one": half the range; where a side is open, little beside the others.

    So what bears anything one way bears a load before those that have a range do. Where none has
    one it is the largest of the efforts, if these are given, else 1. At one time, or at several,
    which are columns.

    Examples
    --------
    >>> half_range(np.array([0.0, -3.0, -2.0]), np.array([np.inf, 3.0, 2.0])).tolist()
    [0.02, 3.0, 2.0]
    >>> half_range(np.zeros(2), np.full(2, np.inf), np.array([500.0, 20.0])).tolist()
    [500.0, 500.0]
    """
    with np.errstate(invalid="ignore"):
        half = (upper - lower) / 2
    closed = np.isfinite(half)
    least = np.where(closed & (half > 0), half, np.inf).min(axis=0, initial=np.inf)
    largest = np.abs(effort).max(axis=0, initial=0.0)
    unit = np.where(np.isfinite(least), ONE_WAY * least,
                    np.where(largest > NO_EFFORT, largest, 1.0))
    return np.where(closed, half, unit)


def open_sides(lower: Array, upper: Array) -> tuple[Array, Array]:
    """Bounds without far ones that are endless beside the range of others.

    What a one-way clutch of 1e6 N*m bears is no share of that where it meets a brake of 1 N*m: it
    is open to one side, as a contact is.

    Examples
    --------
    >>> open_sides(np.array([-1e6, -1.0]), np.array([0.0, 1.0]))[0].tolist()
    [-inf, -1.0]
    """
    with np.errstate(invalid="ignore"):
        width = upper - lower
    least = np.where(np.isfinite(width) & (width > 0), width, np.inf).min(axis=0, initial=np.inf)
    far = ENDLESS * np.where(np.isfinite(least), least, np.inf)
    below, above = (lower < -far) & (upper < far), (upper > far) & (lower > -far)
    return np.where(below, -np.inf, lower), np.where(above, np.inf, upper)


def ranges_end(lower: Array, upper: Array) -> Flags:
    """Whether all ranges end on both sides, also beside those of others: else no share is even.

    At one time, or at several, which are columns.
    """
    return np.asarray(np.isfinite(np.subtract(*open_sides(lower, upper))).all(axis=0))


def kernel(A: Array) -> tuple[Array, Array]:
    """Orthonormal kernel of a dense matrix of unit diagonal, and its pseudo-inverse."""
    left, values, right = np.linalg.svd(A)
    top = max(1.0, float(values[0])) if len(values) else 1.0
    rank = int(np.sum(values > RANK * top))
    inverse = right[:rank].T / values[:rank] @ left[:, :rank].T
    return right[rank:].T, inverse


@dataclass(frozen=True)
class Rows:
    """Ratios a = offset + slope * effort[element], one per finite bound."""

    element: Indices
    slope: Array
    offset: Array

    def ratios(self, effort: Array) -> Array:
        return self.offset + self.slope * effort[..., self.element]


def rows_of(lower: Array, upper: Array, half: Array) -> Rows:
    """1 + (effort - upper)/half and 1 + (lower - effort)/half, finite bounds only.

    With bounds -F, F and half = F these are effort/F and -effort/F.
    """
    up, down = np.flatnonzero(np.isfinite(upper)), np.flatnonzero(np.isfinite(lower))
    return Rows(
        np.concatenate([up, down]),
        np.concatenate([1 / half[up], -1 / half[down]]),
        np.concatenate([1 - upper[up] / half[up], 1 + lower[down] / half[down]]),
    )


def vertices(G: Array) -> Array | None:
    """Vertices mu of the dual polytope as rows; None where listing them is no good.

    That is where there are too many, or where near-singular corners were missed
    (several stresses: one linear program checks the list).
    """
    rows, free = G.shape
    size = free + 1
    if comb(rows, size) > MOST_VERTICES:
        return None
    if rows < size:
        chosen = np.empty((0, size), dtype=int)
    else:
        chosen = np.array(list(combinations(range(rows), size)), dtype=int)
    system = np.ones((len(chosen), size, size))
    system[:, :free, :] = np.swapaxes(G[chosen], 1, 2)
    regular = np.abs(np.linalg.det(system)) > VERTEX_DETERMINANT
    right = np.zeros((int(regular.sum()), size, 1))
    right[:, free] = 1.0
    weight = np.linalg.solve(system[regular], right)[..., 0]
    good = np.all(weight >= -VERTEX_WEIGHT, axis=1)
    out = np.zeros((int(good.sum()), rows))
    np.put_along_axis(out, chosen[regular][good], np.maximum(weight[good], 0.0), axis=1)
    out = out[np.max(np.abs(out @ G), axis=1, initial=0.0) <= VERTEX_BALANCE]
    if free > 1:
        probe = np.random.default_rng(3).normal(size=(rows,))
        best = float(np.max(out @ probe, initial=-np.inf))
        exact = minimise_rows(probe, G)[0]
        if best != exact and not abs(best - exact) <= VERTEX_LIST * max(1.0, abs(exact)):
            return None
    return np.unique(out.round(15), axis=0)


def minimise_rows(a: Array, G: Array) -> tuple[float, Array, Array]:
    """min over t of max(a + G t): the value, the t, and the dual weights.

    The value is -inf where the rows can all be lowered for ever.
    """
    rows, free = G.shape
    if free == 0:
        return float(np.max(a, initial=-np.inf)), np.zeros(0), (a == np.max(a)).astype(float)
    if free == 1:
        t, weight = _lowest_of_lines(a, G[:, 0])
        return float(np.max(a + G @ t)) if weight.any() else -np.inf, t, weight
    cost = np.append(np.zeros(free), 1.0)
    from scipy.optimize import linprog  # takes long to load, and is seldom needed

    answer = linprog(
        cost, A_ub=np.column_stack([G, -np.ones(rows)]), b_ub=-a, bounds=(None, None),
        method="highs-ds", options=LINEAR_PROGRAM,
    )  # fmt: skip
    if answer.status == 3:
        return -np.inf, np.zeros(free), np.zeros(rows)
    if answer.x is None:  # not solved: no better split than the given one is known
        return float(np.max(a)), np.zeros(free), (a == np.max(a)).astype(float)
    t = answer.x[:free]
    return float(np.max(a + G @ t)), t, -np.asarray(answer.ineqlin.marginals)


def _lowest_of_lines(a: Array, g: Array) -> tuple[Array, Array]:
    """Where the largest of the lines a + g t is lowest, and the dual weights; these are zero where
    it falls for ever.

    That is where a rising line crosses a falling one, of all such crossings the highest, unless a
    level line lies above it.
    """
    flat = FLAT_ROW * np.abs(g).max(initial=0.0)
    up, down = np.flatnonzero(g > flat), np.flatnonzero(g < -flat)
    level = np.flatnonzero(np.abs(g) <= flat)
    height, t, weight = -np.inf, 0.0, np.zeros(len(a))
    if len(up) and len(down):
        rise, fall = g[up][:, None], g[down]
        meet = (rise * a[down] - fall * a[up][:, None]) / (rise - fall)
        i, j = np.unravel_index(np.argmax(meet), meet.shape)
        p, q = up[i], down[j]
        height, t = meet[i, j], (a[q] - a[p]) / (g[p] - g[q])
        weight[p], weight[q] = -g[q] / (g[p] - g[q]), g[p] / (g[p] - g[q])
    if len(level) and a[level].max() >= height:
        top = level[np.argmax(a[level])]
        weight[:] = np.arange(len(a)) == top
        # anywhere below it: at a corner, as a linear program
        lower, upper = ((a[top] - a[some]) / g[some] for some in (down, up))
        t = upper.min() if len(up) else lower.max(initial=0.0)
    return np.array([t]), weight
