"""What ``when`` assigns in machine code: closed forms, and the same events as in Python."""

from functools import cache
from itertools import cycle
from re import sub

import numpy as np
import pytest
from benches import wired
from carried_out_in_python import flips
from numpy.testing import assert_allclose
from test_tied_states import Pendulum

from blocks import (
    Component,
    Discrete,
    Model,
    Parameter,
    Target,
    Variable,
    before,
    der,
    dry_friction,
    every,
    quantity,
    sin,
    time,
    when,
    where,
)
from blocks.exceptions import SimulationError


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
        wave = where(sin(quantity("9 rad/s") * time) > 0, 1 + self.x, -self.x)
        yield der(self.x) == quantity("1 1/s")
        was = before(wave)
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
        yield dry_friction(self.f, self.v, static=quantity("1 N"), kinetic=quantity("0.8 N"))
        yield when(self.x < quantity("0.1 m"),
                   {self.passed: self.passed + 1, self.v: self.v - self.push})
        yield when(time > quantity("2 s"), {self.v: self.v + self.push})


class Struck(Pendulum):
    """A pendulum, a state of which is pushed when it passes the bottom."""

    hits = Discrete("1", 0.0)

    def equations(self):
        yield from super().equations()
        yield when(self.x < 0, {self.vx: self.vx - quantity("0.5 m/s"), self.hits: self.hits + 1})


def alone(part: type[Component], **given: object) -> Model:
    return wired("resets", part=part(**given))


def pendulum() -> Model:
    return alone(Struck, x=quantity(np.sin(0.4), "m"), y=Target(
        quantity(-np.cos(0.4), "m"), priority="low"))


MODELS = {
    "ball": lambda: alone(Ball), "heater": lambda: alone(Hysteresis),
    "stairs": lambda: alone(Stairs), "samples": lambda: alone(Sampled),
    "friction": lambda: alone(Rubbed), "friction with a push": lambda: alone(
        Rubbed, push="0.4 m/s"),
    "three of them": lambda: alone(Rubbed, count=3, push="0.2 m/s", x=["30 cm", "25 cm", "40 cm"]),
    "pendulum": pendulum, "falls": lambda: alone(Falls), "in turn": lambda: alone(InTurn),
}  # fmt: skip


@pytest.fixture
def in_python(monkeypatch) -> list[float]:
    return flips(monkeypatch)


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
def test_a_ball_rebounds_as_the_geometric_series_says(in_python, method):
    run = alone(Ball).simulate("2.5 s", method=method, rtol=1e-10)
    first = np.sqrt(2 / 9.81)
    hits = first + 2 * first * np.cumsum(np.append(0.0, 0.8 ** np.arange(1, 6)))
    told = [e.time for e in run.events if "hits becomes" in e.description]
    assert_allclose(told, hits[hits < 2.5], rtol=1e-9)
    assert run.events[0].description == "v becomes 3.54356 m/s, hits becomes 1"
    assert not in_python


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "DOP853"])
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


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "DOP853"])
def test_two_conditions_assign_one_value_in_turn(in_python, method):
    run = alone(InTurn).simulate("1 s", method=method)
    assert [(e.time, e.description) for e in run.events] == [
        (pytest.approx(0.5), "n becomes 1"), (pytest.approx(0.5), "n becomes 10, seen becomes 1")]
    assert bool(in_python) == (method == "DOP853")


@cache
def followed(name, method):
    return MODELS[name]().simulate("2.4 s", method=method, rtol=1e-10)


@pytest.mark.parametrize(("name", "method"), [*zip(sorted(MODELS), cycle(["dopri5", "rodas4"]))])
def test_events_are_those_of_the_reference(name, method):
    run, python = (followed(name, m) for m in (method, "DOP853"))
    assert run.statistics["events"] == len(run.events) == len(python.events)
    for mine, other in zip(run.events, python.events, strict=True):
        assert (mine.component, mine.mode) == (other.component, other.mode)
        assert_allclose(mine.time, other.time, rtol=1e-6, atol=1e-7)
        assert mine.description.split()[:2] == other.description.split()[:2]
    t = quantity(np.linspace(0.013, 2.4, 200), "s")
    for path in ("part.x", "part.v", "part.vx", "part.heat", "part.hits", "part.on", "part.stair",
                 "part.n", "part.passed"):
        if path in run and path in python:
            assert_allclose(run[path].at(t).m, python[path].at(t).m, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", [
    "friction", "heater", "samples", "pendulum", "falls", "in turn"])
def test_nothing_is_left_to_python(in_python, name):
    MODELS[name]().simulate("2.4 s", method="dopri5")
    assert not in_python


def test_conditions_that_undo_each_other_are_still_refused():
    class Endless(Component):
        x, n = Variable("1", 0.0), Discrete("1", 1.0)

        def equations(self):
            yield der(self.x) == quantity("1 1/s")
            yield when(where(self.n > 0, self.x, -self.x) > 0.5, {self.n: -self.n})
            yield when(where(self.n < 0, self.x, -self.x) > 0.5, {self.n: -self.n})

    told = []
    for method in ("dopri5", "DOP853"):
        with pytest.raises(SimulationError) as refused:
            alone(Endless).simulate("1 s", method=method)
        told.append(sub(r"\d+ of \d+ crossings", "crossings", str(refused.value)))
    assert told[0] == told[1]
