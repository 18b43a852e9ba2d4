"""A fluid that carries its enthalpy, written as a user would: tanks, pipes, a pump, surroundings.

A flow has the enthalpy of where it comes from. What a node holds nobody knows while nothing flows
there.
"""

import blocks
from benches import wire
from blocks import Component, Domain, Parameter, Port, Target, Variable, der, interpolate, quantity
from library.thermal.domain import TwoPort, thermal

coolant = Domain("coolant", across={"p": "Pa", "h": "J/kg"}, through={"m": "kg/s", "H": "W"},
                 power=lambda port: port.H)
capacity, density = quantity("1 J/(kg*K)"), quantity("1 kg/m^3")


def carried(port, h):
    """Enthalpy flow into a component: of the node, or of what is in the component."""
    return port.m * blocks.where(port.m > 0, port.h, h) == port.H


class OpenTank(Component):
    """1 m^2 of surface, 10 m/s^2 of gravity."""

    port = Port(coolant)
    m = Variable("kg", initial="0.5 kg", priority="high")
    T, H = Variable("K", initial="300 K", priority="high"), Variable("J")

    def equations(self):
        yield der(self.m) == self.port.m
        yield der(self.H) == self.port.H
        yield self.m * capacity * self.T == self.H
        yield self.port.p == quantity("1e5 Pa") + self.m * quantity("10 m/s^2 / m^2")
        yield carried(self.port, capacity * self.T)


class Line(Component):
    """Carries a flow from a to b without storing anything."""

    a, b = Port(coolant), Port(coolant)
    h = Variable("J/kg", doc="of what leaves it")

    def equations(self):
        yield self.a.m + self.b.m == 0
        yield self.a.H + self.b.H == 0
        yield carried(self.a, self.h)
        yield carried(self.b, self.h)
        yield self.law()


class LaminarPipe(Line):
    resistance = Parameter("5 Pa*s/kg")

    def law(self):
        return self.a.p - self.b.p == self.resistance * self.a.m


class TurbulentPipe(Line):
    """Pressure drop k m sqrt(m^2 + m0^2), behind a valve that is open (1) or closed (0)."""

    k, smallest, opening = Parameter("5 Pa*s^2/kg^2"), Parameter("0.3 kg/s"), Parameter(1.0)

    def law(self):
        m = self.a.m
        return self.opening * (self.a.p - self.b.p) == self.k * m * blocks.sqrt(m**2
                                                                                + self.smallest**2)


class Pump(Line):
    """1 m^3/s until 0.2 s, down to nothing at 0.4 s, up again from 0.6 s to 0.8 s."""

    V = Parameter("1 m^3/s", varying=True)

    def law(self):
        return self.a.m == self.V * density


def dropping_out(t):
    return interpolate(t, quantity([0, 0.2, 0.4, 0.6, 0.8, 9], "s"),
                       quantity([1.0, 1, 0, 0, 1, 1], "m^3/s"))


class Surroundings(Component):
    port = Port(coolant)
    T = Parameter("293.15 K")

    def equations(self):
        yield self.port.p == quantity("1e5 Pa")
        yield carried(self.port, capacity * self.T)


class HeatedPipe(Component):
    """0.1 kg of fluid, at the temperature of what leaves it."""

    a, b, heat = Port(coolant), Port(coolant), Port(thermal)
    T = Variable("K", initial="293.15 K", priority="high")

    def equations(self):
        yield self.a.m + self.b.m == 0
        yield self.a.p == self.b.p
        yield quantity("0.1 kg") * capacity * der(self.T) == self.a.H + self.b.H + self.heat.Q
        yield self.heat.T == self.T
        yield carried(self.a, capacity * self.T)
        yield carried(self.b, capacity * self.T)


class HeatedMass(Component):
    """0.1 J/K that receives 10 W."""

    heat = Port(thermal)
    T = Variable("K", initial="293.15 K", priority="high")

    def equations(self):
        yield self.heat.T == self.T
        yield quantity("0.1 J/K") * der(self.T) == quantity("10 W") + self.heat.Q


class Convection(TwoPort):
    conductance = Parameter("1 W/K")

    def equations(self):
        yield self.conductance * self.T == self.Q


def two_tanks(model, left=("0.9 kg", "313.15 K"), right=("0.1 kg", "293.15 K"), guess="300 J/kg"):
    """Two tanks joined at the bottom."""
    wire(model, "left.port pipe.a", "pipe.b right.port", left=OpenTank(m=left[0], T=left[1]),
         right=OpenTank(m=right[0], T=right[1]), pipe=LaminarPipe(h=Target(guess, priority="none")))
    return model


def cooling(model):
    """A pump cools a heated mass by a pipe, and drops out for a while."""
    wire(model, "source.port pump.a", "pump.b pipe.a", "pipe.b sink.port", "mass.heat convection.A",
         "convection.B pipe.heat", source=Surroundings(), sink=Surroundings(),
         pump=Pump(V=dropping_out), pipe=HeatedPipe(), mass=HeatedMass(), convection=Convection())
    return model
