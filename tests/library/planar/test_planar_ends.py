"""Outlines with ends and sharp corners, and what a user may get wrong about outlines."""

import numpy as np
import pytest
from benches import planar as planar_bench
from benches import wire, wired
from numpy.testing import assert_allclose
from scipy.integrate import quad

import library.planar as pl
from blocks import Model, ModelError, ParameterError, SimulationError, Target, quantity

# -- ledges, edges of plates, a rocking block ------------------------------------------------------
G, R = 9.81, 0.1


def thrown(base, **more):
    """A disc (m r^2 / 2) and a base it may touch."""
    start = {"x": "0 m", "y": "0.1 m", "phi": "0 rad", "vx": "0 m/s", "vy": "0 m/s", "w": "0 rad/s"}
    law = {k: more.pop(k) for k in ("friction", "smooth", "restitution") if k in more}
    return wired("ends", "ground.P touch.B", "disc.P touch.F",
                 ground=pl.Ground(), disc=pl.Body(inertia="5 g*m^2", **{**start, **more}),
                 touch=pl.Contact(curve=pl.Circle("0.1 m"), base=base, **law))


@pytest.mark.parametrize("v0", [0.05, 0.3])
def test_a_disc_rolls_round_the_end_of_a_ledge_until_nothing_presses_it(v0):
    # energy about the end: 3/4 (v^2 - v0^2) = g r (1 - cos a); N = m g cos a - m v^2 / r = 0
    ledge = pl.Line(x="-1 m", length="2 m")
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
    run = thrown(pl.Line(x="-1 m", length="2 m"), smooth=True, x="-0.2 m",
                 vx=quantity(v0, "m/s")).simulate("0.4 s", rtol=1e-9)  # fmt: skip
    assert_allclose([e.time for e in run.events if e.description == "opens"], [0.1], rtol=1e-8)
    assert_allclose(run["disc.y"].final.m, R - 0.5 * G * 0.3**2, rtol=1e-7)


def test_a_disc_bounces_off_the_end_of_a_plate_along_the_line_through_its_centre():
    # it falls on an end 60 mm aside of its middle: the normal leans by asin(0.6)
    plate = pl.Line(x="1.06 m", length="2 m")
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
    run = thrown(pl.Line(length="2 m"), smooth=True, restitution=1.0, y="-0.3 m",
                 vy="3 m/s").simulate("0.2 s", rtol=1e-10)
    hit = (3 - np.sqrt(9 - 2 * G * 0.2)) / G
    assert_allclose(run.events[0].time, hit, rtol=1e-9)
    assert_allclose(run["disc.vy"].final.m, -(3 - G * hit) - G * (0.2 - hit), rtol=1e-9)


def test_time_stepping_goes_round_the_end_of_a_ledge_as_well():
    model = thrown(pl.Line(x="-1 m", length="2 m"), friction=50.0, x="-10 mm", vx="0.3 m/s",
                   w="-3 rad/s")
    exact, stepped = (model.simulate("0.3 s", **options) for options in (
        {"rtol": 1e-9}, {"method": "moreau_jean", "step": "0.5 ms"}))
    for name in ("disc.x", "disc.y", "disc.vx"):
        assert_allclose(stepped[name].final.m, exact[name].final.m, atol=2e-2 * R)


HALF_WIDTH, HALF_HEIGHT = 0.1, 0.3


def block(tilt):
    """A block of 1 kg that stands on its right corner, tilted clockwise, over a floor."""
    r, alpha = np.hypot(HALF_WIDTH, HALF_HEIGHT), np.arctan2(HALF_WIDTH, HALF_HEIGHT)
    model = wired("rocking", ground=pl.Ground(), block=pl.Body(
        inertia=quantity(r**2 / 3, "kg*m^2"), x=quantity(-r * np.sin(alpha - tilt), "m"),
        y=quantity(r * np.cos(alpha - tilt), "m"), phi=quantity(-tilt, "rad"),
        vx="0 m/s", vy="0 m/s", w="0 rad/s"))
    for name, side in (("left", -1), ("right", 1)):
        foot = pl.Corner(quantity(side * HALF_WIDTH, "m"), quantity(-HALF_HEIGHT, "m"))
        wire(model, f"ground.P {name}.B", f"block.P {name}.F",
             **{name: pl.Contact(curve=foot, base=pl.Line(), friction=5.0)})
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
    (pl.Corner(), pl.Line(length="1 m"), "no Corner"),
    (pl.Ellipse("0.2 m", "0.1 m"), pl.Line(length="1 m"), "no Ellipse"),
    (pl.Circle("1 m", inside=True), pl.Line(length="1 m"), "no bowl"),
    (pl.Corner(), pl.Corner(), "two corners"),
    (pl.Line(), pl.Line(length="1 m"), "a Corner where it touches")])
