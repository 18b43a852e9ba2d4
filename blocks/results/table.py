"""How do chosen variables at chosen times become a table with units?

A :class:`Table` is plain arrays with a unit per column. pandas and xarray
objects and files are made from it and read back into it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import ParameterError, need_package, unknown_name
from ..files import writing
from ..units import Unit, from_si, quantity
from .lookup import collapsed
from .recording import Recording
from .series import Series, clock
from .sheet import Sheet, pandas
from .shown import SECOND, label, number, unit_to_show
from .times import check_side, grid

__all__ = ["Column", "Table", "sample"]

CELLS = 50_000_000  # numbers in a table of everything; above it, names are asked for


@dataclass(frozen=True, eq=False)
class Column:
    """Values of a variable (one row per instance, for an array) in a unit.

    Attributes
    ----------
    values : ndarray
    unit : Unit
    doc : str
    instances : tuple of str
        Paths of the instances of an array; empty for a single variable.
    """

    values: np.ndarray
    unit: Unit
    doc: str = ""
    instances: tuple[str, ...] = ()

    @property
    def quantity(self) -> Any:
        """The values as a pint quantity."""
        return quantity(self.values, self.unit)


class Table(Mapping[str, Any]):
    """Variables over time, each with its unit: a mapping of path to quantity.

    Made by ``result.sample(…)`` and by ``read_csv``, ``read_parquet`` and
    ``read_netcdf``.

    Examples
    --------
    ::

        measured = read_csv("run 12.csv")      # "time [s],block.v [mm/s]"
        measured["block.v"].to("m/s")
        measured.time, measured.units
    """

    def __init__(self, time: Column, columns: Mapping[str, Column], name: str = "") -> None:
        self.clock, self.columns, self.name = time, dict(columns), name

    @property
    def time(self) -> Any:
        """Sample times as a quantity."""
        return self.clock.quantity

    @property
    def units(self) -> dict[str, str]:
        """Unit text of every column."""
        return {path: str(column.unit) for path, column in self.columns.items()}

    def __getitem__(self, path: str) -> Any:
        if path not in self.columns:
            raise unknown_name(self.name or "table", path, self.columns, "columns")
        return self.columns[path].quantity

    def get(self, path: str, default: Any = None) -> Any:
        return self[path] if path in self.columns else default

    def __contains__(self, path: object) -> bool:
        return path in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.columns)

    def flat(self) -> Iterator[tuple[str, Column]]:
        """Columns with every instance of an array by itself."""
        for path, column in self.columns.items():
            if not column.instances:
                yield path, column
            for name, row in zip(column.instances, column.values, strict=False):
                yield name, Column(row, column.unit, column.doc)

    def to_pandas(self) -> Any:
        """A DataFrame over time with headings such as ``"block.v [m/s]"``.

        ``frame.attrs`` holds the units and descriptions by path.
        """
        pd = pandas("A table")
        flat = dict(self.flat())
        index = pd.Index(self.clock.values, name=label("time", self.clock.unit))
        frame = pd.DataFrame({label(p, c.unit): c.values for p, c in flat.items()}, index=index)
        frame.attrs = {
            "model": self.name,
            "units": {path: str(c.unit) for path, c in flat.items()},
            "docs": {path: c.doc for path, c in flat.items() if c.doc},
        }
        return frame

    def to_xarray(self) -> Any:
        """A Dataset over time; an array keeps its instances as a dimension."""
        try:
            import xarray
        except ImportError:
            raise need_package("xarray", "A data set", "table") from None
        clock = ("time", self.clock.values, {"units": str(self.clock.unit), "long_name": "time"})
        coordinates: dict[str, Any] = {"time": clock}
        data: dict[str, Any] = {}
        for path, column in self.columns.items():
            attributes = {"units": str(column.unit), "long_name": column.doc or path}
            dimensions: tuple[str, ...] = ("time",)
            if column.instances:
                names = [i[: i.rindex("]") + 1] for i in column.instances]
                dimension = _common(path, names, coordinates)
                coordinates[dimension] = (dimension, names)
                dimensions = (dimension, "time")
            data[path] = (dimensions, column.values, attributes)
        return xarray.Dataset(data, coordinates, attrs={"model": self.name})

    def to_csv(self, file: str | Path) -> None:
        """Write a CSV file with the units in its first row; see :func:`read_csv`."""
        frame = self.to_pandas()
        with writing(file):
            frame.to_csv(file)

    def to_parquet(self, file: str | Path) -> None:
        """Write a Parquet file; see :func:`read_parquet`."""
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise need_package("pyarrow", "Parquet", "table") from None
        frame = self.to_pandas()
        with writing(file):
            frame.to_parquet(file, engine="pyarrow")

    def to_netcdf(self, file: str | Path) -> None:
        """Write a NetCDF file; see :func:`read_netcdf`.

        NetCDF 4 where netCDF4 or h5netcdf is installed, NetCDF 3 otherwise.
        """
        data = self.to_xarray()
        with writing(file):
            if not Path(file).parent.is_dir():  # netCDF calls that a lack of permission
                raise FileNotFoundError
            data.to_netcdf(file)

    def _sheet(self) -> Sheet:
        flat = [(p, c) for p, c in self.columns.items()]
        shown = [c.values[..., -1] if c.values.size else np.array([]) for _, c in flat]
        times = self.clock.values
        span = "" if not len(times) else (
            f"{len(times)} samples from {number(times[0], self.clock.unit)} to "
            f"{number(times[-1], self.clock.unit)}")  # fmt: skip
        return Sheet(
            f"Table {self.name}".rstrip(),
            {"column": [p for p, _ in flat], "unit": [str(c.unit) for _, c in flat],
             "instances": [len(c.instances) or 1 for _, c in flat],
             "last value": [number(v) if np.ndim(v) == 0 else "…" for v in shown]},
            note=span,
        )  # fmt: skip

    def __repr__(self) -> str:
        return repr(self._sheet())

    def _repr_html_(self) -> str | None:
        return self._sheet()._repr_html_()


def _common(path: str, instances: list[str], taken: Mapping[str, Any]) -> str:
    """A dimension for an array: its component, unless that one has other instances."""
    head = collapsed(instances[0])
    free = head != "time" and (head not in taken or taken[head][1] == instances)
    return head if free else f"instances of {path}"


def sample(
    recording: Recording,
    chosen: Sequence[Series],
    *,
    every: Any = None,
    times: Any = None,
    units: Mapping[str, str] | None = None,
    side: str = "right",
) -> Table:
    """Values of series at the recorded times, at equal distances, or at given times."""
    wanted = dict(units or {})
    known = [*(s.path for s in chosen), "time"]
    for path in wanted:
        if path not in known:
            raise unknown_name("units", path, known, "columns")
    check_side(side, "table")
    seconds = grid(recording.times, every, times)
    samples = len(recording.times) if seconds is None else len(seconds)
    if samples * sum(len(s.infos) for s in chosen) > CELLS:
        raise ParameterError(
            "table", f"would hold {samples * sum(len(s.infos) for s in chosen):,} numbers.",
            "Name the variables, or sample them further apart: every='10 ms'.",
            code="result.size",
        )  # fmt: skip
    columns = {}
    for series, values in zip(chosen, _rows(recording, chosen, seconds, side), strict=True):
        shown = unit_to_show(series.unit, wanted.get(series.path), series.path)
        columns[series.path] = Column(
            np.asarray(from_si(values if series.is_array else values[0], shown).magnitude),
            shown,
            series.doc,
            tuple(i.path for i in series.infos) if series.is_array else (),
        )
    time = clock(recording)
    shown = unit_to_show(SECOND, wanted.get("time"), "time")
    at = time.si if seconds is None else seconds
    return Table(Column(from_si(at, shown).magnitude, shown, time.doc), columns, recording.name)


def _rows(
    recording: Recording, chosen: Sequence[Series], seconds: np.ndarray | None, side: str
) -> list[np.ndarray]:
    """Values in SI of all series, asked for at once."""
    indices = [i.index for s in chosen for i in s.infos]
    if not indices:
        return [np.empty((0, 0)) for _ in chosen]
    values = recording.values(indices, seconds, side)
    ends = np.cumsum([len(s.infos) for s in chosen])
    return np.split(np.asarray(values, dtype=float), ends[:-1])
