"""Samples and what ``when`` assigns in machine code: closed forms, and as Python does it."""

from itertools import cycle
from re import sub

import numpy as np
import pytest
from benches import wired
from benches.parts import Follower, Pendulum
from numpy.testing import assert_allclose

import blocks
import library.translational as tr
from blocks import Component, Discrete, Parameter, Variable, der, every, quantity, time, when, where
from blocks.exceptions import SimulationError


# -- samples ----------------------------------------------------------------------------------
class Latched(Follower):
    """Slower by half once the samples have brought x below a quarter."""

    half = Variable("m/s")

    def equations(self):
        yield self.half == where(self.u > quantity(-25, "m/s"), 0.5, 1.0) * self.u
        yield der(self.x) == self.half
        yield every(self.period, {self.u: -self.gain * self.x, self.number: self.number + 1},
                    start=self.first)


def alone(part: type[Component] = Follower, **given: object) -> blocks.Model:
    return wired("alone", part=part(**given))


def at(run, name, times):
    return run[name].at(quantity(times, "s")).m


def test_a_held_feedback_is_a_geometric_sequence(in_python):
    run = alone().simulate("0.2 s", method="dopri5")
    k = np.arange(200)
    assert_allclose(at(run, "part.x", k * 1e-3), 0.9**k, rtol=0, atol=1e-12)
    assert_allclose(at(run, "part.x", (k + 0.5) * 1e-3), 0.95 * 0.9**k, rtol=0, atol=1e-12)
    assert_allclose(at(run, "part.u", (k + 0.5) * 1e-3), -100 * 0.9**k, rtol=0, atol=1e-10)
    assert_allclose(at(run, "part.number", (k + 0.5) * 1e-3), k + 1, rtol=0)
    assert not in_python


def test_more_samples_than_one_call_takes():
    """The record holds 4,096 steps; here are 10,000 samples."""
    run = alone(gain="1 1/s").simulate("10 s", method="dopri5")
    k = np.array([1, 4095, 4096, 4097, 8191, 8192, 8193, 9999])
    assert_allclose(at(run, "part.number", (k + 0.5) * 1e-3), k + 1, rtol=0)
    assert_allclose(at(run, "part.x", k * 1e-3), 0.999**k, rtol=0, atol=1e-11)


def test_a_relation_that_a_sample_switches(in_python):
    run = alone(Latched).simulate("0.1 s", method="dopri5")
    x = [1.0]
    for _ in range(99):
        u = -100 * x[-1]
        x.append(x[-1] + 1e-3 * u * (0.5 if u > -25 else 1.0))
    assert_allclose(at(run, "part.x", 1e-3 * np.arange(100)), x, rtol=0, atol=1e-12)
    assert not in_python  # not even at the first sample below a quarter


class Bent(Component):
    """dx/dt = u, and half of it where f is small; u = -gain f is sampled, f + f^3/2 = x."""

    x, f = Variable("m", "1 m", priority="high"), Variable("1")
    u = Discrete("m/s")

    def equations(self):
        yield der(self.x) == where(self.f > 0.3, 1.0, 0.5) * self.u
        yield self.f + 0.5 * self.f**3 == self.x / quantity("1 m")
        yield every("10 ms", {self.u: -self.f * quantity("5 m/s")})


def test_a_sample_and_a_relation_look_at_the_unknown_of_a_nonlinear_loop(in_python):
    run = alone(Bent).simulate("1 s", method="dopri5", rtol=1e-9)
    x, limit, exact = 1.0, 0.3 + 0.5 * 0.3**3, []
    for _ in range(100):
        exact.append(x)
        u = -5.0 * np.roots([0.5, 0, 1, -x]).real[np.argmin(abs(np.roots([0.5, 0, 1, -x]).imag))]
        fast = min(max((x - limit) / -u, 0.0), 10e-3)
        x += u * fast + u * (10e-3 - fast) / 2
    times = np.arange(100) * 10e-3
    assert_allclose(at(run, "part.x", times), exact, rtol=0, atol=1e-9)
    f = at(run, "part.f", times + 4e-3)
    assert_allclose(f + 0.5 * f**3, at(run, "part.x", times + 4e-3), rtol=0, atol=1e-12)
    assert len(run.events) == 1
    assert len(in_python) <= 1  # the start


