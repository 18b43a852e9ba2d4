"""Friction between two bodies that turn against each other."""

from blocks import Parameter, abs_, dry_friction

from .. import symbols
from ..friction import Rubbing, needs
from ..heat import Resisting
from ..tables import friction_at, friction_faults
from .domain import TwoPort


class RotationalFriction(Rubbing, TwoPort):
    """Friction between the bodies at R and C, by one of many laws.

    ``law`` is a name or a law of your own (:class:`library.frictionlaws.FrictionLaw`);
    :mod:`library.frictionlaws` lists them all. Each brings parameters of its own, such
    as ``band`` or ``stiffness``. Some of them, with F_C = coulomb_torque,
    F_G = breakaway_torque, v_brk = breakaway_velocity, c = viscous_coefficient:

    * ``"simscape"``: t = sqrt(2e) (F_G - F_C) exp(-(w/v_St)²) w/v_St
      + F_C tanh(w/v_Coul) + c w, with v_St = sqrt(2) v_brk and v_Coul = v_brk/10.
      Never sticks: a load P below F_G creeps at about
      P / (sqrt(e) (F_G - F_C)/v_brk + 10 F_C/v_brk + c).
    * ``"coulomb"``: exact; any |t| <= F_G at rest, (F_C + c |w|) sign(w) in motion.
    * ``"stribeck"``: exact; in motion (F_C + (F_G - F_C) exp(-(w/v_brk)²) + c |w|) sign(w).
    * ``"quinn"``, ``"karnopp"``, …: of the velocity and of the load, which the network finds.
    * ``"lugre"``, ``"dahl"``, …: with a deflection of the contact as inner state.

    Except for ``"simscape"`` the viscous coefficient is 0 unless given. With ``normal=True``
    strengths are coefficients times the normal force N and the radius. Dissipates t w less what a
    deflection stores; t > 0 for w > 0.

    Raises
    ------
    ModelError
        If the breakaway torque is below the Coulomb torque.

    References
    ----------
    B. Armstrong, C. Canudas de Wit, "Friction Modeling and Compensation", The
    Control Handbook, CRC Press, 1995. The laws name their own sources.
    """

    symbol = symbols.FRICTION

    units = {"force": "N*m", "velocity": "rad/s", "shift": "rad", "strength": "torque"}

    breakaway_torque = Parameter("25 N*m", minimum=0, when=needs("breakaway", normal=False),
                                 doc="Breakaway torque")  # fmt: skip
    breakaway_velocity = Parameter("0.1 rad/s", above=0, when=needs("breakaway_velocity"),
                                   doc="Velocity of largest friction, or decay")  # fmt: skip
    coulomb_torque = Parameter("20 N*m", minimum=0, when=needs("coulomb", normal=False),
                               doc="Coulomb torque")  # fmt: skip
    viscous_coefficient = Parameter(
        lambda c: "0.001 N*m*s/rad" if c.law == "simscape" else "0 N*m*s/rad", "N*m*s/rad",
        minimum=0, when=needs("viscous"), doc="Viscous coefficient",
    )  # fmt: skip
    radius = Parameter("0.1 m", above=0, when="normal", doc="Radius at which the friction acts")

    @property
    def effort(self):
        return self.t

    @property
    def flow(self):
        return self.w

    def strength(self, name):
        if self.normal:
            return self.radius * self.by_normal_force(name)
        return getattr(self, f"{name}_torque")


class BearingFriction(Resisting, TwoPort):
    """Bearing friction from a table of measured torques over speeds; sticks exactly.

    While sliding, t = T(|w|) sign(w), with T interpolated linearly in the table,
    which its last segment continues, but not below zero. At w = 0 it sticks with any
    |t| up to peak T(0). Dissipates t w >= 0.

    Raises
    ------
    ModelError
        If speeds do not increase from 0 on, or a torque is negative.

    References
    ----------
    Modelica Standard Library, ``Mechanics.Rotational.Components.BearingFriction``
    (tau_pos is the table, R is flange_a, C is the support).
    """

    symbol = symbols.FRICTION

    speeds = Parameter(["0 rad/s", "1 rad/s"], minimum=0, doc="Speeds of the table, from 0 on")
    torques = Parameter(["1 N*m", "1 N*m"], minimum=0, doc="Friction torques at the speeds")
    peak = Parameter(1.0, minimum=1, doc="Largest sticking torque over T(0)")

    def verify(self):
        yield from friction_faults(("speeds", self.speeds), torques=self.torques)

    def equations(self):
        kinetic = friction_at(abs_(self.w), self.speeds, self.torques)
        yield dry_friction(self.t, self.w, static=self.peak * self.torques[0], kinetic=kinetic)
