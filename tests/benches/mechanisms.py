"""Small circuits for tests of mechanisms."""

import numpy as np

from benches import wire, wired
from blocks import quantity
from library.rotational import Inertia, RotationalReference, TorqueSource, rotational
from library.translational import ForceSource, Mass, Reference

TIGHT = {"rtol": 1e-12, "method": "DOP853"}
CRANK, ROD = 0.05, 0.2  # m


def place(angle):
    """Distance of a slider from the shaft of its crank."""
    return CRANK * np.cos(angle) + np.sqrt(ROD**2 - (CRANK * np.sin(angle)) ** 2)


def lever(angle):
    """Its change with the angle."""
    side = CRANK * np.sin(angle)
    return -side - side * CRANK * np.cos(angle) / np.sqrt(ROD**2 - side**2)


def is_rotational(port):
    return port.port.domain is rotational


def loaded(part, ports, sizes=None, drives=None):
    """A body ``body_X`` and a source ``drive_X`` at every port X of a part.

    Sizes are kg m² or kg, drives N m or N.
    """
    model, turns = wired("loaded", part=part), {n: is_rotational(getattr(part, n)) for n in ports}
    if any(turns.values()):
        model.ground = RotationalReference()
    if not all(turns.values()):
        model.wall = Reference()
    for name, size, drive in zip(ports, sizes or [1.0] * len(ports), drives or [0.0] * len(ports),
                                 strict=True):
        if turns[name]:
            body, source, at, ground = (Inertia(inertia=quantity(size, "kg*m^2")), TorqueSource(
                torque=quantity(drive, "N*m")), "I", "ground.W")
        else:
            body, source, at, ground = (Mass(mass=quantity(size, "kg")), ForceSource(
                force=quantity(drive, "N")), "M", "wall.V")
        wire(model, f"part.{name} body_{name}.{at} drive_{name}.R", f"drive_{name}.C {ground}",
             **{f"body_{name}": body, f"drive_{name}": source})
    return model
