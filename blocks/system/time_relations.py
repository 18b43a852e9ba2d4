"""Which relations depend on time and parameters alone?"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

from ..language.expression import TIME
from ..numerics.arrays import Flags
from ..numerics.rewriting import kinds, symbols_in
from .system import System

__all__ = ["RelationsOfTime", "relations_of_time"]

#: What a derivative does not show.
JUMPS = {ca.OP_FLOOR, ca.OP_CEIL, ca.OP_FMOD, ca.OP_REMAINDER, ca.OP_SIGN, ca.OP_LT, ca.OP_LE,
         ca.OP_EQ, ca.OP_NE}  # fmt: skip


class RelationsOfTime(NamedTuple):
    """Flags of all relations of a system.

    Attributes
    ----------
    timed : depends on time and parameters alone
    straight : of these, linear in time
    """

    timed: Flags
    straight: Flags


def relations_of_time(system: System) -> RelationsOfTime:
    """Which relations of a system are known beforehand, found once."""
    def found() -> RelationsOfTime:
        timed, straight = np.zeros((2, system.nm), dtype=bool)
        now = TIME.__hash__()
        for f, r, offset in system.tape.relation_layout:
            family = system.network.families[f]
            crossing, _ = family.kernel.relations[r]
            mine = slice(offset, offset + family.size)
            if symbols_in(crossing) <= family.kernel.parameter_hashes | {now}:
                slope = ca.jacobian(crossing, TIME)
                timed[mine] = True
                jumps = kinds(ca.Function("crossing", ca.symvar(crossing), [crossing])) & JUMPS
                straight[mine] = now not in symbols_in(slope) and not jumps
        return RelationsOfTime(timed, straight)

    return system.once("relations of time", found)
