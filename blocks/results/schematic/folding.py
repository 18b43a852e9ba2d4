"""How does a picture that is wider than a page stand in rows?

It is cut where only wires run. Where a wire goes on is told by a letter in a circle: ends with one
letter are joined. What a row would have of wires that only pass through it is left out.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from string import ascii_letters

import networkx as nx
import numpy as np

from ...numerics.arrays import Array
from .glyphs import Box
from .picture import SMALL, Line, Picture

__all__ = ["in_rows"]

PAD, OUT, RADIUS = 20.0, 7.0, 5.5  # pixels beside a cut, of wire there, and of the circle
BETWEEN = 16.0  # pixels between rows
ROW, BAD = 3.0, 9.0  # cut wires as bad as a row more; as circles that touch, or a pixel too wide
CIRCLE = RADIUS * np.array([(np.cos(t), np.sin(t)) for t in np.linspace(0, 2 * np.pi, 17)])


def in_rows(network: Box, width: float) -> Box:
    """The picture of a network in rows that are no wider, where it can be cut so."""
    places = [0.0, *_cuts(network, width), network.width] if network.width > width else []
    if len(places) < 3:
        return network
    letters: dict[str, str] = {}
    found = Box(0.0, -BETWEEN)
    for a, b in pairwise(places):
        row = _row(network.picture, a, b)
        for at, way in ((0.0, -1), (b - a, 1)):
            cut = {(p.owner, p.points[0, 1]): p.ink for p in row.lines if _may_be_cut(p)
                   and at in p.points[:, 0] and np.ptp(p.points[:, 1]) == 0
                   and 0 < at + a < network.width}
            for (net, y), ink in cut.items():
                letter = letters.setdefault(net, ascii_letters[len(letters) % len(ascii_letters)])
                middle = at + way * (OUT + RADIUS)
                row.draw([(at, y), (at + way * OUT, y)], ink, "wire", owner=net)
                row.draw(CIRCLE + [middle, y], ink, "wire")
                row.write(middle, y + 3.2, letter, SMALL, "middle")
        extents = row.extents()
        if not len(extents):  # wires alone pass there
            continue
        left, top = extents[:, 0].min(), extents[:, 1].min()
        found.picture.add(row, -left, found.height + BETWEEN - top)
        found.height += BETWEEN + extents[:, 3].max() - top
        found.width = max(found.width, extents[:, 2].max() - left)
    return found


def _may_be_cut(line: Line) -> bool:
    return line.kind in ("wire", "dot") and bool(line.owner) and not line.filled


def _cuts(network: Box, width: float) -> list[float]:
    """Where to cut so that rows are few, and wires that are cut few and apart from each other."""
    picture = network.picture
    wires = Picture([p for p in picture.lines if _may_be_cut(p)]).extents()
    upright = wires[wires[:, 0] == wires[:, 2], 0]
    fixed = [p.box()[::2] for p in picture.lines if not _may_be_cut(p)]
    parts = {owner: [box] for owner, box in picture.areas.items()}
    for text in picture.texts:
        parts.setdefault(text.owner or text.words, []).append(text.box())  # a part has its name
    fixed += [(min(b[0] for b in of), max(b[2] for b in of)) for of in parts.values()]
    places, reached = list[float](), min(fixed)[1]
    for left, right in sorted(fixed):
        between = np.unique([reached, left, *upright[(reached < upright) & (upright < left)]])
        places += [(a + b) / 2 for a, b in pairwise(between) if reached < left and b - a > 4]
        reached = max(reached, right)
    best: dict[float, tuple[float, list[float]]] = {0.0: (0.0, [])}
    for x in [*places, network.width]:
        cut = np.unique(wires[(wires[:, 0] < x) & (x < wires[:, 2]), 1])
        cost = ROW + len(cut) + BAD * np.count_nonzero(np.diff(cut) < 2 * RADIUS + 1)
        room = width - PAD * (x < network.width)
        best[x] = min((before + cost + BAD * max(0.0, x - a + PAD * (a > 0) - room), [*way, x])
                      for a, (before, way) in best.items())
    return best[network.width][1][:-1]


def _row(picture: Picture, a: float, b: float) -> Picture:
    """What lies between two places, counted from the first; of wires what parts there have."""
    row = Picture([p for p in picture.lines if not _may_be_cut(p) and a <= p.box()[0] < b],
                  [t for t in picture.texts if a <= t.box()[0] < b], picture.hints,
                  {name: box for name, box in picture.areas.items() if a <= box[0] < b})
    wires = [replace(p, points=p.points.clip([a, -np.inf], [b, np.inf])) for p in picture.lines
             if _may_be_cut(p) and p.box()[0] < b and p.box()[2] > a]
    boxes, parts = (np.array([*of]).reshape(-1, 4)[:, None] for of in (
        (p.box() for p in wires), row.areas.values()))
    nets = np.array([p.owner for p in wires])
    near = _touch(boxes, boxes[:, 0]) * (nets[:, None] == nets)
    held = _touch(boxes, parts[:, 0]).sum(axis=1)
    row.lines += [wires[k] for group in nx.connected_components(nx.from_numpy_array(near))
                  if held[list(group)].sum() for k in sorted(group)]
    moved = Picture()
    moved.add(row, -a, 0.0)
    return moved


def _touch(one: Array, two: Array) -> Array:
    reach = np.concatenate([two[:, :2] - one[..., 2:], one[..., :2] - two[:, 2:]], axis=-1)
    return np.asarray((reach <= 1.5).all(axis=-1), dtype=float)
