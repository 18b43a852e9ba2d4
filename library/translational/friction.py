"""Friction between two bodies that rub or roll on each other."""

from blocks import Input, Parameter, Variable, der, dry_friction, maximum, tanh

from .. import symbols
from ..friction import Rubbing, needs
from ..heat import Dissipative, Resisting
from .domain import TwoPort


class TranslationalFriction(Rubbing, TwoPort):
    """Friction between the bodies at R and C, by one of many laws.

    ``law`` is a name or a law of your own (:class:`library.frictionlaws.FrictionLaw`);
    :mod:`library.frictionlaws` lists them all. Each brings parameters of its own, such
    as ``band`` or ``stiffness``. Some of them, with F_C = coulomb_force,
    F_G = breakaway_force, v_brk = breakaway_velocity, c = viscous_coefficient:

    * ``"simscape"``: f = sqrt(2e) (F_G - F_C) exp(-(v/v_St)²) v/v_St
      + F_C tanh(v/v_Coul) + c v, with v_St = sqrt(2) v_brk and v_Coul = v_brk/10.
      Never sticks: a load P below F_G creeps at about
      P / (sqrt(e) (F_G - F_C)/v_brk + 10 F_C/v_brk + c).
    * ``"coulomb"``: exact; any |f| <= F_G at rest, (F_C + c |v|) sign(v) in motion.
    * ``"stribeck"``: exact; in motion (F_C + (F_G - F_C) exp(-(v/v_brk)²) + c |v|) sign(v).
    * ``"quinn"``, ``"karnopp"``, …: of the velocity and of the load, which the network finds.
    * ``"lugre"``, ``"dahl"``, …: with a deflection of the contact as inner state.

    Except for ``"simscape"`` the viscous coefficient is 0 unless given. With ``normal=True``
    strengths are coefficients times the normal force N. Dissipates f v less what a deflection
    stores; f > 0 for v > 0.

    Raises
    ------
    ModelError
        If the breakaway force is below the Coulomb force.

    References
    ----------
    B. Armstrong, C. Canudas de Wit, "Friction Modeling and Compensation", The
    Control Handbook, CRC Press, 1995. The laws name their own sources.
    """

    symbol = symbols.FRICTION

    units = {"force": "N", "velocity": "m/s", "shift": "m", "strength": "force"}

    breakaway_force = Parameter("25 N", minimum=0, when=needs("breakaway", normal=False),
                                doc="Breakaway force")  # fmt: skip
    breakaway_velocity = Parameter("0.1 m/s", above=0, when=needs("breakaway_velocity"),
                                   doc="Velocity of the largest friction, or decay")  # fmt: skip
    coulomb_force = Parameter("20 N", minimum=0, when=needs("coulomb", normal=False),
                              doc="Coulomb force")  # fmt: skip
    viscous_coefficient = Parameter(lambda c: "100 N*s/m" if c.law == "simscape" else "0 N*s/m",
                                    "N*s/m", minimum=0, when=needs("viscous"),
                                    doc="Viscous coefficient")

    @property
    def effort(self):
        return self.f

    @property
    def flow(self):
        return self.v

    def strength(self, name):
        return self.by_normal_force(name) if self.normal else getattr(self, f"{name}_force")


class FrictionRing(Dissipative, TwoPort):
    """Ring spring: a preloaded spring whose rings rub, as in a buffer or a safety clutch.

    Equations: dx/dt = v; f = preload + stiffness x + r, with the friction r of the
    rings exact: r = ring_friction sign(v) while they slide, any |r| <= ring_friction
    at rest. Loading follows the upper line, unloading the lower one; the loop
    between them is the energy lost. Neglects that real rings rub more under load.
    f > 0 for x > 0, R ahead of C.
    """

    symbol = symbols.FRICTION

    stiffness = Parameter("1 kN/m", minimum=0, doc="Stiffness of the rings")
    preload = Parameter("0 N", doc="Force at x = 0 without friction")
    ring_friction = Parameter("10 N", minimum=0, doc="Friction force between the rings")
    x = Variable("m", "0 m", priority="high", doc="deformation of the spring")
    r = Variable("N", doc="friction of the rings")
    energy_stored = Variable("J", doc="elastic energy, with that of the preload")

    def equations(self):
        yield der(self.x) == self.v
        yield self.f == self.preload + self.stiffness * self.x + self.r
        yield dry_friction(self.r, self.v, static=self.ring_friction, kinetic=self.ring_friction)
        yield self.energy_stored == self.preload * self.x + self.stiffness * self.x**2 / 2
        yield self.power_dissipated == self.r * self.v


class RollingResistance(Resisting, TwoPort):
    """Rolling resistance of a wheel or a body at R on the road at C.

    Equation: f = coefficient max(N, 0) tanh(v / threshold_velocity), with the wheel load N: a wheel
    that is lifted off does not resist. Dissipates f v >= 0; does not hold a body on a slope, which
    creeps.
    """

    symbol = symbols.FRICTION

    coefficient = Parameter(0.01, minimum=0, doc="Rolling resistance coefficient")
    normal_force = Parameter("1000 N", minimum=0, varying=True, doc="Wheel load")
    threshold_velocity = Parameter("0.01 m/s", above=0, doc="Velocity below which the force falls")
    N = Input("N", default="normal_force", doc="wheel load")

    def equations(self):
        load = self.coefficient * maximum(self.N, 0)  # type: ignore[arg-type]
        yield self.f == load * tanh(self.v / self.threshold_velocity)
