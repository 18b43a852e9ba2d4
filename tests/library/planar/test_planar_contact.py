"""Outlines in contact against closed forms: rolling, sliding, falling, bouncing, resting."""

import numpy as np
import pytest
from benches import few, wire, wired
from benches.planar import final, touching
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import library.planar as pl
from benchmarks.cases import planar
from blocks import BlocksError, Target, cos, quantity, sin
from library.rotational import AngularVelocitySource, RotationalReference

G = 9.81


def resting(x, y, **more):
    given = {"mass": "1 kg", "vx": "0 m/s", "vy": "0 m/s", "w": "0 rad/s", "phi": "0 rad", **more}
    return pl.Body(x=quantity(float(x), "m"), y=quantity(float(y), "m"), **given)


def at(run, t, *paths):
    return np.array([float(run[p].at(quantity(float(t), "s")).magnitude) for p in paths])


# -- rolling and sliding -----------------------------------------------------------------------
def test_a_point_of_the_rim_of_a_rolling_disc_draws_a_cycloid():
    body = resting(0, 0.2, vx="1 m/s", w="-5 rad/s", inertia="20 g*m^2")
    model = touching(pl.Circle("0.2 m"), pl.Line(), body, friction=0.3)
    wire(model, "body.P rim.B", "rim.F pen.P", rim=pl.RigidOffset(dy="-0.2 m"),
         pen=pl.MotionSensor())
    run = model.simulate("3 s", rtol=1e-10)
    t = run.time.to("s").magnitude
    assert_allclose(run["pen.X"].magnitude, 0.2 * (5 * t - np.sin(5 * t)), atol=1e-9)
    assert_allclose(run["pen.Y"].magnitude, 0.2 * (1 - np.cos(5 * t)), atol=1e-9)


@pytest.mark.parametrize(("name", "shape"), [("hoop", 1.0), ("disc", 0.5), ("ball", 0.4)])
@pytest.mark.parametrize("slope", [20.0, 60.0])
def test_hoop_disc_and_ball_roll_or_slide_down_a_slope(name, shape, slope):
    r, mu, a = 0.1, 0.4, np.radians(slope)
    body = resting(r * np.sin(a), r * np.cos(a), inertia=quantity(shape * r**2, "kg*m^2"))
    model = touching(pl.Circle("0.1 m"), pl.Line(quantity(-slope, "deg")), body, friction=mu)
    run = model.simulate("1 s", rtol=1e-10)
    rolls = np.tan(a) <= mu * (1 + 1 / shape)
    down = G * np.sin(a) / (1 + shape) if rolls else G * (np.sin(a) - mu * np.cos(a))
    spin = down / r if rolls else mu * G * np.cos(a) / (shape * r)
    x, y, phi = final(run, "body.x", "body.y", "body.phi")
    way = (x - r * np.sin(a)) * np.cos(a) - (y - r * np.cos(a)) * np.sin(a)
    assert_allclose([way, -phi], [down / 2, spin / 2], rtol=1e-8)


def test_a_ball_in_a_bowl_rocks_with_the_period_of_a_pendulum_that_also_turns():
    big, r, a0 = 1.0, 0.1, 1e-4
    body = resting((big - r) * np.sin(a0), -(big - r) * np.cos(a0), inertia=quantity(0.4 * r**2,
                                                                                     "kg*m^2"))
    model = touching(pl.Circle("0.1 m"), pl.Circle("1 m", inside=True), body, friction=0.3)
    quarter = np.pi / 2 * np.sqrt(1.4 * (big - r) / G)
    x, vx = final(model.simulate(f"{quarter} s", rtol=1e-11), "body.x", "body.vx")
    assert abs(x) < 1e-6 * a0 * big
    assert_allclose(vx, -np.sqrt(G * (big - r) / 1.4) * a0, rtol=1e-6)


