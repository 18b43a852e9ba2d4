"""What rests in many ways at once is decided in machine code: feet, boxes in rows, brakes.

Where friction follows what several feet carry, and where what is held may be shared in any way."""

from itertools import combinations

import numpy as np
import pytest
from benches import few, wire, wired
from benches.friction import dry, times_of, value, values
from benches.rigid_bodies import Box
from numpy.testing import assert_allclose

import library.planar as pl
import library.translational as tr
from blocks import Model, quantity, where
from blocks.nonsmooth.modes import indeterminacy
from library.rotational import Inertia, RotationalFriction, RotationalReference, TorqueSource
from library.signal import Sine
from library.thermal import ThermalMass

# -- bodies on several feet -------------------------------------------------------------------
G = 9.81
METHODS = "dopri5", "rodas4"


def body(inertia, **given):
    """One that is where it is told to be, and otherwise at rest at the origin."""
    rest = {"x": "0 m", "y": "0 m", "phi": "0 rad", "vx": "0 m/s", "vy": "0 m/s", "w": "0 rad/s"}
    return pl.Body(inertia=inertia, **rest | given)


def standing(model, name, base, feet, y="0.2 m", friction=0.4, floor=None):
    """A box of 1 kg on feet at places along it, with its centre 0.2 m above them."""
    wire(model, **{name: body("0.1 kg*m^2", mass="1 kg", y=y)})
    for k, x in enumerate(feet):
        wire(model, f"{name}_foot{k}.F {name}.P", f"{name}_foot{k}.B {base}.P", **{
            f"{name}_foot{k}": pl.Contact(
                curve=pl.Corner(f"{x} m", "-0.2 m"), base=floor or pl.Line(), friction=friction,
                static_friction=1.25 * friction)})
    return getattr(model, name)


def pushed(model, name, force):
    wire(model, f"push.P {name}.P", push=pl.Force())
    if isinstance(force, Sine):
        wire(model, "wave.y push.SX", wave=force)
    else:
        model.push.fx = force


@pytest.mark.parametrize(("feet", "method"), [
    ((-0.3, 0.3), "auto"), ((-0.5, 0.1, 0.4), "dopri5"), ((-0.5, 0.1, 0.4), "rodas4")])
def test_a_box_slides_where_the_push_is_more_than_its_feet_can_hold(feet, method):
    model = wired("box", ground=pl.Ground())
    standing(model, "box", "ground", feet)
    pushed(model, "box", lambda t: quantity("2 N/s") * t)
    run = model.simulate("3 s", method=method, rtol=1e-9)
    starts = 0.5 * G / 2
    assert_allclose(times_of(run, "slides"), [starts] * len(feet), rtol=1e-10)
    assert_allclose(value(run, "box.vx"), (9 - starts**2) - 0.4 * G * (3 - starts), rtol=1e-7)
    assert "stretches in Python" not in run.statistics


