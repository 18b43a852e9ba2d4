"""Reservoirs, chambers, pipes and converters: where liquid is held."""

from __future__ import annotations

from typing import Any

from blocks import Option, Parameter, Port

from .. import symbols
from ..fluids import chambers, converters, ends, pipes
from ..thermal.domain import ABSOLUTE
from . import liquid
from .domain import Ends, thermal_liquid

__all__ = [
    "AbsoluteReference", "Cap", "ConstantVolumeChamber", "InfiniteFlowResistance", "Pipe",
    "Reservoir", "RotationalMechanicalConverter", "SegmentedPipe",
    "TranslationalMechanicalConverter",
]  # fmt: skip


class Reservoir(chambers.Reservoir):
    """A place whose pressure and temperature stay the same, whatever flows.

    Equations: p_A is atmospheric pressure, or with ``pressure_spec="specified"`` the input P, or
    the parameter ``pressure`` while nothing is connected; liquid that leaves it has the
    temperature T, the input or the parameter ``temperature``. Any number of reservoirs may stand
    for one tank.

    Parameters: pressure (MPa), absolute; temperature (K), port_area (m^2).
    Ports: A. Inputs: P in MPa (``pressure_spec="specified"``), T in K.
    """

    symbol = symbols.TANK
    fluid = liquid
    A = Port(thermal_liquid, doc="the reservoir")


class AbsoluteReference(ends.AbsoluteReference):
    """No pressure and no temperature, for sensors to measure against.

    Equations: p = 0, T = 0. Connect sensors only: at zero pressure there is no liquid.

    Ports: A.
    """

    symbol = symbols.EARTH
    fluid = liquid
    A = Port(thermal_liquid, doc="the reference")


class Cap(ends.Cap):
    """A closed end: nothing flows, whatever the pressure.

    Equations: mdot_A = 0, Phi_A = 0. An unconnected port means the same; this component says that
    it is meant, and shows pressure p and temperature T.

    Ports: A.
    """

    symbol = symbols.END
    fluid = liquid
    A = Port(thermal_liquid, doc="the closed end")


class InfiniteFlowResistance(Ends, ends.InfiniteFlowResistance):
    """Nothing passes between A and B, no liquid and no heat.

    Equations: mdot = 0, Phi = 0 at both ends.

    Ports: A, B.
    """

    symbol = symbols.OPEN


class ConstantVolumeChamber(chambers.Chamber):
    """A volume of liquid at one pressure and one temperature, such as a manifold or a water jacket.

    Equations: d(rho volume)/dt = sum of mdot, d(rho u volume)/dt = sum of Phi + Q_H; p = p_I at
    every port, T_H = T_I. It is well mixed: what leaves has the temperature T_I. The run stops
    where pressure or temperature leave the range of the liquid.

    Parameters: volume (l) (default not verified), port_area (m^2), of each port.
    Ports: A, and B, C, D by ``num_ports``; H (heat). Initial targets:
    p_I (high, 0.101325 MPa), absolute; T_I (high, 293.15 K).
    """

    symbol = symbols.CHAMBER
    fluid = liquid
    A = Port(thermal_liquid, doc="first port")
    B = Port(thermal_liquid, when=lambda c: c.num_ports > 1, doc="second port")
    C = Port(thermal_liquid, when=lambda c: c.num_ports > 2, doc="third port")
    D = Port(thermal_liquid, when=lambda c: c.num_ports > 3, doc="fourth port")


class Pipe(Ends, pipes.Pipe):
    """A pipe with friction, heat through its wall, storage and, if wanted, inertia.

    Equations: the loss along the whole pipe is Darcy's and Weisbach's
    f (length + extra_length)/D m |m|/(2 rho area²), with the hydraulic diameter D and
    Re = |m| D/(area mu): f = shape_factor/Re below ``laminar_limit``, Haaland's
    1/sqrt(f) = -1.8 log10(6.9/Re + (roughness/(3.7 D))^1.11) above ``turbulent_limit``, and
    between the two a smooth blend. The liquid is one volume, with half of the loss on each side:
    d(rho V)/dt = mdot_A + mdot_B, d(rho u V)/dt = Phi_A + Phi_B + Q_H. With
    ``dynamic_compressibility=False`` as much flows out as in, only its temperature is stored,
    and its density is that at atmospheric pressure.
    With ``inertia=True`` the flow has to be accelerated by length/area d(mdot)/dt. A row of n such
    pipes carries waves of pressure at the speed of sound. A front rings, as in any chain: where a
    flow is stopped at once the pressure rises by rho c v (Joukowsky) on average and overshoots to
    1.45 times that, however many pipes there are. Their number shortens the ringing, to periods
    of a few length/(n c): take the mean over some of these, or close the valve within them.

    The wall, at T_H, gives the heat h S (T_H - T_I) + (C (1 - e^-N) - h S e^-N)(T_H - T_in), with
    C = |m| cp, N = h S/C and h from the Nusselt number: ``laminar_nusselt``, Gnielinski's when
    turbulent. In a steady flow that is T_I = T_H - (T_H - T_in) e^-N exactly; at rest h S
    (T_H - T_I), where Simscape has conduction over one diameter.

    What leaves has the temperature T_I of the whole volume: a front that comes in is smeared as
    by an ideal mixer. ``SegmentedPipe`` keeps it sharper.

    Parameters: length (m), area (m^2), hydraulic_diameter (m), extra_length (m), roughness (m),
    laminar_limit (1), turbulent_limit (1), shape_factor (1), laminar_nusselt (1). The default of
    hydraulic_diameter is not verified.
    Ports: A, B, H (wall) with ``thermal_port``. Initial targets:
    p_I (high, 0.101325 MPa) with compressibility, T_I (high, 293.15 K);
    flow_A (high, 0 kg/s) into A and flow_B (high, 0 kg/s) out of B, with inertia.

    References
    ----------
    S. E. Haaland, J. Fluids Eng. 105 (1983) 89-90. V. Gnielinski, Int. Chem. Eng. 16 (1976)
    359-368.
    """

    symbol = symbols.PIPE

    dynamic_compressibility = Option(True, doc="whether mass is stored in it")


