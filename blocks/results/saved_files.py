"""How do a table and a text go into a NetCDF, Zarr or Parquet file, and come back?

All three can be opened by other tools: variables under their paths, with their units.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..exceptions import FileError, brief, optional_package
from .export import parquet_with_facts, table_of_dataset
from .files import name_of, reading, writing
from .netcdf import write_netcdf
from .table import Table

__all__ = ["INFORMATION", "read", "write"]

INFORMATION = "run_information"  # where the text stands, in attributes of the file
ENDINGS = ".nc", ".zarr", ".parquet"


def write(table: Table, text: str, file: str | Path) -> None:
    """Write a table and a text; the name's ending chooses the format."""
    ending = _ending(file)
    if ending == ".parquet":
        _write_parquet(table, text, file)
        return
    optional_package("xarray", "Keeping a run", "table")
    data = table.to_xarray()
    data.attrs[INFORMATION] = text
    with writing(file) as place:
        if not Path(file).parent.is_dir():  # Zarr would make it
            raise FileNotFoundError
        if ending == ".zarr":
            optional_package("zarr", "A run in a '.zarr' store", "zarr")
            if Path(file).exists() and not (Path(file) / "zarr.json").exists():
                raise FileExistsError(f"{name_of(file)} is no Zarr store")
            words = {name: c.astype(object) for name, c in data.coords.items()
                     if c.dtype.kind == "U"}  # Zarr 3 specifies words of any length alone
            data.assign_coords(words).to_zarr(place, mode="w", zarr_format=3, consolidated=False)
        else:
            write_netcdf(data, place, packed=True)


def read(file: str | Path) -> tuple[Table, str | None]:
    """The table and the text of a file; None where it has no such text."""
    ending = _ending(file)
    if ending == ".parquet":
        return _read_parquet(file)
    xarray = optional_package("xarray", "Keeping a run", "table")
    kind = "a Zarr store" if ending == ".zarr" else "a NetCDF file"
    if ending == ".zarr":
        optional_package("zarr", "A run in a '.zarr' store", "zarr")
    with reading(file, kind):
        options: dict[str, Any] = {"engine": "zarr", "consolidated": False} \
            if ending == ".zarr" else {}
        with xarray.open_dataset(file, decode_times=False, **options) as opened:
            data = opened.load()
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
                        "keeps a run.", "Name it 'run.nc' (NetCDF), 'run.zarr' or 'run.parquet'.",
                        file=name_of(file), code="file.ending")  # fmt: skip
    return ending
