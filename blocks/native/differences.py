"""Columns of df/dx from one evaluation: all those that share no row, compiled.

They are differences of slopes, or, where these are known, derivatives in a direction
[A. R. Curtis, M. J. D. Powell and J. K. Reid, "On the Estimation of Sparse Jacobian Matrices",
J. Inst. Maths Applics 13, 1974].
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..numerics.arrays import Vector
from ..numerics.tolerances import BAND_DIFFERENCE
from .front_lists import COLUMN_GROUPS, COLUMN_ROWS, COLUMN_STARTS, GROUP_STARTS, GROUPS
from .stages import NEW, WORK
from .steps import BASE, Code, Workspace, slope_at

__all__ = ["derive_columns"]


@machine_code
def derive_columns(code: Code, work: Workspace, t: float, x: Vector, slope: Vector) -> None:
    """The entries of df/dx, near ``slope`` = f(t, x)."""
    lists, values = work.sparse, work.linear[0]
    group_starts, groups = lists[lists[GROUP_STARTS]:], lists[lists[GROUPS]:]
    starts, rows = lists[lists[COLUMN_STARTS]:], lists[lists[COLUMN_ROWS]:]
    _begin_at(code, work, t, x)
    for g in range(lists[COLUMN_GROUPS]):
        _stand_at(code, work, x)
        for q in range(group_starts[g], group_starts[g + 1]):
            _move_along(code, work, x, groups[q])
        _evaluate(code, work, t, x)
        for q in range(group_starts[g], group_starts[g + 1]):
            j = groups[q]
            for e in range(starts[j], starts[j + 1]):
                values[e] = _change_of(code, work, x, slope, rows[e], j)


@machine_code
def _begin_at(code: Code, work: Workspace, t: float, x: Vector) -> None:
    """Tell derivatives in a direction at which point they are asked for."""
    if code.linear != 0:
        other = work.k[NEW]
        work.at[0], other[0] = t, np.nan
        run_code(code.linear, work.at, x, code.p, code.q, other)


@machine_code
def _stand_at(code: Code, work: Workspace, x: Vector) -> None:
    """Begin with columns that no unknown has been moved for."""
    if code.linear != 0:
        work.k[NEW, :] = 0.0
    else:
        work.k[WORK, :] = x


@machine_code
def _move_along(code: Code, work: Workspace, x: Vector, j: int) -> None:
    """Look at the column of an unknown, too."""
    if code.linear != 0:
        work.k[NEW, j] = 1.0
    else:
        work.k[WORK, j] = x[j] + BAND_DIFFERENCE * max(abs(x[j]), work.sizes[j])


@machine_code
def _evaluate(code: Code, work: Workspace, t: float, x: Vector) -> None:
    """Find all these columns."""
    if code.linear != 0:
        run_code(code.linear, work.at, x, code.p, code.q, work.k[NEW])
    else:  # on both sides: slopes may bend within a tolerance
        slope_at(code, work, t, work.k[WORK], work.k[NEW])
        for i in range(x.size):
            work.k[WORK, i] = 2.0 * x[i] - work.k[WORK, i]
        slope_at(code, work, t, work.k[WORK], work.inner[BASE])


@machine_code
def _change_of(code: Code, work: Workspace, x: Vector, slope: Vector, r: int, j: int) -> float:
    """The derivative of a slope by an unknown, near ``slope`` = f(t, x)."""
    if code.linear != 0:
        return work.k[NEW, r]
    way = x[j] - work.k[WORK, j]
    value = (work.k[NEW, r] - work.inner[BASE, r]) / (2.0 * way)
    if not np.isfinite(value):  # where a law ends, as a root at 0
        value = (work.k[NEW, r] - slope[r]) / way
    return value if np.isfinite(value) else 0.0  # where it ends at once, as x/t at t = 0
