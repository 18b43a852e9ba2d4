"""What do the matrices of a linear model say: poles, zeros, gains, modes?

Arrays in, arrays out; SI units or any others, all in 1/s.

References
----------
A. Emami-Naeini, P. Van Dooren, Computation of zeros of linear multivariable systems, Automatica
18(4), 1982; here for one input and one output, where the reduction is one row at a time.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eig, eigvals, matrix_balance
from scipy.linalg.lapack import dgetrs

from ...numerics.arrays import Array, Complexes, Flags
from ...numerics.sparse_solves import equilibrated, factors_if_regular

__all__ = ["drop_rounding", "participation", "poles", "static_gain", "steady_response", "zeros"]

SINGULAR = 1e-13  # of the largest singular value, of a matrix with even rows and columns
UNREACHED = 1e-9  # relative residual of an equation that has no solution
CANCELLED = 1e-12  # of what a sum is made of: it is zero
ROUNDING = 4e-16  # per state, of the largest lasting state in even units
RATIO = 1e-3  # of the fastest pole, below which poles are computed from the inverse
SEEN = 1e-9  # of what an output is made of: it shows that
MOST_ORDERS = 4  # integrators in a row, after which a gain is infinite


def poles(a: Array) -> Complexes:
    """Eigenvalues, by modulus; slow ones beside fast ones without cancellation."""
    if not len(a):
        return np.zeros(0, dtype=complex)
    balanced = matrix_balance(a)[0]
    found = np.asarray(eigvals(balanced), dtype=complex)
    size = np.abs(found)
    if size.min() < RATIO * size.max():
        found = _with_slow_ones(balanced, found)
    return found[np.lexsort((found.imag, found.real, np.round(np.abs(found), 12)))]


def _with_slow_ones(a: Array, found: Complexes) -> Complexes:
    """Slow eigenvalues are the large ones of the inverse, which have no cancellation there."""
    matrix, rows, columns = equilibrated(a)
    if np.linalg.cond(matrix) > 1 / np.finfo(float).eps:
        return found
    inverse = np.linalg.inv(matrix) / rows.T / columns.T
    with np.errstate(divide="ignore"):
        other = 1 / np.asarray(eigvals(matrix_balance(inverse)[0]), dtype=complex)
    order, from_inverse = np.argsort(np.abs(found)), np.argsort(np.abs(other))
    found, other = found[order], other[from_inverse]
    limit = np.sqrt(np.abs(found[-1]) * max(np.abs(other[0]), np.finfo(float).tiny))
    slow = int(np.count_nonzero(np.abs(other) < limit))
    if slow and slow < len(other) and np.isclose(abs(other[slow]), abs(other[slow - 1])):
        slow += 1  # a pair stays together
    return np.concatenate([other[:slow], found[slow:]])


def zeros(a: Array, b: Array, c: Array, d: float) -> Complexes | None:
    """Finite zeros from one input to one output; None where nothing comes through.

    While the input does not act on the output at once, the output takes the place of a state; what
    keeps it at zero is the next output of a system smaller by one. What is zero is told by what a
    number is made of, which is carried along.
    """
    if len(a):
        a, (scale, _) = matrix_balance(a, permute=False, separate=True)
        b, c = b / scale, c * scale
    of_a, of_b = np.abs(a), np.abs(b)
    while d == 0:
        if not c.any():
            return None
        p = int(np.argmax(np.abs(c)))
        others = np.arange(len(c)) != p
        share = c[others] / c[p]
        of_a = of_a[:, others] + np.outer(of_a[:, p], np.abs(share))
        a = drop_rounding(a[:, others] - np.outer(a[:, p], share), of_a)
        of_c, of_d = np.abs(c) @ of_a, float(np.abs(c) @ of_b)
        c, d = drop_rounding(c @ a, of_c), float(drop_rounding(c @ b, of_d))
        a, of_a, b, of_b = a[others], of_a[others], b[others], of_b[others]
    return poles(a - np.outer(b, c) / d)


def static_gain(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Change of the outputs per lasting change of the inputs.

    Infinite where an input is integrated on its way; nan where the gain depends on the start.
    """
    gain = np.array(d, dtype=float)
    if not len(a):
        return gain
    n, left, gain[:] = len(a), np.arange(b.shape[1]), np.inf
    by_itself = np.zeros((n, 0))  # motions that go on by themselves, which lasting inputs may drive
    for order in range(MOST_ORDERS + 1):  # x = x0 + x1 t + …, where x1 is one of these motions
        states, kernel, reached = steady_response(np.column_stack([a, -by_itself]), b[:, left])
        value = d[:, left] + c @ states[:n]
        rate, grows = by_itself @ states[n:], np.zeros(value.shape, dtype=bool)
        for _ in range(order):
            grows |= _shows(c, rate)
            rate = drop_rounding(a @ rate, SEEN / CANCELLED * np.abs(a) @ np.abs(rate))
        by_itself = kernel[:n]
        seen = np.any(_shows(c, by_itself), axis=1, keepdims=True)
        whole = np.where(grows, np.inf, np.where(seen, np.nan, value))
        gain[:, left[reached]] = whole[:, reached]
        left = left[~reached]
        if not len(left):
            break
    return gain


def _shows(c: Array, states: Array) -> Flags:
    """Which outputs (rows) show anything of states (columns)."""
    return np.asarray(np.abs(c @ states) > SEEN * (np.abs(c) @ np.abs(states)))


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


def drop_rounding(value: Array, made_of: Array | float) -> Array:
    """Sums, with zeros where they cancel but for rounding."""
    return np.where(np.abs(value) > CANCELLED * made_of, value, 0.0)


def steady_response(a: Array, b: Array) -> tuple[Array, Array, Flags]:
    """Where ``A x + B u`` is zero for lasting inputs, x the least of what nothing determines.

    ``a`` may have more columns than rows. States, (states, inputs), are zeros where there is
    rounding alone, as in speeds at rest; behind them come changes of the states that go on for
    ever, (states, directions), and per input whether it stays anywhere.
    """
    matrix, rows, columns = equilibrated(a)
    right = -b / rows
    square = matrix.shape[0] == matrix.shape[1]
    factors = factors_if_regular(matrix, SINGULAR) if square else None
    if factors is not None:
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
    return states / columns.T, kernel / columns.T, reached


def _without(states: Array, rounding: float) -> Array:
    """States with zeros where there is only rounding beside the largest of a column."""
    size = np.abs(states)
    return np.where(size > rounding * size.max(axis=0, initial=0.0), states, 0.0)
