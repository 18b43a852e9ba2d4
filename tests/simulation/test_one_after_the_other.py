"""What comes first at one instant, and what has become true again?"""

import numpy as np
import pytest
from benches import few
from benches.parts import alone

import blocks
import library.signal as si
from blocks import (
    Component,
    Discrete,
    Model,
    Option,
    Variable,
    before,
    der,
    every,
    interpolate,
    quantity,
    time,
    when,
    where,
)

S = quantity("1 s")
METHODS = ("auto", "Radau", "rodas4", "ode45")
PLACES, HEIGHTS = [-1, 0, 0.3, 1], [-1, 0.2, 0.1, 1]
BENDS = {  # as equations and as arrays
    "abs": (lambda x: blocks.abs_(x - 0.2), lambda x: np.abs(x - 0.2)),
    "maximum": (lambda x: blocks.maximum(x, -x / 2), lambda x: np.maximum(x, -x / 2)),
    "table": (lambda x: interpolate(x, quantity(PLACES, "1"), quantity(HEIGHTS, "1")),
              lambda x: np.interp(x, PLACES, HEIGHTS))}


class Steps(Component):
    """An input that jumps up three times by 3, beside a ramp; jumps by more than 1 are counted."""

    u, x = Variable("1"), Variable("1", 0, priority="high")
    jumps, ramps = Discrete("1", 0.0), Discrete("1", 0.0)

    def equations(self):
        yield der(self.x) == 5 / S
        yield self.u == where(time < S, 0, where(time < 2 * S, 3, where(time < 3 * S, 6, 9)))
        yield when(self.u - before(self.u) > 1, {self.jumps: self.jumps + 1})
        yield when(self.x - before(self.x) > 1, {self.ramps: self.ramps + 1})


class Sampled(Component):
    """Samples of a ramp that falls back by 0.9 at the same instants, or because of a sample."""

    x, y = Variable("1", 0, priority="high"), Variable("1", 0, priority="high")
    n, seen = Discrete("1", 0.0), Discrete("1", 0.0)

    def equations(self):
        yield der(self.x) == 1 / S
        yield der(self.y) == 1 / S
        yield every(S, {self.n: self.x, self.seen: self.y})
        yield when(blocks.mod(time, S) < S / 2, {self.x: self.x - 0.9})
        yield when(self.seen > 0.5, {self.y: self.y - 5})


class Floored(Component):
    """An oscillator that passes zero to both sides, of whose floor -1 is counted."""

    x, v = Variable("1", 0.0, priority="high"), Variable("1/s", "3 1/s", priority="high")
    whole, below = Variable("1"), Discrete("1", 0.0)

    def equations(self):
        yield der(self.x) == self.v
        yield der(self.v) == -self.x / S**2
        yield self.whole == blocks.floor(self.x)
        yield when(blocks.floor(self.x) < -0.5, {self.below: self.below + 1})


@pytest.mark.parametrize("method", METHODS)
def test_a_jump_counts_each_time_and_a_ramp_never_has_jumped(method):
    result = alone(Steps()).simulate("4 s", method=method)
    assert result["c.jumps"].final.m == 3.0
    assert result["c.ramps"].final.m == 0.0


@pytest.mark.parametrize("method", METHODS)
def test_a_sample_is_what_there_was_before_a_reset_at_the_same_instant(method):
    result = alone(Sampled()).simulate("2.2 s", method=method)
    assert result["c.n"].final.m == pytest.approx(1.1)  # 1, then 0.1 and a second more
    assert result["c.seen"].at("1.5 s").m == pytest.approx(1.0)
    assert result["c.y"].at("1.5 s").m == pytest.approx(-3.5)


@few(3, "method", METHODS)
@pytest.mark.parametrize("rtol", [1e-4, 1e-9])
def test_a_floor_falls_once_where_a_state_passes_zero_downwards(method, rtol):
    result = alone(Floored()).simulate("60 s", method=method, rtol=rtol)
    assert result["c.below"].final.m == 10.0  # 60 s hold 9.5 periods


def test_a_row_of_a_hundred_relays_switches_at_one_instant():
    model = blocks.Model("row")
    model.source = si.Pulse(period="1 s", start="0.5 s")
    model.relay = si.Relay(count=100, switch_on=0.6, switch_off=0.4)
    model.sum = si.Integrator()
    model.connect(model.source.y, model.relay[0].u)
    model.connect(model.relay[:-1].y, model.relay[1:].u)
    model.connect(model.relay[99].y, model.sum.u)
    result = model.simulate("3.25 s")
    assert result["sum.y"].final.to("s").m == pytest.approx(1.5, rel=1e-9)


class Bent(Component):
    """A harmonic x, what is made of it, and how long that rises less half of how long it falls."""

    x, v = Variable("1", 0.0, priority="high"), Variable("1/s", "0.9 1/s", priority="high")
    u, y, n = Variable("1"), Variable("s", "0 s", priority="high"), Discrete("1", 0.0)
    shape = Option("abs", choices=tuple(BENDS))

    def equations(self):
        yield der(self.x) == self.v
        yield der(self.v) == -self.x / S**2
        yield self.u == BENDS[self.shape][0](self.x)
        yield der(self.y) == where(der(self.u) > 0, 1, -0.5)
        yield when(der(self.u) > 0, {self.n: self.n + 1})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", BENDS)
def test_a_derivative_that_jumps_where_its_variable_bends_is_looked_at_on_both_sides(shape, method):
    t = np.linspace(0, 10, 1_000_001)
    rises = np.diff(BENDS[shape][1](0.9 * np.sin(t))) > 0
    run = alone(Bent(shape=shape)).simulate("10 s", method=method)
    assert run["c.y"].final.m == pytest.approx(np.where(rises, 1, -0.5).sum() * 1e-5, abs=1e-4)
    assert run["c.n"].final.m == np.sum(rises[1:] & ~rises[:-1])


@pytest.mark.parametrize("method", METHODS)
def test_what_turns_where_a_table_bends_is_followed_with_play(method):
    """A play of 0.3 behind a table that rises, falls and rises: it ends where its table turned."""
    x, values = [-1, 0, 0.5, 1], [-1, 0.2, 0.1, 1]
    model = Model("play")
    model.wave = si.Sine(frequency="1 Hz", amplitude=1.4)
    model.table, model.play = si.Table1D(x=x, values=values), si.Backlash(width=0.3)
    model.lag = si.TransferFunction(numerator=[1], denominator=[0.2, 1])
    model.connect(model.wave.y, model.lag.u)
    model.connect(model.lag.y, model.table.u)
    model.connect(model.table.y, model.play.u)
    run = model.simulate("3 s", method=method)
    t = np.linspace(0, 3, 300_001)
    w, tau = 2 * np.pi, 0.2  # the lag's answer to 1.4 sin(w t)
    lag = 1.4 / (1 + (w * tau)**2) * (np.sin(w * t) - w * tau * (np.cos(w * t) - np.exp(-t / tau)))
    u, y = np.interp(lag, x, values), 0.0
    for value in u:
        y = min(max(y, value - 0.15), value + 0.15)
    assert run["play.y"].final.m == pytest.approx(y, abs=1e-4)
