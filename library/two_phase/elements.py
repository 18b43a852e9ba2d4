"""Reservoirs, chambers and pipes: where a fluid of two phases is held."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Input, Option, Parameter, Port, Variable, der, maximum, partial, sqrt, where

from .. import symbols
from ..fluids import chambers, converters, pipes
from ..fluids.chambers import ATMOSPHERE, ROOM, FluidPart, specified
from ..fluids.flows import carried
from ..fluids.polynomials import sum_of
from ..thermal import thermal
from ..thermal.domain import ABSOLUTE, DIFFERENCE
from . import medium
from .domain import Ends, two_phase

__all__ = [
    "AbsoluteReference", "Cap", "ConstantVolumeChamber", "InfiniteFlowResistance", "Pipe",
    "Reservoir", "RotationalMechanicalConverter", "SegmentedPipe",
    "TranslationalMechanicalConverter",
]  # fmt: skip

GIVEN = ("temperature", "quality", "void_fraction", "enthalpy", "internal_energy", "subcooling",
         "superheating")  # fmt: skip
GUESS = "300 kJ/kg"  # from which the energy at the start is sought
EDGE = 0.05  # of the quality, over which boiling comes and goes


def _given_by(word: str) -> Any:
    return lambda c: bool(c.energy_spec == word)


class Reservoir(FluidPart):
    """A place whose pressure and energy stay the same, whatever flows, or follow signals.

    Equations: p_A is atmospheric pressure, or with ``pressure_spec="specified"`` the input P, or
    the parameter ``pressure`` while nothing is connected. What leaves it is given by
    ``energy_spec``, and by the input or the parameter of that name: its ``"temperature"`` (liquid
    below that of boiling, vapour above), ``"quality"``, ``"void_fraction"``, ``"enthalpy"``,
    ``"internal_energy"``, ``"subcooling"`` (of liquid below the temperature of boiling) or
    ``"superheating"`` (of vapour above it). u is the specific internal energy that follows. The
    run stops where the state leaves the range of the fluid.

    Inputs: P in MPa (``pressure_spec="specified"``), and T in K, X or AL in 1, H or U in kJ/kg, SC
    or SH in K by ``energy_spec``.
    Initial targets: u (none, 300 kJ/kg), a guess.
    """

    symbol = symbols.TANK
    grounds = True
    fluid = medium
    pressure_spec = Option("atmospheric", ("atmospheric", "specified"), doc="its pressure")
    energy_spec = Option("temperature", GIVEN, doc="what its energy is given by")
    A = Port(two_phase, doc="the reservoir")
    pressure = Parameter(ATMOSPHERE, above=0, varying=True, when=specified,
                         doc="Absolute pressure")  # fmt: skip
    temperature = Parameter(ROOM, ABSOLUTE, above=0, varying=True, when=_given_by("temperature"),
                            doc="Temperature")  # fmt: skip
    quality = Parameter(0.5, minimum=0, maximum=1, varying=True, when=_given_by("quality"),
                        doc="Share of vapour, by mass")  # fmt: skip
    void_fraction = Parameter(0.5, minimum=0, maximum=1, varying=True,
                              when=_given_by("void_fraction"),
                              doc="Share of vapour, by volume")  # fmt: skip
    enthalpy = Parameter("1500 kJ/kg", varying=True, when=_given_by("enthalpy"),
                         doc="Specific enthalpy")  # fmt: skip
    internal_energy = Parameter("1500 kJ/kg", varying=True, when=_given_by("internal_energy"),
                                doc="Specific internal energy")  # fmt: skip
    subcooling = Parameter("5 K", DIFFERENCE, minimum=0, varying=True,
                           when=_given_by("subcooling"), doc="Temperature below that of boiling")
    superheating = Parameter("5 K", DIFFERENCE, minimum=0, varying=True, when=_given_by(
        "superheating"), doc="Temperature above that of boiling")  # fmt: skip
    port_area = Parameter("0.01 m^2", above=0, doc="Area of the port")
    P = Input("MPa", default="pressure", when=specified, doc="absolute pressure")
    T = Input("K", default="temperature", when=_given_by("temperature"), doc="temperature")
    X = Input("1", default="quality", when=_given_by("quality"), doc="share of vapour")
    AL = Input("1", default="void_fraction", when=_given_by("void_fraction"),
               doc="share of vapour, by volume")  # fmt: skip
    H = Input("kJ/kg", default="enthalpy", when=_given_by("enthalpy"), doc="specific enthalpy")
    U = Input("kJ/kg", default="internal_energy", when=_given_by("internal_energy"),
              doc="specific internal energy")  # fmt: skip
    SC = Input("K", default="subcooling", when=_given_by("subcooling"), doc="subcooling")
    SH = Input("K", default="superheating", when=_given_by("superheating"), doc="superheating")
    u = Variable("kJ/kg", GUESS, nominal="100 kJ/kg", doc="specific internal energy of what leaves")
    power_supplied = Variable("W", doc="energy given to the circuit")

    def equations(self) -> Iterator[Any]:
        A, u = self.A, self.u
        p = self.P if specified(self) else A.atmospheric_pressure
        yield A.p == p
        yield self._energy(p)
        yield from carried(medium, A, self.port_area, medium.enthalpy(A, A.p, u), A)
        yield self.power_supplied == -A.Phi
        yield from medium.valid(A, p, u, "of the reservoir")

    def _energy(self, p: Any) -> Any:
        """The equation of what is given."""
        A, u, word = self.A, self.u, self.energy_spec
        if word == "internal_energy":
            return u == self.U
        if word == "enthalpy":
            return medium.enthalpy(A, p, u) == self.H
        if word == "quality":
            return medium.quality(A, p, u) == self.X
        if word == "void_fraction":
            liquid, vapour = (medium.specific_volume(A, p, end) for end in medium.saturation(A, p))
            return medium.quality(A, p, u) == self.AL * liquid / (
                self.AL * liquid + (1 - self.AL) * vapour)  # fmt: skip
        boils = medium.boiling(A, p)
        liquid, vapour = medium.temperatures_alone(A, p, u)
        if word == "subcooling":
            return liquid == boils - self.SC
        if word == "superheating":
            return vapour == boils + self.SH
        return where(boils < self.T, vapour, liquid, events=False) == self.T


class AbsoluteReference(chambers.AbsoluteReference):
    fluid = medium
    A = Port(two_phase, doc="the reference")


class Cap(chambers.Cap):
    fluid = medium
    shown = ("p", "u")
    A = Port(two_phase, doc="the closed end")
    u = Variable("kJ/kg", nominal="100 kJ/kg", doc="specific internal energy")


class InfiniteFlowResistance(Ends, chambers.InfiniteFlowResistance):
    symbol = symbols.OPEN


class Volume(FluidPart):
    """Base of what holds a fluid at one pressure and one internal energy."""

    fluid = medium
    p_I = Variable("MPa", ATMOSPHERE, priority="high", nominal="0.1 MPa", minimum="0 MPa",
                   doc="absolute pressure")  # fmt: skip
    x_I = Variable("1", 0.5, priority="low", doc="quality: the share of vapour from 0 to 1, by "
                   "mass; below 0 liquid, above 1 vapour")  # fmt: skip
    u_I = Variable("kJ/kg", GUESS, nominal="100 kJ/kg", doc="specific internal energy")
    h_I = Variable("kJ/kg", GUESS, nominal="100 kJ/kg", doc="specific enthalpy")
    T_I = Variable(ABSOLUTE, ROOM, nominal="300 K", doc="temperature")
    mass = Variable("kg", doc="mass of the fluid")
    energy_stored = Variable("J", doc="internal energy of the fluid")

    def held(self, volume: Any, area: Any, ports: list[Any], heat: Any, rate: Any = 0,
             done: Any = 0) -> Iterator[Any]:
        """Balances of mass and energy, solved for the derivatives of p and u.

        A volume may grow at a rate, and have done work on what is outside.
        """
        A, p, u = ports[0], self.p_I, self.u_I
        # where boiling starts, p falls a thousand times slower: a step beyond loses mass and energy
        v = medium.specific_volume(A, p, u, events=True)
        mass = volume / v
        flow = sum_of(port.mdot for port in ports)
        heating = (sum_of(port.Phi for port in ports) + heat - p * rate - u * flow) / mass
        yield der(u) == heating
        yield der(p) == ((rate - flow * v) / mass - partial(v, u) * heating) / partial(v, p)
        yield self.h_I == u + p * v
        yield self.x_I == medium.quality(A, p, u)
        yield medium.temperature(A, p, u) == self.T_I
        yield self.mass == mass
        yield self.energy_stored == mass * u + done
        for port in ports:
            yield from carried(medium, port, area, u + p * v, port)


class ConstantVolumeChamber(Volume):
    """A volume of fluid at one pressure and one internal energy: a receiver, a boiler.

    Equations: d(volume/v)/dt = sum of mdot, d(u volume/v)/dt = sum of Phi + Q_H; p = p_I at every
    port, T_H = T_I. Liquid and vapour are mixed: what leaves is what is in it, of the quality x_I.
    The run stops where pressure or energy leave the range of the fluid; full of liquid, it rises
    fast.

    Start it by p_I and one of x_I, u_I, h_I and, outside the mixture, T_I.

    Parameters: volume (l) (default not verified), port_area (m^2), of each port.
    Ports: A, and B, C, D by ``num_ports``; H (heat).
    """

    symbol = symbols.CHAMBER
    num_ports = Option(1, (1, 2, 3, 4), doc="number of ports for the fluid")
    A = Port(two_phase, doc="first port")
    B = Port(two_phase, when=lambda c: c.num_ports > 1, doc="second port")
    C = Port(two_phase, when=lambda c: c.num_ports > 2, doc="third port")
    D = Port(two_phase, when=lambda c: c.num_ports > 3, doc="fourth port")
    H = Port(thermal, doc="heat to the fluid; insulated where nothing is connected")
    volume = Parameter("1 l", above=0, doc="Volume")
    port_area = Parameter("0.01 m^2", above=0, doc="Area of each port")

    def equations(self) -> Iterator[Any]:
        ports = [getattr(self, name) for name in "ABCD"[: self.num_ports]]
        for port in ports:
            yield port.p == self.p_I
        yield self.H.T == self.T_I
        yield from self.held(self.volume, self.port_area, ports, self.H.Q)
        yield from medium.valid(self.A, self.p_I, self.u_I, "in the chamber")


class Pipe(Ends, Volume, pipes.Wall):
    """A pipe with friction, storage, and heat through its wall, which may boil and condense.

    Equations: the loss along the whole pipe is Darcy's and Weisbach's
    f (length + extra_length)/D m |m| v/(2 area²), with the hydraulic diameter D and
    Re = |m| D/(area mu): f = shape_factor/Re below ``laminar_limit``, Haaland's
    1/sqrt(f) = -1.8 log10(6.9/Re + (roughness/(3.7 D))^1.11) above ``turbulent_limit``, and
    between the two a smooth blend. A mixture is taken as homogeneous: v by mass, and mu after
    McAdams, 1/mu = (1 - x)/mu_l + x/mu_v. The fluid is one volume, with half of the loss on each
    side: d(V/v)/dt = mdot_A + mdot_B, d(u V/v)/dt = Phi_A + Phi_B + Q_H. The pressure that speeds
    up what expands is left out, and so is the inertia of the flow.

    The wall, at T_H, gives h S (T_H - T_I), with h from the Nusselt number: ``laminar_nusselt``;
    Gnielinski's when turbulent; of a mixture, Cavallini's and Zecchin's 0.05 Re_e^0.8 Pr_l^0.33
    with Re_e = Re_l (1 - x + x sqrt(v_v/v_l)). Over the first and the last 5 % of the quality one
    becomes the other. What leaves has the state of the whole volume: ``SegmentedPipe`` keeps
    a front of boiling in its place.

    Start it by p_I and one of x_I, u_I, h_I and, outside the mixture, T_I.

    The default of hydraulic_diameter is not verified.
    Ports: A, B, H (wall) with ``thermal_port``.

    References
    ----------
    S. E. Haaland, J. Fluids Eng. 105 (1983) 89-90. V. Gnielinski, Int. Chem. Eng. 16 (1976)
    359-368. A. Cavallini, R. Zecchin, Proc. 5th Int. Heat Transfer Conf. 3 (1974) 309-313.
    W. H. McAdams, W. K. Woods, L. C. Heroman, Trans. ASME 64 (1942) 193-200.
    """

    p = Variable("MPa", nominal="0.1 MPa", doc="pressure of A minus that of B")
    mdot = Variable("kg/s", nominal="0.1 kg/s", doc="mean mass flow from A to B")
    Q_H = Variable("W", nominal="1 kW", when="thermal_port",
                   doc="heat from the wall to the fluid")  # fmt: skip

    def equations(self) -> Iterator[Any]:
        A, B = self.A, self.B
        of = medium.place(A, self.p_I, self.u_I)
        rho, viscosity = medium.density(A, self.p_I, self.u_I), medium.viscosity(A, of)
        yield self.p == A.p - B.p
        yield self.mdot == (A.mdot - B.mdot) / 2
        heat: Any = 0
        if self.thermal_port:
            heat = self.Q_H
            yield heat == self.H.Q
            yield heat == self.transfer(of) * 4 * self.area * self.length / (
                self.hydraulic_diameter) * (self.H.T - self.T_I)  # fmt: skip
        yield from self.held(self.area * self.length, self.area, [A, B], heat)
        yield from medium.valid(A, self.p_I, self.u_I, "in the middle")
        for port in (A, B):
            yield port.p - self.p_I == self.loss(port.mdot, rho, viscosity) / 2

    def transfer(self, of: medium.Place) -> Any:
        """The coefficient of heat transfer between wall and fluid, in W/(m² K)."""
        A, D = self.A, self.hydraulic_diameter
        size = sqrt(self.mdot**2 + medium.rest_flow(A, self.area) ** 2) * D / self.area
        mu, k = medium.viscosities(A, of), medium.conductivities(A, of)
        capacity, volume = medium.heat_capacities(A, of), medium.volumes(A, self.p_I, of)
        reynolds = [size / m for m in mu]
        prandtl = [m * c / l for m, c, l in zip(mu, capacity, k, strict=True)]
        liquid, vapour = (self.nusselt(r, q) * l / D
                          for r, q, l in zip(reynolds, prandtl, k, strict=True))  # fmt: skip
        x = of.share
        as_liquid = reynolds[0] * (1 - x + x * sqrt(volume[1] / volume[0]))
        turbulent = 0.05 * as_liquid**0.8 * prandtl[0] ** 0.33
        mixture = k[0] / D * (self.laminar_nusselt + self.transition(as_liquid) * maximum(
            turbulent - self.laminar_nusselt, 0))  # fmt: skip
        wet, dry = self._step(x), self._step(1 - x)
        return liquid * (1 - wet) + vapour * (1 - dry) + mixture * (wet + dry - 1)

    def _step(self, x: Any) -> Any:
        """Rise smoothly from 0 to 1 over the edge of the quality."""
        part = where(x > EDGE, 1, x / EDGE, events=False)
        return part**2 * (3 - 2 * part)


class SegmentedPipe(Ends, pipes.Segmented):
    """A pipe of equal segments, along which a fluid boils or condenses.

    ``segment[k]`` is a ``Pipe`` of length/segments, counted from A; all of them have the wall at
    H. All start at the same pressure and specific enthalpy.

    Ports: A, B, H (wall) with ``thermal_port``.
    """

    made = Pipe
    initial_pressure = Parameter(ATMOSPHERE, above=0, doc="Absolute pressure at the start")
    initial_enthalpy = Parameter("1500 kJ/kg", doc="Specific enthalpy at the start")

    def start(self) -> dict[str, Any]:
        return {"p_I": self.initial_pressure, "h_I": self.initial_enthalpy}


class Moving(Volume):
    """Base of converters: what is behind a wall that moves."""

    energy_stored = Variable("J", doc="internal energy of the fluid, work done on what is outside")

    def contents(self, volume: Any, rate: Any, done: Any) -> Iterator[Any]:
        A: Any = self.A  # type: ignore[attr-defined]
        heat = self.H.Q  # type: ignore[attr-defined]
        area = self.port_area  # type: ignore[attr-defined]
        yield from self.held(volume, area, [A], heat, rate, done)
        yield from medium.valid(A, self.p_I, self.u_I, "in the converter")


class TranslationalMechanicalConverter(Moving, converters.TranslationalConverter):
    """A piston over a fluid that boils and condenses: pressure becomes a force between R and C.

    Equations: v = v_R - v_C = dx/dt; f = e interface_area (p_I - p_outside) is the force on R
    from C, with e = 1, or -1 with ``mech_orientation="negative"``; d(V/v)/dt = mdot_A and
    d(u V/v)/dt = Phi_A + Q_H - p_I dV/dt with V = dead_volume + e interface_area x. Outside is
    the atmosphere, or with ``pressure_spec="specified"`` ``environment_pressure``. Liquid and
    vapour are in equilibrium at one pressure.

    With ``displacement_spec="signal"`` the place x is the input p_in, as from a position sensor
    between R and C; it must change as v says, or mass and energy are not those of the fluid.
    Has no mass, no friction and no stop: add Mass, TranslationalFriction and HardStop.

    Start it by p_I and one of x_I, u_I, h_I and, outside the mixture, T_I.

    Inputs: p_in (m) with ``displacement_spec="signal"``.
    """

    A = Port(two_phase, doc="the fluid")


class RotationalMechanicalConverter(Moving, converters.RotationalConverter):
    """A vane or a motor: pressure of a fluid of two phases becomes a torque between R and C.

    Equations: w = w_R - w_C = d(angle)/dt; t = e displacement (p_I - p_outside) is the torque on
    R from C, with e = 1, or -1 with ``mech_orientation="negative"``; d(V/v)/dt = mdot_A and
    d(u V/v)/dt = Phi_A + Q_H - p_I dV/dt with V = dead_volume + e displacement angle.
    Has no inertia, no friction and no stop.

    Start it by p_I and one of x_I, u_I, h_I and, outside the mixture, T_I.

    Defaults of displacement and dead volume not verified.
    """

    A = Port(two_phase, doc="the fluid")
