"""In which column of a schematic does each part stand, and which way round?

Breadth first from the sources through the nets; what hangs on a net stands before what leads
on from it. Signals run to the right as far as loops let them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import networkx as nx

from .glyphs import Drawing, main_pins, posture_of
from .parts import Part

__all__ = ["columns_of"]

STACKED = 5  # parts that hang on one net up to which they stand side by side


def columns_of(parts: Sequence[Part], sheet: Drawing, entering: Mapping[int, str]
               ) -> tuple[dict[int, int], dict[int, bool]]:
    """Columns of the parts by their numbers, and whether each is mirrored.

    ``entering`` says of parts that stand for the ports of a frame at which side, left or right.
    """
    reach = _Reach(parts, sheet, entering)
    order = nx.DiGraph()
    order.add_nodes_from(range(len(parts)))
    order.add_edges_from(reach.precedences())
    for net in sorted({p.net for part in parts for p in part.pins if p.signal} & sheet.live):
        out, to = ([k for k, part in enumerate(parts) for p in part.pins
                    if p.net == net and p.signal == way] for way in ("out", "in"))
        for a, b in product(out, to):
            if a != b and not nx.has_path(order, b, a):
                order.add_edge(a, b)
    column = {k: c for c, parallel in enumerate(nx.topological_generations(order))
              for k in parallel}  # fmt: skip
    for k in reversed(list(nx.topological_sort(order))):  # signals close to where they go
        to = list(order.successors(k))
        if to and (not parts[k].physical() or not list(order.predecessors(k))):
            column[k] = min(column[j] for j in to) - 1
    inner = [c for k, c in column.items() if k not in entering] or [0]
    first = min(inner) - 1 if "left" in entering.values() else min(inner)
    edge = {"left": 0, "right": max(inner) + 1 - first}  # where the ports of a frame stand
    return ({k: edge[entering[k]] if k in entering else c - first for k, c in column.items()},
            {k: reach.mirrored(k) for k in range(len(parts))})


class _Reach:
    """How far every part and net is from where the drawing starts."""

    def __init__(self, parts: Sequence[Part], sheet: Drawing, entering: Mapping[int, str]) -> None:
        self.parts, self.sheet, self.entering = parts, sheet, entering
        self.nets = [list(dict.fromkeys(p.net for p in part.physical() if p.net in sheet.live))
                     for part in parts]  # fmt: skip
        self.on: dict[int, list[int]] = {}
        for k, nets in enumerate(self.nets):
            for net in nets:
                self.on.setdefault(net, []).append(k)
        self.far: dict[int, int] = {}  # of parts
        self.net_far: dict[int, int] = {}
        joined = nx.Graph((k, ("net", net)) for net, members in self.on.items() for k in members)
        joined.add_nodes_from(range(len(parts)))
        for start in sorted(range(len(parts)), key=self._rank):
            if start not in self.far:
                for at, steps in nx.single_source_shortest_path_length(joined, start).items():
                    if isinstance(at, tuple):
                        self.net_far[at[1]] = steps // 2
                    else:
                        self.far[at] = steps // 2

    def _rank(self, k: int) -> tuple[int, int]:
        """Ports of a frame first, then sources, ends of chains, and all others."""
        symbol = self.parts[k].symbol
        if self.entering.get(k) == "left":
            return 0, k
        if symbol is not None and symbol.source:
            return 1, k
        return (2 if len(self.nets[k]) == 1 else 3), k

    def precedences(self) -> list[tuple[int, int]]:
        """Pairs of parts of which the first stands to the left."""
        found = []
        for net, members in self.on.items():
            before = [k for k in members if len(self.nets[k]) > 1
                      and self.far[k] <= self.net_far[net]]  # fmt: skip
            stay = [k for k in members
                    if len(self.nets[k]) == 1 and self.entering.get(k) != "right"]  # fmt: skip
            stay.sort(key=lambda k: (self.far[k], posture_of(self.parts[k], self.sheet) != "body"))
            after = [k for k in members if k not in before and k not in stay]
            rows = -(-len(stay) // STACKED)
            chain = [stay[i : i + rows] for i in range(0, len(stay), max(rows, 1))]
            groups = [g for g in (before, *chain, after) if g]
            for group, following in zip(groups, groups[1:], strict=False):
                found += [(a, b) for a in group for b in following
                          if self.far[a] != self.far[b] or len(self.nets[a]) <= 1]
        return found

    def mirrored(self, k: int) -> bool:
        """Whether a part's ports on the left are farther away than those on the right."""
        part, posture = self.parts[k], posture_of(self.parts[k], self.sheet)
        if posture not in ("along", "box") or part.inside:
            return False
        lefts = part.sides()[0]
        sides = [[pin] for pin in main_pins(part)] if posture == "along" else [
            lefts, [p for p in part.physical() if p not in lefts]]
        if not all(sides):
            return False
        if len(self.nets[k]) < 2:
            wired = [any(p.net in self.sheet.live for p in side) for side in sides]
            return wired == [self.far[k] == 0, self.far[k] > 0]
        left, right = (min((self.net_far.get(p.net, 10**6) for p in side), default=0)
                       for side in sides)
        return left > right
