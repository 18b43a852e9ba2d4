"""Resistances, sources and sensors: what a fluid of two phases passes without being stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Component, Option, Output, Parameter, Port, Variable, sqrt, where

from .. import symbols
from ..fluids import passages, sensors
from ..fluids.flows import closed
from . import medium
from .domain import Ends, two_phase

__all__ = [
    "FlowRateSensor", "FlowRateSource", "FlowResistance", "LocalRestriction",
    "PressureInternalEnergySensor", "PressureSource", "SaturationPropertiesSensor",
    "ThermodynamicPropertiesSensor",
]  # fmt: skip


class FlowResistance(Ends, passages.FlowResistance):
    symbol = symbols.RESTRICTION


class LocalRestriction(Ends, passages.Restriction):
    """A sudden narrow place, of fixed area or one given by a signal: an expansion valve.

    Equation: mdot = Cd S_R sqrt(2/(v (1 - (S_R/S)²))) p/(p² + p_cr²)^(1/4) with the specific
    volume v where the fluid comes from, S_R the area of the restriction, S the area of the ports,
    and p_cr = laminar_share (p_A + p_B)/2, below which the flow is laminar. Energy passes as it
    is: the enthalpy is the same on both sides, whatever boils. Boiling within the restriction and
    choking are left out, and so is the recovery of pressure.

    Parameters: area (m^2) (``restriction_type="fixed"``), minimum_area (m^2), maximum_area (m^2)
    (``"variable"``), port_area (m^2), discharge_coefficient (1), laminar_share (1).
    Inputs: AR in m², limited to minimum_area and maximum_area.
    """

    symbol = symbols.RESTRICTION

    discharge_coefficient = Parameter(0.7, above=0, maximum=1,
                                      doc="Flow over that without contraction")  # fmt: skip
    laminar_share = Parameter(1e-3, above=0, below=0.5,
                              doc="Fall of pressure, of all of it, up to which flow is laminar")

    def equations(self) -> Iterator[Any]:
        A, B = self.A, self.B
        area = self.opening()
        v = where(A.p > B.p, *(medium.specific_volume(port, port.p, port.u) for port in (A, B)),
                  events=False)  # fmt: skip
        laminar = self.laminar_share * (A.p + B.p) / 2
        yield self.mdot == self.discharge_coefficient * area * sqrt(
            2 / (v * (1 - (area / self.port_area) ** 2))) * passages.turbulent(self.p, laminar)
        yield from self.passing()


class Compressing(Component):  # what sources do on the fluid: the work of compression without heat
    u_isentropic = Variable("kJ/kg", nominal="100 kJ/kg", when=passages.isentropic,
                            doc="internal energy at B of what comes from A without loss")

    def equations(self) -> Iterator[Any]:
        A, B = self.A, self.B  # type: ignore[attr-defined]
        yield from super().equations()
        if passages.isentropic(self):
            yield medium.entropy(B, B.p, self.u_isentropic) == medium.entropy(A, A.p, A.u)

    def lift(self) -> Any:
        """The enthalpy that a kilogram gains which keeps its entropy from A to B."""
        A, B = self.A, self.B  # type: ignore[attr-defined]
        return medium.enthalpy(B, B.p, self.u_isentropic) - medium.enthalpy(A, A.p, A.u)


class PressureSource(Ends, Compressing, passages.PressureSource):
    symbol = symbols.FLOW_SOURCE


class FlowRateSource(Ends, Compressing, passages.FlowRateSource):
    symbol = symbols.FLOW_SOURCE


class PressureInternalEnergySensor(Component):
    """Pressure and specific internal energy at A, against B or absolute.

    Equations: P = p_A - p_B, U = u_A - u_B, or with ``reference="absolute"`` P = p_A, U = u_A and
    T, the temperature; nothing flows.

    Ports: A, and B with ``reference="difference"``. Outputs: P in MPa, U in kJ/kg, and T in K with
    ``reference="absolute"``.
    """

    symbol = symbols.METER
    reference = Option("difference", ("difference", "absolute"), doc="what A is measured against")
    A = Port(two_phase, doc="measured place")
    B = Port(two_phase, when=sensors.difference, doc="what A is measured against")
    P = Output("MPa", doc="pressure")
    U = Output("kJ/kg", doc="specific internal energy")
    T = Output("K", when=lambda c: not sensors.difference(c), doc="temperature")

    def equations(self) -> Iterator[Any]:
        A = self.A
        p, u = A.p, A.u
        yield from closed(medium, A)
        if sensors.difference(self):
            yield from closed(medium, self.B)
            p, u = p - self.B.p, u - self.B.u
        else:
            yield self.T == medium.temperature(A, p, u)
        yield self.P == p
        yield self.U == u


class FlowRateSensor(Ends, sensors.FlowRateSensor):
    symbol = symbols.METER


class Measuring(Component):
    """Base of sensors of what is at A: nothing flows."""

    A = Port(two_phase, doc="measured place")

    def equations(self) -> Iterator[Any]:
        yield from closed(medium, self.A)


class ThermodynamicPropertiesSensor(Measuring):
    """Temperature, enthalpy, density, volume, entropy and quality of the fluid at A.

    Equations: T, H = u + p v, RHO = 1/v, V = v and S at p_A and u_A; X = (u - u_l)/(u_v - u_l) is
    the share of vapour from 0 to 1, below 0 in liquid and above 1 in vapour; nothing flows. Energy
    and entropy count from where CoolProp's do.
    """

    T = Output("K", doc="temperature")
    H = Output("kJ/kg", doc="specific enthalpy")
    RHO = Output("kg/m^3", doc="density")
    V = Output("m^3/kg", doc="specific volume")
    S = Output("kJ/(K*kg)", doc="specific entropy")
    X = Output("1", doc="quality")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        A = self.A
        yield self.T == medium.temperature(A, A.p, A.u)
        yield self.H == medium.enthalpy(A, A.p, A.u)
        yield self.RHO == medium.density(A, A.p, A.u)
        yield self.V == medium.specific_volume(A, A.p, A.u)
        yield self.S == medium.entropy(A, A.p, A.u)
        yield self.X == medium.quality(A, A.p, A.u)


class SaturationPropertiesSensor(Measuring):
    """Temperature of boiling at the pressure of A, and enthalpies of liquid and vapour there.

    Equations: T, HL = u_l + p v_l and HV = u_v + p v_v at p_A; nothing flows. T less the
    temperature of liquid is its subcooling, that of vapour less T its superheat.
    """

    T = Output("K", doc="temperature of boiling")
    HL = Output("kJ/kg", doc="specific enthalpy of saturated liquid")
    HV = Output("kJ/kg", doc="specific enthalpy of saturated vapour")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        A = self.A
        liquid, vapour = medium.saturation(A, A.p)
        yield self.T == medium.boiling(A, A.p)
        yield self.HL == medium.enthalpy(A, A.p, liquid)
        yield self.HV == medium.enthalpy(A, A.p, vapour)
