"""Examples of the Modelica Standard Library against their published results: circuits.

Data, licence and tolerances: ``tests/data/validation``. Switching times are those of an
independent solution given there. The switches with and without an arc and the
transistors are written here, as a user would.
"""

# ruff: noqa: SIM300  -- an equation may start with a capital: it is no comparison

from math import pi

import numpy as np
from numpy.testing import assert_allclose
from published import compare, simulate

from blocks import (
    Component,
    Discrete,
    Model,
    Output,
    Parameter,
    Port,
    Variable,
    abs_,
    breakpoints,
    cos,
    der,
    maximum,
    minimum,
    quantity,
    sign,
    sin,
    time,
    when,
    where,
)
from library.electrical import (
    Capacitor,
    ControlledCurrentSource,
    ControlledVoltageSource,
    DCVoltageSource,
    ElectricalReference,
    Inductor,
    LimitedOpAmp,
    OpAmp,
    Resistor,
    SaturatingInductor,
    TwoPort,
    electrical,
)
from library.thermal import TwoPort as ThermalTwoPort
from library.thermal import thermal

CAUER = {"l1": 1.304, "l2": 0.8586, "c1": 1.072, "c2": 1 / (1.704992**2 * 1.304), "c3": 1.682,
         "c4": 1 / (1.179945**2 * 0.8586), "c5": 0.7262}  # fmt: skip


def step(t):
    return where(t < quantity("1 s"), quantity("0 V"), quantity("1 V"))


def place(model, nodes, name, part, p, n):
    """Add a two-port between two named nodes; ``nodes`` collects what meets there."""
    made = model.add(name, part)
    nodes.setdefault(p, []).append(made.p)
    nodes.setdefault(n, []).append(made.n)
    return made


def wire(model, nodes):
    for ports in nodes.values():
        model.connect(*ports)


# -- filters ---------------------------------------------------------------------------------------
def test_cauer_low_pass_with_loops_of_capacitors():
    model, nodes = Model("Cauer low pass"), {}
    model.ground = ElectricalReference()
    nodes["0"] = [model.ground.V]
    place(model, nodes, "V", ControlledVoltageSource(voltage=step), "p", "0")
    for name, p, n in (("R1", "p", "n1"), ("R2", "n3", "0")):
        place(model, nodes, name, Resistor(resistance="1 ohm"), p, n)
    for name, p, n in (("C1", "n1", "0"), ("C2", "n1", "n2"), ("C3", "n2", "0"), ("C4", "n2", "n3"),
                       ("C5", "n3", "0")):  # fmt: skip
        place(model, nodes, name, Capacitor(capacitance=quantity(CAUER[name.lower()], "F")), p, n)
    for name, p, n in (("L1", "n1", "n2"), ("L2", "n2", "n3")):
        place(model, nodes, name, Inductor(inductance=quantity(CAUER[name.lower()], "H")), p, n)
    wire(model, nodes)
    run = simulate(model, "electrical_cauer_low_pass")
    compare("electrical_cauer_low_pass", run, {
        **{f"C{k}.v": (f"C{k}.v", "V") for k in (1, 3, 5)},
        **{f"L{k}.i": (f"L{k}.i", "A") for k in (1, 2)},
    })  # fmt: skip
    assert run.energy().relative_residual < 1e-8