@few(1, "count", [12, 100])
def test_boxes_that_slide_come_to_rest_on_their_feet_without_python(count, in_python):
    speed, mu = np.linspace(1.0, 3.0, count), 0.3
    model = wired("boxes", **{f"box{k}": Box(friction=mu, static_friction=mu, vx=quantity(v, "m/s"))
                              for k, v in enumerate(speed)})
    run = model.simulate("2 s", rtol=1e-9)
    assert not in_python
    assert_allclose(times_of(run, "sticks"), np.repeat(speed / (mu * G), 2), rtol=1e-9)
    for k in (0, count - 1):
        assert_allclose(run[f"box{k}.vx"].at("0.3 s").m, speed[k] - mu * G * 0.3, rtol=1e-9)
        assert_allclose(value(run, f"box{k}.N1") + value(run, f"box{k}.N2"), 2 * G, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_box_that_cannot_slide_tips_about_its_front_foot(method):
    model = wired("box", ground=pl.Ground())
    standing(model, "box", "ground", (-0.3, 0.3), friction=2.0)
    pushed(model, "box", lambda t: quantity("10 N/s") * t)
    run = model.simulate("1.5 s", method=method, rtol=1e-9)
    lifts = G * 0.3 / 0.2 / 10  # moments about the front foot
    assert run.events[0].description == "opens"
    assert {e.component for e in run.events} == {"box_foot0"}
    assert_allclose([e.time for e in run.events], lifts, rtol=1e-10)
    assert run.statistics.get("stretches in Python", 0) <= 1  # the instant at which it lifts


def test_what_moves_beside_a_box_that_stands_is_not_slowed_by_it():
    model = wired("box and spring", ground=pl.Ground(), wall=tr.Reference())
    standing(model, "box", "ground", (-0.3, 0.3))
    pushed(model, "box", Sine(amplitude="3 N", frequency="1 Hz"))
    wire(model, "mass.M spring.R damper.R", "spring.C damper.C wall.V",
         mass=tr.Mass(mass="1 kg", v="1 m/s"), spring=tr.Spring(stiffness="1e4 N/m"),
         damper=tr.Damper(damping="1 N*s/m"))
    run = model.simulate("2 s", rtol=1e-9)
    assert not run.events
    assert "stretches in Python" not in run.statistics
    rate = np.sqrt(1e4 - 0.25)
    assert_allclose(value(run, "mass.v"), np.exp(-1.0) * (
        np.cos(2 * rate) - 0.5 / rate * np.sin(2 * rate)), atol=1e-7)


def stack():
    """Two boxes on each other, of which the upper one is pulled to and fro: both slide, and tip."""
    model = wired("stack", ground=pl.Ground())
    standing(model, "low", "ground", (-0.5, 0.5), friction=0.28)
    standing(model, "high", "low", (-0.5, 0.5), y="0.6 m", friction=0.28, floor=pl.Line(y="0.2 m"))
    pushed(model, "high", Sine(amplitude="12 N", frequency="1 Hz"))
    return model


def cart():
    """A box on a cart that rocks on springs: the floor of its feet moves, and turns."""
    model = wired("cart", ground=pl.Ground())
    model.cart = body("2 kg*m^2", mass="5 kg", w="0.3 rad/s")
    for k, x in enumerate((-1, 1)):
        for j, (wide, down) in enumerate(((1, -1.1), (2, -0.1))):
            n = f"{k}{j}"
            wire(model, f"end{n}.B ground.P", f"own{n}.B cart.P", f"spring{n}.B end{n}.F",
                 f"spring{n}.F own{n}.F", **{
                     f"end{n}": pl.RigidOffset(dx=f"{x * wide} m", dy=f"{down} m"),
                     f"own{n}": pl.RigidOffset(dx=f"{x} m", dy="-0.1 m"),
                     f"spring{n}": pl.SpringDamper(stiffness="1000 N/m", damping="10 N*s/m",
                                                   free_length="1 m")})
    box = standing(model, "box", "cart", (-0.4, 0.4))
    box.w, box.vx = "0.3 rad/s", "-0.06 m/s"
    pushed(model, "box", Sine(amplitude="5 N", frequency="1.3 Hz"))
    return model


def swing():
    """A box on a table that hangs on two parallel rods: its equations have loops."""
    model = wired("swing", ground=pl.Ground())
    model.table = body("0.5 kg*m^2", mass="2 kg", vx="0.3 m/s")
    for k, x in enumerate((-0.6, 0.6)):
        wire(model, f"above{k}.B ground.P", f"hinge{k}.B above{k}.F",
             f"hinge{k}.F rod{k}.P tip{k}.B", f"tip{k}.F eye{k}.B", f"eye{k}.F below{k}.F",
             f"below{k}.B table.P", **{
                 f"rod{k}": pl.Body(mass="0.1 kg", inertia="0.01 kg*m^2"),
                 f"tip{k}": pl.RigidOffset(dy="-1 m"), f"hinge{k}": pl.Revolute(),
                 f"above{k}": pl.RigidOffset(dx=f"{x} m", dy="1 m"), f"eye{k}": pl.Revolute(),
                 f"below{k}": pl.RigidOffset(dx=f"{x} m")})
    standing(model, "box", "table", (-0.4, 0.4), friction=0.2).vx = "0.3 m/s"
    pushed(model, "box", Sine(amplitude="4 N", frequency="0.7 Hz"))
    return model


@pytest.mark.parametrize(("make", "end"), [(stack, "0.71 s"), (cart, "0.71 s"), (swing, "1.01 s")])
def test_feet_on_what_moves_obey_their_laws(make, end):
    model = make()
    run = model.simulate(end, rtol=1e-9)
    assert run.statistics.get("stretches in Python", 0) <= 2  # where a foot lands and lets go
    assert run.energy().relative_residual < 1e-7
    assert any("slides" in e.description or "opens" in e.description for e in run.events)
    times = np.linspace(0, 1, 101)[1:-1] * quantity(end)
    feet = [name for name in model.parts if "foot" in name]
    normal, along = (np.array([run[f"{name}.{what}"].at(times).m for name in feet])
                     for what in "NT")
    holds = [1.25 * model.parts[name].friction.m for name in feet] * normal.T
    assert normal.min() > -1e-6
    assert (np.abs(along.T) <= holds + 1e-6).all()


def test_shares_of_feet_are_read_at_many_times_as_at_each():
    """Those shown are of the least squares within their bounds, whatever the run has gone by."""
    run, times = stack().simulate("1 s", rtol=1e-9), np.linspace(0.0, 1.0, 101)
    times = times[np.abs(times[:, None] - [e.time for e in run.events]).min(axis=1) > 1e-6]
    paths = [k for k in run.recording.catalog if "foot" in k and k[-2:] in (".N", ".T")]
    at_once = values(run, paths, times)
    each = np.concatenate([values(run, paths, times[k : k + 1]) for k in range(len(times))], axis=1)
    assert_allclose(at_once, each, rtol=1e-9, atol=1e-9)
    assert np.abs(at_once).max() > 4


@pytest.mark.parametrize("method", METHODS)
def test_a_ladder_slips_where_floor_and_wall_together_cannot_hold_it(method):
    """Pulled at its foot: both ends slide at once, whatever each of them carried before."""
    model, angle, friction, weight = Model("ladder"), np.radians(60), 0.4, 10 * G
    c, s = np.cos(angle), np.sin(angle)
    model.ladder = body("3.333 kg*m^2", mass="10 kg", x=f"{c} m", y=f"{s} m")
    wire(model, "floor.F wall.F foot.B ladder.P", "floor.B wall.B ground.P", "foot.F pull.P",
         ground=pl.Ground(), foot=pl.RigidOffset(dx=f"{c} m", dy=f"{-s} m"), pull=pl.Force(),
         **{name: pl.Contact(curve=pl.Corner(f"{x} m", f"{y} m"), base=pl.Line(turned),
                             friction=friction)
            for name, x, y, turned in (("floor", c, -s, "0 deg"), ("wall", -c, s, "-90 deg"))})
    model.pull.fx = lambda t: quantity("20 N/s") * t
    run = model.simulate("1 s", method=method, rtol=1e-9)
    # moments about the foot, with friction at its bounds at both ends
    at_wall = weight * c / (2 * (s + friction * c))
    pull = friction * (weight - friction * at_wall) - at_wall
    assert [(e.component, e.description) for e in run.events] == [
        ("floor", "slides forward"), ("wall", "slides forward")]
    assert_allclose([e.time for e in run.events], pull / 20, rtol=1e-10)
    assert "stretches in Python" not in run.statistics


# -- what is held may be shared in any way ----------------------------------------------------
STRENGTHS = [3.0, 5.0, 4.0, 2.5, 6.0, 3.5, 4.5, 2.0]  # N


def row(strengths, drive, wall=False):
    """Boxes that touch each other, and perhaps a wall behind the last, each held by friction."""
    model = wired("row", "push.C ground.V", ground=tr.Reference(), push=tr.ForceSource())
    for k, strength in enumerate(strengths):
        wire(model, f"box{k}.M rub{k}.R", f"rub{k}.C ground.V", **{
            f"box{k}": tr.Mass(mass="1 kg"), f"rub{k}": dry(0.8 * strength, strength)})
        if k:
            touch(model, f"touch{k}", f"box{k - 1}.M", f"box{k}.M")
    if wall:
        touch(model, "wall", f"box{k}.M", "ground.V")
    model.connect(model.push.R, model.box0.M)
    if isinstance(drive, Sine):
        wire(model, "drive.y push.S", drive=drive)
    else:
        model.push.force = drive
    return model


def touch(model, name, one, other, low="-1 m", high="0 mm"):
    wire(model, f"{one} {name}.R", f"{name}.C {other}", **{name: tr.HardStop(
        model="restitution", restitution=0, upper_bound=high, lower_bound=low)})


@few(3, ("count", "method"), [
    (2, "auto"), (8, "auto"), (4, "rodas4"), (8, "rodas4"), (8, "dopri5")])
def test_boxes_that_touch_start_together_where_all_frictions_are_overcome(count, method):
    load = sum(STRENGTHS[:count])
    model, starts = row(STRENGTHS[:count], lambda t: quantity("10 N/s") * t), load / 10
    run = model.simulate("4 s", method=method, rtol=1e-9)
    assert_allclose(times_of(run, "slides forward"), [starts] * count, rtol=1e-10)
    assert "stretches in Python" not in run.statistics
    later = 4 - starts  # (10 t - 0.8 load) / mass
    assert_allclose(value(run, "box0.v"), (5 * later**2 + 0.2 * load * later) / count, rtol=1e-7)


@pytest.mark.parametrize("beside", [
    tr.HardStop(model="restitution", restitution=0, lower_bound="-1 m", upper_bound="0 m"),
    dry(0)], ids=["a stop", "friction without strength"])
def test_a_stop_that_bears_nothing_rests_in_machine_code_until_it_is_pressed(beside):
    run = wired("pair", "a.M stop.R beside.R push.R", "stop.C beside.C b.M", "push.C ground.V",
                a=tr.Mass(), b=tr.Mass(), ground=tr.Reference(), beside=beside, stop=tr.HardStop(
                    model="restitution", restitution=0, lower_bound="-1 m", upper_bound="0 m"),
                push=tr.ForceSource(force=lambda t: where(t < quantity("1 s"), 0, quantity(
                    "2 N/s") * (t - quantity("1 s"))))).simulate("3 s", method="rodas4")
    assert value(run, "a.v") == pytest.approx(2.0) == value(run, "b.v")
    assert "stretches in Python" not in run.statistics


def test_stops_beside_each_other_share_what_they_hold_however_many_others_there_are():
    one, other, middle, last = (
        tr.HardStop(model="restitution", upper_bound="0.3 m", lower_bound="-0.2 m", x=x)
        for x in ("0.2 m", "-0.1 m", "0 m", "0 m"))
    model = wired("stops", "small.M one.R other.C damper.R pull.R",
                  "large.M one.C other.R damper.C middle.R", "third.M middle.C last.R",
                  "last.C pull.C ground.V", one=one, other=other, middle=middle, last=last,
                  small=tr.Mass(mass="3 g", v="1 m/s"), large=tr.Mass(mass="3 t"),
                  third=tr.Mass(mass="3 t"), damper=tr.Damper(damping="2 kN*s/m"),
                  pull=tr.ForceSource(force="1 kN"), ground=tr.Reference())
    run = model.simulate("2 s", method="rodas4")
    assert "stretches in Python" not in run.statistics
    assert_allclose([value(run, "one.f"), -value(run, "other.f")], 499.9995, rtol=1e-6)


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
    model = wired("press", between=dry(unit))
    model.ground, model.push = tr.Reference(), tr.ForceSource(
        force=lambda t: quantity(1000 * unit, "N") * (1 - t / quantity(0.5, "s")))
    for k in range(2):
        wire(model, f"box{k}.M rub{k}.R", f"rub{k}.C ground.V", **{
            f"box{k}": tr.Mass(mass=quantity(unit, "kg")), f"rub{k}": dry(unit)})
        for stop in ("left", "right"):
            touch(model, f"{stop}{k}", f"box{k}.M", "ground.V")
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
def test_random_frictions_in_loops_obey_their_laws(seed):
    """Bodies that rub on each other and on the ground in more ways than they can move."""
    draw, model, strengths = np.random.default_rng(seed), Model("random"), {}
    model.ground = tr.Reference()
    for k in range(4):
        wire(model, f"wave{k}.y push{k}.S", f"push{k}.R body{k}.M", f"push{k}.C ground.V", **{
            f"body{k}": tr.Mass(mass=f"{draw.uniform(1, 3)} kg"), f"push{k}": tr.ForceSource(),
            f"wave{k}": Sine(amplitude=f"{draw.uniform(2, 8)} N",
                             frequency=f"{draw.uniform(0.5, 2)} Hz")})
    ports = [*(f"body{k}.M" for k in range(4)), "ground.V"]
    for k, (one, other) in enumerate(combinations(ports, 2)):
        strength = strengths[f"rub{k}"] = draw.uniform(0.5, 2)
        wire(model, f"rub{k}.R {one}", f"rub{k}.C {other}",
             **{f"rub{k}": dry(0.8 * strength, strength)})
    run = model.simulate("3 s", method="dopri5", rtol=1e-9)
    assert "stretches in Python" not in run.statistics
    assert len(run.events) > 20
    assert run.energy().relative_residual < 1e-7
    times = np.linspace(0, 3, 212)[1:-1]
    times = times[np.abs(times[:, None] - [e.time for e in run.events]).min(axis=1) > 1e-6]
    for name, strength in strengths.items():
        speed, force = values(run, [f"{name}.v", f"{name}.f"], times)
        slides = np.abs(speed) > 1e-9
        assert (np.abs(force) <= strength + 1e-7).all()
        assert_allclose(force[slides], 0.8 * strength * np.sign(speed[slides]), rtol=1e-7)
