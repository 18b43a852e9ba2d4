"""Small circuits for tests of rotational components."""

from __future__ import annotations

from blocks import Model, quantity
from library.rotational import (
    AngularVelocitySource,
    Inertia,
    RotationalReference,
    TorqueSource,
)

TIGHT = {"rtol": 1e-12, "method": "DOP853"}


def driven(part, velocity=None, *, source=None):
    """Source, part and ground in a loop: w of the part is w of the source."""
    model = Model("driven")
    model.source = source or AngularVelocitySource(velocity=velocity)
    model.part = part
    model.ground = RotationalReference()
    model.connect(model.source.R, model.part.R)
    model.connect(model.source.C, model.part.C, model.ground.W)
    return model


def spun(part, *, inertia="2 kg*m^2", velocity="1 rad/s", torque="0 N*m"):
    """An inertia at R of a part whose C is on the ground, with a torque on the inertia."""
    model = Model("spun")
    model.body = Inertia(inertia=inertia, w=velocity)
    model.part = part
    model.drive = TorqueSource(torque=torque)
    model.ground = RotationalReference()
    model.connect(model.body.I, model.part.R, model.drive.R)
    model.connect(model.part.C, model.drive.C, model.ground.W)
    return model


def ramp(slope):
    """A function of time, to sweep through speeds."""
    return lambda t: quantity(slope) * t
