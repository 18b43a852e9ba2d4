"""The picture of a network: parts in columns, wires at right angles between them.

Columns (:mod:`.layering`), heights (:mod:`.ordering`), wires in channels between them;
frames of opened composites are drawn in the same way, each by itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import networkx as nx

from ...numerics.arrays import Array
from .glyphs import Box, Drawing, Socket, box_of
from .layering import columns_of
from .ordering import Sides, Slot, ends_of, place
from .parts import Part, Pin
from .picture import NAME, Picture, Text

__all__ = ["network_picture"]

TRACK, EDGE = 9.0, 10.0  # pixels between tracks, and between a track and the columns
NEAR = 3.5  # heights at which two wires would look like one
CLEAR = 6.0  # along a track between two nets that share it
PAD = 16.0  # pixels within a frame
TITLE = 20.0
Place: TypeAlias = tuple[float, float]


def network_picture(parts: Sequence[Part], sheet: Drawing) -> Box:
    """All parts with their wires, as one box without sockets."""
    return _Plan(parts, sheet, {}).box()


class _Plan:
    """Parts of one level: of the model, or of a frame with its ports."""

    def __init__(self, parts: Sequence[Part], sheet: Drawing, sides: Mapping[str, str]) -> None:
        self.sheet = sheet
        self.parts = list(parts)
        entering = {k: sides[p.path] for k, p in enumerate(parts) if p.type == ""}
        self.column, mirrored = columns_of(self.parts, sheet, entering)
        self.boxes = {k: self._box(k, mirrored[k], entering) for k in range(len(parts))}
        self.slots: list[Slot] = []
        self.slot_of: dict[int, int] = {}
        self.passing: dict[int, int] = {}  # slot to net
        self.signals = {p.net for part in parts for p in part.pins if p.signal}
        self._fill()

    def _box(self, k: int, mirrored: bool, entering: Mapping[int, str]) -> Box:
        part = self.parts[k]
        if k in entering:
            side = "right" if entering[k] == "left" else "left"
            return Box(0.0, 14.0, [Socket(part.pins[0].net, side, 7.0)])
        if part.inside:
            return _frame(part, self.sheet)
        return box_of(part, self.sheet, mirrored)

    # -- slots -----------------------------------------------------------------------------
    def _fill(self) -> None:
        """Slots of parts, and of wires where nothing lets a net through a column."""
        fixed: dict[int, list[int]] = {}  # channels that a net must reach
        rails: dict[int, list[int]] = {}
        for k, box in self.boxes.items():
            column = self.column[k]
            self.slot_of[k] = len(self.slots)
            ends = [(s.net, column + (s.side == "right"), s.dy) for s in box.sockets]
            for net, channel, _ in ends:
                fixed.setdefault(net, []).append(channel)
            self.slots.append(Slot(column, box.height, ends, k))
            if box.rail >= 0:
                rails.setdefault(box.rail, []).append(k)
        for net in sorted({*fixed, *rails}):
            self._span(net, fixed.get(net, []), rails.get(net, []))

    def _span(self, net: int, channels: list[int], rails: list[int]) -> None:
        columns = sorted(self.column[k] for k in rails)
        channels = channels or [columns[0] + 1]
        first, last = min(channels), max(channels)
        first = min([first, *(c + 1 for c in columns if c < first)])
        last = max([last, *(c for c in columns if c >= last)])
        passed = set()
        for k in rails:
            column, box = self.column[k], self.boxes[k]
            sides = [c for c in (column, column + 1) if first <= c <= last]
            self.slots[self.slot_of[k]].ends += [(net, c, box.rail_dy) for c in sides]
            if len(sides) == 2:
                passed.add(column)
        for column in range(first, last):
            if column not in passed:
                self.passing[len(self.slots)] = net
                self.slots.append(Slot(column, 0.0, [(net, column, 0.0), (net, column + 1, 0.0)]))

    # -- picture ---------------------------------------------------------------------------
    def box(self) -> Box:
        top = place(self.slots, dict.fromkeys(self.signals, 0.6))
        last = max(self.column.values(), default=0)
        edges = self._edges(top, last)
        picture = Picture()
        for k, box in self.boxes.items():
            column = self.column[k]
            wide = edges[column][1] - edges[column][0]
            if self.parts[k].type == "":
                wide = 0.0 if column == 0 else 2 * wide
            box.x = edges[column][0] + (wide - box.width) / 2
            box.y = float(top[self.slot_of[k]])
            picture.add(box.picture, box.x, box.y)
            self._stubs(picture, k, edges[column])
        for slot, net in self.passing.items():
            y = float(top[slot])
            left, right = edges[self.slots[slot].column]
            picture.draw([(left, y), (right, y)], self.sheet.nets[net].colour, "wire",
                         owner=str(net))  # fmt: skip
        for start, (_, lines) in self.channels.values():
            for net, ends in lines:
                picture.draw([(start + x, y) for x, y in ends], self.sheet.nets[net].colour,
                             "wire" if len(ends) > 1 else "dot", owner=str(net))
        width = max([end for _, end in edges.values()]
                    + [start + width for start, (width, _) in self.channels.values()])
        height = max([0.0, *(box.y + box.height for box in self.boxes.values()),
                      *(float(top[s]) + 6 for s in self.passing)])
        sockets = [Socket(self.parts[k].pins[0].net, "left" if self.column[k] == 0 else "right",
                          box.y + 7.0) for k, box in self.boxes.items() if self.parts[k].type == ""]
        return Box(width, height, sockets, picture)

    def _edges(self, top: Array, last: int) -> dict[int, tuple[float, float]]:
        """Left and right edge of every column."""
        ends, edges, x = ends_of(self.slots, top), {}, 0.0
        self.channels = {}
        for column in range(last + 1):
            wide = max((box.width for k, box in self.boxes.items()
                        if self.column[k] == column), default=0.0)  # fmt: skip
            if column in ends:
                self.channels[column] = x, route(ends[column])
                x += self.channels[column][1][0]
            edges[column] = x, x + wide
            x += wide
        if last + 1 in ends:
            self.channels[last + 1] = x, route(ends[last + 1])
        return edges

    def _stubs(self, picture: Picture, k: int, edge: tuple[float, float]) -> None:
        """Wires from a part to the edges of its column."""
        box, column = self.boxes[k], self.column[k]
        for s in box.sockets:
            y = box.y + s.dy
            x = box.x if s.side == "left" else box.x + box.width
            picture.draw([(x, y), (edge[s.side == "right"], y)], self.sheet.nets[s.net].colour,
                         "wire", owner=str(s.net))  # fmt: skip
        used = [c for net, c, _ in self.slots[self.slot_of[k]].ends
                if net == box.rail][-2:] if box.rail >= 0 else []
        y, ink = box.y + box.rail_dy, self.sheet.nets[box.rail].colour if box.rail >= 0 else ""
        for channel in used:
            side = channel - column
            x = box.x + box.rail_ends[side]
            picture.draw([(edge[side], y), (x, y)], ink, "wire", owner=str(box.rail))
        if len(used) == 2 and box.rail_ends[0] == box.rail_ends[1]:
            picture.draw([(box.x + box.rail_ends[0], y)], ink, "dot", owner=str(box.rail))


def _frame(part: Part, sheet: Drawing) -> Box:
    """An opened composite: its parts in a frame, its ports at the edges."""
    pins = [p for p in part.pins if p.net in sheet.live and sheet.sign(p) is None]
    physical = [p for p in pins if not p.signal]
    half = (len(physical) + 1) // 2
    left = {p.name for p in physical[:half]} | {p.name for p in pins if p.signal == "in"}
    sides: dict[str, str] = {}
    ports: list[Part] = []
    nets: set[int] = set()
    for pin in pins:
        if pin.net in nets:
            continue
        nets.add(pin.net)
        signal = {"in": "out", "out": "in", "": ""}[pin.signal]  # inside, an input gives one
        end = Part(f"{part.path}.{pin.name}", "", (Pin(pin.name, pin.net, signal),))
        sides[end.path] = "left" if pin.name in left else "right"
        ports.append(end)
    inner = _Plan([*ports, *part.inside], sheet, sides).box()
    numbers = sheet.marks.get(part.path, ())
    title = part.name + (f" ({', '.join(map(str, numbers))})" if numbers else "")
    label = Text(8.0, 14.0, title, NAME, wrong=bool(numbers), owner=part.path)
    width = max(inner.width + 2 * PAD, label.box()[2] + 8)
    height = inner.height + TITLE + PAD
    picture = Picture(texts=[label], hints={part.path: part.hint})
    picture.draw([(0, 0), (width, 0), (width, height), (0, height), (0, 0)], kind="frame",
                 owner=part.path, wrong=bool(numbers))  # fmt: skip
    shift = (width - inner.width) / 2
    picture.add(inner.picture, shift, TITLE)
    for s in inner.sockets:
        ends = (0.0, shift) if s.side == "left" else (width, width - shift)
        picture.draw([(x, s.dy + TITLE) for x in ends], sheet.nets[s.net].colour, "wire",
                     owner=str(s.net))
    return Box(width, height, [replace(s, dy=s.dy + TITLE) for s in inner.sockets], picture)


@dataclass
class _Track:
    """A vertical piece of a net: heights of its ends on the left and on the right."""

    net: int
    left: list[float]
    right: list[float]
    left_to: int = -1  # the track that continues it at ``bend``
    bend: float = 0.0
    x: float = 0.0

    def span(self) -> tuple[float, float]:
        every = [*self.left, *self.right, *([self.bend] if self.left_to != -1 else [])]
        return min(every), max(every)


def route(given: Mapping[int, Sides]) -> tuple[float, list[tuple[int, list[Place]]]]:
    """Wires of the channel between two columns: its width, from whose left edge x is counted, and
    nets with the ends of each line; of a dot the place.

    Given are per net its heights on the left and on the right.
    """
    ends = {net: [list(dict.fromkeys(round(y, 2) for y in side)) for side in sides]
            for net, sides in given.items()}
    tracks = [_Track(net, sorted(left), sorted(right)) for net, (left, right) in ends.items()
              if len({*left, *right}) > 1]  # fmt: skip
    order = _cut(tracks)
    _assign(tracks, order)
    most = max((t.x for t in tracks), default=-1.0)
    width = 2 * EDGE + most if tracks else EDGE
    shift = (width - most) / 2 if tracks else 0.0
    lines: list[tuple[int, list[Place]]] = []
    for net, (left, right) in ends.items():
        own = [t for t in tracks if t.net == net]
        if not own and left and right:
            lines.append((net, [(0.0, left[0]), (width, left[0])]))
        for track in own:
            lines += ((net, line) for line in _lines(track, tracks, shift, width))
    return width, lines


def _cut(tracks: list[_Track]) -> nx.DiGraph:
    """Which track is left of which; tracks are split until there is no circle."""
    while True:
        order = nx.DiGraph()
        order.add_nodes_from(range(len(tracks)))
        for a, first in enumerate(tracks):
            for b, second in enumerate(tracks):
                if first.net != second.net and any(abs(p - q) < NEAR for p in first.left
                                                   for q in second.right):  # fmt: skip
                    order.add_edge(a, b)
            if first.left_to >= 0:
                order.add_edge(a, first.left_to)
        try:
            circle = nx.find_cycle(order)
        except nx.NetworkXNoCycle:
            return order
        a = min(edge[0] for edge in circle if tracks[edge[0]].left and tracks[edge[0]].right)
        used = {y for t in tracks for y in (*t.left, *t.right, t.bend)}
        low, high = tracks[a].span()
        bend = next(y for k in range(400) for y in (round((low + high) / 2) + 4.0 * k,
                    round((low + high) / 2) - 4.0 * k)
                    if all(abs(y - u) > NEAR for u in used))  # fmt: skip
        tracks.append(_Track(tracks[a].net, [], tracks[a].right, bend=bend, left_to=-2))
        tracks[a] = _Track(tracks[a].net, tracks[a].left, [], len(tracks) - 1, bend)


def _assign(tracks: list[_Track], order: nx.DiGraph) -> None:
    """The first place to the right of all that must be left of it, and free along its span."""
    taken: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    level: dict[int, int] = {}

    def wish(k: int) -> tuple[int, float]:
        track = tracks[k]
        start = track.left[0] if track.left else track.bend
        down = track.span()[1] > start
        return (0, -start) if down else (1, start)

    for k in nx.lexicographical_topological_sort(order, key=wish):
        low, high = tracks[k].span()
        place = max((level[j] + 1 for j in order.predecessors(k)), default=0)
        while any(low < h + CLEAR and l < high + CLEAR for l, h in taken[place]):
            place += 1
        taken[place].append((low, high))
        level[k] = place
        tracks[k].x = place * TRACK


def _lines(track: _Track, tracks: list[_Track], shift: float, width: float
           ) -> Iterator[list[Place]]:
    x, (low, high) = track.x + shift, track.span()
    yield [(x, low), (x, high)]
    yield from ([(0.0, y), (x, y)] for y in track.left)
    yield from ([(x, y), (width, y)] for y in track.right)
    ways = Counter([*track.left, *track.right])
    if track.left_to >= 0:
        yield [(x, track.bend), (tracks[track.left_to].x + shift, track.bend)]
    if track.left_to != -1:
        ways[track.bend] += 1
    yield from ([(x, y)] for y, count in ways.items() if count + (y > low) + (y < high) >= 3)
