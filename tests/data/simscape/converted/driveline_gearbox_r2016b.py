"""Converted from driveline_gearbox_r2016b.slx, R2016b.

The model uses a local solver of fixed steps, and so does simulate() below:
method='trapezoidal', step=0.01 s. Leave both out for steps that keep to a tolerance.
"""

from blocks import Component, Input, Model, Output, quantity, sin
from library.mechanisms import GearBox
from library.rotational import (
    Inertia,
    RotationalMotionSensor,
    RotationalNonlinearDamper,
    RotationalReference,
    RotationalSpring,
    TorqueSource,
)
from library.signal import Gain, Ramp


class Fcn(Component):
    """The block Fcn of the model."""

    u = Input("")
    y = Output("")

    def equations(self):
        yield self.y == sin(self.u)


def build() -> Model:
    """The model driveline_gearbox_r2016b."""
    model = Model("driveline_gearbox_r2016b")
    model.gearbox_1 = GearBox(ratio=3)
    model.ideal_rotational_motion_sensor = RotationalMotionSensor()
    model.ideal_torque_source = TorqueSource()
    model.inertia = Inertia(inertia="1.7 kg*m^2")
    model.inertia1 = Inertia(inertia="2 kg*m^2")
    model.mechanical_rotational_reference = RotationalReference()
    model.mechanical_rotational_reference1 = RotationalReference()
    model.mechanical_rotational_reference2 = RotationalReference()
    model.nonlinear_rotational_damper = RotationalNonlinearDamper(
        law="polynomial",
        coefficients=quantity([1e-2, 0, 1e-3, 0, 1e-4], "N*m/(rad/s)"),
    )
    model.rotational_spring = RotationalSpring(stiffness="10 N*m/rad")
    model.clock = Ramp(slope="1 1/s")
    model.fcn = Fcn()
    model.simulink_ps_converter = Gain(gain="1 N*m")

    model.connect(model.ideal_torque_source.R, model.gearbox_1.S, model.inertia.I)
    model.connect(
        model.ideal_rotational_motion_sensor.R,
        model.nonlinear_rotational_damper.R,
        model.inertia1.I,
        model.rotational_spring.C,
    )
    model.connect(model.mechanical_rotational_reference.W, model.nonlinear_rotational_damper.C)
    model.connect(model.mechanical_rotational_reference1.W, model.ideal_torque_source.C)
    model.connect(model.mechanical_rotational_reference2.W, model.ideal_rotational_motion_sensor.C)
    model.connect(model.rotational_spring.R, model.gearbox_1.O)
    model.connect(model.simulink_ps_converter.y, model.ideal_torque_source.S)
    model.connect(model.clock.y, model.fcn.u)
    model.connect(model.fcn.y, model.simulink_ps_converter.u)
    return model


if __name__ == "__main__":
    result = build().simulate("10.0 s", method="trapezoidal", step="0.01 s")
    figure = result.plot("ideal_rotational_motion_sensor.W")
    figure.savefig("driveline_gearbox_r2016b.png", bbox_inches="tight")
    table = result.table("ideal_rotational_motion_sensor.W", every="1 s")
    print(table)
