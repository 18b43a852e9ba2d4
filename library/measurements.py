"""Columns of measured data, with the units that their headings say.

A heading is a name with its unit in brackets: ``F [kN]``, ``t (ms)``; what is a plain number has
``[1]`` or ``[-]``. Results of a run are exported with such headings, too.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from blocks import quantity
from blocks.exceptions import BlocksError, FileError, ParameterError, unknown_name
from blocks.units import columns_named, heading_parts

__all__ = ["Column", "columns", "measured"]

PREAMBLE = 200  # lines in which the headings of a file are looked for


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes
    ----------
    heading : as it stands in the data
    values : quantity array; nan where there is no number
    place : what the row of an entry is called: "line 17 of run7.csv"
    """

    heading: str
    values: Any
    place: Callable[[int], str]


def columns(source: Any, *headings: str) -> list[Any]:
    """Columns of a file or of a pandas DataFrame, as quantities.

    Parameters
    ----------
    source : str, Path or DataFrame
        A text file with a line of headings and commas, semicolons or tabs between columns; lines
        before the headings, empty ones and those that begin with # are passed over. With
        semicolons or tabs, commas may be decimal ones. Text is UTF-8, UTF-16 with a mark
        of order, or Latin-1.
    headings : str
        Which columns: the heading, or the name in it; with a unit in brackets where the data say
        none.

    Examples
    --------
    >>> from library.translational import Spring
    >>> x, F = columns("spring.csv", "x [mm]", "F [N]")              # doctest: +SKIP
    >>> Spring(law="table", deformations=x, forces=F)                 # doctest: +SKIP

    Raises
    ------
    UnknownName
        For a column that is not there.
    ParameterError
        For a column without a unit, and for a row that has no number in one: with its line.
    """
    found = [measured(source, heading) for heading in headings]
    for column in found:
        refuse_gaps(column)
    return [column.values for column in found]


def refuse_gaps(column: Column) -> None:
    """A row without a number is a mistake in the data."""
    missing = np.flatnonzero(~np.isfinite(column.values.magnitude))
    if len(missing):
        more = f" (and {len(missing) - 1} more rows)" if len(missing) > 1 else ""
        raise ParameterError(column.place(int(missing[0])), f"has no number in "
                             f"{column.heading!r}{more}.",
                             "Leave such rows out, or fill them before.",
                             code="parameter.not_finite")  # fmt: skip


def measured(source: Any, wanted: str | None, index: bool = False) -> Column:
    """One column of a file or DataFrame, a Series, or the index of one of these."""
    if hasattr(source, "to_numpy"):
        return _of_pandas(source, wanted, index)
    if not isinstance(source, (str, Path)):
        raise ParameterError("table()", f"takes a file, a Series or a DataFrame, or times and "
                             f"values, but was given {source!r:.40} alone.",
                             "Write table(times, values).")
    if wanted is None:
        raise ParameterError(f"table({str(source)!r})", "needs the headings of two columns.",
                             "Write table('run7.csv', time='t [ms]', value='F [kN]').")
    return _of_file(Path(source), wanted)


# -- pandas ----------------------------------------------------------------------------------
def _of_pandas(source: Any, wanted: str | None, index: bool) -> Column:
    labels = source.index

    def named(k: int) -> str:
        return f"row {labels[k]}"

    if index:
        heading, entries = str(labels.name or wanted or "index"), labels
    elif not hasattr(source, "columns"):
        heading, entries = str(source.name or wanted or "values"), source
    elif wanted is None:
        raise ParameterError("table()", "was given a DataFrame, but not which column of it.",
                             "Write table(frame, time='t [ms]', value='F [kN]').")
    else:
        number = _find([str(c) for c in source.columns], wanted, "the DataFrame")
        heading, entries = str(source.columns[number]), source.iloc[:, number]
    zoned = getattr(entries.dtype, "tz", None) is not None  # dates that know their time zone
    values = np.asarray(entries, dtype="datetime64[ns]" if zoned else None)
    if values.dtype.kind in "mM":  # lengths of time, or dates: seconds from the first
        first = values[:1] if values.dtype.kind == "M" else np.timedelta64(0, "s")
        return Column(heading, quantity((values - first) / np.timedelta64(1, "s"), "s"), named)
    numbers = _numbers(values.tolist(), heading, named)
    return Column(heading, _with_unit(numbers, heading, wanted or "", "the data"), named)


