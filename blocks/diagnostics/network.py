"""Is every circuit referenced, and do sources contradict each other?

Nodes and components of one domain as arrays. Across: elements that prescribe a
difference must not form a loop. Through: parts of a circuit whose every
connection prescribes its through variable cannot be balanced. Knows no domain
by name and no values.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from ..network import Network
from .findings import Finding, found
from .traits import Tie, Traits, traits_of
from .words import article, example_word, listed, plural, quantity_word, several

__all__ = ["Topology", "network_findings"]

MOST = 12  # findings of one kind; a systematic mistake need not be shown a thousand times


@dataclass(frozen=True)
class PortRow:
    """All instances of one conserving port."""

    family: int
    name: str
    domain: Any
    nodes: np.ndarray


class Topology:
    """Nodes, ports and class traits of a network, with names."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.traits: list[Traits] = [traits_of(f.kernel) for f in network.families]
        self.rows = [
            PortRow(f, name, domain, network.node_of[network.port_numbers(f, name)])
            for f, name, domain in network.leaf_ports()
        ]
        self.count = int(network.node_of.max()) + 1 if len(network.node_of) else 0

    @cached_property
    def domains(self) -> list[Any]:
        return list({id(r.domain): r.domain for r in self.rows}.values())

    @cached_property
    def degree(self) -> np.ndarray:
        """Conserving ports at every node."""
        every = [r.nodes for r in self.rows] or [np.zeros(0, dtype=int)]
        return np.bincount(np.concatenate(every), minlength=self.count)

    def of(self, domain: Any) -> list[PortRow]:
        return [r for r in self.rows if r.domain is domain]

    def path(self, family: int, instance: int) -> str:
        return self.network.families[family].path(int(instance))

    def ports_at(self, node: int) -> list[str]:
        return [f"{self.path(r.family, i)}.{r.name}"
                for r in self.rows for i in np.flatnonzero(r.nodes == node)]

    def joined(self, domain: Any, conserving_only: bool = False) -> np.ndarray:
        """Per node a label of the part that components of the domain hold together."""
        a, b = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)]
        rows = self.of(domain)
        for first, second in zip(rows, rows[1:], strict=False):
            if first.family != second.family:
                continue
            traits = self.traits[first.family]
            if conserving_only and (domain.name not in traits.conserves
                                    or self.prescribed(first) is not None):
                continue
            a.append(first.nodes)
            b.append(second.nodes)
        left, right = np.concatenate(a), np.concatenate(b)
        graph = coo_matrix((np.ones(len(left), dtype=np.int8), (left, right)),
                           shape=(self.count, self.count))
        return connected_components(graph, directed=False)[1]

    def prescribed(self, row: PortRow) -> bool | None:
        """Whether a port's through variable is given (True), always zero-like (False) or free."""
        table = self.traits[row.family].prescribes
        states = [table.get((row.name, t)) for t in row.domain.through]
        if any(s is None for s in states) or not states:
            return None
        return any(states)


def network_findings(topology: Topology) -> Iterator[Finding]:
    """Mistakes that can be seen from who is joined to whom."""
    told: set[str] = set()
    for domain in topology.domains:
        for name in domain.across:
            yield from _loops(topology, domain, name)
        for finding in _cuts(topology, domain):
            told.update(finding.where)
            yield finding
        if domain.reference:
            yield from _references(topology, domain)
    yield from _shorted(topology)
    yield from _unconnected(topology, told)


# -- references --------------------------------------------------------------------------------
def _references(topology: Topology, domain: Any) -> Iterator[Finding]:
    label = topology.joined(domain)
    size = int(label.max()) + 1
    grounded, held = np.zeros(size, dtype=bool), np.zeros(topology.count, dtype=bool)
    rows = topology.of(domain)
    for r in rows:
        family, traits = topology.network.families[r.family], topology.traits[r.family]
        fixes = any(tie.ports == (r.name,) for tie in traits.ties)
        if fixes or any(getattr(type(m), "grounds", False) for m in family.members[:1]):
            grounded[label[r.nodes]] = True
        elif domain.name not in traits.conserves:
            held[r.nodes] = True
    loose, lonely = np.zeros(size, dtype=bool), np.zeros(size, dtype=int)
    for r in rows:
        np.logical_or.at(loose, label[r.nodes], ~held[r.nodes])
        np.add.at(lonely, label[r.nodes], 1)
    open_circuits = np.flatnonzero((lonely > 0) & ~grounded & (loose | (lonely > 1)))
    for circuit in open_circuits[:MOST]:
        yield _reference(topology, domain, rows, label == circuit, bool(loose[circuit]))


