"""References, open ends, resistors, capacitors and inductors."""

import numpy as np

from blocks import (
    Component,
    Input,
    Option,
    Parameter,
    Port,
    Variable,
    der,
    maximum,
    quantity,
    require,
)

from .. import symbols
from ..heat import Dissipative, Resisting
from .domain import TwoPort, electrical


class ElectricalReference(Component):
    """Ground: a port of potential 0 that takes any current.

    Equation: V.v = 0; V.i is the current the circuit sends to ground. Every circuit
    needs one reference; circuits that meet only through a transformer need one each.
    """

    symbol = symbols.EARTH
    grounds = True

    V = Port(electrical, doc="the ground")

    def equations(self):
        yield self.V.v == 0


class FloatingReference(Component):
    """Level of a circuit that is joined to no ground: a port of potential 0.

    Equation: V.v = 0. No current flows here as long as the circuit has no other
    reference, because it has nowhere to return; ``i`` shows it.

    Notes
    -----
    Written from the block's purpose; its equations were not verified.
    """

    grounds = True

    V = Port(electrical, doc="a node of the floating circuit")
    i = Variable("A", doc="current into the port: 0 while the circuit floats")

    def equations(self):
        yield self.V.v == 0
        yield self.i == self.V.i


class OpenCircuit(Component):
    """An open end: a port that takes no current.

    Equation: V.i = 0. An unconnected port means the same; this component says that
    it is meant, and shows the potential v of the end.
    """

    symbol = symbols.END

    V = Port(electrical, doc="the open end")
    v = Variable("V", doc="potential of the end")

    def equations(self):
        yield self.V.i == 0
        yield self.v == self.V.v


class InfiniteResistance(TwoPort):
    """An open gap between p and n: no current, any voltage.

    Equation: i = 0. Shows the voltage v over the gap.
    """

    symbol = symbols.OPEN

    def equations(self):
        yield self.i == 0


class Resistor(Resisting, TwoPort):
    """Ohmic resistor between p and n.

    Equation: v = resistance i. Dissipates v i, which is negative for a negative
    resistance: such a one supplies energy, as an ideal active circuit does.

    Examples
    --------
    >>> from blocks import quantity
    >>> copper = Resistor(thermal_port=True, resistance=lambda temperature: quantity("2 ohm")
    ...     * (1 + quantity("3.9e-3 1/K") * (temperature - quantity("293.15 K"))))
    """

    symbol = symbols.RESISTOR

    resistance = Parameter("1 ohm", doc="Resistance", advice={
        "S": "A conductance is one over a resistance.",
        "N": "N is the newton: a thousand ohm are '1 kohm'.",
        "F": "A capacitance belongs to Capacitor(capacitance=…).",
        "H": "An inductance belongs to Inductor(inductance=…)."})  # fmt: skip

    def advise(self):
        if np.any(self.resistance.magnitude < 0):
            yield f"its resistance is {self.resistance:~P}: it supplies energy."

    def equations(self):
        yield self.v == self.resistance * self.i
        if self.thermal_port:
            yield require(self.resistance >= quantity("0 ohm"), "the resistance is negative, by "
                          "the temperature at H: it would draw heat there and supply energy. "
                          "Limit the function given for it, or what heats it.")  # fmt: skip


class VariableResistor(Resisting, TwoPort):
    """Resistor whose resistance is a signal.

    Equation: v = max(R, minimum_resistance) i, where R is the signal. Dissipates v i.

    Notes
    -----
    With minimum_resistance = 0, as in Simscape (default not verified), a signal of 0 or
    less is a short circuit, which the rest of the circuit has to bear.
    """

    symbol = symbols.RESISTOR

    resistance = Parameter("1 ohm", varying=True, doc="Resistance without a signal")
    minimum_resistance = Parameter("0 ohm", minimum=0, doc="Smallest resistance")
    R = Input("ohm", default="resistance", doc="resistance")

    def equations(self):
        yield self.v == maximum(self.R, self.minimum_resistance) * self.i


class Capacitor(Dissipative, TwoPort):
    """Capacitor between p and n.

    Equations: i = capacitance dvc/dt + parallel_conductance vc; v = vc, or, with
    ``parasitic=True``, v = vc + series_resistance i. Stores capacitance vc**2 / 2.

    Notes
    -----
    Ideal unless asked otherwise. Simscape's block has a series resistance of 1e-6 ohm,
    which makes every capacitor a state of its own, with time constants of picoseconds
    beside a source or another capacitor; ``parasitic=True`` is that block. The ideal one
    follows the source there, and several in a loop share their states.
    The capacitance of 1 uF as a default was not verified.
    """

    symbol = symbols.CAPACITOR

    parasitic = Option(False, doc="whether there is a resistance in series, as in Simscape")
    capacitance = Parameter("1e-6 F", above=0, doc="Capacitance", advice={
        "ohm": "A resistance belongs to Resistor(resistance=…).",
        "H": "An inductance belongs to Inductor(inductance=…)."})  # fmt: skip
    parallel_conductance = Parameter("0 S", minimum=0, doc="Leakage, parallel to the capacitance",
                                     advice={"ohm": "Give one over the resistance, in S."})
    series_resistance = Parameter("1e-6 ohm", above=0, when="parasitic", doc="Resistance in series")
    vc = Variable("V", "0 V", priority="high", doc="voltage of the capacitance")
    energy_stored = Variable("J", doc="energy of the electric field")

    def equations(self):
        leak = self.parallel_conductance * self.vc
        yield self.i == self.capacitance * der(self.vc) + leak
        yield self.energy_stored == self.capacitance * self.vc**2 / 2
        if self.parasitic:
            yield self.v == self.vc + self.series_resistance * self.i
            yield self.power_dissipated == leak * self.vc + self.series_resistance * self.i**2
        else:
            yield self.v == self.vc
            yield self.power_dissipated == leak * self.vc


