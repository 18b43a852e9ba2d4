"""What does a fluid of two phases weigh, and how much energy does it carry, at p and u?

The fluid of a circuit is described by the parameters of its domain, which every port ``at`` knows.
Each phase has polynomials of its own. With the pressure p and the specific internal energy u::

    x = (sqrt(ln(p_critical/p)) - middle)/half      u_l(x), u_v(x) of saturated liquid and vapour
    liquid    y = u between -1 and 1, z = p/p_max   v(y, z), T(y, z), s(y, z)
    vapour    w = (u - u_v)/(u_max - u_v)           p v(x, w), T(x, w), s(x, w)
    mixture   quality c = (u - u_l)/(u_v - u_l),    v = (1 - c) v_l + c v_v, likewise T and s

In x both lines of saturation are smooth up to near the critical point. A liquid is described by
its energy, not by its distance from boiling, so that its small compressibility is a coefficient
and not the difference of two large ones. The value is the same on both sides of a line of
saturation, the derivative by pressure is not: boiling starts there.

Energies are CoolProp's, u = 0 where the field counts from: of water at the triple point.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any, NamedTuple

from blocks import log, require, sqrt, where

from ..fluids.polynomials import TWO_PHASE, E, horner, slope

__all__ = [
    "boiling", "conductivities", "density", "enthalpy", "entropy", "heat_capacities", "place",
    "quality", "rest_flow", "saturation", "specific_volume", "state", "temperature",
    "temperatures_alone", "valid", "viscosities", "viscosity", "volumes",
]  # fmt: skip

FAR = 0.05  # of the range of u, how far beyond it numbers are trusted before a run stops


def polynomial(at: Any, name: str, first: Any, second: Any = 0, by: str = "") -> Any:
    """One of the polynomials of the domain, or its derivative by "first" or "second"."""
    m, n = TWO_PHASE[name]
    rows = [[getattr(at, f"{name}_{i}_{j}") for j in range(n + 1)] for i in range(m + 1)]
    columns = [horner(second, slope(row) if by == "second" else row) for row in rows]
    return horner(first, slope(columns) if by == "first" else columns)


def between(value: Any, low: Any, high: Any, events: bool = False) -> Any:
    """A value, held beyond two bounds: trial steps may go far, and polynomials lead further."""
    return where(value > high, high, where(value < low, low, value, events=events), events=events)


class Place(NamedTuple):
    """Where a pressure and an internal energy lie between the phases."""

    quality: Any  # of u, also below 0 and above 1
    share: Any  # of vapour, from 0 to 1
    energy: Any  # of the liquid, y
    pressure: Any  # z
    boiling: Any  # x
    heating: Any  # of the vapour, w
    beyond: Any  # how far u is above the range of the vapour


def line(at: Any, p: Any) -> Any:
    """The pressure as x, on the lines of saturation."""
    held = between(p, at.lowest_pressure, at.highest_pressure)
    return (sqrt(log(at.critical_pressure / held)) - at.middle) / at.half_range


def saturation(at: Any, p: Any) -> tuple[Any, Any]:
    """Specific internal energies (J/kg) of saturated liquid and vapour."""
    x = line(at, p)
    return polynomial(at, "saturated_liquid", x), polynomial(at, "saturated_vapour", x)


def place(at: Any, p: Any, u: Any, events: bool = False) -> Place:
    """Where p and u lie between the phases; with ``events``, steps end where that changes."""
    u_l, u_v = saturation(at, p)
    whole = at.highest_liquid - at.lowest_energy
    quality = (u - u_l) / (u_v - u_l)
    liquid = between(u, at.lowest_energy - FAR * whole, u_l)
    warmed = (u - u_v) / (at.highest_energy - u_v)
    w = between(warmed, 0, 1 + FAR)
    beyond = where(warmed > 1 + FAR, warmed - w, 0, events=False)
    return Place(
        quality, between(quality, 0, 1, events), 2 * (liquid - at.lowest_energy) / whole - 1,
        between(p, at.lowest_pressure, 2 * at.highest_pressure) / at.highest_pressure,
        line(at, p), w, beyond)  # fmt: skip


def mixed(at: Any, name: str, of: Place) -> Any:
    """A property of both phases, mixed by mass."""
    liquid = polynomial(at, f"liquid_{name}", of.energy, of.pressure)
    vapour = polynomial(at, f"vapour_{name}", of.boiling, of.heating)
    return (1 - of.share) * liquid + of.share * vapour * (1 + of.beyond)


def specific_volume(at: Any, p: Any, u: Any, events: bool = False) -> Any:
    """Specific volume (m³/kg)."""
    of = place(at, p, u, events)
    liquid = polynomial(at, "liquid_volume", of.energy, of.pressure)
    vapour = polynomial(at, "vapour_work", of.boiling, of.heating) * (1 + of.beyond)
    # at a pressure below zero, in a trial step, there is still a volume
    held = where(p > at.lowest_pressure / 10, p, at.lowest_pressure / 10, events=False)
    return (1 - of.share) * liquid + of.share * vapour / held


def density(at: Any, p: Any, u: Any) -> Any:
    """Density (kg/m³)."""
    return 1 / specific_volume(at, p, u)


def enthalpy(at: Any, p: Any, u: Any) -> Any:
    """Specific enthalpy (J/kg)."""
    return u + p * specific_volume(at, p, u)


def temperature(at: Any, p: Any, u: Any) -> Any:
    """Absolute temperature (K)."""
    return mixed(at, "temperature", place(at, p, u))


def entropy(at: Any, p: Any, u: Any) -> Any:
    """Specific entropy (J/(kg K)), as CoolProp counts it."""
    return mixed(at, "entropy", place(at, p, u))


def boiling(at: Any, p: Any) -> Any:
    """The temperature (K) at which the fluid boils."""
    of = place(at, p, saturation(at, p)[0])
    return polynomial(at, "liquid_temperature", of.energy, of.pressure)


def temperatures_alone(at: Any, p: Any, u: Any) -> tuple[Any, Any]:
    """Temperatures (K) of liquid and vapour that end nowhere: for what is given by them."""
    u_l, u_v = saturation(at, p)
    span = at.highest_liquid - at.lowest_energy
    y, w = 2 * (u - at.lowest_energy) / span - 1, (u - u_v) / (at.highest_energy - u_v)
    held, warm = between(y, -1, 1), between(w, 0, 1)
    z = between(p, at.lowest_pressure, 2 * at.highest_pressure) / at.highest_pressure
    liquid = polynomial(at, "liquid_temperature", held, z) + at.liquid_temperature_1_0 * (y - held)
    gas = polynomial(at, "vapour_temperature", line(at, p), warm) + at.vapour_temperature_0_1 * (
        w - warm)  # fmt: skip
    return liquid, gas


def volumes(at: Any, p: Any, of: Place) -> tuple[Any, Any]:
    """Specific volumes (m³/kg) of the liquid and the vapour in a mixture."""
    return (polynomial(at, "liquid_volume", of.energy, of.pressure),
            polynomial(at, "vapour_work", of.boiling, of.heating) / p)


def quality(at: Any, p: Any, u: Any) -> Any:
    """(u - u_l)/(u_v - u_l): the share of vapour from 0 to 1, below and above it one phase."""
    return place(at, p, u).quality


def viscosities(at: Any, of: Place) -> tuple[Any, Any]:
    """Dynamic viscosities (Pa s) of liquid and vapour."""
    return (at.viscosity_unit * E ** polynomial(at, "liquid_viscosity", of.energy),
            at.viscosity_unit * E ** polynomial(at, "vapour_viscosity", of.boiling, of.heating))


def viscosity(at: Any, of: Place) -> Any:
    """Dynamic viscosity (Pa s), of a mixture after McAdams."""
    liquid, vapour = viscosities(at, of)
    return 1 / ((1 - of.share) / liquid + of.share / vapour)


def conductivities(at: Any, of: Place) -> tuple[Any, Any]:
    """Thermal conductivities (W/(m K)) of liquid and vapour."""
    return (polynomial(at, "liquid_conductivity", of.energy),
            polynomial(at, "vapour_conductivity", of.boiling, of.heating))


def heat_capacities(at: Any, of: Place) -> tuple[Any, Any]:
    """Specific heat capacities at constant pressure (J/(kg K)) of liquid and vapour."""
    span = (at.highest_liquid - at.lowest_energy) / 2
    added = at.highest_energy - polynomial(at, "saturated_vapour", of.boiling) + polynomial(
        at, "vapour_work", of.boiling, of.heating, by="second")  # fmt: skip
    return (span / polynomial(at, "liquid_temperature", of.energy, of.pressure, by="first"),
            added / polynomial(at, "vapour_temperature", of.boiling, of.heating, by="second"))


def rest_flow(at: Any, area: Any) -> Any:
    """The mass flow that carries as much heat as liquid at rest conducts over a port's diameter."""
    span = (at.highest_liquid - at.lowest_energy) / 2
    return at.liquid_conductivity_0_0 * sqrt(pi * area) * at.liquid_temperature_1_0 / span


