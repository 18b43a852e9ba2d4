"""Where does a relation cross within a step? Compiled.

Crossings are looked for where :mod:`blocks.simulation.zero_crossings` says, as for other
methods; the bracket is shrunk as in I. F. D. Oliveira and R. H. C. Takahashi, "An Enhancement of
the Bisection Method Average Performance Preserving Minmax Optimality", ACM Trans. Math. Softw.
47(1), 2020.
"""

from __future__ import annotations

import numpy as np

from ..numerics.tolerances import TIME_GRAIN, TINY, ZERO_MARGIN
from ..solvers.looks import MOST_LOOKS
from ..solvers.looks import next_look as _next_look
from .disk_cache import compiled
from .stages import NEW, WORK
from .steps import crossings_at, values_inside

__all__ = ["HELD", "HINT", "KNOWN", "LARGEST", "LOOK_ROWS", "SLACK", "find_crossing", "locate",
           "look_at_start", "name_crossed"]  # fmt: skip

LOOKS = (0.25, 0.5, 0.75, 1.0)  # parts of a step at which relations are looked at
#: Rows of ``looks`` after those of a step: the largest so far, and two of work space.
LARGEST, SPARE, LOOK_ROWS = MOST_LOOKS, MOST_LOOKS + 1, MOST_LOOKS + 3

#: Rows of ``watched``, a column for each relation: 1 where it holds (else its sign is turned), 1
#: where it is not searched for, 1 where its margin only says that somebody else must look, and
#: what it may be below zero by.
HELD, KNOWN, HINT, SLACK = range(4)

next_look = compiled(_next_look)


@compiled
def margins_at(code, work, t, x, watched, margins):
    """Fill in the margins at a point: whether one that is not known beforehand is negative."""
    crossings_at(code, work, t, x, margins)
    violated = False
    for r in range(margins.size):
        if watched[HELD, r] <= 0.5:
            margins[r] = -margins[r]
        margins[r] += watched[SLACK, r]
        if watched[KNOWN, r] > 0.5:
            margins[r] = 1.0
        elif not margins[r] >= 0.0:
            violated = True
    return violated


@compiled
def margins_inside(code, work, t, start, h, x, k, inner, watched, margins):
    """The same at a time within a step; the values there are left in ``inner``."""
    values_inside(code, work, (t - start) / h, h, x, k, inner)
    return margins_at(code, work, t, inner, watched, margins)


@compiled
def look_at_start(code, work, t, x, watched, margins):
    """Look at the start of the first step after a restart."""
    margins_at(code, work, t, x, watched, margins)
    for r in range(margins.size):
        if not margins[r] > 0.0:  # what begins at zero says nothing yet
            margins[r] = np.nan


@compiled
def find_crossing(code, work, start, end, h, x, k, watched, looks, times):
    """Look at the relations in a step, the first look being known.

    Returns
    -------
    whether one has crossed at the last look, number of looks
    """
    inner = k[WORK]
    times[0] = start
    crossed, count = False, 1
    for j in range(4):
        times[count] = end if j == 3 else start + LOOKS[j] * (end - start)
        if j < 3:
            values_inside(code, work, LOOKS[j], h, x, k, inner)
        else:
            inner[:] = k[NEW]
        crossed = margins_at(code, work, times[count], inner, watched, looks[count])
        count += 1
        if crossed:
            break
    while count < MOST_LOOKS:  # between the looks comes first
        place = next_look(times, looks, count, looks[SPARE], looks[SPARE + 1])
        if not place < np.inf:
            break
        j = _make_room(times, looks, count, place)
        count += 1
        if margins_inside(code, work, place, start, h, x, k, inner, watched, looks[j]):
            crossed, count = True, j + 1
    _keep_largest(looks, count - 1 if crossed else count)
    return crossed, count


@compiled
def _make_room(times, looks, count, place):
    """Put a time among those of the looks; its row."""
    j = count
    while times[j - 1] > place:
        times[j] = times[j - 1]
        looks[j, :] = looks[j - 1, :]
        j -= 1
    times[j] = place
    return j


