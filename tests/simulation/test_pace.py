"""What a user is told of a run's pace: its progress, who makes it slow, that it would not end."""

import io
import math
import re
import sys

import numpy as np
import pytest
from benches import wire, wired
from benches.exported_models import stick_slip
from numpy.testing import assert_allclose

import blocks
import library.translational as tr
from blocks import Component, Parameter, ParameterError, SimulationError, Variable, der, quantity
from blocks.simulation import progress
from blocks.simulation.bottlenecks import FEWER_EVENTS
from blocks.simulation.progress import Progress, time_in_words
from library.electrical import ACVoltageSource, Capacitor, Diode, ElectricalReference, Resistor
from library.mechanisms import OneWayClutch
from library.rotational import Inertia, RotationalReference
from library.signal import Chirp, Integrator, Pulse, Rounding, Sine, VectorNorm


# -- who makes it slow ------------------------------------------------------------------------
def chain():
    """Six masses on springs of 100 N/m, but the fourth spring is ten thousand times as stiff."""
    model = wired("chain", wall=tr.Reference())
    last = model.wall.V
    for i in range(6):
        mass, spring, damper = tr.Mass(mass="1 kg"), tr.Spring(
            stiffness="1 MN/m" if i == 3 else "100 N/m",
            x="10 mm" if i == 0 else "0 mm"), tr.Damper(
            damping="1 N*s/m")  # fmt: skip
        for name, part in (("mass", mass), ("spring", spring), ("damper", damper)):
            model.add(f"{name}{i}", part)
        model.connect(mass.M, spring.R, damper.R)
        model.connect(spring.C, damper.C, last)
        last = mass.M
    return model


def test_a_stiff_spring_among_soft_ones_holds_an_explicit_method_back():
    slow = chain().simulate("1 s", method="ode45").bottlenecks()
    assert slow[0].component == "spring3" and slow[0].steps > 0.9
    # w = sqrt(2 k / m): an explicit pair of order five is stable up to h w of 1, where nothing
    # damps, to 3.3, where nothing swings
    assert 1.0 <= slow[0].length * math.sqrt(2e6) <= 3.3
    assert slow["spring3"].variable in ("mass2.v", "mass3.v") and "'rodas4'" in slow[0].advice
    assert all(term.steps < 0.05 for term in slow[1:])


def test_a_method_that_steps_over_it_is_not_held_back_by_it():
    slow = chain().simulate("1 s", method="rodas4").bottlenecks()
    assert slow[0].component == "spring0"  # which was pulled
    assert all(term.component != "spring3" or term.steps < 0.05 for term in slow)


def test_bristles_that_bend_are_named():
    slow = stick_slip("lugre").simulate("0.5 s", method="ode45").bottlenecks()
    assert slow[0].component == "friction" and slow[0].steps > 0.4


def test_who_makes_the_events_is_counted():
    run = stick_slip().simulate("2 s")
    slow = run.bottlenecks()
    assert slow["friction"].events == len(run.events.of("friction")) > 10
    assert slow.shares.restarts > 0.05


def test_a_bouncing_contact_is_named_for_steps_and_events():
    model = wired("ball", "ball.M weight.R stop.R", "weight.C floor.V stop.C",
                  ball=tr.Mass(mass="1 kg"), floor=tr.Reference(),
                  weight=tr.ForceSource(force="-9.81 N"),
                  stop=tr.HardStop(upper_bound="10 m", lower_bound="-0.1 m"))
    run = model.simulate("2 s", method="dopri5")
    (stop, *others) = run.bottlenecks()
    assert stop.component == "stop" and stop.steps > 0.5
    assert stop.events == len(run.events) and all(not other.events for other in others)


def test_the_loop_that_iterates_is_named():
    """A diode behind a resistor is a loop, which the diode bends."""
    model = wired("loops", "source.p limit.p", "limit.n diode.p", "diode.n source.n earth.V",
                  source=ACVoltageSource(amplitude="10 V", frequency="50 Hz"),
                  earth=ElectricalReference(), limit=Resistor(resistance="100 ohm"),
                  diode=Diode(model="exponential"))
    slow = model.simulate("40 ms").bottlenecks()
    assert {term.component: term.iterations for term in slow if term.iterations} == {"diode": 1.0}
    assert "makes it a state" in slow["diode"].advice


def test_known_instants_and_fixed_steps_are_nobodys_fault():
    fixed = stick_slip().simulate("0.2 s", method="backward_euler", step="1 ms").bottlenecks()
    assert not any(term.steps for term in fixed) and fixed.shares.limits > 0.5
    short = chain().simulate("5 ms", method="ode45", max_step="10 us").bottlenecks()
    assert short.shares.limits > 0.9


def test_it_is_told_as_a_table_and_in_the_report(tmp_path):
    run = stick_slip().simulate("0.5 s")
    text = str(run.bottlenecks())
    assert "share of steps" in text and "friction" in text and "steps;" in text
    pytest.importorskip("pandas")
    assert list(run.bottlenecks().to_pandas()["component"])[-1] == "friction"
    assert 'id="bottlenecks"' in run.report().html
    run.save(tmp_path / "run.parquet")
    again = blocks.load(tmp_path / "run.parquet")
    with pytest.raises(ParameterError, match="holds samples and no steps. Ask it before the run"):
        again.bottlenecks()
    assert 'id="bottlenecks"' not in again.report().html


