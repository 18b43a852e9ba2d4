"""Stops, one-sided contacts and supports that act in a range of positions."""

from blocks import Parameter, Variable, der, integral_of_table, interpolate

from .. import symbols
from ..contact import Bounded, gap_law, is_elastic, is_rigid
from ..heat import Dissipative
from ..tables import table_faults
from .domain import TwoPort


class HardStop(Bounded, TwoPort):
    """Elastic stops that keep R between two bounds relative to C.

    Equations: dx/dt = v; where p = x - upper_bound is positive, the force of the upper
    bound is

    * ``model="full"``: upper_stiffness p + upper_damping v. Damping jumps in at the
      bound and pulls on the rebound.
    * ``model="undamped rebound"``: upper_stiffness p + upper_damping max(v, 0).
    * ``model="smooth"`` (default): s (upper_stiffness p + upper_damping v) with
      s = l² (3 - 2 l) and l = min(p/transition, 1): stiffness and damping rise smoothly
      from the bound over the transition region; the rebound is damped.

    With ``model="restitution"`` the stop is rigid: at a bound the velocity is reversed
    and multiplied by the coefficient of restitution, by an impulse carried through
    the network, and after the last rebound the stop holds with whatever force is
    needed. Both sides of it need mass.

    The lower bound mirrors it. Between the bounds f = 0. Contact and the end of the
    transition region are located events. Neglects the mass of the stops.

    x is the place of R between the bounds; f > 0 at the upper bound. The heat of impacts that
    leaves at the port H collects in impact_heat, and leaves with the time constant
    ``release_time``.
    """

    symbol = symbols.STOP

    upper_bound = Parameter("0.1 m", doc="Gap of the upper bound, seen from x = 0")
    lower_bound = Parameter("-0.1 m", doc="Gap of the lower bound, seen from x = 0")
    upper_stiffness = Parameter("1e6 N/m", above=0, when=is_elastic,
        doc="Contact stiffness at the upper bound")  # fmt: skip
    lower_stiffness = Parameter("1e6 N/m", above=0, when=is_elastic,
        doc="Contact stiffness at the lower bound")  # fmt: skip
    upper_damping = Parameter("150 N*s/m", minimum=0, when=is_elastic,
        doc="Contact damping at the upper bound")  # fmt: skip
    lower_damping = Parameter("150 N*s/m", minimum=0, when=is_elastic,
        doc="Contact damping at the lower bound")  # fmt: skip
    transition = Parameter("0.1 mm", above=0, when=lambda c: c.model == "smooth",
                           doc="Depth of the transition region")  # fmt: skip
    upper_force = Variable("N", when=is_rigid, doc="force of the upper stop, pressing back")
    lower_force = Variable("N", when=is_rigid, doc="force of the lower stop, pressing back")
    x = Variable("m", "0 m", priority="high", doc="position of R against C")

    @property
    def place(self):
        return self.x

    def equations(self):
        yield der(self.x) == self.v
        yield from self.held(self.f, self.v, self.upper_force, self.lower_force)


class ElastoGap(Dissipative, TwoPort):
    """Contact that pushes only: a spring-damper that R lifts off from.

    Equations: dx/dt = v. For x >= free_length, f = 0. For x < free_length
    f = f_c + f_d with f_c = -stiffness (free_length - x) and f_d = damping v limited
    to the interval from f_c to -f_c, so f <= 0 always: the limit keeps the force
    continuous at first contact and from pulling at lift-off. R stands on C; x is the
    distance from C to R and f the (negative) force.

    References
    ----------
    Modelica Standard Library, ``Mechanics.Translational.Components.ElastoGap``
    (with exponent n = 1; s_rel is x, s_rel0 is free_length, flange_b is R).
    """

    symbol = symbols.GAP

    stiffness = Parameter("1e6 N/m", above=0, doc="Contact stiffness")
    damping = Parameter("150 N*s/m", minimum=0, doc="Contact damping")
    free_length = Parameter("0 m", doc="Distance at which R touches")
    x = Variable("m", "0 m", priority="high", doc="distance from C to R")
    energy_stored = Variable("J", doc="elastic energy")

    def equations(self):
        force, energy, heat = gap_law(self.free_length - self.x, -self.v, self.stiffness,
                                      self.damping)  # fmt: skip
        yield der(self.x) == self.v
        yield self.f == -force
        yield self.energy_stored == energy
        yield self.power_dissipated == heat


class PositionDependentSupport(Dissipative, TwoPort):
    """Support whose force and damping depend on the position of R against C.

    Equations: dx/dt = v; f = F(x) + d(x) v, with F and d interpolated linearly in
    tables over ``positions`` and held outside for d, continued for F. A detent, a
    cam profile, or a rail that is damped on part of its length. Stores the
    integral of F dx, dissipates d v².
    """

    positions = Parameter(["-1 m", "1 m"], doc="Positions of the tables, increasing")
    forces = Parameter(["0 N", "0 N"], doc="Force F at the positions")
    dampings = Parameter(["0 N*s/m", "0 N*s/m"], minimum=0, doc="Damping d at the positions")
    x = Variable("m", "0 m", priority="high", doc="position of R against C")
    energy_stored = Variable("J", doc="potential energy")

    def verify(self):
        yield from table_faults(("positions", self.positions), forces=self.forces,
                                dampings=self.dampings)  # fmt: skip

    def equations(self):
        damping = interpolate(self.x, self.positions, self.dampings, hold=True)
        yield der(self.x) == self.v
        yield self.f == interpolate(self.x, self.positions, self.forces) + damping * self.v
        yield self.energy_stored == integral_of_table(self.x, self.positions, self.forces)
        yield self.power_dissipated == damping * self.v**2
