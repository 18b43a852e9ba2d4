"""Samples that machine code takes itself: the sequences of difference equations."""

import numpy as np
import pytest
from benches import wired
from carried_out_in_python import flips
from numpy.testing import assert_allclose

from blocks import (
    Component,
    Discrete,
    Input,
    Model,
    Output,
    Parameter,
    Target,
    Variable,
    der,
    every,
    quantity,
    when,
    where,
)
from blocks.native.samples import is_due, sample_number
from library.translational import ForceSource, Mass, MotionSensor, Reference, TranslationalFriction


class Follower(Component):
    """dx/dt = u, with u = -gain x taken every period and held."""

    period, first = Parameter("1 ms", above=0), Parameter("0 s")
    gain = Parameter("100 1/s")
    x = Variable("m", "1 m")
    u = Discrete("m/s")
    number = Discrete("1")

    def equations(self):
        yield der(self.x) == self.u
        yield every(self.period, {self.u: -self.gain * self.x, self.number: self.number + 1},
                    start=self.first)


class Latched(Follower):
    """Slower by half once the samples have brought x below a quarter."""

    half = Variable("m/s")

    def equations(self):
        yield self.half == where(self.u > quantity(-25, "m/s"), 0.5, 1.0) * self.u
        yield der(self.x) == self.half
        yield every(self.period, {self.u: -self.gain * self.x, self.number: self.number + 1},
                    start=self.first)


def alone(part: type[Component] = Follower, **given: str) -> Model:
    return wired("samples", part=part(**given))


def at(run, name, times):
    return run[name].at(quantity(times, "s")).m


def test_a_held_feedback_is_a_geometric_sequence(monkeypatch):
    python = flips(monkeypatch)
    run = alone().simulate("0.2 s", method="dopri5")
    k = np.arange(200)
    assert_allclose(at(run, "part.x", k * 1e-3), 0.9**k, rtol=0, atol=1e-12)
    assert_allclose(at(run, "part.x", (k + 0.5) * 1e-3), 0.95 * 0.9**k, rtol=0, atol=1e-12)
    assert_allclose(at(run, "part.u", (k + 0.5) * 1e-3), -100 * 0.9**k, rtol=0, atol=1e-10)
    assert_allclose(at(run, "part.number", (k + 0.5) * 1e-3), k + 1, rtol=0)
    assert not python


def test_more_samples_than_one_call_takes():
    """The record holds 4,096 steps; here are 10,000 samples."""
    run = alone(gain="1 1/s").simulate("10 s", method="dopri5")
    k = np.array([1, 4095, 4096, 4097, 8191, 8192, 8193, 9999])
    assert_allclose(at(run, "part.number", (k + 0.5) * 1e-3), k + 1, rtol=0)
    assert_allclose(at(run, "part.x", k * 1e-3), 0.999**k, rtol=0, atol=1e-11)


@pytest.mark.parametrize(("period", "first"), [("1 ms", "0 s"), ("0.3 ms", "0.1 ms"),
                                               ("7 ms", "3 ms")])
def test_every_method_takes_the_same_samples(period, first):
    given = {"period": period, "first": first}
    run, python = (alone(**given).simulate("0.1 s", method=m, rtol=1e-9)
                   for m in ("dopri5", "DOP853"))
    times = np.linspace(0, 0.1, 733)
    for name in ("part.x", "part.u", "part.number"):
        assert_allclose(at(run, name, times), at(python, name, times), rtol=0, atol=1e-12)


def test_a_relation_that_a_sample_switches(monkeypatch):
    python = flips(monkeypatch)
    run = alone(Latched).simulate("0.1 s", method="dopri5")
    x = [1.0]
    for _ in range(99):
        u = -100 * x[-1]
        x.append(x[-1] + 1e-3 * u * (0.5 if u > -25 else 1.0))
    assert_allclose(at(run, "part.x", 1e-3 * np.arange(100)), x, rtol=0, atol=1e-12)
    assert len(python) == 0  # not even at the first sample below a quarter


def test_samplers_of_several_rates_meet_at_instants_that_rounding_tells_apart():
    """0.3 s is another number as three times 0.1 s; both samplers take it at one instant."""
    def build():
        return wired("rates",
                     fast=Follower(period="0.1 s", gain="1 1/s"), slow=Follower(period="0.3 s"))

    run, python = (build().simulate("3.05 s", method=m, rtol=1e-9) for m in ("dopri5", "DOP853"))
    times = np.linspace(0, 3.05, 611)
    for name in ("fast.number", "slow.number", "fast.x"):
        assert_allclose(at(run, name, times), at(python, name, times), rtol=0, atol=1e-12)


def test_a_hold_and_a_unit_delay_read_each_other_as_in_python():
    class Chain(Component):
        x = Variable("m", "0 m")
        a, b, c = Discrete("m", "1 m"), Discrete("m", "2 m"), Discrete("m", "3 m")

        def equations(self):
            yield der(self.x) == quantity(1, "m/s")
            yield every("10 ms", {self.a: self.b, self.b: self.c, self.c: self.a + self.x})

    model = alone(Chain)
    run, python = (model.simulate("0.3 s", method=m, rtol=1e-9) for m in ("dopri5", "DOP853"))
    times = np.linspace(0, 0.3, 301) + 0.1e-3
    for name in ("part.a", "part.b", "part.c"):
        assert_allclose(at(run, name, times[:-1]), at(python, name, times[:-1]), rtol=0, atol=1e-12)


