"""Many contacts, heaps and stacks, against balances and closed forms; steps on curved paths."""

import numpy as np
import pytest
from benches import few, meets, wire, wired
from benches.friction import value
from benches.planar import touching
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from benchmarks.cases.planar import SIDES, poured
from blocks import SimulationError, Target, cos, quantity
from blocks.machine import compiling
from blocks.native import contact_steps
from library.planar import Body, Circle, Contact, Corner, Gravity, Ground, Line, ParametricCurve

# -- many discs by time stepping -------------------------------------------------------------------
G, R = 9.81, 0.1
STEP = 5e-3


def stepped(model, end, step=STEP, **more):
    length = quantity(end, "s")
    return model.simulate(length, method="moreau_jean", step=quantity(step, "s"), **more)


def energy(run, times):
    """Kinetic and potential energy of the discs, in J, at step ends."""
    at = quantity(times, "s")
    vx, vy, w, y = (run[f"discs.{k}"].at(at).to(u).m for k, u in (
        ("vx", "m/s"), ("vy", "m/s"), ("w", "rad/s"), ("y", "m")))
    return (0.5 * (vx**2 + vy**2) + 0.5 * 5e-3 * w**2 + G * y).sum(axis=0)


@pytest.fixture(scope="module")
def heap():
    """Sixteen discs with friction, poured for 1.8 s."""
    return stepped(poured(16), 1.8)


def test_floor_and_walls_give_a_settled_heap_the_impulse_of_its_weight_in_every_step(heap):
    steps = quantity(1.8 - STEP * (0.5 + np.arange(10)), "s")
    lift = sum(-heap[f"{side}.F.fy"].at(steps).to("N").m.sum(axis=0) for side in SIDES[1:])
    assert_allclose(lift * STEP, 16 * G * STEP, rtol=1e-7)
    thrust = sum(-heap[f"{side}.F.fx"].at(steps).to("N").m.sum(axis=0) for side in SIDES[1:])
    assert_allclose(thrust, 0.0, atol=1e-6 * G)


def test_a_settled_heap_stays_where_it_is(heap):
    times = quantity([1.5, 1.6, 1.7, 1.8], "s")
    for place in ("x", "y"):
        assert np.ptp(heap[f"discs.{place}"].at(times).to("m").m, axis=1).max() < 1e-8
    assert np.abs(heap["discs.w"].at(times).to("rad/s").m).max() < 1e-6


def test_discs_overlap_by_no_more_than_half_a_step_at_the_speed_they_meet_with(heap):
    fastest = np.hypot(heap["discs.vx"].magnitude, heap["discs.vy"].magnitude).max()
    assert min(heap[f"{side}.gap"].magnitude.min() for side in SIDES) > -0.5 * STEP * 2 * fastest


def test_a_plastic_heap_never_gains_energy(heap):
    course = energy(heap, STEP * np.arange(361))
    assert course[0] - course[-1] > 0.1 * 16 * G  # much is lost
    # normals turn within a step: what that adds is a small part of what impacts take
    assert np.diff(course).max() < 2e-4 * course[0]


def test_energy_of_a_poured_heap_is_accounted_for_but_for_impacts_along_normals_that_turn(heap):
    ledger = heap.energy()
    assert ledger.dissipated.m > 0.1 * 16 * G
    assert ledger.relative_residual < 1e-3  # of first order in the step


def test_forces_of_a_heap_lie_within_their_cones(heap):
    at = quantity(np.linspace(0.1, 1.8, 77) - 1e-3, "s")
    for side in SIDES:
        normal, friction = (heap[f"{side}.{k}"].at(at).to("N").m for k in ("N", "T"))
        assert normal.min() >= 0
        assert (np.abs(friction) - 0.3 * normal).max() < 1e-6 * normal.max()


def test_frictionless_discs_come_to_carry_their_weight_as_well():
    run = stepped(poured(12, smooth=True), 3.0)
    steps = quantity(3.0 - STEP * (0.5 + np.arange(400)), "s")
    lift = sum(-run[f"{side}.F.fy"].at(steps).to("N").m.sum(axis=0) for side in SIDES[1:])
    assert_allclose(lift.mean(), 12 * G, rtol=2e-3)


