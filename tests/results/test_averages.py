"""Are averages taken over time, not over samples?"""

from math import pi

import pytest
from benches import wired
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from blocks import UnknownName
from blocks.simulation.recording import RunRecording
from library.signal import Pulse, Sine, Step
from library.thermal import RadiativeHeatTransfer, TemperatureSource, ThermalMass
from library.translational import ForceSource, Mass, Reference


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
    kept = model.simulate("2 s")["mass.T"]
    assert_allclose(kept.integral().to("K*s").m, 2 * 293.15, rtol=1e-9)


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


def test_an_average_looks_into_every_step_a_few_times_only(monkeypatch):
    """A look inside an implicit step is a step of its own; the mean is known without many."""
    model = wired("cooling", "body.M air.A", "air.B sky.A",
                  body=ThermalMass(T="400 K"), sky=TemperatureSource(temperature="300 K"),
                  air=RadiativeHeatTransfer(area="10 m^2"))
    run = model.simulate("4000 s", method="rodas4", rtol=1e-11)
    looks, values = [], RunRecording.values

    def noted(self, indices, times=None, side="right"):
        looks.append(0 if times is None else len(times))
        return values(self, indices, times, side)

    monkeypatch.setattr(RunRecording, "values", noted)
    mean = run["body.T"].mean().m
    steps = run.statistics["steps"]
    assert steps > 400
    assert sum(looks) <= 6 * (steps + 400)  # the longest ones have several parts

    def slope(_, y):
        return [-4e-8 * 10 / 447 * (y[0] ** 4 - 300**4), y[0]]

    by_hand = solve_ivp(slope, (0, 4000), [400, 0], rtol=1e-11, atol=1e-8, method="DOP853")
    assert_allclose(mean, by_hand.y[1, -1] / 4000, rtol=1e-6)


def test_the_deviation_over_time_is_named():
    """Of a sine, the amplitude over the root of two."""
    model = wired("wave", wave=Sine(amplitude="3", frequency="1 Hz"))
    v = model.simulate("1 s", rtol=1e-9)["wave.y"]
    with pytest.raises(UnknownName, match=r"\(v - v\.mean\(\)\)\.rms\(\)"):
        v.std()
    assert_allclose((v - v.mean()).rms().m, 3 / 2**0.5, rtol=1e-6)
