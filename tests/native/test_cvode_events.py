"""Events that CVODE passes in machine code: closed forms, what is kept of them, driven runs."""

from __future__ import annotations

import numpy as np
import pytest
from carried_out_in_python import flips
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from blocks import (
    Component,
    Discrete,
    Model,
    Parameter,
    Variable,
    der,
    every,
    quantity,
    set_valued,
    sin,
    time,
    when,
    where,
)

pytest.importorskip("llvmlite")

from blocks.native.cvode_course import PassedPolynomials  # noqa: E402
from blocks.native.cvode_library import loaded_sundials  # noqa: E402
from blocks.simulation import method_choice  # noqa: E402

pytestmark = pytest.mark.skipif(loaded_sundials() is None,
                                reason="no C functions of SUNDIALS to be found")


def alone(part: type[Component]) -> Model:
    model = Model("alone")
    model.part = part()
    return model


class Leaky(Component):
    """dx/dt = u - x/(50 ms), with u = 4 1/s - 18 x 1/s taken every so often and held."""

    x, u = Variable("1", "0"), Discrete("1/s")
    period = Parameter("10 ms")

    def equations(self):
        rate = quantity("1 1/s")
        yield der(self.x) == self.u - self.x / quantity("50 ms")
        yield every(self.period, {self.u: (4.0 - 18.0 * self.x) * rate})


def leaky(times, period):
    """x at times up to 1 s, by the solution between two samples."""
    x, out = 0.0, []
    for k in range(round(1 / period) + 1):
        rest = 0.05 * (4.0 - 18.0 * x)
        here = times[(times >= period * k) & (times < period * (k + 1))] - period * k
        out.append(rest + (x - rest) * np.exp(-here / 0.05))
        x = rest + (x - rest) * np.exp(-period / 0.05)
    return np.concatenate(out)


@pytest.mark.parametrize("record", ["whole", "thinned"])
@pytest.mark.parametrize(("period", "shorter"), [(10e-3, False), (125e-3, True)])
def test_what_lies_between_samples_is_kept(period, shorter, record, monkeypatch):
    python = flips(monkeypatch)
    model = alone(Leaky)
    model.part.period = quantity(period, "s")
    run = model.simulate("1 s", method="cvode", rtol=1e-9)
    assert not python
    courses = [c for c in run._recording.episodes.courses if isinstance(c, PassedPolynomials)]
    assert sum(map(len, courses)) >= 0.8 / period
    if record == "thinned":
        before = sum(c.nbytes for c in courses)
        off = [max(c.thin() for c in courses) for _ in range(2)]
        assert off[-1] < 1e-7
        assert (sum(c.nbytes for c in courses) < before) == shorter
    times = np.linspace(1e-4, 0.9999, 1999)
    x = run["part.x"].at(quantity(times, "s")).m
    assert_allclose(x, leaky(times, period), rtol=0, atol=1e-7)
    ends = period * np.arange(1, round(0.99 / period))
    x = run["part.x"].at(quantity(ends, "s")).m
    assert_allclose(x, leaky(ends + 1e-12, period), rtol=0, atol=1e-7)


class Loaded(Component):
    """A source of 10 Hz through an ideal diode onto 1 mF beside 20 ohm, and 1 ohm before it."""

    u, i, drop = Variable("V", "0 V"), Variable("A", nominal="1 A"), Variable("V")

    def equations(self):
        endless = quantity(np.inf, "A")
        source = quantity("10 V") * sin(time * quantity("20 rad/s") * np.pi)
        yield quantity("1 mF") * der(self.u) == self.i - self.u / quantity("20 ohm")
        yield self.drop == source - self.u - self.i * quantity("1 ohm")
        yield set_valued(self.i, self.drop, static=(quantity("0 A"), endless),
                         kinetic=(quantity("0 A"), endless))


@pytest.mark.parametrize("method", ["cvode", "BDF"])
def test_an_ideal_diode_conducts_and_blocks(method):
    run = alone(Loaded).simulate("0.2 s", method=method, rtol=1e-9)
    w, closed, open_ = 20 * np.pi, 1 / 1e-3 * (1 + 1 / 20), 1 / 20e-3

    def driven(t):  # with the diode closed, once what it began with has died out
        a = 10 / 1e-3 / (closed**2 + w**2)
        return a * (closed * np.sin(w * t) - w * np.cos(w * t))

    u, t, exact = 0.0, 0.0, []
    for k in range(2):
        begins = t if k == 0 else brentq(
            lambda s, t=t, u=u: 10 * np.sin(w * s) - u * np.exp(-open_ * (s - t)), 0.1, 0.125)
        u *= np.exp(-open_ * (begins - t))

        def charged(s, begins=begins, u=u):
            return driven(s) + (u - driven(begins)) * np.exp(-closed * (s - begins))

        t = brentq(lambda s: 10 * np.sin(w * s) - charged(s), begins + 0.015, begins + 0.045)
        u = charged(t)
        exact += [begins, t]
    found = [e.time for e in run.events if e.time > 1e-6]
    assert_allclose(found, exact[1:], rtol=0, atol=1e-8)
    assert_allclose(run["part.u"].final.m, u * np.exp(-open_ * (0.2 - t)), rtol=1e-7)


