"""Friction and energy along an axis and about one: published numbers, closed forms, refusals."""

import numpy as np
import pytest
from benches import seconds, signal, wired
from benches.axis import ROTATIONAL, TRANSLATIONAL
from numpy.testing import assert_allclose

import library.translational as tr
from blocks import BlocksError, ParameterError, cos, quantity, sin
from library.mechanisms import DiscClutch, OneWayClutch, TorqueLimiter
from library.rotational import BearingFriction, ElastoBacklash, RotationalFriction

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


# -- the work done on every component is accounted for, to 1e-9 ------------------------------------
AXES = {str(axis): axis for axis in (TRANSLATIONAL, ROTATIONAL)}
STOP = {"upper_bound": 0.01, "lower_bound": -0.01, "upper_stiffness": 20e3, "lower_stiffness": 20e3}
DAMPED = {**STOP, "upper_damping": 20, "lower_damping": 5}
BOTH = {
    "spring": ("Spring", {"stiffness": 300, "preload": 5}),
    "table spring": ("Spring", {"law": "table", "deformations": [-0.05, 0, 0.02, 0.09],
                                "forces": [-10, 0, 3, 40]}),
    "damper": ("Damper", {"damping": 2}),
    "asymmetric damper": ("NonlinearDamper", {"damping_forward": 1, "damping_backward": 5}),
    "table damper": ("NonlinearDamper", {"law": "table", "velocities": [-1, 0, 0.3, 1],
                                         "forces": [-4, 0, 1, 2]}),
    "spring damper": ("SpringDamper", {"stiffness": 200, "damping": 3, "preload": -4}),
    "drag": ("QuadraticSpeedDependentForce", {"nominal_velocity": 1}),
    "inerter": ("Inerter", {"inertance": 3}),
    "full stop": ("HardStop", {"model": "full", **DAMPED}),
    "stop with undamped rebound": ("HardStop", {"model": "undamped rebound", **DAMPED}),
    "smooth stop": ("HardStop", {"transition": 0.002, **DAMPED}),
    "force sensor": ("ForceSensor", {}), "power sensor": ("PowerSensor", {}),
    "multi sensor": ("MultiSensor", {}), "motion sensor": ("MotionSensor", {
        "acceleration_port": True})}
ALONG = {
    "rod": tr.Rod(),
    "friction": tr.TranslationalFriction(breakaway_velocity="5 cm/s",
                                         viscous_coefficient="1 N*s/m"),
    "rolling": tr.RollingResistance(threshold_velocity="5 cm/s"),
    "gap": tr.ElastoGap(stiffness="2 kN/m", damping="20 N*s/m", free_length="-5 mm"),
    "support": tr.PositionDependentSupport(positions=quantity([-4, 0, 4], "cm"),
                                           forces=quantity([-9, 0, 5], "N"),
                                           dampings=quantity([1, 4, 2], "N*s/m"))}
ABOUT = {
    "continuous friction": RotationalFriction(breakaway_velocity="0.05 rad/s"),
    "coulomb friction": RotationalFriction(law="coulomb", breakaway_torque="2 N*m",
                                           coulomb_torque="1.5 N*m"),
    "stribeck friction": RotationalFriction(law="stribeck", breakaway_torque="2 N*m",
                                            coulomb_torque="1.5 N*m"),
    "bearing": BearingFriction(speeds=["0 rad/s", "1 rad/s"], torques=["1 N*m", "0.5 N*m"]),
    "backlash": ElastoBacklash(stiffness="2 kN*m/rad", damping="20 N*m*s/rad", backlash="10 mrad"),
    "clutch": DiscClutch(normal_force="3 N", static_coefficient=0.5),
    "torque limiter": TorqueLimiter(limit="2 N*m", slip_torque="1 N*m"),
    "one-way clutch": OneWayClutch(drag_torque="0.3 N*m")}
PARTS = [*((axis, name) for axis in AXES for name in BOTH), *(("translational", n) for n in ALONG),
         *(("rotational", n) for n in ABOUT)]


@pytest.mark.parametrize(("axis", "name"), PARTS)
def test_energy_of_a_part_between_two_moving_bodies_adds_up(axis, name):
    axis, kind = AXES[axis], BOTH.get(name)
    part = axis(kind[0], **kind[1]) if kind else (ALONG | ABOUT)[name]
    rigid = name in ("rod", "force sensor", "power sensor", "multi sensor")
    force = quantity(6.0, axis.unit("force"))
    model = axis.wired(
        "swinging", "push.R near.M part.R", "part.C far.M holder.R", "holder.C push.C ground.V",
        near=axis("Mass", mass=2, v=0.7), far=axis("Mass", mass=3, v=0.7 if rigid else -0.2),
        part=part, holder=axis("SpringDamper", stiffness=150, damping=2),
        push=axis("ForceSource", force=lambda t: force * cos(quantity("9 rad/s") * t)))
    energy = model.simulate("1.3 s", rtol=1e-12, method="DOP853").energy()
    del model.part
    assert energy.throughput.to("J").magnitude > 0.1
    assert energy.relative_residual < 1e-9, energy


@pytest.mark.parametrize("axis", AXES.values(), ids=str)
@pytest.mark.parametrize(("source", "keyword", "size"), [
    ("VelocitySource", "velocity", 0.3), ("PositionSource", "position", 0.2),
    ("AccelerationSource", "acceleration", 1), ("ForceSource", "force", 3)])
def test_energy_of_a_source_adds_up(axis, source, keyword, size):
    wave = sin if keyword == "position" else cos
    given = quantity(size, axis.unit(keyword))
    energy = loaded(axis, axis(source, **{
        keyword: lambda t: given * wave(quantity("2 rad/s") * t)}))
    assert energy["source"].supplied != 0
    assert energy.relative_residual < 1e-9, energy


def test_energy_of_a_force_that_jumps_adds_up():
    force = tr.table(["0 s", "0.4 s", "0.4 s", "2 s"], ["0 N", "9 N", "-3 N", "1 N"])
    assert loaded(TRANSLATIONAL, tr.ForceSource(force=force)).relative_residual < 1e-9


def loaded(axis, source):
    """The energies of a source that moves a body and a spring with a damper."""
    model = axis.driven(axis("SpringDamper", stiffness=50, damping=4), source=source)
    axis.wire(model, "source.R load.M", load=axis("Mass", mass=1.5))
    return model.simulate("2 s", rtol=1e-12, method="DOP853").energy()


def test_energy_of_a_vehicle_on_a_windy_hill_adds_up():
    model = wired(
        "hill", "engine.R car.H end.V", "engine.C ground.V", "road.y car.beta",
        car=tr.VehicleBody(v="20 m/s", headwind="7 m/s", threshold_velocity="1 m/s"),
        road=signal("rad", lambda t: quantity("0.05 rad") * sin(quantity("0.5 rad/s") * t)),
        engine=tr.ForceSource(force="700 N"), end=tr.FreeEnd(), ground=TRANSLATIONAL("Reference"))
    energy = model.simulate("20 s", rtol=1e-12, method="DOP853").energy()
    assert energy.relative_residual < 1e-9, energy
    assert np.isclose(energy["car"].stored + energy["car"].dissipated - energy["car"].supplied,
                      energy["engine"].supplied, rtol=1e-9)  # fmt: skip
