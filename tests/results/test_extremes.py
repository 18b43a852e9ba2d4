"""Are the largest and smallest values those of the curve, not of the samples?"""

import numpy as np
import pytest
from benches import wired
from benches.friction import torn_loose
from numpy.testing import assert_allclose

from blocks import quantity
from blocks.results.values.extremes import largest_of_runs
from library.signal import Pulse, Sine
from library.translational import HardStop, Mass, Reference, Spring


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
    run = model.simulate("0.15 s", rtol=1e-9)
    assert_allclose(run["stop.f"].max().to("N").m, 1000, rtol=1e-6)


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
