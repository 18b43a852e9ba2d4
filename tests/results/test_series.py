"""A path gives values with units, exactly those that were recorded."""

import pickle

import numpy as np
import pytest
from benches import wired
from benches.recorded import MASSES, Fake, nothing_recorded, result
from numpy.testing import assert_allclose

from blocks import exceptions
from blocks.results import Result
from blocks.results.recording import Instant
from blocks.units import quantity
from library.translational import Mass


def text(error, call):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def test_values_convert_exactly():
    v = result()["block.v"]
    t = v.time.m
    assert_allclose(v.to("mm/s").m, 250 * np.sin(np.pi * t), atol=1e-12)
    assert f"{v.to('mm/s').units:~C}" == "mm/s"
    assert_allclose(v.m, 0.25 * np.sin(np.pi * t), atol=1e-15)


@pytest.mark.parametrize("path, units, last", [
    ("oil.T", "degC", 60.0), ("oil.T", "K", 333.15), ("oil.T", "degF", 140.0),
    ("motor.w", "rpm", 240.0), ("motor.w", "rad/s", 8 * np.pi), ("motor.w", "turn/s", 4.0),
    ("signal.rate", "kHz", 0.05), ("friction.f", "N", 5.0), ("gear.ratio", "percent", 300.0)],
)  # fmt: skip
def test_offsets_angles_and_frequencies_convert(path, units, last):
    assert_allclose(result()[path].to(units).m[-1], last, rtol=1e-13)


def test_declared_unit_is_the_default():
    run = result()
    assert run["oil.T"].final == quantity(60, "degC")
    assert run["friction.f"].initial.m == 0.02
    assert_allclose(np.asarray(run["motor.w"])[-1], 240)
    assert f"{run['motor.w'].units:~}" == "rpm"


def test_a_unit_that_does_not_fit_is_refused():
    run = result()
    assert text(exceptions.WrongDimension, lambda: run["block.v"].to("N")) == (
        "block.v: is in m/s and cannot be shown in N. Name m/s or a unit convertible to it.")
    assert text(exceptions.AngleFrequencyError, lambda: run["motor.w"].to("Hz")) == (
        "motor.w: is in rpm and cannot be shown in Hz. "
        "One turn is 2π rad: show it in turn/s, rpm or rad/s.")
    assert text(exceptions.AngleFrequencyError, lambda: run["signal.rate"].to("rad/s")) == (
        "signal.rate: is in Hz and cannot be shown in rad/s. "
        "It counts periods: show it in Hz or kHz.")
    assert text(exceptions.WrongDimension, lambda: run["gear.ratio"].to("N")) == (
        "gear.ratio: is in 1 and cannot be shown in N. Name 1 or a unit convertible to it.")
    assert text(exceptions.UnknownUnit, lambda: run["block.v"].to("furlongs/blink")).startswith(
        "block.v: 'furlongs/blink' is not a unit.")


def test_at_interpolates_where_it_was_asked():
    v = result()["block.v"]
    assert_allclose(v.at("123.4 ms").m, 0.25 * np.sin(np.pi * 0.1234), rtol=1e-14)
    assert np.ndim(v.at("1 s").m) == 0
    assert_allclose(v.at(["0.5 s", "2.5 s"]).m, [0.25, 0.25])
    expected = 0.25 * np.sin(np.pi * np.array([0.5, 0.1]))
    assert_allclose(v.at(quantity([500.0, 100.0], "ms")).m, expected)
    assert_allclose(v.at(v.time[:5]).m, v.m[:5])
    assert v.at(quantity([[0.5], [2.5]], "s")).shape == (2, 1)


def test_a_jump_has_two_sides():
    f = result()["friction.f"]
    assert f.at("1.5 s").to("N").m == pytest.approx(5)
    assert f.at("1.5 s", side="left").to("N").m == pytest.approx(20)
    assert_allclose(f.to("N").m[np.flatnonzero(f.time.m == 1.5)], [20, 5])
    assert text(exceptions.UnknownName, lambda: f.at("1 s", side="rigth")) == (
        "friction.f.at: there is no 'rigth' among its sides. Did you mean 'right'?")


def test_the_time_of_an_event_is_told_in_any_unit():
    time = Instant(0.25)
    assert time.to("ms").m == 250 and str(time.to("ms").units) == "millisecond" and time + 1 == 1.25
    with pytest.raises(exceptions.WrongDimension, match="event.time"):
        time.to("m")


