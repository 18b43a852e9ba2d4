"""Small circuits for tests of translational components."""

from __future__ import annotations

from blocks import Model
from library.translational import ForceSource, Mass, Reference, VelocitySource


def driven(part, velocity=None, *, source=None):
    """Source, part and ground in a loop: v of the part is v of the source."""
    model = Model("driven")
    model.source = source or VelocitySource(velocity=velocity)
    model.part = part
    model.ground = Reference()
    model.connect(model.source.R, model.part.R)
    model.connect(model.source.C, model.part.C, model.ground.V)
    return model


def thrown(part, *, mass="2 kg", velocity="1 m/s", force="0 N"):
    """A mass at R of a part whose C is on the ground, with a force on the mass."""
    model = Model("thrown")
    model.body = Mass(mass=mass, v=velocity)
    model.part = part
    model.push = ForceSource(force=force)
    model.ground = Reference()
    model.connect(model.body.M, model.part.R, model.push.R)
    model.connect(model.part.C, model.push.C, model.ground.V)
    return model
