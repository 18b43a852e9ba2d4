"""What lies between the points of a table?

Tables of a few points, and those whose points are parameters, are written out: their value is one
expression of all points. Long tables of numbers are found by search, as nodes of an expression
(:mod:`.lookup`), those of time as rows that hold between instants.

References
----------
Akima, A new method of interpolation and smooth curve fitting based on local procedures, J. ACM 17
(1970) 589-602; the weights are those of the modified method, as in scipy's
``Akima1DInterpolator(method="makima")``. Fritsch and Butland, A method for constructing local
monotone piecewise cubic interpolants, SIAM J. Sci. Stat. Comput. 5 (1984) 300-304, as in scipy's
``PchipInterpolator``. De Boor, A practical guide to splines, Springer 1978, chapter IV (not-a-knot
at the ends, as in scipy's ``CubicSpline``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..exceptions import EquationError
from ..numerics.arrays import Array
from ..numerics.rewriting import kinds
from .expression import (
    TIME,
    Expression,
    as_expression,
    current_trace,
    reading_place,
    same_dimension,
)
from .lookup import Choice, StateTable, lookup
from .specialisation import LONG
from .statements import demand, require

__all__ = ["integral_of_table", "interpolate", "interpolate_grid", "pieces_between"]

AROUND = (-2, -1, 0, 1, 2, 3)  # points that a smooth curve looks at, the interval's first is 0
STRAIGHT = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_ASSIGN, ca.OP_ADD, ca.OP_SUB, ca.OP_NEG,
            ca.OP_MUL, ca.OP_DIV, ca.OP_TWICE}  # operations that make no jump of time
FEWEST = (2, "two"), (3, "three")  # points that lines and curves need
BEYOND = 1e-9  # part of a table's width by which a value may leave it, where that stops a run


def interpolate(x: object, xs: object, ys: object, *, hold: bool = False,
                smooth: bool | str = False, stop: str = "") -> Expression:
    """Interpolation in a table; linear, and continued by its last segments.

    A long table of numbers is looked up by search. One over time, or over time in another measure
    (``time - start``), is looked up at its points only, which the run steps onto; two points at one
    time make a jump.

    Parameters
    ----------
    x : expression
    xs, ys : lists of expressions, vector expressions, quantities or numbers of equal length
        Table points with ``xs`` strictly increasing (over time: not decreasing).
    hold : bool
        Hold the end values outside the table instead of extrapolating.
    smooth : bool or str
        True or "akima", the modified Akima interpolation: once differentiable, without overshoot.
        "monotone": once differentiable, and monotone wherever the points are. "cubic": the spline
        that is twice differentiable, and overshoots at steps. Each takes three points or more.
    stop : str
        What is said, as by :func:`~blocks.require`, where x leaves the points, which stops the run;
        without it the run goes on.
    """
    x, ys = as_expression(x), as_expression(ys)
    xs = same_dimension(xs, x, "interpolate")
    shape = _shape_named(smooth, "interpolate", tuple(_SLOPES))
    n, (fewest, word) = xs.sx.numel(), FEWEST[bool(shape)]
    if n != ys.sx.numel() or n < fewest:
        raise EquationError(reading_place(), f"a table needs at least {word} points and as many y "
                            f"as x, but was given {n} x and {ys.sx.numel()} y.")
    points, heights = _numbers(xs.sx), _numbers(ys.sx)
    trace = current_trace.get()
    clock = _clock(x.sx) if trace is not None and points is not None else None
    if clock is None or heights is None or shape:  # a table over time may jump
        _demand_increasing(xs)
    _stop_beyond(x, xs.sx, stop)
    if trace is not None and points is not None and heights is not None and clock is not None:
        starts, rows = _rows_of_time((points - clock[1]) / clock[0], heights, hold, shape)
        return Expression(trace.tabulated(starts, rows, ys.dimension), ys.dimension)
    _note(x.sx, xs.sx, ys.sx, hold, shape)
    if points is None or heights is None or n <= LONG:
        return Expression(_written_out(x.sx, xs.sx, ys.sx, hold, shape), ys.dimension)
    return Expression(_searched([x.sx], [points], heights, hold, shape), ys.dimension)


def interpolate_grid(at: Sequence[object], axes: Sequence[object], values: object, *,
                     hold: bool = False, smooth: bool | str = False, stop: str = "") -> Expression:
    """Interpolation in a table of several values, along one after the other.

    Linear in each of them or a curve along the first and then, of what this gives, along the next.

    Parameters
    ----------
    at : of expressions
    axes : for each of them the points, strictly increasing
    values : matrix, a row per point of the first axis
        Or a vector, where the last axis is that of neighbours.
    hold : as in :func:`interpolate`
    smooth : bool or str
        True or "akima", the modified Akima interpolation: once differentiable. "cubic": the spline
        that is twice differentiable, for what is differentiated, as an energy to a force.
    stop : as in :func:`interpolate`
    """
    shape = _shape_named(smooth, "interpolate_grid", ("akima", "cubic"))
    each = [as_expression(x) for x in at]
    along = [same_dimension(p, x, "interpolate_grid") for p, x in zip(axes, each, strict=True)]
    for axis in along:
        _demand_increasing(axis)
    points = [axis.sx for axis in along]
    given = as_expression(values)
    known = Expression(ca.vec(given.sx.T), given.dimension)  # row by row
    sizes, (fewest, word) = [p.numel() for p in points], FEWEST[bool(shape)]
    if known.sx.numel() != np.prod(sizes) or min(sizes) < fewest:
        raise EquationError(reading_place(), f"a table needs at least {word} points of every value "
                            "and one entry for every combination of them, but was given "
                            f"{' x '.join(map(str, sizes))} points and {known.sx.numel()} entries.")
    numbers, heights = [_numbers(p) for p in points], _numbers(known.sx)
    arrays = [p for p in numbers if p is not None]
    entries = np.arange(known.sx.numel()).reshape(sizes)
    for k, (x, p) in enumerate(zip(each, points, strict=True)):
        _stop_beyond(x, p, stop)
        rows = np.moveaxis(entries, k, 0).reshape(sizes[k], -1)
        _note(x.sx, p, ca.reshape(known.sx[rows.ravel("F").tolist()], *rows.shape), hold, shape)
    if heights is None or len(arrays) < len(points) or heights.size <= LONG:
        columns = [known.sx[i] for i in range(known.sx.numel())]
        for x, p in zip(each, points, strict=True):
            columns = _grid_written_out(x.sx, p, columns, hold, shape)
        return Expression(columns[0], known.dimension)
    found = _searched([x.sx for x in each], arrays, heights.reshape(sizes), hold, shape)
    return Expression(found, known.dimension)


def integral_of_table(x: object, xs: object, ys: object) -> Expression:
    """Integral from 0 to x of the table (xs, ys), linear and continued by its end segments.

    As of :func:`interpolate`, a long table of numbers is looked up by search.
    """
    x, ys = as_expression(x), as_expression(ys)
    xs = same_dimension(xs, x, "integral_of_table")
    dimension = x.dimension * ys.dimension
    _demand_increasing(xs)
    points, heights = _numbers(xs.sx), _numbers(ys.sx)
    if points is None or heights is None or points.size <= LONG:
        zero = ca.SX(0)
        return Expression(_area(x.sx, xs.sx, ys.sx) - _area(zero, xs.sx, ys.sx), dimension)
    pieces = pieces_between(points, heights[:, None], False, "")[0]
    before = np.concatenate([[0.0], np.cumsum(np.diff(points) * (heights[1:] + heights[:-1]) / 2)])
    area = np.column_stack([np.concatenate([before[:1], before]), pieces[:, 0], pieces[:, 1] / 2])
    node = lookup(points, area[None])
    return Expression(node(x.sx) - node.value(0.0), dimension)


def _area(x: ca.SX, xs: ca.SX, ys: ca.SX) -> ca.SX:
    """Integral from the first point to x of a table that is written out."""
    total, last = ca.SX(0), xs.numel() - 2
    for i in range(last + 1):
        end = x if i == 0 else ca.fmax(x, xs[i])
        end = end if i == last else ca.fmin(end, xs[i + 1])
        at_end = ca.pw_lin(end, xs[i : i + 2], ys[i : i + 2])
        total += (end - xs[i]) * (ys[i] + at_end) / 2
    return total


def _stop_beyond(x: Expression, xs: ca.SX, stop: str) -> None:
    """Stop the run with these words, if there are any, where x leaves the points."""
    trace = current_trace.get()
    if not stop or trace is None:
        return
    first, last = (Expression(xs[k], x.dimension) for k in (0, xs.numel() - 1))
    margin = BEYOND * (last - first)
    trace.read_statement(require((x >= first - margin) & (x <= last + margin), stop))


def _note(x: ca.SX, points: ca.SX, heights: ca.SX, hold: bool, shape: str) -> None:
    """Keep what a table says, and of what: a row of heights for every point."""
    kernel = getattr(current_trace.get(), "kernel", None)
    if kernel is not None:  # else it is a default, which is known before the run
        kernel.state_tables.append(StateTable(x, points, heights, hold, shape))


def _shape_named(smooth: bool | str, function: str, known: Sequence[str]) -> str:
    """Which curve joins the points; empty for straight lines."""
    shape = smooth if isinstance(smooth, str) else "akima" if smooth else ""
    if shape and shape not in known:
        raise EquationError(reading_place(), f"{function}() knows no smooth={smooth!r}.",
                            f"Take one of {', '.join(map(repr, known))}, or none for lines.")
    return shape


def _numbers(sx: ca.SX) -> Array | None:
    """The values of an expression that is constant."""
    return np.array(ca.DM(sx), dtype=float).ravel() if sx.is_constant() else None


def _demand_increasing(xs: Expression) -> None:
    n = xs.sx.numel()
    demand(xs[: n - 1], xs[1:], "the points of a table must increase, but {lower} is followed by "
           "{upper}.", "Sort the table and remove points given twice.", strict=True)


# -- written out -------------------------------------------------------------------------------
def _written_out(x: ca.SX, xs: ca.SX, ys: ca.SX, hold: bool, shape: str) -> ca.SX:
    """The value of a table of one variable as an expression of all its points."""
    n = xs.numel()
    inside = ca.fmin(ca.fmax(x, xs[0]), xs[n - 1])
    if not shape:
        return ca.pw_lin(inside if hold else x, xs, ys)
    slopes = _SLOPES[shape](xs, ys)
    value = _cubic(inside, xs, ys, slopes, 0)
    for k in range(1, n - 1):
        value = ca.if_else(inside > xs[k], _cubic(inside, xs, ys, slopes, k), value)
    return value if hold else value + ca.if_else(x > xs[0], slopes[n - 1], slopes[0]) * (x - inside)


def _grid_written_out(x: ca.SX, xs: ca.SX, values: list[ca.SX], hold: bool, shape: str
                      ) -> list[ca.SX]:
    """The table without its first axis."""
    rest = len(values) // xs.numel()
    return [_written_out(x, xs, ca.vertcat(*values[j::rest]), hold, shape) for j in range(rest)]


# -- derivatives at the points of a curve, of symbols or arrays ------------------------------------
def _joined(parts: list[Any]) -> Any:
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else ca.vertcat(*parts)


def _chosen(condition: Any, one: Any, other: Any) -> Any:
    return np.where(condition, one, other) if isinstance(one, np.ndarray) else \
        ca.if_else(condition, one, other)


def _akima_slopes(x: Any, y: Any) -> Any:
    """Return the slopes of Akima's curve; beyond the ends secants change as the last two do."""
    d = (y[1:] - y[:-1]) / (x[1:] - x[:-1])
    for _ in range(2):
        d = _joined([2 * d[:1] - d[1:2], d, 2 * d[-1:] - d[-2:-1]])
    return _slope(d[:-3], d[1:-2], d[2:-1], d[3:])


