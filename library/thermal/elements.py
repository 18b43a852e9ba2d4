"""Bodies that store heat, and the ways it takes: conduction, convection, radiation."""

from math import pi

import numpy as np

from blocks import (
    Component,
    Input,
    Option,
    Parameter,
    Port,
    Variable,
    abs_,
    der,
    interpolate,
    log,
    maximum,
    where,
)

from .. import symbols
from ..tables import table_faults
from .domain import ABSOLUTE, TwoPort, thermal

STEFAN_BOLTZMANN = "5.670374419e-8 W/(m^2*K^4)"  # CODATA 2018


class ThermalReference(Component):
    """Absolute zero: a port at 0 K that takes any heat.

    Equation: H.T = 0 K. What an absolute temperature is measured against, such as by a
    ``TemperatureSensor``; surroundings at room temperature are a ``TemperatureSource``.
    """

    symbol = symbols.EARTH
    grounds = True
    datum = ("is absolute zero, 0 K", "surroundings at room temperature are a TemperatureSource")

    H = Port(thermal, doc="absolute zero")
    power_supplied = Variable("W", doc="heat given to the circuit")

    def equations(self):
        yield self.H.T == 0
        yield self.power_supplied == -self.H.Q


def _varies(mass):
    return bool(mass.mass_type == "variable")


class ThermalMass(Component):
    """Body of one temperature that stores heat.

    Equation: mass specific_heat dT/dt = Q, with T the temperature of port M and Q the heat
    flow into it. The energy stored counts from 0 K. A heat flow that is drawn by a
    ``HeatFlowRateSource`` beyond that is stopped there.

    With ``mass_type="variable"`` material comes and goes, as in a tank that is filled, heated and
    emptied: dm/dt = Mdot and m specific_heat dT/dt = Q + Mdot specific_heat (Tin - T) while it
    comes, with the temperature Tin; what leaves has the temperature T, and changes it by nothing.
    Nothing leaves beyond the mass ``minimum_mass``.
    """

    symbol = symbols.THERMAL_MASS

    mass_type = Option("constant", ("constant", "variable"), doc="whether material comes and goes")
    M = Port(thermal, doc="the body")
    mass = Parameter("1 kg", above=0, when=lambda c: not _varies(c), doc="Mass")
    minimum_mass = Parameter("1e-6 kg", above=0, when=_varies, doc="Least mass")
    specific_heat = Parameter("447 J/(kg*K)", above=0, doc="Specific heat", advice={
        "J/K": "This is the heat capacity mass * specific_heat: divide it by the mass."})
    Mdot = Input("kg/s", when=_varies, doc="mass that comes, less what leaves")
    Tin = Input("K", when=_varies, doc="temperature of what comes")
    T = Variable(ABSOLUTE, "300 K", priority="high", nominal="300 K", minimum="0 K",
                 doc="temperature")
    m = Variable("kg", "1 kg", priority="high", minimum="0 kg", when=_varies, doc="mass")
    Q = Variable("W", doc="heat flow into the body")
    energy_stored = Variable("J", doc="heat, from 0 K on")
    power_supplied = Variable("W", when=_varies, doc="heat that comes with the material")

    def equations(self):
        yield self.T == self.M.T
        yield self.Q == self.M.Q
        if not _varies(self):
            yield self.mass * self.specific_heat * der(self.T) == self.Q
            yield self.energy_stored == self.mass * self.specific_heat * self.T
            return
        comes = where((self.m > self.minimum_mass) | (self.Mdot > 0), self.Mdot, 0)
        of_it = where(self.Mdot > 0, self.Tin, self.T)
        yield der(self.m) == comes
        yield self.m * self.specific_heat * der(self.T) == \
            self.Q + comes * self.specific_heat * (of_it - self.T)
        yield self.energy_stored == self.m * self.specific_heat * self.T
        yield self.power_supplied == comes * self.specific_heat * of_it


class PerfectInsulator(Component):
    """An end that lets no heat pass.

    Equation: Q = 0. An unconnected port means the same; this component says that it is
    meant, and shows the temperature T.
    """

    symbol = symbols.END

    A = Port(thermal, doc="the insulated end")
    T = Variable(ABSOLUTE, nominal="300 K", doc="temperature of the end")

    def equations(self):
        yield self.A.Q == 0
        yield self.T == self.A.T


