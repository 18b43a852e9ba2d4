"""Components that tests are made of, as a user would write them."""

import pytest
from numpy.testing import assert_allclose

import blocks
from benches import wired
from blocks import Branch, Component, Discrete, Domain, Model, Parameter, Variable, der, quantity

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
    v, energy_stored = Variable("V", "0 V", priority="high"), Variable("J")

    def equations(self):
        yield self.i == self.capacitance * der(self.v)
        yield self.energy_stored == self.capacitance * self.v**2 / 2


class Inductor(TwoPin):
    inductance = Parameter("1 mH", above=0)
    i, energy_stored = Variable("A", "0 A", priority="high"), Variable("J")

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
    P = blocks.Port(electrical)

    def equations(self):
        yield self.P.v == 0


class Pendulum(Component):
    """A point mass on a rigid rod in Cartesian coordinates: a constraint of index 3."""

    length, gravity = Parameter("1 m", above=0), Parameter("9.81 m/s^2")
    mass = Parameter("1 kg", above=0)
    x, y, vx, vy = Variable("m"), Variable("m"), Variable("m/s"), Variable("m/s")
    tension, energy = Variable("N/m", doc="force in the rod per length"), Variable("J")

    def push(self):
        """A force along x."""
        return quantity("0 N")

    def equations(self):
        yield der(self.x) == self.vx
        yield der(self.y) == self.vy
        yield self.mass * der(self.vx) == self.push() - self.tension * self.x
        yield self.mass * der(self.vy) == -self.tension * self.y - self.mass * self.gravity
        yield self.x**2 + self.y**2 == self.length**2
        kinetic = self.mass * (self.vx**2 + self.vy**2) / 2
        yield self.energy == kinetic + self.mass * self.gravity * self.y


class CubicLoop(Component):
    """x' = -y with y + y^3 = x: log y + 1.5 y^2 + t/s does not change."""

    x, y = Variable("1", "1", priority="high"), Variable("1")

    def equations(self):
        yield der(self.x) == -self.y / quantity("1 s")
        yield self.y + self.y**3 == self.x


class Explosion(Component):
    """x' = k x^2 from 1: x = 1/(1 - k t)."""

    rate = Parameter("1 1/s", doc="rate of growth")
    x = Variable("1", "1", priority="high")

    def equations(self):
        yield der(self.x) == self.rate * self.x**2


class Follower(Component):
    """dx/dt = u, with u = -gain x taken every period and held."""

    period, first, gain = Parameter("1 ms", above=0), Parameter("0 s"), Parameter("100 1/s")
    x = Variable("m", "1 m")
    u, number = Discrete("m/s"), Discrete("1")

    def equations(self):
        yield der(self.x) == self.u
        yield blocks.every(self.period, {self.u: -self.gain * self.x, self.number: self.number + 1},
                           start=self.first)


class Carrier(Component):
    """Counts the first half of every period, whose instants are announced."""

    frequency = Parameter("50 kHz")
    on = Variable("s", "0 s", priority="high")

    def equations(self):
        phase = blocks.time * self.frequency
        yield blocks.breakpoints(0 / self.frequency, 0.5 / self.frequency)
        yield der(self.on) == blocks.where(phase - blocks.floor(phase) < 0.5, 1.0, 0.0)


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


def assert_same(run, other, paths, within):
    """The same events at instants within so many seconds, and ends within ten times that."""
    assert told(run) == told(other)
    assert_allclose([e.time for e in run.events], [e.time for e in other.events], rtol=0,
                    atol=within)
    for path in paths:
        end = other[path].final.m
        assert_allclose(run[path].final.m, end, rtol=0, atol=10 * within * max(1.0, abs(end)),
                        err_msg=path)
