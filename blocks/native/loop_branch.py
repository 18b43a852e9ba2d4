"""Does a step end on the branch of an algebraic loop that it began on? Compiled.

A curve that falls, or rises sharply, gives a loop several solutions. Where the one that a run
follows ends, Newton's method finds another one, and no error tells of it. Where unknowns of loops
are not what was expected at the end of a step, they are followed there in parts, along a straight
line of states: so far at a time that half the way they are about half as far, whichever end one
comes from. What jumps never is; what changes fast is, in short parts, and no step is shortened.
[E. L. Allgower and K. Georg, "Introduction to Numerical Continuation Methods", SIAM 2003]
"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Vector
from ..numerics.tolerances import AS_PREDICTED, HALF_AS_FAR, HALF_OF_ALL, LEAST_BRANCH
from .functions import machine_code
from .stages import NEW
from .steps import Code, Workspace, settle_at

__all__ = ["ROWS_OF_BRANCH", "SIZES", "keeps_branch"]

#: Rows of ``Workspace.branch``: nominal values of unknowns of loops, infinite for all else; the end
#: of the step; how far it was followed, and points on the way.
SIZES, END, REACHED, THERE, HALF, FOUND, FROM, ROWS_OF_BRANCH = range(8)
SHORTEST = 1 / 64  # part of a step


@machine_code
def keeps_branch(code: Code, work: Workspace, t: float, h: float, x: Vector) -> bool:
    """Whether unknowns of loops at the end of a step follow from those at its start, ``x``."""
    end, predicted = work.branch[END], work.k[NEW]
    settle_at(code, work, t + h, predicted, end)
    if _agree(work, end, predicted, x, AS_PREDICTED):
        return True
    reached, there = work.branch[REACHED], work.branch[THERE]
    reached[:] = x
    at, part = 0.0, 1.0
    while at < 1.0:
        ahead = min(at + part, 1.0)
        if _follow(code, work, t, h, x, at, ahead):
            reached[:] = there
            at, part = ahead, 2.0 * part
        else:
            part = 0.5 * (ahead - at)
            if part < SHORTEST:
                return False
    return _agree(work, end, reached, x, AS_PREDICTED)


@machine_code
def _follow(code: Code, work: Workspace, t: float, h: float, x: Vector, at: float, ahead: float
            ) -> bool:
    """Fill the row of the point ``ahead``; whether it is on the branch of the one reached."""
    sizes, reached, there = work.branch[SIZES], work.branch[REACHED], work.branch[THERE]
    half, found = work.branch[HALF], work.branch[FOUND]
    middle = 0.5 * (at + ahead)
    _settle(code, work, t, h, x, ahead, reached, there)
    _settle(code, work, t, h, x, middle, reached, half)
    _settle(code, work, t, h, x, middle, there, found)
    for i in range(x.size):
        if np.isfinite(sizes[i]):
            away = abs(half[i] - 0.5 * (reached[i] + there[i]))
            if not away <= (HALF_AS_FAR * abs(there[i] - reached[i])
                            + HALF_OF_ALL * abs(reached[i]) + LEAST_BRANCH * sizes[i]):
                return False
    return _agree(work, half, found, reached, AS_PREDICTED)


@machine_code
def _settle(code: Code, work: Workspace, t: float, h: float, x: Vector, part: float,
            unknowns: Vector, out: Vector) -> None:
    """Solve a part of the way from ``x`` to the end of the step, from these unknowns."""
    sizes, end, start = work.branch[SIZES], work.branch[END], work.branch[FROM]
    for i in range(x.size):
        start[i] = unknowns[i] if np.isfinite(sizes[i]) else x[i] + part * (end[i] - x[i])
    settle_at(code, work, t + part * h, start, out)


@machine_code
def _agree(work: Workspace, found: Vector, known: Vector, x: Vector, share: float) -> bool:
    """Whether unknowns are those known, but for a ``share`` of their change from ``x``."""
    sizes = work.branch[SIZES]
    for i in range(x.size):
        if np.isfinite(sizes[i]) and not abs(found[i] - known[i]) <= (
                share * abs(known[i] - x[i]) + LEAST_BRANCH * (abs(known[i]) + sizes[i])):
            return False
    return True
