"""What holds liquid, what it passes, sources and sensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Option, Parameter, Port

from .. import symbols
from ..fluids import chambers, converters, passages, pipes, sensors
from ..fluids.gaps import SHAPES, Gap
from ..thermal.domain import ABSOLUTE
from . import liquid
from .domain import Ends, TwoPort, thermal_liquid

__all__ = ["AbsoluteReference", "Cap", "ConstantVolumeChamber", "FlowRateSensor",
           "FlowRateSource", "FlowResistance", "InfiniteFlowResistance", "LaminarLeakage",
           "LocalRestriction", "Pipe", "PressureSource", "PressureTemperatureSensor", "Reservoir",
           "RotationalMechanicalConverter", "SegmentedPipe", "ThermodynamicPropertiesSensor",
           "TranslationalMechanicalConverter"]  # fmt: skip


class Reservoir(chambers.Reservoir):
    fluid = liquid
    A = Port(thermal_liquid, doc="the reservoir")


class AbsoluteReference(chambers.AbsoluteReference):
    fluid = liquid
    A = Port(thermal_liquid, doc="the reference")


class Cap(chambers.Cap):
    fluid = liquid
    A = Port(thermal_liquid, doc="the closed end")


class InfiniteFlowResistance(Ends, chambers.InfiniteFlowResistance):
    symbol = symbols.OPEN


class ConstantVolumeChamber(chambers.Chamber):
    fluid = liquid
    A = Port(thermal_liquid, doc="first port")
    B = Port(thermal_liquid, when=lambda c: c.num_ports > 1, doc="second port")
    C = Port(thermal_liquid, when=lambda c: c.num_ports > 2, doc="third port")
    D = Port(thermal_liquid, when=lambda c: c.num_ports > 3, doc="fourth port")


class Pipe(Ends, pipes.Pipe):
    """A pipe with friction, heat through its wall, storage and, if wanted, inertia.

    Equations: the loss along the whole pipe is Darcy's and Weisbach's
    f (length + extra_length)/D m |m|/(2 rho area²), with the hydraulic diameter D and
    Re = |m| D/(area mu): f = shape_factor/Re below ``laminar_limit``, Haaland's
    1/sqrt(f) = -1.8 log10(6.9/Re + (roughness/(3.7 D))^1.11) above ``turbulent_limit``, and
    between the two a smooth blend. The liquid is one volume, with half of the loss on each side:
    d(rho V)/dt = mdot_A + mdot_B, d(rho u V)/dt = Phi_A + Phi_B + Q_H. With
    ``dynamic_compressibility=False`` as much flows out as in, only its temperature is stored,
    and its density is that at atmospheric pressure.
    With ``inertia=True`` the flow has to be accelerated by length/area d(mdot)/dt. A row of n such
    pipes carries waves of pressure at the speed of sound. A front rings, as in any chain: where a
    flow is stopped at once the pressure rises by rho c v (Joukowsky) on average and overshoots to
    1.45 times that, however many pipes there are. Their number shortens the ringing, to periods
    of a few length/(n c): take the mean over some of these, or close the valve within them.

    The wall, at T_H, gives the heat h S (T_H - T_I) + (C (1 - e^-N) - h S e^-N)(T_H - T_in), with
    C = |m| cp, N = h S/C and h from the Nusselt number: ``laminar_nusselt``, Gnielinski's when
    turbulent. In a steady flow that is T_I = T_H - (T_H - T_in) e^-N exactly; at rest h S
    (T_H - T_I), where Simscape has conduction over one diameter.

    What leaves has the temperature T_I of the whole volume: a front that comes in is smeared as
    by an ideal mixer. ``SegmentedPipe`` keeps it sharper.

    The default of hydraulic_diameter is not verified.
    Ports: A, B, H (wall) with ``thermal_port``.
    Initial targets: p_I (high, 0.101325 MPa) with compressibility, T_I (high, 293.15 K); flow_A
    (high, 0 kg/s) into A and flow_B (high, 0 kg/s) out of B, with inertia.

    References
    ----------
    S. E. Haaland, J. Fluids Eng. 105 (1983) 89-90. V. Gnielinski, Int. Chem. Eng. 16 (1976)
    359-368.
    """

    dynamic_compressibility = Option(True, doc="whether mass is stored in it")


class SegmentedPipe(Ends, pipes.Segmented):
    """A pipe of equal segments, in which a front of temperature travels.

    ``segment[k]`` is a ``Pipe`` of length/segments, counted from A; all of them have the wall at
    H. A front that enters leaves after the time rho V/mdot, smeared over about 1/sqrt(segments) of
    that time (its standard deviation), since each segment is well mixed.

    Ports: A, B, H (wall) with ``thermal_port``.
    """

    made = Pipe
    dynamic_compressibility = Option(True, doc="whether mass is stored in it")
    initial_pressure = Parameter(chambers.ATMOSPHERE, above=0, doc="Pressure at the start",
                                 when="dynamic_compressibility")  # fmt: skip
    initial_temperature = Parameter(chambers.ROOM, ABSOLUTE, above=0,
                                    doc="Temperature at the start")  # fmt: skip

    def start(self) -> dict[str, Any]:
        pressure = {"p_I": self.initial_pressure} if self.dynamic_compressibility else {}
        return {"dynamic_compressibility": self.dynamic_compressibility,
                "T_I": self.initial_temperature, **pressure}  # fmt: skip


class TranslationalMechanicalConverter(converters.TranslationalConverter):
    fluid = liquid
    A = Port(thermal_liquid, doc="the liquid")


class RotationalMechanicalConverter(converters.RotationalConverter):
    fluid = liquid
    A = Port(thermal_liquid, doc="the liquid")


class FlowResistance(Ends, passages.FlowResistance):
    symbol = symbols.RESTRICTION


class LaminarLeakage(Gap, TwoPort):
    """A long narrow gap, in which the flow is laminar.

    Equation: mdot = rho p/R with the mean density of the ends. R is the parameter ``resistance``;
    by any other ``cross_section_geometry`` R = mu length/G, mu the viscosity at the mean
    temperature and G that of ``library.isothermal_liquid.LaminarLeakage``. Energy passes as it is.

    Parameters: resistance (MPa*s/m^3), diameter (mm), inner_diameter (mm), outer_diameter (mm),
    width (mm), height (m), major_axis (mm), minor_axis (mm) (whole axes), side (mm), length (m),
    port_area (m^2).
    """

    symbol = symbols.RESTRICTION

    cross_section_geometry = Option("custom", SHAPES, doc="shape of the gap")

    def equations(self) -> Iterator[Any]:
        A, B = self.A, self.B
        rho = (liquid.density(A, A.p, A.T) + liquid.density(B, B.p, B.T)) / 2
        if self.cross_section_geometry == "custom":
            yield self.mdot == rho * self.p / self.resistance
        else:
            mu = liquid.viscosity(A, rho, (A.T + B.T) / 2)
            yield self.mdot == rho * self.conductance() * self.p / (mu * self.length)
        yield from self.passing()


class LocalRestriction(Ends, passages.Restriction):
    """A sudden narrow place, of fixed area or one given by a signal.

    Equation: mdot = Cd S_R sqrt(2 rho/(L (1 - (S_R/S)²))) p/(p² + p_cr²)^(1/4) with the mean
    density rho, S_R the area of the restriction, S the area of the ports, and p_cr =
    pi/(8 rho S_R) (Re_c mu/Cd)²: below it the flow is laminar. With ``pressure_recovery``
    pressure rises again behind the restriction: L = (r - Cd S_R/S)/(r + Cd S_R/S) with
    r = sqrt(1 - (S_R/S)² (1 - Cd²)); otherwise L = 1. Energy passes as it is.

    Parameters: area (m^2) (``restriction_type="fixed"``), minimum_area (m^2), maximum_area (m^2)
    (``"variable"``), port_area (m^2), discharge_coefficient (1), critical_reynolds (1). The law of
    pressure recovery is not verified.
    Inputs: AR in m², limited to minimum_area and maximum_area.
    """

    symbol = symbols.RESTRICTION

    pressure_recovery = Option(True, doc="whether pressure rises again")
    discharge_coefficient = Parameter(0.64, above=0, maximum=1,
                                      doc="Flow over that without contraction")  # fmt: skip
    critical_reynolds = Parameter(12.0, above=0, doc="Reynolds number of turbulent flow")

    def equations(self) -> Iterator[Any]:
        A, B, area = self.A, self.B, self.opening()
        rho = (liquid.density(A, A.p, A.T) + liquid.density(B, B.p, B.T)) / 2
        mu = liquid.viscosity(A, rho, (A.T + B.T) / 2)
        yield self.mdot == passages.orifice_flow(
            self, A.p - B.p, area, rho, mu, self.lost(area, self.pressure_recovery))
        yield from self.passing()


class PressureSource(Ends, passages.PressureSource):
    symbol = symbols.FLOW_SOURCE


class FlowRateSource(Ends, passages.FlowRateSource):
    symbol = symbols.FLOW_SOURCE


class PressureTemperatureSensor(sensors.PressureTemperatureSensor):
    symbol = symbols.METER
    fluid = liquid
    A = Port(thermal_liquid, doc="measured place")
    B = Port(thermal_liquid, when=sensors.difference, doc="what A is measured against")


class FlowRateSensor(Ends, sensors.FlowRateSensor):
    symbol = symbols.METER


class ThermodynamicPropertiesSensor(sensors.ThermodynamicPropertiesSensor):
    """Internal energy, enthalpy, density and heat capacity of the liquid at A.

    Equations: U = u, H = u + p/rho, RHO = rho, CP = dh/dT; nothing flows. The energies of the
    ready liquids count from u = 0 at 273.16 K and atmospheric pressure, those of tables from u = 0
    at their first temperature.
    """

    fluid = liquid
    A = Port(thermal_liquid, doc="measured place")
