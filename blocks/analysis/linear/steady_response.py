"""What lasts of a linear system whose states are of quite different sizes and speeds?

Currents of a circuit that settles within nanoseconds stand beside the heat of a block that takes
hours: by the largest entry of their matrix it cannot be told whether it is regular. So rows and
columns are brought to even sizes first, each by itself, which changes no rank.

References
----------
D. Ruiz, A scaling algorithm to equilibrate both rows and columns norms in matrices, Rutherford
Appleton Laboratory, RAL-TR-2001-034, 2001.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics.arrays import Array, Flags
from ...numerics.regular import factors_if_regular

__all__ = ["CANCELLED", "SteadyResponse", "drop_rounding", "equilibrated", "steady_response"]

MOST_ROUNDS = 20  # each halves the digits by which sizes differ
SINGULAR = 1e-13  # of the largest singular value, of a matrix with even rows and columns
UNREACHED = 1e-9  # relative residual of an equation that has no solution
CANCELLED = 1e-12  # of what a sum is made of: it is zero
ROUNDING = 4e-16  # per state, of the largest lasting state in even units


@dataclass(frozen=True, eq=False)
class SteadyResponse:
    """Where ``dx/dt = A x + B u`` stays, per unit of every input.

    Attributes
    ----------
    states : (states, inputs), zeros where there is rounding alone, as in speeds at rest
    open : (states, directions) changes of the states that go on for ever
    reached : per input, whether it stays anywhere
    """

    states: Array
    open: Array
    reached: Flags


def drop_rounding(value: Array, made_of: Array | float) -> Array:
    """Sums, with zeros where they cancel but for rounding."""
    return np.where(np.abs(value) > CANCELLED * made_of, value, 0.0)


def equilibrated(matrix: Array) -> tuple[Array, Array, Array]:
    """A matrix whose rows and columns have largest entries of about 1, and its factors for both.

    They are powers of two, so no digit is lost.
    """
    rows, columns = np.zeros(matrix.shape[0]), np.zeros(matrix.shape[1])  # their exponents
    size = np.abs(matrix)
    logs = np.log2(size, out=np.full(size.shape, -np.inf), where=size > 0)
    for _ in range(MOST_ROUNDS):
        now = logs + rows[:, None] + columns
        tall, wide = (now.max(axis=k, initial=-np.inf) for k in (1, 0))
        tall, wide = (np.where(np.isfinite(v), v, 0.0) for v in (tall, wide))
        rows, columns = rows - tall / 2, columns - wide / 2
        if max(np.abs(tall).max(initial=0.0), np.abs(wide).max(initial=0.0)) < 1:
            break
    r, c = np.exp2(np.round(rows)), np.exp2(np.round(columns))
    return matrix * r[:, None] * c, r, c


def steady_response(a: Array, b: Array) -> SteadyResponse:
    """Where ``A x + B u`` is zero for lasting inputs, x the least of what nothing determines.

    ``a`` may have more columns than rows.
    """
    matrix, rows, columns = equilibrated(a)
    right = -b * rows[:, None]
    square = matrix.shape[0] == matrix.shape[1]
    factors = factors_if_regular(matrix, SINGULAR) if square else None
    if factors is not None:
        from scipy.linalg.lapack import dgetrs

        states, kernel = np.asarray(dgetrs(*factors, right)[0]), matrix[:, :0]
        reached = np.ones(b.shape[1], dtype=bool)
    else:
        u, s, vt = np.linalg.svd(matrix)
        rank = int(np.count_nonzero(s > SINGULAR * s.max(initial=0.0)))
        states = vt[:rank].T @ ((u[:, :rank].T @ right) / s[:rank, None])
        states = _without(states, SINGULAR)
        kernel = np.where(np.abs(vt[rank:]) > SINGULAR, vt[rank:], 0.0).T
        left = np.abs(matrix @ states - right).max(axis=0)
        reached = left <= UNREACHED * np.abs(right).max(axis=0, initial=0.0)
    states = _without(states, ROUNDING * len(a))
    return SteadyResponse(states * columns[:, None], kernel * columns[:, None], reached)


def _without(states: Array, rounding: float) -> Array:
    """With zeros where there is nothing but rounding beside the largest of a column."""
    size = np.abs(states)
    return np.where(size > rounding * size.max(axis=0, initial=0.0), states, 0.0)
