"""Reservoirs, chambers, pipes and converters: where moist air is held."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from blocks import Input, Option, Output, Parameter, Port, Variable, der, where

from .. import symbols
from ..fluids import chambers, converters, pipes
from ..fluids.chambers import FluidPart
from ..fluids.flows import Within, filling
from ..fluids.polynomials import sum_of
from ..gas import medium as gas
from . import medium
from .domain import FRACTIONS, HUMIDITIES, Ends, moist_air, moist_air_source

__all__ = ["AbsoluteReference", "Cap", "ConstantVolumeChamber", "Humid", "InfiniteFlowResistance",
           "Pipe", "Reservoir", "RotationalMechanicalConverter",
           "TranslationalMechanicalConverter"]  # fmt: skip


class Humid(FluidPart):
    """Base of what holds moist air, in which water condenses."""

    fluid = medium
    F = Port(moist_air, doc="what is inside, for sensors")
    S = Port(moist_air_source, doc="moisture or trace gas that is added; none where nothing is "
             "connected")  # fmt: skip
    saturation_humidity = Parameter(1.0, above=0, doc="Relative humidity from which water "
                                    "condenses")  # fmt: skip
    condensation_time = Parameter("1e-3 s", above=0, doc="Time constant of condensation")
    W = Output("kg/s", doc="water that condenses")
    RH_I = Variable("1", 0.5, priority="low", doc="relative humidity")
    x_w_I = Variable("1", 0.01, doc="specific humidity: vapour by mass")
    HR_I = Variable("1", 0.01, doc="humidity ratio: vapour over all else, by mass")
    x_g_I = Variable("1", 0.0, priority="low", nominal="0.001", doc="trace gas by mass")
    y_g_I = Variable("1", 0.0, nominal="0.001", doc="trace gas by moles")
    mass_w = Variable("kg", doc="mass of the vapour")
    mass_g = Variable("kg", doc="mass of the trace gas")
    condensate = Variable("kg", "0 kg", priority="high", doc="mass of water that has condensed")
    power_supplied = Variable("W", doc="energy given to the circuit: less what condensate takes")

    def within(self, port: Any) -> Any:
        return Within(port, x_w=self.x_w_I, x_g=port.traced * self.x_g_I)

    def filled(self, state: tuple[Any, Any, Any, Any], volume: Any, rate: Any, ports: list[Any],
               heat: Any) -> Iterator[Any]:
        p, T, rho, _ = state
        x, F, S, within = self.x_w_I, self.F, self.S, self.within(self.F)
        most, _ = medium.shares(within, "relative", self.saturation_humidity, "mass_fraction",
                                within.x_g, p, T)  # fmt: skip
        excess = where(x > most, x - most, 0, events=False)
        yield rho * volume * excess / self.condensation_time == self.W
        yield der(self.condensate) == self.W
        yield medium.humidity(within, "relative", p, T) == self.RH_I
        yield medium.humidity(within, "humidity_ratio", p, T) == self.HR_I
        yield medium.trace_fraction(Within(F, x_w=x, x_g=self.x_g_I), "mole_fraction") == self.y_g_I
        yield self.mass_w == rho * volume * x
        yield self.mass_g == rho * volume * within.x_g
        yield self.power_supplied == -self.W * medium.liquid_enthalpy(T)
        added = medium.Trace(F)
        for here, there in ((F.p, p), (F.T, T), (F.x_w, x), (F.x_g, within.x_g), (S.T, T),
                            (S.h_g, F.traced * gas.enthalpy(added, p, T)),
                            (S.c_g, F.traced * gas.heat_capacity(added, T))):  # fmt: skip
            yield here == there
        joined = [*ports, F]
        water, trace = S.mdot_w - self.W, F.traced * S.mdot_g
        yield from filling(
            state, volume, rate, sum_of(port.mdot for port in joined) + water + trace,
            sum_of(port.Phi for port in joined) + S.Phi + heat + self.power_supplied,
            [(x, sum_of(port.mdot_w for port in joined) + water),
             (self.x_g_I, sum_of(port.mdot_g for port in joined) + trace)])  # fmt: skip


class Reservoir(chambers.Reservoir):
    """A place whose pressure, temperature and humidity stay the same, or follow signals.

    Equations: p_A is atmospheric pressure, or with ``pressure_spec="specified"`` the input P, or
    the parameter ``pressure`` while nothing is connected; moist air that leaves it has the
    temperature T and the humidity W, inputs or the parameters ``temperature`` and ``humidity``,
    which by ``humidity_spec`` is ``"relative"``, a ``"mass_fraction"`` or ``"mole_fraction"`` of
    vapour, or the ``"humidity_ratio"`` of vapour to all else. Its share of trace gas is G, or the
    parameter ``trace_gas``, by mass or by moles as ``trace_gas_spec`` says, where the circuit has a
    trace gas (``MoistAirProperties``). Nothing condenses in it.

    Inputs: P in MPa (``pressure_spec="specified"``), T in K, W in 1, G in 1.
    """

    fluid = medium
    humidity_spec = Option("relative", HUMIDITIES, doc="what its humidity is")
    trace_gas_spec = Option("mass_fraction", FRACTIONS, doc="what its share of trace gas is")
    A = Port(moist_air, doc="the reservoir")
    humidity = Parameter(0.5, minimum=0, varying=True, doc="Humidity, as humidity_spec says")
    trace_gas = Parameter(0.001, minimum=0, varying=True, doc="Share of trace gas")
    W = Input("1", default="humidity", doc="humidity")
    G = Input("1", default="trace_gas", doc="share of trace gas")

    def verify(self) -> Iterator[str]:
        if self.humidity_spec == "humidity_ratio" or callable(self.humidity):
            return
        if np.any(self.humidity > 1):
            yield (f"humidity is {self.humidity:~P}, and as humidity_spec={self.humidity_spec!r} "
                   "it is 1 at most: write 70 % as 0.7 or '70 %'.")

    def within(self, port: Any) -> Any:
        x_w, x_g = medium.shares(port, self.humidity_spec, self.W, self.trace_gas_spec,
                                 port.traced * self.G, port.p, self.T)  # fmt: skip
        return Within(port, x_w=x_w, x_g=x_g)


class AbsoluteReference(chambers.AbsoluteReference):
    fluid = medium
    A = Port(moist_air, doc="the reference")


class Cap(chambers.Cap):
    fluid = medium
    shown = ("p", "T", "x_w")
    A = Port(moist_air, doc="the closed end")
    x_w = Variable("1", doc="specific humidity")


class InfiniteFlowResistance(Ends, chambers.InfiniteFlowResistance):
    symbol = symbols.OPEN


class ConstantVolumeChamber(Humid, chambers.Chamber):
    """A volume of moist air at one pressure, temperature and humidity, such as a room.

    Equations: d(rho volume)/dt = sum of mdot + mdot_w_S + mdot_g_S - W, d(rho u volume)/dt = sum of
    Phi + Phi_S + Q_H - W h_l(T_I), d(x_w_I rho volume)/dt = sum of mdot_w + mdot_w_S - W, likewise
    of trace gas x_g_I without W; p = p_I at every port, T_H = T_I. It is well mixed: what leaves
    has the temperature T_I and the shares x_w_I and x_g_I. Where x_w_I exceeds x_s, that of the
    relative humidity ``saturation_humidity``, water condenses at the rate W = rho volume (x_w_I -
    x_s)/condensation_time and leaves the air with the enthalpy h_l of liquid, below 273.16 K of
    ice; it does not evaporate again. The run stops where pressure, temperature or humidity leave
    the range of moist air.

    Start it by p_I, T_I, one of RH_I, x_w_I, HR_I and one of x_g_I, y_g_I.

    Parameters: volume (l) (default not verified), port_area (m^2), of each port;
    saturation_humidity (1), condensation_time (s).
    Ports: A, and B, C, D by ``num_ports``; F (what is inside, for sensors); H (heat); S (a source
    of moisture or trace gas).
    """

    A = Port(moist_air, doc="first port")
    B = Port(moist_air, when=lambda c: c.num_ports > 1, doc="second port")
    C = Port(moist_air, when=lambda c: c.num_ports > 2, doc="third port")
    D = Port(moist_air, when=lambda c: c.num_ports > 3, doc="fourth port")


class Pipe(Ends, Humid, pipes.GasPipe):
    """A duct with friction, heat through its wall, storage, condensation and, if wanted, inertia.

    Equations: the loss along the whole pipe is Darcy's and Weisbach's
    f (length + extra_length)/D m |m|/(2 rho area²), with the hydraulic diameter D and
    Re = |m| D/(area mu): f = shape_factor/Re below ``laminar_limit``, Haaland's
    1/sqrt(f) = -1.8 log10(6.9/Re + (roughness/(3.7 D))^1.11) above ``turbulent_limit``, and
    between the two a smooth blend. The air is one volume, with half of the loss on each side, and
    what expands is sped up: p_A - p_I = loss/2 + (m/area)² (1/rho_I - 1/rho_A).
    Mass, energy, vapour and condensation at the rate W are as in ``ConstantVolumeChamber``; with
    ``inertia=True`` the flow has to be accelerated by length/area d(mdot)/dt.

    The wall, at T_H, gives the heat h S (T_H - T_I) + (C (1 - e^-N) - h S e^-N)(T_H - T_in), with
    C = |m| cp, N = h S/C and h from the Nusselt number: ``laminar_nusselt``, Gnielinski's when
    turbulent. In a steady flow in which nothing condenses that is T_I = T_H - (T_H - T_in) e^-N
    exactly. Water condenses where the whole of the air is saturated, not at a cold wall before:
    a coil of which part of the air keeps clear is a ``Pipe`` and a bypass.

    The default of hydraulic_diameter is not verified.
    Ports: A, B, F (what is inside, for sensors), H (wall) with ``thermal_port``, S (a source of
    moisture or trace gas).
    Initial targets: p_I (high, 0.101325 MPa), T_I (high, 293.15 K), RH_I (low, 0.5), x_g_I (low,
    0), condensate (high, 0 kg); flow_A (high, 0 kg/s) into A and flow_B (high, 0 kg/s) out of B,
    with inertia.

    References
    ----------
    S. E. Haaland, J. Fluids Eng. 105 (1983) 89-90. V. Gnielinski, Int. Chem. Eng. 16 (1976)
    359-368.
    """


class TranslationalMechanicalConverter(Humid, converters.TranslationalConverter):
    """A piston or a bellows: pressure of moist air becomes a force between R and C.

    Equations: v = v_R - v_C = dx/dt; f = e interface_area (p_I - p_outside) is the force on R
    from C, with e = 1, or -1 with ``mech_orientation="negative"``; the volume is
    V = dead_volume + e interface_area x, its energy that of d(rho u V)/dt = Phi_A + Phi_S + Q_H -
    W h_l - p_I dV/dt; mass, vapour and condensation at the rate W are as in
    ``ConstantVolumeChamber``. Outside is the atmosphere, or with ``pressure_spec="specified"``
    ``environment_pressure``.

    With ``displacement_spec="signal"`` the place x is the input p_in, as from a position sensor
    between R and C; it must change as v says, or mass and energy are not those of the air.
    Has no mass, no friction and no stop: add Mass, TranslationalFriction and HardStop.

    Inputs: p_in (m) with ``displacement_spec="signal"``.
    """

    A = Port(moist_air, doc="the air")


class RotationalMechanicalConverter(Humid, converters.RotationalConverter):
    """A vane: pressure of moist air becomes a torque between R and C.

    Equations: w = w_R - w_C = d(angle)/dt; t = e displacement (p_I - p_outside) is the torque on
    R from C, with e = 1, or -1 with ``mech_orientation="negative"``; the volume is
    V = dead_volume + e displacement angle, its energy that of d(rho u V)/dt = Phi_A + Phi_S +
    Q_H - W h_l - p_I dV/dt; mass, vapour and condensation at the rate W are as in
    ``ConstantVolumeChamber``. Has no inertia, no friction and no stop.

    Defaults of displacement and dead volume not verified.
    """

    A = Port(moist_air, doc="the air")
