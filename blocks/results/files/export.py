"""How are tables with units read back from files?

The inverse of ``result.to_csv``, ``to_parquet`` and ``to_netcdf``; files of
others are welcome where their headings carry units (``"force [kN]"``).
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ...exceptions import (
    FileError,
    MissingUnit,
    UnknownName,
    UnknownUnit,
    WrongDimension,
    brief,
    optional_package,
    told_how_to_call,
)
from ...reading.headings import is_time
from ...units import SECOND, unit
from ..formatting import from_label
from ..lookup import collapsed
from ..sheet import pandas
from ..values.modes import codes_of, from_attributes, from_facts, holds_words
from ..values.table import Column, Table
from . import name_of, reading

__all__ = ["csv_frame", "opened_netcdf", "parquet_with_facts", "read_csv", "read_netcdf",
           "read_parquet", "table_of_dataset", "table_of_frame"]  # fmt: skip

COMMAS = "Put headings in its first line, commas between cells, and a point before decimals."
_TWICE = re.compile(r"(.*\])\.\d+$")


@told_how_to_call
def read_csv(file: str | Path) -> Table:
    """Read a CSV file whose headings are ``path [unit]``.

    Raises
    ------
    UnknownUnit
        For a heading without unit.
    UnknownName
        Where no heading is ``time […]``.
    FileError
        For a file that is missing, damaged or no such table.
    """
    return table_of_frame(csv_frame(file), file, first=2)


def csv_frame(file: str | Path) -> Any:
    """The DataFrame of a CSV file."""
    pd = pandas("Reading CSV")
    exact = {} if int(pd.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
    with reading(file, "a CSV file", COMMAS), warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # more cells than headings
        return pd.read_csv(file, skipinitialspace=True, index_col=False, **exact)


def read_parquet(file: str | Path) -> Table:
    """Read a Parquet file whose columns are named ``path [unit]``."""
    return parquet_with_facts(file)[0]


def parquet_with_facts(file: str | Path) -> tuple[Table, dict[bytes, bytes]]:
    """The table of a Parquet file, and what else is written in it."""
    pd = pandas("Reading Parquet")
    parquet = optional_package("pyarrow.parquet", "Parquet", "parquet")
    with reading(file, "a Parquet file"):
        facts = parquet.read_schema(file).metadata
        frame = pd.read_parquet(file, engine="pyarrow")
    attributes, frame.attrs = frame.attrs, {}  # or pandas copies them for every column
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    return table_of_frame(frame, file, attributes), facts or {}


def table_of_frame(frame: Any, file: Any, attributes: Any = None, first: int = 1) -> Table:
    """A table from a data frame; its rows are counted from ``first`` in the file."""
    facts = dict(attributes or {})
    docs = facts.get("docs")
    docs = docs if isinstance(docs, dict) else {}
    modes = facts.get("modes")
    columns: dict[str, Column] = {}
    for place, heading in enumerate(map(str, frame.columns)):
        if match := _TWICE.match(heading):  # as pandas marks it
            _refuse(file, f"the column {brief(match[1])} occurs twice", "Leave one out.")
        if ";" in heading or "\t" in heading:
            _refuse(file, "its cells are not separated by commas", COMMAS)
        if holds_words(heading, frame.iloc[:, place]):
            codes, words = codes_of(frame.iloc[:, place].tolist(), f"{name_of(file)}: {heading}")
            columns[heading] = Column(codes, unit(""), str(docs.get(heading, "")), (), words)
            continue
        path, shown = from_label(heading, name_of(file))
        if path in columns:
            _refuse(file, f"two columns are of {path!r}", "Leave one out.")
        columns[path] = Column(_numbers(frame.iloc[:, place], heading, file, first), shown,
                               str(docs.get(path, "")), (), from_facts(modes, path))  # fmt: skip
    return Table(_take_time(columns, file, first), columns, str(facts.get("model", "")))


def _numbers(column: Any, heading: str, file: Any, first: int) -> np.ndarray:
    """The numbers of a column; an empty cell is nan, and a list of one number is none."""
    if column.dtype.kind in "fiub":
        return column.to_numpy(dtype=float)
    values = np.empty(len(column))
    for k, cell in enumerate(column):
        try:
            values[k] = np.nan if cell is None else float(cell if np.ndim(cell) == 0 else "")
        except (TypeError, ValueError, OverflowError):
            _refuse(file, f"the column {brief(heading)} holds {brief(cell)} in row {k + first}",
                    "Leave a cell empty where there is no number.")  # fmt: skip
    return values


def _take_time(columns: dict[str, Column], file: Any, first: int = 1) -> Column:
    named = next((path for path in columns if is_time(path)), None)
    if named is None:
        raise UnknownName(name_of(file), "there is no column of time.",
                          "Name one 'time [s]', in any unit of time.", name="time",
                          known=list(columns), nearest=[])  # fmt: skip
    time = columns.pop(named)
    if time.unit.dimension != SECOND.dimension:
        raise WrongDimension(name_of(file), f"its time is in {time.unit}.",
                             "Give it in a unit of time: 'time [s]'.", given=str(time.unit),
                             expected=SECOND)  # fmt: skip
    for k in np.flatnonzero(np.isnan(time.values))[:1]:
        _refuse(file, f"there is no time in row {k + first}", "It may have been cut off.")
    for k in np.flatnonzero(np.diff(time.values) < 0)[:1]:
        _refuse(file, f"its time falls in row {k + 1 + first}", "Sort its rows by time.")
    return time


def _refuse(file: Any, problem: str, advice: str) -> NoReturn:
    name = name_of(file)
    raise FileError(name, f"{problem}.", advice, file=name, code="file.unreadable")


def _instances(path: str, components: list[str]) -> tuple[str, ...]:
    """Paths of an array's variables: ``masses.v`` and ``masses[0]`` make ``masses[0].v``."""
    if not components or "[" not in components[0]:
        return tuple(f"{path}[{k}]" for k in components)
    head = collapsed(components[0])
    tail = path.rpartition("]")[2] if "]" in path else path.removeprefix(head)
    return tuple(f"{component}{tail}" for component in components)


