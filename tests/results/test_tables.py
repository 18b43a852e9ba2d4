"""Tables carry units in their headings, and files give them back or are named where they cannot."""

import io
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray
from benches.recorded import MASSES, result
from numpy.testing import assert_allclose, assert_array_equal

from blocks import exceptions
from blocks.exceptions import BlocksError, FileError, MissingPackage, UnknownName, UnknownUnit
from blocks.results import read_csv, read_netcdf, read_parquet
from blocks.results.sheet import Sheet

CHOSEN = ("block.v", "friction.f", "oil.T", "motor.w", "signal.rate", "gear.ratio", "masses.v")
UNITS = {"block.v": "mm/s", "motor.w": "rad/s", "time": "ms"}


def test_headings_carry_units():
    frame = result().table("block.v", "gear.ratio", "masses[:2].v", every="0.5 s",
                           units={"block.v": "mm/s", "time": "ms"})  # fmt: skip
    assert list(frame.columns) == [
        "block.v [mm/s]", "gear.ratio [1]", "masses[0].v [mm/s]", "masses[1].v [mm/s]"]  # fmt: skip
    assert frame.index.name == "time [ms]"
    assert_allclose(frame.index, np.arange(9) * 500)
    assert_allclose(frame["block.v [mm/s]"], 250 * np.sin(np.pi * np.arange(9) / 2), atol=1e-12)
    assert frame.attrs["units"]["block.v"] == "mm/s"


def test_recorded_samples_keep_both_sides_of_a_jump():
    frame = result().table("friction.f", units={"friction.f": "N"})
    assert len(frame) == 402
    assert_allclose(frame.loc[1.5, "friction.f [N]"], [20, 5])


def test_given_times_and_sides():
    sample = result().sample("friction.f", times=["1 s", "1.5 s"], side="left")
    assert_allclose(sample["friction.f"].to("N").m, [20, 20])
    assert_allclose(sample.time.m, [1, 1.5])


@pytest.mark.parametrize("every, count", [("10 ms", 401), ("0.3 s", 14), ("5 s", 1)])
def test_equal_distances_start_at_the_start(every, count):
    assert len(result().table("block.v", every=every)) == count


def test_an_array_is_read_at_once():
    run = result()
    run.sample(*CHOSEN)
    assert len(run.recording.calls) == 1


def test_everything_where_nothing_is_named():
    run = result()
    assert len(run.table().columns) == 11 + MASSES
    assert run.to_xarray()["masses.v"].dims == ("masses", "time")


def same(table, expected):
    assert table.units == expected.units
    assert list(table) == list(expected)
    assert_array_equal(table.time.m, expected.time.m)
    assert table.time.units == expected.time.units
    for path in expected:
        assert_array_equal(table[path].m, expected[path].m)
        assert table[path].units == expected[path].units


def flat(table):
    from blocks.results import Table

    return Table(table.clock, dict(table.flat()))


def test_csv_gives_back_every_bit_and_unit(tmp_path):
    run = result()
    run.to_csv(tmp_path / "run.csv", *CHOSEN, units=UNITS)
    first = (tmp_path / "run.csv").read_text().splitlines()[0]
    assert first.startswith("time [ms],block.v [mm/s],friction.f [kN],oil.T [degC],motor.w [rad/s]")
    same(read_csv(tmp_path / "run.csv"), flat(run.sample(*CHOSEN, units=UNITS)))


def test_parquet_gives_back_every_bit_and_unit(tmp_path):
    run = result()
    run.to_parquet(tmp_path / "run.parquet", *CHOSEN, units=UNITS)
    back = read_parquet(tmp_path / "run.parquet")
    same(back, flat(run.sample(*CHOSEN, units=UNITS)))
    assert back.columns["oil.T"].doc == "temperature" and back.name == "stick_slip"


@pytest.mark.parametrize("paths", [CHOSEN, ("masses[::5].v", "masses.v"), ("block.v",)])
def test_netcdf_gives_back_every_bit_unit_and_array(tmp_path, paths):
    run = result()
    units = {k: v for k, v in UNITS.items() if k in (*paths, "time")}
    run.to_netcdf(tmp_path / "run.nc", *paths, units=units)
    back, expected = read_netcdf(tmp_path / "run.nc"), run.sample(*paths, units=units)
    same(back, expected)
    same(flat(back), flat(expected))
    assert back.columns[paths[0]].doc == "velocity"


def test_xarray_has_units_and_names():
    data = result().to_xarray("block.v", "masses.v")
    assert data["block.v"].attrs == {"units": "m/s", "long_name": "velocity"}
    assert data["time"].attrs["units"] == "s"
    assert list(data["masses"].values[:2]) == ["masses[0]", "masses[1]"]


