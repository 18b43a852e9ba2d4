"""The bridge of four switches that feeds a motor from a direct voltage, by pulse widths."""

from __future__ import annotations

from typing import Any

from blocks import (
    Discrete,
    Input,
    Option,
    Parameter,
    Port,
    Variable,
    breakpoints,
    every,
    floor,
    maximum,
    minimum,
    time,
    where,
)

from ..electrical import electrical
from ..heat import Dissipative


def _constant(bridge):
    return bridge.control == "constant"


def _by_signal(bridge):
    return bridge.control == "signal"


class HBridge(Dissipative):
    """Two half bridges between p and n, with a motor or any load between a and b.

    Of each half bridge one switch is closed (on_resistance) and one open (off_conductance),
    so current always finds a way, and a motor that brakes feeds the supply. The duty d from
    -1 to 1 is the mean voltage at a load without current, over that of the supply.

    * ``model="averaged"`` (default): means over a period of the PWM; a is at p for the share
      (1 + d)/2 of it, b for the rest. No ripple.
    * ``model="switched"``: bipolar PWM; from the start of each period a is at p and b at n, and
      after the share (1 + d)/2 of it the other way round. Every edge is a known instant with
      a constant duty; a signal is read at the start of each period.

    Equations of either half bridge with the share h at p, its current i out of a (or b),
    V = v_p - v_n and e = on_resistance off_conductance: v_a - v_n =
    (h + (1 - h) e)/(1 + e) V - on_resistance/(1 + e) i. Neglects dead time and losses of
    switching.
    """

    model = Option("averaged", ("averaged", "switched"), doc="whether edges are resolved")
    control = Option("constant", ("constant", "signal"), doc="where the duty comes from")
    p = Port(electrical, doc="supply")
    n = Port(electrical, doc="supply, negative")
    a = Port(electrical, doc="load, positive at a positive duty")
    b = Port(electrical, doc="load")
    duty = Parameter(0.5, minimum=-1, maximum=1, when=_constant, doc="Duty, from -1 to 1")
    frequency = Parameter("1 kHz", above=0, when=lambda c: c.model == "switched",
                          doc="Frequency of the PWM")  # fmt: skip
    on_resistance = Parameter("10 mohm", minimum=0, doc="Resistance of a closed switch")
    off_conductance = Parameter("0 S", minimum=0, doc="Conductance of an open switch", advice={
        "ohm": "A resistance R is the conductance 1/R."})  # fmt: skip
    D = Input("1", when=_by_signal, doc="duty, from -1 to 1")
    held = Discrete("1", when=lambda c: c.model == "switched" and c.control == "signal",
                    doc="duty of this period")  # fmt: skip
    share = Variable("1", doc="of the time at which a is at p")
    v = Variable("V", doc="voltage of the load, v_a - v_b")

    def equations(self):
        duty = self.duty if _constant(self) else minimum(maximum(self.D, -1), 1)
        if self.model == "switched":
            period = 1 / self.frequency
            if _by_signal(self):
                yield every(period, {self.held: duty})
                duty = self.held
            yield breakpoints(0 * period, period)
            if _constant(self):
                yield breakpoints((1 + duty) / 2 * period, period)
            phase = time * self.frequency
            yield self.share == where(phase - floor(phase) < (1 + duty) / 2, 1, 0)
        else:
            yield self.share == (1 + duty) / 2
        yield self.v == self.a.v - self.b.v
        leak = self.on_resistance * self.off_conductance
        supply = self.p.v - self.n.v
        drawn: Any = 2 * self.off_conductance / (1 + leak) * supply
        heat: Any = drawn * supply
        for port, share in ((self.a, self.share), (self.b, 1 - self.share)):
            part = (share + (1 - share) * leak) / (1 + leak)
            yield port.v - self.n.v == part * supply + self.on_resistance / (1 + leak) * port.i
            drawn = drawn - part * port.i
            heat = heat + self.on_resistance / (1 + leak) * port.i**2
        yield self.p.i == drawn
        yield self.n.i == -drawn - self.a.i - self.b.i
        yield self.power_dissipated == heat
