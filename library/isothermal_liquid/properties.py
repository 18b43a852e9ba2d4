"""What flows in a circuit."""

import numpy as np

from blocks import Component, Option, Parameter, Port

from .domain import isothermal_liquid


def _linear(c):
    return c.bulk_modulus_model == "linear"


class IsothermalLiquidProperties(Component):
    """The liquid of the circuit it is connected to, with or without air in it.

    Equations, with P = p - atmospheric_pressure: the pure liquid has the density
    density exp(P/bulk_modulus), or, with ``bulk_modulus_model="linear"``, a bulk modulus of
    bulk_modulus + bulk_modulus_gain P. With ``air=True`` a share of the volume at
    atmospheric pressure is air, which is compressed as p^(-1/polytropic_index); with
    ``air_dissolution=True`` it dissolves between atmospheric and critical pressure (its mass
    stays). Where a circuit has no such component it holds water, as preset here.

    Takes the kinematic viscosity as constant. Where a pressure falls below
    ``minimum_pressure`` the run stops: the liquid would evaporate, which is not modelled.

    Density, bulk modulus and viscosity of water are presets whose defaults in Simscape are not
    verified. A is connected anywhere in the circuit; nothing flows through it.

    Notes
    -----
    Simscape's models are saved with an air fraction of 0.005; here there is no air unless
    asked for.

    Examples
    --------
    >>> oil = IsothermalLiquidProperties(density="850 kg/m^3", bulk_modulus="1.2 GPa",
    ...                                  viscosity="18 cSt", air=True, air_fraction=0.01)
    """

    bulk_modulus_model = Option("constant", ("constant", "linear"),
                                doc="bulk modulus of the liquid without air")  # fmt: skip
    air = Option(False, doc="whether there is air in the liquid")
    air_dissolution = Option(False, doc="whether air dissolves under pressure")
    A = Port(isothermal_liquid, sets=True, doc="any port of the circuit")
    density = Parameter("998.21 kg/m^3", above=0, doc="Density at atmospheric pressure")
    bulk_modulus = Parameter("2.1791e9 Pa", above=0, doc="Bulk modulus at atmospheric pressure")
    bulk_modulus_gain = Parameter(6.0, minimum=0, when=_linear,
                                  doc="Bulk modulus gained per pressure")  # fmt: skip
    viscosity = Parameter("1.0034 cSt", above=0, doc="Kinematic viscosity", advice={
        "Pa*s": "The kinematic viscosity is wanted: divide the dynamic one by the density."
    })  # fmt: skip
    atmospheric_pressure = Parameter("0.101325 MPa", above=0, doc="Absolute pressure outside")
    minimum_pressure = Parameter("1 Pa", above=0, doc="Absolute pressure at which the run stops")
    air_fraction = Parameter(0.005, minimum=0, below=1, when="air",
                             doc="Volume of air per volume, at atmospheric pressure")  # fmt: skip
    polytropic_index = Parameter(1.0, minimum=1, when="air", doc="Exponent of compression of air")
    air_density = Parameter("1.225 kg/m^3", above=0, when="air",
                            doc="Density of air at atmospheric pressure")  # fmt: skip
    critical_pressure = Parameter("3 MPa", above=0, when=lambda c: c.air and c.air_dissolution,
                                  doc="Pressure at which all air is dissolved")  # fmt: skip

    def verify(self):
        low, outside = self.minimum_pressure, self.atmospheric_pressure
        if np.any(low >= outside):
            yield (f"minimum_pressure is {low:~P}, not below atmospheric_pressure, which is "
                   f"{outside:~P}. Both are absolute.")  # fmt: skip
        if self.air and self.air_dissolution and np.any(self.critical_pressure <= outside):
            yield (f"critical_pressure is {self.critical_pressure:~P}, not above "
                   f"atmospheric_pressure, which is {outside:~P}: air dissolves between the two.")

    def advise(self):
        if self.air_dissolution and not self.air:
            yield "air_dissolution=True has no effect without air=True."

    def equations(self):
        A, linear = self.A, _linear(self)
        yield A.mdot == 0
        yield A.density == self.density
        yield A.bulk_modulus == self.bulk_modulus
        yield A.bulk_modulus_gain == (self.bulk_modulus_gain if linear else 0)
        yield A.viscosity == self.viscosity
        yield A.atmospheric_pressure == self.atmospheric_pressure
        yield A.minimum_pressure == self.minimum_pressure
        yield A.air_fraction == (self.air_fraction if self.air else 0)
        yield A.polytropic_index == (self.polytropic_index if self.air else 1)
        yield A.air_density == (self.air_density if self.air else A.density)
        dissolves = self.air and self.air_dissolution
        yield A.air_dissolution == (1 if dissolves else 0)
        yield A.critical_pressure == (self.critical_pressure if dissolves
                                      else 2 * A.atmospheric_pressure)  # fmt: skip
