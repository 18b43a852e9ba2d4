"""Between a liquid and mechanics: pressure that pushes, volume that is displaced."""

from blocks import Component, Option, Parameter, Port, Variable, quantity, require

from ..fluids.converters import Piston, Vane
from .domain import isothermal_liquid
from .elements import ATMOSPHERE, above_vacuum, specified
from .liquid import elastic_energy, energy_made_up, filling


def displaced(at, pressure, volume, rate, compressible):
    """Equations of the liquid in a volume that changes: of its mass and of its pressure."""
    yield above_vacuum(at, pressure)
    if compressible:
        yield at.p == pressure
        yield filling(at, pressure, volume, rate, at.mdot)
        yield require(volume > quantity("0 m^3"), "nothing is left of the volume of liquid: it is "
                      "beyond the end of its way. Start it elsewhere (within the stroke), give it "
                      "more dead volume, or stop it (a HardStop, or stiffer ends).")  # fmt: skip
    else:
        yield at.mdot == at.density * rate


class MechanicalConverter(Component):
    """Base of converters: one chamber of liquid, whose wall moves."""

    mech_orientation = Option("positive", ("positive", "negative"),
                              doc="which way the wall moves when liquid comes in")  # fmt: skip
    dynamic_compressibility = Option(True, doc="whether the liquid in it is compressible")
    pressure_spec = Option("atmospheric", ("atmospheric", "specified"),
                           doc="pressure on the other side of the wall")  # fmt: skip
    A = Port(isothermal_liquid, doc="the liquid")
    dead_volume = Parameter("1e-5 m^3", above=0, when="dynamic_compressibility",
                            doc="Volume of liquid in the zero position")  # fmt: skip
    environment_pressure = Parameter(ATMOSPHERE, minimum=0, when=specified,
                                     doc="Absolute pressure on the other side")  # fmt: skip
    p_I = Variable("MPa", ATMOSPHERE, priority="high", nominal="1 MPa", minimum="0 MPa",
                   when="dynamic_compressibility",
                   doc="absolute pressure of the liquid")  # fmt: skip
    energy_stored = Variable("J", doc="elastic energy of the liquid, work done on what is outside")
    power_supplied = Variable("W", when=lambda c: not c.dynamic_compressibility,
                              doc="what leaving out compression makes of the energy")  # fmt: skip

    def chamber(self, area, flow, place, effort):
        """Liquid and effort, where ``area`` times ``flow`` is the rate of the volume."""
        A, compressible = self.A, self.dynamic_compressibility
        outside = self.environment_pressure if specified(self) else A.atmospheric_pressure
        if self.mech_orientation == "negative":
            area = -area
        pressure = self.p_I if compressible else A.p
        volume = self.dead_volume + area * place if compressible else None
        yield from displaced(A, pressure, volume, area * flow, compressible)
        yield effort == area * (pressure - outside)
        moved = (outside - A.atmospheric_pressure) * area * place
        if compressible:
            yield self.energy_stored == volume * elastic_energy(A, pressure) + moved
        else:
            yield self.energy_stored == moved
            yield self.power_supplied == energy_made_up(A, A.mdot, pressure)


class TranslationalMechanicalConverter(Piston, MechanicalConverter):
    """A piston: pressure of a liquid becomes a force between R and C.

    Equations: v = v_R - v_C = dx/dt; f = e interface_area (p_I - p_outside) is the force on R
    from C, with e = 1, or -1 with ``mech_orientation="negative"``;
    d(rho V)/dt = mdot_A with V = dead_volume + e interface_area x. Liquid that comes in moves
    R away from C in the direction e. Outside is the atmosphere, or with
    ``pressure_spec="specified"`` ``environment_pressure``.

    With ``dynamic_compressibility=False`` mdot_A = e rho_0 interface_area v with the density at
    atmospheric pressure: two such pistons on one line are a rigid transmission. Liquid brings
    p/rho less a share P/(2 bulk_modulus) along, which is then its ``power_supplied``.

    With ``displacement_spec="signal"`` the place x is the input p_in, as from a position sensor
    between R and C; it must change as v says, or the energy is not that of the liquid.

    Has no mass, no friction and no stop: add Mass, TranslationalFriction and HardStop. Defaults of
    area and dead volume are not verified.
    """


class RotationalMechanicalConverter(Vane, MechanicalConverter):
    """A vane or a motor: pressure of a liquid becomes a torque between R and C.

    Equations: w = w_R - w_C = d(angle)/dt; t = e displacement (p_I - p_outside) is the torque
    on R from C, with e = 1, or -1 with ``mech_orientation="negative"``;
    d(rho V)/dt = mdot_A with V = dead_volume + e displacement angle. Outside is the
    atmosphere, or with ``pressure_spec="specified"`` ``environment_pressure``.

    With ``dynamic_compressibility=False`` mdot_A = e rho_0 displacement w; see
    :class:`TranslationalMechanicalConverter`. Has no inertia, no friction and no stop. Defaults of
    displacement and dead volume are not verified.
    """

    displacement = Parameter("1.2e-4 m^3/rad", above=0, doc="Volume per angle")
