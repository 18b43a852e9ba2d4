"""Efforts that end a step, compiled: few or hundreds of elements that act on each other.

The problem of :mod:`blocks.nonsmooth.complementarity.semismooth` with one pattern for all its
matrices, Newton's method and rounded corners as there. Before these, where the pieces of Newton's
method repeat themselves, sweeps of projected Gauss-Seidel [M. Jean, Comput. Methods Appl. Mech.
Engrg. 177 (1999) 235-257] find others to begin with; one costs a twentieth of a factorisation.
Efforts are taken where their residual proves them.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np

from ..nonsmooth.complementarity.semismooth import (
    DIRECT,
    FAINT,
    INNER,
    POINTS,
    ROUNDS,
    SHARPER,
)
from ..numerics.arrays import IndexMatrix, Indices, Vector
from ..numerics.tolerances import (
    PROXIMAL_POINT,
    SHARPEST,
    SMOOTHING,
    STEP_EXACT,
    STEP_RESIDUAL,
    UNIT_PIVOT,
)
from .functions import machine_code
from .sparse_lu import Factors, eliminate, solve_sparse

__all__ = ["FEW", "Problem", "at_efforts", "connect", "piece", "pose", "problem_of", "proved"]

FEW = 60  # elements up to which residuals are those of one solution, without proximal points
SWEEPS = 60  # before Newton's method is tried once more,
SOON = 6  # linear systems of many elements before these are swept
MORE = 9  # times, in the end, with half as many more each time
INFINITE = float("inf")
FOUR_ROUNDINGS = 4 * 2.0**-52


class Problem(NamedTuple):
    """Efforts x within low + L x and high + H x, rate b - D x, in equal units; and how it goes.

    Attributes
    ----------
    starts, columns : of rows: the entries of D, L and H
    diagonal, by_rate, by_low, by_high : factors of 1, D, -L and -H in the matrix of Newton's method
    """

    starts: Indices
    columns: Indices
    D: Vector
    L: Vector
    H: Vector
    unit: Vector
    b: Vector
    low: Vector
    high: Vector
    floor: Vector
    top: Vector
    x: Vector
    new: Vector
    before: Vector
    kept: Vector
    begun: Vector
    swept: Vector
    diagonal: Vector
    by_rate: Vector
    by_low: Vector
    by_high: Vector
    way: Vector
    error: Vector
    rate: Vector
    down: Vector
    up: Vector
    limit: Vector
    right: Vector
    room: Vector
    group: Indices
    waiting: Indices
    pieces: IndexMatrix


def problem_of(most: int, entries: int) -> Problem:
    """Room for so many elements, and entries of a matrix."""
    return Problem._make([
        np.zeros(most + 1, dtype=np.int64), np.zeros(entries, dtype=np.int64),
        *np.zeros((3, entries)), *np.zeros((24, most)), *np.zeros((2, most), dtype=np.int64),
        np.zeros((DIRECT, most), dtype=np.int64)])


def pose(problem: Problem, n: int) -> None:
    """Take equal units, once D and b are written."""
    starts, columns = problem.starts, problem.columns
    for i in range(n):
        problem.unit[i] = 1.0
        for q in range(starts[i], starts[i + 1]):
            if columns[q] == i and problem.D[q] > 0.0:
                problem.unit[i] = 1.0 / sqrt(problem.D[q])
    for i in range(n):
        problem.b[i] *= problem.unit[i]
        for q in range(starts[i], starts[i + 1]):
            problem.D[q] *= problem.unit[i] * problem.unit[columns[q]]


def connect(problem: Problem, n: int) -> None:
    """Which elements are connected: groups of them have the number of their first one."""
    starts, columns = problem.starts, problem.columns
    for i in range(n):
        problem.group[i] = -1
    for i in range(n):
        if problem.group[i] < 0:
            problem.group[i], problem.waiting[0] = i, i
            left = 1
            while left > 0:
                left -= 1
                k = problem.waiting[left]
                for q in range(starts[k], starts[k + 1]):
                    j = columns[q]
                    if problem.group[j] < 0 and (
                            problem.D[q] != 0.0 or problem.L[q] != 0.0 or problem.H[q] != 0.0):
                        problem.group[j], problem.waiting[left] = i, j
                        left += 1


def at_efforts(problem: Problem, x: Vector, n: int) -> None:
    """Rates and bounds at efforts."""
    starts, columns, D, L, H = (problem.starts, problem.columns, problem.D, problem.L, problem.H)
    for i in range(n):
        rate, low, high = problem.b[i], problem.low[i], problem.high[i]
        for q in range(starts[i], starts[i + 1]):
            value = x[columns[q]]
            rate -= D[q] * value
            low += L[q] * value
            high += H[q] * value
        problem.rate[i], problem.down[i], problem.limit[i] = rate, low, high
        problem.up[i] = max(high, low)


def _residual(problem: Problem, x: Vector, tol: float, n: int) -> float:
    """The largest natural residual, in units of the largest rate of each connected part."""
    at_efforts(problem, x, n)
    largest, worst = 0.0, 0.0
    for i in range(n):
        problem.top[i] = 0.0
    for i in range(n):
        size = max(abs(problem.b[i]), abs(problem.b[i] - problem.rate[i]))
        g = problem.group[i]
        problem.top[g] = max(problem.top[g], size)
        largest = max(largest, size)
    for i in range(n):
        natural = abs(x[i] - min(max(x[i] + problem.rate[i], problem.down[i]), problem.up[i]))
        unit = max(problem.top[problem.group[i]], FAINT * largest) + problem.floor[i] / tol
        if not natural <= worst * unit:
            worst = natural / unit if unit > 0.0 else INFINITE
    return worst


def piece(problem: Problem, x: Vector, i: int) -> int:
    """Whether the natural map holds an element at a bound (-1, 1) or inside (0)."""
    z = x[i] + problem.rate[i]
    return 1 if z > problem.up[i] else (-1 if z < problem.down[i] else 0)


def _factorise(problem: Problem, factors: Factors, n: int) -> bool:
    """Factors of diagonal + by_rate D - by_low L - by_high H; whether it is regular."""
    starts, columns, place, row = problem.starts, problem.columns, factors.place, factors.row
    D, L, H = problem.D, problem.L, problem.H
    for k in range(n):
        i = factors.at[k]
        a, b, c = problem.by_rate[i], problem.by_low[i], problem.by_high[i]
        for q in range(starts[i], starts[i + 1]):
            row[place[columns[q]]] = a * D[q] - b * L[q] - c * H[q]
        row[k] += problem.diagonal[i]
        pivot = eliminate(factors, k)
        if not (abs(pivot) > UNIT_PIVOT and isfinite(pivot)):
            return False
    return True


def _newton(problem: Problem, factors: Factors, pieces: Indices, n: int) -> bool:
    """The point where the present pieces of the natural map are zero, near ``x``."""
    weight = 0.0 if n <= FEW else PROXIMAL_POINT
    for i in range(n):
        problem.by_rate[i] = 1.0 if pieces[i] == 0 else 0.0
        problem.by_low[i] = 1.0 if pieces[i] < 0 else 0.0
        problem.by_high[i] = 1.0 if pieces[i] > 0 else 0.0
        problem.diagonal[i] = weight if pieces[i] == 0 else 1.0
    if not _factorise(problem, factors, n):
        if weight > 0.0:
            return False
        weight = PROXIMAL_POINT
        for i in range(n):
            problem.diagonal[i] = weight if pieces[i] == 0 else 1.0
        if not _factorise(problem, factors, n):
            return False
    for i in range(n):
        problem.before[i] = problem.x[i]
        problem.new[i] = problem.low[i] if pieces[i] < 0 else problem.high[i]
        if pieces[i] == 0:
            problem.new[i] = problem.b[i] + weight * problem.x[i]
    solve_sparse(factors, problem.new, problem.room, n)
    if weight > 0.0:
        for _ in range(POINTS):
            for i in range(n):
                problem.right[i] = 0.0
                if pieces[i] == 0:
                    problem.right[i] = weight * (problem.new[i] - problem.before[i])
                problem.before[i] = problem.new[i]
            solve_sparse(factors, problem.right, problem.room, n)
            for i in range(n):
                problem.new[i] += problem.right[i]
    finite = True
    for i in range(n):
        finite &= isfinite(problem.new[i])
    return finite


def _direct(problem: Problem, factors: Factors, tol: float, n: int) -> bool:
    """Newton's method from ``x`` until its pieces repeat; whether it has found efforts."""
    for tried in range(DIRECT if n <= FEW else SOON):
        for i in range(n):
            problem.pieces[tried, i] = piece(problem, problem.x, i)
        for k in range(tried):
            i = 0
            while i < n and problem.pieces[k, i] == problem.pieces[tried, i]:
                i += 1
            if i == n:
                return False
        if not _newton(problem, factors, problem.pieces[tried], n):
            return False
        for i in range(n):
            problem.x[i] = problem.new[i]
        if _residual(problem, problem.x, tol, n) <= tol:
            return True
    return False