def _reference(topology: Topology, domain: Any, rows: list[PortRow], inside: np.ndarray,
               loose: bool) -> Finding:
    ports = [(topology.path(r.family, i), r.name) for r in rows
             for i in np.flatnonzero(inside[r.nodes])[:20]]
    parts = list(dict.fromkeys(p for p, _ in ports))
    name, u = next(iter(domain.across.items()))
    word, kind = quantity_word(name, u), domain.reference
    circuit = f"the {domain} circuit of {listed(parts)}"
    how = (f"model.ground = {kind}(); then connect it, for example to {'.'.join(ports[-1])}")
    if not loose:
        return found(
            "reference.free", parts[:20],
            f"{circuit[0].upper()}{circuit[1:]} has no {kind}: it moves freely as a whole.",
            f"If it is held somewhere, add {article(kind)} there.",
        )  # fmt: skip
    return found(
        "reference.missing", parts[:20],
        f"{circuit[0].upper()}{circuit[1:]} has no {kind}, so nothing says what its {word} is "
        "measured against.",
        f"Add one where the circuit is held: {how}.",
    )  # fmt: skip


# -- loops of prescribed differences -------------------------------------------------------------
@dataclass(frozen=True)
class Edge:
    """A prescribed difference between two nodes (or a node and the ground)."""

    a: int
    b: int
    family: int
    instance: int
    tie: Tie


def _loops(topology: Topology, domain: Any, across: str) -> Iterator[Finding]:
    """Elements that prescribe an across difference and form a loop."""
    ground = topology.count
    ties = [(f, t) for f, traits in enumerate(topology.traits) for t in traits.ties
            if t.variable == across
            and topology.network.families[f].kernel.ports[t.ports[0]][0] is domain]  # fmt: skip
    if not ties:
        return
    nodes = {(r.family, r.name): r.nodes for r in topology.rows}
    ends = [(nodes[f, t.ports[0]], nodes[f, t.ports[1]] if len(t.ports) > 1
             else np.full(topology.network.families[f].size, ground)) for f, t in ties]
    a = np.concatenate([e[0] for e in ends])
    b = np.concatenate([e[1] for e in ends])
    graph = coo_matrix((np.ones(len(a), dtype=np.int8), (a, b)), shape=(ground + 1, ground + 1))
    label = connected_components(graph, directed=False)[1]
    vertices = np.unique(np.concatenate([a, b]))
    excess = np.bincount(label[a], minlength=ground + 1) - np.bincount(
        label[vertices], minlength=ground + 1) + 1  # edges - vertices + 1 of every part
    if not np.any(excess[np.unique(label[a])] > 0):
        return
    edges = [Edge(int(x[i]), int(y[i]), f, i, t)
             for (f, t), (x, y) in zip(ties, ends, strict=True)
             for i in np.flatnonzero(excess[label[x]] > 0)]
    edges.sort(key=lambda e: (e.tie.given, len(e.tie.ports)))  # references first, sources last
    u = domain.across[across]
    for k, cycle in enumerate(_cycles(edges)):
        if k == MOST:
            return
        yield _conflict(topology, cycle, ground, quantity_word(across, u), u)


def _cycles(edges: list[Edge]) -> Iterator[list[Edge]]:
    """A fundamental cycle for every edge that closes one."""
    parent: dict[int, int] = {}
    tree: dict[int, list[tuple[int, Edge]]] = {}

    def find(v: int) -> int:
        while parent.setdefault(v, v) != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        return v

    for edge in edges:
        a, b = find(edge.a), find(edge.b)
        if a != b:
            parent[a] = b
            tree.setdefault(edge.a, []).append((edge.b, edge))
            tree.setdefault(edge.b, []).append((edge.a, edge))
        else:
            yield [*_way(tree, edge.a, edge.b), edge]


