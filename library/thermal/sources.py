"""Prescribed temperatures and heat flows.

Each source takes its value from a parameter, a constant or a function of time, unless a
signal is connected to its input S.
"""

from blocks import Component, Input, Parameter, Port, Variable, require

from .. import symbols
from .domain import ABSOLUTE, DIFFERENCE, TwoPort, thermal

COLD = ("more heat is drawn than there is: the temperature where it is drawn falls below absolute "
        "zero. Limit the heat flow, or draw it through a resistance.")


class TemperatureSource(Component):
    """Prescribed absolute temperature, whatever the heat flow: surroundings, a thermostat.

    Equation: A.T = S. A temperature in degC or degF counts from its own zero. The default is not
    verified.
    """

    symbol = symbols.TEMPERATURE
    grounds = True

    A = Port(thermal, doc="held at the temperature")
    temperature = Parameter("293.15 K", ABSOLUTE, minimum=0, varying=True, doc="Temperature")
    S = Input("K", default="temperature", doc="temperature")
    power_supplied = Variable("W", doc="heat given to the circuit")

    def equations(self):
        yield self.A.T == self.S
        yield self.power_supplied == -self.A.Q
        yield require(self.S >= 0, "the prescribed temperature falls below absolute zero. Look "
                      "for its sign, and for degC that are meant: they need the unit.")


class ControlledTemperatureSource(TwoPort):
    """Prescribed difference of temperatures, whatever the heat flow.

    Equation: T_B - T_A = S. With A on the ``ThermalReference`` S is the absolute temperature of B.
    Heat passes as it is: what raises its temperature is not modelled.
    """

    symbol = symbols.FLOW_SOURCE

    difference = Parameter("0 K", DIFFERENCE, varying=True, doc="Temperature of B over that of A")
    S = Input("K", default="difference", doc="temperature of B over that of A")

    def equations(self):
        yield -self.T == self.S
        yield require((self.A.T >= 0) & (self.B.T >= 0), "a temperature falls below absolute "
                      "zero. Look for the sign of the difference S = T_B - T_A.")


class HeatFlowRateSource(TwoPort):
    """Prescribed heat flow, whatever the temperatures.

    Equation: Q = S. A positive flow is drawn at A and given off at B. Drawing on where a body has
    reached absolute zero stops the run. The default is not verified.
    """

    symbol = symbols.FLOW_SOURCE

    heat_flow = Parameter("0 W", varying=True, doc="Heat flow from A to B")
    S = Input("W", default="heat_flow", doc="heat flow from A to B")

    def equations(self):
        yield self.Q == self.S
        yield require((self.A.T >= 0) & (self.B.T >= 0), COLD)
