"""Switches that a signal moves."""

from blocks import Input, Parameter, Port, Replaceable, Replacement, Variable, ideal_switch, where

from .. import symbols
from ..heat import Dissipative, Resisting
from .domain import TwoPort, electrical


class ResistiveContacts(Replacement):
    """v = closed_resistance i while closed, i = open_conductance v while open."""

    closed_resistance = Parameter("0.01 ohm", above=0, advice={
        "S": "A conductance is one over a resistance."},
        doc="Resistance while closed; none with model='ideal'")  # fmt: skip
    open_conductance = Parameter("1e-8 S", above=0, advice={
        "ohm": "A resistance is one over a conductance."},
        doc="Conductance while open; none with model='ideal'")  # fmt: skip

    def equations(self, c, closed):
        conductance = where(closed, 1 / c.closed_resistance, c.open_conductance)
        yield c.i == conductance * c.v


class IdealContacts(Replacement):
    """v = 0 while closed, i = 0 while open; what the network makes of it is decided jointly."""

    def equations(self, c, closed):
        yield ideal_switch(c.i, c.v, closed=closed)


class Switch(Resisting, TwoPort):
    """Switch between p and n, closed while the signal vT is above a threshold.

    With ``model="resistances"``, Simscape's:

    closed:  v = closed_resistance i
    open:    i = open_conductance v

    With ``model="ideal"`` v = 0 while closed and i = 0 while open. There are no parasitic
    time constants then: a circuit with an inductor steps as if the switch were a wire or a
    gap. An ideal switch that opens on the current of an inductor, or closes a charged
    capacitor onto a source, would need a jump: the run stops there and says who jumps. The
    threshold may have any unit; gate and vT have the same.

    Notes
    -----
    Dissipates v i. At vT = threshold it is open. Of ideal switches in series that are all
    open the share of each in the voltage is not determined; one of many is shown.

    References
    ----------
    Simscape, block Switch. Acary, Bonnefon, Brogliato, Nonsmooth Modeling and Simulation for
    Switched Circuits, 2011.
    """

    symbol = symbols.SWITCH

    model = Replaceable("resistances", {"resistances": ResistiveContacts, "ideal": IdealContacts},
                        doc="what a closed and an open switch are")
    threshold = Parameter(0.5, unit="any", doc="Signal above which it is closed")
    gate = Parameter(0, unit=lambda c: c.threshold.units, varying=True,
                     doc="Signal while none is connected")
    vT = Input(lambda c: c.threshold.units, default="gate",
               doc="closes it where above the threshold")

    def equations(self):
        law = type(self).model.named.get(self.model, self.model)
        yield from law().equations(self, self.vT > self.threshold)


class SPDTSwitch(Dissipative):
    """Single-pole double-throw (changeover) switch: p meets n1, or n2 while it is closed.

    Closed, the signal vT above a threshold:

    v_p - v_n2 = closed_resistance i2,  i1 = open_conductance (v_p - v_n1)

    and open the other way round. i1 flows from p to n1, i2 from p to n2, and p.i = i1 + i2. It
    moves at once: the current through p is never interrupted, and n1 and n2 never meet. The
    threshold may have any unit; gate and vT have the same.

    Notes
    -----
    Dissipates (v_p - v_n1) i1 + (v_p - v_n2) i2. Simscape's smooth transition and its delays are
    left out. Without resistances: two :class:`Switch` with ``model="ideal"``.

    References
    ----------
    Simscape, block SPDT Switch.

    Examples
    --------
    >>> to_n2 = SPDTSwitch(gate=1)
    """

    symbol = symbols.CHANGEOVER

    closed_resistance = Parameter("0.01 ohm", above=0, doc="Resistance of a closed contact")
    open_conductance = Parameter("1e-8 S", above=0, doc="Conductance of an open contact")
    threshold = Parameter(0.5, unit="any", doc="Signal above which p meets n2")
    gate = Parameter(0, unit=lambda c: c.threshold.units, varying=True,
                     doc="Signal while none is connected")
    vT = Input(lambda c: c.threshold.units, default="gate",
               doc="p meets n2 where above the threshold")
    p = Port(electrical, doc="the pole")
    n1 = Port(electrical, doc="where p goes while it is open")
    n2 = Port(electrical, doc="where p goes while it is closed")
    i1 = Variable("A", doc="current from p to n1")
    i2 = Variable("A", doc="current from p to n2")

    def equations(self):
        closed, conducting = self.vT > self.threshold, 1 / self.closed_resistance
        v1, v2 = self.p.v - self.n1.v, self.p.v - self.n2.v
        yield self.i1 == where(closed, self.open_conductance, conducting) * v1
        yield self.i2 == where(closed, conducting, self.open_conductance) * v2
        yield self.p.i == self.i1 + self.i2
        yield self.n1.i == -self.i1
        yield self.n2.i == -self.i2
        yield self.power_dissipated == v1 * self.i1 + v2 * self.i2
