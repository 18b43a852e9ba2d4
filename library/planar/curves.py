"""Outlines of bodies: what a contact touches.

A curve is given in the frame of its body by a parameter. Its *free side* is where
the other body is: outside of a disc, inside of a bowl, above a floor. Derivatives are
taken from the expressions; nobody writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from blocks import Parameter, ParameterError, cos, quantity, sample, sin, where

SAMPLES = 721  # points at which an outline is judged
SHOWN = 241  # and drawn
DRAWN = 4.0  # m of an endless line that are judged
ENDS = 0.5 + 1e-9  # half a piece of an outline, its ends included


LENGTH, SIZE, ANGLE = Parameter("0 m"), Parameter("1 m", above=0), Parameter("0 rad")
LENGTH.name, SIZE.name, ANGLE.name = "length", "size", "angle"


class Curve:
    """Base of curves.

    A subclass has ``point(s)``, the place in the body's frame for a parameter (numbers
    in m), the ``interval`` of the parameter, and whether it is ``closed``. ``side`` is 1
    where the free side lies to the right of increasing parameter, -1 to the left.
    """

    side: int = 1
    closed: bool = True
    interval: tuple[float, float] = (0.0, 2 * np.pi)

    def point(self, s: Any) -> tuple[Any, Any]:
        """Place of the parameter in the body's frame."""
        raise NotImplementedError

    def places(self, s: Any, order: int = 0) -> np.ndarray:
        """Numbers: (derivative, x or y, parameter)."""
        return sample(self.point, s, order)

    @cached_property
    def outline(self) -> np.ndarray:
        """Points to draw, (2, n) in m."""
        return self.places(np.linspace(*self.interval, SHOWN))[0]

    @cached_property
    def curvature(self) -> tuple[np.ndarray, np.ndarray]:
        """Parameters and curvatures, positive where the material bulges out."""
        s = np.linspace(*self.interval, SAMPLES)
        _, (dx, dy), (ddx, ddy) = self.places(s, 2)
        return s, self.side * (dx * ddy - dy * ddx) / np.hypot(dx, dy) ** 3

    def faults(self) -> list[str]:
        """What makes the curve useless as an outline, with the place."""
        s = np.linspace(*self.interval, SAMPLES)
        (x, y), (dx, dy) = self.places(s, 1)
        size = float(np.hypot(np.ptp(x), np.ptp(y)))
        speed = np.hypot(dx, dy) * (self.interval[1] - self.interval[0])
        if not np.all(np.isfinite([x, y, dx, dy])):
            k = int(np.flatnonzero(~np.isfinite(x + y + dx + dy))[0])
            return [f"has no finite place or tangent at the parameter {s[k]:.4g}"]
        k = int(np.argmin(speed))
        if speed[k] <= 1e-6 * size:
            return [f"has no tangent at {shown_place(x[k], y[k])} (parameter {s[k]:.4g}): it "
                    "stands still there"]  # fmt: skip
        if self.closed and np.hypot(x[-1] - x[0], y[-1] - y[0]) > 1e-6 * size:
            return [f"is not closed: it starts at {shown_place(x[0], y[0])} and ends at "
                    f"{shown_place(x[-1], y[-1])}"]  # fmt: skip
        crossing = _crossing(x, y, self.closed)
        return [] if crossing is None else [f"crosses itself near {shown_place(*crossing)}"]


def _check_side(free: Any, where: str) -> None:
    if free not in ("right", "left"):
        raise ParameterError(where, f"is 'right' or 'left', not {free!r}.", given=free,
                             code="parameter.choice")


def shown_place(x: float, y: float) -> str:
    return f"({1e3 * x:.4g} mm, {1e3 * y:.4g} mm)"


