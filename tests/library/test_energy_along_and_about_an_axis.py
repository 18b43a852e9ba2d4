"""Every component of mechanics along and about an axis accounts for the work done on it, to 1e-9
of what is turned over."""

import numpy as np
import pytest
from benches import signal, wired
from benches.axis import ROTATIONAL, TRANSLATIONAL

from blocks import cos, quantity, sin
from library.mechanisms import DiscClutch, OneWayClutch, TorqueLimiter
from library.rotational import BearingFriction, ElastoBacklash, RotationalFriction
from library.translational import (
    ElastoGap,
    ForceSource,
    FreeEnd,
    PositionDependentSupport,
    Rod,
    RollingResistance,
    TranslationalFriction,
    VehicleBody,
    table,
)

AXES = {str(axis): axis for axis in (TRANSLATIONAL, ROTATIONAL)}
STOP = {"upper_bound": 0.01, "lower_bound": -0.01, "upper_stiffness": 20e3, "lower_stiffness": 20e3}
DAMPED = {**STOP, "upper_damping": 20, "lower_damping": 5}
BOTH = {
    "spring": ("Spring", {"stiffness": 300, "preload": 5}),
    "table spring": ("Spring", {"law": "table", "deformations": [-0.05, 0, 0.02, 0.09],
                                "forces": [-10, 0, 3, 40]}),
    "damper": ("Damper", {"damping": 2}),
    "asymmetric damper": ("NonlinearDamper", {"damping_forward": 1, "damping_backward": 5}),
    "table damper": ("NonlinearDamper", {"law": "table", "velocities": [-1, 0, 0.3, 1],
                                         "forces": [-4, 0, 1, 2]}),
    "spring damper": ("SpringDamper", {"stiffness": 200, "damping": 3, "preload": -4}),
    "drag": ("QuadraticSpeedDependentForce", {"nominal_velocity": 1}),
    "inerter": ("Inerter", {"inertance": 3}),
    "full stop": ("HardStop", {"model": "full", **DAMPED}),
    "stop with undamped rebound": ("HardStop", {"model": "undamped rebound", **DAMPED}),
    "smooth stop": ("HardStop", {"transition": 0.002, **DAMPED}),
    "force sensor": ("ForceSensor", {}), "power sensor": ("PowerSensor", {}),
    "multi sensor": ("MultiSensor", {}), "motion sensor": ("MotionSensor", {
        "acceleration_port": True}),
}  # fmt: skip
ALONG = {
    "rod": Rod(),
    "friction": TranslationalFriction(breakaway_velocity="5 cm/s", viscous_coefficient="1 N*s/m"),
    "rolling": RollingResistance(threshold_velocity="5 cm/s"),
    "gap": ElastoGap(stiffness="2 kN/m", damping="20 N*s/m", free_length="-5 mm"),
    "support": PositionDependentSupport(positions=quantity([-4, 0, 4], "cm"),
                                        forces=quantity([-9, 0, 5], "N"),
                                        dampings=quantity([1, 4, 2], "N*s/m")),
}  # fmt: skip
ABOUT = {
    "continuous friction": RotationalFriction(breakaway_velocity="0.05 rad/s"),
    "coulomb friction": RotationalFriction(law="coulomb", breakaway_torque="2 N*m",
                                           coulomb_torque="1.5 N*m"),
    "stribeck friction": RotationalFriction(law="stribeck", breakaway_torque="2 N*m",
                                            coulomb_torque="1.5 N*m"),
    "bearing": BearingFriction(speeds=["0 rad/s", "1 rad/s"], torques=["1 N*m", "0.5 N*m"]),
    "backlash": ElastoBacklash(stiffness="2 kN*m/rad", damping="20 N*m*s/rad",
                               backlash="10 mrad"),
    "clutch": DiscClutch(normal_force="3 N", static_coefficient=0.5),
    "torque limiter": TorqueLimiter(limit="2 N*m", slip_torque="1 N*m"),
    "one-way clutch": OneWayClutch(drag_torque="0.3 N*m"),
}  # fmt: skip
PARTS = [*((axis, name) for axis in AXES for name in BOTH), *(("translational", n) for n in ALONG),
         *(("rotational", n) for n in ABOUT)]


@pytest.mark.parametrize(("axis", "name"), PARTS)
def test_energy_of_a_part_between_two_moving_bodies_adds_up(axis, name):
    axis, kind = AXES[axis], BOTH.get(name)
    part = axis(kind[0], **kind[1]) if kind else (ALONG | ABOUT)[name]
    rigid = name in ("rod", "force sensor", "power sensor", "multi sensor")
    force = quantity(6.0, axis.unit("force"))
    model = axis.wired(
        "swinging", "push.R near.M part.R", "part.C far.M holder.R", "holder.C push.C ground.V",
        near=axis("Mass", mass=2, v=0.7), far=axis("Mass", mass=3, v=0.7 if rigid else -0.2),
        part=part, holder=axis("SpringDamper", stiffness=150, damping=2),
        push=axis("ForceSource", force=lambda t: force * cos(quantity("9 rad/s") * t)))
    energy = model.simulate("1.3 s", rtol=1e-12, method="DOP853").energy()
    del model.part
    assert energy.turned_over.to("J").magnitude > 0.1
    assert energy.relative_residual < 1e-9, energy


@pytest.mark.parametrize("axis", AXES.values(), ids=str)
@pytest.mark.parametrize(("source", "keyword", "size"), [
    ("VelocitySource", "velocity", 0.3), ("PositionSource", "position", 0.2),
    ("AccelerationSource", "acceleration", 1), ("ForceSource", "force", 3)])
def test_energy_of_a_source_adds_up(axis, source, keyword, size):
    wave = sin if keyword == "position" else cos
    given = quantity(size, axis.unit(keyword))
    energy = loaded(axis, axis(source, **{
        keyword: lambda t: given * wave(quantity("2 rad/s") * t)}))
    assert energy["source"].supplied != 0
    assert energy.relative_residual < 1e-9, energy


def test_energy_of_a_force_that_jumps_adds_up():
    force = table(["0 s", "0.4 s", "0.4 s", "2 s"], ["0 N", "9 N", "-3 N", "1 N"])
    assert loaded(TRANSLATIONAL, ForceSource(force=force)).relative_residual < 1e-9


def loaded(axis, source):
    """The energies of a source that moves a body and a spring with a damper."""
    model = axis.driven(axis("SpringDamper", stiffness=50, damping=4), source=source)
    axis.wire(model, "source.R load.M", load=axis("Mass", mass=1.5))
    return model.simulate("2 s", rtol=1e-12, method="DOP853").energy()


def test_energy_of_a_vehicle_on_a_windy_hill_adds_up():
    model = wired("hill", "engine.R car.H end.V", "engine.C ground.V", "road.y car.beta",
                  car=VehicleBody(v="20 m/s", headwind="7 m/s", threshold_velocity="1 m/s"),
                  road=signal("rad",
                              lambda t: quantity("0.05 rad") * sin(quantity("0.5 rad/s") * t)),
                  engine=ForceSource(force="700 N"), end=FreeEnd(),
                  ground=TRANSLATIONAL("Reference"))
    energy = model.simulate("20 s", rtol=1e-12, method="DOP853").energy()
    assert energy.relative_residual < 1e-9, energy
    assert np.isclose(energy["car"].stored + energy["car"].dissipated - energy["car"].supplied,
                      energy["engine"].supplied, rtol=1e-9)  # fmt: skip
