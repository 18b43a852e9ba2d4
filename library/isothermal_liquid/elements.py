"""Reservoirs, chambers, tanks and accumulators: where a circuit begins, ends and stores."""

import numpy as np

from blocks import (
    Component,
    Input,
    Option,
    Output,
    Parameter,
    Port,
    Variable,
    der,
    exp,
    log,
    minimum,
    quantity,
    require,
    where,
)

from .. import symbols
from ..fluids.chambers import ATMOSPHERE, specified
from .domain import TwoPort, isothermal_liquid
from .liquid import density, elastic_energy, energy_made_up, enthalpy, filling


def above_vacuum(at, pressure, place=""):
    """A pressure at a port, or in a place, stays above the liquid's minimum, or the run stops."""
    return require(
        pressure > at.minimum_pressure,
        f"the pressure {place or f'at {at.name}'} falls below the liquid's minimum_pressure, at "
        "which it would evaporate: more liquid is drawn out than comes in, or too low a pressure "
        "is prescribed. Pressures are absolute (atmospheric: 0.101325 MPa); start at a higher "
        "pressure, feed this place, or draw less.")  # fmt: skip


class Reservoir(Component):
    """A place whose pressure stays the same, whatever flows.

    Equation: p_A is atmospheric pressure, or with ``pressure_spec="specified"`` the input P,
    or the parameter ``pressure`` while nothing is connected. Any number of reservoirs may
    stand for one tank.
    """

    symbol = symbols.TANK

    pressure_spec = Option("atmospheric", ("atmospheric", "specified"), doc="its pressure")
    A = Port(isothermal_liquid, doc="the reservoir")
    pressure = Parameter(ATMOSPHERE, minimum=0, varying=True, when=specified,
                         doc="Absolute pressure")  # fmt: skip
    P = Input("MPa", default="pressure", when=specified, doc="absolute pressure")
    power_supplied = Variable("W", doc="power given to the circuit")

    def equations(self):
        A = self.A
        if specified(self):
            yield A.p == self.P
            yield above_vacuum(A, self.P)
        else:
            yield A.p == A.atmospheric_pressure
        yield self.power_supplied == -A.mdot * enthalpy(A, A.p)


class Cap(Component):
    """A closed end: nothing flows, whatever the pressure.

    Equation: mdot_A = 0. An unconnected port means the same; this component says that it is
    meant, and shows the pressure p.
    """

    symbol = symbols.END

    A = Port(isothermal_liquid, doc="the closed end")
    p = Variable("MPa", nominal="1 MPa", doc="absolute pressure")

    def equations(self):
        yield self.A.mdot == 0
        yield self.p == self.A.p


class InfiniteFlowResistance(TwoPort):
    """Nothing flows between A and B, whatever their pressures.

    Equation: mdot = 0.
    """

    symbol = symbols.OPEN

    def equations(self):
        yield self.mdot == 0


class ConstantVolumeChamber(Component):
    """A volume of liquid at one pressure, such as a manifold or a stiff hose.

    Equations: p_A = p_I, d(rho volume)/dt = mdot_A. Stores the elastic energy of the liquid.
    The run stops where p_I falls below the minimum pressure of the liquid. The default is not
    verified.
    """

    symbol = symbols.CHAMBER

    A = Port(isothermal_liquid, doc="the chamber")
    volume = Parameter("1 l", above=0, doc="Volume of liquid")
    p_I = Variable("MPa", ATMOSPHERE, priority="high", nominal="1 MPa", minimum="0 MPa",
                   doc="absolute pressure")  # fmt: skip
    energy_stored = Variable("J", doc="elastic energy of the liquid")

    def equations(self):
        A = self.A
        yield A.p == self.p_I
        yield filling(A, self.p_I, self.volume, 0, A.mdot)
        yield above_vacuum(A, self.p_I)
        yield self.energy_stored == self.volume * elastic_energy(A, self.p_I)