# -- a ladder ------------------------------------------------------------------------------------
def ladder(floor, wall, degrees, length=2.0, r=0.02):
    """A rod with round ends of radius r, between a floor and a wall on its left."""
    a = np.radians(degrees)
    return wired("ladder", "ground.P foot.B head.B", "rod.P foot.F head.F", ground=pl.Ground(),
                 rod=resting(r + length / 2 * np.cos(a), r + length / 2 * np.sin(a),
                             inertia=quantity(length**2 / 12, "kg*m^2"), phi=quantity(-a, "rad")),
                 foot=pl.Contact(curve=pl.Circle(f"{r} m", x=f"{length / 2} m"), base=pl.Line(),
                                 friction=floor),
                 head=pl.Contact(curve=pl.Circle(f"{r} m", x=f"{-length / 2} m"),
                                 base=pl.Line("-90 deg"), friction=wall))


def test_a_ladder_without_friction_leaves_the_wall_at_two_thirds_of_its_height():
    run = ladder(0.0, 0.0, 70.0).simulate("0.7 s", rtol=1e-11)
    (off,) = [e.time for e in run.events if e.component == "head" and e.description == "opens"]
    assert_allclose(np.sin(-at(run, off, "rod.phi")), 2 / 3 * np.sin(np.radians(70)), rtol=1e-9)


def test_a_ladder_with_friction_leaves_the_wall_where_its_equation_of_motion_says():
    mu1, mu2, length, r = 0.15, 0.1, 2.0, 0.02
    inertia = length**2 / 12

    def forces(a, rate):
        c, s, h = np.cos(a), np.sin(a), length / 2
        # unknowns: angular acceleration, floor N1 up, wall N2 to the right
        matrix = [[-h * s, mu1, -1], [h * c, -1, -mu2],
                  [-inertia, -(h * c - (h * s + r) * mu1), (h * c + r) * mu2 + h * s]]
        return np.linalg.solve(matrix, [h * c * rate**2, h * s * rate**2 - G, 0])

    def lost(t, y):
        return forces(*y)[2]

    lost.terminal = True
    start = np.radians(55.0)
    exact = solve_ivp(lambda t, y: [y[1], forces(*y)[0]], (0, 2), [start, 0], events=lost,
                      method="DOP853", rtol=1e-13, atol=1e-13)  # fmt: skip
    run = ladder(mu1, mu2, 55.0).simulate("1 s", rtol=1e-11)
    (off,) = [e.time for e in run.events if e.component == "head" and e.description == "opens"]
    assert_allclose(off, exact.t[-1], rtol=1e-8)
    assert_allclose(-at(run, off, "rod.phi"), exact.y[0, -1], rtol=1e-8)


@pytest.mark.parametrize(("degrees", "falls"), [(67.5, True), (68.1, False)])
def test_a_ladder_falls_below_the_angle_of_statics(degrees, falls):
    # tan a = (1 - mu1 mu2)/(2 mu1), 67.80 deg, for ends of radius zero
    run = ladder(0.2, 0.1, degrees, r=1e-4).simulate("0.5 s", rtol=1e-9)
    assert (abs(final(run, "rod.w")[0]) > 1e-3) == falls


# -- impact ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("friction", [0.05, 0.6])
@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_disc_strikes_a_floor_with_the_friction_that_its_impulse_loads(friction, e):
    # 1 kg, 20 g*m^2, 0.2 m: a rim at 1 m/s + 0.2 m * 5 rad/s; no slip is left by a third of that
    body = resting(0, 0.7, vx="1 m/s", w="5 rad/s", inertia="20 g*m^2")
    run = touching(pl.Circle("0.2 m"), pl.Line(), body, friction=friction,
                   restitution=e).simulate("0.4 s", rtol=1e-9)
    down = np.sqrt(2 * G * 0.5)
    rub = min(friction * (1 + e) * down, 2.0 / 3.0)
    at_once = run.events[0].time
    assert_allclose(at_once, np.sqrt(2 * 0.5 / G), rtol=1e-9)
    vx, vy, w = at(run, at_once + 1e-6, "body.vx", "body.vy", "body.w")
    assert_allclose([vx, w], [1 - rub, 5 - 0.2 * rub / 0.02], atol=1e-4)
    assert_allclose(vy, e * down, atol=2e-5)
    assert "events in Python" not in run.statistics


