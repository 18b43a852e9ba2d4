"""An expression, written anew operation by operation."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

__all__ = ["rewritten"]


def rewritten(expression: ca.SX, operate: Callable[[int, list[ca.SX]], ca.SX | None]) -> ca.SX:
    """The same scalar expression, but for operations that are replaced.

    Parameters
    ----------
    operate : gives what stands for an operation (a ``casadi.OP_``) on these operands, which are
        written anew already; None where it stays

    Returns
    -------
    the expression itself where it calls another function, whose operations are not seen
    """
    symbols = ca.symvar(expression)
    function = ca.Function("expression", symbols, [expression])
    operations = range(function.n_instructions())
    if any(function.instruction_id(k) == ca.OP_CALL for k in operations):
        return expression
    room = [ca.SX(0)] * function.sz_w()
    result = ca.SX(0)
    for k in operations:
        operation = function.instruction_id(k)
        given, out = function.instruction_input(k), function.instruction_output(k)
        if operation == ca.OP_INPUT:
            room[out[0]] = symbols[given[0]]
        elif operation == ca.OP_CONST:
            room[out[0]] = ca.SX(function.instruction_constant(k))
        elif operation == ca.OP_OUTPUT:
            result = room[given[0]]
        else:
            operands = [room[i] for i in given]
            replaced = operate(operation, operands)
            plain = ca.SX.unary if len(operands) == 1 else ca.SX.binary
            room[out[0]] = plain(operation, *operands) if replaced is None else replaced
    return result
