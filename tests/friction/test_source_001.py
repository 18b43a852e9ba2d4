"""Friction on an oscillator, and a convex curve that rolls and slides on a fixed one."""

import benches.friction as bench
import numpy as np
import pytest
from benches import wire, wired
from benches.friction import dry, happened, missing_energy, oscillator, push, value, values
from numpy.testing import assert_allclose

from blocks import Target, cos, quantity
from library.frictionlaws import FrictionLaw, sgn
from library.planar import Body, Circle, Contact, Ellipse, Ground, Line
from library.translational import Mass, Reference, Rod, Spring, TranslationalFriction

FORCED = bench.reference()["oscillator"]


def test_an_oscillator_stops_after_half_a_cycle_and_never_moves_again():
    run = oscillator().simulate("10003 s", rtol=1e-11)
    ((time, *what),) = happened(run, "friction")
    assert what == ["friction", "sticks"]
    assert_allclose(time, np.pi, rtol=0, atol=1e-9)
    x = values(run, ["spring.x"], np.linspace(3.2, 10003, 500))[0]
    assert_allclose(x, -0.5, rtol=0, atol=1e-9)
    assert np.ptp(x) <= 1e-14
    assert value(run, "body.v") == 0


def test_an_oscillator_loses_twice_the_friction_over_the_stiffness_a_half_cycle():
    run = oscillator(x0=10.3).simulate("30 s", rtol=1e-11)
    events = happened(run, "friction")
    assert [e[2] for e in events] == ["slides forward", "slides backward"] * 2 + ["sticks"]
    assert_allclose([e[0] for e in events], np.pi * np.arange(1, 6), rtol=0, atol=1e-9)
    reversals = values(run, ["spring.x"], [e[0] for e in events])[0]
    assert_allclose(reversals, [-8.3, 6.3, -4.3, 2.3, -0.3], rtol=0, atol=1e-9)
    assert missing_energy(run) < 1e-9
    # 10.3 m to 0.3 m at 1 N/m, all of it heat
    assert_allclose(run.recording.energy_terms()[2].dissipated, (10.3**2 - 0.3**2) / 2, rtol=1e-9)


@pytest.mark.parametrize("name", FORCED)
def test_a_forced_oscillator_sticks_and_slips_at_the_reference_times(name):
    case = FORCED[name]
    model = oscillator(case["kinetic"], case["static"], 2.5, case["amplitude"], case["frequency"])
    run = model.simulate(f"{case['end']} s", rtol=1e-12)
    events = happened(run, "friction")
    sticks = [t for t, _, what in events if what == "sticks"]
    slips = [t for t, _, what in events if what.startswith("slides")]
    for ours, (time, x) in zip(sticks, case["sticks"], strict=False):
        assert_allclose(ours, time, rtol=0, atol=1e-8)
        assert_allclose(value(run, "spring.x", ours), x, rtol=0, atol=1e-8)
    assert_allclose(slips[: len(case["slips"])], case["slips"], rtol=0, atol=1e-8)
    for time, x in case["x"]:
        assert_allclose(value(run, "spring.x", time), x, rtol=0, atol=1e-8)
    for time, v in case["v"]:
        assert_allclose(value(run, "body.v", time), v, rtol=0, atol=1e-8)


def test_the_network_finds_the_force_that_holds_a_body_at_rest():
    # the body is two masses on a rod, and the friction acts on one, the load on the other
    model = wired("two halves", "a.M rod.R spring.R load.R", "rod.C b.M friction.R",
                  "spring.C friction.C load.C ground.V",
                  a=Mass(mass="0.5 kg"), b=Mass(mass="0.5 kg"), rod=Rod(),
                  spring=Spring(stiffness="1 N/m", x="0.3 m"), friction=dry(1.0),
                  load=push(lambda t: 0.4 * cos(2 * t)), ground=Reference())
    run = model.simulate("5 s", rtol=1e-9)
    t = np.linspace(0, 5, 41)
    assert happened(run) == []
    assert_allclose(values(run, ["friction.f"], t)[0], 0.4 * np.cos(2 * t) - 0.3, atol=1e-12)
    assert_allclose(values(run, ["a.v", "b.v"], t), 0, atol=0)


