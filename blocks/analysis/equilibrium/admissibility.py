"""May a model be at a solution of its equations, and does that keep the bounds of the wishes?

A law may meet its equations where it does not hold, as a resistance does that has become negative.
"""

from __future__ import annotations

import numpy as np

from ...exceptions import InitialisationError
from ...initialisation.targets import TargetFunctions, least_values
from ...simulation.actions import Requirements
from ...units import from_si
from ..linear.point import Point
from ..linear.signals import InputSignal
from .targets import Wishes

__all__ = ["out_of_bounds", "why_inadmissible"]

ROUNDING = 1e-9  # of a value that is as large as its bound
FOUND = "in the solution that was found"
IMPOSSIBLE = ("Give initial targets near another solution. There may be none, as where what is "
              "heated gives off less than it takes up.")


def why_inadmissible(point: Point, wishes: Wishes) -> InitialisationError | None:
    """What forbids to be there; None where nothing does."""
    broken = Requirements.of(point.system).broken(point.arguments)
    if broken is not None:
        path, message = broken
        return InitialisationError(path, f"{FOUND}, {message}", IMPOSSIBLE,
                                   code="analysis.impossible")
    return _below_least(point) or out_of_bounds(point, wishes)


def _below_least(point: Point) -> InitialisationError | None:
    """The error of a variable below what it can be, such as a temperature below 0 K."""
    system = point.system
    slots, least = least_values(system)
    value = TargetFunctions.of(system, slots).value(*point.arguments)
    below = np.flatnonzero(value < least - ROUNDING * np.abs(least))
    if not len(below):
        return None
    k = int(below[0])
    slot = system.flat.at_slot(int(slots[k]))
    return InitialisationError(
        slot.name, f"would be {from_si(float(value[k]), slot.local.unit):.6g~P} {FOUND}, but is "
        f"never below {from_si(float(least[k]), slot.local.unit):.6g~P}.", IMPOSSIBLE,
        code="analysis.impossible")  # fmt: skip


def out_of_bounds(point: Point, wishes: Wishes) -> InitialisationError | None:
    """The error of the first bound of the wishes that is not kept."""
    for bound in wishes.bounds:
        one = bound.signal
        value = one.sign * float(point.p[one.place]) if isinstance(one, InputSignal) else float(
            point.system.function("value", one.expression)(*point.arguments)[0])
        size = ROUNDING * abs(value)
        if bound.low - size <= value <= bound.high + size:
            continue
        limit, word = (bound.low, "at least") if value < bound.low else (bound.high, "at most")
        return InitialisationError(
            one.path, f"is {from_si(value, one.unit):.6g~P} {FOUND}, but shall be {word} "
            f"{from_si(limit, one.unit):.6g~P}.",
            "Give up one of the wishes, widen the bounds, or give initial targets near another "
            "solution.", code="analysis.bounds", needed=from_si(value, one.unit),
            limit=from_si(limit, one.unit),
        )  # fmt: skip
    return None
