"""Stops and backlash: torques that act in a range of angles only."""

from blocks import Parameter, Variable, der

from .. import symbols
from ..contact import Bounded, gap_law, is_elastic, is_rigid, opposed
from ..heat import Dissipative
from .domain import TwoPort


class RotationalHardStop(Bounded, TwoPort):
    """Elastic stops that keep R between two bounds relative to C.

    Equations: dphi/dt = w; with p the penetration of a bound, K its stiffness and D
    its damping, the torque of the upper bound is

    * ``model="full"``: K p + D w. Damping jumps in at the bound and pulls on the
      rebound.
    * ``model="undamped rebound"``: K p + D max(w, 0).
    * ``model="smooth"`` (default): s (K p + D w) with s = l² (3 - 2 l) and
      l = min(p/transition, 1): stiffness and damping rise smoothly from the bound
      over the transition region; the rebound is damped.

    With ``model="restitution"`` the stop is rigid: at a bound the speed is reversed
    and multiplied by the coefficient of restitution, by an impulse carried through
    the network, and after the last rebound the stop holds with whatever torque is
    needed. Both sides of it need inertia.

    The lower bound mirrors it. Between the bounds t = 0. Contact and the end of the
    transition region are located events. Neglects the inertia of the stops.

    phi is the place of R between the bounds; t > 0 at the upper bound. The heat of impacts that
    leaves at the port H collects in impact_heat, and leaves with the time constant
    ``release_time``.
    """

    symbol = symbols.STOP

    upper_bound = Parameter("0.1 rad", doc="Gap of the upper bound, seen from phi = 0")
    lower_bound = Parameter("-0.1 rad", doc="Gap of the lower bound, seen from phi = 0")
    upper_stiffness = Parameter("1e6 N*m/rad", above=0, when=is_elastic,
        doc="Contact stiffness, upper bound")  # fmt: skip
    lower_stiffness = Parameter("1e6 N*m/rad", above=0, when=is_elastic,
        doc="Contact stiffness, lower bound")  # fmt: skip
    upper_damping = Parameter("0.01 N*m*s/rad", minimum=0, when=is_elastic,
        doc="Contact damping, upper bound")  # fmt: skip
    lower_damping = Parameter("0.01 N*m*s/rad", minimum=0, when=is_elastic,
        doc="Contact damping, lower bound")  # fmt: skip
    transition = Parameter("0.001 rad", above=0, when=lambda c: c.model == "smooth",
                           doc="Depth of the transition region")  # fmt: skip
    upper_torque = Variable("N*m", when=is_rigid, doc="torque of the upper stop, pressing back")
    lower_torque = Variable("N*m", when=is_rigid, doc="torque of the lower stop, pressing back")
    phi = Variable("rad", "0 rad", priority="high", doc="angle of R against C")

    @property
    def place(self):
        return self.phi

    def equations(self):
        yield der(self.phi) == self.w
        yield from self.held(self.t, self.w, self.upper_torque, self.lower_torque)


class ElastoBacklash(Dissipative, TwoPort):
    """Play with elastic, damped flanks that push and never pull.

    Equations: dphi/dt = w. For |phi| <= backlash/2, t = 0. Beyond it, with the
    deformation p of the flank in contact, t = stiffness p + damping w, where the
    damping part is limited to the elastic one: the torque is continuous at first
    contact and never pulls when the flanks part. At phi = 0 R is in the middle of the play.

    References
    ----------
    Modelica Standard Library, ``Mechanics.Rotational.Components.ElastoBacklash``
    (b is backlash; phi_rel0 = 0; R is flange_b).
    """

    symbol = symbols.GAP

    stiffness = Parameter("1e5 N*m/rad", above=0, doc="Stiffness of the flanks")
    damping = Parameter("0 N*m*s/rad", minimum=0, doc="Damping of the flanks")
    backlash = Parameter("0.1 rad", minimum=0, doc="Total play")
    phi = Variable("rad", "0 rad", priority="high", doc="angle of R against C")
    energy_stored = Variable("J", doc="elastic energy")

    def equations(self):
        half = self.backlash / 2
        torque, energy, heat = opposed(
            gap_law(self.phi - half, self.w, self.stiffness, self.damping),
            gap_law(-self.phi - half, -self.w, self.stiffness, self.damping))
        yield der(self.phi) == self.w
        yield self.t == torque
        yield self.energy_stored == energy
        yield self.power_dissipated == heat
