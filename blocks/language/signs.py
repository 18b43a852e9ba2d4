"""Where a choice stands for the sign of what it is chosen by.

``where(d > 0, 1, -1) * sqrt(abs_(d))`` is ``sign(d) * sqrt(abs_(d))``: both are 0 at zero. But a
sign that is never 0 drives what is equal but for rounding apart again, as steeply as a root begins.
The choice may be a variable of its own, and its alternatives may be as large as they like.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import casadi as ca

from ..numerics.rewriting import alternatives, kinds, rewritten
from .expression import unguarded
from .kernel import Kernel, Law

__all__ = ["with_zeros"]

ROOTS = {ca.OP_SQRT, ca.OP_POW, ca.OP_CONSTPOW}
#: Operations that give 0 where the first of what they are given is 0.
LIKEWISE = ROOTS | {ca.OP_FABS, ca.OP_NEG, ca.OP_SQ, ca.OP_TWICE, ca.OP_DIV}
EQUAL = 5  # operations down to which two expressions are compared


def with_zeros(kernel: Kernel, laws: list[Law], relation: Callable[[ca.SX, bool], ca.SX]
               ) -> list[Law]:
    """The same laws, with 0 at zero for every ``where(d > 0, a, b)`` beside a root of d.

    Parameters
    ----------
    relation : gives the symbol of a relation by its crossing function
    """
    crossings = {symbol.__hash__(): crossing for symbol, (crossing, _) in zip(
        kernel.relation_symbols, kernel.relations, strict=True)}
    rooted = [law for law in laws if crossings and _has_roots(law.residual)]
    chosen = [(v, choice) for law in laws if law not in rooted and law.residual.op() == ca.OP_SUB
              for v, choice in permutations([law.residual.dep(0), law.residual.dep(1)])
              if v.is_symbolic() and alternatives(choice)]
    return [Law(kernel, _with_zeros(crossings, law.residual, chosen, relation), law.wording)
            if law in rooted else law for law in laws]


def _with_zeros(crossings: dict[int, ca.SX], residual: ca.SX, chosen: list[tuple[ca.SX, ca.SX]],
                relation: Callable[[ca.SX, bool], ca.SX]) -> ca.SX:
    """A residual with zeros, in which the choice stands for a variable that is one."""
    choices: list[tuple[ca.SX, ...]] = []

    def marked(kind: int, operands: list[ca.SX]) -> ca.SX | None:
        choice = alternatives(ca.SX.binary(kind, *operands)) if kind == ca.OP_ADD else None
        if choice is None or choice[0].__hash__() not in crossings:
            return None
        choices.append((ca.SX.sym("choice"), *choice))
        return choices[-1][0]

    law, found = residual, False
    for variable, choice in chosen:
        law = ca.substitute(law, variable, choice)
    law = rewritten(law, marked)
    for symbol, condition, then, otherwise in reversed(choices):
        d, beside = crossings[condition.__hash__()], ca.jacobian(law, symbol)
        cases = [unguarded(one) * beside for one in (then, otherwise)]
        if all(_vanishes(case, d) for case in cases) and any(map(_has_roots, cases)):
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
