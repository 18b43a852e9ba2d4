"""Eight problems of electricity, heat, oil and magnetism: E1 to E8.

Full of switches, stiff, or large. Their statements and end values are published with the
benchmarks' reference numbers; every end value is agreed on by two methods in C.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from blocks import (
    Component,
    Model,
    Parameter,
    Port,
    Variable,
    breakpoints,
    der,
    exp,
    quantity,
    sin,
    sqrt,
    tanh,
    time,
    where,
)
from library import electrical as parts
from library.electrical import TwoPort, electrical
from library.signal import Pulse
from library.thermal import TwoPort as HeatPath
from library.thermal import thermal

from .circuits import diode_nodes

__all__ = ["bridge", "buck", "cylinder", "grid", "ideal_bridge", "ideal_buck",
           "ladder", "rod", "solenoid"]  # fmt: skip


class Ground(Component):
    """Potential zero."""

    V = Port(electrical)

    def equations(self) -> Any:
        yield self.V.v == 0


class Resistor(TwoPort):
    resistance = Parameter("1 ohm", above=0)

    def equations(self) -> Any:
        yield self.v == self.resistance * self.i


class Capacitor(TwoPort):
    capacitance = Parameter("1 uF", above=0)
    vc = Variable("V", "0 V", priority="high", nominal="5 V")

    def equations(self) -> Any:
        yield self.vc == self.v
        yield self.i == self.capacitance * der(self.vc)


class Inductor(TwoPort):
    inductance = Parameter("100 uH", above=0)
    resistance = Parameter("0.05 ohm", minimum=0)
    current = Variable("A", "0 A", priority="high", nominal="10 A")

    def equations(self) -> Any:
        yield self.current == self.i
        yield self.inductance * der(self.current) == self.v - self.resistance * self.current


class Sine(TwoPort):
    amplitude, frequency = Parameter("5 V"), Parameter("1 kHz")

    def equations(self) -> Any:
        yield self.v == self.amplitude * sin(2 * np.pi * self.frequency * time)


class Constant(TwoPort):
    voltage = Parameter("24 V")

    def equations(self) -> Any:
        yield self.v == self.voltage


class Diode(TwoPort):
    """Straight lines, as Simscape's default."""

    forward, on = Parameter("0.6 V"), Parameter("0.3 ohm")
    leak = Parameter("1e-8 1/ohm")

    def equations(self) -> Any:
        yield self.i == where(
            self.v > self.forward,
            (self.v - self.forward * (1 - self.on * self.leak)) / self.on, self.leak * self.v)


class Junction(TwoPort):
    """Shockley's diode."""

    saturation, thermal_voltage = Parameter("1e-12 A"), Parameter("25 mV")

    def equations(self) -> Any:
        yield self.i == self.saturation * (exp(self.v / self.thermal_voltage) - 1)


class Chopper(TwoPort):
    """A switch that is closed in the first part of every period."""

    frequency, duty = Parameter("50 kHz"), Parameter(0.5)
    closed, open = Parameter("0.01 ohm"), Parameter("1e-8 1/ohm")

    def equations(self) -> Any:
        phase = time * self.frequency
        yield breakpoints(0 / self.frequency, 1 / self.frequency)
        yield breakpoints(self.duty / self.frequency, 1 / self.frequency)
        yield self.i == self.v * where(phase - np.floor(phase) < self.duty, 1 / self.closed,
                                       self.open)


def ladder(n: int) -> Model:
    """E1: n sections of resistor and capacitor behind a sine."""
    model = Model("ladder")
    model.source, model.ground = Sine(), Ground()
    model.resistors = Resistor(count=n, resistance=quantity(1000 / n, "ohm"))
    model.capacitors = Capacitor(count=n, capacitance=quantity(1e-6 / n, "F"))
    model.connect(model.source.p, model.resistors[0].p)
    model.connect(model.resistors[:-1].n, model.resistors[1:].p)
    model.connect(model.resistors.n, model.capacitors.p)
    model.connect(model.capacitors.n, model.source.n, model.ground.V)
    return model


def bridge(diode: Callable[[], Component] = Diode) -> Model:
    """E2: a full bridge on a sine; two diodes commutate at the same instant."""
    model = Model("bridge")
    model.source = Sine(amplitude="17 V", frequency="50 Hz")
    model.inner = Resistor(resistance="0.1 ohm")
    model.capacitor, model.load = Capacitor(capacitance="1 mF"), Resistor(resistance="100 ohm")
    model.ap, model.bp, model.ga, model.gb = diode(), diode(), diode(), diode()
    model.ground = Ground()
    model.connect(model.source.p, model.inner.p)
    model.connect(model.inner.n, model.ap.p, model.ga.n)
    model.connect(model.source.n, model.bp.p, model.gb.n)
    model.connect(model.ap.n, model.bp.n, model.capacitor.p, model.load.p)
    model.connect(model.ga.p, model.gb.p, model.capacitor.n, model.load.n, model.ground.V)
    return model


