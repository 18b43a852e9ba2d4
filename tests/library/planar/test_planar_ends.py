"""Lines with ends and sharp corners: ledges, edges of plates, a rocking block."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose
from scipy.integrate import quad

from blocks import Model, ModelError, quantity
from library.planar import Body, Circle, Contact, Corner, Ellipse, Ground, Line

G, R = 9.81, 0.1


def thrown(base, **more):
    """A disc (m r^2 / 2) and a base it may touch."""
    start = {"x": "0 m", "y": "0.1 m", "phi": "0 rad", "vx": "0 m/s", "vy": "0 m/s", "w": "0 rad/s"}
    law = {k: more.pop(k) for k in ("friction", "smooth", "restitution") if k in more}
    return wired("ends", "ground.P touch.B", "disc.P touch.F",
                 ground=Ground(), disc=Body(inertia="5 g*m^2", **{**start, **more}),
                 touch=Contact(curve=Circle("0.1 m"), base=base, **law))


@pytest.mark.parametrize("v0", [0.05, 0.3])
def test_a_disc_rolls_round_the_end_of_a_ledge_until_nothing_presses_it(v0):
    # energy about the end: 3/4 (v^2 - v0^2) = g r (1 - cos a); N = m g cos a - m v^2 / r = 0
    ledge = Line(x="-1 m", length="2 m")
    model = thrown(ledge, friction=1e4, x="-10 mm", vx=quantity(v0, "m/s"),
                   w=quantity(-v0 / R, "rad/s"))  # fmt: skip
    run = model.simulate("0.8 s", rtol=1e-9)
    leaves = next(e.time for e in run.events if e.description == "opens")
    x, y = (run[f"disc.{k}"].at(quantity(leaves, "s")).m for k in "xy")
    cosine = (4 + 3 * v0**2 / (G * R)) / 7
    assert_allclose(y / R, cosine, rtol=5e-6)  # it slips before N ends, by 0.025 / friction
    assert_allclose(x / R, np.sqrt(1 - cosine**2), rtol=5e-6)
    before = np.linspace(0, leaves, 200)[:-1]
    assert np.abs(run["touch.gap"].at(quantity(before, "s")).to("m").m).max() < 1e-8
    assert abs(run.energy().residual.to("J").m) < 1e-8


def test_a_fast_disc_leaves_a_ledge_in_a_parabola():
    # v^2 > g r: nothing can hold it at the end
    v0 = 2.0
    run = thrown(Line(x="-1 m", length="2 m"), smooth=True, x="-0.2 m",
                 vx=quantity(v0, "m/s")).simulate("0.4 s", rtol=1e-9)  # fmt: skip
    assert_allclose([e.time for e in run.events if e.description == "opens"], [0.1], rtol=1e-8)
    assert_allclose(run["disc.y"].final.m, R - 0.5 * G * 0.3**2, rtol=1e-7)


def test_a_disc_bounces_off_the_end_of_a_plate_along_the_line_through_its_centre():
    # it falls on an end 60 mm aside of its middle: the normal leans by asin(0.6)
    plate = Line(x="1.06 m", length="2 m")
    run = thrown(plate, smooth=True, restitution=1.0, y="0.5 m").simulate("0.4 s", rtol=1e-10)
    hit = next(e.time for e in run.events)
    speed = G * hit
    assert_allclose(0.5 - 0.5 * G * hit**2, 0.08, rtol=1e-9)
    normal, down = np.array([-0.6, 0.8]), np.array([0.0, -speed])
    vx, vy = down - 2 * (down @ normal) * normal
    later = quantity(hit + 0.02, "s")
    assert_allclose(run["disc.vx"].at(later).m, vx, rtol=1e-8)
    assert_allclose(run["disc.vy"].at(later).m, vy - G * 0.02, rtol=1e-8)


def test_a_plate_is_touched_from_below_as_well():
    run = thrown(Line(length="2 m"), smooth=True, restitution=1.0, y="-0.3 m",
                 vy="3 m/s").simulate("0.2 s", rtol=1e-10)  # fmt: skip
    hit = (3 - np.sqrt(9 - 2 * G * 0.2)) / G
    assert_allclose(run.events[0].time, hit, rtol=1e-9)
    assert_allclose(run["disc.vy"].final.m, -(3 - G * hit) - G * (0.2 - hit), rtol=1e-9)


def test_time_stepping_goes_round_the_end_of_a_ledge_as_well():
    model = thrown(Line(x="-1 m", length="2 m"), friction=50.0, x="-10 mm", vx="0.3 m/s",
                   w="-3 rad/s")  # fmt: skip
    exact = model.simulate("0.3 s", rtol=1e-9)
    stepped = model.simulate("0.3 s", method="moreau_jean", step="0.5 ms")
    for name in ("disc.x", "disc.y", "disc.vx"):
        assert_allclose(stepped[name].final.m, exact[name].final.m, atol=2e-2 * R)


HALF_WIDTH, HALF_HEIGHT = 0.1, 0.3


def block(tilt):
    """A block of 1 kg that stands on its right corner, tilted clockwise, over a floor."""
    r, alpha = np.hypot(HALF_WIDTH, HALF_HEIGHT), np.arctan2(HALF_WIDTH, HALF_HEIGHT)
    model = Model("rocking")
    model.ground = Ground()
    model.block = Body(
        inertia=quantity(r**2 / 3, "kg*m^2"), x=quantity(-r * np.sin(alpha - tilt), "m"),
        y=quantity(r * np.cos(alpha - tilt), "m"), phi=quantity(-tilt, "rad"),
        vx="0 m/s", vy="0 m/s", w="0 rad/s")  # fmt: skip
    for name, side in (("left", -1), ("right", 1)):
        foot = Corner(quantity(side * HALF_WIDTH, "m"), quantity(-HALF_HEIGHT, "m"))
        contact = model.add(name, Contact(curve=foot, base=Line(), friction=5.0))
        model.connect(model.ground.P, contact.B)
        model.connect(model.block.P, contact.F)
    return model


def test_a_rocking_block_has_housners_period_and_keeps_his_share_of_its_speed():
    # Housner, Bull. Seismol. Soc. Am. 53 (1963) 403-417; I0 = 4/3 m R^2
    tilt, r = 0.1, np.hypot(HALF_WIDTH, HALF_HEIGHT)
    alpha, p = np.arctan2(HALF_WIDTH, HALF_HEIGHT), np.sqrt(3 * G / (4 * r))

    def quarter(start):
        """Time from rest at the tilt ``start`` to the floor, from w^2 = 2 p^2 (...)."""
        return quad(lambda s: 2 * s / np.sqrt(2 * p**2 * (  # start - s^2: no pole at the start
            np.cos(alpha - start) - np.cos(alpha - start + s**2))), 0, np.sqrt(start))[0]

    run = block(tilt).simulate("2.2 s", rtol=1e-10)
    hits = [e.time for e in run.events if e.description == "closes"]
    assert_allclose(hits[0], quarter(tilt), rtol=1e-7)
    at = quantity(np.add.outer(hits[:3], [-1e-9, 1e-9]).ravel(), "s")
    w = run["block.w"].at(at).to("rad/s").m
    kept = 1 - 1.5 * np.sin(alpha) ** 2
    assert_allclose(w[1::2] / w[::2], kept, rtol=1e-6)
    # the next swing starts with kept^2 of the energy and reaches the tilt of that height
    lift = kept**2 * (np.cos(alpha - tilt) - np.cos(alpha))
    second = alpha - np.arccos(np.cos(alpha) + lift)
    assert_allclose(hits[1] - hits[0], 2 * quarter(second), rtol=1e-6)
    assert abs(run["block.phi"].final.m) < 1e-9  # at rest, after a sum of ever smaller swings
    assert_allclose(run["left.N"].final.m + run["right.N"].final.m, G, rtol=1e-9)
    assert abs(run.energy().residual.to("J").m) < 1e-8 * G


@pytest.mark.parametrize(("curve", "base", "words"), [
    (Corner(), Line(length="1 m"), "no Corner"),
    (Ellipse("0.2 m", "0.1 m"), Line(length="1 m"), "no Ellipse"),
    (Circle("1 m", inside=True), Line(length="1 m"), "no bowl"),
    (Corner(), Corner(), "two corners"),
    (Line(), Line(length="1 m"), "a Corner where it touches"),
])  # fmt: skip
def test_pairs_that_have_no_formula_are_refused_with_what_to_do(curve, base, words):
    model = wired("refused", "ground.P touch.B", "body.P touch.F",
                  ground=Ground(), body=Body(), touch=Contact(curve=curve, base=base))
    with pytest.raises(ModelError, match=words):
        model.simulate("1 ms")