def _way(tree: dict[int, list[tuple[int, Edge]]], start: int, goal: int) -> list[Edge]:
    came: dict[int, tuple[int, Edge]] = {}
    todo = deque([start])
    while todo:
        v = todo.popleft()
        if v == goal:
            break
        for w, edge in tree.get(v, []):
            if w not in came and w != start:
                came[w] = (v, edge)
                todo.append(w)
    way = []
    while goal != start:
        goal, edge = came[goal]
        way.append(edge)
    return way[::-1]


def _conflict(topology: Topology, cycle: list[Edge], ground: int, word: str, u: Any) -> Finding:
    names = [topology.path(e.family, e.instance) for e in cycle]
    givers = [n for n, e in zip(names, cycle, strict=True) if e.tie.given]
    rigid = [n for n, e in zip(names, cycle, strict=True) if not e.tie.given]
    pair = {frozenset((e.a, e.b)) for e in cycle}
    example = example_word(u)
    soften = (f"Keep one of them, or put an element in series with one that lets the "
              f"{several(word)} differ{example}.")
    if len(cycle) == 1:
        (e,) = cycle
        return found(
            "conflict.across", names,
            f"{names[0]} prescribes the {word} between its ports {' and '.join(e.tie.ports)}, but "
            "both are connected to the same node.",
            "Connect them to different nodes, or remove it.",
        )  # fmt: skip
    if len(pair) == 1 and len(cycle) == 2:
        grounded = ground in next(iter(pair))
        ports = " and ".join(" = ".join(
            f"{n}.{p}" for n, e in zip(names, cycle, strict=True)
            for p, node in zip(e.tie.ports, (e.a, e.b), strict=False) if node == end)
            for end in sorted(next(iter(pair)) - {ground}))
        if grounded and not givers:
            return found("conflict.across", names,
                         f"{listed(names)} both fix the same node ({ports}).",
                         f"Keep one of them and connect everything else to it: "
                         f"{names[0]} is enough.")
        place = f"of the same node ({ports})" if grounded else (
            f"between the same two nodes ({ports})")
        if givers and rigid:
            return found("conflict.across", names,
                         f"{givers[0]} prescribes the {word} {place}, which {rigid[0]} already "
                         "fixes.", soften)
        return found("conflict.across", names,
                     f"{listed(names)} both prescribe the {word} {place}.", soften)
    if len(givers) == 1 and rigid:
        return found(
            "conflict.across", names,
            f"{givers[0]} prescribes the {word} between nodes that {listed(rigid)} already hold "
            "rigidly.",
            f"Remove it, or put an element in series with it that lets the {several(word)} differ"
            f"{example}.",
        )  # fmt: skip
    what = f"prescribe the {word}" if givers else "are rigid"
    return found(
        "conflict.across", names,
        f"{listed(names, 8)} form a closed loop in which all of them {what}: the last one is "
        "already determined by the others.",
        f"Remove one of them, or put an element into the loop that lets the {several(word)} differ"
        f"{example}.",
    )  # fmt: skip


# -- parts whose every connection prescribes its through variable ---------------------------------
def _cuts(topology: Topology, domain: Any) -> Iterator[Finding]:
    rows = topology.of(domain)
    if not any(topology.prescribed(r) is not None for r in rows):
        return
    label = topology.joined(domain, conserving_only=True)
    size = int(label.max()) + 1
    free, bound = np.zeros(size, dtype=bool), np.zeros(size, dtype=int)
    for r in rows:
        if topology.prescribed(r) is not None:
            np.add.at(bound, label[r.nodes], 1)
        elif domain.name not in topology.traits[r.family].conserves:
            free[label[r.nodes]] = True
    for part in np.flatnonzero(~free & (bound > 0))[:MOST]:
        yield _cut(topology, domain, rows, label == part)


