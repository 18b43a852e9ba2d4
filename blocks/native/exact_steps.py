"""Steps that are exact for linear equations with constant coefficients, compiled.

A step has no error, so what limits it is what is seen of it: relations are looked at in quarters
of a step, a recording is drawn from its ends. Steps are as long as the course within them is a
parabola or nearly so; an oscillation gets about a dozen, what has died out or was never there
none. The measure are values at the quarters, and at one place more that no period has in common
with them: an oscillation that returns in every quarter is no rest.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..numerics.arrays import Matrix, Vector
from ..numerics.tolerances import TIME_GRAIN
from .exponentials import (
    add_kept_shift,
    composed_shift,
    first_bit,
    length_aside,
    present_mode,
    span_of,
)
from .kept_matrices import LOOKED_AT, READS
from .stages import NEW
from .step_control import SAFETY
from .steps import Code, Workspace, slope_at, times_tolerance

__all__ = ["exact_values_inside", "growth_of_step", "take_exact_step",
           "whole_power"]

DEFECT = 6  # row of k
SLOPE, SHIFT, INSIDE = 5, 6, 7  # rows of room
NEARLY, LARGE = 1.0 + 1e-9, 1e290  # of a power of two; lengths that are no more rounded


@machine_code
def whole_power(h: float) -> float:
    """The power of two next below: lengths that come again have their matrices."""
    return first_bit(h * NEARLY) if h < LARGE else h


@machine_code
def growth_of_step(error: float) -> float:
    """How much shorter the next step is after one with a defect in units of the tolerance."""
    return np.sqrt(np.sqrt(error)) / SAFETY


@machine_code
def take_exact_step(code: Code, work: Workspace, t: float, h: float, x: Vector, again: bool
                    ) -> int:
    """A step from f(t, x) in the first row of k; then the values at the quarters, and the defect.

    Returns
    -------
    number of slopes that it took
    """
    k, slopes = work.k, 0
    if not again or _oscillates(work):
        work.at[0] = t
        run_code(code.linear, work.at, x, code.p, code.q, work.linear)
    mode = present_mode(work)
    span = span_of(work, mode, t, h)
    _follow_by_oscillations(work, k[0])
    if span >= 0:
        for place in range(LOOKED_AT):
            row = k[place + 1]
            if place == 3:
                row = k[NEW]
            if place == 4:
                row = k[DEFECT]
                row[:] = 0.0
            else:
                row[:] = x
            add_kept_shift(work, mode, span, place, work.inner[SLOPE], row)
    else:
        slopes = _by_quarters(code, work, mode, t, 0.25 * h, x)
    if work.present[READS] == 0:
        _measure_defect(k, x, length_aside(work, mode, 0.25 * h) / (0.25 * h),
                        times_tolerance(work.rtol[0]))
    return slopes


@machine_code
def _oscillates(work: Workspace) -> bool:
    """Whether anything oscillates from outside."""
    return work.order.size > work.size[0]


@machine_code
def _follow_by_oscillations(work: Workspace, slope: Vector) -> None:
    """A slope, and what oscillates at the time for which derivatives were asked last."""
    out, n = work.inner[SLOPE], work.order.size
    for i in range(n):
        if i < work.size[0]:
            out[i] = slope[i]
        else:
            out[i] = work.linear[n + 1, i]


@machine_code
def _slope_in_step(code: Code, work: Workspace, t: float, x: Vector) -> None:
    """The same at a point within a step."""
    if _oscillates(work):
        work.at[0] = t
        run_code(code.linear, work.at, x, code.p, code.q, work.linear)
    slope_at(code, work, t, x, work.inner[INSIDE])
    _follow_by_oscillations(work, work.inner[INSIDE])


@machine_code
def _by_quarters(code: Code, work: Workspace, mode: int, t: float, part: float, x: Vector) -> int:
    """The same values where no matrices are kept of the step, each quarter from the one before."""
    k, n = work.k, x.size
    moved, before = work.inner[SHIFT], x
    if work.present[READS] == 0:
        composed_shift(work, mode, length_aside(work, mode, part), work.inner[SLOPE], moved)
        for i in range(n):
            k[DEFECT, i] = moved[i]
    for quarter in range(4):
        if quarter > 0:
            before = k[quarter]
            _slope_in_step(code, work, t + quarter * part, before)
        composed_shift(work, mode, part, work.inner[SLOPE], moved)
        after = k[NEW]
        if quarter < 3:
            after = k[quarter + 1]
        for i in range(n):
            after[i] = before[i] + moved[i]
    return 3


@machine_code
def _measure_defect(k: Matrix, x: Vector, place: float, seen: float) -> None:
    """How far the course is from a polynomial, in place of how far it goes up to the look aside.

    That is at a part of the first quarter; ``seen`` is what of it matters, in tolerances.
    """
    defect, new = k[DEFECT], k[NEW]
    a, b, c, d = place - 1.0, place - 2.0, place - 3.0, place - 4.0
    w0, w1, w2 = (1 / 24) * a * b * c * d, (-1 / 6) * place * b * c * d, 0.25 * place * a * c * d
    w3, w4 = (-1 / 6) * place * a * b * d, (1 / 24) * place * a * b * c
    for i in range(x.size):
        bend = (2.0 / 3.0) * (x[i] - 4.0 * k[1, i] + 6.0 * k[2, i] - 4.0 * k[3, i] + new[i])
        aside = x[i] + defect[i] - (w0 * x[i] + w1 * k[1, i] + w2 * k[2, i] + w3 * k[3, i]
                                    + w4 * new[i])
        defect[i] = max(abs(aside), abs(bend)) / seen  # not a number, if the look aside is none


@machine_code
def exact_values_inside(code: Code, work: Workspace, t: float, theta: float, h: float, x: Vector,
                        out: Vector) -> None:
    """Values in the step just taken, exact as its end, from the quarter before them."""
    k, quarter = work.k, int(4.0 * theta + 0.5)
    if abs(theta * h - 0.25 * h * quarter) <= TIME_GRAIN * abs(t):  # no other time than a quarter
        if quarter == 0:
            out[:] = x
        elif quarter < 4:
            out[:] = k[quarter]
        else:
            out[:] = k[NEW]
        return
    quarter = min(int(4.0 * theta), 3)
    rest = theta * h - 0.25 * h * quarter
    before = x
    if quarter > 0:
        before = k[quarter]
    if rest <= 0.0:
        out[:] = before
        return
    if quarter > 0 or _oscillates(work):
        _slope_in_step(code, work, t + 0.25 * h * quarter, before)
    else:
        _follow_by_oscillations(work, k[0])
    moved = work.inner[SHIFT]
    composed_shift(work, work.present[0], rest, work.inner[SLOPE], moved)
    for i in range(x.size):
        out[i] = before[i] + moved[i]
