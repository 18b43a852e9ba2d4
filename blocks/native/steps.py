"""What steps of one-step methods have in common, compiled; and the stages of the explicit pair.

The equations come as addresses of machine code ``f(t, x, p, q, out)`` (pointers to doubles), so
what is compiled here serves all models; what a method does with all unknowns comes as a table of
addresses (:mod:`blocks.native.stages`), so it serves all methods.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..numerics.arrays import Indices, Matrix, Vector
from ..numerics.tolerances import NEARLY_STILL, SMALLEST_TRIAL, TIME_DIFFERENCE
from .front_lists import room_of
from .stages import (
    ALL_ROWS,
    ATOL,
    BACK,
    ERROR,
    ERROR_NORM,
    FLUSH,
    NEW,
    ROWS,
    RUNGE_KUTTA_TIMES,
    STAGE_TIMES,
    THIRD_ORDER_TIMES,
    WORK,
)
from .step_control import told_error, told_error_of_high_order

__all__ = ["BACKWARD_EULER", "BASE", "EULER", "EXPLICIT", "HIGH_ORDER", "IMPLICIT",
           "ROOTS", "RUNGE_KUTTA", "THIRD_ORDER", "TRAPEZOIDAL", "Code", "Sparse",
           "Workspace", "are_finite", "by_newton", "derive_by_time", "error_of_step", "first_stage",
           "flush_denormals", "goes_nowhere", "has_slope", "is_explicit",
           "is_fixed", "keep_denormals", "known_of", "rate_of_error", "values_after_events",
           "project_at", "project_in_place", "slope_at", "solves_with_derivatives", "take_stages",
           "tells_its_limit", "values_at", "workspace"]  # fmt: skip

#: Kinds of steps. The last two solve for the end of a step by Newton's method; these and the two
#: before them are of fixed length.
(EXPLICIT, IMPLICIT, HIGH_ORDER, THIRD_ORDER, RUNGE_KUTTA, EULER, BACKWARD_EULER,
 TRAPEZOIDAL) = range(8)
#: 1 / order, by which the next step follows from an error. Those of fixed length do not look at it.
ROOTS = (1 / 5, 1 / 4, 1 / 8, 1 / 3, 1 / 4, 1 / 4, 1 / 4, 1 / 4)
FIRST_STAGES = (0, 0, 0, 3, 2, 5, 0, 0)
INNER = ATOL + 3  # rows
BASE = ATOL  # of these: slopes where all unknowns are zero, while derivatives are found
NOTICED = 0.02  # error of a step, in units of the tolerance, that is no rounding
OF_MOTION = 2e-3  # the same beside what the unknown moves by: of one that is followed it is less
STAYS = 0.02  # times what its slope would move it by: an unknown that stays where it is


class Code(NamedTuple):
    """Addresses of machine code, and of the constants that it reads."""

    arithmetic: Indices  # of :func:`~blocks.native.stages.arithmetic`
    slope: int
    crossings: int
    exponents: int  # of all that slopes contain exp(...) of, or 0
    angles: int  # of all that is periodic in the states, or 0
    places: int  # where tables of the states are read, or 0
    project: int  # what brings the end of a step back onto its constraints, or 0
    linear: int  # df/dx and df/dt, for an implicit method; 0 for an explicit one
    kind: int  # of steps
    p: int
    q: int
    past: int  # what is delayed, as it is now; 0 where nothing is, or others keep it
    plan: int  # the entry of ``q`` that tells where it is kept


def known_of(code: Code) -> dict[tuple[str, str], int]:
    """What is known before a call: machine code for one kind of steps is made in less time."""
    known = {(Code.__name__, "kind"): code.kind}
    return known if code.past else known | {(Code.__name__, "past"): 0}


class Workspace(NamedTuple):
    """Arrays that machine code reads and fills; of one integration."""

    k: Matrix  # (10, n) rows of :data:`~blocks.native.stages.ROWS`, and 11 more for the method of
    # order 8; the first holds f(t, x)
    at: Vector  # (1,) a time
    size: Indices  # (1,) n
    step: Vector  # (2,) length of the step, and tolerance or part of the step
    error: Vector  # (5,) largest error, sum of errors, largest one of lower order, and by how much
    # the last two stages differ, and their points
    processor: Vector  # (2,) its state before denormals were flushed
    linear: Matrix  # (n + 1, n) df/dx and, last, df/dt; of an implicit method
    factors: Matrix  # (n, n) of the matrix of its stages
    order: Indices  # (n,) of the rows of these
    inner: Matrix  # (12, n) rows as in k, of a step of a part of the length; and work space
    by_time: Vector  # (n,) df/dt, the end of ``linear``
    sizes: Vector  # (n,) nominal values beside a sparse matrix
    sparse: Indices  # lists of a sparse matrix, whose entries stand in the one row of ``linear``
    # before df/dt and whose factors stand in that of ``factors``; empty: a full one
    rtol: Vector  # (1,) relative tolerance
    extended: Indices  # (1,) whether the last step of order 8 has the stages of its extension
    branch: Matrix  # rows of :mod:`~blocks.native.loop_branch`; none where loops are linear


class Sparse(NamedTuple):
    """A sparse Jacobian."""

    front_lists: Indices  # of :mod:`~blocks.native.fronts`
    sizes: Vector  # nominal values, in units of the model


def workspace(n: int, kind: int = EXPLICIT, matrix: Sparse | None = None) -> Workspace:
    """Work space for ``n`` unknowns, and steps of a kind."""
    if matrix is not None:
        entries, numbers = room_of(matrix.front_lists)
        linear = np.zeros((1, entries + n))
        return workspace(n)._replace(
            linear=linear, factors=np.empty((1, numbers)), inner=np.empty((INNER, n)),
            by_time=linear[0, entries:], sizes=matrix.sizes, sparse=matrix.front_lists)
    width = n if solves_with_derivatives(kind) else 0
    rows = ALL_ROWS if kind == HIGH_ORDER else len(ROWS)
    linear = np.zeros((width + 1, width))  # only those are written that are not always zero
    return Workspace(np.empty((rows, n)), np.empty(1), np.array([n]), np.empty(2),
                     np.empty(5), np.empty(2), linear,
                     np.empty((width, width)), np.zeros(width, dtype=int),
                     np.empty((INNER, width)), linear[width], np.empty(0), np.zeros(0, dtype=int),
                     np.zeros(1), np.zeros(1, dtype=int), np.empty((0, 0)))


def solves_with_derivatives(kind: int) -> bool:
    """Whether a step of a kind factors a matrix of derivatives."""
    return kind in (IMPLICIT, BACKWARD_EULER, TRAPEZOIDAL)


@machine_code
def by_newton(code: Code) -> bool:
    """Whether Newton's method solves for the end of a step."""
    return code.kind == BACKWARD_EULER or code.kind == TRAPEZOIDAL