def _slope(a: Any, b: Any, c: Any, d: Any) -> Any:
    """The derivative at a point between the second and the third of four secants."""
    left, right = abs(b - a) + abs(b + a) / 2, abs(d - c) + abs(d + c) / 2
    if isinstance(left, np.ndarray):
        none = left + right == 0
        return np.where(none, 0.0, (right * b + left * c) / np.where(none, 1.0, left + right))
    return ca.if_else(left + right > 0, (right * b + left * c) / (left + right), 0)


def _monotone_slopes(x: Any, y: Any) -> Any:
    """Return the slopes of the monotone curve: harmonic means of secants."""
    h = x[1:] - x[:-1]
    d = (y[1:] - y[:-1]) / h
    one, other = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    alike = d[:-1] * d[1:] > 0
    a, b = (_chosen(alike, secant, secant * 0 + 1) for secant in (d[:-1], d[1:]))
    inner = _chosen(alike, (one + other) / (one / a + other / b), 0 * a)
    return _joined([_slope_at_end(h[:1], h[1:2], d[:1], d[1:2]), inner,
                    _slope_at_end(h[-1:], h[-2:-1], d[-1:], d[-2:-1])])


def _slope_at_end(h: Any, next_h: Any, d: Any, next_d: Any) -> Any:
    """Return the slope of a parabola through three points, as far as the curve stays monotone."""
    slope = ((2 * h + next_h) * d - h * next_d) / (h + next_h)
    steep = abs(slope) - 3 * abs(d)
    turned = _chosen(d * next_d > 0, slope, _chosen(steep > 0, 3 * d, slope))
    return _chosen(slope * d > 0, turned, 0 * slope)


