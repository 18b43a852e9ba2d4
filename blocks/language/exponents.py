"""What do expressions raise e to?

A power of e rises and falls within a fraction of the time in which its exponent does, so a pulse of
it may lie between all points that a method looks at. Where it is highest can be told from the
exponent alone, which is as smooth as the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ..numerics.rewriting import applied, kinds, replayed

__all__ = ["lifted"]

POWERS = ca.OP_EXP, ca.OP_EXPM1


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
    nodes = function.instructions_sx()
    meant: dict[int, ca.SX] = {}  # exponents, by their hashes
    stands: dict[int, ca.SX] = {}  # the symbol of each
    at: dict[int, ca.SX] = {}  # the symbol that an instruction takes

    def operated(kind: int, operands: list[ca.SX], k: int) -> list[ca.SX]:
        operands = [at[k]] if k in at else operands
        return [nodes[k].which_function()(*operands) if kind == ca.OP_CALL  # a table
                else applied(kind, operands)]

    def noted(kind: int, operands: list[ca.SX], k: int) -> list[ca.SX]:
        found = operated(kind, operands, k)
        if kind in POWERS:
            node = operands[0].__hash__()
            meant[node] = operands[0]
            at[k] = stands.setdefault(node, ca.SX.sym(f"exponent{len(stands) + 1}"))
        return found

    replayed(function, symbols, noted)
    return replayed(function, symbols, operated), list(stands.values()), list(meant.values())
