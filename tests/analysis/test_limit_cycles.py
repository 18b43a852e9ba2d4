"""Describing functions and motions that repeat, against closed forms and shooting at 30 digits."""

import csv

import numpy as np
import pytest
from benches import wire, wired
from benches.analysis import DATA, oscillator, results, stribeck
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import library.signal as sig
import library.translational as tr
from blocks import Component, Parameter, Port, Variable, cos, der, dry_friction, quantity, time
from blocks.analysis.describing import (
    Prediction,
    describing_function,
    predict_limit_cycles,
    swept_response,
)
from blocks.exceptions import ParameterError, SimulationError


class Controlled(Component):
    """A mass held at x = 0 by a PID controller."""

    M = Port(tr.translational)
    proportional, integral = Parameter("20 N/m"), Parameter("15 N/m/s")
    derivative = Parameter("6 N*s/m")
    x, v = Variable("m", "0 m", priority="high"), Variable("m/s", "0 m/s", priority="high")
    sum = Variable("m*s", "0 m*s", priority="high")

    def equations(self):
        yield self.M.v == self.v
        yield der(self.x) == self.v
        yield der(self.sum) == self.x
        yield quantity("1 kg") * der(self.v) == (self.M.f - self.proportional * self.x
                                                 - self.integral * self.sum
                                                 - self.derivative * self.v)


def controlled(coulomb, breakaway, **given):
    return wired("controlled", "axis.M friction.R", "friction.C ground.V",
                 axis=Controlled(**given), ground=tr.Reference(),
                 friction=stribeck(coulomb, breakaway, 0.1, law="coulomb"))


def test_hunting_of_a_controlled_axis():
    known = results("describing", "C3a")
    model = controlled(1, 1.5, x="20 mm")
    cycle = model.limit_cycle(model.simulate("100 s"))
    assert cycle.period.magnitude == pytest.approx(known["period"], rel=1e-8)
    assert cycle.amplitude("axis.x").magnitude == pytest.approx(known["amplitude"], rel=1e-7)
    assert cycle.is_stable
    assert cycle.multipliers[0] == pytest.approx(known["floquet"], rel=1e-3)
    (axes,) = cycle.plot("axis.x", "axis.v").axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("axis.x [m]", "axis.v [m/s]")


def test_unstable_cycle_of_a_controlled_axis():
    known = results("describing", "C3b")
    model = controlled(1, 1, x=quantity(known["amplitude_x"], "m"), integral="40 N/m/s",
                       derivative="1 N*s/m", sum=quantity(0.0034, "m*s"), v="-10 mm/s")
    cycle = model.limit_cycle(period="1.41 s")
    assert cycle.period.magnitude == pytest.approx(known["period"], rel=1e-8)
    assert cycle.amplitude("axis.x").magnitude == pytest.approx(known["amplitude_x"], rel=1e-7)
    assert not cycle.is_stable
    assert np.sort(np.abs(cycle.multipliers)) == pytest.approx(
        np.sort([m[0]**2 for m in known["multipliers"]]), rel=1e-3)


def test_stick_slip_is_found_from_far_away_with_a_period_that_is_not_its_own():
    known = results("describing", "C3e")
    model = oscillator(0.1, stribeck(20, 25, 0.1, law="coulomb"), damping=0.0)
    model.spring.x = "2 m"
    cycle = model.limit_cycle(period="3 s")
    assert cycle.period.magnitude == pytest.approx(known["period"], rel=1e-8)
    assert cycle.amplitude("spring.x").magnitude == pytest.approx(known["amplitude"], rel=1e-7)


class VanDerPol(Component):
    x, v = Variable("m", "1 m", priority="high"), Variable("m/s", "0 m/s", priority="high")

    def equations(self):
        yield der(self.x) == self.v
        yield der(self.v) == (quantity("1 1/s") * (1 - (self.x / quantity("1 m")) ** 2) * self.v
                              - quantity("1 1/s^2") * self.x)


def test_twice_a_motion_is_not_the_motion():
    """The period of van der Pol's oscillator with mu = 1 is 6.66328685932 s; where it is asked for
    about two of them, or begins at twice its size, it is the same."""
    cycle = wired("oscillator", part=VanDerPol(x="4 m")).limit_cycle(period="13 s")
    assert cycle.period.magnitude == pytest.approx(6.66328685932, rel=1e-9)


