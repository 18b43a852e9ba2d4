"""Motors with a commutator: permanent magnet, separately excited, series."""

from blocks import Option, Parameter, Port, Variable, der, require

from ..electrical import electrical
from ..heat import Dissipative
from ..thermal.domain import ABSOLUTE, thermal
from .converters import RotationalMachine

CIRCUIT, STALL, RATED = (
    "equivalent circuit", "stall torque and no-load speed", "rated load and speed")  # fmt: skip
COEFFICIENT, CURRENT = "coefficient", "no-load current"


class Motor(Dissipative, RotationalMachine):
    """Base of motors: armature, rotor and damping; a subclass states how they are coupled.

    Gives the armature current i and the speed of the rotor w_rotor as states, and the torque
    t from case to rotor.
    """

    inductance = Parameter("12 uH", above=0, doc="Inductance of the armature")
    inertia = Parameter("0.01 g*cm^2", above=0, doc="Moment of inertia of the rotor", advice={
        "kg": "A mass is none: give it in kg*m^2."})  # fmt: skip
    damping = Parameter("0 N*m*s/rad", minimum=0, doc="Torque over speed of the rotor's damping")
    i = Variable("A", "0 A", priority="high", doc="current of the armature, from p to n")
    w_rotor = Variable("rad/s", "0 rad/s", priority="high", doc="speed of the rotor")
    t = Variable("N*m", doc="electromagnetic torque from C to R")
    energy_stored = Variable("J", doc="of the inductances and of the rotor")

    def port_equations(self):
        yield from super().port_equations()
        yield self.w_rotor == self.R.w
        drag = self._damping_of_rotor() * self.w
        yield self.R.t == self.inertia * der(self.w_rotor) + drag - self.t
        yield self.C.t == self.t - drag

    def _damping_of_rotor(self):
        """Torque over speed of the rotor's damping."""
        return self.damping


def _needs(*parameterizations):
    return lambda motor: motor.parameterization in parameterizations


