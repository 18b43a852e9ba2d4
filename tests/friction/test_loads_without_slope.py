"""Laws that rise with a power of the velocity, at nodes without mass: no slope where they begin.

A fan or a cubic damper carries nothing at rest, and nothing more a little beside. What it takes at
a node without mass follows all the same: where friction sticks, from the velocity of the body;
where it slides, the velocity follows from the friction.
"""

from functools import cache

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from blocks import BlocksError, Model, quantity, sin, where
from library.mechanisms import DiscClutch
from library.rotational import (
    Inertia,
    QuadraticSpeedDependentTorque,
    RotationalReference,
    TorqueSource,
)
from library.signal import Constant, Step
from library.translational import (
    ForceSource,
    Mass,
    QuadraticSpeedDependentForce,
    Reference,
    Spring,
    TranslationalFriction,
    TwoPort,
)

METHODS = "auto", "dopri5", "DOP853", "rodas4", "Radau", "ode45"


class CubicDamper(TwoPort):
    """f = 4 v^3, in N and m/s."""

    def equations(self):
        yield self.f == quantity("4 N*s^3/m^3") * self.v**3


LOADS = {
    "quadratic": (lambda: QuadraticSpeedDependentForce(nominal_force="4 N"),
                  lambda v: 4 * v * abs(v), lambda f: np.sign(f) * np.sqrt(abs(f) / 4)),
    "cubic": (CubicDamper, lambda v: 4 * v**3, lambda f: np.cbrt(f / 4)),
}  # fmt: skip
PUSHES = {
    "constant": ("8 N", lambda t: 8.0),
    "ramp": (lambda t: quantity("20 N/s") * t, lambda t: 20 * t),
    "sine": (lambda t: quantity("20 N") * sin(quantity("5 1/s") * t), lambda t: 20 * np.sin(5 * t)),
}  # fmt: skip


@cache
def driven(load, push):
    """Speed of the block after 2 s, by hand."""
    law, number = LOADS[load][1], PUSHES[push][1]

    def acceleration(t, v):
        return (number(t) - np.clip(law(v), -9, 9)) / 2

    return solve_ivp(acceleration, (0, 2), [0.0], rtol=1e-10, atol=1e-12, max_step=1e-3).y[0, -1]


@pytest.mark.parametrize(("load", "push", "method"), [
    *((load, "constant", method) for load in LOADS for method in METHODS),
    ("quadratic", "ramp", "auto"), ("quadratic", "sine", "DOP853"), ("cubic", "ramp", "rodas4"),
    ("cubic", "sine", "dopri5")])
def test_friction_pushes_a_drag_from_rest(load, push, method):
    made, law, _ = LOADS[load]
    force, _ = PUSHES[push]
    model = wired("drag behind friction", "block.M push.R grip.R", "grip.C drag.R",
                  "drag.C push.C floor.V",
                  block=Mass(mass="2 kg"), push=ForceSource(force=force), floor=Reference(),
                  grip=TranslationalFriction(law="coulomb", coulomb_force="9 N",
                                             breakaway_force="9 N"), drag=made())
    run = model.simulate("2 s", method=method, rtol=1e-7)
    assert_allclose(run["block.v"].final.m, driven(load, push), rtol=1e-5)
    speed = run["block.v"].at("1 s").m
    assert_allclose(run["drag.f"].at("1 s").m, np.clip(law(speed), -9, 9), rtol=1e-6)


def fan(engaged=None, speed="0 rad/s"):
    """A motor of 2 N m that takes a fan along by a clutch; the fan has no inertia."""
    model = Model("fan")
    model.motor = Inertia(inertia="0.5 kg*m^2", w=speed)
    model.drive, model.floor = TorqueSource(torque="2 N*m"), RotationalReference()
    model.fan = QuadraticSpeedDependentTorque(nominal_torque="5 N*m", nominal_speed="100 rad/s")
    model.clutch = DiscClutch()
    model.press = Constant(value="500 N") if engaged is None else Step(final="500 N", start=engaged)
    model.connect(model.drive.R, model.motor.I, model.clutch.R)
    model.connect(model.clutch.C, model.fan.R)
    model.connect(model.drive.C, model.fan.C, model.floor.W)
    model.connect(model.press.y, model.clutch.N)
    return model


@pytest.mark.parametrize(("engaged", "speed", "method"), [
    *((0.5, 0.0, method) for method in METHODS), (None, 0.0, "auto"), (None, 50.0, "dopri5"),
    (0.5, 50.0, "rodas4")])
def test_a_clutch_takes_a_fan_along(engaged, speed, method):
    """0.5 w' = 2 - 5e-4 w^2 once it holds: w approaches sqrt(2 / 5e-4) by a hyperbolic tangent."""
    start = engaged or 0.0
    model = fan(None if engaged is None else f"{engaged} s", f"{speed} rad/s")
    run = model.simulate("4 s", method=method, rtol=1e-7)
    last = np.sqrt(2 / 5e-4)
    at_once = speed + 4 * start  # the clutch is open so long
    expected = last * np.tanh(np.arctanh(at_once / last) + (4 - start) * 2 / last / 0.5)
    assert_allclose(run["motor.w"].final.m, expected, rtol=1e-5)
    assert_allclose(run["fan.w"].final.m, expected, rtol=1e-5)
    assert_allclose(run["fan.t"].final.m, 5e-4 * expected**2, rtol=1e-5)
    assert abs(run.energy().relative_residual) < 1e-6


def test_forces_at_rest_are_read():
    """All is at rest, and so is a node that nothing but a fan determines."""
    model = fan()
    model.drive.torque = "0 N*m"
    run = model.simulate("0.1 s")
    for name in ("fan.t", "clutch.t", "fan.w"):
        assert_allclose(run[name].at(["0 s", "50 ms", "0.1 s"]).m, 0, atol=1e-9)


@cache
def drawn(load):
    """Speed and deformation after 2 s."""
    inverse = LOADS[load][2]

    def rates(t, y):
        return -10 * y[1], y[0] - inverse(10 * y[1] + 5.0 * (t > 0.7))

    return solve_ivp(rates, (0, 2), [1.0, 0.0], rtol=1e-9, atol=1e-11, max_step=1e-3).y[:, -1]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("load", LOADS)
def test_a_spring_pulls_a_drag_from_rest_or_it_is_refused(load, method):
    """The velocity is a root of the force, infinitely steep at the start: never a wrong one."""
    made, _, _ = LOADS[load]
    model = Model("drag behind a spring")
    model.block, model.floor = Mass(mass="1 kg", v="1 m/s"), Reference()
    model.spring, model.drag = Spring(stiffness="10 N/m"), made()
    model.push = ForceSource(force=lambda t: quantity("5 N") * where(t > quantity("0.7 s"), 1.0, 0))
    model.connect(model.block.M, model.spring.R)
    model.connect(model.spring.C, model.drag.R, model.push.R)
    model.connect(model.drag.C, model.push.C, model.floor.V)
    try:
        run = model.simulate("2 s", method=method, rtol=1e-7)
    except BlocksError as refusal:
        assert refusal.time == 0 and load == "cubic"
    else:
        assert_allclose([run["block.v"].final.m, run["spring.x"].final.m], drawn(load), atol=1e-4)
