"""Steps of backward Euler and the trapezoidal rule, compiled.

With ``x' = a (x - x_old) - b x'_old`` put in, a step is a system for its end alone. Newton's
method begins with the derivatives where the slope at the start leads, and makes them anew where it
contracts slowly. Nothing is kept from one step for the next,
so a step can be taken again.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..numerics.arrays import Indices, Vector
from ..numerics.tolerances import TINY
from .stages import ATOL, NEW, WORK
from .step_matrix import derive, factorize_less, solve_with
from .steps import TRAPEZOIDAL, Code, Workspace, slope_at

__all__ = ["TOO_FAR", "take_newton_step"]

MAX_NEWTON = 20
TOO_FAR = f"Newton's method has not converged in {MAX_NEWTON} iterations"
NEWTON_TOLERANCE = 1e-3  # last correction, in units of the tolerance
FINEST = 1e3 * float(np.finfo(float).eps)  # of a value: the finest tolerance
SLOW = 0.3  # contraction above which the Jacobian is made anew


@machine_code
def take_newton_step(code: Code, work: Workspace, t: float, h: float, x: Vector, counts: Indices
                     ) -> None:
    """A step from f(t, x) in the first row; its end and the slope there go into their rows.

    The error is infinite where the method has not converged, and no number where a slope is none.
    """
    k, away, weight, end = work.k, work.inner[0], work.inner[1], work.inner[2]
    a, b = 1.0 / h, 0.0
    if code.kind == TRAPEZOIDAL:
        a, b = 2.0 / h, 1.0
    for i in range(x.size):
        end[i] = x[i] + h * k[0, i]
        size = max(abs(x[i]), abs(end[i]))
        weight[i] = max(k[ATOL, i] + work.rtol[0] * size, FINEST * abs(end[i]) + TINY)
    work.error[0], before, factored = np.inf, np.inf, False
    for _ in range(MAX_NEWTON):
        slope_at(code, work, t + h, end, k[6])
        counts[2] += 1
        if not factored:
            derive(code, work, t + h, h, end, k[6])
            factorize_less(work, a)
            counts[3] += 1
            counts[4] += 1
            factored, before = True, np.inf
        for i in range(x.size):
            away[i] = a * (end[i] - x[i]) - b * k[0, i] - k[6, i]
        solve_with(work, away, k[WORK])
        largest = total = 0.0
        for i in range(x.size):
            end[i] -= away[i]
            total += abs(away[i])
            largest = max(largest, abs(away[i]) / weight[i])
        if not np.isfinite(total):
            work.error[0] = np.nan
            break
        if largest <= NEWTON_TOLERANCE:
            work.error[0] = 0.0
            break
        factored = not largest > SLOW * before
        before = largest
    for i in range(x.size):
        k[NEW, i] = end[i]
        k[6, i] = a * (end[i] - x[i]) - b * k[0, i]
