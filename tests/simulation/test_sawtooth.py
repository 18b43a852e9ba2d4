"""Levels that a sawtooth of time passes, however short before or after it jumps.

A pulse width modulation as it is written by hand: mod(t, T)/T < duty. Instants by hand.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks import Component, Input, Model, Option, Variable, abs_, der, mod, quantity, time, where
from library.signal import TimeFunction

PERIOD, PERIODS = 20e-6, 50
END = PERIOD * PERIODS
METHODS = ["auto", "dopri5", "rodas4", "cvode"]
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


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("duty", list(DUTIES))
def test_a_duty_that_is_a_state_meets_every_tooth(duty, method):
    model = Model("modulator")
    model.one = Modulator(duty=duty)
    run = model.simulate(quantity(END, "s"), method=method)
    instants, on = on_by_hand(duty)
    assert_allclose([e.time for e in run.events if "falls" in e.description], instants,
                    rtol=0, atol=1e-12)  # fmt: skip
    assert_allclose(run["one.on"].final.to("s").m, on, rtol=1e-9)


@pytest.mark.parametrize("of", ["time", "switched time"])
@pytest.mark.parametrize("duty", list(DUTIES))
def test_a_duty_that_follows_time_meets_every_tooth(duty, of):
    model = Model("modulator")
    model.one = Modulator(duty=duty, of=of)
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
    model = Model("blocks")
    model.duty, model.saw = Duty(), TimeFunction(value=sawtooth)
    model.connect(model.saw.y, model.duty.y)
    run = model.simulate(quantity(END, "s"))
    assert_allclose(run["duty.below"].final.to("s").m, on_by_hand("late")[1], rtol=1e-9)
