"""Diodes, transistors that switch, and bridges of them."""

import numpy as np

from blocks import (
    Branch,
    Component,
    Discrete,
    Input,
    Option,
    Parameter,
    Port,
    Replaceable,
    Replacement,
    Variable,
    exp,
    ideal_diode,
    ideal_switch,
    minimum,
    quantity,
    time,
    when,
    where,
)

from .. import symbols
from ..heat import Resisting
from ..thermal import thermal
from .domain import TwoPort, electrical


# -- diodes --------------------------------------------------------------------------------------
class PiecewiseLinearDiode(Replacement):
    """Two straight lines that meet at the forward voltage."""

    forward_voltage = Parameter("0.6 V", minimum=0, doc="Voltage from which it conducts")
    on_resistance = Parameter("0.3 ohm", above=0,
                              doc="Resistance while it conducts; none with model='ideal'")
    off_conductance = Parameter("1e-8 S", minimum=0, doc="Conductance while it blocks", advice={
        "ohm": "A resistance is one over a conductance."})  # fmt: skip
    s = Variable("V", doc="v - forward_voltage while it blocks, i while it conducts")

    def equations(self, c):
        # on either line what is large tells which one holds, and is not lost in rounding
        conducts, per_volt = c.s > 0, quantity(1, "S")
        yield c.v == c.forward_voltage + where(conducts, per_volt * c.on_resistance, 1) * c.s
        yield c.i == (c.off_conductance * c.forward_voltage
                      + where(conducts, per_volt, c.off_conductance) * c.s)  # fmt: skip


class ExponentialDiode(Replacement):
    """Shockley's law, continued by its tangent for large voltages."""

    saturation_current = Parameter("1e-6 A", above=0, doc="Current far in the blocking direction")
    thermal_voltage = Parameter("0.04 V", above=0, doc="Voltage of a factor e")
    largest_exponent = Parameter(15, above=0, doc="v/thermal_voltage from which it is straight")
    parallel_resistance = Parameter("1e8 ohm", above=0, doc="Ohmic path beside the junction")

    def equations(self, c):
        exponent = c.v / c.thermal_voltage
        curved = minimum(exponent, c.largest_exponent)
        beyond = 1 + exponent - curved
        yield c.i == (c.saturation_current * (exp(curved) * beyond - 1)
                      + c.v / c.parallel_resistance)  # fmt: skip


class IdealDiode(Replacement):
    """Blocks without any current, and conducts at the forward voltage."""

    forward_voltage = Parameter("0 V", minimum=0, doc="Voltage from which it conducts")
    on_resistance = Parameter("0 ohm", minimum=0, doc="Resistance while it conducts")
    u = Variable("V", doc="what it blocks with: 0 while it conducts, negative otherwise")

    def equations(self, c):
        yield c.v == c.u + c.forward_voltage + c.on_resistance * c.i
        yield ideal_diode(c.i, c.u)


class Diode(Resisting, TwoPort):
    """Diode that conducts from p, the anode, to n, the cathode.

    ``model="piecewise linear"`` (Simscape's): i = off_conductance v up to the forward_voltage,
    and (v - forward_voltage) / on_resistance + off_conductance forward_voltage above it.

    ``model="ideal"``: i >= 0, u <= 0 and i u = 0, with
    v = u + forward_voltage + on_resistance i. The default is a wire that takes one direction
    only. All ideal diodes and switches of a circuit are decided together.

    ``model="exponential"`` (Modelica's): i = saturation_current (e^(v/thermal_voltage) - 1) +
    v / parallel_resistance, continued by its tangent above largest_exponent thermal_voltage.

    Notes
    -----
    Dissipates v i. An ideal diode across a source that it would short-circuit is refused as
    the run gets there; where p and n are merely exchanged, the message says that as well.
    ``check()`` hints at a diode of any model that shorts a constant source, or lets none of its
    current pass.

    References
    ----------
    Simscape, block Diode. Modelica Standard Library, Electrical.Analog.Semiconductors.Diode.
    Acary, Bonnefon, Brogliato, Nonsmooth Modeling and Simulation for Switched Circuits, 2011.
    """

    symbol = symbols.DIODE
    one_way = "p", "n"

    model = Replaceable("piecewise linear", {"piecewise linear": PiecewiseLinearDiode,
                                             "ideal": IdealDiode, "exponential": ExponentialDiode},
                        doc="its characteristic")

    def equations(self):
        law = type(self).model.named.get(self.model, self.model)
        yield from law().equations(self)


