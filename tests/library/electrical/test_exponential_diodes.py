"""Exponential diodes that hand a current over to each other, with nothing beside their node."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from electrical_bench import circuit, values
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from blocks import quantity
from library.electrical import (
    MOSFET,
    ACVoltageSource,
    Capacitor,
    DCVoltageSource,
    Diode,
    Inductor,
    Resistor,
    Switch,
)
from library.signal import Pulse

SATURATION, THERMAL, LARGEST, OHMIC = 1e-6, 0.04, 15.0, 1e8


def current(v):
    """Shockley's law, continued by its tangent."""
    exponent = min(v / THERMAL, LARGEST)
    return SATURATION * (np.exp(exponent) * (1 + v / THERMAL - exponent) - 1) + v / OHMIC


def doubler():
    """Coil and capacitor feed a node between two diodes: one charges them, one the store."""
    m = circuit("doubler", source=ACVoltageSource(amplitude="17.77 V", frequency="328.4 Hz"),
                coil=Inductor(inductance="0.3774 mH", series_resistance="1.17 mohm"),
                link=Capacitor(capacitance="1.689 uF"), lower=Diode(model="exponential"),
                upper=Diode(model="exponential"),
                store=Capacitor(capacitance="1.689 uF"),
                load=Resistor(resistance="1.839 kohm"))  # fmt: skip
    m.connect(m.source.p, m.coil.p)
    m.connect(m.coil.n, m.link.p)
    m.connect(m.link.n, m.lower.n, m.upper.p)
    m.connect(m.upper.n, m.store.p, m.load.p)
    m.connect(m.source.n, m.lower.p, m.store.n, m.load.n, m.ground.V)
    return m


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_the_voltage_between_two_diodes_is_the_root_of_their_laws(method):
    run = doubler().simulate("10 ms", method=method)
    times = np.linspace(0.3e-3, 9.9e-3, 60)
    coil, store, node = (values(run, path, unit, times) for path, unit in (
        ("coil.i_L", "A"), ("store.vc", "V"), ("upper.p.v", "V")))
    exact = [brentq(lambda v: current(v - high) - current(-v) - i, -300, 300,  # noqa: B023
                    xtol=1e-13) for i, high in zip(coil, store, strict=True)]
    # where both block, rounding of the currents counts 1e8 ohm
    assert_allclose(node, exact, rtol=1e-7, atol=1e-6)
    assert run.energy().relative_residual < 1e-4


def peak_rectifier(amplitude, frequency, capacitance):
    """A store that is charged at the tops of a sine."""
    m = circuit("peak", source=ACVoltageSource(amplitude=quantity(amplitude, "V"),
                                               frequency=quantity(frequency, "Hz")),
                wire=Resistor(resistance="0.1 ohm"), diode=Diode(model="exponential"),
                store=Capacitor(capacitance=quantity(capacitance, "F")),
                load=Resistor(resistance="13 kohm"))  # fmt: skip
    m.connect(m.source.p, m.wire.p)
    m.connect(m.wire.n, m.diode.p)
    m.connect(m.diode.n, m.store.p, m.load.p)
    m.connect(m.source.n, m.store.n, m.load.n, m.ground.V)
    return m


@cache
def charged(amplitude, frequency, capacitance):
    """The store at twelve times in three periods."""
    def slope(t, store):
        over = amplitude * np.sin(2 * np.pi * frequency * t) - store[0]
        i = brentq(lambda i: current(over - 0.1 * i) - i, -1.0, 4000.0, xtol=1e-14)
        return [(i - store[0] / 13e3) / capacitance]

    times = np.linspace(0, 3 / frequency, 13)[1:]
    return times, solve_ivp(slope, (0, times[-1]), [0.0], method="Radau", t_eval=times, rtol=1e-9,
                            atol=1e-9, max_step=0.01 / frequency).y[0]


