"""Levels that a sawtooth of time passes, however short before or after it jumps.

A pulse width modulation as it is written by hand: mod(t, T)/T < duty. Instants by hand.
"""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import (
    Component,
    Input,
    Option,
    Parameter,
    Variable,
    abs_,
    breakpoints,
    der,
    exp,
    floor,
    mod,
    quantity,
    sin,
    time,
    where,
)
from library.signal import TimeFunction

PERIOD, PERIODS = 20e-6, 50
END = PERIOD * PERIODS
METHODS = ["auto", "dopri5", "rodas4"]
RATE = 2.5  # of the duty in 1/s: pulses are longer by 1 ns each
DUTIES = {"late": (1.0, -RATE), "soon": (0.0, RATE), "between": (0.3, RATE)}


def sawtooth(t):
    return mod(t, quantity(PERIOD, "s")) / quantity(PERIOD, "s")


class Modulator(Component):
    """Counts how long a sawtooth is below the duty, which is a state or a function of time."""

    of = Option("state", ("state", "time", "switched time"))
    duty = Option("late", tuple(DUTIES))
    on = Variable("s", "0 s", priority="high")
    moved = Variable("1", 0.0, priority="high")

    def equations(self):
        first, rate = DUTIES[self.duty]
        rate = quantity(rate, "1/s")
        yield der(self.moved) == rate
        ramp = abs_(time) * rate
        duty = first + {"state": self.moved, "time": ramp,
                        "switched time": where(time > quantity("1 ns"), ramp, 0.0)}[self.of]
        yield der(self.on) == where(sawtooth(time) < duty, 1.0, 0.0)


def on_by_hand(duty):
    """Instants at which the level is passed, and for how long the sawtooth is below."""
    first, rate = DUTIES[duty]
    k = np.arange(PERIODS)
    at = (k + first) / (1 / PERIOD - rate)  # (t - k T)/T = first + rate t
    inside = (at > k * PERIOD) & (at < (k + 1) * PERIOD)
    return at[inside], np.sum(np.clip(at - k * PERIOD, 0.0, PERIOD))


@pytest.mark.parametrize(("duty", "method"), [
    *(("late", method) for method in METHODS), ("soon", "auto"), ("between", "rodas4")])
def test_a_duty_that_is_a_state_meets_every_tooth(duty, method):
    model = wired("modulator", one=Modulator(duty=duty))
    run = model.simulate(quantity(END, "s"), method=method)
    instants, on = on_by_hand(duty)
    assert_allclose([e.time for e in run.events if "falls" in e.description], instants,
                    rtol=0, atol=1e-12)  # fmt: skip
    assert_allclose(run["one.on"].final.to("s").m, on, rtol=1e-9)


@pytest.mark.parametrize(("duty", "of"), [
    ("late", "time"), ("soon", "switched time"), ("between", "time"), ("late", "switched time")])
def test_a_duty_that_follows_time_meets_every_tooth(duty, of):
    model = wired("modulator", one=Modulator(duty=duty, of=of))
    run = model.simulate(quantity(END, "s"), method="dopri5")
    instants, on = on_by_hand(duty)
    assert_allclose([e.time for e in run.events if "falls" in e.description], instants,
                    rtol=0, atol=1e-12)  # fmt: skip
    assert_allclose(run["one.on"].final.to("s").m, on, rtol=1e-9)


class Duty(Component):
    value = Variable("1", 1.0, priority="high")
    y = Input("1")
    below = Variable("s", "0 s", priority="high")

    def equations(self):
        yield der(self.value) == quantity(-RATE, "1/s")
        yield der(self.below) == where(self.y < self.value, 1.0, 0.0)


def test_a_sawtooth_may_come_from_another_component():
    model = wired("blocks", "saw.y duty.y", duty=Duty(), saw=TimeFunction(value=sawtooth))
    run = model.simulate(quantity(END, "s"))
    assert_allclose(run["duty.below"].final.to("s").m, on_by_hand("late")[1], rtol=1e-9)


class Sum(Component):
    """The integral of a staircase and of the square of a sawtooth, both of time."""

    period = Parameter("20 us")
    area = Variable("s", "0 s", priority="high", nominal="1 us")
    steps = Variable("s", "0 s", priority="high", nominal="1 us")
    wave = Variable("s", "0 s", priority="high", nominal="1 us")
    tilted = Variable("1")

    def equations(self):
        yield self.tilted == mod(-time, self.period) / self.period
        yield der(self.area) == self.tilted**2
        yield der(self.steps) == floor(time / self.period)
        yield der(self.wave) == floor(3 * sin(time * quantity(1 / END, "1/s")))  # curved in time


@pytest.mark.parametrize(("start", "method"), [
    (0.0, "auto"), (0.0, "RK23"), (3.3 * PERIOD, "dopri5"), (3.3 * PERIOD, "rodas4")])
