"""What was measured? Tables with units in their headings, irregular times and gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...exceptions import ParameterError, UnknownUnit, WrongDimension, unknown_name
from ...numerics.arrays import Array
from ...reading.headings import columns_named, heading_parts, is_time, with_unit
from ...results.files.export import csv_frame
from ...results.values.table import Table
from ...units import SECOND, Unit, to_si, unit

__all__ = ["Experiment", "Measured", "Sensor", "sensors_of"]


@dataclass(frozen=True)
class Measured:
    """What a column of data is: a variable, seen by a sensor.

    A sensor shows ``variable(t - delay) + offset`` and noise; until the delay has passed, where
    the run starts.

    Parameters
    ----------
    variable : str
        ``"spring.x"``.
    noise : str or quantity, optional
        Standard deviation; estimated from the residuals if it is not given.
    offset, delay : (low, high), optional
        Bounds of an offset or a delay that is to be found.
    """

    variable: str
    noise: Any = None
    offset: tuple[Any, Any] | None = None
    delay: tuple[Any, Any] | None = None


@dataclass(frozen=True)
class Experiment:
    """One measured run, and what was different in it.

    Parameters
    ----------
    data : pandas DataFrame, Table of blocks.results.read_csv, or path of a CSV file
    values : mapping, optional
        Parameters and initial values of this run, ``{"push.force": "20 N"}``.
    """

    data: Any
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sensor:
    """The measured values of a column, in SI units, without gaps; none where it was not there."""

    name: str  # its heading in the first experiment that has it
    measured: Measured
    shown: Unit  # there
    t: Array
    values: Array


def sensors_of(experiments: Sequence[Experiment], compare: Mapping[str, str | Measured]
               ) -> list[list[Sensor]]:
    """The columns that are compared, by experiment."""
    several = len(experiments) > 1
    wheres = [f"fit(data[{k + 1}])" if several else "fit(data)" for k in range(len(experiments))]
    tables = []
    for data, where in zip((e.data for e in experiments), wheres, strict=True):
        if isinstance(data, (str, Path)):
            data = csv_frame(data)
        elif isinstance(data, Table):
            data = data.frame(words=False)
        named = getattr(getattr(data, "index", None), "name", None)
        if isinstance(named, str) and is_time(named):  # as result.table() gives it
            data = data.reset_index()
        tables.append((data, _times(data, where), where))
    columns = [_sensors(tables, name, Measured(of) if isinstance(of, str) else of)
               for name, of in compare.items()]
    out = [list(row) for row in zip(*columns, strict=True)]
    for sensors, where in zip(out, wheres, strict=True):
        if not any(len(one.t) for one in sensors):
            raise ParameterError(where, "has no values of "
                                 f"{' or '.join(repr(one.name) for one in sensors)}.",
                                 "Leave it out, or compare a column that it has.")
    return out


def _times(data: Any, where: str) -> Array:
    if not hasattr(data, "columns"):
        raise ParameterError(where, f"is a {type(data).__name__}, not a table.",
                             "Give a DataFrame, or a CSV file, with headings as 'time [ms]'.")
    found = [c for c in data.columns if is_time(c)]
    if len(found) != 1:
        raise ParameterError(where, f"has {'no' if not found else 'more than one'} column of time "
                             f"among {', '.join(map(repr, data.columns))}.",
                             "Call it 'time [s]', with its unit.", code="fit.time")
    t = _column(data, found[0], SECOND, where)
    if not np.isfinite(t).all():
        row = int(np.flatnonzero(~np.isfinite(t))[0])
        raise ParameterError(where, f"has no time in row {row}.", "Drop the row.", code="fit.time")
    back = np.flatnonzero(np.diff(t) < 0)
    if len(back):
        k = int(back[0])
        raise ParameterError(
            where, f"goes back in time after row {k}: {found[0]} is {data[found[0]].iloc[k]:.6g} "
            f"and then {data[found[0]].iloc[k + 1]:.6g}.", "Sort the rows, or give two "
            "experiments, data=[first, second].", code="fit.time")  # fmt: skip
    return t


def _column(data: Any, name: str, expected: Unit | None, where: str) -> Array:
    """A column in SI units."""
    column, (_, text) = f"{where}, column {name!r}", heading_parts(name)
    if text is None:
        raise ParameterError(column, "has no unit in its heading.", "Write it in square brackets: "
                             f"{with_unit(name)!r}; '[1]' for a plain number.", code="fit.unit")
    values = _numbers(data[name], column)
    try:
        shown = unit(text)
    except UnknownUnit as error:
        error.where = column
        raise
    if expected is not None and shown.dimension != expected.dimension:
        raise WrongDimension(column, f"is in {shown.text or 'no unit'}, not in {expected.text}.",
                             f"Give it in {expected.text}.")
    return np.asarray(to_si(values * shown.pint, expected or shown, column), dtype=float)


def _numbers(column: Any, where: str) -> Array:
    """The values of a column, of which NaN are gaps."""
    try:
        values = np.asarray(column, dtype=float)
    except (TypeError, ValueError) as error:
        raise ParameterError(where, f"holds what is no number: {error}.", "Read the table with its "
                             "gaps as NaN: pandas.to_numeric(…, errors='coerce').",
                             code="fit.number") from error  # fmt: skip
    if np.isinf(values).any():
        raise ParameterError(where, f"is infinite in row {int(np.flatnonzero(np.isinf(values))[0])}"
                             ".", "Make a gap of it: NaN.", code="fit.number")
    return values


def _sensors(tables: Sequence[tuple[Any, Array, str]], name: str, measured: Measured
             ) -> list[Sensor]:
    """A column of several tables, which may have it in several units."""
    headings = [_heading(data, name) for data, *_ in tables]
    first = next((h for h in headings if h is not None), None)
    if first is None:
        data, _, where = tables[0]
        raise unknown_name(f"{where}, compare", name, list(map(str, data.columns)), "columns")
    out, shown = [], None
    for heading, (data, t, where) in zip(headings, tables, strict=True):
        values = (np.full(len(t), np.nan) if heading is None else
                  _column(data, heading, None, where))
        mine = shown if heading is None else unit(heading_parts(heading)[1] or "1")
        shown = shown or mine
        if shown and mine and mine.dimension != shown.dimension:
            raise WrongDimension(f"{where}, column {heading!r}", f"is in {mine.text or 'no unit'}, "
                                 f"but {first!r} elsewhere.", "Give one kind of value in all.")
        kept = np.isfinite(values)
        out.append((t[kept], values[kept]))
    assert shown is not None
    return [Sensor(first, measured, shown, *one) for one in out]


def _heading(data: Any, name: str) -> str | None:
    """Return the heading of a column named without its unit, or with another; None of none."""
    columns = list(map(str, data.columns))
    found = columns_named(columns, name)
    return columns[found[0]] if len(found) == 1 else None


def experiments_of(data: Any) -> Sequence[Experiment]:
    """One or several tables, as experiments."""
    several = data if isinstance(data, (list, tuple)) else [data]
    return [one if isinstance(one, Experiment) else Experiment(one) for one in several]
