"""Models without states: algebraic unknowns in machine code, steps by their error."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from blocks import (
    Component,
    Discrete,
    Input,
    Output,
    Parameter,
    Variable,
    der,
    quantity,
    sin,
    tanh,
    when,
)
from blocks import time as now
from library.electrical import ACVoltageSource, Diode, ElectricalReference, Resistor, TwoPort


def rectifier(frequency="1 kHz"):
    """A source of 10 V, an exponential diode and 10 ohm."""
    return wired("rectifier", "source.p diode.p", "diode.n load.p", "load.n source.n earth.V",
                 source=ACVoltageSource(amplitude="10 V", frequency=frequency),
                 diode=Diode(model="exponential"), load=Resistor(resistance="10 ohm"),
                 earth=ElectricalReference())


def voltage(u):
    """That of the load: u = v + 10 ohm i(v), with the diode's default values."""
    def left(v):
        return v + 10 * (1e-6 * np.expm1(v / 0.04) + v / 1e8) - u

    return u - brentq(left, -10.1, 0.6, xtol=1e-15)


@pytest.mark.parametrize("method", ["auto", "dopri5", "rodas4"])
def test_an_exponential_rectifier_is_the_closed_form(method):
    run = rectifier().simulate("20 ms", method=method)
    t = run.time.m[::7]
    expected = [voltage(u) for u in 10 * np.sin(2e3 * np.pi * t)]
    assert_allclose(run["load.v"].m[::7], expected, atol=1e-9)
    assert np.abs(np.diff(run["load.v"].m)).max() < 1.5  # points enough for a picture
    assert_allclose(run["load.v"].max().m, voltage(10.0), rtol=1e-9)


@pytest.mark.parametrize("method", ["euler", "backward_euler", "trapezoidal", "moreau_jean"])
def test_fixed_steps_are_as_long_as_was_said_whatever_waves_a_source_has(method):
    model = wired("wave", "source.p load.p", "load.n source.n earth.V", earth=ElectricalReference(),
                  source=ACVoltageSource(amplitude="10 V", frequency="1.003 GHz"),
                  load=Resistor(resistance="10 ohm"))
    run = model.simulate("20 ms", method=method, step="1 ms")
    assert run.statistics.steps == 20
    t = 1e-3 * np.arange(21)
    expected = np.sin(2e9 * np.pi * 1.003 * t)
    assert_allclose(run["load.i"].at(quantity(t, "s")).m, expected, atol=1e-6)


class Squarer(Component):
    """y + y^3 = x, and an event whenever y rises beyond a level."""

    level = Parameter(0.5)
    seen = Output()
    x, y, rises = Variable(), Variable(), Discrete()

    def equations(self):
        yield self.seen == self.y
        yield self.x == sin(2 * np.pi * quantity("50 Hz") * now)
        yield self.y + self.y**3 == self.x
        yield when(self.y > self.level, {self.rises: self.rises + 1})


class Follower(Component):
    """der(y) = u, so that something is integrated."""

    u = Input()
    y = Variable()

    def equations(self):
        yield der(self.y) * quantity("1 s") == self.u


def test_waves_are_shown_and_events_met_where_nothing_is_integrated():
    model = wired("curve", part=Squarer())
    run = model.simulate("1 s")
    crossings = np.arcsin(0.625) / (100 * np.pi) + 0.02 * np.arange(50)
    assert_allclose([e.time for e in run.events], crossings, atol=1e-9)
    y = run["part.y"].m
    assert_allclose(y + y**3, np.sin(100 * np.pi * run.time.m), atol=1e-9)
    assert np.abs(np.diff(y)).max() < 0.2


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "RK23"])
def test_an_event_of_an_unknown_acts_once(method):
    """Its last bit is another one whenever the loop is solved for anew."""
    model = wired("curve", "part.seen state.u", part=Squarer(), state=Follower())
    for level in np.linspace(-0.6, 0.6, 5 if method == "RK23" else 31):
        model.part.level = level
        assert model.simulate("0.2 s", method=method)["part.rises"].final.m == 10, level


def test_a_sine_without_unknowns_is_shown_by_many_points_a_period():
    model = rectifier()
    model.diode.model = "piecewise linear"
    run = model.simulate("2 s")
    assert len(run.time) > 2000 * 18
    assert_allclose(run["load.v"].max().m, 10 * (10 - 0.6) / 10.3, rtol=1e-6)


RUNGS = 40


def ladder(rungs=RUNGS, kind=Diode, **options):
    """1 kilohm in parts, with a diode or the like to ground behind each."""
    return wired("ladder", "source.p along[0].p", "along[:-1].n along[1:].p", "along.n diode.p",
                 "diode.n source.n earth.V",
                 source=ACVoltageSource(amplitude="5 V", frequency="1 kHz"),
                 along=Resistor(count=rungs, resistance=quantity(1000 / rungs, "ohm")),
                 diode=kind(count=rungs, **options), earth=ElectricalReference())


def current_of_diode(v):
    x = v / 0.04
    return 1e-6 * (np.exp(min(x, 15)) * (1 + x - min(x, 15)) - 1) + v / 1e8


def source_of_ladder(last, rungs=RUNGS, current=current_of_diode):
    """The source's voltage, from the voltage behind the last part on."""
    v, i = last, 0.0
    for _ in range(rungs):
        i += current(v)
        v += 1000 / rungs * i
    return v


class Steps(TwoPort):
    """A current in many steps of the voltage, each smooth: a law of some hundred operations."""

    def equations(self):
        x = self.v / quantity("1 V")
        yield self.i == quantity("0.1 mA") * sum(tanh(k * x) / k for k in range(1, MANY))


MANY = 60


def current_in_steps(v):
    k = np.arange(1, MANY)
    return 1e-4 * (np.tanh(k * v) / k).sum()


@pytest.mark.parametrize("rungs", [3, 12])
def test_long_laws_without_states_are_solved_in_machine_code_however_many(rungs):
    run = ladder(rungs, Steps).simulate("0.5 ms")
    assert run.statistics["method"] == "dopri5" and "Python" not in run.statistics["why"]
    t, last = run.time.m[::40], run[f"diode[{rungs - 1}].v"].m[::40]
    expected = [brentq(lambda v, u=u: source_of_ladder(v, rungs, current_in_steps) - u, -5, 5,
                       xtol=1e-15) for u in 5 * np.sin(2e3 * np.pi * t)]
    assert_allclose(last, expected, atol=1e-9)


def test_what_keeps_a_model_without_states_in_python_is_said(monkeypatch):
    monkeypatch.setattr("blocks.native.forms.MOST_UNKNOWNS", 2)
    monkeypatch.setattr("blocks.native.forms.MOST_OF_ZEROS", 2)
    run = ladder(8, Steps).simulate("0.1 ms")
    assert "in Python, as more than 2 algebraic unknowns" in run.statistics["why"]


def test_a_ladder_of_diodes_without_states_is_solved_in_machine_code():
    run = ladder(model="exponential").simulate("2 ms")
    assert run.statistics["method"] == "dopri5"  # of machine code: nothing is integrated
    t, last = run.time.m[::20], run[f"diode[{RUNGS - 1}].v"].m[::20]
    expected = [brentq(lambda v, u=u: source_of_ladder(v) - u, -5.1, 0.5, xtol=1e-16)
                for u in 5 * np.sin(2e3 * np.pi * t)]
    assert_allclose(last, expected, atol=1e-9)
