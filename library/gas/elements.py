"""Reservoirs, chambers, pipes and converters: where gas is held."""

from __future__ import annotations

from blocks import Port

from .. import symbols
from ..fluids import chambers, converters, ends, pipes
from . import medium
from .domain import Ends, gas

__all__ = [
    "AbsoluteReference", "Cap", "ConstantVolumeChamber", "InfiniteFlowResistance", "Pipe",
    "Reservoir", "RotationalMechanicalConverter", "TranslationalMechanicalConverter",
]  # fmt: skip


class Reservoir(chambers.Reservoir):
    """A place whose pressure and temperature stay the same, whatever flows.

    Equations: p_A is atmospheric pressure, or with ``pressure_spec="specified"`` the input P, or
    the parameter ``pressure`` while nothing is connected; gas that leaves it has the
    temperature T, the input or the parameter ``temperature``. Any number of reservoirs may stand
    for one tank.

    Parameters: pressure (MPa), absolute; temperature (K), port_area (m^2).
    Ports: A. Inputs: P in MPa (``pressure_spec="specified"``), T in K.
    """

    symbol = symbols.TANK
    fluid = medium
    A = Port(gas, doc="the reservoir")


class AbsoluteReference(ends.AbsoluteReference):
    """No pressure and no temperature, for sensors to measure against.

    Equations: p = 0, T = 0. Connect sensors only: at zero pressure there is no gas.

    Ports: A.
    """

    symbol = symbols.EARTH
    fluid = medium
    A = Port(gas, doc="the reference")


class Cap(ends.Cap):
    """A closed end: nothing flows, whatever the pressure.

    Equations: mdot_A = 0, Phi_A = 0. An unconnected port means the same; this component says that
    it is meant, and shows pressure p and temperature T.

    Ports: A.
    """

    symbol = symbols.END
    fluid = medium
    A = Port(gas, doc="the closed end")


class InfiniteFlowResistance(Ends, ends.InfiniteFlowResistance):
    """Nothing passes between A and B, no gas and no heat.

    Equations: mdot = 0, Phi = 0 at both ends.

    Ports: A, B.
    """

    symbol = symbols.OPEN


class ConstantVolumeChamber(chambers.Chamber):
    """A volume of gas at one pressure and one temperature, such as a tank.

    Equations: d(rho volume)/dt = sum of mdot, d(rho u volume)/dt = sum of Phi + Q_H; p = p_I at
    every port, T_H = T_I. It is well mixed: what leaves has the temperature T_I. The run stops
    where pressure or temperature leave the range of the gas.

    Parameters: volume (l) (default not verified), port_area (m^2), of each port.
    Ports: A, and B, C, D by ``num_ports``; H (heat). Initial targets:
    p_I (high, 0.101325 MPa), absolute; T_I (high, 293.15 K).
    """

    symbol = symbols.CHAMBER
    fluid = medium
    A = Port(gas, doc="first port")
    B = Port(gas, when=lambda c: c.num_ports > 1, doc="second port")
    C = Port(gas, when=lambda c: c.num_ports > 2, doc="third port")
    D = Port(gas, when=lambda c: c.num_ports > 3, doc="fourth port")


class Pipe(Ends, pipes.GasPipe):
    """A pipe with friction, heat through its wall, storage and, if wanted, inertia.

    Equations: the loss along the whole pipe is Darcy's and Weisbach's
    f (length + extra_length)/D m |m|/(2 rho area²), with the hydraulic diameter D and
    Re = |m| D/(area mu): f = shape_factor/Re below ``laminar_limit``, Haaland's
    1/sqrt(f) = -1.8 log10(6.9/Re + (roughness/(3.7 D))^1.11) above ``turbulent_limit``, and
    between the two a smooth blend. The gas is one volume, with half of the loss on each side, and
    what expands is sped up: p_A - p_I = loss/2 + (m/area)² (1/rho_I - 1/rho_A).
    d(rho V)/dt = mdot_A + mdot_B, d(rho u V)/dt = Phi_A + Phi_B + Q_H. With ``inertia=True`` the
    flow has to be accelerated by length/area d(mdot)/dt.

    The wall, at T_H, gives the heat h S (T_H - T_I) + (C (1 - e^-N) - h S e^-N)(T_H - T_in), with
    C = |m| cp, N = h S/C and h from the Nusselt number: ``laminar_nusselt``, Gnielinski's when
    turbulent. In a steady flow that is T_I = T_H - (T_H - T_in) e^-N exactly.

    The energy of motion is left out of Phi: at a Mach number M the temperature is too high by the
    share (gamma - 1)/2 M², 2 % at M = 0.3; the flow does not choke at the end of the pipe.

    Parameters: length (m), area (m^2), hydraulic_diameter (m), extra_length (m), roughness (m),
    laminar_limit (1), turbulent_limit (1), shape_factor (1), laminar_nusselt (1). The default of
    hydraulic_diameter is not verified.
    Ports: A, B, H (wall) with ``thermal_port``. Initial targets:
    p_I (high, 0.101325 MPa), T_I (high, 293.15 K); flow_A (high, 0 kg/s) into A and
    flow_B (high, 0 kg/s) out of B, with inertia.

    References
    ----------
    S. E. Haaland, J. Fluids Eng. 105 (1983) 89-90. V. Gnielinski, Int. Chem. Eng. 16 (1976)
    359-368.
    """

    symbol = symbols.PIPE


class TranslationalMechanicalConverter(converters.TranslationalConverter):
    """A piston: pressure of a gas becomes a force between R and C.

    Equations: v = v_R - v_C = dx/dt; f = e interface_area (p_I - p_outside) is the force on R
    from C, with e = 1, or -1 with ``mech_orientation="negative"``; d(rho V)/dt = mdot_A and
    d(rho u V)/dt = Phi_A + Q_H - p_I dV/dt with V = dead_volume + e interface_area x. Outside is
    the atmosphere, or with ``pressure_spec="specified"`` ``environment_pressure``.

    With ``displacement_spec="signal"`` the place x is the input p_in, as from a position sensor
    between R and C; it must change as v says, or mass and energy are not those of the gas.
    Has no mass, no friction and no stop: add Mass, TranslationalFriction and HardStop.

    Parameters: interface_area (m^2), dead_volume (m^3), port_area (m^2),
    environment_pressure (MPa).
    Ports: A (gas), R, C, H (heat). Inputs: p_in (m) with ``displacement_spec="signal"``.
    Initial targets: x (high, 0 m), p_I (high, 0.101325 MPa), T_I (high, 293.15 K).
    """

    symbol = symbols.CYLINDER
    fluid = medium
    A = Port(gas, doc="the gas")


class RotationalMechanicalConverter(converters.RotationalConverter):
    """A vane or a motor: pressure of a gas becomes a torque between R and C.

    Equations: w = w_R - w_C = d(angle)/dt; t = e displacement (p_I - p_outside) is the torque on
    R from C, with e = 1, or -1 with ``mech_orientation="negative"``; d(rho V)/dt = mdot_A and
    d(rho u V)/dt = Phi_A + Q_H - p_I dV/dt with V = dead_volume + e displacement angle.
    Has no inertia, no friction and no stop.

    Parameters: displacement (m^3/rad), dead_volume (m^3), port_area (m^2),
    environment_pressure (MPa). Defaults of displacement and dead volume not verified.
    Ports: A (gas), R, C, H (heat). Initial targets: angle (high, 0 rad),
    p_I (high, 0.101325 MPa), T_I (high, 293.15 K).
    """

    symbol = symbols.VANE
    fluid = medium
    A = Port(gas, doc="the gas")
