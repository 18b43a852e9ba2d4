"""Which side of ``maximum``, ``minimum`` and ``abs_`` counts, and where do two of them meet?

At a tie their derivative is none, and the average of both sides belongs to no motion. So the side
is held by a symbol of its own, as relations of ``where`` are.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...numerics.arrays import Array, Flags
from ...numerics.rewriting import applied, instructions, kinds

__all__ = ["Kinks", "without_kinks"]

TIE = 1e-10  # of what a difference is made of
KINKED = {ca.OP_FMAX, ca.OP_FMIN, ca.OP_FABS}


@dataclass(frozen=True, eq=False)
class Kinks:
    """Expressions whose sides are held.

    Attributes
    ----------
    expression : the same as before, while every side holds as assumed
    sides : symbols, 1 on the first side of each kink
    gaps : what is positive on the first side
    """

    expression: ca.SX
    sides: ca.SX
    gaps: ca.SX

    @property
    def count(self) -> int:
        return int(self.sides.numel())

    @staticmethod
    def tied(gap: Array, slope: Array, at: Array) -> Flags:
        """Kinks on which a point stands: gaps that are zero but for rounding."""
        return np.asarray(np.abs(gap) <= TIE * (np.abs(slope) @ np.abs(at)))


def without_kinks(expression: ca.SX, arguments: list[ca.SX]) -> Kinks:
    """Expressions with the sides of their kinks held."""
    function = ca.Function("kinked", arguments, [expression])
    codes = kinds(function)
    if not KINKED & codes or ca.OP_CALL in codes:
        return Kinks(expression, ca.SX(0, 1), ca.SX(0, 1))
    plain: dict[int, ca.SX] = {}
    held: dict[int, ca.SX] = {}
    inputs = [ca.vertsplit(ca.vec(ca.densify(a))) if a.numel() else [] for a in arguments]
    out = [ca.SX(0)] * expression.nnz()
    sides: list[ca.SX] = []
    gaps: list[ca.SX] = []
    for code, source, target, k in instructions(function):
        if code == ca.OP_OUTPUT:
            out[target[1]] = held[source[0]]
        elif code == ca.OP_INPUT:
            plain[target[0]] = held[target[0]] = inputs[source[0]][source[1]]
        elif code == ca.OP_CONST:
            plain[target[0]] = held[target[0]] = ca.SX(function.instruction_constant(k))
        elif code in KINKED:
            first, second = held[source[0]], held[source[-1]]
            gap = plain[source[0]] if code == ca.OP_FABS else plain[source[0]] - plain[source[1]]
            side = ca.SX.sym("side")
            if code == ca.OP_FABS:
                second = -second
            elif code == ca.OP_FMIN:
                gap = -gap
            sides.append(side)
            gaps.append(gap)
            whole = applied(code, [plain[s] for s in source])
            held[target[0]], plain[target[0]] = ca.if_else(side, first, second), whole
        else:
            values = [plain[s] for s in source], [held[s] for s in source]
            plain[target[0]], held[target[0]] = (applied(code, v) for v in values)
    rebuilt = ca.SX(expression.sparsity(), ca.vertcat(*out))
    return Kinks(rebuilt, ca.vertcat(*sides), ca.vertcat(*gaps))
