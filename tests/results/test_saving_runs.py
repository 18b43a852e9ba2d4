"""Is a run that was kept in a file the same run?

A body on a spring, x = A sin(w t) and v = A w cos(w t); a block that is pulled until it slides.
"""

import contextlib
import json
import warnings

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import Model, compare, load, quantity
from blocks.exceptions import FileError, MissingPackage, ParameterError, UnknownName
from blocks.results import read_netcdf, read_parquet
from blocks.results.values.interpolants import SampledCurves, refined
from library.signal import Sine
from library.translational import ForceSource, Mass, Reference, Spring, TranslationalFriction

pytest.importorskip("xarray")
pytest.importorskip("netCDF4")
pytest.importorskip("pyarrow")

W = 2.0  # rad/s


def swinging(**options):
    model = wired("swinging", "body.M spring.R", "spring.C wall.V",
                  body=Mass(mass="2 kg", v="0.6 m/s"), spring=Spring(stiffness="8 N/m", x="0 m"),
                  wall=Reference())
    return model.simulate("5 s", **options)


def rubbing(breakaway="20 N", **options):
    """Pulled by 30 N sin(2 t) against 20 N at rest: it slides from asin(2/3) / 2 s on."""
    model = wired("rubbing", "wave.y pull.S", "block.M rub.R pull.R", "floor.V rub.C pull.C",
                  block=Mass(mass="4 kg"), floor=Reference(),
                  rub=TranslationalFriction(law="coulomb", coulomb_force="20 N",
                                            breakaway_force=breakaway),
                  wave=Sine(amplitude="30 N", frequency=f"{W / 2 / np.pi} Hz"), pull=ForceSource())
    return model.simulate("3 s", **options)


@pytest.fixture(scope="module")
def runs():
    return {"swinging": swinging(), "rubbing": rubbing()}