class Chain(Component):
    """A hold and a unit delay that read each other."""

    x = Variable("m", "0 m")
    a, b, c = Discrete("m", "1 m"), Discrete("m", "2 m"), Discrete("m", "3 m")

    def equations(self):
        yield der(self.x) == quantity(1, "m/s")
        yield every("10 ms", {self.a: self.b, self.b: self.c, self.c: self.a + self.x})


class PushedPendulum(Pendulum):
    """What pushes it follows where it has been, 200 times a second."""

    held = Discrete("N")

    def push(self):
        return self.held

    def equations(self):
        yield from super().equations()
        yield every("5 ms", {self.held: self.x * quantity("9 N/m") - self.vy * quantity("1 N*s/m")})


@pytest.mark.parametrize(("build", "end", "names", "within"), [
    pytest.param(lambda: alone(period="0.3 ms", first="0.1 ms"), "0.1 s", "x u number", 1e-12,
                 id="often"),
    pytest.param(lambda: alone(period="7 ms", first="3 ms"), "0.1 s", "x u number", 1e-12,
                 id="later"),
    # 0.3 s is another number as three times 0.1 s; both samplers take it at one instant
    pytest.param(lambda: alone(count=2, period=["0.1 s", "0.3 s"], gain="1 1/s"),
                 "3.05 s", "number x", 1e-12, id="rates that meet"),
    pytest.param(lambda: alone(Chain), "0.3 s", "a b c", 1e-12, id="each other"),
    pytest.param(lambda: alone(PushedPendulum, x="0.6 m", y=blocks.Target(
        "-0.8 m", priority="low")), "0.4 s", "x y vy tension held", 1e-8, id="tied states")])
def test_every_method_takes_the_same_samples(build, end, names, within, in_python):
    run = build().simulate(end, method="dopri5", rtol=1e-10)
    assert len(in_python) <= 1  # the start
    python = build().simulate(end, method="ode45", rtol=1e-10)
    times = np.linspace(0, 1, 733) * quantity(end)
    for name in names.split():
        a, b = (r[f"part.{name}"].at(times).m for r in (run, python))
        assert_allclose(a, b, rtol=0, atol=within)


def test_samples_and_resets_take_turns(in_python):
    class Reset(Follower):
        def equations(self):
            yield from super().equations()
            yield when(self.x < quantity(0.5, "m"), {self.x: quantity(1, "m")})

    run = alone(Reset).simulate("20 ms", method="dopri5")
    assert len([e.time for e in run.events if "becomes" in e.description]) > 1
    assert at(run, "part.x", 19.5e-3) > 0.5
    assert not in_python


# -- what when assigns ------------------------------------------------------------------------
class Ball(Component):
    """Falls, and rebounds with a share of its speed, which is counted."""

    x, v = Variable("m", "1 m"), Variable("m/s", "0 m/s")
    rebound = Parameter("0.8")
    hits = Discrete("1", 0.0)

    def equations(self):
        yield der(self.x) == self.v
        yield der(self.v) == quantity("-9.81 m/s^2")
        yield when(self.x < 0, {self.v: -self.rebound * self.v, self.hits: self.hits + 1})


class Hysteresis(Component):
    """A heater that two conditions turn on and off; a clock changes the upper one."""

    heat = Variable("K", "300 K")
    on, upper, changes = Discrete("1", 1.0), Discrete("K", "330 K"), Discrete("1", 0.0)

    def equations(self):
        yield der(self.heat) == quantity("20 K/s") * self.on - (
            self.heat - quantity("290 K")) * quantity("0.2 1/s")
        yield when(self.heat > self.upper, {self.on: 0, self.changes: self.changes + 1})
        yield when(self.heat < quantity("310 K"), {self.on: 1, self.changes: self.changes + 1})
        yield when(time > quantity("2.1 s"), {self.upper: quantity("325 K")})


