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
from typing import Any

import numpy as np

from ..exceptions import ParameterError, need_package
from .files import writing
from .layout import arrange

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

    def text(self, at: np.ndarray, words: str, size: float, colour: str, zorder: int = 5,
             **look: Any) -> None:  # fmt: skip
        self.ax.text(*at, words, ha="center", va="center", fontsize=size * self.scale,
                     color=colour, zorder=zorder, **look)  # fmt: skip


@dataclass
class Marked:
    """A finding, and the names in the graph it is about."""

    text: str
    names: tuple[str, ...]
    number: int
    nodes: set[Any] = field(default_factory=set)
    edges: set[tuple[Any, Any, Any]] = field(default_factory=set)


def draw_graph(
    graph: Any,
    findings: Iterable[Any] = (),
    ax: Any = None,
    save: str | Path | None = None,
    *,
    colours: Mapping[str, str] | None = None,
    title: str | None = None,
) -> Any:
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
        from matplotlib.figure import Figure
    except ImportError:
        raise need_package("matplotlib", "A drawing", "plot") from None
    if not len(graph):
        raise ParameterError("draw", "the network has no components.",
                             "Add some: model.block = Mass().")  # fmt: skip
    marked = [_mark(graph, f, k) for k, f in enumerate(findings, 1)]
    palette = _palette(graph, colours or {})
    sizes = {n: _size(n, d) for n, d in graph.nodes(data=True)}
    grounds = [n for n, d in graph.nodes(data=True) if d.get("reference")]
    places = arrange(graph, sizes, grounds)
    low = np.min([places[n] - np.array(sizes[n]) / 2 for n in graph], axis=0) - MARGIN
    high = np.max([places[n] + np.array(sizes[n]) / 2 for n in graph], axis=0) + MARGIN
    pen = Pen(ax, palette)
    if ax is None:
        width, height = high - low
        pen.scale = float(np.clip(WIDEST / width, SMALLEST, 1.0))
        size = pen.scale * max(width, 3.0) + (3.3 if marked else 1.7), (
            pen.scale * max(height, 1.6) + 0.5)  # fmt: skip
        figure = Figure(figsize=size, layout="constrained")
        pen.ax = ax = figure.subplots()
        pen.legend_in = figure
    else:
        figure = ax.figure
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.set_title(graph.graph.get("name", "") if title is None else title, loc="left",
                 fontweight="bold")  # fmt: skip
    wrong_nodes = set().union(*(m.nodes for m in marked))
    wrong_edges = set().union(*(m.edges for m in marked))
    tips = {n: places[n] + [0, 0.36 * _above(graph, n, places)] for n in grounds}
    _edges(pen, graph, places, sizes, tips, wrong_edges)
    for name, data in graph.nodes(data=True):
        numbers = [m.number for m in marked if name in m.nodes]
        above = _above(graph, name, places)
        _node(pen, name, data, places[name], sizes[name], name in wrong_nodes, numbers, above)
        if name in tips:
            _ground(pen, tips[name], places[name], WRONG if name in wrong_nodes else INK)
    _legend(pen, marked)
    if save is not None:
        with writing(save):
            figure.savefig(save, dpi=150)
    return figure


# -- findings ------------------------------------------------------------------------------
def _mark(graph: Any, finding: Any, number: int) -> Marked:
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


def _from_components(graph: Any) -> Iterable[tuple[Any, Any, Any, dict[str, Any]]]:
    """Edges as (component, node, key, attributes)."""
    for u, v, k, data in graph.edges(keys=True, data=True):
        a, b = (u, v) if graph.nodes[u].get("kind") == "component" else (v, u)
        yield a, b, k, data


# -- parts ---------------------------------------------------------------------------------
def _palette(graph: Any, given: Mapping[str, str]) -> dict[str, str]:
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


