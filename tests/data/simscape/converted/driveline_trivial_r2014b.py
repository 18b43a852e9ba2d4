"""Converted from driveline_trivial_r2014b.slx, R2014b.

The model's solver has fixed steps (ode3); here steps are adaptive.
"""

from blocks import Component, Input, Model, Output, sin
from library.rotational import (
    Inertia,
    RotationalDamper,
    RotationalMotionSensor,
    RotationalReference,
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
    """The model driveline_trivial_r2014b."""
    model = Model("driveline_trivial_r2014b")
    model.ideal_rotational_motion_sensor = RotationalMotionSensor()
    model.ideal_torque_source = TorqueSource()
    model.mechanical_rotational_reference = RotationalReference()
    model.mechanical_rotational_reference1 = RotationalReference()
    model.rotor_inertia = Inertia(inertia="1.7 kg*m^2")
    model.viscous_friction = RotationalDamper(damping="1e-2 N*m/(rad/s)")
    model.clock = Ramp(slope="1 1/s")
    model.fcn = Fcn()
    model.simulink_ps_converter2 = Gain(gain="1 N*m")

    model.connect(
        model.mechanical_rotational_reference.W,
        model.viscous_friction.R,
        model.ideal_rotational_motion_sensor.C,
    )
    model.connect(
        model.rotor_inertia.I,
        model.viscous_friction.C,
        model.ideal_rotational_motion_sensor.R,
        model.ideal_torque_source.R,
    )
    model.connect(model.mechanical_rotational_reference1.W, model.ideal_torque_source.C)
    model.connect(model.simulink_ps_converter2.y, model.ideal_torque_source.S)
    model.connect(model.clock.y, model.fcn.u)
    model.connect(model.fcn.y, model.simulink_ps_converter2.u)
    return model


if __name__ == "__main__":
    result = build().simulate("10.0 s")
    figure = result.plot("ideal_rotational_motion_sensor.W")
    figure.savefig("driveline_trivial_r2014b.png", bbox_inches="tight")
    table = result.table("ideal_rotational_motion_sensor.W", every="1 s")
    print(table)