def state(port: Any) -> Any:
    """What stands at a port beside the pressure: the specific internal energy."""
    return port.u


def valid(at: Any, p: Any, u: Any, place: str = "") -> Iterator[Any]:
    """A pressure and an internal energy stay within those of the fluid, or the run stops."""
    where = place or f"at {at.name}"
    margin = 1e-6
    yield require(
        p > (1 - margin) * at.lowest_pressure,
        f"the pressure {where} falls below those at which the properties of the fluid are known "
        "(TwoPhaseFluidProperties says which). Pressures are absolute. Let less out, cool it less, "
        "or take another fluid.")  # fmt: skip
    yield require(
        p < (1 + margin) * at.highest_pressure,
        f"the pressure {where} comes near the critical pressure of the fluid, above which it has "
        "no two phases: supercritical states are not modelled (TwoPhaseFluidProperties says up to "
        "which pressure it is known). Pressures are absolute. A chamber full of liquid rises fast: "
        "leave it some vapour, or let something out. A transcritical cycle takes a fluid with a "
        "higher critical pressure here; a supercritical gas alone is one for library.gas.")
    span = at.highest_energy - at.lowest_energy
    known = (f"the internal energy {where} leaves the range in which the fluid is known: it is too "
             "{}, or take another fluid by TwoPhaseFluidProperties.")
    yield require(u > at.lowest_energy - margin * span, known.format("cold. Cool it less"))
    yield require(u < at.highest_energy + margin * span, known.format(
        "hot. Heat it less, let less of it out") + " A compressor whose outlet leads back to its "
        "inlet through nodes alone, as a reversing valve does half-way, heats what holds no heat: "
        "give its inlet and its outlet a ConstantVolumeChamber.")  # fmt: skip
