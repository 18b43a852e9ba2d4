"""Events that machine code carries out itself, against closed forms."""

import numpy as np
import pytest
from benches import meets, wire, wired
from numpy.testing import assert_allclose

import blocks
import library.translational as tr
from benchmarks.cases.models import Buck, alone, block_on_belt, blocks_on_belt
from blocks import Component, Discrete, Parameter, Variable, der, every, quantity, require, where
from blocks import time as now
from blocks.nonsmooth.modes.laws import SetValuedLaws
from library.mechanisms import GearBox
from library.rotational import Inertia, RotationalFriction, RotationalReference
from library.signal import Integrator, Rounding, Sine, Step


def test_buck_converter_with_a_thousand_edges(in_python):
    run = alone(Buck()).simulate("10 ms", method="rodas4", rtol=1e-6)
    # closed form per switch mode, one root search per diode event
    meets(run, {"part.i A": (1.61762457195, 1e-7), "part.vc V": (11.2392811227, 1e-7)})
    assert len(in_python) == 0
    assert run.statistics["steps"] < 2100  # between 999 edges
    periods = np.unique([e.time for e in run.events]) / 10e-6
    own = periods[np.abs(periods - np.round(periods)) > 1e-6]  # of the diode, not with the switch
    assert len(own) == 12


def test_values_at_an_event_from_either_side():
    run = alone(Buck()).simulate("0.1 ms", method="rodas4")
    for k in range(1, 10):
        edge, after = quantity(k * 1e-5, "s"), quantity(k * 1e-5 + 1e-12, "s")
        assert_allclose(run["part.v"].at(edge).m, run["part.v"].at(after).m, atol=1e-3)
        before = run["part.v"].at(quantity(k * 1e-5 - 1e-12, "s")).m
        assert abs(before - run["part.v"].at(edge).m) > 10  # the switch has turned in between


@pytest.mark.parametrize("method", ["auto", "dopri5", "rodas4"])
def test_a_block_on_a_belt_sticks_and_slides_at_the_times_of_the_closed_form(method, in_python):
    # friction of 5 N takes it along to the belt's 0.2 m/s; it sticks until the spring pulls with
    # 25 N, and slides on a circle about 50 mm until it has the belt's speed again
    run = block_on_belt().simulate("20 s", method=method, rtol=1e-10)
    assert not in_python
    sticks = np.arcsin(0.4) / 10
    slides = sticks + (0.25 - 0.05 * (1 - np.sqrt(1 - 0.4**2))) / 0.2
    again = slides + (np.pi - np.arctan(10)) / 5
    times = np.append(sticks, np.ravel(np.add.outer(  # from then on it sticks for 0.4 m / v
        np.arange(10) * (again - slides + 0.4 / 0.2), [slides, again])))
    assert_allclose([e.time for e in run.events], times[times < 20], rtol=0, atol=1e-8)
    assert [e.mode == "stuck" for e in run.events][:4] == [True, False, True, False]
    t = np.linspace(0, again - slides, 50)
    v = 0.2 * np.cos(10 * t) - 2 * np.sin(10 * t)
    assert_allclose(run["block.v"].at(quantity(slides + t, "s")).m, v, rtol=0, atol=1e-8)
    stuck = quantity([e.time for e in run.events if e.mode == "stuck"], "s")
    assert_allclose(run["friction.v"].at(stuck).m, 0.0, atol=1e-12)
    assert abs(run.energy().relative_residual) < 1e-7


def test_parts_that_come_to_rest_at_one_instant_are_decided_one_after_the_other(in_python):
    """Bodies that rub each by itself: one stays, one is pushed on by more than its friction."""
    model = wired("row", "masses.M rubs.R", "rubs.C push.C floor.V", "push.R masses[2].M",
                  floor=tr.Reference(), masses=tr.Mass(mass="1 kg", count=3, v="1 m/s"),
                  rubs=tr.TranslationalFriction(law="coulomb", coulomb_force="2 N",
                                                breakaway_force="2 N", count=3),
                  push=tr.ForceSource(
                      force=lambda t: quantity("-5 N") * where(t > quantity("0.2 s"), 1, 0)))
    run = model.simulate("1 s", method="dopri5")
    assert len(in_python) == 0
    # -2 m/s^2 for 0.5 s; the last one -7 m/s^2 from 0.2 s on, then back at -3 m/s^2
    turns = 0.2 + 0.6 / 7
    assert_allclose([run[f"masses[{k}].v"].at("1 s").m for k in range(2)], 0.0, atol=1e-12)
    assert_allclose(run["masses[2].v"].at("1 s").m, -3.0 * (1.0 - turns), rtol=1e-6)
    assert_allclose([e.time for e in run.events if e.mode == "stuck"], [0.5, 0.5], rtol=1e-9)


def test_events_that_are_left_to_python_are_counted_and_told(monkeypatch):
    model = block_on_belt()
    quick = model.simulate("40 s", method="dopri5")
    assert "events in Python" not in quick.statistics
    assert "Python" not in quick.statistics.why
    monkeypatch.setattr(SetValuedLaws, "decision_data", lambda *args: None)
    slow = model.simulate("40 s", method="dopri5")
    assert slow.statistics["events in Python"] == len(slow.events) > 20
    assert slow.statistics.why == (
        "chosen by the user, in machine code; most events are decided in Python")


