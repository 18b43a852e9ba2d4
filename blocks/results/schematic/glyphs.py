"""What does one part of a schematic look like, and where do wires reach it?

Five forms: along a wire (two ports), standing on the ground (two ports, one of them at a
reference), a body that wires reach from both sides, hanging below a wire (one port), and a box
with pins at its sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from ...numerics.arrays import Array
from ...shapes import Symbol
from .parts import Net, Part, Pin
from .picture import NAME, SMALL, Picture, width_of

__all__ = ["Box", "Drawing", "Socket", "box_of", "posture_of"]

U, LENGTH = 10.0, 3.0  # pixels of a step of the grid, and steps from a two-port's middle to an end
ROW, LINE = 24.0, 12.0  # between pins of a box, and lines of text
STUB = 14.0  # from a pin to the sign of its ground


@dataclass(frozen=True)
class Socket:
    """Where a wire reaches a box: a side, and the height below its top."""

    net: int
    side: str
    dy: float


@dataclass
class Box:
    """A part as it is drawn, with its corner at (0, 0), and where that is in the whole picture.

    ``rail`` is the net that passes through it from left to right, -1 for none.
    """

    width: float
    height: float
    sockets: list[Socket] = field(default_factory=list)
    picture: Picture = field(default_factory=Picture)
    rail: int = -1
    rail_dy: float = 0.0
    rail_ends: tuple[float, float] = (0.0, 0.0)  # where the rail meets the part
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True)
class Drawing:
    """What parts have to know of the drawing: nets, whether values are shown, what is wrong."""

    nets: Mapping[int, Net]
    live: frozenset[int]
    values: bool
    marks: Mapping[str, Sequence[int]]

    def sign(self, pin: Pin) -> Symbol | None:
        return self.nets[pin.net].ground


def posture_of(part: Part, sheet: Drawing) -> str:
    """``"along"``, ``"body"``, ``"hanging"`` or ``"box"``."""
    physical = part.physical()
    symbol = part.symbol
    if part.inside or len(physical) == 0 or (symbol and len(symbol.left + symbol.right) > 2):
        return "box"
    if len(physical) == 1:
        return "body" if symbol and symbol.rigid else "hanging"
    if symbol is None or symbol.rigid:
        return "box"
    if symbol.half[0] != LENGTH:
        return "hanging"
    first, second = main_pins(part)
    grounded = (sheet.sign(first) is None) != (sheet.sign(second) is None)
    return "hanging" if grounded and first.net != second.net else "along"


def main_pins(part: Part) -> tuple[Pin, Pin]:
    """The two ends of a two-port; any other port is an extra."""
    left, right = part.sides()
    first, second = (*left, *right)[:2]
    return first, second


def box_of(part: Part, sheet: Drawing, mirrored: bool) -> Box:
    """A part in its form; mirrored, its second port is on the left."""
    drawn = _Drawn(part, sheet)
    drawn.picture.hints[part.path] = part.hint
    box: Box = getattr(drawn, posture_of(part, sheet))(mirrored)
    return box


class _Drawn:
    """One part in each of the forms: strokes, texts, wires to the sides, signs of the ground."""

    def __init__(self, part: Part, sheet: Drawing) -> None:
        self.part, self.sheet = part, sheet
        self.symbol: Any = part.symbol  # which forms but a box have
        numbers = sheet.marks.get(part.path, ())
        self.wrong = bool(numbers)
        self.name = part.name + (f" ({', '.join(map(str, numbers))})" if numbers else "")
        self.picture = Picture()
        given = part.values[:3] + (("…",) if len(part.values) > 3 else ())
        self.values = given if sheet.values else ()
        self.widths = [width_of(self.name, NAME), *(width_of(v, SMALL) for v in self.values)]
        self.sockets: list[Socket] = []

    def _write(self, x: float, y: float, words: str, size: float, anchor: str,
               faint: bool = False) -> None:
        self.picture.write(x, y, words, size, anchor, faint=faint,
                           wrong=self.wrong and not faint, owner=self.part.path)

    def _write_values(self, x: float, low: float, anchor: str = "middle", up: float = 0.0) -> None:
        """Values below a height, one under the other."""
        for k, value in enumerate(self.values):
            self._write(x, low + LINE * (k + 1) - up, value, SMALL, anchor, True)

    def _frame(self, left: float, top: float, right: float, bottom: float) -> None:
        self.picture.draw([(left, top), (right, top), (right, bottom), (left, bottom), (left, top)],
                          owner=self.part.path, wrong=self.wrong)

    def _strokes(self, x: float, y: float, turn: Array, open_end: bool = False) -> None:
        """The symbol's lines about a point; ``turn`` is a 2 by 2 matrix into pixels."""
        for stroke in self.symbol.strokes:
            if not (open_end and stroke.points[:, 0].min() >= 1):
                self.picture.draw(stroke.points @ turn.T * U + [x, y], filled=stroke.filled,
                                  dashed=stroke.dashed, owner=self.part.path, wrong=self.wrong)
        self._write(x, y + 4.5, self.symbol.letters, 12.0, "middle")

    def _area(self, left: float, top: float, right: float, bottom: float) -> None:
        self.picture.areas[self.part.path] = left, top, right, bottom

    def _ground(self, pin: Pin, x: float, y: float) -> None:
        sign = self.sheet.sign(pin)
        assert sign is not None
        wrong = any(g in self.sheet.marks for g in self.sheet.nets[pin.net].grounds)
        for stroke in sign.strokes:
            self.picture.draw(stroke.points * [U, -U] + [x, y], kind="ground", wrong=wrong,
                              owner=" ".join(self.sheet.nets[pin.net].grounds))  # fmt: skip

    def _room(self, pin: Pin) -> float:
        """What the name of a port takes beside the symbol."""
        return width_of(pin.name, SMALL) + 6 if self.symbol.named else 0.0

    def _reach(self, pin: Pin, side: str, way: list[tuple[float, float]], width: float,
               room: float = 0.0) -> None:
        """A wire from a place of the symbol to a side of the box, or to the ground, which stands
        beyond the ``room`` of a name."""
        ink = self.sheet.nets[pin.net].colour
        x, y = way[-1]
        edge = 0.0 if side == "left" else width
        if self.sheet.sign(pin) is not None:
            out = x + (STUB + room) * (-1 if side == "left" else 1)
            self.picture.draw([*way, (out, y), (out, y + 6)], ink, "wire")
            self._ground(pin, out, y + 6)
            return
        if pin.net not in self.sheet.live:
            out = x + (-6 if side == "left" else 6)
            self.picture.draw([*way, (out, y)], ink, "wire")
            turns = np.linspace(0, 2 * np.pi, 13)
            self.picture.draw(np.column_stack([out + 2 * np.cos(turns), y + 2 * np.sin(turns)]),
                              ink, "wire")  # fmt: skip
            return
        for ends in pairwise([*way, (edge, y)]):  # straight pieces: a picture is cut across them
            self.picture.draw(ends, ink, "wire", owner=str(pin.net))
        self.sockets.append(Socket(pin.net, side, y))
        if pin.signal == "in":
            (x, y), before = way[0], (way[1] if len(way) > 1 else (edge, y))
            dx, dy = np.sign([x - before[0], y - before[1]])
            self.picture.draw([(x - 6 * dx + 3 * dy, y - 6 * dy + 3 * dx), (x, y),
                               (x - 6 * dx - 3 * dy, y - 6 * dy - 3 * dx)], "", "wire", filled=True)

    def _extras(self, ends: Sequence[Pin]) -> tuple[list[Pin], list[Pin]]:
        """Pins besides the ends: those that enter from the left, and those that leave."""
        rest = [p for p in self.part.pins if p not in ends]
        return ([p for p in rest if p.signal == "in" and p.net in self.sheet.live],
                [p for p in rest if p.signal == "out" and p.net in self.sheet.live or not p.signal])

    def _leads(self, x: float, y: float, enter: list[Pin], leave: list[Pin], width: float,
               half: float = 0.0) -> None:
        """Wires of extras: from the sides of a symbol, or from below where it has no ``half``."""
        for side, step, pins in (("left", -1, enter), ("right", 1, leave)):
            for k, pin in enumerate(pins):
                at = x + step * (half or 8 + 7 * k)
                below = [(at, y)] if not half else []
                self._reach(pin, side, [*below, (at, y + 14 * (k + (not half)))], width)

    def _beside(self, x: float, y: float, low: float) -> float:
        """Name and values to the right of a symbol; the width with them."""
        self._write(x, y, self.name, NAME, "start")
        self._write_values(x, low, "start")
        return x + max(self.widths) + 6

    def _railed(self, pin: Pin, width: float, height: float, dy: float,
                ends: tuple[float, float]) -> Box:
        rail = pin.net if pin.net in self.sheet.live else -1
        return Box(width, height, self.sockets, self.picture, rail, dy, ends)

    # -- forms -----------------------------------------------------------------------------
    def along(self, mirrored: bool) -> Box:
        """A two-port between two wires."""
        symbol, ends = self.symbol, main_pins(self.part)
        left, right = ends[::-1] if mirrored else ends
        half = symbol.half[1] * U
        enter, leave = self._extras(ends)
        signs = [self.sheet.sign(p) is not None for p in (left, right)]
        rooms = [self._room(p) for p in (left, right)]
        width = max(60.0 + 2 * (STUB + 12) * any(signs) + 2 * max(rooms), *self.widths) + 10
        x, y = round(width / 2), 16 + half
        self._strokes(x, y, np.array([[-1.0 if mirrored else 1.0, 0], [0, -1]]))
        self._write(x, 11, self.name, NAME, "middle")
        heights = [h for stroke in symbol.strokes for h in stroke.points[:, 1]]
        under = y - U * min(heights)
        self._area(x - 30, y - U * max(heights), x + 30, under)
        for pin, side, way, room in ((left, "left", -1, rooms[0]), (right, "right", 1, rooms[1])):
            self._reach(pin, side, [(x + way * 30, y)], width, room)
            if room:
                self._write(x + way * 33, y - 3, pin.name, SMALL, ("start", "end")[way < 0], True)
        rows = max(len(enter), len(leave))
        self._leads(x, under, enter, leave, width)
        low = y + half if not rows else max(y + half, under + rows * 14 + 3)
        if any(signs):
            low = max(low, y + 18)
        self._write_values(x, low, up=1.0)
        return Box(width, low + LINE * len(self.values) + 2, self.sockets, self.picture)

    def body(self, mirrored: bool) -> Box:
        """Something rigid with one port, which wires reach from both sides."""
        pin = self.part.physical()[0]
        wide, half = self.symbol.half[0] * U, self.symbol.half[1] * U
        enter, leave = self._extras([pin])
        width = max(2 * wide + 16, *self.widths) + 8
        x, y = round(width / 2), 16 + half
        self._strokes(x, y, np.array([[1.0, 0], [0, -1]]))
        self._write(x, 11, self.name, NAME, "middle")
        self._area(x - wide, y - half, x + wide, y + half)
        self._leads(x, y + half, enter, leave, width)
        low = y + half + 14 * max(len(enter), len(leave))
        self._write_values(x, low)
        return self._railed(pin, width, low + LINE * len(self.values) + 3, y, (x - wide, x + wide))

    def hanging(self, mirrored: bool) -> Box:
        """A part below its wire, with one port; a two-port stands on its ground there."""
        symbol, kind = self.symbol, self.part.type
        upright = symbol is not None and symbol.half[0] == LENGTH
        pins = self.part.physical()[-1:]  # what else there is, such as heat, is declared before
        if upright and len(self.part.physical()) > 1:
            pins = sorted(main_pins(self.part), key=lambda p: self.sheet.sign(p) is not None)
        pin, low = pins[0], pins[-1]
        enter, leave = self._extras(pins)
        rows = max(len(enter), len(leave), 1)
        if symbol is None:
            wide, deep = width_of(kind, SMALL) / 2 + 6, max(14.0 * rows, 22)
        elif upright:
            wide, deep = max(symbol.half[1] * U, 12.0), 60.0
        else:
            wide, deep = symbol.half[0] * U, symbol.half[1] * U
        x, top = wide + 6 + 8 * bool(enter), 14.0 if symbol is None else 6.0
        if symbol is None:
            self._frame(x - wide, top, x + wide, top + deep)
            self._write(x, top + deep / 2 + 3, kind, SMALL, "middle", True)
        elif upright:
            turned = pin is not low and pin is not main_pins(self.part)[0]
            self._strokes(x, 36.0, np.array([[0, 1.0], [-1.0 if turned else 1.0, 0]]), pin is low)
        else:
            self._strokes(x, 6.0, np.array([[1.0, 0], [0, -1]]))
        if pin is not low and symbol.named:
            self._write(x - 4, 18, pin.name, SMALL, "end", True)
            self._write(x - 4, 62, low.name, SMALL, "end", True)
        self._area(x - wide, top, x + wide, top + deep)
        self.picture.draw([(x, 6), (x, top)], self.sheet.nets[pin.net].colour, "wire",
                          owner=str(pin.net) * (pin.net in self.sheet.live))
        middle = max(top + deep / 2 - 7 * (rows - 1), 22.0)  # its name stays below the wire
        under = max(25.0, middle + 14 * (len(leave) - 1) + 6 if leave else 0.0)
        width = self._beside(x + wide + 5, min(25.0, middle - 4) if leave else 25.0, under)
        self._leads(x, middle, enter, leave, width, wide)
        height = max(top + deep + 4, under + LINE * len(self.values) + 6, middle + 14 * rows - 8)
        if self.sheet.sign(low) is not None:  # a reference alone carries its own sign
            self._ground(low, x, 6.0 if symbol and pin is low else top + deep)
            height = max(height, top + deep + 12)
        return self._railed(pin, width, height, 6.0, (x, x))

    def box(self, mirrored: bool) -> Box:
        """A box, or a symbol, with pins at both sides."""
        lefts, rights = self._sides(mirrored)
        symbol = self.symbol
        signs = [any(self.sheet.sign(p) is not None for p in side) for side in (lefts, rights)]
        several = symbol is not None and bool(symbol.left or symbol.right)
        beside = [max((width_of(p.name, SMALL) + 6 for p in side if not p.signal), default=0.0)
                  * several for side in (lefts, rights)]  # names of a symbol's ports, over wires
        margin = [STUB + 14.0 + b if s else max(10.0, b)
                  for s, b in zip(signs, beside, strict=True)]
        named = symbol is None and sum(bool(p.name) for p in lefts + rights) > 1
        inner = [max((width_of(p.name, SMALL) for p in side), default=0.0) * named
                 for side in (lefts, rights)]
        kind = width_of(self.part.type, SMALL)
        rows = max(len(lefts), len(rights), 1)
        spacing = 40.0 if several else ROW
        if symbol is None:
            half_w = max(sum(inner) + 18, kind + 10, 36) / 2
            half_h = max((rows * ROW + 14) / 2, 16) if named else 15.0
        else:
            half_w = symbol.half[0] * U
            half_h = max(symbol.half[1] * U, (rows - 1) * spacing / 2 + 3)
        width = max(2 * half_w + sum(margin), max(self.widths) + 10)
        x = float(round(margin[0] + half_w + max(0.0, width - 2 * half_w - sum(margin)) / 2))
        half_text = max(self.widths) / 2 + 4
        x, width = max(x, half_text), max(width, x + half_text, half_text * 2)
        y = 16 + half_h
        if symbol is None:
            self._frame(x - half_w, y - half_h, x + half_w, y + half_h)
            self._write(x, y - half_h + 11 if named else y + 3, self.part.type, SMALL, "middle",
                        True)
        else:
            self._strokes(x, y, np.array([[-1.0 if mirrored else 1.0, 0], [0, -1]]))
        self._write(x, 11, self.name, NAME, "middle")
        self._area(x - half_w, y - half_h, x + half_w, y + half_h)
        down = 7.0 if named else 0.0
        for side, pins, room in (("left", lefts, beside[0]), ("right", rights, beside[1])):
            for k, pin in enumerate(pins):
                at = y + down + (k - (len(pins) - 1) / 2) * spacing
                edge = x - half_w if side == "left" else x + half_w
                self._reach(pin, side, [(edge, at)], width, room)
                if named or several and not pin.signal:
                    inward = (side == "left") == named
                    below = 3 if named else 9 if at < y else -3  # not towards the name above
                    self._write(edge + (4 if inward else -4), at + below, pin.name, SMALL,
                                "start" if inward else "end", True)
        low = y + half_h + (8 if any(signs) else 2)
        if several:
            others = self._extras(lefts + rights)
            self._leads(x, y + half_h, *others, width)
            low = max(low, y + half_h + 14 * max(map(len, others)) + 3)
        self._write_values(x, low, up=2.0)
        return Box(width, low + LINE * len(self.values) + 2, self.sockets, self.picture)

    def _sides(self, mirrored: bool) -> tuple[list[Pin], list[Pin]]:
        lefts, rights = self.part.sides()[:: -1 if mirrored else 1]
        if self.symbol is not None and (self.symbol.left or self.symbol.right):
            return lefts, rights  # what else there is is wired from below
        return (lefts + [p for p in self.part.pins if p.signal == "in"], rights + [
            p for p in self.part.pins if p.signal == "out" and p.net in self.sheet.live])
