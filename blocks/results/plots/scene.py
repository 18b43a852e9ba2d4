"""How do the parts stand and which forces act, at an instant or as a film?

Draws the shapes that components declare (:mod:`blocks.shapes`), at places that are
variables of the run. Knows neither components nor domains; matplotlib draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...exceptions import ParameterError, optional_package
from ...numerics.arrays import Array
from ...numerics.tolerances import LEAST_POSITION, NO_FORCE, TINY
from ...shapes import Arrow, AxisBody, Cone, Link, Marker, Outline, Shape
from ..files import known_ending, writing
from ..values.times import seconds_of, within_run
from .axis_scene import UNITS, AxisScene, wipe
from .figures import Figure, finished_figure, shown_figure
from .plotting import INK, STYLE

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes

    from ..recording import Recording

__all__ = ["Scene", "animate", "draw", "scene_of"]

MARGIN = 0.08  # of the scene, around it
LONGEST = 0.22  # of the scene: the largest force
CONE = 0.16  # of the scene: length of a friction cone
CROWD = 30  # contacts from which their cones would cover the picture
COILS = 7
WIDE = 0.45  # height over width below which pictures stand one above the other
FEWEST, MOST = 2, 1500  # pictures of a film
MARKERS: Mapping[str, dict[str, Any]] = {
    "o": {"mfc": "white", "mec": INK, "ms": 6}, "+": {"mec": INK, "ms": 8},
    "^": {"mfc": "0.8", "mec": INK, "ms": 9}, "s": {"mfc": "white", "mec": INK, "ms": 8},
}  # fmt: skip
FORCE, ALLOWED = "tab:red", "tab:orange"


class Scene:
    """Shapes of a run and the numbers they need at given times."""

    def __init__(self, recording: Recording, shapes: list[Shape], times: Array) -> None:
        self.shapes = shapes
        if sum(isinstance(s, Cone) for s in self.shapes) > CROWD:
            self.shapes = [s for s in self.shapes if not isinstance(s, Cone)]
        handles = sorted({h for s in self.shapes for name, value in vars(s).items()
                          if name.endswith(("_at", "_by")) for h in value})  # fmt: skip
        rows = recording.values(handles, times)
        self.times, self.values = times, dict(zip(handles, rows, strict=True))
        self.moves = {h: float(np.ptp(v)) > LEAST_POSITION for h, v in self.values.items()}
        self.limits = self._limits()
        x0, x1, y0, y1 = self.limits
        self.size = float(np.sqrt((x1 - x0) * (y1 - y0)))
        largest = [np.hypot(*self.at(s.force_by)).max() for s in self.shapes
                   if isinstance(s, Arrow)]  # fmt: skip
        self.force = max([TINY, *largest])

    def picture(self, ax: Axes) -> Picture:
        return Picture(self, ax)

    def at(self, handles: tuple[int, ...], k: int | slice = slice(None)) -> Array:
        """Values of variables, (handles,) at the k-th instant or (handles, instants)."""
        return np.array([self.values[h][k] for h in handles])

    def outline(self, shape: Outline | Marker, k: int) -> Array:
        """Points of a frame in the world."""
        points = shape.points if isinstance(shape, Outline) else np.array(shape.point)[:, None]
        there = self.placed(shape.frame_at, points, k)
        if isinstance(shape, Outline) and shape.endless:
            x0, x1, y0, y1 = self.limits
            return _through(there, np.array([[x0 + x1], [y0 + y1]]) / 2, x1 - x0 + y1 - y0)
        return there

    def placed(self, frame_at: tuple[int, ...], points: Array, k: int) -> Array:
        """Points given in a frame, in the world."""
        x, y, phi = self.at(frame_at, k)
        (px, py), c, s = points, np.cos(phi), np.sin(phi)
        return np.array([x + c * px - s * py, y + s * px + c * py])

    def _limits(self) -> tuple[float, float, float, float]:
        moving: list[Array] = []
        fixed: list[Array] = []
        endless: list[Array] = []
        some = range(0, len(self.times), max(1, len(self.times) // 60))
        for shape in self.shapes:
            if isinstance(shape, (Outline, Marker)):
                rests = not any(self.moves[h] for h in shape.frame_at)
                if isinstance(shape, Outline) and shape.endless:
                    if rests:
                        endless.append(self.placed(shape.frame_at, shape.points, 0))
                    else:
                        moving += [self.at(shape.frame_at[:2])]
                    continue
                for k in list(some)[:1] if rests else some:
                    (fixed if rests else moving).append(self.outline(shape, k))
            elif isinstance(shape, Link):
                moving += [self.at(shape.start_at), self.at(shape.end_at)]
        points = np.concatenate(moving or fixed or endless, axis=1)
        low, high = points.min(axis=1), points.max(axis=1)
        reach = max(*(high - low), LEAST_POSITION)
        middle = ((low + high) / 2)[:, None]
        fixed += [_through(line, middle, 0.75 * reach) for line in endless]
        for part in fixed:  # a floor is drawn as far as something happens on it
            near = np.clip(part, (low - 0.5 * reach)[:, None], (high + 0.5 * reach)[:, None])
            low, high = np.minimum(low, near.min(axis=1)), np.maximum(high, near.max(axis=1))
        far = CONE * float(np.sqrt(np.prod(np.maximum(high - low, 0.1 * reach))))
        tips = [(self.at(s.point_at) + far * self.at(s.axis_by))[:, self.at(s.effort_by)[0] > 0]
                for s in self.shapes if isinstance(s, Cone)]  # of cones while forces act in them
        points = np.concatenate([low[:, None], high[:, None], *tips], axis=1)
        low, high = points.min(axis=1), points.max(axis=1)
        room = MARGIN * max(high - low)
        return low[0] - room, high[0] + room, low[1] - room, high[1] + room


class Picture:
    """One axes, drawn anew for every instant."""

    def __init__(self, scene: Scene, ax: Axes) -> None:
        self.scene, self.ax = scene, ax
        ax.set_aspect("equal")
        ax.set_xlim(scene.limits[:2])
        ax.set_ylim(scene.limits[2:])
        name, factor = next((name, f) for name, least, f in UNITS if scene.size >= least)
        for axis, letter in ((ax.xaxis, "x"), (ax.yaxis, "y")):
            axis.set_label_text(f"{letter} [{name}]")
            axis.set_major_formatter(lambda v, _: f"{v / factor:.6g}")
        ax.grid(False)
        self.colours: dict[tuple[float, ...], str] = {}  # of bodies, by where their frames start

    def show(self, k: int) -> list[Any]:
        """Draw everything as it is at the k-th instant."""
        wipe(self.ax)
        for shape in self.scene.shapes:
            self._draw(shape, k)
        self.ax.set_title(f"t = {self.scene.times[k]:.3f} s", fontweight="normal")
        return []

    def _draw(self, shape: Shape, k: int) -> None:
        ax, scene = self.ax, self.scene
        if isinstance(shape, Outline):
            frame = tuple(scene.at(shape.frame_at, 0).round(9))
            colour = self.colours.setdefault(frame, f"C{len(self.colours) % 10}") \
                if any(scene.moves[h] for h in shape.frame_at) else INK
            if shape.filled:
                ax.fill(*scene.outline(shape, k), facecolor=colour, alpha=0.25, edgecolor=colour,
                        lw=1.6)
            else:
                ax.plot(*scene.outline(shape, k), color=colour, lw=1.6)
        elif isinstance(shape, Marker):
            ax.plot(*scene.outline(shape, k), shape.symbol, ls="none", zorder=4,
                    **MARKERS.get(shape.symbol, {}))
        elif isinstance(shape, Link):
            width = 1.0 if shape.guide else 1.2 if shape.coiled else 3.0
            points = np.stack([scene.at(shape.start_at, k), scene.at(shape.end_at, k)], axis=1)
            ax.plot(*(_coil(points, 0.02 * scene.size) if shape.coiled else points),
                    "--" if shape.guide else "-", color=INK, lw=width, zorder=2,
                    solid_capstyle="round", alpha=0.8)
        elif isinstance(shape, Arrow):
            start, force = scene.at(shape.point_at, k), shape.sign * scene.at(shape.force_by, k)
            if np.hypot(*force) > NO_FORCE * scene.force:
                ax.annotate("", start + LONGEST * scene.size * force / scene.force, tuple(start),
                            annotation_clip=False, zorder=6,
                            arrowprops={"arrowstyle": "-|>", "color": FORCE, "lw": 1.8,
                                        "shrinkA": 0, "shrinkB": 0})  # fmt: skip
        elif isinstance(shape, Cone) and scene.at(
                shape.effort_by, k)[0] > NO_FORCE * scene.force:
            tip, (nx, ny) = scene.at(shape.point_at, k), scene.at(shape.axis_by, k)
            far, slope = CONE * scene.size, float(shape.slope)
            sides = [(nx - slope * ny, ny + slope * nx), (nx + slope * ny, ny - slope * nx)]
            ax.fill(*np.transpose([tip, *(tip + far * np.array(s) for s in sides)]),
                    color=ALLOWED, alpha=0.3, lw=0, zorder=1)


def _through(line: Array, middle: Array, half: float) -> Array:
    """A piece of the line through two points, to both sides of what is nearest to a point."""
    direction = line[:, -1:] - line[:, :1]
    direction /= np.hypot(*direction)
    foot = line[:, :1] + direction * (direction * (middle - line[:, :1])).sum()
    return np.hstack([foot - half * direction, foot + half * direction])


def _coil(points: Array, width: float) -> Array:
    """A zigzag between two points."""
    share = np.concatenate([[0.0], np.linspace(0.15, 0.85, 2 * COILS + 1), [1.0]])
    aside = np.zeros(len(share))
    aside[2:-2] = width * np.resize([1.0, -1.0], 2 * COILS - 1)
    start, way = points[:, 0], points[:, 1] - points[:, 0]
    normal = np.array([-way[1], way[0]]) / max(float(np.hypot(*way)), TINY)
    return start[:, None] + np.outer(way, share) + np.outer(normal, aside)


def scene_of(recording: Recording, times: Array) -> Scene | AxisScene:
    """What a run looks like: bodies of the plane, or parts along their axis."""
    shapes = list(recording.shapes())
    if not shapes:
        raise ParameterError(recording.name, "no component of this model has a shape.",
                             "Shapes have bodies of library.planar, and what moves along an axis "
                             "or turns about one: masses, springs, discs.", code="result.shapes")
    lined_up = any(isinstance(s, AxisBody) for s in shapes)
    return (AxisScene if lined_up else Scene)(recording, shapes, times)


def draw(recording: Recording, times: Sequence[Any], save: str | Path | None) -> Figure:
    """One panel for every instant; see :meth:`Result.draw`."""
    plt = optional_package("matplotlib.pyplot", "result.draw()", "plot")
    end = float(recording.close_times[-1])
    at = np.array([float(seconds_of(t, "result.draw()")) for t in times] or [end])
    at = within_run(recording.close_times, at, "result.draw()")
    with plt.rc_context(STYLE):
        scene = scene_of(recording, np.concatenate([at, recording.close_times]))
        x0, x1, y0, y1 = scene.limits
        tall = (y1 - y0) / (x1 - x0)
        columns = min(len(at), 1 if tall < WIDE else 3)
        rows = -(-len(at) // columns)
        width = 4.2 if columns > 1 else 7.5
        height = float(np.clip(0.9 + (width - 0.6) * tall, 1.4, 7.5))
        figure = shown_figure("result.draw()", layout="constrained",
                              figsize=(width * columns + 0.5, height * rows))
        axes = figure.subplots(rows, columns, squeeze=False)
        for k, ax in enumerate(axes.ravel()):
            if k < len(at):
                scene.picture(ax).show(k)
            else:
                ax.set_axis_off()
        return finished_figure(figure, save)


def animate(recording: Recording, save: str | Path | None, fps: int, speed: float) -> FuncAnimation:
    """A film; see :meth:`Result.animate`."""
    plt = optional_package("matplotlib.pyplot", "result.animate()", "plot")
    from matplotlib.animation import FuncAnimation, PillowWriter

    start, end = recording.close_times[[0, -1]]
    if not all(isinstance(one, (int, float)) and one > 0 for one in (fps, speed)):
        raise ParameterError("result.animate()", f"takes a positive fps and speed, not {fps} and "
                             f"{speed}.", given=(fps, speed), code="parameter.bounds")  # fmt: skip
    kind = known_ending(save, "a film", ".gif", ".html") if save is not None else ""
    count = int(np.clip(round((end - start) / speed * fps) + 1, FEWEST, MOST))
    with plt.rc_context(STYLE):
        scene = scene_of(recording, np.linspace(start, end, count))
        x0, x1, y0, y1 = scene.limits
        width = 6.4
        figure, ax = plt.subplots(layout="constrained", figsize=(
            width, float(np.clip(0.9 + (width - 0.8) * (y1 - y0) / (x1 - x0), 2.4, 7.5))))
        picture = scene.picture(ax)
        picture.show(0)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once, not for every picture
        film = FuncAnimation(figure, picture.show, frames=count, interval=1000 / fps, blit=False)
        target: Any = nullcontext() if save is None else writing(save)
        with target as place:
            if kind == ".gif":
                film.save(place, writer=PillowWriter(fps=fps))
            elif kind == ".html":
                place.write_text(film.to_jshtml(fps=fps), encoding="utf-8")
    return film
