"""Which parts of a large network are drawn as one?

Communities, parts that are joined with each other more than with others (V. Blondel and others,
"Fast unfolding of communities in large networks", 2008), each a box that tells how many it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from .parts import Net, Part, Pin

__all__ = ["clustered"]

MOST = 40  # clusters
LISTED = 12  # names told of a cluster's parts


def clustered(parts: Sequence[Part], nets: Mapping[int, Net], live: Set[int]
              ) -> tuple[list[Part], dict[int, Net]]:
    """Clusters in place of parts, and the bundles of wires between them."""
    groups = _communities(parts, live)
    group_of = {k: g for g, members in enumerate(groups) for k in members}
    joins: dict[int, set[int]] = {}
    for k, part in enumerate(parts):
        for pin in part.pins:
            if pin.net in live:
                joins.setdefault(pin.net, set()).add(group_of[k])
    bundle: dict[tuple[str, frozenset[int]], int] = {}
    kept: dict[int, int] = {}
    size: dict[int, int] = {}
    for net, group in sorted(joins.items()):
        if len(group) > 1:
            kept[net] = bundle.setdefault((nets[net].domain, frozenset(group)), net)
            size[kept[net]] = size.get(kept[net], 0) + 1
    made = [_cluster([parts[k] for k in members], kept, size) for members in groups]
    return made, {n: replace(net, ports=()) if n in size else net for n, net in nets.items()}


def _communities(parts: Sequence[Part], live: Set[int]) -> list[list[int]]:
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(len(parts)))
    for k, part in enumerate(parts):
        graph.add_edges_from((k, ("net", pin.net)) for pin in part.pins if pin.net in live)
    found = nx.community.louvain_communities(graph, seed=1)
    groups = sorted(sorted(k for k in c if isinstance(k, int)) for c in found)
    groups = [g for g in groups if g]
    if len(groups) > MOST:  # many small circuits: what is left over stands together
        groups.sort(key=lambda g: (-len(g), g))
        groups = sorted([*groups[: MOST - 1], sorted(k for g in groups[MOST - 1 :] for k in g)])
    return groups


def _cluster(parts: Sequence[Part], kept: Mapping[int, int], size: Mapping[int, int]) -> Part:
    """One box; a part that is alone stays as it is."""
    if len(parts) == 1:
        return parts[0].on(dict(kept))
    signals: dict[int, str] = {}
    for part in parts:
        for pin in part.pins:
            if pin.net in kept:
                net = kept[pin.net]
                signals[net] = "out" if "out" in (pin.signal, signals.get(net)) else pin.signal
    pins = tuple(Pin(f"{size[n]} wires" if size[n] > 1 else "", n, s)
                 for n, s in sorted(signals.items()))  # fmt: skip
    names = [p.name for p in parts]
    listed = ", ".join(names[:LISTED]) + (f" and {len(names) - LISTED} more"
                                          if len(names) > LISTED else "")  # fmt: skip
    return Part(f"{names[0]} … {names[-1]}", f"{len(parts)} parts", pins,
                hint=f"{len(parts)} parts: {listed}",
                members=tuple(p.path for p in parts))  # fmt: skip
