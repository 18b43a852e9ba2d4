"""Pulses far narrower than the steps around them."""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose
from scipy.integrate import quad

from blocks import (
    Component,
    Discrete,
    Model,
    Parameter,
    Variable,
    delayed,
    der,
    every,
    exp,
    quantity,
    time,
    when,
    where,
)
from blocks.machine import compiling
from library.translational import ForceSource, Mass, Reference, TranslationalFriction, table

PASSED_AT = 0.3


class Kicked(Component):
    """What swings kicks a store each time it passes a place: y'' = -y, z' = exp(-((y-c)/eps)^2)."""

    eps = Parameter(1e-3)
    y = Variable("1", 1.0, priority="high")
    u = Variable("1", 0.0, priority="high")
    z = Variable("1", 0.0, priority="high")

    def equations(self):
        per_second = quantity(1, "1/s")
        yield der(self.y) == per_second * self.u
        yield der(self.u) == -per_second * self.y
        yield der(self.z) == per_second / self.eps * exp(-(((self.y - PASSED_AT) / self.eps) ** 2))


class Flash(Component):
    """A store that a bell of time fills: z' = exp(-((t-3.3 s)/w)^2)/w."""

    width = Parameter("0.1 ms")
    z = Variable("1", 0.0, priority="high")

    def equations(self):
        late = time - quantity(3.3, "s")
        yield self.width * der(self.z) == exp(-((late / self.width) ** 2))


def run_of(part, end, **options):
    m = Model("pulses")
    m.a = part
    return m.simulate(end, **options)


METHODS = ["auto", "dopri5", "rodas4", "Radau", "DOP853", "ode45"]


@pytest.mark.parametrize(("method", "eps"), [
    *((method, 3e-5) for method in METHODS), ("auto", 1e-3), ("Radau", 1e-3)])
def test_every_pulse_of_a_state_is_added_up(method, eps):
    run = run_of(Kicked(eps=eps), "12 s", method=method)
    times = np.linspace(0.0, 12.0, 25)
    first = np.arccos(PASSED_AT)
    instants = np.sort([s + 2 * np.pi * k for k in range(2) for s in (first, 2 * np.pi - first)])
    one = np.sqrt(np.pi) / np.sin(first)  # eps / |y'| of the bell's area; by eps^2 less
    exact = one * np.searchsorted(instants, times)
    # what swings is late by some 1e-6, and so is faster or slower there by as much
    assert_allclose(run["a.z"].at(quantity(times, "s")).magnitude, exact, atol=4e-4)


@pytest.mark.parametrize("method", METHODS)
def test_a_pulse_of_time_is_added_up(method):
    run = run_of(Flash(), "10 s", method=method)
    assert_allclose(run["a.z"].at(quantity(10, "s")).magnitude, np.sqrt(np.pi), rtol=1e-4)


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
@pytest.mark.parametrize("rtol", [1e-4, 1e-8])
def test_pulses_are_seen_at_every_tolerance(method, rtol):
    run = run_of(Kicked(), "12 s", method=method, rtol=rtol)
    exact = 4 * np.sqrt(np.pi) / np.sin(np.arccos(PASSED_AT))
    assert_allclose(run["a.z"].at(quantity(12, "s")).magnitude, exact, rtol=100 * rtol + 2e-6)


@pytest.mark.parametrize(("method", "rtol"), [
    ("dopri5", 1e-6), ("dopri5", 1e-9), ("rodas4", 1e-6), ("DOP853", 1e-9)])
def test_friction_that_rises_before_the_motion_turns_is_not_stepped_over(method, rtol):
    (turn,) = turned().simulate("1 s", method=method, rtol=rtol).events
    assert turn.time == pytest.approx(turns_after(), abs=0.1 * rtol)


def turned():
    """dv/dt = 12 + exp(-(v / 0.1)^2), where constant friction lets steps grow."""
    return wired("turned", "body.M floor.R push.R", "ground.V floor.C push.C",
                 body=Mass(v="-1.2 m/s"), ground=Reference(),
                 floor=TranslationalFriction(law="stribeck", breakaway_force="3 N",
                                             coulomb_force="2 N"), push=ForceSource(force="10 N"))


