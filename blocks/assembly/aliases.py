"""Which unknowns are equal, up to their sign?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..language.kernel import Law
from ..numerics.arrays import Indices, distinct, ranks
from .matching import connected

__all__ = ["Alias", "Classes", "Link", "merged"]


class Alias(NamedTuple):
    """Pairs of slots with a == ±b."""

    a: Indices
    b: Indices
    sign: Indices | int


class Link(NamedTuple):
    """An alias with a derivative, stated by a law: x' == v merges, x' == x is a motion."""

    alias: Alias
    family: int
    law: Law


class Classes(NamedTuple):
    """Per slot, its class and sign; classes that are zero; links that are equations after all."""

    class_of: Indices
    sign_of: Indices
    zero: Indices
    equations: list[Link]


def merged(slots: int, of_values: list[Alias], links: list[Link], parents: Indices,
           children: Indices) -> Classes:
    """Signed classes, closed under differentiation and free of derivative cycles."""
    edges = of_values + [e.alias for e in links]
    merging = list(links)
    while True:
        class_of, sign_of, zero = _signed_components(slots, edges)
        new = _derivatives_of_aliases(class_of, sign_of, zero, parents, children)
        if new is not None:
            edges.append(new)
            continue
        cyclic = _cyclic_classes(class_of, parents, children)
        if not len(cyclic):
            aliases = {id(e) for e in merging}
            equations = [e for e in links if id(e) not in aliases]
            return Classes(class_of, sign_of, zero, equations)
        # x' == x (or a ring of such) is an equation of motion, not an alias
        merging = [e for e in merging if not np.isin(class_of[e.alias.a], cyclic).any()
                   and not np.isin(class_of[e.alias.b], cyclic).any()]
        edges = of_values + [e.alias for e in merging]


def _signed_components(slots: int, edges: list[Alias]) -> tuple[Indices, Indices, Indices]:
    """Union of slots under a == ±b; a class that equals its own negative is zero."""
    a = np.concatenate([np.zeros(0, dtype=int), *(e.a for e in edges)])
    b = np.concatenate([np.zeros(0, dtype=int), *(e.b for e in edges)])
    sign = np.concatenate([np.zeros(0, dtype=int), *(
        np.broadcast_to(np.asarray(e.sign), e.a.shape) for e in edges)])
    flip = np.where(sign > 0, 0, slots)
    rows = np.concatenate([a, a + slots])
    columns = np.concatenate([b + flip, np.where(sign > 0, b + slots, b)])
    label = connected(rows, columns, 2 * slots)
    plus, minus = label[:slots], label[slots:]
    class_of, count = ranks(np.minimum(plus, minus))
    first = np.empty(count, dtype=int)
    first[class_of[::-1]] = np.arange(slots)[::-1]  # the class has its first slot's sign
    reference = plus[first][class_of]
    sign_of = np.where(plus == reference, 1, -1)
    zero = distinct(class_of[plus == minus])
    return class_of, sign_of, zero


def _derivatives_of_aliases(class_of: Indices, sign_of: Indices, zero: Indices, parents: Indices,
                            children: Indices) -> Alias | None:
    """New edges where aliases have derivatives that are not yet aliases of the same sign."""
    order = np.argsort(class_of[parents], kind="stable")
    p, c = parents[order], children[order]
    same = np.flatnonzero(class_of[p][1:] == class_of[p][:-1])
    a, b = c[same], c[same + 1]
    sign = sign_of[p[same]] * sign_of[p[same + 1]]
    fresh = class_of[a] != class_of[b]
    fresh |= (sign_of[a] * sign_of[b] != sign) & ~np.isin(class_of[a], zero)  # both signs: zero
    return Alias(a[fresh], b[fresh], sign[fresh]) if fresh.any() else None


def _cyclic_classes(class_of: Indices, parents: Indices, children: Indices) -> Indices:
    """Classes that are their own derivative of some order."""
    count = int(class_of.max()) + 1 if len(class_of) else 0
    step = np.full(count + 1, count)
    step[class_of[parents]] = class_of[children]
    jump = step.copy()
    for _ in range(max(1, int(np.ceil(np.log2(count + 2))))):
        jump = jump[jump]
    inside = np.flatnonzero(jump[:count] != count)
    return distinct(jump[inside]) if len(inside) else inside
