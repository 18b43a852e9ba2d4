"""Films of 1-D mechanics: what moves in the picture is what the variables say."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

import blocks
from blocks.results.plots.axis_scene import AxisPicture, AxisScene
from blocks.results.plots.scene import scene_of
from library.mechanisms import GearBox
from library.rotational import Inertia, RotationalReference, RotationalSpring, TorqueSource
from library.translational import (
    Damper,
    Mass,
    MotionSensor,
    Reference,
    Spring,
    TranslationalFriction,
)


def two_masses():
    return wired("two masses", "a.M spring.R damper.R link.C", "b.M link.R rub.R sensor.R",
                 "wall.V spring.C damper.C rub.C sensor.C",
                 a=Mass(mass="2 kg", v="1 m/s"), b=Mass(mass="1 kg"),
                 spring=Spring(stiffness="200 N/m"), link=Spring(stiffness="50 N/m"),
                 damper=Damper(damping="3 N*s/m"), rub=TranslationalFriction(), wall=Reference(),
                 sensor=MotionSensor())


@pytest.fixture(scope="module")
def run():
    return two_masses().simulate("1 s", rtol=1e-8)


def scene(result, times):
    made = scene_of(result.recording, np.asarray(times, dtype=float))
    assert isinstance(made, AxisScene)
    return made


def body(made, name):
    (one,) = [s for s in made.bodies if s.name == name]
    return one


def test_masses_stand_where_their_velocities_have_taken_them(run):
    times = np.linspace(0, 1, 11)
    made = scene(run, times)
    (handle,) = body(made, "a").speed_by
    moved = [(run["spring.x"].at(f"{t} s") - run["spring.x"].at("0 s")).m_as("m") for t in times]
    assert_allclose(made.travelled[handle], moved, atol=1e-7)


def test_nothing_passes_through_anything_and_lanes_are_apart(run):
    made = scene(run, np.linspace(0, 1, 101))
    for element in made.elements:
        left, right = (x + made.shift(h) for x, h in zip(element.ends, element.speeds_by,
                                                        strict=True))  # fmt: skip
        assert np.all(right - left > 0.3 * (element.ends[1] - element.ends[0]))
    boxes = [(*s.ends, s.height) for s in made.elements]
    for k, (left, right, height) in enumerate(boxes):
        for other in boxes[:k]:
            assert height != other[2] or right <= other[0] or other[1] <= left


def test_sensors_are_left_out_and_the_last_body_has_a_wall_beside_it(run):
    made = scene(run, [0.0])
    assert {s.name for s in made.elements} == {"spring", "link", "damper", "rub"}
    assert [s.place for s in made.bodies if s.wall] == [0.0, 3.0]


def test_a_frame_shows_the_bodies_there(run):
    from matplotlib.figure import Figure

    made = scene(run, [0.0, 0.1])
    picture = AxisPicture(made, Figure().subplots())
    for k in (0, 1):
        picture.show(k)
        for shape, (artists, _) in zip(made.bodies, picture.bodies, strict=True):
            if not shape.wall:
                middle = artists[0].get_xy()[:4, 0].mean()
                assert middle == pytest.approx(shape.place + made.shift(shape.speed_by[0])[k])


def test_discs_turn_by_their_angles():
    model = wired("gear", "torque.R motor.I gear.S", "gear.O shaft.R", "shaft.C load.I",
                  "torque.C ground.W",
                  motor=Inertia(), load=Inertia(inertia="1 kg*m^2"), gear=GearBox(ratio=3),
                  torque=TorqueSource(torque="2 N*m"), shaft=RotationalSpring(),
                  ground=RotationalReference())
    made = scene(model.simulate("1 s", rtol=1e-8), [0.0, 0.5, 1.0])
    motor, load = (body(made, n) for n in ("motor", "load"))
    assert motor.turns
    angles = made.travelled[motor.speed_by[0]]
    assert angles[-1] > 0.1
    assert_allclose(angles, 3 * made.travelled[_end_of(made, "gear", motor)], atol=1e-7)
    assert load.place > motor.place


def _end_of(made, name, other):
    """The velocity at the far end of an element."""
    (element,) = [s for s in made.elements if s.name == name]
    near = [k for k in (0, 1) if abs(element.ends[k] - other.place) < 0.5]
    return element.speeds_by[1 - near[0]]


def test_a_run_that_was_kept_has_the_same_film(run, tmp_path):
    run.save(tmp_path / "run.nc")
    again = blocks.load(tmp_path / "run.nc")
    first, second = (scene(r, [0.0, 0.3]) for r in (run, again))
    assert_allclose([second.shift(s.speed_by[0]) for s in second.bodies],
                    [first.shift(s.speed_by[0]) for s in first.bodies], atol=1e-6)
    again.animate(tmp_path / "film.gif", fps=2)
    assert (tmp_path / "film.gif").read_bytes().startswith(b"GIF")
