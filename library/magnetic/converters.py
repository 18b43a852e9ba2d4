"""From electricity to magnetism, and from magnetism to force."""

from blocks import Option, Parameter, Port, Variable, contact, der, maximum, where

from .. import symbols
from ..contact import stop_law
from ..electrical import TwoPort
from ..heat import Dissipative
from ..translational import translational
from .domain import VACUUM, magnetic
from .domain import TwoPort as MagneticTwoPort


class ElectromagneticConverter(TwoPort):
    """Ideal coil around a magnetic circuit: no resistance, no leakage.

    Equations: mmf = turns i; v = -turns dphi/dt, with i from p to n, mmf = mmf_N - mmf_S
    and phi the flux into the coil at N. Lossless: v i + mmf dphi/dt = 0. A reluctance R_m
    across N and S carries the flux turns i/R_m from N to S, which is -phi: the coil is an
    inductance of turns²/R_m.

    Other coils on the same core or a current source may override the start of i. Two coils that are
    closed around one core share one state: give the flux of the core as its start.
    """

    symbol = symbols.COIL_ON_CORE

    N = Port(magnetic, doc="where a positive current raises the potential")
    S = Port(magnetic, doc="the other end of the coil's core")
    turns = Parameter(1, above=0, doc="Number of turns")
    i = Variable("A", "0 A", priority="low", doc="current from p to n")
    mmf = Variable("A", doc="mmf of N minus that of S")
    phi = Variable("Wb", nominal="1 mWb", doc="flux into the coil at N")

    def equations(self):
        yield self.mmf == self.N.mmf - self.S.mmf
        yield self.N.phi == self.phi
        yield self.S.phi == -self.phi
        yield self.mmf == self.turns * self.i
        yield self.v == -self.turns * der(self.phi)


class ReluctanceForceActuator(Dissipative, MagneticTwoPort):
    """Air gap whose flux pulls an armature R against a stator C.

    Equations: dx/dt = v_R - v_C; with gap = max(x, least_gap) and
    µ = µ0 relative_permeability, mmf = phi gap/(µ area), and the flux pulls R and C together
    with phi²/(2 µ area), whatever its direction. The gap closes at x = least_gap:

    * ``model="full"`` (default, as Simscape): an elastic contact that pushes back with
      contact_stiffness (least_gap - x) - contact_damping dx/dt; its damping jumps in and
      pulls on the rebound. There the flux sees the least gap while R still moves: what the
      law makes of the energy by the pull on this way counts as supplied, no heat comes of it;
    * ``model="undamped rebound"``: the same without damping on the rebound;
    * ``model="restitution"``: a rigid contact; the velocity is reversed and multiplied by the
      coefficient of restitution, by an impulse through the network, and afterwards the
      contact holds with whatever force is needed. Both sides need mass.

    Neglects leakage, fringing and saturation: put reluctances in parallel or in series.

    x is the gap. f is carried from R to C: positive where the gap is pulled together (Simscape
    counts it from C to R).

    References
    ----------
    Simscape, block page and source of Reluctance Force Actuator.
    """

    model = Option("full", ("full", "undamped rebound", "restitution"), doc="how the gap closes")
    N = Port(magnetic, doc="armature side of the flux")
    S = Port(magnetic, doc="stator side of the flux")
    R = Port(translational, doc="armature")
    C = Port(translational, doc="stator")
    area = Parameter("0.01 m^2", above=0, doc="Section of the gap across the flux")
    relative_permeability = Parameter(1, above=0, doc="Relative permeability in the gap")
    least_gap = Parameter("1e-4 mm", minimum=0, doc="Gap at which armature and stator touch")
    contact_stiffness = Parameter("1e6 N/m", above=0, when=lambda c: c.model != "restitution",
                                  doc="Stiffness of the contact")  # fmt: skip
    contact_damping = Parameter("500 N*s/m", minimum=0, when=lambda c: c.model != "restitution",
                                doc="Damping of the contact")  # fmt: skip
    restitution = Parameter(0, minimum=0, maximum=1, when=lambda c: c.model == "restitution",
                            doc="Coefficient of restitution")  # fmt: skip
    x = Variable("m", "2 mm", priority="high", nominal="1 mm", doc="gap")
    v = Variable("m/s", doc="velocity of R minus that of C")
    f = Variable("N", doc="force carried from R to C, positive where it closes the gap")
    contact_force = Variable("N", doc="force of the contact, pressing apart")
    energy_stored = Variable("J", doc="energy of the gap and of the contact")
    power_supplied = Variable("W", when=lambda c: c.model != "restitution",
                              doc="what a pull that moves on in the contact makes of the energy")

    def advise(self):
        if self.model == "restitution" and self.least_gap == 0:
            yield ("least_gap is 0: with the gap closed nothing but iron limits the flux. A "
                   "least gap of some micrometres stands for lacquer and roughness.")

    def equations(self):
        permeance_length = VACUUM * self.relative_permeability * self.area
        pull = self.phi**2 / (2 * permeance_length)
        yield self.v == self.R.v - self.C.v
        yield self.R.f == self.f
        yield self.C.f == -self.f
        yield der(self.x) == self.v
        yield self.f == pull - self.contact_force
        if self.model == "restitution":
            yield contact(self.contact_force, self.x - self.least_gap, -self.v,
                          restitution=self.restitution)  # fmt: skip
            yield self.mmf == self.phi * self.x / permeance_length
            yield self.energy_stored == pull * self.x
            yield self.power_dissipated == 0
            return
        depth = self.least_gap - self.x
        force, energy, heat = stop_law(depth, -self.v, self.contact_stiffness,
                                       self.contact_damping, self.model)
        gap = maximum(self.x, self.least_gap)
        yield self.contact_force == force
        yield self.mmf == self.phi * gap / permeance_length
        yield self.energy_stored == pull * gap + energy
        yield self.power_dissipated == heat
        yield self.power_supplied == where(depth > 0, -pull * self.v, 0)
