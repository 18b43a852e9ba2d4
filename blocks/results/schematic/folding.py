"""How does a picture that is wider than a page stand in rows?

It is cut where only wires run. Where a wire goes on is told by a letter in a circle: ends with one
letter are joined. What a row would have of wires that only pass through it is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from string import ascii_letters

import numpy as np

from ...numerics.arrays import Array
from .glyphs import Box
from .picture import SMALL, Line, Picture

__all__ = ["in_rows"]

PAD, OUT, RADIUS = 20.0, 7.0, 5.5  # pixels beside a cut, of wire there, and of the circle
BETWEEN = 16.0  # pixels between rows
ROW, BAD = 3.0, 9.0  # cut wires as bad as a row more; as circles that touch, or a pixel too wide


def in_rows(network: Box, width: float) -> Box:
    """The picture of a network in rows that are no wider, where it can be cut so."""
    places = [0.0, *_cuts(network, width), network.width] if network.width > width else []
    if len(places) < 3:
        return network
    letters: dict[str, str] = {}
    found = Box(0.0, -BETWEEN)
    for a, b in pairwise(places):
        row = _row(network.picture, a, b)
        wires = [p for p in row.lines if _may_be_cut(p)]
        for at, way in ((0.0, -1), (b - a, 1)):
            here = {(p.owner, p.points[0, 1]): p.ink for p in wires if at in p.points[:, 0]
                    and p.points[0, 1] == p.points[1, 1] and 0 < at + a < network.width}
            for (net, y), ink in here.items():
                letter = letters.setdefault(net, ascii_letters[len(letters) % len(ascii_letters)])
                _mark(row, at, y, way, letter, ink, net)
        boxes = np.array(list(_extents(row)))
        left, top = boxes[:, 0].min(), boxes[:, 1].min()
        found.picture.add(row, -left, found.height + BETWEEN - top)
        found.height += BETWEEN + boxes[:, 3].max() - top
        found.width = max(found.width, boxes[:, 2].max() - left)
    return found


def _mark(row: Picture, x: float, y: float, way: int, letter: str, ink: str, net: str) -> None:
    turns, centre = np.linspace(0, 2 * np.pi, 17), x + way * (OUT + RADIUS)
    row.draw([(x, y), (x + way * OUT, y)], ink, "wire", owner=net)
    row.draw(np.column_stack([centre + RADIUS * np.cos(turns), y + RADIUS * np.sin(turns)]), ink,
             "wire")
    row.write(centre, y + 3.2, letter, SMALL, "middle")


def _may_be_cut(line: Line) -> bool:
    return line.kind == "wire" and bool(line.owner) and not line.filled


def _pieces(picture: Picture) -> Iterator[tuple[Line, Array]]:
    """Straight pieces of wires between parts."""
    for p in picture.lines:
        if _may_be_cut(p):
            yield from ((p, np.array(ends)) for ends in pairwise(p.points))


def _box(points: Array) -> Array:
    return np.concatenate([points.min(axis=0), points.max(axis=0)])


def _extents(picture: Picture) -> Iterator[Array]:
    """Left, top, right, bottom of all there is."""
    yield from (_box(p.points) for p in picture.lines)
    yield from (np.array(t.box()) for t in picture.texts)
    yield from map(np.array, picture.areas.values())


def _cuts(network: Box, width: float) -> list[float]:
    """Where to cut so that rows are few, and wires that are cut few and apart from each other."""
    picture = network.picture
    wires = np.array([_box(ends) for _, ends in _pieces(picture)]).reshape(-1, 4)
    upright = wires[wires[:, 0] == wires[:, 2], 0]
    fixed = [(p.points[:, 0].min(), p.points[:, 0].max()) for p in picture.lines
             if not _may_be_cut(p) and p.kind != "dot"]  # fmt: skip
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
    whole = Picture([p for p in picture.lines if not _may_be_cut(p) and a <= _box(p.points)[0] < b],
                    [t for t in picture.texts if a <= t.box()[0] < b], picture.hints,
                    {name: box for name, box in picture.areas.items() if a <= box[0] < b})
    nets: dict[str, list[tuple[Line, Array]]] = {}
    for p, ends in _pieces(picture):
        if ends[:, 0].min() < b and ends[:, 0].max() > a:
            nets.setdefault(p.owner, []).append((p, ends.clip([a, -np.inf], [b, np.inf])))
    areas = list(map(np.array, whole.areas.values()))
    for net, left in nets.items():
        while left:
            group = [left.pop()]
            for _, ends in group:  # which grows
                near = [e for e in left if _touch(_box(ends), _box(e[1]))]
                left = [e for e in left if not any(e is n for n in near)]
                group += near
            if any(_touch(_box(ends), area) for _, ends in group for area in areas):
                for p, ends in group:
                    whole.draw(ends, p.ink, "wire", owner=net)
    row = Picture()
    row.add(whole, -a, 0.0)
    return row


def _touch(one: Array, two: Array) -> bool:
    return bool(np.all(one[:2] <= two[2:] + 1.5) and np.all(two[:2] <= one[2:] + 1.5))
