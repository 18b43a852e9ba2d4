"""Does a diode bar the only way of a source, or short it?

Told of parts of a network that one constant source drives and nothing else: no second source, no
amplifier, nothing that starts charged or in motion. There the answer follows from who is joined
to whom, without a run. A class lets one direction pass where it says ``one_way = ("p", "n")``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..assembly.matching import joined
from ..assembly.network import Family
from ..language.declarations import Variable
from ..numerics.arrays import Indices
from .findings import Finding, found
from .topology import Topology
from .traits import Tie
from .words import listed, quantity_word

__all__ = ["Edge", "graph_of", "has_one_way", "one_way_findings", "reached", "references", "ways"]


class Edge(NamedTuple):
    """A way through a component."""

    tail: int  # node
    head: int
    path: str  # of the component
    one_way: bool  # from tail to head only
    limits: bool  # whether the way through it takes up what a source gives


class Drive(NamedTuple):
    """A constant source."""

    path: str
    high: int  # node whose across variable is the higher one
    low: int


def one_way_findings(topology: Topology) -> Iterator[Finding]:
    """Hints on diodes that are the wrong way round."""
    piece = _pieces(topology)
    drives = _drives(topology, piece)
    edges = list(ways(topology)) if drives else []
    for drive in drives.values():
        others = [e for e in edges if e.path != drive.path]
        yield from _short(topology, drive, others)
        yield from _barred(topology, drive, others)


def has_one_way(families: list[Family]) -> bool:
    """Whether anything lets one direction pass only."""
    return any(hasattr(type(f.members[0]), "one_way") for f in families)


# -- what is driven --------------------------------------------------------------------------
def references(topology: Topology) -> Indices:
    """Nodes that references hold."""
    return np.concatenate([np.zeros(0, dtype=int), *(
        r.nodes for r in topology.rows if r.of.is_reference)])


def _pieces(topology: Topology) -> Indices:
    """Per node a label of what hangs together, of all domains, other than by a reference."""
    held = np.isin(np.arange(topology.count), references(topology))
    pairs: list[tuple[Indices, Indices]] = []
    for f, family in enumerate(topology.network.families):
        rows = [r.nodes for r in topology.rows
                if r.family == f and r.name not in family.kernel.carried]
        for column in zip(*rows, strict=True):
            free = np.array([node for node in column if not held[node]], dtype=int)
            pairs.append((free[:-1], free[1:]))
    return joined(pairs, topology.count)


def _drives(topology: Topology, piece: Indices) -> dict[int, Drive]:
    """The constant source of every piece that nothing else drives."""
    held = set(references(topology).tolist())
    one_way = {d for f in topology.network.families if has_one_way([f])
               for d, _ in f.kernel.ports.values()}
    constant: dict[int, Drive] = {}
    pushed: dict[int, int] = {}
    for f, family in enumerate(topology.network.families):
        if family.is_reference:
            continue
        traits = topology.traits[f]
        rows = {r.name: r for r in topology.rows if r.family == f}
        tie = next((t for t in traits.ties if t.given and len(t.ports) == 2), None)
        drives = tie is not None or any(traits.prescribes.values()) or any(
            t.given for t in traits.ties) or "power_supplied" in family.kernel.index or not all(
            r.domain.name in traits.conserves for r in rows.values()
            if r.domain in one_way)  # fmt: skip
        values = None if tie is None else _value(family, tie)
        for i in np.flatnonzero(drives | _charged(family)).tolist():
            at = {int(piece[r.nodes[i]]) for r in rows.values()} - {int(piece[n]) for n in held}
            for k in at:
                pushed[k] = pushed.get(k, 0) + 1
                if tie is not None and values is not None and values[i]:
                    ends = [int(rows[name].nodes[i]) for name in tie.ports]
                    constant[k] = Drive(family.path(i), *ends[:: 1 if values[i] > 0 else -1])
    return {k: d for k, d in constant.items() if pushed[k] == 1}


def _value(family: Family, tie: Tie) -> np.ndarray | None:
    """By how much a source lifts its first port above its second; None if it may change."""
    if tie.value is None:
        return None
    given = [family.parameter(p.name) for p in family.kernel.parameters]
    if any(np.ndim(g) != 2 for g in given):
        return None
    return np.array([float(tie.value(*(g[i % len(g)] for g in given))) for i in range(family.size)])


def _charged(family: Family) -> np.ndarray:
    """Which instances start with something stored."""
    out = np.zeros(family.size, dtype=bool)
    for local in family.kernel.variables:
        declared = local.declared
        counts = isinstance(declared, Variable) and declared.priority != "none"
        for first, member in zip(family.firsts, family.members, strict=True):
            usual = declared.initial_of(member) if counts else 0.0  # type: ignore[attr-defined]
            wanted = member._targets.get(local.name, (usual, ""))[0]
            out[first : first + member.size] |= np.asarray(0.0 if wanted is None else wanted) != 0
    return out


# -- ways --------------------------------------------------------------------------------------
def ways(topology: Topology) -> Iterator[Edge]:
    """Ways through components, from port to port."""
    for domain in topology.domains:
        for rows in topology.groups(domain):
            family = rows[0].of
            one_way: tuple[str, ...] = getattr(type(family.members[0]), "one_way", ())
            by_name = {r.name: r for r in rows}
            for a, b in zip(rows, rows[1:], strict=False):
                if a.prescribed is False or b.prescribed is False:
                    continue  # a sensor, an open end
                directed = {a.name, b.name} == set(one_way)
                if directed:
                    a, b = (by_name[name] for name in one_way)  # noqa: PLW2901
                wire = any(set(t.ports) == {a.name, b.name} for t in a.traits.ties)
                for i in range(family.size):
                    yield Edge(int(a.nodes[i]), int(b.nodes[i]), family.path(i), directed,
                               not (wire or directed))


def graph_of(edges: list[Edge], directed: bool = True) -> Any:
    """Ways as a graph of nodes."""
    import networkx as nx

    graph = nx.DiGraph([(e.tail, e.head) for e in edges])
    graph.add_edges_from((e.head, e.tail) for e in edges if not (e.one_way and directed))
    return graph


def reached(graph: Any, node: int) -> set[int]:
    """Nodes that can be got to."""
    import networkx as nx

    return {node, *(nx.descendants(graph, node) if node in graph else ())}


def _short(topology: Topology, drive: Drive, edges: list[Edge]) -> Iterator[Finding]:
    """Diodes that conduct from one end of a source to the other, with nothing in between."""
    wires = [e for e in edges if not e.limits]
    graph = graph_of(wires)
    if drive.low not in (after := reached(graph, drive.high)):
        return
    before = reached(graph.reverse(), drive.low)
    diodes = [e.path for e in wires if e.one_way and e.tail in after and e.head in before]
    high, low, flow = _words(topology, drive)
    several = len(diodes) > 1
    yield found(
        "network.short", diodes,
        f"{listed(diodes)} {'conduct' if several else 'conducts'} from {high} straight to {low}: "
        f"nothing but {'these limit' if several else 'it limits'} the {flow}.",
        "Nothing to do if that is meant; a diode that should block there is the wrong way round. "
        "Otherwise put a resistance in series.")  # fmt: skip


def _barred(topology: Topology, drive: Drive, edges: list[Edge]) -> Iterator[Finding]:
    """Diodes in the only ways of a source that let no flow through in its direction."""
    got = reached(graph_of(edges), drive.high)
    if drive.low in got or drive.low not in reached(graph_of(edges, False), drive.high):
        return
    diodes = [e.path for e in edges if e.one_way and e.head in got and e.tail not in got]
    high, low, flow = _words(topology, drive)
    yield found(
        "network.barred", diodes,
        f"No {flow} can go from {high} round to {low}: every way leads backward through "
        f"{listed(diodes, word='or')}, which {'let' if len(diodes) > 1 else 'lets'} the other "
        "direction pass only.",
        f"Nothing to do if that is meant; otherwise exchange the ports of "
        f"{'one of them' if len(diodes) > 1 else diodes[0]}, or the sign of {drive.path}.")


def _words(topology: Topology, drive: Drive) -> tuple[str, str, str]:
    """The ports of a source, the higher one first, and what flows."""
    ports = {int(r.nodes[i]): (f"{drive.path}.{r.name}", r.domain) for r in topology.rows
             for i in np.flatnonzero(np.isin(r.nodes, (drive.high, drive.low)))
             if r.path(i) == drive.path}
    (high, domain), (low, _) = ports[drive.high], ports[drive.low]
    return high, low, quantity_word(*next(iter(domain.through.items())))