class DCMotor(Motor):
    """Motor with a permanent magnet: armature, rotor and damping.

    Equations: v = resistance i + inductance di/dt + back_emf_constant w;
    t = back_emf_constant i, from C to R; inertia dw_R/dt = t - damping w + what acts on R. A
    data sheet gives the constant k and the resistance R as well, by the straight line from the
    torque at rest to the speed without load; the damping is part of it:

    * ``parameterization="stall torque and no-load speed"``: k/R rated_voltage = stall_torque and
      k/R (rated_voltage - k no_load_speed) = damping no_load_speed, so
      k = rated_voltage/no_load_speed - damping rated_voltage/stall_torque and
      R = k rated_voltage/stall_torque;
    * ``parameterization="rated load and speed"``: the same with the line through the rated point,
      stall_torque = rated_power/rated_speed no_load_speed/(no_load_speed - rated_speed).

    With ``damping_from="no-load current"`` it follows from the current of the motor alone, which
    only the damping brakes then: k no_load_current = damping w, at
    w = (no_load_voltage - R no_load_current)/k.

    Friction of bearings and brushes that holds the rotor below a break-away torque belongs to a
    ``RotationalFriction`` between R and C. Stores the energy of inductance and rotor.

    Preset as in Simscape's block; stall_torque, no_load_speed, rated_voltage, inductance and
    inertia are not verified.
    """

    parameterization = Option(CIRCUIT, (CIRCUIT, STALL, RATED), doc="which numbers are given")
    damping_from = Option(COEFFICIENT, (COEFFICIENT, CURRENT), doc="what the damping is given by")
    resistance = Parameter("3.9 ohm", above=0, when=_needs(CIRCUIT), doc="Armature resistance")
    back_emf_constant = Parameter("7.2e-5 V/rpm", above=0, when=_needs(CIRCUIT),
                                  doc="Voltage over speed, and torque over current")  # fmt: skip
    stall_torque = Parameter("2.4e-4 N*m", above=0, when=_needs(STALL), doc="Torque at rest")
    no_load_speed = Parameter("19100 rpm", above=0, when=_needs(STALL, RATED),
                              doc="Speed without load")  # fmt: skip
    rated_speed = Parameter("15000 rpm", above=0, when=_needs(RATED), doc="Speed at rated load")
    rated_power = Parameter("0.08 W", above=0, when=_needs(RATED),
                            doc="Mechanical power at the rated speed")  # fmt: skip
    rated_voltage = Parameter("1.5 V", above=0, when=_needs(STALL, RATED),
                              doc="Voltage of the data sheet")  # fmt: skip
    damping = Parameter("0 N*m*s/rad", minimum=0, when=lambda c: c.damping_from == COEFFICIENT,
                        doc="Torque over speed of the rotor's damping")  # fmt: skip
    no_load_current = Parameter("0 A", minimum=0, when=lambda c: c.damping_from == CURRENT,
                                doc="Current without load")  # fmt: skip
    no_load_voltage = Parameter("1.5 V", above=0, when=lambda c: c.damping_from == CURRENT,
                                doc="Voltage at which the no-load current flows")  # fmt: skip

    def verify(self):
        if self.parameterization == RATED and self.rated_speed >= self.no_load_speed:
            yield (f"rated_speed is {self.rated_speed:~P} and no_load_speed "
                   f"{self.no_load_speed:~P}. A motor is slower under load: exchange them?")
        elif self.parameterization != CIRCUIT and self.damping_from == COEFFICIENT:
            drag, stall = self.damping * self.no_load_speed, self._torque_at_rest()
            if drag >= stall:
                yield (f"damping times no_load_speed is {drag.to('N*m'):.4g~P}, not below the "
                       f"torque at rest, {stall.to('N*m'):.4g~P}: nothing would drive the rotor.")
        elif self.parameterization == CIRCUIT and self.damping_from == CURRENT:
            drop = self.resistance * self.no_load_current
            if drop >= self.no_load_voltage:
                yield (f"resistance times no_load_current is {drop.to('V'):.4g~P}, not below "
                       f"no_load_voltage, {self.no_load_voltage:~P}: the rotor would stand still.")

    def _torque_at_rest(self):
        """Torque at rest by the data sheet: where the straight line through its points ends."""
        if self.parameterization == STALL:
            return self.stall_torque
        return self.rated_power / self.rated_speed / (1 - self.rated_speed / self.no_load_speed)

    def _constants(self):
        """Voltage over speed, resistance, and torque over speed of the damping."""
        by_current = self.damping_from == CURRENT
        if self.parameterization == CIRCUIT:
            k, resistance = self.back_emf_constant, self.resistance
            return k, resistance, k**2 * self.no_load_current / (
                self.no_load_voltage - resistance * self.no_load_current
            ) if by_current else self.damping
        voltage, w, stall = self.rated_voltage, self.no_load_speed, self._torque_at_rest()
        if not by_current:
            k = voltage / w - self.damping * voltage / stall
            return k, k * voltage / stall, self.damping
        # what is quadratic in k cancels where the resistance is put into the no-load speed
        share = self.no_load_current * voltage / self.no_load_voltage
        k = voltage / (w + share * voltage / stall)
        return k, k * voltage / stall, k * share / w

    def _damping_of_rotor(self):
        return self._constants()[2]

    def equations(self):
        k, resistance, damping = self._constants()
        resistance = resistance * self._warmth()
        yield self.v == resistance * self.i + self.inductance * der(self.i) + k * self.w
        yield self.t == k * self.i
        yield from self._energies(
            (self.inductance * self.i**2 + self.inertia * self.w_rotor**2) / 2,
            resistance * self.i**2 + damping * self.w**2)

    def _warmth(self):
        """Resistance over that of the data sheet."""
        return 1

    def _energies(self, stored, lost):
        """What becomes of the energy of inductance and rotor, and of the power lost."""
        yield self.energy_stored == stored
        yield self.power_dissipated == lost


class ThermalDCMotor(DCMotor):
    """Motor with a permanent magnet and some heat capacity; it warms, and its resistance with it.

    Equations: those of ``DCMotor``, whose resistance is taken times
    1 + temperature_coefficient (T - reference_temperature);
    thermal_mass dT/dt = H.Q + heat, T = H.T. What winding and damping lose is stored, or leaves
    at H for what cools the motor: nothing is dissipated without a trace. Preset as in Simscape's
    block.

    Raises
    ------
    SimulationError
        Where the temperature makes the resistance 0 or negative.
    """

    H = Port(thermal, doc="what the motor is cooled by")
    thermal_mass = Parameter("100 J/K", above=0, doc="Heat capacity")
    temperature_coefficient = Parameter("3.93e-3 1/K",
                                        doc="Relative change of resistance per kelvin")  # fmt: skip
    reference_temperature = Parameter("25 degC", above="0 K",
                                      doc="Temperature that the resistance is given for")
    T = Variable(ABSOLUTE, "25 degC", priority="high", doc="temperature")
    heat = Variable("W", doc="what winding and damping lose")

    def _warmth(self):
        return 1 + self.temperature_coefficient * (self.T - self.reference_temperature)

    def _energies(self, stored, lost):
        yield require(self._warmth() > 0, "has a resistance of zero or less at its temperature: "
                      "the linear law does not reach so far. Limit what heats it, or take a "
                      "smaller temperature_coefficient.")
        yield self.T == self.H.T
        yield self.heat == lost
        yield self.thermal_mass * der(self.T) == self.H.Q + self.heat
        yield self.energy_stored == stored + self.thermal_mass * (
            self.T - self.reference_temperature)
        yield self.power_dissipated == 0


