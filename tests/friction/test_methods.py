"""Exact friction with every method, and inside differential-algebraic systems."""

import numpy as np
import pytest
from benches import wired
from benches.friction import (
    dragged,
    dry,
    happened,
    missing_energy,
    oscillator,
    push,
    reference,
    value,
    values,
)
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from blocks import Component, Parameter, Port, Variable, cos, der, dry_friction, quantity
from library.rotational import Inertia, RotationalFriction, RotationalReference, rotational
from library.translational import Mass, Reference, Spring, TwoPort

CASE = reference()["belt"]["P6-A"]
ADAPTIVE = {"DOP853": 1e-8, "RK45": 1e-7, "RK23": 1e-6, "ode45": 1e-7, "ode23s": 1e-4,
            "Radau": 1e-7, "rodas4": 1e-7}  # fmt: skip


@pytest.mark.parametrize("method", [
    pytest.param(method, marks=[pytest.mark.slow] * (method == "ode23s")) for method in ADAPTIVE])
def test_stick_slip_is_right_with_every_adaptive_method(method):
    loose = method in ("ode23s", "RK23")
    run = dragged(CASE).simulate("4 s", rtol=1e-7 if loose else 1e-9, method=method)
    events = happened(run)
    assert [e[2] for e in events] == ["slides forward", "sticks"] * 3
    assert_allclose([e[0] for e in events[::2]], CASE["slips"], rtol=0, atol=ADAPTIVE[method])
    assert_allclose(value(run, "sensor.x"), CASE["x"], rtol=0, atol=ADAPTIVE[method])
    x = values(run, ["sensor.x"], np.linspace(2.1, 4, 50))
    assert np.ptp(x) <= 1e-14
    assert value(run, "body.v") == 0


@pytest.mark.parametrize("method, order", [("rk4", 4), ("backward_euler", 1), ("trapezoidal", 2)])
def test_fixed_steps_keep_their_order_through_stops(method, order):
    errors = []
    for step in (0.02, 0.01):
        run = oscillator(x0=6.3).simulate("12 s", method=method, step=quantity(step, "s"))
        errors.append(abs(values(run, ["spring.x"], [5.0])[0, 0] - exact_oscillator(5.0)))
    assert order - 0.3 < np.log2(errors[0] / errors[1]) < order + 0.6


