"""The symbol of a component with its ports, and which way its variables count, as one SVG."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import permutations

import numpy as np

from blocks.shapes import Symbol
from docs.site.traced import Traced

__all__ = ["picture", "directions"]

U = 16.0  # pixels of a step of a symbol's grid
ROW = 34.0  # between ports at one side


def directions(traced: Traced) -> list[tuple[str, str, str, str]]:
    """Pairs of ports with a variable that is carried from one to the other, and its difference.

    First and second port, through and across variable (or an empty text), read off the
    equations: ``R.f == f`` and ``C.f == -f``, ``v == R.v - C.v``.
    """
    laws = set(traced.laws)
    found = []
    for a, b in permutations(traced.ports, 2):
        if traced.ports[a] is not traced.ports[b]:
            continue
        through = [n for q in traced.ports[a].through for n in traced.variables
                   if f"{a}.{q} == {n}" in laws and f"{b}.{q} == -{n}" in laws]
        across = [n for q in traced.ports[a].across for n in traced.variables
                  if f"{n} == {a}.{q} - {b}.{q}" in laws]  # fmt: skip
        if through:
            found.append((a, b, through[0], across[0] if across else ""))
    return found


class _Svg:
    """Lines and words, and how far they reach."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.points: list[tuple[float, float]] = []

    def path(self, points: Iterable[Sequence[float]], style: str) -> None:
        points = [(float(x), float(y)) for x, y in points]
        self.points += points
        way = "L".join(f"{x:.4g} {y:.4g}" for x, y in points)
        self.out.append(f'<path class="{style}" d="M{way}"/>')

    def dot(self, x: float, y: float, colour: str) -> None:
        self.points.append((x, y))
        self.out.append(f'<circle class="{colour}" cx="{x:.4g}" cy="{y:.4g}" r="4"/>')

    def write(self, x: float, y: float, words: str, anchor: str = "middle", look: str = "") -> None:
        wide = 8.0 * len(re.sub("<[^>]*>", "", words))
        left = x - wide * {"start": 0, "middle": 0.5, "end": 1}[anchor]
        self.points += [(left, y - 13), (left + wide, y + 5)]
        self.out.append(f'<text class="{look}" x="{x:.4g}" y="{y:.4g}" '
                        f'text-anchor="{anchor}">{words}</text>')  # fmt: skip

    def arrow(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        (x, y), (to_x, to_y) = start, end
        way = np.sign(to_x - x)
        self.path([(x, y), (to_x, to_y)], "arrow")
        self.path([(to_x - 6 * way, to_y - 3.5), (to_x, to_y), (to_x - 6 * way, to_y + 3.5)],
                  "arrow head")  # fmt: skip

    def text(self, title: str) -> str:
        xs, ys = np.array(self.points).T
        left, top = xs.min() - 6, ys.min() - 6
        wide, high = xs.max() + 6 - left, ys.max() + 6 - top
        return (f'<svg xmlns="http://www.w3.org/2000/svg" class="signs" width="{wide:.0f}" '
                f'height="{high:.0f}" viewBox="{left:.1f} {top:.1f} {wide:.1f} {high:.1f}" '
                f'role="img"><title>{escape(title)}</title>{"".join(self.out)}</svg>')  # fmt: skip


def _italic(name: str, index: str = "") -> str:
    below = f'<tspan dy="4" font-size="75%">{escape(index)}</tspan>' if index else ""
    return f'<tspan font-style="italic">{escape(name)}</tspan>{below}'


def picture(traced: Traced, symbol: Symbol | None, name: str) -> str:
    """Symbol, ports in the colours of their domains, and arrows for what counts as positive."""
    svg = _Svg()
    pairs = directions(traced)
    if symbol is None or not symbol.strokes or not traced.ports:
        _box(svg, traced, name)
    elif symbol.half[0] == 3.0 and pairs and not symbol.left:
        _two_port(svg, traced, symbol, pairs[0])
    else:
        _symbol(svg, traced, symbol)
    return svg.text(f"{name}: its ports and the directions that count as positive")


def _strokes(svg: _Svg, symbol: Symbol) -> None:
    for stroke in symbol.strokes:
        style = " ".join(["stroke", *["full"] * stroke.filled, *["dashed"] * stroke.dashed])
        svg.path(stroke.points * [U, -U], style)
    if symbol.letters:
        svg.write(0, 5, escape(symbol.letters))


def _class_of(domain: object) -> str:
    return f"port {str(domain).replace('_', '-')}"


def _two_port(svg: _Svg, traced: Traced, symbol: Symbol, pair: tuple[str, str, str, str]) -> None:
    """Between its two ports: what is carried along above it, the difference below it."""
    first, second, through, across = pair
    _strokes(svg, symbol)
    half = max(symbol.half[1] * U, 20)
    for port, x, anchor in ((first, -3 * U, "end"), (second, 3 * U, "start")):
        svg.dot(x, 0, _class_of(traced.ports[port]))
        svg.write(x + (-9 if x < 0 else 9), 5, escape(port), anchor, "name")
    y = -half - 12
    svg.arrow((-2 * U, y), (2 * U, y))
    svg.write(0, y - 8, _italic(through))
    y = half + 20
    if across:
        (quantity,) = [q for q in traced.ports[first].across
                       if f"{across} == {first}.{q} - {second}.{q}" in traced.laws]  # fmt: skip
        minus = '<tspan dy="-4"> − </tspan>'
        svg.write(0, y, f"{_italic(across)} = {_italic(quantity, first)}{minus}"
                        f"{_italic(quantity, second)}")  # fmt: skip
        y += 26
    _write_others(svg, traced, (first, second), y)


def _box(svg: _Svg, traced: Traced, name: str) -> None:
    """A box with ports and signals at both sides; arrows say what counts as flowing in."""
    ports = list(traced.ports)
    lefts = ports[: (len(ports) + 1) // 2]
    rights = [p for p in ports if p not in lefts] + traced.outputs
    lefts = lefts + traced.inputs
    wide, high = max(46.0, 5.0 * len(name)), max(len(lefts), len(rights), 1) * ROW / 2
    high = max(high, 26.0)
    svg.path([(-wide, -high), (wide, -high), (wide, high), (-wide, high), (-wide, -high)],
             "stroke")  # fmt: skip
    svg.write(0, 5, escape(name), look="faint")
    for side, names in ((-1, lefts), (1, rights)):
        for k, port in enumerate(names):
            _pin(svg, traced, port, side, side * wide, (k - (len(names) - 1) / 2) * ROW)


def _symbol(svg: _Svg, traced: Traced, symbol: Symbol) -> None:
    """A symbol with its ports where its strokes end; arrows say what counts as flowing in."""
    _strokes(svg, symbol)
    ports = list(traced.ports)
    lefts, rights = list(symbol.left) or ports[:1], list(symbol.right) or ports[1:2]
    hanging = len(ports) == 1 and not symbol.rigid and symbol.half[0] < 3.0
    for side, names in ((-1, lefts), (1, rights)):
        for k, port in enumerate(names):
            y = (k - (len(names) - 1) / 2) * 4 * U
            _pin(svg, traced, port, side, 0.0 if hanging else side * symbol.half[0] * U, y)
    _write_others(svg, traced, (*lefts, *rights), max(symbol.half[1] * U, 20.0) + 24)


def _write_others(svg: _Svg, traced: Traced, shown: Sequence[str], y: float) -> None:
    """What there is besides the ports that are shown, one below the other."""
    others = [p for p in traced.ports if p not in shown]
    lines = [f"{'port' if p in others else 'signal'} {p}"
             for p in (*others, *traced.inputs, *traced.outputs)]  # fmt: skip
    for k, words in enumerate(lines):
        svg.write(0, y + 18 * k, escape(words), look="faint")


def _pin(svg: _Svg, traced: Traced, port: str, side: int, x: float, y: float) -> None:
    """A port at the side of a box, with an arrow for what flows into it."""
    anchor = "end" if side < 0 else "start"
    if port not in traced.ports:
        start, end = (x + side * 26, y), (x, y)
        svg.arrow(*((start, end) if port in traced.inputs else (end, start)))
        svg.write(x + side * 32, y + 5, escape(port), anchor, "name")
        return
    svg.path([(x, y), (x + side * 14, y)], "stroke")
    svg.dot(x + side * 14, y, _class_of(traced.ports[port]))
    svg.write(x + side * 14, y - 9, escape(port), "middle", "name")
    through = list(traced.ports[port].through)
    if through:
        svg.arrow((x + side * 48, y), (x + side * 22, y))
        svg.write(x + side * 52, y + 5, ", ".join(_italic(q, port) for q in through), anchor)
