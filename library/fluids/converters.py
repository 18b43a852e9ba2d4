"""Between a fluid and mechanics: pressure that pushes, volume that is displaced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Component, Input, Option, Parameter, Port, Variable, der, quantity, require

from .. import symbols
from ..rotational import rotational
from ..thermal import thermal
from ..thermal.domain import ABSOLUTE
from ..translational import translational
from .chambers import ATMOSPHERE, ROOM, FluidPart, specified
from .flows import carried

__all__ = ["Piston", "RotationalConverter", "TranslationalConverter", "Vane"]

EMPTY = ("nothing is left of the volume of fluid: it is beyond the end of its way. Start it "
         "elsewhere (within the stroke), give it more dead volume, or stop it (a HardStop, or "
         "stiffer ends).")  # fmt: skip


class MechanicalConverter(FluidPart):
    """Base of converters: one chamber of fluid, whose wall moves."""

    mech_orientation = Option("positive", ("positive", "negative"),
                              doc="which way the wall moves when fluid comes in")  # fmt: skip
    pressure_spec = Option("atmospheric", ("atmospheric", "specified"),
                           doc="pressure on the other side of the wall")  # fmt: skip
    H = Port(thermal, doc="heat to the fluid; insulated where nothing is connected")
    dead_volume = Parameter("1e-5 m^3", above=0, doc="Volume of fluid in the zero position")
    port_area = Parameter("0.01 m^2", above=0, doc="Area of the port")
    environment_pressure = Parameter(ATMOSPHERE, minimum=0, when=specified,
                                     doc="Absolute pressure on the other side")  # fmt: skip
    p_I = Variable("MPa", ATMOSPHERE, priority="high", nominal="0.1 MPa", minimum="0 MPa",
                   doc="absolute pressure of the fluid")  # fmt: skip
    T_I = Variable(ABSOLUTE, ROOM, priority="high", nominal="300 K", minimum="0 K",
                   doc="temperature of the fluid")  # fmt: skip
    energy_stored = Variable("J", doc="internal energy of the fluid, work done on what is outside")

    def chamber(self, area: Any, flow: Any, place: Any, effort: Any) -> Iterator[Any]:
        """Fluid and effort, where ``area`` times ``flow`` is the rate of the volume."""
        A, p = self.A, self.p_I  # type: ignore[attr-defined]
        outside = self.environment_pressure if specified(self) else A.atmospheric_pressure
        if self.mech_orientation == "negative":
            area = -area
        volume = self.dead_volume + area * place
        yield A.p == p
        yield self.H.T == self.T_I
        yield from self.contents(volume, area * flow, outside * area * place)
        yield require(volume > quantity("0 m^3"), EMPTY)
        yield effort == area * (p - outside)

    def contents(self, volume: Any, rate: Any, done: Any) -> Iterator[Any]:
        """The fluid in a volume that grows at a rate, and has done work on what is outside."""
        fluid, A, p, T = self.fluid, self.A, self.p_I, self.T_I  # type: ignore[attr-defined]
        within = self.within(A)
        rho, h = fluid.density_and_enthalpy(within, p, T)
        yield from carried(fluid, A, self.port_area, h, within)
        yield from self.filled((p, T, rho, h), volume, rate, [A], self.H.Q - p * rate)
        yield from fluid.valid(within, p, T, "in the converter")
        yield self.energy_stored == done + volume * (rho * h - p)


class Piston(Component):
    """Base of what a fluid's volume moves along: ``chamber`` states the fluid and the force."""

    symbol = symbols.CYLINDER
    displacement_spec = Option("calculated", ("calculated", "signal"),
                               doc="where the position comes from")  # fmt: skip
    R = Port(translational, doc="rod")
    C = Port(translational, doc="case")
    interface_area = Parameter("0.01 m^2", above=0, doc="Area of the piston")
    v = Variable("m/s", doc="velocity of R against C")
    p_in = Input("m", when=lambda c: c.displacement_spec == "signal",
                 doc="position of R against C")  # fmt: skip
    x = Variable("m", "0 m", priority="high", doc="position of R against C",
                 when=lambda c: c.displacement_spec == "calculated")  # fmt: skip
    f = Variable("N", nominal="1 kN", doc="force from C to R")

    def equations(self) -> Iterator[Any]:
        signal = self.displacement_spec == "signal"
        yield self.v == self.R.v - self.C.v
        if not signal:
            yield der(self.x) == self.v
        yield self.R.f == -self.f
        yield self.C.f == self.f
        yield from self.chamber(  # type: ignore[attr-defined]
            self.interface_area, self.v, self.p_in if signal else self.x, self.f)


class Vane(Component):
    """Base of what a fluid's volume turns: ``chamber`` states the fluid and the torque."""

    symbol = symbols.VANE
    R = Port(rotational, doc="shaft")
    C = Port(rotational, doc="case")
    displacement = Parameter("0.01 m^3/rad", above=0, doc="Volume per angle")
    w = Variable("rad/s", doc="angular velocity of R against C")
    angle = Variable("rad", "0 rad", priority="high", doc="angle of R against C")
    t = Variable("N*m", nominal="100 N*m", doc="torque from C to R")

    def equations(self) -> Iterator[Any]:
        yield self.w == self.R.w - self.C.w
        yield der(self.angle) == self.w
        yield self.R.t == -self.t
        yield self.C.t == self.t
        yield from self.chamber(  # type: ignore[attr-defined]
            self.displacement, self.w, self.angle, self.t)


class TranslationalConverter(Piston, MechanicalConverter):
    """A piston: pressure of a fluid becomes a force between R and C.

    Equations: v = v_R - v_C = dx/dt; f = e interface_area (p_I - p_outside) is the force on R
    from C, with e = 1, or -1 with ``mech_orientation="negative"``; d(rho V)/dt = mdot_A and
    d(rho u V)/dt = Phi_A + Q_H - p_I dV/dt with V = dead_volume + e interface_area x. Outside is
    the atmosphere, or with ``pressure_spec="specified"`` ``environment_pressure``.

    With ``displacement_spec="signal"`` the place x is the input p_in, as from a position sensor
    between R and C; it must change as v says, or mass and energy are not those of the fluid.
    Has no mass, no friction and no stop: add Mass, TranslationalFriction and HardStop.

    Inputs: p_in (m) with ``displacement_spec="signal"``.
    """


class RotationalConverter(Vane, MechanicalConverter):
    """A vane or a motor: pressure of a fluid becomes a torque between R and C.

    Equations: w = w_R - w_C = d(angle)/dt; t = e displacement (p_I - p_outside) is the torque on
    R from C, with e = 1, or -1 with ``mech_orientation="negative"``; d(rho V)/dt = mdot_A and
    d(rho u V)/dt = Phi_A + Q_H - p_I dV/dt with V = dead_volume + e displacement angle.
    Has no inertia, no friction and no stop.

    Defaults of displacement and dead volume not verified.
    """
