"""Examples of the Modelica Standard Library against their published results: circuits.

Data, licence and tolerances: ``tests/data/validation``. Switching times are those of an
independent solution given there. The switches with and without an arc and the
transistors are written here, as a user would.
"""

# ruff: noqa: SIM300  -- an equation may start with a capital: it is no comparison

from math import pi

import numpy as np
import pytest
from benches import wire, wired
from benches.feedback import LAWS, multivibrator, switching_times
from numpy.testing import assert_allclose
from published import follow

import blocks
import library.electrical as el
from blocks import Component, Output, Parameter, Port, breakpoints, minimum, quantity, time, where
from library.thermal import TemperatureSource, ThermalMass, ThermalResistance, thermal


def step(t):
    return where(t < quantity("1 s"), quantity("0 V"), quantity("1 V"))


def valued(**numbers):
    """Resistors, capacitors and inductors by name, of so many ohm, F and H."""
    kinds = {"R": lambda v: el.Resistor(resistance=quantity(v, "ohm")),
             "C": lambda v: el.Capacitor(capacitance=quantity(v, "F")),
             "L": lambda v: el.Inductor(inductance=quantity(v, "H"))}  # fmt: skip
    return {name: kinds[name[0]](value) for name, value in numbers.items()}


# -- filters ---------------------------------------------------------------------------------------
L1, L2, C1, C3, C5 = 1.304, 0.8586, 1.072, 1.682, 0.7262
C2, C4 = 1 / (1.704992**2 * L1), 1 / (1.179945**2 * L2)


def test_cauer_low_pass_with_loops_of_capacitors():
    model = wired("Cauer low pass", "V.p R1.p", "R1.n C1.p C2.p L1.p", "C2.n L1.n C3.p C4.p L2.p",
                  "C4.n L2.n C5.p R2.p", "C1.n C3.n C5.n R2.n V.n ground.V",
                  V=el.ControlledVoltageSource(voltage=step), ground=el.ElectricalReference(),
                  **valued(R1=1, R2=1, C1=C1, C2=C2, C3=C3, C4=C4, C5=C5, L1=L1, L2=L2))
    run = follow(model, "electrical_cauer_low_pass", {
        **{f"C{k}.v": (f"C{k}.v", "V") for k in (1, 3, 5)},
        **{f"L{k}.i": (f"L{k}.i", "A") for k in (1, 2)}})  # fmt: skip
    assert run.energy().relative_residual < 1e-8


def test_cauer_low_pass_with_op_amps_and_negative_resistors():
    model = wired("Cauer low pass of op-amps", "V.n R1.p", "V.p ground.V A1.p A2.p A3.p A4.p A5.p",
                  "A1.n C1.p C2.n R1.n R2.n R3.p", "A1.out C1.n C5.p R3.n R4.p",
                  "A2.n C3.p R4.n R5.n", "A2.out C3.n R2.p R7.p", "A3.n C4.n C5.n C6.p R6.n R7.n",
                  "A3.out C2.p C6.n C8.p R5.p R9.p", "A4.n C7.p R8.n R9.n",
                  "A4.out C7.n R6.p R10.p", "A5.n C8.n C9.p R10.n R11.p",
                  "A5.out C4.p C9.n R8.p R11.n", V=el.ControlledVoltageSource(voltage=step),
                  ground=el.ElectricalReference(), **{f"A{k}": el.OpAmp() for k in range(1, 6)},
                  **valued(C1=C1 + C2, C2=C2, C3=L1, C4=C4, C5=C2, C6=C2 + C3 + C4, C7=L2, C8=C4,
                           C9=C4 + C5, R1=1, R2=1, R3=1, R4=-1, R5=-1, R6=1, R7=1, R8=-1, R9=-1,
                           R10=1, R11=1))
    run = follow(model, "electrical_cauer_opamp",
                 {f"C{k}.v": (f"C{k}.v", "V") for k in (1, 2, 3, 4, 7)})
    assert run.energy().relative_residual < 1e-8


