"""Does a step end on the branch of an algebraic loop that it began on? Compiled.

A curve that falls, or rises sharply, gives a loop several solutions. Where the one that a run
follows ends, Newton's method finds another one, and no error tells of it. Going back tells: by way
of the middle of a step one comes from its start to its end and back again, unless another branch
was taken, which goes on there. What changes fast and has one solution always passes.
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

SIZES, AHEAD, FROM, HALF, FOUND, ROWS_OF_BRANCH = range(6)  # rows of ``Workspace.branch``


@machine_code
def keeps_branch(code: Code, work: Workspace, t: float, end: float, x: Vector) -> bool:
    """Whether unknowns of loops at the end of a step follow from those at its start, ``x``."""
    sizes, ahead, predicted = work.branch[SIZES], work.branch[AHEAD], work.k[NEW]
    start, found = work.branch[FROM], work.branch[FOUND]
    settle_at(code, work, end, predicted, ahead)
    expected = True
    for i in range(x.size):
        if np.isfinite(sizes[i]):
            allowed = AS_PREDICTED * abs(ahead[i] - x[i]) + LEAST_BRANCH * (abs(x[i]) + sizes[i])
            expected &= abs(ahead[i] - predicted[i]) <= allowed
    if expected:
        return True
    middle, half = 0.5 * (t + end), work.branch[HALF]
    _place(sizes, start, 0.5, ahead, x, x)
    settle_at(code, work, middle, start, half)
    _place(sizes, start, 1.0, ahead, x, half)
    settle_at(code, work, end, start, found)
    if _are_others(sizes, ahead, x, found, ahead):
        return False
    _place(sizes, start, 0.5, ahead, x, ahead)
    settle_at(code, work, middle, start, found)
    if _are_others(sizes, ahead, x, found, half):
        return False
    _place(sizes, start, 0.0, ahead, x, found)
    settle_at(code, work, t, start, found)
    return not _are_others(sizes, ahead, x, found, x)


@machine_code
def _place(sizes: Vector, out: Vector, part: float, ahead: Vector, x: Vector, unknowns: Vector
           ) -> None:
    """A part of the way from ``x`` to ``ahead``, and other unknowns of loops to begin with."""
    for i in range(x.size):
        out[i] = unknowns[i] if np.isfinite(sizes[i]) else x[i] + part * (ahead[i] - x[i])


@machine_code
def _are_others(sizes: Vector, ahead: Vector, x: Vector, found: Vector, known: Vector) -> bool:
    """Whether unknowns that were found are others than those known, in terms of their change."""
    for i in range(x.size):
        if np.isfinite(sizes[i]):
            allowed = SAME_BRANCH * abs(ahead[i] - x[i]) + LEAST_BRANCH * (abs(x[i]) + sizes[i])
            if not abs(found[i] - known[i]) <= allowed:
                return True
    return False
