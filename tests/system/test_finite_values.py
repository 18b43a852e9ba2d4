"""Which laws may lose their value, and by what?"""

import pytest
from benches import wired

from blocks import Component, Input, Output, SimulationError, Variable, der, quantity, sqrt
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
    return wired("rooted", "source.p r.p", "r.n diode.p sensor.p exponential.p", "diode.n c.p",
                 "source.n c.n sensor.n exponential.n ground.V", "sensor.V root.u",
                 ground=ElectricalReference(), source=DCVoltageSource(voltage="5 V"), r=Resistor(),
                 diode=Diode(model="ideal"), c=Capacitor(), exponential=Diode(model="exponential"),
                 sensor=VoltageSensor(), root=Root())


def test_those_of_a_large_system_are_found_without_going_through_all(monkeypatch):
    system = rooted().compile()
    laws = FiniteValues(system)
    told = {laws._named(k) for k in laws._decided_by(SOLVED)}
    assert ("root", "y == sqrt(u)") in told
    assert not any("level" in text for _, text in told)
    monkeypatch.setattr(finite_values, "MANY", 0)
    assert FiniteValues(system)._decided_by(SOLVED) == laws._decided_by(SOLVED)


class Approach(Component):
    """What is slower the farther it is from a wall, and values that no motion depends on."""

    x = Variable("m", "1 m", priority="high")
    near, left, far = Variable("1/m"), Variable("m^0.5"), Variable("m")

    def equations(self):
        distance = quantity("2 m") - self.x
        yield der(self.x) == -quantity("1 m^2/s") / distance
        yield self.near == 3 / distance
        yield self.left == sqrt(self.x + quantity("3 m"))
        yield self.far == sqrt(distance**2 + self.x**2)


def test_what_the_slopes_show_is_not_looked_at():
    model = wired("approach", part=Approach())
    laws = FiniteValues(model.compile())
    assert {laws._named(int(k))[1].partition(" ")[0] for k in laws._all[0]} == {"left"}


def test_what_they_do_not_show_is_told():
    model = wired("approach", part=Approach(x="-2.9 m"))
    with pytest.raises(SimulationError, match=r"left == sqrt") as error:
        model.simulate("1 s")  # it is below -3 m from (5^2 - 4.9^2) / 2 s on
    assert error.value.code == "simulation.value" and error.value.time > 0.495
