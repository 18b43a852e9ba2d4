"""Heat: bodies that store it, conduction, convection, radiation, sources and sensors.

The domain's across variable is the absolute temperature T in K, its through variable the
heat flow Q in W, counted positive into a component's port. The heat flow is a power itself:
energy is balanced without a product.

Sign convention
---------------
Two-ports have the ports A and B, with T = T_A - T_B and Q from A to B: a resistance with
T > 0 carries Q > 0. ``HeatFlowRateSource`` moves positive heat from A to B, which it draws
at A; ``ControlledTemperatureSource`` makes B the warmer one, T_B - T_A = S.

Temperatures are absolute: ``T="20 degC"`` is 293.15 K. Differences are written in K or
delta_degC.

Heat of other domains
---------------------
Whatever dissipates (dampers, frictions, clutches, stops, gears, resistors ...) shows the port
H with ``thermal_port=True``: its heat leaves there, and its parameters may follow the
temperature found there. :mod:`library.heat` says how.

Which class to take
-------------------
=========================  ====================================================
bodies                     ``ThermalMass``, ``ConductingRod``
fixed temperatures         ``TemperatureSource``, ``ThermalReference`` (0 K)
conduction                 ``ConductiveHeatTransfer``, ``ThermalResistance``,
                           ``VariableThermalResistance``
convection, radiation      ``ConvectiveHeatTransfer``, ``RadiativeHeatTransfer``
insulated ends             ``PerfectInsulator``
sources                    ``TemperatureSource``, ``HeatFlowRateSource``,
                           ``ControlledTemperatureSource``
sensors                    ``TemperatureSensor``, ``HeatFlowRateSensor``
own components             ``thermal`` (the domain), ``TwoPort`` (the base)
=========================  ====================================================
"""

from ..othernames import tell_what_is_missing
from .domain import TwoPort
from .domain import thermal as thermal
from .elements import (
    ConductiveHeatTransfer,
    ConvectiveHeatTransfer,
    PerfectInsulator,
    RadiativeHeatTransfer,
    ThermalMass,
    ThermalReference,
    ThermalResistance,
    VariableThermalResistance,
)
from .rods import ConductingRod
from .sensors import HeatFlowRateSensor, TemperatureSensor
from .sources import ControlledTemperatureSource, HeatFlowRateSource, TemperatureSource

__all__ = ["ConductingRod", "ConductiveHeatTransfer", "ControlledTemperatureSource",
           "ConvectiveHeatTransfer", "HeatFlowRateSensor", "HeatFlowRateSource", "PerfectInsulator",
           "RadiativeHeatTransfer", "TemperatureSensor", "TemperatureSource", "ThermalMass",
           "ThermalReference", "ThermalResistance", "TwoPort", "VariableThermalResistance"]

tell_what_is_missing(__name__)