def _spline_slopes(x: Any, y: Any) -> Any:
    """Return the slopes of the cubic spline with not-a-knot ends."""
    if isinstance(y, np.ndarray):
        from scipy.interpolate import CubicSpline

        return CubicSpline(x.ravel(), y)(x.ravel(), 1)
    n = y.numel()
    h = x[1:] - x[:-1]
    d = (y[1:] - y[:-1]) / h
    if n == 3:
        bend = (d[1] - d[0]) / (h[0] + h[1])
        return ca.vertcat(d[0] - h[0] * bend, d[0] + h[0] * bend, d[1] + h[1] * bend)
    diagonal, upper = [h[1]], [h[0] + h[1]]
    right = [((3 * h[0] + 2 * h[1]) * h[1] * d[0] + h[0] ** 2 * d[1]) / (h[0] + h[1])]
    rows = [(h[k], 2 * (h[k - 1] + h[k]), h[k - 1], 3 * (h[k] * d[k - 1] + h[k - 1] * d[k]))
            for k in range(1, n - 1)]
    last = (3 * h[-1] + 2 * h[-2]) * h[-2] * d[-1] + h[-1] ** 2 * d[-2]
    rows.append((h[-1] + h[-2], h[-2], ca.SX(0), last / (h[-1] + h[-2])))
    for lower, middle, beyond, value in rows:  # Thomas's elimination
        share = lower / diagonal[-1]
        diagonal.append(middle - share * upper[-1])
        right.append(value - share * right[-1])
        upper.append(beyond)
    slopes = [right[-1] / diagonal[-1]]
    for k in range(n - 2, -1, -1):
        slopes.append((right[k] - upper[k] * slopes[-1]) / diagonal[k])
    return ca.vertcat(*reversed(slopes))


