"""An expression, read and written anew operation by operation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import casadi as ca
import numpy as np

from .arrays import Flags

__all__ = ["applied", "contained", "instructions", "kinds", "rewritten", "symbols_in"]


def symbols_in(expression: ca.SX) -> set[int]:
    """What an expression is made of, as hashes."""
    return {s.__hash__() for s in ca.symvar(expression)}


def contained(symbols: ca.SX, expression: ca.SX) -> Flags:
    """Which of some symbols stand in an expression."""
    inside = symbols_in(expression)
    return np.array([s.__hash__() in inside for s in ca.vertsplit(symbols)], dtype=bool)


def instructions(function: ca.Function) -> Iterator[tuple[int, list[int], list[int], int]]:
    """What a function of expressions does in turn.

    Yields
    ------
    kind : a ``casadi.OP_``
    given : work entries that are taken; of an input, which one and its entry
    out : work entries that are filled, negative for what nobody asks; of an output, which one and
        its entry
    number : of the instruction
    """
    for k in range(function.n_instructions()):
        yield (function.instruction_id(k), function.instruction_input(k),
               function.instruction_output(k), k)


def kinds(function: ca.Function) -> set[int]:
    """All kinds of operations that a function has."""
    return {function.instruction_id(k) for k in range(function.n_instructions())}


def applied(kind: int, operands: Sequence[ca.SX]) -> ca.SX:
    """An operation on one operand or two."""
    return (ca.SX.unary if len(operands) == 1 else ca.SX.binary)(kind, *operands)


def rewritten(expression: ca.SX, operate: Callable[[int, list[ca.SX]], ca.SX | None]) -> ca.SX:
    """Return a scalar expression with some of its operations replaced.

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
    if ca.OP_CALL in kinds(function):
        return expression
    room = [ca.SX(0)] * function.sz_w()
    result = ca.SX(0)
    for operation, given, out, k in instructions(function):
        if operation == ca.OP_INPUT:
            room[out[0]] = symbols[given[0]]
        elif operation == ca.OP_CONST:
            room[out[0]] = ca.SX(function.instruction_constant(k))
        elif operation == ca.OP_OUTPUT:
            result = room[given[0]]
        else:
            operands = [room[i] for i in given]
            replaced = operate(operation, operands)
            room[out[0]] = applied(operation, operands) if replaced is None else replaced
    return result
