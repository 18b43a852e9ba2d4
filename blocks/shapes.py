"""What does a component look like? Declared by its class, drawn by the results.

Shapes refer to the component's own variables by name; lengths are in m. Whoever draws
them needs no knowledge of what the component is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

__all__ = ["Arrow", "AxisBody", "AxisElement", "Cone", "Link", "Marker", "Outline", "Shape",
           "Stroke", "Symbol", "Vertex", "arc", "circle", "line", "placed", "polygon"]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Shape:
    """Base of shapes. Fields whose names end in ``at`` or ``by`` hold names of variables."""


@dataclass(frozen=True, eq=False)
class Outline(Shape):
    """A line or area fixed in a frame.

    Parameters
    ----------
    frame_at : names of x, y and angle of the frame
    points : (2, n) array in m, in the frame
    filled : bool
    endless : bool
        Goes on as far as the picture does, along the line through its two ends.
    """

    frame_at: tuple[Any, Any, Any]
    points: np.ndarray
    filled: bool = False
    endless: bool = False


@dataclass(frozen=True, eq=False)
class Vertex(Shape):
    """A corner of a body: all those in one frame are joined to its outline."""

    frame_at: tuple[Any, Any, Any]
    point: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Marker(Shape):
    """A point fixed in a frame: ``"o"`` a joint, ``"+"`` a centre of mass, ``"^"`` a support."""

    frame_at: tuple[Any, Any, Any]
    point: tuple[float, float] = (0.0, 0.0)
    symbol: str = "o"


@dataclass(frozen=True, eq=False)
class Link(Shape):
    """A straight part between two points that move, a spring, or the line of a guide."""

    start_at: tuple[Any, Any]
    end_at: tuple[Any, Any]
    coiled: bool = False
    guide: bool = False


@dataclass(frozen=True, eq=False)
class Arrow(Shape):
    """A force at a point: its components times ``sign``."""

    point_at: tuple[Any, Any]
    force_by: tuple[Any, Any]
    sign: float = 1.0


@dataclass(frozen=True, eq=False)
class Cone(Shape):
    """The directions a contact force may take: ``slope`` to both sides of the axis."""

    point_at: tuple[Any, Any]
    axis_by: tuple[Any, Any]
    slope: Any
    effort_by: tuple[Any]


@dataclass(frozen=True, eq=False)
class AxisBody(Shape):
    """What moves along an axis or turns about it as one: a mass, a disc, a node, or a wall.

    Parameters
    ----------
    speed_by : name of its velocity
    place : float
        Where it stands at the start; nodes of a network are 1 apart.
    span : pair of float
        Heights of its ends.
    name : str
        Nothing for a node without a body.
    wall : bool
    turns : bool
    colour : str
    """

    speed_by: tuple[Any]
    place: float
    span: tuple[float, float]
    name: str = ""
    wall: bool = False
    turns: bool = False
    colour: str = "C0"


@dataclass(frozen=True, eq=False)
class AxisElement(Shape):
    """A two-port between two such bodies, by the strokes of its symbol.

    Parameters
    ----------
    speeds_by : names of the velocities of its ends, left and right
    ends : pair of float
        Where these are at the start.
    height : float
    strokes : lists of points, from -3 at its left end to 3 at its right end
    name, letters : str
    turns : bool
    """

    speeds_by: tuple[Any, Any]
    ends: tuple[float, float]
    height: float
    strokes: Any
    name: str = ""
    letters: str = ""
    turns: bool = False


@dataclass(frozen=True, eq=False)
class Stroke:
    """A line of a symbol through points, (n, 2) in grid units, y upward."""

    points: np.ndarray
    filled: bool = False
    dashed: bool = False


class Symbol:
    """How a schematic draws a component: a few strokes about (0, 0).

    A class says ``symbol = Symbol(line(…), circle(…))``; one without is drawn as a box with
    its name. Two-ports lie between (-3, 0), the first port, and (3, 0), the second; they are
    turned and mirrored as the wires need. A component with one port hangs below (0, 0).

    Parameters
    ----------
    *strokes : Stroke
    letters : str
        A word in the middle, upright however the symbol is turned.
    half : pair of float
        Half the width and height of what the strokes cover.
    rigid : bool
        A body with one port, which wires reach from both sides, at (-half[0], 0) and (half[0], 0).
    source : bool
        Drives the network: drawn first, on the left.
    left, right : tuple of str
        Ports at the sides, from top to bottom; by default the first half is on the left. Any
        others are wired from below.
    named : bool
        Names of the ports are written beside it: which is which matters, and is not to be seen.
    """

    def __init__(self, *strokes: Stroke, letters: str = "", half: tuple[float, float] = (3.0, 1.5),
                 rigid: bool = False, source: bool = False, left: tuple[str, ...] = (),
                 right: tuple[str, ...] = (), named: bool = False) -> None:
        self.strokes, self.letters, self.half = strokes, letters, half
        self.rigid, self.source, self.named = rigid, source, named
        self.left, self.right = left, right

    def __repr__(self) -> str:
        return f"<symbol of {len(self.strokes)} strokes>"  # help() of a class shows it


def line(*points: tuple[float, float], filled: bool = False, dashed: bool = False) -> Stroke:
    """A stroke through points."""
    return Stroke(np.array(points, dtype=float), filled, dashed)


def circle(x: float, y: float, radius: float, filled: bool = False) -> Stroke:
    """A circle about a point."""
    return Stroke(arc(x, y, radius, 0, 360).points, filled)


def arc(x: float, y: float, radius: float, start: float, end: float) -> Stroke:
    """A part of a circle, from one angle to another in degrees, counted from the right."""
    turns = np.radians(np.linspace(start, end, max(7, int(abs(end - start) / 15) + 1)))
    return Stroke(np.column_stack([x + radius * np.cos(turns), y + radius * np.sin(turns)]))


def placed(component: Any, index_of: Any, loaded: np.ndarray | None = None) -> Iterator[Shape]:
    """Shapes of all instances of a component, names replaced by ``index_of(path)``.

    ``loaded`` tells which instances have forces to be shown; all by default.
    """
    instances = [component] if component._count is None else component
    for i, one in enumerate(instances):
        for shape in type(component).shapes(one):
            if loaded is not None and not loaded[i] and isinstance(shape, (Arrow, Cone)):
                continue
            yield replace(shape, **{
                f.name: tuple(index_of(f"{one.path}.{name}") for name in getattr(shape, f.name))
                for f in fields(shape) if f.name.endswith(("_at", "_by"))})


def polygon(corners: list[tuple[float, float]]) -> np.ndarray:
    """Join corners of a body to an outline, (2, n); fewer than three go to its origin."""
    points = np.unique(np.round(corners, 12), axis=0)
    if len(points) < 3:
        points = np.unique(np.vstack([points, [0.0, 0.0]]), axis=0)
    about = points - points.mean(axis=0)
    return points[np.argsort(np.arctan2(about[:, 1], about[:, 0]))].T
