"""Frequency responses of circuits against their transfer functions."""

import numpy as np
import pytest
from benches import values
from benches.electrical import circuit

from blocks import quantity
from library.electrical import ACVoltageSource, Capacitor, Inductor, OpAmp, Resistor, VoltageSensor


def R(value):
    return Resistor(resistance=quantity(value, "ohm"))


def C(value):
    return Capacitor(capacitance=quantity(value, "F"))


def L(value, r=0.0):
    return Inductor(inductance=quantity(value, "H"), series_resistance=quantity(r, "ohm"))


def network(*branches, amplifier=None):
    """Branches (part, node, node) between the nodes ``in``, ``out``, ``0`` and others."""
    model = circuit(source=ACVoltageSource(amplitude="1 V", phase="90 deg"), meter=VoltageSensor())
    nodes = {"0": [model.ground.V, model.source.n, model.meter.n], "in": [model.source.p],
             "out": [model.meter.p]}  # fmt: skip
    for k, (part, p, n) in enumerate(branches):
        made = model.add(f"part{k}", part)
        nodes.setdefault(p, []).append(made.p)
        nodes.setdefault(n, []).append(made.n)
    if amplifier:
        made = model.add("amplifier", OpAmp())
        for port, node in zip((made.p, made.n, made.out), amplifier, strict=True):
            nodes[node].append(port)
    for ports in nodes.values():
        model.connect(*ports)
    return model


CASES = {
    "RC low-pass": (lambda: network((R(1e3), "in", "out"), (C(1e-7), "out", "0")),
                    lambda s: 1 / (1 + 1e-4 * s), 1e-4),
    "RL high-pass": (lambda: network((R(50), "in", "out"), (L(5e-3), "out", "0")),
                     lambda s: 1e-4 * s / (1 + 1e-4 * s), 1e-4),
    "series resonance": (
        lambda: network((L(1e-3, 2.0), "in", "a"), (C(1e-6), "a", "out"), (R(8), "out", "0")),
        lambda s: 8e-6 * s / (1 + 10e-6 * s + 1e-9 * s**2), 2e-4),
    "parallel resonance": (
        lambda: network((R(100), "in", "out"), (L(1e-3), "out", "0"), (C(1e-6), "out", "0")),
        lambda s: 1e-5 * s / (1 + 1e-5 * s + 1e-9 * s**2), 2e-4),
    "Sallen-Key low-pass": (
        lambda: network((R(1e3), "in", "a"), (R(2e3), "a", "b"), (C(2e-8), "b", "0"),
                        (C(8e-8), "a", "out"), amplifier=("b", "out", "out")),
        lambda s: 1 / (1 + 2e-8 * 3e3 * s + 1e3 * 2e3 * 2e-8 * 8e-8 * s**2), 1.2e-4),
    "multiple feedback band-pass": (
        lambda: network((R(1e3), "in", "a"), (R(1e3), "a", "0"), (C(1e-7), "a", "out"),
                        (C(1e-7), "a", "b"), (R(8e3), "b", "out"), amplifier=("0", "b", "out")),
        lambda s: -(8e-4 * s) / (2 + 2 * 1e-4 * s + 1e-14 * 8e6 * s**2), 8e-4),
    "bridged-T notch": (
        lambda: network((C(1e-7), "in", "a"), (C(1e-7), "a", "out"), (R(500), "a", "0"),
                        (R(1e4), "in", "out")),
        lambda s: (1 + 2e-7 * 500 * s + 1e-14 * 5e6 * s**2)
        / (1 + 1e-7 * (1000 + 1e4) * s + 1e-14 * 5e6 * s**2), 1.1e-3),
    "third-order ladder": (
        lambda: network((R(50), "in", "a"), (C(2e-6), "a", "0"), (L(1e-2), "a", "out"),
                        (C(2e-6), "out", "0"), (R(50), "out", "0")),
        lambda s: 1 / (2 + s * (2 * 50 * 2e-6 + 1e-2 / 50) + s**2 * 2 * 1e-2 * 2e-6
                       + s**3 * 50 * 1e-2 * 4e-12), 4e-4),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("frequency", [400.0, 5e3])
def test_a_circuit_answers_a_sine_as_its_transfer_function_says(name, frequency):
    build, transfer, slowest = CASES[name]
    model = build()
    model.source.frequency = quantity(frequency, "Hz")
    settled = 24 * slowest  # exp(-24) = 4e-11
    run = model.simulate(quantity(settled + 1 / frequency, "s"), rtol=1e-10)
    t = np.linspace(settled, settled + 1 / frequency, 64, endpoint=False)
    wave = values(run, "meter.V", "V", t)
    found = 2 * np.mean(wave * np.exp(-2j * np.pi * frequency * t))
    expected = transfer(2j * np.pi * frequency)
    assert abs(found - expected) < 1e-7 * max(1, abs(expected)), (found, expected)
