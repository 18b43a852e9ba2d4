"""Elements whose current does not follow the voltage in a straight line."""

import numpy as np

from blocks import Parameter, Port, Variable, abs_, arctan, der, log, maximum, require

from .. import symbols
from ..heat import Resisting
from ..thermal import thermal
from ..thermal.domain import ABSOLUTE
from .domain import TwoPort


class SaturatingInductor(TwoPort):
    """Inductor with a core that saturates.

    Equations: v = dpsi/dt; psi = saturated_inductance i + (inductance - saturated_inductance)
    saturation_current arctan(i / saturation_current). The differential inductance falls from
    ``inductance`` at i = 0, halfway at i = saturation_current, to ``saturated_inductance``. Stores
    the integral of i dpsi; has no hysteresis.

    Notes
    -----
    Modelica's ``SaturatingInductor`` is the same curve, its Lzer and Linf are
    ``inductance`` and ``saturated_inductance``. It states the inductance Lnom at a
    current Inom instead of the saturation current I, which solves
    (Lnom - Linf) / (Lzer - Linf) = I / Inom (pi/2 - arctan(I / Inom)).

    References
    ----------
    Modelica Standard Library, ``Electrical.Analog.Basic.SaturatingInductor``.
    """

    symbol = symbols.COIL

    inductance = Parameter("2 H", above=0, doc="Inductance at small currents")
    saturated_inductance = Parameter("0.5 H", above=0, doc="Inductance at large currents")
    saturation_current = Parameter("0.25 A", above=0,
                                   doc="Current at which half of the excess is lost")  # fmt: skip
    i = Variable("A", "0 A", priority="high", doc="current from p to n")
    psi = Variable("Wb", nominal="1 mWb", doc="linked flux")
    energy_stored = Variable("J", doc="energy of the magnetic field")

    def verify(self):
        if np.any(self.saturated_inductance > self.inductance):
            yield (f"saturated_inductance is {self.saturated_inductance:~P} and inductance "
                   f"{self.inductance:~P}: a core loses inductance when it saturates. "
                   "Exchange them.")  # fmt: skip

    def equations(self):
        s = self.i / self.saturation_current
        excess = self.inductance - self.saturated_inductance
        yield self.v == der(self.psi)
        yield self.psi == (self.saturated_inductance * self.i
                           + excess * self.saturation_current * arctan(s))
        yield self.energy_stored == (self.saturated_inductance * self.i**2 / 2
                                     + excess * self.saturation_current**2 * log(1 + s**2) / 2)


class Memristor(Resisting, TwoPort):
    """Resistor that remembers the charge that has passed through it.

    Equations: v = (x resistance_A + (1 - x) resistance_B) i; dx/dt = i F(x) / transition_charge,
    with the window F = 1 - (2 x - 1)**(2 window_exponent), which keeps x between 0 and 1. x is the
    part of the material in state A; a current from p to n makes it grow. Dissipates v i.

    Notes
    -----
    At x = 0 and x = 1 the window closes, and x stays there for good. A start outside of
    this range stops the run.
    transition_charge, window_exponent and the target of x (defaults not verified).

    References
    ----------
    D. B. Strukov et al., "The missing memristor found", Nature 453 (2008) 80; window of
    Y. N. Joglekar, S. J. Wolf, European Journal of Physics 30 (2009) 661.
    """

    symbol = symbols.RESISTOR

    resistance_A = Parameter("1 ohm", above=0, doc="Resistance at x = 1")
    resistance_B = Parameter("100 ohm", above=0, doc="Resistance at x = 0")
    transition_charge = Parameter("1 C", above=0, doc="Charge that changes all of the material, "
                                  "were the window 1")
    window_exponent = Parameter(1.0, minimum=1, doc="Exponent p of the window; larger is steeper")
    x = Variable("1", 0.5, priority="high", doc="part of the material in state A")

    def equations(self):
        window = maximum(1 - ((2 * self.x - 1) ** 2) ** self.window_exponent, 0)  # x may round
        yield require(abs_(self.x - 0.5) < 0.501, "has left the range 0 to 1 of its state x. Start "
                      "it with an x between.")  # fmt: skip
        yield der(self.x) == self.i * window / self.transition_charge
        yield self.v == (self.x * self.resistance_A + (1 - self.x) * self.resistance_B) * self.i


class ThermalResistor(TwoPort):
    """Thermistor: a resistor of some heat capacity whose resistance follows its temperature.

    Equations: v = R i, R = resistance (1 + temperature_coefficient (T -
    reference_temperature)); dissipation_factor time_constant dT/dt = H.Q + v i, T = H.T.
    What the current heats is stored, or leaves at H for what cools the part. A negative
    coefficient makes an NTC, in its linear range.

    Raises
    ------
    SimulationError
        Where the temperature makes the resistance 0 or negative.
    """

    symbol = symbols.RESISTOR

    H = Port(thermal, doc="what the part is cooled by")
    resistance = Parameter("1 ohm", above=0, doc="Resistance at the reference temperature")
    reference_temperature = Parameter("25 degC", above="0 K", doc="Reference temperature")
    temperature_coefficient = Parameter("5e-5 1/K", doc="Relative change of resistance per kelvin")
    time_constant = Parameter("10 s", above=0, doc="Time constant of cooling in still ambient")
    dissipation_factor = Parameter("1e-3 W/K", above=0,
                                   doc="Heat flow per kelvin above ambient, at rest")  # fmt: skip
    T = Variable(ABSOLUTE, "300 K", priority="high", doc="temperature")
    energy_stored = Variable("J", doc="heat above the reference temperature")

    def equations(self):
        heat_capacity = self.dissipation_factor * self.time_constant
        warmer = self.T - self.reference_temperature
        factor = 1 + self.temperature_coefficient * warmer
        yield require(factor > 0, "has a resistance of zero or less at its temperature: the linear "
                      "law does not reach so far. Limit what heats it, or take a smaller "
                      "temperature_coefficient.")
        yield self.T == self.H.T
        yield self.v == self.resistance * factor * self.i
        yield heat_capacity * der(self.T) == self.H.Q + self.v * self.i
        yield self.energy_stored == heat_capacity * warmer
