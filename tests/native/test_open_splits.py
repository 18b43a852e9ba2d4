"""What rests in many ways at once: machine code shares what is held as Python does."""

from itertools import combinations

import numpy as np
import pytest
from benches import wire, wired
from benches.friction import times_of, value
from numpy.testing import assert_allclose

from blocks import Model, quantity
from blocks.nonsmooth.modes import indeterminacy
from library.rotational import Inertia, RotationalFriction, RotationalReference, TorqueSource
from library.signal import Sine
from library.thermal import ThermalMass
from library.translational import (
    ForceSource,
    HardStop,
    Mass,
    Reference,
    Spring,
    TranslationalFriction,
    VelocitySource,
)

STRENGTHS = [3.0, 5.0, 4.0, 2.5, 6.0, 3.5, 4.5, 2.0]  # N


def row(strengths, drive, wall=False):
    """Boxes that touch each other, and perhaps a wall behind the last, each held by friction."""
    model = wired("row", ground=Reference(), push=ForceSource())
    before = None
    for k, strength in enumerate(strengths):
        box, friction = Mass(mass="1 kg"), TranslationalFriction(
            law="coulomb", coulomb_force=f"{0.8 * strength} N", breakaway_force=f"{strength} N")
        model.add(f"box{k}", box)
        model.add(f"rub{k}", friction)
        model.connect(box.M, friction.R)
        model.connect(friction.C, model.ground.V)
        if before is not None:
            _touch(model, f"touch{k}", before, box.M)
        before = box.M
    if wall:
        _touch(model, "wall", before, model.ground.V)
    wire(model, "push.R box0.M", "push.C ground.V")
    if isinstance(drive, Sine):
        model.drive = drive
        model.connect(drive.y, model.push.S)
    else:
        model.push.force = drive
    return model


def _touch(model, name, one, other):
    stop = HardStop(model="restitution", restitution=0, upper_bound="0 mm", lower_bound="-1 m")
    model.add(name, stop)
    model.connect(one, stop.R)
    model.connect(stop.C, other)


@pytest.mark.parametrize(("count", "method"), [
    (2, "auto"), (4, "rodas4"), (8, "auto"), (8, "dopri5"), (8, "rodas4")])
def test_boxes_that_touch_start_together_where_all_frictions_are_overcome(count, method):
    strengths = STRENGTHS[:count]
    model = row(strengths, lambda t: quantity("10 N/s") * t)
    run = model.simulate("4 s", method=method, rtol=1e-9)
    load = sum(strengths)
    starts = load / 10
    assert_allclose(times_of(run, "slides forward"), [starts] * count, rtol=1e-10)
    assert "stretches in Python" not in run.statistics
    later = 4 - starts  # (10 t - 0.8 load) / mass
    assert_allclose(value(run, "box0.v"), (5 * later**2 + 0.2 * load * later) / count, rtol=1e-7)