@compiled
def _keep_largest(looks, count):
    """Take the looks of a step into the largest margins so far."""
    for j in range(1, count):
        for r in range(looks.shape[1]):
            if looks[j, r] > looks[LARGEST, r]:
                looks[LARGEST, r] = looks[j, r]


@compiled
def name_crossed(margins, watched, wrong):
    """Fill in which relations have crossed; whether that is sure, and not for others to judge."""
    sure = False
    for r in range(margins.size):
        wrong[r] = margins[r] < 0.0
        sure |= wrong[r]
    for r in range(margins.size):
        if wrong[r] and watched[HINT, r] > 0.5:
            sure = False
    return sure


@compiled
def _least(margins, wrong):
    """The smallest margin of some relations."""
    least = np.inf
    for r in range(margins.size):
        if wrong[r] and margins[r] < least:
            least = margins[r]
    return least


@compiled
def _narrowed(t, least, near, far, above, below):
    """The bracket of a crossing, and the margins at its ends, once ``t`` has been looked at."""
    if least < 0.0:
        return near, t, above, least
    return t, far, least, below


@compiled
def _guess(near, far, above, below, whole, reserve):
    """Where to look next: regula falsi, moved toward the middle and kept near it."""
    width, middle = far - near, 0.5 * (near + far)
    guess = near + width * above / (above - below)
    away = middle - guess
    shift = 0.2 * width * width / whole
    guess = guess + np.copysign(shift, away) if shift < abs(away) else middle
    reach = reserve - 0.5 * width
    if abs(guess - middle) > reach:
        guess = middle - np.copysign(reach, away)
    return guess if near < guess < far and not reach <= 0.0 else middle


@compiled
def locate(code, work, low, high, start, h, x, k, watched, seen, wrong):
    """The far side of the first crossing between two times of a step.

    Parameters
    ----------
    low, high : a margin of the relations ``wrong`` is negative at the end alone
    seen : margins at ``high``; on return those at the crossing
    wrong : on return the relations that have crossed

    Returns
    -------
    time; the values there are in the row of work
    """
    margins, inner = np.empty(seen.size), k[WORK]
    grain = TIME_GRAIN * max(abs(low), abs(high))
    near, far, below = low, high, _least(seen, wrong)
    margins_inside(code, work, low, start, h, x, k, inner, watched, margins)
    above = _least(margins, wrong)
    while not above > 0.0 and near < 0.5 * (near + far) < far:  # begins where another mode ended
        guess = 0.5 * (near + far)
        margins_inside(code, work, guess, start, h, x, k, inner, watched, margins)
        near, far, above, below = _narrowed(guess, _least(margins, wrong), near, far, above, below)
    whole = reserve = far - near
    # until there is no time between them, or none that matters
    while near < 0.5 * (near + far) < far and far - near > 0.25 * grain:
        guess = _guess(near, far, above, below, whole, reserve)
        reserve *= 0.5
        margins_inside(code, work, guess, start, h, x, k, inner, watched, margins)
        near, far, above, below = _narrowed(guess, _least(margins, wrong), near, far, above, below)
    if far == high:
        margins[:] = seen
        values_inside(code, work, (far - start) / h, h, x, k, inner)
    else:
        margins_inside(code, work, far, start, h, x, k, inner, watched, margins)
    _keep_closest(margins, seen, wrong)
    seen[:] = margins
    return far


@compiled
def _keep_closest(margins, before, wrong):
    """Of relations that are wrong, leave those that are past zero at the crossing, or the closest.
    """
    closest, least, several = 0, np.inf, False
    for r in range(margins.size):
        if wrong[r]:
            left = margins[r] / (abs(before[r]) + TINY)
            wrong[r] = left <= ZERO_MARGIN
            several |= wrong[r]
            if left < least:
                closest, least = r, left
    if not several:
        wrong[closest] = True