# -- transistors ---------------------------------------------------------------------------------
class _Transistor(Resisting):
    """A channel that a signal opens, and a diode that conducts against it, from n to p."""

    symbol = symbols.TRANSISTOR

    threshold = Parameter(0.5, doc="Signal above which the channel conducts")
    gate = Parameter(0, varying=True, doc="Signal while none is connected")
    on_resistance = Parameter("0 ohm", minimum=0, doc="Resistance of the channel")
    diode = Option(True, (True, False), doc="whether a diode conducts backwards")
    diode_forward_voltage = Parameter("0 V", minimum=0, when="diode",
                                      doc="Voltage from which the diode conducts")
    diode_resistance = Parameter("0 ohm", minimum=0, when="diode", doc="Resistance of the diode")
    G = Input(default="gate", doc="switches it on where above the threshold")
    channel_current = Variable("A", doc="through the channel, forward")
    channel_voltage = Variable("V", doc="over the channel, without its resistance")
    diode_current = Variable("A", when="diode", doc="through the diode, backward")
    diode_voltage = Variable("V", when="diode", doc="over the diode, without its resistance")

    def channel(self):
        """The law of the channel."""
        raise NotImplementedError

    def equations(self):
        yield from self.channel()
        if self.diode:
            yield -self.v == (self.diode_voltage + self.diode_forward_voltage
                              + self.diode_resistance * self.diode_current)  # fmt: skip
            yield ideal_diode(self.diode_current, self.diode_voltage)
            yield self.i == self.channel_current - self.diode_current
        else:
            yield self.i == self.channel_current


class MOSFET(_Transistor, Branch, domain=electrical, ports=("D", "S")):
    """Transistor as an ideal switch from drain D to source S, with its body diode from S to D.

    G > threshold:  v = on_resistance i through the channel, both ways
    G <= threshold: no current through the channel

    with v = v_D - v_S and i from D to S. The diode conducts where v = -diode_forward_voltage -
    diode_resistance times its current. Everything is decided together with the rest of the circuit,
    so no current is interrupted as long as a diode can take it.

    Notes
    -----
    Simscape's MOSFET (Ideal, Switching) has 0.01 ohm and a diode of 0.8 V and 0.001 ohm, and
    small conductances while it blocks (defaults not verified); here all of them are 0.
    """

    def channel(self):
        yield self.v == self.channel_voltage + self.on_resistance * self.channel_current
        yield ideal_switch(self.channel_current, self.channel_voltage,
                           closed=self.threshold < self.G)  # fmt: skip


class IGBT(_Transistor, Branch, domain=electrical, ports=("C", "E")):
    """Transistor that conducts from collector C to emitter E, with an anti-parallel diode.

    G > threshold:  v = forward_voltage + on_resistance i, where i > 0 through the channel
    G <= threshold: no current through the channel

    with v = v_C - v_E and i from C to E. The channel conducts one way only; the diode, from E
    to C, conducts where v = -diode_forward_voltage - diode_resistance times its current.

    Notes
    -----
    Simscape's IGBT (Ideal, Switching) has 0.8 V and 0.001 ohm, and small conductances while it
    blocks (defaults not verified); here all of them are 0.
    """

    forward_voltage = Parameter("0 V", minimum=0, doc="Voltage from which it conducts")

    def channel(self):
        yield self.v == (self.channel_voltage + self.forward_voltage
                         + self.on_resistance * self.channel_current)  # fmt: skip
        yield ideal_diode(self.channel_current, self.channel_voltage,
                          enabled=self.threshold < self.G)  # fmt: skip


class Thyristor(Resisting, Branch, domain=electrical, ports=("A", "K")):
    """Thyristor: a diode from anode A to cathode K that waits for a pulse at its gate.

    It starts to conduct where G > threshold and v would be above forward_voltage, with

    v = forward_voltage + on_resistance i,   v = v_A - v_K and i from A to K,

    and goes on without the gate until its current ends, at zero, or because another thyristor
    takes it over. All ideal elements of a circuit are decided together.

    Notes
    -----
    Dissipates v i. A pulse has to last until the current has passed holding_current: one that
    ends earlier interrupts the coil behind it, and the run stops there. Once the current is below
    it again, turn_off_time passes until a voltage forward is blocked; within that time the
    current goes on to zero. Simscape's Thyristor (Piecewise Linear) has a forward voltage, a
    resistance and a small conductance while it blocks (defaults not verified); here these are 0.

    References
    ----------
    Mohan, Undeland, Robbins, Power Electronics, 3rd ed. 2003, section 2-3 and chapter 6.

    Examples
    --------
    >>> fired_at_once = Thyristor(gate=1)
    """

    symbol = symbols.THYRISTOR
    one_way = "A", "K"

    threshold = Parameter(0.5, doc="Signal above which it may start to conduct")
    gate = Parameter(0, varying=True, doc="Signal while none is connected")
    forward_voltage = Parameter("0 V", minimum=0, doc="Voltage from which it conducts")
    on_resistance = Parameter("0 ohm", minimum=0, doc="Resistance while it conducts")
    holding_current = Parameter("10 uA", above=0, doc="Current above which it needs no gate")
    turn_off_time = Parameter("10 us", above=0,
                              doc="Time from there until it blocks without its gate")
    G = Input(default="gate", doc="lets it start where above the threshold")
    blocks_from = Discrete("s", doc="when it blocks without its gate again")
    u = Variable("V", doc="what it blocks with: 0 while it conducts")

    def equations(self):
        holds = self.i > self.holding_current
        yield self.v == self.u + self.forward_voltage + self.on_resistance * self.i
        yield ideal_diode(self.i, self.u, enabled=(
            (self.threshold < self.G) | (time < self.blocks_from)))  # fmt: skip
        yield when(holds, {self.blocks_from: quantity(np.inf, "s")})
        yield when(~holds, {self.blocks_from: time + self.turn_off_time})


