"""Tables as parameters: of other quantities, and of time, where points may be measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from blocks import interpolate, maximum, quantity, time, where
from blocks.exceptions import ParameterError, WrongDimension, told_how_to_call, unknown_name

from .measurements import Column, measured, refuse_gaps

__all__ = [
    "BETWEEN", "ENDS", "TableOfTime", "friction_at", "friction_faults", "jumps", "stairs", "table",
    "table_faults", "with_jumps",
]  # fmt: skip


def table_faults(xs: Any, **columns: Any) -> Iterator[str]:
    """What is wrong with table parameters; ``xs`` is a (name, quantity) pair."""
    name, places = xs
    points = np.asarray(places.magnitude)
    if points.size < 2 or not np.all(np.diff(points) > 0):
        yield (f"{name} must be at least two strictly increasing values, but is {places:~}. "
               "Sort the table and remove points given twice.")  # fmt: skip
    for column, values in columns.items():
        if np.size(values.magnitude) != points.size:
            yield (f"{name} has {points.size} and {column} has {np.size(values.magnitude)} values. "
                   "Give as many of one as of the other.")  # fmt: skip


def friction_faults(speeds: Any, **columns: Any) -> Iterator[str]:
    """What is wrong with tables of friction over a speed; ``speeds`` is a (name, quantity) pair."""
    yield from table_faults(speeds, **columns)
    name, places = speeds
    if np.any(np.atleast_2d(places.magnitude)[:, 0] != 0):
        yield (f"{name} starts at {places[0]:~P}. The first speed must be 0 {places.units:~P}: its "
               "friction is that of what is about to move.")  # fmt: skip


def friction_at(speed: Any, speeds: Any, levels: Any) -> Any:
    """Friction of a table: beyond the last point its line goes on, but never below zero."""
    return maximum(interpolate(speed, speeds, levels), 0)


#: What lies between two points, and what :func:`blocks.interpolate` calls it.
BETWEEN = {"linear": "", "smooth": "akima", "cubic": "cubic", "monotone": "monotone", "held": ""}
ENDS = ("held", "continued", "refused")


@told_how_to_call
def table(times: Any, values: Any = None, *, time: str | None = None, value: str | None = None,
          between: str = "linear", ends: str = "held") -> TableOfTime:
    """A function of time from points: given, or measured and read from a file or from pandas.

    Take it wherever a parameter may vary in time. The run steps onto every point; how many there
    are costs next to nothing: a point is a step of a few microseconds.

    Parameters
    ----------
    times : quantity array or list of str; or a file, a pandas Series or DataFrame
        Not decreasing. Two points at one time make a jump, which may stand between given points
        that are joined by lines.
    values : quantity array or list of str
        As many; left out where the first is a file, a Series or a DataFrame.
    time, value : str
        Headings of the columns of a file or DataFrame, with units in brackets: ``"t [ms]"``.
        Without ``time`` a Series or DataFrame is over its index, which may be dates; of one column
        that needs no name. Of a run, the two rows of an event are a jump.
    between : str
        "linear" (default); "held", the value of the point before; "cubic", the spline;
        "monotone", a cubic that does not overshoot; "smooth", Akima's.
    ends : str
        Outside its points the first and last value are "held" (default), the table is
        "continued" by its end slopes, or "refused": the run stops there and says so.

    Examples
    --------
    >>> from blocks import quantity
    >>> from library.rotational import TorqueSource
    >>> ramp = TorqueSource(torque=table(["0 s", "2 s"], ["0 N*m", "1 N*m"]))
    >>> pulse = TorqueSource(torque=table(quantity([0, 1, 1], "s"), quantity([5, 5, 0], "N*m")))
    >>> measured = table("run7.csv", time="t [ms]", value="M [N*m]")     # doctest: +SKIP
    >>> later = table(measured.times + quantity("2 s"), measured.values)  # doctest: +SKIP

    Raises
    ------
    ParameterError
        If times decrease, there are not as many values as times, or a row has no number: with
        its number.
    WrongDimension, UnknownUnit, UnknownName
        For times that are none, values of several dimensions, and columns that are not there.
    """
    name = ""
    if values is None:
        series = hasattr(times, "to_numpy") and not hasattr(times, "columns")
        index = hasattr(times, "to_numpy") and (series or time is None)
        if index and not series and value is None and len(times.columns) == 1:
            value = str(times.columns[0])
        columns = measured(times, time, index), measured(times, value)
        points, heights = (_array(c.values, like) for c, like in
                           zip(columns, (quantity("1 s"), None), strict=True))
        name = f"{columns[1].heading!r}"
        of_run = "model" in getattr(times, "attrs", ())  # whose events have two sides
        _refuse_disorder(*columns, of_run)
        for column in columns:
            refuse_gaps(column)
        twice = (np.diff(points.magnitude) == 0) & (np.diff(heights.magnitude) == 0)
        kept = np.append(True, ~twice)[: len(points)]
        points, heights = points[kept], heights[kept]
    else:
        points, heights = _array(times, quantity("1 s")), _array(values)
    fewest = 3 if BETWEEN.get(between) else 2
    if len(points) < fewest or len(points) != len(heights):
        raise ParameterError("table()", f"takes {'three' if fewest == 3 else 'two'} or more times "
                             "and as many values, but was given "
                             f"{len(points)} times and {len(heights)} values.",
                             "Give one value for every time.", code="parameter.size")  # fmt: skip
    return TableOfTime(points, heights, between, ends, name)


class TableOfTime:
    """A function of time between points; :func:`table` makes it.

    Attributes
    ----------
    times, values : quantity arrays
    between, ends : as told to :func:`table`
    name : of the values, where they were measured
    gives : the values again; a parameter that takes a function takes their unit as that of a value
    """

    def __init__(self, times: Any, values: Any, between: str, ends: str, name: str = "") -> None:
        self.times, self.values, self.gives, self.name = times, values, values, name
        self.between, self.ends = between, ends
        for word, known, option in ((between, BETWEEN, "between"), (ends, ENDS, "ends")):
            if word not in known:
                raise unknown_name("table()", word, known, f"choices for {option}=")
        for what, array in (("times", times), ("values", values)):
            wrong = np.flatnonzero(~np.isfinite(array.magnitude))
            if len(wrong):
                raise ParameterError("table()", f"was given {what}[{wrong[0]}] = "
                                     f"{array.magnitude[wrong[0]]}, which is no number.",
                                     "Leave such points out.", code="parameter.not_finite")
        steps = np.diff(times.magnitude)
        if np.any(steps < 0):
            k = int(np.flatnonzero(steps < 0)[0])
            raise ParameterError("table()", "takes times that do not decrease. But times"
                                 f"[{k}] = {times[k]:~P} is followed by {times[k + 1]:~P}.",
                                 "Sort the table by time.")
        curved = bool(BETWEEN[between])
        at_end = ends == "continued" and between != "held" and not steps[[0, -1]].all()
        if at_end or curved and not steps.all():
            option = f"between={between!r}" if curved else "ends='continued'"
            k = int(np.flatnonzero(steps == 0)[0])
            raise ParameterError("table()", f"jumps at {times[k]:~P}, where {option} knows no "
                                 "jump.", "Leave one of the two points out, or take "
                                 f"{'between' if curved else 'ends'}="
                                 f"{'linear' if curved else 'held'!r}.")
        self._contents = (times.magnitude.tobytes(), values.magnitude.tobytes(), str(times.units),
                          str(values.units), between, ends, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableOfTime) and self._contents == other._contents

    def __hash__(self) -> int:
        return hash(self._contents)

    def __repr__(self) -> str:
        return (f"table of {len(self.times):,} points from {self.times[0]:~P} to "
                f"{self.times[-1]:~P}, {self.between}")

    def __call__(self, t: Any) -> Any:
        times, values = self.times, self.values
        hold, stop = self.ends != "continued" or self.between == "held", ""  # which ends level
        if self.ends == "refused":
            stop = (f"it has left its table of time{' ' if self.name else ''}{self.name}, which "
                    f"goes from {times[0]:~P} to {times[-1]:~P}. Simulate a shorter time, or take "
                    "ends='held'.")
        if BETWEEN[self.between]:
            return interpolate(t, times, values, hold=hold, smooth=BETWEEN[self.between], stop=stop)
        if self.between == "held":
            times, values = stairs(times, values)
        return with_jumps(t, times, values, jumps(times.magnitude), hold, stop)


def _refuse_disorder(times: Column, values: Column, of_run: bool) -> None:
    """Measured times increase: two values at one time are a fault of what wrote them."""
    rise, jump = np.diff(times.values.magnitude), np.diff(values.values.magnitude) != 0
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero((rise < 0) | (rise == 0) & jump & (not of_run))
    if len(wrong):
        k = int(wrong[0])
        now, before = times.values[k + 1], times.values[k]
        if now == before:
            raise ParameterError(times.place(k + 1), f"has the same time, {now:~P}, as "
                                 f"{times.place(k)}, and another value.", "Leave one of them out. "
                                 "Where a jump is meant, give arrays: table(times, values); of a "
                                 "run's file, those that blocks.results.read_csv gives.",
                                 code="parameter.order")  # fmt: skip
        raise ParameterError(times.place(k + 1), f"has the time {now:~P}, but {times.place(k)} has "
                             f"{before:~P}.", "Sort the data by time.", code="parameter.order")


def stairs(times: Any, values: Any) -> tuple[Any, Any]:
    """The points of lines that hold each value up to the next: all but the first are jumps."""
    twice = np.repeat(range(len(times)), 2).tolist()
    return times[twice[1:]], values[twice[:-1]]


def jumps(points: Any) -> tuple[int, ...]:
    """Numbers of the points that are followed by another one at the same place."""
    return tuple(np.flatnonzero(np.diff(points) == 0).tolist())


def with_jumps(t: Any, times: Any, values: Any, jumps: tuple[int, ...], hold: bool = True,
               stop: str = "") -> Any:
    """The value of a table of lines at a time; see :func:`blocks.interpolate` for the ends."""
    if not jumps or t is time and (hasattr(times, "magnitude") or times.is_number):
        return interpolate(t, times, values, hold=hold, stop=stop)  # jumps and all
    if stop:  # of all pieces together
        interpolate(t, times[[0, -1]], values[[0, -1]], stop=stop)
    ends = [*jumps, len(times) - 1]
    value = None
    for first, last in zip([0, *(k + 1 for k in jumps)], ends, strict=True):
        piece = values[first] if first == last else interpolate(
            t, times[first : last + 1], values[first : last + 1], hold=hold)
        value = piece if value is None else where(t >= times[first], piece, value)
    return value


def _array(values: Any, like: Any = None) -> Any:
    """The values as one quantity, of one dimension: that of ``like``, or of the first."""
    if hasattr(values, "magnitude"):
        found = quantity(np.asarray(values.magnitude, dtype=float).ravel(), values.units)
        _refuse_other(found, found if like is None else like)
        return found
    if not isinstance(values, Iterable) or isinstance(values, str):
        raise ParameterError("table()", f"takes lists, but was given {values!r}.",
                             "Write ['0 s', '2 s'] or quantity([0, 2], 's').")  # fmt: skip
    each = [quantity(v) for v in values]
    for value in each:
        _refuse_other(value, each[0] if like is None else like)
    units = each[0].units if each else quantity("1").units
    return quantity(np.array([v.to(units).magnitude for v in each]), units)


def _refuse_other(value: Any, like: Any) -> None:
    if not value.is_compatible_with(like):
        first = value if np.ndim(value.magnitude) == 0 else value[0]
        raise WrongDimension("table()", f"was given {first:~P} among values in "
                             f"{like.units:~P}.",
                             "Times are in a unit of time, and values all of one kind.")
