"""How do parts along an axis move? Masses shift, springs and dampers stretch, discs turn.

Velocities are integrated to what has been travelled since the start of the run. Nodes stand 1
apart; travel is drawn to a scale that lets nothing pass through anything, the same for all that
moves along an axis, and told by a bar. Angles are true.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...numerics.arrays import Array
from ...numerics.tolerances import TINY
from ...shapes import AxisBody, AxisElement, Shape
from ..schematic.picture import COLOURS
from .plotting import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..recording import Recording

__all__ = ["UNITS", "AxisPicture", "AxisScene", "wipe"]

HALF_MASS, DISC = 0.2, 0.3  # half the width of a mass, radius of a disc
EDGE = 0.42  # of a body, below its lowest lane
CLOSEST = 0.35  # part of its length at the start that an element is left
WIDEST = 0.8  # that bodies travel in the picture
SPOKES = 3
SHORT = 10  # letters of a name that fit above an element
UNIT = 0.17  # of a step of a symbol's grid
UNITS = ("km", 1e3, 1e3), ("m", 0.1, 1.0), ("mm", 1e-4, 1e-3), ("µm", 0.0, 1e-6)  # from which size


class AxisScene:
    """Shapes along an axis and where they are at given times."""

    def __init__(self, recording: Recording, shapes: Sequence[Shape], times: Array) -> None:
        self.shapes, self.times = shapes, times
        self.bodies = [s for s in shapes if isinstance(s, AxisBody)]
        self.elements = [s for s in shapes if isinstance(s, AxisElement)]
        handles = sorted({h for s in self.bodies for h in s.speed_by}
                         | {h for s in self.elements for h in s.speeds_by})  # fmt: skip
        self.travelled = dict(zip(handles, _integrals(recording, handles, times), strict=True))
        self.scale = self._scale()
        right = max(s.place for s in self.bodies)
        low, high = (f(v for s in self.bodies for v in s.span) for f in (min, max))
        moved = [self.shift(s.speed_by[0]) + s.place for s in self.bodies if not s.turns]
        left = min([-0.3, *(float(m.min()) - 0.4 for m in moved)])
        right = max([right + 0.5, *(float(m.max()) + 0.4 for m in moved)])
        self.limits = left, right, low - 0.55, high + 0.35
        self.size = 1.0

    def picture(self, ax: Axes) -> AxisPicture:
        return AxisPicture(self, ax)

    def shift(self, handle: int) -> Array:
        """How far something has moved along the axis, in the picture."""
        return self.scale * self.travelled[handle]

    def _scale(self) -> float:
        """Picture units for a metre."""
        along = [s for s in self.bodies if not s.turns]
        most = max([TINY, *(float(np.abs(self.travelled[s.speed_by[0]]).max()) for s in along)])
        scale = WIDEST / most
        for s in self.elements:
            if not s.turns:
                left, right = (self.travelled[h] for h in s.speeds_by)
                closer = float((left - right).max())
                if closer > 0:
                    scale = min(scale, (1 - CLOSEST) * (s.ends[1] - s.ends[0]) / closer)
        return scale


def _integrals(recording: Recording, handles: list[int], times: Array) -> Array:
    """Integrals of variables from the first time of the run to some, by Simpson's rule."""
    from scipy.integrate import cumulative_simpson

    knots = np.unique(np.concatenate([recording.close_times, times]))
    close = np.insert(knots, range(1, len(knots)), (knots[1:] + knots[:-1]) / 2)
    whole = cumulative_simpson(np.asarray(recording.values(handles, close)), x=close, initial=0.0)
    return np.asarray(whole[:, 2 * np.searchsorted(knots, times)])


