"""What is on the axes of a plot, of a drawn network, and in films of 1-D mechanics."""

import numpy as np
import pytest
from benches import wired
from benches.recorded import Fake, Result, nothing_recorded, result
from numpy.testing import assert_allclose

import blocks
import library.translational as tr
from blocks.exceptions import ParameterError, UnknownName, WrongDimension
from blocks.results import EventRecord
from blocks.results.plots.axis_scene import AxisPicture, AxisScene
from blocks.results.plots.scene import scene_of
from library.mechanisms import GearBox
from library.rotational import Inertia, RotationalReference, RotationalSpring, TorqueSource

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def closed_afterwards():
    import matplotlib.pyplot as pyplot

    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def labels(figure):
    return [ax.get_ylabel() for ax in figure.axes]


def lines(ax):
    return {line.get_label(): line for line in ax.get_lines()}


def test_one_axes_per_dimension_with_units():
    figure = result().plot("block.v", "friction.f", "oil.T", "spring.f", "spring.v")
    assert labels(figure) == ["v [m/s]", "f [kN]", "oil.T [°C]"]
    assert figure.axes[2].get_legend() is None  # one curve is named beside its axes
    assert figure.axes[-1].get_xlabel() == "time [s]"
    assert figure.axes[0].get_title(loc="left") == "stick_slip"
    legend = [t.get_text() for t in figure.axes[1].get_legend().get_texts()]
    assert legend == ["friction.f", "spring.f"]
    assert_allclose(lines(figure.axes[1])["spring.f"].get_ydata()[0], 0.010)  # in kN


def test_a_chosen_unit_counts_for_its_axes():
    figure = result().plot("spring.v", "block.v", units={"block.v": "mm/s", "time": "ms"})
    assert labels(figure) == ["v [mm/s]"]
    assert list(lines(figure.axes[0]))[:2] == ["spring.v", "block.v"]
    assert_allclose(lines(figure.axes[0])["spring.v"].get_ydata(), -500)
    assert figure.axes[0].get_xlabel() == "time [ms]"
    assert lines(figure.axes[0])["block.v"].get_xdata()[-1] == 4000


def test_different_wishes_get_different_axes():
    figure = result().plot("spring.v", "block.v", units={"block.v": "mm/s", "spring.v": "km/h"})
    assert labels(figure) == ["spring.v [km/h]", "block.v [mm/s]"]


def test_angles_and_frequencies_do_not_share_axes():
    assert labels(result().plot("motor.w", "signal.rate")) == ["motor.w [rpm]", "signal.rate [Hz]"]


def test_jumps_are_vertical_and_held_values_are_steps():
    figure = result().plot("friction.f", "switch.on")
    curve = lines(figure.axes[0])["friction.f"]
    assert_allclose(curve.get_ydata()[np.flatnonzero(curve.get_xdata() == 1.5)], [0.020, 0.005])
    assert lines(figure.axes[1])["switch.on"].get_drawstyle() == "steps-post"


def test_events_are_marked():
    figure = result().plot("block.v")
    assert [s[0][0] for s in figure.axes[0].collections[0].get_segments()] == [1.5, 2.25]
    assert figure.axes[0].get_title(loc="right") == "┆ 2 events"
    assert not result().plot("block.v", events=False).axes[0].collections


def test_lines_of_events_that_would_lie_on_each_other_are_one():
    times = np.concatenate([np.linspace(0, 1, 50_000), [3.0, 4.0]])
    figure = result(events=[EventRecord(t, "pwm", "switches") for t in times]).plot("block.v")
    drawn = np.array([s[0][0] for s in figure.axes[0].collections[0].get_segments()])
    assert drawn[0] == 0 and list(drawn[-2:]) == [3.0, 4.0]
    assert_allclose(np.diff(drawn[:-2]), 4.0 / 600, atol=2 / 50_000)
    assert figure.axes[0].get_title(loc="right") == "┆ pwm switches, 50,002 times"


def test_long_legends_stand_below_and_leave_the_curves_their_room():
    figure = result().plot("friction.f", result(name="a model of another, far longer, name")
                           ["friction.f"])  # fmt: skip
    figure.draw_without_rendering()
    (ax,), (_, _, width, height) = figure.axes, figure.axes[0].get_position().bounds
    legend = ax.get_legend().get_window_extent().transformed(figure.transFigure.inverted())
    assert width > 0.85 and height > 0.5
    label = ax.xaxis.label.get_window_extent().transformed(figure.transFigure.inverted())
    assert 0 <= legend.y0 < legend.y1 <= label.y0 and 0 <= legend.x0 < legend.x1 <= 1