def test_an_oblique_bounce_without_friction_keeps_speed_along_the_wall():
    model = touching(pl.Circle("0.1 m"), pl.Line("45 deg"), resting(0, 2, vx="0 m/s"),
                     restitution=0.8, smooth=True)  # fmt: skip
    run = model.simulate("0.8 s", rtol=1e-11)
    hit = run.events[0].time
    n, t = np.array([-1, 1]) / np.sqrt(2), np.array([1, 1]) / np.sqrt(2)
    before = np.array([0.0, -G * hit])
    after = at(run, hit + 1e-9, "body.vx", "body.vy")
    assert_allclose([after @ t, after @ n], [before @ t, -0.8 * before @ n], rtol=1e-7)


# -- rest -----------------------------------------------------------------------------------------
def table(feet, push):
    model = wired("table", "body.P push.P", ground=pl.Ground(), body=resting(0, 0.3, mass="2 kg"),
                  push=pl.Force(fx=f"{push} N"))
    for i, x in enumerate(np.linspace(-0.5, 0.5, feet)):
        wire(model, f"ground.P foot{i}.B", f"body.P foot{i}.F", **{
            f"foot{i}": pl.Contact(curve=pl.Circle("0.1 m", x=f"{x} m", y="-0.2 m"))})
    return model


@pytest.mark.parametrize("feet", [2, 3])
@few(2, "push", [0.0, 3.0, 10.0])
def test_a_body_on_feet_stays_or_slides_however_the_feet_share_the_load(feet, push):
    run = table(feet, push).simulate("1 s", rtol=1e-9, every="0.5 s")
    slides = push > 0.3 * 2 * G
    x, y, phi = final(run, "body.x", "body.y", "body.phi")
    assert_allclose([x, y, phi], [(push - 0.3 * 2 * G) / 4 if slides else 0, 0.3, 0], atol=1e-9)
    n = final(run, *(f"foot{i}.N" for i in range(feet)))
    t = final(run, *(f"foot{i}.T" for i in range(feet)))
    place = np.linspace(-0.5, 0.5, feet)
    assert_allclose([n.sum(), t.sum()], [2 * G, min(push, 0.3 * 2 * G)], rtol=1e-9, atol=1e-12)
    assert_allclose(n @ place, 0.3 * t.sum(), atol=1e-9)  # moments about the centre
    assert n.min() > 0
    assert ("share a load" in str(run.sticking())) == (feet == 3 or not slides)


# -- curves --------------------------------------------------------------------------------------
@pytest.fixture(params=["DOP853", "dopri5"])
def method(request):
    """In Python and in machine code."""
    if request.param == "dopri5":
        pytest.importorskip("llvmlite")
    return request.param


def test_a_circle_given_as_a_general_curve_rolls_like_the_circle(method):
    big = pl.ParametricCurve(lambda s: (quantity("1 m") * cos(s), quantity("1 m") * sin(s)))
    runs = []
    for base in (pl.Circle("1 m"), big):
        body = resting(1.25 * np.sin(0.1), 1.25 * np.cos(0.1), inertia="0.03 kg*m^2")
        model = touching(pl.Circle("0.25 m"), base, body, friction=0.1,
                         **({"xi_B": Target("80 deg", "none")} if base is big else {}))  # fmt: skip
        runs.append(model.simulate("1.4 s", rtol=1e-11, method=method))
    assert len(runs[0].events) == len(runs[1].events) == 2  # slides and leaves
    assert_allclose([e.time for e in runs[1].events], [e.time for e in runs[0].events], rtol=1e-8)
    assert_allclose(final(runs[1], "body.x", "body.y"), final(runs[0], "body.x", "body.y"),
                    rtol=1e-7)


def test_an_ellipse_that_is_a_circle_rolls_down_a_slope_like_a_disc(method):
    a = np.radians(20)
    body = resting(0.1 * np.sin(a), 0.1 * np.cos(a), inertia="5 g*m^2")
    model = touching(pl.Ellipse("0.1 m", "0.1 m"), pl.Line("-20 deg"), body, xi_F="-110 deg")
    run = model.simulate("1 s", rtol=1e-10, method=method)
    x = final(run, "body.x")[0] - 0.1 * np.sin(a)
    assert_allclose(x, G * np.sin(a) / 3 * np.cos(a), rtol=1e-8)
    # the place of contact goes round the rim as the body turns, however long the steps
    t = quantity(np.linspace(0, 1, 23), "s")
    turned = run["touch.xi_F"].at(t).m + run["body.phi"].at(t).m
    assert_allclose(turned, np.radians(-110), rtol=1e-8)


