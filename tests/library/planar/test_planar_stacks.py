"""Stacks and blocks: loads that statics leaves open, impacts that go on for ever."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import Model, quantity
from library.planar import Body, Circle, Contact, Ground, Line

G, R = 9.81, 0.1


def disc(model, name, x, y):
    return model.add(name, Body(inertia="5 g*m^2", x=quantity(x, "m"), y=quantity(y, "m"),
                                phi="0 rad", vx="0 m/s", vy="0 m/s", w="0 rad/s"))  # fmt: skip


def touch(model, name, lower, upper, base, **more):
    contact = model.add(name, Contact(curve=Circle("0.1 m"), base=base, **more))
    model.connect(lower.P, contact.B)
    model.connect(upper.P, contact.F)


def test_three_discs_above_each_other_carry_the_weights_above_them():
    model = Model("column")
    below, base, model.ground = None, Line(), Ground()
    for i in range(3):
        body = disc(model, f"disc{i}", 0.0, R * (2 * i + 1))
        touch(model, f"touch{i}", below or model.ground, body, base)
        below, base = body, Circle("0.1 m")
    run = model.simulate("1 s", rtol=1e-9, every="0.5 s")
    assert_allclose([run[f"touch{i}.N"].final.m for i in range(3)], [3 * G, 2 * G, G], rtol=1e-9)
    assert_allclose(run["disc2.y"].final.m, 5 * R, rtol=1e-12)


def pyramid(friction):
    model = Model("pyramid")
    model.ground, ring = Ground(), Circle("0.1 m")
    a, b = disc(model, "a", -R, R), disc(model, "b", R, R)
    c = disc(model, "c", 0.0, R + float(np.sqrt(3)) * R)
    for name, lower, upper, base in (
        ("floor_a", model.ground, a, Line()), ("floor_b", model.ground, b, Line()),
        ("top_a", a, c, ring), ("top_b", b, c, ring), ("middle", a, b, ring)):  # fmt: skip
        touch(model, name, lower, upper, base, friction=friction)
    return model


@pytest.mark.parametrize(("friction", "stands"), [(0.30, True), (0.272, True), (0.264, False)])
def test_a_disc_on_two_discs_needs_the_friction_of_half_their_angle(friction, stands):
    # the upper contacts lean by 30 deg, their forces at most by half of it: tan 15 deg = 0.268
    run = pyramid(friction).simulate("0.2 s", rtol=1e-9, every="0.1 s")
    fallen = R + np.sqrt(3) * R - run["c.y"].final.m
    assert (fallen < 1e-12) == stands
    if stands:
        n, t, m = (run[f"{p}"].final.m for p in ("top_a.N", "top_a.T", "middle.N"))
        assert_allclose(2 * (n * np.cos(np.pi / 6) + t * np.sin(np.pi / 6)), G, rtol=1e-9)
        assert m >= 0
        assert "share a load" in str(run.sticking())  # the middle contact may press or not


def block(tilt, half=0.1, high=0.3, foot=1e-6):
    """A block on two feet, tilted about the right one; height 2 high, width 2 half."""
    model = wired("rocking block", ground=Ground())
    x = half - (np.cos(tilt) * half - np.sin(tilt) * high)
    y = foot - (-np.sin(tilt) * half - np.cos(tilt) * high)
    model.block = Body(inertia=quantity((half**2 + high**2) / 3, "kg*m^2"), x=quantity(x, "m"),
                       y=quantity(y, "m"), phi=quantity(-tilt, "rad"), vx="0 m/s", vy="0 m/s",
                       w="0 rad/s")  # fmt: skip
    for name, side in (("left", -half), ("right", half)):
        contact = model.add(name, Contact(curve=Circle(f"{foot} m", x=f"{side} m", y=f"{-high} m"),
                                          friction=0.8))  # fmt: skip
        model.connect(model.ground.P, contact.B)
        model.connect(model.block.P, contact.F)
    return model


def test_a_rocking_block_keeps_the_speed_of_housner_at_every_impact_and_comes_to_rest():
    # G. W. Housner, Bull. Seismol. Soc. Am. 53 (1963) 403: w'/w = 1 - 3/2 sin(atan(b/h))^2
    run = block(0.1).simulate("2.2 s", rtol=1e-10)
    hits = [e.time for e in run.events if e.description == "closes"][:6]
    w = run["block.w"].at(quantity(np.add.outer(hits, [-1e-9, 1e-9]).ravel(), "s")).magnitude
    assert_allclose(w[1::2] / w[::2], 1 - 1.5 * 0.1, rtol=1e-5)
    # first quarter swing: from tilt 0.1, p^2 = m g r/I_o, tan alpha = b/h
    alpha, r = np.arctan2(0.1, 0.3), np.hypot(0.1, 0.3)
    p = np.sqrt(3 * G / (4 * r))
    energy = np.sqrt(2 * p**2 * (np.cos(alpha - 0.1) * 0 + np.cos(alpha - 0.1) - np.cos(alpha)))
    assert_allclose(abs(w[0]), energy, rtol=1e-5)
    assert abs(run["block.phi"].final.m) < 1e-9
    assert_allclose(run["left.N"].final.m + run["right.N"].final.m, G, rtol=1e-9)
    assert abs(run.energy().residual.to("J").m) < 1e-8 * G
