"""Nodes, ports and what classes do to them, as arrays with names.

Knows no domain by name and no values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..assembly.matching import joined
from ..assembly.network import Family, Network
from ..language.domain import Domain
from ..numerics.arrays import Flags, Indices
from ..units import Unit
from .traits import Traits, traits_of

__all__ = ["PortRow", "Topology", "sources"]


@dataclass(frozen=True, eq=False)
class PortRow:
    """All instances of one conserving port."""

    family: int  # its number
    of: Family
    traits: Traits
    name: str
    domain: Domain
    nodes: Indices

    def path(self, instance: int | np.integer) -> str:
        """Path of the component that an instance of the port belongs to."""
        return self.of.path(int(instance))

    def at(self, nodes: Flags) -> list[tuple[str, str]]:
        """Paths of components at some nodes, with the port; of many the first."""
        return [(self.path(i), self.name) for i in np.flatnonzero(nodes[self.nodes])[:20]]

    @property
    def states(self) -> bool:
        """Whether its component states the domain's parameters there."""
        return any(v.port == self.name and getattr(v.declared, "sets", False)
                   for v in self.of.kernel.variables)

    @property
    def prescribed(self) -> bool | None:
        """Whether its through variable is given (True), always zero-like (False) or free."""
        states = [self.traits.prescribes.get((self.name, t)) for t in self.domain.through]
        return None if None in states or not states else any(states)


class Topology:
    """Nodes, ports and class traits of a network, with names."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.traits: list[Traits] = [traits_of(f.kernel) for f in network.families]
        self.rows = [PortRow(f, network.families[f], self.traits[f], name, domain,
                             network.nodes_at(f, name)) for f, name, domain in network.leaf_ports()]
        self.count = network.nodes

    @cached_property
    def domains(self) -> list[Domain]:
        return list(dict.fromkeys(r.domain for r in self.rows))

    @cached_property
    def degree(self) -> Indices:
        """Conserving ports at every node."""
        every = [r.nodes for r in self.rows] or [np.zeros(0, dtype=int)]
        return np.bincount(np.concatenate(every), minlength=self.count)

    def of(self, domain: Domain) -> list[PortRow]:
        return [r for r in self.rows if r.domain == domain]

    def path(self, family: int, instance: int | np.integer) -> str:
        return self.network.families[family].path(int(instance))

    def open_ports(self, parts: list[str]) -> list[str]:
        """Ports of these components that are connected to nothing."""
        wanted = set(parts)
        return [f"{path}.{r.name}" for r in self.rows
                for i in np.flatnonzero(self.degree[r.nodes] == 1)
                if (path := r.path(i)) in wanted]

    def joined(self, domain: Domain) -> Indices:
        """Per node a label of the part that components of the domain hold together; those that
        prescribe their through variable do not count."""
        return joined(((a.nodes, b.nodes) for a, b in pairwise(self.of(domain))
                       if a.family == b.family and a.prescribed is None), self.count)

    def circuits(self, domain: Domain) -> Indices:
        """Per node a label of the circuit that it belongs to; a transformer stands between two."""
        return joined(((a.nodes, b.nodes) for rows in self.groups(domain)
                       for a, b in pairwise(rows)), self.count)

    def groups(self, domain: Domain) -> Iterator[list[PortRow]]:
        """The ports of every class that it joins to one circuit of the domain."""
        rows = {(r.family, r.name): r for r in self.of(domain)}
        for f, traits in enumerate(self.traits):
            for names in traits.circuits:
                group = [rows[f, name] for name in names if (f, name) in rows]
                if group:
                    yield group


def sources(topology: Topology) -> Iterator[tuple[str, str, Unit]]:
    """(path, "across" or "through", unit) of everything that prescribes a given value."""
    for f, traits in enumerate(topology.traits):
        family = topology.network.families[f]
        given = [("across", tie.ports[0], tie.variable) for tie in traits.ties if tie.given]
        given += [("through", *of) for of, known in traits.prescribes.items() if known]
        for kind, port, name in given:
            unit = getattr(family.kernel.ports[port][0], kind)[name]
            yield from ((family.path(i), kind, unit) for i in range(family.size))
