"""Draw the wings of ``blocks`` and what they import, from the imports themselves.

    python docs/house.py

writes ``docs/images/house.png``. An arrow is left out where others lead to the same wing. All
are tested by ``tests/test_house.py``: they run down, and no files import in a circle.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from test_house import ARROWS, FILES, FLOORS, wing  # noqa: E402

WIDTH, HEIGHT = 3.9, 0.62


def main() -> None:
    lines, files = Counter(), Counter()
    for name, file in FILES.items():
        files[wing(name)] += 1
        lines[wing(name)] += len(file.read_text(encoding="utf-8").splitlines())
    every = nx.DiGraph({(wing(a), wing(b)) for a, b in ARROWS.edges if wing(a) != wing(b)})
    place = {w: ((k - (len(wings) - 1) / 2) * 4.2, floor)
             for floor, wings in enumerate(FLOORS) for k, w in enumerate(wings)}  # fmt: skip
    figure, ax = plt.subplots(figsize=(7.5, 10))
    for a, b in nx.transitive_reduction(every).edges:  # the others lead where these lead too
        (xa, ya), (xb, yb) = place[a], place[b]
        bent = 0.0 if ya - yb == 1 else 0.25
        ax.annotate("", (xb, yb + HEIGHT / 2), (xa, ya - HEIGHT / 2), zorder=1, arrowprops={
            "arrowstyle": "-|>", "color": "#5b6b80", "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0,
            "connectionstyle": f"arc3,rad={bent if xa + xb >= 0 else -bent}"})  # fmt: skip
    for name, (x, y) in place.items():
        ax.add_patch(plt.Rectangle((x - WIDTH / 2, y - HEIGHT / 2), WIDTH, HEIGHT, zorder=2,
                                   facecolor="#f4f1ea", edgecolor="#4a5568"))  # fmt: skip
        ax.text(x, y + 0.09, name, ha="center", va="center", weight="bold", zorder=3,
                fontsize=10 if len(name) < 18 else 8.5)
        ax.text(x, y - 0.17, f"{files[name]} file{'s' * (files[name] > 1)}, {lines[name]:,} lines",
                ha="center", va="center", fontsize=7.5, color="#4a5568", zorder=3)  # fmt: skip
    ax.set_xlim(-6, 6)
    ax.set_ylim(-0.7, len(FLOORS) - 0.3)
    ax.axis("off")
    ax.set_title("what stands on what in blocks")
    figure.savefig(HERE / "images" / "house.png", dpi=110, bbox_inches="tight")


if __name__ == "__main__":
    main()
