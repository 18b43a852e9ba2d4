"""Small circuits for tests of motors and actuators."""

from blocks import Model
from library.electrical import ControlledVoltageSource, ElectricalReference

TIGHT = {"rtol": 1e-11, "method": "DOP853"}


def fed(machine, voltage="10 V"):
    """A machine between p and n of a voltage."""
    model = Model("fed")
    model.source, model.machine = ControlledVoltageSource(voltage=voltage), machine
    model.earth = ElectricalReference()
    model.connect(model.source.p, model.machine.p)
    model.connect(model.source.n, model.machine.n, model.earth.V)
    return model
