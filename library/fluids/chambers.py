"""What a fluid is, its volumes and ends, and places whose pressure and temperature are given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from blocks import Component, Input, Option, Parameter, Port, Variable, quantity

from .. import symbols
from ..thermal import thermal
from ..thermal.domain import ABSOLUTE
from .flows import carried, closed, filling, species
from .polynomials import sum_of

__all__ = ["ATMOSPHERE", "AbsoluteReference", "Cap", "Chamber", "Described", "FluidPart",
           "InfiniteFlowResistance", "PRESSURES", "ROOM", "Reservoir", "specified"]  # fmt: skip

ATMOSPHERE, ROOM = "0.101325 MPa", "293.15 K"
PRESSURES = ("atmospheric_pressure", "minimum_pressure")  # are said of no fluid


class FluidPart(Component):
    """Base of what holds or passes a fluid; ``fluid`` is the module that knows it."""

    fluid: Any = None

    def within(self, port: Any) -> Any:
        """What ``fluid`` is asked about for the fluid inside: a port, or ``Within``."""
        return port

    def filled(self, state: tuple[Any, Any, Any, Any], volume: Any, rate: Any, ports: list[Any],
               heat: Any) -> Iterator[Any]:
        """The balances of a volume that grows at a rate, with heat and work at its wall."""
        yield from filling(state, volume, rate, sum_of(port.mdot for port in ports),
                           sum_of(port.Phi for port in ports) + heat)


def specified(c: Any) -> bool:
    """Whether a pressure outside is given, and not that of the atmosphere."""
    return bool(c.pressure_spec == "specified")


class Chamber(FluidPart):
    """A volume of fluid at one pressure and one temperature: a tank, a manifold, a water jacket.

    Equations: d(rho volume)/dt = sum of mdot, d(rho u volume)/dt = sum of Phi + Q_H; p = p_I at
    every port, T_H = T_I. It is well mixed: what leaves has the temperature T_I. The run stops
    where pressure or temperature leave the range of the fluid.

    Parameters: volume (l) (default not verified), port_area (m^2), of each port.
    Ports: A, and B, C, D by ``num_ports``; H (heat).
    """

    symbol = symbols.CHAMBER
    num_ports = Option(1, (1, 2, 3, 4), doc="number of ports for the fluid")
    H = Port(thermal, doc="heat to the fluid; insulated where nothing is connected")
    volume = Parameter("1 l", above=0, doc="Volume")
    port_area = Parameter("0.01 m^2", above=0, doc="Area of each port")
    p_I = Variable("MPa", ATMOSPHERE, priority="high", nominal="0.1 MPa", minimum="0 MPa",
                   doc="absolute pressure")  # fmt: skip
    T_I = Variable(ABSOLUTE, ROOM, priority="high", nominal="300 K", minimum="0 K",
                   doc="temperature")  # fmt: skip
    mass = Variable("kg", doc="mass of the fluid")
    energy_stored = Variable("J", doc="internal energy of the fluid")

    def equations(self) -> Iterator[Any]:
        fluid, p, T = self.fluid, self.p_I, self.T_I
        ports = [getattr(self, name) for name in "ABCD"[: self.num_ports]]
        A = ports[0]
        within = self.within(A)
        rho, h = fluid.density_and_enthalpy(within, p, T)
        yield self.H.T == T
        for port in ports:
            yield port.p == p
            yield from carried(fluid, port, self.port_area, h, within)
        yield from self.filled((p, T, rho, h), self.volume, 0, ports, self.H.Q)
        yield from fluid.valid(within, p, T, "in the chamber")
        yield self.mass == rho * self.volume
        yield self.energy_stored == self.volume * (rho * h - p)


class Described(FluidPart):
    """Base of what says which fluid is in a circuit, by the parameters of its domain."""

    atmospheric_pressure = Parameter(ATMOSPHERE, above=0, doc="Absolute pressure outside")

    def said(self, numbers: Mapping[str, Any]) -> Iterator[Any]:
        """Equations of a port through which nothing flows; pressures are the component's own."""
        A: Any = self.A  # type: ignore[attr-defined]
        yield from closed(self.fluid, A)
        own = {name: getattr(self, name) for name in PRESSURES if hasattr(self, name)}
        for name, value in {**numbers, **own}.items():
            yield getattr(A, name) == (quantity(value) if isinstance(value, str) else value)