@machine_code
def is_explicit(code: Code) -> bool:
    """Whether steps are those of an explicit method."""
    return code.kind != IMPLICIT and not by_newton(code)


@machine_code
def is_fixed(code: Code) -> bool:
    """Whether steps have a fixed length, and no estimate of their error."""
    return code.kind == RUNGE_KUTTA or code.kind == EULER or by_newton(code)


@machine_code
def tells_its_limit(code: Code) -> bool:
    """Whether the last two stages of a step tell how near it is to the bound of stability."""
    return code.kind == EXPLICIT or code.kind == HIGH_ORDER


@machine_code
def first_stage(code: Code) -> int:
    """The first of the six stages that an explicit method has."""
    return FIRST_STAGES[code.kind]


@machine_code
def _time_of_stage(code: Code, j: int) -> float:
    """When a stage is, as a part of the step."""
    if code.kind == THIRD_ORDER:
        return THIRD_ORDER_TIMES[j]
    if code.kind == RUNGE_KUTTA:
        return RUNGE_KUTTA_TIMES[j]
    return STAGE_TIMES[j]


@machine_code
def flush_denormals(code: Code, work: Workspace) -> None:
    """From here on numbers below 1e-308 are zero."""
    scrap = work.at
    run_code(code.arithmetic[FLUSH], work.processor, scrap, scrap, code.p, code.q)


@machine_code
def keep_denormals(code: Code, work: Workspace) -> None:
    """Let numbers below 1e-308 be kept again, as before :func:`flush_denormals`."""
    scrap = work.at
    run_code(code.arithmetic[BACK], work.processor, scrap, scrap, code.p, code.q)


@machine_code
def values_at(code: Code, work: Workspace, function: int, t: float, x: Vector, out: Vector) -> None:
    """What a function of the model, at an address, comes to at a point."""
    work.at[0] = t
    run_code(function, work.at, x, code.p, code.q, out)


@machine_code
def slope_at(code: Code, work: Workspace, t: float, x: Vector, out: Vector) -> None:
    """f(t, x)."""
    values_at(code, work, code.slope, t, x, out)


@machine_code
def derive_by_time(code: Code, work: Workspace, t: float, h: float, x: Vector, slope: Vector
                   ) -> None:
    """df/dt, near ``slope`` = f(t, x), by a difference of second order over what is ahead.

    One of first order has to be taken so near that rounding of a steep slope is much of it.
    """
    short = max(TIME_DIFFERENCE * h, SMALLEST_TRIAL * abs(t))
    near, far = t + short, t + 2.0 * short
    slope_at(code, work, near, x, work.k[NEW])
    slope_at(code, work, far, x, work.k[WORK])
    for i in range(x.size):
        by_near = (work.k[NEW, i] - slope[i]) / (near - t)
        by_far = (work.k[WORK, i] - slope[i]) / (far - t)
        work.by_time[i] = by_near + (by_near - by_far) * (near - t) / (far - near)


