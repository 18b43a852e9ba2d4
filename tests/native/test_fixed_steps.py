"""RK23 and methods of fixed step in machine code: against SciPy and formulae of textbooks."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose
from scipy.integrate import RK23, solve_ivp

from benchmarks import models
from benchmarks.models import alone
from blocks import (
    Component,
    Discrete,
    Parameter,
    SimulationError,
    Variable,
    delayed,
    der,
    every,
    quantity,
    sin,
    time,
)
from library.electrical import ACVoltageSource, Capacitor, Diode, ElectricalReference, Resistor
from library.translational import Damper, HardStop, Mass, Reference, Spring

GRID = {"step": "1 ms", "rtol": 1e-9}  # of Newton's method


class Swing(Component):
    """A pendulum that time pushes."""

    angle = Variable("1", 1.0, priority="high")
    rate = Variable("1/s", "0 1/s", priority="high")

    def equations(self):
        yield der(self.angle) == self.rate
        yield der(self.rate) == quantity("1/s^2") * (
            sin(quantity("2/s") * time) / 2 - 9 * sin(self.angle))


class Sampled(Component):
    """A first-order lag whose input is what it was at the last sample, and 1 less."""

    interval = Parameter("10.3 ms")
    x = Variable("1", 1.0, priority="high")
    u = Discrete("1", 0.0)

    def equations(self):
        yield der(self.x) == (self.u - self.x) / quantity("20 ms")
        yield every(self.interval, {self.u: 1 - self.x})


def ball():
    """A mass that bounces between stops."""
    return wired("ball", "mass.M stop.R spring.R", "stop.C spring.C ground.V",
                 mass=Mass(mass="1 kg", v="1 m/s"),
                 stop=HardStop(upper_bound="0.1 m", lower_bound="-0.1 m"),
                 spring=Spring(stiffness="50 N/m"), ground=Reference())


def rectifier():
    return wired("rectifier", "source.p inner.p", "inner.n diode.p", "diode.n store.p load.p",
                 "source.n store.n load.n ground.V",
                 source=ACVoltageSource(amplitude="10 V", frequency="50 Hz"),
                 diode=Diode(model="ideal"), ground=ElectricalReference(),
                 load=Resistor(resistance="100 ohm"), inner=Resistor(resistance="1 ohm"),
                 store=Capacitor(capacitance="1 mF", parasitic=False))


def compiled(model, duration, **options):
    run = model.simulate(duration, **options)
    assert run.statistics.why == "chosen by the user, in machine code"
    return run


def ends_of_steps(run):
    return np.unique(np.concatenate([e.trajectory.t for e in run.recording.episodes]))


def by_hand(method, f, t, x, stops, h):
    """Ends of steps, and values there, on grids that begin at ``t`` and at every one of ``stops``;
    ``f(t, x, k)`` is the slope on the way to the stop of number ``k``."""
    times, values = [t], [x]
    for k, stop in enumerate(stops):
        start, count = t, int(np.ceil((stop - t) / h - 1e-6))
        for n in range(1, count + 1):
            end = stop if n == count else start + n * h
            x, t = FORMULAE[method](lambda t, x, k=k: np.array(f(t, x, k)), t, x, end - t), end
            times.append(t)
            values.append(x)
    return np.array(times), np.array(values)


def rk4(f, t, x, h):
    a = f(t, x)
    b = f(t + h / 2, x + h / 2 * a)
    c = f(t + h / 2, x + h / 2 * b)
    return x + h / 6 * (a + 2 * b + 2 * c + f(t + h, x + h * c))


def implicit(share):
    def step(f, t, x, h):
        known = y = x + (1 - share) * h * f(t, x)
        for _ in range(30):  # each round is twenty times nearer, or more
            y = known + share * h * f(t + h, y)
        return y
    return step


FORMULAE = {"euler": lambda f, t, x, h: x + h * f(t, x), "rk4": rk4,
            "backward_euler": implicit(1.0), "trapezoidal": implicit(0.5)}


@pytest.mark.parametrize("method", FORMULAE)
def test_fixed_steps_are_those_of_the_textbook(method):
    run = compiled(alone(Swing()), "0.5 s", method=method, **GRID)
    times, values = by_hand(method, lambda t, x, _: [
        x[1], np.sin(2 * t) / 2 - 9 * np.sin(x[0])], 0.0, np.array([1.0, 0.0]), [0.5], 1e-3)
    assert_allclose(ends_of_steps(run), times, rtol=0, atol=1e-13)
    assert_allclose(run["part.angle"].at(quantity(times, "s")).m, values[:, 0], atol=1e-10)


@pytest.mark.parametrize("method", FORMULAE)
def test_a_grid_begins_anew_at_every_sample(method):
    run = compiled(alone(Sampled()), "0.2 s", method=method, **GRID)
    stops = [*(10.3e-3 * np.arange(1, 20)), 0.2]
    held = [0.0]  # what was sampled at the start of each part

    def slope(t, x, part):
        return (held[part] - x) / 20e-3

    t, x, times = 0.0, np.array([1.0]), [0.0]
    held[0] = 1 - x[0]
    for part, stop in enumerate(stops):
        more, values = by_hand(method, lambda t, x, _, p=part: slope(t, x, p), t, x, [stop], 1e-3)
        times += more[1:].tolist()
        t, x = stop, values[-1]
        held.append(1 - x[0])
    assert_allclose(ends_of_steps(run), times, rtol=0, atol=1e-11)
    assert run["part.x"].final.m == pytest.approx(x[0], rel=1e-9)


@pytest.mark.parametrize("make, duration, method, bound", [
    (ball, "0.3 s", "euler", 1e-4), (ball, "0.3 s", "trapezoidal", 1e-5),
    (rectifier, "50 ms", "rk4", 5e-7), (rectifier, "50 ms", "backward_euler", 1e-4),
    (models.block_on_belt, "1.7 s", "rk4", 5e-7),
    (models.block_on_belt, "1.7 s", "trapezoidal", 1e-5)])
def test_events_are_those_of_small_steps_within_the_errors_of_fixed_ones(
        make, duration, method, bound):
    run = compiled(make(), duration, method=method, step="0.1 ms", rtol=1e-9)
    exact = make().simulate(duration, method="dopri5", rtol=1e-11)
    assert [e.description for e in run.events] == [e.description for e in exact.events]
    assert_allclose([e.time for e in run.events], [e.time for e in exact.events], rtol=0,
                    atol=bound)


def test_a_grid_does_not_drift():
    """One step ends at every multiple of its length, however many there were before."""
    run = compiled(alone(Swing()), "30 s", method="euler", **GRID)
    assert_allclose(ends_of_steps(run), np.arange(30_001) * 1e-3, rtol=0, atol=1e-13)


@pytest.mark.parametrize("method, order", [
    ("euler", 1), ("rk4", 4), ("backward_euler", 1), ("trapezoidal", 2)])
def test_errors_of_fixed_steps_fall_with_their_order(method, order):
    def swing(t, y):
        return [y[1], np.sin(2 * t) / 2 - 9 * np.sin(y[0])]

    exact = solve_ivp(swing, (0, 1), [1.0, 0.0], method="DOP853", rtol=1e-13, atol=1e-13).y[0, -1]
    coarse, fine = (abs(compiled(alone(Swing()), "1 s", method=method, step=step)[
        "part.angle"].final.m - exact) for step in ("4 ms", "1 ms"))
    assert np.log(coarse / fine) / np.log(4) == pytest.approx(order, abs=0.1)


def test_steps_of_order_3_and_what_is_between_them_are_scipys():
    """Steps of one length, so that both take the same ones."""
    length, count = 1 / 128, 64
    end = length * count
    run = compiled(alone(Swing()), quantity(end, "s"), method="RK23", rtol=1e-2,
                   first_step=f"{length} s", max_step=f"{length} s")
    hand = solve_ivp(lambda t, y: [y[1], np.sin(2 * t) / 2 - 9 * np.sin(y[0])], (0, end),
                     [1.0, 0.0], method=RK23, first_step=length, max_step=length, rtol=0.5,
                     atol=0.5, dense_output=True)
    assert len(hand.t) == count + 1 == run.statistics["steps"] + 1
    between = np.linspace(0, end, 777)
    assert run["part.angle"].at(quantity(between, "s")).m == pytest.approx(
        hand.sol(between)[0], abs=1e-14)


@pytest.mark.parametrize("rtol", [1e-3, 1e-5, 1e-7])
def test_order_3_keeps_to_its_tolerance(rtol):
    """A damped oscillator, by its closed form."""
    model = wired("oscillator", "mass.M spring.R damper.R", "spring.C damper.C ground.V",
                  mass=Mass(mass="1 kg", v="1 m/s"), spring=Spring(stiffness="100 N/m"),
                  damper=Damper(damping="1 N*s/m"), ground=Reference())
    run = compiled(model, "3 s", method="RK23", rtol=rtol)
    t, w = np.linspace(0, 3, 301), np.sqrt(99.75)
    speed = np.exp(-t / 2) * (np.cos(w * t) - np.sin(w * t) / (2 * w))
    assert_allclose(run["mass.v"].at(quantity(t, "s")).m, speed, atol=100 * rtol)


def test_order_3_finds_the_events_of_another_method():
    run = compiled(models.block_on_belt(), "5 s", method="RK23", rtol=1e-7)
    other = models.block_on_belt().simulate("5 s", method="DOP853", rtol=1e-11)
    assert [e.component for e in run.events] == [e.component for e in other.events]
    assert_allclose([e.time for e in run.events], [e.time for e in other.events], atol=1e-6)


@pytest.mark.parametrize("method, reason", [
    ("rk4", "not finite"), ("trapezoidal", "Newton's method has not converged in 20 iterations")])
def test_a_step_that_cannot_be_taken_is_told(method, reason):
    """x' = x^2 from 1 has no value at 1 s."""
    class Blow(Component):
        x = Variable("1", 1.0, priority="high")

        def equations(self):
            yield der(self.x) == self.x**2 / quantity("1 s")

    with pytest.raises(SimulationError, match=reason) as caught:
        alone(Blow()).simulate("2 s", method=method, step="10 ms")
    assert "a shorter step or method='auto' may help" in str(caught.value)
    before = caught.value.data["result"]
    assert 0.9 < before.time.m[-1] < 1.1
    assert_allclose(before["part.x"].at("0.5 s").m, 2.0, rtol=1e-3)


def test_fixed_steps_stay_on_the_branch_of_a_loop_and_know_the_past():
    """A loop through a curve; and x' = -x a second ago, which was 1: a step of its length."""
    class Curve(Component):
        x = Variable("1", 1.0, priority="high")
        y = Variable("1", 0.5)

        def equations(self):
            yield der(self.x) == -self.y / quantity("1 s")
            yield self.y + self.y**3 == self.x

    class Late(Component):
        x = Variable("1", 1.0, priority="high")

        def equations(self):
            yield der(self.x) == -delayed(self.x, quantity("1 s"), initial=1.0) / quantity("1 s")

    run = compiled(alone(Curve()), "1 s", method="rk4", step="10 ms")
    exact = alone(Curve()).simulate("1 s", method="dopri5", rtol=1e-10)
    assert_allclose(run["part.x"].final.m, exact["part.x"].final.m, rtol=1e-8)
    for step in "10 ms", "3 s":
        late = compiled(alone(Late()), "2 s", method="rk4", step=step)
        assert late["part.x"].final.m == pytest.approx(1 - 2 + 1 / 2, abs=1e-12)
