"""Do efforts that are solved for at every point come out as step by step, and as by hand?

The matrix of the rates moves with the states (arms of a rolling disc, a rod, a rocking box),
and friction is loaded by normal forces."""


import numpy as np
import pytest
from benches import wired
from benches.rigid_bodies import sliding_disc
from numpy.testing import assert_allclose

import library.electrical as electrical
import library.translational as tr
from benchmarks.cases.planar import disc
from blocks import quantity
from blocks.nonsmooth.complementarity import solve
from library.signal import Constant


def test_closed_contacts_do_not_drift_apart_in_machine_code():
    pytest.importorskip("llvmlite")
    run = disc().simulate("16 s", method="dopri5", rtol=1e-9)
    assert run.statistics["steps"] > 1000
    t = quantity(np.linspace(0, 16, 2000), "s")
    x, y = (run[f"disc.{path}"].at(t).m for path in ("x", "y"))
    assert np.abs(np.hypot(x, y) - 0.75).max() < 0.25e-9


# -- the mode that machine code predicts ------------------------------------------------------
@pytest.mark.parametrize(("static", "mode"), [(0.0, "slides backward"), (0.6, "sticks")])
def test_friction_that_is_stronger_at_rest_is_asked_with_its_strength_at_rest(static, mode):
    """Rolling on a slope of 45 deg takes tan(45 deg)/3 = 0.33 of the normal force."""
    run = sliding_disc(static, 0.3, np.pi / 4).simulate("0.6 s", rtol=1e-10)
    # slip 2 - (g sin + mu g cos) t and spin mu g cos m r^2/J t meet at
    slower = 9.81 * np.sqrt(0.5) * (1 + 0.3 + 0.3 * 0.01 / 0.005)
    assert_allclose(run.events[0].time, 2 / slower, rtol=1e-9)
    assert [e.description for e in run.events] == [mode]


# -- what is decided at events ----------------------------------------------------------------
def loaded_block(force, mass=2.0, **friction):
    """A block on a rough floor with a force on it."""
    return wired("block", "block.M friction.R push.R", "friction.C push.C floor.V",
                 block=tr.Mass(mass=quantity(mass, "kg")), floor=tr.Reference(),
                 friction=tr.TranslationalFriction(law="coulomb", **friction),
                 push=tr.ForceSource(force=force))


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


def test_a_load_exactly_at_the_bound_of_one_element_is_for_the_next_instant_to_decide():
    assert solve([[2.0]], [6.0], -3.0, 3.0).grazing
    assert solve([[2.0]], [6.0 * (1 + 1e-12)], -3.0, 3.0).state == 0
    assert solve([[2.0]], [6.0 * (1 + 1e-8)], -3.0, 3.0).state == 1
    assert solve([[2.0]], [6.0 * (1 + 1e-8)], -3.0, 3.0, noise=1e-6).state == 0  # of the caller


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


# -- across one node --------------------------------------------------------------------------
def test_a_closed_switch_across_one_node_carries_nothing():
    model = wired("shorted", "on.y closed.G across.G", "source.p load.p", "load.n closed.D",
                  "closed.S across.D across.S source.n ground.V",
                  ground=electrical.ElectricalReference(),
                  source=electrical.DCVoltageSource(voltage="2 V"),
                  load=electrical.Resistor(resistance="4 ohm"), on=Constant(value=quantity(1, "")),
                  closed=electrical.MOSFET(on_resistance="0 ohm"),
                  across=electrical.MOSFET(on_resistance="0 ohm"))
    result = model.simulate("10 ms")
    times = np.linspace(0, 0.01, 5)
    np.testing.assert_array_equal(result["across.i"].at(quantity(times, "s")).magnitude, 0.0)
    np.testing.assert_allclose(result["closed.i"].at(quantity(times, "s")).to("A").magnitude, 0.5)
