"""What holds along an axis holds about one: a closed form for every part that both have."""

import numpy as np
import pytest
from benches import seconds, signal, wired
from benches.axis import ROTATIONAL, TRANSLATIONAL
from numpy.testing import assert_allclose

from blocks import quantity, sin
from blocks.exceptions import BlocksError, ParameterError, WrongDimension
from library.rotational import TorqueSource
from library.translational import Rod

TIGHT = {"rtol": 1e-12, "method": "DOP853"}


@pytest.fixture(params=[TRANSLATIONAL, ROTATIONAL], ids=str)
def axis(request):
    return request.param


def of_time(axis, name, numbers):
    """The function of time that is worth these numbers, in the unit of a keyword."""
    return lambda t: quantity(1.0, axis.unit(name)) * numbers(t / quantity("1 s"))


def ramp(axis, slope, start=0.0):
    return of_time(axis, "velocity", lambda t: start + slope * t)


def between(axis, part):
    """A force of 6 sin(3 t) that reaches a body of 2 kg through a part in series."""
    push = axis("ForceSource", force=of_time(axis, "force", lambda t: 6 * sin(3 * t)))
    return axis.wired("series", "push.R part.R", "part.C body.M", "push.C ground.V",
                      push=push, part=part, body=axis("Mass", mass=2))


# -- bodies and ends -------------------------------------------------------------------------------
def test_a_constant_force_accelerates_a_body_uniformly(axis):
    run = axis.wired("push", "push.R body.M", "push.C ground.V", body=axis("Mass", mass=4, v=1),
                     push=axis("ForceSource", force=10)).simulate("3 s", **TIGHT)
    assert_allclose(axis.read(run, "body.v"), 1 + 2.5 * seconds(run), rtol=1e-11)
    assert_allclose(axis.read(run, "body.f"), 10.0)
    assert_allclose(axis.read(run, "body.energy_stored", [3.0]), 4 * 8.5**2 / 2, rtol=1e-11)
    assert_allclose(axis.read(run, "ground.V.f"), -10.0)  # the source pushes itself off


def test_the_reference_takes_what_a_stretched_spring_carries(axis):
    run = axis.driven(axis("Spring", stiffness=2e3, x=5e-3), 0).simulate("1 s")
    assert_allclose(axis.read(run, "part.f"), 10.0)
    # the spring pulls the reference along with R, the source carries the force back
    assert_allclose(axis.read(run, "part.C.f"), -10.0)
    assert_allclose(axis.read(run, "source.C.f"), 10.0)
    assert_allclose(axis.read(run, "ground.V.f"), 0.0, atol=1e-12)


def test_a_free_end_takes_no_force_and_moves_with_what_it_hangs_on(axis):
    model = axis.wired("free", "source.R spring.R", "source.C ground.V", "spring.C end.V",
                       source=axis("VelocitySource", velocity=0.3), spring=axis("Spring", x=0),
                       end=axis("FreeEnd"))
    run = model.simulate("1 s")
    assert_allclose(axis.read(run, "spring.f"), 0.0, atol=1e-12)
    assert_allclose(axis.read(run, "end.V.f"), 0.0, atol=0)
    assert_allclose(axis.read(run, "end.v"), 0.3)


# -- springs ---------------------------------------------------------------------------------------
def test_a_spring_force_grows_with_deformation_from_its_preload(axis):
    spring = axis("Spring", stiffness=3e3, preload=4, x=-1e-3)
    run = axis.driven(spring, 2e-3).simulate("3 s", **TIGHT)
    x = -1e-3 + 2e-3 * seconds(run)
    assert_allclose(axis.read(run, "part.x"), x, atol=1e-15)
    assert_allclose(axis.read(run, "part.f"), 4 + 3e3 * x, rtol=1e-11)
    assert_allclose(axis.read(run, "part.energy_stored"), 4 * x + 3e3 * x**2 / 2, atol=1e-13)