class Reservoir(FluidPart):
    """A place whose pressure and temperature stay the same, whatever flows.

    Equations: p_A is atmospheric pressure, or with ``pressure_spec="specified"`` the input P, or
    the parameter ``pressure`` while nothing is connected; fluid that leaves it has the
    temperature T, the input or the parameter ``temperature``. Any number of reservoirs may stand
    for one tank.

    Inputs: P in MPa (``pressure_spec="specified"``), T in K.
    """

    symbol = symbols.TANK
    grounds = True

    pressure_spec = Option("atmospheric", ("atmospheric", "specified"), doc="its pressure")
    pressure = Parameter(ATMOSPHERE, above=0, varying=True, when=specified,
                         doc="Absolute pressure")  # fmt: skip
    temperature = Parameter(ROOM, ABSOLUTE, above=0, varying=True, doc="Temperature")
    port_area = Parameter("0.01 m^2", above=0, doc="Area of the port")
    P = Input("MPa", default="pressure", when=specified, doc="absolute pressure")
    T = Input("K", default="temperature", doc="temperature")
    power_supplied = Variable("W", doc="energy given to the circuit")

    def equations(self) -> Iterator[Any]:
        A: Any = self.A  # type: ignore[attr-defined]
        yield A.p == (self.P if specified(self) else A.atmospheric_pressure)
        within = self.within(A)
        inside = self.fluid.enthalpy(within, A.p, self.T)
        yield from carried(self.fluid, A, self.port_area, inside, within)
        yield self.power_supplied == -A.Phi
        yield from self.fluid.valid(within, A.p, self.T, "of the reservoir")


class AbsoluteReference(FluidPart):
    """No pressure, and nothing else that a port knows, for sensors to measure against.

    Equations: p = 0, T = 0 (u = 0 of two phases), x_w = 0 and x_g = 0 of moist air. Connect sensors
    only: at zero pressure there is no fluid.
    """

    symbol = symbols.EARTH
    grounds = True

    def equations(self) -> Iterator[Any]:
        A: Any = self.A  # type: ignore[attr-defined]
        yield A.p == 0
        yield self.fluid.state(A) == 0
        for _, share in species(self.fluid):
            yield getattr(A, share) == 0


class Cap(FluidPart):
    """A closed end: nothing flows, whatever the pressure.

    Equations: mdot_A = 0, Phi_A = 0, and of moist air mdot_w_A = 0, mdot_g_A = 0. An unconnected
    port means the same; this component says that it is meant, and shows what stands there.
    """

    symbol = symbols.END
    shown: tuple[str, ...] = ("p", "T")
    p = Variable("MPa", nominal="0.1 MPa", doc="absolute pressure")
    T = Variable(ABSOLUTE, nominal="300 K", when=lambda c: "T" in c.shown, doc="temperature")

    def equations(self) -> Iterator[Any]:
        A: Any = self.A  # type: ignore[attr-defined]
        yield from closed(self.fluid, A)
        for name in self.shown:
            yield getattr(self, name) == getattr(A, name)


class InfiniteFlowResistance(FluidPart):
    """Nothing passes between A and B, no fluid and no heat.

    Equations: mdot = 0, Phi = 0 at both ends, and of moist air mdot_w = 0, mdot_g = 0.
    """

    def equations(self) -> Iterator[Any]:
        for port in (self.A, self.B):  # type: ignore[attr-defined]
            yield from closed(self.fluid, port)
