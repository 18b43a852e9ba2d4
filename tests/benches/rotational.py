"""Small circuits for tests of rotational components."""

from benches.axis import ROTATIONAL
from blocks import quantity

TIGHT = {"rtol": 1e-12, "method": "DOP853"}
driven = ROTATIONAL.driven


def spun(part, *, inertia=2, velocity=1, torque=0):
    """An inertia at R of a part whose C is on the ground, with a torque on the inertia."""
    return ROTATIONAL.thrown(part, mass=inertia, velocity=velocity, force=torque)


def ramp(slope):
    """A function of time, to sweep through speeds."""
    return lambda t: quantity(slope) * t
