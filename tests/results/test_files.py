"""Files that are missing, cut off, of another kind or cannot be written: each is named."""

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray
from numpy.testing import assert_array_equal

from blocks.exceptions import (
    BlocksError,
    FileError,
    MissingUnit,
    UnknownName,
    UnknownUnit,
    WrongDimension,
)
from blocks.results import read_csv, read_netcdf, read_parquet
from blocks.results.values.table import Column, Table
from blocks.units import unit

from .test_tables import result

READERS = {".csv": read_csv, ".parquet": read_parquet, ".nc": read_netcdf}
WRITERS = {".csv": "to_csv", ".parquet": "to_parquet", ".nc": "to_netcdf"}
KINDS = pytest.mark.parametrize("kind", READERS)


@KINDS
def test_a_file_that_does_not_exist_is_named(kind, tmp_path):
    file = tmp_path / f"runn{kind}"
    with pytest.raises(FileError) as caught:
        READERS[kind](file)
    assert str(caught.value) == f"{file}: there is no such file. Check the name and the folder."
    assert caught.value.code == "file.missing" and caught.value.file == str(file)
    assert isinstance(caught.value, OSError)
    with pytest.raises(FileError, match="there is no such file: there is no folder 'nowhere'"):
        READERS[kind](f"nowhere/run{kind}")


@KINDS
def test_a_folder_that_does_not_exist_is_named_where_a_file_is_written(kind, tmp_path):
    file = tmp_path / "results" / f"run{kind}"
    with pytest.raises(FileError) as caught:
        getattr(result(), WRITERS[kind])(file, "block.v")
    assert str(caught.value) == (f"{file}: cannot be written: there is no folder "
                                 f"{str(file.parent)!r}. Make the folder first, or name another.")
    assert caught.value.code == "file.unwritable"
    for name, word in ((tmp_path, "a folder"), (None, "no name"), (3, "no name")):
        with pytest.raises(FileError, match=f"cannot be written: it is {word}"):
            getattr(result(), WRITERS[kind])(name, "block.v")


def test_no_picture_is_written_beside_a_folder_that_is_named(tmp_path):
    with pytest.raises(FileError, match="it is a folder"):
        result().plot("block.v", save=tmp_path)
    assert not list(tmp_path.parent.glob(f"{tmp_path.name}.*"))


@pytest.mark.parametrize("name", ["pictures/run.png", "run.doc"])
def test_a_picture_that_cannot_be_written_is_named(name, tmp_path):
    with pytest.raises(FileError, match="cannot be written") as caught:
        result().plot("block.v", save=tmp_path / name)
    assert ("another" if "pictures" in name else "ending is a known format") in caught.value.advice
    assert caught.value.file == str(tmp_path / name)


@KINDS
@pytest.mark.parametrize("content", [b"", b"\0" * 999, b"PAR1", b"CDF\x01", b"\x89HDF\r\n\x1a\n",
                                     "Zeit;Länge\n".encode("latin-1"), b'"never closed'])
def test_a_file_of_another_kind_is_refused_by_name(kind, content, tmp_path):
    file = tmp_path / f"run{kind}"
    file.write_bytes(content)
    with pytest.raises(BlocksError) as caught:
        READERS[kind](file)
    assert str(caught.value).startswith(f"{file}: ")
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize("kind", [".parquet", ".nc"])
@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.99])
def test_a_file_that_was_cut_off_is_refused_by_name(kind, part, tmp_path):
    file = tmp_path / f"run{kind}"
    getattr(result(), WRITERS[kind])(file, "block.v")
    file.write_bytes(file.read_bytes()[: int(part * file.stat().st_size)])
    with pytest.raises(FileError, match="cannot be read as a .* It is damaged, or a file of ano"):
        READERS[kind](file)


CSV = [
    ("time [s],a [m],a [m]\n0,1,2\n", FileError, "the column 'a [m]' occurs twice."),
    ("time [s],a [m],a [km]\n0,1,2\n", FileError, "two columns are of 'a'."),
    ("time [s];a [m]\n0;1\n", FileError, "its cells are not separated by commas."),
    ("time [s],a [m]\n0,1\n1,fast\n", FileError, "the column 'a [m]' holds 'fast' in row 3."),
    ("time [s],a [m]\n0,1,2\n1,2,3\n", FileError, "cannot be read as a CSV file"),
    ("time [s],a [m]\n0,1\n1,2,3\n", FileError, "cannot be read as a CSV file"),
    ("time [s],a [m]\n0,1\n,2\n", FileError, "there is no time in row 3."),
    ("time [kg],a [m]\n0,1\n", WrongDimension, "its time is in kg."),
    ("a [m]\n1\n", UnknownName, "there is no column of time."),
    ("time [s],a [mm2]\n0,1\n", UnknownUnit, "the column 'a [mm2]': 'mm2' is not a unit. Did you "
     "mean 'mm^2'?"),
    ("time [s],a [7**7**7**7*m]\n0,1\n", UnknownUnit, "is not a unit."),
    ("time [s],a [" + "s/" * 200000 + "]\n0,1\n", UnknownUnit, "is too long"),
    ("time [s]," + "a" * 200000 + "\n0,1\n", UnknownUnit, "has no unit."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "words"), CSV, ids=range(len(CSV)))
