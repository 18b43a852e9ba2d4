"""Restrictions, orifices and valves: where liquid is squeezed through an area."""

import numpy as np

from blocks import Input, Option, Parameter, Port, Variable, der, maximum, minimum

from .. import symbols
from ..fluids.passages import Throttle, orifice_flow
from ..heat import Dissipative
from .domain import TwoPort, isothermal_liquid
from .liquid import enthalpy, heat_lost, mean_density


class Squeezing(Dissipative):
    """Base of what liquid is squeezed through: the law of an orifice."""

    discharge_coefficient = Parameter(0.64, above=0, maximum=1,
                                      doc="Flow over that without contraction")  # fmt: skip
    critical_reynolds = Parameter(150.0, above=0, doc="Reynolds number of turbulent flow")

    def orifice_flow(self, A, B, area, loss=1):
        """Mass flow from A to B through an area, with the mean density."""
        rho = mean_density(A, B)
        return orifice_flow(self, A.p - B.p, area, rho, rho * A.viscosity, loss)


class Restriction(Squeezing, TwoPort):
    """Base of what liquid is squeezed through between A and B."""

    symbol = symbols.RESTRICTION

    def squeezed(self, area, loss=1):
        """Flow through an area, and its heat."""
        yield self.mdot == self.orifice_flow(self.A, self.B, area, loss)
        yield self.power_dissipated == heat_lost(self.A, self.B)


class LocalRestriction(Throttle, Restriction):
    """A sudden narrow place, of fixed area or one given by a signal.

    Equation: mdot = Cd S_R sqrt(2 rho/(L (1 - (S_R/S)²))) p/(p² + p_cr²)^(1/4) with the mean
    density rho, S_R the area of the restriction, and p_cr = pi rho/(8 S_R)
    (Re_c viscosity/Cd)²: below it the flow is laminar. S is the area of the ports; without
    ``finite_ports`` the term with S_R/S is left out. With ``pressure_recovery`` pressure
    rises again behind the restriction: L = (r - Cd S_R/S)/(r + Cd S_R/S) with
    r = sqrt(1 - (S_R/S)² (1 - Cd²)); otherwise L = 1. Dissipates mdot (h_A - h_B) >= 0. The input
    AR is limited to minimum_area and maximum_area. The default of discharge_coefficient, and the
    law of pressure recovery, are not verified.
    """

    finite_ports = Option(False, doc="whether the speed in the ports counts")
    pressure_recovery = Option(False, doc="whether pressure rises again, with finite_ports")
    port_area = Parameter("0.01 m^2", above=0, when="finite_ports", doc="Area of the ports")

    @property
    def approach(self):
        return self.finite_ports

    def advise(self):
        if self.pressure_recovery and not self.finite_ports:
            yield ("pressure_recovery=True has no effect without finite_ports=True: it depends on "
                   "the area behind the restriction.")  # fmt: skip

    def equations(self):
        area = self.opening()
        yield from self.squeezed(
            area, self.lost(area, self.pressure_recovery) if self.finite_ports else 1)


class Opened(Squeezing):
    """Base of what opens from a leakage on."""

    maximum_area = Parameter("1e-4 m^2", above=0, doc="Area, fully open")
    leakage_area = Parameter("1e-10 m^2", above=0, doc="Area, closed")

    def verify(self):
        if np.any(self.leakage_area > self.maximum_area):
            yield (f"leakage_area is {self.leakage_area:~P}, above maximum_area, which is "
                   f"{self.maximum_area:~P}.")  # fmt: skip

    def opened(self, share):
        """Area at a share of the opening, limited to 0 and 1, over the leakage."""
        least = self.leakage_area
        return least + (self.maximum_area - least) * maximum(minimum(share, 1), 0)


class VariableOrifice(Opened, Restriction):
    """An orifice that a control member opens: a spool edge, a poppet, a throttle.

    Equations: the area grows linearly from leakage_area at S = overlap to maximum_area at
    S = overlap + stroke; with ``orientation="negative"`` a negative S opens it. The flow is that
    of :class:`LocalRestriction`. Dissipates mdot (h_A - h_B) >= 0. With a negative overlap it is
    open in the middle. Defaults are not verified.
    """

    orientation = Option("positive", ("positive", "negative"), doc="which S opens it")
    stroke = Parameter("5 mm", above=0, doc="Way from closed to open")
    overlap = Parameter("0 mm", doc="Position at which it begins to open")
    S = Input("m", doc="position of the control member")
    area = Variable("m^2", nominal="1 mm^2", doc="open area")

    def equations(self):
        S = self.S if self.orientation == "positive" else -self.S
        yield self.area == self.opened((S - self.overlap) / self.stroke)
        yield from self.squeezed(self.area)


