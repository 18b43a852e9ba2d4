"""Linear actuators: voice coil, solenoid, piezo stack."""

from blocks import Parameter, Variable, der, require

from .. import symbols
from ..heat import Dissipative
from ..magnetic import VACUUM
from .converters import TranslationalMachine


class VoiceCoil(Dissipative, TranslationalMachine):
    """Coil that moves in the field of a magnet, with resistance and inductance.

    Equations: v = resistance i + inductance di/dt + constant u with u = v_R - v_C;
    f = -constant i, the force carried from R to C: a positive current drives R forward. The
    constant does not depend on the position. Has no mass and no stops: add ``Mass`` and
    ``HardStop``. The defaults are those of the actuator in Modelica's examples.

    References
    ----------
    Modelica Standard Library, ``Magnetic.FluxTubes.Examples.MovingCoilActuator``.
    """

    symbol = symbols.LINEAR_MOTOR

    resistance = Parameter("2.86 ohm", minimum=0, doc="Resistance of the coil")
    inductance = Parameter("5.1 mH", above=0, doc="Inductance of the coil")
    constant = Parameter("3.88 V*s/m", doc="Force over current, and voltage over velocity")
    i = Variable("A", "0 A", priority="high", doc="current from p to n")
    energy_stored = Variable("J", doc="energy of the inductance")

    def equations(self):
        yield self.v == (self.resistance * self.i + self.inductance * der(self.i)
                         + self.constant * self.u)  # fmt: skip
        yield self.f == -self.constant * self.i
        yield self.energy_stored == self.inductance * self.i**2 / 2
        yield self.power_dissipated == self.resistance * self.i**2


class Solenoid(Dissipative, TranslationalMachine):
    """Coil whose flux pulls an armature R towards the stator C over an air gap.

    Equations: dx/dt = v_R - v_C; v = resistance i + turns dphi/dt;
    turns i = (x/(µ0 area) + core_reluctance) phi; f = phi²/(2 µ0 area), carried from R to C:
    it closes the gap, whatever the direction of the current. Has no mass, no spring and no
    stop: add ``Mass``, ``Spring`` and ``HardStop`` between R and C. Iron that saturates,
    leakage and eddy currents: build it from ``library.magnetic``. Stores the energy of the
    field, dissipates resistance i².

    Raises
    ------
    SimulationError
        If the armature goes through the stator: a stop is missing.
    """

    symbol = symbols.LINEAR_MOTOR

    resistance = Parameter("20 ohm", minimum=0, doc="Resistance of the coil")
    turns = Parameter(1000, above=0, doc="Number of turns")
    area = Parameter("1e-4 m^2", above=0, doc="Section of the gap across the flux")
    core_reluctance = Parameter("2e6 1/H", above=0, doc="Reluctance of the iron")
    phi = Variable("Wb", "0 Wb", priority="high", nominal="0.1 mWb", doc="flux of the gap")
    x = Variable("m", "2 mm", priority="high", nominal="1 mm", doc="gap")
    energy_stored = Variable("J", doc="energy of the field")

    def equations(self):
        pull = self.phi**2 / (2 * VACUUM * self.area)
        yield der(self.x) == self.u
        yield self.v == self.resistance * self.i + self.turns * der(self.phi)
        yield self.turns * self.i == (
            self.x / (VACUUM * self.area) + self.core_reluctance) * self.phi
        yield self.f == pull
        yield self.energy_stored == pull * self.x + self.core_reluctance * self.phi**2 / 2
        yield self.power_dissipated == self.resistance * self.i**2
        yield require(self.x / (VACUUM * self.area) + self.core_reluctance > 0,
                      "the armature has gone through the stator: put a HardStop between R and C, "
                      "or a stiffer one.")


class PiezoStack(TranslationalMachine):
    """Stack of piezo discs that pushes R away from C when it is charged.

    Equations: dx/dt = v_R - v_C; f = stiffness x - coupling v; i = capacitance dv/dt +
    coupling dx/dt, with stiffness = blocking_force/free_stroke and
    coupling = blocking_force/rated_voltage. So at rated voltage it extends by free_stroke
    without load, and pushes with blocking_force where it must not extend. The capacitance is
    that of the clamped stack; free of load it is larger by coupling²/stiffness. Linear, no
    hysteresis, no mass. Stores capacitance v²/2 + stiffness x²/2.

    References
    ----------
    IEEE Standard on Piezoelectricity, ANSI/IEEE 176-1987, section 3 (thickness mode).
    """

    symbol = symbols.PIEZO

    blocking_force = Parameter("800 N", above=0, doc="Force at rated voltage, held")
    free_stroke = Parameter("30 um", above=0, doc="Extension at rated voltage, free")
    rated_voltage = Parameter("150 V", above=0, doc="Voltage of the data sheet")
    capacitance = Parameter("1.8 uF", above=0, doc="Capacitance, clamped")
    v = Variable("V", "0 V", priority="low", doc="voltage of p minus that of n")
    x = Variable("m", "0 m", priority="high", nominal="10 um", doc="extension")
    energy_stored = Variable("J", doc="electrical and elastic energy")

    def equations(self):
        stiffness = self.blocking_force / self.free_stroke
        coupling = self.blocking_force / self.rated_voltage
        yield der(self.x) == self.u
        yield self.f == stiffness * self.x - coupling * self.v
        yield self.i == self.capacitance * der(self.v) + coupling * self.u
        yield self.energy_stored == (self.capacitance * self.v**2 + stiffness * self.x**2) / 2