def exact_oscillator(t):
    """From 6.3 m with friction of 1 N over 1 N/m: half cycles about +1, -1, ..."""
    half = int(t // np.pi)
    centre = 1.0 if half % 2 == 0 else -1.0
    return centre + (6.3 - 1 - 2 * half) * np.cos(t)


class Pendulum(Component):
    """Point mass on a massless rod in Cartesian coordinates, with friction in the joint.

    The rod's pull is the multiplier of x² + y² = l²; the joint brakes with a torque.
    """

    x, y = Variable("m", "1 m", priority="high"), Variable("m", "0 m")
    u, v = Variable("m/s", "0 m/s", priority="high"), Variable("m/s")
    pull, brake = Variable("N/m"), Variable("N*m")
    torque = Parameter("0.5 N*m")
    static = Parameter("0.8 N*m")
    mass, length, gravity = Parameter("1 kg"), Parameter("1 m"), Parameter("9.81 m/s^2")

    def equations(self):
        yield der(self.x) == self.u
        yield der(self.y) == self.v
        # the joint's torque acts on the mass as a force along the path
        yield self.mass * der(self.u) == -self.pull * self.x + self.brake * self.y / self.length**2
        yield self.mass * der(self.v) == (-self.pull * self.y - self.brake * self.x / self.length**2
                                          - self.mass * self.gravity)  # fmt: skip
        yield self.x**2 + self.y**2 == self.length**2
        turning = (self.x * self.v - self.y * self.u) / self.length**2
        yield dry_friction(self.brake, turning, static=self.static, kinetic=self.torque)


def swing(torque, static, end):
    """Turning points and the angle at rest of theta'' = -9.81 cos(theta) - torque sign."""
    theta, w, t, stops, sense = 0.0, 0.0, 0.0, [], -1.0

    while True:
        def slope(_, s, sense=sense):
            return [s[1], -9.81 * np.cos(s[0]) - sense * torque]

        def stop(_, s):
            return s[1]

        stop.terminal, stop.direction = True, -sense
        go = solve_ivp(slope, (t, t + 1e-2), [theta, w], rtol=1e-13, atol=1e-14, method="DOP853")
        piece = solve_ivp(slope, (go.t[-1], end), go.y[:, -1], rtol=1e-13, atol=1e-14,
                          method="DOP853", events=stop)  # fmt: skip
        t, theta, w = piece.t_events[0][0], piece.y_events[0][0][0], 0.0
        stops.append((t, theta))
        if abs(9.81 * np.cos(theta)) <= static:
            return stops
        sense = -sense


@pytest.mark.parametrize("method", ["DOP853", "rodas4"])
def test_a_pendulum_with_joint_friction_swings_and_sticks_as_its_angle_equation(method):
    stops = swing(1.5, 2.5, 60.0)
    model = wired("pendulum", p=Pendulum(torque="1.5 N*m", static="2.5 N*m"))
    end = stops[-1][0] + 2
    rtol = 1e-10 if method == "DOP853" else 1e-9
    run = model.simulate(quantity(end, "s"), rtol=rtol, method=method)
    assert [e[0] for e in happened(run)] == pytest.approx([t for t, _ in stops], abs=1e-6)
    assert happened(run)[-1][2] == "sticks"
    angle = np.arctan2(value(run, "p.y"), value(run, "p.x"))
    assert_allclose(angle, stops[-1][1], rtol=0, atol=1e-6)
    assert_allclose(value(run, "p.brake"), -9.81 * np.cos(stops[-1][1]), rtol=1e-5)
    assert abs(value(run, "p.u")) < 1e-9


class Wedge(TwoPort):
    """Force that solves f + (f/10 N)³ 10 N = k x: a nonlinear equation at every instant."""

    x = Variable("m", "0 m", priority="high")
    stiffness = Parameter("20 N/m")

    def equations(self):
        yield der(self.x) == self.v
        ten = quantity("10 N")
        yield self.f + ten * (self.f / ten) ** 3 == self.stiffness * self.x


def test_friction_beside_a_nonlinear_loop_agrees_with_an_independent_solution():
    model = wired("loop", "body.M spring.R friction.R", "spring.C friction.C ground.V",
                  body=Mass(), spring=Wedge(x="2 m"), friction=dry(3.0), ground=Reference())
    run = model.simulate("10 s", rtol=1e-10)

    def force(x):
        roots = np.roots([1e-2, 0, 1, -20 * x])
        return roots[np.abs(roots.imag) < 1e-9].real[0]

    events = happened(run)
    x = values(run, ["spring.x"], [e[0] for e in events])[0]
    t0, a = 0.0, 2.0
    for (t, _, _), b in zip(events, x, strict=True):
        s = -np.sign(a)
        half = solve_ivp(lambda _, y, s=s: [y[1], -force(y[0]) - 3 * s], (t0, t), [a, 0],
                         rtol=1e-12, atol=1e-13, method="DOP853")  # fmt: skip
        assert_allclose(half.y[:, -1], [b, 0], rtol=0, atol=1e-7)
        t0, a = t, b
    assert events[-1][2] == "sticks"
    assert abs(force(a)) <= 3


class Squeezed(TwoPort):
    """Friction whose effort enters a nonlinear equation: f = s + (s/5 N)³ N with friction s."""

    s = Variable("N")
    strength = Parameter("2 N")

    def equations(self):
        one, five = quantity("1 N"), quantity("5 N")
        yield self.f == self.s + one * (self.s / five) ** 3
        yield dry_friction(self.s, self.v, static=self.strength, kinetic=self.strength)


def test_a_load_on_a_friction_with_a_nonlinear_transmission_is_held_exactly():
    model = wired("transmission", "body.M friction.R load.R", "friction.C load.C ground.V",
                  body=Mass(), friction=Squeezed(), ground=Reference(),
                  load=push(lambda t: 1.5 * t))
    run = model.simulate("3 s", rtol=1e-10)
    ((time, *_),) = happened(run)
    assert_allclose(time, (2 + 0.4**3) / 1.5, rtol=0, atol=1e-9)
    assert value(run, "body.v", 1.3) == 0
    s = value(run, "friction.s", 1.0)
    assert_allclose(s + (s / 5) ** 3, 1.5, rtol=1e-9)


class Arm(Component):
    """A bar on a shaft under gravity: torque m g l cos(phi)."""

    S = Port(rotational)
    phi = Variable("rad", "0 rad", priority="high")

    def equations(self):
        yield der(self.phi) == self.S.w
        yield self.S.t == quantity("9.81 N*m") * cos(self.phi)


def test_an_arm_on_a_braked_shaft_gives_the_same_as_the_pendulum():
    stops = swing(1.5, 2.5, 60.0)
    model = wired("arm", "arm.S shaft.I brake.R", "brake.C ground.W",
                  arm=Arm(), shaft=Inertia(inertia="1 kg*m^2"), ground=RotationalReference(),
                  brake=RotationalFriction(law="coulomb", coulomb_torque="1.5 N*m",
                                           breakaway_torque="2.5 N*m"))
    run = model.simulate("30 s", rtol=1e-11)
    assert [e[0] for e in happened(run)] == pytest.approx([t for t, _ in stops], abs=1e-8)
    assert_allclose(value(run, "arm.phi"), stops[-1][1], rtol=0, atol=1e-8)


@pytest.mark.parametrize("method", ["DOP853", "Radau"])
def test_a_stiff_spring_beside_friction_neither_creeps_nor_chatters(method):
    model = wired("stiff", "body.M spring.R friction.R", "spring.C friction.C ground.V",
                  body=Mass(v="1 m/s"), ground=Reference(), spring=Spring(stiffness="1e6 N/m"),
                  friction=dry(50.0))
    run = model.simulate("0.5 s", rtol=1e-8, method=method)
    # the first half cycle: from x = 0 at 1 m/s about the centre -50 N/k
    first = (np.pi / 2 - np.arctan2(50 / 1e6, 1 / 1e3)) / 1e3
    assert_allclose(happened(run)[0][0], first, rtol=1e-5)
    assert happened(run)[-1][2] == "sticks"
    # from 1/2 J, the amplitude about the centre falls by 2 F/k a half cycle
    swing = np.hypot(1e-3, 5e-5) - 5e-5
    assert len(happened(run)) == int(np.floor((swing - 5e-5) / 1e-4)) + 2
    assert np.ptp(values(run, ["spring.x"], np.linspace(happened(run)[-1][0], 0.5, 30))) <= 1e-17
    assert missing_energy(run) < 1e-5
