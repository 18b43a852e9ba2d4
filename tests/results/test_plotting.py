"""What is on the axes of a plot and of a drawn network."""

import numpy as np
import pytest
from benches.recorded import Fake, Result, nothing_recorded, result
from numpy.testing import assert_allclose

from blocks.exceptions import ParameterError, UnknownName, WrongDimension
from blocks.results import EventRecord

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
    at = np.flatnonzero(curve.get_xdata() == 1.5)
    assert_allclose(curve.get_ydata()[at], [0.020, 0.005])
    assert lines(figure.axes[1])["switch.on"].get_drawstyle() == "steps-post"


def test_events_are_marked():
    figure = result().plot("block.v")
    marks = figure.axes[0].collections[0].get_segments()
    assert [s[0][0] for s in marks] == [1.5, 2.25]
    assert figure.axes[0].get_title(loc="right") == "┆ 2 events"
    assert not result().plot("block.v", events=False).axes[0].collections


def test_lines_of_events_that_would_lie_on_each_other_are_one():
    times = np.concatenate([np.linspace(0, 1, 50_000), [3.0, 4.0]])
    figure = result(events=[EventRecord(t, "pwm", "switches") for t in times]).plot("block.v")
    drawn = np.array([s[0][0] for s in figure.axes[0].collections[0].get_segments()])
    assert drawn[0] == 0 and list(drawn[-2:]) == [3.0, 4.0]
    assert_allclose(np.diff(drawn[:-2]), 4.0 / 600, atol=2 / 50_000)
    assert figure.axes[0].get_title(loc="right") == "┆ pwm switches, 50,002 times"


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