@contextlib.contextmanager
def full_disk():
    """No file may become larger than some bytes."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", ["run.nc", "run.parquet"])
def test_what_cannot_be_written_leaves_the_run_that_was_there(tmp_path, runs, name):
    runs["swinging"].save(tmp_path / name)
    with pytest.raises(FileError, match="cannot be written"), full_disk():
        runs["rubbing"].save(tmp_path / name)
    assert load(tmp_path / name)["body.v"].final == runs["swinging"]["body.v"].final
    assert list(tmp_path.iterdir()) == [tmp_path / name]
    runs["rubbing"].save(tmp_path / name)
    assert load(tmp_path / name).name == "rubbing"


def test_a_model_that_cannot_be_written_leaves_the_one_that_was_there(tmp_path):
    file, model = tmp_path / "model.json", Model("one")
    model.body = Mass(mass="3 kg")
    model.save(file)
    before, mode = file.read_text(encoding="utf-8"), file.stat().st_mode
    model.body.mass = "4 kg"
    with pytest.raises(FileError, match="cannot be written"), full_disk():
        model.save(file)
    assert file.read_text(encoding="utf-8") == before
    model.save(file)
    assert load(file).body.mass == quantity("4 kg") and file.stat().st_mode == mode


def test_a_run_goes_where_a_link_leads(tmp_path, runs):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "run.parquet"
    try:
        link.symlink_to(tmp_path / "folder" / "kept.parquet")
    except OSError:
        pytest.skip("no links here")
    runs["swinging"].save(link)
    assert link.is_symlink() and load(tmp_path / "folder" / "kept.parquet").name == "swinging"


@pytest.mark.parametrize("name", ["run.nc", "run.parquet"])
def test_values_at_any_time_are_those_of_the_run(tmp_path, runs, name):
    runs["swinging"].save(tmp_path / name)
    kept = load(tmp_path / name)
    times = np.linspace(0, 5, 1234)
    at = quantity(times, "s")
    assert_allclose(kept["body.v"].at(at).to("m/s").m, 0.6 * np.cos(W * times), atol=2e-6)
    assert_allclose(kept["spring.x"].at(at).to("m").m, 0.3 * np.sin(W * times), atol=1e-6)
    assert kept["body.v"].declared_unit.text == "m/s" and list(kept) == list(runs["swinging"])
    with pytest.raises(ParameterError, match="7 s is outside the run, which covers 0 s to 5 s"):
        kept["body.v"].at("7 s")


@pytest.mark.parametrize("name", ["run.nc", "run.parquet"])
def test_events_modes_energy_and_parameters_are_kept(tmp_path, runs, name):
    run = runs["rubbing"]
    run.save(tmp_path / name)
    kept = load(tmp_path / name)
    assert list(kept.events) == list(run.events) and len(kept.events) >= 2
    start = float(kept.events[0].time)
    assert start == pytest.approx(np.arcsin(2 / 3) / W, abs=1e-6)
    assert kept["rub.mode"].in_words(kept.events[0].time, side="left") == "stuck"
    assert kept["rub.mode"].in_words(kept.events[0].time) == "slides forward"
    assert kept["block.v"].at(quantity(start / 2, "s")).m == 0
    assert repr(kept.energy()) == repr(run.energy())
    assert repr(kept.sticking()) == repr(run.sticking())
    assert kept.parameters["rub.coulomb_force"] == quantity("20 N")
    assert len(kept.differences(run)) == 0
    assert dict(kept.statistics) == dict(run.statistics) and kept.status == "finished"
    assert kept.versions == run.versions and "numpy" in kept.versions
    assert kept.explain("block.v") == run.explain("block.v")


def test_a_kept_run_is_compared_drawn_and_kept_again(tmp_path, runs):
    pytest.importorskip("matplotlib").use("agg")
    run = runs["swinging"]
    run.save(tmp_path / "a.nc")
    kept = load(tmp_path / "a.nc")
    both = compare({"run": run, "file": kept}, "body.v")
    assert abs(both.gaps[0].difference.to("m/s").m) < 1e-6
    assert both.plot(save=tmp_path / "both.png").axes
    kept.save(tmp_path / "b.nc")
    again = load(tmp_path / "b.nc")
    assert_allclose(again["body.v"].m, kept["body.v"].m, rtol=1e-15)
    assert again.plot().axes[0].get_ylabel() and again.table("body.v", every="1 s").shape == (6, 1)


def test_samples_that_were_asked_for_stay_the_samples(tmp_path):
    swinging(every="2.5 s").save(tmp_path / "run.nc")
    kept = load(tmp_path / "run.nc")
    assert_allclose(kept.time.m, [0, 2.5, 5])
    assert kept["spring.x"].at("0.7854 s").to("m").m == pytest.approx(0.3, abs=1e-6)


@pytest.mark.parametrize("options", [{}, {"every": "1 s"}])
def test_a_peak_before_an_event_is_kept(tmp_path, options):
    rubbing("25 N", **options).save(tmp_path / "run.nc")
    f = load(tmp_path / "run.nc")["rub.f"]
    assert_allclose([f.max().m, f.min().m], [25, -25], rtol=1e-6)


def test_only_named_variables_are_kept(tmp_path, runs):
    runs["swinging"].save(tmp_path / "run.parquet", "body.v", ["spring.x"])
    kept = load(tmp_path / "run.parquet")
    assert list(kept) == ["body.v", "spring.x"]
    with pytest.raises(UnknownName):
        kept["spring.f"]


@pytest.mark.parametrize("name", ["run.nc", "run.parquet"])
def test_arrays_are_kept(tmp_path, name):
    count = 12  # more than ten: instance 10 comes after 9, not after 1
    model = Model("several")
    model.bodies = Mass(mass="1 kg", v=quantity(np.arange(count), "m/s"), count=count)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.simulate("1 s").save(tmp_path / name, "bodies.v", "bodies.M.f")
    kept = load(tmp_path / name)
    assert_allclose(kept["bodies.v"].at("0.3 s").m, np.arange(count))
    assert_allclose(kept["bodies.M.f"].m, 0)
    assert kept["bodies[1].v"].final.m == 1


def test_other_tools_see_an_array_as_one_variable(tmp_path):
    model = wired("several", bodies=Mass(mass="1 kg", v=quantity([1, 2, 3], "m/s"), count=3))
    model.simulate("1 s").save(tmp_path / "run.nc")
    table = read_netcdf(tmp_path / "run.nc")
    assert table["bodies.v"].shape[0] == 3 and table.units["bodies.v"] == "m/s"


def test_a_run_of_chosen_variables_is_kept_and_says_what_it_lacks(tmp_path):
    run = swinging(record=["body.v"])
    run.save(tmp_path / "run.nc")
    kept = load(tmp_path / "run.nc")
    assert kept["body.v"].at("1 s").m == pytest.approx(0.6 * np.cos(W), abs=3e-6)
    for result in (run, kept):
        with pytest.raises(ParameterError) as refusal:
            result.energy()
    with pytest.raises(ParameterError) as first:
        run.energy()
    assert str(refusal.value) == str(first.value)


def test_a_run_without_sensitivities_says_how_to_have_them(tmp_path, runs):
    swinging(sensitivities=["spring.stiffness"]).save(tmp_path / "run.nc")
    with pytest.raises(ParameterError, match="not kept in a file. Read them before the run is sav"):
        load(tmp_path / "run.nc").sensitivities  # noqa: B018
    with pytest.raises(ParameterError, match=r"not asked for.*simulate\(.*sensitivities=\["):
        runs["swinging"].sensitivities["spring.f", "spring.stiffness"]


# -- files that are not right --------------------------------------------------------------------
def test_endings_and_missing_files_are_named(tmp_path, runs):
    with pytest.raises(FileError, match=r"the ending '\.dat', but a file that keeps.*'run\.nc'"):
        runs["swinging"].save(tmp_path / "run.dat")
    with pytest.raises(FileError, match=r"no\.nc: there is no such file"):
        load(tmp_path / "no.nc")
    with pytest.raises(FileError, match="there is no folder"):
        runs["swinging"].save(tmp_path / "nowhere" / "run.nc")


@pytest.mark.parametrize("name", ["run.nc", "run.parquet"])
def test_a_damaged_file_is_named(tmp_path, runs, name):
    file = tmp_path / name
    runs["swinging"].save(file)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match=rf"{name}: cannot be read as a .* It is damaged"):
        load(file)


def changed(file, **facts):
    """A file whose information says something else."""
    import xarray

    with xarray.open_dataset(file, decode_times=False) as opened:
        data = opened.load()
    data.attrs["run_information"] = json.dumps(json.loads(data.attrs["run_information"]) | facts)
    data.to_netcdf(file)
    return data


def test_a_newer_file_says_which_version_wrote_it(tmp_path, runs):
    runs["swinging"].save(tmp_path / "run.nc")
    changed(tmp_path / "run.nc", version=99, versions={"blocks-toolkit": "7.5"})
    with pytest.raises(FileError, match=r"newer version \(format 99, blocks-toolkit 7\.5\).*"
                                        r"pip install -U blocks-toolkit") as caught:
        load(tmp_path / "run.nc")
    assert caught.value.code == "file.newer"


def test_values_that_were_changed_are_found(tmp_path, runs):
    file = tmp_path / "run.nc"
    runs["swinging"].save(file)
    data = changed(file)
    data["body.v"].values[3] += 1e-9
    data.to_netcdf(file)
    with pytest.raises(FileError, match="its values are not those that were written"):
        load(file)


def test_another_file_is_no_run(tmp_path, runs):
    runs["swinging"].to_netcdf(tmp_path / "table.nc")
    with pytest.raises(FileError, match=r"no saved run.*read_netcdf\('.*table\.nc'\) reads it"):
        load(tmp_path / "table.nc")


def test_what_was_written_during_a_run_is_read_as_a_table_and_kept_as_a_run(tmp_path):
    run = swinging(record=["body.v"], record_to=tmp_path / "way.parquet")
    with pytest.raises(FileError, match=r"no saved run.*read_parquet\('.*way\.parquet'\) reads it"):
        load(tmp_path / "way.parquet")
    table = read_parquet(tmp_path / "way.parquet")
    assert_allclose(table["body.v"].m, 0.6 * np.cos(W * table.time.m), atol=2e-6)
    run.save(tmp_path / "run.parquet")
    kept = load(tmp_path / "run.parquet")
    assert kept["body.v"].at("1 s").m == pytest.approx(0.6 * np.cos(W), abs=3e-6)


def test_a_missing_package_is_named(tmp_path, runs, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(MissingPackage, match=r'pip install -e ".*\[table\]"'):
        runs["swinging"].save(tmp_path / "run.nc")


# -- between samples -----------------------------------------------------------------------------
def test_a_cubic_is_read_exactly_and_jumps_stay_sharp():
    times = np.array([0, 0.3, 0.5, 1, 1.0, 1.1, 1.7, 2])
    late = np.arange(len(times)) > 3
    rows = np.array([np.where(late, 5 - times, times**3), np.where(late, 4.0, 2.0)])
    curves = SampledCurves(times, rows, np.array([False, True]))
    at = np.array([0.1, 0.77, 1.0, 1.05, 1.9])
    assert_allclose(curves.at([0], at, "right")[0], [0.001, 0.77**3, 4, 3.95, 3.1], rtol=1e-13)
    assert_allclose(curves.at([0, 1], np.array([1.0]), "left"), [[1], [2]])
    assert_allclose(curves.at([1], at, "right")[0], [2, 2, 4, 4, 4])


def test_samples_are_added_until_the_curve_is_known():
    times = np.linspace(0, 6, 13)
    curves, error = refined(times, lambda at: np.sin([times if at is None else at]),
                            np.array([False]), lambda rows: np.array([1.0]), 1e-4)
    at = np.linspace(0, 6, 999)
    assert len(curves.times) > 13 and error <= 1e-4
    assert np.max(np.abs(curves.at([0], at, "right")[0] - np.sin(at))) < 2e-4