@pytest.mark.parametrize(("n", "time", "judged"), [
    (50, "5 s", 2), (300, "1 s", 10), pytest.param(1000, "400 ms", 50, marks=pytest.mark.slow)])
def test_many_blocks_leave_python_alone(n, time, judged, in_python):
    """But for what comes to rest at nearly the same time, and the last of the events of a call."""
    run = blocks_on_belt(n).simulate(time, method="dopri5", rtol=1e-8)
    assert len(in_python) <= judged
    # each is pulled from rest by 5 N up to 0.2 m/s, and dragged on until its spring has 6 N
    stiffness = np.linspace(80, 120, n)
    w = np.sqrt(stiffness)
    stuck = np.arcsin(0.2 * w / 5) / w
    leaves = stuck + (6 - 5 * (1 - np.cos(w * stuck))) / stiffness / 0.2
    for word, times in (("mode", stuck), ("previous", leaves)):
        first = {}
        for event in run.events:
            if getattr(event, word) == "stuck":
                first.setdefault(event.component, event.time)
        due = np.flatnonzero(times < quantity(time).to("s").m)
        assert len(due) == n or n == 1000
        assert_allclose([first[f"frictions[{k}]"] for k in due], times[due], rtol=1e-7)


class Sampled(Component):
    """dx/dt = u while below a limit; u is held from sample to sample, and halved above it."""

    x, rate = Variable("m", "0 m"), Variable("m/s")
    u = Discrete("m/s", "1 m/s")

    def equations(self):
        yield self.rate == where(self.x > quantity(0.35, "m"), 0.5, 1.0) * self.u
        yield der(self.x) == self.rate
        yield every("100 ms", {self.u: self.u + quantity(1, "m/s")}, start="100 ms")


def test_samples_and_crossings_take_turns(in_python):
    run = wired("sampled", part=Sampled()).simulate("400 ms", method="dopri5")
    # 0.1 m and 0.2 m in the first two tenths, 0.05 m more at 3 m/s, and then half of 3 and 4 m/s
    crossing = 0.2 + 0.05 / 3
    assert_allclose([e.time for e in run.events if "x" in e.description][0], crossing, rtol=1e-12)
    assert_allclose(run["part.x"].final.m, 0.35 + 1.5 * (0.3 - crossing) + 0.2, rtol=1e-9)
    assert_allclose(run["part.u"].at(quantity([0.05, 0.15, 0.25, 0.35], "s")).m, [1, 2, 3, 4])
    assert len(in_python) == 0


class Chattering(Component):
    """Full speed towards zero from either side."""

    x = Variable("m", "0.1 m")

    def equations(self):
        yield der(self.x) == where(self.x > quantity(0, "m"), -1.0, 1.0) * quantity(1, "m/s")


def test_a_step_of_a_force_breaks_a_block_loose(in_python):
    model = wired("step", "step.y source.S", "source.C frame.V", "source.R block.M friction.R",
                  "friction.C frame.V", step=Step(initial="4 N", final="8 N", start="1 s"),
                  source=tr.ForceSource(), block=tr.Mass(mass="2 kg"), frame=tr.Reference(),
                  friction=tr.TranslationalFriction(law="coulomb", coulomb_force="4 N",
                                                    breakaway_force="5 N"))
    run = model.simulate("2 s", method="dopri5")
    assert_allclose(abs(run["block.v"].final.m), (8 - 4) / 2, rtol=1e-9)
    assert [e.time for e in run.events if e.previous == "stuck"] == [1.0]
    assert len(in_python) == 0


class Thermostat(Component):
    """Heats for a while, then cools; how far it heats is bounded."""

    bound = Parameter("1.5")
    x = Variable("1", 1, priority="high")
    ticks = Discrete("1", 0)

    def equations(self):
        yield der(self.x) == where(now < quantity("0.35 s"), 1, -1) * quantity("1 1/s")
        yield every("10 ms", {self.ticks: self.ticks + 1})
        yield require(self.x < self.bound, "is too large.")


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
def test_what_is_required_is_looked_at_without_python(in_python, method):
    run = wired("required", heater=Thermostat()).simulate("1 s", method=method)
    assert len(in_python) <= 2
    assert_allclose(run["heater.x"].final.m, 1 + 0.35 - 0.65, rtol=1e-12)
    assert run["heater.ticks"].final.m == 100


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "DOP853"])
def test_a_broken_requirement_ends_the_run_at_its_instant(method):
    model = wired("required", heater=Thermostat(bound="1.2049"))
    with pytest.raises(blocks.SimulationError, match="too large") as told:
        model.simulate("1 s", method=method)
    assert_allclose(told.value.time, 0.2049, rtol=1e-12)