class ThermalResistance(TwoPort):
    """Resistance to the flow of heat between A and B.

    Equation: resistance Q = T, with T = T_A - T_B. Stores no heat. The default is not verified.
    """

    symbol = symbols.THERMAL_RESISTANCE

    resistance = Parameter("1 K/W", above=0, varying=True, doc="Thermal resistance", advice={
        "W/K": "Give the reciprocal of the conductance."})  # fmt: skip

    def equations(self):
        yield self.resistance * self.Q == self.T


class VariableThermalResistance(TwoPort):
    """Thermal resistance by a signal.

    Equation: max(R, minimum_resistance) Q = T, with T = T_A - T_B.
    """

    symbol = symbols.THERMAL_RESISTANCE

    minimum_resistance = Parameter("0 K/W", minimum=0, doc="Least thermal resistance")
    R = Input("K/W", doc="thermal resistance")

    def equations(self):
        yield maximum(self.R, self.minimum_resistance) * self.Q == self.T


def _planar(wall):
    return wall.geometry == "planar"


def _cylindrical(wall):
    return wall.geometry == "cylinder"


class ConductiveHeatTransfer(TwoPort):
    """Conduction of heat through a wall or a pipe, from A to B.

    Equations, with T = T_A - T_B and the conductivity k:

    * ``geometry="planar"``: Q = k area / thickness T;
    * ``geometry="cylinder"``: Q = 2 pi k length / ln(outer_diameter / inner_diameter) T,
      between the inner side A and the outer side B.

    k is ``thermal_conductivity``; with ``law="table"`` it is interpolated linearly over the
    mean temperature (T_A + T_B)/2 and held outside the table; with ``law="signal"`` it is
    the input K, but no less than ``minimum_conductivity``. Stores no heat.
    """

    symbol = symbols.THERMAL_RESISTANCE

    geometry = Option("planar", ("planar", "cylinder"), doc="shape of the wall")
    law = Option("constant", ("constant", "table", "signal"), doc="how conductivity is given")
    area = Parameter("1e-4 m^2", above=0, when=_planar, doc="Area")
    thickness = Parameter("0.1 m", above=0, when=_planar, doc="Thickness")
    inner_diameter = Parameter("0.05 m", above=0, when=_cylindrical, doc="Inner diameter")
    outer_diameter = Parameter("0.1 m", above=0, when=_cylindrical, doc="Outer diameter")
    length = Parameter("1 m", above=0, when=_cylindrical, doc="Length of the pipe")
    thermal_conductivity = Parameter("401 W/(m*K)", above=0, doc="Thermal conductivity",
                                     when=lambda c: c.law == "constant")  # fmt: skip
    temperatures = Parameter(
        [f"{T} K" for T in (200, 273, 400, 600, 800, 1000, 1200)], ABSOLUTE, above=0,
        when=lambda c: c.law == "table", doc="Temperatures of the table, increasing")
    conductivities = Parameter(
        [f"{k} W/(m*K)" for k in (413, 401, 392, 383, 371, 357, 342)], above=0,
        when=lambda c: c.law == "table", doc="Thermal conductivities at the temperatures")
    minimum_conductivity = Parameter("10 W/(m*K)", minimum=0, doc="Least thermal conductivity",
                                     when=lambda c: c.law == "signal")  # fmt: skip
    K = Input("W/(m*K)", when=lambda c: c.law == "signal", doc="thermal conductivity")

    def verify(self):
        if self.law == "table":
            yield from table_faults(("temperatures", self.temperatures),
                                    conductivities=self.conductivities)
        if _cylindrical(self) and np.any(self.outer_diameter <= self.inner_diameter):
            yield (f"outer_diameter is {self.outer_diameter:~P} and inner_diameter "
                   f"{self.inner_diameter:~P}. The outer diameter must be the larger one.")

    def equations(self):
        if _planar(self):
            shape = self.area / self.thickness
        else:
            shape = 2 * pi * self.length / log(self.outer_diameter / self.inner_diameter)
        yield self._conductivity() * shape * self.T == self.Q

    def _conductivity(self):
        if self.law == "table":
            return interpolate((self.A.T + self.B.T) / 2, self.temperatures,
                               self.conductivities, hold=True)  # fmt: skip
        if self.law == "signal":
            return maximum(self.K, self.minimum_conductivity)
        return self.thermal_conductivity