def test_parallel_resonance_passed_by_a_sweep():
    class Sweep(Component):
        """sin and cos of an angle whose frequency grows by 200 Hz in a second."""

        phi = blocks.Variable("rad", "0 rad", priority="high")
        sine, cosine = Output("A"), Output("A")

        def equations(self):
            yield blocks.der(self.phi) == 2 * pi * quantity("200 Hz/s") * time
            yield self.sine == quantity("1 A") * blocks.sin(self.phi)
            yield self.cosine == quantity("1 A") * blocks.cos(self.phi)

    model = wired("parallel resonance", chirp=Sweep(), ground=el.ElectricalReference())
    for k, phase in ((1, "sine"), (2, "cosine")):
        wire(model, f"chirp.{phase} source{k}.iT", f"source{k}.head C{k}.p R{k}.p",
             f"R{k}.n L{k}.p", f"source{k}.tail C{k}.n L{k}.n ground.V",
             **{f"source{k}": el.ControlledCurrentSource()},
             **valued(**{f"C{k}": 1e-3 / 2 / pi, f"R{k}": 0.5, f"L{k}": 0.1 / 2 / pi}))
    follow(model, "electrical_parallel_resonance", {
        **{f"capacitor{k}.v": (f"C{k}.vc", "V") for k in (1, 2)},
        **{f"inductor{k}.i": (f"L{k}.i", "A") for k in (1, 2)},
        "sineCurrent.phi": ("chirp.phi", "rad")})  # fmt: skip


def test_an_op_amp_keeps_a_resonant_circuit_swinging():
    model = wired("LC oscillator", "amplifier.out R.p R2.p", "R.n amplifier.p L.p c.p",
                  "R2.n amplifier.n R1.p", "L.n c.n R1.n ground.V",
                  amplifier=el.LimitedOpAmp(), ground=el.ElectricalReference(),
                  c=el.Capacitor(capacitance=quantity(1 / ((2 * pi * 1000) ** 2 * 1e-3), "F"),
                                 vc="10 V"), **valued(R=1e4, R1=1e4, R2=10, L=1e-3))
    follow(model, "electrical_lc_oscillator", {
        "c.v": ("c.vc", "V"), "l.i": ("L.i", "A"), "opAmp.out.v": ("amplifier.out.v", "V"),
        "opAmp.out.i": ("amplifier.i", "A")})  # fmt: skip


# -- saturation, switches --------------------------------------------------------------------------
def test_saturating_inductor_beside_a_linear_one():
    def source(t):
        return quantity("1.25 V") * blocks.cos(quantity("1 rad/s") * t)

    model = wired("saturating inductor", "source.p linear.p saturating.p",
                  "source.n linear.n saturating.n ground.V",
                  source=el.ControlledVoltageSource(voltage=source),
                  linear=el.Inductor(inductance="1 H"), ground=el.ElectricalReference(),
                  saturating=el.SaturatingInductor(inductance="2 H", saturated_inductance="0.5 H",
                                                   saturation_current="0.2517253666 A"))
    run = follow(model, "electrical_saturating_inductor", {
        "Inductance1.i": ("linear.i", "A"), "SaturatingInductance1.Psi": ("saturating.psi", "Wb"),
    })  # fmt: skip
    assert run.energy().relative_residual < 1e-8


class TimedSwitch(el.TwoPort):
    """Closed during the first half of every second."""

    closed_resistance, open_conductance = Parameter("1e-5 ohm"), Parameter("1e-5 S")
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

    arc_voltage, rise, largest_voltage = Parameter("30 V"), Parameter("1e4 V/s"), Parameter("60 V")
    burning = blocks.Discrete("1", 1)

    def equations(self):
        phase = time / self.period - 0.5
        since = (phase - np.floor(phase)) * self.period  # half a period late: time since it opened
        arc = minimum(self.largest_voltage, self.arc_voltage + self.rise * since)
        yield breakpoints(0 * self.period, self.period / 2)
        yield breakpoints(self.period / 2 + (self.largest_voltage - self.arc_voltage) / self.rise,
                          self.period)  # fmt: skip
        yield blocks.when(~self.is_on() & (blocks.abs_(self.i) <= self.open_conductance * arc),
                          {self.burning: 0})
        yield blocks.when(self.is_on(), {self.burning: 1})
        off = where(self.burning > 0.5, self.v - arc * blocks.sign(self.i),
                    (self.i - self.open_conductance * self.v) * quantity("1 ohm"))
        yield where(self.is_on(), self.v - self.closed_resistance * self.i, off) == 0


