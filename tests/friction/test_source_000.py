"""Exact Coulomb friction on an oscillator: rest, reversals and forced stick-slip.

Problems of D. D. Quinn, J. Vib. Acoust. 126 (2004) 391-397, with the exact law.
"""

from __future__ import annotations

import numpy as np
import pytest
from friction_bench import dry, happened, missing_energy, oscillator, push, reference, value, values
from numpy.testing import assert_allclose

from blocks import Model, cos
from library.translational import Mass, Reference, Rod, Spring

FORCED = reference()["oscillator"]


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
    model = Model("two halves")
    model.a, model.b, model.rod = Mass(mass="0.5 kg"), Mass(mass="0.5 kg"), Rod()
    model.spring, model.friction = Spring(stiffness="1 N/m", x="0.3 m"), dry(1.0)
    model.load, model.ground = push(lambda t: 0.4 * cos(2 * t)), Reference()
    model.connect(model.a.M, model.rod.R, model.spring.R, model.load.R)
    model.connect(model.rod.C, model.b.M, model.friction.R)
    model.connect(model.spring.C, model.friction.C, model.load.C, model.ground.V)
    run = model.simulate("5 s", rtol=1e-9)
    t = np.linspace(0, 5, 41)
    assert happened(run) == []
    assert_allclose(values(run, ["friction.f"], t)[0], 0.4 * np.cos(2 * t) - 0.3, atol=1e-12)
    assert_allclose(values(run, ["a.v", "b.v"], t), 0, atol=0)


def test_sliding_friction_equals_coulomb_friction_and_opposes_the_motion():
    run = oscillator(x0=10.3).simulate("15.5 s", rtol=1e-9)
    f, v = values(run, ["friction.f", "body.v"], np.arange(0.05, 15.5, 0.1))
    assert_allclose(f, np.sign(v), rtol=1e-14)