# -- regularised laws, classical Runge-Kutta, the step of the source and half the band ------------


def regularised(law, band=None, step=0.01, end=20, **strengths):
    if band is not None:
        strengths["band"] = f"{band} m/s"
    friction = TranslationalFriction(law=law, coulomb_force="1 N", **strengths)
    return oscillator(friction=friction).simulate(f"{end} s", method="rk4", step=f"{step} s")


def test_quinns_law_in_fixed_steps_rests_where_the_reference_does():
    run = regularised("quinn", 0.02, breakaway_force="1 N")
    published = {1: 1.8104534589, 2: 0.3757797454, 3: -0.4849887448, 20: -0.500302049933}
    for time, x in published.items():
        assert_allclose(value(run, "spring.x", time), x, rtol=0, atol=1e-9)
    assert abs(value(run, "body.v", 20)) < 1e-15


def test_the_rest_of_quinns_law_is_three_quarters_of_the_squared_band_too_far():
    for band in (0.02, 0.01, 0.005):
        run = regularised("quinn", band, step=band / 2, end=8, breakaway_force="1 N")
        assert_allclose((value(run, "spring.x", 8) + 0.5) / band**2, -0.75, rtol=0.01)


class Sign(FrictionLaw):
    """Coulomb's force without a state of rest: F_C sign(v)."""

    def force(self, c):
        return c.coulomb * sgn(c.flow)


def test_a_plain_sign_law_never_rests_and_drifts_to_the_origin():
    x, v = values(regularised(Sign, end=20), ["spring.x", "body.v"], np.arange(0, 20.005, 0.01))
    assert -0.487 <= x[1000] <= -0.480
    assert np.all(v[1:] != 0)  # at every step of the method
    assert abs(x[2000]) < abs(x[1500]) < abs(x[1000]) < abs(x[400])


def test_martins_and_odens_law_creeps_back_to_the_origin():
    run = regularised("martins_oden", 0.02, end=100)
    for time, x in {4: -0.4917996903, 10: -0.4361662428, 100: -0.0720458617}.items():
        assert_allclose(value(run, "spring.x", time), x, rtol=0, atol=1e-8)


G, R, r = 9.81, 1.0, 0.25
TAU = np.sqrt(G / (R - r))  # dimensionless times per second


def disc(base, friction, x, y, phi="0 rad", mass=1.0):
    return wired("disc on a curve", "ground.P touch.B", "disc.P touch.F",
                 ground=Ground(),
                 disc=Body(mass=f"{mass} kg", inertia=f"{mass * r**2 / 2} kg*m^2", x=f"{x!r} m",
                           y=f"{y!r} m", phi=phi, vx="0 m/s", vy="0 m/s", w="0 rad/s"),
                 touch=Contact(curve=Circle("0.25 m"), base=base, friction=friction))


def inside(friction):
    return disc(Circle("1 m", inside=True), friction, R - r, 0.0)


def outside(friction):
    return disc(Circle("1 m"), friction, float((R + r) * np.sin(0.1)), float((R + r) * np.cos(0.1)))


def at(run, t, *paths):
    return [float(run[p].at(quantity(t, "s")).magnitude) for p in paths]


def events(run):
    """Time and mode of events; what is so from the start is none."""
    return [(e.time, e.description) for e in run.events]


def missing(run):
    """Energy plus dissipated work that is not constant, of the fall through the radius."""
    return abs(run.energy().residual.to("J").magnitude) / (G * R)