def test_a_switch_with_an_arc_opens_slowly_and_one_without_at_once():
    model = wired("switch with arc", ground=el.ElectricalReference())
    for k, switch in ((1, TimedSwitch()), (2, ArcSwitch())):
        wire(model, f"source{k}.p switch{k}.p", f"switch{k}.n L{k}.p", f"L{k}.n R{k}.p",
             f"R{k}.n source{k}.n ground.V",
             **{f"source{k}": el.DCVoltageSource(voltage="50 V"), f"switch{k}": switch},
             **valued(**{f"L{k}": 0.1, f"R{k}": 1}))
    run = follow(model, "electrical_switch_with_arc",
                 {f"inductor{k}.i": (f"L{k}.i", "A") for k in (1, 2)})
    quenched = [e.time for e in run.events.of("switch2") if e.description == "burning becomes 0"]
    assert_allclose(quenched, [0.679365, 1.679365], atol=5e-7)  # to all digits given


@pytest.mark.parametrize("law", LAWS)
def test_a_multivibrator_switches_where_its_branches_end(law):
    switched = switching_times(1.0)
    run = follow(multivibrator(blocks.Model("multivibrator"), law),
                 "electrical_opamp_multivibrator",
                 {"c.v": ("c.v", "V"), "opAmp.out.v": ("op.out.v", "V"),
                  "opAmp.out.i": ("op.out.i", "A")}, events=switched)
    found = np.unique(np.round([e.time for e in run.events.of("op")], 9))
    assert_allclose(found, switched, atol=2e-9)


# -- electricity and heat --------------------------------------------------------------------------
class Transistor(Component):
    """MOS transistor of the Modelica Standard Library, heated by what it loses."""

    D, G, S, B = (Port(el.electrical) for _ in range(4))
    H = Port(thermal)
    beta, threshold, bulk = Parameter("0.041e-3 A/V^2"), Parameter("0.8 V"), Parameter(1.144)
    reduction, shortening = Parameter(0.7311), Parameter("-1.5e-6 m")
    threshold_slope, bulk_slope = Parameter("-6.96e-3 1/K"), Parameter("6e-4 1/K")
    sense = Parameter(1.0, doc="1 for an n-channel, -1 for a p-channel")
    i = blocks.Variable("A")

    def equations(self):
        s = self.sense  # turns the p-channel's potentials round: lower and upper change places
        warmer = self.H.T - quantity("300.15 K")
        beta = self.beta * (self.H.T / quantity("300.15 K")) ** -1.5
        threshold = s * self.threshold * (1 + self.threshold_slope * warmer)
        bulk = self.bulk * (1 + self.bulk_slope * warmer)
        g = beta * quantity("17.5 um") / (quantity("6 um") + self.shortening)
        drain, source = s * self.D.v, s * self.S.v
        low = minimum(drain, source)
        u = blocks.maximum(drain, source) - low
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
    def supply(t):
        return minimum(quantity("5 V"), quantity("500 V/s") * t)

    def swing(t):
        return quantity("5 V") * blocks.sin(quantity(2 * pi, "rad/s") * t)

    model = wired("heating inverter", "supply.p upper.D upper.B", "input.p upper.G lower.G",
                  "upper.S lower.D load.p", "ground.V lower.S lower.B load.n supply.n input.n",
                  "upper.H a.B", "lower.H b.B", "ambient.A c.B", "block.M a.A b.A c.A",
                  supply=el.ControlledVoltageSource(voltage=supply), upper=Transistor(**P_CHANNEL),
                  input=el.ControlledVoltageSource(voltage=swing), lower=Transistor(),
                  load=el.Capacitor(capacitance="10 uF"), ground=el.ElectricalReference(),
                  block=ThermalMass(mass="1 kg", specific_heat="0.01 J/(kg*K)", T="293.15 K"),
                  ambient=TemperatureSource(temperature="300 K"),
                  **{name: ThermalResistance(resistance="100 K/W") for name in "abc"})
    follow(model, "electrical_heating_mos_inverter", {
        "Capacitor1.v": ("load.vc", "V"), "HeatCapacitor1.T": ("block.T", "K")})  # fmt: skip