_SLOPES = {"akima": _akima_slopes, "cubic": _spline_slopes, "monotone": _monotone_slopes}


def _cubic(u: Any, x: Any, y: Any, slope: Any, k: int) -> Any:
    """The cubic between points k and k + 1 with given values and slopes at both."""
    h = x[k + 1] - x[k]
    s = (u - x[k]) / h
    bend = slope[k] * h - (y[k + 1] - y[k])
    turn = -slope[k + 1] * h + (y[k + 1] - y[k])
    return (1 - s) * y[k] + s * y[k + 1] + s * (1 - s) * ((1 - s) * bend + s * turn)


# -- found by search -------------------------------------------------------------------------
def _searched(at: list[ca.SX], axes: list[Array], values: Array, hold: bool, shape: str) -> ca.SX:
    """The value of a table of numbers, by nodes that search."""
    if shape == "cubic":
        return _spline_searched(at, axes, values, hold)
    rows = pieces_between(axes[0], values.reshape(len(axes[0]), -1), hold, shape)
    steps = AROUND if shape else (0, 1)

    def value(chosen: tuple[int, ...]) -> ca.SX:
        """The value at rows so many steps from those at the left."""
        along = len(axes) - 1 - len(chosen)  # axes that are left to read along
        if along == 0:
            choices = tuple(Choice(points, step)
                            for points, step in zip(axes[1:], chosen, strict=True))
            return lookup(axes[0], rows, choices)(*at)
        found = [value((step, *chosen)) for step in steps]
        return between[along - 1](found)

    between = [_between(x, points, hold, bool(shape))
               for x, points in zip(at[1:], axes[1:], strict=True)]
    return value(())


