"""How do the parts of 1-D mechanics stand along their axis?

For films: every node of a network gets a place of its own from left to right, elements lie between
the places of their ends, in lanes above each other, and what the network stands on is a wall.
Domains are known by their units: what meets at a port is a velocity, or an angular velocity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import networkx as nx
import numpy as np

from ..assembly.network import Network
from ..language.component import Component
from ..language.declarations import Output, Port, Signal, declarations
from ..language.domain import Domain
from ..shapes import AxisBody, AxisElement, Shape, Symbol
from ..units import unit

__all__ = ["lined_up"]

MOST = 200  # elements above which nothing could be told apart
NAMED = 12  # elements up to which each is named
HALF = {True: 0.3, False: 0.2}  # half the width of a body: of a disc, of a mass
EDGE = 0.42  # of a lane, from its middle to the edge of a body


@dataclass
class _Circuit:
    """The nodes of one network and what lies between them."""

    domain: Domain
    speed: dict[int, str] = field(default_factory=dict)  # path of the velocity, by node
    bodies: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    fixed: set[int] = field(default_factory=set)
    elements: list[tuple[int, int, str, Symbol | None]] = field(default_factory=list)

    @property
    def turns(self) -> bool:
        return next(iter(self.domain.across.values())).angular


def lined_up(network: Network, root: Component) -> list[Shape]:
    """Shapes of all 1-D mechanics of a model, with paths of velocities; none of a huge one.

    ``root`` is the model as it was when the network was made.
    """
    shapes: list[Shape] = []
    top = 0.0
    for circuit in _circuits(network, root):
        if not circuit.elements or len(circuit.elements) > MOST:
            continue
        made = list(_shapes(circuit, top))
        shapes += made
        top = 1.2 + max(s.span[1] for s in made if isinstance(s, AxisBody))
    return shapes


def _circuits(network: Network, root: Component) -> list[_Circuit]:
    """The mechanical networks of a model: parts that hang together but for their walls."""
    found: dict[str, _Circuit] = {}
    for leaf in (p for p in (root, *root.parts.values()) if not p.is_composite):
        ports = [d for d in declarations(leaf).values() if isinstance(d, Port) and d.exists(leaf)
                 and len(d.domain.across) == len(d.domain.through) == 1 and all(
                     speed.dimension == unit("m/s").dimension or speed.angular
                     for speed in d.domain.across.values())]
        for domain in dict.fromkeys(p.domain for p in ports):
            circuit = found.setdefault(domain.name, _Circuit(domain))
            own = [p for p in ports if p.domain == domain]
            for i in range(leaf.size):
                _add(circuit, network, leaf, own, i)
    return [part for circuit in found.values() for part in _apart(circuit)]


def _add(circuit: _Circuit, network: Network, leaf: Component, ports: list[Port], i: int) -> None:
    """What an instance of a component is to a circuit."""
    path = leaf.path if leaf._count is None else f"{leaf.path}[{i}]"
    (speed,) = circuit.domain.across
    nodes = []
    for port in ports:
        node = int(network.node_of[network.numbers(leaf.path, port.name)][i])
        circuit.speed.setdefault(node, f"{path}.{port.name}.{speed}")
        nodes.append(node)
    symbol = getattr(type(leaf), "symbol", None)
    symbol = symbol if isinstance(symbol, Symbol) and symbol.strokes else None
    if getattr(type(leaf), "grounds", False):
        circuit.fixed.update(nodes)
    elif len(nodes) == 1 and symbol is not None and symbol.rigid:
        circuit.bodies[nodes[0]].append(path)
    elif len(nodes) > 1 and nodes[0] != nodes[1]:
        signals = [d for d in declarations(leaf).values() if isinstance(d, Signal)
                   and d.exists(leaf)]
        if not signals or not all(isinstance(d, Output) for d in signals) or (
                symbol is not None and symbol.source):  # no sensor, through which nothing acts
            circuit.elements.append((nodes[0], nodes[1], path, symbol))


def _apart(circuit: _Circuit) -> Iterator[_Circuit]:
    """Machines that share nothing but the wall, each by itself; those that hold on to nothing."""
    free = nx.Graph()
    free.add_nodes_from(n for n in circuit.speed if n not in circuit.fixed)
    free.add_edges_from((a, b) for a, b, *_ in circuit.elements
                        if a not in circuit.fixed and b not in circuit.fixed)
    for nodes in nx.connected_components(free):
        elements = [e for e in circuit.elements if e[0] in nodes or e[1] in nodes]
        yield _Circuit(circuit.domain, circuit.speed,
                       {n: circuit.bodies[n] for n in sorted(nodes) if circuit.bodies[n]},
                       circuit.fixed, elements)


def _shapes(circuit: _Circuit, bottom: float) -> Iterator[Shape]:
    """Bodies and elements, above a height."""
    place = _places(circuit)
    ends = [_ends(place, a, b) for a, b, *_ in circuit.elements]
    lanes = _lanes(ends)
    reach: dict[float, list[int]] = {x: [] for x in place.values()}
    for (left, right), lane in zip(ends, lanes, strict=True):
        reach.setdefault(left, []).append(lane)
        reach.setdefault(right, []).append(lane)
    node_at = {x: n for n, x in place.items()}
    wall = min(circuit.fixed & {n for e in circuit.elements for n in e[:2]}, default=-1)
    for x, used in reach.items():
        node = node_at.get(x, wall)
        span = (bottom + min(used, default=0) - EDGE, bottom + max(used, default=0) + EDGE)
        yield AxisBody((circuit.speed[node],), x, span, ", ".join(circuit.bodies.get(node, ())),
                       node in circuit.fixed, circuit.turns, circuit.domain.colour)
    for (a, b, path, symbol), (left, right), lane in zip(circuit.elements, ends, lanes,
                                                         strict=True):  # fmt: skip
        first, second = (b, a) if place.get(b) == left or place.get(a) == right else (a, b)
        room = [HALF[circuit.turns] if n in circuit.bodies and (
            not circuit.turns or lane == min(reach[x])) else 0.0
            for n, x in ((first, left), (second, right))]
        yield AxisElement((circuit.speed[first], circuit.speed[second]),
                          (left + room[0], right - room[1]), bottom + lane,
                          _strokes(symbol, first == b), path if len(ends) <= NAMED else "",
                          symbol.letters if symbol else "", circuit.turns)  # fmt: skip


def _places(circuit: _Circuit) -> dict[int, float]:
    """Where nodes that are free to move stand: one after the other, along the longest ways."""
    joined = nx.Graph()
    joined.add_nodes_from(circuit.bodies)
    joined.add_edges_from((a, b) for a, b, *_ in circuit.elements)
    walls = [n for n in joined if n in circuit.fixed]
    ends = sorted((n for n in joined if joined.degree(n) <= 1), key=list(joined).index)
    start = (walls or ends or list(joined))[0]
    order = [n for n in nx.dfs_preorder_nodes(joined, start) if n not in circuit.fixed]
    order += [n for n in joined if n not in circuit.fixed and n not in order]
    return {n: float(k + 1) for k, n in enumerate(order)}


def _ends(place: dict[int, float], a: int, b: int) -> tuple[float, float]:
    """Places of both ends from left to right; the last node has a wall of its own beside it."""
    at = [place.get(n) for n in (a, b)]
    free = [x for x in at if x is not None]
    last = float(len(place))
    if len(free) == 2:
        return min(free), max(free)
    return (last, last + 1) if free == [last] and last > 1 else (0.0, free[0])


def _lanes(ends: list[tuple[float, float]]) -> list[int]:
    """Heights, in whole numbers: the short ones below, none through the body of another."""
    lanes = [0] * len(ends)
    taken: list[tuple[float, float, int]] = []
    for k in sorted(range(len(ends)), key=lambda k: (ends[k][1] - ends[k][0], ends[k][0])):
        left, right = ends[k]
        low = max((lane + 1 for x, y, lane in taken if left < x < right or left < y < right),
                  default=0)
        used = {lane for x, y, lane in taken if x < right and left < y}
        lanes[k] = next(n for n in range(low, low + len(taken) + 1) if n not in used)
        taken.append((left, right, lanes[k]))
    return lanes


def _strokes(symbol: Symbol | None, mirrored: bool) -> list[Any]:
    """Lines of a symbol, its ends at x = -3 and 3; a box where there is none."""
    if symbol is None or symbol.left:
        box = [(-1.5, -1.0), (1.5, -1.0), (1.5, 1.0), (-1.5, 1.0), (-1.5, -1.0)]
        return [box, [(-3, 0), (-1.5, 0)], [(1.5, 0), (3, 0)]]
    scale = np.array([-3.0 if mirrored else 3.0, 3.0]) / symbol.half[0]
    return [(stroke.points * scale).tolist() for stroke in symbol.strokes]
