"""Who is joined to whom?

Turns a tree of components into families (instances of one kernel, as index arrays) and nodes (sets
of joined ports), and keeps what everything is called: results are read by these names whatever
becomes of the tree. Knows no equations beyond what a port carries; networkx is used for the picture
people ask for, arrays for the rest.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..language.component import Component
from ..language.declarations import Parameter, Port, Signal
from ..language.domain import Domain
from ..language.kernel import Kernel, SetValuedLaw
from ..language.tracing import Kernels
from ..numerics.arrays import Array, Indices
from .matching import connected, joined

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Family", "Network", "build_network"]


@dataclass
class Family:
    """All instances of one kernel, numbered consecutively."""

    kernel: Kernel
    members: list[Component] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)  # of every member, when it was added
    counts: list[int | None] = field(default_factory=list)  # of its instances; None of a single one
    firsts: list[int] = field(default_factory=list)  # first instance of every member
    size: int = 0

    def add(self, component: Component, path: str) -> int:
        self.members.append(component)
        self.paths.append(path)
        self.counts.append(component._count)
        self.firsts.append(self.size)
        self.size += component.size
        return self.firsts[-1]

    def member(self, instance: int) -> Component:
        """The component an instance belongs to."""
        return self.members[bisect_right(self.firsts, instance) - 1]

    def path(self, instance: int) -> str:
        """Dotted path of an instance."""
        m = bisect_right(self.firsts, instance) - 1
        if self.counts[m] is None:
            return self.paths[m]
        return f"{self.paths[m]}[{instance - self.firsts[m]}]"

    @property
    def signals(self) -> list[str]:
        """Names of its inputs and outputs."""
        return [v.name for v in self.kernel.variables if v.kind in ("input", "output")]

    @property
    def is_reference(self) -> bool:
        """Whether it grounds circuits, as its class says."""
        return any(getattr(type(m), "grounds", False) for m in self.members[:1])

    @cached_property
    def _parameters(self) -> dict[str, tuple[Parameter, int]]:
        """What is declared of parameters, and how many numbers each has."""
        return {p.name: (p.declared, p.size) for p in self.kernel.parameters}

    def default(self, name: str) -> Any:
        """The declared value of a parameter, in SI units."""
        return self._parameters[name][0].default

    def parameter(self, name: str) -> Array:
        """SI values of a parameter, one row per instance (or a vector)."""
        declared, width = self._parameters[name]
        if width == 1 and self.size == len(self.members):  # single instances, the common case
            values = [m._values.get(name, declared.default) for m in self.members]
            return np.array([v if type(v) is float else np.ravel(v)[0] for v in values])[:, None]
        out = np.empty((self.size, width))
        for first, component in zip(self.firsts, self.members, strict=True):
            value = component._values.get(name, declared.default)
            rows = np.asarray(value, dtype=float)
            if np.ndim(declared.default) > 1:  # a matrix is the same for all instances
                rows = rows.ravel()
            if width == 1 and rows.ndim == 1:
                rows = rows[:, None]
            out[first : first + component.size] = rows
        return out


@dataclass
class Network:
    """Families and nodes of a model, by the names that it had when they were made."""

    root: Any  # the model, for its values: its parts may have other names now, or be others
    name: str  # of the model
    families: list[Family]
    place: dict[str, tuple[int, int]]  # family and first instance, by path of a component
    arrays: dict[str, int]  # number of instances, by path of an array, of a composite too
    port_base: dict[tuple[int, str], int]  # first port number, by family and port or signal
    #: Of every port instance; signals have nodes too. What equations see is ``balance_of``.
    node_of: Indices
    ports: int
    own_base: dict[tuple[str, str], int]  # by path of a composite and port
    #: Of what is the same as another's variable: family, variable, instance of both.
    reads: list[tuple[tuple[int, int, int], tuple[int, int, int]]] = field(default_factory=list)

    def first_number(self, path: str, name: str) -> int:
        """The number of the port of a component's first instance, of a composite's too."""
        if path not in self.place:
            return self.own_base[path, name]
        family, instance = self.place[path]
        return self.port_base[family, name] + instance

    def numbers(self, path: str, name: str) -> Indices:
        """Port numbers of all instances."""
        first = self.first_number(path, name)
        return np.arange(first, first + self.arrays.get(path, 1))

    def port_numbers(self, family: int, name: str) -> Indices:
        base = self.port_base[family, name]
        return np.arange(base, base + self.families[family].size)

    def nodes_at(self, family: int, name: str) -> Indices:
        """Per instance of a family, the node of a port or signal."""
        return self.node_of[self.port_numbers(family, name)]

    @property
    def nodes(self) -> int:
        """How many there are."""
        return int(self.node_of.max(initial=-1)) + 1

    def parameters(self) -> list[list[Array]]:
        """Per family the present values of its kernel's parameters, (size, n) each."""
        return [[f.parameter(p.name).T for p in f.kernel.parameters] for f in self.families]

    def at(self, path: str) -> tuple[int, int, int]:
        """Family, variable and instance of a variable."""
        owner, _, name = path.rpartition(".")
        owner, _, number = owner.partition("[")
        number, _, inner = number.partition("]")
        f, first = self.place[owner + inner]
        return f, self.families[f].kernel.index[name], first + int(number or 0)

    @cached_property
    def set_valued(self) -> list[tuple[int, Family, SetValuedLaw]]:
        """Laws with modes, and the families that have them, in the order of their elements."""
        return [(f, family, law) for f, family in enumerate(self.families)
                for law in family.kernel.set_valued]

    @cached_property
    def contacts(self) -> list[tuple[int, int]]:
        """Families and instances of unilateral contacts."""
        return [(f, i) for f, family, law in self.set_valued if law.is_contact
                for i in range(family.size)]

    @cached_property
    def spare(self) -> Indices:
        """Ports of references at nodes that another reference holds already."""
        found, held = [], np.zeros(self.ports, dtype=bool)
        for f, family in enumerate(self.families):
            kernel = family.kernel
            if not family.is_reference or kernel.parameters or len(kernel.ports) != 1:
                continue
            for number in self.port_numbers(f, next(iter(kernel.ports))):
                if held[self.node_of[number]]:
                    found.append(int(number))
                held[self.node_of[number]] = True
        return np.array(found, dtype=int)

    @cached_property
    def balance_of(self) -> Indices:
        """Node of every port as the equations see it: a spare reference carries nothing."""
        nodes = self.node_of.copy()
        nodes[self.spare] = self.nodes + np.arange(len(self.spare))
        return nodes

    def leaf_ports(self) -> Iterator[tuple[int, str, Domain]]:
        """(family index, port name, domain) of all conserving ports."""
        for f, family in enumerate(self.families):
            for name, (domain, _) in family.kernel.ports.items():
                yield f, name, domain

    def circuits(self, domain: Domain) -> Indices:
        """Per node, a label of the part that components with ports of a domain join."""
        ports = ([self.nodes_at(f, name) for name, (d, _) in family.kernel.ports.items()
                  if d == domain] for f, family in enumerate(self.families))
        return joined((pair for of_family in ports for pair in pairwise(of_family)), self.nodes)

    def graph(self) -> nx.MultiGraph:
        """The topology as a bipartite networkx graph of components and nodes."""
        import networkx as nx

        g = nx.MultiGraph(name=self.name)
        members: dict[int, list[tuple[str, str]]] = {}
        domains: dict[int, str] = {}
        for f, family in enumerate(self.families):
            for i in range(family.size):
                g.add_node(family.path(i), kind="component", type=family.kernel.name,
                           reference=family.is_reference)
            names = {name: domain.name for name, (domain, _) in family.kernel.ports.items()}
            for name, domain in (names | dict.fromkeys(family.signals, "signal")).items():
                for i, node in enumerate(self.nodes_at(f, name).tolist()):
                    members.setdefault(node, []).append((family.path(i), name))
                    domains[node] = domain
        for k, node in enumerate(sorted(members), 1):
            label = f"node {k}"
            g.add_node(label, kind="node", domain=domains[node],
                       ports=[f"{c}.{p}" for c, p in members[node]])
            for component, port in members[node]:
                g.add_edge(component, label, port=port, domain=domains[node])
        return g


