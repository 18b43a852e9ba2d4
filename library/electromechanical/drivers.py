"""A PWM voltage and a bridge that reads it, both averaged over their pulses, as Simscape's are."""

import numpy as np

from blocks import Component, Input, Option, Parameter, Port, Variable, maximum, minimum, where

from ..electrical import electrical
from ..heat import Dissipative


def _by_signal(source):
    return source.control == "signal"


def _by_voltage(source):
    return not _by_signal(source)


class PWMVoltage(Component):
    """Mean of a voltage that is modulated by pulse widths.

    Equations: v = v_p2 - v_n2 = duty amplitude, with the reference r = v_p1 - v_n1, which draws no
    current, or with ``control="signal"`` r = u, and duty = (r - minimum) / (maximum - minimum)
    between 0 and 1.
    """

    control = Option("voltage", ("voltage", "signal"), doc="where the reference comes from")
    p1 = Port(electrical, when=_by_voltage, doc="reference")
    n1 = Port(electrical, when=_by_voltage, doc="reference, negative")
    u = Input("1", when=_by_signal, doc="reference")
    p2 = Port(electrical, doc="output")
    n2 = Port(electrical, doc="output, negative")
    amplitude = Parameter("5 V", doc="Voltage of a pulse")
    minimum_voltage = Parameter("0 V", when=_by_voltage, doc="Reference of no pulse at all")
    maximum_voltage = Parameter("5 V", when=_by_voltage, doc="Reference of pulses without a gap")
    minimum_signal = Parameter(0, when=_by_signal, doc="Reference of no pulse at all")
    maximum_signal = Parameter(1, when=_by_signal, doc="Reference of pulses without a gap")
    duty = Variable("1", doc="share of the time of a pulse")
    v = Variable("V", doc="voltage of p2 minus that of n2")
    i = Variable("A", doc="current into p2")
    power_supplied = Variable("W", doc="power given to the circuit")

    def _bounds(self):
        if _by_signal(self):
            return self.minimum_signal, self.maximum_signal
        return self.minimum_voltage, self.maximum_voltage

    def verify(self):
        low, high = self._bounds()
        if np.any(low >= high):
            word = self.control
            yield f"minimum_{word} is {low:~P}, not below maximum_{word}, which is {high:~P}."

    def equations(self):
        low, high = self._bounds()
        if _by_voltage(self):
            yield self.p1.i == 0
            yield self.n1.i == 0
        reference = self.u if _by_signal(self) else self.p1.v - self.n1.v
        yield self.duty == minimum(maximum((reference - low) / (high - low), 0), 1)
        yield self.v == self.p2.v - self.n2.v
        yield self.v == self.amplitude * self.duty
        yield self.p2.i == self.i
        yield self.n2.i == -self.i
        yield self.power_supplied == -self.v * self.i


class BridgeDriver(Dissipative):
    """Motor driver of four switches with a supply of its own, averaged over its pulses.

    Equations, with the current i out of a and duty = v_PWM / pwm_amplitude between 0 and 1:
    v = v_a - v_b = duty supply_voltage - on_resistance i, while v_REV is above reverse_threshold
    -duty supply_voltage - on_resistance i. While v_BRK is above brake_threshold the load is
    shorted by one switch in series with another beside its diode:
    v = -(R + R diode_resistance / (R + diode_resistance)) i with R = on_resistance / 2.

    PWM, REV and BRK are read against REF and draw no current. Takes the current of the load as
    smooth, and feeds back what a braking motor gives. ``HBridge`` shows its supply, and pulses.
    """

    PWM = Port(electrical, doc="mean of the pulses")
    REF = Port(electrical, doc="what PWM, REV and BRK are read against")
    REV = Port(electrical, doc="reverses the load")
    BRK = Port(electrical, doc="shorts the load")
    a = Port(electrical, doc="load, positive while REV is low")
    b = Port(electrical, doc="load")
    supply_voltage = Parameter("12 V", doc="Voltage at the load without current")
    pwm_amplitude = Parameter("5 V", above=0, doc="Voltage at PWM of the whole supply")
    reverse_threshold = Parameter("2.5 V", doc="Voltage at REV above which it reverses")
    brake_threshold = Parameter("2.5 V", doc="Voltage at BRK above which it brakes")
    on_resistance = Parameter("0.1 ohm", above=0, doc="Resistance of two switches in series")
    diode_resistance = Parameter("0.1 ohm", above=0, doc="Resistance of a diode")
    duty = Variable("1", doc="share of the supply, negative while it reverses")
    v = Variable("V", doc="voltage of the load, v_a - v_b")
    i = Variable("A", doc="current out of a")
    power_supplied = Variable("W", doc="power of its supply")

    def equations(self):
        reference, half = self.REF.v, self.on_resistance / 2
        for port in (self.PWM, self.REF, self.REV, self.BRK):
            yield port.i == 0
        share = minimum(maximum((self.PWM.v - reference) / self.pwm_amplitude, 0), 1)
        sense = where(self.REV.v - reference > self.reverse_threshold, -1, 1)
        brakes = self.BRK.v - reference > self.brake_threshold
        shorted = half + half * self.diode_resistance / (half + self.diode_resistance)
        resistance = where(brakes, shorted, self.on_resistance)
        yield self.duty == where(brakes, 0, sense * share)
        yield self.v == self.a.v - self.b.v
        yield self.v == self.duty * self.supply_voltage - resistance * self.i
        yield self.a.i == -self.i
        yield self.b.i == self.i
        yield self.power_dissipated == resistance * self.i**2
        yield self.power_supplied == self.duty * self.supply_voltage * self.i