def test_cauer_low_pass_with_op_amps_and_negative_resistors():
    c1, c2, c3, c4, c5 = (CAUER[f"c{k}"] for k in range(1, 6))
    capacitors = {
        "C1": (c1 + c2, "in1", "out1"), "C2": (c2, "out3", "in1"),
        "C3": (CAUER["l1"], "in2", "out2"), "C4": (c4, "out5", "in3"), "C5": (c2, "out1", "in3"),
        "C6": (c2 + c3 + c4, "in3", "out3"), "C7": (CAUER["l2"], "in4", "out4"),
        "C8": (c4, "out3", "in5"), "C9": (c4 + c5, "in5", "out5"),
    }  # fmt: skip
    resistors = {
        "R1": (1, "a", "in1"), "R2": (1, "out2", "in1"), "R3": (1, "in1", "out1"),
        "R4": (-1, "out1", "in2"), "R5": (-1, "out3", "in2"), "R6": (1, "out4", "in3"),
        "R7": (1, "out2", "in3"), "R8": (-1, "out5", "in4"), "R9": (-1, "out3", "in4"),
        "R10": (1, "out4", "in5"), "R11": (1, "in5", "out5"),
    }  # fmt: skip
    model, nodes = Model("Cauer low pass with op-amps"), {}
    model.ground = ElectricalReference()
    nodes["0"] = [model.ground.V]
    place(model, nodes, "V", ControlledVoltageSource(voltage=step), "0", "a")
    for name, (value, p, n) in capacitors.items():
        place(model, nodes, name, Capacitor(capacitance=quantity(value, "F")), p, n)
    for name, (value, p, n) in resistors.items():
        place(model, nodes, name, Resistor(resistance=quantity(value, "ohm")), p, n)
    for k in range(1, 6):
        amplifier = model.add(f"A{k}", OpAmp())
        nodes["0"].append(amplifier.p)
        nodes[f"in{k}"].append(amplifier.n)
        nodes[f"out{k}"].append(amplifier.out)
    wire(model, nodes)
    run = simulate(model, "electrical_cauer_opamp")
    compare("electrical_cauer_opamp", run, {f"C{k}.v": (f"C{k}.v", "V") for k in (1, 2, 3, 4, 7)})
    assert run.energy().relative_residual < 1e-8


def test_parallel_resonance_passed_by_a_sweep():
    class Sweep(Component):
        """sin and cos of an angle whose frequency grows by 200 Hz in a second."""

        phi = Variable("rad", "0 rad", priority="high")
        sine, cosine = Output("A"), Output("A")

        def equations(self):
            yield der(self.phi) == 2 * pi * quantity("200 Hz/s") * time
            yield self.sine == quantity("1 A") * sin(self.phi)
            yield self.cosine == quantity("1 A") * cos(self.phi)

    model = Model("parallel resonance")
    model.ground, model.chirp = ElectricalReference(), Sweep()
    for k, signal in ((1, model.chirp.sine), (2, model.chirp.cosine)):
        source = model.add(f"source{k}", ControlledCurrentSource())
        capacitor = model.add(f"capacitor{k}", Capacitor(capacitance=quantity(1e-3 / 2 / pi, "F")))
        resistor = model.add(f"resistor{k}", Resistor(resistance="0.5 ohm"))
        inductor = model.add(f"inductor{k}", Inductor(inductance=quantity(0.1 / 2 / pi, "H")))
        model.connect(signal, source.iT)
        model.connect(source.head, capacitor.p, resistor.p)
        model.connect(resistor.n, inductor.p)
        model.connect(source.tail, capacitor.n, inductor.n, model.ground.V)
    run = simulate(model, "electrical_parallel_resonance")
    compare("electrical_parallel_resonance", run, {
        **{f"capacitor{k}.v": (f"capacitor{k}.vc", "V") for k in (1, 2)},
        **{f"inductor{k}.i": (f"inductor{k}.i", "A") for k in (1, 2)},
        "sineCurrent.phi": ("chirp.phi", "rad"),
    })  # fmt: skip


def test_an_op_amp_keeps_a_resonant_circuit_swinging():
    model = Model("LC oscillator")
    model.amplifier, model.ground = LimitedOpAmp(), ElectricalReference()
    model.r = Resistor(resistance="10 kohm")
    model.r1, model.r2 = Resistor(resistance="10 kohm"), Resistor(resistance="10 ohm")
    model.l = Inductor(inductance="1 mH")
    model.c = Capacitor(capacitance=quantity(1 / ((2 * pi * 1000) ** 2 * 1e-3), "F"), vc="10 V")
    model.connect(model.amplifier.out, model.r.p, model.r2.p)
    model.connect(model.r.n, model.amplifier.p, model.l.p, model.c.p)
    model.connect(model.r2.n, model.amplifier.n, model.r1.p)
    model.connect(model.l.n, model.c.n, model.r1.n, model.ground.V)
    run = simulate(model, "electrical_lc_oscillator")
    compare("electrical_lc_oscillator", run, {
        "c.v": ("c.vc", "V"), "l.i": ("l.i", "A"),
        "opAmp.out.v": ("amplifier.out.v", "V"), "opAmp.out.i": ("amplifier.i", "A"),
    })  # fmt: skip


