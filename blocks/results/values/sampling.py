"""How do chosen variables at chosen times become a table with units?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Never, TypedDict

import numpy as np

from ...exceptions import ParameterError, unknown_name
from ...numerics.arrays import Array
from ...reading.foreign_words import unknown_option
from ...units import in_unit
from ..formatting import SECOND, unit_to_show
from ..recording import Curves
from .samples import Samples, headings, rows_at
from .table import Column, Table
from .times import TIME, check_side, sample_times
from .views import run_of, same_samples

__all__ = ["Options", "sample", "units_wanted"]

CELLS = 50_000_000  # numbers in a table of everything; above it, names are asked for


class Options(TypedDict, total=False):
    """What tables and files take, for type checkers."""

    every: Any
    times: Any
    units: str | Mapping[str, str] | None
    side: Literal["right", "left"]


def sample(source: Curves, chosen: Sequence[Samples], *, every: Any = None, times: Any = None,
           units: str | Mapping[str, str] | None = None, side: str = "right",
           **unknown: Never) -> Table:
    """Values of series at the recorded times, at equal distances, or at given times.

    The times are those of ``source``; series of other runs are read at them.
    """
    if unknown:
        raise unknown_option("table()", unknown, ("every", "times", "units", "side"))
    names = headings(source, chosen)
    own = [s.rows.source for s in chosen]
    if own and run_of(own[0]) is run_of(source) and all(same_samples(own[0], o) for o in own):
        source = own[0]  # the one part of the run that is looked at
    wanted = units_wanted(units, chosen, names)
    check_side(side, "table")
    seconds = sample_times(source.close_times, every, times)
    samples = len(source.times) if seconds is None else len(seconds)
    cells = samples * sum(len(s.infos) for s in chosen)
    if cells > CELLS:
        raise ParameterError("table", f"would hold {cells:,} numbers.", "Name the variables, or "
                             "sample them further apart: every='10 ms'.", code="result.size")
    columns = {}
    rows = _rows(source, chosen, seconds, side)
    for name, series, values in zip(names, chosen, rows, strict=True):
        shown = unit_to_show(series.declared_unit, wanted.get(name), series.path)
        run = name.removeprefix(series.path)
        columns[name] = Column(
            in_unit(series.shaped(values), shown), shown, series.doc,
            tuple(i.path + run for i in series.infos) if series.is_array else (),
            series.infos[0].words)
    shown = unit_to_show(SECOND, wanted.get("time"), "time")
    at = np.asarray(source.times, dtype=float) if seconds is None else seconds
    return Table(Column(in_unit(at, shown), shown, TIME.doc), columns, source.name)


def units_wanted(units: str | Mapping[str, str] | None, chosen: Sequence[Samples],
                 names: Sequence[str], kind: str = "columns") -> dict[str, str]:
    """Unit wished for by heading; one text is for all, a path for that variable of every run."""
    if units is None:
        return {}
    if isinstance(units, str):
        return {n: units for n, s in zip(names, chosen, strict=True) if s.infos[0].words is None}
    paths = [s.path for s in chosen]
    for path in units:
        if path not in (*names, *paths, "time"):
            raise unknown_name("units", path, [*names, "time"], kind)
    found = {n: units[p] for n, p in zip(names, paths, strict=True) if p in units}
    return found | {n: units[n] for n in (*names, "time") if n in units}


def _rows(source: Curves, chosen: Sequence[Samples], seconds: Array | None,
          side: str) -> list[Array]:
    """Values in SI of all series: those read from the source itself are asked for at once."""
    itself = [s for s in chosen if s.rows.source is source]
    indices = [k for s in itself for k in s.rows.indices]
    found = np.asarray(source.values(indices, seconds, side), dtype=float) if indices else None
    rows, first = [], 0
    for series in chosen:
        if series.rows.source is source and found is not None:
            rows.append(found[first : first + len(series.infos)])
            first += len(series.infos)
        elif not same_samples(source, series.rows.source):
            at = np.asarray(source.times) if seconds is None else seconds
            rows.append(rows_at(series, at, source.name, None if seconds is None else side))
        elif seconds is None:
            rows.append(series.rows.samples())
        else:
            rows.append(series.rows.source.values(series.rows.indices, seconds, side))
    return rows
