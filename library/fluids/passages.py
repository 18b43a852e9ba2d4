"""What a fluid passes without being stored: resistances, restrictions, sources, sensors."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any

import numpy as np

from blocks import Component, Input, Option, Parameter, Variable, log, maximum, minimum, sqrt, where

from .chambers import FluidPart
from .flows import passed, upstream
from .polynomials import E

__all__ = ["FlowRateSource", "FlowResistance", "GivenFlow", "Passage", "PressureSource",
           "Restriction", "SonicRestriction", "isentropic", "turbulent"]  # fmt: skip


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


class Throttle(Component):
    """Base of sudden narrow places, of fixed area or one given by a signal."""

    approach: Any = True  # whether the velocity of approach counts, so that ports must be wider
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
        if self.approach and np.any(size >= self.port_area):  # type: ignore[attr-defined]
            yield (f"{largest} is {size:~P}, not below port_area, which is {self.port_area:~P}: a "  # type: ignore[attr-defined]
                   "restriction is narrower than its ports.")  # fmt: skip

    def opening(self) -> Any:
        """The area, that of the signal within its limits."""
        if not variable(self):
            return self.area
        return maximum(minimum(self.AR, self.maximum_area), self.minimum_area)

    def lost(self, area: Any, recovery: bool) -> Any:
        """L (1 - (S_R/S)²): what counts the velocity of approach, and with ``recovery`` that the
        pressure rises again behind the restriction."""
        share, cd = area / self.port_area, self.discharge_coefficient  # type: ignore[attr-defined]
        r = sqrt(1 - share**2 * (1 - cd**2))
        return (1 - share**2) * ((r - cd * share) / (r + cd * share) if recovery else 1)


class Restriction(Throttle, Passage):
    """Base of restrictions of what carries heat."""


def turbulent(drop: Any, critical: Any) -> Any:
    """The root of a difference of pressure with its sign, laminar below a critical one."""
    return drop / sqrt(sqrt(drop**2 + critical**2))


def orifice_flow(c: Any, drop: Any, area: Any, rho: Any, viscosity: Any, loss: Any = 1) -> Any:
    """Mass flow through an area: cd area sqrt(2 rho/loss) dp/(dp² + dp_cr²)^(1/4).

    dp_cr = pi/(8 rho area) (Re_c viscosity/cd)² is the difference below which it is laminar.
    """
    cd = c.discharge_coefficient
    laminar = pi / 8 / (rho * area) * (c.critical_reynolds * viscosity / cd) ** 2
    return cd * area * sqrt(2 * rho / loss) * turbulent(drop, laminar)


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


class SonicRestriction(Restriction):
    """A sudden narrow place, of fixed area or one given by a signal: from laminar to sonic flow.

    Equation, after Saint-Venant and Wantzel, with p_1, rho_1 where it comes from and
    r = p_2/p_1, but no less than the critical ratio (2/(gamma + 1))^(gamma/(gamma - 1)):
    mdot = Cd S_R sqrt(2 gamma/(gamma - 1) p_1 rho_1 (r^(2/gamma) - r^((gamma + 1)/gamma))). At
    and below the critical ratio the speed in it is that of sound, and the flow no longer depends
    on p_2. Near r = 1, for 1 - r below ``laminar_share``, it is proportional to the difference of
    pressure. gamma is that of the temperature and mixture at the inlet. Energy and what is mixed in
    pass as they are; the approach velocity and the recovery of pressure are left out.

    Parameters: area (m^2) (``restriction_type="fixed"``), minimum_area (m^2), maximum_area (m^2)
    (``"variable"``), port_area (m^2), discharge_coefficient (1), laminar_share (1).
    Inputs: AR in m², limited to minimum_area and maximum_area.
    """

    approach = False

    discharge_coefficient = Parameter(0.64, above=0, maximum=1,
                                      doc="Flow over that without contraction")  # fmt: skip
    laminar_share = Parameter(1e-3, above=0, below=0.5,
                              doc="Fall of pressure, of all of it, up to which flow is laminar")

    def equations(self) -> Iterator[Any]:
        fluid, A, B = self.fluid, self.A, self.B  # type: ignore[attr-defined]
        area = self.opening()
        forth = A.p > B.p
        p_1, p_2, T_1 = (where(forth, here, there, events=False) for here, there in (
            (A.p, B.p), (B.p, A.p), (A.T, B.T)))  # fmt: skip
        inlet = upstream(fluid, A, B, forth)
        k = fluid.isentropic_power(inlet, T_1)  # (gamma - 1)/gamma
        # smoothly above zero for trial steps; y = ln r
        share = where(p_2 > 1e-6 * p_1, p_2 / p_1, 1e-6, events=False)
        critical = log((2 - 2 * k) / (2 - k)) / k  # 2/(gamma + 1) = (2 - 2 k)/(2 - k)
        y = log(share)
        y = where(y > critical, y, critical, events=False)
        fall = 1 - E**y
        # (r^(2/gamma) - r^((gamma + 1)/gamma)) gamma/(gamma - 1)/(1 - r), without 0/0 at r = 1
        near = fall < 1e-6
        safe = where(near, -1e-6, y, events=False)
        curve = where(near, 1, E ** (2 * (1 - k) * safe) * (1 - E ** (k * safe)) / k / (
            1 - E**safe), events=False)  # fmt: skip
        root = fall / sqrt(sqrt(fall**2 + self.laminar_share**2))
        flow = self.discharge_coefficient * area * p_1 * sqrt(
            2 * curve / (fluid.gas_constant(inlet) * T_1)) * root  # fmt: skip
        yield self.mdot == where(forth, flow, -flow, events=False)
        yield from self.passing()
