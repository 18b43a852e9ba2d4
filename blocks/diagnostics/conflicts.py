"""Do sources contradict each other?

Across: elements that prescribe a difference (references and rigid links
included) must not form a loop. Through: a part of a circuit whose every
connection prescribes its through variable cannot be balanced.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np

from ..assembly.matching import connected
from ..assembly.redundant_constraints import End, conjugate_through, redundant_constraints
from ..language.domain import Domain
from ..language.references import choices_with
from ..numerics.arrays import Flags, distinct
from ..units import Unit, from_si
from .findings import Finding, found
from .meters import is_meter
from .topology import PortRow, Topology
from .traits import Tie
from .words import article, example_word, listed, quantity_word, several

__all__ = ["across_conflicts", "through_conflicts"]

MOST_LOOPS = 100  # that are told and counted: each is looked for by itself


@dataclass(frozen=True)
class Edge:
    """A prescribed difference between two nodes (or a node and the ground)."""

    a: int
    b: int
    family: int
    instance: int
    tie: Tie


def across_conflicts(topology: Topology, domain: Domain, across: str) -> Iterator[Finding]:
    """Elements that prescribe an across difference and form a loop."""
    ground = topology.count
    ties = [(f, t) for f, traits in enumerate(topology.traits) for t in traits.ties
            if t.variable == across
            and topology.network.families[f].kernel.ports[t.ports[0]][0] == domain]  # fmt: skip
    if not ties:
        return
    nodes = {(r.family, r.name): r.nodes for r in topology.rows}
    ends = [(nodes[f, t.ports[0]], nodes[f, t.ports[1]] if len(t.ports) > 1
             else np.full(topology.network.families[f].size, ground)) for f, t in ties]
    a, b = map(np.concatenate, zip(*ends, strict=True))
    label = connected(a, b, ground + 1)
    vertices = distinct(np.concatenate([a, b]))
    excess = np.bincount(label[a], minlength=ground + 1) - np.bincount(
        label[vertices], minlength=ground + 1) + 1  # edges - vertices + 1 of every part
    if not np.any(excess[distinct(label[a])] > 0):
        return
    edges = [Edge(int(x[i]), int(y[i]), f, int(i), t)
             for (f, t), (x, y) in zip(ties, ends, strict=True)
             for i in np.flatnonzero(excess[label[x]] > 0)
             if len(t.ports) > 1 or topology.network.port_numbers(f, t.ports[0])[i]
             not in topology.network.spare]
    shared = {r.again for r in redundant_constraints(topology.network)
              if r.domain == domain and r.through == conjugate_through(domain, across)}
    edges = [e for e in edges
             if not any(End(e.family, e.instance, p) in shared for p in e.tie.ports)]
    edges.sort(key=lambda e: (e.tie.given, len(e.tie.ports)))  # references first, sources last
    u = domain.across[across]
    for cycle in islice(_cycles(edges), MOST_LOOPS):
        names = [topology.path(edge.family, edge.instance) for edge in cycle]
        yield found("conflict.across", names, *_across_conflict(topology, cycle, names, ground,
                                                                across, u))


def _cycles(edges: list[Edge]) -> Iterator[list[Edge]]:
    """A fundamental cycle for every edge that closes one."""
    import networkx as nx

    tree, parts = nx.Graph(), nx.utils.UnionFind()
    for edge in edges:
        tree.add_nodes_from((edge.a, edge.b))
        if parts[edge.a] != parts[edge.b]:
            parts.union(edge.a, edge.b)
            tree.add_edge(edge.a, edge.b, by=edge)
        else:
            way = pairwise(nx.shortest_path(tree, edge.a, edge.b))
            yield [*(tree.edges[pair]["by"] for pair in way), edge]


def _across_conflict(topology: Topology, cycle: list[Edge], names: list[str], ground: int,
                     across: str, u: Unit) -> tuple[str, str]:
    """What is wrong with a loop of prescribed differences, and what to do."""
    givers = [n for n, e in zip(names, cycle, strict=True) if e.tie.given]
    rigid = [n for n, e in zip(names, cycle, strict=True) if not e.tie.given]
    pair = {frozenset((e.a, e.b)) for e in cycle}
    word, example = quantity_word(across, u), example_word(across, u)
    soften = (f"Keep one of them, or put an element in series with one that lets the "
              f"{several(word)} differ{example}.")
    if len(cycle) == 1:
        return (f"{names[0]} prescribes the {word} between its ports "
                f"{' and '.join(cycle[0].tie.ports)}, but both are connected to the same node.",
                "Connect them to different nodes, or remove it.")
    if len(pair) == 1 and len(cycle) == 2:
        grounded = ground in next(iter(pair))
        ports = " and ".join(" = ".join(
            f"{n}.{p}" for n, e in zip(names, cycle, strict=True)
            for p, node in zip(e.tie.ports, (e.a, e.b), strict=False) if node == end)
            for end in sorted(next(iter(pair)) - {ground}))
        if grounded and not givers:
            return (f"{listed(names)} both fix the same node ({ports}).",
                    f"Keep one of them and connect everything else to it: {names[0]} is enough.")
        place = f"of the same node ({ports})" if grounded else (
            f"between the same two nodes ({ports})")
        if givers and rigid:
            meter = is_meter(topology.network.families[cycle[names.index(rigid[0])].family])
            return (f"{givers[0]} prescribes the {word} {place}, which {rigid[0]} already fixes.",
                    f"{rigid[0]} is a meter that belongs in series with what it measures, not "
                    "across it." if meter else soften)
        verb = f"both prescribe the {word}" if givers else "are both rigid"
        return f"{listed(names)} {verb} {place}{_by_how_much(topology, cycle, names)}.", soften
    if len(givers) == 1 and rigid:
        return (f"{givers[0]} prescribes the {word} between nodes that {listed(rigid)} already "
                "hold rigidly.", "Remove it, or put an element in series with it that lets the "
                f"{several(word)} differ{example}.")
    what = f"prescribe the {word}" if givers else "are rigid"
    return (f"{listed(names, 8)} form a closed loop in which all of them {what}: the last one is "
            "already determined by the others.", "Remove one of them, or put an element into the "
            f"loop that lets the {several(word)} differ{example}.")


def _by_how_much(topology: Topology, cycle: list[Edge], names: list[str]) -> str:
    """What two elements of one class are given differently, or that they say the same."""
    first, second = cycle
    family = topology.network.families[first.family]
    alike = second.family == first.family and second.a == first.a and first.tie.given
    both = [first.instance, second.instance]
    joined = np.bincount(topology.network.node_of) > 1  # inputs that a signal is connected to
    if not alike or any(joined[topology.network.nodes_at(first.family, v.name)[both]].any()
                        for v in family.kernel.variables if v.kind == "input"):
        return ""
    apart = []
    for parameter in family.kernel.parameters:
        rows = family.parameter(parameter.name)[both]
        if parameter.size == 1 and rows[0] != rows[1]:
            low, high, gap = (from_si(float(v), parameter.unit) for v in
                              (*rows.ravel(), abs(rows[0, 0] - rows[1, 0])))
            apart.append(f"{names[0]}.{parameter.name} is {low:.6g~P} and {names[1]}."
                         f"{parameter.name} {high:.6g~P}, {gap:.6g~P} apart")
    return f"; {listed(apart)}" if apart else "; they say the same"


# -- parts whose every connection prescribes its through variable ---------------------------------
def through_conflicts(topology: Topology, domain: Domain) -> Iterator[Finding]:
    """Parts of a circuit whose every connection prescribes its through variable."""
    rows, label = topology.of(domain), topology.joined(domain)
    size = int(label.max()) + 1
    free, bound = np.zeros(size, dtype=bool), np.zeros(size, dtype=int)
    for r in rows:
        if r.prescribed is not None:
            np.add.at(bound, label[r.nodes], 1)
        elif domain.name not in r.traits.conserves:
            free[label[r.nodes]] = True
    for part in np.flatnonzero(~free & (bound > 0)):
        yield _through_conflict(topology, domain, rows, label == part)


def _without_port(rows: list[PortRow], inside: Flags) -> str:
    """How to make a component without the only port that is at a node, where an option does."""
    at = [(r, int(i)) for r in rows for i in np.flatnonzero(inside[r.nodes])]
    if len(at) != 1:
        return ""
    row, instance = at[0]
    component = row.of.member(instance)
    for name, value in choices_with(component, type(component)._declared[row.name], there=False):
        return f", or make it without that port: {type(component).__name__}({name}={value!r})"
    return ""


def _through_conflict(topology: Topology, domain: Domain, rows: list[PortRow], inside: Flags
                      ) -> Finding:
    at: dict[bool | None, list[tuple[str, str]]] = {True: [], False: [], None: []}
    for r in rows:
        at[r.prescribed] += r.at(inside)
    givers, zeros, others = at.values()
    through, u = next(iter(domain.through.items()))
    force, (across, ua) = quantity_word(through, u), next(iter(domain.across.items()))
    ports = [".".join(p) for p in [*givers, *zeros]]
    parts = list(dict.fromkeys(p for p, _ in [*givers, *zeros, *others]))
    names = list(dict.fromkeys(p for p, _ in givers))
    if not givers:
        return found("network.floating", parts[:20],
                     f"Nothing determines the {quantity_word(across, ua)} at the node of "
                     f"{listed(ports)}: {listed(parts)} "
                     f"{'carries' if len(parts) == 1 else 'carry'} no {force} there.",
                     "Connect it to the part of the network it belongs to"
                     f"{_without_port(rows, inside)}.")
    hold = article(domain.reference or "reference")
    if others:
        return found("conflict.through", parts[:20],
                     f"{listed(names)} prescribe{'s' if len(names) == 1 else ''} every {force} "
                     f"that acts on {listed(p for p, _ in others)}, where nothing can take up the "
                     "difference.", f"Hold that part: connect a component to it whose {force} is "
                     f"free{example_word(through, u)}, or {hold}.")
    if len(ports) == 1 and topology.degree[np.flatnonzero(inside)[0]] == 1:
        return found("conflict.through", [ports[0], *names],
                     f"{ports[0]} is connected to nothing, so the {force} that {names[0]} "
                     "prescribes has nothing to act on.",
                     f"Connect {ports[0]} to a component or to {hold}.")
    node, many = " = ".join(ports[:6]), len(names) > 1
    problem = (f"{listed(names)} {'both' if len(names) == 2 else 'all'} prescribe the {force} at "
               f"one node ({node}), where no other component can take up the difference." if many
               else f"{names[0]} prescribes the {force} at a node ({node}) where no other "
               "component can carry it.")
    return found("conflict.through", [*names, *parts][:20], problem,
                 f"{'Remove one of them, or connect' if many else 'Connect'} a component to that "
                 f"node whose {force} is free{example_word(through, u)}.")
