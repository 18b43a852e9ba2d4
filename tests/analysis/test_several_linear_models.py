"""Linear models side by side in one picture, and what python-control finds of them."""

import matplotlib
import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import quantity
from blocks.analysis import bode, nyquist, step
from blocks.exceptions import ParameterError
from library.signal import Constant, Gain, TransferFunction
from library.translational import Damper, ForceSource, Mass, MotionSensor, Reference

matplotlib.use("agg")


def dragged(drag):
    """A mass of 2 kg: v/F = 1 / (2 s + d)."""
    model = wired("dragged", "block.M drag.R push.R speed.R", "ground.V drag.C push.C speed.C",
                  block=Mass(mass="2 kg"), drag=Damper(damping=f"{drag} N*s/m"), push=ForceSource(),
                  ground=Reference(), speed=MotionSensor())
    return model.linearise("push.force", "block.v")


def loop(gain):
    """k / (s + 1)^3, cut open: it turns by 180 deg at sqrt(3) rad/s, where its gain is k / 8."""
    model = wired("loop", error=Constant(value="0"), k=Gain(gain=gain))
    before = model.k
    model.connect(model.error.y, model.k.u)
    for name in ("one", "two", "three"):
        lag = model.add(name, TransferFunction(numerator=[1], denominator=[1, 1]))
        model.connect(before.y, lag.u)
        before = lag
    return model.linearise("error.value", "three.y")


@pytest.fixture(scope="module")
def both():
    return {"light": dragged(1), "heavy": dragged(4)}


@pytest.mark.parametrize("picture, unit", [(bode, "s/kg"), (nyquist, "s/kg"), (step, "s/kg")])
def test_each_model_has_its_line_with_its_label(both, picture, unit):
    axes = picture(both).axes[0]
    labels = axes.get_legend_handles_labels()[1]
    assert [label.partition(":")[0] for label in labels] == ["light", "heavy"]
    assert all("block.v / push.force" in label for label in labels)


def test_lines_are_those_of_each_model_in_axes_that_are_there(both):
    from matplotlib.figure import Figure

    figure = Figure()
    upper, lower = figure.subplots(2)
    assert bode(both, quantity([0.1, 0.5, 1.0], "Hz"), ax=(upper, lower)) is figure
    for line, drag in zip(upper.lines, (1, 4), strict=True):
        exact = 1 / np.abs(2j * 2 * np.pi * np.array([0.1, 0.5, 1.0]) + drag)
        assert_allclose(line.get_ydata(), 20 * np.log10(exact), rtol=1e-9)
    with pytest.raises(ParameterError, match="takes a pair of matplotlib Axes"):
        bode(both, ax=upper)


def test_what_is_no_linear_model_is_refused():
    with pytest.raises(ParameterError, match=r"bode\(\): takes a linear model, or several"):
        bode({})
    with pytest.raises(ParameterError, match=r"step\(\): takes a linear model, or several"):
        step({"a": 3})


def test_answers_to_step_and_impulse_are_exponentials(both):
    pytest.importorskip("control")
    found = both["heavy"].step_response("2 s")
    assert found.time[-1] == pytest.approx(2)
    assert_allclose(np.squeeze(found.outputs), (1 - np.exp(-2 * found.time)) / 4, atol=1e-9)
    found = both["heavy"].impulse_response("2 s")
    assert_allclose(np.squeeze(found.outputs), np.exp(-2 * found.time) / 2, atol=1e-9)


def test_margins_of_a_loop():
    pytest.importorskip("control")
    found = loop(2).margins()
    w = np.sqrt(2 ** (2 / 3) - 1)
    assert found["gain margin"].m == pytest.approx(4, rel=1e-6)
    assert found["phase crossover"].to("rad/s").m == pytest.approx(np.sqrt(3), rel=1e-6)
    assert found["gain crossover"].to("rad/s").m == pytest.approx(w, rel=1e-6)
    assert found["phase margin"].m == pytest.approx(180 - 3 * np.degrees(np.arctan(w)), rel=1e-6)


def test_margins_are_about_loops(both):
    pytest.importorskip("control")
    with pytest.raises(ParameterError, match="whose gain has no unit, but block.v by push.force"):
        both["light"].margins()
