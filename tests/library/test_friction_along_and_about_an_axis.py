"""Friction along an axis and about one: published numbers, closed forms, and what is refused."""

import numpy as np
import pytest
from benches import seconds
from benches.axis import ROTATIONAL, TRANSLATIONAL
from numpy.testing import assert_allclose

from blocks import BlocksError, ParameterError, quantity

TIGHT = {"rtol": 1e-12, "method": "DOP853"}
STEEL = {"breakaway_force": 15, "coulomb_force": 10, "breakaway_velocity": 0.01,
         "viscous_coefficient": 5}  # fmt: skip
# F at v/v_brk for STEEL, made with an independent program from the formula published for
# Simscape's friction blocks
PUBLISHED = {0.01: 1.0796118880844312, 0.1: 8.4411906790861709, 0.2: 11.266350202951062,
             0.5: 13.661570579171455, 1: 15.049999958776928, 2: 12.331301601484298,
             5: 10.250153605308833, 100: 15.0}  # fmt: skip
# load: creep in m/s, from an independent solution of the force balance
CREEP = {1: 9.25853103067586e-5, 5: 4.95940848827975e-4, 9: 1.12027954018973e-3,
         9.9: 1.3659280177359e-3}  # fmt: skip
SLOPE_AT_REST = 10829.360635350064
PEAK = (1.0050127009335089, 15.050125172614819)  # v/v_brk and N


@pytest.fixture(params=[TRANSLATIONAL, ROTATIONAL], ids=str)
def axis(request):
    return request.param


def friction(axis, **given):
    return axis("TranslationalFriction", **given)


def force(axis, v, **given):
    """Friction at given velocities, which a source runs through."""
    v = np.atleast_1d(v)
    start, unit = v.min(), axis.unit("velocity")
    run = axis.driven(friction(axis, **given), lambda t: (
        quantity(start, unit) + quantity(1, unit) * t / quantity("1 s"))).simulate(
        quantity((np.ptp(v) + 1e-12) * 1.001, "s"))
    return axis.read(run, "part.f", v - start)


def ramp(axis, slope):
    """A load that grows from nothing, by so much a second."""
    return lambda t: quantity(slope, axis.unit("force")) * t / quantity("1 s")


# -- continuous ------------------------------------------------------------------------------------
def test_friction_at_a_velocity_is_the_published_number_either_way(axis):
    model = axis.driven(friction(axis, **STEEL), 1.0)
    for ratio, known in PUBLISHED.items():
        for sign in (1, -1):
            setattr(model.source, axis.called("velocity"),
                    quantity(0.01 * sign * ratio, axis.unit("velocity")))
            run = model.simulate("1 s")
            assert_allclose(axis.read(run, "part.f"), sign * known, rtol=1e-13)
            assert_allclose(axis.read(run, "source.f"), -sign * known, rtol=1e-13)


def test_friction_at_rest_is_a_damper_of_the_published_coefficient(axis):
    v = 1e-10
    assert_allclose(force(axis, [-v, v], **STEEL) / [-v, v], SLOPE_AT_REST, rtol=1e-11)
    assert_allclose(force(axis, v, **STEEL) / v, SLOPE_AT_REST, rtol=1e-13)


@pytest.mark.parametrize(("given", "velocity", "at", "most"), [
    (STEEL, 0.01, *PEAK), ({"viscous_coefficient": 0}, 0.1, 1.00000016489, 24.999999917553991)],
    ids=["steel", "nothing viscous"])
def test_the_largest_friction_is_at_the_published_velocity(axis, given, velocity, at, most):
    u = at * (1 + 0.01 * np.linspace(-1, 1, 13))
    curve = np.polynomial.Chebyshev.fit(u, force(axis, velocity * u, **given), 12)
    (top,) = (r.real for r in curve.deriv().roots() if abs(r.imag) < 1e-9 and u[0] < r.real < u[-1])
    assert_allclose(top, at, rtol=1e-9)
    assert_allclose([curve(top), *force(axis, velocity * at, **given)], most, rtol=1e-13)


def test_friction_with_default_values_grows_all_the_way():
    assert_allclose(force(TRANSLATIONAL, [0.1, 1.0]), [34.999999917553855, 120.0], rtol=1e-13)
    assert np.all(np.diff(force(TRANSLATIONAL, np.linspace(0, 1, 400))) > 0)


