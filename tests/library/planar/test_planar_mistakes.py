"""What a user may get wrong about outlines, and is told once and in words."""

import numpy as np
import pytest
from benches import planar as planar_bench
from benches import wire, wired

from blocks import Model, ParameterError, SimulationError, Target, quantity
from library.planar import (
    Body,
    Circle,
    Contact,
    Gravity,
    Ground,
    Line,
    ParametricCurve,
    RigidOffset,
    SplineCurve,
    SpringDamper,
)

METRE = quantity("1 m")
RAMP = [[k / 10, k / 50] for k in range(-5, 11)]  # up to x = 1 m, y = 0.2 m


def touching(curve, base, y="0.5 m", **law):
    return planar_bench.touching(curve, base, Body(y=y, x="0 m"), **law)


def told(model):
    """The only error."""
    (finding,) = model.check().errors
    return finding.problem


@pytest.mark.parametrize(("curve", "base", "words"), [
    (Circle("0.1 m"), "floor", "base is 'floor', which is no curve"),
    (Line(), Line(), "two straight lines never touch"),
    (Circle("2 m"), Circle("1 m", inside=True),
     "disc of radius 2000 mm does not fit into the bowl of radius 1000 mm"),
    (Circle("1 m", inside=True), Circle("0.5 m", inside=True), "both hollow"),
    (Circle("0.1 m"), ParametricCurve(lambda s: (METRE * s, METRE * s, METRE)),
     "something else than two values"),
    (Circle("0.1 m"), ParametricCurve(lambda s: (s, s)), "lengths need a unit"),
    (Circle("0.1 m"), ParametricCurve(lambda s: (METRE * s, METRE / 0)), "lengths need a unit"),
])  # fmt: skip
def test_a_wrong_outline_is_told_once_and_not_what_follows_from_it(curve, base, words):
    problem = told(touching(curve, base))
    assert problem.startswith("touch: ") and words in problem


def test_a_coefficient_at_rest_below_the_one_of_sliding_is_refused_and_none_is_the_same():
    model = touching(Circle("0.1 m"), Line(), friction=0.5, static_friction=0.3)
    assert "static_friction is 0.3 and friction 0.5" in told(model)
    assert not touching(Circle("0.1 m"), Line(), friction=0.5).check().errors


def test_friction_that_rounding_cannot_follow_is_advised_against():
    (advice,) = touching(Circle("0.1 m"), Line(), friction=1e7).check().warnings
    assert advice.code == "parameter.advice" and "100 never slips either" in advice.problem
    assert not touching(Circle("0.1 m"), Line(), friction=1e4).check().warnings


def test_the_side_of_a_spline_is_right_or_left():
    points = quantity([[k, 0.1 * k**2] for k in range(8)], "m")
    with pytest.raises(ParameterError, match="SplineCurve.free: is 'right' or 'left', not 'up'"):
        SplineCurve(points, free="up")


def test_a_contact_within_one_body_is_found_by_check_instead_of_its_overlap():
    model = wired("self", "body.P arm.B touch.F", "arm.F touch.B",
                  body=Body(), arm=RigidOffset(dx="0.1 m"), touch=Contact())
    assert told(model).startswith("touch lies between parts that cannot move towards each other")


@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_a_disc_in_the_middle_of_a_bowl_falls_to_where_it_is_thrown(speed):
    """No point of the bowl is nearest there: the lowest is taken."""
    model = touching(Circle("0.1 m"), Circle("1 m", inside=True), y="0 m", smooth=True)
    model.body.vx = quantity(speed, "m/s")
    run = model.simulate("1 s", rtol=1e-9)
    # (v t)^2 + (g t^2 / 2)^2 == 0.9^2
    g = 9.81
    square = (-(speed**2) + np.sqrt(speed**4 + (0.9 * g) ** 2)) / (g**2 / 2)
    assert run.events[0].time == pytest.approx(np.sqrt(square), rel=1e-8)
    assert run["touch.gap"].initial.m == 0.9


def test_discs_with_one_centre_overlap_by_their_radii():
    assert "overlap by 300 mm" in told(touching(Circle("0.1 m"), Circle("0.2 m"), y="0 m"))


def slides_up(base, xi, speed):
    model = touching(Circle("50 mm"), base, y=Target("0.1 m", priority="low"), smooth=True)
    model.body.vx, model.body.vy = quantity(speed, "m/s"), quantity(0.2 * speed, "m/s")
    model.body.w, model.body.phi = "0 rad/s", "0 rad"
    model.touch.gap, model.touch.xi_B = "0 m", Target(quantity(xi, "rad"), priority="none")
    return model


@pytest.mark.parametrize(("base", "xi"), [
    (SplineCurve(quantity(RAMP, "m")), 5.0),
    (ParametricCurve(lambda s: (METRE * s, METRE * s / 5), -0.5, 1.0, closed=False, free="left"),
     0.0),
])  # fmt: skip
def test_a_run_stops_where_a_contact_leaves_the_end_of_its_outline(base, xi):
    model = slides_up(base, xi, 3.0)
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
    model = touching(Circle("50 mm"), SplineCurve(quantity(RAMP, "m")), y="1.5 m", smooth=True)
    model.body.vx, model.touch.xi_B = "5 m/s", Target("5 rad", priority="none")
    assert model.simulate("0.3 s")["body.x"].final.m == pytest.approx(1.5)


def hung(**spring):
    return wired("hung", "ground.P spring.B", "body.P spring.F",
                 ground=Ground(), body=Body(x="0 m", y="0 m", vx="1 m/s"),
                 spring=SpringDamper(stiffness="1 kN/m", **spring))


def test_a_spring_without_direction_is_refused_in_words():
    with pytest.raises(SimulationError, match="its two ends are at one place"):
        hung().simulate("1 s")


def test_a_spring_of_no_length_pulls_back_to_its_other_end_from_there_on():
    run, w = hung(free_length="0 m").simulate("1 s", rtol=1e-10), np.sqrt(1000.0)
    assert run["body.x"].final.m == pytest.approx(np.sin(w) / w, abs=1e-8)
    assert run["body.y"].final.m == pytest.approx(-9.81 / 1000 * (1 - np.cos(w)), abs=1e-8)


def test_a_contact_with_a_loose_port_says_which_one():
    model = wired("loose", "body.P touch.F", ground=Ground(), body=Body(y="1 m"), touch=Contact())
    (finding,) = model.check().errors
    assert finding.advice.startswith("Connect touch.B, which is connected to nothing.")


def test_gravity_that_nobody_states_is_told_of_once():
    model = wired("two stones", a=Body(y="1 m"), b=Body(x="1 m"))
    (finding,) = model.check().filter("network.assumed")
    assert finding.problem.startswith(
        "Every planar circuit of a and b has the gravity of the earth, 9.81 m/s^2 against y")
    assert model.simulate("1 s")["a.vy"].final.m == pytest.approx(-9.81)
    wire(model, "a.P a_falls.P", "b.P b_floats.P",
         a_falls=Gravity(), b_floats=Gravity(strength="0 m/s^2"))
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
         ground=Ground(), gravity=Gravity(), arm=RigidOffset(dx="-1 m"),
         rod=Body(mass="1 kg", inertia=quantity(1 / 3, "kg*m^2"), phi="60 deg", vx="-3 m/s",
                  y=quantity(np.sin(np.pi / 3) + tip, "m")),
         touch=Contact(curve=Circle(quantity(tip, "m")), base=Line(), friction=2.0))
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
