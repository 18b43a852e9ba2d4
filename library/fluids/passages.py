"""What a fluid passes without being stored: resistances, restrictions, sources, sensors."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any

import numpy as np

from blocks import Input, Option, Parameter, Variable, maximum, minimum, sqrt

from .chambers import FluidPart
from .flows import passed

__all__ = ["FlowResistance", "FlowRateSource", "GivenFlow", "Passage", "PressureSource",
           "Restriction", "isentropic", "turbulent"]  # fmt: skip


class Passage(FluidPart):
    """Base of what passes from A to B: as much leaves as enters, of mass and of energy."""

    port_area = Parameter("0.01 m^2", above=0, doc="Area of the ports")
    p = Variable("MPa", nominal="0.1 MPa", doc="pressure of A minus that of B")
    mdot = Variable("kg/s", nominal="0.1 kg/s", doc="mass flow from A to B")

    def passing(self, work: Any = None) -> Iterator[Any]:
        """All equations but the one that relates pressure and flow."""
        A, B = self.A, self.B  # type: ignore[attr-defined]
        yield self.p == A.p - B.p
        yield A.mdot == self.mdot
        yield B.mdot == -self.mdot
        yield from passed(self.fluid, A, B, self.mdot, self.port_area, work)


class FlowResistance(Passage):
    """A resistance known at one flow: pressure grows with its square.

    Equation: p = K mdot sqrt(mdot² + m_lam²) with K = pressure_drop/mass_flow² and
    m_lam = laminar_fraction mass_flow, below which the flow is laminar; it is solved for the flow.
    Energy passes as it is, and so does what is mixed in: a liquid is warmed by what it loses of its
    pressure.

    Defaults of drop and flow not verified.
    """

    pressure_drop = Parameter("0.001 MPa", above=0, doc="Pressure lost at the nominal flow")
    mass_flow = Parameter("0.1 kg/s", above=0, doc="Nominal mass flow")
    laminar_fraction = Parameter(0.001, above=0, doc="Laminar flow, of the nominal one")

    def equations(self) -> Iterator[Any]:
        drop, soft = self.p / self.pressure_drop, self.laminar_fraction**2
        yield self.mdot == self.mass_flow * drop / sqrt((soft + sqrt(soft**2 + 4 * drop**2)) / 2)
        yield from self.passing()


def variable(c: Any) -> bool:
    """Whether the area of a restriction is given by a signal."""
    return bool(c.restriction_type == "variable")


class Restriction(Passage):
    """Base of sudden narrow places, of fixed area or one given by a signal."""

    approach = True  # whether the law counts the velocity of approach, so that ports must be wider

    restriction_type = Option("variable", ("variable", "fixed"), doc="where the area is from")
    area = Parameter("1e-3 m^2", above=0, when=lambda c: not variable(c), doc="Area")
    minimum_area = Parameter("1e-10 m^2", above=0, when=variable, doc="Smallest area, leakage")
    maximum_area = Parameter("0.005 m^2", above=0, when=variable, doc="Largest area")
    AR = Input("m^2", when=variable, doc="area")

    def verify(self) -> Iterator[str]:
        largest = "maximum_area" if variable(self) else "area"
        size = getattr(self, largest)
        if variable(self) and np.any(self.minimum_area > size):
            yield f"minimum_area is {self.minimum_area:~P}, above maximum_area, which is {size:~P}."
        if self.approach and np.any(size >= self.port_area):
            yield (f"{largest} is {size:~P}, not below port_area, which is {self.port_area:~P}: a "
                   "restriction is narrower than its ports.")  # fmt: skip

    def opening(self) -> Any:
        """The area, that of the signal within its limits."""
        if not variable(self):
            return self.area
        return maximum(minimum(self.AR, self.maximum_area), self.minimum_area)


def turbulent(drop: Any, critical: Any) -> Any:
    """The root of a difference of pressure with its sign, laminar below a critical one."""
    return drop / sqrt(sqrt(drop**2 + critical**2))


def laminar_below(rho: Any, viscosity: Any, area: Any, cd: Any, reynolds: Any) -> Any:
    """The difference of pressure below which the flow through an orifice is laminar."""
    return pi / 8 / (rho * area) * (reynolds * viscosity / cd) ** 2


def isentropic(c: Any) -> bool:
    """Whether a source does the work that the fluid gains."""
    return bool(c.power_spec == "isentropic")


class Source(Passage):
    """Base of sources, which do work on what passes, or none."""

    power_spec = Option("isentropic", ("isentropic", "none"), doc="work done on the fluid")
    power_supplied = Variable("W", doc="power given to the circuit")

    def driven(self) -> Iterator[Any]:
        """All equations but that of the source itself."""
        A, B = self.A, self.B  # type: ignore[attr-defined]
        for port in (A, B):
            yield from self.fluid.valid(port, port.p, self.fluid.state(port))
        yield from self.passing(self.lift() if isentropic(self) else None)
        yield self.power_supplied == -(A.Phi + B.Phi)

    def lift(self) -> Any:
        """The work done on a kilogram that goes from A to B."""
        return self.fluid.lift(self.A, self.B)  # type: ignore[attr-defined]


class PressureSource(Source):
    """Prescribed difference of pressure, whatever flows: an ideal pump or fan.

    Equation: p_B - p_A = P, the signal, or the parameter ``pressure_difference`` while nothing is
    connected. A positive value raises B above A. With ``power_spec="isentropic"`` the fluid gains
    the work of compression without heat or loss, as ``FlowRateSource`` says, with ``"none"`` no
    energy. The run stops where the state at A or B leaves the range of the fluid.
    """

    pressure_difference = Parameter("0 MPa", varying=True, doc="Pressure of B above A")
    P = Input("MPa", default="pressure_difference", doc="pressure of B above A")

    def equations(self) -> Iterator[Any]:
        yield self.p == -self.P
        yield from self.driven()


def by_mass(c: Any) -> bool:
    """Whether a mass flow is given, not a volume flow."""
    return bool(c.flow_type == "mass")


class GivenFlow(FluidPart):
    """Base of sources of flow: what is given, by mass or by volume."""

    flow_type = Option("mass", ("mass", "volumetric"), doc="which flow is given")
    mass_flow = Parameter("0 kg/s", varying=True, when=by_mass, doc="Mass flow from A to B",
                          advice={"m^3/s": "For a volume flow take flow_type='volumetric' and "
                                  "volume_flow."})
    volume_flow = Parameter("0 m^3/s", varying=True, when=lambda c: not by_mass(c),
                            doc="Volume flow from A to B", advice={
                                "kg/s": "For a mass flow take flow_type='mass' and mass_flow."})
    M = Input("kg/s", default="mass_flow", when=by_mass, doc="mass flow from A to B")
    V = Input("m^3/s", default="volume_flow", when=lambda c: not by_mass(c),
              doc="volume flow from A to B")  # fmt: skip

    def given(self, rho: Any) -> Any:
        """The mass flow, of a fluid that has this density at A."""
        return self.M if by_mass(self) else rho * self.V


class FlowRateSource(GivenFlow, Source):
    """Prescribed flow from A to B, whatever the pressures: a pump, fan or compressor.

    Equation: mdot = M, or with ``flow_type="volumetric"`` mdot = rho_A V with the density at A:
    the signal, or the parameters ``mass_flow`` and ``volume_flow`` while nothing is connected. M
    counts all that flows together. With ``power_spec="isentropic"`` the fluid gains the work of
    compression without heat or loss, with ``"none"`` no energy: a kilogram of liquid (p_B - p_A)
    times its mean specific volume, of gas and moist air cp T_A ((p_B/p_A)^((gamma - 1)/gamma) - 1),
    of a fluid of two phases h(p_B, s_A) - h_A. The run stops where the state at A or B leaves the
    range of the fluid.

    Inputs: M in kg/s, or V in m³/s.
    """

    def equations(self) -> Iterator[Any]:
        A: Any = self.A  # type: ignore[attr-defined]
        yield self.mdot == self.given(self.fluid.density(A, A.p, self.fluid.state(A)))
        yield from self.driven()
