"""What does a network look like?

Draws the bipartite graph of components and nodes: components as boxes, nodes
as dots in the colour of their domain, references as ground symbols, findings
in red. Knows the graph's attributes only, no component and no domain by name.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import ParameterError, need_package
from ..numerics.arrays import Array
from .files import writing
from .layout import arrange

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from networkx import MultiGraph

__all__ = ["draw_graph"]

FONT, SMALL, PORT = 10.0, 8.0, 8.0  # points
DOT = 0.13  # inches
MARGIN = 0.35
WIDEST, SMALLEST = 15.0, 0.55  # inches above which a drawing is scaled down, and how far
WRONG, FAINT, INK = "#c8102e", "#fdecee", "0.25"
PALETTE = ("tab:blue", "tab:orange", "tab:green", "tab:purple", "tab:brown", "tab:pink",
           "tab:olive", "tab:cyan")  # fmt: skip
LABELLED = 150  # components up to which ports are labelled


@dataclass
class Pen:
    """Where, in which colours and at which scale is drawn."""

    ax: Any
    palette: Mapping[str, str]
    scale: float = 1.0
    legend_in: Any = None

    def text(self, at: Array, words: str, size: float, colour: str, zorder: int = 5,
             **look: Any) -> None:  # fmt: skip
        self.ax.text(*at, words, ha="center", va="center", fontsize=size * self.scale,
                     color=colour, zorder=zorder, **look)  # fmt: skip


@dataclass(frozen=True)
class GroundPlan:
    """Where everything goes, in inches.

    Attributes
    ----------
    sizes, places : of every node: width and height, centre
    above : 1 where the circuit is above a reference, -1 where its symbol stands on its head
    tips : where the stem of a reference's symbol ends
    low, high : corners of the drawing
    """

    sizes: Mapping[Any, tuple[float, float]]
    places: Mapping[Any, Array]
    above: Mapping[Any, int]
    tips: Mapping[Any, Array]
    low: Array
    high: Array

    @classmethod
    def of(cls, graph: MultiGraph) -> GroundPlan:
        sizes = {n: _size(n, d) for n, d in graph.nodes(data=True)}
        grounds = [n for n, d in graph.nodes(data=True) if d.get("reference")]
        places = arrange(graph, sizes, grounds)
        above = {n: _above(graph, n, places) for n in grounds}
        low = np.min([places[n] - np.array(sizes[n]) / 2 for n in graph], axis=0) - MARGIN
        high = np.max([places[n] + np.array(sizes[n]) / 2 for n in graph], axis=0) + MARGIN
        tips = {n: places[n] + [0, 0.36 * above[n]] for n in grounds}
        return cls(sizes, places, above, tips, low, high)


@dataclass
class Marked:
    """A finding, and the names in the graph it is about."""

    text: str
    names: tuple[str, ...]
    number: int
    nodes: set[Any] = field(default_factory=set)
    edges: set[tuple[Any, Any, Any]] = field(default_factory=set)


def draw_graph(
    graph: MultiGraph,
    findings: Iterable[object] = (),
    ax: Axes | None = None,
    save: str | Path | None = None,
    *,
    colours: Mapping[str, str] | None = None,
    title: str | None = None,
) -> Figure:
    """Draw the graph of a network and return the matplotlib Figure.

    Parameters
    ----------
    graph : networkx.MultiGraph
        Component nodes with the attributes ``kind="component"``, ``type``,
        ``reference``; node nodes with ``kind="node"``, ``domain``, ``ports``;
        edges with ``port`` and ``domain``.
    findings : iterable
        What to mark in red: paths of components, ports (``"spring.R"``) or
        nodes, or objects that name them as ``where``, ``components``,
        ``paths`` or ``ports`` and explain themselves as ``problem`` or
        ``message``, such as the errors of this package.
    ax : matplotlib Axes, optional
        Draw into it instead of a figure of fitting size.
    save : path, optional
        Write the picture; its ending chooses the format.
    colours : mapping of str to str, optional
        Matplotlib colour of a domain.
    title : str, optional
        Instead of the graph's name.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise need_package("matplotlib", "A drawing", "plot") from None
    if not len(graph):
        raise ParameterError("draw", "the network has no components.",
                             "Add some: model.block = Mass().")  # fmt: skip
    marked = [_mark(graph, f, k) for k, f in enumerate(findings, 1)]
    plan = GroundPlan.of(graph)
    pen = Pen(ax, _palette(graph, colours or {})) if ax is not None else _fitting_pen(
        plan, _palette(graph, colours or {}), bool(marked))
    ax = pen.ax
    ax.set_xlim(plan.low[0], plan.high[0])
    ax.set_ylim(plan.low[1], plan.high[1])
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.set_title(graph.graph.get("name", "") if title is None else title, loc="left",
                 fontweight="bold")  # fmt: skip
    _edges(pen, graph, plan, set().union(*(m.edges for m in marked)))
    wrong = set().union(*(m.nodes for m in marked))
    for name, data in graph.nodes(data=True):
        numbers = [m.number for m in marked if name in m.nodes]
        _node(pen, name, data, plan, name in wrong, numbers)
    _legend(pen, marked)
    figure: Any = ax.figure
    if save is not None:
        with writing(save):
            figure.savefig(save, dpi=150)
    return figure


