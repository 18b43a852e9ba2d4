"""A `when` that turns a motion back is told when the motion goes on all the same.

A ball dropped from h with restitution e touches the floor at t1 (1 + 2 (e + e^2 + …)) only, with
t1 = sqrt(2 h / g): from t1 (1 + e) / (1 - e) on it lies still.
"""

from __future__ import annotations

import numpy as np
import pytest

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
    when,
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
