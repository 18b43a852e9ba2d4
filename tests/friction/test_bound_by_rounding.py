"""Loads that are at a breakaway force but for rounding, laws without slope where they begin.

The motion goes on as mechanics says."""

from functools import cache

import numpy as np
import pytest
from benches import few, wired
from benches.analysis import stribeck
from benches.friction import dry, happened, missing_energy, push, value
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import library.rotational as rot
import library.translational as tr
from blocks import BlocksError, Model, quantity, sin, where
from blocks.analysis.describing import describing_function
from library.mechanisms import DiscClutch, LossyGear
from library.signal import Constant, Gain, Integrator, Step, Sum

MASS, P, I, D = 20.0, 80e3, 400e3, 1.2e3


def axis(velocity):
    """A carriage 5 mm beside its set point, with P + I + D and friction of 12 and 18 N."""
    model = wired("axis", "carriage.M sensor.R motor.R friction.R", "rail.V motor.C friction.C",
                  "wanted.y error.u[0]", "sensor.P error.u[1]", "error.y P.u", "error.y sum.u",
                  "sum.y I.u", "sensor.V D.u",
                  carriage=tr.Mass(mass="20 kg"), rail=tr.Reference(), motor=tr.ForceSource(),
                  sensor=tr.MotionSensor(reference="absolute", x="-5 mm"),
                  friction=stribeck(12, 18, velocity), wanted=Constant(value=quantity("0 mm")),
                  error=Sum(signs="+-", unit="m"), P=Gain(gain=quantity(P, "N/m"), input="m"),
                  D=Gain(gain=quantity(D, "N*s/m"), input="m/s"), sum=Integrator(input="m"),
                  I=Gain(gain=quantity(I, "N/(m*s)"), input="m*s"),
                  controller=Sum(signs="++-", unit="N"))
    for k, part in enumerate((model.P, model.I, model.D)):
        model.connect(part.y, model.controller.u[k])
    model.connect(model.controller.y, model.motor.S)
    return model


@pytest.mark.parametrize("method", ["dopri5", "DOP853", "rodas4"])
@pytest.mark.parametrize("velocity", [0.002, 0.01])  # m/s
def test_an_axis_creeps_to_its_place_once_friction_is_flat(method, velocity):
    """At speeds far below that of Stribeck friction is 18 N: the last slip is a linear decay."""
    run = axis(velocity).simulate("10 s", method=method, rtol=1e-8, progress=False)
    assert len(happened(run)) < 20
    paths, (begin, end) = ("sensor.x", "carriage.v", "sum.y"), (1.5, 1.9)
    x0, v0, s0 = (value(run, p, begin) for p in paths)
    # m x'' + D x' + P x + I (int x - s_end) = 0, where I s_end carries the 18 N
    matrix = np.array([[0, 1, 0], [-P / MASS, -D / MASS, I / MASS], [-1, 0, 0]])
    x, v, _ = expm(matrix * (end - begin)) @ [x0, v0, s0 + 18 / I]
    assert_allclose([value(run, "sensor.x", end), value(run, "carriage.v", end)], [x, v],
                    rtol=1e-3)  # velocities of 3e-7 m/s are known to 1e-10  # fmt: skip
    assert abs(value(run, "sensor.x")) < 1e-11


def stack(n, spring, law, ramp):
    """Masses of 1 kg, friction of 2 i N between them, and a force on the last one.

    All friction needs the same acceleration to break away: 2 m/s².
    """
    model, before = Model("stack"), None
    model.ground = tr.Reference()
    for i in range(n):
        mass = model.add(f"m{i}", tr.Mass(mass="1 kg"))
        if before is not None:
            friction, link = model.add(f"f{i}", law(2.0 * i)), model.add(
                f"s{i}", tr.Spring(stiffness=spring))
            model.connect(before.M, friction.R, link.R)
            model.connect(mass.M, friction.C, link.C)
        before = mass
    model.push = push(ramp)
    model.connect(model.push.R, before.M)
    model.connect(model.push.C, model.ground.V)
    return model


@few(1, "law", [dry, lambda f: stribeck(0.6 * f, f, 0.005)],
                         ids=["coulomb", "stribeck"])
@pytest.mark.parametrize("n", [5, 12])
def test_a_stack_whose_friction_breaks_away_at_one_instant_goes_on(n, law):
    """The same by both methods, with Newton's law for the whole and no energy missing.

    DOP853 takes the fall of friction over some ms in one step, and misses some of its work.
    """
    def ramp(t):
        return 13.0 * t

    found = {}
    for method in ("auto", "DOP853"):
        run = stack(n, "100 N/m", law, ramp).simulate("3 s", method=method, rtol=1e-8,
                                                      progress=False)
        assert happened(run)[0][0] == pytest.approx(2.0 * n / 13.0, rel=1e-9)
        assert len(happened(run)) < 300
        assert method == "DOP853" or missing_energy(run) < 1e-6
        found[method] = [value(run, f"m{i}.v") for i in range(n)]
        assert np.sum(found[method]) == pytest.approx(13.0 * 9 / 2, rel=1e-7)
    assert_allclose(found["auto"], found["DOP853"], rtol=2e-4)


