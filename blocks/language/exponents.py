"""What do expressions raise e to?

A power of e rises and falls within a fraction of the time in which its exponent does, so a pulse of
it may lie between all points that a method looks at. Where it is highest can be told from the
exponent alone, which is as smooth as the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ..numerics.rewriting import applied, instructions, kinds

__all__ = ["exponents_in", "lifted"]

POWERS = ca.OP_EXP, ca.OP_EXPM1


def exponents_in(expressions: Sequence[ca.SX]) -> list[ca.SX]:
    """Every exponent in some expressions, once."""
    return lifted(expressions)[2]


def lifted(expressions: Sequence[ca.SX]) -> tuple[list[ca.SX], list[ca.SX], list[ca.SX]]:
    """Put a symbol in place of every exponent in some expressions.

    Returns
    -------
    list of ca.SX
        The expressions with these symbols.
    list of ca.SX
        The symbols.
    list of ca.SX
        What each stands for: every exponent, once.
    """
    symbols = ca.symvar(ca.veccat(ca.SX(), *expressions))
    function = ca.Function("expressions", symbols, list(expressions))
    if kinds(function).isdisjoint(POWERS):
        return list(expressions), [], []
    values: dict[int, ca.SX] = {}  # as they are
    others: dict[int, ca.SX] = {}  # with symbols for exponents
    stands: dict[int, ca.SX] = {}  # by the node of the exponent
    meant: dict[int, ca.SX] = {}
    entries = [[ca.SX(0)] * function.nnz_out(i) for i in range(len(expressions))]
    nodes = function.instructions_sx()
    for op, given, out, k in instructions(function):
        if op == ca.OP_OUTPUT:
            entries[out[0]][out[1]] = others[given[0]]
            continue
        if op == ca.OP_INPUT:
            values[out[0]] = others[out[0]] = symbols[given[0]]
            continue
        if op == ca.OP_CONST:
            values[out[0]] = others[out[0]] = ca.SX(function.instruction_constant(k))
            continue
        mine, lift = [values[i] for i in given], [others[i] for i in given]
        if op in POWERS:
            node = mine[0].__hash__()
            meant[node] = mine[0]
            lift = [stands.setdefault(node, ca.SX.sym(f"exponent{len(stands) + 1}"))]
        if op == ca.OP_CALL:  # a table
            table = nodes[k].which_function()
            values[out[0]], others[out[0]] = table(*mine), table(*lift)
        else:
            values[out[0]], others[out[0]] = applied(op, mine), applied(op, lift)
    return [ca.SX(function.sparsity_out(i), ca.vertcat(ca.SX(0, 1), *e))
            for i, e in enumerate(entries)], list(stands.values()), list(meant.values())
