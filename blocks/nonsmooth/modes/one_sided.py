"""What does a friction that slides come to, written for the way in which it slides?

There ``abs_(flow)`` is the flow itself, or its negative: so the law has no kink where the sliding
begins and ends, its derivative there is that of the motion, and viscous friction is linear.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import casadi as ca

if TYPE_CHECKING:
    from .law_functions import LawExpressions

__all__ = ["one_sided"]

DEPTH = 20  # of expressions that are compared


def one_sided(laws: LawExpressions) -> LawExpressions:
    """The same laws, each in motion for its own way."""
    back, forth = (ca.vertcat(*(_with(law, flow, sense) for law, flow in zip(
        ca.vertsplit(all_laws), ca.vertsplit(laws.flow), strict=True)))
        for all_laws, sense in ((laws.back, -1), (laws.forth, 1)))
    return replace(laws, back=back, forth=forth)


def _with(law: ca.SX, flow: ca.SX, sense: int) -> ca.SX:
    """A law with ``sense * flow`` for every ``|flow|``."""
    symbols = ca.symvar(ca.vertcat(law, flow))
    function = ca.Function("law", symbols, [law])
    room: list[Any] = [None] * function.sz_w()
    result = law
    for k in range(function.n_instructions()):
        operation = function.instruction_id(k)
        given, out = function.instruction_input(k), function.instruction_output(k)
        if operation == ca.OP_INPUT:
            room[out[0]] = symbols[given[0]]
        elif operation == ca.OP_CONST:
            room[out[0]] = ca.SX(function.instruction_constant(k))
        elif operation == ca.OP_OUTPUT:
            result = room[given[0]]
        elif len(given) == 1:
            one = room[given[0]]
            same = operation == ca.OP_FABS and ca.is_equal(one, flow, DEPTH)
            room[out[0]] = sense * flow if same else ca.SX.unary(operation, one)
        elif len(given) == 2 and len(out) == 1:
            room[out[0]] = ca.SX.binary(operation, *(room[i] for i in given))
        else:
            return law  # a call of another function
    return result
