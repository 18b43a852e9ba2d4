"""Where do the parts of a drawn network go?

Positions in inches for boxes of known size: networkx arranges every connected
part, boxes that overlap are pushed apart, and parts are put side by side.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..numerics.arrays import Array
from ..numerics.tolerances import STANDS

if TYPE_CHECKING:
    from networkx import Graph

__all__ = ["arrange"]

GAP = 0.4  # inches kept free between two boxes, for port labels
EDGE = 0.95  # inches aimed at for an edge


def arrange(
    graph: Graph, sizes: Mapping[Any, tuple[float, float]], down: Collection[Any] = ()
) -> dict[Any, Array]:
    """Centre of every node of a graph, in inches.

    Parameters
    ----------
    graph : networkx graph
    sizes : mapping of node to (width, height)
    down : collection
        Nodes that belong below the others.
    """
    import networkx as nx

    places: dict[Any, Array] = {}
    left = 0.0
    for names in sorted(nx.connected_components(graph), key=len, reverse=True):
        part = nx.Graph(graph.subgraph(sorted(names, key=list(graph).index)))
        nodes = list(part)
        box = np.array([sizes[n] for n in nodes])
        at = _landscape(_first(part, nodes))
        low_ones = [n in down for n in nodes]
        if any(low_ones) and at[low_ones, 1].mean() > at[:, 1].mean():
            at = at * [1, -1]
        at = _pushed_apart(at, box)
        low, high = (at - box / 2).min(axis=0), (at + box / 2).max(axis=0)
        at += [left - low[0], -high[1]]
        left += high[0] - low[0] + 2 * GAP
        places.update(zip(nodes, at, strict=True))
    return places


def _first(part: Graph, nodes: list[Any]) -> Array:
    import networkx as nx

    if len(nodes) == 1:
        return np.zeros((1, 2))
    if len(nodes) <= 250:
        found = nx.kamada_kawai_layout(part)
    else:
        found = nx.spring_layout(part, seed=1, iterations=60)
    at = np.array([found[n] for n in nodes], dtype=float)
    number = {n: k for k, n in enumerate(nodes)}
    ends = np.array([(number[a], number[b]) for a, b in part.edges])
    length = np.median(np.linalg.norm(at[ends[:, 0]] - at[ends[:, 1]], axis=1))
    return at * (EDGE / max(length, STANDS))


def _landscape(at: Array) -> Array:
    """Turned so that the longest extent lies flat."""
    centred = at - at.mean(axis=0)
    if len(at) < 3:
        return np.column_stack([np.linspace(0, np.ptp(centred, axis=0).max(), len(at)),
                                np.zeros(len(at))])  # fmt: skip
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    return centred @ axes.T


def _pushed_apart(at: Array, box: Array, rounds: int = 400) -> Array:
    need = (box[:, None] + box[None]) / 2 + GAP
    for _ in range(rounds):
        between = at[:, None] - at[None]
        overlap = need - np.abs(between)
        hit = np.asarray((overlap > 1e-3).all(axis=2))
        np.fill_diagonal(hit, False)
        if not hit.any():
            break
        flat = overlap[..., 0] < overlap[..., 1]  # push along the shorter way out
        sign = np.where(between == 0, np.sign(np.arange(len(at))[:, None, None]
                                              - np.arange(len(at))[None, :, None]),
                        np.sign(between))  # fmt: skip
        push = np.zeros_like(between)
        push[..., 0] = np.where(hit & flat, overlap[..., 0] * sign[..., 0], 0)
        push[..., 1] = np.where(hit & ~flat, overlap[..., 1] * sign[..., 1], 0)
        at = at + 0.35 * push.sum(axis=1)
    return at