def column(count, restitution=0.0, drop=0.0):
    """Discs above each other on a floor, the lowest ``drop`` above it."""
    y = drop + R * (2 * np.arange(count) + 1)
    model = wired("column", "ground.P floor.B", "discs[0].P floor.F", ground=Ground(),
                  discs=Body(count=count, inertia="5 g*m^2", x="0 m", y=quantity(y, "m"),
                             phi="0 rad", vx="0 m/s", vy="0 m/s", w="0 rad/s"),
                  floor=Contact(curve=Circle("0.1 m"), base=Line(), restitution=restitution))
    if count > 1:
        wire(model, "pairs.B discs[:-1].P", "pairs.F discs[1:].P",
             pairs=Contact(count=count - 1, curve=Circle("0.1 m"), base=Circle("0.1 m")))
    return model


@pytest.mark.parametrize("options", [{"method": "moreau_jean", "step": "5 ms"}, {"rtol": 1e-9}],
                         ids=["time steps", "events"])
def test_three_discs_in_a_stack_carry_what_is_above_them(options):
    run = column(3).simulate("0.2 s", **options)
    assert_allclose(run["floor.N"].at("0.1 s").m, 3 * G, rtol=1e-9)
    assert_allclose(run["pairs.N"].at("0.1 s").to("N").m, [2 * G, G], rtol=1e-9)
    assert_allclose(run["discs.y"].final.to("m").m, [R, 3 * R, 5 * R], rtol=1e-12)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.8])
def test_a_dropped_disc_leaves_the_floor_with_its_share_of_the_speed(restitution):
    drop, step = 0.5, 1e-3
    run = stepped(column(1, restitution, drop), 0.45, step)
    fall = np.sqrt(2 * drop / G)
    assert_allclose(run["discs[0].y"].at(quantity(0.99 * fall, "s")).m,
                    R + drop - 0.5 * G * (0.99 * fall) ** 2, atol=G * step**2 / 7)  # fmt: skip
    expected = restitution * np.sqrt(2 * G * drop) - G * (0.45 - fall) if restitution else 0.0
    assert_allclose(run["discs[0].vy"].at("0.45 s").m, expected, atol=2 * G * step)


def test_the_impulse_in_newtons_cradle_goes_through_to_the_last_disc():
    count, step = 5, 1e-3
    x = 2 * R * np.arange(count) * 1.02  # a gap between them: one impact after the other
    model = wired("cradle", "pairs.B discs[:-1].P", "pairs.F discs[1:].P", "ground.P floor.B",
                  "floor.F discs.P", ground=Ground(),
                  discs=Body(count=count, inertia="5 g*m^2", x=quantity(x, "m"), y="0.1 m",
                             phi="0 rad", vx=quantity([1.0] + [0.0] * (count - 1), "m/s"),
                             vy="0 m/s", w="0 rad/s"),
                  pairs=Contact(count=count - 1, curve=Circle("0.1 m"), base=Circle("0.1 m"),
                                smooth=True, restitution=1.0),
                  floor=Contact(count=count, curve=Circle("0.1 m"), base=Line(), smooth=True))
    run = stepped(model, 0.1, step)
    assert_allclose(run["discs.vx"].final.to("m/s").m, [0, 0, 0, 0, 1], atol=1e-9)
    assert_allclose(run["discs.vx"].at("0.05 s").to("m/s").m.sum(), 1.0, rtol=1e-12)


def test_a_disc_thrown_along_the_floor_ends_rolling_with_a_speed_of_its_inertia_only():
    model = column(1)
    model.discs.vx = "1 m/s"
    run = stepped(model, 0.6)
    # angular momentum about the floor: m R v0 == m R v + J v / R
    rolls = 1 / (1 + 5e-3 / R**2)
    meets(run, {"discs[0].vx": (rolls, 1e-9), "discs[0].w": (-rolls / R, 1e-9)})
    slid = (1 - rolls) / (0.3 * G)  # how long friction brakes
    way = slid * (1 + rolls) / 2 + rolls * (0.6 - slid)
    assert_allclose(run["discs[0].x"].final.m, way, atol=STEP * (1 - rolls))