@machine_code
def project_at(code: Code, work: Workspace, t: float, x: Vector, out: Vector) -> None:
    """The end of a step, brought back onto its constraints."""
    values_at(code, work, code.project, t, x, out)


@machine_code
def values_after_events(function: int, times: Vector, rows: Matrix, which: Indices,
                        constants: Matrix, held: Vector, p: int, q: int, at: Vector, out: Matrix
                        ) -> None:
    """What a function of the model, at an address, comes to at many points after events, one in
    each row: it reads what is constant from each on where it is ``held``."""
    for k in range(times.size):
        held[:] = constants[which[k]]
        at[0] = times[k]
        run_code(function, at, rows[k], p, q, out[k])


@machine_code
def has_slope(code: Code, work: Workspace, t: float, x: Vector) -> bool:
    """Whether f(t, x) is finite where steps begin; it stands in the first row of stages then."""
    slope_at(code, work, t, x, work.k[0])
    return are_finite(work.k[0])


@machine_code
def are_finite(values: Vector) -> bool:
    """Whether all of some values are numbers."""
    for i in range(values.size):  # noqa: SIM110
        if not abs(values[i]) < np.inf:
            return False
    return True


@machine_code
def project_in_place(code: Code, work: Workspace, t: float, x: Vector) -> None:
    """A point, brought back onto its constraints; nothing where there are none."""
    if code.project != 0:
        work.k[WORK, :] = x
        project_at(code, work, t, work.k[WORK], x)


@machine_code
def take_stages(code: Code, work: Workspace, t: float, h: float, x: Vector) -> None:
    """Stages 2 to 7 of an explicit method, from k1 = f(t, x); the end goes into its row."""
    k = work.k
    inner, n, pair = k[WORK], work.size, work.step
    work.step[0] = h
    for j in range(first_stage(code), 6):
        out = inner
        if j == 5:
            out = k[NEW]
        run_code(code.arithmetic[j], x, k, out, n, pair)
        slope_at(code, work, t + _time_of_stage(code, j) * h, out, k[j + 1])


@machine_code
def rate_of_error(rise: float, across: float) -> float:
    """How fast the slope changes with the difference of the last two stages of an explicit method.

    Both stand at the end of the step: what is smooth differs little there, and near the bound of
    stability what should have died out long ago is what is left. Of slopes and of points the sum of
    squares is given. [E. Hairer and G. Wanner, "Solving Ordinary Differential Equations II", 2nd
    ed., sec. IV.2]
    """
    return np.sqrt(rise / across) if across > NEARLY_STILL**2 else 0.0


@machine_code
def goes_nowhere(work: Workspace, x: Vector, h: float, rtol: float) -> bool:
    """Whether the unknown that limits the explicit pair stays put, though its slope would move it.

    At the bound of stability a step neither damps nor amplifies. Near the rest of a law that is
    steepest there, such as a square root, the pair may stay for good at a point that is no
    solution: within the tolerance, but what flows there can be thousands of times that.
    """
    k, worst, stays = work.k, NOTICED, False
    for i in range(x.size):
        size, error = k[ATOL, i] + rtol * abs(x[i]), 0.0
        for j in range(7):
            error += ERROR[j] * k[j, i]
        if h * abs(error) > worst * size:
            worst, fastest = h * abs(error) / size, 0.0
            for j in range(7):
                fastest = max(fastest, abs(k[j, i]))
            stays = abs(error) > OF_MOTION * fastest and (
                abs(k[NEW, i] - x[i]) < STAYS * h * abs(k[0, i]))
    return stays


@machine_code
def error_of_step(code: Code, work: Workspace, h: float, rtol: float, x: Vector) -> float:
    """The largest error of all unknowns in units of their tolerance; nan if one is nan."""
    if by_newton(code):
        return work.error[0]
    if is_fixed(code):
        total = 0.0  # of differences, which are zero unless something is no number
        for i in range(x.size):
            total += (work.k[NEW, i] - work.k[NEW, i]) + (work.k[6, i] - work.k[6, i])
        return total
    work.step[0], work.step[1] = h, rtol
    run_code(code.arithmetic[ERROR_NORM], x, work.k, work.error, work.size, work.step)
    if not np.isfinite(work.error[1]):
        return np.nan
    if code.kind == HIGH_ORDER:
        return told_error_of_high_order(work.error[0], work.error[2], rtol)
    return told_error(work.error[0], work.error[2], rtol)