def test_a_controller_beside_exact_friction_makes_the_same_run_in_both(monkeypatch):
    class Push(Component):
        period = Parameter("2 ms")
        x, F = Input("m"), Output("N")
        held = Discrete("N")

        def equations(self):
            yield every(self.period, {self.held: quantity(200, "N/m") * (
                quantity(0.2, "m") - self.x)})
            yield 1 * self.held == self.F

    def build():
        return wired("push", "body.M rub.R force.R sensor.R", "ground.V rub.C force.C sensor.C",
                     "sensor.P push.x", "push.F force.S",
                     ground=Reference(), body=Mass(mass="1 kg"), push=Push(),
                     rub=TranslationalFriction(law="coulomb", coulomb_force="2 N",
                                               breakaway_force="3 N"), force=ForceSource(),
                     sensor=MotionSensor())

    python = build().simulate("1 s", method="DOP853", rtol=1e-9)
    in_python = flips(monkeypatch)
    run = build().simulate("1 s", method="dopri5", rtol=1e-9)
    assert len(in_python) < 25  # of 500
    assert [e.description for e in run.events] == [e.description for e in python.events]
    assert len(run.events) >= 3
    assert_allclose([e.time for e in run.events], [e.time for e in python.events], atol=1e-8)
    times = np.linspace(0, 1, 251)
    for name in ("body.v", "sensor.x", "push.held"):
        assert_allclose(at(run, name, times), at(python, name, times), rtol=0, atol=1e-7)


class Bent(Component):
    """dx/dt = u, and half of it where f is small; u = -gain f is sampled, f + f^3/2 = x."""

    x, f = Variable("m", "1 m", priority="high"), Variable("1")
    u = Discrete("m/s")

    def equations(self):
        yield der(self.x) == where(self.f > 0.3, 1.0, 0.5) * self.u
        yield self.f + 0.5 * self.f**3 == self.x / quantity("1 m")
        yield every("10 ms", {self.u: -self.f * quantity("5 m/s")})


def test_a_sample_and_a_relation_look_at_the_unknown_of_a_nonlinear_loop(monkeypatch):
    python = flips(monkeypatch)
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
    assert len(python) <= 1  # the start


class PushedPendulum(Component):
    """1 kg on a rod of 1 m; what pushes it follows where it has been, 200 times a second."""

    x, y = Variable("m"), Variable("m")
    vx, vy, pull, push = Variable("m/s"), Variable("m/s"), Variable("N/m"), Discrete("N")

    def equations(self):
        m = quantity("1 kg")
        yield der(self.x) == self.vx
        yield der(self.y) == self.vy
        yield m * der(self.vx) == self.push - self.pull * self.x
        yield m * der(self.vy) == -self.pull * self.y - quantity("9.81 N")
        yield self.x**2 + self.y**2 == quantity("1 m^2")
        yield every("5 ms", {self.push: self.x * quantity("9 N/m") - self.vy * quantity("1 N*s/m")})


def test_samples_beside_tied_states_are_those_that_python_takes(monkeypatch):
    start = {"x": "0.6 m", "y": Target("-0.8 m", priority="low")}
    run, python = (alone(PushedPendulum, **start).simulate("0.4 s", method=method, rtol=1e-10)
                   for method in ("dopri5", "DOP853"))
    times = np.linspace(0, 0.4, 97)
    for name in ("part.x", "part.y", "part.vy", "part.pull", "part.push"):
        assert_allclose(at(run, name, times), at(python, name, times), rtol=0, atol=1e-8)
    seen = flips(monkeypatch)
    alone(PushedPendulum, **start).simulate("0.4 s", method="dopri5")
    assert len(seen) <= 1


def test_samples_and_resets_take_turns(monkeypatch):
    class Reset(Follower):
        def equations(self):
            yield from super().equations()
            yield when(self.x < quantity(0.5, "m"), {self.x: quantity(1, "m")})

    python = flips(monkeypatch)
    run = alone(Reset).simulate("20 ms", method="dopri5")
    assert len([e.time for e in run.events if "becomes" in e.description]) > 1
    assert at(run, "part.x", 19.5e-3) > 0.5
    assert not python


def test_auto_takes_machine_code_where_something_samples():
    assert "in machine code" in alone().simulate("20 ms").statistics["why"]


def test_which_sample_is_due_is_said_alike_by_machine_code_and_on_arrays():
    start, period, last = np.array([0.0, 0.1, 0.25, np.nan]), np.array([0.1, 0.3, 1e-3, np.nan]), \
        np.array([-np.inf, 0.0, 41.0, -np.inf])
    for t in (0.0, 0.1, 0.3, 0.1 + 0.2, 0.7, 0.292, 1.0):
        whole = is_due.python(t, start, period, last, 1e-12)
        assert whole.tolist() == [is_due(t, *given, 1e-12)
                                  for given in zip(start, period, last, strict=True)]
        number = sample_number.python(t, start[:3], period[:3])
        assert number.tolist() == [sample_number(t, *given)
                                   for given in zip(start[:3], period[:3], strict=True)]
