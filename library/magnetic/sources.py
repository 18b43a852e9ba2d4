"""Prescribed magnetic potentials and fluxes between two ports.

Each source takes its value from a parameter, a constant or a function of time, unless a
signal is connected to its input I. The energy that leaves its ports counts as supplied.
"""

from blocks import Input, Parameter

from .. import symbols
from .domain import TwoPort


class MMFSource(TwoPort):
    """Prescribed difference of magnetic potential, whatever the flux.

    Equation: mmf = I. Outside, a positive value drives the flux from N to S. The default is not
    verified.
    """

    symbol = symbols.VOLTAGE_SOURCE
    supplies = True

    magnetomotive_force = Parameter("1 A", varying=True, doc="Potential of N minus that of S",
                                    advice={"Wb": "A flux belongs to FluxSource(flux=…)."})
    I = Input("A", default="magnetomotive_force", doc="potential of N minus that of S")

    def equations(self):
        yield self.mmf == self.I


class FluxSource(TwoPort):
    """Prescribed flux, whatever the magnetic potential.

    Equation: phi = I, from N to S inside the source. The default is not verified.
    """

    symbol = symbols.CURRENT_SOURCE
    supplies = True

    flux = Parameter("0.001 Wb", varying=True, doc="Flux from N to S through the source",
                     advice={"A": "A magnetomotive force belongs to "
                                  "MMFSource(magnetomotive_force=…)."})  # fmt: skip
    I = Input("Wb", default="flux", doc="flux from N to S through the source")

    def equations(self):
        yield self.phi == self.I
