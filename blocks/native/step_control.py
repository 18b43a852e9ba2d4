"""How long is the first step, the next one, and one that is tried again? Compiled.

The largest error of all unknowns is kept below one tolerance [E. Hairer, S. P. Norsett and
G. Wanner, "Solving Ordinary Differential Equations I", 2nd ed., sec. II.4, but with the largest
error instead of its mean: the accuracy of one unknown must not depend on how many others are at
rest]. Knows numbers only; single runs and runs in lanes share it.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..numerics.arrays import Flags, Vector
from ..numerics.tolerances import (
    LEAST_ERROR,
    NEARLY_NO_SLOPE,
    NEARLY_STILL,
    SHORT_TIME,
    SMALLEST_STEP,
    SMALLEST_TRIAL,
    TINY,
)

__all__ = ["LEAST_ERROR", "SAFETY", "count_up_to", "damped", "first_step", "is_any",
           "is_too_small", "least_step", "next_step", "shortened_step", "step_to_piece",
           "told_error", "told_error_of_high_order", "trial_step"]  # fmt: skip

SAFETY, SLOWEST, FASTEST, BETA = 0.9, 0.2, 10.0, 0.04
ROUNDED = 1e-12  # of a tolerance: less is rounding, and lets a step grow as fast as it may
GRADES = 256  # in one, of the ratio of a step to the one before it
CREEPS = 1.25  # times a step at the bound of stability: the next one, if nothing fast is left
LOWER = 3e-5  # of an estimate of order 4 to the power 5/4, per unit of the largest value
LOWER_OF_HIGH_ORDER = 6e-4  # of one of order 4 squared, likewise


@machine_code
def least_step(t: float) -> float:
    """The shortest first step, which still tells slopes apart.

    It follows the present time, not that to which the run goes: at 0 all is told apart, and what
    dies out there within 1 ns does so as well in a run of a month.
    """
    return SMALLEST_TRIAL * abs(t) + TINY


@machine_code
def trial_step(size: float, slope: float, least: float, limit: float) -> float:
    """The step that is tried to find the first one; from x and x' in units of the tolerance."""
    h = SHORT_TIME if size < NEARLY_STILL or slope < NEARLY_STILL else 0.01 * size / slope
    return min(max(h, least), limit)


@machine_code
def first_step(trial: float, slope: float, bend: float, least: float, limit: float, root: float
               ) -> float:
    """Hairer's first step; from x' and x'' in units of the tolerance."""
    most = max(slope, bend)
    later = max(SHORT_TIME, trial * 1e-3) if most <= NEARLY_NO_SLOPE else (0.01 / most) ** root
    return min(max(min(100 * trial, later), least), limit)


@machine_code
def is_any(flags: Flags) -> bool:
    """Whether any of some flags is set."""
    found = False
    for k in range(flags.size):
        found |= flags[k]
    return found


@machine_code
def count_up_to(ascending: Vector, value: float, low: int) -> int:
    """How many of some ascending numbers are not above a value; so many at least."""
    high, leap = low, 1
    while high < ascending.size and ascending[high] <= value:
        low, high, leap = high + 1, high + leap, 2 * leap
    high = min(high, ascending.size)
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


@machine_code
def step_to_piece(t: float, h: float, pieces: Vector, across: int, behind: int) -> float:
    """A step that reaches over no more than ``across`` borders of pieces of time.

    ``behind`` of these are not after ``t``, as :func:`count_up_to` tells.
    """
    ahead = behind + across - 1
    return min(h, pieces[ahead] - t) if ahead < pieces.size else h


@machine_code
def is_too_small(h: float, t: float) -> bool:
    """Whether a step no longer moves the time, or is no number."""
    return not h > SMALLEST_STEP * abs(t) + TINY


@machine_code
def graded(ratio: float) -> float:
    """The ratio of a step to the one before it, in grades, one at least.

    An error is a small difference of large numbers. Their last digits, which are others on another
    machine, would tell steps apart by a millionth, and then all values by as much of the tolerance.
    """
    return max(np.floor(GRADES * ratio + 0.5), 1.0) / GRADES


@machine_code
def damped(h: float, following: float, rate: float, damps: float, pressed: bool
           ) -> tuple[float, bool]:
    """The step after one of ``h``, whose slope changes at a rate; whether stability limits it.

    At the bound what is fast dies out, and tells of it no more: steps creep, not to stride over it.
    """
    if following * rate > damps:
        return graded(damps / (rate * h)) * h, True
    if pressed and following > CREEPS * h:
        return CREEPS * h, True
    return following, False


@machine_code
def shortened_step(h: float, error: float, root: float) -> float:
    """The step to try after a step whose error was too large, or no number."""
    if np.isnan(error):
        return 0.2 * h
    return h * graded(1.0 / min(1 / SLOWEST, error**root / SAFETY))


@machine_code
def told_error(error: float, lower: float, rtol: float) -> float:
    """The error of a step, where its estimate may vanish by chance.

    Along a sine that is only added up, as of a source in a circuit, the estimate of the pair is a
    sine of the phase itself: near its zeros any step would pass. One of the order below is largest
    there. Raised to the same order it stands for 0.3 of such an estimate at its largest; where
    slopes follow the states it is a thirtieth of the pair's own. ``error`` and ``lower`` are the
    estimates of the pair and of the order below, in units of the tolerance.
    """
    return max(error, LOWER * lower * np.sqrt(np.sqrt(rtol * lower)))


@machine_code
def told_error_of_high_order(fifth: float, third: float, rtol: float) -> float:
    """The error of a step of order 8, of which both estimates are of lower order.

    Their quotient is of order 8 [E. Hairer, S. P. Norsett and G. Wanner, "Solving Ordinary
    Differential Equations I", 2nd ed., sec. II.10]. Where the first one vanishes by chance, as
    above, the square of the other stands for 0.3 of it. Estimates are in units of the tolerance.
    """
    both = np.sqrt(fifth * fifth + 0.01 * third * third)
    error = fifth * (fifth / both) if both > 0.0 else 0.0
    return max(error, LOWER_OF_HIGH_ORDER * third * (rtol * third))


@machine_code
def next_step(h: float, proposed: float, error: float, old_error: float, rejected: bool,
              root: float) -> float:
    """The step after one that was accepted.

    ``h`` is the step taken, ``proposed`` what it was before it was shortened to end somewhere;
    ``error`` and ``old_error`` are of this step and the one before it, in units of the tolerance;
    ``rejected``: whether it had to be tried again: it must not grow then; ``root`` is 1 / order of
    the method, as everywhere here.
    """
    told = max(error, ROUNDED)
    factor = np.exp((root - 0.75 * BETA) * np.log(told) - BETA * np.log(old_error)) / SAFETY
    factor = max(1 / FASTEST, min(1 / SLOWEST, factor))
    following = h * graded(1.0 / factor)
    if rejected:
        following = min(following, h)
    if h < 0.999 * proposed:  # shortened to end here: that says nothing of the next
        following = max(following, proposed)
    return following
