"""Which laws may lose their value, and by what?"""

from __future__ import annotations

from blocks import Component, Input, Model, Output, Variable, der, quantity, sqrt
from blocks.system import finite_values
from blocks.system.finite_values import SOLVED, FiniteValues
from library.electrical import (
    Capacitor,
    DCVoltageSource,
    Diode,
    ElectricalReference,
    Resistor,
    VoltageSensor,
)


class Root(Component):
    """A signal with a root of what it is given, and a state with one of its own."""

    u, y = Input("V"), Output("V^0.5")
    level = Variable("1", 1.0, priority="high")
    seen = Variable("1")

    def equations(self):
        yield der(self.level) == quantity("-1 1/s")
        yield self.seen == sqrt(2 + self.level)
        yield self.y == sqrt(self.u)


def rooted():
    """A root of a voltage that loops and a diode decide on."""
    model = Model("rooted")
    model.ground, model.source = ElectricalReference(), DCVoltageSource(voltage="5 V")
    model.r, model.diode, model.c = Resistor(), Diode(model="ideal"), Capacitor()
    model.exponential = Diode(model="exponential")
    model.sensor, model.root = VoltageSensor(), Root()
    model.connect(model.source.p, model.r.p)
    model.connect(model.r.n, model.diode.p, model.sensor.p, model.exponential.p)
    model.connect(model.diode.n, model.c.p)
    model.connect(model.source.n, model.c.n, model.sensor.n, model.exponential.n, model.ground.V)
    model.connect(model.sensor.V, model.root.u)
    return model


def test_those_of_a_large_system_are_found_without_going_through_all(monkeypatch):
    system = rooted().compile()
    laws = FiniteValues(system)
    told = {laws._named(k) for k in laws._decided_by(SOLVED)}
    assert ("root", "y == sqrt(u)") in told
    assert not any("level" in text for _, text in told)
    monkeypatch.setattr(finite_values, "MANY", 0)
    assert FiniteValues(system)._decided_by(SOLVED) == laws._decided_by(SOLVED)
