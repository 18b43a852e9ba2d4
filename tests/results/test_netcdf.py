"""Data sets become NetCDF files as xarray writes them, in a time that grows with their size."""

import numpy as np
import pytest
import xarray

from blocks.results.values.table import write_netcdf


@pytest.mark.parametrize("packed", [False, True])
def test_all_variables_of_a_file_are_there_before_the_first_values_are(
        packed, tmp_path, monkeypatch):
    """Each one that came after values would take a look at all others."""
    wrappers = pytest.importorskip("xarray.backends.netCDF4_")
    pytest.importorskip("netCDF4")
    clock = ("time", np.linspace(0.0, 1.0, 7), {"units": "s"})
    data = xarray.Dataset(
        {"turn": (("wheels", "time"), np.full((2, 7), np.nan), {"units": "rad"}),
         **{f"x{i}": ("time", clock[1] ** i, {"units": "m"}) for i in range(50)}},
        {"time": clock, "wheels": ["wheel[0]", "wheel[1]"]}, {"model": "cart"})
    data.to_netcdf(tmp_path / "whole.nc")
    there = []
    put = wrappers.NetCDF4ArrayWrapper.__setitem__

    def noted(self, key, value):
        there.append(len(self.datastore.ds.variables))
        put(self, key, value)

    monkeypatch.setattr(wrappers.NetCDF4ArrayWrapper, "__setitem__", noted)
    write_netcdf(data, tmp_path / "run.nc", packed)
    assert there == [53] * 53
    with (xarray.open_dataset(tmp_path / "run.nc", decode_times=False) as found,
          xarray.open_dataset(tmp_path / "whole.nc", decode_times=False) as whole):
        xarray.testing.assert_identical(found.load(), whole.load())
        assert found["x3"].encoding.get("zlib", False) == packed
