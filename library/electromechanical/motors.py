"""Motors with a commutator: permanent magnet, separately excited, series."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Option, Parameter, Port, Variable, der

from ..electrical import electrical
from ..heat import Dissipative
from .converters import RotationalMachine

__all__ = ["DCMotor", "SeparatelyExcitedMotor", "SeriesMotor"]

CIRCUIT, STALL, RATED = (
    "equivalent circuit", "stall torque and no-load speed", "rated load and speed")  # fmt: skip


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

    def port_equations(self) -> Iterator[Any]:
        yield from super().port_equations()
        yield self.w_rotor == self.R.w
        drag = self.damping * self.w
        yield self.R.t == self.inertia * der(self.w_rotor) + drag - self.t
        yield self.C.t == self.t - drag


def _needs(*parameterizations: str) -> Any:
    return lambda motor: motor.parameterization in parameterizations


class DCMotor(Motor):
    """Motor with a permanent magnet: armature, rotor and damping.

    Equations: v = resistance i + inductance di/dt + back_emf_constant w;
    t = back_emf_constant i, from C to R; inertia dw_R/dt = t - damping w + what acts on R. A
    data sheet gives the constant k and the resistance as well:

    * ``parameterization="stall torque and no-load speed"``: k = rated_voltage/no_load_speed,
      resistance = k rated_voltage/stall_torque;
    * ``parameterization="rated load and speed"``: the same k, and
      resistance = k (rated_voltage - k rated_speed) rated_speed/rated_power.

    Both leave damping out; friction of bearings and brushes belongs to a
    ``RotationalFriction`` between R and C, which holds the rotor below its break-away
    torque. Stores the energy of inductance and rotor. With
    ``thermal_port=True`` the heat leaves at the port H, and parameters may follow its temperature.

    Parameters: resistance (ohm), back_emf_constant (V/rpm), stall_torque (N*m),
    no_load_speed (rpm), rated_speed (rpm), rated_power (W), rated_voltage (V),
    inductance (uH), inertia (g*cm^2), damping (N*m*s/rad); defaults not verified.
    Ports: p, n (electrical), R, C (rotational), H (heat). Initial target: i (high, 0 A), w_rotor
    (high, 0 rad/s).
    """

    parameterization = Option(CIRCUIT, (CIRCUIT, STALL, RATED), doc="which numbers are given")
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

    def verify(self) -> Iterator[str]:
        if self.parameterization == RATED and self.rated_speed >= self.no_load_speed:
            yield (f"rated_speed is {self.rated_speed:~P} and no_load_speed "
                   f"{self.no_load_speed:~P}. A motor is slower under load: exchange them?")

    def _constants(self) -> tuple[Any, Any]:
        """Voltage over speed, and resistance."""
        if self.parameterization == CIRCUIT:
            return self.back_emf_constant, self.resistance
        k = self.rated_voltage / self.no_load_speed
        if self.parameterization == STALL:
            return k, k * self.rated_voltage / self.stall_torque
        return k, (k * (self.rated_voltage - k * self.rated_speed) * self.rated_speed
                   / self.rated_power)  # fmt: skip

    def equations(self) -> Iterator[Any]:
        k, resistance = self._constants()
        yield self.v == resistance * self.i + self.inductance * der(self.i) + k * self.w
        yield self.t == k * self.i
        yield self.energy_stored == (self.inductance * self.i**2 + self.inertia
                                     * self.w_rotor**2) / 2  # fmt: skip
        yield self.power_dissipated == resistance * self.i**2 + self.damping * self.w**2


class SeparatelyExcitedMotor(Motor):
    """Motor whose field has a winding of its own, between ep and en.

    Equations: v_field = field_resistance i_field + field_inductance di_field/dt;
    v = resistance i + inductance di/dt + mutual_inductance i_field w;
    t = mutual_inductance i_field i, from C to R; inertia dw_R/dt = t - damping w + what acts
    on R. Joined to the armature, the field makes it a shunt motor. Neglects saturation. With
    ``thermal_port=True`` the heat leaves at the port H, and parameters may follow its temperature.

    Parameters: resistance (ohm), inductance (mH), field_resistance (ohm), field_inductance
    (H), mutual_inductance (H), inertia (kg*m^2), damping (N*m*s/rad). The defaults are those
    of the machine in Modelica's examples: 100 V, 100 A, 1425 rpm, 1 A in the field.
    Ports: p, n (armature), ep, en (field), R, C (rotational), H (heat). Initial target: i (high,
    0 A), i_field (high, 0 A), w_rotor (high, 0 rad/s).

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

    def equations(self) -> Iterator[Any]:
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
    acts on R. Without load it runs away. Neglects saturation. With
    ``thermal_port=True`` the heat leaves at the port H, and parameters may follow its temperature.

    Parameters: resistance (ohm), inductance (mH), field_resistance (ohm), field_inductance
    (mH), mutual_inductance (mH), inertia (kg*m^2), damping (N*m*s/rad). The defaults are those
    of the machine in Modelica's examples: 100 V, 100 A, 1410 rpm.
    Ports: p, n (electrical), R, C (rotational), H (heat). Initial target: i (high, 0 A), w_rotor
    (high, 0 rad/s).

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

    def equations(self) -> Iterator[Any]:
        resistance = self.resistance + self.field_resistance
        inductance = self.inductance + self.field_inductance
        k = self.mutual_inductance * self.i
        yield self.v == resistance * self.i + inductance * der(self.i) + k * self.w
        yield self.t == k * self.i
        yield self.energy_stored == (inductance * self.i**2 + self.inertia
                                     * self.w_rotor**2) / 2  # fmt: skip
        yield self.power_dissipated == resistance * self.i**2 + self.damping * self.w**2
