"""The H-bridge: means, ripple, every edge, and what flows back."""

import numpy as np
import pytest
from benches import final, wire, wired
from numpy.testing import assert_allclose

from blocks import quantity
from library.electrical import (
    CurrentSensor,
    DCVoltageSource,
    ElectricalReference,
    Inductor,
    Resistor,
)
from library.electromechanical import DCMotor, HBridge
from library.rotational import AngularVelocitySource, RotationalReference
from library.signal import Constant, Sine


def bridged(bridge, resistance="2 ohm", inductance=None):
    """24 V, a bridge, and a resistor (with an inductance) between a and b."""
    model = wired("bridged", "supply.p bridge.p", "supply.n bridge.n earth.V", "bridge.a load.p",
                  supply=DCVoltageSource(voltage="24 V"), earth=ElectricalReference(),
                  bridge=bridge, load=Resistor(resistance=resistance))
    if inductance is None:
        model.connect(model.load.n, model.bridge.b)
    else:
        wire(model, "load.n coil.p", "coil.n bridge.b", coil=Inductor(inductance=inductance))
    return model


@pytest.mark.parametrize("duty", [-1, -0.3, 0, 0.6, 1])
def test_the_mean_is_the_duty_and_power_balances(duty):
    run = bridged(HBridge(duty=duty, on_resistance="0.1 ohm")).simulate("1 ms")
    current = duty * 24 / 2.2
    assert_allclose(final(run, "load.i", "A"), current, rtol=1e-12, atol=1e-14)
    assert_allclose(final(run, "supply.i", "A"), -duty * current, rtol=1e-12, atol=1e-14)
    assert_allclose(final(run, "bridge.power_dissipated", "W"), 0.2 * current**2, rtol=1e-12,
                    atol=1e-14)
    assert run.energy().relative_residual < 1e-12


def test_a_leaking_bridge_is_what_its_four_switches_are():
    on, off, duty = 0.5, 1e-2, 1.0
    run = bridged(HBridge(duty=duty, on_resistance="0.5 ohm", off_conductance="1e-2 S")).simulate(
        "1 ms")
    nodes = np.array([[1 / on + off + 0.5, -0.5], [-0.5, 1 / on + off + 0.5]])
    a, b = np.linalg.solve(nodes, [24 / on, 24 * off])
    assert_allclose(final(run, "bridge.a.v", "V"), a, rtol=1e-13)
    assert_allclose(final(run, "bridge.b.v", "V"), b, rtol=1e-13)
    assert_allclose(final(run, "supply.i", "A"), -((24 - a) / on + (24 - b) * off), rtol=1e-12)
    assert run.energy().relative_residual < 1e-12


def test_ripple_of_a_current():
    """Closed form of the steady state: exponentials between two currents."""
    duty, period, rate, end = 0.4, 1 / 5e3, 2.2 / 1e-3, 24 / 2.2
    run = bridged(HBridge(model="switched", duty=duty, frequency="5 kHz", on_resistance="0.1 ohm"),
                  inductance="1 mH").simulate("16 ms", rtol=1e-10)  # fmt: skip
    high = (1 + duty) / 2 * period
    a, b = np.exp(-rate * high), np.exp(-rate * (period - high))
    low = end * (2 * b - a * b - 1) / (1 - a * b)  # i -> end + (low - end) a -> -end + …
    top = end + (low - end) * a
    t = np.array([14e-3, 14e-3 + high, 15e-3])
    assert_allclose(run["load.i"].at(quantity(t, "s")).to("A").m, [low, top, low], rtol=1e-9)
    assert run.energy().relative_residual < 1e-8


def test_a_signal_is_read_at_the_start_of_each_period():
    model = bridged(HBridge(model="switched", control="signal", frequency="1 kHz"))
    wire(model, "wave.y bridge.D", wave=Sine(amplitude=0.8, frequency="50 Hz"))
    run = model.simulate("20 ms", rtol=1e-8)
    for k in range(20):
        share = (1 + 0.8 * np.sin(2 * np.pi * k / 20)) / 2
        edge = (k + share) * 1e-3
        at = quantity([k * 1e-3 + 1e-9, edge - 1e-9, edge + 1e-9], "s")
        assert_allclose(run["bridge.share"].at(at).m, [1, 1, 0])


def test_a_duty_beyond_one_is_limited():
    model = bridged(HBridge(control="signal", on_resistance="0 ohm"))
    wire(model, "wish.y bridge.D", wish=Constant(value=3))
    assert_allclose(final(model.simulate("1 ms"), "bridge.v", "V"), 24, rtol=1e-14)


def test_a_motor_that_brakes_feeds_the_supply():
    model = wired("braking", "supply.p meter.p", "meter.n bridge.p", "supply.n bridge.n earth.V",
                  "bridge.a motor.p", "bridge.b motor.n", "motor.R drive.R",
                  "motor.C drive.C ground.W",
                  supply=DCVoltageSource(voltage="24 V"), earth=ElectricalReference(),
                  meter=CurrentSensor(), bridge=HBridge(duty=0.25),
                  motor=DCMotor(resistance="1 ohm", inductance="1 mH",
                                back_emf_constant="0.1 V*s/rad", inertia="1e-3 kg*m^2",
                                w_rotor="100 rad/s"),
                  drive=AngularVelocitySource(velocity="100 rad/s"), ground=RotationalReference())
    run = model.simulate("50 ms", rtol=1e-9)
    current = (6 - 10) / 1.02
    assert_allclose(final(run, "motor.i", "A"), current, rtol=1e-8)
    assert_allclose(final(run, "meter.I", "A"), 0.25 * current, rtol=1e-8)