def turns_after():
    """When that turns, by a quadrature."""
    return quad(lambda v: 1 / (12 + np.exp(-(v / 0.1) ** 2)), -1.2, 0, points=[-0.3, -0.1],
                epsabs=1e-13)[0]


# -- however long the run is --------------------------------------------------------------------
@pytest.mark.parametrize(("method", "end"), [
    ("auto", "20 s"), ("auto", "1e6 s"), ("dopri5", "1000 s"), ("dopri5", "1e6 s"),
    ("rodas4", "1e6 s")])
def test_a_pulse_of_a_nanosecond_kicks_a_body_however_long_the_run_is(method, end):
    model, off = Model("kick"), 10 + 1e-9
    model.body, model.ground = Mass(mass="1 kg"), Reference()
    force = quantity(1 / (off - 10), "N")
    wire(model, "body.M push.R", "ground.V push.C",
         push=ForceSource(force=table(["0 s", "10 s", "10 s", quantity(off, "s"),
                                       quantity(off, "s")], ["0 N", "0 N", force, force, "0 N"])))
    run = model.simulate(end, method=method)
    assert_allclose(run["body.v"].final.m, 1.0, rtol=1e-6)


class Echo(Component):
    """A pulse of a nanosecond, a store that it fills, and another that it fills later."""

    z = Variable("1", 0.0, priority="high")
    later = Variable("1", 0.0, priority="high")
    pulse = Variable("1")
    seen = Discrete("1", 0.0)

    def equations(self):
        on, off = quantity(10, "s"), quantity(10 + 1e-9, "s")
        yield self.pulse == where((time > on) & (time < off), 1 / quantity(10 + 1e-9 - 10, "1"), 0)
        yield quantity("1 s") * der(self.z) == self.pulse
        yield quantity("1 s") * der(self.later) == delayed(self.pulse, quantity("3 s"))
        yield when(self.later > 0.5, {self.seen: self.seen + 1})


@pytest.mark.parametrize("method", ["auto", "dopri5", "DOP853"])
def test_a_pulse_of_a_nanosecond_arrives_later(method):
    run = run_of(Echo(), "1e4 s", method=method)
    assert_allclose([run["a.z"].final.m, run["a.later"].final.m], 1.0, rtol=1e-5)
    assert run["a.seen"].final.m == 1


class Timers(Component):
    """Conditions on time whose rounding is far from that of the instant at which they switch."""

    soon, late = Discrete("1", 0.0), Discrete("1", 0.0)
    number = Discrete("1", 0.0)

    def equations(self):
        yield when(time + quantity(1000.1, "s") > quantity(1000.6, "s"), {self.soon: self.soon + 1})
        yield when(time / quantity(1000, "s") >= 3, {self.late: self.number})
        yield every(quantity(1000, "s"), {self.number: self.number + 1})


def test_conditions_on_time_switch_at_their_instants_however_their_terms_round():
    assert run_of(Timers(), "1 s")["a.soon"].final.m == 1
    run = run_of(Timers(), "3500 s")
    assert [run[f"a.{name}"].final.m for name in ("soon", "late", "number")] == [1, 4, 4]
    assert sum(abs(e.time - 3000) < 1 for e in run.events) == 1


@pytest.mark.parametrize("method", ["ode45", "Radau"])
def test_loops_that_look_into_steps_in_python_find_the_same_without_machine_code(
        method, monkeypatch):
    """A crossing where the motion turns, after a time that a quadrature tells; and pulses."""
    def found():
        (turn,) = turned().simulate("1 s", method=method, rtol=1e-7).events
        return float(turn.time), run_of(Kicked(), "3 s", method=method)["a.z"].final.magnitude

    compiled = found()
    assert compiled == pytest.approx(
        (turns_after(), np.sqrt(np.pi) / np.sin(np.arccos(PASSED_AT))), abs=1e-4)
    monkeypatch.setattr(compiling, "is_installed", lambda: False)
    assert found() == compiled
