"""Steps of single methods in machine code: those of SciPy, formulae of textbooks, closed forms."""

import numpy as np
import pytest
from benches import wired
from benches.friction import oscillator
from benches.parts import CubicLoop
from numpy.testing import assert_allclose
from scipy.integrate import DOP853, RK23, solve_ivp

import blocks
from benchmarks.cases import models
from benchmarks.cases.models import alone
from blocks import Component, Discrete, Parameter, Variable, cos, delayed, der, quantity, sin, time
from blocks.machine.signatures import run_code
from blocks.native.stages import ATOL, ERROR_NORM, NEW, ROWS, STAGE_TIMES, arithmetic
from blocks.native.step_control import told_error
from library.electrical import ACVoltageSource, Capacitor, Diode, ElectricalReference, Resistor
from library.translational import Damper, HardStop, Mass, Reference, Spring

# -- fixed steps and order 3 ------------------------------------------------------------------
GRID = {"step": "1 ms", "rtol": 1e-9}  # of Newton's method


class Swing(Component):
    """A pendulum that time pushes."""

    angle = Variable("1", 1.0, priority="high")
    rate = Variable("1/s", "0 1/s", priority="high")

    def equations(self):
        yield der(self.angle) == self.rate
        yield der(self.rate) == quantity("1/s^2") * (
            sin(quantity("2/s") * time) / 2 - 9 * sin(self.angle))


def swing(t, y):
    return [y[1], np.sin(2 * t) / 2 - 9 * np.sin(y[0])]


class Sampled(Component):
    """A first-order lag whose input is what it was at the last sample, and 1 less."""

    interval = Parameter("10.3 ms")
    x = Variable("1", 1.0, priority="high")
    u = Discrete("1", 0.0)

    def equations(self):
        yield der(self.x) == (self.u - self.x) / quantity("20 ms")
        yield blocks.every(self.interval, {self.u: 1 - self.x})


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
    times, values = by_hand(method, lambda t, x, _: swing(t, x), 0.0, np.array([1.0, 0.0]), [0.5],
                            1e-3)
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
    exact = solve_ivp(swing, (0, 1), [1.0, 0.0], method="DOP853", rtol=1e-13, atol=1e-13).y[0, -1]
    coarse, fine = (abs(compiled(alone(Swing()), "1 s", method=method, step=step)[
        "part.angle"].final.m - exact) for step in ("4 ms", "1 ms"))
    assert np.log(coarse / fine) / np.log(4) == pytest.approx(order, abs=0.1)


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


def test_fixed_steps_stay_on_the_branch_of_a_loop_and_know_the_past():
    """A loop through a curve; and x' = -x a second ago, which was 1: a step of its length."""
    class Late(Component):
        x = Variable("1", 1.0, priority="high")

        def equations(self):
            yield der(self.x) == -delayed(self.x, quantity("1 s"), initial=1.0) / quantity("1 s")

    run = compiled(alone(CubicLoop()), "1 s", method="rk4", step="10 ms")
    first, last = run["part.y"].initial.m, run["part.y"].final.m
    assert_allclose(np.log(first / last) + 1.5 * (first**2 - last**2), 1.0, rtol=1e-8)
    for step in "10 ms", "3 s":
        late = compiled(alone(Late()), "2 s", method="rk4", step=step)
        assert late["part.x"].final.m == pytest.approx(1 - 2 + 1 / 2, abs=1e-12)


# -- the error that a pair tells --------------------------------------------------------------
LARGEST = 1.0956e-5  # of the estimate of the pair, over (h omega)^5, where nothing but time counts


def estimates(h, phase, rtol):
    """Those of a step along the integral of cos(t + phase), which is about 1 large."""
    k, found = np.zeros((len(ROWS), 1)), np.empty(5)
    k[0], k[NEW], k[ATOL] = np.cos(phase), 1.0, 0.0
    k[1:7, 0] = np.cos(phase + h * np.array(STAGE_TIMES))
    run_code(arithmetic()[ERROR_NORM], np.ones(1), k, found, np.array([1]), np.array([h, rtol]))
    return found[0], found[2]


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-10])
@pytest.mark.parametrize("h", [0.1, 0.5, 1.9])
def test_no_phase_of_a_sine_hides_the_error_of_a_step(h, rtol):
    """The pair's own estimate is a sine of the phase, by the closed form of its weights."""
    own, told = [], []
    for phase in np.linspace(0, np.pi, 721):
        error, lower = estimates(h, phase, rtol)
        own.append(error * rtol)
        told.append(told_error(error, lower, rtol) * rtol)
    assert min(own) < 5e-3 * max(own)
    assert max(own) == pytest.approx(LARGEST * h**5, rel=0.05)
    assert max(told) == max(own)
    assert min(told) > 0.25 * max(own)


