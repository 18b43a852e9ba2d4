"""Coulomb friction on an oscillator: rest, reversals, forced stick-slip; exact and regularised.

Problems of D. D. Quinn, J. Vib. Acoust. 126 (2004) 391-397.
"""

import numpy as np
import pytest
from benches import wired
from benches.friction import (
    dry,
    happened,
    missing_energy,
    oscillator,
    push,
    reference,
    value,
    values,
)
from numpy.testing import assert_allclose

from blocks import cos
from library.frictionlaws import FrictionLaw, sgn
from library.translational import Mass, Reference, Rod, Spring, TranslationalFriction

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


def test_sliding_friction_equals_coulomb_friction_and_opposes_the_motion():
    run = oscillator(x0=10.3).simulate("15.5 s", rtol=1e-9)
    f, v = values(run, ["friction.f", "body.v"], np.arange(0.05, 15.5, 0.1))
    assert_allclose(f, np.sign(v), rtol=1e-14)


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
    run = regularised(Sign, end=20)
    t = np.arange(0, 20.005, 0.01)
    x, v = values(run, ["spring.x", "body.v"], t)
    assert -0.487 <= x[1000] <= -0.480
    assert np.all(v[1:] != 0)  # at every step of the method
    assert abs(x[2000]) < abs(x[1500]) < abs(x[1000]) < abs(x[400])


def test_martins_and_odens_law_creeps_back_to_the_origin():
    run = regularised("martins_oden", 0.02, end=100)
    for time, x in {4: -0.4917996903, 10: -0.4361662428, 100: -0.0720458617}.items():
        assert_allclose(value(run, "spring.x", time), x, rtol=0, atol=1e-8)
