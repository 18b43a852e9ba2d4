"""How long is the first step, the next one, and one that is tried again? Compiled.

The largest error of all unknowns is kept below one tolerance [E. Hairer, S. P. Norsett and
G. Wanner, "Solving Ordinary Differential Equations I", 2nd ed., sec. II.4, but with the largest
error instead of its mean: the accuracy of one unknown must not depend on how many others are at
rest]. Knows numbers only; single runs and runs in lanes share it.
"""

from __future__ import annotations

import numpy as np

from ..numerics.tolerances import (
    FIRST_STEP,
    LEAST_ERROR,
    NEARLY_NO_SLOPE,
    NEARLY_STILL,
    SMALLEST_STEP,
)
from .disk_cache import compiled

__all__ = ["LEAST_ERROR", "first_step", "is_too_small", "next_step", "shortened_step",
           "step_to_piece", "trial_step"]  # fmt: skip

SAFETY, SLOWEST, FASTEST, BETA = 0.9, 0.2, 10.0, 0.04


@compiled
def trial_step(size, slope, limit):
    """The step that is tried to find the first one; from x and x' in units of the tolerance."""
    h = FIRST_STEP if size < NEARLY_STILL or slope < NEARLY_STILL else 0.01 * size / slope
    return min(h, limit)


@compiled
def first_step(trial, slope, bend, limit):
    """Hairer's first step; from x' and x'' in units of the tolerance."""
    most = max(slope, bend)
    later = max(FIRST_STEP, trial * 1e-3) if most <= NEARLY_NO_SLOPE else (0.01 / most) ** 0.2
    return min(100 * trial, later, limit)


@compiled
def step_to_piece(t, h, pieces, across):
    """A step that reaches over no more than ``across`` borders of pieces of time."""
    if pieces.size:
        ahead = np.searchsorted(pieces, t, side="right") + across - 1
        if ahead < pieces.size:
            return min(h, pieces[ahead] - t)
    return h


@compiled
def is_too_small(h, t, t_stop):
    """Whether a step no longer moves the time, or is no number."""
    return not h > SMALLEST_STEP * max(abs(t), abs(t_stop))


@compiled
def shortened_step(h, error):
    """The step to try after a step whose error was too large, or no number."""
    if np.isnan(error):
        return 0.2 * h
    return h / min(1 / SLOWEST, error**0.2 / SAFETY)


@compiled
def next_step(h, proposed, error, old_error, rejected):
    """The step after one that was accepted.

    Parameters
    ----------
    h, proposed : the step taken, and as it was before it was shortened to end somewhere
    error, old_error : of this step and the one before it, in units of the tolerance
    rejected : whether it had to be tried again: it must not grow then
    """
    factor = error ** (0.2 - 0.75 * BETA) / old_error**BETA / SAFETY
    factor = max(1 / FASTEST, min(1 / SLOWEST, factor))
    following = h / factor
    if rejected:
        following = min(following, h)
    if h < 0.999 * proposed:  # shortened to end here: that says nothing of the next
        following = max(following, proposed)
    return following
