"""The stages of Rodas4P, compiled.

Linearly implicit: a step factors one matrix and solves six linear equations with it, and there is
nothing to iterate. It is cheap to begin anew, as every one-step method, and damps what is faster
than the step. Coefficients and formulae are those of :mod:`blocks.solvers.rosenbrock`.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..numerics.arrays import Matrix, Vector
from ..numerics.tolerances import TINY
from ..solvers.rosenbrock import BETWEEN, BETWEEN_TIMES_S, GAMMA, STAGE_TIMES, TIME_WEIGHTS
from .stages import ATOL, COUPLED, NEW, WORK
from .step_matrix import derive, factorize_less, solve_with
from .steps import Code, Workspace, slope_at

__all__ = ["rosenbrock_polynomial", "error_at_end", "step_to_transient",
           "take_rosenbrock_stages"]  # fmt: skip

INSIDE = 0.17  # of what dies out within a step: the largest error of a step of part of the length
BRIEF = 40.0  # times its time constant: a step whose own error no longer tells of that
RESOLVED = 10.0  # times the same: one whose error does
BENT = 0.3  # error of the slope at the end of a step, from which on the end is moved
NOTHING = 1e-6  # tolerances: an end that is as near to where its slope fits is there
STEEPER = 4.0  # error of the slope that such a one grows to at the square of that beyond
ROUNDED = 1e-4  # tolerances: what does not come nearer by moves so small misses by rounding
MOST_MOVES = 5
SHORT_OF = 0.99  # of the way to where a root begins
FARTHEST = 0.25  # tolerances that an end is moved by in all


@machine_code
def take_rosenbrock_stages(code: Code, work: Workspace, k: Matrix, t: float, h: float, x: Vector,
                           again: bool) -> None:
    """All stages of a step, from f(t, x) in the first row of ``k``; the end goes into its row.

    Where a step is taken ``again`` from the same point, derivatives are known.
    """
    inner, slope, n = k[WORK], k[NEW], x.size
    if not again:
        derive(code, work, t, h, x, work.k[0])
    factorize_less(work, 1.0 / (GAMMA * h))
    stage = k[1]
    for i in range(n):
        stage[i] = k[0, i] + h * TIME_WEIGHTS[0] * work.by_time[i]
    solve_with(work, stage, inner)
    work.step[0] = h
    for j in range(5):
        run_code(code.arithmetic[j], x, k, inner, work.size, work.step)
        stage = k[j + 2]
        slope_at(code, work, t + STAGE_TIMES[j] * h, inner, slope)
        run_code(code.arithmetic[COUPLED + j], slope, k, stage, work.size, work.step)
        for i in range(n):
            stage[i] += h * TIME_WEIGHTS[j + 1] * work.by_time[i]
        solve_with(work, stage, inner)
    run_code(code.arithmetic[5], x, k, k[NEW], work.size, work.step)


@machine_code
def step_to_transient(work: Workspace, h: float, rtol: float, x: Vector) -> float:
    """The length of a step that sees what begins here and dies out far within one of ``h``.

    What is L-stable comes to the right end, and the error of the step says so; currents between
    capacitors, and energies, follow from what happened on the way. With M the inverse of
    1/(gamma h) - df/dx, M x'' is U_1/(gamma h) - f(t, x), which of a fast unknown is how far its
    slope is from what it settles to, and M M x'' how far it is itself.
    """
    k, away, length = work.k, work.inner[1], h
    for i in range(x.size):
        away[i] = k[1, i] / (GAMMA * h) - k[0, i]
    solve_with(work, away, work.inner[2])
    for i in range(x.size):
        distance = abs(away[i])
        if INSIDE * distance > k[ATOL, i] + rtol * abs(x[i]):
            if_slow = abs(k[1, i] - GAMMA * h * k[0, i])
            constant = GAMMA * h * distance / max(if_slow - distance, TINY)
            if h > BRIEF * constant:
                length = min(length, RESOLVED * constant)
    return length


@machine_code
def error_at_end(code: Code, work: Workspace, k: Matrix, t: float, h: float, x: Vector
                 ) -> tuple[float, int]:
    """The error of a step from the slope at its end, and how often that was evaluated.

    The slope takes the place of the last stage. That stage goes on by U_6 along the derivatives at
    the start of the step. What the slope at the end differs from theirs, times the step, grows with
    the square of U_6, so its root, in units of the tolerance, grows as an error does. Where slopes
    are steep and bend within the tolerance of the unknowns, as the flow through a wide pipe between
    two large pressures, U_6 may be small and such a slope anything, the same after every step of
    some time constants: steps of that length would go on for good. There what is fast is moved, by
    Newton's method with the factors of the step and by less than the tolerance, to where its slope
    is theirs; where that leads across, as at the beginning of a root, to between the two. What is
    linear stays where it is but for rounding, and the order of the step is kept.
    """
    missed, by_stage, way = work.inner[ATOL], work.inner[ATOL + 1], work.inner[ATOL + 2]
    for i in range(x.size):
        missed[i] = -k[6, i] / (GAMMA * h)
    work.step[0] = h
    run_code(code.arithmetic[COUPLED + 4], missed, k, by_stage, work.size, work.step)  # less than 0
    error = left = _error_of_slope(code, work, k, t, h, x)
    moves, far = 0, 0.0
    while left > BENT and moves < MOST_MOVES:
        way[:] = missed
        solve_with(work, way, k[WORK])
        far += _in_tolerances(work, way, x)
        if far <= NOTHING:
            steep = _is_as_steep(code, work, k, t, h, x, way, far, left)
            return 0.0 if steep else error, moves + 3
        if not far <= FARTHEST:
            return error, moves + 1
        before, ahead = left, _move_end(work, k, missed, way, 1.0)
        left = _error_of_slope(code, work, k, t, h, x)
        moves += 1
        if not left < before:
            beyond = _move_end(work, k, missed, way, -1.0)
            between = ahead * beyond < 0.0  # there is an end whose slope fits: a root is beginning
            if between:  # and its square is straight; in its very beginning it may have no value
                _move_end(work, k, missed, way, SHORT_OF * ahead**2 / (ahead**2 + beyond**2))
            left = _error_of_slope(code, work, k, t, h, x)
            if between or far <= ROUNDED and _is_as_steep(code, work, k, t, h, x, way, far, left):
                return 0.0 * left, moves + 4  # no number where that is none
            return error, moves + 4
        if before > 1.0 and far > ROUNDED:
            return error, moves + 1
    return error, moves + 1


@machine_code
def _is_as_steep(code: Code, work: Workspace, k: Matrix, t: float, h: float, x: Vector,
                 way: Vector, far: float, left: float) -> bool:
    """Whether slopes a little beyond an end miss by as much more: not so where a root begins."""
    k[WORK] = k[NEW]
    _move_end(work, k, way, way, max(NOTHING / max(far, TINY), STEEPER**2))
    steep = not _error_of_slope(code, work, k, t, h, x) < 0.5 * STEEPER * left
    k[NEW] = k[WORK]
    _error_of_slope(code, work, k, t, h, x)
    return steep


@machine_code
def _move_end(work: Workspace, k: Matrix, missed: Vector, way: Vector, part: float) -> float:
    """Move the end by a part of a way; by how much its slope missed that of the stages along it."""
    along = 0.0
    for i in range(way.size):
        along += missed[i] * way[i] / work.k[ATOL, i] ** 2
        k[NEW, i] += part * way[i]
    return along


@machine_code
def _in_tolerances(work: Workspace, change: Vector, x: Vector) -> float:
    """The largest of some changes, in units of the tolerance; nan if one is no number."""
    worst = 0.0
    for i in range(x.size):
        part = abs(change[i]) / (work.k[ATOL, i] + work.rtol[0] * abs(x[i]))
        if not np.isfinite(part):
            return np.nan
        worst = max(worst, part)
    return worst


@machine_code
def _error_of_slope(code: Code, work: Workspace, k: Matrix, t: float, h: float, x: Vector) -> float:
    missed, by_stage = work.inner[ATOL], work.inner[ATOL + 1]
    slope_at(code, work, t + h, k[NEW], k[6])
    for i in range(x.size):
        missed[i] = k[6, i] + by_stage[i]
    return np.sqrt(h * _in_tolerances(work, missed, x))


@machine_code
def rosenbrock_polynomial(k: Matrix, s: float, x: Vector, out: Vector) -> None:
    """Values at the part ``s`` of the step just taken, of order 3 where nothing is much faster."""
    for i in range(x.size):
        c = d = 0.0
        for j in range(5):
            c += BETWEEN[j] * k[j + 1, i]
            d += BETWEEN_TIMES_S[j] * k[j + 1, i]
        out[i] = x[i] * (1.0 - s) + s * (k[NEW, i] + (1.0 - s) * (c + s * d))
