"""What do the matrices of a linear model say: poles, zeros, gains, modes?

Arrays in, arrays out; SI units or any others, all in 1/s.

References
----------
A. Emami-Naeini, P. Van Dooren, Computation of zeros of linear multivariable systems, Automatica
18(4), 1982; here for one input and one output, where the reduction is one row at a time.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eig, eigvals, matrix_balance, null_space

from ..numerics.arrays import Array

__all__ = ["participation", "poles", "static_gain", "zeros"]

ZERO = 1e-12  # of the largest entry: what is zero by rounding
RATIO = 1e-3  # of the fastest pole, below which poles are computed from the inverse
UNREACHED = 1e-9  # relative residual of an equation that has no solution
ROUNDING = 4e-16  # per state, of the largest lasting state


def poles(a: Array) -> Array:
    """Eigenvalues, by modulus; slow ones beside fast ones without cancellation."""
    if not len(a):
        return np.zeros(0, dtype=complex)
    balanced = matrix_balance(a)[0]
    found = np.asarray(eigvals(balanced), dtype=complex)
    size = np.abs(found)
    if size.min() < RATIO * size.max():
        found = _with_slow_ones(balanced, found)
    return found[np.lexsort((found.imag, found.real, np.round(np.abs(found), 12)))]


def _with_slow_ones(a: Array, found: Array) -> Array:
    """Slow eigenvalues are the large ones of the inverse, which have no cancellation there."""
    try:
        inverse = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return found
    if not np.isfinite(inverse).all() or np.linalg.cond(a) > 1 / np.finfo(float).eps:
        return found
    with np.errstate(divide="ignore"):
        other = 1 / np.asarray(eigvals(matrix_balance(inverse)[0]), dtype=complex)
    order, from_inverse = np.argsort(np.abs(found)), np.argsort(np.abs(other))
    found, other = found[order], other[from_inverse]
    limit = np.sqrt(np.abs(found[-1]) * max(np.abs(other[0]), np.finfo(float).tiny))
    slow = int(np.count_nonzero(np.abs(other) < limit))
    if slow and slow < len(other) and np.isclose(abs(other[slow]), abs(other[slow - 1])):
        slow += 1  # a pair stays together
    return np.concatenate([other[:slow], found[slow:]])


def zeros(a: Array, b: Array, c: Array, d: float) -> Array | None:
    """Finite zeros from one input to one output; None where nothing comes through.

    While the input does not act on the output at once, the states are turned so that the output
    is the last one; what keeps it at zero is the next output of a system smaller by one.
    """
    if len(a):
        a, (scale, _) = matrix_balance(a, permute=False, separate=True)
        b, c = b / scale, c * scale
    largest = np.abs(a).max(initial=0.0)
    norm = float(np.linalg.norm(b))
    if d == 0 and norm == 0:
        return None
    b, d = b / (norm or 1.0), d / (norm or 1.0)
    first = True
    while abs(d) <= ZERO * np.linalg.norm(b):
        size = np.linalg.norm(c)
        if not len(a) or size <= (0.0 if first else ZERO * largest):
            return None
        first = False
        turn = _to_last(c / size)
        a, b = turn @ a @ turn.T, turn @ b
        c, d, a, b = a[-1, :-1], float(b[-1]), a[:-1, :-1], b[:-1]
        if not len(a) and d == 0:
            return None
    return poles(a - np.outer(b, c) / d)


def _to_last(c: Array) -> Array:
    """A reflection that turns a unit vector into the last axis."""
    v = c.copy()
    v[-1] += np.copysign(1.0, c[-1])
    return np.eye(len(c)) - 2 * np.outer(v, v) / (v @ v)


def static_gain(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Change of the outputs per lasting change of the inputs.

    Infinite where an input is integrated on its way; nan where the gain depends on the start.
    """
    gain = np.array(d, dtype=float)
    if not len(a):
        return gain
    scale = np.abs(a).max() or 1.0
    kernel = null_space(a / scale, rcond=1e-13)
    if not kernel.shape[1]:
        return np.asarray(d + c @ _without_rounding(a, np.asarray(-np.linalg.solve(a, b))))
    steady = np.linalg.lstsq(a, -b, rcond=1e-13)[0]
    left = np.abs(a @ steady + b).max(axis=0)
    reached = left <= UNREACHED * np.maximum(np.abs(b).max(axis=0), 1e-300)
    seen = np.abs(c @ kernel).max(axis=1) > UNREACHED * np.maximum(np.abs(c).max(axis=1), 1e-300)
    whole = d + c @ _without_rounding(a, np.asarray(steady))
    return np.where(reached & ~seen[:, None], whole,
                    np.where(reached, np.nan, np.where(seen[:, None], np.inf, whole)))


def _without_rounding(a: Array, steady: Array) -> Array:
    """Lasting states with zeros where there is rounding alone, as in speeds at rest."""
    units = matrix_balance(a, permute=False, separate=True)[1][0]
    size = np.abs(steady) / units[:, None]
    return np.asarray(np.where(size > ROUNDING * len(a) * size.max(axis=0), steady, 0.0))


def participation(a: Array) -> tuple[Array, Array]:
    """Poles, and per pole (column) the share of each state in it.

    Left times right eigenvector, which no choice of units changes.
    """
    if not len(a):
        return np.zeros(0, dtype=complex), np.zeros((0, 0))
    found, left, right = eig(a, left=True, right=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.abs(left.conj() * right)
        share = share / share.sum(axis=0)
    return found, np.nan_to_num(share)
