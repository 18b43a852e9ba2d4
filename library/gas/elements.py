"""What holds gas, what it passes, sources and sensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Output, Parameter, Port

from .. import symbols
from ..fluids import chambers, converters, passages, pipes, sensors
from ..thermal.domain import ABSOLUTE
from . import medium
from .domain import Ends, gas

__all__ = ["AbsoluteReference", "Cap", "ConstantVolumeChamber", "FlowRateSensor",
           "FlowRateSource", "FlowResistance", "InfiniteFlowResistance", "LocalRestriction",
           "Pipe", "PressureSource", "PressureTemperatureSensor", "Reservoir",
           "RotationalMechanicalConverter", "ThermodynamicPropertiesSensor",
           "TranslationalMechanicalConverter"]  # fmt: skip


class Reservoir(chambers.Reservoir):
    fluid = medium
    A = Port(gas, doc="the reservoir")


class AbsoluteReference(chambers.AbsoluteReference):
    fluid = medium
    A = Port(gas, doc="the reference")


class Cap(chambers.Cap):
    fluid = medium
    A = Port(gas, doc="the closed end")


class InfiniteFlowResistance(Ends, chambers.InfiniteFlowResistance):
    symbol = symbols.OPEN


class ConstantVolumeChamber(chambers.Chamber):
    fluid = medium
    A = Port(gas, doc="first port")
    B = Port(gas, when=lambda c: c.num_ports > 1, doc="second port")
    C = Port(gas, when=lambda c: c.num_ports > 2, doc="third port")
    D = Port(gas, when=lambda c: c.num_ports > 3, doc="fourth port")


class Pipe(Ends, pipes.GasPipe):
    """A pipe with friction, heat through its wall, storage and, if wanted, inertia.

    Equations: the loss along the whole pipe is Darcy's and Weisbach's
    f (length + extra_length)/D m |m|/(2 rho area²), with the hydraulic diameter D and
    Re = |m| D/(area mu): f = shape_factor/Re below ``laminar_limit``, Haaland's
    1/sqrt(f) = -1.8 log10(6.9/Re + (roughness/(3.7 D))^1.11) above ``turbulent_limit``, and
    between the two a smooth blend. The gas is one volume, with half of the loss on each side, and
    what expands is sped up: p_A - p_I = loss/2 + (m/area)² (1/rho_I - 1/rho_A).
    d(rho V)/dt = mdot_A + mdot_B, d(rho u V)/dt = Phi_A + Phi_B + Q_H. With ``inertia=True`` the
    flow has to be accelerated by length/area d(mdot)/dt.

    The wall, at T_H, gives the heat h S (T_H - T_I) + (C (1 - e^-N) - h S e^-N)(T_H - T_in), with
    C = |m| cp, N = h S/C and h from the Nusselt number: ``laminar_nusselt``, Gnielinski's when
    turbulent. In a steady flow that is T_I = T_H - (T_H - T_in) e^-N exactly.

    The energy of motion is left out of Phi: at a Mach number M the temperature is too high by the
    share (gamma - 1)/2 M², 2 % at M = 0.3; the flow does not choke at the end of the pipe.

    The default of hydraulic_diameter is not verified.
    Ports: A, B, H (wall) with ``thermal_port``.
    Initial targets: p_I (high, 0.101325 MPa), T_I (high, 293.15 K); flow_A (high, 0 kg/s) into A
    and flow_B (high, 0 kg/s) out of B, with inertia.

    References
    ----------
    S. E. Haaland, J. Fluids Eng. 105 (1983) 89-90. V. Gnielinski, Int. Chem. Eng. 16 (1976)
    359-368.
    """


class TranslationalMechanicalConverter(converters.TranslationalConverter):
    fluid = medium
    A = Port(gas, doc="the gas")


class RotationalMechanicalConverter(converters.RotationalConverter):
    fluid = medium
    A = Port(gas, doc="the gas")


class FlowResistance(Ends, passages.FlowResistance):
    symbol = symbols.RESTRICTION


class LocalRestriction(Ends, passages.SonicRestriction):
    symbol = symbols.RESTRICTION


class PressureSource(Ends, passages.PressureSource):
    symbol = symbols.FLOW_SOURCE


class FlowRateSource(Ends, passages.FlowRateSource):
    symbol = symbols.FLOW_SOURCE


class PressureTemperatureSensor(sensors.PressureTemperatureSensor):
    symbol = symbols.METER
    fluid = medium
    A = Port(gas, doc="measured place")
    B = Port(gas, when=sensors.difference, doc="what A is measured against")


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
