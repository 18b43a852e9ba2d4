"""Lines and texts that a drawing is made of; how wide a text is, and all of it as SVG.

SVG is one text, light and dark, with hints where one points.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path

import numpy as np

from ...numerics.arrays import Array

__all__ = ["COLOURS", "NAME", "SMALL", "Line", "Picture", "Text", "svg_of", "width_of"]

NAME, SMALL = 11.0, 9.0  # size of a text in pixels
#: Widths of DejaVu Sans from " " to "~", in hundredths of the size.
_WIDTHS = np.array([32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64,
                    64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77,
                    75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69, 39,
                    34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61,
                    63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84]) / 100

#: The colours of domains, told apart by colour-blind readers too (M. Okabe, K. Ito, 2008).
COLOURS = {"tab:blue": "#0072b2", "tab:orange": "#d55e00", "tab:red": "#cc79a7",
           "tab:green": "#009e73", "tab:purple": "#7a5195", "tab:olive": "#b8860b",
           "tab:cyan": "#56b4e9", "tab:gray": "#777777", "": "#777777"}  # fmt: skip


def width_of(text: str, size: float) -> float:
    """Width of a text in pixels."""
    known = (_WIDTHS[ord(c) - 32] if 32 <= ord(c) < 127 else 0.8 for c in text)
    return float(size * sum(known))


@dataclass(frozen=True)
class Line:
    """A line through points, (n, 2) in pixels, y downward.

    ``ink`` is a colour, ``""`` for that of symbols; ``kind`` says whether it is a ``"wire"``, a
    ``"symbol"``, or a ``"frame"``.
    """

    points: np.ndarray
    ink: str = ""
    kind: str = "symbol"
    filled: bool = False
    dashed: bool = False
    owner: str = ""
    wrong: bool = False

    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        (left, top), (right, bottom) = self.points.min(axis=0), self.points.max(axis=0)
        return left, top, right, bottom


@dataclass(frozen=True)
class Text:
    """A text; ``x`` is its start, middle or end as ``anchor`` says, ``y`` its base line."""

    x: float
    y: float
    words: str
    size: float = NAME
    anchor: str = "start"
    faint: bool = False
    wrong: bool = False
    owner: str = ""

    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        wide = width_of(self.words, self.size)
        left = self.x - wide * {"start": 0, "middle": 0.5, "end": 1}[self.anchor]
        return left, self.y - 0.78 * self.size, left + wide, self.y + 0.24 * self.size


@dataclass
class Picture:
    """Lines, texts and hints, which can be moved and put together."""

    lines: list[Line] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    hints: dict[str, str] = field(default_factory=dict)  # by owner
    areas: dict[str, tuple[float, float, float, float]] = field(default_factory=dict)

    def extents(self) -> Array:
        """Left, top, right, bottom of all there is, (n, 4)."""
        return np.array([*(p.box() for p in self.lines), *(t.box() for t in self.texts),
                         *self.areas.values()]).reshape(-1, 4)

    def add(self, other: Picture, dx: float, dy: float) -> None:
        """Put another picture into this one."""
        self.lines += [replace(p, points=p.points + [dx, dy]) for p in other.lines]
        self.texts += [replace(t, x=t.x + dx, y=t.y + dy) for t in other.texts]
        self.hints.update(other.hints)
        for owner, (left, top, right, bottom) in other.areas.items():
            self.areas[owner] = left + dx, top + dy, right + dx, bottom + dy

    def write(self, x: float, y: float, words: str, size: float = NAME, anchor: str = "start",
              **how: bool | str) -> None:
        """Add a text."""
        if words:
            self.texts.append(Text(x, y, words, size, anchor,
                                   **how))  # type: ignore[arg-type]

    def draw(self, points: object, ink: str = "", kind: str = "symbol", **how: bool | str) -> None:
        """Add a line."""
        self.lines.append(Line(np.array(points, dtype=float), ink, kind,
                               **how))  # type: ignore[arg-type]


# -- as SVG ---------------------------------------------------------------------------------
def svg_of(picture: Picture, width: float, height: float, title: str) -> str:
    """The picture as the text of an SVG file."""
    style = Path(__file__).with_name("schematic.css").read_text(encoding="utf-8")
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" class="schematic" width="{_n(width)}" '
           f'height="{_n(height)}" viewBox="0 0 {_n(width)} {_n(height)}" role="img">',
           f"<title>{escape(title)}</title>", f"<style>{style.strip()}</style>",
           f'<rect class="paper" width="{_n(width)}" height="{_n(height)}"/>']  # fmt: skip
    frames, wires, rest = ([_line(p) for p in picture.lines if p.kind in kinds] for kinds in (
        ("frame",), ("wire", "dot", "legend"), ("symbol", "ground")))
    out += [*frames, '<g class="wires">', *wires, "</g>", *rest]
    for owner, (left, top, right, bottom) in picture.areas.items():
        out.append(f'<g><title>{escape(picture.hints.get(owner, owner))}</title><rect class="area" '
                   f'x="{_n(left)}" y="{_n(top)}" width="{_n(right - left)}" '
                   f'height="{_n(bottom - top)}"/></g>')  # fmt: skip
    for t in picture.texts:
        classes = " ".join(filter(None, ["faint" * t.faint, "wrong" * t.wrong]))
        out.append(f'<text x="{_n(t.x)}" y="{_n(t.y)}" font-size="{_n(t.size)}" '
                   f'text-anchor="{t.anchor}"' + f' class="{classes}"' * bool(classes) +
                   f">{escape(t.words)}</text>")  # fmt: skip
    return "\n".join([*out, "</svg>"]) + "\n"


def _line(line: Line) -> str:
    if line.kind == "dot":
        x, y = line.points[0]
        colour = COLOURS.get(line.ink, line.ink)
        return f'<circle cx="{_n(x)}" cy="{_n(y)}" r="2.6" fill="{colour}"/>'
    closed = line.filled or np.array_equal(line.points[0], line.points[-1])
    way = "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in line.points) + "Z" * closed
    if line.kind in ("wire", "legend"):
        colour = COLOURS.get(line.ink, line.ink)
        look = f"stroke:none;fill:{colour}" if line.filled else f"stroke:{colour};stroke-width:1.6"
        return f'<path d="{way}" style="{look}"/>'
    names = " ".join(filter(None, [line.kind * (line.kind == "frame"), "full" * line.filled,
                                   "wrong" * line.wrong]))  # fmt: skip
    dashes = ' stroke-dasharray="3 2.5"' if line.dashed else ""
    return f'<path d="{way}"' + f' class="{names}"' * bool(names) + dashes + "/>"


def _n(x: float) -> str:
    return f"{round(float(x), 1) + 0.0:g}"
