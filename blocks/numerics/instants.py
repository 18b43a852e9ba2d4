"""When are two times one instant?"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from .arrays import Array
from .tolerances import INSTANTS_APART

__all__ = ["MOST_ROUNDS", "same_instant", "same_instants"]

MOST_ROUNDS = 50  # of the fixpoint of what happens at one instant


def same_instant(t: float, least: float) -> float:
    """By how much times about ``t``, in s, may differ and be one instant, at zero ``least``; also
    in machine code.

    That goes by the rounding of the times themselves, however long the run is: a pulse of 1 ns
    stays one in a run of days.
    """
    return INSTANTS_APART * abs(t) + least


#: The same of many times.
same_instants = cast(Callable[[Array, float], Array], same_instant)