def buck() -> Model:
    """E3: a buck converter at 50 kHz."""
    return _buck("buck", Chopper(), Diode())


def _buck(name: str, switch: Component, diode: Component) -> Model:
    model = Model(name)
    model.source, model.switch, model.diode = Constant(), switch, diode
    model.coil, model.load = Inductor(), Resistor(resistance="5 ohm")
    model.capacitor, model.ground = Capacitor(capacitance="100 uF"), Ground()
    model.connect(model.source.p, model.switch.p)
    model.connect(model.switch.n, model.diode.n, model.coil.p)
    model.connect(model.coil.n, model.capacitor.p, model.load.p)
    model.connect(model.source.n, model.diode.p, model.capacitor.n, model.load.n, model.ground.V)
    return model


def ideal_bridge() -> Model:
    """E2 with ideal diodes."""
    return bridge(ideal_diode)


def ideal_diode() -> Component:
    return parts.Diode(model="ideal")


def ideal_buck() -> Model:
    """E3 with an ideal switch and an ideal diode."""
    model = _buck("ideal buck", parts.Switch(model="ideal"), ideal_diode())
    model.drive = Pulse(period="20 us", width=0.5)
    model.connect(model.drive.y, model.switch.vT)
    return model


def _smooth_friction(v: Any, breakaway: Any, coulomb: Any, speed: Any, viscous: Any) -> Any:
    s = v / (np.sqrt(2) * speed)
    return (np.sqrt(2 * np.e) * (breakaway - coulomb) * exp(-s**2) * s
            + coulomb * tanh(10 * v / speed) + viscous * v)


class Hot(Component):
    A = Port(thermal)

    def equations(self) -> Any:
        yield quantity("1000 K") == self.A.T


class Conduction(HeatPath):
    conductance = Parameter("1 W/K", above=0)

    def equations(self) -> Any:
        yield self.conductance * self.T == self.Q


class Cell(Component):
    A = Port(thermal)
    capacity = Parameter("1 J/K", above=0)
    T = Variable("K", "300 K", priority="high", nominal="700 K")

    def equations(self) -> Any:
        yield self.T == self.A.T
        yield self.capacity * der(self.T) == self.A.Q


class Radiation(Component):
    A = Port(thermal)

    def equations(self) -> Any:
        yield quantity("4e-10 W/K^4") * (self.A.T**4 - quantity("300 K")**4) == self.A.Q


def rod(n: int) -> Model:
    """E5: n cells of a rod between 1000 K and radiation."""
    model = Model("rod")
    length = 0.1 / n
    model.hot, model.radiation = Hot(), Radiation()
    model.links = Conduction(count=n, conductance=quantity(50 * 1e-4 / length, "W/K"))
    model.cells = Cell(count=n, capacity=quantity(7850 * 447 * 1e-4 * length, "J/K"))
    model.connect(model.hot.A, model.links[0].A)
    model.connect(model.links[1:].A, model.cells[:-1].A)
    model.connect(model.links.B, model.cells.A)
    model.connect(model.cells[-1].A, model.radiation.A)
    return model


class Cylinder(Component):
    """E6: pump, relief valve, two orifices and a cylinder that creeps."""

    pp = Variable("Pa", "101325 Pa", priority="high", nominal="1e7 Pa")
    pa = Variable("Pa", quantity(101325 + 4e6, "Pa"), priority="high", nominal="1e7 Pa")
    pb = Variable("Pa", "101325 Pa", priority="high", nominal="1e7 Pa")
    x = Variable("m", "0.02 m", priority="high", nominal="0.1 m")
    v = Variable("m/s", "0 m/s", priority="high", nominal="0.1 m/s")

    def equations(self) -> Any:
        tank, bulk = quantity("101325 Pa"), quantity("1.2e9 Pa")
        area = quantity("1e-10 m^2") + quantity("8e-6 m^2") * sin(np.pi * time / quantity("1 s"))**2
        over = self.pp - tank
        low, high = quantity("12 MPa"), quantity("14 MPa")
        least, most = quantity("1e-10 m^2"), quantity("2e-5 m^2")
        relief = where(over < low, least, where(
            over > high, most, least + (most - least) * (over - low) / (high - low)))
        to_a = _flow(area, self.pp - self.pa)
        from_b = _flow(area, self.pb - tank)
        big, small = quantity("1e-3 m^2"), quantity("6e-4 m^2")
        yield quantity("1e-5 m^3") / bulk * der(self.pp) == (
            quantity("1.5e-4 m^3/s") - to_a - _flow(relief, over))
        yield (quantity("5e-5 m^3") + big * self.x) / bulk * der(self.pa) == to_a - big * self.v
        yield (quantity("5e-5 m^3") + small * (quantity("0.3 m") - self.x)) / bulk * der(
            self.pb) == small * self.v - from_b
        yield der(self.x) == self.v
        yield quantity("50 kg") * der(self.v) == (
            (self.pa - tank) * big - (self.pb - tank) * small - quantity("4000 N")
            - _smooth_friction(self.v, quantity("700 N"), quantity("500 N"),
                               quantity("2 mm/s"), quantity("200 N*s/m")))