def held_back_by(*frictions):
    """A block that a spring draws along, and what it rubs on: strengths, and which way round."""
    model = wired("rod", "drive.R spring.R", "spring.C rod.M", "drive.C ground.V",
                  rod=tr.Mass(), ground=tr.Reference(), drive=tr.VelocitySource(velocity="0.5 m/s"),
                  spring=tr.Spring(stiffness="100 N/m"))
    for k, (static, kinetic, turned) in enumerate(frictions):
        one, other = "CR" if turned else "RC"
        wire(model, f"f{k}.{one} rod.M", f"f{k}.{other} ground.V", **{
            f"f{k}": tr.TranslationalFriction(law="coulomb", breakaway_force=quantity(static, "N"),
                                              coulomb_force=quantity(kinetic, "N"))})
    return model


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
def test_a_seal_and_a_guide_on_one_rod_act_as_one_friction_of_both_strengths(in_python, method):
    both = held_back_by((6.0, 4.0, False), (3.0, 2.5, True))
    run = both.simulate("5 s", method=method, rtol=1e-10)
    one = held_back_by((9.0, 6.5, False)).simulate("5 s", method=method, rtol=1e-10)
    assert len(in_python) == 0
    seal, guide = ([e for e in run.events if e.component == name] for name in ("f0", "f1"))
    assert len(one.events) > 10
    for mine in (seal, guide):
        assert_allclose([e.time for e in mine], [e.time for e in one.events], rtol=0, atol=1e-9)
    assert [e.description for e in seal] == [e.description for e in one.events]
    words = {"slides forward": "slides backward", "sticks": "sticks"}  # it is the other way round
    assert [e.description for e in guide] == [words[e.description] for e in one.events]
    at = quantity(np.linspace(0, 5, 101), "s")
    assert_allclose(run["rod.v"].at(at).m, one["rod.v"].at(at).m, rtol=0, atol=1e-8)
    rests = quantity(0.9 * one.events[0].time, "s")  # each with the same share of its strength
    share = one["f0.f"].at(rests).m / 9.0
    assert_allclose([run["f0.f"].at(rests).m, run["f1.f"].at(rests).m], [6 * share, -3 * share],
                    rtol=1e-9)
    assert {s.components for s in run.sticking().undetermined} == {("f0", "f1")}


def test_friction_between_gears_that_turn_alike_is_no_reason_to_leave_machine_code(in_python):
    model = wired("gears", "wheel.I one.S other.S bearing.R", "one.O output.I between.R",
                  "other.O between.C", "bearing.C frame.W",
                  wheel=Inertia(inertia="1 kg*m^2", w="3 rad/s"), frame=RotationalReference(),
                  one=GearBox(ratio=2), other=GearBox(ratio=2), output=Inertia(inertia="1 kg*m^2"),
                  between=RotationalFriction(law="coulomb"), bearing=RotationalFriction(
                      law="coulomb", breakaway_torque="0.5 N*m", coulomb_torque="0.5 N*m"))
    run = model.simulate("10 s")
    assert "stretches in Python" not in run.statistics
    assert len(in_python) == 0
    (stop,) = run.events
    turning = 1.0 + 1.0 / 2**2  # inertia as the wheel feels it, kg*m^2
    assert_allclose(stop.time, 3.0 * turning / 0.5, rtol=1e-9)
    assert_allclose(run["between.t"].at("1 s").m, 0.0, atol=0)


@pytest.mark.parametrize(("method", "count"), [("dopri5", 60), ("DOP853", 15)])
def test_what_switches_together_is_no_chatter_and_who_chatters_in_a_crowd_is_named(method, count):
    model = wired("crowd", "sine.y steps.u", "steps.y sums.u", sine=Sine(frequency="1 Hz"),
                  steps=Rounding(count=count, step=0.02), sums=Integrator(count=count))
    run = model.simulate("1 s", method=method)
    assert len(run.events) == count * 4 * 50  # in every quarter of the sine
    model.part = Chattering()
    with pytest.raises(blocks.SimulationError, match="switches back and forth") as error:
        model.simulate("1 s", method=method)
    assert error.value.data["variables"] == ("part",)


def test_two_frictions_that_feel_each_other_let_go_at_one_instant(in_python):
    """A block on another: what pushes each reaches its strength, 5 N and 10 N, after 5 s."""
    model = wired(
        "two", "ground.V push.C under.C", "block[0].M push[0].R under.R between.C",
        "block[1].M push[1].R between.R",
        push=tr.ForceSource(count=2, force=lambda t: quantity("1 N/s") * t),
        block=tr.Mass(count=2, mass="1 kg"), ground=tr.Reference(),
        under=tr.TranslationalFriction(law="coulomb", coulomb_force="7 N", breakaway_force="10 N"),
        between=tr.TranslationalFriction(law="coulomb", coulomb_force="3 N", breakaway_force="5 N"))
    run = model.simulate("7 s", method="dopri5")
    assert_allclose([e.time for e in run.events if e.previous == "stuck"], [5.0, 5.0], rtol=1e-12)
    assert_allclose(run["block.v"].final.m, [2 + 2**2 / 2, 4 + 2**2 / 2], rtol=1e-9)
    assert len(in_python) == 0