class Duffing(Component):
    x, v = Variable("m", "20 m", priority="high"), Variable("m/s", "0 m/s", priority="high")

    def equations(self):
        yield der(self.x) == self.v
        yield quantity("1 kg") * der(self.v) == (
            quantity("0.3 N") * cos(quantity("1 rad/s") * time) - quantity("0.2 N*s/m") * self.v
            - quantity("1 N/m") * self.x - quantity("1 N/m^3") * self.x**3)


def test_a_driven_motion_is_found_from_far_away():
    model, period = wired("beam", part=Duffing()), 2 * np.pi
    cycle = model.limit_cycle(period=quantity(period, "s"))
    settled = solve_ivp(lambda t, y: [y[1], 0.3 * np.cos(t) - 0.2 * y[1] - y[0] - y[0] ** 3],
                        (0, 30 * period), [1.0, 0.0], rtol=1e-9, atol=1e-12).y[:, -1]
    assert cycle.run["part.x"].initial.m == pytest.approx(settled[0], rel=1e-6)
    assert cycle.run["part.v"].initial.m == pytest.approx(settled[1], rel=1e-6)


def test_a_run_that_comes_to_rest_repeats_nothing():
    model = oscillator(x=0.1)
    with pytest.raises(ValueError, match="the run is at rest at its end: nothing repeats"):
        model.limit_cycle(model.simulate("2 s"))


def driven(source):
    """A mass on a spring and a damper, driven by a force."""
    return wired("driven", "block.M spring.R damper.R push.R", "spring.C damper.C push.C ground.V",
                 "source.y push.S",
                 block=tr.Mass(mass="1 kg"), ground=tr.Reference(),
                 spring=tr.Spring(stiffness="100 N/m"), damper=tr.Damper(damping="2 N*s/m"),
                 source=source, push=tr.ForceSource())


def test_what_is_driven_repeats_with_its_drive():
    model = driven(sig.Sine(amplitude="5 N", frequency="0.5 Hz"))
    cycle = model.limit_cycle(model.simulate("7.3 s"), period="2 s")
    w, free = np.pi, -1 + 1j * np.sqrt(99)  # of the drive, and what dies out
    assert cycle.period.to("s").m == 2
    assert cycle.amplitude("spring.x").m == pytest.approx(5 / abs(100 - w**2 + 2j * w), rel=1e-8)
    assert np.abs(np.poly(cycle.multipliers) - np.poly(np.exp([2 * free, 2 * free.conjugate()]))
                  ).max() < 1e-6
    again = model.limit_cycle(period="4 s")  # twice as long is a period, too
    assert again.amplitude("spring.x").m == pytest.approx(cycle.amplitude("spring.x").m, rel=1e-8)


@pytest.mark.parametrize("source", [
    lambda: sig.Sine(amplitude="5 N", frequency="0.5 Hz"),
    lambda: sig.Pulse(amplitude="5 N", period="2 s"),
    lambda: sig.TimeTable(times=["0 s", "1 s", "2 s"], values=["0 N", "1 N", "0 N"])])
def test_a_drive_asks_for_its_period(source):
    model = driven(source())
    with pytest.raises(ParameterError, match="source acts in time by itself.*period of the drive"):
        model.limit_cycle(model.simulate("10 s"))


def test_a_period_that_is_not_the_drives_is_refused():
    model = driven(sig.Sine(amplitude="5 N", frequency="0.5 Hz"))
    with pytest.raises(SimulationError, match="is another one after that.*which source repeats"):
        model.limit_cycle(model.simulate("10 s"), period="1.9 s")


# -- describing functions --------------------------------------------------------------------
ELEMENTS = {
    "coulomb": lambda: stribeck(20, 25, 0.1, law="coulomb"),
    "stribeck (exact law)": lambda: stribeck(20, 25, 0.1, 2),
    "simscape": lambda: tr.TranslationalFriction(
        law="simscape", coulomb_force="20 N", breakaway_force="25 N",
        breakaway_velocity="0.1 m/s", viscous_coefficient="2 N*s/m"),
    "saturation": lambda: sig.Saturation(upper=4, lower=-4),
    "dead zone": lambda: sig.DeadZone(upper=0.01, lower=-0.01),
    "backlash (play)": lambda: sig.Backlash(width=0.02),
    "relay with hysteresis": lambda: sig.Relay(switch_on=0.004, switch_off=-0.004, on_value=6,
                                               off_value=-6)}
