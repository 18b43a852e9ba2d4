"""Which choices by a sign are no events?

From where a flow carries something is asked at every evaluation: which of two enthalpies
``H == m * where(m > 0, a.h, b.h)`` takes decides nothing where the flow is zero, and the law is
continuous. Held from one event to the next, the condition would be that of a flow that has turned
round meanwhile, one a little before the other, or of rounding where there is none; then a node may
be said to receive from nowhere, and nothing determines what it holds.

A choice may stand for the sign of what it is chosen by: ``where(d > 0, 1, -1) * sqrt(abs_(d))`` is
``sign(d) * sqrt(abs_(d))``, and both are 0 at zero. But a sign that is never 0 drives what is equal
but for rounding apart again, as steeply as a root begins. The choice may be a variable of its own,
and its alternatives may be as large as they like. Where they are flat at zero, as those of
``where(q > 0, q**2, -q**2)``, nothing is to be located: held, one of them would have no solution
beyond.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import casadi as ca

from ..numerics.rewriting import alternatives, kinds, rewritten, symbols_in
from .expression import unguarded
from .kernel import Kernel, Law

__all__ = ["ROOTS", "follow_flows", "with_zeros"]

ROOTS = {ca.OP_SQRT, ca.OP_POW, ca.OP_CONSTPOW}
POWERS = ROOTS | {ca.OP_SQ}
#: Operations that give 0 where the first of what they are given is 0.
LIKEWISE = ROOTS | {ca.OP_FABS, ca.OP_NEG, ca.OP_SQ, ca.OP_TWICE, ca.OP_DIV}
EQUAL = 5  # operations down to which two expressions are compared


def follow_flows(kernel: Kernel, laws: list[Law]) -> list[Law]:
    """Laws of a class, those of what a flow carries with its direction as it is at every point.

    Relations that nothing else looks at are taken from the kernel.
    """
    if all(domain.power is None for domain, _ in kernel.ports.values()):
        return laws  # all across variables are conjugate to a flow
    for (crossing, at_zero), symbol in zip(kernel.relations, kernel.relation_symbols, strict=True):
        flow = _flow_of(kernel, laws, crossing)
        if flow is not None:
            now = crossing >= 0 if at_zero else crossing > 0
            carrying = _carrying(kernel, laws, symbol, flow)
            laws = [Law(kernel, ca.substitute(law.residual, symbol, now), law.wording, law.order)
                    if law in carrying else law for law in laws]
    _drop_unused(kernel, laws)
    return laws


def _flow_of(kernel: Kernel, laws: list[Law], crossing: ca.SX) -> ca.SX | None:
    """The flow whose direction a crossing function tells, and all that is equal to it or its
    opposite; None where it tells something else."""
    inside = [key for s in ca.symvar(crossing) if (key := kernel.key_of(s)) is not None]
    units = {v.unit.dimension for v in kernel.variables if v.kind == "through"}
    if len(inside) != 1 or inside[0][1] or (
            kernel.variables[inside[0][0]].unit.dimension not in units):
        return None
    pairs = [set(law.alias[:2]) for law in laws if law.alias is not None]
    same = set(inside)
    while wider := {key for pair in pairs if pair & same for key in pair} - same:
        same |= wider
    flow = ca.vertcat(*(kernel.symbols[key] for key in sorted(same)))
    return flow if _at_rest(crossing, flow).is_zero() else None


def _at_rest(expression: ca.SX, flow: ca.SX) -> ca.SX:
    return ca.substitute(expression, flow, ca.SX.zeros(flow.shape))


def _carrying(kernel: Kernel, laws: list[Law], symbol: ca.SX, flow: ca.SX) -> list[Law]:
    """Laws in which a relation chooses what the flow carries: nothing depends on it at rest."""
    moving = {s.__hash__() for s in ca.vertsplit(flow)}
    out = []
    for law in laws:
        chosen = any(ca.depends_on(partial, symbol) for s, partial in zip(
            law.symbols, law.partials, strict=True) if s.__hash__() not in moving)
        if chosen and (not ca.depends_on(_at_rest(law.residual, flow), symbol)
                       or _gives_what_is_carried(kernel, laws, law, flow)):
            out.append(law)
    return out


def _gives_what_is_carried(kernel: Kernel, laws: list[Law], law: Law, flow: ca.SX) -> bool:
    """Whether a law says no more than what a variable of the class is that the flow carries."""
    others = ca.vertcat(ca.SX(), *kernel.beside_equations(), *kernel.defaults.values(), *(
        _at_rest(other.residual, flow) for other in laws if other is not law))
    used = symbols_in(others)
    return any(kernel.variables[i].kind == "variable" and (i, 1) not in kernel.symbols
               and slope == "constant" and s.__hash__() not in used
               for (i, _), s, slope in zip(law.arguments, law.symbols, law.slopes, strict=True))


def _beside_laws(kernel: Kernel) -> ca.SX:
    """All that a class says beside its laws."""
    return ca.vertcat(ca.SX(), *kernel.beside_equations(), *kernel.observed.values(),
                      *kernel.defaults.values(), *(c for c, _ in kernel.requirements))


def _drop_unused(kernel: Kernel, laws: list[Law]) -> None:
    """Take relations from a kernel that nothing in the class looks at any more."""
    used = symbols_in(ca.vertcat(_beside_laws(kernel), *(law.residual for law in laws)))
    kept = [(relation, symbol) for relation, symbol in zip(
        kernel.relations, kernel.relation_symbols, strict=True) if symbol.__hash__() in used]
    kernel.relations = [relation for relation, _ in kept]
    kernel.relation_symbols = [symbol for _, symbol in kept]


# -- signs -------------------------------------------------------------------------------------
def with_zeros(kernel: Kernel, laws: list[Law], relation: Callable[[ca.SX, bool], ca.SX]
               ) -> list[Law]:
    """Return laws with 0 at zero for every ``where(d > 0, a, b)`` beside a root of d, and without
    an event for those that are flat there.

    ``relation`` gives the symbol of a relation by its crossing function.
    """
    crossings = {symbol.__hash__(): crossing for symbol, (crossing, _) in zip(
        kernel.relation_symbols, kernel.relations, strict=True)}
    rooted = [law for law in laws if crossings and _has(POWERS, law.residual)]
    chosen = [(v, choice) for law in laws if law not in rooted and law.residual.op() == ca.OP_SUB
              for v, choice in permutations([law.residual.dep(0), law.residual.dep(1)])
              if v.is_symbolic() and alternatives(choice)]
    signs, held = set[int](), symbols_in(ca.vertcat(_beside_laws(kernel), *(
        law.residual for law in laws if law not in rooted)))
    laws = [Law(kernel, _with_zeros(crossings, law.residual, chosen, relation, signs, held),
                law.wording) if law in rooted else law for law in laws]
    if rooted:
        _drop_unused(kernel, laws)
        kernel.root_signs = signs - held
        laws = _with_free_signs(kernel, laws)
    return laws


def _with_free_signs(kernel: Kernel, laws: list[Law]) -> list[Law]:
    """Laws with the sign of what is rooted as it is at every point, while both signs are said to
    hold; then neither crosses. None of time alone: those are known beforehand."""
    held, now = ca.SX(0, 1), ca.SX(0, 1)
    for (r, d), (s, other) in permutations(enumerate(d for d, _ in kernel.relations), 2):
        sign, opposite = kernel.relation_symbols[r], kernel.relation_symbols[s]
        if {sign.__hash__(), opposite.__hash__()} <= kernel.root_signs and ca.is_equal(
                other, -d, EQUAL) and any(map(kernel.key_of, ca.symvar(d))):
            both = ca.logic_and(sign, opposite)
            kernel.free_signs[sign.__hash__()] = d
            kernel.relations[r] = ca.if_else(both, 1, d), False
            held, now = ca.vertcat(held, sign), ca.vertcat(now, ca.if_else(both, d > 0, sign))
    return [Law(kernel, ca.substitute(law.residual, held, now), law.wording, law.order)
            if ca.depends_on(law.residual, held) else law for law in laws]


def _with_zeros(crossings: dict[int, ca.SX], residual: ca.SX, chosen: list[tuple[ca.SX, ca.SX]],
                relation: Callable[[ca.SX, bool], ca.SX], signs: set[int], held: set[int]) -> ca.SX:
    """A residual with zeros, in which the choice stands for a variable that is one.

    Its relations become ``signs`` where the law is 0 as they turn over, else they are ``held``.
    """
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
    held |= symbols_in(law) & crossings.keys()  # hashes of what is gone may come again
    for symbol, condition, then, otherwise in reversed(choices):
        d, beside = crossings[condition.__hash__()], ca.jacobian(law, symbol)
        cases = [unguarded(one) * beside for one in (then, otherwise)]
        rests = any(_has(ROOTS, one) for one in cases)
        turn = {k for k in symbols_in(ca.vertcat(condition, then, otherwise)) & crossings.keys()
                if any(ca.is_equal(crossings[k], way, EQUAL) for way in (d, -d))}
        (signs if rests and all(_vanishes(one, d, True) for one in cases) else held).update(turn)
        if rests and all(_vanishes(one, d) for one in cases):
            condition, found = relation(d, False), True
            otherwise = ca.if_else(relation(-d, False), otherwise, 0)
            signs |= {condition.__hash__(), relation(-d, False).__hash__()}
        elif len(ca.symvar(d)) == 1 and all(_vanishes(one, d) for case in cases
                                            for one in (case, ca.jacobian(case, ca.symvar(d)[0]))):
            condition, found = d > 0, True
        law = ca.substitute(law, symbol, ca.if_else(condition, then, otherwise))
    return law if found else residual


def _has(operations: set[int], sx: ca.SX) -> bool:
    return not kinds(ca.Function("expression", ca.symvar(sx), [sx])).isdisjoint(operations)


def _vanishes(sx: ca.SX, d: ca.SX, always: bool = False) -> bool:
    """Whether an expression is 0 where ``d`` is, as can be seen; also where it is ``always`` 0."""
    of = [sx.dep(k) for k in range(sx.n_dep())]
    if ca.is_equal(sx, d, EQUAL) or ca.is_equal(sx, -d, EQUAL):
        return True
    if choice := alternatives(sx):
        return all(_vanishes(one, d, always) for one in choice[1:])
    if sx.op() == ca.OP_MUL:
        return any(_vanishes(one, d, always) for one in of)
    return sx.op() in LIKEWISE and _vanishes(of[0], d, always) or always and sx.is_zero()
