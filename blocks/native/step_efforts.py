"""Efforts that end a step, in plain loops: few or hundreds of elements that act on each other.

Newton's method from the efforts of the last step: while no element changes its mode it ends after
one linear system. Where its pieces repeat themselves efforts are sought from inside their bounds
(:mod:`blocks.native.interior_points`), and where that does not lead to the end either, by pivoting
(:func:`blocks.nonsmooth.complementarity.solve`). They are taken where their residual proves them.
"""

from __future__ import annotations

from math import isfinite

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..numerics.tolerances import ACCEPTED_RESIDUAL, STEP_EXACT, STEP_RESIDUAL
from .interior_points import from_inside
from .sparse_lu import Factors
from .step_problem import DIRECT, FEW, INFINITE, Problem, at_efforts, newton, piece, residual

__all__ = ["proved"]

PIVOTED = 150  # elements up to which pivoting is tried
SOON = 3  # linear systems of many elements, after which
HOPELESS = 1e-2  # is a residual with which they are sought from inside
FOUR_ROUNDINGS = 4 * 2.0**-52


def _direct(problem: Problem, factors: Factors, tol: float, n: int) -> bool:
    """Newton's method from ``x`` until its pieces repeat; whether it has found efforts."""
    for tried in range(DIRECT):
        for i in range(n):
            problem.pieces[tried, i] = piece(problem, problem.x, i)
        for k in range(tried):
            i = 0
            while i < n and problem.pieces[k, i] == problem.pieces[tried, i]:
                i += 1
            if i == n:
                return False
        if not newton(problem, factors, problem.pieces[tried], n):
            return False
        for i in range(n):
            problem.x[i] = problem.new[i]
        left = residual(problem, problem.x, tol, n)
        if left <= tol:
            return True
        if n > FEW and tried + 1 >= SOON and left > HOPELESS:
            return False
    return False


@machine_code
def proved(problem: Problem, factors: Factors, n: int, loose: bool) -> bool:
    """Efforts near ``new`` that their residual proves, in ``x``; whether they are found.

    ``loose``: a larger residual is accepted, as nothing better will be found.
    """
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
    problem.least[0], problem.number[0] = INFINITE, n
    if residual(problem, problem.x, tol, n) <= tol or _direct(problem, factors, tol, n):
        return True
    if not (loaded and n <= FEW) and from_inside(problem, factors, tol, n):
        return True
    if n <= PIVOTED:
        run_code(problem.pivoting, problem.begun, problem.x)
        if residual(problem, problem.x, tol, n) <= tol:
            return True
    for i in range(n):
        problem.x[i] = problem.best[i]
    return residual(problem, problem.x, tol, n) <= ACCEPTED_RESIDUAL and loose