@pytest.mark.parametrize("n, events", [(5, 30), (12, 60)])
def test_a_flow_within_the_error_of_a_long_step_has_not_turned(n, events):
    """With loose tolerances each such turn was an event, after which the next one followed."""
    run = stack(n, "100 N/m", dry, lambda t: 13.0 * t).simulate("3 s", rtol=1e-5, progress=False)
    assert len(happened(run)) < events
    assert missing_energy(run) < 1e-6
    assert np.sum([value(run, f"m{i}.v") for i in range(n)]) == pytest.approx(58.5, rel=1e-9)


@pytest.mark.parametrize("method", ["auto", "DOP853"])
@pytest.mark.parametrize("n", [5, 12])
def test_a_stack_pushed_exactly_to_its_limit_moves_as_one(n, method):
    """All friction is at its bound for ever: nothing slides by more than rounding."""
    run = stack(n, "100 N/m", dry, lambda t: 2.0 * n + 0 * t).simulate("3 s", method=method,
                                                                      progress=False)
    assert_allclose([value(run, f"m{i}.v") for i in range(n)], 6.0, rtol=1e-9)
    assert len(happened(run)) < 100


def test_friction_at_small_amplitudes_has_its_describing_function():
    """The closed form for Coulomb friction of 12 N is 4 F / (pi A)."""
    amplitude = 1e-4
    found = describing_function(dry(12.0), quantity(amplitude, "m/s"), frequency="16 rad/s")
    assert_allclose(found.values, 4 * 12 / (np.pi * amplitude), rtol=1e-9)
    falling = describing_function(stribeck(12, 18, 5e-4), quantity(amplitude, "m/s"),
                                  frequency="16 rad/s")
    angle = np.linspace(0, np.pi, 2001)
    force = 12 + 6 * np.exp(-((amplitude * np.sin(angle) / 5e-4) ** 2))
    first = 2 / np.pi * np.trapezoid(force * np.sin(angle), angle) / amplitude
    assert_allclose(falling.values, first, rtol=1e-6)


def test_a_gear_whose_load_ends_goes_on():
    """Torques of 2 N m and 0.75 N m/s: at 3 s, where the run ends, the gear carries nothing."""
    model = wired("gear", "S.I gear.S first.R", "gear.O O.I second.R", "first.C second.C ground.W",
                  S=rot.Inertia(inertia="1 kg*m^2"), O=rot.Inertia(inertia="1.125 kg*m^2"),
                  gear=LossyGear(ratio=1, forward_efficiency=0.5, backward_efficiency=0.6),
                  first=rot.TorqueSource(torque=quantity("2 N*m")),
                  second=rot.TorqueSource(torque=lambda t: quantity("0.75 N*m/s") * t),
                  ground=rot.RotationalReference())
    run = model.simulate("3 s", rtol=1e-9, progress=False)
    # w' = 2 - t_S and 1.125 w' = 0.5 t_S + 0.75 t
    assert value(run, "O.w") == pytest.approx((3 + 0.375 * 9) / 1.625, rel=1e-8)


@few(2, "method", ["auto", "DOP853", "rodas4"])
@pytest.mark.parametrize("sense", [1, -1])
def test_a_gear_beside_a_clutch_starts_to_turn_under_a_torque_that_starts_from_zero(method, sense):
    """At the instant its load shows, that is rounding beside what the clutch can hold."""
    model = wired("gear and clutch", "drive.R S.I gear.S", "gear.O O.I clutch.R", "clutch.C load.I",
                  "drive.C ground.W",
                  S=rot.Inertia(inertia="0.19 kg*m^2"), O=rot.Inertia(inertia="0.086 kg*m^2"),
                  load=rot.Inertia(inertia="0.055 kg*m^2"),
                  gear=LossyGear(ratio=5, forward_efficiency=0.6, backward_efficiency=0.4),
                  clutch=rot.RotationalFriction(law="coulomb", breakaway_torque="4.5 N*m",
                                                coulomb_torque="4.5 N*m"),
                  drive=rot.TorqueSource(torque=lambda t: sense * quantity("3 N*m/s") * t),
                  ground=rot.RotationalReference())
    run = model.simulate("2 s", method=method, progress=False)
    # 3 t = (5 J_S + (J_O + J_load) / (5 e)) w_O'
    assert value(run, "load.w") == pytest.approx(sense * 6 / (5 * 0.19 + 0.141 / 3), rel=1e-6)
    assert happened(run) == []  # it slides from the start on


