"""A body that drags a spring on friction: its speed and its events in machine code."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from blocks import SimulationError, quantity
from library.translational import Mass, Reference, Spring, TranslationalFriction

TIMES = np.linspace(0, 1, 21)


def drag(viscous="0 N*s/m", law="coulomb", many=(), **curve):
    """A body of 1 kg and 1 m/s that drags a spring of 100 N/m on friction of 2 N, or ``many``."""
    return wired(
        "drag", "body.M spring.R", "spring.C friction.R", "friction.C ground.V",
        body=Mass(mass="1 kg", v="1 m/s", **dict(many)), ground=Reference(),
        spring=Spring(stiffness="100 N/m", **dict(many)), friction=TranslationalFriction(
            law=law, coulomb_force=curve.pop("coulomb", "2 N"), breakaway_force="2 N",
            viscous_coefficient=viscous, **curve, **dict(many)))


def test_a_body_that_drags_a_spring_on_friction_slides_and_then_swings_for_ever():
    run = drag().simulate("3 s", rtol=1e-9)
    w = 10.0
    slips = np.arcsin(2.0 * w / 100.0) / w
    rests = slips + np.cos(w * slips) / 2.0

    def speed(t):
        if t < slips:
            return np.cos(w * t)
        if t < rests:
            return np.cos(w * slips) - 2.0 * (t - slips)
        return -2.0 / w * np.sin(w * (t - rests))

    at = [event.time for event in run.events]
    assert_allclose(at[:2], [slips, rests], rtol=1e-7)
    # it swings up to the very strength of the friction, which the error of the run passes now and
    # then, for some microseconds
    assert all(again - lost < 1e-5 for lost, again in zip(at[2::2], at[3::2], strict=True))
    times = np.linspace(0, 3, 31)
    assert_allclose(run["body.v"].at(quantity(times, "s")).m, [speed(t) for t in times], atol=1e-7)


@pytest.mark.parametrize("method", ["auto", "ode45"])
@pytest.mark.parametrize("viscous", [0.1, 5.0])
def test_viscous_friction_behind_a_spring_yields_by_what_the_spring_has_over_its_strength(
        viscous, method):
    run = drag(quantity(viscous, "N*s/m")).simulate("1 s", rtol=1e-9, method=method)

    def slopes(t, y):
        force = 100.0 * y[1]
        slides = np.sign(force) * max(abs(force) - 2.0, 0.0) / viscous
        return [-force, y[0] - slides]

    exact = solve_ivp(slopes, (0, 1), [1.0, 0.0], method="LSODA", rtol=1e-10, atol=1e-12,
                      max_step=2e-3, t_eval=TIMES).y
    found = [run[path].at(quantity(TIMES, "s")).m for path in ("body.v", "spring.x")]
    assert_allclose(found, exact, atol=1e-6)


@pytest.mark.parametrize("count", [1, 40])
def test_friction_by_a_curve_behind_a_spring_is_followed_through_its_events(count):
    run = drag("20 N*s/m", "stribeck", {"count": count}, coulomb="1.5 N",
               breakaway_velocity="50 mm/s").simulate("1 s", rtol=1e-9)
    assert "in machine code" in run.statistics.why

    def slopes(t, y):
        drive, slides = abs(100.0 * y[1]), 0.0
        if drive > 2.0:
            slides = brentq(lambda v: 1.5 + 0.5 * np.exp(-(v / 0.05) ** 2) + 20 * v - drive, 0, 10)
        return [-100.0 * y[1], y[0] - np.sign(y[1]) * slides]

    exact = solve_ivp(slopes, (0, 1), [1.0, 0.0], rtol=1e-9, atol=1e-12, max_step=2e-3,
                      t_eval=TIMES).y
    found = [run[path].at(quantity(TIMES, "s")).m for path in (
        f"body[{count - 1}].v", f"spring[{count - 1}].x")]
    assert_allclose(found, exact, atol=1e-6)
    ends = [event.time for event in run.events]
    assert_allclose(np.abs(run["spring[0].x"].at(quantity(ends, "s")).m), 0.02, rtol=1e-7)


def test_a_curve_of_friction_that_falls_too_fast_for_a_node_without_mass_is_told():
    with pytest.raises(SimulationError, match="velocity would have to jump") as told:
        drag("3 N*s/m", "stribeck", coulomb="1.5 N", breakaway_velocity="50 mm/s").simulate("1 s")
    assert "mass, or put a damper in parallel" in told.value.advice
    highest = max(1.5 + 0.5 * np.exp(-(v / 0.05) ** 2) + 3 * v for v in np.linspace(0, 0.01, 1001))
    assert told.value.result["spring.x"].final.m == pytest.approx(highest / 100, rel=1e-5)
