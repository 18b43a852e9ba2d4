"""Isothermal liquid: pipes, valves, pumps, cylinders, and the liquid in them.

The domain's across variable is the absolute pressure p (shown in MPa; the atmosphere has
0.101325 MPa), its through variable the mass flow mdot in kg/s, counted positive into a
component's port. The liquid is a property of the circuit: water, unless an
``IsothermalLiquidProperties`` is connected to it anywhere. Circuits need no reference, but
something that fixes a pressure: a ``Reservoir``, or any chamber of compressible liquid.

Sign convention
---------------
Two-ports have the ports A and B, with p = p_A - p_B and mdot from A to B. A passive element
with p > 0 carries mdot > 0. Two sources differ:

* ``PressureSource``: a positive value raises B above A.
* ``FlowRateSource`` and pumps: liquid flows from A to B inside, whatever the pressures.

Liquid that enters a converter or the side A of a cylinder moves R away from C; x is the
position of R against C.

Energy
------
Pressure times mass flow is no power. A kilogram that enters brings along
h = integral of dp/rho from atmospheric pressure on (J/kg): mdot h is the power at a port. A
chamber stores V (rho h - (p - p_atm)), a restriction turns mdot (h_A - h_B) into heat, and
the ledger of ``result.energy()`` closes exactly, however compressible the liquid is.

Which class to take
-------------------
=======================  ======================================================
the liquid               ``IsothermalLiquidProperties``, ``LiquidPropertiesSensor``
pressure given, ends     ``Reservoir``, ``Cap``, ``InfiniteFlowResistance``
volumes                  ``ConstantVolumeChamber``, ``Tank``,
                         ``GasChargedAccumulator``
pipes and resistances    ``Pipe``, ``FlowResistance``, ``LaminarLeakage``
orifices                 ``LocalRestriction``, ``VariableOrifice``
valves                   ``CheckValve``, ``PressureReliefValve``,
                         ``DirectionalValve``
pumps and motors         ``FixedDisplacementPump``, ``VariableDisplacementPump``,
                         ``FixedDisplacementMotor``,
                         ``VariableDisplacementMotor``
to mechanics             ``SingleActingActuator``, ``DoubleActingActuator``,
                         ``TranslationalMechanicalConverter``,
                         ``RotationalMechanicalConverter``
sources                  ``PressureSource``, ``FlowRateSource``, ``table``
sensors                  ``PressureSensor``, ``FlowRateSensor``
own components           ``isothermal_liquid`` (the domain), ``TwoPort`` (the
                         base), ``density`` and ``enthalpy`` (of the liquid at a
                         port and a pressure)
=======================  ======================================================
"""

from ..othernames import tell_what_is_missing
from ..tables import table
from .converters import RotationalMechanicalConverter, TranslationalMechanicalConverter
from .cylinders import DoubleActingActuator, SingleActingActuator
from .domain import TwoPort
from .domain import isothermal_liquid as isothermal_liquid
from .elements import (
    Cap,
    ConstantVolumeChamber,
    GasChargedAccumulator,
    InfiniteFlowResistance,
    Reservoir,
    Tank,
)
from .liquid import density, enthalpy
from .properties import IsothermalLiquidProperties
from .pumps import (
    FixedDisplacementMotor,
    FixedDisplacementPump,
    VariableDisplacementMotor,
    VariableDisplacementPump,
)
from .resistances import FlowResistance, LaminarLeakage, Pipe
from .sensors import FlowRateSensor, LiquidPropertiesSensor, PressureSensor
from .sources import FlowRateSource, PressureSource
from .valves import (
    CheckValve,
    DirectionalValve,
    LocalRestriction,
    PressureReliefValve,
    VariableOrifice,
)

__all__ = [
    "Cap", "CheckValve", "ConstantVolumeChamber", "DirectionalValve", "DoubleActingActuator",
    "FixedDisplacementMotor", "FixedDisplacementPump", "FlowRateSensor", "FlowRateSource",
    "FlowResistance", "GasChargedAccumulator", "InfiniteFlowResistance",
    "IsothermalLiquidProperties", "LaminarLeakage", "LiquidPropertiesSensor", "LocalRestriction",
    "Pipe", "PressureReliefValve", "PressureSensor", "PressureSource", "Reservoir",
    "RotationalMechanicalConverter", "SingleActingActuator", "Tank",
    "TranslationalMechanicalConverter", "TwoPort", "VariableDisplacementMotor",
    "VariableDisplacementPump", "VariableOrifice", "density", "enthalpy",
    "table",
]  # fmt: skip

tell_what_is_missing(__name__)
