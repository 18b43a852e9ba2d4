"""Thermal liquid: liquid that flows, stores heat and carries it along.

The domain's across variables are the absolute pressure p (shown in MPa) and the absolute
temperature T, its through variables the mass flow mdot in kg/s and the energy flow Phi in W, both
counted positive into a component's port. The liquid is a property of the circuit: water, unless
``ThermalLiquidProperties`` (ready liquids), ``ThermalLiquidSettings`` (tables of the temperature)
or ``ThermalLiquidTables`` (of temperature and pressure) are connected to it anywhere. Circuits need
something that fixes a pressure: a ``Reservoir``, or any chamber or pipe of compressible liquid.

Sign convention
---------------
Two-ports have the ports A and B, with p = p_A - p_B and mdot from A to B. A passive element with
p > 0 carries mdot > 0. Two sources differ: a positive ``PressureSource`` raises B above A, and
through a ``FlowRateSource`` liquid flows from A to B, whatever the pressures. Heat that enters at
a port H warms the liquid. Liquid that enters a converter moves R away from C.

Energy
------
Phi is mass flow times the specific enthalpy of where it comes from (``library.fluids`` says what
holds near zero flow). A volume stores its internal energy, a reservoir supplies what leaves it, a
source the work that it does; what is lost of the pressure warms the liquid and is lost to nobody.
So the ledger of ``result.energy()`` closes exactly.

Which class to take
-------------------
=======================  ======================================================
the liquid               ``ThermalLiquidProperties``, ``ThermalLiquidSettings``,
                         ``ThermalLiquidTables``
state given, ends        ``Reservoir``, ``Cap``, ``InfiniteFlowResistance``,
                         ``AbsoluteReference``
volumes                  ``ConstantVolumeChamber``
pipes                    ``Pipe``, ``SegmentedPipe``
resistances, orifices    ``FlowResistance``, ``LaminarLeakage``,
                         ``LocalRestriction``
to mechanics             ``TranslationalMechanicalConverter``,
                         ``RotationalMechanicalConverter``
sources                  ``PressureSource``, ``FlowRateSource``, ``table``
sensors                  ``PressureTemperatureSensor``, ``FlowRateSensor``,
                         ``ThermodynamicPropertiesSensor``
own components           ``thermal_liquid`` (the domain), ``TwoPort`` (the base),
                         ``density`` and ``enthalpy`` (of the liquid at a port)
=======================  ======================================================
"""

from ..othernames import tell_what_is_missing
from ..tables import table
from .domain import TwoPort
from .domain import thermal_liquid as thermal_liquid
from .elements import (
    AbsoluteReference,
    Cap,
    ConstantVolumeChamber,
    FlowRateSensor,
    FlowRateSource,
    FlowResistance,
    InfiniteFlowResistance,
    LaminarLeakage,
    LocalRestriction,
    Pipe,
    PressureSource,
    PressureTemperatureSensor,
    Reservoir,
    RotationalMechanicalConverter,
    SegmentedPipe,
    ThermodynamicPropertiesSensor,
    TranslationalMechanicalConverter,
)
from .liquid import density, enthalpy
from .properties import ThermalLiquidProperties, ThermalLiquidSettings, ThermalLiquidTables

__all__ = [
    "AbsoluteReference", "Cap", "ConstantVolumeChamber", "FlowRateSensor", "FlowRateSource",
    "FlowResistance", "InfiniteFlowResistance", "LaminarLeakage", "LocalRestriction", "Pipe",
    "PressureSource", "PressureTemperatureSensor", "Reservoir", "RotationalMechanicalConverter",
    "SegmentedPipe", "ThermalLiquidProperties", "ThermalLiquidSettings", "ThermalLiquidTables",
    "ThermodynamicPropertiesSensor", "TranslationalMechanicalConverter", "TwoPort", "density",
    "enthalpy", "table",
]  # fmt: skip

tell_what_is_missing(__name__)
