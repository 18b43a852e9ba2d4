"""Pumps and motors: a shaft that displaces liquid."""

from blocks import Input, Option, Parameter, Port, Variable, abs_, tanh

from .. import symbols
from ..heat import Dissipative
from ..rotational import TwoPort, rotational
from .domain import isothermal_liquid
from .elements import above_vacuum
from .liquid import enthalpy, mean_density


def _lossy(c):
    return c.losses == "analytical"


class DisplacementMachine(Dissipative, TwoPort):
    """Base of pumps and motors: flow follows the shaft, torque follows the pressure."""

    losses = Option("none", ("none", "analytical"), doc="leakage and friction")
    R = Port(rotational, doc="shaft")
    C = Port(rotational, doc="case")
    A = Port(isothermal_liquid, doc="inlet")
    B = Port(isothermal_liquid, doc="outlet")
    nominal_displacement = Parameter("30 cm^3/turn", above=0, when=_lossy,
                                     doc="Displacement at which efficiencies hold")  # fmt: skip
    nominal_speed = Parameter("1800 rpm", above=0, when=_lossy,
                              doc="Speed at which efficiencies hold")  # fmt: skip
    nominal_pressure = Parameter("10 MPa", above=0, when=_lossy,
                                 doc="Pressure at which efficiencies hold")  # fmt: skip
    nominal_viscosity = Parameter("15 cSt", above=0, when=_lossy,
                                  doc="Viscosity at which efficiencies hold")  # fmt: skip
    volumetric_efficiency = Parameter(0.92, above=0, maximum=1, when=_lossy,
                                      doc="Volumetric efficiency")  # fmt: skip
    mechanical_efficiency = Parameter(0.88, above=0, maximum=1, when=_lossy,
                                      doc="Mechanical efficiency")  # fmt: skip
    no_load_torque = Parameter("0.05 N*m", minimum=0, when=_lossy,
                               doc="Friction without pressure")  # fmt: skip
    friction_speed = Parameter("1 rad/s", above=0, when=_lossy,
                               doc="Speed from which friction is full")  # fmt: skip
    w = Variable("rad/s", nominal="100 rad/s", doc="angular velocity of R against C")
    t = Variable("N*m", nominal="10 N*m", doc="torque carried from R to C")
    p = Variable("MPa", nominal="1 MPa", doc="pressure of B above A")
    mdot = Variable("kg/s", nominal="0.1 kg/s", doc="mass flow from A to B")

    def volume_per_angle(self):
        """Volume per angle."""
        raise NotImplementedError

    def loss_factors(self):
        """Leakage per nominal flow, friction per nominal torque, at nominal pressure."""
        return 1 - self.volumetric_efficiency, 1 / self.mechanical_efficiency - 1

    def equations(self):
        A, B, D = self.A, self.B, self.volume_per_angle()
        rho, gain = mean_density(A, B), enthalpy(B, B.p) - enthalpy(A, A.p)
        yield self.p == B.p - A.p
        yield A.mdot == self.mdot
        yield B.mdot == -self.mdot
        yield above_vacuum(A, A.p)
        yield above_vacuum(B, B.p)
        ideal_flow, ideal_torque = rho * D * self.w, rho * D * gain
        if not _lossy(self):
            yield self.mdot == ideal_flow
            yield self.t == ideal_torque
            yield self.power_dissipated == 0
            return
        leakage, friction = self.loss_factors()
        nominal = self.nominal_displacement
        viscosity = self.nominal_viscosity / A.viscosity
        leak = leakage * nominal * self.nominal_speed * viscosity * self.p / self.nominal_pressure
        rubbing = (self.no_load_torque + friction * nominal * abs_(self.p)) * tanh(
            4 * self.w / self.friction_speed)  # fmt: skip
        yield self.mdot == ideal_flow - rho * leak
        yield self.t == ideal_torque + rubbing
        yield self.power_dissipated == rubbing * self.w + rho * leak * gain


class FixedDisplacementPump(DisplacementMachine):
    """A pump whose flow follows its shaft.

    Equations: mdot = rho D w from A to B with the mean density rho and D = displacement;
    t = rho D (h_B - h_A) is carried from R to C, w = w_R - w_C. h is the integral of dp/rho, so
    that no energy is lost: rho (h_B - h_A) is p = p_B - p_A but for a share
    (p/bulk_modulus)²/6.

    With ``losses="analytical"`` rho K p/viscosity leaks back from B to A, and the shaft carries
    a friction (no_load_torque + K' |p|) tanh(4 w/friction_speed) besides. K and K' follow
    from the efficiencies at nominal speed, pressure, displacement and viscosity: there the
    flow is volumetric_efficiency times the ideal one, the torque (without that of no load)
    the ideal one over mechanical_efficiency. Dissipates both losses. For friction that
    sticks leave them out and connect a RotationalFriction.

    The run stops where the pressure at a port falls below the minimum of the liquid. Defaults are
    not verified.
    """

    symbol = symbols.PUMP

    displacement = Parameter("30 cm^3/turn", above=0, doc="Volume per turn", advice={
        "m^3/s": "Divide the volume flow by the speed: 30 l/min at 1000 rpm are 30 cm^3/turn."})

    def volume_per_angle(self):
        return self.displacement


class VariableDisplacementPump(DisplacementMachine):
    """A pump whose displacement is a signal; negative, it pumps from B to A.

    Equations as of :class:`FixedDisplacementPump`, with D the input. Defaults are not verified.
    """

    symbol = symbols.PUMP

    D = Input("cm^3/turn", doc="volume per turn")

    def volume_per_angle(self):
        return self.D


class FixedDisplacementMotor(FixedDisplacementPump):
    """A motor that liquid turns: from A to B it drives R forward.

    Equations as of :class:`FixedDisplacementPump`: the torque that drives R is -t. With
    ``losses="analytical"`` K and K' are those at which the motor takes the ideal flow over
    volumetric_efficiency and gives mechanical_efficiency times the ideal torque. Defaults are not
    verified.
    """

    symbol = symbols.HYDRAULIC_MOTOR

    def loss_factors(self):
        return 1 / self.volumetric_efficiency - 1, 1 - self.mechanical_efficiency


class VariableDisplacementMotor(VariableDisplacementPump):
    """A motor whose displacement is a signal; negative, it turns the other way.

    Equations as of :class:`FixedDisplacementMotor`, with D the input. Defaults are not verified.
    """

    symbol = symbols.HYDRAULIC_MOTOR

    loss_factors = FixedDisplacementMotor.loss_factors
