"""How do a table and a text go into a NetCDF or Parquet file, and come back?

Both can be opened by other tools: variables under their paths, with their units.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...exceptions import FileError, brief, optional_package
from ..values.table import Table
from . import name_of, writing
from .export import opened_netcdf, parquet_with_facts, table_of_dataset
from .netcdf import write_netcdf

__all__ = ["INFORMATION", "read", "write"]

INFORMATION = "run_information"  # where the text stands, in attributes of the file
ENDINGS = ".nc", ".parquet"


def write(table: Table, text: str, file: str | Path) -> None:
    """Write a table and a text; the name's ending chooses the format."""
    if _ending(file) == ".parquet":
        _write_parquet(table, text, file)
        return
    data = table.to_xarray()
    data.attrs[INFORMATION] = text
    with writing(file) as place:
        write_netcdf(data, place, packed=True)


def read(file: str | Path) -> tuple[Table, str | None]:
    """The table and the text of a file; None where it has no such text."""
    if _ending(file) == ".parquet":
        return _read_parquet(file)
    data = opened_netcdf(file)
    return table_of_dataset(data, file), data.attrs.get(INFORMATION)


def _write_parquet(table: Table, text: str, file: str | Path) -> None:
    pyarrow, parquet = (optional_package(module, "Parquet", "table")
                        for module in ("pyarrow", "pyarrow.parquet"))
    made = pyarrow.Table.from_pandas(table.coded_frame())
    made = made.replace_schema_metadata({**(made.schema.metadata or {}),
                                         INFORMATION.encode(): text.encode()})
    with writing(file) as place:
        parquet.write_table(made, place, compression="zstd")


def _read_parquet(file: str | Path) -> tuple[Table, str | None]:
    table, facts = parquet_with_facts(file)
    text = facts.get(INFORMATION.encode())
    return table, None if text is None else text.decode()


def _ending(file: Any) -> str:
    ending = Path(str(file)).suffix.lower()
    if ending not in ENDINGS:
        raise FileError(name_of(file), f"has the ending {brief(ending)}, which says no format that "
                        "keeps a run.", "Name it 'run.nc' (NetCDF) or 'run.parquet'.",
                        file=name_of(file), code="file.ending")  # fmt: skip
    return ending