class ConvectiveHeatTransfer(TwoPort):
    """Heat between a wall and a fluid that flows past it, from A to B.

    Equation: Q = h area T, with T = T_A - T_B. h is ``heat_transfer_coefficient``, or with
    ``law="signal"`` the input HC, but no less than ``minimum_coefficient``. The default of the
    area is not verified.
    """

    symbol = symbols.THERMAL_RESISTANCE

    law = Option("constant", ("constant", "signal"), doc="how the coefficient is given")
    area = Parameter("1e-4 m^2", above=0, doc="Area")
    heat_transfer_coefficient = Parameter(
        "20 W/(m^2*K)", minimum=0, varying=True, when=lambda c: c.law == "constant",
        doc="Heat transfer coefficient")  # fmt: skip
    minimum_coefficient = Parameter("1e-3 W/(m^2*K)", minimum=0, when=lambda c: c.law == "signal",
                                    doc="Least heat transfer coefficient")  # fmt: skip
    HC = Input("W/(m^2*K)", when=lambda c: c.law == "signal", doc="heat transfer coefficient")

    def equations(self):
        if self.law == "signal":
            h = maximum(self.HC, self.minimum_coefficient)
        else:
            h = self.heat_transfer_coefficient
        yield h * self.area * self.T == self.Q


def _given(radiation):
    return radiation.geometry == "coefficient"


class RadiativeHeatTransfer(TwoPort):
    """Heat by radiation between two bodies, from A to B.

    Equation: Q = k area (T_A⁴ - T_B⁴), with the coefficient k

    * ``geometry="coefficient"``: ``radiation_coefficient``;
    * ``geometry="parallel plates"``: sigma / (1/e_A + 1/e_B - 1);
    * ``geometry="concentric cylinders"``: sigma / (1/e_A + (1 - e_B)/e_B r_A/r_B), with
      A the inner one, whose surface is the area;

    sigma is the constant of Stefan and Boltzmann, e the emissivities, r the radii. T⁴ stands for
    T³ abs(T): below absolute zero, where there is nothing, it has no second root.
    """

    symbol = symbols.THERMAL_RESISTANCE

    geometry = Option("coefficient", ("coefficient", "parallel plates", "concentric cylinders"),
                      doc="how the coefficient is found")  # fmt: skip
    area = Parameter("1e-4 m^2", above=0, doc="Area that radiates")
    radiation_coefficient = Parameter("4e-8 W/(m^2*K^4)", minimum=0, when=_given,
                                      doc="Radiation coefficient")  # fmt: skip
    emissivity_A = Parameter(0.8, above=0, maximum=1, when=lambda c: not _given(c),
                             doc="Emissivity of A")  # fmt: skip
    emissivity_B = Parameter(0.8, above=0, maximum=1, when=lambda c: not _given(c),
                             doc="Emissivity of B")  # fmt: skip
    radius_A = Parameter("50 mm", above=0, when=lambda c: c.geometry == "concentric cylinders",
                         doc="Radius of the inner cylinder A")  # fmt: skip
    radius_B = Parameter("100 mm", above=0, when=lambda c: c.geometry == "concentric cylinders",
                         doc="Radius of the outer cylinder B")  # fmt: skip

    def verify(self):
        if self.geometry == "concentric cylinders" and np.any(self.radius_B <= self.radius_A):
            yield (f"radius_A is {self.radius_A:~P} and radius_B {self.radius_B:~P}. A is the "
                   "inner cylinder: radius_B must be the larger one.")  # fmt: skip

    def equations(self):
        yield self._coefficient() * self.area * (
            abs_(self.A.T) * self.A.T**3 - abs_(self.B.T) * self.B.T**3) == self.Q

    def _coefficient(self):
        if _given(self):
            return self.radiation_coefficient
        if self.geometry == "parallel plates":
            return STEFAN_BOLTZMANN / (1 / self.emissivity_A + 1 / self.emissivity_B - 1)
        outer = (1 - self.emissivity_B) / self.emissivity_B * self.radius_A / self.radius_B
        return STEFAN_BOLTZMANN / (1 / self.emissivity_A + outer)
