"""Four inertias in a row with three clutches, against an independent event-driven solution.

The numbers were made with a separate program (events and a quadratic programme for the
sticking torques), not with this toolkit. That program lists one instant more,
1.220478727 s: from 1.2034 s on the middle clutch carries exactly its sliding torque of
3 N m while both sides accelerate alike, so it may be called sliding or sticking, with the
same motion.
"""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from blocks import quantity, sin
from library.mechanisms import DiscClutch, TorqueLimiter
from library.rotational import (
    Inertia,
    RotationalDamper,
    RotationalMotionSensor,
    RotationalReference,
    TorqueSource,
)

EVENTS = [1.203401153, 2.597392186, 3.199736956, 3.281821611, 5.170678442, 5.552534496,
          5.737918088, 7.779191192, 8.204391572, 8.253573952]  # fmt: skip
ANGLES = [35.682863656, 36.011461769, 36.011461769, 37.769258668]
SPEEDS = [-1.510617451, 0.089919925, 0.089919925, 0.089919925]


def disc(static, kinetic):
    """1 N on one surface of 1 m: the coefficients are torques in N m."""
    return DiscClutch(normal_force="1 N", surfaces=1, effective_radius="1 m",
                      static_coefficient=static, kinetic_coefficient=kinetic)  # fmt: skip


def limiter(static, kinetic):
    return TorqueLimiter(limit=quantity(static, "N*m"), slip_torque=quantity(kinetic, "N*m"))


@pytest.mark.parametrize("clutch", [disc, limiter])
def test_a_train_of_clutches_slips_and_sticks_at_the_known_instants(clutch):
    model = wired("train", ground=RotationalReference())
    speeds = ["0 rad/s", "0 rad/s", "0 rad/s", "10 rad/s"]
    for i, (size, w) in enumerate(zip([1, 0.5, 0.5, 1], speeds, strict=True)):
        body = model.add(f"j{i}", Inertia(inertia=quantity(size, "kg*m^2"), w=w))
        angle = model.add(f"a{i}", RotationalMotionSensor(reference="absolute"))
        model.connect(body.I, angle.R)
    for i, (static, kinetic) in enumerate([(5, 4), (3.5, 3), (2.4, 2)]):
        part = model.add(f"c{i}", clutch(static, kinetic))
        model.connect(model[f"j{i}"].I, part.R)
        model.connect(model[f"j{i + 1}"].I, part.C)
    model.drive = TorqueSource(
        torque=lambda t: quantity("10 N*m") * sin(quantity(0.4 * np.pi, "rad/s") * t)
    )
    wire(model, "drive.R j0.I", "load.R j3.I", "drive.C load.C ground.W",
         load=RotationalDamper(damping="0.3 N*m*s/rad"))
    run = model.simulate("10 s", rtol=1e-11)
    switched = [e.time for e in run.events if e.component != "c1"]
    switched = sorted(set(np.round(switched, 9)))
    assert_allclose(switched, EVENTS, rtol=0, atol=1e-7)
    angles = [run[f"a{i}.A"].final.to("rad").magnitude for i in range(4)]
    assert_allclose(angles, ANGLES, rtol=0, atol=1e-7)
    speeds = [run[f"j{i}.w"].final.to("rad/s").magnitude for i in range(4)]
    assert_allclose(speeds, SPEEDS, rtol=0, atol=1e-7)
    assert run.energy().relative_residual < 1e-9