# -- loads that statics leaves open ----------------------------------------------------------------
def touch(model, name, lower, upper, **contact):
    wire(model, f"{lower}.P {name}.B", f"{upper}.P {name}.F", **{name: Contact(**contact)})


def pyramid(friction):
    model, ring = wired("pyramid", ground=Ground()), Circle("0.1 m")
    for name, x, y in (("a", -R, R), ("b", R, R), ("c", 0.0, R + float(np.sqrt(3)) * R)):
        wire(model, **{name: Body(inertia="5 g*m^2", x=quantity(x, "m"), y=quantity(y, "m"),
                                  phi="0 rad", vx="0 m/s", vy="0 m/s", w="0 rad/s")})
    for name, lower, upper, base in (
        ("floor_a", "ground", "a", Line()), ("floor_b", "ground", "b", Line()),
        ("top_a", "a", "c", ring), ("top_b", "b", "c", ring), ("middle", "a", "b", ring)):
        touch(model, name, lower, upper, curve=ring, base=base, friction=friction)
    return model


@few(2, ("friction", "stands"), [(0.30, True), (0.272, True), (0.264, False)])
def test_a_disc_on_two_discs_needs_the_friction_of_half_their_angle(friction, stands):
    # the upper contacts lean by 30 deg, their forces at most by half of it: tan 15 deg = 0.268
    run = pyramid(friction).simulate("0.2 s", rtol=1e-9, every="0.1 s")
    assert (R + np.sqrt(3) * R - run["c.y"].final.m < 1e-12) == stands
    if stands:
        n, t, m = (run[f"{p}"].final.m for p in ("top_a.N", "top_a.T", "middle.N"))
        assert_allclose(2 * (n * np.cos(np.pi / 6) + t * np.sin(np.pi / 6)), G, rtol=1e-9)
        assert m >= 0
        assert "share a load" in str(run.sticking())  # the middle contact may press or not


# -- discs in a row that touch without force: blows go through, rounding moves nothing -------------
def row(restitution, hit, degrees):
    """Five discs along a straight guide, without gravity; the first ones come with 1 m/s."""
    model = wired("row", "gravity.P ground.P", ground=Ground(), gravity=Gravity(strength="0 m/s^2"))
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    guide = Line(quantity(degrees, "deg"), x=quantity(0.1 * s, "m"), y=quantity(-0.1 * c, "m"))
    for k in range(5):
        way, speed = 0.2 * k - (0.3 if k < hit else 0.0), float(k < hit)
        wire(model, **{f"body{k}": Body(
            x=quantity(way * c, "m"), y=quantity(way * s, "m"), inertia="5 g*m^2",
            vx=quantity(speed * c, "m/s"), vy=quantity(speed * s, "m/s"))})
        touch(model, f"on{k}", "ground", f"body{k}", curve=Circle("0.1 m"), base=guide, smooth=True)
        if k:
            touch(model, f"pair{k}", f"body{k - 1}", f"body{k}", curve=Circle("0.1 m"),
                  base=Circle("0.1 m"), smooth=True, restitution=restitution)
    return model


@few(2, "degrees", [0.0, 30.0, 123.0])
@few(1, ("restitution", "hit", "after"), [
    (1.0, 1, [0, 0, 0, 0, 1]), (1.0, 2, [0, 0, 0, 1, 1]), (0.0, 1, [0.2] * 5), (0.0, 2, [0.4] * 5)])
def test_a_row_of_discs_passes_a_blow_on_or_goes_on_together(degrees, restitution, hit, after):
    run = row(restitution, hit, degrees).simulate("0.6 s", rtol=1e-9)
    speeds = [np.hypot(run[f"body{k}.vx"].final.m, run[f"body{k}.vy"].final.m) for k in range(5)]
    assert_allclose(speeds, after, atol=1e-12)


