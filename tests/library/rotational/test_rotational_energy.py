"""Every component accounts for the work done on it, to 1e-9 of what is turned over."""

from __future__ import annotations

import pytest

from blocks import Model, cos, quantity, sin
from library.mechanisms import DiscClutch, OneWayClutch, TorqueLimiter
from library.rotational import (
    AngleSource,
    AngularAccelerationSource,
    AngularVelocitySource,
    BearingFriction,
    ElastoBacklash,
    Inertia,
    MultiSensor,
    PowerSensor,
    QuadraticSpeedDependentTorque,
    RotationalDamper,
    RotationalFriction,
    RotationalHardStop,
    RotationalInerter,
    RotationalMotionSensor,
    RotationalNonlinearDamper,
    RotationalReference,
    RotationalSpring,
    RotationalSpringDamper,
    TorqueSensor,
    TorqueSource,
)

STOP = {"upper_bound": "10 mrad", "lower_bound": "-10 mrad", "upper_stiffness": "20 kN*m/rad",
        "lower_stiffness": "20 kN*m/rad"}  # fmt: skip
DAMPED = {**STOP, "upper_damping": "20 N*m*s/rad", "lower_damping": "5 N*m*s/rad"}

PARTS = {
    "spring": RotationalSpring(stiffness="300 N*m/rad", preload="5 N*m"),
    "table spring": RotationalSpring(law="table", deformations=quantity([-50, 0, 20, 90], "mrad"),
                                     torques=quantity([-10, 0, 3, 40], "N*m")),
    "damper": RotationalDamper(damping="2 N*m*s/rad"),
    "spring damper": RotationalSpringDamper(stiffness="200 N*m/rad", damping="3 N*m*s/rad",
                                            preload="-4 N*m"),
    "inerter": RotationalInerter(inertance="3 kg*m^2"),
    "asymmetric damper": RotationalNonlinearDamper(damping_forward="1 N*m*s/rad",
                                                   damping_backward="5 N*m*s/rad"),
    "fan": QuadraticSpeedDependentTorque(nominal_speed="1 rad/s"),
    "continuous friction": RotationalFriction(breakaway_velocity="0.05 rad/s"),
    "coulomb friction": RotationalFriction(law="coulomb", breakaway_torque="2 N*m",
                                           coulomb_torque="1.5 N*m"),
    "stribeck friction": RotationalFriction(law="stribeck", breakaway_torque="2 N*m",
                                            coulomb_torque="1.5 N*m"),
    "bearing": BearingFriction(speeds=["0 rad/s", "1 rad/s"], torques=["1 N*m", "0.5 N*m"]),
    "full stop": RotationalHardStop(model="full", **DAMPED),
    "stop with undamped rebound": RotationalHardStop(model="undamped rebound", **DAMPED),
    "smooth stop": RotationalHardStop(transition="2 mrad", **DAMPED),
    "backlash": ElastoBacklash(stiffness="2 kN*m/rad", damping="20 N*m*s/rad",
                               backlash="10 mrad"),
    "torque sensor": TorqueSensor(),
    "power sensor": PowerSensor(),
    "multi sensor": MultiSensor(),
    "motion sensor": RotationalMotionSensor(acceleration_port=True),
    "clutch": DiscClutch(normal_force="3 N", static_coefficient=0.5),
    "torque limiter": TorqueLimiter(limit="2 N*m", slip_torque="1 N*m"),
    "one-way clutch": OneWayClutch(drag_torque="0.3 N*m"),
}  # fmt: skip
RIGID = (TorqueSensor, PowerSensor, MultiSensor)


@pytest.mark.parametrize("name", PARTS)
def test_energy_of_a_part_between_two_moving_bodies_adds_up(name):
    part = PARTS[name]
    model = Model("swinging")
    model.near = Inertia(inertia="2 kg*m^2", w="0.7 rad/s")
    model.far = Inertia(inertia="3 kg*m^2",
                        w="0.7 rad/s" if isinstance(part, RIGID) else "-0.2 rad/s")  # fmt: skip
    model.part = part
    model.drive = TorqueSource(
        torque=lambda t: quantity("6 N*m") * cos(quantity("9 rad/s") * t)
    )
    model.holder = RotationalSpringDamper(stiffness="150 N*m/rad", damping="2 N*m*s/rad")
    model.ground = RotationalReference()
    model.connect(model.drive.R, model.near.I, model.part.R)
    model.connect(model.part.C, model.far.I, model.holder.R)
    model.connect(model.holder.C, model.drive.C, model.ground.W)
    energy = model.simulate("1.3 s", rtol=1e-12, method="DOP853").energy()
    del model.part
    assert energy.turned_over.to("J").magnitude > 0.1
    assert energy.relative_residual < 1e-9, energy


@pytest.mark.parametrize(
    "source",
    [
        AngularVelocitySource(
            velocity=lambda t: quantity("0.3 rad/s") * cos(quantity("2 rad/s") * t)
        ),
        AngleSource(angle=lambda t: quantity("0.2 rad") * sin(quantity("2 rad/s") * t)),
        AngularAccelerationSource(
            acceleration=lambda t: quantity("1 rad/s^2") * cos(quantity("2 rad/s") * t)
        ),
        TorqueSource(torque=lambda t: quantity("3 N*m") * cos(quantity("2 rad/s") * t)),
    ],
    ids=lambda s: type(s).__name__,
)
def test_energy_of_a_source_adds_up(source):
    model = Model("driven")
    model.source, model.load = source, Inertia(inertia="1.5 kg*m^2")
    model.part = RotationalSpringDamper(stiffness="50 N*m/rad", damping="4 N*m*s/rad")
    model.ground = RotationalReference()
    model.connect(model.source.R, model.part.R, model.load.I)
    model.connect(model.source.C, model.part.C, model.ground.W)
    energy = model.simulate("2 s", rtol=1e-12, method="DOP853").energy()
    del model.source
    assert energy["source"].supplied != 0
    assert energy.relative_residual < 1e-9, energy