@pytest.mark.parametrize("circuit_of", [(15, 290, 26e-6), (15, 290, 260e-6), (325, 50, 1e-3)])
@pytest.mark.parametrize("method", ["auto", "rodas4", "cvode", "Radau", "DOP853", "ode45"])
def test_short_pulses_that_charge_a_store_are_not_stepped_over(method, circuit_of):
    times, exact = charged(*circuit_of)
    run = peak_rectifier(*circuit_of).simulate(quantity(times[-1], "s"), method=method)
    assert len(run.events) == 0
    assert_allclose(values(run, "store.vc", "V", times), exact, atol=3e-5 * circuit_of[0])


PERIOD = 29.1e-6  # s
SWITCHES = {
    "switch": (lambda: Switch(model="ideal"), "p", "n", "vT"),
    "transistor": (lambda: MOSFET(on_resistance="0 ohm"), "D", "S", "G"),
}


def converter(switch, boosts):
    """A coil between a source, an ideal switch and an exponential diode, with nothing beside."""
    make, p, n, gate = SWITCHES[switch]
    parts = {"coil": Inductor(inductance="11.24 uH"), "store": Capacitor(capacitance="1.17 uF"),
             "drive": Pulse(period=quantity(PERIOD, "s"), width=0.616),
             "load": Resistor(resistance="7.721 ohm")} if boosts else {
        "coil": Inductor(inductance="69.66 uH", parasitic=True),
        "store": Capacitor(capacitance="48.47 uF", series_resistance="3.926 mohm", parasitic=True),
        "drive": Pulse(period=quantity(PERIOD, "s"), width=0.459),
        "load": Resistor(resistance="2.353 ohm")}  # fmt: skip
    m = circuit("converter", source=DCVoltageSource(voltage="12 V"), switch=make(), diode=Diode(
        model="exponential"), **parts)
    m.connect(m.drive.y, getattr(m.switch, gate))
    top, foot = getattr(m.switch, p), getattr(m.switch, n)
    m.connect(m.source.n, m.load.n, m.store.n, m.ground.V)
    if boosts:
        m.connect(m.source.p, m.coil.p)
        m.connect(m.coil.n, top, m.diode.p)
        m.connect(m.diode.n, m.store.p, m.load.p)
        m.connect(foot, m.ground.V)
    else:
        m.connect(m.source.p, top)
        m.connect(foot, m.coil.p, m.diode.n)
        m.connect(m.coil.n, m.store.p, m.load.p)
        m.connect(m.diode.p, m.ground.V)
    return m


@pytest.mark.parametrize("switch", SWITCHES)
@pytest.mark.parametrize("boosts", [True, False])
@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_ideal_switches_hand_the_current_of_a_coil_to_an_exponential_diode(switch, boosts, method):
    """Down to no current at all, where the diode leaks less than the coil's current is known to.

    The node between them has nothing that stores: its voltage is the root of the diode's law,
    or that of the switch that is closed.
    """
    run = converter(switch, boosts).simulate(quantity(12 * PERIOD, "s"), method=method)
    periods = np.arange(12) * PERIOD
    closed = np.concatenate([periods + part * PERIOD for part in (0.07, 0.2, 0.38)])
    opened = np.concatenate([periods + part * PERIOD for part in (0.617, 0.65, 0.7)])
    end = "n" if boosts else "p"
    node = lambda times: values(run, f"coil.{end}.v", "V", times)  # noqa: E731
    assert_allclose(node(closed), 0.0 if boosts else 12.0, atol=1e-9)
    coil, store = (values(run, path, unit, opened) for path, unit in (
        ("coil.i_L", "A"), ("store.vc", "V")))
    exact = [brentq(lambda v: current(v) - i, -300, 300, xtol=1e-13) for i in coil]  # noqa: B023
    conducts = coil > 1e-3  # beyond, rounding of the current counts 1e8 ohm
    assert conducts.sum() > 20
    across = node(opened) - store if boosts else -node(opened)
    assert_allclose(across[conducts], np.array(exact)[conducts], rtol=1e-6, atol=1e-6)
    assert run.energy().relative_residual < 1e-4
    assert run.statistics.steps < 12_000  # 1,000 a period
