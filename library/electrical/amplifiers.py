"""Operational amplifiers."""

import numpy as np

from blocks import Component, Parameter, Port, Variable, where

from .. import symbols
from .domain import electrical


class Amplifier(Component):
    """Base of amplifiers whose inputs draw no current and whose output returns to the reference."""

    symbol = symbols.OPAMP

    p = Port(electrical, doc="non-inverting input")
    n = Port(electrical, doc="inverting input")
    out = Port(electrical, doc="output")
    i = Variable("A", doc="current into the output")
    power_supplied = Variable("W", doc="power given to the circuit")

    def port_equations(self):
        yield self.p.i == 0
        yield self.n.i == 0
        yield self.i == self.out.i
        yield self.power_supplied == -self.out.v * self.i


class OpAmp(Amplifier):
    """Ideal operational amplifier: infinite gain, no limits.

    Equations: v_p = v_n, no current into p and n. The output takes whatever current i
    makes this true; its return is the reference.

    Notes
    -----
    Needs negative feedback; ``check()`` tells where there is none. With positive feedback the same
    equations have a solution too, which no amplifier takes: exchange p and n there, or take
    ``LimitedOpAmp``.
    """

    nullor = "p", "n", "out"

    def equations(self):
        yield self.p.v == self.n.v


class LimitedOpAmp(Amplifier):
    """Operational amplifier of finite gain whose output stays within its supply.

    Equations: v_out = gain (v_p - v_n), limited to lower_voltage and upper_voltage; no current into
    p and n, any current i into the output.

    Notes
    -----
    With positive feedback (Schmitt trigger, multivibrator) there are up to three
    solutions; the amplifier stays at the one where it is.

    References
    ----------
    Modelica Standard Library, ``Electrical.Analog.Ideal.IdealizedOpAmpLimited``.
    """

    gain = Parameter(15000.0, above=0, doc="Voltage gain while not limited")
    upper_voltage = Parameter("15 V", doc="Upper supply")
    lower_voltage = Parameter("-15 V", doc="Lower supply")
    s = Variable("V", doc="output voltage, and beyond a limit by how much the input exceeds")

    def verify(self):
        if np.any(self.lower_voltage >= self.upper_voltage):
            yield (f"upper_voltage is {self.upper_voltage:~P} and lower_voltage "
                   f"{self.lower_voltage:~P}. The upper one must be above the lower.")  # fmt: skip

    def equations(self):
        yield self.out.v == where(self.s > self.upper_voltage, self.upper_voltage, where(
            self.s < self.lower_voltage, self.lower_voltage, self.s))
        yield self.p.v - self.n.v == self.out.v / self.gain + (self.s - self.out.v)
