"""Fronts of two goals against closed forms; searches spread over processes."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from blocks import Component, Model, Parameter, Variable, cos, der, quantity, sin
from blocks.analysis.estimation import fit
from blocks.analysis.pareto import pareto
from blocks.exceptions import ParameterError, UnknownName


class Thrown(Component):
    """A ball thrown at an angle without drag."""

    speed, angle = Parameter("10 m/s", above=0), Parameter("30 deg")
    x, y = Variable("m", "0 m", priority="high"), Variable("m", "0 m", priority="high")
    fall = Variable("m/s", "0 m/s", priority="high")

    def equations(self):
        yield der(self.x) == self.speed * cos(self.angle)
        yield der(self.fall) == quantity("9.81 m/s^2")
        yield der(self.y) == self.speed * sin(self.angle) - self.fall


def thrown():
    model = Model("thrown")
    model.ball = Thrown()
    return model


GOALS = ["final(ball.x)", "max(ball.y)"]
ANGLES = {"ball.angle": ("10 deg", "60 deg")}


@pytest.mark.parametrize("executor", [None, 2], ids=["here", "two processes"])
def test_reach_against_height(executor):
    """x = v cos(a) T, y = (v sin(a))² / 2 g: more of one is less of the other."""
    front = pareto(thrown(), GOALS, ANGLES, "1 s", maximise=GOALS, points=5, executor=executor)
    x, y = (np.array([d.objectives[goal].to("m").m for d in front.designs]) for goal in GOALS)
    assert len(x) == 5 and (np.diff(x) < 0).all() and (np.diff(y) > 0).all()
    np.testing.assert_allclose(y, (100 - x**2) / 2 / 9.81, rtol=1e-6)
    np.testing.assert_allclose(np.diff(y, 2), 0, atol=1e-5)  # evenly spread over the second
    assert "ball.angle" in str(front)


def test_a_front_that_is_interrupted_keeps_what_was_found(monkeypatch):
    module = sys.modules["blocks.analysis.pareto"]
    search, calls = module._best, []

    def interrupted(*given):
        calls.append(given)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return search(*given)

    monkeypatch.setattr(module, "_best", interrupted)
    front = pareto(thrown(), GOALS, ANGLES, "1 s", maximise=GOALS, points=9)
    assert len(front.designs) == 4
    assert front.notes == ("Interrupted after 2 of 9 designs between the ends.",)


class TwoValleys(Component):
    """Rests where it is: one goal is best on either side, and flat in the second parameter."""

    a, b = Parameter(0.5), Parameter(0.5)
    near, far = Variable("1", 0.0, priority="high"), Variable("1", 0.0, priority="high")

    def equations(self):
        yield der(self.near) == (self.a**2 + self.b) / quantity("1 s")
        yield der(self.far) == (self.a - 1) ** 2 / quantity("1 s")


def test_an_end_that_is_best_in_one_goal_only_is_improved_in_the_other(tmp_path):
    model = Model("valleys")
    model.part = TwoValleys()
    front = pareto(model, ["final(part.near)", "final(part.far)"],
                   {"part.a": (-1.0, 2.0), "part.b": (0.1, 3.0, 2.0)}, "1 s", points=4)
    assert all(d.values["part.b"].m == pytest.approx(0.1, abs=1e-5) for d in front.designs)
    assert front.designs[-1].values["part.a"].m == pytest.approx(1.0, abs=2e-3)
    figure = front.plot(tmp_path / "front.png")
    assert figure.axes[0].get_xlabel() == "final(part.near) [1]"


@pytest.mark.parametrize(("objectives", "given", "error", "text"), [
    (["final(ball.x)"], {}, ParameterError, "takes two different objectives"),
    (GOALS, {"maximise": ["max(ball.x)"]}, UnknownName, "objectives"),
    (GOALS, {"points": 2}, ParameterError, "3 or more"),
    (GOALS, {"executor": "all"}, ParameterError, "cannot run anything"),
    (GOALS, {"executor": ThreadPoolExecutor(1)}, ParameterError, "threads"),
    (GOALS, {"subject_to": ["max(ball.y) >= 90 m"]}, ParameterError, "no design that meets"),
], ids=["one", "goal", "points", "executor", "threads", "limits"])  # fmt: skip
def test_mistakes_about_fronts_are_said(objectives, given, error, text):
    with pytest.raises(error, match=text):
        pareto(thrown(), objectives, ANGLES, "1 s", **given)


def test_starts_of_a_fit_are_searched_by_processes_as_they_are_here():
    model = thrown()
    run = model.simulate("1 s", rtol=1e-9)
    t = np.linspace(0.1, 0.9, 30)
    noise = 1e-3 * np.random.default_rng(3).standard_normal(30)
    data = pd.DataFrame({"time [s]": t, "y [m]": run["ball.y"].at(t * quantity("1 s")).m + noise})
    found = [fit(model, data, {"ball.speed": ("5 m/s", "20 m/s", "6 m/s")}, {"y [m]": "ball.y"},
                 starts=3, executor=executor) for executor in (None, 2)]
    here, spread = (f.values["ball.speed"].to("m/s").m for f in found)
    assert here == pytest.approx(spread, rel=1e-9) and here == pytest.approx(10, rel=1e-3)
    assert found[0].runs == pytest.approx(found[1].runs, abs=3)