def test_a_bead_on_a_sine_profile_keeps_its_energy_and_leaves_no_gap():
    """A small disc slides without friction over a spline through points of a sine."""
    s = np.linspace(-1, 9, 41)
    points = quantity(np.stack([s, 0.2 * np.cos(s)], axis=1), "m")
    bead = resting(0.02 / 0.2, 0.3, vx="0.5 m/s", inertia="1 g*m^2")
    model = touching(pl.Circle("50 mm"), pl.SplineCurve(points), bead, smooth=True, xi_B="4 rad",
                     gap="0 m")  # fmt: skip
    model.body.y = "0.25 m"
    model.body.x = "0 m"
    run = model.simulate("3 s", rtol=3e-13)  # gaps within a step are errors of one step
    v2 = run["body.vx"].magnitude ** 2 + run["body.vy"].magnitude ** 2
    assert np.ptp(v2 / 2 + G * run["body.y"].magnitude) < 1e-8 * G * 0.4
    touching_now = run["touch.N"].magnitude > 0
    assert np.abs(run["touch.gap"].magnitude[touching_now]).max() < 1e-9 * 0.05
    y = run["body.y"].magnitude.min()
    assert y == pytest.approx(-0.15, abs=2e-4)  # bottom of the sine, and the radius


def test_a_spline_is_four_times_differentiable_and_goes_through_its_points():
    points = np.stack([np.arange(9.0), np.random.default_rng(1).uniform(0, 1, 9)], axis=1)
    curve = pl.SplineCurve(quantity(points, "m"))
    assert_allclose(curve.places(np.arange(9.0))[0], points.T, atol=1e-12)
    knots = np.arange(3.0, 6.0)
    left, right = curve.places(knots - 1e-7, 4), curve.places(knots + 1e-7, 4)
    assert_allclose(left, right, atol=1e-4)


def test_a_closed_spline_of_a_circle_is_nearly_the_circle():
    a = np.linspace(0, 2 * np.pi, 25)[:-1]
    ring = pl.SplineCurve(quantity(np.stack([np.cos(a), np.sin(a)], axis=1), "m"), closed=True,
                       free="right")  # fmt: skip
    assert_allclose(np.hypot(*ring.outline), 1, atol=1e-6)
    assert_allclose(ring.curvature[1], 1, atol=2e-3)
    assert not ring.faults()


# -- mistakes ------------------------------------------------------------------------------------
def test_bodies_that_overlap_at_the_start_or_touch_from_the_far_side_are_named():
    model = touching(pl.Circle("0.1 m"), pl.Line(), resting(0, 0.05))
    with pytest.raises(BlocksError, match="^The two sides of touch overlap by 50 mm at the start."):
        model.simulate("0.1 s")
    (finding,) = model.check().errors
    assert (finding.code, finding.where) == ("contact.overlap", ("touch",))
    model = touching(pl.Ellipse("0.2 m", "0.1 m"), pl.Line(), resting(0, 0.3), xi_F="90 deg")
    with pytest.raises(BlocksError, match="far side"):
        model.simulate("0.1 s")


def test_a_contact_with_both_ports_on_one_body_is_found_before_a_run():
    (finding,) = wired("self", "body.P touch.B touch.F", body=pl.Body(),
                       touch=pl.Contact(base=pl.Circle("1 m"))).check().errors
    assert finding.code == "contact.rigid"
    assert "cannot touch itself" in finding.problem


@pytest.mark.parametrize(("made", "words"), [
    (lambda: pl.Contact(friction=-0.1), "friction: must be at least 0"),
    (lambda: pl.Contact(restitution=1.5), "restitution: must be at most 1"),
    (lambda: pl.Gravity(strength=9.81), "takes m/s"),
    (lambda: pl.Circle("-1 m"), "Circle.radius: must be greater than 0 m"),
    (lambda: pl.Circle(1.0), "Circle.radius: takes m"),
    (lambda: pl.SplineCurve(quantity([[0, 0], [1, 1]], "m")), "at least 6 points"),
    (lambda: pl.SplineCurve(quantity([[0, 0], [1, 1], [1, 1], [2, 0], [3, 0], [4, 0]], "m")),
     "twice, as number 1 and 2")])