@pytest.mark.parametrize("load", CREEP)
def test_a_loaded_body_and_a_loaded_massless_node_creep_at_the_published_speed(axis, load):
    run = axis.thrown(friction(axis, **STEEL), mass=0.01, velocity=0, force=load).simulate(
        "1 ms", rtol=1e-12, method="rodas4")
    assert_allclose(axis.read(run, "body.v")[-1], CREEP[load], rtol=1e-10)
    model = axis.driven(friction(axis, **STEEL), source=axis("ForceSource", force=load))
    assert_allclose(axis.read(model.simulate("1 s"), "part.v"), CREEP[load], rtol=1e-10)


# -- exact -----------------------------------------------------------------------------------------
def test_coulomb_friction_stops_a_body_evenly_and_holds_it(axis):
    part = friction(axis, law="coulomb", breakaway_force=5, coulomb_force=4, viscous_coefficient=0)
    run = axis.thrown(part, velocity=3, force=1).simulate("4 s", **TIGHT)
    assert_allclose(axis.read(run, "body.v"), np.maximum(3 - 1.5 * seconds(run), 0), atol=1e-11)
    (event,) = run.events.of("part")
    assert (event.time, event.description) == (pytest.approx(2.0, rel=1e-11), "sticks")
    assert_allclose(axis.read(run, "part.f", [3.0]), 1.0, rtol=1e-12)  # what holds the load


def test_stuck_friction_carries_the_load_breaks_away_at_its_bound_and_then_falls(axis):
    part = friction(axis, law="coulomb", breakaway_force=5, coulomb_force=4, viscous_coefficient=0)
    run = axis.thrown(part, velocity=0, force=ramp(axis, 2)).simulate("4 s", **TIGHT)
    (event,) = run.events.of("part")
    assert event.time == pytest.approx(2.5, rel=1e-11)
    assert_allclose(axis.read(run, "body.v", [1.0, 2.0, 2.4]), 0.0, atol=0)
    assert_allclose(axis.read(run, "part.f", [1.5]), 3.0, rtol=1e-12)
    # 2 dv/dt = 2 t - 4 from 2.5 s on
    assert_allclose(axis.read(run, "body.v", [4.0]), ((4 - 2) ** 2 - 0.25) / 2, rtol=1e-10)
    assert run.sticking()["part"].breakaways == 1


def test_stribeck_friction_falls_from_breakaway_to_coulomb_with_the_speed(axis):
    run = axis.thrown(friction(axis, law="stribeck", **STEEL), velocity=-3).simulate("0.1 s",
                                                                                     **TIGHT)
    v = axis.read(run, "body.v")
    exact = -(10 + 5 * np.exp(-((v / 0.01) ** 2)) + 5 * np.abs(v))
    assert_allclose(axis.read(run, "part.f"), exact, rtol=1e-12)


# -- what is refused -------------------------------------------------------------------------------
def test_a_breakaway_force_is_no_smaller_than_the_coulomb_force(axis):
    with pytest.raises(BlocksError) as error:
        axis.driven(friction(axis, breakaway_force=19, coulomb_force=20), 1).simulate("1 s")
    for word in ("part", axis.called("breakaway_force"), "19", axis.called("coulomb_force"), "20"):
        assert word in str(error.value)
    run = axis.driven(friction(axis, breakaway_force=20, viscous_coefficient=0), 9).simulate("1 s")
    assert_allclose(axis.read(run, "part.f"), 20.0, rtol=1e-13)


@pytest.mark.parametrize(("given", "said"), [
    ({"viscous_coefficient": -1}, "must be at least 0"), ({"coulomb_force": -1}, "at least 0"),
    ({"breakaway_velocity": 0}, "must be"), ({"law": "simscpae"}, "Did you mean 'simscape'"),
    ({"law": "coulom"}, "Did you mean 'coulomb'"),
    ({"law": "coulomb", "breakaway_velocity": 1}, "has no meaning with law='coulomb'")])
def test_a_wrong_law_or_a_parameter_with_which_it_could_drive_is_refused_by_name(axis, given, said):
    name = axis.called(list(given)[-1])
    with pytest.raises(BlocksError if "law" in given else ParameterError) as error:
        friction(axis, **given)
    assert said in str(error.value)
    assert f"{axis.called('TranslationalFriction')}.{name}" in str(error.value)