@few(2, "count", [2, 8, 5])
def test_bodies_that_coast_side_by_side_do_not_knock_at_each_other(count):
    """Alike in mass and friction, they touch with a force that is nothing but rounding."""
    model = wired("row", "body.M friction.R", "body[:-1].M buffer.R", "body[1:].M buffer.C",
                  "friction.C ground.V",
                  ground=tr.Reference(), body=tr.Mass(count=count, mass="1.3 kg", v="1 m/s"),
                  friction=tr.TranslationalFriction(count=count),
                  buffer=tr.HardStop(count=count - 1, model="restitution", restitution=0.5,
                                     lower_bound="-1 mm", upper_bound="1 mm", x="1 mm"))
    run = model.simulate("1 s", rtol=1e-8)
    assert len(run.events) < count  # each contact is lost once, by rounding

    def slope(t, v):  # one body alone, by the formula of the friction's own page
        at = v[0] / (0.1 * np.sqrt(2))
        peak = np.sqrt(2 * np.e) * 5 * np.exp(-at**2) * at
        return [-(peak + 20 * np.tanh(v[0] / 0.01) + 100 * v[0]) / 1.3]

    times = np.linspace(0, 0.1, 30)
    alone = solve_ivp(slope, (0, 0.1), [1.0], "Radau", times, rtol=1e-10, atol=1e-13).y[0]
    for k in range(count):
        assert_allclose(run[f"body[{k}].v"].at(quantity(times, "s")).m, alone, atol=1e-7)


# -- no slope at rest -------------------------------------------------------------------------
METHODS = "auto", "dopri5", "DOP853", "rodas4", "Radau", "ode45"


class CubicDamper(tr.TwoPort):
    """f = 4 v^3, in N and m/s."""

    def equations(self):
        yield self.f == quantity("4 N*s^3/m^3") * self.v**3


LOADS = {
    "quadratic": (lambda: tr.QuadraticSpeedDependentForce(nominal_force="4 N"),
                  lambda v: 4 * v * abs(v), lambda f: np.sign(f) * np.sqrt(abs(f) / 4)),
    "cubic": (CubicDamper, lambda v: 4 * v**3, lambda f: np.cbrt(f / 4))}  # fmt: skip
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


@few(2, ("load", "push", "method"), [
    *((load, "constant", method) for load in LOADS for method in METHODS),
    ("quadratic", "ramp", "auto"), ("quadratic", "sine", "DOP853"), ("cubic", "ramp", "rodas4"),
    ("cubic", "sine", "dopri5")])
def test_friction_pushes_a_drag_from_rest(load, push, method):
    made, law, _ = LOADS[load]
    force, _ = PUSHES[push]
    model = wired("drag behind friction", "block.M push.R grip.R", "grip.C drag.R",
                  "drag.C push.C floor.V",
                  block=tr.Mass(mass="2 kg"), push=tr.ForceSource(force=force),
                  floor=tr.Reference(), grip=dry(9), drag=made())
    run = model.simulate("2 s", method=method, rtol=1e-7)
    assert_allclose(run["block.v"].final.m, driven(load, push), rtol=1e-5)
    speed = run["block.v"].at("1 s").m
    assert_allclose(run["drag.f"].at("1 s").m, np.clip(law(speed), -9, 9), rtol=1e-6)


def fan(engaged=None, speed="0 rad/s"):
    """A motor of 2 N m that takes a fan along by a clutch; the fan has no inertia."""
    model = Model("fan")
    model.motor = rot.Inertia(inertia="0.5 kg*m^2", w=speed)
    model.drive, model.floor = rot.TorqueSource(torque="2 N*m"), rot.RotationalReference()
    model.fan = rot.QuadraticSpeedDependentTorque(nominal_torque="5 N*m", nominal_speed="100 rad/s")
    model.clutch = DiscClutch()
    model.press = Constant(value="500 N") if engaged is None else Step(final="500 N", start=engaged)
    model.connect(model.drive.R, model.motor.I, model.clutch.R)
    model.connect(model.clutch.C, model.fan.R)
    model.connect(model.drive.C, model.fan.C, model.floor.W)
    model.connect(model.press.y, model.clutch.N)
    return model


@few(2, ("engaged", "speed", "method"), [
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


@few(2, "method", METHODS)
@pytest.mark.parametrize("load", LOADS)
def test_a_spring_pulls_a_drag_from_rest_or_it_is_refused(load, method):
    """The velocity is a root of the force, infinitely steep at the start: never a wrong one."""
    made, _, _ = LOADS[load]
    model = wired("drag behind a spring", "block.M spring.R", "spring.C drag.R push.R",
                  "drag.C push.C floor.V",
                  block=tr.Mass(mass="1 kg", v="1 m/s"), floor=tr.Reference(),
                  spring=tr.Spring(stiffness="10 N/m"), drag=made(),
                  push=tr.ForceSource(
                      force=lambda t: quantity("5 N") * where(t > quantity("0.7 s"), 1.0, 0)))
    try:
        run = model.simulate("2 s", method=method, rtol=1e-7)
    except BlocksError as refusal:
        assert refusal.time == 0 and load == "cubic"
    else:
        assert_allclose([run["block.v"].final.m, run["spring.x"].final.m], drawn(load), atol=1e-4)
