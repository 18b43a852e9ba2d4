"""Ideal couplings of two circuits: transformer, mutual inductor, gyrator."""

import numpy as np

from blocks import Component, Option, Parameter, Port, Variable, der, sqrt

from .. import symbols
from .domain import electrical


class FourTerminals(Component):
    """Base of components with a pair of ports p1, n1 and a pair p2, n2.

    Gives the variables v1 = v_p1 - v_n1, i1, the current into p1 and out of n1, and v2
    and i2 of the other pair. A subclass yields ``pairs()`` and two equations more.
    """

    p1 = Port(electrical, doc="positive end of side 1")
    n1 = Port(electrical, doc="negative end of side 1")
    p2 = Port(electrical, doc="positive end of side 2")
    n2 = Port(electrical, doc="negative end of side 2")
    v1 = Variable("V", doc="voltage of p1 minus that of n1")
    i1 = Variable("A", doc="current into p1")
    v2 = Variable("V", doc="voltage of p2 minus that of n2")

    def pairs(self, into_p2):
        """Voltages of both sides, and currents: i1 into p1, and what is given into p2."""
        yield self.v1 == self.p1.v - self.n1.v
        yield self.v2 == self.p2.v - self.n2.v
        yield self.p1.i == self.i1
        yield self.n1.i == -self.i1
        yield self.p2.i == into_p2
        yield self.n2.i == -into_p2


class IdealTransformer(FourTerminals):
    """Ideal transformer, for direct current too.

    Equations: v1 = ratio v2, i2 = ratio i1, with i1 into p1 and i2 *out of* p2, as
    Simscape counts it: what side 1 takes in leaves at side 2. Stores and loses nothing;
    a negative ratio turns side 2 round. Side 2 needs a reference of its own.

    Raises
    ------
    ModelError
        If the ratio is 0.
    """

    symbol = symbols.TRANSFORMER

    ratio = Parameter(1.0, doc="Turns of side 1 per turn of side 2")
    i2 = Variable("A", doc="current out of p2")

    def verify(self):
        if np.any(self.ratio.magnitude == 0):
            yield ("ratio is 0, so side 1 would be shorted and side 2 open. Give the number of "
                   "turns of side 1 per turn of side 2.")  # fmt: skip

    def equations(self):
        yield from self.pairs(into_p2=-self.i2)
        yield self.v1 == self.ratio * self.v2
        yield self.i2 == self.ratio * self.i1


class Gyrator(FourTerminals):
    """Ideal gyrator: the voltage of one side sets the current of the other.

    Equations: i1 = conductance v2, i2 = conductance v1, with i1 into p1 and i2 *out of*
    p2: what side 1 takes in leaves at side 2. A capacitor on one side looks like an
    inductor of capacitance / conductance**2 from the other. The default is not verified.
    """

    symbol = symbols.GYRATOR

    conductance = Parameter("1 S", doc="Current of one side per voltage of the other",
                            advice={"ohm": "Give one over the resistance, in S."})  # fmt: skip
    i2 = Variable("A", doc="current out of p2")

    def equations(self):
        yield from self.pairs(into_p2=-self.i2)
        yield self.i1 == self.conductance * self.v2
        yield self.i2 == self.conductance * self.v1


class MutualInductor(FourTerminals):
    """Two windings on one core.

    Equations: v1 = inductance_1 di1/dt + M di2/dt, v2 = M di1/dt + inductance_2 di2/dt
    with M = coupling sqrt(inductance_1 inductance_2), i1 into p1 and i2 *into* p2. Stores
    (inductance_1 i1**2 + 2 M i1 i2 + inductance_2 i2**2) / 2. With ``leakage=False`` all of the
    flux goes through both windings (a coupling of exactly 1): v1 = n v2 and v2 =
    inductance_2 di_m/dt with i_m = i2 + n i1, n = sqrt(inductance_1 / inductance_2): one state
    less. i_m is the current that magnetizes the core, seen from side 2.

    Raises
    ------
    ModelError
        If the coupling is 1 or -1 with ``leakage=True``.

    Notes
    -----
    Only with i2 counted into p2 do these equations state an inductance for side 2, and
    the energy above; pages that draw i2 out of it contradict them.
    """

    symbol = symbols.TRANSFORMER

    leakage = Option(True, doc="whether some flux goes through one winding only")
    inductance_1 = Parameter("10 H", above=0, doc="Inductance of side 1")
    inductance_2 = Parameter("0.1 H", above=0, doc="Inductance of side 2")
    coupling = Parameter(0.9, minimum=-1, maximum=1, when="leakage",
                         doc="Part of the flux that goes through both windings")  # fmt: skip
    i1 = Variable("A", "0 A", priority="low", doc="current into p1")
    i2 = Variable("A", "0 A", priority="low", doc="current into p2")
    i_m = Variable("A", "0 A", priority="high", when=lambda c: not c.leakage,
                   doc="magnetizing current, seen from side 2")  # fmt: skip
    energy_stored = Variable("J", doc="energy of the magnetic field")

    def verify(self):
        if self.leakage and np.any(abs(self.coupling.magnitude) == 1):
            yield ("coupling is 1 in size, which leaves one state less. Say it by "
                   "leakage=False instead; for -1 exchange p2 and n2.")  # fmt: skip

    def equations(self):
        yield from self.pairs(into_p2=self.i2)
        turns = sqrt(self.inductance_1 / self.inductance_2)
        if self.leakage:
            mutual = self.coupling * sqrt(self.inductance_1 * self.inductance_2)
            yield self.v1 == self.inductance_1 * der(self.i1) + mutual * der(self.i2)
            yield self.v2 == mutual * der(self.i1) + self.inductance_2 * der(self.i2)
            yield self.energy_stored == (self.inductance_1 * self.i1**2 / 2
                                         + mutual * self.i1 * self.i2
                                         + self.inductance_2 * self.i2**2 / 2)
        else:
            yield self.i_m == self.i2 + turns * self.i1
            yield self.v1 == turns * self.v2
            yield self.v2 == self.inductance_2 * der(self.i_m)
            yield self.energy_stored == self.inductance_2 * self.i_m**2 / 2
