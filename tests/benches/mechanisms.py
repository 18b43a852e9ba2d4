"""Small circuits for tests of mechanisms."""

from benches import wire, wired
from blocks import quantity
from library.rotational import Inertia, RotationalReference, TorqueSource, rotational
from library.translational import ForceSource, Mass, Reference

TIGHT = {"rtol": 1e-12, "method": "DOP853"}


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
