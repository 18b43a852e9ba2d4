"""A switch that a signal closes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Input, Parameter, Replaceable, Replacement, ideal_switch, where

from .. import symbols
from ..heat import Dissipative
from .domain import TwoPort

__all__ = ["IdealContacts", "ResistiveContacts", "Switch"]


class ResistiveContacts(Replacement):
    """v = closed_resistance i while closed, i = open_conductance v while open."""

    closed_resistance = Parameter("0.01 ohm", above=0, doc="Resistance while closed", advice={
        "S": "A conductance is one over a resistance."})  # fmt: skip
    open_conductance = Parameter("1e-8 S", above=0, doc="Conductance while open", advice={
        "ohm": "A resistance is one over a conductance."})  # fmt: skip

    def equations(self, c: Any, closed: Any) -> Iterator[Any]:
        conductance = where(closed, 1 / c.closed_resistance, c.open_conductance)
        yield c.i == conductance * c.v


class IdealContacts(Replacement):
    """v = 0 while closed, i = 0 while open; what the network makes of it is decided jointly."""

    def equations(self, c: Any, closed: Any) -> Iterator[Any]:
        yield ideal_switch(c.i, c.v, closed=closed)


class Switch(Dissipative, TwoPort):
    """Switch between p and n, closed while the signal vT is above a threshold.

    With ``model="resistances"``, Simscape's:

    closed:  v = closed_resistance i
    open:    i = open_conductance v

    With ``model="ideal"`` v = 0 while closed and i = 0 while open. There are no parasitic
    time constants then: a circuit with an inductor steps as if the switch were a wire or a
    gap. An ideal switch that opens on the current of an inductor, or closes a charged
    capacitor onto a source, would need a jump: the run stops there and says who jumps.

    Parameters: threshold (1), gate (1); with ``model="resistances"`` closed_resistance (ohm),
    open_conductance (S).
    Ports: p, n, H (heat, with ``thermal_port=True``). Inputs: vT, or the parameter ``gate``
    while nothing is connected.

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
    threshold = Parameter(0.5, doc="Signal above which it is closed")
    gate = Parameter(0, varying=True, doc="Signal while none is connected")
    vT = Input(default="gate", doc="closes it where above the threshold")
    def equations(self) -> Iterator[Any]:
        law = type(self).model.named.get(self.model, self.model)
        yield from law().equations(self, self.vT > self.threshold)
        yield self.power_dissipated == self.v * self.i
