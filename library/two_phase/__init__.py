"""Two-phase fluid: what boils and condenses in circuits, as in heat pumps and steam plants.

The domain's across variables are the absolute pressure p (shown in MPa) and the specific internal
energy u, its through variables the mass flow mdot in kg/s and the energy flow Phi in W, both
counted positive into a component's port. Temperature does not tell a boiling fluid's state, its
internal energy does. The fluid is a property of the circuit: water, unless a
``TwoPhaseFluidProperties`` is connected to it anywhere. Circuits need something that fixes a
pressure: a ``Reservoir``, or any chamber or pipe.

Sign convention
---------------
Two-ports have the ports A and B, with p = p_A - p_B and mdot from A to B. A passive element with
p > 0 carries mdot > 0. Two sources differ: a positive ``PressureSource`` raises B above A, and
through a ``FlowRateSource`` fluid flows from A to B, whatever the pressures. Heat that enters at a
port H warms the fluid.

Energy
------
Phi is mass flow times the specific enthalpy of where it comes from (``library.fluids`` says what
holds near zero flow); the energy of motion is left out. A volume stores its internal energy, a
reservoir supplies what leaves it, a source the work that it does. So the ledger of
``result.energy()`` closes exactly, through any change of phase.

Which class to take
-------------------
=======================  ======================================================
the fluid                ``TwoPhaseFluidProperties``
state given, ends        ``Reservoir``, ``Cap``, ``InfiniteFlowResistance``,
                         ``AbsoluteReference``
volumes                  ``ConstantVolumeChamber``
pipes, heat exchangers   ``Pipe``, ``SegmentedPipe``
to mechanics             ``TranslationalMechanicalConverter``,
                         ``RotationalMechanicalConverter``
resistances, valves      ``FlowResistance``, ``LocalRestriction``
pumps, compressors       ``PressureSource``, ``FlowRateSource``, ``table``
sensors                  ``PressureInternalEnergySensor``, ``FlowRateSensor``,
                         ``ThermodynamicPropertiesSensor``,
                         ``SaturationPropertiesSensor``
own components           ``two_phase`` (the domain), ``TwoPort`` (the base),
                         ``specific_volume``, ``enthalpy``, ``temperature`` and
                         ``quality`` (of the fluid at a port)
=======================  ======================================================
"""

from ..othernames import tell_what_is_missing
from ..tables import table
from .domain import TwoPort
from .domain import two_phase as two_phase
from .elements import (
    AbsoluteReference,
    Cap,
    ConstantVolumeChamber,
    InfiniteFlowResistance,
    Pipe,
    Reservoir,
    RotationalMechanicalConverter,
    SegmentedPipe,
    TranslationalMechanicalConverter,
)
from .medium import enthalpy, quality, specific_volume, temperature
from .passages import (
    FlowRateSensor,
    FlowRateSource,
    FlowResistance,
    LocalRestriction,
    PressureInternalEnergySensor,
    PressureSource,
    SaturationPropertiesSensor,
    ThermodynamicPropertiesSensor,
)
from .properties import TwoPhaseFluidProperties

__all__ = [
    "AbsoluteReference", "Cap", "ConstantVolumeChamber", "FlowRateSensor", "FlowRateSource",
    "FlowResistance", "InfiniteFlowResistance", "LocalRestriction", "Pipe",
    "PressureInternalEnergySensor", "PressureSource", "Reservoir", "RotationalMechanicalConverter",
    "SaturationPropertiesSensor", "SegmentedPipe", "ThermodynamicPropertiesSensor",
    "TranslationalMechanicalConverter", "TwoPhaseFluidProperties", "TwoPort", "enthalpy", "quality",
    "specific_volume", "table", "temperature",
]  # fmt: skip

tell_what_is_missing(__name__)
