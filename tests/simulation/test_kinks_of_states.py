"""Where ``abs``, ``minimum`` and ``maximum`` of states bend, runs are as exact as elsewhere.

There is a place in each step where an error estimate sees next to nothing of a kink.
"""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import Component, Variable, abs_, der, maximum, minimum, quantity, sin, time, where

WHERE = {maximum: lambda a, b: where(a > b, a, b), minimum: lambda a, b: where(a < b, a, b),
         abs_: lambda a, _: where(a > 0, a, -a)}  # what is an event
KINKS = {**{name: name for name in WHERE}, abs_: lambda a, _: abs_(a)}


def driven(seed, said):
    """A first-order lag, driven by two sines, with two kinks in its slope."""
    draw = np.random.default_rng(seed)
    a, w, kinds = draw.uniform(-1, 1, 10), draw.uniform(0.5, 8, 2), draw.integers(3, size=2)

    class Lag(Component):
        x = Variable("1", 0.3, priority="high")

        def equations(self):
            t, one = time / quantity("1 s"), quantity("1 s")
            bent = [said[(maximum, minimum, abs_)[kind]](self.x - a[k] / 2, 0.3 * k * a[7])
                    for k, kind in enumerate(kinds)]
            drive = 2 * sin(w[0] * t) + a[4] * sin(w[1] * t)
            yield one * der(self.x) == 3 * a[2] * bent[0] + 2 * a[3] * bent[1] + drive - self.x

    return wired("driven", lag=Lag())


@pytest.mark.parametrize("seed", range(12))
def test_kinks_of_a_state_cost_no_accuracy(seed):
    times = quantity(np.linspace(0, 6, 101), "s")
    exact = driven(seed, WHERE).simulate("6 s", method="DOP853", rtol=1e-11)["lag.x"].at(times).m
    size = max(1, np.abs(exact).max())
    for method, most in {"dopri5": 1e-5, "DOP853": 2e-6, "RK45": 1e-5, "RK23": 2e-5, "rodas4": 2e-6,
                         "Radau": 2e-6, "BDF": 1e-4}.items():
        run = driven(seed, KINKS).simulate("6 s", method=method, rtol=1e-6)
        assert_allclose(run["lag.x"].at(times).m, exact, rtol=0, atol=most * size, err_msg=method)
        assert not len(run.events)


def test_a_spring_that_pushes_harder_than_it_pulls_swings_in_two_halves():
    class Swing(Component):
        x, v = Variable("m", "0 m", priority="high"), Variable("m/s", "1 m/s", priority="high")

        def equations(self):
            yield der(self.x) == self.v
            yield der(self.v) == -quantity("100 1/s^2") * maximum(self.x, 0) - quantity(
                "1 1/s^2") * minimum(self.x, 0)

    run = wired("swing", swing=Swing()).simulate(quantity(11 * np.pi, "s"), rtol=1e-7)
    assert_allclose(run["swing.x"].at(quantity(np.pi * np.array([0.05, 0.6, 9.95, 10.5]), "s")).m,
                    [0.1, -1, 0.1, -1], rtol=1e-6)


@pytest.mark.parametrize("method", ["auto", "rodas4", "Radau", "BDF"])
def test_what_is_at_rest_at_a_kink_but_for_tolerances_ends_no_steps(method):
    class Outflow(Component):
        """A level falls by its root, which is a straight line where it is next to nothing."""

        level = Variable("1", 1.0, priority="high")

        def equations(self):
            steep = self.level / (abs_(self.level) + 1e-7) ** 0.5
            yield quantity("1 s") * der(self.level) == -steep

    run = wired("outflow", tank=Outflow()).simulate("5 s", method=method)
    assert_allclose(run["tank.level"].at("1 s").m, 0.25, rtol=1e-4)  # (1 - t/2)^2
    assert abs(run["tank.level"].final.m) < 1e-6
    assert run.statistics.steps < 200
