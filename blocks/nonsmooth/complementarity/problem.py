"""The problem of set-valued laws in plain loops: its natural map, and linear systems of that.

For one element or thousands, with one pattern for all its matrices: efforts within bounds that are
affine in the efforts, their rates in the normal cone. Linear systems are those of the natural map
x - P(x + rate) where its pieces are held. Contacts of bodies that hold each other in several ways
make them singular; proximal points keep them regular, and of all answers that one is found that is
nearest to the first efforts, by the sum of squares of what is between, each divided by the range of
its effort. From no efforts at all, what holds one motion together takes equal shares of its ranges.

References
----------
Alart, Curnier, Comput. Methods Appl. Mech. Engrg. 92 (1991) 353-375.
Rockafellar, SIAM J. Control Optim. 14 (1976) 877-898.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np

from ...machine.functions import machine_code
from ...numerics.arrays import Flags, Indices, Vector
from ...numerics.tolerances import PROXIMAL_POINT, UNIT_PIVOT
from .sparse_lu import Factors, eliminate, solve_sparse

__all__ = ["FEW", "INFINITE", "Problem", "at_efforts", "connect", "factorise",
           "follows", "newton", "piece", "pose", "problem_of", "residual",
           "rounding", "weigh", "weigh_ranges"]  # fmt: skip

INFINITE = float("inf")
FEW = 60  # elements up to which efforts are exact
LEAST_SHARE = 1e-4  # of the largest: the weight of what bears anything one way
POINTS = 4  # corrections of one factorisation: proximal points, and rounding
FOUR_ROUNDINGS = 4 * 2.0**-52


class Problem(NamedTuple):
    """Efforts x within low + L x and high + H x, rate b - D x, in equal units; and how it goes."""

    starts: Indices  # starts, columns: of rows: the entries of D, L and H
    columns: Indices
    D: Vector
    L: Vector
    H: Vector
    unit: Vector
    share: Vector  # weights of what efforts are off the first ones: the least range by their own
    b: Vector
    low: Vector
    high: Vector
    floor: Vector
    top: Vector
    x: Vector
    new: Vector
    begun: Vector
    kept: Vector
    # factors of 1, D, -L and -H in the matrix of Newton's method
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
    best: Vector  # best, least: the efforts with the least residual so far, and that
    least: Vector
    held: Flags  # whether bounds leave no room between them
    group: Indices
    waiting: Indices
    # pieces, wanted: of the natural map, now and next: at a bound (-1, 1) or inside (0)
    pieces: Indices
    wanted: Indices
    systems: Indices  # (2,) how many have been solved, of how many elements
    # of the largest rate of all: islands with less are measured by this, and many efforts found
    # roughly; 0 where they are exact
    faint: float


def problem_of(most: int, entries: int, faint: float = 0.0) -> Problem:
    """Room for so many elements, and entries of a matrix."""
    return Problem._make([
        np.zeros(most + 1, dtype=np.int64), np.zeros(entries, dtype=np.int64),
        *np.zeros((3, entries)), *np.zeros((24, most)), np.zeros(1),
        np.zeros(most, dtype=bool), *np.zeros((4, most), dtype=np.int64),
        np.zeros(2, dtype=np.int64), faint])


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


@machine_code
def connect(problem: Problem, n: int) -> None:
    """Which elements are connected: groups of them have the number of their first one."""
    starts, columns = problem.starts, problem.columns
    problem.group[:n] = -1
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


def weigh(problem: Problem, n: int) -> None:
    """Weigh efforts by their ranges: of those with one effect the largest range takes most.

    One whose bounds follow efforts has no range of its own, and counts as the least one.
    """
    weigh_ranges(problem.low, problem.high, problem.share, n)
    for i in range(n):
        if follows(problem, i):
            problem.share[i] = 1.0


def weigh_ranges(low: Vector, high: Vector, share: Vector, n: int) -> None:
    """The least range by that of each element; of what bears anything one way, little."""
    least = INFINITE
    for i in range(n):
        if high[i] > low[i]:
            least = min(least, high[i] - low[i])
    for i in range(n):
        share[i] = 1.0
        if least < INFINITE and high[i] > low[i]:
            share[i] = max(least / (high[i] - low[i]), LEAST_SHARE)


def follows(problem: Problem, i: int) -> bool:
    """Whether the bounds of an element follow efforts."""
    loaded = False
    for q in range(problem.starts[i], problem.starts[i + 1]):
        loaded |= problem.L[q] != 0.0 or problem.H[q] != 0.0
    return loaded


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


def residual(problem: Problem, x: Vector, tol: float, n: int) -> float:
    """The largest natural residual, in units of the largest rate of each island.

    What an effort misses of a constant bound is measured by the range of the element where that is
    less. An island that hardly moves is measured by a share of what moves elsewhere where its rates
    are differences of the same velocities. Notes the best efforts.
    """
    at_efforts(problem, x, n)
    largest, worst = 0.0, 0.0
    problem.top[:n] = 0.0
    for i in range(n):
        size = max(abs(problem.b[i]), abs(problem.b[i] - problem.rate[i]))
        g = problem.group[i]
        problem.top[g] = max(problem.top[g], size)
        largest = max(largest, size)
    for i in range(n):
        natural = abs(x[i] - min(max(x[i] + problem.rate[i], problem.down[i]), problem.up[i]))
        unit = max(problem.top[problem.group[i]], problem.faint * largest) + problem.floor[i] / tol
        span = problem.high[i] - problem.low[i]
        if natural < abs(problem.rate[i]) and 0.0 < span < unit and (
                problem.down[i] == problem.low[i] and problem.limit[i] == problem.high[i]):
            unit = span  # what moves is at its bound, however little its effort does to rates
        if not natural <= worst * unit:
            worst = natural / unit if unit > 0.0 else INFINITE
    if worst < problem.least[0]:
        problem.least[0] = worst
        problem.best[:n] = x[:n]
    return worst


def piece(problem: Problem, x: Vector, i: int) -> int:
    """Whether the natural map holds an element at a bound (-1, 1) or inside (0)."""
    z = x[i] + problem.rate[i]
    return 1 if z > problem.up[i] else (-1 if z < problem.down[i] else 0)


def rounding(problem: Problem, n: int) -> None:
    """Add to the floor what efforts at their bounds leave of rates."""
    starts, columns = problem.starts, problem.columns
    for i in range(n):
        for q in range(starts[i], starts[i + 1]):
            low, high = abs(problem.low[columns[q]]), abs(problem.high[columns[q]])
            size = max(low if isfinite(low) else 0.0, high if isfinite(high) else 0.0)
            problem.floor[i] += FOUR_ROUNDINGS * abs(problem.D[q]) * size


def factorise(problem: Problem, factors: Factors, n: int) -> bool:
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


def newton(problem: Problem, factors: Factors, n: int) -> bool:
    """The point where the present pieces of the natural map are zero, near ``x``."""
    pieces, weight = problem.pieces, PROXIMAL_POINT
    if n <= FEW or problem.faint == 0.0:
        weight = 0.0
    problem.systems[0] += 1
    for i in range(n):
        problem.by_rate[i] = 1.0 if pieces[i] == 0 else 0.0
        problem.by_low[i] = 1.0 if pieces[i] < 0 else 0.0
        problem.by_high[i] = 1.0 if pieces[i] > 0 else 0.0
        problem.diagonal[i] = weight * problem.share[i] if pieces[i] == 0 else 1.0
        problem.new[i] = problem.x[i]
    if not factorise(problem, factors, n):
        if weight > 0.0:
            return False
        weight = PROXIMAL_POINT
        for i in range(n):
            problem.diagonal[i] = weight * problem.share[i] if pieces[i] == 0 else 1.0
        if not factorise(problem, factors, n):
            return False
    for _ in range(POINTS if weight > 0.0 else 2):
        at_efforts(problem, problem.new, n)
        for i in range(n):
            problem.right[i] = problem.rate[i]
            if pieces[i] != 0:
                problem.right[i] = (problem.down[i] if pieces[i] < 0 else problem.limit[i]
                                    ) - problem.new[i]
        solve_sparse(factors, problem.right, problem.room, n)
        for i in range(n):
            problem.new[i] += problem.right[i]
    finite = True
    for i in range(n):
        finite &= isfinite(problem.new[i])
    return finite