# -- saturation, switches --------------------------------------------------------------------------
def test_saturating_inductor_beside_a_linear_one():
    model = Model("saturating inductor")
    model.source = ControlledVoltageSource(
        voltage=lambda t: quantity("1.25 V") * cos(quantity("1 rad/s") * t))
    model.linear, model.ground = Inductor(inductance="1 H"), ElectricalReference()
    model.saturating = SaturatingInductor(inductance="2 H", saturated_inductance="0.5 H",
                                          saturation_current="0.2517253666 A")
    model.connect(model.source.p, model.linear.p, model.saturating.p)
    model.connect(model.source.n, model.linear.n, model.saturating.n, model.ground.V)
    run = simulate(model, "electrical_saturating_inductor")
    compare("electrical_saturating_inductor", run, {
        "Inductance1.i": ("linear.i", "A"), "SaturatingInductance1.Psi": ("saturating.psi", "Wb"),
    })  # fmt: skip
    assert run.energy().relative_residual < 1e-8


class TimedSwitch(TwoPort):
    """Closed during the first half of every second."""

    closed_resistance = Parameter("1e-5 ohm")
    open_conductance = Parameter("1e-5 S")
    period = Parameter("1 s")

    def is_on(self):
        phase = time / self.period
        return phase - np.floor(phase) < 0.5

    def equations(self):
        yield breakpoints(0 * self.period, self.period / 2)
        # one unknown, s: the current through the closed switch, or the voltage over the open one
        yield where(self.is_on(), self.v - self.closed_resistance * self.i,
                    (self.i - self.open_conductance * self.v) * quantity("1 ohm")) == 0


class ArcSwitch(TimedSwitch):
    """The same, with an arc that burns on when the switch opens until it quenches."""

    arc_voltage = Parameter("30 V")
    rise = Parameter("1e4 V/s")
    largest_voltage = Parameter("60 V")
    burning = Discrete("1", 1)

    def equations(self):
        phase = time / self.period - 0.5
        since = (phase - np.floor(phase)) * self.period  # half a period late: time since it opened
        arc = minimum(self.largest_voltage, self.arc_voltage + self.rise * since)
        yield breakpoints(0 * self.period, self.period / 2)
        yield breakpoints(self.period / 2 + (self.largest_voltage - self.arc_voltage) / self.rise,
                          self.period)  # fmt: skip
        yield when(~self.is_on() & (abs_(self.i) <= self.open_conductance * arc), {self.burning: 0})
        yield when(self.is_on(), {self.burning: 1})
        off = where(self.burning > 0.5, self.v - arc * sign(self.i),
                    (self.i - self.open_conductance * self.v) * quantity("1 ohm"))
        yield where(self.is_on(), self.v - self.closed_resistance * self.i, off) == 0


def test_a_switch_with_an_arc_opens_slowly_and_one_without_at_once():
    model = Model("switch with arc")
    model.ground = ElectricalReference()
    for k, switch in ((1, TimedSwitch()), (2, ArcSwitch())):
        source = model.add(f"source{k}", DCVoltageSource(voltage="50 V"))
        made = model.add(f"switch{k}", switch)
        inductor = model.add(f"inductor{k}", Inductor(inductance="0.1 H"))
        resistor = model.add(f"resistor{k}", Resistor(resistance="1 ohm"))
        model.connect(source.p, made.p)
        model.connect(made.n, inductor.p)
        model.connect(inductor.n, resistor.p)
        model.connect(resistor.n, source.n, model.ground.V)
    run = simulate(model, "electrical_switch_with_arc")
    compare("electrical_switch_with_arc", run,
            {f"inductor{k}.i": (f"inductor{k}.i", "A") for k in (1, 2)})  # fmt: skip
    quenched = [e.time for e in run.events.of("switch2") if e.description == "burning becomes 0"]
    assert_allclose(quenched, [0.679365, 1.679365], atol=5e-7)  # to all digits given


# -- electricity and heat --------------------------------------------------------------------------
class HeatCapacitor(Component):
    P = Port(thermal)
    capacity = Parameter("0.01 J/K")
    T = Variable("K", "293.15 K", priority="high")

    def equations(self):
        yield self.T == self.P.T
        yield self.capacity * der(self.T) == self.P.Q


