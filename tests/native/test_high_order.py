"""DOP853 in machine code: against SciPy's steps, closed forms, and by the tolerance."""

import numpy as np
import pytest
from benches import wired
from scipy.integrate import DOP853, solve_ivp

from blocks import Component, Model, Parameter, Variable, cos, der, quantity, sin, time
from blocks.native import high_order
from library.translational import Mass, Reference, Spring, TranslationalFriction

H, STEPS = 0.0625, 64


class Swing(Component):
    """A pendulum that time pushes."""

    angle = Variable("1", 1.0, priority="high")
    rate = Variable("1/s", "0 1/s", priority="high")

    def equations(self):
        yield der(self.angle) == self.rate
        yield der(self.rate) == quantity("1/s^2") * (
            cos(quantity("2/s") * time) / 2 - 9 * sin(self.angle))


def swing(t, y):
    return [y[1], np.cos(2 * t) / 2 - 9 * np.sin(y[0])]


def run_of(part: Component, duration: float, **options):
    model = Model("alone")
    model.part = part
    options = {"method": "DOP853", "rtol": 1e-12} | options
    return model.simulate(quantity(duration, "s"), **options)


def is_compiled(run) -> bool:
    return "machine code" in run.statistics["why"]


def test_times_of_stages_are_scipys():
    stages = [*DOP853.C, 1.0, *DOP853.C_EXTRA]
    np.testing.assert_allclose(high_order.STAGE_TIMES, stages[1:], rtol=1e-15)


def test_steps_and_what_is_between_them_are_scipys():
    """Steps of one length, so that both take the same ones."""
    run = run_of(Swing(), H * STEPS, rtol=1e-2, first_step=f"{H} s", max_step=f"{H} s")
    assert is_compiled(run)
    hand = solve_ivp(swing, (0, H * STEPS), [1.0, 0.0], method="DOP853", first_step=H, max_step=H,
                     rtol=0.5, atol=0.5, dense_output=True)
    assert len(hand.t) == STEPS + 1 == run.statistics["steps"] + 1
    assert run["part.angle"].at(quantity(hand.t, "s")).m == pytest.approx(hand.y[0], abs=1e-14)
    between = np.linspace(0, H * STEPS, 777)
    assert run["part.angle"].at(quantity(between, "s")).m == pytest.approx(
        hand.sol(between)[0], abs=1e-14)


@pytest.mark.parametrize("rtol", [1e-4, 1e-7, 1e-10])
def test_error_follows_the_tolerance(rtol):
    exact = solve_ivp(swing, (0, 20), [1.0, 0.0], method="DOP853", rtol=1e-13, atol=1e-14,
                      dense_output=True)
    times = np.linspace(0, 20, 501)
    run = run_of(Swing(), 20, rtol=rtol)
    found = run["part.angle"].at(quantity(times, "s")).m
    assert np.abs(found - exact.sol(times)[0]).max() < 100 * rtol  # amplified by the motion


def test_a_sine_that_is_added_up():
    """Where an estimate of the error vanishes by chance no step is too long."""
    class Sum(Component):
        x = Variable("1", 0.0, priority="high")

        def equations(self):
            yield der(self.x) == quantity("1/s") * sin(quantity("1/s") * time)

    run = run_of(Sum(), 60, rtol=1e-8)
    times = np.linspace(0, 60, 2001)
    error = run["part.x"].at(quantity(times, "s")).m - (1 - np.cos(times))
    assert np.abs(error).max() < 1e-6


def test_what_is_fast_is_damped_between_the_ends_of_steps():
    """Near the limit of stability the steps end right; so is what lies between."""
    class Follows(Component):
        rate = Parameter("1000 1/s")
        x = Variable("1", 1.0, priority="high")

        def equations(self):
            yield der(self.x) == self.rate * (cos(quantity("1/s") * time) - self.x)

    rtol = 1e-6
    run = run_of(Follows(), 3, rtol=rtol)
    assert run.statistics["steps"] < 1500
    times = np.linspace(0.1, 3, 5001)
    exact = (1e6 * np.cos(times) + 1e3 * np.sin(times)) / (1e6 + 1)
    assert np.abs(run["part.x"].at(quantity(times, "s")).m - exact).max() < 10 * rtol


def stuck(**options):
    """Swings of a block on dry friction: each half swing about a point mu g / w^2 aside."""
    model = wired("block", "block.M spring.R friction.R", "spring.C friction.C ground.V",
                  block=Mass(mass="1 kg"), ground=Reference(),
                  spring=Spring(stiffness="100 N/m", x="1 m"),
                  friction=TranslationalFriction(law="coulomb", coulomb_force="8 N",
                                                 breakaway_force="8 N"))
    return model.simulate("3 s", **options)


def test_friction_that_sticks():
    run = stuck(method="DOP853", rtol=1e-11)
    assert is_compiled(run)
    assert run["spring.x"].final.m == pytest.approx(1 - 6 * 2 * 0.08, abs=1e-10)
    assert run["block.v"].final.m == 0
    stops = [event.time for event in run.events if event.component == "friction"]
    assert stops[-1] == pytest.approx(6 * np.pi / 10, abs=1e-10)


def test_auto_takes_it_at_tight_tolerances():
    class Pendulums(Swing):
        pass

    tight, loose = (run_of(Pendulums(), 400, method="auto", rtol=rtol) for rtol in (1e-10, 1e-6))
    assert tight.statistics["method"] == "DOP853"
    assert is_compiled(tight)
    assert loose.statistics["method"] == "dopri5"