class SegmentedPipe(Ends, pipes.Segmented):
    """A pipe of equal segments, in which a front of temperature travels.

    ``segment[k]`` is a ``Pipe`` of length/segments, counted from A; all of them have the wall at
    H. A front that enters leaves after the time rho V/mdot, smeared over about 1/sqrt(segments) of
    that time (its standard deviation), since each segment is well mixed.

    Parameters: length (m), area (m^2), hydraulic_diameter (m), extra_length (m), roughness (m),
    initial_pressure (MPa), initial_temperature (K).
    Ports: A, B, H (wall) with ``thermal_port``.
    """

    symbol = symbols.PIPE

    made = Pipe
    dynamic_compressibility = Option(True, doc="whether mass is stored in it")
    initial_pressure = Parameter(chambers.ATMOSPHERE, above=0, doc="Pressure at the start",
                                 when="dynamic_compressibility")  # fmt: skip
    initial_temperature = Parameter(chambers.ROOM, ABSOLUTE, above=0,
                                    doc="Temperature at the start")  # fmt: skip

    def start(self) -> dict[str, Any]:
        pressure = {"p_I": self.initial_pressure} if self.dynamic_compressibility else {}
        return {"dynamic_compressibility": self.dynamic_compressibility,
                "T_I": self.initial_temperature, **pressure}  # fmt: skip


class TranslationalMechanicalConverter(converters.TranslationalConverter):
    """A piston: pressure of a liquid becomes a force between R and C.

    Equations: v = v_R - v_C = dx/dt; f = e interface_area (p_I - p_outside) is the force on R
    from C, with e = 1, or -1 with ``mech_orientation="negative"``; d(rho V)/dt = mdot_A and
    d(rho u V)/dt = Phi_A + Q_H - p_I dV/dt with V = dead_volume + e interface_area x. Outside is
    the atmosphere, or with ``pressure_spec="specified"`` ``environment_pressure``.

    With ``displacement_spec="signal"`` the place x is the input p_in, as from a position sensor
    between R and C; it must change as v says, or mass and energy are not those of the liquid.
    Has no mass, no friction and no stop: add Mass, TranslationalFriction and HardStop.

    Parameters: interface_area (m^2), dead_volume (m^3), port_area (m^2),
    environment_pressure (MPa).
    Ports: A (liquid), R, C, H (heat). Inputs: p_in (m) with ``displacement_spec="signal"``.
    Initial targets: x (high, 0 m), p_I (high, 0.101325 MPa), T_I (high, 293.15 K).
    """

    symbol = symbols.CYLINDER
    fluid = liquid
    A = Port(thermal_liquid, doc="the liquid")


class RotationalMechanicalConverter(converters.RotationalConverter):
    """A vane or a motor: pressure of a liquid becomes a torque between R and C.

    Equations: w = w_R - w_C = d(angle)/dt; t = e displacement (p_I - p_outside) is the torque on
    R from C, with e = 1, or -1 with ``mech_orientation="negative"``; d(rho V)/dt = mdot_A and
    d(rho u V)/dt = Phi_A + Q_H - p_I dV/dt with V = dead_volume + e displacement angle.
    Has no inertia, no friction and no stop.

    Parameters: displacement (m^3/rad), dead_volume (m^3), port_area (m^2),
    environment_pressure (MPa). Defaults of displacement and dead volume not verified.
    Ports: A (liquid), R, C, H (heat). Initial targets: angle (high, 0 rad),
    p_I (high, 0.101325 MPa), T_I (high, 293.15 K).
    """

    symbol = symbols.VANE
    fluid = liquid
    A = Port(thermal_liquid, doc="the liquid")
