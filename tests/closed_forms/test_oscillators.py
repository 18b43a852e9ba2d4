"""Linear circuits with closed forms, to 1e-8 at a relative tolerance of 1e-10."""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

import library.translational as tr
from blocks import Model, quantity, sin

METHODS = ["DOP853", "Radau"]
TIGHT = {"rtol": 1e-10}


def read(run, path, unit):
    return run.time.to("s").magnitude, run[path].to(unit).magnitude


def oscillator(m, k, d, x0, v0):
    return wired("oscillator", "body.M spring.R damper.R", "spring.C damper.C ground.V",
                 body=tr.Mass(mass=quantity(m, "kg"), v=quantity(v0, "m/s")),
                 spring=tr.Spring(stiffness=quantity(k, "N/m"), x=quantity(x0, "m")),
                 damper=tr.Damper(damping=quantity(d, "N*s/m")), ground=tr.Reference())


def damped(m, k, d, x0, v0, t):
    """Position of a free oscillator in the regime its numbers put it in."""
    omega, decay = np.sqrt(k / m), d / (2 * m)
    if np.isclose(decay, omega, rtol=1e-14):
        return np.exp(-decay * t) * (x0 + (v0 + decay * x0) * t)
    if decay < omega:
        w = np.sqrt(omega**2 - decay**2)
        return np.exp(-decay * t) * (x0 * np.cos(w * t) + (v0 + decay * x0) / w * np.sin(w * t))
    w = np.sqrt(decay**2 - omega**2)
    return np.exp(-decay * t) * (x0 * np.cosh(w * t) + (v0 + decay * x0) / w * np.sinh(w * t))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("d", [0.0, 0.4, 4.0, 8.0, 40.0])  # critical: 2 sqrt(8·2) = 8
def test_an_oscillator_moves_as_its_regime_says(d, method):
    run = oscillator(2.0, 8.0, d, 0.1, -0.3).simulate("4 s", method=method, **TIGHT)
    t, x = read(run, "spring.x", "m")
    assert_allclose(x, damped(2.0, 8.0, d, 0.1, -0.3, t), atol=1e-8)


def test_a_mass_on_a_moving_base_follows_the_transfer_function():
    # start on the periodic solution, so that there is no transient
    m, k, d, w = 2.0, 50.0, 3.0, 4.0
    phasor = (k + 1j * w * d) / (k - m * w**2 + 1j * w * d)  # x of the body per y of the base
    model = Model("base")
    model.base = tr.PositionSource(position=lambda t: quantity("2 cm") * sin(quantity(w,
                                                                                      "rad/s") * t))
    body0, speed0 = 0.02 * phasor.imag, 0.02 * w * phasor.real
    wire(model, "base.R strut.R", "strut.C body.M", "base.C ground.V",
         body=tr.Mass(mass=quantity(m, "kg"), v=quantity(speed0, "m/s")),
         strut=tr.SpringDamper(stiffness=quantity(k, "N/m"), damping=quantity(d, "N*s/m"),
                               x=quantity(-body0, "m")), ground=tr.Reference())
    run = model.simulate("5 s", method="DOP853", **TIGHT)
    t, v = read(run, "body.v", "m/s")
    assert_allclose(v, (0.02 * 1j * w * phasor * np.exp(1j * w * t)).imag, atol=1e-8)
    _, x = read(run, "strut.x", "m")
    assert_allclose(x, (0.02 * (1 - phasor) * np.exp(1j * w * t)).imag, atol=1e-8)


def test_an_oscillator_at_resonance_grows_linearly():
    model = oscillator(2.0, 32.0, 0.0, 0.0, 0.0)
    wire(model, "push.R body.M", "push.C ground.V",
         push=tr.ForceSource(force=lambda t: quantity("6 N") * sin(quantity("4 rad/s") * t)))
    t, x = read(model.simulate("5 s", method="DOP853", **TIGHT), "spring.x", "m")
    assert_allclose(x, 6 / (2 * 2 * 4) * (np.sin(4 * t) / 4 - t * np.cos(4 * t)), atol=1e-8)