GAINS = {"saturation": lambda a: (400 * a, 400.0), "dead zone": lambda a: (a, 400.0),
         "backlash (play)": lambda a: (a, 400.0)}


def rows(element):
    with (DATA / "describing_functions.csv").open() as file:
        return [[float(x) for x in row[1:]] for row in csv.reader(file) if row[0] == element]


@pytest.mark.parametrize("element", ELEMENTS)
def test_describing_functions(element):
    for a, re, im in rows(element)[1:6:2]:
        amplitude, scale = GAINS.get(element, lambda a: (a, 1.0))(a)
        given = amplitude if element in GAINS or "relay" in element else quantity(amplitude, "m/s")
        found = describing_function(ELEMENTS[element](), given).values[0]
        if element in GAINS:
            found = found * scale
        assert abs(found - complex(re, im)) <= 1e-9 * abs(complex(re, im))


@pytest.mark.parametrize(("a", "re", "im"), rows("spring k in series with coulomb M")[3:6])
def test_spring_in_series_with_friction_leads(a, re, im):
    class Jenkins(tr.TwoPort):
        """A spring that slips at 6 N."""

        x, r, w = Variable("m", "0 m", priority="high"), Variable("N"), Variable("m/s")

        def equations(self):
            yield der(self.x) == self.v - self.w
            yield self.f == quantity("400 N/m") * self.x
            yield self.f == self.r
            yield dry_friction(self.r, self.w, static=quantity("6 N"), kinetic=quantity("6 N"))

    found = describing_function(Jenkins(), quantity(a, "m")).values[0]
    assert abs(found - complex(re, im)) <= 1e-8 * abs(found)
    assert found.imag > 0


def test_bristles_by_amplitude_and_frequency():
    for known in results("describing", "C2")[::3]:
        lugre = tr.TranslationalFriction(law="lugre", coulomb_force="1 N", breakaway_force="1.5 N",
                                         breakaway_velocity="1 mm/s", stiffness="1e5 N/m",
                                         damping="300 N*s/m", viscous_coefficient="0.4 N*s/m")
        found = describing_function(lugre, quantity(known["velocity_amplitude"], "m/s"),
                                    frequency=quantity(known["omega"], "rad/s"))
        assert abs(found.values[0] - complex(*known["N"])) <= 1e-8 * abs(found.values[0])


@pytest.mark.parametrize("law, n", [
    (lambda: sig.Abs(), 0), (lambda: sig.Table1D(x=[-1, 0, 1], values=[1e-6, 0, 1e-6]), 0),
    (lambda: sig.Table1D(x=[-1, 0, 1], values=[-1e-6, 0, 0.5e-6]), 0.75e-6)])
def test_an_even_law_answers_nothing_and_a_small_one_a_little(law, n):
    """Of two slopes to both sides of zero the first harmonic is their mean."""
    found = describing_function(law(), [0.5]).values[0]
    assert found == pytest.approx(n, rel=1e-9, abs=1e-9 if n == 0 else 0)


def test_describing_function_has_units():
    found = describing_function(stribeck(20, 25, 0.1, 2), ["10 mm/s", "20 mm/s"])
    assert str(found.input_unit) == "m/s"
    assert str(found.unit) in ("N*s/m", "N/(m/s)")
    assert "real part [N*s/m]" in repr(found)
    upper, lower = found.plot().axes
    assert upper.get_ylabel() == "real part [N*s/m]"
    assert lower.get_xlabel() == "amplitude [m/s]"
    assert not lower.lines[0].get_ydata().any()  # friction without memory: rounding alone


class SpringBesideDamper(Component):
    """A composite of two ports."""

    R, C = Port(tr.translational), Port(tr.translational)

    def compose(self):
        self.spring, self.damper = tr.Spring(stiffness="10 N/m"), tr.Damper(damping="2 N*s/m")
        self.connect(self.R, self.spring.R, self.damper.R)
        self.connect(self.C, self.spring.C, self.damper.C)