def test_times_outside_the_run_are_refused():
    v = result()["block.v"]
    assert "4.000000001 s is outside the run, which covers 0 s to 4 s" in text(
        exceptions.ParameterError, lambda: v.at("4.000000001 s"))
    assert text(exceptions.ParameterError, lambda: v.at("4.001 s")) == (
        "block.v.at: 4.001 s is outside the run, which covers 0 s to 4 s. "
        "Take a time in that range.")
    assert "-1 s is outside" in text(exceptions.ParameterError, lambda: v.at(["1 s", "-1 s"]))
    assert "nan" in text(exceptions.ParameterError, lambda: v.at(quantity(float("nan"), "s")))
    text(exceptions.MissingUnit, lambda: v.at(2.0))
    text(exceptions.WrongDimension, lambda: v.at("2 m"))
    assert_allclose(v.at(quantity(4 * (1 + 1e-15), "s")).m, 0, atol=1e-12)


def test_extremes_first_and_last():
    run = result()
    v = run["block.v"]
    assert (v.max().m, v.min().m) == (0.25, -0.25)
    assert v.initial.m == 0
    assert_allclose(run["masses.v"].max().m, np.arange(MASSES))
    assert_allclose(run["masses.v"].final.to("m/s").m, 1e-3 * np.arange(MASSES) * np.exp(-4))


def test_arithmetic_carries_units():
    run = result()
    v, f, t = run["block.v"], run["spring.f"], run.time
    assert (v * f).to("W").m[10] == pytest.approx(v.m[10] * f.m[10])
    assert_allclose((2 * v - v).m, v.m)
    assert_allclose((quantity(2, "kg") * v).to("N*s").m, 2 * v.m)
    assert_allclose((quantity(1, "m/s") - v).m, 1 - v.m)
    assert_allclose((v.quantity + v).m, 2 * v.m)
    assert_allclose((np.float64(2) * v).to("m/s").m, 2 * v.m)
    assert_allclose((np.arange(402) * v).m, np.arange(402) * v.m)
    assert_allclose((1 / t[1:3]).to("Hz").m, [100, 50])
    assert (-v).units == v.units
    assert np.max(abs(v)) == v.max()
    assert np.sqrt(v**2).units == v.units
    assert_allclose(np.trapezoid(v, t).to("mm").m, 0, atol=1e-12)
    assert np.sum(v > "200 mm/s") == np.sum(v.m > 0.2)
    assert (v == v).all()
    with pytest.raises(Exception, match="Cannot convert"):
        v + f


def test_an_array_has_one_row_per_instance():
    run = result()
    v = run["masses.v"]
    assert v.shape == v.m.shape == (MASSES, 402) and len(v) == MASSES and v.ndim == 2
    assert v[3].path == "masses[3].v"
    assert v[3].at("0 s").to("mm/s").m == pytest.approx(3)
    assert_allclose(v.at(["0 s", "1 s"]).m[:, 0], np.arange(MASSES))
    assert v.at("1 s").shape == (MASSES,)
    assert [i.path for i in run["masses[2:8:3].v"].infos] == ["masses[2].v", "masses[5].v"]
    assert run["masses[-1].v"].infos[0].path == f"masses[{MASSES - 1}].v"
    assert v[1, 0].m == pytest.approx(1)


def test_a_misspelt_path_is_answered_with_the_nearest():
    run = result()
    assert text(exceptions.UnknownName, lambda: run["blok.v"]) == (
        "stick_slip: there is no 'blok.v' among its variables. Did you mean 'block.v'?")
    assert text(exceptions.UnknownName, lambda: run["spring"]) == (
        "stick_slip: 'spring' is a component, not a variable. "
        "Its variables are: spring.f, spring.v, spring.R.f, spring.R.v.")
    assert text(exceptions.UnknownName, lambda: run["masses[12].v"]) == (
        "stick_slip: there is no 'masses[12].v'. The instances are masses[0].v to masses[11].v.")
    assert text(exceptions.UnknownName, lambda: run["time"]) == (
        "stick_slip: there is no variable 'time'. Time is result.time.")
    text(exceptions.UnknownName, lambda: run["masses[-40].v"])
    assert text(exceptions.UnknownName, lambda: run["block.v", "spring.f"]) == (
        "stick_slip: variables are named by their path, but was given ('block.v', 'spring.f'). "
        "Take one at a time, such as result['block.v']; table() and plot() take several.")
    assert text(exceptions.UnknownName, lambda: run.spring) == (
        "stick_slip: the parts of a run are no attributes of it, as 'spring' is of the model. "
        "Write result['spring.f'].")
    assert not hasattr(run, "no_part")


def test_a_comparison_with_another_dimension_names_both():
    assert text(exceptions.WrongDimension, lambda: result()["block.v"] > "3 N") == (
        "block.v: is in m/s and cannot be compared with 3.0 N. "
        "Name m/s or a unit convertible to it.")


def test_a_comparison_with_a_bare_number_asks_for_its_unit():
    assert text(exceptions.MissingUnit, lambda: result()["block.v"] > 3) == (
        "block.v: is in m/s and cannot be compared with 3. Write its unit: '3 m/s'.")