def test_pairs_that_have_no_formula_are_refused_with_what_to_do(curve, base, words):
    model = wired("refused", "ground.P touch.B", "body.P touch.F",
                  ground=pl.Ground(), body=pl.Body(), touch=pl.Contact(curve=curve, base=base))
    with pytest.raises(ModelError, match=words):
        model.simulate("1 ms")


# -- mistakes are told once and in words -----------------------------------------------------------
METRE = quantity("1 m")
RAMP = [[k / 10, k / 50] for k in range(-5, 11)]  # up to x = 1 m, y = 0.2 m


def touching(curve, base, y="0.5 m", **law):
    return planar_bench.touching(curve, base, pl.Body(y=y, x="0 m"), **law)


@pytest.mark.parametrize(("model", "words"), [
    (touching(pl.Circle("0.1 m"), "floor"), "touch: base is 'floor', which is no curve"),
    (touching(pl.Line(), pl.Line()), "two straight lines never touch"),
    (touching(pl.Circle("2 m"), pl.Circle("1 m", inside=True)),
     "disc of radius 2000 mm does not fit into the bowl of radius 1000 mm"),
    (touching(pl.Circle("1 m", inside=True), pl.Circle("0.5 m", inside=True)), "both hollow"),
    (touching(pl.Circle("0.1 m"), pl.ParametricCurve(lambda s: (METRE * s, METRE * s, METRE))),
     "something else than two values"),
    (touching(pl.Circle("0.1 m"), pl.ParametricCurve(lambda s: (s, s))), "lengths need a unit"),
    (touching(pl.Circle("0.1 m"), pl.ParametricCurve(lambda s: (METRE * s, METRE / 0))),
     "lengths need a unit"),
    (touching(pl.Circle("0.1 m"), pl.Line(), friction=0.5, static_friction=0.3),
     "static_friction is 0.3 and friction 0.5"),
    (touching(pl.Circle("0.1 m"), pl.Circle("0.2 m"), y="0 m"), "overlap by 300 mm"),
    (wired("self", "body.P arm.B touch.F", "arm.F touch.B", body=pl.Body(),
           arm=pl.RigidOffset(dx="0.1 m"), touch=pl.Contact()),
     "touch lies between parts that cannot move towards each other")])
def test_a_wrong_outline_is_told_once_and_not_what_follows_from_it(model, words):
    (finding,) = model.check().errors
    assert finding.problem.startswith(("touch", "The two sides of touch"))
    assert words in finding.problem


def test_friction_that_rounding_cannot_follow_is_advised_against():
    assert not touching(pl.Circle("0.1 m"), pl.Line(), friction=0.5).check().errors
    (advice,) = touching(pl.Circle("0.1 m"), pl.Line(), friction=1e7).check().warnings
    assert advice.code == "parameter.advice" and "100 never slips either" in advice.problem
    assert not touching(pl.Circle("0.1 m"), pl.Line(), friction=1e4).check().warnings


def test_the_side_of_a_spline_is_right_or_left():
    points = quantity([[k, 0.1 * k**2] for k in range(8)], "m")
    with pytest.raises(ParameterError, match="SplineCurve.free: is 'right' or 'left', not 'up'"):
        pl.SplineCurve(points, free="up")


@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_a_disc_in_the_middle_of_a_bowl_falls_to_where_it_is_thrown(speed):
    """No point of the bowl is nearest there: the lowest is taken."""
    model = touching(pl.Circle("0.1 m"), pl.Circle("1 m", inside=True), y="0 m", smooth=True)
    model.body.vx = quantity(speed, "m/s")
    run = model.simulate("1 s", rtol=1e-9)
    # (v t)^2 + (g t^2 / 2)^2 == 0.9^2
    g = 9.81
    square = (-(speed**2) + np.sqrt(speed**4 + (0.9 * g) ** 2)) / (g**2 / 2)
    assert run.events[0].time == pytest.approx(np.sqrt(square), rel=1e-8)
    assert run["touch.gap"].initial.m == 0.9


@pytest.mark.parametrize(("base", "xi"), [(pl.SplineCurve(quantity(RAMP, "m")), 5.0), (
    pl.ParametricCurve(lambda s: (METRE * s, METRE * s / 5), -0.5, 1.0, closed=False, free="left"),
    0.0)])
