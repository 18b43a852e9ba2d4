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


def test_a_free_end_takes_no_force_and_moves_with_what_it_hangs_on(axis):
    model = axis.wired("free", "source.R spring.R", "source.C ground.V", "spring.C end.V",
                       source=axis("VelocitySource", velocity=0.3), spring=axis("Spring", x=0),
                       end=axis("FreeEnd"))
    run = model.simulate("1 s")
    assert_allclose(axis.read(run, "spring.f"), 0.0, atol=1e-12)
    assert_allclose(axis.read(run, "end.V.f"), 0.0, atol=0)
    assert_allclose(axis.read(run, "end.v"), 0.3)


# -- springs ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(("places", "forces", "text"), [
    ([0, 2, 1], [0, 1, 2], "strictly increasing"), ([0, 1, 1], [0, 1, 2], "strictly increasing"),
    ([0, 1, 2], [0, 1], "as many")])
def test_a_table_that_is_no_function_is_refused_by_name(axis, places, forces, text):
    spring = axis("Spring", law="table", deformations=places, forces=forces)
    with pytest.raises(BlocksError, match=f"part.*deformations.*{text}"):
        axis.driven(spring, 1).simulate("1 s")


# -- dampers and inerters --------------------------------------------------------------------------
def area(x):
    """Under the table of the spring below, from 0 on."""
    return np.select([x < 0, x < 1], [x**2, x**2], 1 + 2 * (x - 1) + 3 * (x - 1) ** 2)


def both_ways(v):
    return np.where(v > 0, 10 * v, 40 * v)


def by_table(v):
    return np.interp(v, [-2, -1, 0, 0.5, 4], [-200, -100, 0, 20, 90])


def polynomial(v):
    return v * (2 + 0.5 * np.abs(v) + 3 * v**2)


#: Part, its values, slope and start of the velocity that it is driven with, and what follows of t.
DRIVEN = {
    "stretched spring": ("Spring", {"stiffness": 2e3, "x": 5e-3}, 0, 0, {
        "part.f": 10, "part.C.f": -10, "source.C.f": 10, "ground.V.f": 0}),
    "spring with preload": ("Spring", {"stiffness": 3e3, "preload": 4, "x": -1e-3}, 0, 2e-3, {
        "part.x": lambda t: 2e-3 * t - 1e-3, "part.f": lambda t: 4 + 3e3 * (2e-3 * t - 1e-3),
        "part.energy_stored": lambda t: (2e-3 * t - 1e-3) * (4 + 1.5e3 * (2e-3 * t - 1e-3))}),
    "table spring beyond its ends": ("Spring", {
        "law": "table", "deformations": [-1, 0, 1, 2], "forces": [-2, 0, 2, 8], "x": -3}, 0, 1, {
        "part.f": lambda t: np.interp(t - 3, [-3, 1, 3], [-6, 2, 14]),
        "part.energy_stored": lambda t: area(t - 3)}),
    "damper": ("Damper", {"damping": 30}, 1, 0, {
        "part.f": lambda t: 30 * t, "part.power_dissipated": lambda t: 30 * t**2}),
    "damper that is driven evenly": ("Damper", {"damping": 10}, 0, 0.5, {  # C to R is carried
        "part.v": 0.5, "source.R.v": 0.5, "source.f": -5, "source.power_supplied": 2.5}),
    **{f"damper by {name}": ("NonlinearDamper", given, 1, -2, {
        "part.v": lambda t: t - 2, "part.f": lambda t, law=law: law(t - 2),
        "part.power_dissipated": lambda t, law=law: law(t - 2) * (t - 2)}) for name, given, law in (
            ("two ways", {"damping_forward": 10, "damping_backward": 40}, both_ways),
            ("table", {"law": "table", "velocities": [-1, 0, 0.5, 1],
                       "forces": [-100, 0, 20, 30]}, by_table),
            ("polynomial", {"law": "polynomial", "coefficients": [2, 0.5, 3]}, polynomial))},
    "drag against the motion backwards": ("QuadraticSpeedDependentForce", {
        "nominal_force": 8, "nominal_velocity": 2}, 0, -3, {
        "part.f": -18, "part.power_dissipated": 54}),
    "spring and damper": ("SpringDamper", {
        "stiffness": 500, "damping": 20, "preload": 3, "x": 0.02}, 0.5, 0, {
        "part.f": lambda t: 3 + 500 * (0.02 + 0.25 * t**2) + 20 * 0.5 * t})}


@pytest.mark.parametrize(("axis", "case"), [
    (axis, case) for axis in (TRANSLATIONAL, ROTATIONAL) for case in DRIVEN
    if axis is ROTATIONAL or not case.endswith("polynomial")], indirect=["axis"], ids=str)
def test_what_is_driven_follows_its_law(axis, case):
    part, given, slope, start, expected = DRIVEN[case]
    run = axis.driven(axis(part, **given), ramp(axis, slope, start)).simulate("6 s", **TIGHT)
    for path, exact in expected.items():
        exact = exact(seconds(run)) if callable(exact) else exact
        assert_allclose(axis.read(run, path), exact, rtol=1e-11, atol=1e-11, err_msg=path)


def test_drag_slows_a_body_hyperbolically(axis):
    drag = axis("QuadraticSpeedDependentForce", nominal_force=8, nominal_velocity=2)
    run = axis.thrown(drag, velocity=5).simulate("4 s", **TIGHT)
    assert_allclose(axis.read(run, "body.v"), 5 / (1 + 5 * seconds(run)), rtol=1e-10)  # v' = -v²


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
