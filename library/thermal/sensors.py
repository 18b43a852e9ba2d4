"""Ideal thermal sensors: they hold no heat, and none leaks through them."""

from blocks import Component, Option, Output, Port

from .. import symbols
from .domain import TwoPort, thermal


class TemperatureSensor(Component):
    """Temperature of A, against that of B or absolute.

    Equations: T = T_A - T_B, or with ``reference="absolute"`` T = T_A and no port B; Q = 0.
    """

    symbol = symbols.METER

    reference = Option("difference", ("difference", "absolute"), doc="what T is measured against")
    A = Port(thermal, doc="where the temperature is measured")
    B = Port(thermal, when=lambda c: c.reference == "difference", doc="against which it is")
    T = Output("K", doc="temperature")

    def equations(self):
        yield self.A.Q == 0
        if self.reference == "difference":
            yield self.B.Q == 0
            yield self.T == self.A.T - self.B.T
        else:
            yield self.T == self.A.T


class HeatFlowRateSensor(TwoPort):
    """Heat flow through a connection of A and B that resists it nothing.

    Equations: T = 0; H = Q, positive from A to B.
    """

    symbol = symbols.METER

    H = Output("W", doc="heat flow from A to B")

    def equations(self):
        yield self.T == 0
        yield self.H == self.Q
