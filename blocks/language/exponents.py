"""What do expressions raise e to?

A power of e rises and falls within a fraction of the time in which its exponent does, so a pulse of
it may lie between all points that a method looks at. Where it is highest can be told from the
exponent alone, which is as smooth as the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

__all__ = ["exponents_in"]

POWERS = ca.OP_EXP, ca.OP_EXPM1


def exponents_in(expressions: Sequence[ca.SX]) -> list[ca.SX]:
    """Every exponent in some expressions, once."""
    symbols = ca.symvar(ca.veccat(ca.SX(), *expressions))
    function = ca.Function("expressions", symbols, list(expressions))
    count = range(function.n_instructions())
    if not any(function.instruction_id(k) in POWERS for k in count):
        return []
    values: dict[int, ca.SX] = {}
    found: dict[int, ca.SX] = {}  # by the node of the expression
    for k in count:
        op, given, out = (function.instruction_id(k), function.instruction_input(k),
                          function.instruction_output(k))
        if op == ca.OP_OUTPUT:
            continue
        if op == ca.OP_INPUT:
            value = symbols[given[0]]
        elif op == ca.OP_CONST:
            value = ca.SX(function.instruction_constant(k))
        elif len(given) == 1:
            value = ca.SX.unary(op, values[given[0]])
        else:
            value = ca.SX.binary(op, *(values[i] for i in given))
        if op in POWERS:
            found[values[given[0]].__hash__()] = values[given[0]]
        values[out[0]] = value
    return list(found.values())
