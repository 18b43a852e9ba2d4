"""A run whose steps are far too short for it to end stops early, with what it has."""

import re

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from blocks import (
    Component,
    Model,
    Parameter,
    SimulationError,
    Variable,
    der,
    quantity,
    sin,
    time,
    where,
)
from blocks.exceptions import ParameterError
from blocks.system.time_functions import TimeFunctions
from library.electrical import ACVoltageSource, Capacitor, ElectricalReference, Resistor
from library.mechanisms import OneWayClutch
from library.rotational import Inertia, RotationalReference
from library.signal import Chirp, Pulse, Sine, VectorNorm
from library.translational import HardStop, Reference


@pytest.mark.parametrize("method", ["dopri5", "RK23"])
def test_an_explicit_method_on_a_circuit_of_1e_17_s_says_that_it_would_not_end(method):
    model = wired("parasitic", "source.p wire.p", "wire.n store.p", "store.n source.n ground.V",
                  source=ACVoltageSource(amplitude="5 V"), ground=ElectricalReference(),
                  wire=Resistor(resistance="1e-11 ohm"), store=Capacitor(capacitance="1 uF"))
    with pytest.raises(SimulationError, match=rf"steps of {method} were .*e-17 s long") as caught:
        model.simulate("40 ms", method=method)
    assert caught.value.code == "simulation.stiff"
    assert "Take method='auto' or 'rodas4'" in str(caught.value)
    assert 0 < caught.value.result.time[-1].to("s").m < 1e-9
    assert "store" in str(caught.value.result.bottlenecks())


@pytest.mark.parametrize("method", ["auto", "rodas4", "dopri5", "Radau"])
def test_a_stop_that_pushes_nothing_away_is_told_where_it_lets_go(method):
    """The penetration falls as exp(-t stiffness/damping), within 1 us to rounding; behind the
    bound no force is left that would tell a velocity, as a start there says at once."""
    model = wired("pressed", "stop.R ground.V",
                  stop=HardStop(x="0.2 m", upper_stiffness="1e8 N/m"), ground=Reference())
    with pytest.raises(SimulationError, match="nothing determines stop.v") as caught:
        model.simulate("0.1 s", method=method)
    error = caught.value
    assert error.code == "simulation.undetermined" and error.variables == ("stop.v",)
    result = error.result
    assert result.status == "failed" and 1e-5 < error.time < 1e-2
    t, x = result.time.to("s").m, result["stop.x"].to("m").magnitude
    early = t < 10 * 150 / 1e8
    assert early.sum() > 10
    exact = 0.1 + 0.1 * np.exp(-t[early] * 1e8 / 150)
    assert_allclose(x[early], exact, rtol=1e-5)


def test_a_frequency_that_no_run_resolves_is_told_at_once():
    model = wired("fast", wave=Sine(frequency="1e300 Hz"), pulse=Pulse())
    found = model.check().errors[0]
    assert found.code == "simulation.stiff" and "varies so fast with time" in found.problem


class Turning(Component):
    """A point that goes round."""

    x, y = Variable("m", "1 m", priority="high"), Variable("m", "0 m", priority="high")

    def equations(self):
        yield der(self.x) == quantity("-1e6 rad/s") * self.y
        yield der(self.y) == quantity("1e6 rad/s") * self.x


@pytest.mark.parametrize(("model", "duration", "why"), [
    (wired("round", point=Turning()), "0.1 s", r"point\.[xy] changes so fast"),
    (wired("wave", source=Sine(frequency="5 MHz")), "20 ms",
     "source, which depends on time, varies so fast")])
def test_many_steps_are_foretold_with_what_makes_them_so_many(monkeypatch, model, duration, why):
    monkeypatch.setattr("blocks.simulation.running_method.MANY", 1e4)
    monkeypatch.setattr("blocks.simulation.running_method.LONG", 0.0)
    with pytest.warns(UserWarning, match=why) as told:
        run = model.simulate(duration)
    assert [w.filename for w in told] == [__file__]
    (left,) = re.findall(r"Some ([\d,]+) more", str(told[0].message))
    when = float(re.findall(r"at t = (\S+) s", str(told[0].message))[0])
    share = 1 - when / run.time.to("s").m[-1]
    assert_allclose(float(left.replace(",", "")), share * run.statistics.steps, rtol=0.35)


@pytest.mark.filterwarnings("error::UserWarning")
def test_steps_that_are_left_are_at_least_one_for_each_cycle_that_is_left():
    """A sweep to 1 GHz has 5e8 cycles in a second, and begins with long steps."""
    model = wired("sweep", source=Chirp(initial_frequency="1 Hz", final_frequency="1 GHz",
                                        sweep_time="1 s"))
    with pytest.raises(UserWarning, match="source, which depends on time, varies so") as told:
        model.simulate("1 s")
    (left,) = re.findall(r"Some ([\d,]+) more", str(told.value))
    assert 5e8 <= float(left.replace(",", "")) < 5e10


class Square(Component):
    """Follows a square wave."""

    x, frequency = Variable("1", "0", priority="high"), Parameter("1 GHz")

    def equations(self):
        wave = where(sin(quantity("1 rad") * 2 * np.pi * self.frequency * time) > 0, 1, -1)
        yield der(self.x) == quantity("1e3 1/s") * (wave - self.x)


def test_a_condition_that_switches_too_often_is_told_by_a_part_of_the_run(monkeypatch):
    looked, looks = [], TimeFunctions.looks

    def counted(functions):
        for times in looks(functions):
            looked.append(len(times))
            yield times

    monkeypatch.setattr(TimeFunctions, "looks", counted)
    with pytest.raises(ParameterError, match="switches with time more than 2,000,000 times"):
        wired("square", wave=Square()).simulate("1 s")
    assert sum(looked) < 1_000_000  # of 4e10
    looked.clear()
    run = wired("square", wave=Square(frequency="1 kHz")).simulate("99.75 ms")
    assert run.statistics["events"] == 199


def test_a_circle_of_signals_at_zero_ends_where_no_part_of_a_step_can_be_followed():
    """The length of a vector of three equal signals is that signal where all are zero, and the law
    has no slope there."""
    model = Model("circle")
    model.length, model.clutch = VectorNorm(), OneWayClutch()
    model.shaft, model.ground, model.drive = Inertia(), RotationalReference(), Sine()
    for k in range(1, 4):
        model.connect(model.length.y, getattr(model.length, f"u{k}"))
    wire(model, "clutch.C shaft.I", "clutch.R ground.W", "drive.y clutch.E")
    with pytest.raises(SimulationError, match="length.y could not be solved for"):
        model.simulate("0.5 s", method="Radau")
    assert abs(model.simulate("0.5 s")["length.y"].final.m) < 1e-30
