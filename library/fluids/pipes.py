"""Pipes: friction at the wall, heat through it, storage, and the inertia of the flow."""

from __future__ import annotations

from collections.abc import Iterator
from math import log as ln
from typing import Any

import numpy as np

from blocks import Component, Option, Parameter, Port, Variable, der, log, sqrt, where

from .. import symbols
from ..thermal import thermal
from ..thermal.domain import ABSOLUTE
from .chambers import ATMOSPHERE, ROOM, FluidPart
from .flows import carried, mixed
from .polynomials import E

__all__ = ["Friction", "GasPipe", "Pipe", "Wall"]

LN10 = ln(10)


def _compressible(c: Any) -> bool:
    return bool(c.dynamic_compressibility)


class Friction(FluidPart):
    """Base of pipes: what friction at the wall takes of the pressure."""

    symbol = symbols.PIPE
    length = Parameter("5 m", above=0, doc="Length")
    area = Parameter("0.01 m^2", above=0, doc="Cross-section")
    hydraulic_diameter = Parameter("0.1128 m", above=0, doc="Four areas over the wetted perimeter")
    extra_length = Parameter("1 m", minimum=0, doc="Length whose loss bends and fittings add")
    roughness = Parameter("15e-6 m", minimum=0, doc="Height of the wall's roughness")
    laminar_limit = Parameter(2000.0, above=0, doc="Reynolds number up to which it is laminar")
    turbulent_limit = Parameter(4000.0, above=0, doc="Reynolds number from which it is turbulent")
    shape_factor = Parameter(64.0, above=0, doc="Friction factor times Re, laminar")

    def verify(self) -> Iterator[str]:
        if np.any(self.laminar_limit >= self.turbulent_limit):
            yield (f"laminar_limit is {self.laminar_limit:~P}, not below turbulent_limit, which is "
                   f"{self.turbulent_limit:~P}: the flow is laminar at small Reynolds numbers.")

    def transition(self, reynolds: Any) -> Any:
        """The share of turbulence: 0 where the flow is laminar, 1 where it is turbulent."""
        x = (reynolds - self.laminar_limit) / (self.turbulent_limit - self.laminar_limit)
        x = where(x > 1, 1, where(x < 0, 0, x, events=False), events=False)
        return x**2 * (3 - 2 * x)

    def turbulence(self, reynolds: Any) -> Any:
        """Reynolds number, not below the one from which a law of turbulence counts."""
        return where(reynolds > self.laminar_limit, reynolds, self.laminar_limit, events=False)

    def friction(self, reynolds: Any) -> Any:
        """The friction factor of turbulent flow, after Haaland."""
        rough = (self.roughness / (3.7 * self.hydraulic_diameter)) ** 1.11
        logarithm = log(6.9 / self.turbulence(reynolds) + rough) / LN10
        return 1 / (1.8 * logarithm) ** 2

    def lost(self, flow: Any, size: Any, rho: Any, viscosity: Any) -> Any:
        """Pressure that a mass flow, which has this size, loses along the whole pipe."""
        S, D = self.area, self.hydraulic_diameter
        slenderness = (self.length + self.extra_length) / D
        reynolds = size * D / (S * viscosity)
        laminar = self.shape_factor * viscosity * slenderness * flow / (2 * D * S * rho)
        turbulent = self.friction(reynolds) * slenderness * flow * size / (2 * rho * S**2)
        return laminar + self.transition(reynolds) * (turbulent - laminar)


class Wall(Friction):
    """Base of pipes: what the wall does to a flow that carries heat."""

    thermal_port = Option(True, doc="whether heat passes the wall")
    H = Port(thermal, when="thermal_port", doc="the wall")
    laminar_nusselt = Parameter(3.66, above=0, doc="Nusselt number of laminar flow")

    def loss(self, flow: Any, rho: Any, viscosity: Any) -> Any:
        """Pressure that a mass flow loses along the whole pipe, smooth at rest."""
        rest = self.fluid.rest_flow(self.A, self.area)  # type: ignore[attr-defined]
        return self.lost(flow, sqrt(flow**2 + rest**2), rho, viscosity)

    def nusselt(self, reynolds: Any, prandtl: Any) -> Any:
        """The Nusselt number of one phase, after Gnielinski where it is turbulent."""
        f = self.friction(reynolds) / 8
        gnielinski = f * (self.turbulence(reynolds) - 1000) * prandtl / (
            1 + 12.7 * sqrt(f) * (prandtl ** (2 / 3) - 1))  # fmt: skip
        return self.laminar_nusselt + self.transition(reynolds) * (
            gnielinski - self.laminar_nusselt)  # fmt: skip


