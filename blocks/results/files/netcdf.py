"""How does a data set become a NetCDF file?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["write_netcdf"]


class _Later:
    """Takes values where xarray writes them at once.

    A library for HDF5 goes through all variables whenever one is added after values were written:
    of thousands of variables that takes many times longer than the values do.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[Any, Any]] = []

    def add(self, source: Any, target: Any, region: Any = None) -> None:
        """Note values, and where they are to be written."""
        self._waiting.append((target, source))

    def write(self) -> None:
        """Write them."""
        for target, source in self._waiting:
            target[...] = source


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
        later.write()
    finally:
        store.close()
