"""Where between two samples of event functions (looks) may a margin be below zero?

Knows times and numbers only. Compiled for machine code as it stands.
"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Matrix, Vector
from ..numerics.tolerances import ROUNDING

__all__ = ["ABOUT", "BEYOND", "FARTHEST", "MOST_LOOKS", "MOST_PARTS", "NARROW",
           "SAME", "SCATTER", "SEEN", "TURN", "next_look"]  # fmt: skip

MOST_LOOKS = 32  # at a step, or a part of one
TURN = 0.25 * np.pi  # of what is periodic in a state, between two looks at most
FARTHEST = 1e12  # angle from which on it does not matter how far it turns
MOST_PARTS = 1000  # of a step: a longer one is taken again
SEEN = 0.9  # of a step: what lies before a crossing there has been seen by its stages
ABOUT, BEYOND = 0.01, 1.01  # of the way to a crossing: how well it is known, and the step to there
STEEPER = 1.2  # times the bend of a parabola through looks: a margin may bend so much more
ALONE = 1.5  # times that again, where there is no second parabola to compare it with
WIDE, CLOSE = 0.15, 0.2  # parts of a step, and of the way to a dip, that are looked into anyway
NARROW = 1e-3  # part of a step between two looks that is not looked into
SAME = 1e-9  # part of a step up to which two looks are one
SCATTER = 0.6180339887498949  # times whole numbers, modulo 1: no two are the same
ENDS = 0.05  # part of an interval at its ends where no look is placed
GAP = 0.3  # part of all looks: in a wider gap between two, parabolas tell nothing


def next_look(times: Vector, margins: Matrix, count: int) -> float:
    """Where some margin may be below zero between two looks, the earliest; inf if nowhere.

    In plain loops: it is compiled for machine code as it stands. ``times`` is (looks,), ascending;
    ``margins``, (looks, n), are not negative before the last look; nan where not known; ``count``
    is the number of looks.
    """
    earliest = np.inf
    whole = times[count - 1] - times[0]
    for i in range(count - 1):
        middle = 0.5 * (times[i] + times[i + 1])
        if times[i + 1] - times[i] > GAP * whole and times[i] < middle < times[i + 1]:
            for r in range(margins.shape[1]):
                a, b = margins[i, r], margins[i + 1, r]
                if 0.0 <= a < np.inf and 0.0 <= b < np.inf and a != b:
                    return middle
    shortest = NARROW * whole
    for r in range(margins.shape[1]):
        low, high = np.inf, -np.inf
        for k in range(count):
            value = margins[k, r]
            low = value if value < low else low
            high = value if high < value < np.inf else high
        if not low < high - low:  # a parabola through these cannot reach zero
            continue
        for i in range(count - 1):
            start, width = times[i], times[i + 1] - times[i]
            if start >= earliest:
                break
            a, b = margins[i, r], margins[i + 1, r]
            if not (width > shortest and 0.0 <= a < np.inf and 0.0 <= b < np.inf):
                continue
            rise, before, after = (b - a) / width, np.nan, np.nan
            left = right = np.nan
            if i > 0 and np.isfinite(margins[i - 1, r]):
                before = (a - margins[i - 1, r]) / (start - times[i - 1])
                left = (rise - before) / (times[i + 1] - times[i - 1])
            if i + 2 < count and np.isfinite(margins[i + 2, r]):
                after = (margins[i + 2, r] - b) / (times[i + 2] - times[i + 1])
                right = (after - rise) / (times[i + 2] - start)
            # what falls and rises evenly turns where these lines meet, or beyond where one is zero
            away = np.nan
            if before < 0.0 < after:
                away = (b - a - after * width) / (before - after)
                away = away if a + away * before < -ROUNDING * high else np.nan
            elif before < 0.0 and np.isnan(after) and b > NARROW * a:
                away = 0.5 * (width - a / before)
            elif after > 0.0 and np.isnan(before) and a > NARROW * b:
                away = 0.5 * (width - b / after)
            if 0.0 < away < width:
                earliest = start + min(max(away, SAME * whole), width - SAME * whole)
                continue
            if np.isnan(left) and np.isnan(right):
                continue
            if np.isnan(left) or np.isnan(right):
                bend = STEEPER * ALONE * (right if np.isnan(left) else left)
            else:
                bend = STEEPER * max(left, right) + abs(left - right)
            if not bend > 0.0:
                continue
            away = 0.5 * width - 0.5 * rise / bend
            if not 0.0 < away < width:
                continue
            lowest = a + away * rise + away * (away - width) * bend
            close = width > WIDE * whole and (
                lowest < CLOSE * (max(a, b) - lowest))  # a margin may be no parabola at all
            if close or lowest < -ROUNDING * high:
                earliest = start + min(max(away, ENDS * width), (1.0 - ENDS) * width)
    return earliest