def test_values_that_make_no_sense_are_refused_by_name(made, words):
    with pytest.raises(Exception, match="^" + ".*" + words.replace(".", r"\.")):
        made()


METRE = quantity("1 m")


@pytest.mark.parametrize(("curve", "words"), [
    (lambda s: (METRE * sin(s), METRE * sin(2 * s)), "crosses itself near (0 mm"),
    (lambda s: (METRE * (1 - cos(s)) * cos(s), METRE * (1 - cos(s)) * sin(s)),
     "has no tangent at (0 mm, 0 mm)"),
    (lambda s: (METRE * s, METRE * sin(s)), "is not closed: it starts at (0 mm, 0 mm)")])
def test_curves_that_are_no_outlines_are_refused_with_the_place(curve, words):
    model = touching(pl.Circle("0.1 m"), pl.ParametricCurve(curve), resting(0, 5))
    assert words in model.check().errors[0].problem


def test_a_disc_too_large_for_a_hollow_is_refused_with_the_place():
    # the radius of curvature at the ends of the long axis is b^2/a = 0.5 m
    bowl = pl.Ellipse("2 m", "1 m", inside=True)
    assert "parameter.relation" in touching(pl.Circle("0.51 m"), bowl, resting(0, 0)).check()
    assert not touching(pl.Circle("0.49 m"), bowl, resting(0, 0)).check().errors


@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
def test_closed_contacts_stay_closed_between_the_steps_at_any_tolerance(rtol):
    run = planar.disc().simulate("6 s", rtol=rtol)
    between = quantity(np.linspace(0, 6, 997), "s")
    gap, slip = run["touch.gap"].at(between).to("m").m, run["touch.slip"].at(between).to("m/s").m
    assert np.abs(gap).max() < 1e-9 * 0.25  # of the disc's radius
    rolls = run["touch.T"].at(between).to("N").m  # while it rolls it does not creep either
    held = np.abs(rolls) < 0.0999 * run["touch.N"].at(between).to("N").m
    assert held.sum() > 100 and np.abs(slip[held]).max() < 1e-9


def test_a_follower_that_cannot_be_moved_along_its_cam_runs_in_machine_code():
    # an eccentric disc of radius r, e off its axis: y = r + e sin(w t), N = m (g - e w^2 sin(w t));
    # the slide bears all friction, so that D of the slip is rounding, or nothing
    r, e, w, mass, mu = 0.03, 0.01, 20.0, 0.2, 0.1
    disc = pl.Circle(quantity(r, "m"), x=quantity(e, "m"))
    model = wired("cam", "ground.P bearing.B slide.B", "bearing.F cam.P contact.B",
                  "slide.F plate.P contact.F", "motor.R bearing.A", "motor.C shaft.W",
                  ground=pl.Ground(), shaft=RotationalReference(),
                  cam=pl.Body(inertia="0.01 kg*m^2", phi="0 rad"), bearing=pl.Revolute(drive=True),
                  motor=AngularVelocitySource(velocity=quantity(w, "rad/s")),
                  plate=pl.Body(mass=quantity(mass, "kg")),
                  slide=pl.Prismatic(angle="90 deg", s=quantity(r, "m"), v=quantity(e * w, "m/s")),
                  contact=pl.Contact(curve=pl.Line("180 deg"), base=disc, friction=mu))
    run = model.simulate("1 s", rtol=1e-8)
    assert "stretches in Python" not in run.statistics
    assert not run.events
    times = quantity(np.linspace(0, 1, 101), "s")
    turned = w * times.m
    load = mass * (G - e * w**2 * np.sin(turned))
    assert_allclose(run["slide.s"].at(times).m, r + e * np.sin(turned), atol=1e-8)
    assert_allclose(run["contact.N"].at(times).m, load, rtol=1e-5)
    assert_allclose(np.abs(run["contact.T"].at(times).m), mu * load, rtol=1e-5)
