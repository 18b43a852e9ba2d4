"""Circuits of textbooks, built as a user would, against their closed forms."""

import numpy as np
from benches import values, wire
from benches.electrical import circuit
from numpy.testing import assert_allclose
from scipy.linalg import expm

from blocks import (
    Component,
    Output,
    Parameter,
    Port,
    Variable,
    abs_,
    cos,
    der,
    mod,
    quantity,
    sin,
    time,
    where,
)
from library.electrical import (
    MOSFET,
    Capacitor,
    DCVoltageSource,
    Diode,
    IdealTransformer,
    Inductor,
    Resistor,
    Switch,
    ThreePhaseBridge,
)
from library.electrical.domain import electrical
from library.rotational import AngularVelocitySource, RotationalReference
from library.rotational.domain import rotational
from library.signal import Pulse


def test_a_forward_converter_resets_its_core_through_the_third_winding():
    source, duty, period, henry = 48.0, 0.35, 10e-6, 500e-6
    m = circuit("circuit", "pulse.y switch.G", "source.p core.p reset.p1 power.p1 back.n",
                "core.n reset.n1 power.n1 switch.D", "reset.n2 back.p", "power.p2 forward.p",
                "forward.n free.n coil.p", "coil.n store.p load.p",
                "source.n switch.S reset.p2 power.n2 free.p store.n load.n ground.V",
                source=DCVoltageSource(voltage="48 V"), switch=MOSFET(),
                reset=IdealTransformer(ratio=1.0), power=IdealTransformer(ratio=2.0),
                core=Inductor(inductance="500 uH"), back=Diode(model="ideal"),
                forward=Diode(model="ideal"), free=Diode(model="ideal"),
                coil=Inductor(inductance="100 uH", i_L="4.2 A"),
                store=Capacitor(capacitance="100 uF", vc="8.4 V"),
                load=Resistor(resistance="2 ohm"), pulse=Pulse(period="10 us", width=duty))
    run = m.simulate("1 ms", rtol=1e-9)
    on, off = 900e-6 + duty * period * np.array([0.5, 1.0]), 900e-6 + duty * period * 1.5
    peak = source / henry * duty * period
    assert_allclose(values(run, "core.i", "A", on), [peak / 2, peak], rtol=1e-9)
    assert_allclose(values(run, "core.i", "A", [off]), peak / 2, rtol=1e-9)
    assert_allclose(values(run, "switch.v", "V", [off]), 2 * source, rtol=1e-12)
    assert_allclose(values(run, "switch.v", "V", [off + duty * period]), source, rtol=1e-9)
    t = np.linspace(0.5e-3, 1e-3, 20001)
    assert_allclose(values(run, "load.v", "V", t).mean(), source / 2 * duty, rtol=2e-3)


class SineTriangle(Component):
    """Sine-triangle modulation of one leg, by natural sampling."""

    index = Parameter(0.8)
    phase = Parameter("0 deg")
    y = Output("1")
    n = Output("1")

    def equations(self):
        triangle = 4 * abs_(mod(time * quantity("2 kHz"), 1.0) - 0.5) - 1
        reference = self.index * sin(time * quantity("314.159265358979 1/s") + self.phase)
        yield self.y == where(reference > triangle, 1, 0)
        yield self.n == 1 - self.y


def test_an_inverter_drives_the_fundamental_of_its_reference_through_coils():
    m = circuit("circuit", "source.p bridge.P", "source.n bridge.N ground.V",
                source=DCVoltageSource(voltage="600 V"), bridge=ThreePhaseBridge())
    for k, leg in enumerate("ABC"):
        wire(m, f"modulator_{leg}.y bridge.upper_{leg}", f"modulator_{leg}.n bridge.lower_{leg}",
             f"bridge.{leg} coil_{leg}.p", f"coil_{leg}.n load_{leg}.p",
             **{f"modulator_{leg}": SineTriangle(phase=quantity(-120 * k, "deg")),
                f"coil_{leg}": Inductor(inductance="10 mH"),
                f"load_{leg}": Resistor(resistance="5 ohm")})
    wire(m, "load_A.n load_B.n load_C.n")
    run = m.simulate("60 ms", rtol=1e-9)
    t = np.linspace(40e-3, 60e-3, 20000, endpoint=False)
    w = 100 * np.pi
    fundamental = 2 * np.mean(values(run, "coil_A.i", "A", t) * np.exp(-1j * w * t))
    assert_allclose(abs(fundamental), 0.8 * 300 / abs(5 + 0.01j * w), rtol=1e-6)


