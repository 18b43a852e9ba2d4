"""Bodies that rest on several feet, where friction follows what the feet carry: in machine code."""

import numpy as np
import pytest
from benches import wire, wired
from benches.friction import times_of, value, values
from numpy.testing import assert_allclose

from blocks import Model, quantity
from blocks.nonsmooth.modes.indeterminacy import Indeterminacy
from blocks.nonsmooth.modes.margins import CompiledMargins
from library.planar import (
    Body,
    Contact,
    Corner,
    Force,
    Ground,
    Line,
    Revolute,
    RigidOffset,
    SpringDamper,
)
from library.signal import Sine
from library.translational import Damper, Mass, Reference, Spring

G = 9.81
METHODS = "dopri5", "rodas4"


def standing(model, name, base, feet, y="0.2 m", friction=0.4, floor=None):
    """A box of 1 kg on feet at places along it, with its centre 0.2 m above them."""
    box = model.add(name, Body(mass="1 kg", inertia="0.1 kg*m^2", x="0 m", y=y, phi="0 rad",
                               vx="0 m/s", vy="0 m/s", w="0 rad/s"))  # fmt: skip
    for k, x in enumerate(feet):
        foot = model.add(f"{name}_foot{k}", Contact(
            curve=Corner(f"{x} m", "-0.2 m"), base=floor or Line(), friction=friction,
            static_friction=1.25 * friction))  # fmt: skip
        model.connect(foot.F, box.P)
        model.connect(foot.B, base)
    return box


def pushed(model, box, force):
    model.push = Force()
    model.connect(model.push.P, box.P)
    if isinstance(force, Sine):
        model.wave = force
        model.connect(force.y, model.push.SX)
    else:
        model.push.fx = force


@pytest.mark.parametrize(("feet", "method"), [
    ((-0.3, 0.3), "auto"), ((-0.5, 0.1, 0.4), "dopri5"), ((-0.5, 0.1, 0.4), "rodas4")])
def test_a_box_slides_where_the_push_is_more_than_its_feet_can_hold(feet, method):
    model = wired("box", ground=Ground())
    pushed(model, standing(model, "box", model.ground.P, feet), lambda t: quantity("2 N/s") * t)
    run = model.simulate("3 s", method=method, rtol=1e-9)
    starts = 0.5 * G / 2
    assert_allclose(times_of(run, "slides"), [starts] * len(feet), rtol=1e-10)
    assert_allclose(value(run, "box.vx"), (9 - starts**2) - 0.4 * G * (3 - starts), rtol=1e-7)
    assert "stretches in Python" not in run.statistics


@pytest.mark.parametrize("method", METHODS)
def test_a_box_that_cannot_slide_tips_about_its_front_foot(method):
    model = wired("box", ground=Ground())
    box = standing(model, "box", model.ground.P, (-0.3, 0.3), friction=2.0)
    pushed(model, box, lambda t: quantity("10 N/s") * t)
    run = model.simulate("1.5 s", method=method, rtol=1e-9)
    lifts = G * 0.3 / 0.2 / 10  # moments about the front foot
    assert run.events[0].description == "opens"
    assert {e.component for e in run.events} == {"box_foot0"}
    assert_allclose([e.time for e in run.events], lifts, rtol=1e-10)
    assert run.statistics.get("stretches in Python", 0) <= 1  # the instant at which it lifts


def test_what_moves_beside_a_box_that_stands_is_not_slowed_by_it():
    model = wired("box and spring", ground=Ground(), wall=Reference())
    pushed(model, standing(model, "box", model.ground.P, (-0.3, 0.3)),
           Sine(amplitude="3 N", frequency="1 Hz"))
    wire(model, "mass.M spring.R damper.R", "spring.C damper.C wall.V",
         mass=Mass(mass="1 kg", v="1 m/s"), spring=Spring(stiffness="1e4 N/m"),
         damper=Damper(damping="1 N*s/m"))
    run = model.simulate("2 s", rtol=1e-9)
    assert not run.events
    assert "stretches in Python" not in run.statistics
    rate = np.sqrt(1e4 - 0.25)
    assert_allclose(value(run, "mass.v"), np.exp(-1.0) * (
        np.cos(2 * rate) - 0.5 / rate * np.sin(2 * rate)), atol=1e-7)


def stack():
    """Two boxes on each other, of which the upper one is pulled to and fro: both slide, and tip."""
    model = wired("stack", ground=Ground())
    low = standing(model, "low", model.ground.P, (-0.5, 0.5), friction=0.28)
    high = standing(model, "high", low.P, (-0.5, 0.5), y="0.6 m", friction=0.28,
                    floor=Line(y="0.2 m"))
    pushed(model, high, Sine(amplitude="12 N", frequency="1 Hz"))
    return model


