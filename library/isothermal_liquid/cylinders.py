"""Cylinders: pistons with seals that rub and stops at both ends."""

from __future__ import annotations

from blocks import Option, Output, Parameter, Port, Replaceable, Variable, contact, der, quantity

from .. import symbols
from ..contact import STOP_MODELS, opposed, start_beyond, stop_law
from ..frictionlaws import LAWS, FrictionLaw, force
from ..translational import TranslationalFriction
from .converters import displaced
from .domain import isothermal_liquid
from .elements import ATMOSPHERE, specified
from .liquid import elastic_energy, energy_made_up


class NoFriction(FrictionLaw):
    """Nothing rubs."""

    uses = ()

    def force(self, c):
        return quantity(0, force(c))


SEALS: dict[str, type[FrictionLaw]] = {"none": NoFriction, **LAWS}


def _rigid(c):
    return c.stop == "restitution"


def _elastic(c):
    return not _rigid(c)


class Seal:
    """A cylinder as the law of its seals sees it: the energy that is stored is the law's own."""

    def __init__(self, cylinder):
        self.cylinder = cylinder

    def __getattr__(self, name):
        return getattr(self.cylinder, "seal_energy" if name == "energy_stored" else name)


def _springy(c):
    return "energy_stored" in c.kind.declarations


class Cylinder(TranslationalFriction):
    """Base of cylinders: a rod R in a case C, friction between them, stops at both ends.

    The friction of the seals is that of :class:`library.translational.TranslationalFriction`,
    with any law of :mod:`library.frictionlaws`, and no friction by default.
    """

    symbol = symbols.BOX

    law = Replaceable("none", lambda: SEALS, doc="friction of the seals")
    stop = Option("smooth", (*STOP_MODELS, "restitution"), doc="how the ends stop the piston")
    dynamic_compressibility = Option(True, doc="whether the liquid in it is compressible")
    pressure_spec = Option("atmospheric", ("atmospheric", "specified"), doc="outside the cylinder")
    A = Port(isothermal_liquid, doc="liquid that pushes R forward")
    p_out = Output("m", doc="position of the piston")
    piston_area_A = Parameter("0.01 m^2", above=0, doc="Area of the piston on side A")
    stroke = Parameter("0.1 m", above=0, doc="Way of the piston from stop to stop")
    dead_volume_A = Parameter("1e-5 m^3", above=0, when="dynamic_compressibility",
                              doc="Volume on side A at x = 0")  # fmt: skip
    environment_pressure = Parameter(ATMOSPHERE, minimum=0, when=specified,
                                     doc="Absolute pressure outside")  # fmt: skip
    stop_stiffness = Parameter("1e9 N/m", above=0, when=_elastic, doc="Stiffness of the ends")
    stop_damping = Parameter("1e5 N*s/m", minimum=0, when=_elastic, doc="Damping of the ends")
    transition = Parameter("0.1 mm", above=0, when=lambda c: c.stop == "smooth",
                           doc="Depth of the transition region")  # fmt: skip
    restitution = Parameter(0.0, minimum=0, maximum=1, when=_rigid,
                            doc="Coefficient of restitution at the ends")  # fmt: skip
    x = Variable("m", "0 m", priority="high", nominal="0.1 m", doc="position, 0 to stroke")
    p_A = Variable("MPa", ATMOSPHERE, priority="high", nominal="1 MPa", minimum="0 MPa",
                   when="dynamic_compressibility", doc="absolute pressure on side A")  # fmt: skip
    seal_force = Variable("N", doc="friction of the seals, against v")
    upper_force = Variable("N", when=_rigid, doc="force of the stop at x = stroke")
    lower_force = Variable("N", when=_rigid, doc="force of the stop at x = 0")
    energy_stored = Variable("J", when=lambda c: not _springy(c),
                             doc="energy of liquid, stops, seals, work done outside")  # fmt: skip
    seal_energy = Variable("J", when=_springy, doc="elastic energy of the seals")
    power_supplied = Variable("W", when=lambda c: not c.dynamic_compressibility,
                              doc="what leaving out compression makes of the energy")  # fmt: skip

    @property
    def effort(self):
        return self.seal_force

    def advise(self):
        yield from super().advise()
        if not _rigid(self):  # told with how far the sides overlap
            yield from start_beyond(self.x, 0 * self.stroke, self.stroke, "0 and stroke")

    def sides(self):
        """Per side: port, pressure, volume at the start of its way, area, way gone by it."""
        A, flexible = self.A, self.dynamic_compressibility
        yield (A, self.p_A if flexible else A.p, self.dead_volume_A if flexible else None,
               self.piston_area_A, self.x)  # fmt: skip

    def equations(self):
        law, flexible = self.kind(), self.dynamic_compressibility
        seal = Seal(self)
        yield from law.equations(seal)
        if self.comes_near:
            yield self.strength_at_rest == law.borne(seal)
            yield self.band_of_rest == law.scale(seal)
        yield der(self.x) == self.v
        yield self.p_out == self.x
        atmosphere = self.A.atmospheric_pressure
        outside = self.environment_pressure if specified(self) else atmosphere
        stop, elastic, heat = self.stopping()
        if _rigid(self):
            yield contact(self.upper_force, self.stroke - self.x, self.v,
                          restitution=self.restitution)  # fmt: skip
            yield contact(self.lower_force, self.x, -self.v, restitution=self.restitution)
        held, stored, made_up = self.seal_force + stop, elastic, []
        for port, pressure, dead, area, way in self.sides():
            forward = 1 if way is self.x else -1
            volume = dead + area * way if flexible else None
            yield from displaced(port, pressure, volume, forward * area * self.v, flexible)
            held = held - forward * area * (pressure - outside)
            stored = stored + forward * area * (outside - atmosphere) * self.x
            if flexible:
                stored = stored + volume * elastic_energy(port, pressure)
            else:
                made_up.append(energy_made_up(port, port.mdot, pressure))
        yield self.f == held
        yield self.energy_stored == (stored + self.seal_energy if _springy(self) else stored)
        if not flexible:
            yield self.power_supplied == sum(made_up)
        rubbed = self.effort * self.flow - law.power_stored(seal)
        yield self.power_dissipated == rubbed + heat

    def stopping(self):
        """Force that holds R back at the ends, energy stored and power lost there."""
        if _rigid(self):
            return self.upper_force - self.lower_force, 0, 0
        transition = self.transition if self.stop == "smooth" else None
        how = self.stop_stiffness, self.stop_damping, self.stop, transition
        return opposed(stop_law(self.x - self.stroke, self.v, *how),
                       stop_law(-self.x, -self.v, *how))