class Falls(Component):
    """Counts how often a square of a slow wave falls, and adds up from where to where."""

    x, n, depth = Variable("1", 0.0), Discrete("1", 0.0), Discrete("1", 0.0)

    def equations(self):
        wave = where(blocks.sin(quantity("9 rad/s") * time) > 0, 1 + self.x, -self.x)
        yield der(self.x) == quantity("1 1/s")
        was = blocks.before(wave)
        yield when(was > wave + 0.5, {self.n: self.n + 1, self.depth: self.depth + was - wave})


class Stairs(Component):
    """Climbs from stair to stair: the condition is undone by what it assigns."""

    x, stair = Variable("1", 0.0), Discrete("1", 1.0)

    def equations(self):
        yield der(self.x) == quantity("1 1/s") * self.stair
        yield when(self.x > self.stair, {self.stair: self.stair + 1})


class InTurn(Component):
    """Two conditions assign one value at one instant: the second finds what the first has."""

    x, n, seen = Variable("1", 0.0), Discrete("1", 0.0), Discrete("1", -1.0)

    def equations(self):
        yield der(self.x) == quantity("1 1/s")
        yield when(self.x > 0.5, {self.n: self.n + 1})
        yield when(self.x > 0.5, {self.n: 10 * self.n, self.seen: self.n})


class Sampled(Component):
    """A counter that samples bring to an end, and a condition on it begins anew."""

    x, n, rounds = Variable("1", 0.0), Discrete("1", 0.0), Discrete("1", 0.0)

    def equations(self):
        yield der(self.x) == quantity("1 1/s") * self.n
        yield every("50 ms", {self.n: self.n + 1})
        yield when(self.x > 0.7, {self.x: 0.0, self.rounds: self.rounds + 1})


class Rubbed(Component):
    """Stick-slip by exact friction; passing a place is counted, and pushes what slides."""

    x, v, f = Variable("m", "0.3 m"), Variable("m/s", "0 m/s"), Variable("N")
    passed, push = Discrete("1", 0.0), Parameter("0 m/s")

    def equations(self):
        yield der(self.x) == self.v
        yield quantity("1 kg") * der(self.v) == quantity("-40 N/m") * self.x - self.f
        yield blocks.dry_friction(self.f, self.v, static=quantity("1 N"), kinetic=quantity("0.8 N"))
        yield when(self.x < quantity("0.1 m"),
                   {self.passed: self.passed + 1, self.v: self.v - self.push})
        yield when(time > quantity("2 s"), {self.v: self.v + self.push})


class Struck(Pendulum):
    """A pendulum, a state of which is pushed when it passes the bottom."""

    hits = Discrete("1", 0.0)

    def equations(self):
        yield from super().equations()
        yield when(self.x < 0, {self.vx: self.vx - quantity("0.5 m/s"), self.hits: self.hits + 1})


def pendulum() -> blocks.Model:
    return alone(Struck, x=quantity(np.sin(0.4), "m"), y=blocks.Target(
        quantity(-np.cos(0.4), "m"), priority="low"))


MODELS = {
    "heater": lambda: alone(Hysteresis), "samples": lambda: alone(Sampled),
    "friction": lambda: alone(Rubbed), "friction with a push": lambda: alone(
        Rubbed, push="0.4 m/s"),
    "three of them": lambda: alone(Rubbed, count=3, push="0.2 m/s", x=["30 cm", "25 cm", "40 cm"]),
    "pendulum": pendulum}


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "DOP853", "ode45"])
def test_a_ball_rebounds_as_the_geometric_series_says(in_python, method):
    run = alone(Ball).simulate("2.5 s", method=method, rtol=1e-10)
    first = np.sqrt(2 / 9.81)
    hits = first + 2 * first * np.cumsum(np.append(0.0, 0.8 ** np.arange(1, 6)))
    told = [e.time for e in run.events if "hits becomes" in e.description]
    assert_allclose(told, hits[hits < 2.5], rtol=1e-9)
    assert run.events[0].description == "v becomes 3.54356 m/s, hits becomes 1"
    flights, since = len(told), 2.5 - told[-1]
    speed = 9.81 * first * 0.8**flights
    assert_allclose(run["part.x"].final.m, speed * since - 9.81 / 2 * since**2, atol=1e-8)
    assert method == "ode45" or not in_python


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "ode45"])
def test_what_was_before_an_event_is_told(method):
    run = alone(Falls).simulate("2.4 s", method=method, rtol=1e-10)
    assert run["part.n"].final.m == 3  # at pi/9, 3 pi/9 and 5 pi/9, each time by 1 + 2 t
    assert_allclose(run["part.depth"].final.m, 3 + 2 * np.pi, rtol=1e-9)