# -- D1: until the slip velocity vanishes ---------------------------------------------------
D1 = {  # tau_end, xi_1, theta, xi_2, N/mg, V_max
    0.01: (3.583575118299, 3.078343067917, -0.5201382961, 3.5984813641, 0.0732955196, 3.648741927),
    0.1: (2.674211400612, 2.324200291466, -2.2896140862, 4.6138143777, 1.3468042921, 2.527527614),
    0.2: (2.080131828824, 1.602659244344, -1.9637025748, 3.5663618191, 2.0070431189, 1.936151881)}


@pytest.mark.parametrize("friction", D1)
def test_a_disc_let_go_in_a_circle_slides_until_the_time_and_place_of_the_source(friction):
    tau, xi, theta, xi_2, load, fastest = D1[friction]
    run = inside(friction).simulate("1.1 s", rtol=1e-11)
    end, _ = events(run)[0]
    assert_allclose(end * TAU, tau, rtol=1e-8)
    x, y, phi, n = at(run, end, "disc.x", "disc.y", "disc.phi", "touch.N")
    angle = np.arctan2(-y, x)
    # theta and xi_2 are the source's, clockwise with gravity along +Y
    assert_allclose([angle, -phi, angle + phi], [xi, theta, xi_2], rtol=1e-8)
    assert_allclose(n / G, load, rtol=1e-8)
    # the slip is counted along the tangent (ny, -nx), opposite to the source's V
    t = np.linspace(0, end, 401)
    slip = run["touch.slip"].at(quantity(t, "s")).magnitude
    k = int(np.argmax(np.abs(slip)))
    peak = np.polynomial.Polynomial.fit(t[k - 2:k + 3] - t[k], np.abs(slip[k - 2:k + 3]), 4)
    assert_allclose(max(peak(np.linspace(-t[1], t[1], 2001))), fastest, rtol=1e-8)


# -- D2: what comes then ---------------------------------------------------------------------
def test_rolling_does_not_follow_where_friction_cannot_hold_it():
    """The source says it does, for all three: it does so for the largest one only."""
    modes = {mu: events(inside(mu).simulate("1 s", rtol=1e-9))[0][1] for mu in (0.01, 0.1, 0.2)}
    assert modes == {0.01: "slides forward", 0.1: "slides forward", 0.2: "sticks"}


@pytest.mark.parametrize(("friction", "mode"), [(0.1186747, "slides forward"),
                                                (0.1186750, "sticks")])
def test_rolling_follows_from_the_threshold_on(friction, mode):
    # mu* = 0.1186748573
    assert events(inside(friction).simulate("0.75 s", rtol=1e-11))[0][1] == mode


def test_the_disc_then_slides_back_and_forth_and_rolls_in_between():
    run = inside(0.1).simulate(f"{14 / TAU} s", rtol=1e-11)
    times = np.array([t for t, _ in events(run)]) * TAU
    assert_allclose(times, [2.674211400612, 6.857832761553, 9.525308056495, 13.126555052496,
                            13.137520796946], rtol=1e-8)  # fmt: skip
    assert [m for _, m in events(run)] == [
        "slides forward", "slides backward", "slides forward", "sticks", "slides backward"]


def test_the_disc_that_rolls_slips_again():
    run = inside(0.2).simulate("0.9 s", rtol=1e-11)
    (_, first), (again, second) = events(run)
    x, y = at(run, again, "disc.x", "disc.y")
    assert (first, second) == ("sticks", "slides forward")
    assert_allclose([again * TAU, np.arctan2(-y, x)], [2.961019255243, 2.407720478801], rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.01, 0.1, 0.2])
def test_until_tau_sixty_energy_is_accounted_for_and_the_disc_stays_on_the_circle(friction):
    run = inside(friction).simulate(f"{60 / TAU} s", rtol=1e-12)
    assert missing(run) < 1e-9
    assert np.max(np.abs(run["touch.gap"].magnitude)) <= 1e-9 * r
    assert np.min(run["touch.N"].magnitude) >= -1e-9 * G
    # swings shrink towards the range in which rolling needs no more friction than there is
    swing = np.abs(np.arctan2(run["disc.x"].magnitude, -run["disc.y"].magnitude))
    t = run.time.to("s").magnitude
    early, late = (swing[(t > a) & (t < a + 3)].max() for a in (8.0, t[-1] - 3))
    assert np.arctan(3 * friction) < late < early


