"""Prescribed voltages and currents.

Which way a positive current flows is decided here, by the order of the ports that a
base names: inside the source from the first to the second. Of ``DCCurrentSource`` and
``ACCurrentSource`` that is from p to n, as in Modelica; the plus sign of Simscape's blocks is
at n, where the current leaves. Of all others it is along the arrow, from tail to head.
"""

from math import pi

from blocks import Branch, Input, Parameter, sin, time

from .. import symbols
from ..heat import Supplying
from .domain import TwoPort, electrical


class Arrow(Branch, domain=electrical, ports=("tail", "head")):
    """Base of current sources drawn as an arrow.

    Gives i, the current along the arrow, which enters at tail and leaves at head into
    the circuit, and v = v_tail - v_head.
    """


class DCVoltageSource(Supplying, TwoPort):
    """Constant voltage between p and n, whatever the current.

    Equation: v = voltage. The current i from p to n is negative where the source
    delivers power. For a voltage that varies take ``ControlledVoltageSource``.

    Notes
    -----
    voltage (default not verified).
    """

    symbol = symbols.VOLTAGE_SOURCE

    voltage = Parameter("1 V", doc="Voltage of p against n", advice={
        "A": "A current belongs to DCCurrentSource(current=…)."})  # fmt: skip

    def equations(self):
        yield self.v == self.voltage


class ACVoltageSource(Supplying, TwoPort):
    """Sinusoidal voltage between p and n, whatever the current.

    Equation: v = amplitude sin(2 pi frequency t + phase).

    Notes
    -----
    amplitude (default not verified) is the peak value, sqrt(2) times the effective one.
    """

    symbol = symbols.VOLTAGE_SOURCE

    amplitude = Parameter("1 V", doc="Peak voltage")
    frequency = Parameter("60 Hz", minimum=0, doc="Turns per time")
    phase = Parameter("0 deg", doc="Angle at time 0")

    def equations(self):
        yield self.v == self.amplitude * sin(2 * pi * self.frequency * time + self.phase)


class ControlledVoltageSource(Supplying, TwoPort):
    """Prescribed voltage between p and n, whatever the current.

    Equation: v = vT.

    Examples
    --------
    >>> from blocks import quantity, where
    >>> from library.electrical import table
    >>> step = ControlledVoltageSource(
    ...     voltage=lambda t: where(t < quantity("1 s"), quantity("0 V"), quantity("5 V")))
    >>> ramp = ControlledVoltageSource(voltage=table(["0 s", "2 s"], ["0 V", "24 V"]))
    """

    symbol = symbols.VOLTAGE_SOURCE

    voltage = Parameter("0 V", varying=True, doc="Voltage of p against n", advice={
        "A": "A current belongs to ControlledCurrentSource(current=…)."})  # fmt: skip
    vT = Input("V", default="voltage", doc="voltage of p against n")

    def equations(self):
        yield self.v == self.vT


class DCCurrentSource(Supplying, TwoPort):
    """Constant current from p to n through the source, whatever the voltage.

    Equation: i = current. It leaves into the circuit at n.

    Notes
    -----
    Simscape's DC Current Source has its + where this has n.
    """

    symbol = symbols.CURRENT_SOURCE

    current = Parameter("1 A", doc="Current from p to n inside the source", advice={
        "V": "A voltage belongs to DCVoltageSource(voltage=…)."})  # fmt: skip

    def equations(self):
        yield self.i == self.current


class ACCurrentSource(Supplying, TwoPort):
    """Sinusoidal current from p to n through the source, whatever the voltage.

    Equation: i = amplitude sin(2 pi frequency t + phase).

    Notes
    -----
    Simscape's AC Current Source has its + where this has n.
    """

    symbol = symbols.CURRENT_SOURCE

    amplitude = Parameter("1 A", doc="Peak current")
    frequency = Parameter("60 Hz", minimum=0, doc="Turns per time")
    phase = Parameter("0 deg", doc="Angle at time 0")

    def equations(self):
        yield self.i == self.amplitude * sin(2 * pi * self.frequency * time + self.phase)


class ControlledCurrentSource(Supplying, Arrow):
    """Prescribed current along the arrow from tail to head, whatever the voltage.

    Equation: i = iT. It leaves into the circuit at head.
    """

    symbol = symbols.CURRENT_SOURCE

    current = Parameter("0 A", varying=True, doc="Current along the arrow", advice={
        "V": "A voltage belongs to ControlledVoltageSource(voltage=…)."})  # fmt: skip
    iT = Input("A", default="current", doc="current along the arrow")

    def equations(self):
        yield self.i == self.iT