# -- bridges -------------------------------------------------------------------------------------
def _switched(c):
    return bool(c.devices != "diode")


class _Bridge(Component):
    """Rails P and N, between which legs of two devices stand."""

    devices = Option("MOSFET", ("MOSFET", "IGBT", "thyristor", "diode"),
                     doc="what the legs are made of")
    on_resistance = Parameter("0 ohm", minimum=0, doc="Resistance of a device that conducts")
    forward_voltage = Parameter("0 V", minimum=0, doc="Voltage from which a diode or a thyristor "
                                                      "conducts")
    thermal_port = Option(False, doc="whether the heat of all devices leaves at a port H")
    P = Port(electrical, doc="positive rail")
    N = Port(electrical, doc="negative rail")
    H = Port(thermal, when="thermal_port", doc="where the heat of all devices leaves")


class HalfBridge(_Bridge):
    """One leg of a bridge: two devices in series between the rails P and N, with A between them.

    ``devices="MOSFET"`` or ``"IGBT"``: the signals ``upper`` and ``lower`` switch the device
    to P and the one to N; each has a diode against it. Both closed at once short-circuit the
    rails, and the run stops if nothing limits that current. ``devices="thyristor"``: a rectifying
    leg whose halves ``upper`` and ``lower`` fire. ``devices="diode"``: one without signals. Devices
    are closed by signals above 0.5.
    """

    A = Port(electrical, doc="between the devices")
    upper = Input(when=_switched, doc="switches the device to P")
    lower = Input(when=_switched, doc="switches the device to N")

    def compose(self):
        on, forward = self.on_resistance, self.forward_voltage
        one_way = {"on_resistance": on, "forward_voltage": forward}
        both_ways = {"on_resistance": on, "diode_resistance": on, "diode_forward_voltage": forward}
        kind, top, bottom, values = {  # what conducts one way lets current pass from N to P
            "MOSFET": (MOSFET, "D", "S", both_ways), "IGBT": (IGBT, "C", "E", both_ways),
            "thyristor": (Thyristor, "K", "A", one_way),
            "diode": (Diode, "n", "p", {"model": "ideal", **one_way}),
        }[self.devices]  # fmt: skip
        above, below = (self.add(name, kind(thermal_port=self.thermal_port, **values))
                        for name in ("high", "low"))  # fmt: skip
        if self.thermal_port:
            self.connect(self.H, above.H, below.H)
        self.connect(self.P, getattr(above, top))
        self.connect(self.A, getattr(above, bottom), getattr(below, top))
        self.connect(self.N, getattr(below, bottom))
        if _switched(self):
            self.connect(self.upper, above.G)
            self.connect(self.lower, below.G)


class _Legs(_Bridge):
    """A bridge of two legs or more, named by their terminals."""

    terminals = "AB"

    A = Port(electrical, doc="between the devices of the first leg")
    B = Port(electrical, doc="between the devices of the second leg")
    upper_A = Input(when=_switched, doc="switches A to P")
    lower_A = Input(when=_switched, doc="switches A to N")
    upper_B = Input(when=_switched, doc="switches B to P")
    lower_B = Input(when=_switched, doc="switches B to N")

    def compose(self):
        for name in self.terminals:
            leg = HalfBridge(devices=self.devices, on_resistance=self.on_resistance,
                             forward_voltage=self.forward_voltage, thermal_port=self.thermal_port)
            setattr(self, f"leg_{name}", leg)
            if self.thermal_port:
                self.connect(self.H, leg.H)
            self.connect(self.P, leg.P)
            self.connect(self.N, leg.N)
            self.connect(getattr(self, name), leg.A)
            if _switched(self):
                self.connect(getattr(self, f"upper_{name}"), leg.upper)
                self.connect(getattr(self, f"lower_{name}"), leg.lower)


class FullBridge(_Legs):
    """Two legs between the rails P and N, with the terminals A and B: an H-bridge.

    With ``devices="diode"`` it rectifies what is between A and B, with ``devices="thyristor"`` as
    much of it as its four signals let through; otherwise these drive A and B. Devices are closed by
    signals above 0.5.
    """


class ThreePhaseBridge(_Legs):
    """Three legs between the rails P and N, with the terminals A, B and C.

    With ``devices="diode"`` it is the six-pulse rectifier, with ``devices="thyristor"`` the
    controlled one; otherwise an inverter. All but the diodes have a signal each, and are closed by
    one above 0.5.
    """

    terminals = "ABC"

    C = Port(electrical, doc="between the devices of the third leg")
    upper_C = Input(when=_switched, doc="switches C to P")
    lower_C = Input(when=_switched, doc="switches C to N")