def cart():
    """A box on a cart that rocks on springs: the floor of its feet moves, and turns."""
    model = Model("cart")
    model.ground = Ground()
    model.cart = Body(mass="5 kg", inertia="2 kg*m^2", x="0 m", y="0 m", phi="0 rad",
                      vx="0 m/s", vy="0 m/s", w="0.3 rad/s")  # fmt: skip
    for k, x in enumerate((-1, 1)):
        for j, (wide, down) in enumerate(((1, -1.1), (2, -0.1))):
            end = model.add(f"end{k}{j}", RigidOffset(dx=f"{x * wide} m", dy=f"{down} m"))
            own = model.add(f"own{k}{j}", RigidOffset(dx=f"{x} m", dy="-0.1 m"))
            spring = model.add(f"spring{k}{j}", SpringDamper(
                stiffness="1000 N/m", damping="10 N*s/m", free_length="1 m"))
            model.connect(end.B, model.ground.P)
            model.connect(own.B, model.cart.P)
            model.connect(spring.B, end.F)
            model.connect(spring.F, own.F)
    box = standing(model, "box", model.cart.P, (-0.4, 0.4))
    box.w = "0.3 rad/s"
    box.vx = "-0.06 m/s"
    pushed(model, box, Sine(amplitude="5 N", frequency="1.3 Hz"))
    return model


def swing():
    """A box on a table that hangs on two parallel rods: its equations have loops."""
    model = Model("swing")
    model.ground = Ground()
    model.table = Body(mass="2 kg", inertia="0.5 kg*m^2", x="0 m", y="0 m", phi="0 rad",
                       vx="0.3 m/s", vy="0 m/s", w="0 rad/s")  # fmt: skip
    for k, x in enumerate((-0.6, 0.6)):
        rod, tip = Body(mass="0.1 kg", inertia="0.01 kg*m^2"), RigidOffset(dy="-1 m")
        above, below = RigidOffset(dx=f"{x} m", dy="1 m"), RigidOffset(dx=f"{x} m")
        hinge, eye = Revolute(), Revolute()
        for name, part in (("rod", rod), ("tip", tip), ("above", above), ("below", below),
                           ("hinge", hinge), ("eye", eye)):
            model.add(f"{name}{k}", part)
        model.connect(above.B, model.ground.P)
        model.connect(hinge.B, above.F)
        model.connect(hinge.F, rod.P, tip.B)
        model.connect(tip.F, eye.B)
        model.connect(eye.F, below.F)
        model.connect(below.B, model.table.P)
    box = standing(model, "box", model.table.P, (-0.4, 0.4), friction=0.2)
    box.vx = "0.3 m/s"
    pushed(model, box, Sine(amplitude="4 N", frequency="0.7 Hz"))
    return model


