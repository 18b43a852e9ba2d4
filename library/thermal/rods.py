"""Bodies whose temperature differs from place to place."""

from blocks import Component, Option, Parameter, Port

from .. import symbols
from .domain import ABSOLUTE, thermal
from .elements import ThermalMass, ThermalResistance


class ConductingRod(Component):
    """Rod that conducts and stores heat along its length, in equal segments.

    Finite volumes: n segments of the mass density area length / n, one temperature each, with
    the resistance length / (n thermal_conductivity area) between their middles and half of it
    to the ends A and B. The sides are insulated. The error falls with 1/n²; ten thousand
    segments cost little more than ten, each.

    ``segment[k].T`` is the temperature of a segment, counted from A; its port
    ``segment[k].M`` takes heat from the side.
    """

    symbol = symbols.COLUMN

    segments = Option(10, minimum=1, doc="number of segments")
    A = Port(thermal, doc="one end")
    B = Port(thermal, doc="the other end")
    length = Parameter("0.1 m", above=0, doc="Length")
    area = Parameter("1e-4 m^2", above=0, doc="Cross section")
    thermal_conductivity = Parameter("401 W/(m*K)", above=0, doc="Thermal conductivity")
    density = Parameter("8960 kg/m^3", above=0, doc="Density")
    specific_heat = Parameter("385 J/(kg*K)", above=0, doc="Specific heat")
    initial_temperature = Parameter("300 K", ABSOLUTE, minimum=0, doc="Temperature at the start")

    def compose(self):
        n = self.segments
        across = self.length / (n * self.thermal_conductivity * self.area)
        self.segment = ThermalMass(count=n, mass=self.density * self.area * self.length / n,
                                   specific_heat=self.specific_heat, T=self.initial_temperature)
        self.end_A = ThermalResistance(resistance=across / 2)
        self.end_B = ThermalResistance(resistance=across / 2)
        self.connect(self.A, self.end_A.A)
        self.connect(self.end_A.B, self.segment[0].M)
        if n > 1:
            self.link = ThermalResistance(count=n - 1, resistance=across)
            self.connect(self.segment[:-1].M, self.link.A)
            self.connect(self.link.B, self.segment[1:].M)
        self.connect(self.segment[-1].M, self.end_B.A)
        self.connect(self.end_B.B, self.B)