def test_boxes_at_a_wall_stay_and_the_first_leaves_alone():
    model = row(STRENGTHS, Sine(amplitude="100 N", frequency="0.5 Hz"), wall=True)
    run = model.simulate("1.2 s", method="auto", rtol=1e-9)
    leaves = 1 + np.arcsin(STRENGTHS[0] / 100) / np.pi
    assert {e.component for e in run.events} == {"rub0", "touch1"}
    assert_allclose([e.time for e in run.events], leaves, rtol=1e-10)
    pulled = 100 / np.pi * (np.cos(np.pi * leaves) - np.cos(1.2 * np.pi))
    assert_allclose(value(run, "box0.v"), pulled + 0.8 * STRENGTHS[0] * (1.2 - leaves), rtol=1e-7)
    assert "stretches in Python" not in run.statistics


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_a_large_load_that_stops_and_frictions_share_falls_without_another_split(unit, monkeypatch):
    """Two boxes against two stops each, pushed by a thousand times what their frictions hold."""
    sought, share = [], indeterminacy.share_of
    monkeypatch.setattr(indeterminacy, "share_of",
                        lambda *given: sought.append(given) or share(*given))
    model, strength = Model("press"), {"coulomb_force": quantity(unit, "N"),
                                       "breakaway_force": quantity(unit, "N")}
    model.ground, model.push = Reference(), ForceSource(
        force=lambda t: quantity(1000 * unit, "N") * (1 - t / quantity(0.5, "s")))
    model.between = TranslationalFriction(law="coulomb", **strength)
    for k in range(2):
        box = model.add(f"box{k}", Mass(mass=quantity(unit, "kg")))
        rub = model.add(f"rub{k}", TranslationalFriction(law="coulomb", **strength))
        model.connect(box.M, rub.R)
        model.connect(rub.C, model.ground.V)
        for stop in ("left", "right"):
            _touch(model, f"{stop}{k}", box.M, model.ground.V)
    wire(model, "box0.M between.R push.R", "box1.M between.C", "push.C ground.V")
    run = model.simulate("0.6 s")
    assert_allclose(times_of(run, "slides backward"), 0.5 * (1 + 2e-3), rtol=1e-9)
    assert len(sought) <= 5
    assert "stretches in Python" not in run.statistics


def test_a_clutch_that_shares_a_load_at_rest_heats_nothing_until_it_slides():
    """Two brakes and a clutch of two shafts: how they share a torque the motion leaves open."""
    model, kinetic, ramp = Model("clutch"), 3.0, 4.0  # N m, N m/s
    rubs = {"law": "coulomb", "coulomb_torque": f"{kinetic} N*m", "breakaway_torque": "4 N*m"}
    wire(model, "one.I brake.R pull.R clutch.R", "other.I hold.R clutch.C",
         "base.W brake.C hold.C pull.C", "clutch.H lining.M",
         one=Inertia(), other=Inertia(), base=RotationalReference(),
         brake=RotationalFriction(**rubs), clutch=RotationalFriction(**rubs, thermal_port=True),
         hold=RotationalFriction(**rubs | {"breakaway_torque": "9 N*m"}),
         lining=ThermalMass(mass="0.01 kg"),
         pull=TorqueSource(torque=lambda t: quantity(f"{ramp} N*m/s") * t))
    run = model.simulate("3 s", method="dopri5", rtol=1e-9)
    assert "stretches in Python" not in run.statistics
    starts = (4 + 4) / ramp
    assert_allclose(times_of(run, "slides forward"), [starts] * 2, rtol=1e-9)
    warm = run["lining.T"].at(quantity([0, 1.9], "s")).to("K").m
    assert warm[0] == warm[1]
    later, inertia = 3 - starts, model.one.inertia.to("kg*m^2").m
    turned = (ramp * later**3 / 6 + (8 - 2 * kinetic) * later**2 / 2) / inertia
    capacity = (model.lining.mass * model.lining.specific_heat).to("J/K").m
    assert_allclose(run["lining.T"].final.to("K").m - warm[0], kinetic * turned / capacity,
                    rtol=1e-7)


