"""Efforts of hundreds of elements from where all laws are smooth, in plain loops.

Newton's method for the natural map x - P(x + rate) with rounded corners, whose width falls to
nothing [C. Chen, O. L. Mangasarian, Comput. Optim. Appl. 5 (1996) 97-138; the rounding is that of
B. Chen, P. T. Harker, SIAM J. Matrix Anal. Appl. 14 (1993) 1168-1190]. Who holds and who slides is
found without trying: some tens of linear systems for a heap of 200 discs, from anywhere. Where it
gets stuck, as it may because friction is no convex problem, it is begun again with other widths.
"""

from __future__ import annotations

from math import isfinite, sqrt

import numpy as np

from ...machine.functions import machine_code
from ...numerics.tolerances import NEARLY_SOLVED, SMOOTH_WEIGHT
from .problem import Problem, at_efforts, factorise, newton, piece, residual
from .sparse_lu import Factors, solve_sparse

__all__ = ["by_smoothing"]

WIDTHS = (0.01, 1.0)  # of the largest rate: of corners to begin with
LINEAR_SYSTEMS = 60  # from one beginning
NARROWER = 0.5  # width of corners after a step, by that before
SHORTEST = 1e-3  # part of a step
DECREASE = 1e-4  # of the map, by the part of a step that is taken


@machine_code
def _ramp(z: float, width: float) -> tuple[float, float]:
    """max(z, 0) with a rounded corner, and its derivative."""
    size = sqrt(z * z + 4.0 * width * width)
    return 0.5 * (z + size), 0.5 * (1.0 + z / size)


def _map(problem: Problem, width: float, n: int) -> float:
    """The map at efforts ``x``, with its derivatives by rates and bounds; its length."""
    at_efforts(problem, problem.x, n)
    total = 0.0
    for i in range(n):
        z, low, high = problem.x[i] + problem.rate[i], problem.down[i], problem.limit[i]
        value, by_low, by_high = z, 0.0, 0.0
        if isfinite(low):
            above, slope = _ramp(z - low, width)
            value, by_low = low + above, 1.0 - slope
        if isfinite(high):
            above, slope = _ramp(z - high, width)
            value, by_high = value - above, slope
        problem.error[i] = value - problem.x[i]
        weight = 1.0 - by_low - by_high
        problem.by_rate[i], problem.by_low[i], problem.by_high[i] = weight, by_low, by_high
        problem.diagonal[i] = by_low + by_high + weight * SMOOTH_WEIGHT
        total += problem.error[i] * problem.error[i]
    return sqrt(total)


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


def _follow(problem: Problem, factors: Factors, share: float, tol: float, n: int) -> bool:
    """The way from one width of corners; whether it leads to efforts."""
    size, way = 0.0, problem.way
    for i in range(n):
        problem.x[i] = problem.begun[i]
        size = max(size, max(abs(problem.b[i]), 0.1 * abs(problem.x[i])))
    width = share * size
    for _ in range(LINEAR_SYSTEMS):
        length = _map(problem, width, n)
        problem.systems[0] += 1
        if not factorise(problem, factors, n):
            return False
        way[:n] = problem.error[:n]
        solve_sparse(factors, way, problem.room, n)
        problem.new[:n] = problem.x[:n]
        part, now = 2.0, np.inf
        while not now <= (1.0 - DECREASE * part) * length:
            part *= 0.5
            if part < SHORTEST:
                return False
            for i in range(n):
                problem.x[i] = problem.new[i] + part * way[i]
            now = _map(problem, width, n)
        left = residual(problem, problem.x, tol, n)
        if left <= NEARLY_SOLVED and _polished(problem, factors, tol, n) or left <= tol:
            return True
        if part == 1.0:
            width *= NARROWER
    return False


@machine_code
def by_smoothing(problem: Problem, factors: Factors, tol: float, n: int) -> bool:
    """Efforts near ``begun``, by laws that are smooth at first; whether they are found."""
    return (_follow(problem, factors, WIDTHS[0], tol, n)
            or _follow(problem, factors, WIDTHS[1], tol, n))
