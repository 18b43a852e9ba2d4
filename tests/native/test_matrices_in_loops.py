"""Products with the matrices of many ideal elements: as loops they give what they give written out.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_network_modes import buck, dead_time, matrix, rectifier, short_circuit

from blocks import Model, quantity
from blocks.nonsmooth.modes import carried_network
from library.electrical import (
    ACVoltageSource,
    Capacitor,
    Diode,
    ElectricalReference,
    Inductor,
    Resistor,
)

pytest.importorskip("llvmlite")


def stacked():
    """Two stages of a voltage multiplier, behind a coil with what a coil has beside it."""
    model = Model("multiplier")
    model.ground = ElectricalReference()
    model.source = ACVoltageSource(amplitude="100 V", frequency="1 kHz")
    model.coil = Inductor(inductance="20 uH", parasitic=True, parallel_conductance="1e-6 S")
    model.connect(model.source.n, model.ground.V)
    model.connect(model.source.p, model.coil.p)
    low, high = model.ground.V, model.coil.n
    for k in range(2):
        push, store, up, over = (model.add(f"{name}{k}", part) for name, part in (
            ("push", Capacitor(capacitance="1 uF")), ("store", Capacitor(capacitance="1 uF")),
            ("up", Diode(model="ideal")), ("over", Diode(model="ideal"))))
        model.connect(high, push.p)
        model.connect(push.n, up.n, over.p)
        model.connect(low, up.p, store.n)
        model.connect(over.n, store.p)
        low, high = store.p, push.n
    model.load = Resistor(resistance="10 kohm")
    model.connect(low, model.load.p)
    model.connect(model.load.n, model.ground.V)
    return model


def matrix_of_nine():
    return matrix(3, 3)


@pytest.mark.parametrize(("build", "duration", "method"), [
    (lambda: buck(50.0, vc="15 V"), "0.2 ms", "dopri5"), (dead_time, "1 ms", "rodas4"),
    (rectifier, "40 ms", "rodas4"), (short_circuit, "40 ms", "dopri5"),
    (matrix_of_nine, "40 ms", "dopri5"), (stacked, "3 ms", "rodas4")])
def test_loops_give_what_is_written_out(build, duration, method, monkeypatch):
    written = build().simulate(duration, method=method)
    monkeypatch.setattr(carried_network, "MOST_WRITTEN", 0)
    looped = build().simulate(duration, method=method)
    assert [e.component for e in looped.events] == [e.component for e in written.events]
    assert_allclose([e.time for e in looped.events], [e.time for e in written.events], rtol=1e-9)
    shown = [name for name in written if name.endswith((".i", ".v"))
             and not (name.startswith("diode") and build is matrix_of_nine)]  # shared anyhow
    times = quantity(np.linspace(0, quantity(duration).m_as("s"), 40), "s")
    expected, found = (run.sample(*shown, times=times) for run in (written, looped))
    for name in shown:
        assert_allclose(found[name].m, expected[name].m, rtol=1e-6,
                        atol=1e-6 * max(1.0, np.abs(expected[name].m).max()))