class HeatConductor(ThermalTwoPort):
    conductance = Parameter("0.01 W/K")

    def equations(self):
        yield self.Q == self.conductance * self.T


class FixedTemperature(Component):
    P = Port(thermal)
    temperature = Parameter("300 K")

    def equations(self):
        yield self.P.T == self.temperature


class Transistor(Component):
    """MOS transistor of the Modelica Standard Library, heated by what it loses."""

    D, G, S, B = (Port(electrical) for _ in range(4))
    H = Port(thermal)
    beta = Parameter("0.041e-3 A/V^2")
    threshold = Parameter("0.8 V")
    bulk = Parameter(1.144)
    reduction = Parameter(0.7311)
    shortening = Parameter("-1.5e-6 m")
    threshold_slope = Parameter("-6.96e-3 1/K")
    bulk_slope = Parameter("6e-4 1/K")
    sense = Parameter(1.0, doc="1 for an n-channel, -1 for a p-channel")
    i = Variable("A")

    def equations(self):
        s = self.sense  # turns the p-channel's potentials round: lower and upper change places
        warmer = self.H.T - quantity("300.15 K")
        beta = self.beta * (self.H.T / quantity("300.15 K")) ** -1.5
        threshold = s * self.threshold * (1 + self.threshold_slope * warmer)
        bulk = self.bulk * (1 + self.bulk_slope * warmer)
        g = beta * quantity("17.5 um") / (quantity("6 um") + self.shortening)
        drain, source = s * self.D.v, s * self.S.v
        low = minimum(drain, source)
        u = maximum(drain, source) - low
        behind = minimum(s * self.B.v - low, 0)
        ug = (s * self.G.v - low - threshold + bulk * behind) * self.reduction
        channel = where(ug <= 0, 0 * g * u * u, where(ug > u, g * u * (ug - u / 2), g * ug**2 / 2))
        current = channel + u / quantity("1e7 ohm")
        yield self.i == s * where(drain < source, -current, current)
        yield self.D.i == self.i
        yield self.S.i == -self.i
        yield self.G.i == 0
        yield self.B.i == 0
        yield self.H.Q == -self.i * (self.D.v - self.S.v)


P_CHANNEL = {"beta": "0.0105e-3 A/V^2", "threshold": "-1 V", "bulk": 0.41, "reduction": 0.839,
             "shortening": "-2.1e-6 m", "threshold_slope": "-2.9e-3 1/K",
             "bulk_slope": "6.2e-4 1/K", "sense": -1}  # fmt: skip


def test_an_inverter_of_two_transistors_heats_itself():
    model = Model("heating inverter")
    model.ground, model.load = ElectricalReference(), Capacitor(capacitance="10 uF")
    model.supply = ControlledVoltageSource(
        voltage=lambda t: minimum(quantity("5 V"), quantity("500 V/s") * t))
    model.input = ControlledVoltageSource(
        voltage=lambda t: quantity("5 V") * sin(quantity(2 * pi, "rad/s") * t))
    model.upper, model.lower = Transistor(**P_CHANNEL), Transistor()
    model.block, model.ambient = HeatCapacitor(), FixedTemperature()
    model.a, model.b, model.c = HeatConductor(), HeatConductor(), HeatConductor()
    model.connect(model.supply.p, model.upper.D, model.upper.B)
    model.connect(model.input.p, model.upper.G, model.lower.G)
    model.connect(model.upper.S, model.lower.D, model.load.p)
    model.connect(model.ground.V, model.lower.S, model.lower.B, model.load.n, model.supply.n,
                  model.input.n)
    model.connect(model.upper.H, model.a.B)
    model.connect(model.lower.H, model.b.B)
    model.connect(model.ambient.P, model.c.B)
    model.connect(model.block.P, model.a.A, model.b.A, model.c.A)
    run = simulate(model, "electrical_heating_mos_inverter")
    compare("electrical_heating_mos_inverter", run, {
        "Capacitor1.v": ("load.vc", "V"), "HeatCapacitor1.T": ("block.T", "K")})  # fmt: skip
