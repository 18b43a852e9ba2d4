"""Does a step end on the branch of an algebraic loop that it began on? Compiled.

A curve that falls, or rises sharply, gives a loop several solutions. Where the one that a run
follows ends, Newton's method finds another one, and no error tells of it. Where unknowns of loops
are not what was expected at the end of a step, they are followed there in parts, along a straight
line of states: so far at a time that half the way they are about half as far, whichever end one
comes from. What jumps never is; what changes fast is, in short parts, and no step is shortened.
[E. L. Allgower and K. Georg, "Introduction to Numerical Continuation Methods", SIAM 2003]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..machine.functions import machine_code
from ..numerics.arrays import Matrix, Vector
from ..numerics.tolerances import ANOTHER_SOLUTION, AS_PREDICTED, HALF_AS_FAR, HALF_OF_ALL
from .stages import NEW
from .steps import Code, Workspace, are_finite, project_at, slope_at

if TYPE_CHECKING:
    from ..system import Problem, System

__all__ = ["SIZES", "fill_sizes", "keeps_branch", "may_lose_branch", "put_on_branch",
           "room_for_branch"]  # fmt: skip

#: Rows of ``Workspace.branch``: nominal values of unknowns of loops, infinite for all else; the end
#: of the step; how far it was followed, and points on the way.
SIZES, END, REACHED, THERE, HALF, FOUND, FROM, ROWS_OF_BRANCH = range(8)
SHORTEST = 1 / 64  # part of a step


def may_lose_branch(system: System) -> bool:
    """Whether there are nonlinear loops, which may have several solutions."""
    return bool(system.tape.followed.any())


def room_for_branch(sizes: Vector) -> Matrix:
    """Rows for unknowns of these nominal values; none where there are no loops to follow."""
    room = np.empty((ROWS_OF_BRANCH, sizes.size))
    room[SIZES] = sizes
    return room


def fill_sizes(sizes: Vector, problem: Problem) -> None:
    """Nominal values of what is compared; infinite for all else: what a linear loop gives has one
    value, which jumps where its coefficients do."""
    nx = len(problem.x)
    sizes[:] = np.inf
    sizes[nx : nx + len(problem.z)] = np.where(
        problem.system.tape.followed, problem.scale_z, np.inf)


@machine_code
def keeps_branch(code: Code, work: Workspace, t: float, h: float, x: Vector) -> bool:
    """Whether unknowns of loops at the end of a step follow from those at its start, ``x``."""
    if _are_expected(code, work, t, h, x, work.k[NEW]):
        return True
    end, reached = work.branch[END], work.branch[REACHED]
    return _follow_step(code, work, t, h, x) and _agree(work, end, reached, x)


@machine_code
def put_on_branch(code: Code, work: Workspace, t: float, h: float, x: Vector, out: Vector) -> None:
    """Solve for the unknowns of loops in ``out``, which is ``h`` later than ``x``."""
    sizes, solved = work.branch[SIZES], work.branch[END]
    if not _are_expected(code, work, t, h, x, out) and _follow_step(code, work, t, h, x):
        solved = work.branch[REACHED]
    for i in range(x.size):
        if np.isfinite(sizes[i]):
            out[i] = solved[i]


@machine_code
def _are_expected(code: Code, work: Workspace, t: float, h: float, x: Vector, expected: Vector
                  ) -> bool:
    """Fill the row of the end of the step; whether unknowns are there as they were expected.

    Those that are so to the last bit may not have been found at all.
    """
    sizes, end = work.branch[SIZES], work.branch[END]
    project_at(code, work, t + h, expected, end)
    found = False
    for i in range(x.size):
        found |= np.isfinite(sizes[i]) and end[i] != expected[i]
    return found and _agree(work, work.branch[END], expected, x)


@machine_code
def _follow_step(code: Code, work: Workspace, t: float, h: float, x: Vector) -> bool:
    """Whether unknowns can be followed to the end of the step; fill the row of what is reached."""
    reached, there = work.branch[REACHED], work.branch[THERE]
    reached[:] = x
    at, fraction = 0.0, 1.0
    while at < 1.0:
        ahead = min(at + fraction, 1.0)
        if _follow(code, work, t, h, x, at, ahead):
            reached[:] = there
            at, fraction = ahead, 2.0 * fraction
        else:
            fraction = 0.5 * (ahead - at)
            if fraction < SHORTEST:
                return False
    return True


@machine_code
def _follow(code: Code, work: Workspace, t: float, h: float, x: Vector, at: float, ahead: float
            ) -> bool:
    """Fill the row of the point ``ahead``; whether it is on the branch of the one reached."""
    sizes, reached, there = work.branch[SIZES], work.branch[REACHED], work.branch[THERE]
    half, found = work.branch[HALF], work.branch[FOUND]
    middle = 0.5 * (at + ahead)
    _solve_at(code, work, t, h, x, ahead, reached, there)
    slope_at(code, work, t + ahead * h, there, half)  # no numbers where there is no solution
    if not are_finite(half):
        return False
    _solve_at(code, work, t, h, x, middle, reached, half)
    _solve_at(code, work, t, h, x, middle, there, found)
    for i in range(x.size):
        if np.isfinite(sizes[i]):
            away = abs(half[i] - 0.5 * (reached[i] + there[i]))
            if not away <= (HALF_AS_FAR * abs(there[i] - reached[i])
                            + HALF_OF_ALL * abs(reached[i]) + ANOTHER_SOLUTION * sizes[i]):
                return False
    return _agree(work, half, found, reached)


@machine_code
def _solve_at(code: Code, work: Workspace, t: float, h: float, x: Vector, fraction: float,
            unknowns: Vector, out: Vector) -> None:
    """Solve a part of the way from ``x`` to the end of the step, from these unknowns."""
    sizes, end, guess = work.branch[SIZES], work.branch[END], work.branch[FROM]
    for i in range(x.size):
        guess[i] = unknowns[i] if np.isfinite(sizes[i]) else x[i] + fraction * (end[i] - x[i])
    project_at(code, work, t + fraction * h, guess, out)


@machine_code
def _agree(work: Workspace, found: Vector, known: Vector, x: Vector) -> bool:
    """Whether unknowns are those known, but for a share of their change from ``x``."""
    sizes = work.branch[SIZES]
    for i in range(x.size):
        least = ANOTHER_SOLUTION * (abs(known[i]) + sizes[i])
        agrees = abs(found[i] - known[i]) <= AS_PREDICTED * abs(known[i] - x[i]) + least
        if np.isfinite(sizes[i]) and not agrees:
            return False
    return True
