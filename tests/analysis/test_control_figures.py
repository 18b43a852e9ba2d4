"""The figures of python-control's examples cruise control and vehicle steering, from components.

Source: examples/cruise.ipynb and examples/steering.ipynb of python-control at e60e5ebc (2026), as
printed there; BSD-3-Clause, (c) 2009-2016 California Institute of Technology, 2012 Delft University
of Technology, 2016-2024 python-control developers. The models are those of K. J. Åström, R. M.
Murray, Feedback Systems, 2nd edition, sections 4.1, 3.11, 6.13, 7.4, 8.3 and 10.11. Their
derivatives are differences with a step of 1e-6, which bounds the agreement of a and b.
"""

import matplotlib
import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

import library.translational as tr
from blocks import Component, Input, Parameter, Variable, arctan, der, quantity, sin, tan
from blocks.analysis import bode, free, nyquist, step
from blocks.exceptions import ParameterError, WrongCall
from library.signal import Constant, Gain, Integrator, Saturation, Sum, TransferFunction

CRUISE = {"throttle": 0.16874874, "a": 0.010124405669387215, "b": 1.3203061238159202,
          "time constant": 1.5148002148317266}  # fmt: skip


class Engine(tr.TwoPort):
    """Torque over speed, through the fourth gear, on the wheels."""

    u = Input("1")

    def equations(self):
        gear, fastest = quantity("12 1/m"), quantity("420 1/s")
        torque = quantity("190 N*m") * (1 - 0.4 * (gear * self.v / fastest - 1) ** 2)
        yield self.f == -gear * torque * self.u


class Slope(tr.TwoPort):
    """Weight of the car along the road."""

    angle = Parameter("0 rad")

    def equations(self):
        yield self.f == quantity("1600 kg") * quantity("9.8 m/s^2") * sin(self.angle)


def cruising_car():
    return wired("cruise", "car.M engine.R hill.R drag.R rolling.R",
                 "ground.V engine.C hill.C drag.C rolling.C", "pedal.y engine.u",
                 car=tr.Mass(mass="1600 kg", v="20 m/s"), engine=Engine(), hill=Slope(),
                 drag=tr.QuadraticSpeedDependentForce(nominal_force="0.4992 N",  # 1/2 1.3 0.32 2.4
                                                      nominal_velocity="1 m/s"),
                 rolling=tr.TranslationalFriction(law="coulomb",
                                                  coulomb_force="156.8 N",  # 0.01 m g
                                                  breakaway_force="156.8 N"),
                 pedal=Saturation(upper=1, lower=0), ground=tr.Reference())


def test_cruise_control():
    model = cruising_car()
    wire(model, "throttle.y pedal.u", throttle=Constant(value=0.2))
    op = model.operating_point({"car.v": "20 m/s", "throttle.y": free})
    assert op["throttle.y"].magnitude == pytest.approx(CRUISE["throttle"], abs=5e-9)
    linear = model.linearise(["throttle.y", "hill.angle"], "car.v", at=op)
    assert linear.poles() == pytest.approx([-CRUISE["a"]], rel=1e-6)
    assert linear.B[0, 0] == pytest.approx(CRUISE["b"], rel=1e-7)
    # by hand: b = 12 T(240 rad/s) / m; a hill pulls with g
    assert linear.B[0] == pytest.approx([12 * 190 * (1 - 0.4 * (240 / 420 - 1)**2) / 1600, -9.8],
                                        rel=1e-12)


def test_controller_that_cancels_the_pole_of_the_car():
    model = cruising_car()
    wire(model, "sensor.R car.M", "target.y error.u[0]", "sensor.V error.u[1]",
         "error.y proportional.u sum.u", "sum.y integral.u", "proportional.y both.u[0]",
         "integral.y both.u[1]", "both.y pedal.u",
         target=Constant(value=quantity("20 m/s")),
         sensor=tr.MotionSensor(reference="absolute", position_port=False),
         error=Sum(signs="+-", unit="m/s"), proportional=Gain(gain="0.5 s/m", input="m/s"),
         sum=Integrator(input="m/s"),
         integral=Gain(gain=quantity(0.5 * CRUISE["a"], "1/m"), input="m"), both=Sum(signs="++"))
    op = model.operating_point()
    assert op["car.v"].magnitude == pytest.approx(20, rel=1e-12)
    linear = model.linearise("target.value", "car.v", at=op)
    assert linear.poles() == pytest.approx([-CRUISE["a"], -1 / CRUISE["time constant"]], rel=1e-6)
    assert linear.dcgain()[0, 0] == pytest.approx(1, rel=1e-12)


