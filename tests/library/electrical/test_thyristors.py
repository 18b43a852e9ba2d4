"""Thyristors, against closed forms: instants at which they end, and what bridges of them give."""

import numpy as np
import pytest
from benches import values, wire
from benches.electrical import circuit
from numpy.testing import assert_allclose
from scipy.optimize import brentq

import library.electrical as el
from blocks import Branch, Discrete, Input, Parameter, Variable, ideal_diode, quantity, when
from library.signal import Integrator, Pulse

PERIOD = 0.02
OMEGA = 2 * np.pi / PERIOD
PEAK, OHM, HENRY = 325.0, 10.0, 0.03


def mains(degrees=0.0):
    return el.ACVoltageSource(amplitude=quantity(PEAK, "V"), frequency="50 Hz",
                           phase=quantity(degrees, "deg"))  # fmt: skip


def fired(model, gate, degrees, width):
    """A pulse of a part of the period, every period from an angle on."""
    pulse = f"pulse{degrees % 360}"
    wire(model, f"{pulse}.y {gate}", **{pulse: Pulse(
        period=quantity(PERIOD, "s"), width=width,
        start=quantity(degrees % 360 / 360 * PERIOD, "s"))})


def loaded(model, first, last, henry=HENRY):
    """A coil and a resistor between two ports."""
    wire(model, f"{first} coil.p", "coil.n load.p", f"load.n {last}",
         coil=el.Inductor(inductance=quantity(henry, "H")),
         load=el.Resistor(resistance=quantity(OHM, "ohm")))


def extinction(alpha):
    """Angle at which the current of one thyristor behind a coil ends (Mohan, section 2-3)."""
    phi = np.arctan(OMEGA * HENRY / OHM)
    return brentq(lambda b: np.sin(b - phi)
                  - np.sin(alpha - phi) * np.exp(-(b - alpha) / np.tan(phi)), np.pi, 2 * np.pi)


class Latch(Branch, domain=el.electrical, ports=("A", "K")):
    """A thyristor of one's own: its gate starts it, and it holds until a voltage is against it."""

    holding_current = Parameter("10 mA", above=0)
    G = Input()
    held = Discrete("1", 0.0)
    u = Variable("V")

    def equations(self):
        yield self.v == self.u
        yield ideal_diode(self.i, self.u, enabled=(self.G > 0.5) | (self.held > 0.5))
        yield when(self.i > self.holding_current, {self.held: 1})
        yield when(self.u < 0, {self.held: 0})


class RestlessLatch(Latch):
    """One that looks at a current that is zero, but for rounding, while it blocks."""

    def equations(self):
        yield self.v == self.u
        yield ideal_diode(self.i, self.u, enabled=(self.G > 0.5) | (self.held > 0.5))
        yield when(self.i > 0, {self.held: 1})
        yield when(self.i <= 0, {self.held: 0})


def half_wave(thyristor, degrees, width):
    model = circuit("half wave", "source.p thyristor.A", "source.n ground.V", source=mains(),
                    thyristor=thyristor)
    loaded(model, "thyristor.K", "source.n")
    fired(model, "thyristor.G", degrees, width)
    return model


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_a_thyristor_of_ones_own_latches(method):
    run = half_wave(Latch(), 60, width=0.2).simulate("30 ms", rtol=1e-9, method=method)
    starts, ends = ([e.time for e in run.events if e.description == w] for w in ("closes", "opens"))
    assert_allclose(starts, np.array([60, 420]) / 360 * PERIOD, rtol=0, atol=1e-12)
    assert_allclose(ends, extinction(np.pi / 3) / OMEGA, rtol=0, atol=1e-9 * PERIOD)


def test_a_run_goes_on_past_a_condition_on_rounding():
    """Looks at a step of which each found an earlier crossing went on for ever."""
    run = half_wave(RestlessLatch(), 60, width=0.2).simulate("30 ms", rtol=1e-9, method="rodas4")
    assert run.statistics["steps"] < 3000


@pytest.mark.parametrize("degrees", [20, 90, 150])
@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_a_current_goes_on_without_the_gate_until_it_ends(degrees, method):
    run = half_wave(el.Thyristor(), degrees, width=0.005).simulate("50 ms", rtol=1e-10,
                                                                   method=method)
    starts, ends = ([e.time for e in run.events if e.description == w] for w in ("closes", "opens"))
    fires = np.radians(degrees) / OMEGA + PERIOD * np.arange(3)
    assert_allclose(starts, fires[fires < 0.05], rtol=0, atol=1e-12)
    exact = extinction(np.radians(degrees)) / OMEGA + PERIOD * np.arange(3)
    assert_allclose(ends, exact[exact < 0.05], rtol=0, atol=1e-9 * PERIOD)
    assert run.energy().relative_residual < 1e-8


def test_three_legs_that_nobody_fires_block():
    model = circuit("dark", load=el.Resistor())
    for k in range(3):
        wire(model, f"source{k}.n ground.V", f"source{k}.p upper{k}.A lower{k}.K",
             f"upper{k}.K load.p", f"lower{k}.A load.n",
             **{f"source{k}": mains(-120 * k), f"upper{k}": el.Thyristor(),
                f"lower{k}": el.Thyristor()})
    assert np.abs(values(model.simulate("20 ms"), "load.i", "A")).max() < 1e-12


@pytest.mark.parametrize("degrees", [0, 30, 80])
def test_the_voltage_of_a_three_phase_bridge_goes_by_the_cosine_of_the_angle(degrees):
    model = circuit("six pulses", bridge=el.ThreePhaseBridge(devices="thyristor"),
                    meter=el.VoltageSensor(), sum=Integrator(input="V"))
    for k, phase in enumerate("ABC"):
        wire(model, f"source{phase}.n ground.V", f"source{phase}.p bridge.{phase}",
             **{f"source{phase}": mains(-120 * k)})
        for half, crossing in (("upper", 30 + 120 * k), ("lower", 210 + 120 * k)):
            # of more than 60 degrees: the first two have to meet
            fired(model, f"bridge.{half}_{phase}", crossing + degrees, width=0.2)
    loaded(model, "bridge.P", "bridge.N", henry=0.1)
    wire(model, "meter.p bridge.P", "meter.n bridge.N", "meter.V sum.u")
    run = model.simulate("80 ms", rtol=1e-9)
    area = np.diff(values(run, "sum.y", "V*s", [0.04, 0.06, 0.08]))  # each over a period
    exact = 3 * np.sqrt(3) / np.pi * PEAK * np.cos(np.radians(degrees))
    assert_allclose(area / PERIOD, exact, rtol=1e-8)
    assert run.energy().relative_residual < 1e-8