class _Walk:
    """All components of a tree: those with equations by family, and composites."""

    def __init__(self, root: Any) -> None:
        self.families: list[Family] = []
        self.place: dict[str, tuple[int, int]] = {}
        self.arrays: dict[str, int] = {}
        self.composites: list[tuple[str, Any]] = []
        self.paths: dict[int, str] = {}  # by id(component)
        self._kernels = Kernels()
        self._by_kernel: dict[int, int] = {}
        self._visit(root, "")

    def _visit(self, component: Any, path: str) -> None:
        self.paths[id(component)] = path
        if component._count is not None:
            self.arrays[path] = component._count
        if component.is_composite:
            self.composites.append((path, component))
            head = f"{path}." if path else ""
            for name, child in component._children.items():
                self._visit(child, f"{head}{name}")
            return
        kernel = self._kernels.of(component)
        f = self._by_kernel.get(id(kernel))
        if f is None:
            f = self._by_kernel[id(kernel)] = len(self.families)
            self.families.append(Family(kernel))
        self.place[path] = (f, self.families[f].add(component, path))


def build_network(root: Any) -> Network:
    """Flatten a model's tree: trace each class once and join the ports."""
    walk = _Walk(root)
    port_base: dict[tuple[int, str], int] = {}
    own_base: dict[tuple[str, str], int] = {}
    count = 0
    for f, family in enumerate(walk.families):
        for name in (*family.kernel.ports, *family.signals):
            port_base[f, name] = count
            count += family.size
    for path, composite in walk.composites:
        for name, declared in composite._declared.items():
            if isinstance(declared, (Port, Signal)) and declared.exists(composite):
                own_base[path, name] = count
                count += composite.size
    made = Network(root, getattr(root, "name", ""), walk.families, walk.place, walk.arrays,
                   port_base, np.arange(count), count, own_base)
    made.node_of = connected(*_joined(made, walk), count)
    for (part, name), path in getattr(root, "_reads", {}).items():
        f, i = made.place[part]
        made.reads.append(((f, walk.families[f].kernel.index[name], i), made.at(path)))
    return made


def _joined(network: Network, walk: _Walk) -> tuple[Indices, Indices]:
    """Pairs of ports that are joined."""
    a: list[int] = []
    b: list[int] = []
    arrays: list[tuple[Indices, Indices]] = []
    for _, composite in walk.composites:
        for refs in composite._connections:
            bases = [network.first_number(walk.paths[id(r.component)], r.port.name) for r in refs]
            n = max(r.size for r in refs)
            if n == 1 and all(r.index is None for r in refs):
                for other in bases[1:]:
                    a.append(bases[0])
                    b.append(other)
                continue
            numbers = [
                np.broadcast_to(base + (np.arange(r.size) if r.index is None else r.index), (n,))
                for base, r in zip(bases, refs, strict=True)
            ]
            lead = next((x for x, r in zip(numbers, refs, strict=True) if r.size == n), numbers[0])
            arrays += [(lead, other) for other in numbers if other is not lead]
    return (np.concatenate([np.array(a, dtype=np.int64), *(x for x, _ in arrays)]),
            np.concatenate([np.array(b, dtype=np.int64), *(y for _, y in arrays)]))