def _sweep(problem: Problem, n: int) -> None:
    """Every effort in its turn as if the others were right."""
    starts, columns, D, L, H, x = (
        problem.starts, problem.columns, problem.D, problem.L, problem.H, problem.x)
    for i in range(n):
        rate, low, high = problem.b[i], problem.low[i], problem.high[i]
        for q in range(starts[i], starts[i + 1]):
            value = x[columns[q]]
            rate -= D[q] * value
            low += L[q] * value
            high += H[q] * value
        x[i] = min(max(x[i] + rate, low), max(high, low))


def _rounded(problem: Problem, x: Vector, mu: float, n: int) -> float:
    """The norm of x - P(x + rate) with rounded corners, in ``error``; P's derivatives are noted."""
    at_efforts(problem, x, n)
    total = 0.0
    for i in range(n):
        low, high = problem.down[i], problem.limit[i]
        z = x[i] + problem.rate[i]
        p, by_a, by_b = z, 1.0, 0.0
        if isfinite(low):
            a = z - low
            root = sqrt(a * a + 4.0 * mu * mu)
            p, by_a = low + (a + root) / 2.0, (1.0 + a / root) / 2.0
        if isfinite(high):
            b = z - high
            root = sqrt(b * b + 4.0 * mu * mu)
            p, by_b = p - (b + root) / 2.0, (1.0 + b / root) / 2.0
        problem.error[i] = x[i] - p
        problem.by_rate[i], problem.by_high[i] = by_a - by_b, by_b
        problem.by_low[i] = 1.0 - by_a if isfinite(low) else 0.0
        problem.diagonal[i] = 1.0 - (by_a - by_b) + PROXIMAL_POINT
        total += problem.error[i] * problem.error[i]
    return sqrt(total)


