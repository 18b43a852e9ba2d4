"""What does a component look like? Declared by its class, drawn by the results.

Shapes refer to the component's own variables by name; lengths are in m. Whoever draws
them needs no knowledge of what the component is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

__all__ = ["Arrow", "Cone", "Link", "Marker", "Outline", "Shape", "Vertex", "placed", "polygon"]


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


def placed(component: Any, index_of: Any, loaded: np.ndarray | None = None) -> Iterator[Shape]:
    """Shapes of all instances of a component, names replaced by ``index_of(path)``.

    ``loaded`` tells which instances have forces to be shown; all by default.
    """
    shapes = list(component.shapes())
    for i in range(component.size):
        owner = component.path if component._count is None else f"{component.path}[{i}]"
        for shape in shapes:
            if loaded is not None and not loaded[i] and isinstance(shape, (Arrow, Cone)):
                continue
            new: dict[str, Any] = {}
            for f in fields(shape):
                value = getattr(shape, f.name)
                if f.name.endswith(("_at", "_by")):
                    new[f.name] = tuple(index_of(f"{owner}.{name}") for name in value)
                elif f.name == "slope" and np.ndim(value):
                    new[f.name] = float(np.asarray(value)[i])
            yield replace(shape, **new)


def polygon(corners: list[tuple[float, float]]) -> np.ndarray:
    """The outline through corners of a body, (2, n); fewer than three are joined to its origin."""
    points = np.unique(np.round(corners, 12), axis=0)
    if len(points) < 3:
        points = np.unique(np.vstack([points, [0.0, 0.0]]), axis=0)
    about = points - points.mean(axis=0)
    return points[np.argsort(np.arctan2(about[:, 1], about[:, 0]))].T
