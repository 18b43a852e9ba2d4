"""Exact friction with every method, in differential-algebraic systems, and at dead centres."""

from itertools import product

import benches.friction as bench
import numpy as np
import pytest
from benches import few, wire, wired
from benches.friction import BrakedPendulum, dragged, dry, happened, missing_energy, value, values
from benches.mechanisms import lever, place
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import library.rotational as rot
from blocks import Model, Parameter, Target, Variable, der, dry_friction, quantity
from library.mechanisms import DiscBrake, SliderCrank
from library.planar import Body, ForceSensor, Ground, Prismatic, Revolute, RigidOffset
from library.signal import Abs
from library.translational import Mass, Reference, Spring, TranslationalFriction, TwoPort

CASE = bench.reference()["belt"]["P6-A"]
ADAPTIVE = {"DOP853": 1e-8, "RK45": 1e-7, "RK23": 1e-6, "ode45": 1e-7, "ode23s": 1e-4,
            "Radau": 1e-7, "rodas4": 1e-7}  # fmt: skip


@few(2, "method", [
    pytest.param(method, marks=[pytest.mark.slow] * (method == "ode23s")) for method in ADAPTIVE])
def test_stick_slip_is_right_with_every_adaptive_method(method):
    loose = method in ("ode23s", "RK23")
    run = dragged(CASE).simulate("4 s", rtol=1e-7 if loose else 1e-9, method=method)
    events = happened(run)
    assert [e[2] for e in events] == ["slides forward", "sticks"] * 3
    assert_allclose([e[0] for e in events[::2]], CASE["slips"], rtol=0, atol=ADAPTIVE[method])
    assert_allclose(value(run, "sensor.x"), CASE["x"], rtol=0, atol=ADAPTIVE[method])
    assert np.ptp(values(run, ["sensor.x"], np.linspace(2.1, 4, 50))) <= 1e-14
    assert value(run, "body.v") == 0


@pytest.mark.parametrize("method, order", [("rk4", 4), ("backward_euler", 1), ("trapezoidal", 2)])
def test_fixed_steps_keep_their_order_through_stops(method, order):
    errors = []
    for step in (0.02, 0.01):
        run = bench.oscillator(x0=6.3).simulate("12 s", method=method, step=quantity(step, "s"))
        errors.append(abs(values(run, ["spring.x"], [5.0])[0, 0] - exact_oscillator(5.0)))
    assert order - 0.3 < np.log2(errors[0] / errors[1]) < order + 0.6


def exact_oscillator(t):
    """From 6.3 m with friction of 1 N over 1 N/m: half cycles about +1, -1, ..."""
    half = int(t // np.pi)
    centre = 1.0 if half % 2 == 0 else -1.0
    return centre + (6.3 - 1 - 2 * half) * np.cos(t)


@pytest.mark.parametrize("method", ["DOP853", "rodas4"])
def test_a_pendulum_with_joint_friction_swings_and_sticks_as_its_angle_equation(method):
    stops = bench.stops_of_pendulum(lambda *_: 1.5, lambda _: 2.5)
    model = wired("pendulum", p=BrakedPendulum(torque="1.5 N*m", static="2.5 N*m"))
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
                  load=bench.push(lambda t: 1.5 * t))
    run = model.simulate("3 s", rtol=1e-10)
    ((time, *_),) = happened(run)
    assert_allclose(time, (2 + 0.4**3) / 1.5, rtol=0, atol=1e-9)
    assert value(run, "body.v", 1.3) == 0
    s = value(run, "friction.s", 1.0)
    assert_allclose(s + (s / 5) ** 3, 1.5, rtol=1e-9)


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


# -- dead centres -----------------------------------------------------------------------------
J, F, T = 0.1, 5.0, 0.1  # SI units
PHASE = {1: [30.0], 2: [30.0, 120.0]}  # degrees, where the pistons' cranks start
METHODS = ["auto", "rodas4", "DOP853"]