class AxisPicture:
    """One axes, drawn anew for every instant."""

    def __init__(self, scene: AxisScene, ax: Axes) -> None:
        self.scene, self.ax = scene, ax
        ax.set_aspect("equal")
        ax.set_axis_off()
        ax.set_xlim(scene.limits[:2])
        ax.set_ylim(scene.limits[2:])

    def show(self, k: int) -> list[Any]:
        """Draw everything as it is at the k-th instant."""
        wipe(self.ax)
        for element in self.scene.elements:
            self._element(element, k)
        for body in self.scene.bodies:
            (self._wall if body.wall else self._disc if body.turns else self._mass)(body, k)
        if any(not s.turns and not s.wall for s in self.scene.bodies):
            self._bar()
        self.ax.set_title(f"t = {self.scene.times[k]:.3f} s", fontweight="normal")
        return []

    def _element(self, shape: AxisElement, k: int) -> None:
        left, right = (x + (0.0 if shape.turns else self.scene.shift(h)[k])
                       for x, h in zip(shape.ends, shape.speeds_by, strict=True))  # fmt: skip
        stiff = max((abs(x) for points in shape.strokes if np.allclose(points[0], points[-1])
                     for x, _ in points), default=0.0)  # fmt: skip
        for points in shape.strokes:
            x, y = np.array(points).T
            self.ax.plot(_stretched(x, left, right, stiff), shape.height + UNIT * y, color=INK,
                         lw=1.3, zorder=2)
        middle, top = (left + right) / 2, max(y for points in shape.strokes for _, y in points)
        self.ax.text(middle, shape.height + UNIT * top + 0.05, shape.name, ha="center",
                     va="bottom", fontsize=7.5 * min(1.0, SHORT / max(len(shape.name), 1)),
                     color=INK)
        self.ax.text(middle, shape.height, shape.letters, ha="center", va="center", fontsize=9,
                     color=INK)

    def _mass(self, shape: AxisBody, k: int) -> None:
        low, high = shape.span
        x, colour = shape.place + self.scene.shift(shape.speed_by[0])[k], _colour(shape)
        if not shape.name:
            self.ax.plot([x, x], [low + 0.2, high - 0.2], color=colour, lw=2.2, zorder=3)
            return
        self.ax.fill(x + HALF_MASS * np.array([-1, 1, 1, -1]), [low, low, high, high],
                     facecolor=colour, alpha=0.9, zorder=3, edgecolor=INK, lw=1.2)
        self.ax.text(x, low - 0.12, shape.name, ha="center", va="top", fontsize=8.5)

    def _disc(self, shape: AxisBody, k: int) -> None:
        low, high = shape.span
        x, y, radius = shape.place, low + EDGE, DISC if shape.name else 0.1
        self.ax.plot([x, x], [y, high - EDGE], color=INK, lw=2.2, zorder=2)
        turns = np.linspace(0, 2 * np.pi, 61)
        self.ax.fill(x + radius * np.cos(turns), y + radius * np.sin(turns), zorder=3,
                     facecolor=_colour(shape) if shape.name else "white", edgecolor=INK, lw=1.2)
        angles = self.scene.travelled[shape.speed_by[0]][k] + np.pi / 2 + np.arange(
            SPOKES) * 2 * np.pi / SPOKES  # fmt: skip
        ends = x + 0.8 * radius * np.cos(angles), y + 0.8 * radius * np.sin(angles)
        self.ax.plot(*(np.insert(at, range(SPOKES), middle) for at, middle in zip(
            ends, (x, y), strict=True)), color=INK, lw=1.2, zorder=4)
        self.ax.plot(*(at[:1] for at in ends), "o", color=INK, ms=3.2 if shape.name else 2,
                     zorder=5)
        self.ax.text(x, y - radius - 0.05, shape.name, ha="center", va="top", fontsize=8.5,
                     zorder=6)

    def _wall(self, shape: AxisBody, k: int) -> None:
        low, high = shape.span
        out = -0.14 if shape.place == 0 else 0.14
        self.ax.plot([shape.place] * 2, [low, high], color=INK, lw=2.2)
        for y in np.arange(low, high - 0.05, 0.18):
            up = y + 0.14 if out < 0 else y
            self.ax.plot([shape.place, shape.place + out], [up, y + 0.14 - (up - y)], color=INK,
                         lw=0.9)

    def _bar(self) -> None:
        """A length to compare with."""
        length = 10.0 ** np.floor(np.log10(1 / self.scene.scale))
        length *= next((k for k in (5, 2) if k * length * self.scene.scale <= 1.0), 1)
        name, factor = next((n, f) for n, least, f in UNITS if length >= 0.999 * least)
        x, _, y, _ = self.scene.limits
        self.ax.plot([x + 0.1, x + 0.1 + length * self.scene.scale], [y + 0.12] * 2, color=INK,
                     lw=2, solid_capstyle="butt")
        self.ax.text(x + 0.1, y + 0.17, f"{length / factor:g} {name}", fontsize=8, color=INK,
                     va="bottom")


def wipe(ax: Axes) -> None:
    """Take away what is drawn in an axes."""
    for artist in (*ax.lines, *ax.patches, *ax.texts):
        artist.remove()


def _colour(body: AxisBody) -> str:
    return COLOURS.get(body.colour, body.colour)


def _stretched(x: Array, left: float, right: float, stiff: float) -> Array:
    """Points of a symbol between two ends; what is closed, such as a circle, keeps its form."""
    half, inner = (right - left) / 2, min(stiff * UNIT, 0.45 * (right - left))
    knots = [-3.0, -stiff, stiff, 3.0] if 0 < stiff < 3 else [-3.0, 3.0]
    to = [-half, -inner, inner, half] if 0 < stiff < 3 else [-half, half]
    return (left + right) / 2 + np.interp(x, knots, to)
