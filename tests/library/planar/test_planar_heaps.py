"""Many discs by time stepping: heaps at rest, cradles, drops, against balances and closed forms."""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from benchmarks.planar import SIDES, poured
from blocks import Model, quantity
from library.planar import Body, Circle, Contact, Ground, Line

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
    deepest = min(heap[f"{side}.gap"].magnitude.min() for side in SIDES)
    assert deepest > -0.5 * STEP * 2 * fastest


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
    model = Model("column")
    y = drop + R * (2 * np.arange(count) + 1)
    wire(model, "ground.P floor.B", "discs[0].P floor.F",
         ground=Ground(),
         discs=Body(count=count, inertia="5 g*m^2", x="0 m", y=quantity(y, "m"), phi="0 rad",
                    vx="0 m/s", vy="0 m/s", w="0 rad/s"),
         floor=Contact(curve=Circle("0.1 m"), base=Line(), restitution=restitution))
    if count > 1:
        model.pairs = Contact(count=count - 1, curve=Circle("0.1 m"), base=Circle("0.1 m"))
        model.connect(model.pairs.B, model.discs[np.arange(count - 1)].P)
        model.connect(model.pairs.F, model.discs[np.arange(1, count)].P)
    return model


def test_three_discs_in_a_stack_carry_what_is_above_them():
    run = stepped(column(3), 0.2)
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
    later = 0.45
    speed = restitution * np.sqrt(2 * G * drop)
    expected = speed - G * (later - fall) if restitution else 0.0
    assert_allclose(run["discs[0].vy"].at(quantity(later, "s")).m, expected, atol=2 * G * step)


def test_the_impulse_in_newtons_cradle_goes_through_to_the_last_disc():
    count, step = 5, 1e-3
    model = wired("cradle", ground=Ground())
    x = 2 * R * np.arange(count) * 1.02  # a gap between them: one impact after the other
    model.discs = Body(count=count, inertia="5 g*m^2", x=quantity(x, "m"), y="0.1 m",
                       phi="0 rad", vx=quantity([1.0] + [0.0] * (count - 1), "m/s"), vy="0 m/s",
                       w="0 rad/s")  # fmt: skip
    model.pairs = Contact(count=count - 1, curve=Circle("0.1 m"), base=Circle("0.1 m"),
                          smooth=True, restitution=1.0)  # fmt: skip
    model.floor = Contact(count=count, curve=Circle("0.1 m"), base=Line(), smooth=True)
    model.connect(model.pairs.B, model.discs[np.arange(count - 1)].P)
    model.connect(model.pairs.F, model.discs[np.arange(1, count)].P)
    wire(model, "ground.P floor.B", "floor.F discs.P")
    run = stepped(model, 0.1, step)
    assert_allclose(run["discs.vx"].final.to("m/s").m, [0, 0, 0, 0, 1], atol=1e-9)
    assert_allclose(run["discs.vx"].at("0.05 s").to("m/s").m.sum(), 1.0, rtol=1e-12)


def test_a_disc_thrown_along_the_floor_ends_rolling_with_a_speed_of_its_inertia_only():
    model = column(1)
    model.discs.vx = "1 m/s"
    run = stepped(model, 0.6)
    # angular momentum about the floor: m R v0 == m R v + J v / R
    rolls = 1 / (1 + 5e-3 / R**2)
    assert_allclose(run["discs[0].vx"].final.m, rolls, rtol=1e-9)
    assert_allclose(run["discs[0].w"].final.m, -rolls / R, rtol=1e-9)
    slid = (1 - rolls) / (0.3 * G)  # how long friction brakes
    way = slid * (1 + rolls) / 2 + rolls * (0.6 - slid)
    assert_allclose(run["discs[0].x"].final.m, way, atol=STEP * (1 - rolls))