@pytest.mark.parametrize("seed", [0, *(
    pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_random_frictions_in_loops_move_as_in_python(seed):
    """Bodies that rub on each other and on the ground in more ways than they can move."""

    def run(**how):
        draw = np.random.default_rng(seed)
        model, bodies = Model("random"), []
        model.ground = Reference()
        for k in range(4):
            body = model.add(f"body{k}", Mass(mass=f"{draw.uniform(1, 3)} kg"))
            push, wave = ForceSource(), Sine(amplitude=f"{draw.uniform(2, 8)} N",
                                             frequency=f"{draw.uniform(0.5, 2)} Hz")
            model.add(f"push{k}", push)
            model.add(f"wave{k}", wave)
            model.connect(wave.y, push.S)
            model.connect(push.R, body.M)
            model.connect(push.C, model.ground.V)
            bodies.append(body.M)
        ports = [*bodies, model.ground.V]
        for k, (i, j) in enumerate(combinations(range(5), 2)):
            strength = draw.uniform(0.5, 2)
            rub = model.add(f"rub{k}", TranslationalFriction(
                law="coulomb", coulomb_force=f"{0.8 * strength} N",
                breakaway_force=f"{strength} N"))  # fmt: skip
            model.connect(rub.R, ports[i])
            model.connect(rub.C, ports[j])
        return model.simulate("3 s", **how)

    assert len(_as_in_python(run, 1e-8).events) > 20


@pytest.mark.parametrize("count", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_carts_with_several_brakes_and_slack_couplers(count):
    """Their brakes tell as one each; the run ends where there is no load, at a known instant."""

    def run(**how):
        model, before = Model("carts"), None
        model.ground = Reference()
        for k in range(count):
            cart = model.add(f"cart{k}", Mass(mass="1 kg"))
            for j in range(3):
                brake = model.add(f"brake{k}{j}", TranslationalFriction(
                    law="coulomb", coulomb_force=f"{1 + j} N", breakaway_force=f"{1.3 + j} N"))
                model.connect(cart.M, brake.R)
                model.connect(brake.C, model.ground.V)
            if before is not None:
                coupler = model.add(f"coupler{k}", HardStop(
                    model="restitution", restitution=0, lower_bound="-2 mm", upper_bound="2 mm"))
                model.connect(before, coupler.R)
                model.connect(coupler.C, cart.M)
            before = cart.M
        wire(model, "drive.y pull.S", "pull.R cart0.M", "pull.C ground.V",
             pull=ForceSource(), drive=Sine(amplitude=f"{7.5 * count} N", frequency="1 Hz"))
        return model.simulate("2 s", **how)

    assert len(_as_in_python(run, 1e-7).events) > 20


@pytest.mark.parametrize("count", [3, pytest.param(6, marks=pytest.mark.slow)])
def test_masses_in_a_row_rub_on_the_floor_and_on_each_other(count):
    """Pulled by a spring: who is held by others at its bound changes as often as who slides."""

    def run(**how):
        model, k = Model("row"), 1 + 0.2 * np.random.default_rng(5).random(count)
        model.ground, model.drive = Reference(), VelocitySource(velocity="0.1 m/s")
        model.mass, model.pull = Mass(count=count), Spring(stiffness="20 N/m")
        for name, size, static, kinetic in (("floor", count, 1.3 * k, k),
                                            ("between", count - 1, 0.6 * k[1:], 0.5 * k[1:])):
            model.add(name, TranslationalFriction(
                count=size, law="coulomb", coulomb_force=quantity(kinetic, "N"),
                breakaway_force=quantity(static, "N")))
        wire(model, "drive.C ground.V", "drive.R pull.R", "pull.C mass[0].M", "floor.R mass.M",
             "floor.C ground.V", link=Spring(count=count - 1, stiffness="20 N/m"))
        for part in (model.between, model.link):
            for i in range(count - 1):
                model.connect(part[i].R, model.mass[i].M)
                model.connect(part[i].C, model.mass[i + 1].M)
        return model.simulate("30 s", **how)

    quick = _as_in_python(run, 1e-6)
    assert "events in Python" not in quick.statistics
    assert quick.energy().relative_residual < 1e-7


def _as_in_python(run, within):
    """A run in machine code that goes as one by a method that knows Python only."""
    quick, slow = run(method="dopri5", rtol=1e-9), run(method="DOP853", rtol=1e-11)
    assert "stretches in Python" not in quick.statistics
    told = [[(e.component, e.description) for e in one.events] for one in (quick, slow)]
    assert told[0] == told[1]
    assert_allclose(*([e.time for e in one.events] for one in (quick, slow)), atol=within)
    return quick