def test_a_large_array_is_thinned():
    figure = Result(Fake(masses=500)).plot("masses.v")
    legend = [t.get_text() for t in figure.axes[0].get_legend().get_texts()]
    assert legend[0] == "masses[0].v" and legend[2:4] == ["masses[499].v", "100 of 500 drawn"]


def test_time_axis_has_a_sensible_unit():
    fake = Fake()
    fake.times = fake.times * 1e-3
    fake.events = [EventRecord(1e-3, "friction", "sticks")]
    assert Result(fake).plot("block.v").axes[0].get_xlabel() == "time [ms]"


def test_without_names_what_moves_is_drawn():
    run = result()
    drawn = [name for ax in run.plot().axes for name in lines(ax) if name in run]
    assert drawn[0] == "motor.w"  # outputs first
    assert {"block.v", "spring.f", "friction.f", "oil.T"} <= set(drawn)
    assert "spring.v" not in drawn and "gear.ratio" not in drawn
    run.recording.states = ["oil.T", "block.v"]
    assert labels(run.plot()) == ["oil.T [°C]", "block.v [m/s]"]


def test_saving_and_equal_distances(tmp_path):
    figure = result()["block.v"].plot("mm/s", every="1 s", save=tmp_path / "v.png", title="speed")
    assert (tmp_path / "v.png").stat().st_size > 5000
    assert len(lines(figure.axes[0])["block.v"].get_xdata()) == 5
    assert figure.axes[0].get_title(loc="left") == "speed"


def test_nothing_overlaps():
    figure = result().plot("block.v", "friction.f", "oil.T", "motor.w", "masses.v")
    figure.draw_without_rendering()
    boxes = [ax.get_tightbbox() for ax in figure.axes]
    assert all(a.y0 >= b.y1 - 1 for a, b in zip(boxes, boxes[1:], strict=False))
    assert all(b.x0 >= 0 and b.x1 <= figure.bbox.x1 for b in boxes)


def test_plots_that_cannot_be():
    run = result()
    with pytest.raises(UnknownName, match="among its drawn variables. Did you mean 'block.v'"):
        run.plot("block.v", units={"blok.v": "mm/s"})
    with pytest.raises(WrongDimension):
        run.plot("block.v", units={"block.v": "N"})
    with pytest.raises(WrongDimension):
        run.plot("block.v", units={"time": "m"})
    run.recording.catalog = {}
    with pytest.raises(ParameterError, match="found nothing to draw"):
        run.plot()
    assert labels(nothing_recorded().plot("block.v")) == ["block.v [m/s]"]


def test_matplotlib_takes_a_series():
    import matplotlib.pyplot as pyplot

    run = result()
    (line,) = pyplot.plot(run.time, run["oil.T"])
    assert_allclose(line.get_ydata()[-1], 60)


# -- films: what moves in the picture is what the variables say -------------------------------
def two_masses():
    return wired("two masses", "a.M spring.R damper.R link.C", "b.M link.R rub.R sensor.R",
                 "wall.V spring.C damper.C rub.C sensor.C", a=tr.Mass(mass="2 kg", v="1 m/s"),
                 b=tr.Mass(mass="1 kg"), spring=tr.Spring(stiffness="200 N/m"),
                 link=tr.Spring(stiffness="50 N/m"), damper=tr.Damper(damping="3 N*s/m"),
                 rub=tr.TranslationalFriction(), wall=tr.Reference(), sensor=tr.MotionSensor())


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
        masses = [shape for shape in made.bodies if not shape.wall]
        for shape, drawn in zip(masses, picture.ax.patches, strict=True):
            middle = drawn.get_xy()[:4, 0].mean()
            assert middle == pytest.approx(shape.place + made.shift(shape.speed_by[0])[k])


def test_discs_turn_by_their_angles():
    model = wired("gear", "torque.R motor.I gear.S", "gear.O shaft.R", "shaft.C load.I",
                  "torque.C ground.W", motor=Inertia(), load=Inertia(inertia="1 kg*m^2"),
                  gear=GearBox(ratio=3), torque=TorqueSource(torque="2 N*m"),
                  shaft=RotationalSpring(), ground=RotationalReference())
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
    return element.speeds_by[1 - [k for k in (0, 1) if abs(element.ends[k] - other.place) < 0.5][0]]


def test_a_run_that_was_kept_has_the_same_film(run, tmp_path):
    run.save(tmp_path / "run.nc")
    again = blocks.load(tmp_path / "run.nc")
    first, second = (scene(r, [0.0, 0.3]) for r in (run, again))
    assert_allclose([second.shift(s.speed_by[0]) for s in second.bodies],
                    [first.shift(s.speed_by[0]) for s in first.bodies], atol=1e-6)
    again.animate(tmp_path / "film.gif", fps=2)
    assert (tmp_path / "film.gif").read_bytes().startswith(b"GIF")
