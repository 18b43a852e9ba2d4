"""Extremes are those of the curve, and averages are taken over time, not over samples."""

from math import pi

import numpy as np
import pytest
from benches import wired
from benches.friction import torn_loose
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from blocks import UnknownName, quantity
from blocks.results.values.extremes import largest_of_runs
from library.signal import Pulse, Sine, Step
from library.thermal import RadiativeHeatTransfer, TemperatureSource, ThermalMass
from library.translational import ForceSource, HardStop, Mass, Reference, Spring


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


def test_a_pulse_has_the_mean_of_its_duty():
    model = wired("pulse", pulse=Pulse(amplitude="6 N", period="1 s", width=0.25))
    y = model.simulate("8 s")["pulse.y"]
    assert_allclose([y.mean().m, y.rms().m], [1.5, 3.0], rtol=1e-12)


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


@pytest.mark.parametrize("method", ["DOP853", "Radau", "ode45"])
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


def test_a_jump_has_no_summit_beyond_its_sides():
    model = wired("pulse", pulse=Pulse(amplitude="6 N", period="1 s", width=0.25))
    y = model.simulate("8 s")["pulse.y"]
    assert (y.max().m, y.min().m) == (6, 0)


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
