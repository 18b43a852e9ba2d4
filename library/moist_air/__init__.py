"""Moist air: rooms, ducts, coils and fans, with the water that air carries and leaves behind.

The domain's across variables are the absolute pressure p (shown in MPa), the absolute temperature
T, the specific humidity x_w, water vapour by mass, and x_g, trace gas by mass; its through
variables the mass flow mdot of the mixture in kg/s, the energy flow Phi in W, the vapour flow
mdot_w and the trace gas flow mdot_g in kg/s, all counted positive into a component's port. Dry and
trace gas are properties of the circuit: air and none, unless a ``MoistAirProperties`` is connected
to it anywhere. Circuits need something that fixes a pressure: a ``Reservoir``, or any chamber or
pipe. Droplets that fly along are left out.

Sign convention
---------------
Two-ports have the ports A and B, with p = p_A - p_B and mdot from A to B. A passive element with
p > 0 carries mdot > 0. Two sources differ: a positive ``PressureSource`` raises B above A, and
through a ``FlowRateSource`` air flows from A to B, whatever the pressures. Heat that enters at a
port H warms the air, moisture that enters at a port S is counted positive by its source, and what
condenses by the volume. Air that enters a converter moves R away from C.

Energy and water
----------------
Phi is mass flow times the specific enthalpy of where it comes from, mdot_w and mdot_g mass flow
times the shares there (``library.fluids`` says what holds near zero flow, where air at rest
conducts heat and vapour alike); the energy of motion is left out. A volume stores internal energy
and vapour. What condenses leaves it: its mass is ``condensate``, the energy that it takes along is
counted by ``result.energy()``, which closes exactly. Energies count from dry air at 0 °C and liquid
water at its triple point.

Which class to take
-------------------
=======================  ======================================================
the dry and trace gas    ``MoistAirProperties``
state given, ends        ``Reservoir``, ``Cap``, ``InfiniteFlowResistance``,
                         ``AbsoluteReference``
rooms, ducts, coils      ``ConstantVolumeChamber``, ``Pipe``
resistances, orifices    ``FlowResistance``, ``LocalRestriction``
to mechanics             ``TranslationalMechanicalConverter``,
                         ``RotationalMechanicalConverter``
fans, moisture           ``PressureSource``, ``FlowRateSource``,
                         ``MoistureSource``, ``TraceGasSource``, ``table``
sensors                  ``PressureTemperatureSensor``, ``HumiditySensor``,
                         ``DewPointSensor``, ``FlowRateSensor``,
                         ``ThermodynamicPropertiesSensor``,
                         ``MeasurementSelector``
own components           ``moist_air`` and ``moist_air_source`` (the domains),
                         ``TwoPort`` (the base), ``density``, ``enthalpy`` and
                         ``humidity`` (of moist air at a port),
                         ``saturation_pressure`` (of water)
=======================  ======================================================
"""

from ..othernames import tell_what_is_missing
from ..tables import table
from .domain import TwoPort, moist_air_source
from .domain import moist_air as moist_air
from .elements import (
    AbsoluteReference,
    Cap,
    ConstantVolumeChamber,
    InfiniteFlowResistance,
    Pipe,
    Reservoir,
    RotationalMechanicalConverter,
    TranslationalMechanicalConverter,
)
from .medium import density, enthalpy, humidity, saturation_pressure
from .passages import (
    DewPointSensor,
    FlowRateSensor,
    FlowRateSource,
    FlowResistance,
    HumiditySensor,
    LocalRestriction,
    MeasurementSelector,
    MoistureSource,
    PressureSource,
    PressureTemperatureSensor,
    ThermodynamicPropertiesSensor,
    TraceGasSource,
)
from .properties import MoistAirProperties

__all__ = [
    "AbsoluteReference", "Cap", "ConstantVolumeChamber", "DewPointSensor", "FlowRateSensor",
    "FlowRateSource", "FlowResistance", "HumiditySensor", "InfiniteFlowResistance",
    "LocalRestriction", "MeasurementSelector", "MoistAirProperties", "MoistureSource", "Pipe",
    "PressureSource", "PressureTemperatureSensor", "Reservoir", "RotationalMechanicalConverter",
    "ThermodynamicPropertiesSensor", "TraceGasSource", "TranslationalMechanicalConverter",
    "TwoPort", "density", "enthalpy", "humidity", "moist_air_source",
    "saturation_pressure", "table",
]  # fmt: skip

tell_what_is_missing(__name__)