def test_a_sawtooth_in_an_equation_is_stepped_onto_its_jumps(method, start):
    model = wired("sum", one=Sum())
    run = model.simulate(quantity(END - start, "s"), method=method, start_time=quantity(start, "s"),
                         rtol=1e-8)
    t = np.append(start, PERIOD * np.arange(np.ceil(start / PERIOD), PERIODS + 1))
    left = -t / PERIOD - np.floor(-t / PERIOD)  # of the tooth, as a share
    left[1:] = 1.0  # a new one begins behind every jump
    after = left[:-1] - np.diff(t) / PERIOD
    assert_allclose(run["one.area"].final.to("s").m,
                    PERIOD * np.sum(left[:-1] ** 3 - after**3) / 3, rtol=2e-6)
    whole = np.floor(np.round(t / PERIOD, 6))
    assert_allclose(run["one.steps"].final.to("s").m, np.sum(whole[:-1] * np.diff(t)), rtol=2e-6)
    jumps = END * np.arcsin([1 / 3, 2 / 3])
    assert_allclose(run["one.wave"].final.to("s").m, np.sum(END - np.maximum(jumps, start)),
                    rtol=2e-6)  # fmt: skip
    times = np.unique(np.round([e.time for e in run.events], 13))
    assert_allclose(times, np.sort(np.append(t[1:-1], jumps[jumps > start])), rtol=0, atol=1e-12)


def test_at_a_jump_the_new_tooth_has_begun():
    model = wired("saw", saw=TimeFunction(value=sawtooth))
    run = model.simulate(quantity(END, "s"))
    at = PERIOD * np.arange(1, PERIODS)
    assert_allclose(run["saw.y"].at(quantity(at, "s")).m, 0, atol=1e-9)
    assert_allclose(run["saw.y"].at(quantity(at - PERIOD / 4, "s")).m, 0.75, rtol=1e-9)


class Count(Component):
    y = Input("1")
    on = Variable("s", "0 s", priority="high")

    def equations(self):
        yield der(self.on) == where(self.y > 0.5, 1.0, 0.0)


def test_a_burst_within_a_tooth_is_not_passed_while_all_rests():
    width = 1e-4  # s, of a bell curve in the middle of every second

    def bell(t):
        return exp(-(((mod(t, quantity("1 s")) - quantity("0.5 s")) / quantity(width, "s")) ** 2))

    model = wired("bursts", "bell.y count.y", count=Count(), bell=TimeFunction(value=bell))
    run = model.simulate("20 s")
    assert_allclose(run["count.on"].final.to("s").m, 20 * 2 * width * np.sqrt(np.log(2)), rtol=1e-9)


class Carrier(Component):
    """Counts the first half of every period, whose instants are announced."""

    frequency = Parameter("50 kHz")
    on = Variable("s", "0 s", priority="high")

    def equations(self):
        phase = time * self.frequency
        yield breakpoints(0 / self.frequency, 0.5 / self.frequency)
        yield der(self.on) == where(phase - floor(phase) < 0.5, 1.0, 0.0)


@pytest.mark.parametrize(("kilohertz", "periods", "method"), [
    (30, 21_000, "auto"), (30, 21_000, "rodas4"), (30, 21_000, "DOP853"), (50, 35_000, "dopri5"),
    pytest.param(70, 91_000, "auto", marks=pytest.mark.slow)])
def test_instants_at_which_long_runs_are_parted_are_not_passed_over(kilohertz, periods, method):
    """Such a run is divided part by part, and its parts end at instants but for rounding."""
    model = wired("carrier", carrier=Carrier(frequency=quantity(kilohertz, "kHz")))
    seconds = periods / (1e3 * kilohertz)
    result = model.simulate(quantity(seconds, "s"), method=method)
    assert result.statistics["events"] == 2 * periods - 1
    assert_allclose(result["carrier.on"].final.m_as("s"), seconds / 2, rtol=1e-12)


class Ramp(Component):
    """Counts for how long a level has been passed."""

    level = Parameter("1 ms")
    moved = Variable("s", "0 s", priority="high")
    beyond = Variable("s", "0 s", priority="high")

    def equations(self):
        yield der(self.moved) == 1.0
        yield der(self.beyond) == where(self.moved > self.level, 1.0, 0.0)


@pytest.mark.parametrize("method", ["auto", "rodas4"])
@pytest.mark.parametrize("levels", [0, 1, 2, 5])
def test_no_instant_is_passed_over_where_no_more_events_can_be_kept(levels, method, monkeypatch):
    """Of large models few are handed over at a time, and what is crossed meanwhile counts too."""
    monkeypatch.setattr("blocks.native.own_events.MOST_EVENTS", 7)
    model = wired("carrier", carrier=Carrier())
    for k in range(levels):
        model.add(f"ramp{k}", Ramp(level=quantity(0.0101 + 0.0203 * k, "ms")))
    result = model.simulate("0.4 ms", method=method)
    assert result.statistics["events"] == 40 - 1 + levels
    assert_allclose(result["carrier.on"].final.m_as("ms"), 0.2, rtol=1e-12)
    for k in range(levels):
        assert_allclose(result[f"ramp{k}.beyond"].final.m_as("ms"), 0.3899 - 0.0203 * k)
