"""A picture drawn by matplotlib: PNG, PDF, or part of a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...exceptions import optional_package
from .picture import Picture
from .svg import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["figure_of"]

INK, FAINT, WRONG = "#222222", "#666666", "#c8102e"
PIXEL = 0.75  # points


def figure_of(picture: Picture, width: float, height: float, ax: Axes | None) -> Figure:
    """The picture in axes of its own size, or in given ones."""
    matplotlib = optional_package("matplotlib.figure", "A drawing that is not SVG", "plot")
    scale = 1.0
    if ax is None:
        figure = matplotlib.Figure(figsize=(width / 96, height / 96))
        ax = figure.add_axes((0, 0, 1, 1))
    else:
        box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        scale = min(box.width * 96 / width, box.height * 96 / height, 1.0)
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    for p in picture.lines:
        _line(ax, p, scale)
    for t in picture.texts:
        ax.text(t.x, t.y, t.words, fontsize=t.size * PIXEL * scale, family="DejaVu Sans",
                ha={"start": "left", "middle": "center", "end": "right"}[t.anchor], va="baseline",
                color=WRONG if t.wrong else FAINT if t.faint else INK, zorder=5,
                parse_math=False)  # fmt: skip
    return ax.figure  # type: ignore[return-value]


def _line(ax: Any, p: Any, scale: float) -> None:
    wire = p.kind in ("wire", "dot", "legend")
    colour = COLOURS.get(p.ink, p.ink) if wire else WRONG if p.wrong else \
        FAINT if p.kind == "frame" else INK  # fmt: skip
    if p.kind == "dot":
        ax.plot(*p.points[0], "o", color=colour, markersize=5.2 * PIXEL * scale,
                markeredgewidth=0, zorder=3)  # fmt: skip
    elif p.filled:
        ax.fill(*p.points.T, facecolor=colour, edgecolor=colour, lw=PIXEL * scale, zorder=4)
    else:
        wide = 1.0 if p.kind == "frame" else 2.0 if p.wrong else 1.5
        ax.plot(*p.points.T, color=colour, lw=wide * PIXEL * scale, solid_capstyle="round",
                solid_joinstyle="round", zorder=2 if wire else 3,
                linestyle="--" if p.dashed or p.kind == "frame" else "-")  # fmt: skip
