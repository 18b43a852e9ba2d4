"""What does moist air weigh, how much energy does it carry, and how much water can it hold?

Moist air is a mixture of dry gas, water vapour and a trace gas, all ideal, of which x_w, the
specific humidity, is vapour by mass, and x_g trace gas. The dry gas is described by the parameters
of the domain, which every port ``at`` knows, in the form of ``library.gas.medium``, and so is the
trace gas; the numbers of water stand in ``library.media``::

    gas constant   R = x_a R_a + x_w R_w + x_g R_g with x_a = 1 - x_w - x_g,  density rho = p/(R T)
    enthalpy       h = x_a h_a(T) + x_w h_w(T) + x_g h_g(T); likewise viscosity and conductivity
    mole fraction  y_w = x_w R_w/R, y_g = x_g R_g/R,  relative humidity y_w p/p_ws(T)

p_ws is the pressure of saturation over liquid water, below the triple point (273.16 K) over ice.
h_a of air is 0 at 0 °C, liquid water has no enthalpy at the triple point, as in psychrometric
charts.
Left out is that vapour is a little denser in air than alone: at 1 atm by 0.4 %.

References
----------
W. Wagner, A. Pruss, J. Phys. Chem. Ref. Data 22 (1993) 783-787, for liquid water. W. Wagner,
T. Riethmann, R. Feistel, A. H. Harvey, J. Phys. Chem. Ref. Data 40 (2011) 043103, for ice.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from blocks import quantity, require, sqrt, where

from ..fluids.polynomials import E, known_at
from ..gas import medium as gas
from ..gas.domain import numbers_of
from ..media import media

__all__ = [
    "SPECIES", "Trace", "conductivity", "density", "density_and_enthalpy", "enthalpy",
    "gas_constant", "heat_capacity", "humidity", "isentropic_power", "lift", "liquid_enthalpy",
    "rest_flow", "saturation_pressure", "shares", "state", "trace_fraction", "valid",
    "vapour_enthalpy", "viscosity",
]  # fmt: skip

SPECIES = (("mdot_w", "x_w"), ("mdot_g", "x_g"))
rest_flow, state = gas.rest_flow, gas.state


def _numbers(name: str) -> SimpleNamespace:
    numbers = {"gas_constant": 0.0, "viscosity": [0.0], "conductivity": [0.0],
               **media("moist_air")[name]}  # fmt: skip
    return SimpleNamespace(**{key: quantity(value) for key, value in numbers_of(numbers).items()})


VAPOUR, LIQUID = _numbers("vapour"), _numbers("liquid")
TRIPLE, TRIPLE_PRESSURE = quantity("273.16 K"), quantity("611.657 Pa")
CRITICAL, CRITICAL_PRESSURE = quantity("647.096 K"), quantity("22.064 MPa")
COLDEST, HOTTEST = quantity("150 K"), quantity("640 K")  # beyond, saturation is not asked for
FUSION, ICE = quantity("333.4 kJ/kg"), quantity("2.06 kJ/(kg*K)")  # heat of freezing, capacity
FREEZES = quantity("1 K")  # over which condensate turns from liquid to ice


class Trace:
    """What ``library.gas.medium`` is asked about for the trace gas at a port."""

    def __init__(self, at: Any) -> None:
        self._at = at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._at, f"trace_{name}")


def _mixed(at: Any, air: Any, vapour: Any, trace: Any) -> Any:
    return air + at.x_w * (vapour - air) + at.x_g * (trace - air)


def gas_constant(at: Any) -> Any:
    """Specific gas constant of the mixture (J/(kg K))."""
    return _mixed(at, at.gas_constant, VAPOUR.gas_constant, at.trace_gas_constant)


def density(at: Any, p: Any, T: Any) -> Any:
    """Density (kg/m³)."""
    return p / (gas_constant(at) * T)


def vapour_enthalpy(T: Any) -> Any:
    """Specific enthalpy of water vapour (J/kg)."""
    return gas.enthalpy(VAPOUR, None, T)


def enthalpy(at: Any, p: Any, T: Any) -> Any:
    """Specific enthalpy of the mixture (J/kg)."""
    return _mixed(at, gas.enthalpy(at, p, T), vapour_enthalpy(T), gas.enthalpy(Trace(at), p, T))


def density_and_enthalpy(at: Any, p: Any, T: Any) -> tuple[Any, Any]:
    """Density (kg/m³) and specific enthalpy (J/kg)."""
    return density(at, p, T), enthalpy(at, p, T)


def heat_capacity(at: Any, T: Any) -> Any:
    """Specific heat capacity at constant pressure (J/(kg K))."""
    return _mixed(at, *(gas.heat_capacity(of, T) for of in (at, VAPOUR, Trace(at))))


def isentropic_power(at: Any, T: Any) -> Any:
    """(gamma - 1)/gamma, the power of the pressure that a temperature follows."""
    return gas_constant(at) / heat_capacity(at, T)


def viscosity(at: Any, rho: Any, T: Any) -> Any:
    """Dynamic viscosity (Pa s)."""
    return _mixed(at, *(gas.viscosity(of, rho, T) for of in (at, VAPOUR, Trace(at))))


def conductivity(at: Any, T: Any) -> Any:
    """Thermal conductivity (W/(m K))."""
    return _mixed(at, *(gas.conductivity(of, T) for of in (at, VAPOUR, Trace(at))))


def lift(A: Any, B: Any) -> Any:
    """cp T_A ((p_B/p_A)^(R/cp) - 1), what compression without heat takes from A to B (J/kg)."""
    capacity = heat_capacity(A, A.T)
    return capacity * A.T * ((B.p / A.p) ** (gas_constant(A) / capacity) - 1)


def saturation_pressure(T: Any) -> Any:
    """The pressure of water vapour (Pa) over liquid water, or over ice."""
    T = where(T > HOTTEST, HOTTEST, where(T < COLDEST, COLDEST, T, events=False), events=False)
    t = 1 - T / CRITICAL
    r = sqrt(t)
    water = t / (1 - t) * (
        -7.85951783 + 1.84408259 * r - 11.7866497 * t**2 + 22.6807411 * t**2 * r
        - 15.9618719 * t**3 + 1.80122502 * t**6 * r)  # fmt: skip
    z = T / TRIPLE
    ice = (-21.2144006 * z**0.00333333333 + 27.3203819 * z**1.20666667
           - 6.10598130 * z**1.70333333) / z  # fmt: skip
    return where(T > TRIPLE, CRITICAL_PRESSURE * E**water, TRIPLE_PRESSURE * E**ice, events=False)


def liquid_enthalpy(T: Any) -> Any:
    """Specific enthalpy (J/kg) of what condenses: liquid water, below the triple point ice."""
    liquid, ice = gas.enthalpy(LIQUID, None, T), ICE * (T - TRIPLE) - FUSION
    s = (T - TRIPLE) / FREEZES + 1
    s = where(s > 1, 1, where(s < 0, 0, s, events=False), events=False)
    return ice + s**2 * (3 - 2 * s) * (liquid - ice)


def shares(at: Any, spec: str, value: Any, trace_spec: str, trace: Any, p: Any, T: Any
           ) -> tuple[Any, Any]:
    """The shares x_w and x_g by mass that a humidity and a share of trace gas mean.

    They are given as ``humidity`` and ``trace_fraction`` give them. From y_k = x_k R_k/R follows
    R (1 - sum of y_k (1 - R_a/R_k)) = R_a + sum of x_k (R_k - R_a), with what is given by moles on
    the left and by mass on the right.
    """
    if spec == "humidity_ratio":
        value = value / (1 + value)
    if spec == "relative":
        vapour = value * saturation_pressure(T)
        value = where(vapour < p, vapour / p, 1, events=False)
    given = ((spec in ("relative", "mole_fraction"), value, VAPOUR.gas_constant),
             (trace_spec == "mole_fraction", trace, at.trace_mole_constant))  # fmt: skip
    R, rest = at.gas_constant, 1
    for by_moles, x, R_k in given:
        if by_moles:
            rest -= x * (R_k - at.gas_constant) / R_k
        else:
            R += x * (R_k - at.gas_constant)
    x_w, x_g = (x * R / (rest * R_k) if by_moles else x for by_moles, x, R_k in given)
    return x_w, x_g


def _by_moles(at: Any, x: Any, own: Any) -> Any:
    """The mole fraction of a species with this share by mass and gas constant."""
    return x * own / _mixed(at, at.gas_constant, VAPOUR.gas_constant, at.trace_mole_constant)


def humidity(at: Any, spec: str, p: Any, T: Any) -> Any:
    """The humidity of moist air, as a share by mass or moles, relative, or per dry air."""
    x = at.x_w
    if spec == "mass_fraction":
        return x
    if spec == "humidity_ratio":
        return x / (1 - x)
    y = _by_moles(at, x, VAPOUR.gas_constant)
    return y if spec == "mole_fraction" else y * p / saturation_pressure(T)


def trace_fraction(at: Any, spec: str) -> Any:
    """The share of trace gas, by mass or by moles."""
    return at.x_g if spec == "mass_fraction" else _by_moles(at, at.x_g, at.trace_mole_constant)


def valid(at: Any, p: Any, T: Any, place: str = "") -> Iterator[Any]:
    """Pressure, temperature and shares stay within those known, or the run stops."""
    where = place or f"at {at.name}"
    yield require(
        p > at.minimum_pressure,
        f"the pressure {where} falls below the moist air's minimum_pressure: more air is drawn "
        "out than there is, or too low a pressure is prescribed. Pressures are absolute "
        "(atmospheric: 0.101325 MPa); feed this place, or draw less.")  # fmt: skip
    for known in (at, VAPOUR, Trace(at)):
        yield known_at(known, T, where, "moist air are known (213.15 K to 623.15 K with dry air). "
                       "Cool and heat it less, or take library.gas.")
    yield require(
        (at.x_w > -1e-6) & (at.x_g > -1e-6) & (at.x_w + at.x_g < 1 + 1e-6),
        f"the humidity {where} falls below none, or the trace gas there does, or both exceed the "
        "whole: more is taken out than there is, or a reservoir is given an impossible share.")