# -- DOP853 -----------------------------------------------------------------------------------
@pytest.mark.parametrize(("method", "length"), [(RK23, 1 / 128), (DOP853, 1 / 16)])
def test_steps_and_what_is_between_them_are_scipys(method, length):
    """Steps of one length, so that both take the same ones."""
    count = 64
    end = length * count
    run = compiled(alone(Swing()), quantity(end, "s"), method=method.__name__, rtol=1e-2,
                   first_step=f"{length} s", max_step=f"{length} s")
    hand = solve_ivp(swing, (0, end), [1.0, 0.0], method=method, first_step=length,
                     max_step=length, rtol=0.5, atol=0.5, dense_output=True)
    assert len(hand.t) == count + 1 == run.statistics["steps"] + 1
    assert run["part.angle"].at(quantity(hand.t, "s")).m == pytest.approx(hand.y[0], abs=1e-14)
    between = np.linspace(0, end, 777)
    assert run["part.angle"].at(quantity(between, "s")).m == pytest.approx(
        hand.sol(between)[0], abs=1e-14)


@pytest.mark.parametrize("rtol", [1e-4, 1e-7, 1e-10])
def test_error_follows_the_tolerance(rtol):
    exact = solve_ivp(swing, (0, 20), [1.0, 0.0], method="DOP853", rtol=1e-13, atol=1e-14,
                      dense_output=True)
    times = np.linspace(0, 20, 501)
    run = compiled(alone(Swing()), "20 s", method="DOP853", rtol=rtol)
    found = run["part.angle"].at(quantity(times, "s")).m
    assert np.abs(found - exact.sol(times)[0]).max() < 100 * rtol  # amplified by the motion


def test_a_sine_that_is_added_up():
    """Where an estimate of the error vanishes by chance no step is too long."""
    class Sum(Component):
        x = Variable("1", 0.0, priority="high")

        def equations(self):
            yield der(self.x) == quantity("1/s") * sin(quantity("1/s") * time)

    run = compiled(alone(Sum()), "60 s", method="DOP853", rtol=1e-8)
    times = np.linspace(0, 60, 2001)
    assert np.abs(run["part.x"].at(quantity(times, "s")).m - (1 - np.cos(times))).max() < 1e-6


def test_what_is_fast_is_damped_between_the_ends_of_steps():
    """Near the limit of stability the steps end right; so is what lies between."""
    class Follows(Component):
        rate = Parameter("1000 1/s")
        x = Variable("1", 1.0, priority="high")

        def equations(self):
            yield der(self.x) == self.rate * (cos(quantity("1/s") * time) - self.x)

    rtol = 1e-6
    run = compiled(alone(Follows()), "3 s", method="DOP853", rtol=rtol)
    assert run.statistics["steps"] < 1500
    times = np.linspace(0.1, 3, 5001)
    exact = (1e6 * np.cos(times) + 1e3 * np.sin(times)) / (1e6 + 1)
    assert np.abs(run["part.x"].at(quantity(times, "s")).m - exact).max() < 10 * rtol


def test_friction_that_sticks():
    """Each half swing goes about a point 0.08 m aside."""
    run = compiled(oscillator(0.08, x0=1.0), "30 s", method="DOP853", rtol=1e-11)
    assert run["spring.x"].final.m == pytest.approx(1 - 6 * 2 * 0.08, abs=1e-10)
    assert run["body.v"].final.m == 0
    stops = [event.time for event in run.events if event.component == "friction"]
    assert stops[-1] == pytest.approx(6 * np.pi, abs=1e-9)


def test_auto_takes_it_at_tight_tolerances():
    tight, loose = (alone(Swing()).simulate("400 s", rtol=rtol) for rtol in (1e-10, 1e-6))
    assert tight.statistics["method"] == "DOP853"
    assert "machine code" in tight.statistics["why"]
    assert loose.statistics["method"] == "dopri5"