def test_a_composite_of_two_ports_has_a_describing_function():
    found = describing_function(SpringBesideDamper(), "1 mm", frequency="3 rad/s")
    assert found.values[0] == pytest.approx(10 + 3j * 2, rel=1e-6)


# -- prediction ------------------------------------------------------------------------------
def test_predicted_limit_cycle_of_a_controlled_axis():
    known = results("describing", "C3b")
    model = controlled(1, 1, integral="40 N/m/s", derivative="1 N*s/m")
    wire(model, "push.R axis.M", "push.C ground.V", push=tr.ForceSource(force="0 N"))
    linear = model.linearise("push.force", "axis.v", modes={"friction": "slides forward"})
    element = stribeck(1, 1, 0.1, law="coulomb")
    prediction = predict_limit_cycles(linear, element, ("0.1 m/s", "10 m/s"))
    (crossing,) = prediction.crossings
    assert crossing.frequency.to("rad/s").magnitude == pytest.approx(known["df_omega"], rel=1e-8)
    assert crossing.amplitude.magnitude == pytest.approx(known["df_amplitude_v"], rel=1e-8)
    assert "only an estimate" in repr(prediction)
    _, inverse, met = prediction.plot().axes[0].lines
    assert met.get_label() == "4.472 rad/s, 1.273 m/s"
    assert met.get_xdata()[0] == pytest.approx(np.pi * crossing.amplitude.m / -4, rel=1e-8)
    assert inverse.get_ydata() == pytest.approx(0, abs=1e-8)  # -1/N = -pi A/(4 F)


def test_no_crossing_is_no_proof():
    model = controlled(1, 1.5)
    wire(model, "push.R axis.M", "push.C ground.V", push=tr.ForceSource(force="0 N"))
    linear = model.linearise("push.force", "axis.v", modes={"friction": "slides forward"})
    prediction = predict_limit_cycles(linear, stribeck(1, 1.5, 0.1, law="coulomb"),
                                      ("10 mm/s", "1 m/s"))
    assert prediction.crossings == []
    assert "does not prove that there is no limit cycle" in repr(prediction)


def test_predicted_limit_cycle_of_a_relay():
    known = results("describing", "C3d")
    model = wired("servo", "input.y plant.u",
                  input=sig.Constant(value=0.0),
                  plant=sig.TransferFunction(numerator=[2], denominator=[0.5, 1, 0]))
    linear = model.linearise("input.value", "plant.y")
    prediction = predict_limit_cycles(
        linear, sig.Relay(switch_on=0.1, switch_off=-0.1, on_value=1, off_value=-1), (0.11, 3))
    (crossing,) = prediction.crossings
    assert crossing.frequency.to("rad/s").magnitude == pytest.approx(known["df_omega"], rel=1e-8)
    assert crossing.amplitude.magnitude == pytest.approx(known["df_amplitude"], rel=1e-8)
    told = str(prediction.check(relay_loop([2], [0.5, 1, 0]), "plant.y"))
    for text in ("1.43286 s", "1.42362 s (+0.65 %)", "0.234453 (+2.78 %)", "die out"):
        assert text in told


def relay_loop(numerator, denominator):
    """A plant that a relay drives against its output."""
    return wired("closed", "plant.y relay.u", "relay.y minus.u", "minus.y plant.u",
                 relay=sig.Relay(switch_on=0.1, switch_off=-0.1, on_value=1, off_value=-1),
                 plant=sig.TransferFunction(numerator=numerator, denominator=denominator),
                 minus=sig.Gain(gain=-1.0))


def test_a_cycle_that_no_crossing_predicts_is_found_by_the_check():
    known = results("describing", "C3c")
    none = Prediction("Relay", [], None, None, None)
    model = relay_loop([2], [0.5, 1])
    told = str(none.check(model, "plant.y", "1 s"))
    assert "none" in told and f"{known['period']:.6g} s" in told
    cycle = model.limit_cycle(model.simulate("1 s"))
    assert cycle.period.magnitude == pytest.approx(known["period"], rel=1e-9)
    assert cycle.amplitude("plant.y").magnitude == pytest.approx(0.1, rel=1e-9)
    with pytest.raises(ParameterError, match="Give a duration"):
        none.check(model, "plant.y")


