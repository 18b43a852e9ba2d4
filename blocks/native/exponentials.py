"""What do linear equations with constant coefficients come to after some time? Compiled.

For x' = f(t, x) with df/dx = A and df/dt = c constant, and f the slope now, exactly::

    x(t + h) = x + P(h) f + Q(h) c,    P(h) = integral of exp(A s),  Q(h) = integral of P(s)

The increment is taken instead of exp(A h) x: f is evaluated by the model, where differences of
large numbers are taken before they are multiplied, and vanishes where the motion does. Matrices are
kept for each A, so a mode that comes back finds its own, whoever switched. They are made for
the lengths h 2^j by doubling, with G(h) = exp(A h) - 1, which keeps the digits of slow motions
beside fast ones::

    G(2h) = 2 G + G G,    P(2h) = 2 P + G P,    Q(2h) = 2 Q + h P + G Q

What oscillates from outside, as the sine of w t, is part of both: its sine and cosine stand behind
the slope, where they move by themselves and change the slope, and nothing comes of them but that.
Any other length is composed of these and a Taylor series. Of a step whose length comes again the
matrices are kept for all places where it is looked at: it is one product then. [C. Moler and
C. Van Loan, "Nineteen dubious ways to compute the exponential of a matrix, twenty-five years
later", SIAM Review 45(1), 2003, method 3; M. Hochbruck and A. Ostermann, "Exponential
integrators", Acta Numerica 19, 2010, for P = h phi_1, Q = h^2 phi_2]
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..numerics.arrays import Matrix, Vector
from ..numerics.tolerances import SERIES_ENDS, TIME_GRAIN
from .kept_matrices import (
    CAME,
    GROWTH,
    IN_TIME,
    KEPT_FOR,
    KEY,
    KNOWN,
    LENGTH,
    LEVEL,
    LEVEL_IN_TIME,
    LEVELS,
    LOOKED_AT,
    MADE,
    OLDEST,
    PRESENT,
    PRODUCT,
    RATE,
    READS,
    REPLACED,
    SHORTEST,
    SPAN,
    SPANS,
    TERM,
    UNITS,
)
from .stages import ATOL
from .steps import Workspace

__all__ = ["add_kept_shift", "composed_shift", "first_bit", "length_aside", "length_to",
           "present_mode", "span_of"]  # fmt: skip

OFTEN = 3  # times that a length came before its matrices are made
ASIDE = 0.3819660112501051  # the golden section of a quarter, which no period has in common with it
MANY = 16.0  # of the shortest lengths in a quarter: the golden section is a number of these
SHORT = 0.5  # rate times the shortest length
TERMS = 15  # of its series: 0.5^15 / 15! is 2e-17
ROUNDS = 30  # of the search for units in which coefficients are small
STILL = 1e-9  # 1/s: a smaller rate counts as this
PARTS, REST = 2.0**52 + 1.0, 1.0 - 2.0**-53
LONGEST = 2.0**LEVELS  # shortest lengths: no level
OWN, MOVED, ONE, OTHER, TAYLOR = range(5)  # rows of room that are used here


@machine_code
def present_mode(work: Workspace) -> int:
    """The mode whose coefficients stand in ``work.linear``: a known one, or a new one."""
    present, n = work.present, work.order.size
    in_time = 0.0
    for i in range(n):
        if work.linear[n, i] != 0.0:
            in_time = 1.0
    for tried in range(present[KNOWN]):
        mode = (present[PRESENT] + tried) % present[KNOWN]
        if work.marks[mode, IN_TIME] == in_time and _is_mode(work.modes[mode, KEY], work.linear):
            present[PRESENT] = mode
            return mode
    mode = present[KNOWN]
    if mode == work.marks.shape[0]:
        mode = present[REPLACED] % work.marks.shape[0]
        present[REPLACED] += 1
    else:
        present[KNOWN] = mode + 1
    present[PRESENT] = mode
    marks = work.marks[mode]
    if marks[RATE] > 0.0 and marks[IN_TIME] == in_time and _is_mode(
            work.modes[mode, KEY], work.linear) and _has_units(work, mode):
        marks[OLDEST] = 0.0  # it is that of the run before
        for s in range(SPANS):
            marks[LENGTH + s] = marks[CAME + s] = 0.0
        return mode
    marks[:] = 0.0
    marks[IN_TIME] = in_time
    _make_mode(work, mode)
    return mode


@machine_code
def _has_units(work: Workspace, mode: int) -> bool:
    units = work.modes[mode, UNITS]
    for i in range(work.k.shape[1]):  # noqa: SIM110
        if units[i] != work.k[ATOL, i]:
            return False
    return True


@machine_code
def _is_mode(key: Vector, linear: Matrix) -> bool:
    n = linear.shape[1]
    for i in range(n):
        for j in range(n):
            if key[i * n + j] != linear[i, j]:
                return False
    return True


@machine_code
def _make_mode(work: Workspace, mode: int) -> None:
    """Keep the coefficients, and the matrices of the shortest length."""
    n, marks = work.order.size, work.marks[mode]
    key = work.modes[mode, KEY]
    for i in range(n):
        for j in range(n):
            key[i * n + j] = work.linear[i, j]
    units = work.modes[mode, UNITS]
    units[:] = 1.0  # of what oscillates
    for i in range(work.k.shape[1]):
        units[i] = work.k[ATOL, i]
    rate = _rate(key, units, work.inner[OWN], work.inner[MOVED])
    marks[RATE] = rate
    if not rate < np.inf:
        return
    h = 2.0 ** np.floor(np.log(SHORT / rate) / np.log(2.0))
    marks[SHORTEST] = h
    growth, p, q = (work.modes[mode, GROWTH], work.modes[mode, LEVEL],
                    work.modes[mode, LEVEL_IN_TIME])
    term, product = work.modes[mode, TERM], work.modes[mode, PRODUCT]
    term[:] = 0.0
    for i in range(n):
        term[i * n + i] = 1.0
    growth[:] = 0.0
    p[:] = 0.0
    q[:] = 0.0
    for k in range(1, TERMS + 1):  # the term is (A h)^(k - 1) / (k - 1)!
        for e in range(n * n):
            p[e] += h / k * term[e]
            q[e] += h * h / (k * (k + 1)) * term[e]
        _multiply(key, term, product, n)
        for e in range(n * n):
            term[e] = h / k * product[e]
            growth[e] += term[e]
    marks[MADE] = 1.0


@machine_code
def _rate(a: Vector, unit: Vector, size: Vector, image: Vector) -> float:
    """A bound of all rates: the largest row sum of abs(A), in units that make it small.

    For sizes v > 0 no eigenvalue is beyond the largest of (abs(A) v)_i / v_i [R. A. Horn and
    C. R. Johnson, "Matrix Analysis", 2nd ed., cor. 8.1.31].
    """
    n, best = size.size, np.inf
    for i in range(n):
        size[i] = unit[i]
    for _ in range(ROUNDS):
        bound = 0.0
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += abs(a[i * n + j]) * size[j]
            if not total < np.inf:
                return np.inf
            image[i] = total
            bound = max(bound, total / size[i])
        best = min(best, bound)
        for i in range(n):
            size[i] = np.sqrt(size[i]) * np.sqrt(max(image[i], 1e-2 * bound * size[i]))
    return max(best, STILL)


@machine_code
def _multiply(a: Vector, b: Vector, out: Vector, n: int) -> None:
    """out = a b, matrices row by row."""
    out[:] = 0.0
    for i in range(n):
        for k in range(n):
            factor = a[i * n + k]
            if factor != 0.0:
                for j in range(n):
                    out[i * n + j] += factor * b[k * n + j]


@machine_code
def _double(work: Workspace, mode: int) -> None:
    """Make the matrices of the next level."""
    n, marks = work.order.size, work.marks[mode]
    made = int(marks[MADE])
    h = marks[SHORTEST] * 2.0 ** float(made - 1)
    growth, product = work.modes[mode, GROWTH], work.modes[mode, PRODUCT]
    p, longer = work.modes[mode, LEVEL + made - 1], work.modes[mode, LEVEL + made]
    _multiply(growth, p, longer, n)
    for e in range(n * n):
        longer[e] += 2.0 * p[e]
    if marks[IN_TIME] != 0.0:
        q, later = (work.modes[mode, LEVEL_IN_TIME + made - 1],
                    work.modes[mode, LEVEL_IN_TIME + made])
        _multiply(growth, q, later, n)
        for e in range(n * n):
            later[e] += 2.0 * q[e] + h * p[e]
    _multiply(growth, growth, product, n)
    for e in range(n * n):
        growth[e] = 2.0 * growth[e] + product[e]
    marks[MADE] = made + 1.0


@machine_code
def _add_product(a: Vector, v: Vector, out: Vector) -> None:
    """out += a v, as many rows as ``out`` has."""
    n = v.size
    for i in range(out.size):
        total = 0.0
        for j in range(n):
            total += a[i * n + j] * v[j]
        out[i] += total


@machine_code
def add_kept_shift(work: Workspace, mode: int, span: int, place: int, slope: Vector, out: Vector
                   ) -> None:
    """Add how far a motion that has this slope goes to a place in a kept step."""
    kept = SPAN + LOOKED_AT * span + place
    _add_product(work.modes[mode, kept], slope, out)
    if work.marks[mode, IN_TIME] != 0.0:
        _add_product(work.modes[mode, kept + LOOKED_AT * SPANS], work.linear[work.order.size], out)


@machine_code
def composed_shift(work: Workspace, mode: int, h: float, slope: Vector, out: Vector) -> None:
    """How far a motion that has this slope goes in the time ``h``."""
    if work.marks[mode, RATE] < np.inf:
        work.inner[OWN, :] = slope
        _compose(work, mode, h, work.inner[OWN], work.linear[work.order.size], out)
    else:
        out[:] = np.nan


@machine_code
def length_aside(work: Workspace, mode: int, quarter: float) -> float:
    """How far from the start of a step it is looked at aside.

    An odd number of the shortest lengths, where the quarter is a power of two of them: what
    returned in both would return within one of them, and no motion is as fast. That takes no
    series.
    """
    shortest = work.marks[mode, SHORTEST]
    if quarter >= MANY * shortest and quarter == first_bit(quarter):
        return (2.0 * np.floor(0.5 * ASIDE * quarter / shortest) + 1.0) * shortest
    return ASIDE * quarter


@machine_code
def length_to(work: Workspace, mode: int, place: int, h: float) -> float:
    """How far it is to a place where a step is looked at: its quarters, and one aside."""
    if place < LOOKED_AT - 1:
        return 0.25 * (place + 1.0) * h
    return length_aside(work, mode, 0.25 * h)


@machine_code
def span_of(work: Workspace, mode: int, t: float, h: float) -> int:
    """Which of the kept steps has the length ``h``, at ``t``; -1 where none is kept yet."""
    marks = work.marks[mode]
    if work.present[READS] != 0 or not marks[RATE] < np.inf:
        return -1
    grain = 4.0 * TIME_GRAIN * abs(t)  # lengths between known instants differ by rounding
    for s in range(SPANS):
        if abs(marks[LENGTH + s] - h) <= grain:
            marks[CAME + s] += 1.0
            if marks[CAME + s] < OFTEN:
                return -1
            if marks[CAME + s] == OFTEN:
                _keep_step(work, mode, s)
            return s
    s = int(marks[OLDEST])
    marks[OLDEST] = float((s + 1) % SPANS)
    marks[LENGTH + s] = h
    marks[CAME + s] = 1.0
    return -1


@machine_code
def first_bit(value: float) -> float:
    """The largest power of two that is not above a positive number, without a logarithm.

    [S. M. Rump, "Error estimation of floating-point summation and dot product", BIT 52(1), 2012,
    on units in the first place]
    """
    q = PARTS * value
    return abs(q - REST * q)


@machine_code
def _keep_step(work: Workspace, mode: int, s: int) -> None:
    """Keep the matrices of all places in a step, column by column."""
    n, h, kinds = work.order.size, work.marks[mode, LENGTH + s], 1
    if work.marks[mode, KEPT_FOR + s] == h > 0.0:
        return
    work.marks[mode, KEPT_FOR + s] = h
    if work.marks[mode, IN_TIME] != 0.0:
        kinds = 2
    slope, out, one = work.inner[OWN], work.inner[OTHER], work.inner[ONE]
    for in_time in range(kinds):
        for place in range(LOOKED_AT):
            kept = work.modes[mode, SPAN + LOOKED_AT * (s + in_time * SPANS) + place]
            for j in range(n):
                slope[:] = 0.0
                one[:] = 0.0
                if in_time == 0:
                    slope[j] = 1.0
                else:
                    one[j] = 1.0
                _compose(work, mode, length_to(work, mode, place, h), slope, one, out)
                for i in range(n):
                    kept[i * n + j] = out[i]


@machine_code
def _compose(work: Workspace, mode: int, h: float, slope: Vector, in_time: Vector, out: Vector
             ) -> None:
    """The same by levels, the longest first, and a Taylor series; the slope moves on."""
    marks, n, key = work.marks[mode], work.order.size, work.modes[mode, KEY]
    length, left, moved = marks[SHORTEST], h, work.inner[MOVED]
    out[:] = 0.0
    level = 0
    while 2.0 * length <= h and level < LEVELS - 1:
        level += 1
        length *= 2.0
    while level >= 0:
        if left >= length:
            while marks[MADE] <= level:
                _double(work, mode)
            moved[:] = 0.0
            _add_product(work.modes[mode, LEVEL + level], slope, moved)
            if marks[IN_TIME] != 0.0:
                _add_product(work.modes[mode, LEVEL_IN_TIME + level], in_time, moved)
            for i in range(n):
                out[i] += moved[i]
            left -= length
            if left == 0.0:
                return
            for i in range(n):
                slope[i] += length * in_time[i]
            _add_product(key, moved, slope)
        else:
            level -= 1
            length *= 0.5
    _add_series(key, marks[RATE], left, slope, in_time, work.inner[TAYLOR], moved, out)


@machine_code
def _add_series(a: Vector, rate: float, h: float, slope: Vector, in_time: Vector, term: Vector,
                following: Vector, out: Vector) -> None:
    """The Taylor series over a short time; terms are h^k / k! times the k-th derivative.

    The bound of all rates says how fast terms become small in units that suit it, so it is also
    asked whether they are: an integrator has no rate, and three in a row have three terms.
    """
    n, size = slope.size, 1.0
    for i in range(n):
        term[i] = h * slope[i]
    k = 1
    matters = True
    while matters:
        for i in range(n):
            out[i] += term[i]
        k += 1
        size *= rate * h / k
        following[:] = 0.0
        _add_product(a, term, following)
        for i in range(n):
            term[i] = h / k * following[i]
            if k == 2:
                term[i] += 0.5 * h * h * in_time[i]
        matters = size > SERIES_ENDS
        for i in range(n):
            matters |= abs(term[i]) > SERIES_ENDS * abs(out[i])
