"""Products with the matrices of ideal elements, in loops of machine code, beside Python's own."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose
from test_network_modes import buck, dead_time

from blocks import quantity
from library.electrical import (
    ACVoltageSource,
    Capacitor,
    Diode,
    ElectricalReference,
    Inductor,
    Resistor,
)


def stacked():
    """Two stages of a voltage multiplier, behind a coil with what a coil has beside it."""
    model = wired("multiplier", "source.n ground.V", "source.p coil.p",
                  ground=ElectricalReference(),
                  source=ACVoltageSource(amplitude="100 V", frequency="1 kHz"),
                  coil=Inductor(inductance="20 uH", parasitic=True, parallel_conductance="1e-6 S"))
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


@pytest.mark.parametrize(("build", "duration"), [
    (lambda: buck(50.0, vc="15 V"), "0.2 ms"), (dead_time, "1 ms"),
    pytest.param(stacked, "0.2 ms", marks=pytest.mark.slow)])
def test_loops_give_what_steps_in_python_give(build, duration):
    looped, stepped = (build().simulate(duration, method=method, rtol=1e-8)
                       for method in ("rodas4", "Radau"))
    assert looped.events
    assert [e.component for e in looped.events] == [e.component for e in stepped.events]
    span = quantity(duration).m_as("s")
    assert_allclose([e.time for e in looped.events], [e.time for e in stepped.events], rtol=0,
                    atol=1e-6 * span)
    shown = [name for name in stepped if name.endswith((".i", ".v"))]
    assert len(shown) > 2
    times = quantity(np.linspace(0, span, 40), "s")
    expected, found = (run.sample(*shown, times=times) for run in (stepped, looped))
    for name in shown:
        assert_allclose(found[name].m, expected[name].m, rtol=1e-6,
                        atol=1e-6 * max(1.0, np.abs(expected[name].m).max()))
