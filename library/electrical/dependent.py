"""Sources whose voltage or current follows another one of the circuit.

A voltage is read between p1 and n1 without a current, a current through them without
a voltage. Power comes from the source itself; nothing goes from one pair to the other.
"""

from blocks import Parameter, Port, Variable

from .. import symbols
from ..heat import Supplying
from .couplings import FourTerminals
from .domain import electrical
from .sources import Arrow


class ControlledVoltage(FourTerminals):
    """Base of voltage sources that read between p1 and n1. A subclass states v2 and the control."""

    i2 = Variable("A", doc="current into p2")
    power_supplied = Variable("W", doc="power given to the circuit")

    def port_equations(self):
        yield from self.pairs(into_p2=self.i2)
        yield self.power_supplied == -self.v2 * self.i2


class VoltageControlledVoltageSource(ControlledVoltage):
    """Voltage that is a multiple of another voltage (VCVS).

    Equations: v2 = gain v1, i1 = 0. The default is not verified.
    """

    symbol = symbols.VOLTAGE_BY_VOLTAGE

    gain = Parameter(1.0, doc="Voltage of the output per voltage of the control")

    def equations(self):
        yield self.i1 == 0
        yield self.v2 == self.gain * self.v1


class CurrentControlledVoltageSource(ControlledVoltage):
    """Voltage that is a multiple of a current (CCVS).

    Equations: v2 = gain i1, v1 = 0, with i1 from p1 to n1.
    """

    symbol = symbols.VOLTAGE_BY_CURRENT

    gain = Parameter("1 ohm", doc="Voltage of the output per current of the control")

    def equations(self):
        yield self.v1 == 0
        yield self.v2 == self.gain * self.i1


class ControlledArrow(Supplying, Arrow):
    """Base of current sources that read between p1 and n1. A subclass states i and the control."""

    p1 = Port(electrical, doc="positive end of the control")
    n1 = Port(electrical, doc="negative end of the control")
    v1 = Variable("V", doc="voltage of p1 minus that of n1")
    i1 = Variable("A", doc="current into p1")

    def port_equations(self):
        yield from super().port_equations()
        yield self.v1 == self.p1.v - self.n1.v
        yield self.p1.i == self.i1
        yield self.n1.i == -self.i1


class VoltageControlledCurrentSource(ControlledArrow):
    """Current along the arrow that is a multiple of a voltage (VCCS).

    Equations: i = gain v1, i1 = 0; i leaves into the circuit at head.
    """

    symbol = symbols.CURRENT_BY_VOLTAGE

    gain = Parameter("1 S", doc="Current of the output per voltage of the control")

    def equations(self):
        yield self.i1 == 0
        yield self.i == self.gain * self.v1


class CurrentControlledCurrentSource(ControlledArrow):
    """Current along the arrow that is a multiple of another current (CCCS).

    Equations: i = gain i1, v1 = 0, with i1 from p1 to n1; i leaves into the circuit at head.
    """

    symbol = symbols.CURRENT_BY_CURRENT

    gain = Parameter(1.0, doc="Current of the output per current of the control")

    def equations(self):
        yield self.v1 == 0
        yield self.i == self.gain * self.i1