def test_a_table_spring_follows_its_table_and_continues_its_ends(axis):
    spring = axis("Spring", law="table", deformations=[-1, 0, 1, 2], forces=[-2, 0, 2, 8], x=-3)
    run = axis.driven(spring, 1).simulate("6 s", **TIGHT)
    at = np.array([0.0, 1.0, 2.5, 3.0, 3.25, 4.5, 5.0, 6.0])
    assert_allclose(axis.read(run, "part.f", at), [-6, -4, -1, 0, 0.5, 5, 8, 14], atol=1e-9)
    area = [9, 4, 0.25, 0, 0.0625, 1 + (2 + 5) / 4, 1 + 5, 1 + 5 + 11]  # under the table from 0
    assert_allclose(axis.read(run, "part.energy_stored", at), area, atol=1e-9)


@pytest.mark.parametrize(("places", "forces", "text"), [
    ([0, 2, 1], [0, 1, 2], "strictly increasing"), ([0, 1, 1], [0, 1, 2], "strictly increasing"),
    ([0, 1, 2], [0, 1], "as many")])
def test_a_table_that_is_no_function_is_refused_by_name(axis, places, forces, text):
    spring = axis("Spring", law="table", deformations=places, forces=forces)
    with pytest.raises(BlocksError, match=f"part.*deformations.*{text}"):
        axis.driven(spring, 1).simulate("1 s")


# -- dampers and inerters --------------------------------------------------------------------------
def test_a_damper_carries_its_coefficient_times_velocity(axis):
    run = axis.driven(axis("Damper", damping=30), ramp(axis, 1)).simulate("2 s")
    v = seconds(run)
    assert_allclose(axis.read(run, "part.f"), 30 * v, rtol=1e-14)
    assert_allclose(axis.read(run, "part.power_dissipated"), 30 * v**2, rtol=1e-14)


DAMPERS = {
    "two ways": ({"damping_forward": 10, "damping_backward": 40},
                 lambda v: np.where(v > 0, 10 * v, 40 * v)),
    "table": ({"law": "table", "velocities": [-1, 0, 0.5, 1], "forces": [-100, 0, 20, 30]},
              lambda v: np.interp(v, [-2, -1, 0, 0.5, 2], [-200, -100, 0, 20, 50])),
    "polynomial": ({"law": "polynomial", "coefficients": [2, 0.5, 3]},
                   lambda v: v * (2 + 0.5 * np.abs(v) + 3 * v**2))}  # fmt: skip


@pytest.mark.parametrize(("axis", "law"), [
    (TRANSLATIONAL, "two ways"), (TRANSLATIONAL, "table"), *((ROTATIONAL, law) for law in DAMPERS)],
    indirect=["axis"], ids=str)
def test_a_nonlinear_damper_follows_its_law(axis, law):
    """The table beyond its ends, too; the polynomial, about an axis alone, alike both ways."""
    given, force = DAMPERS[law]
    run = axis.driven(axis("NonlinearDamper", **given), ramp(axis, 1, -2)).simulate("4 s")
    v = seconds(run) - 2
    assert_allclose(axis.read(run, "part.v"), v, atol=1e-13)
    assert_allclose(axis.read(run, "part.f"), force(v), atol=1e-12)
    assert_allclose(axis.read(run, "part.power_dissipated"), force(v) * v, atol=1e-12)


def test_drag_slows_a_body_hyperbolically(axis):
    drag = axis("QuadraticSpeedDependentForce", nominal_force=8, nominal_velocity=2)
    run = axis.thrown(drag, velocity=5).simulate("4 s", **TIGHT)
    assert_allclose(axis.read(run, "body.v"), 5 / (1 + 5 * seconds(run)), rtol=1e-10)  # v' = -v²


def test_drag_against_the_motion_backwards_has_the_opposite_force(axis):
    drag = axis("QuadraticSpeedDependentForce", nominal_force=8, nominal_velocity=2)
    run = axis.driven(drag, -3).simulate("1 s")
    assert_allclose(axis.read(run, "part.f"), -18.0)
    assert_allclose(axis.read(run, "part.power_dissipated"), 54.0)


