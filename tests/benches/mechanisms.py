"""Small circuits for tests of mechanisms."""

from blocks import Model, quantity
from library.rotational import Inertia, RotationalReference, TorqueSource, rotational
from library.translational import ForceSource, Mass, Reference

TIGHT = {"rtol": 1e-12, "method": "DOP853"}


def is_rotational(port):
    return port.port.domain is rotational


def loaded(part, ports, sizes=None, drives=None):
    """A body ``body_X`` and a source ``drive_X`` at every port X of a part.

    Sizes are kg m² or kg, drives N m or N.
    """
    model = Model("loaded")
    model.part = part
    model.ground, model.wall = RotationalReference(), Reference()
    for i, name in enumerate(ports):
        port = getattr(part, name)
        size = 1.0 if sizes is None else sizes[i]
        drive = 0.0 if drives is None else drives[i]
        if is_rotational(port):
            body = model.add(f"body_{name}", Inertia(inertia=quantity(size, "kg*m^2")))
            source = model.add(f"drive_{name}", TorqueSource(torque=quantity(drive, "N*m")))
            model.connect(port, body.I, source.R)
            model.connect(source.C, model.ground.W)
        else:
            body = model.add(f"body_{name}", Mass(mass=quantity(size, "kg")))
            source = model.add(f"drive_{name}", ForceSource(force=quantity(drive, "N")))
            model.connect(port, body.M, source.R)
            model.connect(source.C, model.wall.V)
    for ground, rotates in (("ground", True), ("wall", False)):
        if not any(is_rotational(getattr(part, n)) == rotates for n in ports):
            delattr(model, ground)
    return model