class SeparatelyExcitedMotor(Motor):
    """Motor whose field has a winding of its own, between ep and en.

    Equations: v_field = field_resistance i_field + field_inductance di_field/dt;
    v = resistance i + inductance di/dt + mutual_inductance i_field w;
    t = mutual_inductance i_field i, from C to R; inertia dw_R/dt = t - damping w + what acts
    on R. Joined to the armature, the field makes it a shunt motor. Neglects saturation.

    The defaults are those of the machine in Modelica's examples: 100 V, 100 A, 1425 rpm, 1 A in the
    field.

    References
    ----------
    Modelica Standard Library,
    ``Electrical.Machines.BasicMachines.DCMachines.DC_ElectricalExcited``.
    """

    ep = Port(electrical, doc="positive terminal of the field")
    en = Port(electrical, doc="negative terminal of the field")
    resistance = Parameter("0.05 ohm", minimum=0, doc="Armature resistance")
    inductance = Parameter("1.5 mH", above=0, doc="Inductance of the armature")
    field_resistance = Parameter("100 ohm", minimum=0, doc="Resistance of the field")
    field_inductance = Parameter("1 H", above=0, doc="Inductance of the field")
    mutual_inductance = Parameter("0.63662 H", doc="Torque over both currents", above=0)
    inertia = Parameter("0.15 kg*m^2", above=0, doc="Moment of inertia of the rotor")
    i_field = Variable("A", "0 A", priority="high", doc="current of the field, from ep to en")

    def equations(self):
        yield self.ep.i == self.i_field
        yield self.en.i == -self.i_field
        yield self.ep.v - self.en.v == (
            self.field_resistance * self.i_field + self.field_inductance * der(self.i_field))
        k = self.mutual_inductance * self.i_field
        yield self.v == self.resistance * self.i + self.inductance * der(self.i) + k * self.w
        yield self.t == k * self.i
        yield self.energy_stored == (
            self.inductance * self.i**2 + self.field_inductance * self.i_field**2
            + self.inertia * self.w_rotor**2) / 2  # fmt: skip
        yield self.power_dissipated == (
            self.resistance * self.i**2 + self.field_resistance * self.i_field**2
            + self.damping * self.w**2)


class SeriesMotor(Motor):
    """Motor whose field winding carries the current of the armature.

    Equations, with the sums R and L of both windings: v = R i + L di/dt +
    mutual_inductance i w; t = mutual_inductance i², from C to R, whatever the direction of
    the current, so it runs on alternating voltage too; inertia dw_R/dt = t - damping w + what
    acts on R. Without load it runs away. Neglects saturation.

    The defaults are those of the machine in Modelica's examples: 100 V, 100 A, 1410 rpm.

    References
    ----------
    Modelica Standard Library,
    ``Electrical.Machines.BasicMachines.DCMachines.DC_SeriesExcited``.
    """

    resistance = Parameter("0.05 ohm", minimum=0, doc="Armature resistance")
    inductance = Parameter("1.5 mH", above=0, doc="Inductance of the armature")
    field_resistance = Parameter("0.01 ohm", minimum=0, doc="Resistance of the field")
    field_inductance = Parameter("0.5 mH", minimum=0, doc="Inductance of the field")
    mutual_inductance = Parameter("6.366 mH", above=0, doc="Torque over the current squared")
    inertia = Parameter("0.15 kg*m^2", above=0, doc="Moment of inertia of the rotor")

    def equations(self):
        resistance = self.resistance + self.field_resistance
        inductance = self.inductance + self.field_inductance
        k = self.mutual_inductance * self.i
        yield self.v == resistance * self.i + inductance * der(self.i) + k * self.w
        yield self.t == k * self.i
        yield self.energy_stored == (inductance * self.i**2 + self.inertia * self.w_rotor**2) / 2
        yield self.power_dissipated == resistance * self.i**2 + self.damping * self.w**2
