"""How are tables with units read back from files?

The inverse of ``result.to_csv``, ``to_parquet`` and ``to_netcdf``; files of
others are welcome where their headings carry units (``"force [kN]"``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import MissingUnit, UnknownName, need_package
from ..units import unit
from .lookup import collapsed
from .modes import codes_of, from_attributes, from_facts, holds_words
from .sheet import pandas
from .shown import from_label
from .table import Column, Table

__all__ = ["read_csv", "read_netcdf", "read_parquet"]


def read_csv(file: str | Path) -> Table:
    """Read a CSV file whose headings are ``path [unit]``.

    Raises
    ------
    UnknownUnit
        For a heading without unit.
    UnknownName
        Where no heading is ``time […]``.
    """
    pd = pandas("Reading CSV")
    exact = {} if int(pd.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
    frame = pd.read_csv(file, skipinitialspace=True, **exact)
    return _from_frame(frame, str(file))


def read_parquet(file: str | Path) -> Table:
    """Read a Parquet file whose columns are named ``path [unit]``."""
    pd = pandas("Reading Parquet")
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise need_package("pyarrow", "Parquet", "table") from None
    frame = pd.read_parquet(file, engine="pyarrow")
    attributes = frame.attrs
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    return _from_frame(frame, str(file), attributes)


def _from_frame(frame: Any, where: str, attributes: Any = None) -> Table:
    facts = dict(attributes or {})
    docs, modes = facts.get("docs", {}), facts.get("modes", {})
    columns = {}
    for heading in frame.columns:
        if holds_words(str(heading), frame[heading]):
            codes, words = codes_of(frame[heading].tolist(), f"{where}: {heading}")
            columns[str(heading)] = Column(codes, unit(""), docs.get(heading, ""), (), words)
            continue
        path, shown = from_label(str(heading), where)
        columns[path] = Column(frame[heading].to_numpy(dtype=float), shown, docs.get(path, ""),
                               (), from_facts(modes, path))  # fmt: skip
    return Table(_take_time(columns, where), columns, facts.get("model", ""))


def _take_time(columns: dict[str, Column], where: str) -> Column:
    if "time" not in columns:
        raise UnknownName(where, "there is no column of time.",
                          "Name one 'time [s]', in any unit of time.", name="time",
                          known=list(columns), nearest=[])  # fmt: skip
    return columns.pop("time")


def _instances(path: str, components: list[str]) -> tuple[str, ...]:
    """Paths of an array's variables: ``masses.v`` and ``masses[0]`` make ``masses[0].v``."""
    if not components or "[" not in components[0]:
        return tuple(f"{path}[{k}]" for k in components)
    head = collapsed(components[0])
    tail = path.rpartition("]")[2] if "]" in path else path.removeprefix(head)
    return tuple(f"{component}{tail}" for component in components)


def read_netcdf(file: str | Path) -> Table:
    """Read a NetCDF file whose variables have the attribute ``units``."""
    try:
        import xarray
    except ImportError:
        raise need_package("xarray", "Reading NetCDF", "table") from None
    with xarray.open_dataset(file, decode_times=False) as opened:
        data = opened.load()
    columns: dict[str, Column] = {}
    for name in ["time", *data.data_vars]:
        if name not in data.variables:
            continue
        values = data[name]
        if "units" not in values.attrs:
            raise MissingUnit(str(file), f"the variable {name!r} has no attribute 'units'.",
                              "Set it to '1' where there is none.", column=name)  # fmt: skip
        doc = values.attrs.get("long_name", "")
        instances: tuple[str, ...] = ()
        if values.ndim == 2:
            values = values.transpose(..., "time")
            axis = values.dims[0]
            instances = _instances(str(name), [str(k) for k in values[axis].values])
        columns[str(name)] = Column(
            np.asarray(values.values, dtype=float), unit(values.attrs["units"]),
            "" if doc == name else doc, instances, from_attributes(values.attrs),
        )  # fmt: skip
    return Table(_take_time(columns, str(file)), columns, data.attrs.get("model", ""))
