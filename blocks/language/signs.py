"""Where a choice stands for the sign of what it is chosen by.

``where(d > 0, 1, -1) * sqrt(abs_(d))`` is ``sign(d) * sqrt(abs_(d))``: both are 0 at zero. But a
sign that is never 0 drives what is equal but for rounding apart again, as steeply as a root begins.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from ..numerics.rewriting import alternatives, kinds, rewritten
from .expression import unguarded
from .kernel import Kernel

__all__ = ["with_zeros"]

ROOTS = {ca.OP_SQRT, ca.OP_POW, ca.OP_CONSTPOW}
#: Operations that give 0 where the first of what they are given is 0.
LIKEWISE = ROOTS | {ca.OP_FABS, ca.OP_NEG, ca.OP_SQ, ca.OP_TWICE, ca.OP_DIV}
EQUAL = 5  # operations down to which two expressions are compared


def with_zeros(kernel: Kernel, residual: ca.SX, relation: Callable[[ca.SX, bool], ca.SX]) -> ca.SX:
    """The same equation, with 0 at zero for every ``where(d > 0, a, -a)`` beside a root of d.

    Parameters
    ----------
    relation : gives the symbol of a relation by its crossing function
    """
    crossings = {symbol.__hash__(): crossing for symbol, (crossing, _) in zip(
        kernel.relation_symbols, kernel.relations, strict=True)}
    if not crossings or not _has_roots(residual):
        return residual
    choices: list[tuple[ca.SX, ...]] = []

    def marked(kind: int, operands: list[ca.SX]) -> ca.SX | None:
        choice = alternatives(ca.SX.binary(kind, *operands)) if kind == ca.OP_ADD else None
        if choice is None or choice[0].__hash__() not in crossings or not ca.is_equal(
                unguarded(choice[1]), -unguarded(choice[2]), EQUAL):
            return None
        choices.append((ca.SX.sym("choice"), *choice))
        return choices[-1][0]

    law, found = rewritten(residual, marked), False
    for symbol, condition, then, otherwise in reversed(choices):
        d = crossings[condition.__hash__()]
        beside = unguarded(then) * ca.jacobian(law, symbol)
        if _vanishes(beside, d) and _has_roots(beside):
            condition, found = relation(d, False), True
            otherwise = ca.if_else(relation(-d, False), otherwise, 0)
        law = ca.substitute(law, symbol, ca.if_else(condition, then, otherwise))
    return law if found else residual


def _has_roots(sx: ca.SX) -> bool:
    return not kinds(ca.Function("expression", ca.symvar(sx), [sx])).isdisjoint(ROOTS)


def _vanishes(sx: ca.SX, d: ca.SX) -> bool:
    """Whether an expression is 0 where ``d`` is, as can be seen."""
    of = [sx.dep(k) for k in range(sx.n_dep())]
    if ca.is_equal(sx, d, EQUAL) or ca.is_equal(sx, -d, EQUAL):
        return True
    if choice := alternatives(sx):
        return all(_vanishes(one, d) for one in choice[1:])
    if sx.op() == ca.OP_MUL:
        return any(_vanishes(one, d) for one in of)
    return sx.op() in LIKEWISE and _vanishes(of[0], d)
