"""Pictures and films: shapes stand where the variables say, forces and cones as they act."""

import matplotlib as mpl
import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from blocks import FileError, ParameterError
from blocks.results.plots.scene import Picture, scene_of
from library.planar import Body, Circle, Contact, Corner, Ground, Line, Revolute, SpringDamper
from library.translational import Mass

mpl.use("Agg")


@pytest.fixture(scope="module")
def run():
    model = wired("rolls", "ground.P floor.B spring.B", "disc.P floor.F spring.F", ground=Ground(),
                  disc=Body(y="0.2 m", x="0 m", phi="0 rad", vx="1 m/s", vy="0 m/s", w="-5 rad/s",
                            inertia="20 g*m^2"),
                  floor=Contact(curve=Circle("0.2 m"), base=Line(), friction=0.25),
                  spring=SpringDamper(stiffness="0 N/m"))
    return model.simulate("1 s", rtol=1e-9)


def test_a_picture_shows_the_disc_where_it_is_and_the_force_that_carries_it(run):
    first, second = run.draw("0 s", "0.5 s").axes
    assert (first.get_title(), second.get_title()) == ("t = 0.000 s", "t = 0.500 s")
    outline = second.patches[0].get_path().vertices
    assert_allclose(outline.mean(axis=0), [0.5, 0.2], atol=0.02)
    assert_allclose(np.hypot(*(outline[:-1] - [0.5, 0.2]).T), 0.2, atol=1e-6)
    (force,) = second.texts
    assert_allclose(force.get_position(), [0.5, 0], atol=1e-6)
    assert_allclose(force.xy[0], 0.5, atol=1e-6)
    assert force.xy[1] > 0
    cone = second.patches[1].get_path().vertices
    assert_allclose(cone[0], [0.5, 0], atol=1e-6)
    left, right = np.abs(cone[1:3] - cone[0])
    assert_allclose([left[0] / left[1], right[0] / right[1]], 0.25)


def test_a_mark_on_the_disc_turns_with_it(run):
    scene = scene_of(run.recording, np.array([0.0, 0.2]))
    picture = Picture(scene, mpl.figure.Figure().add_subplot())
    picture.show(1)
    lines = [line for line in picture.ax.lines if len(line.get_xdata()) == 2]
    (spoke,) = [x for x in lines if np.hypot(np.ptp(x.get_xdata()), np.ptp(x.get_ydata())) < 0.41]
    slope = np.ptp(spoke.get_ydata()) / np.ptp(spoke.get_xdata())
    assert_allclose(slope, np.tan(1.0), rtol=1e-6)  # 5 rad/s for 0.2 s


def test_an_endless_floor_goes_on_as_far_as_the_picture(run):
    (floor,) = [s for s in scene_of(run.recording, np.array([0.0])).shapes
                if getattr(s, "endless", False)]  # fmt: skip
    for far in (1.0, 30.0):
        scene = scene_of(run.recording, np.linspace(0, 1, 3))
        scene.limits = (0.5 * far, 3 * far, -0.1, 0.3)
        x, y = scene.outline(floor, 0)
        assert x.min() <= 0.5 * far and x.max() >= 3 * far
        assert_allclose(y, 0.0, atol=1e-12)


def test_a_body_of_corners_is_drawn_as_the_area_between_them():
    model = wired("triangle", ground=Ground(), body=Body(x="1 cm", y="5 mm", phi="90 deg"))
    corners = [(0.0, 0.0), (4.0, 0.0), (0.0, 3.0)]
    for k, (x, y) in enumerate(corners):
        wire(model, f"ground.P corner{k}.B", f"body.P corner{k}.F", **{
            f"corner{k}": Contact(curve=Corner(x=f"{x} mm", y=f"{y} mm"), base=Line())})
    figure = model.simulate("1 ms").draw("0 s")
    (area,) = [p.get_path().vertices for p in figure.axes[0].patches if p.get_visible()]
    turned = {(round(1e3 * x, 6), round(1e3 * y, 6)) for x, y in area}
    assert turned == {(10 - y, 5 + x) for x, y in corners}
    assert figure.axes[0].get_xlabel() == "x [mm]"
    assert len(figure.axes[0].lines) >= 2  # floor and centre of mass


def test_bodies_of_an_array_are_drawn_up_to_their_own_centres_of_mass():
    model = wired("pendulums", "ground.P hinges.B", "hinges.F bodies.P",
                  ground=Ground(), hinges=Revolute(count=2, phi="-90 deg"),
                  bodies=Body(count=2, center_x=["1 m", "3 m"], center_y=["0 m", "4 m"]))
    lines = model.simulate("1 ms").draw("0 s").axes[0].lines
    rods = [line.get_xydata() for line in lines if len(line.get_xdata()) == 2]
    assert_allclose(rods, [[[0, 0], [0, -1]], [[0, 0], [4, -3]]], atol=1e-6)
    crosses = [line.get_xydata()[0] for line in lines if line.get_marker() == "+"]
    assert_allclose(crosses, [[0, -1], [4, -3]], atol=1e-6)


@pytest.mark.parametrize("ending", ["gif", "html"])
def test_a_film_is_written(run, tmp_path, ending):
    file = tmp_path / f"film.{ending}"
    run.animate(file, fps=5)
    head = file.read_bytes()[:2000]
    assert head.startswith(b"GIF") if ending == "gif" else b"<script" in head


def test_other_formats_and_models_without_shapes_are_refused(run, tmp_path):
    with pytest.raises(FileError, match=r"a film ends with \.gif or \.html"):
        run.animate(tmp_path / "film.avi")
    model = wired("no shape", mass=Mass())
    with pytest.raises(ParameterError, match="no component of this model has a shape"):
        model.simulate("1 s").draw()