def test_a_spring_damper_adds_spring_damper_and_preload(axis):
    part = axis("SpringDamper", stiffness=500, damping=20, preload=3, x=0.02)
    run = axis.driven(part, ramp(axis, 0.5)).simulate("2 s", **TIGHT)
    t = seconds(run)
    exact = 3 + 500 * (0.02 + 0.25 * t**2) + 20 * 0.5 * t
    assert_allclose(axis.read(run, "part.f"), exact, rtol=1e-11)


def test_an_inerter_resists_relative_acceleration(axis):
    source = axis("AccelerationSource", acceleration=2)
    run = axis.driven(axis("Inerter", inertance=3), source=source).simulate("1 s", **TIGHT)
    assert_allclose(axis.read(run, "part.f"), 6.0, rtol=1e-12)
    assert_allclose(axis.read(run, "part.energy_stored", [1.0]), 3 * 2**2 / 2, rtol=1e-11)


def test_an_inerter_between_two_bodies_adds_to_their_mass_matrix(axis):
    model = axis.wired("pair", "a.M inerter.R push.R", "b.M inerter.C", "push.C ground.V",
                       a=axis("Mass", mass=1), b=axis("Mass", mass=2),
                       inerter=axis("Inerter", inertance=3), push=axis("ForceSource", force=11))
    run = model.simulate("1 s", **TIGHT)
    exact = np.linalg.solve([[1 + 3, -3], [-3, 2 + 3]], [11, 0])
    assert_allclose(axis.read(run, "a.v", [1.0]), exact[0], rtol=1e-11)
    assert_allclose(axis.read(run, "b.v", [1.0]), exact[1], rtol=1e-11)


def test_a_rod_moves_both_ends_alike_and_shows_the_force_between_them():
    axis = TRANSLATIONAL
    run = between(axis, Rod()).simulate("2 s", **TIGHT)
    assert_allclose(axis.read(run, "body.v"), 1 - np.cos(3 * seconds(run)), atol=1e-10)
    assert_allclose(axis.read(run, "part.f"), 6 * np.sin(3 * seconds(run)), atol=1e-10)


@pytest.mark.parametrize("part", ["Spring", "Damper", "NonlinearDamper", "SpringDamper", "Inerter"])
def test_a_passive_part_brakes_the_body_at_r_and_drags_the_one_at_c(axis, part):
    run = axis.driven(axis(part), source=axis("AccelerationSource", acceleration=1)).simulate("1 s")
    f = axis.read(run, "part.f")[1:]
    assert np.all(f > 0)
    assert_allclose(axis.read(run, "part.R.f")[1:], f)  # into the part at R
    assert_allclose(axis.read(run, "part.C.f")[1:], -f)


# -- sources ---------------------------------------------------------------------------------------
def test_a_positive_force_pushes_the_body_at_r_forward_and_the_one_at_c_back(axis):
    model = wired("between", front=axis("Mass", mass=1), rear=axis("Mass", mass=4),
                  push=axis("ForceSource", force=2))
    axis.wire(model, "push.R front.M", "push.C rear.M")
    run = model.simulate("1 s", **TIGHT)
    assert_allclose(axis.read(run, "front.v", [1.0]), 2.0, rtol=1e-10)
    assert_allclose(axis.read(run, "rear.v", [1.0]), -0.5, rtol=1e-10)
    assert_allclose(axis.read(run, "push.f"), -2.0)
    assert_allclose(axis.read(run, "push.power_supplied", [1.0]), 2 * 2.5, rtol=1e-10)


def test_a_positive_velocity_moves_r_ahead_of_c(axis):
    run = axis.driven(axis("Damper", damping=10), 0.5).simulate("1 s")
    assert_allclose(axis.read(run, "part.v"), 0.5)
    assert_allclose(axis.read(run, "source.R.v"), 0.5)
    assert_allclose(axis.read(run, "source.f"), -5.0)  # pushes R, so C → R is carried
    assert_allclose(axis.read(run, "source.power_supplied"), 2.5)


