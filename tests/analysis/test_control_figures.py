"""The figures of python-control's examples cruise control and vehicle steering, from components.

Source: examples/cruise.ipynb and examples/steering.ipynb of python-control at e60e5ebc (2026), as
printed there; BSD-3-Clause, (c) 2009-2016 California Institute of Technology, 2012 Delft University
of Technology, 2016-2024 python-control developers. The models are those of K. J. Åström, R. M.
Murray, Feedback Systems, 2nd edition, sections 4.1, 3.11, 6.13, 7.4, 8.3 and 10.11. Their
derivatives are differences with a step of 1e-6, which bounds the agreement of a and b.
"""

import numpy as np
import pytest
from benches import wire, wired

from blocks import Component, Input, Parameter, Variable, arctan, der, quantity, sin, tan
from blocks.analysis import free
from library.signal import Constant, Gain, Integrator, Saturation, Sum
from library.translational import (
    Mass,
    MotionSensor,
    QuadraticSpeedDependentForce,
    Reference,
    TranslationalFriction,
    TwoPort,
)

CRUISE = {"throttle": 0.16874874, "a": 0.010124405669387215, "b": 1.3203061238159202,
          "time constant": 1.5148002148317266}  # fmt: skip


class Engine(TwoPort):
    """Torque over speed, through the fourth gear, on the wheels."""

    u = Input("1")

    def equations(self):
        gear, fastest = quantity("12 1/m"), quantity("420 1/s")
        torque = quantity("190 N*m") * (1 - 0.4 * (gear * self.v / fastest - 1) ** 2)
        yield self.f == -gear * torque * self.u


class Slope(TwoPort):
    """Weight of the car along the road."""

    angle = Parameter("0 rad")

    def equations(self):
        yield self.f == quantity("1600 kg") * quantity("9.8 m/s^2") * sin(self.angle)


def cruising_car():
    model = wired("cruise", car=Mass(mass="1600 kg", v="20 m/s"), engine=Engine(), hill=Slope())
    model.drag = QuadraticSpeedDependentForce(nominal_force="0.4992 N",  # 1/2 1.3 0.32 2.4
                                              nominal_velocity="1 m/s")
    model.rolling = TranslationalFriction(law="coulomb", coulomb_force="156.8 N",  # 0.01 m g
                                          breakaway_force="156.8 N")
    model.pedal, model.ground = Saturation(upper=1, lower=0), Reference()
    parts = [model.engine, model.hill, model.drag, model.rolling]
    model.connect(model.car.M, *(p.R for p in parts))
    model.connect(model.ground.V, *(p.C for p in parts))
    model.connect(model.pedal.y, model.engine.u)
    return model


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
         sensor=MotionSensor(reference="absolute", position_port=False),
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
    y = Variable("m", "0 m", priority="high")
    theta = Variable("rad", "0 rad", priority="high")

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
