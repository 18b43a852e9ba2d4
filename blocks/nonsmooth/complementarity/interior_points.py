"""Efforts of hundreds of elements from inside their bounds, in plain loops.

A primal-dual interior-point method with predictor and corrector [S. Mehrotra, SIAM J. Optim. 2
(1992) 575-601], for bounds that are affine in the efforts. Products of distances from bounds and
their multipliers fall together, so who holds and who slides is found without trying: ten to thirty
linear systems for a heap of 200 discs, from anywhere. Where it gets stuck, as it may because
friction is no convex problem, it is begun again from further in or further out.
"""

from __future__ import annotations

from math import isfinite

from ...machine.functions import machine_code
from ...numerics.tolerances import INTERIOR_WEIGHT, LEAST_CENTRING, NEARLY_SOLVED
from .problem import Problem, at_efforts, factorise, follows, newton, piece, residual
from .sparse_lu import Factors, solve_sparse

__all__ = ["from_inside"]

MARGINS = (0.1, 1.0, 0.01, 0.001)  # of the largest rate: distances from bounds to begin with
LINEAR_SYSTEMS = 60  # from one beginning
INSIDE = 0.95  # of the way to the nearest bound
FREELY = 0.5  # part of a direction that can be gone: one to take
SHORT = 0.05  # the same: one that leads nowhere,
STUCK = 3  # times in a row
FADES = 0.3  # share of the products of directions, each by the one before
TRIED = 4  # shares of these products


def _begin(problem: Problem, margin: float, n: int) -> int:
    """Efforts inside their bounds and multipliers, near ``begun``; how many bounds there are."""
    x, size = problem.x, 0.0
    for i in range(n):
        x[i] = problem.begun[i]
        size = max(size, max(abs(problem.b[i]), 0.1 * abs(x[i])))
    inside = margin * size
    for loaded in range(2):  # bounds that depend on efforts at those that press
        at_efforts(problem, x, n)
        for i in range(n):
            if follows(problem, i) == (loaded > 0):
                low, high = problem.down[i], problem.limit[i]
                problem.held[i] = high <= low
                off = min(inside, 0.25 * (high - low))
                x[i] = low if high <= low else min(max(x[i], low + off), high - off)
    at_efforts(problem, x, n)
    bounds = 0
    for i in range(n):
        problem.lower[i], problem.upper[i] = 0.0, 0.0
        if not problem.held[i]:
            if isfinite(problem.low[i]):
                problem.lower[i] = max(-problem.rate[i], 0.0) + inside
                bounds += 1
            if isfinite(problem.high[i]):
                problem.upper[i] = max(problem.rate[i], 0.0) + inside
                bounds += 1
    return bounds


def _distances(problem: Problem, n: int) -> None:
    """Distances from bounds, and what rates lack."""
    at_efforts(problem, problem.x, n)
    for i in range(n):
        free = not problem.held[i]
        problem.below[i], problem.above[i] = 1.0, 1.0
        if free and isfinite(problem.low[i]):
            problem.below[i] = problem.x[i] - problem.down[i]
        if free and isfinite(problem.high[i]):
            problem.above[i] = problem.limit[i] - problem.x[i]
        problem.error[i] = problem.rate[i] - problem.upper[i] + problem.lower[i]


def _factorise(problem: Problem, factors: Factors, n: int) -> bool:
    """Factors of the matrix, row by row of order one; whether it is regular."""
    for i in range(n):
        below = problem.lower[i] / problem.below[i]
        above = problem.upper[i] / problem.above[i]
        if problem.held[i]:
            problem.by_rate[i], problem.by_low[i], problem.by_high[i] = 0.0, 1.0, 0.0
            problem.diagonal[i] = 1.0
        else:
            weight = 1.0 / (1.0 + below + above)
            problem.by_rate[i], problem.by_low[i] = weight, weight * below
            problem.by_high[i] = weight * above
            problem.diagonal[i] = weight * (below + above + INTERIOR_WEIGHT)
    return factorise(problem, factors, n)


