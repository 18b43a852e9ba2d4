"""Variables over time as bare arrays, with a unit for every column.

pandas and xarray objects and files are made from a :class:`Table` and read back into it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...exceptions import optional_package, unknown_name
from ...numerics.arrays import Array
from ...units import Quantity, Unit, quantity
from ..files import writing
from ..formatting import label, number
from ..lookup import collapsed
from ..sheet import ByName, DataFrame, Sheet, pandas
from .modes import as_attributes, in_words

if TYPE_CHECKING:
    from xarray import Dataset

__all__ = ["Column", "Table", "instance_dimension", "write_netcdf"]


@dataclass(frozen=True, eq=False)
class Column:
    """Values of a variable (one row per instance, for an array) in a unit.

    Attributes
    ----------
    values, unit, doc
    instances : paths of the instances of an array; empty for a single variable
    words : what the values of a mode mean
    """

    values: Array
    unit: Unit
    doc: str = ""
    instances: tuple[str, ...] = ()
    words: Mapping[int, str] | None = None

    @property
    def quantity(self) -> Quantity:
        """Values and unit as a pint quantity."""
        return quantity(self.values, self.unit)


class Table(ByName):
    """Variables over time, each with its unit: a mapping of path to quantity.

    Made by ``result.sample(…)`` and by ``read_csv``, ``read_parquet`` and ``read_netcdf``.

    Examples
    --------
    ::

        measured = read_csv("run 12.csv")      # "time [s],block.v [mm/s]"
        measured["block.v"].to("m/s")
        measured.time, measured.units
    """

    def __init__(self, time: Column, columns: Mapping[str, Column], name: str = "") -> None:
        self.clock, self.columns, self.name = time, dict(columns), name
        self._named = self.columns

    @property
    def time(self) -> Quantity:
        """Sample times as a quantity."""
        return self.clock.quantity

    @property
    def units(self) -> dict[str, str]:
        """Unit text of every column."""
        return {path: str(column.unit) for path, column in self.columns.items()}

    def __getitem__(self, path: str) -> Quantity:
        if path not in self.columns:
            raise unknown_name(self.name or "table", path, self.columns, "columns")
        return self.columns[path].quantity

    def flat(self) -> Iterator[tuple[str, Column]]:
        """Columns with every instance of an array by itself."""
        for path, column in self.columns.items():
            if not column.instances:
                yield path, column
            for name, row in zip(column.instances, column.values, strict=False):
                yield name, Column(row, column.unit, column.doc, (), column.words)

    def to_pandas(self) -> DataFrame:
        """A DataFrame over time with headings such as ``"block.v [m/s]"``.

        Modes are shown in words, under their path. ``frame.attrs`` holds the units and
        descriptions by path.
        """
        return self.frame(words=True)

    def frame(self, words: bool) -> DataFrame:
        """Return the DataFrame with modes in words, or as their codes, as files keep them."""
        pd = pandas("A table")
        flat = dict(self.flat())
        index = pd.Index(self.clock.values, name=label("time", self.clock.unit))
        frame = pd.DataFrame({
            p if words and c.words else label(p, c.unit):
            in_words(c.values, c.words) if words and c.words else c.values
            for p, c in flat.items()
        }, index=index)  # fmt: skip
        frame.attrs = {
            "model": self.name,
            "units": _ByPath({path: str(c.unit) for path, c in flat.items()}),
            "docs": _ByPath({path: c.doc for path, c in flat.items() if c.doc}),
            "modes": _ByPath({path: {str(k): word for k, word in c.words.items()}
                              for path, c in flat.items() if c.words}), }
        return frame

    def to_xarray(self) -> Dataset:
        """A Dataset over time; an array keeps its instances as a dimension."""
        xarray = optional_package("xarray", "A data set", "table")
        clock = ("time", self.clock.values, {"units": str(self.clock.unit), "long_name": "time"})
        coordinates: dict[str, Any] = {"time": clock}
        data: dict[str, Any] = {}
        for path, column in self.columns.items():
            attributes = {"units": str(column.unit), "long_name": column.doc or path,
                          **as_attributes(column.words or {})}
            dimensions: tuple[str, ...] = ("time",)
            if column.instances:
                names = [i[: i.rindex("]") + 1] for i in column.instances]
                dimension = instance_dimension(path, names, coordinates)
                coordinates[dimension] = (dimension, names)
                dimensions = (dimension, "time")
            data[path] = (dimensions, column.values, attributes)
        return xarray.Dataset(data, coordinates, attrs={"model": self.name})

    def to_csv(self, file: str | Path) -> None:
        """Write a CSV file with the units in its first row; see :func:`read_csv`.

        Modes are written as their codes here and in the other files: 0 stuck or closed,
        1 slides forward, -1 slides backward or open.
        """
        frame = self.frame(words=False)
        with writing(file, "a CSV file", ".csv", ".txt", ".dat", ".gz", ".zip") as place:
            frame.to_csv(place)

    def to_parquet(self, file: str | Path) -> None:
        """Write a Parquet file; see :func:`read_parquet`."""
        optional_package("pyarrow", "Parquet", "parquet")
        frame = self.frame(words=False)
        with writing(file, "a Parquet file", ".parquet", ".pq") as place:
            frame.to_parquet(place, engine="pyarrow")

    def to_netcdf(self, file: str | Path) -> None:
        """Write a NetCDF file; see :func:`read_netcdf`.

        NetCDF 4 where netCDF4 or h5netcdf is installed, NetCDF 3 otherwise.
        """
        data = self.to_xarray()
        with writing(file, "a NetCDF file", ".nc", ".nc4", ".cdf") as place:
            write_netcdf(data, place)

    def _sheet(self) -> Sheet:
        every, times = self.columns.values(), self.clock.values
        shown = [c.values[..., -1] if c.values.size else np.array([]) for c in every]
        span = "" if not len(times) else (
            f"{len(times)} samples from {number(times[0], self.clock.unit)} to "
            f"{number(times[-1], self.clock.unit)}")  # fmt: skip
        return Sheet(f"Table {self.name}".rstrip(), {
            "column": list(self.columns), "unit": list(self.units.values()),
            "instances": [len(c.instances) or 1 for c in every],
            "last value": ["…" if np.ndim(v) else in_words(v, c.words) if c.words else number(v)
                           for v, c in zip(shown, every, strict=True)]}, span)


class _ByPath(dict[str, Any]):
    """What a data frame says of its columns, shared by all that is taken from it.

    Pandas makes a deep copy of a frame's ``attrs`` for every column that is looked at.
    """

    def __deepcopy__(self, memo: Any) -> _ByPath:
        return self


def instance_dimension(path: str, instances: list[str], taken: Mapping[str, Any]) -> str:
    """A dimension for an array: its component, unless that one has other instances."""
    head = collapsed(instances[0])
    free = head != "time" and (head not in taken or taken[head][1] == instances)
    return head if free else f"instances of {path}"


class _Later(list[tuple[Any, Any]]):
    """Places, and the values to be written there, where xarray writes them at once.

    A library for HDF5 goes through all variables whenever one is added after values were written:
    of thousands of variables that takes many times longer than the values do.
    """

    def add(self, source: Any, target: Any, region: Any = None) -> None:
        self.append((target, source))


def write_netcdf(data: Any, file: str | Path, packed: bool = False) -> None:
    """Write a data set; where it is ``packed``, and netCDF4 or h5netcdf is there, compressed."""
    import xarray

    engines, encoding = xarray.backends.list_engines(), {}
    if packed and {"netcdf4", "h5netcdf"} & set(engines):
        encoding = {str(name): {"zlib": True, "complevel": 1} for name in data.data_vars}
    if "netcdf4" not in engines:
        data.to_netcdf(file, encoding=encoding)
        return
    later = _Later()
    store = xarray.backends.NetCDF4DataStore.open(str(file), mode="w")
    try:
        data.dump_to_store(store, writer=later, encoding=encoding)
        for target, values in later:
            target[...] = values
    finally:
        store.close()