# -- D3 and D5: on the outside ---------------------------------------------------------------
@pytest.mark.parametrize(("friction", "slips", "leaves"), [
    (0.05, 0.147723890257, 0.866552928995), (0.1, 0.278597754932, 0.884167127883),
    (0.2, 0.469545036491, 0.907687858237), (0.5, 0.714081814174, 0.936306116500)])  # fmt: skip
def test_a_disc_on_a_circle_rolls_then_slips_then_flies(friction, slips, leaves):
    run = outside(friction).simulate("1.5 s", rtol=1e-11)
    (slip, first), (off, second) = events(run)
    assert (first, second) == ("slides forward", "opens")
    angles = [np.arctan2(*at(run, t, "disc.x", "disc.y")) for t in (slip, off)]
    assert_allclose(angles, [slips, leaves], rtol=1e-8)
    assert np.min(run["touch.N"].magnitude) >= -1e-9 * G
    x, y, vx, vy = at(run, off, "disc.x", "disc.y", "disc.vx", "disc.vy")
    t = 1.5 - off  # free flight from there
    assert_allclose(at(run, 1.5, "disc.x", "disc.y"),
                    [x + vx * t, y + vy * t - G * t**2 / 2], rtol=1e-9)
    assert missing(run) < 1e-9


def test_without_friction_the_disc_leaves_at_two_thirds_of_its_height():
    run = outside(0.0).simulate("1.4 s", rtol=1e-11)
    ((off, mode),) = [e for e in events(run) if e[1] == "opens"]
    x, y = at(run, off, "disc.x", "disc.y")
    assert_allclose(y / np.hypot(x, y), 2 / 3 * np.cos(0.1), rtol=1e-9)


# -- D4: curve over curve ---------------------------------------------------------------------
A, B, MASS = 0.3, 0.2, 2.0
J = MASS * (A**2 + B**2) / 4


def ellipses(friction):
    model = wired("ellipse on ellipse", ground=Ground())
    wire(model, "ground.P touch.B", "body.P touch.F",
         body=Body(mass=f"{MASS} kg", inertia=f"{J} kg*m^2", vx="0 m/s", vy="0 m/s", w="0 rad/s",
                   x=Target("0.5 m", "none"), y=Target("1.2 m", "none")),
         touch=Contact(curve=Ellipse(f"{A} m", f"{B} m"), base=Ellipse("2 m", "1 m"),
                       friction=friction, gap="0 m", xi_B="1.3 rad", xi_F="-90 deg"))
    return model