def _crossing(x: np.ndarray, y: np.ndarray, closed: bool) -> tuple[float, float] | None:
    """A place where the polygon through the points crosses itself."""
    p = np.stack([x, y], axis=1)
    a, d = p[:-1], np.diff(p, axis=0)
    n = len(d)

    def cross(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]

    between = a[None, :, :] - a[:, None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        det = cross(d[:, None, :], d[None, :, :])
        t = cross(between, d[None, :, :]) / det
        u = cross(between, d[:, None, :]) / det
    i, j = np.indices((n, n))
    apart = (j - i > 1) & ~((i == 0) & (j == n - 1) & closed)
    across = np.abs(det) > 1e-9 * np.max(np.sum(d**2, axis=1))  # pieces that are not parallel
    hit = apart & across & (np.abs(t - 0.5) <= ENDS) & (np.abs(u - 0.5) <= ENDS)
    if not hit.any():
        return None
    k, m = np.argwhere(hit)[0]
    return tuple(a[k] + t[k, m] * d[k])


@dataclass(frozen=True, init=False)
class Circle(Curve):
    """A circle about (x, y) of the body's frame, parameter: angle from the x axis.

    Parameters
    ----------
    radius : length
    inside : bool
        The free side is inside: a bowl or a ring instead of a disc.
    x, y : length
        Centre in the body's frame.
    """

    radius: float
    inside: bool
    x: float
    y: float

    def __init__(self, radius: Any, *, inside: bool = False, x: Any = "0 m", y: Any = "0 m"
                 ) -> None:
        object.__setattr__(self, "radius", float(SIZE.accept(radius, "Circle.radius")))
        object.__setattr__(self, "inside", bool(inside))
        object.__setattr__(self, "x", float(LENGTH.accept(x, "Circle.x")))
        object.__setattr__(self, "y", float(LENGTH.accept(y, "Circle.y")))

    def faults(self) -> list[str]:
        return []

    @property
    def side(self) -> int:  # type: ignore[override]
        return -1 if self.inside else 1

    def point(self, s: Any) -> tuple[Any, Any]:
        r = quantity(self.radius, "m")
        return quantity(self.x, "m") + r * cos(s), quantity(self.y, "m") + r * sin(s)


@dataclass(frozen=True, init=False)
class Corner(Circle):
    """A sharp corner at (x, y) of the body's frame: a circle without radius.

    A box on a floor touches it with two corners, each a ``Contact`` of its own. A corner
    touches endless lines and circles.

    Parameters
    ----------
    x, y : length
        Place in the body's frame.
    """

    def __init__(self, x: Any = "0 m", y: Any = "0 m") -> None:
        object.__setattr__(self, "radius", 0.0)
        object.__setattr__(self, "inside", False)
        object.__setattr__(self, "x", float(LENGTH.accept(x, "Corner.x")))
        object.__setattr__(self, "y", float(LENGTH.accept(y, "Corner.y")))

    @cached_property
    def curvature(self) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(1), np.full(1, np.inf)


@dataclass(frozen=True, init=False)
class Line(Curve):
    """A straight line through (x, y) of the body's frame; its free side is on its left.

    With angle 0 that is a floor: things lie above it. Parameter: distance from (x, y).
    With a length it is a thin plate with two ends, free on both sides: a ledge, a step, a
    side of a box. Circles touch it along its length and go round its ends.

    Parameters
    ----------
    angle : angle
        Direction, from the x axis of the frame.
    x, y : length
        A point on it; its middle where it has a length.
    length : length, optional
        Without one the line is endless.
    """

    angle: float
    x: float
    y: float
    length: float | None

    side = -1
    closed = False

    def __init__(self, angle: Any = "0 rad", *, x: Any = "0 m", y: Any = "0 m",
                 length: Any = None) -> None:
        object.__setattr__(self, "angle", float(ANGLE.accept(angle, "Line.angle")))
        object.__setattr__(self, "x", float(LENGTH.accept(x, "Line.x")))
        object.__setattr__(self, "y", float(LENGTH.accept(y, "Line.y")))
        given = None if length is None else float(SIZE.accept(length, "Line.length"))
        object.__setattr__(self, "length", given)

    def faults(self) -> list[str]:
        return []

    @property
    def interval(self) -> tuple[float, float]:  # type: ignore[override]
        half = (self.length or DRAWN) / 2
        return -half, half

    def point(self, s: Any) -> tuple[Any, Any]:
        metre = quantity("1 m")
        return ((self.x + s * np.cos(self.angle)) * metre,
                (self.y + s * np.sin(self.angle)) * metre)  # fmt: skip


@dataclass(frozen=True, init=False)
class Ellipse(Curve):
    """An ellipse about the origin of the body's frame: (a cos s, b sin s).

    Parameters
    ----------
    a, b : length
        Half axes along x and y of the frame.
    inside : bool
        The free side is inside.
    """

    a: float
    b: float
    inside: bool

    def __init__(self, a: Any, b: Any, *, inside: bool = False) -> None:
        object.__setattr__(self, "a", float(SIZE.accept(a, "Ellipse.a")))
        object.__setattr__(self, "b", float(SIZE.accept(b, "Ellipse.b")))
        object.__setattr__(self, "inside", bool(inside))

    @property
    def side(self) -> int:  # type: ignore[override]
        return -1 if self.inside else 1

    def point(self, s: Any) -> tuple[Any, Any]:
        return quantity(self.a, "m") * cos(s), quantity(self.b, "m") * sin(s)


@dataclass(frozen=True)
class ParametricCurve(Curve):
    """Any smooth curve, given as a function of its parameter.

    Parameters
    ----------
    function : callable
        ``lambda s: (x, y)`` with the functions of blocks or numpy; lengths with unit,
        ``quantity("1 m") * cos(s)``.
    start, end : float
        Interval of the parameter.
    closed : bool
        Whether the end is the start again.
    free : {"right", "left"}
        On which side of increasing parameter the other body is. A closed curve that
        runs counterclockwise has its outside on the right.
    """

    function: Callable[[Any], tuple[Any, Any]]
    start: float = 0.0
    end: float = 2 * np.pi
    closed: bool = True
    free: str = "right"

    def __post_init__(self) -> None:
        _check_side(self.free, "ParametricCurve.free")
        if not self.end > self.start:
            raise ParameterError("ParametricCurve.end", f"must be greater than start, but is "
                                 f"{self.end:g} with start {self.start:g}.", given=self.end,
                                 code="parameter.bounds")  # fmt: skip

    @property
    def side(self) -> int:  # type: ignore[override]
        return 1 if self.free == "right" else -1

    @property
    def interval(self) -> tuple[float, float]:  # type: ignore[override]
        return self.start, self.end

    def point(self, s: Any) -> tuple[Any, Any]:
        x, y = self.function(s)
        return x, y

    def faults(self) -> list[str]:
        def lengths(s: Any) -> list[Any]:
            place = self.function(s)
            if not isinstance(place, (tuple, list)) or len(place) != 2:
                raise ValueError("it returns something else than two values")
            return [quantity("1 m") + value for value in place]

        try:
            sample(lengths, [self.start])
        except Exception as error:  # of a function that is the user's
            return [f"has a function that gives no place (x, y) in m ({error}); lengths need a "
                    "unit, such as quantity('1 m') * cos(s)"]  # fmt: skip
        return super().faults()


@dataclass(frozen=True, init=False)
class SplineCurve(Curve):
    """A smooth curve through points: a spline of degree 5, four times differentiable.

    The parameter counts the points: at k it is at the k-th one (from 0).

    Parameters
    ----------
    points : sequence of (x, y) with a unit, ``quantity([[0, 0], [1, 0.2], …], "m")``
    closed : bool
        Whether it goes on from the last point to the first.
    free : {"right", "left"}
        As for :class:`ParametricCurve`; a profile drawn from left to right has what lies
        above it on the left.
    """

    points: tuple[tuple[float, float], ...]
    closed: bool
    free: str

    def __init__(self, points: Any, *, closed: bool = False, free: str = "left") -> None:
        numbers = np.asarray(LENGTH.accept(points, "SplineCurve.points"), dtype=float)
        if numbers.ndim != 2 or numbers.shape[1] != 2 or len(numbers) < 6:
            raise ParameterError("SplineCurve.points", "takes at least 6 points of two "
                                 f"coordinates, but has the shape {numbers.shape}.",
                                 given=points, code="parameter.size")  # fmt: skip
        steps = np.hypot(*np.diff(numbers, axis=0).T)
        if np.any(steps <= 1e-9 * steps.max()):
            k = int(np.argmin(steps))
            raise ParameterError("SplineCurve.points", f"has the point {shown_place(*numbers[k])} "
                                 f"twice, as number {k} and {k + 1}.", "Remove one of them.",
                                 given=points, code="parameter.size")  # fmt: skip
        _check_side(free, "SplineCurve.free")
        object.__setattr__(self, "points", tuple(map(tuple, numbers.tolist())))
        object.__setattr__(self, "closed", bool(closed))
        object.__setattr__(self, "free", free)

    @property
    def side(self) -> int:  # type: ignore[override]
        return 1 if self.free == "right" else -1

    @property
    def interval(self) -> tuple[float, float]:  # type: ignore[override]
        return 0.0, float(len(self.points) - (0 if self.closed else 1))

    @cached_property
    def _pieces(self) -> tuple[np.ndarray, np.ndarray]:
        """Knots and polynomials (power, piece, x or y) between them."""
        from scipy.interpolate import PPoly, make_interp_spline

        p = np.array(self.points)
        if self.closed:
            p = np.vstack([p, p[:1]])
        s = np.arange(len(p), dtype=float)
        spline = make_interp_spline(s, p, k=5, bc_type="periodic" if self.closed else None)
        columns = [PPoly.from_spline((spline.t, spline.c[:, k], 5)) for k in range(2)]
        knots = columns[0].x
        kept = np.flatnonzero(np.diff(knots) > 0)
        kept = kept[(knots[kept] >= s[0]) & (knots[kept] < s[-1])]
        return knots[kept], np.stack([c.c[:, kept] for c in columns], axis=2)

    def point(self, s: Any) -> tuple[Any, Any]:
        knots, powers = self._pieces
        if self.closed:
            s = s % self.interval[1]

        def choose(values: np.ndarray, first: int, last: int) -> Any:
            if last - first == 1:
                return float(values[first])
            middle = (first + last) // 2
            return where(s < float(knots[middle]), choose(values, first, middle),
                         choose(values, middle, last), events=False)  # fmt: skip

        local = s - choose(knots, 0, len(knots))
        out = []
        for column in range(2):
            value: Any = 0.0
            for row in powers[:, :, column]:
                value = value * local + choose(row, 0, len(knots))
            out.append(value * quantity("1 m"))
        return out[0], out[1]


def tightest(curves: Sequence[Curve]) -> tuple[float, str]:
    """Smallest sum of curvatures two curves can meet with, and where the hollow one has its."""
    least = [(float(k.min()), c, float(s[int(np.argmin(k))]))
             for c in curves for s, k in [c.curvature]]
    _, c, s = min(least, key=lambda row: row[0])
    return sum(k for k, *_ in least), shown_place(*c.places([s])[0][:, 0])