def test_a_run_stops_where_a_contact_leaves_the_end_of_its_outline(base, xi):
    model = touching(pl.Circle("50 mm"), base, y=Target("0.1 m", priority="low"), smooth=True)
    model.body.vx, model.body.vy = "3 m/s", "0.6 m/s"
    model.body.w, model.body.phi = "0 rad/s", "0 rad"
    model.touch.gap, model.touch.xi_B = "0 m", Target(quantity(xi, "rad"), priority="none")
    with pytest.raises(SimulationError, match=r"its base is touched beyond its end at "
                                              r"\(1000 mm, 200 mm\)") as caught:  # fmt: skip
        model.simulate("1 s", rtol=1e-9)
    # along the ramp of angle a, from the foot at x = 0 or near it
    slope = np.arctan(0.2)
    foot = model.simulate("1 us")["touch.x"].initial.m
    way, v = (1.0 - foot) / np.cos(slope), 3.0 / np.cos(slope)
    g = 9.81 * np.sin(slope)
    assert caught.value.time == pytest.approx((v - np.sqrt(v**2 - 2 * g * way)) / g, rel=1e-6)


def test_what_flies_past_the_end_of_an_outline_goes_on():
    model = touching(pl.Circle("50 mm"), pl.SplineCurve(quantity(RAMP, "m")), y="1.5 m",
                     smooth=True)
    model.body.vx, model.touch.xi_B = "5 m/s", Target("5 rad", priority="none")
    assert model.simulate("0.3 s")["body.x"].final.m == pytest.approx(1.5)


def test_a_spring_without_direction_is_refused_and_one_of_no_length_pulls_back():
    model = wired("hung", "ground.P spring.B", "body.P spring.F",
                  ground=pl.Ground(), body=pl.Body(x="0 m", y="0 m", vx="1 m/s"),
                  spring=pl.SpringDamper(stiffness="1 kN/m"))
    with pytest.raises(SimulationError, match="its two ends are at one place"):
        model.simulate("1 s")
    model.spring.free_length = "0 m"
    run, w = model.simulate("1 s", rtol=1e-10), np.sqrt(1000.0)
    assert run["body.x"].final.m == pytest.approx(np.sin(w) / w, abs=1e-8)
    assert run["body.y"].final.m == pytest.approx(-9.81 / 1000 * (1 - np.cos(w)), abs=1e-8)


def test_a_contact_with_a_loose_port_says_which_one():
    (finding,) = wired("loose", "body.P touch.F", ground=pl.Ground(), body=pl.Body(y="1 m"),
                       touch=pl.Contact()).check().errors
    assert finding.advice.startswith("Connect touch.B, which is connected to nothing.")


def test_gravity_that_nobody_states_is_told_of_once():
    model = wired("two stones", a=pl.Body(y="1 m"), b=pl.Body(x="1 m"))
    (finding,) = model.check().filter("network.assumed")
    assert finding.problem.startswith(
        "Every planar circuit of a and b has the gravity of the earth, 9.81 m/s^2 against y")
    assert model.simulate("1 s")["a.vy"].final.m == pytest.approx(-9.81)
    wire(model, "a.P a_falls.P", "b.P b_floats.P",
         a_falls=pl.Gravity(), b_floats=pl.Gravity(strength="0 m/s^2"))
    assert not model.check()
    assert model.simulate("1 s")["b.vy"].final.m == 0


@pytest.mark.parametrize("method", ["auto", "moreau_jean"])
def test_a_rod_that_jams_is_told_of_time_stepping_which_goes_on(method):
    """A rod of 2 m and 1 kg at 60 deg, dragged over the floor with a friction of 2.

    Its critical friction is (1 + 3 cos^2 a)/(3 sin a cos a) = 1.35. What acts on its tip can take
    energy away only, and no horizontal force but friction does, against the motion.
    """
    model, tip = Model("dragged rod"), 0.01
    wire(model, "ground.P touch.B gravity.P", "rod.P arm.B", "arm.F touch.F",
         ground=pl.Ground(), gravity=pl.Gravity(), arm=pl.RigidOffset(dx="-1 m"),
         rod=pl.Body(mass="1 kg", inertia=quantity(1 / 3, "kg*m^2"), phi="60 deg", vx="-3 m/s",
                     y=quantity(np.sin(np.pi / 3) + tip, "m")),
         touch=pl.Contact(curve=pl.Circle(quantity(tip, "m")), base=pl.Line(), friction=2.0))
    if method == "auto":
        with pytest.raises(SimulationError, match="moreau_jean") as caught:
            model.simulate("10 ms")
        assert caught.value.code == "simulation.paradox"
        return
    run = model.simulate("10 ms", method=method, step="0.1 ms")
    vx, vy, w, y = (run[f"rod.{name}"].final.m_as(u) for name, u in (
        ("vx", "m/s"), ("vy", "m/s"), ("w", "rad/s"), ("y", "m")))
    assert -3 < vx < 0
    assert (vx**2 + vy**2) / 2 + w**2 / 6 + 9.81 * (y - np.sin(np.pi / 3) - tip) < 4.5
