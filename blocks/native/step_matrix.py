"""The matrix of a step that is implicit, compiled: a number on the diagonal, less df/dx.

It is full or sparse, and the rest of a step does not know which.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..numerics.arrays import Matrix, Vector
from ..numerics.tolerances import BAND_DIFFERENCE
from .differences import derive_columns
from .front_lists import COLUMN_GROUPS, FACTORIZE, SOLVE
from .fronts import factorize_code, solve_code
from .lu import factorize, solve
from .stages import ATOL, WORK
from .steps import BASE, Code, Workspace, are_finite, derive_by_time, slope_at

__all__ = ["derive", "factorize_less", "solve_with"]

@machine_code
def derive(code: Code, work: Workspace, t: float, h: float, x: Vector, slope: Vector) -> None:
    """df/dx and df/dt, near ``slope`` = f(t, x)."""
    grouped = work.sparse.size > 0 and (work.sparse[COLUMN_GROUPS] > 0 or code.linear == 0)
    work.at[0] = t
    _derive_at(code, work, t, x, slope, grouped)
    if grouped or not are_finite(work.by_time):  # as of a root where it begins
        derive_by_time(code, work, t, h, x, slope)
    finite = code.linear == 0 or _is_finite(work.linear)
    for k in range(2):
        if not finite:
            near, side = work.k[WORK], 1.0 - 2.0 * k
            for i in range(x.size):
                near[i] = x[i]
                if work.k[ATOL, i] < np.inf:
                    near[i] += side * np.sqrt(1.0 + i / x.size) * work.k[ATOL, i]
            _derive_at(code, work, t, near, slope, grouped)
            finite = _is_finite(work.linear)
    if not finite and work.sparse.size == 0:
        _derive_overflown(code, work, t, x, slope)
    for i in range(0 if finite else work.linear.shape[0]):
        for j in range(work.linear.shape[1]):  # infinite on either side: tried again, shorter
            if not abs(work.linear[i, j]) < np.inf:
                work.linear[i, j] = np.nan


@machine_code
def _derive_at(code: Code, work: Workspace, t: float, x: Vector, slope: Vector, grouped: bool
               ) -> None:
    """df/dx, by groups of columns that share no row or all at once, then df/dt with it."""
    if grouped:
        derive_columns(code, work, t, x, slope)
    elif code.linear != 0:
        run_code(code.linear, work.at, x, code.p, code.q, work.linear)


@machine_code
def _derive_overflown(code: Code, work: Workspace, t: float, x: Vector, slope: Vector) -> None:
    """Differences of slopes in place of derivatives that are no numbers, as those of 1 / exp(x)
    where that has become nothing, and both it is divided by and its fall have overflown."""
    linear, near, there = work.linear, work.k[WORK], work.inner[BASE]
    for j in range(x.size):
        overflown = False
        for i in range(x.size):
            overflown |= np.isnan(linear[i, j])
        if overflown and work.k[ATOL, j] < np.inf:  # else it follows from the others
            near[:] = x
            near[j] += BAND_DIFFERENCE * max(abs(x[j]), work.k[ATOL, j])
            slope_at(code, work, t, near, there)
            for i in range(x.size):
                if np.isnan(linear[i, j]):
                    linear[i, j] = (there[i] - slope[i]) / (near[j] - x[j])


@machine_code
def _is_finite(linear: Matrix) -> bool:
    """Whether derivatives are numbers: a root is infinitely steep where it begins.

    By such ones a step would leave the unknown there, whatever flows. Those a tolerance away tell
    as much as the unknown is known. Each goes as far as no other does: what is steep may look at
    differences.
    """
    finite = True
    for i in range(linear.shape[0]):
        finite &= are_finite(linear[i])
    return finite


@machine_code
def solve_with(work: Workspace, b: Vector, room: Vector) -> None:
    """Solve with these factors, in place."""
    if work.sparse.size > 0:
        solve_code(work.sparse[SOLVE], work.sparse, work.factors[0], b)
    else:
        solve(work.factors, work.order, b, room)


@machine_code
def factorize_less(work: Workspace, diagonal: float) -> None:
    """Factors of a number on the diagonal, less df/dx."""
    if work.sparse.size > 0:
        factorize_code(work.sparse[FACTORIZE], work.sparse, work.linear[0], diagonal,
                       work.factors[0])
        return
    n, factors = work.factors.shape[0], work.factors
    for i in range(n):
        for j in range(n):
            factors[i, j] = -work.linear[i, j]
        factors[i, i] += diagonal
    factorize(factors, work.k[ATOL], work.order)
