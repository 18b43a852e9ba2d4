"""Which way does one element go, by numbers alone? Compiled.

With D of the element, what drives it and its bounds; the modes of all others are held.
"""

from __future__ import annotations

from ..machine.functions import machine_code
from ..numerics.tolerances import CLEAR_ROOM, EQUAL_BOUNDS, GRAZES, LAST_DIGIT

__all__ = ["NOT_SURE", "mode_of_one", "sense_is_told", "sense_of_release"]

NOT_SURE = 2  # instead of a mode


@machine_code
def _sense_of_one(own: float, drive: float, low: float, high: float, noise: float) -> int:
    """The sense of motion of rate = drive - own effort, effort within bounds; 0 at rest.

    As the box problem says; ``NOT_SURE`` where its rate is rounding, or a bound just holds it.
    """
    if not (own > 0.0 and low < high and abs(drive) < 1e300):
        return NOT_SURE
    effort = min(max(drive / own, low), high)
    if low < effort < high:
        return 0
    rate = drive - own * effort
    largest = 0.0
    if abs(low) < 1e300:
        largest = abs(low)
    if abs(high) < 1e300:
        largest = max(largest, abs(high))
    floor = noise + LAST_DIGIT * own * largest
    moves = abs(rate) > GRAZES * max(abs(drive), own * abs(effort)) + floor
    if not moves:
        return NOT_SURE
    if rate > 0.0:
        return 1 if effort == high else NOT_SURE
    return -1 if effort == low else NOT_SURE


@machine_code
def mode_of_one(own: float, drive: float, low: float, high: float, back: float, forth: float,
                slid: bool, noise: float) -> int:
    """The mode in which an element moves that rest does not hold; ``NOT_SURE`` where it may rest.

    Once it moves, less holds it: its kinetic efforts ``back`` and ``forth``. What ``slid`` has to
    overcome those at rest first.
    """
    if slid:
        sense = _sense_of_one(own, drive, low, high, noise)
        if sense == 0 or sense == NOT_SURE:
            return NOT_SURE
    lower = back if abs(low) < 1e300 else low
    upper = forth if abs(high) < 1e300 else high
    sense = _sense_of_one(own, drive, min(lower, upper), upper, noise)
    return NOT_SURE if sense == 0 else sense


@machine_code
def sense_is_told(effort: float, low: float, high: float, largest: float) -> bool:
    """Whether the bound that is nearer tells the sense of what lets go there.

    Not where bounds are near to each other, compared with the ``largest`` effort, unless it is
    clearly beyond both: what has lost its strength, as a brake that is pressed no longer.
    """
    return max(high - low, effort - high, low - effort) > CLEAR_ROOM * largest


@machine_code
def sense_of_release(effort: float, low: float, high: float, back: float, forth: float,
                     largest: float) -> int:
    """The sense in which an element at its bound goes whose effort is no smaller in motion.

    ``NOT_SURE`` where it is smaller, or where the sense is not told.
    """
    if not sense_is_told(effort, low, high, largest):
        return NOT_SURE
    if high - effort < effort - low:
        return 1 if forth >= high - EQUAL_BOUNDS * abs(high) else NOT_SURE
    return -1 if back <= low + EQUAL_BOUNDS * abs(low) else NOT_SURE
