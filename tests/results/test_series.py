"""A path gives what was recorded, with units; extremes and averages are those of the curve."""

import pickle
from math import pi

import numpy as np
import pytest
from benches import few, wired
from benches.friction import torn_loose
from benches.recorded import MASSES, nothing_recorded, result
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from blocks import UnknownName, exceptions, quantity
from blocks.results.recording import Instant
from blocks.results.values.extremes import largest_of_runs
from library.signal import Pulse, Sine, Step
from library.thermal import RadiativeHeatTransfer, TemperatureSource, ThermalMass
from library.translational import ForceSource, HardStop, Mass, Reference, Spring


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
        "stick_slip: there is no variable 'time'. Time is result.time; a run ends after "
        "its duration.")
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


def test_other_names_are_told_with_the_nearest_ones(run):
    for of, misspelt, meant in (run, "statuss", "status"), (run["block.v"], "finall", "final"):
        with pytest.raises(AttributeError, match=f"no '{misspelt}'.*'{meant}'"):
            getattr(of, misspelt)
        assert not hasattr(of, "__nowhere__")


# -- extremes and averages --------------------------------------------------------------------
# -- averages ---------------------------------------------------------------------------------
@pytest.fixture
def pushed():
    """Three masses pushed with 4 N from 3 s on, until 5 s."""
    return wired("pushed", "push.y source.S", "source.R masses.M", "source.C ground.V",
                 push=Step(final="4 N", start="3 s"), source=ForceSource(count=3),
                 ground=Reference(), masses=Mass(count=3, mass=["1 kg", "2 kg", "4 kg"]))


@pytest.mark.parametrize("options", [{}, {"every": "0.25 s"}, {"every": "2 s"}, {"times": ["1 s"]},
                                     {"method": "BDF", "rtol": 1e-9}])
def test_a_speed_that_grows_late_counts_for_as_long_as_it_lasts(pushed, options):
    run = pushed.simulate("5 s", **options)
    # v = (4 N/m) (t - 3 s): mean (4/m) 2²/2 / 5, mean square (4/m)² 2³/3 / 5
    for k, mass in enumerate((1, 2, 4)):
        v = run[f"masses[{k}].v"]
        assert_allclose(v.mean().to("m/s").m, 4 / mass * 2 / 5, rtol=1e-6)
        assert_allclose(v.rms().to("m/s").m, 4 / mass * (8 / 15) ** 0.5, rtol=1e-6)
    assert_allclose(run["masses.v"].mean().m, [1.6, 0.8, 0.4], rtol=1e-6)


def test_an_integral_is_over_the_time_of_the_run_in_its_unit_times_seconds(pushed):
    run = pushed.simulate("5 s", every="2 s")
    assert_allclose(run["push.y"].integral().to("N*s").m, 8, rtol=1e-12)
    way = run["masses.v"].integral()  # (4/m) 2²/2
    assert_allclose(way.to("mm").m, [8000, 4000, 2000], rtol=1e-6)
    assert str(way.units) == "meter"
    model = wired("warm", "source.A mass.M",
                  source=TemperatureSource(temperature="20 degC"), mass=ThermalMass())
    assert_allclose(model.simulate("2 s")["mass.T"].integral().to("K*s").m, 2 * 293.15, rtol=1e-9)


def test_a_sine_has_the_mean_of_its_offset_and_the_known_effective_value():
    model = wired("sine", wave=Sine(amplitude="3 mV", bias="1 mV", frequency="2 Hz"))
    y = model.simulate("10 s")["wave.y"]
    assert str(y.mean().units) == "millivolt"
    assert_allclose(y.mean().m, 1, rtol=1e-6)
    assert_allclose(y.rms().m, (1 + 9 / 2) ** 0.5, rtol=1e-6)


def test_a_pulse_has_the_mean_of_its_duty_and_no_summit_beyond_its_sides():
    model = wired("pulse", pulse=Pulse(amplitude="6 N", period="1 s", width=0.25))
    y = model.simulate("8 s")["pulse.y"]
    assert_allclose([y.mean().m, y.rms().m], [1.5, 3.0], rtol=1e-12)
    assert (y.max().m, y.min().m) == (6, 0)


