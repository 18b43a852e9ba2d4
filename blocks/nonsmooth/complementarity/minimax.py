"""How near to its bounds must a set of efforts come, if some of it is free?

The efforts of a part are lambda = particular + N t with t free (internal
stress). Every finite bound is a row a + G t, 1 at the bound and less inside;
wanted is min over t of the largest row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import NO_EFFORT, RANK, TINY
from .lemke import lemke_lcp

__all__ = ["Rows", "half_range", "kernel", "minimise_rows", "open_sides", "ranges_end", "rows_of"]

ENDLESS = 1e4
"""Times the smallest range: as good as no bound."""
ONE_WAY = 1e-2
"""Of half the smallest range: what one is to those that bear anything one way, beside others."""


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


def minimise_rows(a: Array, G: Array) -> tuple[float, Array, Array]:
    """min over t of max(a + G t): the value, the t, and the dual weights.

    The value is -inf where the rows can all be lowered for ever.

    Notes
    -----
    A linear program as a complementarity problem: rows below the value against their weights,
    which sum to one and balance G. A floor far below keeps it bounded.

    Examples
    --------
    >>> value, t, weight = minimise_rows(np.array([0.0, 1.0]), np.array([[1.0], [-3.0]]))
    >>> value, t.tolist(), weight.tolist()
    (0.25, [0.25], [0.75, 0.25])
    """
    rows, free = G.shape
    if free == 0 or rows == 0:
        value = np.max(a, initial=-np.inf)
        return float(value), np.zeros(free), (a == value).astype(float)
    unit = np.maximum(np.abs(G).max(axis=0), TINY)
    size = max(np.abs(a).max(), TINY)
    at = np.append(a / size, -ENDLESS)
    A = np.column_stack([np.vstack([G / unit, np.zeros(free)]), -np.ones(rows + 1)])
    A = np.hstack([A, -A])  # t and the value, of either sign
    M = np.block([[np.zeros((rows + 1, rows + 1)), -A], [A.T, np.zeros((2 * free + 2,) * 2)]])
    one = np.zeros(free + 1)
    one[-1] = 1.0
    z, _ = lemke_lcp(M, np.concatenate([-at, one, -one]))
    weight, found = z[:rows], z[rows + 1:]
    t = size * (found[:free] - found[free + 1 : -1]) / unit
    if z[rows] > 0.5:  # the floor bears the value
        return -np.inf, np.zeros(free), np.zeros(rows)
    return float(np.max(a + G @ t)), t, weight