class Pipe(Wall):
    """Base of pipes: one volume in the middle, half of the loss on each side of it."""

    dynamic_compressibility: Any = True  # whether mass is stored in it, an option of a liquid's
    inertia = Option(False, doc="whether the flow has to be accelerated")
    p = Variable("MPa", nominal="0.1 MPa", doc="pressure of A minus that of B")
    mdot = Variable("kg/s", nominal="0.1 kg/s", doc="mean mass flow from A to B")
    p_I = Variable("MPa", ATMOSPHERE, priority="high", nominal="0.1 MPa", minimum="0 MPa",
                   when=_compressible, doc="absolute pressure in the middle")  # fmt: skip
    T_I = Variable(ABSOLUTE, ROOM, priority="high", nominal="300 K", minimum="0 K",
                   doc="temperature of what leaves")  # fmt: skip
    flow_A = Variable("kg/s", "0 kg/s", priority="high", nominal="0.1 kg/s", when="inertia",
                      doc="mass flow into A")  # fmt: skip
    flow_B = Variable("kg/s", "0 kg/s", priority="high", nominal="0.1 kg/s",
                      when=lambda c: c.inertia and c.dynamic_compressibility,
                      doc="mass flow out of B")  # fmt: skip
    Q_H = Variable("W", nominal="1 kW", when="thermal_port",
                   doc="heat from the wall to the fluid")  # fmt: skip
    mass = Variable("kg", doc="mass of the fluid")
    energy_stored = Variable("J", doc="internal energy of the fluid")

    def equations(self) -> Iterator[Any]:
        fluid, A, B, T = self.fluid, self.A, self.B, self.T_I  # type: ignore[attr-defined]
        compressible = _compressible(self)
        # what cannot be compressed has one density, whatever the pressure that its flow loses
        p, within = self.p_I if compressible else A.atmospheric_pressure, self.within(A)
        rho, h = fluid.density_and_enthalpy(within, p, T)
        volume, viscosity = self.area * self.length, fluid.viscosity(within, rho, T)
        yield self.p == A.p - B.p
        yield self.mdot == (A.mdot - B.mdot) / 2
        for port in (A, B):
            yield from carried(fluid, port, self.area, h, within)
        yield from fluid.valid(within, p if compressible else (A.p + B.p) / 2, T, "in the middle")
        heat: Any = 0
        if self.thermal_port:
            yield self.Q_H == self.H.Q
            yield self.heat(viscosity) == self.Q_H
            heat = self.Q_H
        if compressible:
            yield from self.filled((p, T, rho, h), volume, 0, [A, B], heat)
            mass = rho * volume
            yield self.energy_stored == volume * (rho * h - p)
            ends = [(A, "flow_A", 1), (B, "flow_B", -1)]
        else:
            mass = volume * fluid.density(A, A.atmospheric_pressure, A.middle_temperature)
            yield A.mdot + B.mdot == 0
            yield der(T) == (A.Phi + B.Phi + heat) / (mass * fluid.heat_capacity(A, T))
            yield self.energy_stored == mass * fluid.enthalpy(A, A.atmospheric_pressure, T)
            ends = []
        yield self.mass == mass
        share = 0.5 if compressible else 1.0
        for port, name, sign in ends or [(A, "flow_A", 1)]:
            lost = share * self.loss(port.mdot, rho, viscosity)
            if self.inertia:
                flow = getattr(self, name)
                yield sign * flow == port.mdot
                lost += share * self.length / self.area * sign * der(flow)
                yield from fluid.valid(port, port.p, port.T)
            beyond = p if compressible else B.p
            yield port.p - beyond == lost + self.speeding(port, rho)

    def speeding(self, port: Any, rho: Any) -> Any:
        """The pressure that speeds up what expands between a port and the middle."""
        return 0 * port.p

    def heat(self, viscosity: Any) -> Any:
        """Heat that the wall gives to the fluid.

        In a steady flow that of an exchanger with a wall of one temperature, after which the
        fluid leaves at T_H - (T_H - T_in) exp(-NTU); at rest h S (T_H - T_I).
        """
        fluid, A, B = self.fluid, self.A, self.B  # type: ignore[attr-defined]
        D, flow, within = self.hydraulic_diameter, self.mdot, self.within(self.A)  # type: ignore[attr-defined]
        whole = sqrt(flow**2 + fluid.rest_flow(A, self.area) ** 2)
        T = self.T_I
        capacity, k = fluid.heat_capacity(within, T), fluid.conductivity(within, T)
        reynolds, prandtl = whole * D / (self.area * viscosity), viscosity * capacity / k
        wall = self.nusselt(reynolds, prandtl) * k / D * 4 * self.area * self.length / D
        left = E ** (-wall / (whole * capacity))
        inlet = mixed(fluid, A, B, flow, self.area, A.T, B.T)
        return wall * (self.H.T - T) + (whole * capacity * (1 - left) - wall * left) * (
            self.H.T - inlet)  # fmt: skip


class GasPipe(Pipe):
    """Base of pipes of what expands, which is sped up by it."""

    def speeding(self, port: Any, rho: Any) -> Any:
        before = self.fluid.density(port, port.p, port.T)
        return (port.mdot / self.area) ** 2 * (1 / rho - 1 / before)


class Segmented(Component):
    """Base of pipes of equal segments; ``made`` says of which, and ``start`` how they start."""

    symbol = symbols.PIPE
    made: Any = None
    segments = Option(5, minimum=1, doc="number of segments")
    thermal_port = Option(True, doc="whether heat passes the wall")
    H = Port(thermal, when="thermal_port", doc="the wall")
    length = Parameter("5 m", above=0, doc="Length")
    area = Parameter("0.01 m^2", above=0, doc="Cross-section")
    hydraulic_diameter = Parameter("0.1128 m", above=0, doc="Four areas over the wetted perimeter")
    extra_length = Parameter("1 m", minimum=0, doc="Length whose loss bends and fittings add")
    roughness = Parameter("15e-6 m", minimum=0, doc="Height of the wall's roughness")

    def start(self) -> dict[str, Any]:
        """What else every segment is given."""
        raise NotImplementedError

    def compose(self) -> None:
        A, B = self.A, self.B  # type: ignore[attr-defined]
        n = self.segments
        self.segment = self.made(
            count=n, length=self.length / n, area=self.area, roughness=self.roughness,
            hydraulic_diameter=self.hydraulic_diameter, extra_length=self.extra_length / n,
            thermal_port=self.thermal_port, **self.start())  # fmt: skip
        self.connect(A, self.segment[0].A)
        if n > 1:
            self.connect(self.segment[:-1].B, self.segment[1:].A)
        self.connect(self.segment[-1].B, B)
        if self.thermal_port:
            self.connect(self.H, self.segment.H)
