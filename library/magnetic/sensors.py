"""Ideal sensors: the flux through a connection, and the difference of two potentials."""

from blocks import Output

from .. import symbols
from .domain import TwoPort


class FluxSensor(TwoPort):
    """Flux through a connection of N and S, put in series.

    Equations: mmf = 0; PHI = phi, positive from N to S. The name PHI is not verified.
    """

    symbol = symbols.METER

    PHI = Output("Wb", doc="flux from N to S")

    def equations(self):
        yield self.mmf == 0
        yield self.PHI == self.phi


class MMFSensor(TwoPort):
    """Difference of the magnetic potentials of N and S, put in parallel.

    Equations: phi = 0; MMF = mmf. The name MMF is not verified.
    """

    symbol = symbols.METER

    MMF = Output("A", doc="magnetic potential of N minus that of S")

    def equations(self):
        yield self.phi == 0
        yield self.MMF == self.mmf
