"""Does a step go over a pulse that none of its stages has seen? Compiled.

Where exp(u) stands in the equations, as in a diode's current, u may be the largest for a hundredth
of a step, and all that a method looks at lies beside it: the error estimate is blind there. But u
itself is smooth. A parabola through its values at both ends of a step and in the middle tells
whether it has a peak in between, how wide that is and, looked at more closely, where. The slopes
there are compared with those of the step: if what they differ by would change a state by more than
the tolerance in the time that the peak lasts, the step ends before it. Exponents that are highest
at about the same instant are looked at together: hundreds cost little more than one.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..numerics.arrays import Matrix, Vector
from .stages import ATOL, NEW
from .step_kinds import about_inside
from .steps import Code, Workspace, slope_at, values_at

__all__ = ["END", "EXPONENT_ROWS", "INSIDE_ROWS", "START", "error_of_exponents", "step_to_pulse"]

WIDEST = 1 / 3  # part of a step from a peak to where exp(u) is 0.6 of it: stages see what is wider
LEAST = -60.0  # exponent up to which exp(u) is nothing, whatever it is multiplied by
ABOUT = 0.1  # part of its change in a step by which it may be higher than the first parabola
OUTSIDE = 0.25  # parts of a step beyond its ends, where it may seem to be
NEAR = 0.1, 0.02, 0.002  # parts of a step from a peak, at which it is looked at more closely
SHARED = 0.5  # of these: how far peaks may be apart that are looked at together
FOOT = 3.0  # of the widths of a peak: a step ends so long before it
LASTS = 2.5  # of these widths: the area under exp(u), over its largest value
MISSED = 1.0  # of an exponent, by which it may be off at the end of an implicit step
PART, NEAREST = 0.25, 0.05  # of that, and of a step: over which the step's own slope is taken
ALIKE = 0.1  # of a width: how far peaks may be apart that are one pulse
ERROR = 6  # the last stage of the implicit method is its error
#: Rows of what is known of all exponents: looks at the ends of a step and in its middle, three
#: closer looks, and of their peaks the place (inf: none that matters), the width, the exponent
#: there, and which of the closer looks have been taken.
START, MIDDLE, END, BEFORE, THERE, AFTER, AT, WIDTH, HIGHEST, LOOKED = range(10)
EXPONENT_ROWS, INSIDE_ROWS = 10, 4


@machine_code
def step_to_pulse(code: Code, work: Workspace, exponents: Matrix, inside: Matrix, x: Vector,
                  t: float, h: float, rtol: float, known: bool, ended: bool) -> float:
    """How long a step from (t, x) may be: ``h``, or up to the foot of a pulse within it.

    ``exponents`` are rows as above; the look at the start may be ``known``, that at the end as
    well. ``inside`` are rows of points and slopes, work space.
    """
    if not known:
        values_at(code, work, code.exponents, t, x, exponents[START])
    _look_inside(code, work, t, 0.5, h, x, inside[0], exponents[MIDDLE])
    if not ended:
        values_at(code, work, code.exponents, t + h, work.k[NEW], exponents[END])
    if not see_peaks(exponents):
        return h
    for k in range(3):
        at = next_peak(exponents, k)
        while at < np.inf:
            _look_inside(code, work, t, at, h, x, inside[0], exponents[THERE])
            _look_inside(code, work, t, at - NEAR[k], h, x, inside[0], exponents[BEFORE])
            _look_inside(code, work, t, at + NEAR[k], h, x, inside[0], exponents[AFTER])
            look_closer(exponents, at, k)
            at = next_peak(exponents, k)
    at, width = earliest_peak(exponents)
    while at < 1.0:
        if _is_overlooked(code, work, inside, x, t, at, width, h, rtol):
            return h * min(max(at - FOOT * width, width), 1.0)
        at, width = earliest_peak(exponents)
    return h


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
    values_at(code, work, code.exponents, t, other_end, exponents[BEFORE])
    values_at(code, work, code.exponents, t, work.k[NEW], exponents[END])
    missed = 0.0
    for r in range(exponents.shape[1]):
        one, other = exponents[BEFORE, r], exponents[END, r]
        apart = abs(one - other) / MISSED
        if apart > missed and max(one, other) > LEAST:
            missed = apart
    return missed


@machine_code
def see_peaks(exponents: Matrix) -> bool:
    """Where exponents are highest by looks at both ends of a step and in its middle; any at all?"""
    seen = False
    for r in range(exponents.shape[1]):
        first, middle, last = exponents[START, r], exponents[MIDDLE, r], exponents[END, r]
        at, width = _peak(0.5, 0.5, first, middle, last)
        highest = middle + 0.5 * ((at - 0.5) / width) ** 2
        lowest = min(min(first, middle), last)
        exponents[AT, r] = np.inf
        if (-OUTSIDE < at < 1.0 + OUTSIDE and width < WIDEST
                and highest + ABOUT * (highest - lowest) > LEAST):
            exponents[AT, r], exponents[WIDTH, r], exponents[HIGHEST, r] = at, width, highest
            exponents[LOOKED, r] = 0.0
            seen = True
    return seen


@machine_code
def next_peak(exponents: Matrix, k: int) -> float:
    """Where to take the ``k``-th closer look next; inf where all are taken."""
    for r in range(exponents.shape[1]):
        if exponents[AT, r] < np.inf and exponents[LOOKED, r] == k:
            return _within(exponents[AT, r], NEAR[k])
    return np.inf


@machine_code
def look_closer(exponents: Matrix, middle: float, k: int) -> None:
    """Peaks near ``middle`` by looks there, before and after it."""
    near = NEAR[k]
    for r in range(exponents.shape[1]):
        if not (exponents[AT, r] < np.inf and exponents[LOOKED, r] == k
                and abs(_within(exponents[AT, r], near) - middle) <= SHARED * near):
            continue
        at, width = _peak(middle, near, exponents[BEFORE, r], exponents[THERE, r],
                          exponents[AFTER, r])
        exponents[AT, r] = min(max(at, middle - near), middle + near) if at < np.inf else middle
        if width < near:  # else it is flat on top
            exponents[WIDTH, r] = width
        exponents[HIGHEST, r] = exponents[THERE, r]
        exponents[LOOKED, r] += 1.0


@machine_code
def earliest_peak(exponents: Matrix) -> tuple[float, float]:
    """The first peak within the step that has not been asked for, and its width; inf: none."""
    at = width = np.inf
    for r in range(exponents.shape[1]):
        if 0.0 < exponents[AT, r] < at and exponents[HIGHEST, r] > LEAST:
            at, width = exponents[AT, r], exponents[WIDTH, r]
    for r in range(exponents.shape[1]):
        if (abs(exponents[AT, r] - at) <= ALIKE * width
                and abs(exponents[WIDTH, r] - width) <= ALIKE * width):
            exponents[AT, r] = np.inf
    return at, width


@machine_code
def _within(at: float, near: float) -> float:
    """The place in a step next to ``at`` about which looks are within the step."""
    return min(max(at, near), 1.0 - near)


@machine_code
def _peak(middle: float, near: float, first: float, value: float, last: float
          ) -> tuple[float, float]:
    """Where a parabola through three points is highest, and how wide; inf where it has no peak."""
    bend = (2.0 * value - first - last) / (near * near)
    if not bend > 0.0:
        return np.inf, np.inf
    return middle + 0.5 * (last - first) / (near * bend), 1.0 / np.sqrt(bend)


@machine_code
def _look_inside(code: Code, work: Workspace, t: float, theta: float, h: float, x: Vector,
                 point: Vector, out: Vector) -> None:
    """The exponents at a part of the step."""
    about_inside(code, work, t, theta, h, x, point)
    values_at(code, work, code.exponents, t + theta * h, point, out)


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