def between_walls(friction, spin):
    model = wired("between walls", ground=Ground(),
                  disc=Body(inertia="5 g*m^2", x="0 m", y="0.1 m", w=quantity(spin, "rad/s")))
    for name, base in {"floor": Line(), "left": Line("-90 deg", x="-0.1 m"),
                       "right": Line("90 deg", x="0.1 m")}.items():  # fmt: skip
        touch(model, name, "ground", "disc", curve=Circle("0.1 m"), base=base, friction=friction)
    return model


def test_a_disc_that_just_fits_between_walls_without_friction_spins_on():
    run = between_walls(0.0, 50.0).simulate("0.5 s", rtol=1e-9)
    assert run["disc.w"].final.m == 50.0
    assert_allclose(run["floor.N"].final.m, G, rtol=1e-12)


def test_a_disc_that_spins_wedged_between_rough_walls_has_no_determined_motion():
    """Any force of the walls against each other obeys the laws, and friction depends on it."""
    with pytest.raises(SimulationError, match="wedged") as caught:
        between_walls(0.3, 50.0).simulate("0.5 s")
    assert caught.value.code == "simulation.paradox"
    assert {"left", "right"} <= set(caught.value.where.split(", "))


# -- discs that slide into a corner, and onto each other, and touch there without force ------------
def in_a_corner(count):
    """Discs of 1 kg and 0.25 m that move at 1 m/s towards a wall, 50 mm apart."""
    model, ring = wired("discs", ground=Ground()), Circle("0.25 m")
    for k in range(count):
        wire(model, **{f"disc{k}": Body(
            mass="1 kg", inertia="0.03 kg*m^2", x=f"{0.3 + 0.55 * k} m", y="0.25 m", phi="0 rad",
            vx="-1 m/s", vy="0 m/s", w="0 rad/s")})
        touch(model, f"floor{k}", "ground", f"disc{k}", curve=ring, base=Line(), friction=0.3)
        if k:
            touch(model, f"touch{k}", f"disc{k - 1}", f"disc{k}", curve=ring, base=ring,
                  friction=0.1)
        else:
            touch(model, "wall", "ground", "disc0", curve=ring, base=Line("-90 deg"), friction=0.3)
    return model


