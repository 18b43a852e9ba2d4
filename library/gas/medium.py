"""What does a gas weigh, and how much energy does it carry, at a pressure and a temperature?

The gas of a circuit is described by the parameters of its domain, which every port ``at`` knows:
its gas constant Z R, and polynomials of x = (T - T_middle)/T_half for enthalpy, viscosity and
conductivity, none of which depends on pressure::

    density           rho = p/(Z R T)
    enthalpy          h = h(T),  cp = dh/dT,  internal energy u = h - Z R T
    isentropic ratio  gamma = cp/(cp - Z R)

A perfect gas is one whose enthalpy is linear. Since h depends on T alone, the density and the
energy belong together: what is compressed without heat keeps its entropy.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any

from blocks import log, require, sqrt

from ..fluids.polynomials import GAS, E, horner, integral, known_at, slope, within

__all__ = [
    "conductivity", "density", "density_and_enthalpy", "enthalpy", "entropy", "gas_constant",
    "heat_capacity", "isentropic_power", "lift", "rest_flow", "state", "valid", "viscosity",
]  # fmt: skip


def coefficients(at: Any, name: str) -> list[Any]:
    """Coefficients of one property, lowest power first."""
    return [getattr(at, f"{name}_{k}") for k in range(GAS[name] + 1)]


def gas_constant(at: Any) -> Any:
    """Specific gas constant (J/(kg K)), with the compressibility factor."""
    return at.gas_constant


def density(at: Any, p: Any, T: Any) -> Any:
    """Density (kg/m³)."""
    return p / (at.gas_constant * T)


def enthalpy(at: Any, p: Any, T: Any) -> Any:
    """Specific enthalpy (J/kg)."""
    x, beyond = within(at, T)
    return horner(x, coefficients(at, "enthalpy")) + at.enthalpy_1 / at.half_range * beyond


def density_and_enthalpy(at: Any, p: Any, T: Any) -> tuple[Any, Any]:
    """Density (kg/m³) and specific enthalpy (J/kg)."""
    return density(at, p, T), enthalpy(at, p, T)


def heat_capacity(at: Any, T: Any) -> Any:
    """Specific heat capacity at constant pressure (J/(kg K))."""
    return horner(within(at, T)[0], slope(coefficients(at, "enthalpy"))) / at.half_range


def entropy(at: Any, p: Any, T: Any) -> Any:
    """Specific entropy (J/(kg K)), but for a constant: the integral of cp/T less R ln p.

    With cp = (x + a) q(x) + r, where T is proportional to x + a, that is in closed form.
    """
    x, _ = within(at, T)
    a = at.middle_temperature / at.half_range
    quotient: list[Any] = []
    rest: Any = 0
    for c in reversed(slope(coefficients(at, "enthalpy"))):
        quotient.insert(0, rest)
        rest = c - a * rest
    whole = [0 * rest, *integral(quotient[:-1])]
    per_p = log(p / at.minimum_pressure)
    return (horner(x, whole) + rest * log(x + a)) / at.half_range - at.gas_constant * per_p


def isentropic_power(at: Any, T: Any) -> Any:
    """(gamma - 1)/gamma, the power of the pressure that a temperature follows."""
    return at.gas_constant / heat_capacity(at, T)


def viscosity(at: Any, rho: Any, T: Any) -> Any:
    """Dynamic viscosity (Pa s)."""
    return at.viscosity_unit * E ** horner(within(at, T)[0], coefficients(at, "viscosity"))


def conductivity(at: Any, T: Any) -> Any:
    """Thermal conductivity (W/(m K))."""
    return horner(within(at, T)[0], coefficients(at, "conductivity"))


def rest_flow(at: Any, area: Any) -> Any:
    """The mass flow that carries as much heat as gas at rest conducts over a port's diameter."""
    return at.conductivity_0 * sqrt(pi * area) * at.half_range / at.enthalpy_1


def lift(A: Any, B: Any) -> Any:
    """cp T_A ((p_B/p_A)^(R/cp) - 1), what compression without heat takes from A to B (J/kg)."""
    capacity = heat_capacity(A, A.T)
    return capacity * A.T * ((B.p / A.p) ** (A.gas_constant / capacity) - 1)


def state(port: Any) -> Any:
    """What stands at a port beside the pressure: the temperature."""
    return port.T


def valid(at: Any, p: Any, T: Any, place: str = "") -> Iterator[Any]:
    """A pressure and a temperature stay within those of the gas, or the run stops."""
    where = place or f"at {at.name}"
    yield require(
        p > at.minimum_pressure,
        f"the pressure {where} falls below the gas's minimum_pressure: more gas is drawn out than "
        "there is, or too low a pressure is prescribed. Pressures are absolute (atmospheric: "
        "0.101325 MPa); feed this place, or draw less.")  # fmt: skip
    yield known_at(at, T, where, "the gas are known. Take a gas that is known there, by "
                   "GasProperties, or cool and heat less.")