def test_files_of_others_need_units_and_time(tmp_path):
    file = tmp_path / "measured.csv"
    file.write_text("time [s], force [kN]\n0,1\n0.5,2\n")
    table = read_csv(file)
    assert_array_equal(table["force"].to("N").m, [1000, 2000])
    assert "force" in repr(table) and table.get("nothing") is None
    file.write_text("time [s],force\n0,1\n")
    with pytest.raises(UnknownUnit, match=r"'force'.*'force \[m/s\]', or '\[1\]'") as caught:
        read_csv(file)
    assert caught.value.where == str(file) and caught.value.column == "force"
    file.write_text("clock [s],force [N]\n0,1\n")
    with pytest.raises(UnknownName, match="there is no column of time"):
        read_csv(file)


@pytest.mark.parametrize("options, message", [
    ({"every": "-1 s"}, "table(every=…): must be greater than 0 s, but is -1 s. "
                        "Write for example every='10 ms'."),
    ({"every": "1 s", "times": ["1 s"]}, "table: takes either every or times, but was given "
                                         "both. Leave one of them out."),
    ({"times": ["2 s", "1 s"]}, "table(times=…): must not decrease, but 1 s comes after 2 s. "
                                "Sort them."),
    ({"times": []}, "table(times=…): takes one time or a list of times, but was given []. "
                    "Write for example times=['1 s', '2 s']."),
    ({"every": "1 ns"}, "table(every=…): of 1 ns makes 4,000,000,001 samples. "
                        "Take a longer one.")])  # fmt: skip
def test_samples_that_cannot_be(options, message):
    with pytest.raises(exceptions.ParameterError) as caught:
        result().table("block.v", **options)
    assert str(caught.value) == message


def test_a_unit_for_a_misspelt_column_is_refused():
    with pytest.raises(UnknownName, match="units: .*'blok.v'") as caught:
        result().table("block.v", units={"blok.v": "mm/s"})
    assert caught.value.nearest == ["block.v"]


@pytest.mark.parametrize(
    "package, extra, call",
    [("pandas", "table", lambda r: r.table("block.v")),
     ("xarray", "table", lambda r: r.to_xarray("block.v")),
     ("pyarrow", "parquet", lambda r: r.to_parquet("never.parquet", "block.v")),
     ("matplotlib.pyplot", "plot", lambda r: r.plot("block.v"))])  # fmt: skip
def test_a_missing_package_is_named_with_its_extra(monkeypatch, package, extra, call):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=f"needs the package {package.split('.')[0]}") as told:
        call(result())
    assert f"[{extra}]" in str(told.value)


def test_series_to_pandas():
    series = result()["oil.T"].to_pandas()
    assert series.name == "oil.T [degC]" and series.iloc[-1] == 60


@pytest.mark.parametrize(("encoding", "rule", "unit"), [
    ("utf-8", "─", "N·s/m²"), ("cp1252", "-", "N*s/m^2"), ("ascii", "-", "N*s/m^2")])
def test_a_table_is_printed_in_signs_that_the_output_takes(encoding, rule, unit, monkeypatch):
    page = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(page, encoding))
    print(Sheet("Values", {"path": ["a", "b"], "value": ["2 N·s/m²", "10 Ω"], "of": ["x", "z"]}))
    sys.stdout.flush()
    title, heads, under, first, second = page.getvalue().decode(encoding).splitlines()
    assert set(under.strip()) == {rule}
    assert unit in first and heads.index("of") == first.index("x") == second.index("z")


# -- files that are missing, cut off, of another kind or cannot be written --------------------
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


@pytest.mark.parametrize("write", ["to_csv", "to_netcdf", "to_parquet"])
def test_a_variable_is_no_name_of_a_file(write):
    with pytest.raises(FileError, match=r"block\.v: has the ending '\.v', but .* Name it 'block\."):
        getattr(result(), write)("block.v")
    with pytest.raises(exceptions.WrongCall, match=rf"{write}\(\): there is no option 'evry'"):
        getattr(result(), write)("run.csv", evry="1 s")


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
    ("time [kg],a [m]\n0,1\n", exceptions.WrongDimension, "its time is in kg."),
    ("a [m]\n1\n", UnknownName, "there is no column of time."),
    ("time [s],a [mm2]\n0,1\n", UnknownUnit, "the column 'a [mm2]': 'mm2' is not a unit. Did you "
     "mean 'mm^2'?"),
    ("time [s],a [7**7**7**7*m]\n0,1\n", UnknownUnit, "is not a unit."),
    ("time [s],a [" + "s/" * 200000 + "]\n0,1\n", UnknownUnit, "is too long"),
    ("time [s]," + "a" * 200000 + "\n0,1\n", UnknownUnit, "has no unit.")]  # fmt: skip


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
    ({"time [s]": [0, 1], "a": [1, 2]}, UnknownUnit, "the column 'a' has no unit")]  # fmt: skip


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
    ((("time",), [1.0, 2.0]), exceptions.MissingUnit, "the variable 'a' has no attribute 'units'."),
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


# -- NetCDF files in a time that grows with their size ----------------------------------------
