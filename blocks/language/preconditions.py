"""What must values fulfil for a law to hold, wherever they are known before a run?

Numbers are looked at when equations are read, parameters of every instance by ``check()``.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..exceptions import EquationError
from ..numerics.arrays import Array
from ..units import describe
from .expression import Expression, current_trace, reading_place

__all__ = ["Demand", "demand"]

EQUAL = 1e-12  # relative difference of values that are meant to be the same


@dataclass(frozen=True, eq=False)
class Demand:
    """``lower <= upper``, entry by entry; see :func:`demand`."""

    lower: ca.SX
    upper: ca.SX
    unit: str
    says: str
    advice: str
    strict: bool

    def complaint(self, lower: Array, upper: Array) -> str | None:
        """What is wrong with values, in SI units; None where nothing is."""
        wrong = ~(lower < upper) if self.strict else lower > upper + EQUAL * np.abs(upper)
        for k in np.flatnonzero(wrong)[:1]:
            one, other = (f"{side[k]:.6g} {self.unit}".rstrip() for side in (lower, upper))
            return self.says.format(lower=one, upper=other)
        return None


def demand(lower: Expression, upper: Expression, says: str, advice: str, *, strict: bool = False
           ) -> None:
    """State that ``lower <= upper``, entry by entry; of what changes in a run nothing is known.

    Parameters
    ----------
    says : what is wrong where it does not hold, with ``{lower}`` and ``{upper}`` for the values
    strict : whether they may not be equal
    """
    shown = describe(lower.dimension or upper.dimension)
    made = Demand(lower.sx, upper.sx, "" if shown == "dimensionless" else shown, says, advice,
                  strict)
    if lower.is_number and upper.is_number:
        complaint = made.complaint(*(np.array(ca.DM(sx), dtype=float).ravel()
                                     for sx in (lower.sx, upper.sx)))
        if complaint is not None:
            raise EquationError(reading_place(), complaint, advice)
    elif (trace := current_trace.get()) is not None:
        trace.demand(made)
