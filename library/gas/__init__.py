"""Gas: tanks, valves, pipes and pistons of a gas that is compressed, warmed and carried along.

The domain's across variables are the absolute pressure p (shown in MPa) and the absolute
temperature T, its through variables the mass flow mdot in kg/s and the energy flow Phi in W, both
counted positive into a component's port. The gas is a property of the circuit: dry air as a
perfect gas, unless a ``GasProperties`` is connected to it anywhere. Circuits need something that
fixes a pressure: a ``Reservoir``, or any chamber or pipe.

Sign convention
---------------
Two-ports have the ports A and B, with p = p_A - p_B and mdot from A to B. A passive element with
p > 0 carries mdot > 0. Two sources differ: a positive ``PressureSource`` raises B above A, and
through a ``FlowRateSource`` gas flows from A to B, whatever the pressures. Heat that enters at a
port H warms the gas. Gas that enters a converter moves R away from C.

Energy
------
Phi is mass flow times the specific enthalpy of where it comes from (``library.fluids`` says what
holds near zero flow); the energy of motion is left out. A volume stores its internal energy, a
reservoir supplies what leaves it, a source the work that it does. So the ledger of
``result.energy()`` closes exactly.

Which class to take
-------------------
=======================  ======================================================
the gas                  ``GasProperties``
state given, ends        ``Reservoir``, ``Cap``, ``InfiniteFlowResistance``,
                         ``AbsoluteReference``
volumes, pipes           ``ConstantVolumeChamber``, ``Pipe``
resistances, orifices    ``FlowResistance``, ``LocalRestriction``
to mechanics             ``TranslationalMechanicalConverter``,
                         ``RotationalMechanicalConverter``
sources                  ``PressureSource``, ``FlowRateSource``, ``table``
sensors                  ``PressureTemperatureSensor``, ``FlowRateSensor``,
                         ``ThermodynamicPropertiesSensor``
own components           ``gas`` (the domain), ``TwoPort`` (the base), ``density``
                         and ``enthalpy`` (of the gas at a port)
=======================  ======================================================
"""

from ..othernames import tell_what_is_missing
from ..tables import table
from .domain import TwoPort
from .domain import gas as gas
from .elements import (
    AbsoluteReference,
    Cap,
    ConstantVolumeChamber,
    FlowRateSensor,
    FlowRateSource,
    FlowResistance,
    InfiniteFlowResistance,
    LocalRestriction,
    Pipe,
    PressureSource,
    PressureTemperatureSensor,
    Reservoir,
    RotationalMechanicalConverter,
    ThermodynamicPropertiesSensor,
    TranslationalMechanicalConverter,
)
from .medium import density, enthalpy
from .properties import GasProperties

__all__ = [
    "AbsoluteReference", "Cap", "ConstantVolumeChamber", "FlowRateSensor", "FlowRateSource",
    "FlowResistance", "GasProperties", "InfiniteFlowResistance", "LocalRestriction", "Pipe",
    "PressureSource", "PressureTemperatureSensor", "Reservoir", "RotationalMechanicalConverter",
    "ThermodynamicPropertiesSensor", "TranslationalMechanicalConverter", "TwoPort", "density",
    "enthalpy", "table",
]  # fmt: skip

tell_what_is_missing(__name__)
