"""What does a liquid weigh, and how much energy does it carry, at a pressure and a temperature?

The liquid of a circuit is described by the parameters of its domain, which every port ``at``
knows: polynomials of x = (T - T_middle)/T_half for what it is at atmospheric pressure p0, and a
bulk modulus beta(T) that grows with pressure by K > 1. With P = p - p0 and s = P/beta::

    specific volume  v = v0(T) phi(s),   phi = (1 + K s)^(-1/K)
    density          rho = 1/v
    enthalpy         h = h0(T) + W - T dW/dT,   W = v0 beta times the integral of phi from 0 to s
    internal energy  u = h - p v

W is the work of compression at constant temperature, the integral of v dp. An enthalpy of this
form is the only one that belongs to such a density: dh/dp = v - T dv/dT then holds exactly at
every point, so that what is compressed without heat keeps its entropy.

The viscosity is the exponential of a polynomial times a power of rho v0, with an exponent that
is a polynomial, too, and 0 where tables are of the temperature alone. The conductivity does not
depend on pressure.
"""

from __future__ import annotations

from math import pi
from typing import Any

from blocks import log, require, sqrt

from ..fluids.polynomials import LIQUID, E, horner, known_at, slope, within

__all__ = [
    "conductivity", "density", "density_and_enthalpy", "enthalpy", "heat_capacity", "lift",
    "rest_flow", "state", "valid", "viscosity",
]  # fmt: skip

def coefficients(at: Any, name: str) -> list[Any]:
    """Coefficients of one property, lowest power first."""
    return [getattr(at, f"{name}_{k}") for k in range(LIQUID[name] + 1)]


def density_and_enthalpy(at: Any, p: Any, T: Any) -> tuple[Any, Any]:
    """Density (kg/m³) and specific enthalpy (J/kg)."""
    x, beyond = within(at, T)
    volume, modulus = coefficients(at, "volume"), coefficients(at, "bulk_modulus")
    v0, beta = horner(x, volume), horner(x, modulus)
    v0_T, beta_T = (horner(x, slope(c)) / at.half_range for c in (volume, modulus))
    K, s = at.bulk_modulus_gain, (p - at.atmospheric_pressure) / beta
    stiffer = 1 + K * s
    phi = stiffer ** (-1 / K)
    area = (stiffer * phi - 1) / (K - 1)  # integral of phi
    by_temperature = v0_T * beta * area + v0 * beta_T * (area - s * phi)
    h = horner(x, coefficients(at, "enthalpy")) + v0 * beta * area - (
        T - beyond) * by_temperature + at.enthalpy_1 / at.half_range * beyond
    return 1 / (v0 * phi), h


def density(at: Any, p: Any, T: Any) -> Any:
    """Density (kg/m³)."""
    return density_and_enthalpy(at, p, T)[0]


def enthalpy(at: Any, p: Any, T: Any) -> Any:
    """Specific enthalpy (J/kg)."""
    return density_and_enthalpy(at, p, T)[1]


def heat_capacity(at: Any, T: Any) -> Any:
    """Specific heat capacity at constant pressure (J/(kg K)), at atmospheric pressure."""
    return horner(within(at, T)[0], slope(coefficients(at, "enthalpy"))) / at.half_range


def viscosity(at: Any, rho: Any, T: Any) -> Any:
    """Dynamic viscosity (Pa s) at a density."""
    x = within(at, T)[0]
    logarithm, power, v0 = (horner(x, coefficients(at, name))
                            for name in ("viscosity", "thickening", "volume"))  # fmt: skip
    return rho * at.viscosity_unit * E ** (logarithm + power * log(rho * v0))


def conductivity(at: Any, T: Any) -> Any:
    """Thermal conductivity (W/(m K))."""
    return horner(within(at, T)[0], coefficients(at, "conductivity"))


def rest_flow(at: Any, area: Any) -> Any:
    """The mass flow that carries as much heat as liquid at rest conducts over a port's diameter."""
    capacity = at.enthalpy_1 / at.half_range
    return at.conductivity_0 * sqrt(pi * area) / capacity


def state(port: Any) -> Any:
    """What stands at a port beside the pressure: the temperature."""
    return port.T


def valid(at: Any, p: Any, T: Any, place: str = "") -> Any:
    """A pressure and a temperature stay within those of the liquid, or the run stops."""
    where = place or f"at {at.name}"
    yield require(
        p > at.minimum_pressure,
        f"the pressure {where} falls below the liquid's minimum_pressure, at which it would "
        "evaporate: more liquid is drawn out than comes in, liquid that is closed in cools, or too "
        "low a pressure is prescribed. Pressures are absolute (atmospheric: 0.101325 MPa); start "
        "at a higher pressure, feed this place (a Reservoir for what it expands into), or draw "
        "less.")  # fmt: skip
    yield known_at(at, T, where, "the liquid are known. Take a liquid that is known there, by "
                   "ThermalLiquidSettings, ThermalLiquidTables or ThermalLiquidProperties, or cool "
                   "and heat less.")


def lift(A: Any, B: Any) -> Any:
    """Work that raises a kilogram from the pressure of A to that of B (J/kg)."""
    return (B.p - A.p) * (1 / density(A, A.p, A.T) + 1 / density(B, B.p, B.T)) / 2