def _moved(problem: Problem, part: float, n: int) -> None:
    """Efforts a part of the way on, in ``new``; what presses keeps pressing."""
    for i in range(n):
        problem.new[i] = problem.x[i] + part * problem.way[i]
        if isfinite(problem.low[i]) and not isfinite(problem.high[i]):
            problem.new[i] = max(problem.new[i], 0.9 * problem.low[i] + 0.1 * problem.x[i])


def _round_off(problem: Problem, factors: Factors, mu: float, n: int) -> int:
    """Newton's method with corners rounded off by ``mu``: how many steps, -1 where it fails."""
    for i in range(n):
        if isfinite(problem.low[i]) and not isfinite(problem.high[i]):
            problem.x[i] = max(problem.x[i], problem.low[i] + mu / 2.0)
    steps = 0
    while steps < INNER:
        size = _rounded(problem, problem.x, mu, n)
        if size <= 0.1 * mu * sqrt(n):
            break
        if not _factorise(problem, factors, n):
            return -1
        for i in range(n):
            problem.way[i] = -problem.error[i]
        solve_sparse(factors, problem.way, problem.room, n)
        steps += 1
        part = 1.0
        _moved(problem, part, n)
        left = _rounded(problem, problem.new, mu, n)
        while part > 1e-3 and not left < (1.0 - 1e-4 * part) * size:
            part *= 0.5
            _moved(problem, part, n)
            left = _rounded(problem, problem.new, mu, n)
        for i in range(n):
            problem.x[i] = problem.new[i]
            if not isfinite(problem.x[i]):
                return -1
    return steps


