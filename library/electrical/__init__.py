"""Electrical circuits: resistors, capacitors, inductors, sources, couplings, sensors.

The domain's across variable is the potential v in V, its through variable the current i
in A, counted positive into a component's port.

Sign convention
---------------
Two-ports have the ports p (positive) and n (negative), with v = v_p - v_n and i carried
from p to n through the component: v i > 0 is power taken in. Sources follow it too:

* of a voltage source v is the value; i is negative where it delivers power;
* of ``DCCurrentSource`` and ``ACCurrentSource`` i is the value, so a positive current
  leaves into the circuit at n;
* ``ControlledCurrentSource`` and the dependent current sources are drawn as an arrow,
  with the ports tail and head: a positive current leaves into the circuit at head;
* of ``IdealTransformer`` and ``Gyrator`` i1 goes into p1 and i2 comes out of p2; of
  ``MutualInductor`` both go in.

Every circuit needs an ``ElectricalReference``, also the one behind a transformer.

Elements are ideal: parasitic resistances and conductances that Simscape's capacitor and
inductor have by default are an option here (``parasitic=True``), because they add states.

Which class to take
-------------------
=========================  ====================================================
ground and open ends       ``ElectricalReference``, ``FloatingReference``,
                           ``OpenCircuit``, ``InfiniteResistance``
resistance                 ``Resistor``, ``VariableResistor``, ``ThermalResistor``,
                           ``Memristor``
capacitance                ``Capacitor``, ``VariableCapacitor``
inductance                 ``Inductor``, ``VariableInductor``, ``SaturatingInductor``,
                           ``MutualInductor``
couplings                  ``IdealTransformer``, ``Gyrator``
amplifiers                 ``OpAmp``, ``LimitedOpAmp``
voltage sources            ``DCVoltageSource``, ``ACVoltageSource``,
                           ``ControlledVoltageSource`` (a signal, a function of time
                           or a ``table``)
current sources            ``DCCurrentSource``, ``ACCurrentSource``,
                           ``ControlledCurrentSource``
dependent sources          ``VoltageControlledVoltageSource``,
                           ``VoltageControlledCurrentSource``,
                           ``CurrentControlledVoltageSource``,
                           ``CurrentControlledCurrentSource``
switches                   ``Switch``, ``SPDTSwitch``, ``Diode``, ``MOSFET``, ``IGBT``,
                           ``Thyristor``
bridges                    ``HalfBridge``, ``FullBridge``, ``ThreePhaseBridge``
sensors                    ``VoltageSensor``, ``CurrentSensor``, ``PowerSensor``
own components             ``electrical`` (the domain), ``TwoPort`` (the base)
=========================  ====================================================
"""

from ..othernames import tell_what_is_missing
from ..tables import table
from .amplifiers import LimitedOpAmp, OpAmp
from .couplings import Gyrator, IdealTransformer, MutualInductor
from .dependent import (
    CurrentControlledCurrentSource,
    CurrentControlledVoltageSource,
    VoltageControlledCurrentSource,
    VoltageControlledVoltageSource,
)
from .domain import TwoPort
from .domain import electrical as electrical
from .elements import (
    Capacitor,
    ElectricalReference,
    FloatingReference,
    Inductor,
    InfiniteResistance,
    OpenCircuit,
    Resistor,
    VariableCapacitor,
    VariableInductor,
    VariableResistor,
)
from .nonlinear import Memristor, SaturatingInductor, ThermalResistor
from .semiconductors import IGBT, MOSFET, Diode, FullBridge, HalfBridge, ThreePhaseBridge, Thyristor
from .sensors import CurrentSensor, PowerSensor, VoltageSensor
from .sources import (
    ACCurrentSource,
    ACVoltageSource,
    ControlledCurrentSource,
    ControlledVoltageSource,
    DCCurrentSource,
    DCVoltageSource,
)
from .switches import SPDTSwitch, Switch

__all__ = ["ACCurrentSource", "ACVoltageSource", "Capacitor", "ControlledCurrentSource",
           "ControlledVoltageSource", "CurrentControlledCurrentSource",
           "CurrentControlledVoltageSource", "CurrentSensor", "DCCurrentSource", "DCVoltageSource",
           "Diode", "ElectricalReference", "FloatingReference", "FullBridge", "Gyrator",
           "HalfBridge", "IGBT", "IdealTransformer", "Inductor", "InfiniteResistance",
           "LimitedOpAmp", "MOSFET", "Memristor", "MutualInductor", "OpAmp", "OpenCircuit",
           "PowerSensor", "Resistor", "SPDTSwitch", "SaturatingInductor", "Switch",
           "ThermalResistor", "ThreePhaseBridge", "Thyristor", "TwoPort", "VariableCapacitor",
           "VariableInductor", "VariableResistor", "VoltageControlledCurrentSource",
           "VoltageControlledVoltageSource", "VoltageSensor", "table"]

tell_what_is_missing(__name__)