def engine(pistons, mass, bearing):
    model = wired("engine", wheel=rot.Inertia(inertia="0.1 kg*m^2", w="10 rad/s"),
                  block=Reference())
    for k, phase in enumerate(PHASE[pistons]):
        crank = model.add(f"crank{k}", SliderCrank(crank="50 mm", rod="200 mm", phi=f"{phase} deg"))
        rub = model.add(f"rub{k}", dry(5, 6))
        model.connect(model.wheel.I, crank.A)
        model.connect(crank.P, rub.R)
        model.connect(rub.C, model.block.V)
        if mass:
            model.connect(crank.P, model.add(f"piston{k}", Mass(mass=f"{mass} kg")).M)
    if bearing:
        wire(model, "wheel.I bearing.R", "bearing.C frame.W",
             bearing=rot.RotationalFriction(law="coulomb", breakaway_torque="0.1 N*m",
                                            coulomb_torque="0.1 N*m"),
             frame=rot.RotationalReference())
    return model


def way(start, end):
    """Of a piston: from dead centre to dead centre."""
    between = np.arange(np.ceil(start / np.pi), np.floor(end / np.pi) + 1) * np.pi
    return np.abs(np.diff(place(np.concatenate([[start], between, [end]])))).sum()


def speed(turned, pistons, mass, bearing):
    """Of the flywheel after it has turned so far."""
    inertia, energy = J, J * 10.0**2 / 2 - T * turned * bearing
    for phase in np.radians(PHASE[pistons]):
        energy += mass * (lever(phase) * 10.0) ** 2 / 2 - F * way(phase, phase + turned)
        inertia += mass * lever(phase + turned) ** 2
    return np.sqrt(2 * energy / inertia)


@few(7, ("pistons", "mass", "bearing", "method"), [
    (*engine, method) for engine in product((1, 2), (0.5, 0), (0, 1)) for method in METHODS
    if method == "auto" or engine in ((1, 0, 0), (2, 0.5, 1))])
def test_pistons_pass_their_dead_centres(pistons, mass, bearing, method):
    run = engine(pistons, mass, bearing).simulate("1.5 s", method=method, rtol=1e-8)
    times = np.linspace(0, 1.5, 31)
    angle = run["crank0.phi"].at(quantity(times, "s")).m
    expected = [speed(a - angle[0], pistons, mass, bearing) for a in angle]
    assert angle[-1] - angle[0] > 3 * np.pi
    assert_allclose(run["wheel.w"].at(quantity(times, "s")).m, expected, rtol=2e-6)


@pytest.mark.parametrize(("rtol", "method"), [
    (1e-4, "auto"), *((1e-7, method) for method in METHODS)])
def test_a_rocker_turns_round_while_its_crank_goes_on(rtol, method):
    model = wired("crank and rocker", ground=Ground(), far=RigidOffset(dx="0.5 m"))
    model.crank, model.coupler, model.rocker = (Body(
        mass="1 kg", inertia="0.1 kg*m^2", center_x=x) for x in ("0.1 m", "0.3 m", "0.2 m"))
    model.to_coupler, model.to_rocker, model.from_rocker = (
        RigidOffset(dx=x) for x in ("0.2 m", "0.6 m", "0.4 m"))
    wire(model, "ground.P a.B far.B", "a.F crank.P to_coupler.B", "to_coupler.F b.B",
         "b.F coupler.P to_rocker.B", "to_rocker.F c.B", "c.F from_rocker.F",
         "from_rocker.B rocker.P d.F", "far.F d.B", "rub.R d.A", "rub.C frame.W",
         a=Revolute(phi="-7.5 deg"), b=Revolute(), c=Revolute(),
         d=Revolute(phi=Target("-58 deg", priority="none"), drive=True),
         frame=rot.RotationalReference(),
         rub=rot.RotationalFriction(law="coulomb", breakaway_torque="0.7 N*m",
                                    coulomb_torque="0.5 N*m"))
    run = model.simulate("0.4 s", method=method, rtol=rtol)
    stored = sum(run[f"{b}.energy_stored"] for b in ("crank", "coupler", "rocker"))
    angle = run["d.phi"].at(quantity(np.linspace(0, 0.4, 4001), "s")).m
    lost = 0.5 * np.abs(np.diff(angle)).sum()
    assert 0.5 * np.ptp(angle) < 0.95 * lost  # it has turned round
    assert float((stored.at("0 s") - stored.final).m) == pytest.approx(lost, abs=20 * rtol)