def test_a_condition_that_is_undone_by_what_it_assigns(in_python):
    run = alone(Stairs).simulate("2 s", method="dopri5")
    at = np.cumsum(1 / np.arange(1, 5))  # the time for stair k is 1/k
    told = list(run.events)
    assert_allclose([e.time for e in told], at[at < 2], rtol=1e-9)
    assert [e.description for e in told] == [f"stair becomes {k + 2}" for k in range(len(told))]
    assert not in_python


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "ode45"])
def test_two_conditions_assign_one_value_in_turn(in_python, method):
    run = alone(InTurn).simulate("1 s", method=method)
    assert [(e.time, e.description) for e in run.events] == [
        (pytest.approx(0.5), "n becomes 1"), (pytest.approx(0.5), "n becomes 10, seen becomes 1")]
    assert bool(in_python) == (method == "ode45")


@pytest.mark.parametrize(("name", "method"), [*zip(sorted(MODELS), cycle(["dopri5", "rodas4"]))])
def test_events_are_those_of_the_reference(name, method, in_python):
    run = MODELS[name]().simulate("2.4 s", method=method, rtol=1e-10)
    assert not in_python or name in ("friction with a push", "three of them")
    python = MODELS[name]().simulate("2.4 s", method="ode45", rtol=1e-10)
    assert run.statistics["events"] == len(run.events) == len(python.events)
    for mine, other in zip(run.events, python.events, strict=True):
        assert (mine.component, mine.mode) == (other.component, other.mode)
        assert_allclose(mine.time, other.time, rtol=1e-6, atol=1e-7)
        assert mine.description.split()[:2] == other.description.split()[:2]
    t = quantity(np.linspace(0.013, 2.4, 200), "s")
    for path in ("part.x", "part.v", "part.vx", "part.heat", "part.hits", "part.on", "part.n",
                 "part.passed"):
        if path in run and path in python:
            assert_allclose(run[path].at(t).m, python[path].at(t).m, rtol=0, atol=1e-5)


@pytest.mark.parametrize("method", ["dopri5", "Radau"])
def test_a_condition_on_a_force_of_exact_friction_is_met_in_every_period(method, in_python):
    class Latch(Component):
        u, at = blocks.Input("N"), Discrete("s")

        def equations(self):
            yield when(self.u > quantity(2, "N"), {self.at: time})

    run = wired("stick", "body.M rub.R push.R", "rub.C scale.R", "scale.C push.C ground.V",
                "scale.F latch.u", ground=tr.Reference(), scale=tr.ForceSensor(), latch=Latch(),
                body=tr.Mass(), rub=tr.TranslationalFriction(
                    law="coulomb", breakaway_force="4 N", coulomb_force="3 N"),
                push=tr.ForceSource(force=lambda t: quantity("5 N") * blocks.sin(
                    6 * t * quantity("1 rad/s")))).simulate("2.5 s", method=method, rtol=1e-9)
    assert_allclose(run["latch.at"].final.m, (4 * np.pi + np.arcsin(0.4)) / 6, rtol=1e-9)
    assert not in_python or method == "Radau"


def test_conditions_that_undo_each_other_are_still_refused():
    class Endless(Component):
        x, n = Variable("1", 0.0), Discrete("1", 1.0)

        def equations(self):
            yield der(self.x) == quantity("1 1/s")
            yield when(where(self.n > 0, self.x, -self.x) > 0.5, {self.n: -self.n})
            yield when(where(self.n < 0, self.x, -self.x) > 0.5, {self.n: -self.n})

    told = []
    for method in ("dopri5", "ode45"):
        with pytest.raises(SimulationError) as refused:
            alone(Endless).simulate("1 s", method=method)
        told.append(sub(r"\d+ of \d+ crossings", "crossings", str(refused.value)))
    assert told[0] == told[1]