@pytest.mark.parametrize("count", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_they_rest_side_by_side(count):
    run = in_a_corner(count).simulate("2 s")
    for k in range(count):
        assert_allclose(value(run, f"disc{k}.x"), 0.25 + 0.5 * k, atol=1e-8)
        assert_allclose([value(run, f"disc{k}.{v}") for v in ("vx", "vy", "w")], 0, atol=1e-9)
    assert run.energy().relative_residual < 1e-9


# -- a box of four corners -------------------------------------------------------------------------
A, B = 0.2, 0.1  # half sides in m
J = (A**2 + B**2) / 3  # of 1 kg


def box(friction, restitution=0.0, **start):
    """A box of 1 kg whose four corners may touch a floor."""
    model = wired("box",
                  ground=Ground(), body=Body(mass="1 kg", inertia=quantity(J, "kg*m^2"), **start))
    for k, (x, y) in enumerate([(A, B), (-A, B), (-A, -B), (A, -B)]):
        corner = Corner(x=quantity(x, "m"), y=quantity(y, "m"))
        touch(model, f"corner{k}", "ground", "body", curve=corner, base=Line(), friction=friction,
              restitution=restitution)
    return model


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_box_that_falls_on_a_corner_starts_to_turn_and_comes_to_rest_on_its_side(friction):
    """At the plastic impact on one corner its impulse is what Newton's and Coulomb's laws say."""
    phi = np.radians(30.0)
    run = box(friction, y="0.5 m", phi="30 deg").simulate("3 s", rtol=1e-8)
    # the lowest corner, as seen from the centre
    rx = -A * np.cos(phi) + B * np.sin(phi)
    ry = -A * np.sin(phi) - B * np.cos(phi)
    vn = np.sqrt(2 * G * (0.5 + ry))
    # normal impulse P, tangential Q = s friction P while it slips: P (1 + rx^2/J) + ...
    k_nn, k_nt = 1 + rx**2 / J, -rx * ry / J
    stick = np.linalg.solve([[k_nn, k_nt], [k_nt, 1 + ry**2 / J]], [vn, 0.0])
    if abs(stick[1]) <= friction * stick[0]:
        p, q = stick
    else:
        s = np.sign(stick[1]) * friction
        p = vn / (k_nn + s * k_nt)
        q = s * p
    struck = run.events[0].time
    assert struck == pytest.approx(vn / G, abs=1e-9)
    after = quantity(struck + 1e-7, "s")
    assert run["body.w"].at(after).m == pytest.approx((rx * p - ry * q) / J, abs=1e-5)
    assert run["body.y"].final.m == pytest.approx(B, abs=1e-10)
    assert run["body.phi"].final.m == pytest.approx(0.0, abs=1e-9)
    assert run.energy().relative_residual < 1e-8


def test_friction_of_corners_in_the_air_is_known_to_be_zero():
    """Nothing is left open of four frictions that nothing presses; two feet on a floor share."""
    run = box(0.5, y="0.5 m", phi="0 deg").simulate("1 s", rtol=1e-8)
    lands = np.sqrt(2 * G * (0.5 - B)) / G
    (shared,) = run.sticking().undetermined
    assert shared.start == pytest.approx(lands, abs=1e-9)
    assert set(shared.components) == {"corner2.N", "corner2.T", "corner3.N", "corner3.T"}
    assert np.all(np.abs(run["corner0.T"].m) < 1e-12)


@few(1, "friction", [
    (0.26, 0.276, 0.205), (0.182, 0.253, 0.263), (0.104, 0.151, 0.15), (0.3, 0.2, 0.25)])
def test_the_middle_one_of_three_boxes_slides_as_far_as_friction_lets_it(friction):
    """The lowest one bears nearly what its friction holds, shared by two feet as they like."""
    model, below = wired("stack", ground=Ground()), "ground"
    for i, mu in enumerate(friction):
        wire(model, **{f"box{i}": Body(
            inertia=quantity(J, "kg*m^2"), x="0 m", y=quantity((2 * i + 1) * B, "m"), phi="0 rad",
            vx="1 m/s" if i == 1 else "0 m/s")})
        for side in (-A, A):
            touch(model, f"foot{i}{'left' if side < 0 else 'right'}", below, f"box{i}", friction=mu,
                  curve=Corner(x=quantity(side, "m"), y=quantity(-B, "m")),
                  base=Line(y="0 m" if i == 0 else quantity(B, "m")))
        below = f"box{i}"
    # until the upper two move alike, then alike or each by itself
    _, lower, above = friction
    brakes = (2 * lower + above) * G, above * G
    alike = 1 / sum(brakes)
    speed = brakes[1] * alike
    way = alike - brakes[0] * alike**2 / 2
    way += speed**2 / 2 / (max(lower, 2 * lower - above) * G)
    run = model.simulate("0.4 s", rtol=1e-9)
    assert_allclose([run[f"box{i}.x"].final.m for i in range(2)], [0.0, way], rtol=0, atol=1e-9)
    assert len(run.events) <= 12


# -- Moreau-Jean on curved paths: of second order while the modes last -----------------------------
def errors(model, end, truth, steps, name):
    """Of a variable at the end, for two step sizes, and the energy that is missing."""
    runs = [model.simulate(end, method="moreau_jean", step=h) for h in steps]
    return [abs(run[name].final.m - truth) for run in runs], [
        run.energy().relative_residual for run in runs]


def fallen(seconds):
    """x of a point mass on a circle of 0.9 m, without spin: a pendulum from the horizontal."""
    return 0.9 * np.cos(solve_ivp(lambda t, y: [y[1], -G / 0.9 * np.cos(y[0])], (0, seconds),
                                  [0, 0], rtol=1e-12, atol=1e-12, method="DOP853").y[0, -1])


def test_a_disc_that_slides_round_a_bowl_without_friction_keeps_its_energy():
    model = touching(Circle("0.1 m"), Circle("1 m", inside=True),
                     Body(inertia="4 g*m^2", x="0.9 m", y="0 m"), smooth=True)  # fmt: skip
    error, missing = errors(model, "1 s", fallen(1), ("4 ms", "2 ms"), "body.x")
    assert max(error) < 1e-5
    assert missing[0] < 4e-6  # of a swing that turns 9 J over
    assert missing[1] == pytest.approx(missing[0] / 4, rel=0.2)


def test_forces_act_along_the_normals_of_the_end_where_none_along_others_are_found(monkeypatch):
    prove, calls = contact_steps.proved, []

    def fails_first(*given):
        calls.append(given)
        return prove(*given) and len(calls) % 2 == 0

    monkeypatch.setattr(contact_steps, "proved", fails_first)
    monkeypatch.setattr(compiling, "is_installed", lambda: False)
    model = touching(Circle("0.1 m"), Circle("1 m", inside=True),
                     Body(inertia="4 g*m^2", x="0.9 m", y="0 m"), smooth=True)  # fmt: skip
    error, _ = errors(model, "0.3 s", fallen(0.3), ("2 ms", "1 ms"), "body.x")
    assert error[1] < 3e-3
    assert error[1] == pytest.approx(error[0] / 2, rel=0.2)


def rolling(turn, w):
    """Angular acceleration of a disc whose centre of mass lies 0.15 m outside, about the rim."""
    r, a, m, j = 0.3, 0.15, 2.0, 0.04
    inertia = m * (r**2 + 2 * r * a * np.sin(turn) + a**2) + j
    return -(m * G * a * np.cos(turn) + m * r * a * np.cos(turn) * w**2) / inertia


def test_a_disc_with_a_weight_in_it_rolls_with_an_error_that_quarters_with_half_the_step():
    exact = solve_ivp(lambda t, y: [y[1], rolling(*y)], (0, 1), [np.pi / 2, -2], rtol=1e-12,
                      atol=1e-12, method="DOP853")  # fmt: skip
    body = Body(mass="2 kg", inertia="0.04 kg*m^2", center_x="0.15 m", x="0 m", y="0.3 m",
                phi="90 deg", vx="0.6 m/s", w="-2 rad/s")  # fmt: skip
    model = touching(Circle("0.3 m"), Line(), body, friction=2.0)
    error, missing = errors(model, "1 s", exact.y[0, -1], ("4 ms", "2 ms"), "body.phi")
    assert error[1] < 3e-5
    assert error[1] == pytest.approx(error[0] / 4, rel=0.2)
    assert max(missing) < 1e-5


def test_the_nearest_point_of_a_general_curve_is_followed_to_second_order_as_well():
    metre = quantity("1 m")
    hill = ParametricCurve(lambda s: (metre * s, 0.2 * metre * cos(np.pi * s)), -2, 2,
                           closed=False, free="left")  # fmt: skip
    body = Body(inertia="20 mg*m^2", x="50 mm", y=Target("0.22 m", priority="low"), vx="0 m/s",
                phi="0 rad", w="0 rad/s")  # fmt: skip
    model = touching(Circle("20 mm"), hill, body, smooth=True)
    model.touch.gap = "0 m"
    model.touch.xi_B = Target("0.05 rad", priority="none")
    exact = model.simulate("0.8 s", rtol=1e-10)
    # energy gives the speed at the place where the disc is
    x, y = (exact[k].final.m for k in ("body.x", "body.y"))
    speed = np.hypot(exact["body.vx"].final.m, exact["body.vy"].final.m)
    assert speed**2 / 2 == pytest.approx(G * (exact["body.y"].initial.m - y), rel=1e-8)
    run = model.simulate("0.8 s", method="moreau_jean", step="4 ms")
    assert run["body.x"].final.m == pytest.approx(x, abs=1e-4)
    assert run.energy().relative_residual < 1e-4