def test_a_prescribed_position_is_followed_with_its_derivatives(axis):
    source = axis("PositionSource", position=of_time(axis, "position", lambda t: 0.02 * sin(3 * t)))
    model = axis.driven(axis("Spring", stiffness=1e3, x=0), source=source)
    axis.wire(model, "source.R load.M", load=axis("Mass", mass=5))
    run = model.simulate("2 s", **TIGHT)
    t = seconds(run)
    assert_allclose(axis.read(run, "source.x"), 0.02 * np.sin(3 * t), atol=1e-15)
    assert_allclose(axis.read(run, "load.v"), 0.06 * np.cos(3 * t), atol=1e-14)
    assert_allclose(axis.read(run, "load.f"), -5 * 0.18 * np.sin(3 * t), atol=1e-12)
    assert_allclose(axis.read(run, "part.f"), 20 * np.sin(3 * t), atol=1e-8)


def test_a_prescribed_acceleration_is_integrated_twice(axis):
    source = axis("AccelerationSource", v=1, x=2,
                  acceleration=of_time(axis, "acceleration", lambda t: 6 * t))
    run = axis.driven(axis("Damper", damping=4), source=source).simulate("2 s", **TIGHT)
    t = seconds(run)
    assert_allclose(axis.read(run, "source.v"), 1 + 3 * t**2, rtol=1e-11)
    assert_allclose(axis.read(run, "source.x"), 2 + t + t**3, rtol=1e-11)
    assert_allclose(axis.read(run, "part.f"), 4 * (1 + 3 * t**2), rtol=1e-11)


@pytest.mark.parametrize(("source", "keyword", "path"), [
    ("ForceSource", "force", "f"), ("VelocitySource", "velocity", "v"),
    ("PositionSource", "position", "x"), ("AccelerationSource", "acceleration", "S")])
def test_a_connected_signal_takes_the_place_of_the_parameter(axis, source, keyword, path):
    unit, sign = axis.unit(keyword), -1 if path == "f" else 1
    model = axis.driven(axis("Damper"), source=axis(source, **{keyword: 3}))
    found = f"source.{axis.called(path)}"
    assert_allclose(model.simulate("1 s")[found].to(unit).m, 3.0 * sign)
    model.wave = signal(unit, of_time(axis, keyword, lambda t: 2 * sin(3 * t)))
    model.connect(model.wave.y, model.source.S)
    run = model.simulate("1 s")
    assert_allclose(run[found].to(unit).m, sign * 2 * np.sin(3 * seconds(run)), atol=1e-12)


# -- sensors ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("sensor", ["ForceSensor", "PowerSensor", "MultiSensor"])
def test_a_series_sensor_is_rigid_and_reads_positive_from_r_to_c(axis, sensor):
    run = between(axis, axis(sensor)).simulate("2 s", **TIGHT)
    t = seconds(run)
    force, velocity = 6 * np.sin(3 * t), 1 - np.cos(3 * t)
    read = {"F": force, "V": velocity, "P": force * velocity}
    outputs = {"ForceSensor": "F", "PowerSensor": "P", "MultiSensor": "FVP"}[sensor]
    for name in outputs:
        assert_allclose(axis.read(run, f"part.{name}"), read[name], atol=1e-9)
    assert_allclose(axis.read(run, "body.v"), velocity, atol=1e-10)


# -- what is refused -------------------------------------------------------------------------------
@pytest.mark.parametrize(("part", "name", "value"), [
    ("Mass", "mass", 0), ("Spring", "stiffness", -1), ("Damper", "damping", -1),
    ("Inerter", "inertance", 0)])
def test_values_that_no_part_can_have_are_refused_by_name(axis, part, name, value):
    with pytest.raises(ParameterError, match=axis.called(name)):
        axis(part, **{name: value})


def test_a_stiffness_given_to_a_damper_is_answered_with_the_right_part(axis):
    with pytest.raises(WrongDimension, match="Spring"):
        axis("Damper", damping=quantity(100, axis.unit("stiffness")))
    with pytest.raises(WrongDimension, match="Damper"):
        axis("Spring", stiffness=quantity(100, axis.unit("damping")))


def test_a_force_given_as_a_torque_is_refused():
    with pytest.raises(WrongDimension, match="torque"):
        TorqueSource(torque="10 N")
