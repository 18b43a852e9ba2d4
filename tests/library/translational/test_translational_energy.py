"""Every component accounts for the work done on it, to 1e-9 of what is turned over."""

from __future__ import annotations

import numpy as np
import pytest
from benches import signal
from benches.translational import driven

from blocks import Model, cos, quantity, sin
from library.translational import (
    AccelerationSource,
    Damper,
    ElastoGap,
    ForceSensor,
    ForceSource,
    FreeEnd,
    HardStop,
    Inerter,
    Mass,
    MotionSensor,
    MultiSensor,
    NonlinearDamper,
    PositionDependentSupport,
    PositionSource,
    PowerSensor,
    QuadraticSpeedDependentForce,
    Reference,
    Rod,
    RollingResistance,
    Spring,
    SpringDamper,
    TranslationalFriction,
    VehicleBody,
    VelocitySource,
    table,
)

STOP = {"upper_bound": "10 mm", "lower_bound": "-10 mm", "upper_stiffness": "20 kN/m",
        "lower_stiffness": "20 kN/m"}  # fmt: skip

PARTS = {
    "spring": Spring(stiffness="300 N/m", preload="5 N"),
    "table spring": Spring(law="table", deformations=quantity([-50, 0, 20, 90], "mm"),
                           forces=quantity([-10, 0, 3, 40], "N")),
    "damper": Damper(damping="2 N*s/m"),
    "asymmetric damper": NonlinearDamper(damping_forward="1 N*s/m", damping_backward="5 N*s/m"),
    "table damper": NonlinearDamper(law="table", velocities=quantity([-1, 0, 0.3, 1], "m/s"),
                                    forces=quantity([-4, 0, 1, 2], "N")),
    "spring damper": SpringDamper(stiffness="200 N/m", damping="3 N*s/m", preload="-4 N"),
    "drag": QuadraticSpeedDependentForce(),
    "inerter": Inerter(inertance="3 kg"),
    "rod": Rod(),
    "friction": TranslationalFriction(breakaway_velocity="5 cm/s", viscous_coefficient="1 N*s/m"),
    "rolling": RollingResistance(threshold_velocity="5 cm/s"),
    "full stop": HardStop(model="full", **STOP),
    "stop with undamped rebound": HardStop(model="undamped rebound", **STOP),
    "smooth stop": HardStop(transition="2 mm", **STOP),
    "gap": ElastoGap(stiffness="2 kN/m", damping="20 N*s/m", free_length="-5 mm"),
    "support": PositionDependentSupport(positions=quantity([-4, 0, 4], "cm"),
                                        forces=quantity([-9, 0, 5], "N"),
                                        dampings=quantity([1, 4, 2], "N*s/m")),
    "force sensor": ForceSensor(),
    "power sensor": PowerSensor(),
    "multi sensor": MultiSensor(),
    "motion sensor": MotionSensor(acceleration_port=True),
}  # fmt: skip


def is_rigid(part):
    return isinstance(part, (Rod, ForceSensor, PowerSensor, MultiSensor))


@pytest.mark.parametrize("name", PARTS)
def test_energy_of_a_part_between_two_moving_bodies_adds_up(name):
    part = PARTS[name]
    model = Model("swinging")
    rigid = is_rigid(part)
    model.near, model.far = (
        Mass(mass="2 kg", v="0.7 m/s"),
        Mass(mass="3 kg", v="0.7 m/s" if rigid else "-0.2 m/s"),
    )
    model.part = part
    model.push = ForceSource(force=lambda t: quantity("6 N") * cos(quantity("9 rad/s") * t))
    model.holder = SpringDamper(stiffness="150 N/m", damping="2 N*s/m")
    model.ground = Reference()
    model.connect(model.push.R, model.near.M, model.part.R)
    model.connect(model.part.C, model.far.M, model.holder.R)
    model.connect(model.holder.C, model.push.C, model.ground.V)
    energy = model.simulate("1.3 s", rtol=1e-12, method="DOP853").energy()
    del model.part
    assert energy.turned_over.to("J").magnitude > 0.1
    assert energy.relative_residual < 1e-9, energy


@pytest.mark.parametrize(
    "source",
    [
        VelocitySource(velocity=lambda t: quantity("0.3 m/s") * cos(quantity("2 rad/s") * t)),
        PositionSource(position=lambda t: quantity("0.2 m") * sin(quantity("2 rad/s") * t)),
        AccelerationSource(
            acceleration=lambda t: quantity("1 m/s^2") * cos(quantity("2 rad/s") * t)
        ),
        ForceSource(force=table(["0 s", "0.4 s", "0.4 s", "2 s"], ["0 N", "9 N", "-3 N", "1 N"])),
    ],
    ids=lambda s: type(s).__name__,
)
def test_energy_of_a_source_adds_up(source):
    model = driven(SpringDamper(stiffness="50 N/m", damping="4 N*s/m"), source=source)
    model.load = Mass(mass="1.5 kg")
    model.connect(model.source.R, model.load.M)
    energy = model.simulate("2 s", rtol=1e-12, method="DOP853").energy()
    del model.source
    assert energy["source"].supplied != 0
    assert energy.relative_residual < 1e-9, energy


def test_energy_of_a_vehicle_on_a_windy_hill_adds_up():
    model = Model("hill")
    model.car = VehicleBody(v="20 m/s", headwind="7 m/s", threshold_velocity="1 m/s")
    model.road = signal("rad", lambda t: quantity("0.05 rad") * sin(quantity("0.5 rad/s") * t))
    model.engine = ForceSource(force="700 N")
    model.end, model.ground = FreeEnd(), Reference()
    model.connect(model.engine.R, model.car.H, model.end.V)
    model.connect(model.engine.C, model.ground.V)
    model.connect(model.road.y, model.car.beta)
    energy = model.simulate("20 s", rtol=1e-12, method="DOP853").energy()
    assert energy.relative_residual < 1e-9, energy
    assert np.isclose(energy["car"].stored + energy["car"].dissipated - energy["car"].supplied,
                      energy["engine"].supplied, rtol=1e-9)  # fmt: skip