def matrix_27(q, v, friction):
    """Accelerations of x, y, theta, xi_1, xi_2 and lambda: equation (27) of the source.

    With its letters: subscripts p, s, t are derivatives by the parameter, U turns by 90 deg.
    """
    x0, y0, theta, xi1, xi2 = q
    turn = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
    u = np.array([[0.0, -1.0], [1.0, 0.0]])

    def ellipse(a, b, s, order):
        s = s + order * np.pi / 2  # each derivative turns on by a quarter
        return np.array([a * np.cos(s), b * np.sin(s)])

    place, rp, rs, rt = (ellipse(2.0, 1.0, xi1, k) for k in range(4))
    arm, ap, as_, at_ = (turn @ ellipse(A, B, xi2, k) for k in range(4))
    w, d1, d2 = v[2:]
    velocity = v[:2] + w * (u @ arm)
    mu = -friction if rp @ velocity > 0 else friction
    # (31): lambda (-Y_p, X_p) is along the outward normal's negative on this ellipse
    a = u @ rp
    sign = -1.0  # lambda < 0 presses outwards; friction is mu |N| against V
    force = a + sign * mu * rp
    moment = (place[0] - x0) * force[1] - (place[1] - y0) * force[0]
    m = np.zeros((6, 6))
    m[:3, :3] = np.diag([MASS, MASS, J])
    m[:3, 5] = -np.array([*force, moment])
    right = np.zeros(6)
    right[1] = -MASS * G
    # (8) differentiated
    m[3:5, :2], m[3:5, 2], m[3:5, 3], m[3:5, 4] = np.eye(2), u @ arm, -rp, ap
    right[3:5] = d1**2 * rs + w**2 * arm - 2 * w * d2 * (u @ ap) - d2**2 * as_
    # (9) differentiated
    m[5, 2], m[5, 3], m[5, 4] = -rp @ ap, rs @ u @ ap, rp @ u @ as_
    right[5] = (
        w * (d1 * rs @ ap + w * rp @ u @ ap + d2 * rp @ as_)
        - d1 * (d1 * rt @ u @ ap + w * rs @ u @ u @ ap + d2 * rs @ u @ as_)
        - d2 * (d1 * rs @ u @ as_ + w * rp @ u @ u @ as_ + d2 * rp @ u @ at_))
    return np.linalg.solve(m, right), np.linalg.norm(rp)


def test_an_ellipse_on_an_ellipse_rolls_slips_and_flies_as_the_reduced_equations_say():
    run = ellipses(0.15).simulate("2.5 s", rtol=1e-11)
    by_name = {text: t for t, text in events(run)}
    slip, off = by_name["slides forward"], by_name["opens"]
    assert_allclose([slip, off], [0.3025588168, 2.2954896315], atol=1e-7)
    assert_allclose(at(run, slip, "touch.xi_B", "touch.xi_F"), [1.2717715250, -1.3877051029],
                    atol=1e-7)
    assert_allclose(at(run, off, "body.x", "body.y", "body.phi"),
                    [1.9501179718, 0.5684204237, -0.8355738815], atol=1e-7)
    assert missing(run) < 1e-9
    # equation (27) beside the assembled model, while it slides
    names = ["body.x", "body.y", "body.phi", "touch.xi_B", "touch.xi_F"]
    rates = ["body.vx", "body.vy", "body.w", "touch.rate_B", "touch.rate_F"]
    t = quantity(np.linspace(slip + 0.01, off - 0.01, 25), "s")
    q, v, force = (np.array([run[p].at(t).magnitude for p in paths]).T for paths in (
        names, rates, ["touch.F.fx", "touch.F.fy", "touch.N"]))  # fmt: skip
    for k in range(25):
        solution, length = matrix_27(q[k], v[k], 0.15)
        fx, fy, n = force[k]
        assert_allclose([-fx / MASS, -fy / MASS - G], solution[:2], atol=1e-9)
        assert_allclose(n, -solution[5] * length, atol=1e-9 * MASS * G)


def test_an_ellipse_with_more_friction_rolls_all_the_time():
    run = ellipses(0.3).simulate("3 s", rtol=1e-11)
    assert_allclose([float(run[f"body.{n}"].final.magnitude) for n in ("x", "y", "phi")],
                    [0.6013801747, 1.1599336265, -0.3302582019], atol=1e-9)
    assert np.max(np.abs(run["touch.gap"].magnitude)) <= 1e-9 * B


@pytest.mark.parametrize("mass", [1.0, 3.0])
def test_a_disc_on_a_steep_slope_slides_and_spins_up(mass):
    high = np.array([-np.sin(-np.pi / 6), np.cos(-np.pi / 6)]) * r
    model = disc(Line("-30 deg"), 0.1, float(high[0]), float(high[1]), mass=mass)
    x, y, phi = at(model.simulate("1 s", rtol=1e-11), 1.0, "disc.x", "disc.y", "disc.phi")
    way = np.hypot(x - high[0], y - high[1])
    assert_allclose([way, phi], [2.027714539444, -3.398283684450], rtol=1e-9)
