"""Measured data as sources: files, pandas, arrays; against numpy's and scipy's curves."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from benches import wired
from numpy.testing import assert_allclose
from scipy.interpolate import Akima1DInterpolator, CubicSpline, PchipInterpolator

import blocks
from blocks import Model, Parameter, ParameterError, SimulationError, UnknownName, quantity
from blocks.exceptions import UnitError, WrongDimension
from blocks.simulation.running_method import RunningMethod
from library.measurements import columns
from library.rotational import AngularVelocitySource
from library.signal import TimeFunction, TimeTable
from library.tables import table
from library.thermal import ControlledTemperatureSource, TemperatureSource
from library.translational import ForceSource, Mass, Reference, Spring

TEXT = "# bench 4\nlogger;7\nt [ms],F [kN],T (degC),n [-]\n0,1.5,20,1\n10,2,21,2\n\n20,3,22,4\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run7.csv").write_text(TEXT, encoding="utf-8")
    return tmp_path


def pushed(force, mass="2 kg"):
    return wired("pushed", "body.M push.R", "floor.V push.C",
                 body=Mass(mass=mass), floor=Reference(), push=ForceSource(force=force))


# -- where they are from ---------------------------------------------------------------------------
@pytest.mark.parametrize("headings", [("t [ms]", "F [kN]"), ("t", "F")])
def test_a_file_says_columns_and_units_in_its_headings(folder, headings):
    data = table("run7.csv", time=headings[0], value=headings[1])
    assert_allclose(data.times.to("s").magnitude, [0, 0.01, 0.02])
    assert_allclose(data.values.to("N").magnitude, [1500, 2000, 3000])
    assert repr(data) == "table of 3 points from 0.0 ms to 20.0 ms, linear"


def test_columns_of_a_file_are_quantities_for_any_parameter(folder):
    force, temperature, count = columns("run7.csv", "F [kN]", "T", "n")
    assert_allclose(temperature.to("K").magnitude, [293.15, 294.15, 295.15])
    assert_allclose(count.to("").magnitude, [1, 2, 4])
    spring = Spring(law="table", deformations=quantity([1, 2, 3], "mm"), forces=force)
    assert_allclose(spring.forces.to("N").magnitude, [1500, 2000, 3000])


@pytest.mark.parametrize("heading", ["t [s]", "Time [s]", "TIME (ms)", "time [s]"])
def test_the_column_of_time_is_found_however_it_is_headed(folder, heading):
    path = folder / "times.csv"
    path.write_text(f"{heading},F [N]\n1,2\n3,4\n")
    (found,) = columns(path, "time")
    assert found.magnitude.tolist() == [1, 3]
    assert str(found.units) == ("millisecond" if "ms" in heading else "second")


def test_semicolons_may_separate_decimal_commas(folder):
    (folder / "versuch.csv").write_text("Zeit [s];Kraft [N]\n0;1,5\n0,5;2,5\n", encoding="latin-1")
    data = table("versuch.csv", time="Zeit", value="Kraft")
    assert_allclose(data.times.magnitude, [0, 0.5])
    assert_allclose(data.values.magnitude, [1.5, 2.5])


@pytest.mark.parametrize("order", ["le", "be"])
def test_text_of_two_bytes_a_character_is_read(folder, order):
    text = "\ufefft [s]\tT [°C]\n0\t1\n1\t2,5\n"
    (folder / "wide.txt").write_text(text, encoding=f"utf-16-{order}")
    assert_allclose(table("wide.txt", time="t", value="T").values.to("K").m, [274.15, 275.65])


def test_what_a_run_exports_drives_another_with_its_jumps(folder):
    """5 N from 0.3 s to 0.8 s make 1.25 m/s of 2 kg."""
    pulse = table(quantity([0, 0.3, 0.3, 0.8, 0.8, 1], "s"), quantity([0, 0, 5, 5, 0, 0], "N"))
    run = pushed(pulse).simulate("1 s")
    for exported in (run["push.f"].to_pandas(), run.table("push.f"),
                     run.table("push.f", "body.v")["push.f [N]"]):
        again = table(exported)
        assert np.count_nonzero(np.diff(again.times.m) == 0) == 2
        v = abs(pushed(again).simulate("1 s")["body.v"].final.to("m/s").m)
        assert v == pytest.approx(1.25, rel=1e-6)
    run.to_csv("kept.csv", "push.f", "body.v")
    speed = table("kept.csv", time="time", value="body.v", between="monotone")  # has no jump
    assert len(speed.times) == len(set(speed.times.m))
    assert abs(speed.values[-1].to("m/s").m) == pytest.approx(1.25, rel=1e-6)
    with pytest.raises(ParameterError, match="and another value"):
        table("kept.csv", time="time", value="push.f")


def test_a_unit_may_be_said_where_the_data_say_none(folder):
    (folder / "bare.csv").write_text("t,F\n0,1\n1,2\n")
    data = table("bare.csv", time="t [min]", value="F [kN]")
    assert_allclose(data.times.to("s").magnitude, [0, 60])
    with pytest.raises(ParameterError, match=r"column 't' of bare.csv: says no unit.*time='t \[ms"):
        table("bare.csv", time="t", value="F")


@pytest.mark.parametrize(("heading", "wanted"), [
    ("F (left)", "F (left) [kN]"), ("F (left) [kN]", "F (left)"), ("F (kN) [N]", "F (kN) [N]")])
def test_brackets_may_belong_to_a_name(heading, wanted):
    data = table(pd.DataFrame({"t [s]": [0, 1], heading: [1, 2]}), time="t", value=wanted)
    assert_allclose(data.values.m, [1, 2])
    assert str(data.values.units) == ("newton" if "[N]" in heading else "kilonewton")


@pytest.mark.parametrize("made", [
    lambda f: table(f, time="t [s]", value="F [kN]"),
    lambda f: table(f.set_index("t [s]"), value="F"),
    lambda f: table(f.set_index("t [s]")["F [kN]"]),
    lambda f: table(pd.Series(f["F [kN]"].to_numpy(), index=[0, 1, 2.5]), time="t [s]",
                    value="F [kN]"),
    lambda f: table(f.set_index(pd.to_timedelta([0, 1, 2.5], unit="s")), value="F [kN]"),
    lambda f: table(f.set_index(pd.to_datetime([0, 1000, 2500], unit="ms")), value="F [kN]"),
    lambda f: table(f.set_index(pd.to_datetime([0, 1000, 2500], unit="ms", utc=True).tz_convert(
        "Asia/Tokyo")), value="F [kN]")])
def test_pandas_gives_columns_or_its_index(made):
    data = made(pd.DataFrame({"t [s]": [0, 1, 2.5], "F [kN]": [1, 2, 4]}))
    assert_allclose(data.times.to("s").magnitude, [0, 1, 2.5])
    assert_allclose(data.values.to("N").magnitude, [1000, 2000, 4000])


# -- what is wrong with them -----------------------------------------------------------------------
@pytest.mark.parametrize(("rows", "said"), [
    ("0,1\n10,\n20,\n", r"line 3 of bad.csv: has no number in 'F \[kN\]' \(and 1 more rows\)"),
    ("0,1\n10,nan\n20,1\n", r"line 3 of bad.csv: has no number in 'F"),
    ("0,1\n10,ok\n", r"line 3 of bad.csv: has 'ok' in 'F \[kN\]', which is no number"),
    ("0,1\n10,2\n\n5,3\n", r"line 5 of bad.csv: has the time 5.0 ms, but line 3 of bad.csv has 10"),
    ("0,1\n10,2\n10,3\n", r"line 4 of bad.csv: has the same time, 10.0 ms, as line 3"),
    ("0,1\n10\n", r"line 3 of bad.csv: has 1 columns under 2 headings. Complete the line"),
    ("0,0,1,5\n10,0,2,5\n", r"line 2 of bad.csv: has 4 columns .* Where commas are decimal ones"),
    ("", r"was given 0 times and 0 values")])
def test_a_wrong_row_of_a_file_is_named(folder, rows, said):
    (folder / "bad.csv").write_text("t [ms],F [kN]\n" + rows)
    with pytest.raises(ParameterError, match=said):
        table("bad.csv", time="t [ms]", value="F [kN]")


def test_a_wrong_row_of_pandas_is_named():
    series = pd.Series([1, 2, np.nan], index=pd.Index([0, 1, 2], name="t [s]"), name="F [N]")
    with pytest.raises(ParameterError, match=r"row 2: has no number in 'F \[N\]'"):
        table(series)


@pytest.mark.parametrize(("call", "kind", "said"), [
    (lambda: table("run7.csv", time="t [ms]", value="f [kN]"), UnknownName, "mean 'F [kN]'?"),
    (lambda: table("run7.csv", time="t [s]", value="F"), ParameterError, "is in ms, but was asked"),
    (lambda: table("run7.csv", time="F", value="t"), WrongDimension, "1.5 kN among values in s"),
    (lambda: table("run7.csv", time="t"), ParameterError, "needs the headings of two columns"),
    (lambda: table("run8.csv", time="t", value="F"), blocks.FileError, "cannot read the file"),
    (lambda: table(pd.DataFrame({"t [s]": [0, 1], "M [Nm]": [1, 2]}), time="t", value="M [N*m]"),
     ParameterError, "column 'M [Nm]' of the data: has a unit that is not known: 'Nm' is not"),
    (lambda: table(pd.DataFrame({"a [s]": [1, 2]}), time="a"), ParameterError, "which column"),
    (lambda: table([1, 2, 3]), ParameterError, "or times and values, but was given [1, 2, 3]"),
    (lambda: table(["0 s", "1 s"], ["1 N", "nan N"]), ParameterError, "values[1] = nan"),
    (lambda: table(["1 s", "0 s"], ["0 N", "1 N"]), ParameterError, "decrease"),
    (lambda: table(["0 s", "1 s"], ["0 N"]), ParameterError, "as many"),
    (lambda: table(["0 s", "1 s"], ["1 N", "2 N"], between="spline"), UnknownName, "'spline'"),
    (lambda: table(["0 s", "1 s"], ["1 N", "2 N"], ends="cut"), UnknownName, "choices for ends="),
    (lambda: table(["0 s", "1 s"], ["1 N", "2 N"], between="cubic"), ParameterError, "three"),
    (lambda: table(["0 s", "1 s", "1 s"], ["1 N"] * 3, between="monotone"), ParameterError,
     "jumps at 1.0 s, where between='monotone' knows no jump"),
    (lambda: table(["0 s", "1 s", "1 s"], ["1 N"] * 3, ends="continued"), ParameterError,
     "where ends='continued' knows no jump")])
def test_a_call_that_cannot_be_meant_is_answered(folder, call, kind, said):
    with pytest.raises(kind) as caught:
        call()
    assert said in str(caught.value)


@pytest.mark.parametrize(("values", "given", "said"), [
    (quantity([1500, 1500], "1/min"), lambda t: AngularVelocitySource(velocity=t), "Use rpm"),
    (quantity([50, 50], "Hz"), lambda t: AngularVelocitySource(velocity=t), "Use turn/s"),
    (quantity([20, 20], "degC"), lambda t: ControlledTemperatureSource(difference=t), "delta_degC"),
    (quantity([20, 20], "delta_degC"), lambda t: TemperatureSource(temperature=t), "Write degC"),
    (quantity([20, 20], "V"), lambda t: ForceSource(force=t), "takes N or any unit")])
def test_a_table_is_in_the_unit_of_its_parameter_as_a_value_is(values, given, said):
    with pytest.raises(UnitError) as caught:
        given(table(["0 s", "1 s"], values))
    assert said in str(caught.value)


# -- between the points and beyond them ------------------------------------------------------------
TIMES = np.array([0.3, 0.9, 1.0, 1.7, 2.4, 3.1, 4.0])
VALUES = np.array([0.0, 2.0, 2.0, -1.0, 4.0, 3.5, 0.0])
LONG = np.linspace(0.3, 4.0, 61)  # as numbers in the equations
CURVES = {
    "linear": lambda x, y: lambda t: np.interp(t, x, y),
    "held": lambda x, y: lambda t: y[np.clip(np.searchsorted(x, t, side="right") - 1, 0, None)],
    "cubic": CubicSpline, "monotone": PchipInterpolator,
    "smooth": lambda x, y: Akima1DInterpolator(x, y, method="makima")}


@pytest.mark.parametrize("between", CURVES)
@pytest.mark.parametrize("points", [(TIMES, VALUES), (LONG, np.sin(3 * LONG))])
def test_tables_follow_their_curve_and_hold_their_ends(between, points):
    x, y = points
    model = Model("curves")
    given = quantity(x, "s"), quantity(y, "N")
    model.block = TimeTable(times=given[0], values=given[1], interpolation=between)
    model.function = TimeFunction(unit="N", value=table(*given, between=between))
    run = model.simulate("5 s")
    at = np.setdiff1d(np.linspace(0.01, 4.99, 83), x)
    exact = CURVES[between](x, y)(np.clip(at, x[0], x[-1]))
    for name in ("block.y", "function.y"):
        assert_allclose(run[name].at(quantity(at, "s")).magnitude, exact, atol=1e-12)


@pytest.mark.parametrize("between", ["linear", "held", "cubic", "monotone"])
@pytest.mark.parametrize("points", [(TIMES, VALUES), (LONG, np.sin(3 * LONG))])
def test_ends_may_be_continued(between, points):
    x, y = points
    given = quantity(x, "s"), quantity(y, "N")
    model = Model("curves")
    model.block = TimeTable(times=given[0], values=given[1], interpolation=between,
                            ends="continued")
    model.function = TimeFunction(unit="N", value=table(*given, between=between, ends="continued"))
    run = model.simulate("5 s")
    slope = 0 if between == "held" else (y[-1] - y[-2]) / (x[-1] - x[-2]) if between == "linear" \
        else CURVES[between](x, y)(x[-1], 1)
    for name in ("block.y", "function.y"):
        assert_allclose(run[name].final.magnitude, y[-1] + slope * (5 - x[-1]), atol=1e-11)


@pytest.mark.parametrize("made", [
    lambda x, y: TimeFunction(unit="N", value=table(x, y, ends="refused")),
    lambda x, y: TimeTable(times=x, values=y, ends="refused"),
    lambda x, y: TimeTable(times=x, values=y, ends="refused", interpolation="cubic")])
@pytest.mark.parametrize("count", [7, 61])
def test_a_run_that_leaves_a_table_may_be_stopped(made, count):
    x = np.linspace(0, 4, count)
    model = wired("short", source=made(quantity(x, "s"), quantity(np.cos(x), "N")))
    assert model.simulate("4 s").status == "finished"
    with pytest.raises(SimulationError, match="source: at t = 4 s it has left its table") as caught:
        model.simulate("6 s")
    assert_allclose(caught.value.result.time[-1].to("s").magnitude, 4, rtol=1e-8)


def test_a_run_that_begins_before_its_table_is_refused_at_its_start(folder):
    data = table("run7.csv", time="t", value="F", ends="refused")
    late = table(data.times + quantity("5 ms"), data.values, ends="refused")
    with pytest.raises(SimulationError, match="push: at t = 0 s it has left its table"):
        pushed(late).simulate("10 ms")


def test_a_function_of_time_may_shift_a_table():
    x, y = quantity(TIMES, "s"), quantity(VALUES, "N")
    data = table(x, y)
    model = Model("shifted")
    model.early = TimeFunction(unit="N", value=table(x - quantity("0.2 s"), y))
    model.shifted = TimeFunction(unit="N", value=lambda t: data(t + quantity("0.2 s")))
    system = model.compile()
    assert len(system.tables.instants(0.0, 10.0)) == len(np.union1d(TIMES - 0.2, TIMES - 0.2))
    run = model.simulate("4 s")
    at = quantity(np.linspace(0.05, 3.95, 41), "s")
    assert_allclose(run["shifted.y"].at(at).magnitude, run["early.y"].at(at).magnitude, atol=1e-12)


# -- what they cost --------------------------------------------------------------------------------
def test_points_are_passed_within_the_method_however_many_they_are(monkeypatch):
    begun = []
    begin = RunningMethod.begin
    monkeypatch.setattr(RunningMethod, "begin",
                        lambda self, *given: begun.append(1) or begin(self, *given))
    x = np.linspace(0, 10, 20_001)
    y = np.random.default_rng(5).normal(size=len(x))
    run = pushed(table(quantity(x, "s"), quantity(y, "N"))).simulate("10 s", rtol=1e-8)
    exact = np.concatenate([[0], np.cumsum((y[1:] + y[:-1]) / 2 * np.diff(x))]) / 2
    assert_allclose(run["body.v"].at(quantity(x[1::7], "s")).magnitude, exact[1::7], atol=1e-10)
    assert run.statistics["steps"] < 1.01 * len(x)
    assert len(begun) == 1


def test_equal_tables_make_equal_equations_copied_and_pickled(folder):
    data = table("run7.csv", time="t", value="F")
    for same in (copy.deepcopy(data), pickle.loads(pickle.dumps(data)),
                 table("run7.csv", time="t [ms]", value="F [kN]")):
        assert same == data and hash(same) == hash(data)
    assert data != table("run7.csv", time="t", value="F", between="held")
    assert isinstance(type(ForceSource()).force, Parameter)
