"""Limited amplifiers that feed back on themselves, where their input jumps or begins beyond."""

import numpy as np
import pytest
from benches import values, wire
from benches.electrical import circuit
from numpy.testing import assert_allclose

from blocks import quantity, where
from library.electrical import Capacitor, ControlledVoltageSource, Diode, LimitedOpAmp, Resistor

SUPPLY, GAIN = 15.0, 15000.0  # V, of the class


def schmitt(model, name, inverting_input):
    """Half of the output at the non-inverting input: it switches at 7.5 V."""
    parts = {"": LimitedOpAmp(), "_up": Resistor(), "_down": Resistor()}
    amp, up, down = (model.add(name + end, part) for end, part in parts.items())
    model.connect(inverting_input, amp.n)
    model.connect(amp.out, up.p)
    model.connect(up.n, down.p, amp.p)
    model.connect(down.n, model.ground.V)
    return amp.out


def excess(volts, out):
    """What the class calls s, on a limit: by how much the input goes beyond it."""
    return out + (out / 2 - volts) - out / GAIN


@pytest.mark.parametrize("diode", [False, True])
@pytest.mark.parametrize("n", [1, 4])
def test_triggers_behind_each_other_follow_a_source_that_steps(n, diode):
    courses = [20.0, 0.0, -20.0, 0.0, 7.6, 7.4, -7.6]  # V, for 1 ms each
    outs = [-SUPPLY, -SUPPLY, SUPPLY, SUPPLY, -SUPPLY, -SUPPLY, SUPPLY]

    def steps(t):
        course = quantity(courses[0], "V")
        for k, volts in enumerate(courses[1:], 1):
            course = where(t >= quantity(k, "ms"), quantity(volts, "V"), course)
        return course

    model = circuit("circuit", "source.n ground.V", source=ControlledVoltageSource(voltage=steps))
    node = model.source.p
    for k in range(n):
        node = schmitt(model, f"amp{k}", node)
    if diode:
        model.diode, model.load = Diode(model="ideal"), Resistor(resistance="1 kohm")
        model.connect(node, model.diode.p)
        wire(model, "diode.n load.p", "load.n ground.V")
    run = model.simulate("7 ms")
    middles = (np.arange(7) + 0.5) * 1e-3
    given, out = np.array(courses), np.array(outs)
    for k in range(n):
        assert_allclose(values(run, f"amp{k}.s", "V", middles), excess(given, out), rtol=1e-12)
        given, out = out, -out
    if diode:
        assert_allclose(values(run, "load.v", "V", middles), np.maximum(given, 0), atol=1e-12)


def test_multivibrators_start_from_charges_beyond_their_thresholds():
    charges, tau = [20.0, -8.0, 7.6, -25.0], 1e-3  # V, s
    model = circuit()
    for k, volts in enumerate(charges):
        cell = Capacitor(capacitance="0.1 uF", vc=quantity(volts, "V"))
        cell, charge = model.add(f"c{k}", cell), model.add(f"r{k}", Resistor(resistance="10 kohm"))
        out = schmitt(model, f"amp{k}", cell.p)
        model.connect(out, charge.p)
        model.connect(charge.n, cell.p)
        model.connect(cell.n, model.ground.V)
    run = model.simulate("0.2 ms", rtol=1e-9)
    times = np.array([0.05e-3, 0.2e-3])
    for k, volts in enumerate(charges):
        out = -SUPPLY * np.sign(volts)
        expected = out + (volts - out) * np.exp(-times / tau)
        assert_allclose(values(run, f"c{k}.v", "V", times), expected, rtol=1e-7)
