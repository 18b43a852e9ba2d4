"""Are delayed signals what they were, to the accuracy of the run?

Closed forms by the method of steps: Bellen and Zennaro, Numerical Methods for Delay
Differential Equations, Oxford 2003, section 1.
"""

import pickle
from math import pi

import numpy as np
import pytest
from benches import few, wire, wired
from benches.friction import dry
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose

import blocks
import library.signal as sig
import library.translational as tr
from blocks import Component, Discrete, Parameter, Port, Variable, delayed, der, quantity

PER_SECOND = quantity("1 1/s")


def alone(part, name="c"):
    return wired("delayed", **{name: part})


class Decay(Component):
    """y' = -y(t - T)/s, with y = 1 before."""

    delay = Parameter("1 s")
    y = Variable("1", 1, priority="high")

    def equations(self):
        yield der(self.y) == -delayed(self.y, self.delay, initial=1) * PER_SECOND


def decay(t, delay):
    """The polynomials of the method of steps."""
    pieces, level = [], Polynomial([1.0])
    for _ in range(int(np.max(t) / delay) + 1):
        rise = -level.integ()
        level = rise + (pieces[-1](delay) if pieces else 1.0)
        pieces.append(level)
    k = np.floor(t / delay).astype(int)
    return np.array([pieces[i](x - i * delay) for i, x in zip(k, t, strict=True)])


@pytest.mark.parametrize("delay", [1.0, 0.37])
@few(2, "method", ["auto", "dopri5", "rodas4", "DOP853", "ode45", "Radau"])
def test_a_quantity_that_decays_by_its_own_past_is_a_polynomial_in_every_period(method, delay):
    rtol = 1e-8
    run = alone(Decay(delay=f"{delay} s")).simulate("4.9 s", method=method, rtol=rtol)
    if method == "dopri5" and blocks.native.is_installed():  # steps are taken again
        assert type(run.recording.episodes[-1].trajectory).__name__ == "Course"
    t = np.linspace(0, 4.9, 50)
    assert_allclose(run["c.y"].at(quantity(t, "s")).m, decay(t, delay), atol=50 * rtol)


