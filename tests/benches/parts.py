"""Components that tests are made of, as a user would write them."""

import pytest

from benches import wired
from blocks import Branch, Component, Domain, Model, Parameter, Port, Variable, der

electrical = Domain("electrical", across={"v": "V"}, through={"i": "A"}, reference="Ground")


class TwoPin(Branch, domain=electrical):
    """Base of electrical two-pins: v = v_R - v_C, i carried from R to C."""


class Resistor(TwoPin):
    resistance = Parameter("1 kohm", above=0)
    power_dissipated = Variable("W")

    def equations(self):
        yield self.v == self.resistance * self.i
        yield self.power_dissipated == self.v * self.i


class Capacitor(TwoPin):
    capacitance = Parameter("1 uF", above=0)
    v = Variable("V", "0 V", priority="high")
    energy_stored = Variable("J")

    def equations(self):
        yield self.i == self.capacitance * der(self.v)
        yield self.energy_stored == self.capacitance * self.v**2 / 2


class Inductor(TwoPin):
    inductance = Parameter("1 mH", above=0)
    i = Variable("A", "0 A", priority="high")
    energy_stored = Variable("J")

    def equations(self):
        yield self.v == self.inductance * der(self.i)
        yield self.energy_stored == self.inductance * self.i**2 / 2


class VoltageSource(TwoPin):
    voltage = Parameter("1 V", varying=True)
    power_supplied = Variable("W")

    def equations(self):
        yield self.v == self.voltage
        yield self.power_supplied == -self.v * self.i


class Ground(Component):
    grounds = True
    P = Port(electrical)

    def equations(self):
        yield self.P.v == 0


class Pendulum(Component):
    """A point mass on a rigid rod in Cartesian coordinates: a constraint of index 3."""

    length = Parameter("1 m", above=0)
    gravity = Parameter("9.81 m/s^2")
    mass = Parameter("1 kg", above=0)
    x = Variable("m")
    y = Variable("m")
    vx = Variable("m/s")
    vy = Variable("m/s")
    tension = Variable("N/m", doc="force in the rod per length")
    energy = Variable("J")

    def equations(self):
        yield der(self.x) == self.vx
        yield der(self.y) == self.vy
        yield self.mass * der(self.vx) == -self.tension * self.x
        yield self.mass * der(self.vy) == -self.tension * self.y - self.mass * self.gravity
        yield self.x**2 + self.y**2 == self.length**2
        kinetic = self.mass * (self.vx**2 + self.vy**2) / 2
        yield self.energy == kinetic + self.mass * self.gravity * self.y


def alone(component: Component) -> Model:
    """A model of one component, named ``c``."""
    return wired("test", c=component)


def final(result, path, unit=None):
    """The last value of a variable as a number in its declared unit, or another."""
    value = result[path].final
    return value.magnitude if unit is None else value.to(unit).magnitude


def by_python(model, *args, **options):
    """A run whose events are all carried out in Python."""
    from blocks.native.method import OneStep  # which needs llvmlite

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OneStep, "carries_out_events", False)
        return model.simulate(*args, **options)


def told(run):
    return [(e.component, e.description, e.mode, e.previous) for e in run.events]
