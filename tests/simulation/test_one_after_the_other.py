"""What comes first at one instant, and what has become true again?"""

import pytest
from benches.parts import alone

import blocks
import library.signal as si
from blocks import Component, Discrete, Variable, before, der, every, quantity, time, when, where

S = quantity("1 s")
METHODS = ("auto", "rodas4", "ode45", "Radau")


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


@pytest.mark.parametrize("method", METHODS)
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
