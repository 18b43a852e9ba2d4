"""Small circuits for tests of motors and actuators."""

from benches import wired
from library.electrical import ControlledVoltageSource, ElectricalReference

TIGHT = {"rtol": 1e-11, "method": "DOP853"}


def fed(machine, voltage="10 V"):
    """A machine between p and n of a voltage."""
    return wired("fed", "source.p machine.p", "source.n machine.n earth.V",
                 source=ControlledVoltageSource(voltage=voltage), machine=machine,
                 earth=ElectricalReference())
