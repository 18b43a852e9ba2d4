"""A `when` that turns a motion back is told when the motion goes on all the same.

A ball dropped from h with restitution e touches the floor at t1 (1 + 2 (e + e^2 + …)) only, with
t1 = sqrt(2 h / g): from t1 (1 + e) / (1 - e) on it lies still.
"""

import numpy as np
import pytest
from benches import wired

from blocks import (
    Component,
    Discrete,
    Model,
    Parameter,
    SimulationError,
    Variable,
    abs_,
    der,
    quantity,
    time,
    when,
    where,
)

G, E, H = 9.81, 0.6, 1.2
REST = np.sqrt(2 * H / G) * (1 + E) / (1 - E)
METHODS = "auto", "dopri5", "rodas4", "DOP853"


class Ball(Component):
    """A ball above a floor; subclasses say what the floor does to it."""

    height = Variable("m", "1.2 m", priority="high")
    v = Variable("m/s", "0 m/s", priority="high")
    touched = Discrete("1", 0.0)
    restitution = Parameter(0.6)

    def equations(self):
        yield der(self.height) == self.v
        yield der(self.v) == quantity("-9.81 m/s^2")
        yield self.floor()


class Naive(Ball):
    def floor(self):
        return when(self.height < 0, {self.v: -self.restitution * self.v})


class Directed(Ball):
    def floor(self):
        return when((self.height < 0) & (self.v < 0), {self.v: -self.restitution * self.v})


class Placing(Ball):
    def floor(self):
        return when(self.height < 0, {self.v: self.restitution * abs_(self.v), self.height: 0})


class Stopping(Ball):
    def floor(self):
        return when(self.height < 0, {self.v: 0})


class Slowing(Ball):
    def floor(self):
        return when(self.height < 0, {self.v: 0.5 * self.v})


class Counting(Ball):
    def floor(self):
        return when(self.height < 0, {self.touched: self.touched + 1})


def model(kind):
    made = Model("drop")
    made.ball = kind()
    return made


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [Naive, Directed, Placing])
def test_a_ball_that_comes_to_rest_is_told_with_the_cure(kind, method):
    with pytest.raises(SimulationError, match="contact") as told:
        model(kind).simulate("4 s", method=method)
    assert told.value.where == "ball"
    assert told.value.data["time"] == pytest.approx(REST, rel=2e-3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [Naive, Placing])
def test_flights_before_are_those_of_the_closed_form(kind, method):
    end = 0.9 * REST
    result = model(kind).simulate(f"{end} s", method=method, rtol=1e-8)
    touches = np.array([event.time.to("s").m for event in result.events])
    t1 = np.sqrt(2 * H / G)
    exact = t1 * (1 + 2 * np.cumsum(np.append(0, E ** np.arange(1.0, 30.0))))
    exact = exact[exact < end]
    np.testing.assert_allclose(touches, exact, rtol=1e-5)


def test_a_motion_that_is_only_stopped_is_warned_of():
    with pytest.warns(UserWarning, match="ball: height falls below 0 .* stopped the motion"):
        result = model(Stopping).simulate("2 s")
    t1 = np.sqrt(2 * H / G)
    assert result["ball.height"].final.m == pytest.approx(-G / 2 * (2 - t1) ** 2, rel=1e-6)


@pytest.mark.parametrize(("kind", "speed"), [(Slowing, 0.5), (Counting, 1.0)])
def test_what_only_acts_where_something_is_passed_is_no_fault(kind, speed):
    result = model(kind).simulate("1 s")
    t1 = np.sqrt(2 * H / G)
    assert result["ball.v"].final.m == pytest.approx(-G * (speed * t1 + 1 - t1), rel=1e-6)


class Tanks(Component):
    """Two tanks that drain; a hose goes to the one that has just run empty."""

    a, b = Variable("m", "0.1 m", priority="high"), Variable("m", "0.1 m", priority="high")
    at_b = Discrete("1", 0)

    def equations(self):
        hose, drain = quantity("0.7 m/s"), quantity("0.5 m/s")
        yield der(self.a) == hose * (1 - self.at_b) - drain
        yield der(self.b) == hose * self.at_b - drain
        yield when(self.a < 0, {self.at_b: 0})
        yield when(self.b < 0, {self.at_b: 1})


@pytest.mark.parametrize("method", METHODS)
def test_a_hose_that_goes_to_and_fro_ever_faster_is_told(method):
    """Both lose 0.3 m/s of 0.2 m, and are empty at 2/3 s, which no switching survives."""
    tanks = wired("tanks", two=Tanks())
    half = tanks.simulate("0.6 s", method=method)
    assert (half["two.a"].final + half["two.b"].final).m == pytest.approx(0.02, abs=1e-9)
    with pytest.raises(SimulationError, match="two: . falls below 0 m .* hysteresis") as told:
        tanks.simulate("2 s", method=method)
    assert told.value.data["time"] == pytest.approx(2 / 3, rel=1e-6)


class Valve(Component):
    """A valve that closes at a level of 1, which another source passes later."""

    level = Variable("1", 0, priority="high")
    opening = Discrete("1", 1)

    def equations(self):
        more = where(time > quantity("5 s"), 0.1, 0)
        yield der(self.level) == (self.opening + more) * quantity("1 1/s")
        yield when(self.level > 1, {self.opening: 0})


def test_a_valve_that_has_closed_is_no_fault_where_others_fill():
    tank = wired("tank", valve=Valve())
    assert tank.simulate("10 s")["valve.level"].final.m == pytest.approx(1.5, rel=1e-9)
