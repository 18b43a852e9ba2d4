"""Friction on what stands still for an instant because of its drive: pistons and rockers.

At a dead centre the flow of a piston's friction is zero while its crank turns. The friction turns
round there and takes nothing from the crank. All of it is energy: with x(phi) the place of the
piston, M and J the masses of piston and flywheel, F and T the friction of piston and bearing::

    (J + M x'(phi)^2) w^2 / 2 = (the same at the start) - F (way of the piston) - T (phi - phi_0)
"""

from itertools import product

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from blocks import Model, Target, quantity
from library.mechanisms import DiscBrake, SliderCrank
from library.planar import Body, ForceSensor, Ground, Prismatic, Revolute, RigidOffset
from library.rotational import Inertia, RotationalFriction, RotationalReference, TorqueSource, table
from library.signal import Abs
from library.translational import Mass, Reference, TranslationalFriction

CRANK, ROD, J, F, T = 0.05, 0.2, 0.1, 5.0, 0.1  # SI units
PHASE = {1: [30.0], 2: [30.0, 120.0]}  # degrees, where the pistons' cranks start
METHODS = ["auto", "rodas4", "DOP853"]


def engine(pistons, mass, bearing):
    model = wired("engine", wheel=Inertia(inertia="0.1 kg*m^2", w="10 rad/s"), block=Reference())
    for k, phase in enumerate(PHASE[pistons]):
        crank = model.add(f"crank{k}", SliderCrank(crank="50 mm", rod="200 mm", phi=f"{phase} deg"))
        rub = model.add(f"rub{k}", TranslationalFriction(
            law="coulomb", breakaway_force="6 N", coulomb_force="5 N"))
        model.connect(model.wheel.I, crank.A)
        model.connect(crank.P, rub.R)
        model.connect(rub.C, model.block.V)
        if mass:
            piston = model.add(f"piston{k}", Mass(mass=f"{mass} kg"))
            model.connect(crank.P, piston.M)
    if bearing:
        wire(model, "wheel.I bearing.R", "bearing.C frame.W",
             bearing=RotationalFriction(law="coulomb", breakaway_torque="0.1 N*m",
                                        coulomb_torque="0.1 N*m"), frame=RotationalReference())
    return model


def place(angle):
    return CRANK * np.cos(angle) + np.sqrt(ROD**2 - (CRANK * np.sin(angle)) ** 2)


def lever(angle):
    s, c = np.sin(angle), np.cos(angle)
    return -CRANK * s - CRANK**2 * s * c / np.sqrt(ROD**2 - (CRANK * s) ** 2)


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


@pytest.mark.parametrize(("pistons", "mass", "bearing", "method"), [
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
         frame=RotationalReference(),
         rub=RotationalFriction(law="coulomb", breakaway_torque="0.7 N*m",
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
         wheel=Inertia(inertia="0.1 kg*m^2"),
         brake=DiscBrake(normal_force=table(["0 s", "0.1 s", "0.1 s"], ["20 kN", "20 kN", "0 N"])),
         motor=TorqueSource(torque=table(times, torques)), bed=RotationalReference(),
         block=Reference())
    return model


@pytest.mark.parametrize(("begin", "method"), [
    (180, "auto"), (180, "DOP853"), (0, "auto"), (0, "rodas4")])
def test_a_press_that_a_brake_holds_starts_out_of_its_dead_centre(begin, method):
    model = held_shaft(Model("press"), ["0.1 s", "0.2 s"], ["0 N*m", "4 N*m"])
    wire(model, "wheel.I crank.A", "crank.P ram.M rub.R", "rub.C block.V",
         crank=SliderCrank(crank="50 mm", rod="200 mm", phi=f"{begin} deg"),
         ram=Mass(mass="0.5 kg"),
         rub=TranslationalFriction(law="coulomb", breakaway_force="6 N", coulomb_force="5 N"))
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


@pytest.mark.parametrize(("guide", "begin", "method"), [
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
        model.rub = TranslationalFriction(law="coulomb", breakaway_force="6 N", coulomb_force="5 N")
    else:
        wire(model, "side.FX load.u", "load.y rub.N",
             rub=TranslationalFriction(law="coulomb", normal=True, coulomb_coefficient=0.1,
                                       breakaway_coefficient=0.1), load=Abs(unit="N"))
    wire(model, "slide.A rub.R", "rub.C block.V")
    run = model.simulate("0.25 s", method=method, rtol=1e-7)
    parts = ("wheel", "web", "rod", "ram")
    stored = sum((run[f"{b}.energy_stored"].final - run[f"{b}.energy_stored"].at("0 s")).m
                 for b in parts)
    times = quantity(np.linspace(0.1, 0.25, 501), "s")
    rubbed = np.abs(run["rub.f"].at(times).m)
    way = np.abs(np.diff(run["slide.s"].at(times).m))
    turned = run["main.phi"].final.m - np.radians(begin)
    assert turned > 0.3
    assert stored == pytest.approx(
        4 * turned - (way * (rubbed[1:] + rubbed[:-1]) / 2).sum(), rel=1e-5)
