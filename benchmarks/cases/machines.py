"""Motor and solenoid of the comparison with C, built from the library."""

from __future__ import annotations

from blocks import Model, quantity
from library.electrical import ControlledVoltageSource, DCVoltageSource, ElectricalReference, table
from library.electromechanical import DCMotor, HBridge, Solenoid
from library.rotational import (
    Inertia,
    RotationalFriction,
    RotationalMotionSensor,
    RotationalReference,
    RotationalSpringDamper,
)
from library.translational import Damper, HardStop, Mass, Reference, Spring

__all__ = ["DRIVE_ENDS", "SOLENOID_ENDS", "drive", "solenoid"]

#: Values after 1 s, of two independent methods that agree to 2e-11.
DRIVE_ENDS = {"motor.i": -0.340421302206, "motor.w_rotor": 0.322014908882,
              "shaft.phi": 0.0889853683611, "load.w": 0.0401749014563,
              "angle.A": 0.322807693177}  # fmt: skip
#: Values after 50 ms and 100 ms, and the scale of each, of two methods that agree to 1e-11.
SOLENOID_ENDS = {"machine.phi": (9.58604516292e-5, 1.55208912671e-9, 1e-4),
                 "machine.x": (1.65839089786e-4, 2.00239904037e-3, 1e-3),
                 "armature.v": (4.94160965414e-3, 7.6e-12, 1.0)}  # fmt: skip


def drive() -> Model:
    """A motor on an H-bridge at 5 kHz, a shaft, and a load that sticks and slips; 1 s."""
    model = Model("drive")
    model.supply, model.earth = DCVoltageSource(voltage="24 V"), ElectricalReference()
    model.bridge = HBridge(model="switched", duty=0.05, frequency="5 kHz", off_conductance="1e-8 S")
    model.motor = DCMotor(resistance="1 ohm", inductance="1 mH", back_emf_constant="1 V*s/rad",
                          inertia="0.01 kg*m^2")  # fmt: skip
    model.shaft = RotationalSpringDamper(stiffness="10 N*m/rad", damping="2 mN*m*s/rad")
    model.load, model.angle = Inertia(inertia="0.01 kg*m^2"), RotationalMotionSensor()
    model.friction = RotationalFriction(
        breakaway_torque="1 N*m", coulomb_torque="0.7 N*m", breakaway_velocity="0.1 rad/s",
        viscous_coefficient="0.01 N*m*s/rad")
    model.ground = RotationalReference()
    model.connect(model.supply.p, model.bridge.p)
    model.connect(model.supply.n, model.bridge.n, model.earth.V)
    model.connect(model.bridge.a, model.motor.p)
    model.connect(model.bridge.b, model.motor.n)
    model.connect(model.motor.R, model.shaft.R)
    model.connect(model.shaft.C, model.load.I, model.friction.R, model.angle.R)
    model.connect(model.motor.C, model.ground.W, model.friction.C, model.angle.C)
    return model


def solenoid(rigid: bool = False) -> Model:
    """Pull-in and drop-out of a solenoid with spring, damper and stops; 100 ms."""
    # on the upper stop, which carries the preload
    start = quantity("2 mm") if rigid else quantity(2e-3 + 2.4e-6, "m")
    law = {"model": "restitution", "restitution": 0} if rigid else {"model": "full"}
    model = Model("solenoid")
    model.source = ControlledVoltageSource(
        voltage=table(["0 s", "40 ms", "40 ms"], ["12 V", "12 V", "0 V"]))
    model.machine, model.earth = Solenoid(x=start), ElectricalReference()
    model.armature, model.frame = Mass(mass="20 g"), Reference()
    model.spring = Spring(stiffness="400 N/m", x=start - quantity("8 mm"))
    model.damper = Damper(damping="0.5 N*s/m")
    model.stop = HardStop(**law, lower_bound="0.2 mm", upper_bound="2 mm", x=start)
    model.connect(model.source.p, model.machine.p)
    model.connect(model.source.n, model.machine.n, model.earth.V)
    model.connect(model.machine.R, model.armature.M, model.spring.R, model.damper.R,
                  model.stop.R)
    model.connect(model.machine.C, model.frame.V, model.spring.C, model.damper.C, model.stop.C)
    return model
