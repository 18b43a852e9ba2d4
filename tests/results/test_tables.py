"""Tables carry units in their headings, and files give them back."""

import io
import sys

import numpy as np
import pytest
from benches.recorded import MASSES, result
from numpy.testing import assert_allclose, assert_array_equal

from blocks.exceptions import MissingPackage, ParameterError, UnknownName, UnknownUnit
from blocks.results import read_csv, read_netcdf, read_parquet
from blocks.results.sheet import Sheet

CHOSEN = ("block.v", "friction.f", "oil.T", "motor.w", "signal.rate", "gear.ratio", "masses.v")
UNITS = {"block.v": "mm/s", "motor.w": "rad/s", "time": "ms"}


def test_headings_carry_units():
    frame = result().table("block.v", "gear.ratio", "masses[:2].v", every="0.5 s",
                           units={"block.v": "mm/s", "time": "ms"})  # fmt: skip
    assert list(frame.columns) == [
        "block.v [mm/s]", "gear.ratio [1]", "masses[0].v [mm/s]", "masses[1].v [mm/s]"
    ]  # fmt: skip
    assert frame.index.name == "time [ms]"
    assert_allclose(frame.index, np.arange(9) * 500)
    assert_allclose(frame["block.v [mm/s]"], 250 * np.sin(np.pi * np.arange(9) / 2), atol=1e-12)
    assert frame.attrs["units"]["block.v"] == "mm/s"


def test_recorded_samples_keep_both_sides_of_a_jump():
    frame = result().table("friction.f", units={"friction.f": "N"})
    assert len(frame) == 402
    assert_allclose(frame.loc[1.5, "friction.f [N]"], [20, 5])


def test_given_times_and_sides():
    run = result()
    sample = run.sample("friction.f", times=["1 s", "1.5 s"], side="left")
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
    with pytest.raises(UnknownUnit) as caught:
        read_csv(file)
    assert str(caught.value) == (
        f"{file}: the column 'force' has no unit. Write the unit into the heading, such as "
        "'force [m/s]', or '[1]' where there is none."
    )
    file.write_text("clock [s],force [N]\n0,1\n")
    with pytest.raises(UnknownName, match="there is no column of time"):
        read_csv(file)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"every": "-1 s"}, "table(every=…): must be greater than 0 s, but is -1 s. "
                            "Write for example every='10 ms'."),
        ({"every": "1 s", "times": ["1 s"]}, "table: takes either every or times, but was given "
                                             "both. Leave one of them out."),
        ({"times": ["2 s", "1 s"]}, "table(times=…): must not decrease, but 1 s comes after 2 s. "
                                    "Sort them."),
        ({"times": []}, "table(times=…): takes one time or a list of times, but was given []. "
                        "Write for example times=['1 s', '2 s']."),
        ({"every": "1 ns"}, "table(every=…): of 1 ns makes 4,000,000,001 samples. "
                            "Take a longer one."),
    ],
)  # fmt: skip
def test_samples_that_cannot_be(options, message):
    with pytest.raises(ParameterError) as caught:
        result().table("block.v", **options)
    assert str(caught.value) == message


def test_a_unit_for_a_misspelt_column_is_refused():
    with pytest.raises(UnknownName) as caught:
        result().table("block.v", units={"blok.v": "mm/s"})
    assert str(caught.value) == (
        "units: there is no 'blok.v' among its columns. Did you mean 'block.v'?"
    )


@pytest.mark.parametrize(
    "package, extra, call",
    [("pandas", "table", lambda r: r.table("block.v")),
     ("xarray", "table", lambda r: r.to_xarray("block.v")),
     ("pyarrow", "parquet", lambda r: r.to_parquet("never.parquet", "block.v")),
     ("matplotlib.pyplot", "plot", lambda r: r.plot("block.v"))],
)  # fmt: skip
def test_a_missing_package_is_named_with_its_extra(monkeypatch, package, extra, call):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=f"needs the package {package.split('.')[0]}") as told:
        call(result())
    assert f"blocks-toolkit[{extra}]" in str(told.value)


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