class SingleActingActuator(Cylinder):
    """A cylinder with liquid on one side; something else pushes it back.

    Equations, with x from 0 to stroke and v = v_R - v_C = dx/dt: the force on R from C is
    piston_area_A (p_A - p_outside) less the friction of the seals and less the stop;
    d(rho V)/dt = mdot_A with V = dead_volume_A + piston_area_A x. f is carried from R to C,
    the opposite. ``law`` and what goes with it (coulomb_force, breakaway_force, …) is the
    friction of the seals, as in :class:`library.translational.TranslationalFriction`: exact
    laws stick exactly. The stops are those of :class:`library.translational.HardStop`
    (``stop`` is its ``model``). Options as in :class:`TranslationalMechanicalConverter`.
    Has no mass: connect one to R. Defaults are not verified.
    """

    symbol = symbols.CYLINDER


class DoubleActingActuator(Cylinder):
    """A cylinder with liquid on both sides: A pushes the rod out, B pulls it in.

    Equations, with x from 0 to stroke and v = v_R - v_C = dx/dt: the force on R from C is
    piston_area_A (p_A - p_outside) - piston_area_B (p_B - p_outside) less the friction of the
    seals and less the stop; V_A = dead_volume_A + piston_area_A x,
    V_B = dead_volume_B + piston_area_B (stroke - x), d(rho V)/dt = mdot on each side. f is
    carried from R to C, the opposite of that force. Friction, stops and options are those of
    :class:`SingleActingActuator`. Has no mass: connect one to R. Liquid that passes the
    piston is a LaminarLeakage between A and B. Defaults are not verified.

    Examples
    --------
    >>> cylinder = DoubleActingActuator(law="stribeck", breakaway_force="700 N",
    ...     coulomb_force="500 N", breakaway_velocity="2 mm/s", stroke="0.3 m")
    """

    symbol = symbols.DOUBLE_CYLINDER

    B = Port(isothermal_liquid, doc="liquid that pushes R back")
    piston_area_B = Parameter("0.01 m^2", above=0, doc="Area of the piston on side B")
    dead_volume_B = Parameter("1e-5 m^3", above=0, when="dynamic_compressibility",
                              doc="Volume on side B at x = stroke")  # fmt: skip
    p_B = Variable("MPa", ATMOSPHERE, priority="high", nominal="1 MPa", minimum="0 MPa",
                   when="dynamic_compressibility", doc="absolute pressure on side B")  # fmt: skip

    def sides(self):
        yield from super().sides()
        B, flexible = self.B, self.dynamic_compressibility
        yield (B, self.p_B if flexible else B.p, self.dead_volume_B if flexible else None,
               self.piston_area_B, self.stroke - self.x)  # fmt: skip
