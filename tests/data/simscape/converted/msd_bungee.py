"""Converted from msd_bungee.slx, R2024b.

Required Simulation Blocks
Parts List
Mass-Spring-Damper System
Sensing/Visualization
System Control/Excitation
"""

from blocks import Model, quantity
from library.signal import Constant
from library.translational import Damper, ForceSource, Mass, MotionSensor, Reference, Spring

# values: MSDParams.mat
A = 1
Cd = 0.5
L = 20
g = 9.81
k = 20
m = 60
rho = 1.2
x0 = 80
xdot = 21.7623


def build() -> Model:
    """The model msd_bungee."""
    model = Model("msd_bungee")
    # Damper (Drag Force)
    model.damper_drag_force = Damper(damping=quantity(0.5 * rho * Cd * A * xdot, "N*s/m"))
    model.force = ForceSource()
    model.mass = Mass(mass=quantity(m, "kg"))
    model.position_sensor = MotionSensor(offset=quantity(x0, "m"))
    model.rigid_frame_1 = Reference()
    model.rigid_frame_2 = Reference()
    model.rigid_frame_3 = Reference()
    # Spring (Spring Force)
    model.spring_spring_force = Spring(stiffness=quantity(k, "N/m"), x=quantity(-L, "m"))
    model.gravitational_force = Constant(value=quantity(-m * g, "N"))

    model.connect(model.rigid_frame_1.V, model.force.C)
    model.connect(model.rigid_frame_3.V, model.position_sensor.C)
    model.connect(model.spring_spring_force.R, model.rigid_frame_2.V, model.damper_drag_force.R)
    model.connect(
        model.damper_drag_force.C,
        model.position_sensor.R,
        model.force.R,
        model.mass.M,
        model.spring_spring_force.C,
    )
    model.connect(model.gravitational_force.y, model.force.S)
    return model


if __name__ == "__main__":
    result = build().simulate("50 s", max_step="0.1 s")
    figure = result.plot("position_sensor.P")
    figure.savefig("msd_bungee.png", bbox_inches="tight")
    table = result.table("position_sensor.P", every="5 s")
    print(table.to_string())
