"""Draw the wings of ``blocks`` and what they stand on, from the files themselves.

    python docs/house.py

writes ``docs/images/house.png``: one room per wing, with the question it answers, its files from
the largest on, and the wings it imports (without those that another of them leads to). That
imports run down, and that no files import in a circle, is tested by ``tests/test_house.py``.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from test_house import FILES, FLOORS, arrows, wing  # noqa: E402

WIDTH = 11.0  # inches
LINE, PAD, GAP = 0.155, 0.09, 0.07  # inches: of text, inside a room, between rooms
LETTERS = 12.8  # to an inch, in the small print
FAR = 7000  # lines of the darkest room
PLASTER, SHADE, INK, FAINT, BEAM = "#fbf8f1", "#cfdcea", "#22303f", "#5b6b80", "#8a6d4b"


@dataclass
class Room:
    """What is said of a wing."""

    name: str
    width: float

    def __post_init__(self) -> None:
        files = {n: f.read_text(encoding="utf-8") for n, f in FILES.items() if wing(n) == self.name}
        self.lines = sum(len(text.splitlines()) for text in files.values())
        face = min(files, key=lambda n: n.count("."))  # of a package, its __init__
        question = re.split(r"(?<=[?.])\s", ast.get_docstring(ast.parse(files[face])) or "")[0]
        names = sorted((n for n in files if n != face),
                       key=lambda n: -len(files[n]))  # fmt: skip
        room_for = int((self.width - 2 * PAD) * LETTERS)
        self.question = textwrap.shorten(question.replace("`", ""), room_for - 2, placeholder=" …")
        self.files = textwrap.wrap(", ".join(n.rsplit(".", 1)[1] for n in names), room_for)
        self.stands_on = textwrap.wrap("on  " + ", ".join(sorted(REDUCED[self.name]))
                                       if REDUCED[self.name] else "", room_for)  # fmt: skip

    @property
    def height(self) -> float:
        rows = 1.25 + 1 + len(self.files) + len(self.stands_on)
        return rows * LINE + 2 * PAD

    def draw(self, ax, left: float, top: float, height: float) -> None:
        tone = min(1.0, self.lines / FAR)
        mix = [(1 - tone) * a + tone * b for a, b in zip(*map(
            plt.matplotlib.colors.to_rgb, (PLASTER, SHADE)), strict=True)]
        ax.add_patch(plt.Rectangle((left, top - height), self.width, height, facecolor=mix,
                                   edgecolor=INK, linewidth=1.1))  # fmt: skip
        x, y = left + PAD, top - PAD
        ax.text(x, y, self.name, weight="bold", fontsize=10.5, color=INK, va="top")
        ax.text(left + self.width - PAD, y, f"{self.lines:,} lines", fontsize=8, color=FAINT,
                va="top", ha="right")  # fmt: skip
        rest = [(self.question, INK), *((t, FAINT) for t in self.files),
                *((t, BEAM) for t in self.stands_on)]  # fmt: skip
        for k, (text, colour) in enumerate(rest):
            ax.text(x, y - (1.25 + k) * LINE, text, fontsize=7.6, color=colour, va="top")


def reduced() -> dict[str, list[str]]:
    """The wings that each one stands on itself; the others lead to the rest."""
    every = nx.DiGraph({(wing(a), wing(b)) for a, b in arrows().edges if wing(a) != wing(b)})
    every.add_nodes_from(w for wings in FLOORS for w in wings)
    return {w: list(nx.transitive_reduction(every).successors(w)) for w in every}


REDUCED = reduced()


def main() -> None:
    rows = []
    for wings in reversed(FLOORS):
        width = (WIDTH - GAP * (len(wings) - 1)) / len(wings)
        rooms = [Room(name, width) for name in wings]
        rows.append((rooms, max(room.height for room in rooms)))
    roof = 0.75
    whole = sum(height + GAP for _, height in rows) + roof
    figure, ax = plt.subplots(figsize=(WIDTH + 0.6, whole + 0.5))
    top = whole - roof
    ax.add_patch(plt.Polygon([(-0.25, top), (WIDTH / 2, whole), (WIDTH + 0.25, top)],
                             facecolor=BEAM, edgecolor=INK, linewidth=1.1))  # fmt: skip
    ax.text(WIDTH / 2, top + 0.13, "every wing stands on those below it, and on none above",
            ha="center", fontsize=9, color="white")  # fmt: skip
    for rooms, height in rows:
        top -= GAP
        for k, room in enumerate(rooms):
            room.draw(ax, k * (room.width + GAP), top, height)
        top -= height
    ax.plot([-0.25, WIDTH + 0.25], [top - 0.04] * 2, color=BEAM, linewidth=4)
    ax.set_xlim(-0.3, WIDTH + 0.3)
    ax.set_ylim(-0.1, whole + 0.05)
    ax.set_aspect("equal")
    ax.axis("off")
    figure.savefig(HERE / "images" / "house.png", dpi=100, bbox_inches="tight")


if __name__ == "__main__":
    main()