def held_shaft(model, times, torques):
    """A flywheel that a brake holds until 0.1 s, and a motor."""
    wire(model, "wheel.I motor.R brake.R", "motor.C brake.C bed.W",
         wheel=rot.Inertia(inertia="0.1 kg*m^2"),
         brake=DiscBrake(normal_force=rot.table(["0 s", "0.1 s", "0.1 s"],
                                                ["20 kN", "20 kN", "0 N"])),
         motor=rot.TorqueSource(torque=rot.table(times, torques)), bed=rot.RotationalReference(),
         block=Reference())
    return model


@pytest.mark.parametrize(("begin", "method"), [
    (180, "auto"), (180, "DOP853"), (0, "auto"), (0, "rodas4")])
def test_a_press_that_a_brake_holds_starts_out_of_its_dead_centre(begin, method):
    model = held_shaft(Model("press"), ["0.1 s", "0.2 s"], ["0 N*m", "4 N*m"])
    wire(model, "wheel.I crank.A", "crank.P ram.M rub.R", "rub.C block.V",
         crank=SliderCrank(crank="50 mm", rod="200 mm", phi=f"{begin} deg"),
         ram=Mass(mass="0.5 kg"), rub=dry(5, 6))
    run = model.simulate("0.5 s", method=method, rtol=1e-8)

    def motion(t, y):  # the torque grows from nothing: at first nothing even accelerates
        angle, w = y
        bend = (lever(angle + 1e-5) - lever(angle - 1e-5)) / 2e-5
        torque = min(40 * t, 4) - F * abs(lever(angle)) - 0.5 * lever(angle) * bend * w**2
        return w, torque / (J + 0.5 * lever(angle) ** 2)

    hand = solve_ivp(motion, (0, 0.4), (np.radians(begin), 0), rtol=1e-10, atol=1e-12,
                     max_step=1e-3)
    assert run["rub.mode"].at("0.05 s").m == 0
    assert run["wheel.w"].final.m == pytest.approx(hand.y[1, -1], rel=1e-6)
    assert run["crank.phi"].final.m == pytest.approx(hand.y[0, -1], rel=1e-6)


@few(2, ("guide", "begin", "method"), [
    ("5 N", 90, "auto"), ("5 N", -90, "rodas4"), ("of its load", 90, "rodas4"),
    ("of its load", -90, "auto")])
def test_a_linkage_that_a_brake_holds_starts_out_of_its_dead_centre(guide, begin, method):
    model = held_shaft(Model("linkage"), ["0 s", "0.1 s", "0.1 s"], ["0 N*m", "0 N*m", "4 N*m"])
    model.ground, model.main, model.pin, model.wrist = (
        Ground(), Revolute(drive=True, phi=f"{begin} deg"),
        Revolute(phi="180 deg" if begin > 0 else "0 deg"), Revolute())
    model.web, model.rod, model.ram = (Body(mass=f"{m} kg", inertia="1 g*m^2")
                                       for m in (0.3, 0.2, 0.5))
    wire(model, "ground.P main.B side.B", "side.F slide.B", "main.F web.P arm.B", "arm.F pin.B",
         "pin.F rod.P end.B", "end.F wrist.B", "wrist.F ram.P slide.F", "wheel.I main.A",
         arm=RigidOffset(dx="50 mm"), end=RigidOffset(dx="200 mm"),
         slide=Prismatic(angle="-90 deg", drive=True, s="150 mm" if begin > 0 else "250 mm"),
         side=ForceSensor())
    if guide == "5 N":
        model.rub = dry(5, 6)
    else:
        wire(model, "side.FX load.u", "load.y rub.N",
             rub=TranslationalFriction(law="coulomb", normal=True, coulomb_coefficient=0.1,
                                       breakaway_coefficient=0.1), load=Abs(unit="N"))
    wire(model, "slide.A rub.R", "rub.C block.V")
    run = model.simulate("0.25 s", method=method, rtol=1e-7)
    stored = sum((run[f"{b}.energy_stored"].final - run[f"{b}.energy_stored"].at("0 s")).m
                 for b in ("wheel", "web", "rod", "ram"))
    times = quantity(np.linspace(0.1, 0.25, 501), "s")
    rubbed = np.abs(run["rub.f"].at(times).m)
    way = np.abs(np.diff(run["slide.s"].at(times).m))
    turned = run["main.phi"].final.m - np.radians(begin)
    assert turned > 0.3
    assert stored == pytest.approx(
        4 * turned - (way * (rubbed[1:] + rubbed[:-1]) / 2).sum(), rel=1e-5)