def test_the_mean_power_of_a_shaken_mass_is_that_of_its_gain_in_energy():
    model = wired("shaken", "wave.y push.S", "push.R block.M", "push.C ground.V",
                  wave=Sine(amplitude="2 N", frequency="0.5 Hz"), push=ForceSource(),
                  block=Mass(mass="3 kg"), ground=Reference())
    run = model.simulate("1.5 s", rtol=1e-9)
    v = 2 / 3 / pi * (1 - 0)  # at 1.5 s, cos(1.5 pi) = 0
    assert_allclose(run["push.power_supplied"].mean().to("W").m, 3 * v**2 / 2 / 1.5, rtol=1e-6)


def test_an_average_over_implicit_steps():
    model = wired("cooling", "body.M air.A", "air.B sky.A",
                  body=ThermalMass(T="400 K"), sky=TemperatureSource(temperature="300 K"),
                  air=RadiativeHeatTransfer(area="10 m^2"))
    run = model.simulate("4000 s", method="rodas4", rtol=1e-11)

    def slope(_, y):
        return [-4e-8 * 10 / 447 * (y[0] ** 4 - 300**4), y[0]]

    by_hand = solve_ivp(slope, (0, 4000), [400, 0], rtol=1e-11, atol=1e-8, method="DOP853")
    assert_allclose(run["body.T"].mean().m, by_hand.y[1, -1] / 4000, rtol=1e-6)


def test_the_deviation_over_time_is_named():
    """Of a sine, the amplitude over the root of two."""
    model = wired("wave", wave=Sine(amplitude="3", frequency="1 Hz"))
    v = model.simulate("1 s", rtol=1e-9)["wave.y"]
    with pytest.raises(UnknownName, match=r"\(v - v\.mean\(\)\)\.rms\(\)"):
        v.std()
    assert_allclose((v - v.mean()).rms().m, 3 / 2**0.5, rtol=1e-6)


# -- extremes ---------------------------------------------------------------------------------
def test_a_summit_between_known_instants_that_have_two_samples_each_is_found():
    times = np.repeat(np.arange(5.0), 2)  # a parabola that is highest at 2.3, and a jump elsewhere
    def curve(t):
        return np.where(t < 4, 3 - (t - 2.3) ** 2, 0.0)
    samples = curve(times)[None]
    samples[0, 8:] = [3 - 1.7**2, 0.0]
    found, at = largest_of_runs(samples, times, np.zeros(1, dtype=int), lambda v, r, at: curve(at))
    assert_allclose(found, [[3.0]], rtol=1e-12)
    assert_allclose(at, [[2.3]], rtol=1e-12)


def oscillators(count):
    """1 kg on 100 N/m, 1 m/s and multiples: 10 rad/s."""
    return wired("oscillators", "blocks.M springs.R", "springs.C ground.V",
                 blocks=Mass(count=count, v=quantity(1.0 + np.arange(count), "m/s")),
                 springs=Spring(count=count, stiffness="100 N/m"), ground=Reference())


@few(2, "method", ["DOP853", "Radau", "ode45"])
def test_a_spring_is_stretched_by_the_whole_amplitude(method):
    run = oscillators(3).simulate("10 s", method=method, rtol=1e-9)
    amplitude = 0.1 * np.array([1, 2, 3])
    assert_allclose(run["springs.x"].max().to("m").m, amplitude, rtol=1e-6)
    assert_allclose(run["springs.x"].min().to("m").m, -amplitude, rtol=1e-6)
    assert_allclose(run["springs[1].x"].max().to("cm").m, 20, rtol=1e-6)


def test_coarse_samples_show_the_same_extremes():
    model = wired("sine", wave=Sine(amplitude="3 mV", bias="1 mV", frequency="1 Hz"))
    y = model.simulate("2 s", every="0.11 s")["wave.y"]
    assert y.m.max() < 3.99
    assert_allclose([y.max().m, y.min().m], [4, -2], rtol=1e-9)