@pytest.mark.parametrize(("make", "end"), [(stack, "0.71 s"), (cart, "0.71 s"), (swing, "1.01 s")])
def test_they_move_as_if_every_split_was_sought(make, end, monkeypatch):
    pytest.importorskip("llvmlite")
    quick = make().simulate(end, rtol=1e-9)
    monkeypatch.setattr(CompiledMargins, "_given_rows", lambda *_: None)
    slow = make().simulate(end, rtol=1e-9)
    # but for an instant at which a foot lands and lets go
    in_python = [run.statistics.get("stretches in Python", 0) for run in (quick, slow)]
    assert in_python[0] <= 2
    assert in_python[0] < in_python[1]
    # a box that lands bounces at a point in time more often than digits can tell
    began = [times[np.diff(times, prepend=-1.0) > 1e-3] for times in (
        np.array([e.time for e in run.events]) for run in (quick, slow))]
    assert len(began[0]) > 1
    assert_allclose(*began, atol=1e-7)
    for path in [k for k in ("cart.y", "box.x", "high.x") if k in quick.recording.catalog]:
        assert_allclose(value(quick, path), value(slow, path), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("make", [stack])
def test_shares_of_feet_are_read_at_many_times_as_at_each(make, monkeypatch):
    """Those shown are of the least squares within their bounds, whatever the run has gone by."""
    run, times = make().simulate("1 s", rtol=1e-9), np.linspace(0.0, 1.0, 101)
    times = times[np.abs(times[:, None] - [e.time for e in run.events]).min(axis=1) > 1e-6]
    paths = [k for k in run.recording.catalog if "foot" in k and k[-2:] in (".N", ".T")]
    at_once = values(run, paths, times)
    monkeypatch.setattr(Indeterminacy, "split_loaded_at_points",
                        lambda self, points, *_: np.zeros(len(points), dtype=bool))
    again = make().simulate("1 s", rtol=1e-9)
    assert_allclose(at_once, values(again, paths, times), rtol=1e-9, atol=1e-9)
    assert np.abs(at_once).max() > 4


@pytest.mark.parametrize("method", METHODS)
def test_a_ladder_slips_where_floor_and_wall_together_cannot_hold_it(method):
    """Pulled at its foot: both ends slide at once, whatever each of them carried before."""
    model, angle, friction, weight = Model("ladder"), np.radians(60), 0.4, 10 * G
    c, s = np.cos(angle), np.sin(angle)
    model.ground = Ground()
    model.ladder = Body(mass="10 kg", inertia="3.333 kg*m^2", x=f"{c} m", y=f"{s} m", phi="0 rad",
                        vx="0 m/s", vy="0 m/s", w="0 rad/s")  # fmt: skip
    ends = (("floor", (c, -s), "0 deg"), ("wall", (-c, s), "-90 deg"))
    for name, (x, y), turned in ends:
        end = model.add(name, Contact(curve=Corner(f"{x} m", f"{y} m"), base=Line(turned),
                                      friction=friction))  # fmt: skip
        model.connect(end.F, model.ladder.P)
        model.connect(end.B, model.ground.P)
    model.foot, model.pull = RigidOffset(dx=f"{c} m", dy=f"{-s} m"), Force()
    model.pull.fx = lambda t: quantity("20 N/s") * t
    wire(model, "foot.B ladder.P", "foot.F pull.P")
    run = model.simulate("1 s", method=method, rtol=1e-9)
    # moments about the foot, with friction at its bounds at both ends
    at_wall = weight * c / (2 * (s + friction * c))
    pull = friction * (weight - friction * at_wall) - at_wall
    assert [(e.component, e.description) for e in run.events] == [
        ("floor", "slides forward"), ("wall", "slides forward")]
    assert_allclose([e.time for e in run.events], pull / 20, rtol=1e-10)
    assert "stretches in Python" not in run.statistics


@pytest.mark.parametrize("seed", [1, *(
    pytest.param(seed, marks=pytest.mark.slow) for seed in (3, 5, 7))])
def test_random_stacks_and_rows_move_as_if_every_split_was_sought(seed, monkeypatch):
    """Boxes on two to four feet on a slope, side by side or on each other, pushed to and fro."""
    pytest.importorskip("llvmlite")

    def run():
        draw, model, before = np.random.default_rng(seed), Model("boxes"), None
        model.ground, below, last = Ground(), 0.0, 0.0
        slope, stacked = draw.uniform(-0.2, 0.2), draw.random() < 0.5
        for k in range(draw.integers(1, 4)):
            high, friction = draw.uniform(0.1, 0.3), draw.uniform(0.25, 0.7)
            along, up = (0.0, below + high) if stacked else (3.0 * k, high)
            box = model.add(f"box{k}", Body(
                mass=f"{draw.uniform(0.5, 2)} kg", inertia=f"{draw.uniform(0.05, 0.3)} kg*m^2",
                x=f"{along * np.cos(slope) - up * np.sin(slope)} m",
                y=f"{along * np.sin(slope) + up * np.cos(slope)} m", phi=f"{slope} rad",
                vx="0 m/s", vy="0 m/s", w="0 rad/s"))  # fmt: skip
            first = before is None or not stacked
            floor = Line(f"{slope} rad") if first else Line(y=f"{last} m")
            feet = [-0.5, *draw.uniform(-0.4, 0.4, draw.integers(0, 3)), 0.5]
            for j, x in enumerate(feet):
                foot = model.add(f"foot{k}{j}", Contact(
                    curve=Corner(f"{x} m", f"{-high} m"), base=floor, friction=friction))
                model.connect(foot.F, box.P)
                model.connect(foot.B, model.ground.P if first else before)
            push, wave = Force(), Sine(amplitude=f"{draw.uniform(4, 12)} N",
                                       frequency=f"{draw.uniform(0.5, 2)} Hz")
            model.add(f"push{k}", push)
            model.add(f"wave{k}", wave)
            model.connect(wave.y, push.SX)
            model.connect(push.P, box.P)
            before, below, last = box.P, up + high, high
        return model.simulate("1 s", rtol=1e-9)

    quick = run()
    monkeypatch.setattr(CompiledMargins, "_given_rows", lambda *_: None)
    slow = run()
    assert quick.statistics.get("stretches in Python", 0) < slow.statistics["stretches in Python"]
    assert len(quick.events) == len(slow.events) > 0
    paths = [k for k in quick.recording.catalog if k[:3] == "box" and k[4:] in (".x", ".vx")]
    assert len(paths) > 1
    for path in paths:
        assert_allclose(value(quick, path), value(slow, path), rtol=1e-6, atol=1e-8)