# -- files -----------------------------------------------------------------------------------
def _of_file(path: Path, wanted: str) -> Column:
    lines = _lines(path)
    start, separator, headings = _headings(path, lines, wanted)
    number = _find(headings, wanted, path.name)
    cells, places, width = [], [], len(headings)
    for place, line in enumerate(lines[start + 1 :], start + 2):
        if not line.strip() or line.startswith("#"):
            continue
        row = next(csv.reader([line], delimiter=separator))
        if len(row) != width and (len(row) <= number or any(map(str.strip, row[width:]))):
            raise ParameterError(f"line {place} of {path.name}", f"has {len(row)} columns under "
                                 f"{width} headings.", "Complete the line." if
                                 len(row) <= number else "Name all columns. Where commas are "
                                 "decimal ones, semicolons or tabs stand between columns.",
                                 code="parameter.size")  # fmt: skip
        cells.append(row[number])
        places.append(place)

    def named(k: int) -> str:
        return f"line {places[k]} of {path.name}"

    if separator != "," and any("," in cell for cell in cells):
        cells = [cell.replace(",", ".") for cell in cells]
    numbers = _numbers(cells, headings[number], named)
    return Column(headings[number], _with_unit(numbers, headings[number], wanted, path.name), named)


def _lines(path: Path) -> list[str]:
    try:
        content = path.read_bytes()
        marked = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        return content.decode("utf-16" if marked else "utf-8-sig").splitlines()
    except OSError as error:
        raise FileError(f"table({str(path)!r})", f"cannot read the file: {error.strerror}.",
                        f"Files are looked for from {Path.cwd()}.", file=str(path),
                        code="file.missing") from None
    except UnicodeDecodeError:
        return content.decode("latin-1").splitlines()


def _headings(path: Path, lines: Sequence[str], wanted: str) -> tuple[int, str, list[str]]:
    """Number of the line of headings, what separates columns, and the headings.

    Where none names the column, it is the first of those with the most columns.
    """
    likely: tuple[int, str, list[str]] | None = None
    for k, line in enumerate(lines[:PREAMBLE]):
        if not line.strip() or line.startswith("#"):
            continue
        separator = next((s for s in ";\t" if s in line), ",")
        headings = [h.strip() for h in next(csv.reader([line], delimiter=separator))]
        if likely is None or len(headings) > len(likely[2]):
            likely = k, separator, headings
        if columns_named(headings, wanted):
            return k, separator, headings
    if likely is None:
        raise ParameterError(f"table({str(path)!r})", "the file has no lines of data.")
    return likely


# -- headings, units and numbers ---------------------------------------------------------------
def _find(headings: Sequence[str], wanted: str, source: str) -> int:
    found = columns_named(headings, wanted)
    if not found:
        raise unknown_name(source, wanted, headings, "columns")
    if len(found) > 1:
        raise ParameterError(source, f"has {len(found)} columns {wanted!r}.",
                             "Rename all but one of them.")
    return found[0]


def _with_unit(numbers: Any, heading: str, wanted: str, source: str) -> Any:
    """Numbers with the unit that the heading or the caller says; both have to agree."""
    (name, here), (called, asked) = heading_parts(heading), heading_parts(wanted)
    if heading.strip() == called:  # brackets that belong to the name are no unit
        here = None
    if wanted.strip() == name:
        asked = None
    text = here if here is not None else asked
    try:
        quantities = None if text is None else quantity(numbers, text)
    except BlocksError as error:
        raise ParameterError(f"column {heading!r} of {source}", f"has a unit that is not known: "
                             f"{error}") from None
    if here is None and asked is None:
        raise ParameterError(f"column {heading!r} of {source}", "says no unit.",
                             "Say it with the heading, as in time='t [ms]', value='F [kN]'; "
                             "[1] is a plain number.",
                             code="unit.missing")  # fmt: skip
    if here is not None and asked is not None and quantity(1, here) != quantity(1, asked):
        raise ParameterError(f"column {heading!r} of {source}", f"is in {here}, but was asked for "
                             f"in {asked}.", "Values are converted wherever they are used: ask for "
                             "the unit of the data.")  # fmt: skip
    return quantities


def _numbers(cells: Sequence[Any], heading: str, place: Callable[[int], str]) -> Any:
    """Cells as numbers; empty ones are nan."""
    try:
        return np.array([c if c != "" else np.nan for c in cells], dtype=float)
    except (TypeError, ValueError):
        pass
    numbers = np.full(len(cells), np.nan)
    for k, cell in enumerate(cells):
        try:
            numbers[k] = np.nan if cell is None or str(cell).strip() == "" else float(cell)
        except (TypeError, ValueError):
            raise ParameterError(place(k), f"has {cell!r} in {heading!r}, which is no number.",
                                 "Correct the row, or leave it out.") from None
    return numbers
