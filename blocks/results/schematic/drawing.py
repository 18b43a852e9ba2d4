"""The schematic of a network: a picture to look at, as SVG, PNG or PDF, and in notebooks.

The same model gives the same picture. SVG needs no other package and tells values where one
points; all other formats are drawn by matplotlib.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...exceptions import ParameterError, WrongCall, brief, optional_package
from ..files import writing
from .folding import in_rows
from .glyphs import Box, Drawing
from .layout import network_picture
from .parts import Net, Part, Pin, all_parts
from .picture import COLOURS, SMALL, Picture, svg_of, width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Schematic", "draw_schematic"]

MOST_CLUSTERS = 40  # clusters
LISTED = 12  # names told of a cluster's parts
INK, FAINT, WRONG = "#222222", "#666666", "#c8102e"
PIXEL = 0.75  # points
MOST = 60  # parts above which clusters are drawn
MARGIN, LEAD = 14.0, 15.0  # pixels around the drawing, and between its lines of text
WIDE, PAGE, NARROW = 1168.0, 798.0, 358.0  # pixels of a window, of a page, and of a telephone


class Schematic:
    """A drawn network; shown by notebooks, written by :meth:`save`.

    Attributes
    ----------
    width, height : float
        In pixels.
    picture : Picture
        Its lines and texts.
    """

    def __init__(self, title: str, network: Box, domains: Mapping[str, str], told: Sequence[str],
                 most: float = PAGE) -> None:
        self.title, self._drawn, self.picture = title, (network, domains, told), Picture()
        box = in_rows(network, most - 2 * MARGIN)
        y = MARGIN + 28
        self.picture.write(MARGIN, y - 16, title, 13.0)
        self.picture.add(box.picture, MARGIN, y)
        y, x = y + box.height + 14 * bool(domains), MARGIN
        for domain, colour in domains.items():
            long = 38 + width_of(domain, SMALL)
            if x + long > most:
                x, y = MARGIN, y + LEAD
            self.picture.draw([(x, y), (x + 18, y)], colour, "legend")
            self.picture.write(x + 22, y + 3.5, domain, SMALL, faint=True)
            x += long
        y += 4 * bool(domains)
        for number, finding in enumerate(told, 1):
            letters = max(46, int(box.width / 5.2))
            for k, words in enumerate(textwrap.wrap(f"({number}) {finding}", letters)):
                y += LEAD
                self.picture.write(MARGIN + 12 * bool(k), y, words, SMALL + 1, wrong=True)
        self.width, self.height = self.picture.extents()[:, 2].max() + MARGIN, y + MARGIN

    def within(self, width: float) -> Schematic:
        """Fold the network into rows that are no wider, in pixels, where it can be cut so."""
        if not isinstance(width, Real) or not width > 0:
            raise WrongCall("within()", f"takes a width in pixels, but was given {brief(width)}.")
        return Schematic(self.title, *self._drawn, width)

    def svg(self) -> str:
        """Write the picture as SVG text, for a file or a page."""
        return svg_of(self.picture, self.width, self.height, self.title)

    _repr_html_ = svg

    def html(self) -> str:
        """Write the picture for a page, which shows it in the rows that its window has room for."""
        return "".join(f'<div class="wide at-{name}">{self.within(width).svg()}</div>'
                       for name, width in (("wide", WIDE), ("page", PAGE), ("narrow", NARROW)))

    def figure(self, ax: Axes | None = None) -> Figure:
        """Draw the picture as a matplotlib figure, or into given axes."""
        matplotlib = optional_package("matplotlib.figure", "A drawing that is not SVG", "plot")
        width, height, scale = self.width, self.height, 1.0
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
        for p in self.picture.lines:
            _line(ax, p, scale)
        for t in self.picture.texts:
            ax.text(t.x, t.y, t.words, fontsize=t.size * PIXEL * scale, family="DejaVu Sans",
                    ha={"start": "left", "middle": "center", "end": "right"}[t.anchor],
                    va="baseline", color=WRONG if t.wrong else FAINT if t.faint else INK, zorder=5,
                    parse_math=False)
        return ax.figure  # type: ignore[return-value]

    def save(self, file: str | Path) -> None:
        """Write the picture; the ending of the name chooses the format."""
        with writing(file) as place:
            if str(file).lower().endswith(".svg"):
                place.write_text(self.svg(), encoding="utf-8")
            else:
                self.figure().savefig(place, dpi=200)

    def __repr__(self) -> str:
        return (f"<schematic of {self.title!r}, {self.width:.0f} by {self.height:.0f} pixels: "
                f"save('name.svg'), or .png, writes it>")  # fmt: skip


def draw_schematic(title: str, parts: Sequence[Part], nets: Mapping[int, Net],
                   findings: Iterable[Any] = (), *, values: bool = False) -> Schematic:
    """Draw parts and the nets that join them.

    Findings that are more than information are told in red, by numbers beside the parts; ``values``
    writes given values beside the symbols.
    """
    if not parts:
        raise ParameterError("draw", "the network has no components.",
                             "Add some: model.block = Mass().")  # fmt: skip
    told = [f for f in findings if getattr(f, "severity", "error") != "info"]
    used = sorted({p.net for part in all_parts(list(parts)) for p in part.pins if not p.signal})
    domains = {nets[n].domain.replace("_", " "): nets[n].colour for n in used}
    if len(parts) > MOST:
        parts, nets = clustered(parts, nets, _live(parts, nets))
    marks = _marks(parts, nets, told)
    sheet = Drawing(nets, _live(parts, nets), values, marks)
    return Schematic(title, network_picture(parts, sheet), domains if len(domains) > 1 else {},
                     list(map(str, told)))


def _live(parts: Sequence[Part], nets: Mapping[int, Net]) -> frozenset[int]:
    """Nets that join several pins and have no reference: those that are wired."""
    ends = Counter(p.net for part in all_parts(list(parts)) if not part.inside for p in part.pins)
    return frozenset(n for n, count in ends.items() if count > 1 and nets[n].ground is None)


def _marks(parts: Sequence[Part], nets: Mapping[int, Net], findings: Sequence[Any]
           ) -> dict[str, list[int]]:
    """Numbers of the findings about each part, or reference."""
    paths = {p.path for p in all_parts(list(parts))} | {g for n in nets.values() for g in n.grounds}
    marks: dict[str, list[int]] = {}
    cluster_of = {member: p.path for p in parts for member in p.members}
    for number, finding in enumerate(findings, 1):
        for place in getattr(finding, "where", ()):
            name = cluster_of.get(str(place), str(place))
            while name and name not in paths:
                name = name.rpartition("." if name.rfind(".") > name.rfind("[") else "[")[0]
            if name and number not in marks.setdefault(name, []):
                marks[name].append(number)
    return marks


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


def clustered(parts: Sequence[Part], nets: Mapping[int, Net], live: Set[int]
              ) -> tuple[list[Part], dict[int, Net]]:
    """Clusters in place of parts, and the bundles of wires between them."""
    groups = _communities(parts, live)
    group_of = {k: g for g, members in enumerate(groups) for k in members}
    joins: dict[int, set[int]] = {}
    for k, part in enumerate(parts):
        for pin in part.pins:
            if pin.net in live:
                joins.setdefault(pin.net, set()).add(group_of[k])
    bundle: dict[tuple[str, frozenset[int]], int] = {}
    kept: dict[int, int] = {}
    size = Counter[int]()
    for net, group in sorted(joins.items()):
        if len(group) > 1:
            kept[net] = bundle.setdefault((nets[net].domain, frozenset(group)), net)
            size[kept[net]] += 1
    made = [_cluster([parts[k] for k in members], kept, size) for members in groups]
    return made, {n: replace(net, ports=()) if n in size else net for n, net in nets.items()}


def _communities(parts: Sequence[Part], live: Set[int]) -> list[list[int]]:
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(len(parts)))
    for k, part in enumerate(parts):
        graph.add_edges_from((k, ("net", pin.net)) for pin in part.pins if pin.net in live)
    found = nx.community.louvain_communities(graph, seed=1)
    groups = sorted(filter(None, (sorted(k for k in c if isinstance(k, int)) for c in found)))
    if len(groups) > MOST_CLUSTERS:  # many small circuits: what is left over stands together
        groups.sort(key=lambda g: (-len(g), g))
        rest = sorted(k for g in groups[MOST_CLUSTERS - 1 :] for k in g)
        groups = sorted([*groups[: MOST_CLUSTERS - 1], rest])
    return groups


def _cluster(parts: Sequence[Part], kept: Mapping[int, int], size: Mapping[int, int]) -> Part:
    """One box; a part that is alone stays as it is."""
    if len(parts) == 1:
        return parts[0].on(dict(kept))
    signals: dict[int, str] = {}
    for part in parts:
        for pin in part.pins:
            if pin.net in kept:
                net = kept[pin.net]
                signals[net] = "out" if "out" in (pin.signal, signals.get(net)) else pin.signal
    pins = tuple(Pin(f"{size[n]} wires" if size[n] > 1 else "", n, s)
                 for n, s in sorted(signals.items()))  # fmt: skip
    names = [p.name for p in parts]
    listed = ", ".join(names[:LISTED]) + (f" and {len(names) - LISTED} more"
                                          if len(names) > LISTED else "")  # fmt: skip
    return Part(f"{names[0]} … {names[-1]}", f"{len(parts)} parts", pins,
                hint=f"{len(parts)} parts: {listed}", members=tuple(p.path for p in parts))