def _node(pen: Pen, name: Any, data: Mapping[str, Any], at: np.ndarray, size: Any, wrong: bool,
          numbers: Sequence[int], above: int) -> None:  # fmt: skip
    from matplotlib.patches import Circle, FancyBboxPatch

    ink = WRONG if wrong else INK
    if data["kind"] == "node":
        if wrong:
            pen.ax.add_patch(Circle(tuple(at), DOT, fc="white", ec=WRONG, lw=2, zorder=3))
        colour = pen.palette[data["domain"]]
        pen.ax.add_patch(Circle(tuple(at), DOT / 2, fc=colour, ec="white", lw=0.8, zorder=4))
    else:
        text = at
        if data.get("reference"):
            text = at - [0, 0.13 * above]
        else:
            corner = tuple(at - np.array(size) / 2)
            pen.ax.add_patch(FancyBboxPatch(
                corner, size[0], size[1], boxstyle="round,pad=0,rounding_size=0.06",
                fc=FAINT if wrong else "white", ec=ink, lw=2 if wrong else 1.1, zorder=3,
            ))  # fmt: skip
        pen.text(text + [0, 0.085], str(name), FONT, WRONG if wrong else "black")
        pen.text(text - [0, 0.105], data.get("type", ""), SMALL, "0.4")
    if numbers:
        pen.text(at + np.array(size) / 2, ",".join(map(str, numbers)), SMALL, "white", zorder=7,
                 fontweight="bold", bbox={"boxstyle": "circle,pad=0.25", "fc": WRONG,
                                          "ec": "white"})  # fmt: skip


def _above(graph: Any, name: Any, places: Mapping[Any, np.ndarray]) -> int:
    """1 where the circuit is above a reference, -1 where the symbol stands on its head."""
    heights = [places[n][1] for n in graph[name]]
    return 1 if not heights or np.mean(heights) > places[name][1] - 0.05 else -1


def _ground(pen: Pen, tip: np.ndarray, at: np.ndarray, ink: str) -> None:
    """Three bars that get shorter, away from the stem."""
    look = {"color": ink, "lw": 2 * pen.scale, "zorder": 4, "solid_capstyle": "round"}
    (x, y), step = tip, float(np.sign(at[1] - tip[1]))
    pen.ax.plot([x, x], [y, y + 0.13 * step], **look)
    for k, half in enumerate((0.17, 0.11, 0.05)):
        height = y + (0.13 + 0.06 * k) * step
        pen.ax.plot([x - half, x + half], [height, height], **look)


def _edges(pen: Pen, graph: Any, places: Mapping[Any, np.ndarray], sizes: Mapping[Any, Any],
           tips: Mapping[Any, np.ndarray], wrong: set[Any]) -> None:  # fmt: skip
    seen: dict[tuple[Any, Any], int] = {}
    labelled = sum(d["kind"] == "component" for _, d in graph.nodes(data=True)) <= LABELLED
    for a, b, key, data in _from_components(graph):
        count = graph.number_of_edges(a, b)
        k = seen[a, b] = seen.get((a, b), -1) + 1
        start, end = tips.get(a, places[a]), places[b]
        bend = 0.0 if count == 1 else 0.36 * (k / (count - 1) - 0.5)
        bad = (a, b, key) in wrong
        colour = WRONG if bad else pen.palette.get(data["domain"], "0.4")
        along = end - start
        across = np.array([-along[1], along[0]]) * bend
        t = np.linspace(0, 1, 65)[:, None]
        curve = start + t * along + 4 * t * (1 - t) * across
        pen.ax.plot(*curve.T, color=colour, lw=(2.4 if bad else 1.6) * pen.scale,
                    zorder=2 if bad else 1, solid_capstyle="round")  # fmt: skip
        if labelled:
            half = np.array(sizes[a]) / 2 if a not in tips else np.array([0.03, 0.03])
            _port(pen, data["port"], curve, start, half, WRONG if bad else "0.15")


def _port(pen: Pen, port: str, curve: np.ndarray, centre: np.ndarray, half: np.ndarray,
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