class Machine(Component):
    """A synchronous machine with permanent magnets and two phases."""

    A, B, N = Port(electrical), Port(electrical), Port(electrical)
    R, C = Port(rotational), Port(rotational)
    flux, inductance, resistance = Parameter("0.1 Wb"), Parameter("5 mH"), Parameter("0.5 ohm")
    pairs = Parameter(4.0)
    a, b = Variable("A", "0 A", priority="high"), Variable("A", "0 A", priority="high")
    angle = Variable("rad", "0 rad", priority="high")
    power_dissipated, energy_stored = Variable("W"), Variable("J")

    def equations(self):
        speed, e = self.R.w - self.C.w, self.pairs * self.angle
        yield der(self.angle) == speed
        for i, port, shift in ((self.a, self.A, 0.0), (self.b, self.B, np.pi / 2)):
            yield port.i == i
            yield port.v - self.N.v == (self.resistance * i + self.inductance * der(i)
                                        - self.flux * self.pairs * speed * sin(e - shift))
        yield self.N.i == -self.a - self.b
        yield self.R.t == self.flux * self.pairs * (self.a * sin(e) - self.b * cos(e))
        yield self.C.t == -self.R.t
        yield self.power_dissipated == self.resistance * (self.a**2 + self.b**2)
        yield self.energy_stored == self.inductance * (self.a**2 + self.b**2) / 2


def test_a_machine_of_ones_own_with_shorted_terminals_brakes():
    m = circuit("circuit", "machine.A machine.B machine.N ground.V", "drive.R machine.R",
                "drive.C machine.C frame.W", machine=Machine(),
                drive=AngularVelocitySource(velocity="100 rad/s"), frame=RotationalReference())
    (finding,) = m.check()
    assert finding.problem.endswith("are connected to the same node: it is shorted there.")
    run = m.simulate("0.2 s", rtol=1e-9)
    w, impedance = 400.0, abs(0.5 + 400 * 0.005j)
    t = np.linspace(0.18, 0.2, 101)
    current = np.hypot(values(run, "machine.a", "A", t), values(run, "machine.b", "A", t))
    assert_allclose(current, 0.1 * w / impedance, rtol=1e-6)
    assert_allclose(values(run, "machine.R.t", "N*m", t), 0.5 * (0.1 * w / impedance) ** 2 / 100,
                    rtol=1e-6)
    assert run.energy().relative_residual < 1e-6


def test_a_class_e_amplifier_follows_its_two_matrix_exponentials():
    choke, shunt, coil, series, load = 100e-6, 2.9e-9, 10e-6, 3.3e-9, 8.0
    model = circuit("class E", "drive.y switch.vT", "supply.p choke.p",
                    "choke.n shunt.p switch.p coil.p", "coil.n series.p", "series.n load.p",
                    "supply.n shunt.n switch.n load.n ground.V",
                    supply=DCVoltageSource(voltage="12 V"), load=Resistor(resistance="8 ohm"),
                    choke=Inductor(inductance=quantity(choke, "H")),
                    coil=Inductor(inductance=quantity(coil, "H")),
                    shunt=Capacitor(capacitance=quantity(shunt, "F")),
                    series=Capacitor(capacitance=quantity(series, "F")),
                    switch=Switch(closed_resistance="50 mohm", open_conductance="1e-8 S"),
                    drive=Pulse(period="1 us", width=0.5))
    run = model.simulate("30 us", rtol=1e-8)

    def half(conductance):
        """Of a period, on (i of the choke, v of the shunt, i of the coil, v in series, 1)."""
        matrix = np.zeros((5, 5))
        matrix[0, [1, 4]] = -1 / choke, 12 / choke
        matrix[1, :3] = 1 / shunt, -conductance / shunt, -1 / shunt
        matrix[2, 1:4] = 1 / coil, -load / coil, -1 / coil
        matrix[3, 2] = 1 / series
        return expm(matrix * 0.5e-6)

    x = np.linalg.matrix_power(half(1e-8) @ half(20.0), 30) @ [0, 0, 0, 0, 1]
    got = [run[name].final.to_base_units().m
           for name in ("choke.i", "shunt.vc", "coil.i", "series.vc")]
    assert_allclose(got, x[:4], rtol=1e-6, atol=1e-6)
