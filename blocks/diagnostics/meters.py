"""Is a meter where it can measure: a voltmeter in parallel, an ammeter in series?

A meter has an output and either lets nothing through (voltmeter) or lets no difference stand
between two of its ports (ammeter). A voltmeter in series stops what a source drives; an ammeter
in parallel takes all of it. Knows ports and classes; no domain by name and no values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..assembly.network import Family
from ..language.domain import Domain
from .findings import Finding, found
from .one_way import ways
from .topology import PortRow, Topology
from .words import listed, quantity_word

__all__ = ["is_meter", "meter_findings"]

MOST_NODES = 20_000  # up to which bridges are looked for


def is_meter(family: Family) -> bool:
    """Whether a class tells a value of the network and is told none."""
    kinds = {v.kind for v in family.kernel.variables}
    return "output" in kinds and "input" not in kinds and not family.is_reference


def meter_findings(topology: Topology) -> Iterator[Finding]:
    """Hints on meters that stop or take what they were meant to measure."""
    meters = [rows for domain in topology.domains for rows in topology.groups(domain)
              if is_meter(rows[0].of)]  # fmt: skip
    bridges: dict[Domain, Bridges | None] = {}
    for rows in meters:
        if len(rows) == 2 and all(r.prescribed is False for r in rows):
            domain = rows[0].domain
            if domain not in bridges:
                bridges[domain] = _bridges(topology, domain)
            if (known := bridges[domain]) is not None:
                yield from _in_series(topology, rows, known)
    for rows in meters:
        yield from _in_parallel(topology, rows)


class Bridges(NamedTuple):
    """Ways of a network without which it falls apart: nothing can flow through them."""

    graph: Any  # of nodes; a reference, a mass and whatever else takes up flow leads outside
    ways: set[tuple[int, int]]
    part: dict[int, int]  # of each node, what hangs together by other ways


def _bridges(topology: Topology, domain: Domain) -> Bridges | None:
    """The bridges of a domain, those from its nodes to what takes up flow among them."""
    import networkx as nx

    if topology.count > MOST_NODES:
        return None
    graph, outside = nx.MultiGraph(), topology.count
    graph.add_edges_from((e.tail, e.head, {"path": e.path}) for e in ways(topology))
    for r in topology.of(domain):
        if domain.name not in r.traits.conserves and r.prescribed is not False:
            graph.add_edges_from((int(n), outside, {"path": ""}) for n in r.nodes)
    found_ = set(nx.bridges(graph))
    rest = nx.Graph(graph)
    rest.remove_edges_from(found_)
    part = {n: k for k, nodes in enumerate(nx.connected_components(rest)) for n in nodes}
    return Bridges(graph, found_, part)


def _in_series(topology: Topology, rows: list[PortRow], known: Bridges) -> Iterator[Finding]:
    """Voltmeters that are the only way on for what they stand in series with.

    Without the meter, everything between its two ends is a bridge of the network: nothing can
    flow there. With it, these ways and the meter form a circle. A meter across one element alone
    is where it belongs.
    """
    import networkx as nx

    network, domain = topology.network, rows[0].domain
    sources = {network.families[f].path(i) for f, traits in enumerate(topology.traits)
               for tie in traits.ties if tie.given and len(tie.ports) == 2
               for i in range(network.families[f].size)}
    graph, part = known.graph, known.part
    word = quantity_word(*next(iter(domain.through.items())))
    for i, (a, b) in enumerate(zip(rows[0].nodes.tolist(), rows[1].nodes.tolist(), strict=True)):
        if a not in graph or b not in graph or part[a] == part[b] or (
                not nx.has_path(graph, a, b)):
            continue
        nodes = nx.shortest_path(graph, a, b)
        dead = [graph.edges[u, v, 0]["path"] for u, v in zip(nodes, nodes[1:], strict=False)
                if (u, v) in known.ways or (v, u) in known.ways]
        still = [path for path in dead if path and path not in sources]
        if still and len(dead) > 1:
            meter = rows[0].path(i)
            yield found(
                "network.meter", [meter, *still[:19]],
                f"{meter} lets no {word} through, and {listed(still)} "
                f"{'carries' if len(still) == 1 else 'carry'} none, since no other way leads on.",
                f"Nothing to do if that is meant. To measure across something, connect {meter} in "
                "parallel with it.")


def _in_parallel(topology: Topology, rows: list[PortRow]) -> Iterator[Finding]:
    """Elements whose two ports an ammeter joins."""
    by_name = {r.name: r.nodes for r in rows}
    pair = next((t.ports for t in rows[0].traits.ties
                 if not t.given and len(t.ports) == 2 and set(t.ports) <= set(by_name)), None)
    if pair is None:
        return
    joined = {frozenset(ends): i for i, ends in enumerate(zip(
        *(by_name[name].tolist() for name in pair), strict=True))}
    short: dict[int, list[str]] = {}
    for first, *others in topology.groups(rows[0].domain):
        if len(others) == 1 and not first.traits.ties and first.prescribed is None:
            for k, ends in enumerate(zip(first.nodes.tolist(), others[0].nodes.tolist(),
                                         strict=True)):
                if len({*ends}) == 2 and frozenset(ends) in joined:
                    short.setdefault(joined[frozenset(ends)], []).append(first.path(k))
    domain = rows[0].domain
    across = quantity_word(*next(iter(domain.across.items())))
    through = quantity_word(*next(iter(domain.through.items())))
    for i, paths in short.items():
        meter = rows[0].path(i)
        yield found(
            "network.shorted", [*paths[:19], meter],
            f"{meter} joins both ports of {listed(paths)}, and no {across} can stand across it.",
            f"To measure the {through}, connect {meter} in series with what it measures.")
