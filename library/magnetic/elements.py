"""Reference, eddy currents and magnets."""

from blocks import Component, Option, Parameter, Port, Variable, der

from .. import symbols
from ..heat import Dissipative
from .domain import VACUUM, TwoPort, magnetic


class MagneticReference(Component):
    """Zero of the magnetic potential: a port that takes any flux.

    Equation: M.mmf = 0. One per magnetic circuit.
    """

    symbol = symbols.EARTH
    grounds = True

    M = Port(magnetic, doc="where the potential is zero")

    def equations(self):
        yield self.M.mmf == 0


class EddyCurrent(Dissipative, TwoPort):
    """Losses by currents that a changing flux induces in the conductor that carries it.

    Equation: mmf = conductance dphi/dt; a solid core of conductivity s, length l and mean
    path around the core w has about s times the section of the current over w. Put in series
    with the reluctance of the core. Dissipates mmf²/conductance. The default is not verified.

    References
    ----------
    Modelica Standard Library, ``Magnetic.FluxTubes.Basic.EddyCurrent``.
    """

    symbol = symbols.COIL

    conductance = Parameter("1 1/ohm", above=0, doc="Conductance of the path of the eddy currents")
    phi = Variable("Wb", "0 Wb", priority="high", nominal="1 mWb", doc="flux from N to S")

    def equations(self):
        yield self.mmf == self.conductance * der(self.phi)
        yield self.power_dissipated == self.mmf**2 / self.conductance


def _needs(*parameterizations):
    return lambda magnet: magnet.parameterization in parameterizations


class PermanentMagnet(TwoPort):
    """Magnet with a straight line of demagnetization.

    Equations: phi = area B; mmf = length H; B = remanence + µ H with
    µ = relative_permeability µ0 = remanence/coercivity, of which two are given. Valid for
    B >= 0 and H <= 0. With N and S joined by iron, the flux area remanence flows from N to S
    inside the magnet, as its equations in Simscape say: it leaves at S. Stores
    length area (B - remanence)²/(2 µ), which is 0 with its ends joined. Defaults are not verified.
    """

    symbol = symbols.MAGNET

    parameterization = Option("remanence and permeability",
                              ("remanence and permeability", "remanence and coercivity",
                               "permeability and coercivity"),
                              doc="which two numbers of the line are given")  # fmt: skip
    remanence = Parameter("1.2 T", above=0, doc="Flux density without field",
                          when=_needs("remanence and permeability", "remanence and coercivity"))
    relative_permeability = Parameter(
        1.05, above=0, doc="Slope of the line over that of vacuum",
        when=_needs("remanence and permeability", "permeability and coercivity"))  # fmt: skip
    coercivity = Parameter("900 kA/m", above=0, doc="Field that cancels the flux density",
                           when=_needs("remanence and coercivity", "permeability and coercivity"))
    length = Parameter("0.01 m", above=0, doc="Length along the flux")
    area = Parameter("1e-4 m^2", above=0, doc="Section across the flux")
    B = Variable("T", doc="flux density, from N to S")
    H = Variable("A/m", doc="field strength, from N to S")
    energy_stored = Variable("J", doc="energy against that with N and S joined")

    def equations(self):
        if self.parameterization == "remanence and coercivity":
            permeability, remanence = self.remanence / self.coercivity, self.remanence
        else:
            permeability = self.relative_permeability * VACUUM
            remanence = (permeability * self.coercivity
                         if self.parameterization == "permeability and coercivity"
                         else self.remanence)  # fmt: skip
        yield self.phi == self.area * self.B
        yield self.mmf == self.length * self.H
        yield self.B == remanence + permeability * self.H
        yield self.energy_stored == (
            self.length * self.area * (self.B - remanence) ** 2 / (2 * permeability))
