"""A run whose steps are far too short for it to end stops early, with what it has."""

from __future__ import annotations

import pytest

from blocks import Model, SimulationError
from library.electrical import ACVoltageSource, Capacitor, ElectricalReference, Resistor


@pytest.mark.parametrize("method", ["dopri5", "RK23"])
def test_an_explicit_method_on_a_circuit_of_1e_17_s_says_that_it_would_not_end(method):
    model = Model("parasitic")
    model.source, model.ground = ACVoltageSource(amplitude="5 V"), ElectricalReference()
    model.wire, model.store = Resistor(resistance="1e-11 ohm"), Capacitor(capacitance="1 uF")
    model.connect(model.source.p, model.wire.p)
    model.connect(model.wire.n, model.store.p)
    model.connect(model.store.n, model.source.n, model.ground.V)
    with pytest.raises(SimulationError, match=rf"steps of {method} were .*e-17 s long") as caught:
        model.simulate("40 ms", method=method)
    assert caught.value.code == "simulation.stiff"
    assert "Take method='auto' or 'rodas4'" in str(caught.value)
    assert 0 < caught.value.result.time[-1].to("s").m < 1e-9
    assert "store" in str(caught.value.result.bottlenecks())