def _stays_above_zero(value, name, least):
    """The run stops at ``least`` of a signal: at zero itself no step would end."""
    return require(value > quantity(least), f"{name} falls to zero. Limit the signal with "
                   "library.signal.Saturation, or look for its sign and size.")  # fmt: skip


class VariableCapacitor(TwoPort):
    """Capacitor whose capacitance is a signal, as of plates that move.

    Equations: i = dq/dt; q = C v, where C is the signal. Stores q**2 / (2 C); what changes the
    capacitance supplies -v**2/2 dC/dt, the work against the field. C must not jump; where it falls
    to 0 the run stops.

    References
    ----------
    Modelica Standard Library, ``Electrical.Analog.Basic.VariableCapacitor``.
    """

    symbol = symbols.CAPACITOR

    capacitance = Parameter("1e-6 F", varying=True, above=0, doc="Capacitance without a signal")
    C = Input("F", default="capacitance", doc="capacitance")
    v = Variable("V", "0 V", priority="high", doc="voltage of p minus that of n")
    q = Variable("C", nominal="1 uC", doc="charge")
    energy_stored = Variable("J", doc="energy of the electric field")
    power_supplied = Variable("W", doc="work of what moves the plates")

    def equations(self):
        yield self.q == self.C * self.v
        yield self.i == der(self.q)
        yield self.energy_stored == self.q * self.v / 2
        yield self.power_supplied == -self.v**2 / 2 * der(self.C)
        yield _stays_above_zero(self.C, "C", "1e-18 F")


class Inductor(Dissipative, TwoPort):
    """Inductor between p and n.

    Equations: v = inductance di_L/dt + series_resistance i_L; i = i_L, or, with
    ``parasitic=True``, i = i_L + parallel_conductance v. Stores inductance i_L**2 / 2.

    Notes
    -----
    Ideal unless asked otherwise. Simscape's block has a conductance of 1e-9 S in
    parallel, which makes every inductor a state of its own; ``parasitic=True`` is that
    block. Ideal inductors that alone meet at a node share their states.
    """

    symbol = symbols.COIL

    parasitic = Option(False, doc="whether there is a conductance in parallel, as in Simscape")
    inductance = Parameter("1e-6 H", above=0, doc="Inductance", advice={
        "ohm": "A resistance belongs to Resistor(resistance=…).",
        "F": "A capacitance belongs to Capacitor(capacitance=…)."})  # fmt: skip
    series_resistance = Parameter("0 ohm", minimum=0, doc="Resistance of the winding")
    parallel_conductance = Parameter("1e-9 S", above=0, when="parasitic",
                                     doc="Conductance parallel to the winding",
                                     advice={"ohm": "Give one over the resistance, in S."})
    i_L = Variable("A", "0 A", priority="high", doc="current of the winding")
    energy_stored = Variable("J", doc="energy of the magnetic field")

    def equations(self):
        drop = self.series_resistance * self.i_L
        yield self.v == self.inductance * der(self.i_L) + drop
        yield self.energy_stored == self.inductance * self.i_L**2 / 2
        if self.parasitic:
            yield self.i == self.i_L + self.parallel_conductance * self.v
            yield self.power_dissipated == (drop * self.i_L + self.parallel_conductance * self.v**2)
        else:
            yield self.i == self.i_L
            yield self.power_dissipated == drop * self.i_L


class VariableInductor(TwoPort):
    """Inductor whose inductance is a signal, as of a core that moves.

    Equations: v = dpsi/dt; psi = L i, where L is the signal. Stores psi**2 / (2 L); what changes
    the inductance supplies -i**2/2 dL/dt, the work against the field. L must not jump; where it
    falls to 0 the run stops.

    References
    ----------
    Modelica Standard Library, ``Electrical.Analog.Basic.VariableInductor``.
    """

    symbol = symbols.COIL

    inductance = Parameter("1e-3 H", varying=True, above=0, doc="Inductance without a signal")
    L = Input("H", default="inductance", doc="inductance")
    i = Variable("A", "0 A", priority="high", doc="current from p to n")
    psi = Variable("Wb", nominal="1 mWb", doc="linked flux")
    energy_stored = Variable("J", doc="energy of the magnetic field")
    power_supplied = Variable("W", doc="work of what moves the core")

    def equations(self):
        yield self.psi == self.L * self.i
        yield self.v == der(self.psi)
        yield self.energy_stored == self.psi * self.i / 2
        yield self.power_supplied == -self.i**2 / 2 * der(self.L)
        yield _stays_above_zero(self.L, "L", "1e-15 H")
