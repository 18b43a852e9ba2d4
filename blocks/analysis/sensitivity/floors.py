"""When do floors of time jump that conditions read, and how do these instants follow parameters?

A condition as ``mod(time, period) < width`` changes where the floor in it jumps, far from where its
crossing function is zero: its guard is what the floor is taken of, less the whole number there.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from ...language.expression import TIME
from ...numerics.arrays import Flags, Indices
from ...numerics.rewriting import kinds, rewritten
from ...system.points import Points
from .equations import Derivatives, SensitivityEquations

__all__ = ["FloorInstants"]

WHOLE = 1e-6  # that what jumps may be away from a whole number at its event


class FloorInstants:
    """The instants at which floors of time jump that relations read.

    Parameters
    ----------
    equations : derivatives of the system

    Attributes
    ----------
    relations : by floor, who reads it
    """

    def __init__(self, equations: SensitivityEquations) -> None:
        self.equations = equations
        self._of, self.relations = equations.system.once(
            "floors in conditions", lambda: _floors_of_time(equations.system.tape.crossings))

    def guards(self, before: Points, switched: Flags) -> tuple[Derivatives, Flags]:
        """What floors are taken of at events, less whole numbers, and which of them jump.

        Parameters
        ----------
        before : the points before all events
        switched : (events, relations) those that are others after it
        """
        of = self.equations.rows("floors", self._of, before)
        away = of.value - np.round(of.value)
        return (replace(of, value=away),
                switched[:, self.relations] & (np.abs(away) <= WHOLE))


def _floors_of_time(crossings: ca.SX) -> tuple[ca.SX, Indices]:
    """What floors of time in crossing functions are taken of, and whose these are."""
    taken, reader = [ca.SX(0, 1)], list[int]()

    def note(operation: int, operands: list[ca.SX]) -> None:
        if operation == ca.OP_FLOOR and ca.depends_on(operands[0], TIME):
            taken.append(operands[0])

    for row in range(crossings.numel() if _has_floors(crossings) else 0):
        if _has_floors(crossings[row]):
            rewritten(crossings[row], note)
            reader += [row] * (len(taken) - 1 - len(reader))
    return ca.vertcat(*taken), np.array(reader, dtype=int)


def _has_floors(sx: ca.SX) -> bool:
    return ca.OP_FLOOR in kinds(ca.Function("floors", ca.symvar(sx), [sx]))