def test_advice_on_many_events_is_of_what_makes_them():
    model = wired("counted", "turn.y marks.u", "marks.y sum.u",
                  turn=Sine(amplitude="1", frequency="1 Hz"), marks=Rounding(step=0.01),
                  sum=Integrator())
    (counted,) = model.simulate("1 s").bottlenecks()
    assert counted.component == "marks" and counted.events == 400
    assert counted.advice == FEWER_EVENTS[""]
    rubs = {b.component: b for b in stick_slip().simulate(
        "4 s", method="DOP853", rtol=1e-3).bottlenecks()}
    assert "moreau_jean" in rubs["friction"].advice and "hysteresis" not in rubs["friction"].advice


# -- steps far too short ----------------------------------------------------------------------
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
                  stop=tr.HardStop(x="0.2 m", upper_stiffness="1e8 N/m"), ground=tr.Reference())
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
    found = wired("fast", wave=Sine(frequency="1e300 Hz"), pulse=Pulse()).check().errors[0]
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
        turn = quantity("1 rad") * 2 * np.pi * self.frequency * blocks.time
        wave = blocks.where(blocks.sin(turn) > 0, 1, -1)
        yield der(self.x) == quantity("1e3 1/s") * (wave - self.x)


@pytest.mark.parametrize("frequency", ["1 GHz", "10 MHz"])
def test_a_condition_that_switches_too_often_is_told_by_a_part_of_the_run(frequency):
    with pytest.raises(ParameterError, match="switches with time about .* 2,000,000 such") as told:
        wired("square", wave=Square(frequency=frequency)).simulate("1 s")
    (about,) = re.findall(r"about (\S+) times", str(told.value))
    assert_allclose(float(about), 2 * quantity(frequency).to("Hz").m, rtol=0.6)
    run = wired("square", wave=Square(frequency="1 kHz")).simulate("99.75 ms")
    assert run.statistics["events"] == 199


def test_a_circle_of_signals_at_zero_ends_where_no_part_of_a_step_can_be_followed():
    """The length of a vector of three equal signals is that signal where all are zero, and the law
    has no slope there."""
    model = wired("circle", length=VectorNorm(), clutch=OneWayClutch(), shaft=Inertia(),
                  ground=RotationalReference(), drive=Sine())
    for k in range(1, 4):
        model.connect(model.length.y, getattr(model.length, f"u{k}"))
    wire(model, "clutch.C shaft.I", "clutch.R ground.W", "drive.y clutch.E")
    with pytest.raises(SimulationError, match="length.y could not be solved for"):
        model.simulate("0.5 s", method="Radau")
    assert abs(model.simulate("0.5 s")["length.y"].final.m) < 1e-30


# -- how far a run has come -------------------------------------------------------------------
@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass when a test says so."""
    now = [100.0]
    monkeypatch.setattr(progress.clock, "perf_counter", lambda: now[0])

    def wait(seconds):
        now[0] += seconds

    return wait


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("seconds", "words"), [
    (3.4, "3 s"), (125, "2 min 5 s"), (4205, "1 h 10 min")])
def test_times_are_words(seconds, words):
    assert time_in_words(seconds) == words


def test_a_long_run_shows_its_part_and_the_time_left_and_wipes_them_away(clock, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Progress(None, 10.0, 20.0) as tell:
        clock(1)
        tell(11.0)
        assert sys.stderr.getvalue() == ""  # most runs end before anybody waits
        clock(3)
        tell(12.0)
    line = sys.stderr.getvalue()
    assert " 20%  16 s left" in line
    assert line.endswith("\r\x1b[K")


def test_the_time_left_is_not_guessed_from_a_slow_beginning(clock, capsys):
    with Progress(True, 0.0, 100.0) as tell:
        clock(2)
        tell(0.5)  # of which most went into compiling
        clock(10)
        tell(3.0)
    first, later = capsys.readouterr().err.splitlines()
    assert first.endswith("0%") and later.endswith("3%  6 min 28 s left")


def test_without_a_screen_only_who_asks_is_told(clock, capsys):
    with Progress(None, 0.0, 1.0) as tell:
        assert tell is None
    with Progress(True, 2, 4, "runs", counts=True) as tell:
        clock(10)
        tell(3)
        clock(1)  # lines in a file are few
        tell(3)
        tell(4)
    first, last = capsys.readouterr().err.splitlines()
    assert first.endswith("3/4  10 s left")
    assert last.endswith("4/4")


def test_what_has_no_known_end_shows_the_time_taken(clock, capsys):
    with Progress(True, 0, name="fit") as tell:
        clock(70)
        tell(3, "run 3, misfit 2")
    assert capsys.readouterr().err == "fit: run 3, misfit 2, 1 min 10 s\n"