def _direction(problem: Problem, factors: Factors, goal: float, fraction: float, n: int) -> float:
    """Directions in which products become ``goal``; which part of them can be gone.

    ``fraction`` is that of the products of directions that have been noted.
    """
    starts, columns, way = problem.starts, problem.columns, problem.way
    for i in range(n):
        way[i] = 0.0
        if not problem.held[i]:
            right = problem.error[i]
            if isfinite(problem.high[i]):
                product = goal - fraction * problem.upper_product[i]
                right += problem.upper[i] - product / problem.above[i]
            if isfinite(problem.low[i]):
                product = goal - fraction * problem.lower_product[i]
                right += product / problem.below[i] - problem.lower[i]
            way[i] = problem.by_rate[i] * right
    solve_sparse(factors, way, problem.room, n)
    part = 1.0
    for i in range(n):
        low, high = 0.0, 0.0
        for q in range(starts[i], starts[i + 1]):
            low += problem.L[q] * way[columns[q]]
            high += problem.H[q] * way[columns[q]]
        free = not problem.held[i]
        problem.to_below[i], problem.to_above[i] = 0.0, 0.0
        problem.to_lower[i], problem.to_upper[i] = 0.0, 0.0
        if free and isfinite(problem.low[i]):
            product = goal - fraction * problem.lower_product[i]
            problem.to_below[i] = way[i] - low
            problem.to_lower[i] = (product - problem.lower[i] * problem.to_below[i]
                                   ) / problem.below[i] - problem.lower[i]
        if free and isfinite(problem.high[i]):
            product = goal - fraction * problem.upper_product[i]
            problem.to_above[i] = high - way[i]
            problem.to_upper[i] = (product - problem.upper[i] * problem.to_above[i]
                                   ) / problem.above[i] - problem.upper[i]
        part = _until_zero(problem.below[i], problem.to_below[i], part)
        part = _until_zero(problem.above[i], problem.to_above[i], part)
        part = _until_zero(problem.lower[i], problem.to_lower[i], part)
        part = _until_zero(problem.upper[i], problem.to_upper[i], part)
    return part


def _until_zero(value: float, change: float, part: float) -> float:
    return -value / change if value + part * change < 0.0 else part


def _products(problem: Problem, part: float, n: int) -> float:
    """The sum of all products, a part of the way on."""
    total = 0.0
    for i in range(n):
        total += (problem.below[i] + part * problem.to_below[i]) * (
            problem.lower[i] + part * problem.to_lower[i])
        total += (problem.above[i] + part * problem.to_above[i]) * (
            problem.upper[i] + part * problem.to_upper[i])
    return total


def _best_direction(problem: Problem, factors: Factors, bounds: int, n: int) -> float:
    """Directions that can be gone far, and which part of them."""
    present = _products(problem, 0.0, n) / bounds
    part = _direction(problem, factors, 0.0, 0.0, n)
    ratio = _products(problem, part, n) / bounds / present
    goal = present * max(ratio * ratio * ratio, LEAST_CENTRING)
    for i in range(n):
        problem.lower_product[i] = problem.to_below[i] * problem.to_lower[i]
        problem.upper_product[i] = problem.to_above[i] * problem.to_upper[i]
    best, taken, fraction = -1.0, 0.0, 1.0
    for trial in range(TRIED):
        part = _direction(problem, factors, goal, fraction, n)
        if part > best:
            best, taken = part, fraction
        if part > FREELY:
            return part
        fraction = fraction * FADES if trial < TRIED - 2 else 0.0
    if best > FREELY * FREELY:
        return _direction(problem, factors, goal, taken, n)
    return _direction(problem, factors, present, 0.0, n)


def _polished(problem: Problem, factors: Factors, tol: float, n: int) -> bool:
    """Whether the pieces that efforts are in have been found, and so efforts near ``begun``."""
    for i in range(n):
        problem.pieces[i] = piece(problem, problem.x, i)
        problem.kept[i] = problem.x[i]
        problem.x[i] = problem.begun[i]
    for _ in range(2):  # the split of efforts is open where elements hold each other
        if newton(problem, factors, n):
            problem.x[:n] = problem.new[:n]
            if residual(problem, problem.x, tol, n) <= tol:
                return True
        problem.x[:n] = problem.kept[:n]
    return False


def _follow(problem: Problem, factors: Factors, margin: float, tol: float, n: int) -> bool:
    """The way from one beginning; whether it leads to efforts."""
    bounds, short = _begin(problem, margin, n), 0
    if bounds == 0:
        return False
    for _ in range(LINEAR_SYSTEMS):
        _distances(problem, n)
        problem.systems[0] += 1
        if not _factorise(problem, factors, n):
            return False
        part = _best_direction(problem, factors, bounds, n)
        short = short + 1 if part < SHORT else 0
        if short == STUCK:
            return False
        part *= INSIDE
        for i in range(n):
            problem.x[i] += part * problem.way[i]
            problem.lower[i] += part * problem.to_lower[i]
            problem.upper[i] += part * problem.to_upper[i]
            if not isfinite(problem.x[i]):
                return False
        left = residual(problem, problem.x, tol, n)
        if left <= NEARLY_SOLVED and _polished(problem, factors, tol, n) or left <= tol:
            return True
    return False


@machine_code
def from_inside(problem: Problem, factors: Factors, tol: float, n: int) -> bool:
    """Efforts from inside their bounds, near ``begun``; whether they are found."""
    return (_follow(problem, factors, MARGINS[0], tol, n)
            or _follow(problem, factors, MARGINS[1], tol, n)
            or _follow(problem, factors, MARGINS[2], tol, n)
            or _follow(problem, factors, MARGINS[3], tol, n))
