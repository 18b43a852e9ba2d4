"""What flows in a circuit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from blocks import Option, Parameter, Port, log, quantity

from ..fluids.chambers import Described
from ..fluids.polynomials import GAS, integral, missed, of_table, polynomial_of, sum_of
from ..media import media
from ..tables import table_faults
from ..thermal.domain import ABSOLUTE
from . import medium
from .domain import HIGH, LOW, gas, numbers_of

__all__ = ["GasProperties", "misses", "tabled"]

READY = tuple(media("gases"))
TABLES = {"enthalpy": "specific_heats", "viscosity": "viscosities",
          "conductivity": "conductivities"}  # fmt: skip
UNIT = quantity("1 Pa*s")


def _perfect(c: Any) -> bool:
    return bool(c.gas_spec == "perfect")


def _table(c: Any) -> bool:
    return bool(c.gas_spec == "semiperfect")


class GasProperties(Described):
    """The gas of the circuit that it is connected to.

    Equations: rho = p/(compressibility_factor gas_constant T), and by ``gas_spec``

    * ``"perfect"``: h = reference_enthalpy + specific_heat (T - reference_temperature), constant
      viscosity and conductivity; 1 K to 2999 K. Preset is dry air.
    * ``"semiperfect"``: tables of the temperature, through each of which a polynomial is laid
      (heat capacity, viscosity and conductivity: degree 5); preset is dry air. Where it misses
      a point by more than 1 % ``check()`` says so.
    * ``"air"``, ``"nitrogen"``, ``"carbon dioxide"``, ``"methane"``, ``"hydrogen"``: ready
      semiperfect gases, fitted with CoolProp; ranges and errors are in ``library.media``.

    Real gases, whose density departs from p/(R T), are not modelled beyond a constant
    compressibility factor. Where a temperature leaves the range, or a pressure falls below
    ``minimum_pressure``, the run stops. A circuit without this component holds dry air.

    Ports: A, anywhere in the circuit; nothing flows through it.
    """

    fluid = medium
    gas_spec = Option("perfect", ("perfect", "semiperfect", *READY), doc="which gas")
    A = Port(gas, sets=True, doc="any port of the circuit")
    gas_constant = Parameter("287 J/(K*kg)", above=0, when=lambda c: _perfect(c) or _table(c),
                             doc="Specific gas constant R")  # fmt: skip
    compressibility_factor = Parameter(1.0, above=0, when=lambda c: _perfect(c) or _table(c),
                                       doc="Compressibility factor Z")  # fmt: skip
    reference_temperature = Parameter("293.15 K", ABSOLUTE, above=0, when=_perfect,
                                      doc="Temperature of the reference enthalpy")  # fmt: skip
    reference_enthalpy = Parameter("420 kJ/kg", when=_perfect, doc="Enthalpy there")
    specific_heat = Parameter("1000 J/(K*kg)", above=0, when=_perfect,
                              doc="Specific heat capacity at constant pressure")  # fmt: skip
    viscosity = Parameter("18 uPa*s", above=0, when=_perfect, doc="Dynamic viscosity")
    conductivity = Parameter("26 mW/(K*m)", above=0, when=_perfect, doc="Thermal conductivity")
    temperatures = Parameter([f"{T} K" for T in (200, 300, 400, 600, 800, 1000, 1300)], ABSOLUTE,
                             above=0, when=_table, doc="Temperatures of the tables")  # fmt: skip
    specific_heats = Parameter(
        [f"{c} J/(K*kg)" for c in (1002.0, 1004.7, 1013.4, 1050.9, 1098.6, 1140.8, 1187.0)],
        above=0, when=_table, doc="Specific heat capacities at constant pressure")  # fmt: skip
    viscosities = Parameter([f"{v} uPa*s" for v in (13.3, 18.5, 23.1, 30.6, 37.0, 42.4, 49.6)],
                            above=0, when=_table, doc="Dynamic viscosities")  # fmt: skip
    conductivities = Parameter(
        [f"{k} mW/(K*m)" for k in (18.2, 26.4, 33.5, 45.8, 57.2, 67.5, 81.7)], above=0, when=_table,
        doc="Thermal conductivities")  # fmt: skip
    minimum_pressure = Parameter("1 kPa", above=0, doc="Absolute pressure at which the run stops")

    def verify(self) -> Iterator[str]:
        if _table(self):
            yield from table_faults(("temperatures", self.temperatures), **{
                name: getattr(self, name) for name in TABLES.values()})  # fmt: skip
        if _perfect(self) and np.any(
                self.specific_heat <= self.gas_constant * self.compressibility_factor):
            yield (f"specific_heat is {self.specific_heat:~P}, not above the gas constant, which "
                   f"is {self.gas_constant:~P}: cv = cp - R would not be positive.")  # fmt: skip

    def advise(self) -> Iterator[str]:
        if not _table(self) or any(True for _ in self.verify()):
            return
        yield from misses(self.temperatures, **{
            table: (of_table(GAS, name), getattr(self, table)) for name, table in TABLES.items()})

    def equations(self) -> Iterator[Any]:
        if self.gas_spec in READY:
            yield from self.said(numbers_of(media("gases")[self.gas_spec]))
            return
        R = self.gas_constant * self.compressibility_factor
        yield from self.said(described(*self._perfect(), R) if _perfect(self) else tabled(
            R, self.temperatures, self.viscosities, self.conductivities, heats=self.specific_heats))

    def _perfect(self) -> tuple[Any, Any, dict[str, list[Any]]]:
        low, high = quantity(f"{LOW} K"), quantity(f"{HIGH} K")
        middle = self.reference_enthalpy + self.specific_heat * (
            (low + high) / 2 - self.reference_temperature)  # fmt: skip
        return low, high, {
            "enthalpy": [middle, self.specific_heat * (high - low) / 2],
            "viscosity": [log(self.viscosity / UNIT)], "conductivity": [self.conductivity],
        }  # fmt: skip


def described(low: Any, high: Any, of: dict[str, list[Any]], R: Any) -> dict[str, Any]:
    """The parameters of the domain of a gas with these polynomials of the temperature."""
    return {"gas_constant": R, "viscosity_unit": UNIT, "middle_temperature": (low + high) / 2,
            "half_range": (high - low) / 2, **{
                f"{name}_{k}": of[name][k] if k < len(of[name]) else 0 * of[name][0]
                for name, degree in GAS.items() for k in range(degree + 1)}}  # fmt: skip


def tabled(R: Any, T: Any, viscosities: Any, conductivities: Any, heats: Any = None,
           enthalpies: Any = None) -> dict[str, Any]:
    """The parameters of the domain of a gas by tables of the temperature."""
    low, high = T[0], T[len(T) - 1]
    found = {name: polynomial_of(GAS[name], T, values) for name, values in (
        ("viscosity", log(viscosities / UNIT)), ("conductivity", conductivities))}  # fmt: skip
    if enthalpies is not None:
        found["enthalpy"] = polynomial_of(GAS["enthalpy"], T, enthalpies)
    else:
        rising = [(high - low) / 2 * c for c in integral(
            polynomial_of(of_table(GAS, "enthalpy"), T, heats))]  # fmt: skip
        zero = heats[0] * low + sum_of(c * (-1) ** k for k, c in enumerate(rising))
        found["enthalpy"] = [zero, *rising]
    return described(low, high, found, R)


def misses(T: Any, **tables: Any) -> Iterator[str]:
    """What is said of tables of a gas that no polynomial meets; by name degree and values."""
    for name, (degree, values) in tables.items():
        error = missed(degree, np.asarray(T.to("K").magnitude), np.asarray(values.magnitude))
        if error > 0.01:
            yield (f"the polynomial through {name} misses a point by {error:.1%}: give a narrower "
                   "range of temperatures, or smoother values.")  # fmt: skip