def test_a_table_of_others_is_refused_with_row_and_column(text, kind, words, tmp_path):
    file = tmp_path / "measured.csv"
    file.write_text(text)
    with pytest.raises(kind) as caught:
        read_csv(file)
    assert str(caught.value).startswith(f"{file}: ") and words in str(caught.value)
    assert len(str(caught.value)) < 600


def test_an_empty_cell_is_a_missing_value(tmp_path):
    file = tmp_path / "measured.csv"
    file.write_text("time [s],a [m]\n0,1\n1,\n")
    assert_array_equal(read_csv(file)["a"].m, [1, float("nan")])


PARQUET = [
    ({"time [s]": [0, 1], "a [m]": ["1", "x"]}, FileError, "the column 'a [m]' holds 'x' in row 2"),
    ({"time [s]": pd.to_datetime(["2026-01-01", "2026-01-02"]), "a [m]": [1, 2]}, FileError,
     "the column 'time [s]' holds Timestamp"),
    ({"time [s]": [0, 1], "a [m]": [[1], [2]]}, FileError, "the column 'a [m]' holds"),
    ({"time [s]": [0, 1], "a": [1, 2]}, UnknownUnit, "the column 'a' has no unit"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "kind", "words"), PARQUET, ids=range(len(PARQUET)))
def test_a_parquet_file_of_others_is_refused_with_row_and_column(columns, kind, words, tmp_path):
    pd.DataFrame(columns).to_parquet(tmp_path / "run.parquet")
    with pytest.raises(kind) as caught:
        read_parquet(tmp_path / "run.parquet")
    assert words in str(caught.value)


def test_what_else_a_parquet_file_says_does_not_matter(tmp_path):
    frame = pd.DataFrame({"time [s]": [0.0, 1.0], "a [m]": [1.0, 2.0]})
    frame.attrs = {"docs": ["no", "mapping"], "model": 5, "units": None}
    frame.to_parquet(tmp_path / "run.parquet")
    assert_array_equal(read_parquet(tmp_path / "run.parquet")["a"].m, [1, 2])


NETCDF = [
    ((("x",), [1.0, 2.0], {"units": "m"}), FileError, "the variable 'a' is over x."),
    ((("x", "y", "time"), [[[1.0, 2.0]]], {"units": "m"}), FileError, "is over x, y, time."),
    (((), 1.0, {"units": "m"}), FileError, "the variable 'a' is over nothing."),
    ((("time",), ["a", "b"], {"units": "m"}), FileError, "the variable 'a' holds no numbers."),
    ((("time",), [1.0, 2.0]), MissingUnit, "the variable 'a' has no attribute 'units'."),
    ((("time",), [1.0, 2.0], {"units": 5}), UnknownUnit, "is not a unit."),
    ((("time",), [1.0, 2.0], {"units": "m**8**8**8"}), UnknownUnit, "'**8**8**8' is a power of a"),
]  # fmt: skip


@pytest.mark.parametrize(("variable", "kind", "words"), NETCDF, ids=range(len(NETCDF)))
def test_a_netcdf_file_of_others_is_refused_by_its_variable(variable, kind, words, tmp_path):
    clock = ("time", [0.0, 1.0], {"units": "s"})
    xarray.Dataset({"a": variable}, {"time": clock}).to_netcdf(tmp_path / "run.nc")
    with pytest.raises(kind) as caught:
        read_netcdf(tmp_path / "run.nc")
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "run.nc"))


def test_units_asked_for_are_read_by_the_same_grammar():
    run = result()
    for ask in (lambda u: run["block.v"].to(u),
                lambda u: run.table("block.v", units={"block.v": u}),
                lambda u: run.plot("block.v", units={"block.v": u})):  # fmt: skip
        for wrong in ("6**6**6**6 m/s", "m/s.", "kg m/", "m" * 1000000, 5, "[m/s]", "5 m/s"):
            with pytest.raises(UnknownUnit, match=r"^block\.v: ") as caught:
                ask(wrong)
            assert len(str(caught.value)) < 300
    for wrong in ("3 s.", "s", "{t} s", "2**2 s", "–1 s"):
        with pytest.raises(UnknownUnit):
            run["block.v"].at(wrong)
        with pytest.raises(UnknownUnit):
            run.table("block.v", every=wrong)
    assert Path("never.csv").exists() is False


def test_many_columns_are_written_and_read_soon(tmp_path):
    """What a frame says of all columns is not copied for each."""
    columns = {f"part{k}.x": Column(np.full(3, float(k)), unit("m"), "the position")
               for k in range(1200)}
    table = Table(Column(np.arange(3.0), unit("s")), columns, "many")
    started = time.perf_counter()
    table.to_parquet(tmp_path / "many.parquet")
    read = read_parquet(tmp_path / "many.parquet")
    assert time.perf_counter() - started < 10
    assert read.columns["part7.x"].doc == "the position" and read["part1199.x"].m[0] == 1199
    assert read.units == table.units
    frame = table.to_pandas()
    assert frame["part7.x [m]"].attrs["docs"] is frame.attrs["docs"]
