"""Does a step end on the branch of an algebraic loop that it began on? Compiled.

A curve that falls, or rises sharply, gives a loop several solutions. Where the one that a run
follows ends, Newton's method finds another one, and no error tells of it. Going back tells: from
the solution at the end of a step, at the states of its start, one comes to where it began, unless
another branch was taken, which goes on there. What changes fast and has one solution always passes.
[E. L. Allgower and K. Georg, "Introduction to Numerical Continuation Methods", SIAM 2003]
"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Vector
from ..numerics.tolerances import AS_PREDICTED, LEAST_BRANCH, SAME_BRANCH
from .functions import machine_code
from .stages import NEW
from .steps import Code, Workspace, settle_at

__all__ = ["ROWS_OF_BRANCH", "SIZES", "keeps_branch"]

SIZES, AHEAD, FROM, BACK, ROWS_OF_BRANCH = range(5)  # rows of ``Workspace.branch``


@machine_code
def keeps_branch(code: Code, work: Workspace, t: float, end: float, x: Vector) -> bool:
    """Whether unknowns of loops at the end of a step follow from those at its start, ``x``."""
    sizes, ahead, back = work.branch[SIZES], work.branch[AHEAD], work.branch[BACK]
    predicted, start = work.k[NEW], work.branch[FROM]
    settle_at(code, work, end, predicted, ahead)
    expected = True
    for i in range(x.size):
        start[i] = x[i]
        if np.isfinite(sizes[i]):
            start[i] = ahead[i]
            allowed = AS_PREDICTED * abs(ahead[i] - x[i]) + LEAST_BRANCH * (abs(x[i]) + sizes[i])
            expected &= abs(ahead[i] - predicted[i]) <= allowed
    if expected:
        return True
    settle_at(code, work, t, start, back)
    for i in range(x.size):
        if np.isfinite(sizes[i]):
            allowed = SAME_BRANCH * abs(ahead[i] - x[i]) + LEAST_BRANCH * (abs(x[i]) + sizes[i])
            if not abs(back[i] - x[i]) <= allowed:
                return False
    return True
