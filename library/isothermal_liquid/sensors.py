"""Ideal sensors: they let pass what they measure, and take nothing."""

from blocks import Component, Option, Output, Port, partial

from .. import symbols
from .domain import TwoPort, isothermal_liquid
from .liquid import density


class PressureSensor(Component):
    """Pressure at A: above B, absolute, or above the atmosphere.

    Equation: P = p_A - p_B, or with ``measure="absolute"`` Pa = p_A, or with
    ``measure="gauge"`` Pg = p_A - atmospheric pressure of the liquid. Nothing flows.
    """

    symbol = symbols.METER

    measure = Option("difference", ("difference", "absolute", "gauge"), doc="what is measured")
    A = Port(isothermal_liquid, doc="measured place")
    B = Port(isothermal_liquid, when=lambda c: c.measure == "difference",
             doc="what A is measured against")  # fmt: skip
    P = Output("MPa", when=lambda c: c.measure == "difference", doc="pressure of A above B")
    Pa = Output("MPa", when=lambda c: c.measure == "absolute", doc="absolute pressure")
    Pg = Output("MPa", when=lambda c: c.measure == "gauge", doc="pressure above the atmosphere")

    def equations(self):
        A = self.A
        yield A.mdot == 0
        if self.measure == "difference":
            yield self.B.mdot == 0
            yield self.P == A.p - self.B.p
        elif self.measure == "absolute":
            yield self.Pa == A.p
        else:
            yield self.Pg == A.p - A.atmospheric_pressure


class FlowRateSensor(TwoPort):
    """Flow from A to B.

    Equations: p = 0; M = mdot, V = mdot/rho.
    """

    symbol = symbols.METER

    sensor_type = Option("both", ("mass", "volumetric", "both"), doc="what is measured")
    M = Output("kg/s", when=lambda c: c.sensor_type != "volumetric", doc="mass flow from A to B")
    V = Output("m^3/s", when=lambda c: c.sensor_type != "mass", doc="volume flow from A to B")

    def equations(self):
        yield self.p == 0
        if self.sensor_type != "volumetric":
            yield self.M == self.mdot
        if self.sensor_type != "mass":
            yield self.V == self.mdot / density(self.A, self.A.p)


class LiquidPropertiesSensor(Component):
    """Density, bulk modulus and viscosity of the liquid at A.

    Equations: RHO is the density at the pressure of A, BETA = RHO / (dRHO/dp) the bulk modulus with
    its air, NU the kinematic viscosity, MU = RHO NU. Nothing flows. Names of the outputs are not
    verified.
    """

    A = Port(isothermal_liquid, doc="measured place")
    RHO = Output("kg/m^3", doc="density")
    BETA = Output("Pa", doc="bulk modulus")
    NU = Output("m^2/s", doc="kinematic viscosity")
    MU = Output("Pa*s", doc="dynamic viscosity")

    def equations(self):
        A = self.A
        yield A.mdot == 0
        rho = density(A, A.p)
        yield self.RHO == rho
        yield self.BETA == rho / partial(rho, A.p)
        yield self.NU == A.viscosity
        yield self.MU == A.viscosity * rho
