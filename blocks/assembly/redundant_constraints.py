"""Which elements tie the same two nodes once more, and what do they share?

Two hinges between the same two bodies both state that places are equal: the second
statement is 0 == 0 once nodes are merged, and nothing says how the hinges share the force.
They take the same part each, of all answers the one with the smallest sum of squares.
Only the same equality of two across variables counts, whose through variable is passed
on as it is; what repeats itself by its values stays as it is stated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..language.domain import Domain
from ..language.kernel import Kernel
from ..numerics.arrays import Indices
from .network import Network

__all__ = ["End", "RedundantConstraint", "conjugate_through", "redundant_constraints"]


class End(NamedTuple):
    """A port of an instance of a family."""

    family: int
    instance: int
    port: str


class RedundantConstraint(NamedTuple):
    """An equality of two nodes that an earlier element states already.

    ``first`` and ``again`` are ports at one of the nodes; ``through`` is what they share.
    """

    domain: Domain
    through: str
    first: End
    again: End


def conjugate_through(domain: Domain, across: str) -> str:
    """The through variable that does power with an across variable or its rate: the n-th.

    Empty for other variables, and where a domain has not as many of either.
    """
    flows = [name for name in domain.across if name not in domain.rates]
    if len(flows) != len(domain.through):
        return ""
    return dict(zip(flows, domain.through, strict=True)).get(domain.rates.get(across, across), "")


def redundant_constraints(network: Network) -> list[RedundantConstraint]:
    """All equalities of two nodes that another element states before."""
    tables: dict[tuple[Domain, str], list[Indices]] = {}
    for f, family in enumerate(network.families):
        for domain, through, a, b in dict.fromkeys(_ties(family.kernel)):
            tables.setdefault((domain, through), []).append(_rows(network, f, a, b))
    found = []
    for (domain, through), parts in tables.items():
        rows = np.concatenate(parts)
        _, first, where = np.unique(rows[:, 0] * (rows.max(initial=0) + 1) + rows[:, 1],
                                    return_index=True, return_inverse=True)  # fmt: skip
        for again in np.flatnonzero(first[where] != np.arange(len(rows))):
            ends = (End(f, i, list(network.families[f].kernel.ports)[port])
                    for f, i, port in rows[[first[where[again]], again], 2:].tolist())
            found.append(RedundantConstraint(domain, through, *ends))
    return found


def _rows(network: Network, family: int, *ports: str) -> Indices:
    """Per instance its two nodes, lower first, family, instance, and the port at the lower."""
    nodes = np.array([network.balance_of[network.port_numbers(family, p)] for p in ports]).T
    n = np.flatnonzero(nodes[:, 0] != nodes[:, 1])
    every = list(network.families[family].kernel.ports)
    places = np.array([every.index(p) for p in ports])
    return np.column_stack([np.sort(nodes[n], axis=1), np.full(len(n), family), n,
                            places[np.argmin(nodes[n], axis=1)]])  # fmt: skip


def _ties(kernel: Kernel) -> Iterator[tuple[Domain, str, str, str]]:
    """Domain, through variable and two ports that a class states as equal across."""
    places = {i: (name, variable) for name, (_, table) in kernel.ports.items()
              for variable, i in table.items()}  # fmt: skip
    stated = [law.alias for law in kernel.laws if law.alias is not None]
    passed = {frozenset((a, b)) for a, b, sign in stated if sign < 0}
    for a, b, sign in stated:
        if sign < 0 or {a[0], b[0]} - set(places) or a[1] or b[1]:
            continue
        (p, first), (q, second) = places[a[0]], places[b[0]]
        domain, table = kernel.ports[p]
        if kernel.ports[q][0] is not domain or first != second or p == q:
            continue
        through = conjugate_through(domain, first)
        if through and frozenset(((table[through], 0), (kernel.ports[q][1][through], 0))) in passed:
            yield domain, through, p, q
