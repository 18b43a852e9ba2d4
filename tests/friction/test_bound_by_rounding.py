"""Loads that are at a breakaway force but for rounding: the motion goes on as mechanics says."""

import numpy as np
import pytest
from benches import wired
from benches.friction import dry, happened, missing_energy, push, value
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from blocks import Model, quantity
from blocks.analysis.describing import describing_function
from library.mechanisms import LossyGear
from library.rotational import Inertia, RotationalFriction, RotationalReference, TorqueSource
from library.signal import Constant, Gain, Integrator, Sum
from library.translational import (
    ForceSource,
    HardStop,
    Mass,
    MotionSensor,
    Reference,
    Spring,
    TranslationalFriction,
)

MASS, P, I, D = 20.0, 80e3, 400e3, 1.2e3


def stribeck(coulomb, breakaway, velocity):
    return TranslationalFriction(
        law="stribeck", coulomb_force=quantity(coulomb, "N"),
        breakaway_force=quantity(breakaway, "N"), breakaway_velocity=velocity)  # fmt: skip


def axis(velocity):
    """A carriage 5 mm beside its set point, with P + I + D and friction of 12 and 18 N."""
    model = wired("axis", "carriage.M sensor.R motor.R friction.R", "rail.V motor.C friction.C",
                  "wanted.y error.u[0]", "sensor.P error.u[1]", "error.y P.u", "error.y sum.u",
                  "sum.y I.u", "sensor.V D.u",
                  carriage=Mass(mass="20 kg"), rail=Reference(), motor=ForceSource(),
                  sensor=MotionSensor(reference="absolute", x="-5 mm"),
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
@pytest.mark.parametrize("velocity", ["2 mm/s", "10 mm/s"])
def test_an_axis_creeps_to_its_place_once_friction_is_flat(method, velocity):
    """At speeds far below that of Stribeck friction is 18 N: the last slip is a linear decay."""
    run = axis(velocity).simulate("10 s", method=method, rtol=1e-8, progress=False)
    told = happened(run)
    assert len(told) < 20
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
    model.ground = Reference()
    for i in range(n):
        mass = model.add(f"m{i}", Mass(mass="1 kg"))
        if before is not None:
            friction, link = model.add(f"f{i}", law(2.0 * i)), model.add(
                f"s{i}", Spring(stiffness=spring))
            model.connect(before.M, friction.R, link.R)
            model.connect(mass.M, friction.C, link.C)
        before = mass
    model.push = push(ramp)
    model.connect(model.push.R, before.M)
    model.connect(model.push.C, model.ground.V)
    return model


@pytest.mark.parametrize("law", [dry, lambda f: stribeck(0.6 * f, f, "5 mm/s")],
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
        first = happened(run)[0][0]
        assert first == pytest.approx(2.0 * n / 13.0, rel=1e-9)
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
    falling = describing_function(stribeck(12, 18, "0.5 mm/s"), quantity(amplitude, "m/s"),
                                  frequency="16 rad/s")
    angle = np.linspace(0, np.pi, 2001)
    force = 12 + 6 * np.exp(-((amplitude * np.sin(angle) / 5e-4) ** 2))
    first = 2 / np.pi * np.trapezoid(force * np.sin(angle), angle) / amplitude
    assert_allclose(falling.values, first, rtol=1e-6)


def test_a_gear_whose_load_ends_goes_on():
    """Torques of 2 N m and 0.75 N m/s: at 3 s, where the run ends, the gear carries nothing."""
    model = wired("gear", "S.I gear.S first.R", "gear.O O.I second.R", "first.C second.C ground.W",
                  S=Inertia(inertia="1 kg*m^2"), O=Inertia(inertia="1.125 kg*m^2"),
                  gear=LossyGear(ratio=1, forward_efficiency=0.5, backward_efficiency=0.6),
                  first=TorqueSource(torque=quantity("2 N*m")),
                  second=TorqueSource(torque=lambda t: quantity("0.75 N*m/s") * t),
                  ground=RotationalReference())
    run = model.simulate("3 s", rtol=1e-9, progress=False)
    # w' = 2 - t_S and 1.125 w' = 0.5 t_S + 0.75 t
    assert value(run, "O.w") == pytest.approx((3 + 0.375 * 9) / 1.625, rel=1e-8)


@pytest.mark.parametrize("method", ["auto", "DOP853", "rodas4"])
@pytest.mark.parametrize("sense", [1, -1])
def test_a_gear_beside_a_clutch_starts_to_turn_under_a_torque_that_starts_from_zero(method, sense):
    """At the instant its load shows, that is rounding beside what the clutch can hold."""
    model = wired("gear and clutch", "drive.R S.I gear.S", "gear.O O.I clutch.R", "clutch.C load.I",
                  "drive.C ground.W",
                  S=Inertia(inertia="0.19 kg*m^2"), O=Inertia(inertia="0.086 kg*m^2"),
                  load=Inertia(inertia="0.055 kg*m^2"),
                  gear=LossyGear(ratio=5, forward_efficiency=0.6, backward_efficiency=0.4),
                  clutch=RotationalFriction(law="coulomb", breakaway_torque="4.5 N*m",
                                            coulomb_torque="4.5 N*m"),
                  drive=TorqueSource(torque=lambda t: sense * quantity("3 N*m/s") * t),
                  ground=RotationalReference())
    run = model.simulate("2 s", method=method, progress=False)
    # 3 t = (5 J_S + (J_O + J_load) / (5 e)) w_O'
    assert value(run, "load.w") == pytest.approx(sense * 6 / (5 * 0.19 + 0.141 / 3), rel=1e-6)
    assert len(happened(run)) == 1


@pytest.mark.parametrize("count", [2, 5, 8])
def test_bodies_that_coast_side_by_side_do_not_knock_at_each_other(count):
    """Alike in mass and friction, they touch with a force that is nothing but rounding."""
    model, last = Model("row"), None
    model.ground = Reference()
    for k in range(count):
        body, friction = Mass(mass="1.3 kg", v="1 m/s"), TranslationalFriction()
        model.add(f"body{k}", body)
        model.add(f"friction{k}", friction)
        model.connect(body.M, friction.R)
        model.connect(friction.C, model.ground.V)
        if last is not None:
            buffer = model.add(f"buffer{k}", HardStop(
                model="restitution", restitution=0.5, lower_bound="-1 mm", upper_bound="1 mm",
                x="1 mm"))  # fmt: skip
            model.connect(last.M, buffer.R)
            model.connect(buffer.C, body.M)
        last = body
    run = model.simulate("1 s", rtol=1e-8)
    assert len(run.events) < count  # each contact is lost once, by rounding

    def slope(t, v):  # one body alone, by the formula of the friction's own page
        at = v[0] / (0.1 * np.sqrt(2))
        peak = np.sqrt(2 * np.e) * 5 * np.exp(-at**2) * at
        return [-(peak + 20 * np.tanh(v[0] / 0.01) + 100 * v[0]) / 1.3]

    times = np.linspace(0, 0.1, 30)
    alone = solve_ivp(slope, (0, 0.1), [1.0], "Radau", times, rtol=1e-10, atol=1e-13).y[0]
    for k in range(count):
        assert_allclose(run[f"body{k}.v"].at(quantity(times, "s")).m, alone, atol=1e-7)
