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
    symbol = symbols.RESTRICTION


class LocalRestriction(Ends, sonic.SonicRestriction):
    symbol = symbols.RESTRICTION


class PressureSource(Ends, passages.PressureSource):
    symbol = symbols.FLOW_SOURCE


class FlowRateSource(Ends, passages.FlowRateSource):
    symbol = symbols.FLOW_SOURCE


class PressureTemperatureSensor(sensors.PressureTemperatureSensor):
    symbol = symbols.METER
    fluid = medium
    A = Port(gas, doc="measured place")
    B = Port(gas, when=lambda c: c.reference == "difference",
             doc="what A is measured against")  # fmt: skip


class FlowRateSensor(Ends, sensors.FlowRateSensor):
    symbol = symbols.METER


class ThermodynamicPropertiesSensor(sensors.ThermodynamicPropertiesSensor):
    """Internal energy, enthalpy, density, heat capacity and entropy of the gas at A.

    Equations: U = u, H = u + p/rho, RHO = rho, CP = dh/dT, and S = reference_entropy + the integral
    of cp/T from reference_temperature - Z R ln(p/reference_pressure); nothing flows.
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