def read_netcdf(file: str | Path) -> Table:
    """Read a NetCDF file whose variables have the attribute ``units``."""
    return table_of_dataset(opened_netcdf(file), file)


def opened_netcdf(file: str | Path) -> Any:
    """Return the xarray data set of a NetCDF file, read into memory."""
    xarray = optional_package("xarray", "Reading NetCDF", "table")
    with reading(file, "a NetCDF file"), xarray.open_dataset(file, decode_times=False) as opened:
        return opened.load()


def table_of_dataset(data: Any, file: Any) -> Table:
    """A table from an xarray data set."""
    columns: dict[str, Column] = {}
    for name in ["time", *data.data_vars]:
        if name in data.variables:
            columns[str(name)] = _column(data[name], str(name), file)
    return Table(_take_time(columns, file), columns, str(data.attrs.get("model", "")))


def _column(values: Any, name: str, file: Any) -> Column:
    """A variable of a data set."""
    if "units" not in values.attrs:
        raise MissingUnit(name_of(file), f"the variable {name!r} has no attribute 'units'.",
                          "Set it to '1' where there is none.", column=name)  # fmt: skip
    if "time" not in values.dims or values.ndim > 2:
        over = ", ".join(map(str, values.dims)) or "nothing"
        _refuse(file, f"the variable {name!r} is over {over}",
                "It has to be over time, or over the instances of an array and time.")
    if values.dtype.kind not in "fiub":
        _refuse(file, f"the variable {name!r} holds no numbers", "Leave it out.")
    try:
        shown = unit(values.attrs["units"])
    except UnknownUnit as error:
        raise UnknownUnit(name_of(file), f"the variable {name!r}: {error.problem}", error.advice,
                          column=name, **error.data) from None  # fmt: skip
    doc = str(values.attrs.get("long_name", ""))
    instances: tuple[str, ...] = ()
    if values.ndim == 2:
        values = values.transpose(..., "time")
        axis = values.dims[0]
        instances = _instances(name, [str(k) for k in values[axis].values])
    return Column(np.asarray(values.values, dtype=float), shown, "" if doc == name else doc,
                  instances, from_attributes(values.attrs))  # fmt: skip
