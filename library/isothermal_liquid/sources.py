"""Prescribed pressures and flows.

Each source takes its value from a parameter, a constant or a function of time
(``table`` makes one of points), unless a signal is connected to its input.
"""

from blocks import Input, Parameter, Variable

from .. import symbols
from ..fluids.passages import GivenFlow
from .domain import TwoPort
from .elements import above_vacuum
from .liquid import density, heat_lost


class PressureSource(TwoPort):
    """Prescribed difference of pressure, whatever flows.

    Equation: p_B - p_A = P, the signal, or the parameter ``pressure_difference`` while
    nothing is connected. A positive value raises B above A. The run stops where the pressure
    at A or B falls below the liquid's minimum.
    """

    symbol = symbols.FLOW_SOURCE

    pressure_difference = Parameter("0 MPa", varying=True, doc="Pressure of B above A")
    P = Input("MPa", default="pressure_difference", doc="pressure of B above A")
    power_supplied = Variable("W", doc="power given to the circuit")

    def equations(self):
        yield self.p == -self.P
        yield above_vacuum(self.A, self.A.p)
        yield above_vacuum(self.B, self.B.p)
        yield self.power_supplied == -heat_lost(self.A, self.B)


class FlowRateSource(GivenFlow, TwoPort):
    """Prescribed flow from A to B, whatever the pressures.

    Equation: mdot = M, or with ``flow_type="volumetric"`` mdot = rho_A V with the density at
    A: the signal, or the parameters ``mass_flow`` and ``volume_flow`` while nothing is
    connected. The run stops where the pressure at A falls below the liquid's minimum.
    """

    symbol = symbols.FLOW_SOURCE

    power_supplied = Variable("W", doc="power given to the circuit")

    def equations(self):
        A = self.A
        yield self.mdot == self.given(density(A, A.p))
        yield above_vacuum(A, A.p)
        yield self.power_supplied == -heat_lost(A, self.B)
