"""Problem E6: a loaded cylinder between two valves, fed by a pump with a relief valve.

From library.isothermal_liquid, and by hand. Both weigh what passes: the liquid has
rho = rho_0 exp((p - p_0)/beta), mass is conserved, and orifices see the mean density. The
problem as published counts volumes with a constant density instead; its final values
(``PUBLISHED``) differ by what the liquid is compressed, up to 0.4 %.
"""

from __future__ import annotations

from math import exp, pi, sqrt, tanh
from typing import Any

import numpy as np

from blocks import Model, quantity, sin
from library.isothermal_liquid import (
    ConstantVolumeChamber,
    DoubleActingActuator,
    FlowRateSource,
    IsothermalLiquidProperties,
    LocalRestriction,
    PressureReliefValve,
    Reservoir,
)
from library.signal import TimeFunction
from library.translational import ForceSource, Mass, Reference

__all__ = ["PATHS", "PUBLISHED", "START", "cylinder_line", "cylinder_line_by_hand"]

PATHS = {"line.p_I": "Pa", "cylinder.p_A": "Pa", "cylinder.p_B": "Pa", "cylinder.x": "m",
         "mass.v": "m/s"}  # fmt: skip
PUBLISHED = (12239995.3589, 5860552.91969, 2529050.53376, 0.255504954987, 1.275123902e-4)
P0, RHO, BETA, NU = 101325.0, 850.0, 1.2e9, 1.8e-5
START = (P0, P0 + 4000 / 1e-3, P0, 0.02, 0.0)


def cylinder_line() -> Model:
    """The problem from components; simulate 2 s."""
    model = Model("cylinder line")
    model.oil = IsothermalLiquidProperties(density="850 kg/m^3", bulk_modulus="1.2 GPa",
                                           viscosity="18 cSt")  # fmt: skip
    model.tank, model.line = Reservoir(), ConstantVolumeChamber(volume="1e-5 m^3")
    model.pump = FlowRateSource(flow_type="volumetric", volume_flow="1.5e-4 m^3/s")
    model.relief = PressureReliefValve(cracking_pressure="12 MPa", maximum_pressure="14 MPa",
                                       maximum_area="2e-5 m^2")  # fmt: skip
    model.inlet, model.outlet = LocalRestriction(), LocalRestriction()
    model.area = TimeFunction(unit="m^2", value=lambda t: quantity("1e-10 m^2") + quantity(
        "8e-6 m^2") * sin(quantity(pi, "1/s") * t) ** 2)  # fmt: skip
    model.cylinder = DoubleActingActuator(
        piston_area_A="1e-3 m^2", piston_area_B="6e-4 m^2", stroke="0.3 m", x="20 mm",
        dead_volume_A="5e-5 m^3", dead_volume_B="5e-5 m^3", p_A=quantity(START[1], "Pa"),
        law="simscape", breakaway_force="700 N", coulomb_force="500 N",
        breakaway_velocity="2 mm/s", viscous_coefficient="200 N*s/m")  # fmt: skip
    model.mass, model.load = Mass(mass="50 kg"), ForceSource(force="-4000 N")
    model.ground = Reference()
    model.connect(model.tank.A, model.pump.A, model.oil.A, model.relief.B, model.outlet.B)
    model.connect(model.pump.B, model.line.A, model.relief.A, model.inlet.A)
    model.connect(model.inlet.B, model.cylinder.A)
    model.connect(model.cylinder.B, model.outlet.A)
    model.connect(model.area.y, model.inlet.AR, model.outlet.AR)
    model.connect(model.cylinder.R, model.mass.M, model.load.R)
    model.connect(model.cylinder.C, model.load.C, model.ground.V)
    return model


def cylinder_line_by_hand(t: float, y: Any) -> np.ndarray:
    """Rates of pressure in the line, at A and at B, of position and of velocity."""
    line, p_A, p_B, x, v = y
    area = 1e-10 + 8e-6 * np.sin(pi * t) ** 2
    open_ = min(max((line - P0 - 12e6) / 2e6, 0.0), 1.0)
    pumped = RHO * 1.5e-4
    relieved = _orifice(line, P0, 1e-10 + (2e-5 - 1e-10) * open_)
    into, out = _orifice(line, p_A, area), _orifice(p_B, P0, area)
    s = v / (sqrt(2) * 0.002)
    friction = sqrt(2 * exp(1)) * 200 * exp(-s * s) * s + 500 * tanh(10 * v / 0.002) + 200 * v
    force = 1e-3 * (p_A - P0) - 6e-4 * (p_B - P0) - 4000 - friction
    return np.array([
        BETA / 1e-5 * (pumped - relieved - into) / _density(line),
        BETA / (5e-5 + 1e-3 * x) * (into / _density(p_A) - 1e-3 * v),
        BETA / (5e-5 + 6e-4 * (0.3 - x)) * (6e-4 * v - out / _density(p_B)),
        v,
        force / 50,
    ])  # fmt: skip


def _density(p: float) -> float:
    return RHO * exp((p - P0) / BETA)


def _orifice(p_A: float, p_B: float, area: float) -> float:
    rho, drop = (_density(p_A) + _density(p_B)) / 2, p_A - p_B
    critical = pi / 4 * rho / (2 * area) * (150 * NU / 0.64) ** 2
    return 0.64 * area * sqrt(2 * rho) * drop / (drop**2 + critical**2) ** 0.25
