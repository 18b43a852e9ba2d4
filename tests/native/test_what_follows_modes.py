"""Relays and samples that look at what ideal diodes and switches take: voltages that jump."""

import numpy as np
from benches import wire, wired
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from blocks import quantity
from library.electrical import (
    ACVoltageSource,
    Capacitor,
    ControlledVoltageSource,
    DCVoltageSource,
    Diode,
    ElectricalReference,
    Inductor,
    Resistor,
    Switch,
    VoltageSensor,
)
from library.signal import Pulse, Relay, ZeroOrderHold

LOAD, BLEEDER, COIL, SERIES = 10.0, 20.0, 10e-3, 1e-3


def rectifier():
    """17 V at 50 Hz through 1 mH and 0.1 ohm and a bridge onto 10 ohm, with a sensor there."""
    return wired("rectifier", "source.p wire.p", "wire.n line.p", "line.n bridge[0].p bridge[2].n",
                 "source.n bridge[1].p bridge[3].n", "bridge[0].n bridge[1].n load.p sensor.p",
                 "ground.V bridge[2].p bridge[3].p load.n sensor.n",
                 ground=ElectricalReference(), load=Resistor(resistance="10 ohm"),
                 source=ACVoltageSource(amplitude="17 V", frequency="50 Hz"),
                 wire=Resistor(resistance="0.1 ohm"), line=Inductor(inductance="1 mH"),
                 bridge=Diode(count=4, model="ideal"), sensor=VoltageSensor())


def dimmer():
    """A relay on the voltage behind the bridge lets a coil have it, too."""
    model = rectifier()
    wire(model, "sensor.V relay.u", "relay.y switch.vT", "load.p switch.p",
         "switch.n resistor.p diode.n", "resistor.n coil.p", "coil.n diode.p ground.V",
         relay=Relay(switch_on="12 V", switch_off="6 V"), switch=Switch(model="ideal"),
         diode=Diode(model="ideal"), resistor=Resistor(resistance="20 ohm"),
         coil=Inductor(inductance="10 mH"))
    return model


def first_period_of_the_dimmer():
    """Currents of line and coil after 9 ms, piece by piece; and when the relay switched.

    While it is off the load has |i| and the coil's current runs down through the diode; on, the
    load has |i| - j while that is positive. The line's current keeps its sign up to then.
    """
    def off(t, y):
        return [(17 * np.sin(100 * np.pi * t) - 0.1 * y[0] - LOAD * y[0]) / SERIES,
                -BLEEDER * y[1] / COIL]

    def on(t, y):
        v = LOAD * (y[0] - y[1])
        return [(17 * np.sin(100 * np.pi * t) - 0.1 * y[0] - v) / SERIES,
                (v - BLEEDER * y[1]) / COIL]

    def above(t, y):
        return LOAD * y[0] - 12.0

    def below(t, y):
        return LOAD * (y[0] - y[1]) - 6.0

    above.terminal, above.direction, below.terminal, below.direction = True, 1, True, -1
    tight = {"rtol": 1e-12, "atol": 1e-14}
    first = solve_ivp(off, (0, 9e-3), [0, 0], events=above, **tight)
    second = solve_ivp(on, (first.t[-1], 9e-3), first.y[:, -1], events=below, **tight)
    third = solve_ivp(off, (second.t[-1], 9e-3), second.y[:, -1], **tight)
    return third.y[:, -1], first.t[-1], second.t[-1]


def test_a_relay_behind_a_bridge_switches_where_its_voltage_says(searches):
    run = dimmer().simulate("0.1 s", rtol=1e-9)
    end, on, off = first_period_of_the_dimmer()
    assert_allclose([run[path].at("9 ms").m for path in ("line.i", "coil.i")], end, rtol=1e-7)
    times = np.unique([float(e.time) for e in run.events if e.component == "relay"])
    assert_allclose(times[:2], [on, off], rtol=1e-9)
    assert len(times) == 2 * 2 * 5  # twice a half wave
    assert len(searches) < 40  # those of the first periods alone


def test_a_relay_behind_a_bridge_in_python_comes_to_the_same():
    compiled = dimmer().simulate("12 ms", rtol=1e-9)
    python = dimmer().simulate("12 ms", rtol=1e-9, method="DOP853")
    for path in ("line.i", "coil.i"):
        assert_allclose(compiled[path].final.m, python[path].final.m, rtol=1e-7)
    assert [(e.component, e.description) for e in compiled.events] == [
        (e.component, e.description) for e in python.events]


def test_a_sample_behind_a_bridge_is_the_rectified_voltage(searches):
    """10 ohm times the line's current, whichever diodes have it."""
    model = rectifier()
    wire(model, "sensor.V hold.u", "hold.y output.vT", "output.p ohm.p", "ohm.n store.p",
         "store.n output.n ground.V",
         hold=ZeroOrderHold(sample_time="0.1 ms", unit="V"), output=ControlledVoltageSource(),
         ohm=Resistor(resistance="1 kohm"), store=Capacitor(capacitance="10 uF"))
    run = model.simulate("0.1 s", rtol=1e-9)
    t = 1e-4 * np.arange(1, 999, 7)
    held = np.array([run["hold.y"].at(quantity(x + 2e-5, "s")).m for x in t])
    line = np.array([run["line.i"].at(quantity(x, "s")).m for x in t])
    assert_allclose(held, LOAD * np.abs(line), atol=1e-7)
    assert len(searches) < 20


def test_a_sample_at_the_instant_of_a_switch_sees_what_the_switch_has_done(searches):
    """12 V over a switch onto a coil with a diode: its voltage jumps with the switch."""
    model = wired("chopper", "source.p switch.p", "switch.n diode.n coil.p sensor.p",
                  "coil.n load.p", "ground.V source.n diode.p load.n sensor.n", "pulse.y switch.vT",
                  "sensor.V hold.u",
                  ground=ElectricalReference(), source=DCVoltageSource(voltage="12 V"),
                  switch=Switch(model="ideal"), diode=Diode(model="ideal"),
                  coil=Inductor(inductance="1 mH"), load=Resistor(resistance="2 ohm"),
                  pulse=Pulse(period="100 us", width=0.5), sensor=VoltageSensor(),
                  hold=ZeroOrderHold(sample_time="50 us", unit="V"))
    run = model.simulate("10 ms")
    held = [run["hold.y"].at(f"{50 * k + 20} us").m for k in range(4, 190)]
    assert_allclose(held, np.tile([12.0, 0.0], 93), atol=1e-9)
    assert len(searches) < 10