class Tank(Component):
    """An open or pressurised tank whose level changes.

    Equations, with the density rho of the liquid at atmospheric pressure:
    d(rho V)/dt = mdot_A, level = V/area, p_A = surface pressure + rho gravity level. The
    surface is at atmospheric pressure, or with ``pressure_spec="specified"`` at
    ``surface_pressure``. The port is at the bottom; the run stops where the tank runs dry,
    and, with ``closed=True``, where it would overflow its ``height``.

    Takes the liquid in the tank as incompressible; what this makes of the energy (a share
    P/(2 bulk_modulus)) is its ``power_supplied``. Defaults are not verified.
    """

    symbol = symbols.TANK

    pressure_spec = Option("atmospheric", ("atmospheric", "specified"), doc="at the surface")
    closed = Option(False, doc="whether the tank has a height, beyond which it overflows")
    A = Port(isothermal_liquid, doc="bottom of the tank")
    V = Output("m^3", doc="volume of liquid")
    L = Output("m", doc="level above the port")
    area = Parameter("1 m^2", above=0, doc="Cross-section of the tank")
    gravity = Parameter("9.81 m/s^2", minimum=0, doc="Gravitational acceleration")
    height = Parameter("10 m", above=0, when="closed", doc="Largest level")
    surface_pressure = Parameter(ATMOSPHERE, minimum=0, when=specified,
                                 doc="Absolute pressure at the surface")  # fmt: skip
    volume = Variable("m^3", "1 m^3", priority="high", doc="volume of liquid")
    level = Variable("m", doc="level above the port")
    energy_stored = Variable("J", doc="gravitational energy, and work done on the surface")
    power_supplied = Variable("W", doc="what leaving out compression makes of the energy")

    def equations(self):
        A = self.A
        outside = A.atmospheric_pressure
        surface = self.surface_pressure if specified(self) else outside
        weight = A.density * self.gravity
        yield A.density * der(self.volume) == A.mdot
        yield self.level == self.volume / self.area
        yield A.p == surface + weight * self.level
        yield self.V == self.volume
        yield self.L == self.level
        yield require(self.volume > quantity("-1e-9 m^3"), "the tank has run dry. Start with more "
                      "volume, or draw less.")  # fmt: skip
        if self.closed:
            yield require(self.level < self.height, "the tank overflows: its level reaches the "
                          "height. Start with less volume, or give it more height.")  # fmt: skip
        yield self.energy_stored == (weight * self.level / 2 + (surface - outside)) * self.volume
        yield self.power_supplied == energy_made_up(A, A.mdot, A.p)


class GasChargedAccumulator(Component):
    """A bladder or piston with gas on one side that liquid compresses on the other.

    Equations: d(rho (V + dead_volume))/dt = mdot_A; while there is liquid in it,
    p_A = precharge_pressure (total_volume/(total_volume - V))^k; below V = 0 the bladder
    stands on its seat and p_A falls by ``seat_stiffness`` per volume, so that nearly
    nothing flows. V is the volume of liquid, k the polytropic index of the gas (1:
    isothermal, 1.4: no heat passes). Stores the energy of gas, liquid and seat. The run
    stops where all gas volume is used up.
    Defaults are not verified.
    """

    symbol = symbols.ACCUMULATOR

    A = Port(isothermal_liquid, doc="the liquid side")
    total_volume = Parameter("8 l", above=0, doc="Volume of gas without liquid")
    precharge_pressure = Parameter("1.101325 MPa", above=0,
                                   doc="Absolute pressure of the gas without liquid")  # fmt: skip
    polytropic_index = Parameter(1.4, minimum=1, doc="Exponent of compression of the gas")
    dead_volume = Parameter("4e-2 l", above=0, doc="Liquid that stays in it")
    seat_stiffness = Parameter("10 GPa/l", above=0, doc="Pressure per volume below zero")
    volume = Variable("l", "0 l", priority="high", nominal="1 l", doc="volume of liquid")
    p_I = Variable("MPa", nominal="1 MPa", doc="absolute pressure of the liquid")
    energy_stored = Variable("J", doc="energy of gas, liquid and seat")

    def verify(self):
        if np.any(self.dead_volume >= self.total_volume):
            yield (f"dead_volume is {self.dead_volume:~P}, not below total_volume, which is "
                   f"{self.total_volume:~P}.")  # fmt: skip

    def equations(self):
        A, V, k = self.A, self.volume, self.polytropic_index
        share = minimum(V / self.total_volume, 0.9999)  # trial steps may go beyond
        squeeze = -log(1 - share)
        seat = self.seat_stiffness * minimum(V, 0)
        yield A.p == self.p_I
        yield self.p_I == self.precharge_pressure * exp(k * squeeze) + seat
        yield der(density(A, self.p_I) * (V + self.dead_volume)) == A.mdot
        yield require(share < 0.999, "liquid has taken all the volume of the gas. Take a larger "
                      "total_volume or a higher precharge_pressure.")  # fmt: skip
        yield above_vacuum(A, self.p_I)
        yield self.energy_stored == (
            self.precharge_pressure * self.total_volume * _gas_work(squeeze, k - 1)
            - A.atmospheric_pressure * V + seat * minimum(V, 0) / 2
            + (V + self.dead_volume) * elastic_energy(A, self.p_I))  # fmt: skip


def _gas_work(squeeze, power):
    """Integral of (V0/V)^k dV over the volume taken away, over V0: (e^(power x) - 1)/power."""
    none = power < 1e-9
    return where(none, squeeze, (exp(power * squeeze) - 1) / where(none, 1, power, events=False),
                 events=False)  # fmt: skip
