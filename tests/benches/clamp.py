"""A square wave, and behind resistors a law to ground beside capacitors."""

import numpy as np

from benches import wire
from blocks import Model, Parameter, breakpoints, quantity, time, where
from library.electrical import Capacitor, ElectricalReference, Resistor, TwoPort

RESISTANCE, CAPACITANCE, HALF = 1e3, 1e-7, 0.5e-3


class Square(TwoPort):
    """A voltage that changes its sign every half a millisecond; negative at first."""

    amplitude = Parameter("10 V")

    def equations(self):
        phase = time / quantity(2 * HALF, "s")
        yield breakpoints(quantity("0 s"), quantity(HALF, "s"))
        yield self.v == where(phase - np.floor(phase) < 0.5, -self.amplitude, self.amplitude)


def clamps(law, count, amplitude):
    """So many of a law, each between two resistors."""
    m = Model("clamps")
    m.source, m.ground = Square(amplitude=quantity(amplitude, "V")), ElectricalReference()
    m.wire, m.link = (Resistor(count=count, resistance=quantity(RESISTANCE, "ohm"))
                      for _ in range(2))
    m.clamp = law(count=count)
    wire(m, "source.p wire.p", "wire.n clamp.p", "clamp.p link.p", "link.n store.p",
         store=Capacitor(count=count, capacitance=quantity(CAPACITANCE, "F")))
    for end in (m.store.n, m.clamp.n, m.source.n):
        m.connect(end, m.ground.V)
    return m