def _fitting_pen(plan: GroundPlan, palette: Mapping[str, str], legend: bool) -> Pen:
    """A pen on a figure of its own that is as large as the drawing."""
    from matplotlib.figure import Figure

    width, height = plan.high - plan.low
    scale = float(np.clip(WIDEST / width, SMALLEST, 1.0))
    size = scale * max(width, 3.0) + (3.3 if legend else 1.7), scale * max(height, 1.6) + 0.5
    figure = Figure(figsize=size, layout="constrained")
    return Pen(figure.subplots(), palette, scale, figure)


# -- findings ------------------------------------------------------------------------------
def _mark(graph: MultiGraph, finding: object, number: int) -> Marked:
    if isinstance(finding, str):
        text, names = finding, [finding]
    else:
        text = str(getattr(finding, "problem", "") or getattr(finding, "message", "") or finding)
        names = []
        for attribute in ("components", "paths", "ports", "where"):
            given = getattr(finding, attribute, None)
            if isinstance(given, str):
                names += [w for part in given.split(" and ") for w in part.split(", ")]
            elif isinstance(given, Iterable):
                names += [str(getattr(g, "path", g)) for g in given]
        where = getattr(finding, "where", "")
        if isinstance(where, str) and where and not text.startswith(where):
            text = f"{where}: {text}"
    found = Marked(text, tuple(dict.fromkeys(n.strip() for n in names if n)), number)
    ports = {f"{u}.{d['port']}": (u, v, k) for u, v, k, d in _from_components(graph)}
    for name in found.names:
        if name in graph:
            found.nodes.add(name)
        elif name in ports:
            found.edges.add(ports[name])
            found.nodes.add(ports[name][0])
        else:
            found.nodes |= {n for n in graph if str(n).startswith((f"{name}.", f"{name}["))}
            head = name.rpartition(".")[0]
            if not found.nodes and head in graph:
                found.nodes.add(head)
    return found


def _from_components(graph: MultiGraph) -> Iterable[tuple[Any, Any, Any, dict[str, Any]]]:
    """Edges as (component, node, key, attributes)."""
    for u, v, k, data in graph.edges(keys=True, data=True):
        a, b = (u, v) if graph.nodes[u].get("kind") == "component" else (v, u)
        yield a, b, k, data


# -- parts ---------------------------------------------------------------------------------
def _palette(graph: MultiGraph, given: Mapping[str, str]) -> dict[str, str]:
    domains = dict.fromkeys(d["domain"] for _, d in graph.nodes(data=True) if d["kind"] == "node")
    free = (c for c in PALETTE * (1 + len(domains)) if c not in given.values())
    signal = {"signal": "0.35", **given}
    return {d: signal[d] if d in signal else next(free) for d in domains}


def _size(name: Any, data: Mapping[str, Any]) -> tuple[float, float]:
    """Width and height in inches of what is drawn for a node."""
    if data["kind"] == "node":
        return DOT, DOT
    from matplotlib.textpath import TextPath

    lines = [(str(name), FONT), (data.get("type") or " ", SMALL)]
    widest = max(TextPath((0, 0), text, size=s).get_extents().width for text, s in lines) / 72
    return (max(widest, 0.4), 0.62) if data.get("reference") else (widest + 0.24, 0.44)


def _node(pen: Pen, name: Any, data: Mapping[str, Any], plan: GroundPlan, wrong: bool,
          numbers: Sequence[int]) -> None:  # fmt: skip
    from matplotlib.patches import Circle

    at, size = plan.places[name], plan.sizes[name]
    if data["kind"] == "node":
        if wrong:
            pen.ax.add_patch(Circle(tuple(at), DOT, fc="white", ec=WRONG, lw=2, zorder=3))
        colour = pen.palette[data["domain"]]
        pen.ax.add_patch(Circle(tuple(at), DOT / 2, fc=colour, ec="white", lw=0.8, zorder=4))
    else:
        _component(pen, name, data, plan, wrong)
    if numbers:
        pen.text(at + np.array(size) / 2, ",".join(map(str, numbers)), SMALL, "white", zorder=7,
                 fontweight="bold", bbox={"boxstyle": "circle,pad=0.25", "fc": WRONG,
                                          "ec": "white"})  # fmt: skip
    if name in plan.tips:
        _ground(pen, plan.tips[name], at, WRONG if wrong else INK)