def _follow(problem: Problem, factors: Factors, tol: float, n: int) -> bool:
    """Corners that are rounded off less and less, from ``x``; whether efforts are found."""
    at_efforts(problem, problem.x, n)
    mu, used, lost = 0.0, 0, 0
    for i in range(n):
        bound = min(max(problem.x[i] + problem.rate[i], problem.down[i]), problem.up[i])
        mu = max(mu, abs(problem.x[i] - bound), SMOOTHING * abs(problem.b[i]))
    smallest = SHARPEST * mu
    while used < ROUNDS and mu > smallest:
        steps = _round_off(problem, factors, mu, n)
        if steps < 0:
            return False
        used += steps + 1
        lost = lost + 1 if steps == INNER else 0
        if lost > 2:
            return False
        at_efforts(problem, problem.x, n)
        for i in range(n):
            problem.kept[i] = problem.x[i]
            problem.pieces[0, i] = piece(problem, problem.x, i)
        if not _newton(problem, factors, problem.pieces[0], n):
            return False
        if _residual(problem, problem.new, tol, n) <= tol:
            for i in range(n):
                problem.x[i] = problem.new[i]
            return True
        for i in range(n):
            problem.x[i] = problem.kept[i]
        mu *= SHARPER
    return False


@machine_code
def proved(problem: Problem, factors: Factors, n: int) -> bool:
    """Efforts near ``new`` that their residual proves, in ``x``; whether they are found."""
    tol = STEP_EXACT if n <= FEW else STEP_RESIDUAL
    starts, columns = problem.starts, problem.columns
    loaded = False
    for i in range(n):
        problem.floor[i] = 0.0
        for q in range(starts[i], starts[i + 1]):
            low, high = abs(problem.low[columns[q]]), abs(problem.high[columns[q]])
            size = max(low if isfinite(low) else 0.0, high if isfinite(high) else 0.0)
            loaded |= problem.L[q] != 0.0 or problem.H[q] != 0.0
            problem.floor[i] += FOUR_ROUNDINGS * abs(problem.D[q]) * size
    at_efforts(problem, problem.new, n)
    for i in range(n):
        problem.x[i] = min(max(problem.new[i], problem.down[i]), problem.up[i])
        problem.begun[i] = problem.x[i]
        problem.swept[i] = problem.x[i]
    if _residual(problem, problem.x, tol, n) <= tol or _direct(problem, factors, tol, n):
        return True
    if loaded and n <= FEW:  # pivoting tells whether there are any, and finds them
        return False
    if _swept(problem, factors, tol, SWEEPS, n) or _follow(problem, factors, tol, n):
        return True
    for i in range(n):
        problem.x[i] = problem.begun[i]
    if _follow(problem, factors, tol, n):
        return True
    sweeps = SWEEPS
    for _ in range(MORE):
        sweeps += sweeps // 2
        if _swept(problem, factors, tol, sweeps, n):
            return True
    return False


def _swept(problem: Problem, factors: Factors, tol: float, sweeps: int, n: int) -> bool:
    """More sweeps, and Newton's method from there; ``x`` are swept efforts if nothing is found."""
    for i in range(n):
        problem.x[i] = problem.swept[i]
    for _ in range(sweeps):
        _sweep(problem, n)
    for i in range(n):
        problem.swept[i] = problem.x[i]
    if _residual(problem, problem.x, tol, n) <= tol or _direct(problem, factors, tol, n):
        return True
    for i in range(n):
        problem.x[i] = problem.swept[i]
    return False
