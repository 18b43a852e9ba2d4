"""Does a step go over a pulse that none of its stages has seen? Compiled.

Where exp(u) stands in the equations, as in a diode's current, u may be the largest for a hundredth
of a step, and all that a method looks at lies beside it: the error estimate is blind there. But u
itself is smooth. A parabola through its values at both ends of a step and in the middle tells
whether it has a peak in between, how wide that is and, looked at more closely, where. The slopes
there are compared with those of the step: if what they differ by would change a state by more than
the tolerance in the time that the peak lasts, the step ends before it.
"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Matrix, Vector
from .functions import machine_code
from .signatures import run_code
from .stages import ATOL, NEW
from .step_kinds import about_inside
from .steps import Code, Workspace, slope_at

__all__ = ["ABOUT", "BEFORE", "END", "EXPONENT_ROWS", "INSIDE_ROWS", "LASTS", "LEAST", "NEAR",
           "NEAREST", "OUTSIDE", "PART", "WIDEST", "error_of_exponents", "peak",
           "step_to_pulse"]  # fmt: skip

WIDEST = 1 / 3  # part of a step from a peak to where exp(u) is 0.6 of it: stages see what is wider
LEAST = -60.0  # exponent up to which exp(u) is nothing, whatever it is multiplied by
ABOUT = 0.1  # part of its change in a step by which it may be higher than the first parabola
OUTSIDE = 0.25  # parts of a step beyond its ends, where it may seem to be
NEAR = 0.1, 0.02, 0.002  # parts of a step from a peak, at which it is looked at more closely
BEFORE = 3.0  # of these widths: a step ends so long before a peak
LASTS = 2.5  # of these widths: the area under exp(u), over its largest value
MISSED = 1.0  # of an exponent, by which it may be off at the end of an implicit step
PART, NEAREST = 0.25, 0.05  # of that, and of a step: over which the step's own slope is taken
EXPONENT_ROWS, INSIDE_ROWS = 4, 4
START, MIDDLE, END, SPARE = range(EXPONENT_ROWS)
ERROR = 6  # the last stage of the implicit method is its error


@machine_code
def step_to_pulse(code: Code, work: Workspace, exponents: Matrix, inside: Matrix, x: Vector,
                  t: float, h: float, rtol: float, known: bool) -> float:
    """How long a step from (t, x) may be: ``h``, or up to the foot of a pulse within it.

    Parameters
    ----------
    exponents : looks at them, a row each; that at the start may be ``known``
    inside : rows of points and slopes, work space
    """
    if not known:
        _look(code, work, t, x, exponents[START])
    _look_inside(code, work, t, 0.5, h, x, inside[0], exponents[MIDDLE])
    _look(code, work, t + h, work.k[NEW], exponents[END])
    length = 1.0
    for r in range(exponents.shape[1]):
        first, middle, last = exponents[START, r], exponents[MIDDLE, r], exponents[END, r]
        at, width = peak(0.5, 0.5, first, middle, last)
        highest = middle + 0.5 * ((at - 0.5) / width) ** 2
        lowest = min(min(first, middle), last)
        if not (-OUTSIDE < at < 1.0 + OUTSIDE and width < WIDEST
                and highest + ABOUT * (highest - lowest) > LEAST):
            continue
        value = highest
        for k in range(3):
            middle = min(max(at, NEAR[k]), 1.0 - NEAR[k])
            value = _exponent(code, work, t, middle, h, x, inside[0], exponents, r)
            first = _exponent(code, work, t, middle - NEAR[k], h, x, inside[0], exponents, r)
            last = _exponent(code, work, t, middle + NEAR[k], h, x, inside[0], exponents, r)
            closer, narrower = peak(middle, NEAR[k], first, value, last)
            at = middle
            if closer < np.inf:
                at = min(max(closer, middle - NEAR[k]), middle + NEAR[k])
            if narrower < NEAR[k]:  # else it is flat on top
                width = narrower
        if 0.0 < at < length and value > LEAST and _is_overlooked(
                code, work, inside, x, t, at, width, h, rtol):
            length = min(length, max(at - BEFORE * width, width))
    return h * length


@machine_code
def error_of_exponents(code: Code, work: Workspace, exponents: Matrix, inside: Matrix, t: float
                       ) -> float:
    """The largest error of an exponent at the end ``t`` of an implicit step, in units of MISSED.

    What a diode that blocks lets through is less than the tolerance of the current of a coil
    behind it, which may be off by what volts go with.
    """
    other_end = inside[0]
    for i in range(other_end.size):
        other_end[i] = work.k[NEW, i] - work.k[ERROR, i]
    _look(code, work, t, other_end, exponents[SPARE])
    _look(code, work, t, work.k[NEW], exponents[END])
    missed = 0.0
    for r in range(exponents.shape[1]):
        one, other = exponents[SPARE, r], exponents[END, r]
        apart = abs(one - other) / MISSED
        if apart > missed and max(one, other) > LEAST:
            missed = apart
    return missed


@machine_code
def peak(middle: float, near: float, first: float, value: float, last: float
         ) -> tuple[float, float]:
    """Where a parabola through three points is highest, and how wide; inf where it has no peak."""
    bend = (2.0 * value - first - last) / (near * near)
    if not bend > 0.0:
        return np.inf, np.inf
    return middle + 0.5 * (last - first) / (near * bend), 1.0 / np.sqrt(bend)


@machine_code
def _look(code: Code, work: Workspace, t: float, x: Vector, out: Vector) -> None:
    """The exponents at a point."""
    work.at[0] = t
    run_code(code.exponents, work.at, x, code.p, code.q, out)


@machine_code
def _look_inside(code: Code, work: Workspace, t: float, theta: float, h: float, x: Vector,
                 point: Vector, out: Vector) -> None:
    """The same at a part of the step."""
    about_inside(code, work, t, theta, h, x, point)
    _look(code, work, t + theta * h, point, out)


@machine_code
def _exponent(code: Code, work: Workspace, t: float, theta: float, h: float, x: Vector,
              point: Vector, exponents: Matrix, r: int) -> float:
    """One of them there."""
    _look_inside(code, work, t, theta, h, x, point, exponents[SPARE])
    return exponents[SPARE, r]


@machine_code
def _is_overlooked(code: Code, work: Workspace, inside: Matrix, x: Vector, t: float, at: float,
                   width: float, h: float, rtol: float) -> bool:
    """Whether slopes at a part of a step are so different from those of the step that it matters.
    """
    lasts = min(LASTS * width, 1.0)
    near = min(min(PART * lasts, NEAREST), min(at, 1.0 - at))
    point, slope, before, after = inside[0], inside[1], inside[2], inside[3]
    about_inside(code, work, t, at - near, h, x, before)
    about_inside(code, work, t, at + near, h, x, after)
    about_inside(code, work, t, at, h, x, point)
    slope_at(code, work, t + at * h, point, slope)
    for i in range(x.size):
        missed = abs(slope[i] * h - (after[i] - before[i]) / (2.0 * near)) * lasts
        if missed > work.k[ATOL, i] + rtol * max(abs(x[i]), abs(work.k[NEW, i])):
            return True
    return False