def _flow(area: Any, drop: Any) -> Any:
    """The volume flow through a sharp edge, laminar about zero."""
    density, viscosity, discharge = quantity("850 kg/m^3"), quantity("1.8e-5 m^2/s"), 0.64
    critical = np.pi / 4 * density / (2 * area) * (150 * viscosity / discharge)**2
    return discharge * area * sqrt(2 / density) * drop / (drop**2 + critical**2)**0.25


def cylinder() -> Model:
    model = Model("cylinder")
    model.part = Cylinder()
    return model


class Solenoid(Component):
    """E7: a coil pulls a plunger against a spring, between two stops."""

    flux = Variable("Wb", "0 Wb", priority="high", nominal="1e-4 Wb")
    x = Variable("m", quantity(2e-3 + 2.4e-6, "m"), priority="high", nominal="1 mm")
    v = Variable("m/s", "0 m/s", priority="high", nominal="1 m/s")

    def equations(self) -> Any:
        permeability = quantity(4e-7 * np.pi, "H/m")
        area, turns = quantity("1e-4 m^2"), 1000
        yield breakpoints("40 ms", "1000 s")
        voltage = where(time < quantity("40 ms"), quantity("12 V"), quantity("0 V"))
        current = self.flux * (self.x / (permeability * area) + quantity("2e6 1/H")) / turns
        low, high = quantity("0.2 mm"), quantity("2 mm")
        hard, damping = quantity("1e6 N/m"), quantity("150 N*s/m")
        stops = (where(self.x < low, hard * (low - self.x) - damping * self.v, 0)
                 - where(self.x > high, hard * (self.x - high) + damping * self.v, 0))
        yield turns * der(self.flux) == voltage - quantity("20 ohm") * current
        yield der(self.x) == self.v
        yield quantity("0.02 kg") * der(self.v) == (
            -self.flux**2 / (2 * permeability * area)
            + quantity("400 N/m") * (quantity("8 mm") - self.x)
            - quantity("0.5 N*s/m") * self.v + stops)


def solenoid() -> Model:
    model = Model("solenoid")
    model.part = Solenoid()
    return model


class Node(Component):
    """A node with a name."""

    V = Port(electrical)

    def equations(self) -> Any:
        yield self.V.i == 0


def grid(n: int = 100, diodes: int = 50) -> Model:
    """E8: n x n nodes, every other one without a capacitor, and diodes at some of these."""
    model = Model("grid")
    number = np.arange(n * n).reshape(n, n)
    ends = np.concatenate([
        np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()]),
        np.column_stack([number[:-1].ravel(), number[1:].ravel()]),
    ])  # fmt: skip
    even = (np.arange(n)[:, None] + np.arange(n)) % 2 == 0
    model.ground, model.source, model.nodes = Ground(), Sine(), Node(count=n * n)
    model.links = Resistor(count=len(ends), resistance="100 ohm")
    model.feeds = Resistor(count=n, resistance="100 ohm")
    model.capacitors = Capacitor(count=int(even.sum()), capacitance="1 nF")
    model.diodes = Junction(count=diodes)
    nodes = model.nodes
    model.connect(model.links.p, nodes[ends[:, 0]].V)
    model.connect(model.links.n, nodes[ends[:, 1]].V)
    model.connect(model.feeds.n, nodes[number[:, 0]].V)
    model.connect(model.feeds.p, model.source.p)
    model.connect(model.capacitors.p, nodes[number[even]].V)
    model.connect(model.diodes.p, nodes[np.array(diode_nodes(n, diodes))].V)
    for ends_at_ground in (model.capacitors.n, model.diodes.n, model.source.n):
        model.connect(ends_at_ground, model.ground.V)
    return model