class PressureOpened(Opened, Restriction):
    """Base of valves that a pressure opens: linear between cracking and fully open."""

    opening_dynamics = Option(False, doc="whether the valve takes time to move")
    cracking_pressure = Parameter("0.01 MPa", doc="Pressure at which it begins to open")
    maximum_pressure = Parameter("0.1 MPa", doc="Pressure at which it is fully open")
    time_constant = Parameter("0.1 s", above=0, when="opening_dynamics",
                              doc="Time to 63 % of a new opening")  # fmt: skip
    area = Variable("m^2", nominal="1 mm^2", doc="open area")
    opening = Variable("1", 0, priority="high", when="opening_dynamics", doc="share of the opening")

    def verify(self):
        if np.any(self.cracking_pressure >= self.maximum_pressure):
            yield (f"cracking_pressure is {self.cracking_pressure:~P}, not below maximum_pressure, "
                   f"which is {self.maximum_pressure:~P}: it opens between the two.")  # fmt: skip
        yield from super().verify()

    def control_pressure(self):
        """The pressure that opens it."""
        return self.p

    def equations(self):
        share = (self.control_pressure() - self.cracking_pressure) / (
            self.maximum_pressure - self.cracking_pressure)  # fmt: skip
        if self.opening_dynamics:
            wanted = maximum(minimum(share, 1), 0)
            yield self.time_constant * der(self.opening) == wanted - self.opening
            share = self.opening
        yield self.area == self.opened(share)
        yield from self.squeezed(self.area)


class CheckValve(PressureOpened):
    """A valve that lets liquid pass from A to B and hardly from B to A.

    Equations: area = leakage_area up to p = cracking_pressure, then linear up to
    maximum_area at maximum_pressure, with p = p_A - p_B. The flow is that of
    :class:`LocalRestriction`. With ``opening_dynamics`` the opening follows with
    time_constant. Dissipates mdot (h_A - h_B) >= 0. Defaults are not verified.
    """

    symbol = symbols.CHECK_VALVE


class PressureReliefValve(PressureOpened):
    """A valve that opens where pressure is too high.

    Equations: area = leakage_area up to cracking_pressure, then linear up to maximum_area at
    maximum_pressure, of the pressure p_A - p_B, or with ``control="gauge"`` of p_A less
    atmospheric pressure. The flow is that of :class:`LocalRestriction`. With
    ``opening_dynamics`` the opening follows with time_constant.
    Dissipates mdot (h_A - h_B) >= 0. Defaults are not verified.
    """

    symbol = symbols.RELIEF_VALVE

    control = Option("difference", ("difference", "gauge"), doc="which pressure opens it")

    def control_pressure(self):
        return self.p if self.control == "difference" else self.A.p - self.A.atmospheric_pressure


EDGES = (("P", "A", 1), ("P", "B", -1), ("A", "T", -1), ("B", "T", 1))


class DirectionalValve(Opened):
    """A 4-way 3-position directional valve: pump P, tank T, and the two sides A and B.

    Equations: four orifices. S > 0 opens P-A and B-T, S < 0 opens P-B and A-T: the area of an
    edge grows linearly from leakage_area, where S or -S is its overlap, to maximum_area, where it
    is stroke more. A negative overlap leaves an edge open in the middle position. The flow through
    each edge is that of :class:`LocalRestriction`. Dissipates the sum of mdot (h - h') >= 0.
    Defaults are not verified.
    """

    A = Port(isothermal_liquid, doc="to the actuator")
    B = Port(isothermal_liquid, doc="to the actuator")
    P = Port(isothermal_liquid, doc="from the pump")
    T = Port(isothermal_liquid, doc="to the tank")
    S = Input("m", doc="position of the spool")
    stroke = Parameter("5 mm", above=0, doc="Way from closed to open")
    overlap_PA = Parameter("0 mm", doc="S at which P-A begins to open")
    overlap_PB = Parameter("0 mm", doc="-S at which P-B begins to open")
    overlap_AT = Parameter("0 mm", doc="-S at which A-T begins to open")
    overlap_BT = Parameter("0 mm", doc="S at which B-T begins to open")
    flow_PA = Variable("kg/s", nominal="0.1 kg/s", doc="mass flow from P to A")
    flow_PB = Variable("kg/s", nominal="0.1 kg/s", doc="mass flow from P to B")
    flow_AT = Variable("kg/s", nominal="0.1 kg/s", doc="mass flow from A to T")
    flow_BT = Variable("kg/s", nominal="0.1 kg/s", doc="mass flow from B to T")

    def equations(self):
        heat = []
        for a, b, side in EDGES:
            start, end, flow = getattr(self, a), getattr(self, b), getattr(self, f"flow_{a}{b}")
            overlap = getattr(self, f"overlap_{a}{b}")
            area = self.opened((side * self.S - overlap) / self.stroke)
            yield flow == self.orifice_flow(start, end, area)
            heat.append(flow * (enthalpy(start, start.p) - enthalpy(end, end.p)))
        yield self.P.mdot == self.flow_PA + self.flow_PB
        yield self.T.mdot == -self.flow_AT - self.flow_BT
        yield self.A.mdot == self.flow_AT - self.flow_PA
        yield self.B.mdot == self.flow_BT - self.flow_PB
        yield self.power_dissipated == sum(heat)
