"""Linear circuits with closed forms, to 1e-8 at a relative tolerance of 1e-10."""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from blocks import Model, quantity, sin
from library.translational import (
    Damper,
    ForceSource,
    Mass,
    PositionSource,
    Reference,
    Spring,
    SpringDamper,
)

METHODS = ["DOP853", "Radau"]
TIGHT = {"rtol": 1e-10}


def read(run, path, unit):
    return run.time.to("s").magnitude, run[path].to(unit).magnitude


def oscillator(m, k, d, x0, v0):
    return wired("oscillator", "body.M spring.R damper.R", "spring.C damper.C ground.V",
                 body=Mass(mass=quantity(m, "kg"), v=quantity(v0, "m/s")),
                 spring=Spring(stiffness=quantity(k, "N/m"), x=quantity(x0, "m")),
                 damper=Damper(damping=quantity(d, "N*s/m")), ground=Reference())


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
    model.base = PositionSource(position=lambda t: quantity("2 cm") * sin(quantity(w, "rad/s") * t))
    body0, speed0 = 0.02 * phasor.imag, 0.02 * w * phasor.real
    wire(model, "base.R strut.R", "strut.C body.M", "base.C ground.V",
         body=Mass(mass=quantity(m, "kg"), v=quantity(speed0, "m/s")),
         strut=SpringDamper(stiffness=quantity(k, "N/m"), damping=quantity(d, "N*s/m"),
                            x=quantity(-body0, "m")), ground=Reference())
    run = model.simulate("5 s", method="DOP853", **TIGHT)
    t, v = read(run, "body.v", "m/s")
    assert_allclose(v, (0.02 * 1j * w * phasor * np.exp(1j * w * t)).imag, atol=1e-8)
    _, x = read(run, "strut.x", "m")
    assert_allclose(x, (0.02 * (1 - phasor) * np.exp(1j * w * t)).imag, atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_two_equal_masses_swing_in_their_two_modes(method):
    # wall - k - m - kc - m - k - wall: modes k/m (together) and (k + 2 kc)/m (against each other)
    m, k, kc = 0.5, 20.0, 7.0
    model = wired("modes", "left.R a.M middle.R", "middle.C b.M right.R", "left.C right.C ground.V",
                  a=Mass(mass="0.5 kg", v="0.3 m/s"), b=Mass(mass="0.5 kg", v="-0.1 m/s"),
                  left=Spring(stiffness="20 N/m", x="10 cm"), middle=Spring(stiffness="7 N/m"),
                  right=Spring(stiffness="20 N/m", x="0 cm"), ground=Reference())
    model.middle.x = "10 cm"
    run = model.simulate("3 s", method=method, **TIGHT)
    t, a = read(run, "left.x", "m")
    _, b = read(run, "right.x", "m")
    slow, fast = np.sqrt(k / m), np.sqrt((k + 2 * kc) / m)
    together = 0.05 * np.cos(slow * t) + 0.1 / slow * np.sin(slow * t)
    against = 0.05 * np.cos(fast * t) + 0.2 / fast * np.sin(fast * t)
    assert_allclose(a, together + against, atol=1e-8)
    assert_allclose(b, together - against, atol=1e-8)


def test_a_massless_node_of_three_springs_is_in_balance():
    model = wired("star", "body.M a.R", "a.C b.R c.R", "b.C c.C ground.V",
                  body=Mass(mass="1 kg", v="1 m/s"), a=Spring(stiffness="100 N/m"),
                  b=Spring(stiffness="200 N/m"), c=Spring(stiffness="300 N/m"), ground=Reference())
    run = model.simulate("2 s", method="DOP853", **TIGHT)
    stiffness = 1 / (1 / 100 + 1 / 500)
    t, v = read(run, "body.v", "m/s")
    assert_allclose(v, np.cos(np.sqrt(stiffness) * t), atol=1e-8)
    assert_allclose(read(run, "c.f", "N")[1], 0.6 * read(run, "a.f", "N")[1], atol=1e-7)


def test_an_oscillator_at_resonance_grows_linearly():
    model = oscillator(2.0, 32.0, 0.0, 0.0, 0.0)
    wire(model, "push.R body.M", "push.C ground.V",
         push=ForceSource(force=lambda t: quantity("6 N") * sin(quantity("4 rad/s") * t)))
    run = model.simulate("5 s", method="DOP853", **TIGHT)
    t, x = read(run, "spring.x", "m")
    assert_allclose(x, 6 / (2 * 2 * 4) * (np.sin(4 * t) / 4 - t * np.cos(4 * t)), atol=1e-8)


def test_springs_of_one_kind_keep_their_own_stiffness():
    # the order in which equations are solved must not mix up whose parameters are whose
    model = wired("rack", ground=Reference(), a=Mass(mass="1 kg"), b=Mass(mass="2 kg"))
    for i, k in enumerate([5, 7, 11, 13]):
        spring = model.add(f"s{i}", Spring(stiffness=quantity(k, "N/m"), x="1 m"))
        model.connect(spring.C, model.ground.V)
        model.connect(spring.R, (model.b if i == 1 else model.a).M)
    run = model.simulate("1 s", method="DOP853", **TIGHT)
    for i, k in enumerate([5, 7, 11, 13]):
        t, f = read(run, f"s{i}.f", "N")
        omega = np.sqrt(7 / 2 if i == 1 else 29)
        assert_allclose(f, k * np.cos(omega * t), atol=1e-7)
