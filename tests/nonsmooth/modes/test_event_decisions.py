"""What follows at the end of a mode: closed forms, and the short way against the general one."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import Model, quantity, sin
from blocks.nonsmooth.complementarity import Status, solve
from library.translational import (
    ForceSource,
    Mass,
    Reference,
    Spring,
    TranslationalFriction,
    VelocitySource,
)


def loaded_block(force, mass=2.0, **friction):
    """A block on a rough floor with a force on it."""
    return wired("block", "block.M friction.R push.R", "friction.C push.C floor.V",
                 block=Mass(mass=quantity(mass, "kg")), floor=Reference(),
                 friction=TranslationalFriction(law="coulomb", **friction),
                 push=ForceSource(force=force))


def test_a_block_breaks_away_at_the_static_and_slides_with_the_kinetic_force():
    # F = 10 N/s t: away at 8 N with 5 N left, v = (10 t^2/2 - 5 t)/2 from there
    model = loaded_block(lambda t: quantity("10 N/s") * t, breakaway_force="8 N",
                         coulomb_force="5 N")  # fmt: skip
    run = model.simulate("2 s", rtol=1e-9)
    assert [e.description for e in run.events] == ["slides forward"]
    assert_allclose(run.events[0].time, 0.8, rtol=0, atol=1e-14)
    speed = ((5 * 4 - 5 * 2) - (5 * 0.64 - 5 * 0.8)) / 2
    assert_allclose(run["block.v"].final.magnitude, speed, rtol=1e-12)


@pytest.mark.parametrize(("load", "then"), [(-4.9, "sticks"), (-5.0, "sticks"),
                                           (-5.1, "slides backward")])
def test_a_block_that_stops_under_a_load_sticks_up_to_the_static_force_and_turns_above(load, then):
    model = loaded_block(quantity(load, "N"), breakaway_force="5 N", coulomb_force="3 N")
    model.block.v = "4 m/s"
    run = model.simulate("2 s", rtol=1e-9)
    assert [e.description for e in run.events] == [then]
    stop = 4 * 2 / (3 - load)
    assert_allclose(run.events[0].time, stop, rtol=0, atol=1e-14)
    back = 0.0 if then == "sticks" else (load + 3) / 2 * (2 - stop)
    assert_allclose(run["block.v"].final.magnitude, back, rtol=1e-12, atol=0)


def dragged_chain(n, seed):
    """Blocks on rough floors between springs, one end driven to and fro."""
    random = np.random.default_rng(seed)
    model = Model("chain")
    model.floor = Reference()
    model.drive = VelocitySource(
        velocity=lambda t: quantity("0.3 m/s") * sin(quantity("4 rad/s") * t))
    model.blocks = Mass(count=n, mass=quantity(random.uniform(0.5, 2, n), "kg"))
    model.springs = Spring(count=n, stiffness=quantity(random.uniform(50, 200, n), "N/m"))
    kinetic = random.uniform(1, 3, n)
    model.frictions = TranslationalFriction(
        count=n, law="coulomb", coulomb_force=quantity(kinetic, "N"),
        breakaway_force=quantity(kinetic * random.uniform(1, 1.6, n), "N"))
    model.connect(model.drive.C, model.frictions.C, model.floor.V)
    model.connect(model.blocks.M, model.frictions.R, model.springs.R)
    model.connect(model.springs[0].C, model.drive.R)
    if n > 1:
        model.connect(model.springs[1:].C, model.blocks[:-1].M)
    return model


@pytest.mark.parametrize(("n", "seed"), [(1, 1), (1, 2), (2, 3), (3, 4), (5, 5)])
def test_machine_code_decides_on_elements_that_nobody_feels_as_the_joint_problem(n, seed):
    short = dragged_chain(n, seed).simulate("3 s", rtol=1e-8)
    general = dragged_chain(n, seed).simulate("3 s", rtol=1e-8, method="DOP853")
    assert len(short.events) >= 6
    assert [(e.component, e.description) for e in short.events] == [
        (e.component, e.description) for e in general.events]
    assert_allclose([e.time for e in short.events], [e.time for e in general.events], rtol=0,
                    atol=1e-6)  # fmt: skip
    assert_allclose(short["blocks.v"].final.magnitude, general["blocks.v"].final.magnitude,
                    rtol=0, atol=1e-6)  # fmt: skip


def test_what_sticks_is_at_rest_exactly():
    run = dragged_chain(1, 1).simulate("3 s", rtol=1e-8)
    stuck = [e.time for e in run.events if e.description == "sticks"]
    assert len(stuck) >= 3
    for t in stuck:
        assert run["blocks[0].v"].at(quantity(t, "s")).magnitude == 0.0


@pytest.mark.parametrize("load", [-3.0, -2.0, -1.0, 0.3, 1.0, 2.0, 7.0])
@pytest.mark.parametrize("bounds", [(-1.0, 2.0), (0.0, np.inf), (-np.inf, 1.5)])
def test_one_element_obeys_its_law(load, bounds):
    d, (low, high) = 0.5, bounds
    found = solve([[d]], [load], low, high)
    effort, rate, state = (a.item() for a in (found.effort, found.rate, found.state))
    assert low <= effort <= high
    assert_allclose(rate, load - d * effort, atol=1e-15)
    assert (state > 0) == (rate > 0) == (effort == high and load > d * high)
    assert (state < 0) == (rate < 0) == (effort == low and load < d * low)
    assert found.grazing.item() == (load in (d * low, d * high))


def test_a_load_exactly_at_the_bound_of_one_element_is_for_the_next_instant_to_decide():
    assert solve([[2.0]], [6.0], -3.0, 3.0).grazing
    assert solve([[2.0]], [6.0 * (1 + 1e-12)], -3.0, 3.0).state == 0
    assert solve([[2.0]], [6.0 * (1 + 1e-8)], -3.0, 3.0).state == 1
    assert solve([[2.0]], [6.0 * (1 + 1e-8)], -3.0, 3.0, noise=1e-6).state == 0  # of the caller


def test_efforts_that_hold_everything_are_the_solution_of_the_box():
    random = np.random.default_rng(7)
    for n in (2, 3, 6):
        root = random.normal(size=(n, n))
        d = root @ root.T + 0.1 * np.eye(n)
        effort = random.uniform(-1, 1, n)
        found = solve(d, d @ effort, -np.ones(n), np.ones(n))
        assert_allclose(found.effort, effort, atol=1e-12)
        assert found.status is Status.SOLVED
        assert not found.state.any()
        assert not found.rate.any()
        wide = solve(d, d @ effort, -0.5 * np.ones(n), 0.5 * np.ones(n))
        assert (np.abs(wide.effort) <= 0.5).all()
        assert_allclose(wide.rate[np.abs(wide.effort) < 0.5], 0.0)
        assert (np.sign(wide.rate) * np.sign(wide.effort) >= 0).all()


def test_what_is_known_of_a_run_counts_for_equal_parameters_only():
    # held by a friction that is as large as the load, whatever the mass
    model = loaded_block(lambda t: quantity("10 N/s") * t, coulomb_force="3 N")
    for mass in (2.0, 4.0, 2.0, 1.0):
        model.block.mass = quantity(mass, "kg")
        for force in (3.0, 6.0):
            model.friction.breakaway_force = model.friction.coulomb_force = quantity(force, "N")
            run = model.simulate("1 s", rtol=1e-9)
            assert [e.description for e in run.events] == ["slides forward"]
            assert_allclose(run.events[0].time, force / 10, rtol=1e-13)
            assert_allclose(run["friction.f"].at("0.2 s").magnitude, 2.0, rtol=1e-13)
            assert_allclose(run["block.v"].final.magnitude, 5 * (1 - force / 10) ** 2 / mass,
                            rtol=1e-12)  # fmt: skip