def _spline_searched(at: list[ca.SX], axes: list[Array], values: Array, hold: bool) -> ca.SX:
    """The value of a tensor spline: slopes are linear in the values, so they are tables as well."""
    known: dict[tuple[int, ...], Array] = {  # by axes of the derivatives
        (): values.reshape([len(points) for points in axes])}
    for k in range(len(axes) - 1, 0, -1):
        for by, table in list(known.items()):
            along = np.moveaxis(table, k, 0)
            slopes = _spline_slopes(axes[k], along.reshape(len(along), -1))
            known[(k, *by)] = np.moveaxis(slopes.reshape(along.shape), 0, k)
    rows = {by: pieces_between(axes[0], table.reshape(len(table), -1), hold, "cubic")
            for by, table in known.items()}
    intervals = [_interval(x, points) for x, points in zip(at, axes, strict=True)]

    def value(k: int, by: tuple[int, ...], chosen: tuple[int, ...]) -> ca.SX:
        """Along the first axes up to k, at the rows so many steps from those at the left."""
        if k == 0:
            choices = tuple(map(Choice, axes[1:], chosen))
            return lookup(axes[0], rows[by], choices)(*at)
        heights = [value(k - 1, by, (step, *chosen)) for step in (0, 1)]
        slopes = [value(k - 1, (k, *by), (step, *chosen)) for step in (0, 1)]
        return _hermite(at[k], axes[k], intervals[k], heights, slopes, hold)

    return value(len(axes) - 1, (), ())


def pieces_between(x: Array, y: Array, hold: bool, shape: str) -> Array:
    """Polynomials of (columns, pieces, powers), the first and the last piece beyond the ends."""
    h = np.diff(x)[:, None]
    d = np.diff(y, axis=0) / h
    inner = [y[:-1], d]
    ends = d[0], d[-1]
    if shape:
        slopes = _SLOPES[shape](x[:, None], y)
        inner = [y[:-1], slopes[:-1], (3 * d - 2 * slopes[:-1] - slopes[1:]) / h,
                 (slopes[:-1] + slopes[1:] - 2 * d) / h**2]
        ends = slopes[0], slopes[-1]
    out = np.zeros((y.shape[1], len(x) + 1, len(inner)))
    for power, values in enumerate(inner):
        out[:, 1:-1, power] = values.T
    out[:, 0, 0], out[:, -1, 0] = y[0], y[-1]
    if not hold:
        out[:, 0, 1], out[:, -1, 1] = ends
    return out


def _clock(x: ca.SX) -> tuple[float, float] | None:
    """Rate and value at time 0 of an expression that grows with time and nothing else."""
    if x.__hash__() == TIME.__hash__():
        return 1.0, 0.0
    if [s.__hash__() for s in ca.symvar(x)] != [TIME.__hash__()]:
        return None
    written = ca.Function("clock", [TIME], [x])
    rate = ca.jacobian(x, TIME)
    if not kinds(written) <= STRAIGHT or not rate.is_constant() or float(rate) <= 0:
        return None
    return float(rate), float(written(0.0))