def _cut(topology: Topology, domain: Any, rows: list[PortRow], inside: np.ndarray) -> Finding:
    givers, zeros, others = [], [], []
    for r in rows:
        state = topology.prescribed(r)
        for i in np.flatnonzero(inside[r.nodes])[:20]:
            path = topology.path(r.family, i)
            (others if state is None else givers if state else zeros).append((path, r.name))
    through, u = next(iter(domain.through.items()))
    force, (across, ua) = quantity_word(through, u), next(iter(domain.across.items()))
    ports = [".".join(p) for p in [*givers, *zeros]]
    parts = list(dict.fromkeys(p for p, _ in [*givers, *zeros, *others]))
    names = list(dict.fromkeys(p for p, _ in givers))
    if not givers:
        return found(
            "network.floating", parts[:20],
            f"Nothing determines the {quantity_word(across, ua)} at the node of {listed(ports)}: "
            f"{listed(parts)} carry no {force} there.",
            "Connect it to the part of the network it belongs to.",
        )  # fmt: skip
    if others:
        return found(
            "conflict.through", parts[:20],
            f"{listed(names)} prescribe{'s' if len(names) == 1 else ''} every {force} that acts on "
            f"{listed(p for p, _ in others)}, where nothing can take up the difference.",
            f"Hold that part: connect a component to it whose {force} is free"
            f"{example_word(u)}, or a {domain.reference or 'reference'}.",
        )  # fmt: skip
    if len(ports) == 1 and topology.degree[np.flatnonzero(inside)[0]] == 1:
        return found(
            "conflict.through", [ports[0], *names],
            f"{ports[0]} is connected to nothing, so the {force} that {names[0]} prescribes has "
            "nothing to act on.",
            f"Connect {ports[0]} to a component or to a {domain.reference or 'reference'}.",
        )  # fmt: skip
    if len(names) > 1:
        problem = (f"{listed(names)} {'both' if len(names) == 2 else 'all'} prescribe the {force} "
                   f"at one node ({' = '.join(ports[:6])}), where no other component can take up "
                   "the difference.")
    else:
        problem = (f"{names[0]} prescribes the {force} at a node ({' = '.join(ports[:6])}) where "
                   f"no other component can carry it.")
    return found(
        "conflict.through", [*names, *parts][:20], problem,
        f"{'Remove one of them, or connect' if len(names) > 1 else 'Connect'} a component to that "
        f"node whose {force} is free{example_word(u)}.",
    )  # fmt: skip


# -- lone and shorted ports -----------------------------------------------------------------------
def _shorted(topology: Topology) -> Iterator[Finding]:
    shown = 0
    pairs = [(a, b) for domain in topology.domains
             for rows in [topology.of(domain)] for a, b in zip(rows, rows[1:], strict=False)]
    for first, second in pairs:
        if first.family != second.family:
            continue
        if any(set(t.ports) == {first.name, second.name}
               for t in topology.traits[first.family].ties):
            continue  # a conflict, told elsewhere
        for i in np.flatnonzero(first.nodes == second.nodes):
            if shown == MOST:
                return
            shown += 1
            path = topology.path(first.family, int(i))
            yield found(
                "network.shorted", [path],
                f"Both ports of {path} ({first.name} and {second.name}) are connected to the same "
                "node, so it has no effect.",
                "Connect them to different nodes, or remove it.",
            )  # fmt: skip


def _unconnected(topology: Topology, told: set[str]) -> Iterator[Finding]:
    for r in topology.rows:
        family = topology.network.families[r.family]
        lonely = np.flatnonzero(topology.degree[r.nodes] == 1)
        if not len(lonely):
            continue
        through = listed(quantity_word(t, u) for t, u in r.domain.through.items())
        for start, member in zip(family.starts, family.members, strict=True):
            low, high = np.searchsorted(lonely, [start, start + member.size])
            if low == high:
                continue
            ports = [f"{family.path(int(i))}.{r.name}" for i in lonely[low : min(high, low + 20)]]
            if told & set(ports):
                continue
            rest = "" if high - low <= 3 else f" ({plural(high - low, 'instance')})"
            verb = "is" if high - low == 1 else "are"
            yield found(
                "network.unconnected", ports,
                f"{listed(ports, 3)}{rest} {verb} connected to nothing, so the {through} there "
                "is 0.",
                "Nothing to do if that is meant.",
            )  # fmt: skip
