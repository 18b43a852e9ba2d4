"""Converted from driveline_backlash_r2016b.slx, R2016b.

The model uses a local solver of fixed steps (method='trapezoidal', step=0.01 s). Here steps are
adaptive: a stop has a side without inertia, which such steps do not follow.
"""

from blocks import Component, Input, Model, Output, quantity, sin
from library.rotational import (
    Inertia,
    RotationalDamper,
    RotationalHardStop,
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
    """The model driveline_backlash_r2016b."""
    model = Model("driveline_backlash_r2016b")
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
    model.backlash = RotationalHardStop(
        model="full",
        upper_bound="0.1 rad",
        lower_bound="-0.1 rad",
        upper_stiffness="1e3 N*m/rad",
        lower_stiffness="1e3 N*m/rad",
        upper_damping="0.001 N*m/(rad/s)",
        lower_damping="0.001 N*m/(rad/s)",
    )
    model.backlash_damper = RotationalDamper(damping="1e-05 N*m*s/rad")
    model.clock = Ramp(slope="1 1/s")
    model.fcn = Fcn()
    model.simulink_ps_converter = Gain(gain="1 N*m")

    model.connect(model.ideal_torque_source.R, model.rotational_spring.R, model.inertia.I)
    model.connect(
        model.ideal_rotational_motion_sensor.R,
        model.nonlinear_rotational_damper.R,
        model.backlash.C,
        model.inertia1.I,
    )
    model.connect(model.mechanical_rotational_reference.W, model.nonlinear_rotational_damper.C)
    model.connect(model.mechanical_rotational_reference1.W, model.ideal_torque_source.C)
    model.connect(model.mechanical_rotational_reference2.W, model.ideal_rotational_motion_sensor.C)
    model.connect(model.rotational_spring.C, model.backlash.R)
    model.connect(model.backlash_damper.R, model.backlash.R)
    model.connect(model.backlash_damper.C, model.backlash.C)
    model.connect(model.simulink_ps_converter.y, model.ideal_torque_source.S)
    model.connect(model.clock.y, model.fcn.u)
    model.connect(model.fcn.y, model.simulink_ps_converter.u)
    return model


if __name__ == "__main__":
    result = build().simulate("10.0 s")
    figure = result.plot("ideal_rotational_motion_sensor.W")
    figure.savefig("driveline_backlash_r2016b.png", bbox_inches="tight")
    table = result.table("ideal_rotational_motion_sensor.W", every="1 s")
    print(table)
