"""Where do wires run between the columns of a schematic?

Channel routing: every net has a vertical track in a channel where its ends are not at one
height. Where one net's end on the left is as high as another's on the right, the first has the
track further left; a circle of such demands is cut by giving one net two tracks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import networkx as nx

__all__ = ["Channel", "route"]

TRACK, EDGE = 9.0, 10.0  # pixels between tracks, and between a track and the columns
NEAR = 3.5  # heights at which two wires would look like one
CLEAR = 6.0  # along a track between two nets that share it


@dataclass
class Channel:
    """Wires between two columns; x is counted from the channel's left edge.

    Attributes
    ----------
    width : float
    lines : mapping of net to lists of ((x, y), (x, y))
        An x of None is the left or the right edge, told by its place.
    dots : mapping of net to list of (x, y)
    """

    width: float
    lines: dict[int, list[tuple[tuple[float, float], tuple[float, float]]]] = field(
        default_factory=dict)  # fmt: skip
    dots: dict[int, list[tuple[float, float]]] = field(default_factory=dict)


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


def route(ends: Mapping[int, tuple[list[float], list[float]]]) -> Channel:
    """Wires of one channel.

    Parameters
    ----------
    ends : mapping of net to (heights on the left, heights on the right)
    """
    tracks = [_Track(net, sorted(left), sorted(right)) for net, (left, right) in ends.items()
              if len({*left, *right}) > 1]  # fmt: skip
    order = _cut(tracks)
    _assign(tracks, order)
    most = max((t.x for t in tracks), default=-1.0)
    width = 2 * EDGE + most if tracks else EDGE
    shift = (width - most) / 2 if tracks else 0.0
    channel = Channel(width)
    for net, (left, right) in ends.items():
        own = [t for t in tracks if t.net == net]
        if not own:
            if left and right:
                channel.lines[net] = [((0.0, left[0]), (width, left[0]))]
            continue
        channel.lines[net], channel.dots[net] = [], []
        for track in own:
            _draw(channel, track, tracks, shift, width)
    return channel


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
    taken: list[list[tuple[float, float, int]]] = []
    level: dict[int, int] = {}

    def wish(k: int) -> tuple[int, float]:
        track = tracks[k]
        start = track.left[0] if track.left else track.bend
        down = track.span()[1] > start
        return (0, -start) if down else (1, start)

    for k in nx.lexicographical_topological_sort(order, key=wish):
        low, high = tracks[k].span()
        place = max((level[j] + 1 for j in order.predecessors(k)), default=0)
        while place < len(taken) and any(low < h + CLEAR and l < high + CLEAR
                                         for l, h, _ in taken[place]):
            place += 1
        while len(taken) <= place:
            taken.append([])
        taken[place].append((low, high, k))
        level[k] = place
        tracks[k].x = place * TRACK


def _draw(channel: Channel, track: _Track, tracks: list[_Track], shift: float, width: float
          ) -> None:
    lines, dots = channel.lines[track.net], channel.dots[track.net]
    x, (low, high) = track.x + shift, track.span()
    lines.append(((x, low), (x, high)))
    lines += [((0.0, y), (x, y)) for y in track.left]
    lines += [((x, y), (width, y)) for y in track.right]
    ways = Counter([*track.left, *track.right])
    if track.left_to >= 0:
        lines.append(((x, track.bend), (tracks[track.left_to].x + shift, track.bend)))
    if track.left_to != -1:
        ways[track.bend] += 1
    for y, count in ways.items():
        if count + (y > low) + (y < high) >= 3:
            dots.append((x, y))

