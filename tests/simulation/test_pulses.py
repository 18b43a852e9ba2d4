"""Pulses far narrower than the steps around them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad

from blocks import Component, Model, Parameter, Variable, der, exp, quantity, time
from library.translational import ForceSource, Mass, Reference, TranslationalFriction

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


METHODS = ["auto", "dopri5", "rodas4", "cvode", "Radau", "DOP853", "ode45"]


@pytest.mark.parametrize("eps", [1e-3, 3e-5])
@pytest.mark.parametrize("method", METHODS)
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


@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
@pytest.mark.parametrize("method", ["dopri5", "rodas4", "DOP853"])
def test_friction_that_rises_before_the_motion_turns_is_not_stepped_over(method, rtol):
    """dv/dt = 12 + exp(-(v / 0.1)^2): by a quadrature, where constant friction lets steps grow."""
    model = Model("turned")
    model.body, model.ground = Mass(v="-1.2 m/s"), Reference()
    model.floor = TranslationalFriction(law="stribeck", breakaway_force="3 N", coulomb_force="2 N")
    model.push = ForceSource(force="10 N")
    model.connect(model.body.M, model.floor.R, model.push.R)
    model.connect(model.ground.V, model.floor.C, model.push.C)
    exact = quad(lambda v: 1 / (12 + np.exp(-(v / 0.1) ** 2)), -1.2, 0, points=[-0.3, -0.1],
                 epsabs=1e-13)[0]
    (turn,) = model.simulate("1 s", method=method, rtol=rtol).events
    assert turn.time == pytest.approx(exact, abs=0.1 * rtol)
