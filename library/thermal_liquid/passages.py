"""Resistances, restrictions, sources and sensors: what liquid passes without being stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Option, Parameter, Port, sqrt

from .. import symbols
from ..fluids import passages, sensors
from ..fluids.gaps import SHAPES, Gap
from . import liquid
from .domain import Ends, TwoPort, thermal_liquid

__all__ = [
    "FlowRateSensor", "FlowRateSource", "FlowResistance", "LaminarLeakage", "LocalRestriction",
    "PressureSource", "PressureTemperatureSensor", "ThermodynamicPropertiesSensor",
]  # fmt: skip


class FlowResistance(Ends, passages.FlowResistance):
    symbol = symbols.RESTRICTION


class LaminarLeakage(Gap, TwoPort):
    """A long narrow gap, in which the flow is laminar.

    Equation: mdot = rho p/R with the mean density of the ends. R is the parameter ``resistance``;
    by any other ``cross_section_geometry`` R = mu length/G, mu the viscosity at the mean
    temperature and G that of ``library.isothermal_liquid.LaminarLeakage``. Energy passes as it is.

    Parameters: resistance (MPa*s/m^3), diameter (mm), inner_diameter (mm), outer_diameter (mm),
    width (mm), height (m), major_axis (mm), minor_axis (mm) (whole axes), side (mm), length (m),
    port_area (m^2).
    """

    symbol = symbols.RESTRICTION

    cross_section_geometry = Option("custom", SHAPES, doc="shape of the gap")

    def equations(self) -> Iterator[Any]:
        A, B = self.A, self.B
        rho = (liquid.density(A, A.p, A.T) + liquid.density(B, B.p, B.T)) / 2
        if self.cross_section_geometry == "custom":
            yield self.mdot == rho * self.p / self.resistance
        else:
            mu = liquid.viscosity(A, rho, (A.T + B.T) / 2)
            yield self.mdot == rho * self.conductance() * self.p / (mu * self.length)
        yield from self.passing()


class LocalRestriction(Ends, passages.Restriction):
    """A sudden narrow place, of fixed area or one given by a signal.

    Equation: mdot = Cd S_R sqrt(2 rho/(L (1 - (S_R/S)²))) p/(p² + p_cr²)^(1/4) with the mean
    density rho, S_R the area of the restriction, S the area of the ports, and p_cr =
    pi/(8 rho S_R) (Re_c mu/Cd)²: below it the flow is laminar. With ``pressure_recovery``
    pressure rises again behind the restriction: L = (r - Cd S_R/S)/(r + Cd S_R/S) with
    r = sqrt(1 - (S_R/S)² (1 - Cd²)); otherwise L = 1. Energy passes as it is.

    Parameters: area (m^2) (``restriction_type="fixed"``), minimum_area (m^2), maximum_area (m^2)
    (``"variable"``), port_area (m^2), discharge_coefficient (1), critical_reynolds (1). The law of
    pressure recovery is not verified.
    Inputs: AR in m², limited to minimum_area and maximum_area.
    """

    symbol = symbols.RESTRICTION

    pressure_recovery = Option(True, doc="whether pressure rises again")
    discharge_coefficient = Parameter(0.64, above=0, maximum=1,
                                      doc="Flow over that without contraction")  # fmt: skip
    critical_reynolds = Parameter(12.0, above=0, doc="Reynolds number of turbulent flow")

    def equations(self) -> Iterator[Any]:
        A, B, cd = self.A, self.B, self.discharge_coefficient
        area = self.opening()
        share = area / self.port_area
        loss: Any = 1
        if self.pressure_recovery:
            r = sqrt(1 - share**2 * (1 - cd**2))
            loss = (r - cd * share) / (r + cd * share)
        rho = (liquid.density(A, A.p, A.T) + liquid.density(B, B.p, B.T)) / 2
        mu = liquid.viscosity(A, rho, (A.T + B.T) / 2)
        laminar = passages.laminar_below(rho, mu, area, cd, self.critical_reynolds)
        yield self.mdot == cd * area * sqrt(2 * rho / (loss * (1 - share**2))) * (
            passages.turbulent(A.p - B.p, laminar))  # fmt: skip
        yield from self.passing()


class PressureSource(Ends, passages.PressureSource):
    symbol = symbols.FLOW_SOURCE


class FlowRateSource(Ends, passages.FlowRateSource):
    symbol = symbols.FLOW_SOURCE


class PressureTemperatureSensor(sensors.PressureTemperatureSensor):
    symbol = symbols.METER
    fluid = liquid
    A = Port(thermal_liquid, doc="measured place")
    B = Port(thermal_liquid, when=lambda c: c.reference == "difference",
             doc="what A is measured against")  # fmt: skip


class FlowRateSensor(Ends, sensors.FlowRateSensor):
    symbol = symbols.METER


class ThermodynamicPropertiesSensor(sensors.ThermodynamicPropertiesSensor):
    """Internal energy, enthalpy, density and heat capacity of the liquid at A.

    Equations: U = u, H = u + p/rho, RHO = rho, CP = dh/dT; nothing flows. The energies of the
    ready liquids count from u = 0 at 273.16 K and atmospheric pressure, those of tables from u = 0
    at their first temperature.
    """

    fluid = liquid
    A = Port(thermal_liquid, doc="measured place")
