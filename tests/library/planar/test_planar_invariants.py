"""Two free bodies and a component between them: momentum, angular momentum and energy stay."""

import numpy as np
import pytest
from benches import wire
from numpy.testing import assert_allclose

from blocks import Model, Target
from library.planar import (
    Body,
    Circle,
    Contact,
    Ellipse,
    ForceSensor,
    Gravity,
    Prismatic,
    Revolute,
    RigidOffset,
    RollingWheel,
    RotationalBridge,
    SpringDamper,
    TranslationalBridge,
)
from library.rotational import RotationalReference, RotationalSpring
from library.translational import Reference, Spring


def bridge_with_spring(model, bridge, spring, reference, port):
    model.spring, model.frame = spring, reference
    model.connect(bridge.A, model.spring.R)
    model.connect(model.spring.C, getattr(model.frame, port))


BETWEEN = {
    "Revolute": lambda: Revolute(),
    "Prismatic": lambda: Prismatic(angle="40 deg", v="0.7 m/s"),
    "RollingWheel": lambda: RollingWheel(radius="0.3 m", v="0.5 m/s"),
    "RigidOffset": lambda: RigidOffset(dx="0.4 m", dy="0.1 m", angle="20 deg"),
    "ForceSensor": lambda: ForceSensor(),
    "SpringDamper": lambda: SpringDamper(stiffness="50 N/m", free_length="0.2 m"),
    "TranslationalBridge": lambda: TranslationalBridge(angle="30 deg"),
    "RotationalBridge": lambda: RotationalBridge(),
    "Contact": lambda: Contact(curve=Circle("0.3 m"), base=Circle("0.4 m"), friction=0.3,
                               restitution=0.5),
    "Contact of an ellipse": lambda: Contact(
        curve=Ellipse("0.3 m", "0.2 m"), base=Circle("0.4 m"), friction=0.3, restitution=0.5,
        xi_F=Target("180 deg", "none")),
}  # fmt: skip
FLYING = ("SpringDamper", "TranslationalBridge", "RotationalBridge", "Contact",
          "Contact of an ellipse")  # fmt: skip


def pair(name):
    model = Model(name)
    free = {"x": "1 m", "y": "0 m", "vx": "-0.8 m/s", "vy": "0.1 m/s", "w": "1.5 rad/s"}
    model.first = Body(mass="2 kg", inertia="0.3 kg*m^2", center_x="0.1 m", x="0 m", y="0 m",
                       phi="0.3 rad", vx="0.2 m/s", vy="-0.1 m/s", w="-1.1 rad/s")  # fmt: skip
    model.second = Body(mass="1.5 kg", inertia="0.2 kg*m^2", center_y="-0.05 m",
                        **(free if name in FLYING else {}))  # fmt: skip
    model.between, model.still = BETWEEN[name](), Gravity(strength="0 m/s^2")
    wire(model, "first.P between.B still.P", "second.P between.F")
    if name == "TranslationalBridge":
        bridge_with_spring(model, model.between, Spring(stiffness="40 N/m"), Reference(), "V")
    if name == "RotationalBridge":
        bridge_with_spring(model, model.between, RotationalSpring(stiffness="2 N*m/rad"),
                           RotationalReference(), "W")  # fmt: skip
    return model


def momenta(run, name, mass, inertia, cx, cy):
    x, y, phi, vx, vy, w = (run[f"{name}.{v}"].magnitude for v in ("x", "y", "phi", "vx", "vy",
                                                                   "w"))  # fmt: skip
    rx, ry = np.cos(phi) * cx - np.sin(phi) * cy, np.sin(phi) * cx + np.cos(phi) * cy
    ux, uy = mass * (vx - w * ry), mass * (vy + w * rx)
    return np.array([ux, uy, inertia * w + (x + rx) * uy - (y + ry) * ux])


@pytest.mark.parametrize("name", BETWEEN)
def test_what_acts_between_two_free_bodies_changes_neither_momentum_nor_energy(name):
    run = pair(name).simulate("1.5 s", rtol=1e-10)
    total = momenta(run, "first", 2, 0.3, 0.1, 0) + momenta(run, "second", 1.5, 0.2, 0, -0.05)
    assert_allclose(total - total[:, :1], 0, atol=1e-8)
    assert abs(run.energy().residual.to("J").m) < 1e-8
    one = momenta(run, "second", 1.5, 0.2, 0, -0.05)
    assert np.ptp(one, axis=1).max() > 0.05  # something has happened