def _component(pen: Pen, name: Any, data: Mapping[str, Any], plan: GroundPlan, wrong: bool
               ) -> None:
    """A box with name and type; a reference has no box, and the text beside its symbol."""
    from matplotlib.patches import FancyBboxPatch

    text, size = plan.places[name], plan.sizes[name]
    if data.get("reference"):
        text = text - [0, 0.13 * plan.above[name]]
    else:
        corner = tuple(text - np.array(size) / 2)
        pen.ax.add_patch(FancyBboxPatch(
            corner, size[0], size[1], boxstyle="round,pad=0,rounding_size=0.06",
            fc=FAINT if wrong else "white", ec=WRONG if wrong else INK, lw=2 if wrong else 1.1,
            zorder=3,
        ))  # fmt: skip
    pen.text(text + [0, 0.085], str(name), FONT, WRONG if wrong else "black")
    pen.text(text - [0, 0.105], data.get("type", ""), SMALL, "0.4")


def _above(graph: MultiGraph, name: Any, places: Mapping[Any, Array]) -> int:
    """1 where the circuit is above a reference, -1 where the symbol stands on its head."""
    heights = [places[n][1] for n in graph[name]]
    return 1 if not heights or np.mean(heights) > places[name][1] - 0.05 else -1


def _ground(pen: Pen, tip: Array, at: Array, ink: str) -> None:
    """Three bars that get shorter, away from the stem."""
    look = {"color": ink, "lw": 2 * pen.scale, "zorder": 4, "solid_capstyle": "round"}
    (x, y), step = tip, float(np.sign(at[1] - tip[1]))
    pen.ax.plot([x, x], [y, y + 0.13 * step], **look)
    for k, half in enumerate((0.17, 0.11, 0.05)):
        height = y + (0.13 + 0.06 * k) * step
        pen.ax.plot([x - half, x + half], [height, height], **look)


def _edges(pen: Pen, graph: MultiGraph, plan: GroundPlan, wrong: set[Any]) -> None:
    seen: dict[tuple[Any, Any], int] = {}
    labelled = sum(d["kind"] == "component" for _, d in graph.nodes(data=True)) <= LABELLED
    for a, b, key, data in _from_components(graph):
        count = graph.number_of_edges(a, b)
        k = seen[a, b] = seen.get((a, b), -1) + 1
        start, end = plan.tips.get(a, plan.places[a]), plan.places[b]
        bend = 0.0 if count == 1 else 0.36 * (k / (count - 1) - 0.5)
        bad = (a, b, key) in wrong
        colour = WRONG if bad else pen.palette.get(data["domain"], "0.4")
        way = end - start
        aside = np.array([-way[1], way[0]]) * bend
        t = np.linspace(0, 1, 65)[:, None]
        curve = start + t * way + 4 * t * (1 - t) * aside
        pen.ax.plot(*curve.T, color=colour, lw=(2.4 if bad else 1.6) * pen.scale,
                    zorder=2 if bad else 1, solid_capstyle="round")  # fmt: skip
        if labelled:
            half = np.array(plan.sizes[a]) / 2 if a not in plan.tips else np.array([0.03, 0.03])
            _port(pen, data["port"], curve, start, half, WRONG if bad else "0.15")


def _port(pen: Pen, port: str, curve: Array, centre: Array, half: Array,
          colour: str) -> None:  # fmt: skip
    """The port's name, on the edge where it has just left the box."""
    clear = half + [0.05 + 0.035 * len(port), 0.11]
    fine = np.flatnonzero((np.abs(curve - centre) > clear).any(axis=1))
    at = curve[min(fine[0] if len(fine) else len(curve), int(0.6 * len(curve)))]
    pen.text(at, port, PORT, colour, zorder=6,
             bbox={"boxstyle": "square,pad=0.15", "fc": "white", "ec": "none"})  # fmt: skip


def _legend(pen: Pen, marked: Sequence[Marked]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour, marker="o", lw=1.6, markersize=6, label=domain)
        for domain, colour in pen.palette.items()
    ]
    for m in marked:
        shown = "\n".join(textwrap.wrap(f"{m.number}  {m.text}", 38, max_lines=6))
        handles.append(Line2D([], [], color=WRONG, marker="s", lw=0, markerfacecolor=FAINT,
                              label=shown))  # fmt: skip
    look = {"handles": handles, "frameon": False, "fontsize": 9, "labelspacing": 0.8}
    if pen.legend_in is not None:
        pen.legend_in.legend(loc="outside right upper", **look)
    else:
        pen.ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0, **look)