@pytest.mark.parametrize("count", [3, 400])  # of a large network: laws in loops
def test_instances_read_a_past_of_their_own(count):
    delays = [0.2 + k % 3 / 10 for k in range(count)]
    run = alone(Decay(count=count, delay=quantity(delays, "s"))).simulate(
        "0.5 s", method="dopri5", rtol=1e-8)
    for k in sorted({0, 1, count // 7, count - 1}):
        assert_allclose(run[f"c[{k}].y"].final.m, decay(np.array([0.5]), delays[k]), atol=1e-6)


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
def test_a_sine_behind_a_short_delay(method):
    model = wired("behind", "tone.y late.u", "late.y sum.u",
                  tone=sig.Sine(frequency="0.5 Hz"), late=sig.Delay(delay="1 ms"),
                  sum=sig.Integrator())
    result = model.simulate("1 s", method=method, rtol=1e-8)
    t = np.array([0.25, 0.5, 1.0])
    found = result["sum.y"].at(quantity(t, "s")).m
    assert_allclose(found, (1 - np.cos(pi * (t - 1e-3))) / pi, atol=1e-8)


@pytest.mark.parametrize("method", ["dopri5", "ode45"])
def test_a_delay_in_a_run_that_starts_late(method):
    model = wired("late", "tone.y late.u held.u", "late.y sum.u",
                  tone=sig.Sine(frequency="1 Hz"), late=sig.Delay(delay="0.25 s"),
                  sum=sig.Integrator(), held=sig.ZeroOrderHold(sample_time="10 ms"))
    for start in (0, 1_000_000):  # whole periods, of which 1e-10 s are told apart
        run = model.simulate("1 s", method=method, start_time=f"{start} s")
        assert_allclose(run["sum.y"].final.m, 1 / (2 * pi), atol=1e-6)  # over three quarters of one


def test_many_delays_each_before_a_lag():
    count, lag, turn = 60, 0.1, 2 * pi
    delays = np.linspace(0.05, 0.2, count)
    model = wired("many", "tone.y late.u", "late.y lag.u",
                  tone=sig.Sine(frequency="1 Hz"),
                  late=sig.Delay(count=count, delay=quantity(delays, "s")),
                  lag=sig.TransferFunction(count=count, numerator=[1.0], denominator=[lag, 1.0]))
    run = model.simulate("1 s")
    since = 1 - delays
    shape = np.sin(turn * since) - turn * lag * (np.cos(turn * since) - np.exp(-since / lag))
    found = [run[f"lag[{k}].y"].final.m for k in range(count)]
    assert_allclose(found, shape / (1 + (turn * lag) ** 2), atol=1e-5)


def test_a_quarter_period_of_delay_in_a_loop_keeps_an_oscillation_going_for_ever():
    class Loop(Component):
        y = Variable("m", "1 m", priority="high")

        def equations(self):
            omega = quantity(pi / 2, "rad/s")  # with the delay 1 s: a quarter turn
            past = delayed(self.y, "1 s", initial=quantity("1 m") * blocks.cos(omega * blocks.time))
            yield der(self.y) == -omega * past

    run = alone(Loop()).simulate("20 s", rtol=1e-9)
    t = np.linspace(0, 20, 81)
    assert_allclose(run["c.y"].at(quantity(t, "s")).to("m").m, np.cos(pi / 2 * t), atol=1e-6)


@pytest.mark.parametrize("method", ["DOP853", "rodas4"])
def test_a_step_arrives_one_delay_later_at_the_very_instant(method):
    model = wired("step", "step.y delay.u", "delay.y sum.u",
                  step=sig.Step(final="5 N", start="1 s"),
                  delay=sig.Delay(unit="N", delay="0.7 s", initial_output="2 N"),
                  sum=sig.Integrator(input="N"))
    run = model.simulate("3 s", method=method)
    seen = run["delay.y"].at(["0.1 s", "0.6999 s", "0.7001 s", "1.6999 s", "1.7001 s", "3 s"])
    assert_allclose(seen.to("N").m, [2, 2, 0, 0, 5, 5], atol=0)
    assert_allclose(run["sum.y"].final.to("N*s").m, 0.7 * 2 + 1.3 * 5, rtol=1e-12)


def test_delays_in_series_add_up():
    model = wired("series", "wave.y first.u", "first.y second.u",
                  wave=sig.Sine(amplitude="3 m", frequency="4 Hz"),
                  first=sig.Delay(unit="m", delay="0.3 s"),
                  second=sig.Delay(unit="m", delay="0.45 s"))
    run = model.simulate("3 s", rtol=1e-8)
    t = np.linspace(0, 3, 200)
    exact = np.where(t > 0.75, 3 * np.sin(8 * pi * (t - 0.75)), 0)
    assert_allclose(run["second.y"].at(quantity(t, "s")).to("m").m, exact, atol=3e-7)


def test_an_echo_of_a_constant_sums_to_a_geometric_series():
    model = wired("echo", "one.y sum.u1", "delay.y sum.u2", "sum.y delay.u",
                  one=sig.Constant(value=1), sum=sig.Sum(signs="++"), delay=Echo())
    run = model.simulate("5 s")
    n = np.arange(10)
    heard = run["sum.y"].at(quantity(0.5 * n + 0.25, "s")).m
    assert_allclose(heard, (1 - 0.6 ** (n + 1)) / 0.4, rtol=1e-12)


water = blocks.Domain("water of delays", across={"p": "Pa"}, through={"q": "m^3/s"})


class Line(Component):
    """A lossless line, by the waves that arrive at its ends."""

    A, B = Port(water), Port(water)
    impedance, delay = Parameter("1e7 Pa*s/m^3", above=0), Parameter("0.1 s", above=0)
    a, b = Variable("Pa"), Variable("Pa")

    def equations(self):
        none = quantity("0 Pa")
        yield self.a == self.A.p + self.impedance * self.A.q
        yield self.b == self.B.p + self.impedance * self.B.q
        yield self.A.p - self.impedance * self.A.q == delayed(self.b, self.delay, initial=none)
        yield self.B.p - self.impedance * self.B.q == delayed(self.a, self.delay, initial=none)


class Supply(Component):
    P = Port(water)

    def equations(self):
        yield self.P.p == quantity("1 bar")


class Vessel(Component):
    P = Port(water)
    p = Variable("Pa", "0 Pa", priority="high")

    def equations(self):
        yield self.p == self.P.p
        yield quantity("1e-9 m^3/Pa") * der(self.p) == self.P.q


def test_a_wave_along_lines_in_series_fills_a_vessel():
    model = wired("hammer", "supply.P line[0].A", "line[1:].A line[:-1].B", "line[-1].B vessel.P",
                  supply=Supply(), line=Line(count=4, delay="25 ms"), vessel=Vessel())
    run = model.simulate("0.3 s", rtol=1e-7)
    # the vessel is filled through the impedance by twice the pressure that arrives
    t = np.linspace(0.101, 0.299, 50)
    filled = 2e5 * -np.expm1(-(t - 0.1) / 0.01)
    assert_allclose(run["vessel.p"].at(quantity(t, "s")).m, filled, atol=0.2)


class Echo(Component):
    u = blocks.Input()
    y = blocks.Output()

    def equations(self):
        yield self.y == 0.6 * delayed(self.u, "0.5 s")


def test_a_relay_behind_a_dead_time_swings_by_twice_that_time():
    class Relay(Component):
        x = Variable("m", "0.5 m", priority="high")
        crossings = Discrete("1", 0)

        def equations(self):
            seen = delayed(self.x, "1 s", initial="0.5 m")
            yield der(self.x) == blocks.where(seen > 0, quantity("-1 m/s"), quantity("1 m/s"))
            yield blocks.when(self.x < 0, {self.crossings: self.crossings + 1})

    run = alone(Relay()).simulate("20 s", rtol=1e-8)
    t = np.linspace(0.5, 20, 40)  # from x = 0 on a triangle of amplitude 1 m and period 4 s
    exact = -2 / pi * np.arcsin(np.sin(pi / 2 * (t - 0.5)))
    assert_allclose(run["c.x"].at(quantity(t, "s")).to("m").m, exact, atol=1e-8)
    assert run["c.crossings"].final.m == 5
    assert not run.statistics.get("events in Python")


def test_friction_breaks_away_one_delay_after_the_load_has_reached_its_bound():
    model = wired("late", "ramp.y delay.u", "delay.y push.S", "push.R block.M friction.R",
                  "push.C friction.C ground.V",
                  ramp=sig.Ramp(slope="10 N/s"), delay=sig.Delay(unit="N", delay="0.8 s"),
                  push=tr.ForceSource(), block=tr.Mass(mass="1 kg"), ground=tr.Reference(),
                  friction=dry(20, 25, viscous_coefficient="0 N*s/m"))
    run = model.simulate("4.3 s", rtol=1e-9)
    (slip,) = run.events.of("friction")
    assert_allclose(slip.time, 2.5 + 0.8, rtol=1e-9)
    assert_allclose(run["block.v"].final.to("m/s").m, 5 * 1 + 10 / 2, rtol=1e-7)
    assert_allclose(run["friction.f"].at("2 s").to("N").m, 10 * 1.2, rtol=1e-7)
    assert run.energy().relative_residual < 1e-6
    driven = model.stepper(outputs=["block.v", "delay.y"])
    for k in range(1, 44):
        driven.advance("0.1 s")
        assert_allclose(driven["delay.y"].to("N").m, max(k - 8, 0), rtol=1e-12, atol=1e-12)
    assert_allclose(driven["block.v"].to("m/s").m, 5 * 1 + 10 / 2, rtol=1e-7)


def test_the_past_of_one_run_is_not_that_of_the_next():
    model = alone(Decay())
    first = model.simulate("3 s", rtol=1e-9)["c.y"].final
    model.c.delay = "0.37 s"
    second = model.simulate("3 s", rtol=1e-9)["c.y"].final.m
    assert_allclose(second, decay(np.array([3.0]), 0.37)[0], atol=1e-7)
    again = pickle.loads(pickle.dumps(alone(Decay()))).simulate("3 s", rtol=1e-9)
    assert again["c.y"].final == first


@pytest.mark.parametrize(("unit", "move", "between", "words"), [
    ("m", tr.PositionSource(), tr.Rod(), "needs the derivative of a delayed signal"),
    ("m/s", tr.VelocitySource(), tr.TranslationalFriction(law="coulomb"),
     "^part: has a relative velocity that is a delayed")])
def test_a_body_is_not_moved_by_a_delayed_position_nor_rubs_on_a_delayed_speed(
        unit, move, between, words):
    model = wired("follow", "wave.y delay.u", "delay.y move.S", "move.C ground.V", "move.R part.R",
                  "part.C block.M", wave=sig.Sine(amplitude=quantity(1, unit), frequency="1 Hz"),
                  delay=sig.Delay(unit=unit), move=move, part=between, block=tr.Mass(),
                  ground=tr.Reference())
    with pytest.raises(blocks.EquationError, match=words) as refused:
        model.simulate("1 s")
    assert refused.value.code == "equation.delayed"


@pytest.mark.parametrize(("delay", "initial", "text"), [
    (lambda c: c.y * quantity("1 s"), 0, "the delay depends on y"),
    (lambda c: blocks.time, 0, "the delay depends on time"),
    (lambda c: "1 s", lambda c: c.y, "what was before the run depends on y")])
def test_a_delay_that_moves_is_refused(delay, initial, text):
    class Moving(Component):
        y = Variable("1", 1, priority="high")
        kind = blocks.Option("a")

        def equations(self):
            before = initial(self) if callable(initial) else initial
            yield der(self.y) == -delayed(self.y, delay(self), initial=before) * PER_SECOND

    with pytest.raises(blocks.EquationError, match=text):
        alone(Moving()).simulate("1 s")


def test_a_delay_of_no_time_is_refused_by_name():
    class Shift(Component):
        end = Parameter("2 s")
        y = Variable("1", 1, priority="high")

        def equations(self):
            yield der(self.y) == -delayed(self.y, self.end - quantity("2 s")) * PER_SECOND

    with pytest.raises(blocks.ParameterError,
                       match=r"^c: delays by 0 s\. A delay must be longer") as no:
        alone(Shift()).simulate("1 s")
    assert no.value.code == "parameter.delay"


def test_a_spring_takes_up_a_delayed_position():
    model = wired("follow", "wave.y delay.u", "delay.y push.S", "push.R block.M spring.R",
                  "push.C spring.C ground.V",
                  wave=sig.Sine(amplitude="10 N", frequency="1 Hz"),
                  delay=sig.Delay(unit="N", delay="2 s"), push=tr.ForceSource(),
                  block=tr.Mass(mass="2 kg"), ground=tr.Reference(),
                  spring=tr.Spring(stiffness="18 N/m"))
    run = model.simulate("8 s", rtol=1e-9)
    t = np.linspace(2, 8, 60)
    omega, own = 2 * pi, 3.0
    after = t - 2
    exact = 10 / 2 / (own**2 - omega**2) * (np.sin(omega * after)
                                            - omega / own * np.sin(own * after))  # fmt: skip
    assert_allclose(run["spring.x"].at(quantity(t, "s")).to("m").m, exact, atol=1e-7)
    assert np.abs(run["spring.x"].at(quantity(np.linspace(0, 2, 9), "s")).m).max() == 0


@pytest.mark.parametrize(("method", "step"), [("BDF", None), ("rk4", "5 ms")])
def test_every_kind_of_method_knows_the_past(method, step):
    run = alone(Decay()).simulate("3 s", start_time="2 s", method=method, step=step, rtol=1e-8)
    t = np.linspace(0, 3, 31)
    assert_allclose(run["c.y"].at(quantity(t + 2, "s")).m, decay(t, 1.0), atol=1e-6)


@pytest.mark.parametrize("beside_friction", [False, True])
def test_samples_that_only_pass_through_a_delay_stop_the_run_once_more_each(beside_friction):
    model = wired("sampled", "wave.y hold.u", "hold.y delay.u", "delay.y sum.u",
                  wave=sig.Sine(frequency="1 Hz"), hold=sig.ZeroOrderHold(sample_time="20 ms"),
                  delay=sig.Delay(delay="0.353 s"), sum=sig.Integrator())
    if beside_friction:
        wire(model, "block.M rub.R", "rub.C floor.V",
             block=tr.Mass(v="1 m/s"), floor=tr.Reference(), rub=dry(1))
    run = model.simulate("2 s", rtol=1e-9)
    held = np.sin(2 * pi * 0.02 * np.arange(83))  # the last sample arrives at 1.993 s
    exact = 0.02 * held[:-1].sum() + 0.007 * held[-1]
    assert_allclose(run["sum.y"].final.to("s").m, exact, atol=1e-12)
    assert len(run.recording.episodes) < 190  # 100 samples, 83 arrivals, and what rests
    seen = run["delay.y"].at(quantity([0.36, 0.38, 1.215, 1.99], "s")).m
    assert_allclose(seen, held[[0, 1, 43, 81]], atol=1e-12)


class Tally(Component):
    """Counts samples of what it sees, and keeps the last one."""

    u, n, last, k = blocks.Input("1"), Discrete("1", 0.0), Discrete("1", 0.0), Discrete("1", 0.0)

    def equations(self):
        yield blocks.every("0.1 s", {self.n: self.n + blocks.where(self.u > 0.25, 1, 0),
                                     self.last: self.u})
        yield blocks.when(self.u > 0.5, {self.k: self.k + 1})


class Regrowth(Component):
    """x' = (1 - u)/s."""

    u, y, x = blocks.Input("1"), blocks.Output("1"), Variable("1", 0.0)

    def equations(self):
        yield der(self.x) == (1 - self.u) * PER_SECOND
        yield self.y == self.x


def test_samples_are_taken_where_a_delay_has_passed_beside_friction():
    """x'(t) = 1 - x(t - 0.3 s) is the sum of (-1)^k (t - 0.3 k)^(k + 1)/(k + 1)! of what began."""
    model = wired("tallied", "late.y x.u", "x.y late.u tally.u", "block.M rub.R", "rub.C floor.V",
                  x=Regrowth(), late=sig.Delay(delay="0.3 s"), tally=Tally(),
                  block=tr.Mass(v="1 m/s"), floor=tr.Reference(), rub=dry(1))
    run = model.simulate("0.95 s", rtol=1e-8, method="auto")
    assert run["tally.n"].final.m == 7  # from 0.3 s on
    at_last = 0.9 - 0.6**2 / 2 + 0.3**3 / 6
    assert_allclose(run["tally.last"].final.m, at_last, rtol=1e-6)