class Bent(Component):
    """dx/dt = u, and half of it where f is small; u = -gain f is sampled, f + f^3/2 = x."""

    x, f = Variable("m", "1 m", priority="high"), Variable("1")
    u = Discrete("m/s")

    def equations(self):
        yield der(self.x) == where(self.f > 0.3, 1.0, 0.5) * self.u
        yield self.f + 0.5 * self.f**3 == self.x / quantity("1 m")
        yield every("10 ms", {self.u: -self.f * quantity("5 m/s")})


def test_samples_and_a_relation_look_at_the_unknown_of_a_nonlinear_loop(monkeypatch):
    python = flips(monkeypatch)
    run = alone(Bent).simulate("1 s", method="cvode", rtol=1e-9)
    x, limit, exact = 1.0, 0.3 + 0.5 * 0.3**3, []
    for _ in range(100):
        exact.append(x)
        u = -5.0 * brentq(lambda f, x=x: f + 0.5 * f**3 - x, 0.0, 1.0, xtol=1e-15)
        fast = min(max((x - limit) / -u, 0.0), 10e-3)
        x += u * fast + u * (10e-3 - fast) / 2
    times = np.arange(100) * 10e-3
    assert_allclose(run["part.x"].at(quantity(times, "s")).m, exact, rtol=0, atol=1e-8)
    x, f = (run[name].at(quantity(times + 4e-3, "s")).m for name in ("part.x", "part.f"))
    assert_allclose(f + 0.5 * f**3, x, rtol=0, atol=1e-12)
    assert len(run.events) == 1
    assert len(python) <= 1  # the start


def test_a_program_drives_a_run_by_cvode(monkeypatch):
    from library.translational import ForceSource, Mass, Reference, TranslationalFriction

    model = Model("pushed")
    model.body, model.push, model.floor = Mass(mass="2 kg"), ForceSource(), Reference()
    model.rub = TranslationalFriction(law="coulomb", coulomb_force="2 N", breakaway_force="3 N")
    model.connect(model.body.M, model.push.R, model.rub.R)
    model.connect(model.push.C, model.rub.C, model.floor.V)
    run = model.stepper(inputs=["push.S"], outputs=["body.v"], method="cvode")
    run.step([2.5], 0.1)
    python = flips(monkeypatch)
    speeds = [run.step([force], 0.1)[0] for force in (2.9, 4.0, 6.0, 0.0, 0.0, -1.0, -1.0)]
    # sticks; 1 and 2 m/s^2; slows down by 1 m/s^2, then by 1.5 m/s^2, and sticks again
    assert_allclose(speeds, [0.0, 0.1, 0.3, 0.2, 0.1, 0.0, 0.0], rtol=0, atol=1e-9)
    assert not python


class Heater(Component):
    """A heater between 329 and 330 K beside what follows it within 0.3 us; losses bend."""

    heat, near = Variable("K", "300 K"), Variable("K", "300 K")
    on = Discrete("1", 1.0)

    def equations(self):
        lost = (self.heat / quantity("310 K")) ** 2 * quantity("8 K/s")
        yield der(self.heat) == quantity("20 K/s") * self.on - lost
        yield der(self.near) == (self.heat - self.near) * quantity("3e6 1/s")
        yield when(self.near > quantity("330 K"), {self.on: 0})
        yield when(self.near < quantity("329 K"), {self.on: 1})


def test_auto_notices_how_often_cvode_begins_anew(monkeypatch):
    monkeypatch.setattr(method_choice, "SETTLING", np.inf)  # the run begins with it
    run = alone(Heater).simulate("60 s", rtol=1e-8)
    assert run.statistics["method"].startswith("cvode, then rodas4")
    # with s = heat / 310 K, ds/dt = (20 - 8 s^2)/310 or -8 s^2/310 per second
    low, high, start = 329 / 310, 330 / 310, 300 / 310
    root = np.sqrt(20 / 8)

    def rise(a, b):
        return 310 / (8 * root) * (np.arctanh(b / root) - np.arctanh(a / root))

    period = rise(low, high) + 310 / 8 * (1 / low - 1 / high)
    last = [e.time for e in run.events if "on becomes 0" in e.description][-1]
    cycles = (last - rise(start, high)) / period
    assert abs(cycles - round(cycles)) < 0.01  # what follows is 0.3 us late, twice a period
