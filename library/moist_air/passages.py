"""Resistances, restrictions, sources and sensors: what moist air passes without being stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Component, Input, Option, Output, Parameter, Port, Variable, log, quantity, where

from .. import symbols
from ..fluids import passages, sensors
from ..fluids.chambers import ROOM
from ..fluids.flows import closed, species
from ..thermal.domain import ABSOLUTE
from . import medium
from .domain import FRACTIONS, HUMIDITIES, Ends, moist_air, moist_air_source

__all__ = [
    "DewPointSensor", "FlowRateSensor", "FlowRateSource", "FlowResistance", "HumiditySensor",
    "LocalRestriction", "MeasurementSelector", "MoistureSource", "PressureSource",
    "PressureTemperatureSensor", "ThermodynamicPropertiesSensor", "TraceGasSource",
]  # fmt: skip

LEAST = quantity("1e-3 Pa")  # of the vapour, below which its dew point is not asked for


class FlowResistance(Ends, passages.FlowResistance):
    symbol = symbols.RESTRICTION


class LocalRestriction(Ends, passages.SonicRestriction):
    symbol = symbols.RESTRICTION


class PressureSource(Ends, passages.PressureSource):
    symbol = symbols.FLOW_SOURCE


class FlowRateSource(Ends, passages.FlowRateSource):
    symbol = symbols.FLOW_SOURCE


class AddedSource(Component):
    """Base of what is added to a volume: the flow that a subclass names, with its enthalpy."""

    symbol = symbols.FLOW_SOURCE
    adds = ""
    S = Port(moist_air_source, doc="the volume")
    mass_flow = Parameter("0 kg/s", varying=True, doc="Flow into the volume")
    temperature = Parameter(ROOM, ABSOLUTE, above=0, varying=True, doc="Temperature of the flow")
    M = Input("kg/s", default="mass_flow", doc="flow into the volume")
    T = Input("K", default="temperature", doc="temperature of the flow")
    power_supplied = Variable("W", doc="energy given to the circuit")

    def equations(self) -> Iterator[Any]:
        energy = self.M * self.enthalpy(where(self.M > 0, self.T, self.S.T, events=False))
        for flow, _ in species(medium):
            yield getattr(self.S, flow) == (-self.M if flow == self.adds else 0)
        yield self.S.Phi == -energy
        yield self.power_supplied == energy

    def enthalpy(self, T: Any) -> Any:
        """Enthalpy of a kilogram that is added at the temperature ``T``."""
        raise NotImplementedError


class MoistureSource(AddedSource):
    """Water that is added to a volume of moist air, or taken from it: a person, a humidifier.

    Equation: the flow M of water, the signal or the parameter ``mass_flow`` while nothing is
    connected, enters the volume at S with the enthalpy of vapour of the temperature T, the signal
    or the parameter ``temperature``. With ``moisture_source_spec="liquid"`` it has that of liquid,
    and what evaporates cools the air. What is taken out, M < 0, has the temperature of the volume.
    """

    adds = "mdot_w"
    moisture_source_spec = Option("vapour", ("vapour", "liquid"), doc="what is added")

    def enthalpy(self, T: Any) -> Any:
        """Enthalpy of a kilogram of water that is added at the temperature ``T``."""
        vapour = self.moisture_source_spec == "vapour"
        return (medium.vapour_enthalpy if vapour else medium.liquid_enthalpy)(T)


class TraceGasSource(AddedSource):
    """Trace gas that is added to a volume of moist air, or taken from it: breath, a leak, smoke.

    Equation: the flow M of trace gas, the signal or the parameter ``mass_flow`` while nothing is
    connected, enters the volume at S with the enthalpy of trace gas of the temperature T, the
    signal or the parameter ``temperature``, from that in the volume on with the heat capacity
    there. What is taken out, M < 0, has the temperature of the volume. Where the circuit has no
    trace gas (``MoistAirProperties``), nothing is added.
    """

    adds = "mdot_g"

    def enthalpy(self, T: Any) -> Any:
        """Enthalpy of a kilogram of trace gas that is added at the temperature ``T``."""
        return self.S.h_g + self.S.c_g * (T - self.S.T)


class PressureTemperatureSensor(sensors.PressureTemperatureSensor):
    symbol = symbols.METER
    fluid = medium
    A = Port(moist_air, doc="measured place")
    B = Port(moist_air, when=sensors.difference, doc="what A is measured against")


class FlowRateSensor(Ends, sensors.FlowRateSensor):
    """Flow of mass, volume, energy, vapour and trace gas from A to B.

    Equations: A and B have the same pressure, temperature and shares; M = mdot, V = mdot/rho,
    PHI = Phi, the energy that the flow carries, W = mdot_w, the vapour in it, and G = mdot_g, its
    trace gas.
    """

    symbol = symbols.METER
    W = Output("kg/s", doc="flow of vapour")
    G = Output("kg/s", doc="flow of trace gas")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.A.mdot_w == self.W
        yield self.A.mdot_g == self.G


class SharesSensor(Component):
    """Base of sensors of humidity and trace gas."""

    symbol = symbols.METER
    humidity_spec = Option("relative", HUMIDITIES, doc="what W is")
    trace_gas_spec = Option("mass_fraction", FRACTIONS, doc="what G is")
    W = Output("1", doc="humidity")
    G = Output("1", doc="share of trace gas")

    def measured(self, at: Any) -> Iterator[Any]:
        """Equations of a port at which nothing flows, and of what is mixed there."""
        yield from closed(medium, at)
        yield medium.humidity(at, self.humidity_spec, at.p, at.T) == self.W
        yield medium.trace_fraction(at, self.trace_gas_spec) == self.G


class HumiditySensor(SharesSensor):
    """Humidity and trace gas at A.

    Equations: W = y_w p/p_ws(T) with ``humidity_spec="relative"``, x_w with ``"mass_fraction"``,
    y_w with ``"mole_fraction"`` and x_w/(1 - x_w) with ``"humidity_ratio"``; G = x_g with
    ``trace_gas_spec="mass_fraction"``, y_g with ``"mole_fraction"``; nothing flows.
    """

    A = Port(moist_air, doc="measured place")

    def equations(self) -> Iterator[Any]:
        yield from self.measured(self.A)


class MeasurementSelector(SharesSensor):
    """Pressure, temperature, humidity and trace gas inside a volume, by its port F.

    Equations: P = p_F, T = T_F, and W is the humidity as ``humidity_spec`` says, G the trace gas as
    ``trace_gas_spec`` says.
    """

    F = Port(moist_air, doc="what is measured")
    P = Output("MPa", doc="pressure")
    T = Output("K", doc="temperature")

    def equations(self) -> Iterator[Any]:
        F = self.F
        yield from self.measured(F)
        yield F.p == self.P
        yield F.T == self.T


class DewPointSensor(Component):
    """The temperature to which the air at A has to be cooled until water condenses.

    Equations: p_ws(T_dew) = y_w p, the part of the pressure that is vapour's, no less than 1 mPa,
    T = T_dew: below 273.16 K it is the point of frost; nothing flows.

    Initial targets: T_dew (none, 285 K), a guess.
    """

    symbol = symbols.METER
    A = Port(moist_air, doc="measured place")
    T = Output("K", doc="dew point")
    T_dew = Variable(ABSOLUTE, "285 K", nominal="300 K", doc="dew point")

    def equations(self) -> Iterator[Any]:
        A = self.A
        yield from closed(medium, A)
        vapour = medium.humidity(A, "mole_fraction", A.p, A.T) * A.p
        held = where(vapour > LEAST, vapour, LEAST, events=False)
        # times T it is nearly a straight line
        yield self.T_dew * log(medium.saturation_pressure(self.T_dew) / held) == 0
        yield self.T_dew == self.T


class ThermodynamicPropertiesSensor(sensors.ThermodynamicPropertiesSensor):
    """Internal energy, enthalpy, density and heat capacity of the moist air at A.

    Equations: U = u, H = u + p/rho, RHO = rho, CP = dh/dT, each of a kilogram of the mixture, or
    of a cubic metre; nothing flows. H (1 + humidity ratio) is the enthalpy of psychrometric charts.
    """

    fluid = medium
    A = Port(moist_air, doc="measured place")