class Steered(Component):
    """Bicycle without slip: lateral place and heading of a point between its wheels."""

    delta = Input("rad")
    speed, wheelbase, offset = Parameter("15 m/s"), Parameter("3 m"), Parameter("1.5 m")
    y, theta = Variable("m", "0 m", priority="high"), Variable("rad", "0 rad", priority="high")

    def equations(self):
        alpha = arctan(self.offset * tan(self.delta) / self.wheelbase)
        yield der(self.y) == self.speed * sin(self.theta + alpha)
        yield der(self.theta) == self.speed / self.wheelbase * tan(self.delta)


def steered(speed):
    model = wired("steering", "wheel.y limit.u", "limit.y car.delta",
                  wheel=Constant(value=quantity("0 rad")),
                  limit=Saturation(upper="0.5 rad", lower="-0.5 rad"),
                  car=Steered(speed=quantity(speed, "m/s")))
    return model.linearise("wheel.y", "car.y")


def normalised(linear):
    """States in wheelbases, time in those that pass."""
    assert [s.path for s in linear.states] == ["car.y", "car.theta"]
    scale, second = np.array([3.0, 1.0]), 3 / 15
    return (linear.A * second * scale / scale[:, None], linear.B * second / scale[:, None],
            linear.C * scale / 3)


def test_vehicle_steering():
    a, b, c = normalised(steered(15))
    np.testing.assert_allclose(a, [[0, 1], [0, 0]], atol=1e-15)
    np.testing.assert_allclose(b, [[0.5], [1]], rtol=1e-14)
    np.testing.assert_allclose(c, [[1, 0]], atol=1e-15)


@pytest.mark.parametrize(("speed", "highest"), [(2, 1.0), (-2, -1.0)])
def test_steering_forward_and_in_reverse(speed, highest):
    """(s + 1.333) / s² forward, (-s + 1.333) / s² in reverse."""
    linear = steered(speed)
    assert linear.poles() == pytest.approx([0, 0], abs=1e-15)
    assert linear.zeros() == pytest.approx([-highest * 4 / 3], rel=1e-12)
    at = 2.5j
    assert linear.transfer([at])[0, 0, 0] == pytest.approx((highest * at + 4 / 3) / at**2,
                                                           rel=1e-12)


def test_python_control_takes_the_models():
    control = pytest.importorskip("control")
    linear = steered(15)
    system = linear.to_control()
    assert system.input_labels == ["wheel_y"] and system.output_labels == ["car_y"]
    assert system.state_labels == ["car_y", "car_theta"]
    assert system(2j) == pytest.approx(linear.transfer([2j])[0, 0, 0], rel=1e-12)
    a, b, c = normalised(linear)
    gains = control.place(a, b, np.roots([1, 2 * 0.707 * 0.7, 0.7**2]))
    assert np.ravel(gains) == pytest.approx([0.49, 0.7448], abs=5e-5)
    observer = control.place(a.T, c.T, np.roots([1, 1.4, 1]))
    assert np.ravel(observer) == pytest.approx([1.4, 1], rel=1e-9)


# -- models side by side in one picture, and what python-control finds of them ----------------
matplotlib.use("agg")


def dragged(drag):
    """A mass of 2 kg: v/F = 1 / (2 s + d)."""
    model = wired("dragged", "block.M drag.R push.R speed.R", "ground.V drag.C push.C speed.C",
                  block=tr.Mass(mass="2 kg"), drag=tr.Damper(damping=f"{drag} N*s/m"),
                  push=tr.ForceSource(), ground=tr.Reference(), speed=tr.MotionSensor())
    return model.linearise("push.force", "block.v")


def loop(gain):
    """k / (s + 1)^3, cut open: it turns by 180 deg at sqrt(3) rad/s, where its gain is k / 8."""
    lags = {name: TransferFunction(numerator=[1], denominator=[1, 1])
            for name in ("one", "two", "three")}
    model = wired("loop", "error.y k.u", "k.y one.u", "one.y two.u", "two.y three.u",
                  error=Constant(value="0"), k=Gain(gain=gain), **lags)
    return model.linearise("error.value", "three.y")


@pytest.fixture(scope="module")
def both():
    return {"light": dragged(1), "heavy": dragged(4)}


@pytest.mark.parametrize("picture, unit", [(bode, "s/kg"), (nyquist, "s/kg"), (step, "s/kg")])
def test_each_model_has_its_line_with_its_label(both, picture, unit):
    labels = picture(both).axes[0].get_legend_handles_labels()[1]
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


def test_lines_of_several_models_go_over_the_same_frequencies(both):
    ends = [line.get_xdata()[[0, -1]] for line in bode(both).axes[0].lines]
    assert_allclose(ends[0], ends[1])


def test_what_is_no_linear_model_is_refused(both):
    for draw in both["light"].bode, both["light"].nyquist:
        with pytest.raises(WrongCall, match="by label\\. .*bode\\({'10 N': linear, "):
            draw(both["heavy"])
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