# -- sine sweeps -----------------------------------------------------------------------------
def test_a_sine_sweep_agrees_with_the_linear_model():
    model = oscillator(damping=2.0, friction=stribeck(0, 0, 0.1))
    model.push.force = "1 N"
    swept = swept_response(model, "push.force", "spring.x", ["0.7 Hz", "2 Hz"], "3 N")
    exact = model.linearise("push.force", "spring.x").transfer(2j * np.pi * swept.frequencies)
    np.testing.assert_allclose(swept.values, exact[:, 0, 0], rtol=1e-4)
    assert (swept.distortion < 1e-4).all() and "gain [m/N]" in repr(swept)
    with pytest.raises(ParameterError, match="spring.stiffness, which is a fixed number"):
        swept_response(model, "spring.stiffness", "spring.x", "1 Hz", "1 N/m")


def test_a_sine_sweep_of_friction_is_its_describing_function():
    """Coulomb friction answers a velocity by a square wave, 4 F / (pi A) in its first harmonic."""
    model = wired("driven", "drive.R friction.R", "drive.C friction.C ground.V",
                  drive=tr.VelocitySource(velocity="0 m/s"), ground=tr.Reference(),
                  friction=stribeck(20, 20, 0.1, law="coulomb"))
    swept = swept_response(model, "drive.velocity", "friction.f", "2 Hz", "0.5 m/s")
    assert abs(swept.values[0]) == pytest.approx(4 * 20 / np.pi / 0.5, rel=1e-3)
    assert swept.distortion[0] == pytest.approx(np.sqrt(np.pi**2 / 8 - 1), rel=1e-2)


def test_a_sine_sweep_through_samples_is_that_of_z_and_a_hold():
    model = wired("sampled", "source.y filter.u",
                  source=sig.TimeFunction(value=0.0),
                  filter=sig.DiscreteTransferFunction(numerator=[0.5], denominator=[1, -0.5],
                                                      sample_time="10 ms"))
    swept = swept_response(model, "source.value", "filter.y", ["1 Hz", "5 Hz", "20 Hz"], "1")
    s = 2j * np.pi * np.array([1, 5, 20])
    z = np.exp(0.01 * s)
    np.testing.assert_allclose(swept.values, 0.5 / (z - 0.5) * (1 - 1 / z) / (0.01 * s), rtol=1e-7)
    # a staircase of n steps has harmonics 1 / (k n - 1) and 1 / (k n + 1) beside the first
    n = np.arange(1, 100001)[:, None] * np.array([100, 20, 5])
    rest = np.sqrt((1 / (n - 1.0) ** 2 + 1 / (n + 1.0) ** 2).sum(axis=0))
    np.testing.assert_allclose(swept.distortion, rest, rtol=1e-4)
    with pytest.raises(SimulationError, match="frequencies of whose period the sample time is"):
        swept_response(model, "source.value", "filter.y", "3 Hz", "1")


def test_stick_slip_against_a_stop():
    """The elongation of the stop is that of the spring beside it, and is moved with it.

    A 1 kg block, 100 N/m, on a belt of 0.05 m/s with 10 N sliding: thrown back from the stop at
    0.12 m with half its speed, it slides until it has the speed of the belt again.
    """
    model = oscillator(0.05, stribeck(10, 14, 0.1, law="coulomb"), damping=0.0)
    wire(model, "stop.R block.M", "stop.C ground.V",
         stop=tr.HardStop(model="restitution", upper_bound="0.12 m", lower_bound="-1 m",
                          restitution=0.5))
    cycle = model.limit_cycle(model.simulate("20 s"))
    slides = brentq(lambda t: -0.2 * np.sin(10 * t) - 0.025 * np.cos(10 * t) - 0.05, 0.25, 0.5)
    sticks = 0.1 + 0.02 * np.cos(10 * slides) - 0.0025 * np.sin(10 * slides)
    assert cycle.period.magnitude == pytest.approx(slides + (0.12 - sticks) / 0.05, rel=1e-7)
    assert abs(cycle.multipliers).max() < 1e-5  # all runs meet where they stick
