"""From where does a flow carry something? That is asked at every evaluation, without events.

Which of two enthalpies ``H == m * where(m > 0, a.h, b.h)`` takes decides nothing where the flow is
zero: the law is continuous. Held from one event to the next, the condition would be that of a flow
that has turned round meanwhile, one a little before the other, or of rounding where there is none;
then a node may be said to receive from nowhere, and nothing determines what it holds.
"""

from __future__ import annotations

import casadi as ca

from .kernel import Kernel, Law

__all__ = ["follow_flows"]


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
    used = {s.__hash__() for s in ca.symvar(others)}
    return any(kernel.variables[i].kind == "variable" and (i, 1) not in kernel.symbols
               and slope == "constant" and s.__hash__() not in used
               for (i, _), s, slope in zip(law.arguments, law.symbols, law.slopes, strict=True))


def _drop_unused(kernel: Kernel, laws: list[Law]) -> None:
    """Take relations from a kernel that nothing in the class looks at any more."""
    looking = ca.vertcat(ca.SX(), *(law.residual for law in laws), *kernel.beside_equations(),
                         *kernel.defaults.values(), *(c for c, _ in kernel.requirements))
    used = {s.__hash__() for s in ca.symvar(looking)}
    kept = [(relation, symbol) for relation, symbol in zip(
        kernel.relations, kernel.relation_symbols, strict=True) if symbol.__hash__() in used]
    kernel.relations = [relation for relation, _ in kept]
    kernel.relation_symbols = [symbol for _, symbol in kept]
