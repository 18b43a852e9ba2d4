"""Resistances, restrictions, sources and sensors: what gas passes without being stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Output, Parameter, Port

from .. import symbols
from ..fluids import passages, sensors, sonic
from ..thermal.domain import ABSOLUTE
from . import medium
from .domain import Ends, gas

__all__ = [
    "FlowRateSensor", "FlowRateSource", "FlowResistance", "LocalRestriction", "PressureSource",
    "PressureTemperatureSensor", "ThermodynamicPropertiesSensor",
]  # fmt: skip


class FlowResistance(Ends, passages.FlowResistance):
    """A resistance known at one flow: pressure grows with its square.

    Equation: p = K mdot sqrt(mdot² + m_lam²) with K = pressure_drop/mass_flow² and
    m_lam = laminar_fraction mass_flow, below which the flow is laminar. Energy passes as it is.

    Parameters: pressure_drop (MPa), mass_flow (kg/s), laminar_fraction (1), port_area (m^2).
    Defaults of drop and flow not verified.
    Ports: A, B.
    """

    symbol = symbols.RESTRICTION


class LocalRestriction(Ends, sonic.SonicRestriction):
    """A sudden narrow place, of fixed area or one given by a signal: from laminar to sonic flow.

    Equation, after Saint-Venant and Wantzel, with p_1, rho_1 where it comes from and
    r = p_2/p_1, but no less than the critical ratio (2/(gamma + 1))^(gamma/(gamma - 1)):
    mdot = Cd S_R sqrt(2 gamma/(gamma - 1) p_1 rho_1 (r^(2/gamma) - r^((gamma + 1)/gamma))). At
    and below the critical ratio the speed in it is that of sound, and the flow no longer depends
    on p_2. Near r = 1, for 1 - r below ``laminar_share``, it is proportional to the difference of
    pressure. gamma is that of the temperature at the inlet. Energy passes as it is; the approach
    velocity and the recovery of pressure are left out.

    Parameters: area (m^2) (``restriction_type="fixed"``), minimum_area (m^2), maximum_area (m^2)
    (``"variable"``), port_area (m^2), discharge_coefficient (1), laminar_share (1).
    Ports: A, B. Inputs: AR in m², limited to minimum_area and maximum_area.
    """

    symbol = symbols.RESTRICTION


class PressureSource(Ends, passages.PressureSource):
    """Prescribed difference of pressure, whatever flows: an ideal pump.

    Equation: p_B - p_A = P, the signal, or the parameter ``pressure_difference`` while nothing is
    connected. A positive value raises B above A. With ``power_spec="isentropic"`` the gas gains
    the work of compression without heat,
    cp T_A ((p_B/p_A)^((gamma - 1)/gamma) - 1), with ``"none"`` no energy. The run stops
    where pressure or temperature at A or B leave the range of the gas.

    Parameters: pressure_difference (MPa), port_area (m^2).
    Ports: A, B. Inputs: P in MPa.
    """

    symbol = symbols.FLOW_SOURCE


class FlowRateSource(Ends, passages.FlowRateSource):
    """Prescribed flow from A to B, whatever the pressures: a pump of given delivery.

    Equation: mdot = M, or with ``flow_type="volumetric"`` mdot = rho_A V with the density at A:
    the signal, or the parameters ``mass_flow`` and ``volume_flow`` while nothing is connected.
    With ``power_spec="isentropic"`` the gas gains the work of compression without heat,
    cp T_A ((p_B/p_A)^((gamma - 1)/gamma) - 1), with ``"none"`` no energy. The run
    stops where pressure or temperature at A or B leave the range of the gas.

    Parameters: mass_flow (kg/s), volume_flow (m^3/s), port_area (m^2).
    Ports: A, B. Inputs: M in kg/s, or V in m³/s.
    """

    symbol = symbols.FLOW_SOURCE


class PressureTemperatureSensor(sensors.PressureTemperatureSensor):
    """Pressure and temperature at A, against B or absolute.

    Equations: P = p_A - p_B, T = T_A - T_B, or with ``reference="absolute"`` P = p_A and T = T_A;
    nothing flows.

    Ports: A, and B with ``reference="difference"``. Outputs: P in MPa, T in K.
    """

    symbol = symbols.METER
    fluid = medium
    A = Port(gas, doc="measured place")
    B = Port(gas, when=lambda c: c.reference == "difference",
             doc="what A is measured against")  # fmt: skip


class FlowRateSensor(Ends, sensors.FlowRateSensor):
    """Flow of mass, volume and energy from A to B.

    Equations: A and B have the same pressure and temperature; M = mdot, V = mdot/rho, PHI = Phi,
    the energy that the flow carries: mdot times the specific enthalpy.

    Ports: A, B. Outputs: M in kg/s, V in m³/s, PHI in W.
    """

    symbol = symbols.METER


class ThermodynamicPropertiesSensor(sensors.ThermodynamicPropertiesSensor):
    """Internal energy, enthalpy, density, heat capacity and entropy of the gas at A.

    Equations: U = u, H = u + p/rho, RHO = rho, CP = dh/dT, and S = reference_entropy + the integral
    of cp/T from reference_temperature - Z R ln(p/reference_pressure); nothing flows.

    Parameters: reference_entropy (kJ/(K*kg)), reference_pressure (MPa), reference_temperature (K).
    Ports: A. Outputs: U in J/kg, H in J/kg, RHO in kg/m³, CP and S in J/(kg K).
    """

    fluid = medium
    A = Port(gas, doc="measured place")
    reference_entropy = Parameter("3.8635 kJ/(K*kg)", doc="Entropy at the reference")
    reference_pressure = Parameter("0.101325 MPa", above=0, doc="Absolute pressure there")
    reference_temperature = Parameter("293.15 K", ABSOLUTE, above=0, doc="Temperature there")
    S = Output("J/(kg*K)", doc="specific entropy")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        A = self.A
        yield self.reference_entropy + medium.entropy(A, A.p, A.T) - medium.entropy(
            A, self.reference_pressure, self.reference_temperature) == self.S  # fmt: skip
