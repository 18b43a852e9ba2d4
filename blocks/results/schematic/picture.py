"""Lines and texts that a drawing is made of, and how wide a text is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

__all__ = ["NAME", "SMALL", "Line", "Picture", "Text", "width_of"]

NAME, SMALL = 11.0, 9.0  # size of a text in pixels
#: Widths of DejaVu Sans from " " to "~", in hundredths of the size.
_WIDTHS = np.array([32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64,
                    64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77,
                    75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69, 39,
                    34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61,
                    63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84]) / 100


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

    def add(self, other: Picture, dx: float, dy: float) -> None:
        """Put another picture into this one."""
        self.lines += [replace(p, points=p.points + [dx, dy]) for p in other.lines]
        self.texts += [replace(t, x=t.x + dx, y=t.y + dy) for t in other.texts]
        self.hints.update(other.hints)
        for owner, (left, top, right, bottom) in other.areas.items():
            self.areas[owner] = left + dx, top + dy, right + dx, bottom + dy

    def write(self, x: float, y: float, words: str, size: float = NAME, anchor: str = "start",
              **look: bool | str) -> None:
        """Add a text."""
        if words:
            self.texts.append(Text(x, y, words, size, anchor,
                                   **look))  # type: ignore[arg-type]

    def draw(self, points: object, ink: str = "", kind: str = "symbol", **look: bool | str) -> None:
        """Add a line."""
        self.lines.append(Line(np.array(points, dtype=float), ink, kind,
                               **look))  # type: ignore[arg-type]