def test_what_was_recorded_is_not_changed_and_a_bare_time_is_none():
    run = result()
    with pytest.raises(exceptions.WrongCall, match="run it anew"):
        run["block.v"] = 3
    with pytest.raises(exceptions.WrongCall, match=r"model\.block\.mass = "):
        run.parameters["block.mass"] = "3 kg"
    with pytest.raises(exceptions.MissingUnit, match="Write '0.5 s'"):
        run["block.v"][0.5]


def test_functions_that_know_no_units_say_what_to_hand_them():
    run = result()
    said = text(exceptions.WrongCall, lambda: np.fft.rfft(run["block.v"]))
    assert said.startswith("np.fft.rfft: is not known for values with units. Hand it bare numbers")
    with pytest.raises(exceptions.WrongDimension, match=r"np\.interp: meets different units"):
        np.interp([0.5], run.time, run["block.v"])


def test_it_is_a_mapping():
    run = result()
    assert len(run) == len(list(run)) == 11 + MASSES
    assert "block.v" in run and "masses.v" in run and "blok.v" not in run and 3 not in run
    assert run.get("blok.v") is None and run.get("block.v").path == "block.v"
    assert run._ipython_key_completions_()[-1] == "masses.v"
    assert run["block.v"].time.to("ms").m[-1] == 4000
    assert run.duration.to("s").m == 4


class Lazy(dict):
    """A catalogue that may not be iterated."""

    def __iter__(self):
        raise AssertionError("iterated")

    keys = values = items = __iter__


def test_a_path_is_found_without_iterating_the_catalogue():
    run = Result(Fake(catalog=Lazy))
    assert run["block.v"].final is not None
    assert len(run["masses.v"]) == MASSES
    assert "masses.v" in run and "nothing.v" not in run
    assert repr(run) and repr(run["block.v"])


def test_values_are_read_once_and_only_when_asked():
    run = result()
    v = run["block.v"]
    assert run.recording.calls == []
    v.max(), v.min(), v.m, v.to("mm/s")
    assert len(run.recording.calls) == 1


def test_a_run_without_samples_says_so():
    run = nothing_recorded()
    assert text(exceptions.ParameterError, lambda: run["block.v"].final) == (
        "block.v: has no samples: the run ended before its first one. See result.message.")
    text(exceptions.ParameterError, lambda: run["block.v"].at("0 s"))
    assert run["block.v"].m.shape == (0,)
    assert "no consistent start" in repr(run)


def test_reprs_are_readable():
    run = result()
    lines = [" ".join(line.split()) for line in repr(run["block.v"]).splitlines()]
    assert lines == [
        "block.v [m/s]", "kind variable", "meaning velocity", "samples 402 from 0 s to 4 s",
        "initial 0 m/s", "final 0 m/s", "min -0.25 m/s", "max 0.25 m/s"]  # fmt: skip
    assert "<table" in run["block.v"]._repr_html_() and "0.25 m/s" in run["block.v"]._repr_html_()
    assert "0 … 11 mm/s" in repr(run["masses.v"])


def test_errors_survive_pickling():
    with pytest.raises(exceptions.UnknownName) as caught:
        result()["blok.v"]
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.nearest == ["block.v"]


# -- what other tools call the things of a run leads to what they are called here -------------
@pytest.fixture(scope="module")
def run():
    return wired("slider", block=Mass(mass="1 kg", v="1 m/s")).simulate("1 s")


@pytest.mark.parametrize("name, told", [
    ("to_dataframe", "result.table()"), ("y", "result['part.variable']"),
    ("save_csv", "result.to_csv('run.csv')"), ("t_events", "result.events")])
def test_of_a_result(run, name, told):
    with pytest.raises(exceptions.UnknownName, match=f"slider: a run has no '{name}'") as caught:
        getattr(run, name)
    assert told in str(caught.value)
    assert not hasattr(run, name)


@pytest.mark.parametrize("name, told", [
    ("values", ".to('…').m"), ("interp", ".at('0.5 s')"), ("argmax", ".max()"), ("last", ".final")])
def test_of_the_values_of_a_variable(run, name, told):
    with pytest.raises(exceptions.UnknownName,
                       match=rf"block\.v: values have no '{name}'") as caught:
        getattr(run["block.v"], name)
    assert told in str(caught.value)


@pytest.mark.parametrize("nearest, of", [
    ("table", "to_dataframe"), ("save", "export"), ("events", "log")])
def test_what_a_result_is_said_to_have_is_there(run, nearest, of):
    with pytest.raises(exceptions.UnknownName) as caught:
        getattr(run, of)
    assert caught.value.data["nearest"] == [nearest]
    assert hasattr(run, nearest)


def test_other_names_are_plain_attribute_errors(run):
    for of in run, run["block.v"]:
        with pytest.raises(AttributeError, match="has no attribute 'nowhere'"):
            of.nowhere  # noqa: B018