# -- of time ---------------------------------------------------------------------------------
def _rows_of_time(times: Array, values: Array, hold: bool, shape: str) -> tuple[Array, Array]:
    """Instants of a table of time, and start and powers of the polynomial from each on."""
    steps = np.diff(times)
    if not np.isfinite(times).all() or (steps < 0).any():
        raise EquationError(reading_place(), "a table of time has times that decrease or are not "
                            "finite.", "Sort the table by time.")
    if not hold and (steps[0] == 0 or steps[-1] == 0):
        raise EquationError(reading_place(), "a table of time that begins or ends with a jump "
                            "cannot be continued.", "Hold its end values: interpolate(…, "
                            "hold=True).")
    with np.errstate(divide="ignore", invalid="ignore"):
        (powers,) = pieces_between(times, values[:, None], hold, shape)
    rows = np.vstack([np.append(times[:1], times), powers.T])
    # a line goes on before the first point; of points at one time the last counts
    kept = np.concatenate([[hold or bool(shape)], steps > 0, [True]])
    return np.append(-np.inf, times)[kept], rows[:, kept]


def _between(x: ca.SX, points: Array, hold: bool, smooth: bool) -> Any:
    """What makes one value of those at the rows around x."""
    interval = inside, _ = _interval(x, points)
    if not smooth:
        share = lookup(points, _shares(points))(inside if hold else x)
        return lambda found: found[0] + share * (found[1] - found[0])
    secants_of = _secants_around(points, inside)

    def value(found: list[ca.SX]) -> ca.SX:
        a, b, c, d, e = secants_of(found)
        slopes = [_slope(a, b, c, d), _slope(b, c, d, e)]
        left = AROUND.index(0)
        return _hermite(x, points, interval, found[left : left + 2], slopes, hold)

    return value


def _interval(x: ca.SX, points: Array) -> tuple[ca.SX, ca.SX]:
    """The value as far as it is inside the points, and the two points around it."""
    inside = ca.fmin(ca.fmax(x, points[0]), points[-1])
    return inside, ca.vertcat(*_stepwise(points, [points[:-1], points[1:]], inside))


def _hermite(x: ca.SX, points: Array, interval: tuple[ca.SX, ca.SX], heights: list[ca.SX],
             slopes: list[ca.SX], hold: bool) -> ca.SX:
    """The cubic in an interval, beyond the points its end or its line there."""
    inside, ends = interval
    out = _cubic(inside, ends, heights, slopes, 0)
    end = ca.if_else(x > float(points[0]), slopes[1], slopes[0])
    return out if hold else out + end * (x - inside)


def _secants_around(points: Array, x: ca.SX) -> Any:
    """What makes five secants, the middle one that of the interval with x, of values around it.

    Of a secant beyond the ends it makes one that goes on as the last two change.
    """
    widths = np.diff(points)
    known = [(np.arange(len(widths)) + k >= 0) & (np.arange(len(widths)) + k < len(widths))
             for k in range(-2, 3)]
    lengths = [np.where(there, np.roll(widths, -k), 1.0)
               for k, there in zip(range(-2, 3), known, strict=True)]
    h = _stepwise(points, lengths, x)
    there = _stepwise(points, [k.astype(float) for k in known], x)

    def secants(found: list[ca.SX]) -> list[ca.SX]:
        a, b, c, d, e = ((found[k + 1] - found[k]) / h[k] for k in range(5))
        b, d = (ca.if_else(there[1], b, 2 * c - d), ca.if_else(there[3], d, 2 * c - b))
        return [ca.if_else(there[0], a, 2 * b - c), b, c, d, ca.if_else(there[4], e, 2 * d - c)]

    return secants


def _shares(points: Array) -> Array:
    """Polynomials of the part of its interval that lies before a value."""
    widths = np.diff(points)
    slopes = 1 / np.concatenate([widths[:1], widths, widths[-1:]])
    starts = np.append(np.zeros(len(points)), 1.0)
    return np.stack([starts, slopes], axis=1)[None]


def _stepwise(points: Array, of_intervals: list[Array], x: ca.SX) -> list[ca.SX]:
    """Numbers that belong to the interval in which x lies."""
    return [lookup(points[1:-1], values[None, :, None])(x) for values in of_intervals]