def test_a_run_that_ends_on_the_slope_has_its_extremes_at_its_ends():
    run = oscillators(1).simulate("0.1 s", rtol=1e-9)
    assert_allclose(run["springs[0].x"].max().m, 0.1 * np.sin(1), rtol=1e-7)
    assert run["springs[0].x"].min().m == 0
    assert run["blocks[0].v"].max().m == 1


def test_the_force_of_an_impact_on_a_stop_is_that_of_its_energy():
    """A mass of 1 kg and 1 m/s on a bound of 1e6 N/m: sqrt(k m) v = 1000 N."""
    model = wired("stop", "block.M stop.R", "stop.C ground.V",
                  block=Mass(v="1 m/s"), ground=Reference(),
                  stop=HardStop(model="full", upper_damping="0 N*s/m", upper_bound="0.1 m"))
    assert_allclose(model.simulate("0.15 s", rtol=1e-9)["stop.f"].max().to("N").m, 1000, rtol=1e-6)


@pytest.mark.parametrize("options", [{}, {"every": "2 s"}, {"times": ["2 s", "3 s"]},
                                     {"record": "rub.f", "every": "2 s"}])
def test_a_peak_before_an_event_is_found_whatever_samples_were_asked_for(options):
    run = torn_loose().simulate("6 s", **options)
    assert_allclose([run["rub.f"].max().m, run["rub.f"].min().m], [1.25, -1.25], rtol=1e-6)
    assert_allclose(run["rub.f"]["0 s":"2 s"].max().m, 1.25, rtol=1e-6)
    assert_allclose((2 * run["rub.f"]).max().m, 2.5, rtol=1e-6)
    assert run.duration.m == 6 and "0 s to 6 s" in str(run.summary())
    assert_allclose(run["rub.f"].at("0.5 s").m, 1.3 * np.sin(0.5), rtol=1e-6)


def test_a_difference_of_two_runs_has_the_peaks_of_both():
    """What breaks away at 1.2929 s in both, read at samples of 2 s."""
    fine, coarse = torn_loose().simulate("6 s"), torn_loose().simulate("6 s", every="2 s")
    assert abs((coarse["rub.f"] - fine["rub.f"]).max().m) < 1e-6
    assert_allclose((coarse["rub.f"] + fine["rub.f"]).max().m, 2.5, rtol=1e-6)


def test_words_tell_what_happens_between_samples():
    run = torn_loose().simulate("6 s", every="6 s")
    assert "1.25 N" in run.explain("rub.f")
    assert "slides forward" in run.explain("rub.mode")


@pytest.mark.parametrize("method", ["DOP853", "rodas4"])
def test_an_explanation_tells_the_extremes_of_the_curve_and_when(method):
    """v = cos(10 t), slowest at pi/10 s, between steps of about a fifth of a period."""
    run = oscillators(1).simulate("0.5 s", method=method, rtol=1e-8)
    assert "lies between -1 m/s (at 0.31416 s) and 1 m/s (at 0 s)" in run.explain("blocks[0].v")
    several = oscillators(3).simulate("0.5 s", method=method, rtol=1e-8).explain("blocks.v")
    assert "-3 m/s (at 0.31416 s in blocks[2].v) and 3 m/s (at 0 s in blocks[2].v)" in several


@pytest.mark.parametrize("level", [0.1, 0.33, 0.5, 0.77, 0.9])
def test_a_mean_is_that_of_a_curve_with_corners_between_the_steps(level):
    run = wired("swing", "mass.M spring.R", "spring.C wall.V", wall=Reference(),
                mass=Mass(v="1 m/s"), spring=Spring(stiffness="1 N/m")).simulate(
                    quantity(2 * pi, "s"), rtol=1e-10)
    corner = np.arcsin(level)  # of |sin t - level| over a period
    mean = 2 * (np.cos(corner) + level * corner) / pi
    assert_allclose(abs(run["spring.x"] - quantity(level, "m")).mean().m, mean, rtol=3e-8)
