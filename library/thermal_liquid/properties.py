"""What flows in a circuit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from blocks import Component, Option, Parameter, Port, log, quantity

from ..fluids.chambers import sum_of
from ..fluids.degrees import LIQUID, of_table
from ..fluids.fitting import missed, polynomial_of
from ..fluids.polynomials import integral
from ..media import media
from ..tables import table_faults
from ..thermal.domain import ABSOLUTE
from .domain import numbers_of, thermal_liquid

__all__ = ["ThermalLiquidProperties", "ThermalLiquidSettings"]

LIQUIDS = tuple(media("liquids"))
TABLES = {"volume": "densities", "enthalpy": "specific_heats", "viscosity": "viscosities",
          "conductivity": "conductivities", "bulk_modulus": "bulk_moduli"}  # fmt: skip


class ThermalLiquidProperties(Component):
    """A ready liquid in the circuit that it is connected to.

    ``liquid`` is one of ``"water"`` (273.16 K to 373.12 K), ``"glycol 50"`` (ethylene glycol in
    water, 50 % by mass, 238.15 K to 373.15 K) and ``"oil"`` (heat transfer oil Therminol 66,
    283.15 K to 523.15 K): polynomials fitted with CoolProp, errors in ``library.media``. Where a
    temperature leaves the range, or a pressure falls below ``minimum_pressure``, the run stops:
    the liquid would freeze or boil, which is not modelled. Where a circuit has no such component
    it holds water.

    Parameters: atmospheric_pressure (MPa), minimum_pressure (kPa), both absolute.
    Ports: A, anywhere in the circuit; nothing flows through it.

    Examples
    --------
    >>> coolant = ThermalLiquidProperties(liquid="glycol 50")
    """

    liquid = Option("water", LIQUIDS, doc="which liquid")
    A = Port(thermal_liquid, sets=True, doc="any port of the circuit")
    atmospheric_pressure = Parameter("0.101325 MPa", above=0, doc="Absolute pressure outside")
    minimum_pressure = Parameter("1 kPa", above=0, doc="Absolute pressure at which the run stops")

    def equations(self) -> Iterator[Any]:
        A = self.A
        yield A.mdot == 0
        yield A.Phi == 0
        for name, value in numbers_of(media("liquids")[self.liquid]).items():
            if name not in ("atmospheric_pressure", "minimum_pressure"):
                yield getattr(A, name) == quantity(value)
        yield A.atmospheric_pressure == self.atmospheric_pressure
        yield A.minimum_pressure == self.minimum_pressure


class ThermalLiquidSettings(Component):
    """A liquid by tables of the temperature, in the circuit that it is connected to.

    The tables hold at atmospheric pressure; with pressure the density grows by the bulk modulus
    beta: rho = rho_0 (1 + K P/beta)^(1/K), with K = ``bulk_modulus_gain`` (4 to 12 in most
    liquids) and P the pressure above the atmosphere. The enthalpy is the integral of the heat
    capacity and the work of compression that belongs to that density.

    A polynomial is laid through each table (of volume and viscosity of degree 5, of heat capacity
    4, bulk modulus and conductivity 3), so that laws are smooth; where it misses a point by more
    than 1 % ``check()`` says so. Where a temperature leaves the table, or a pressure falls below
    ``minimum_pressure``, the run stops.

    With ``energy_spec="internal_energies"`` their table takes the place of the heat capacities.

    Parameters: temperatures (K), densities (kg/m^3), specific_heats (J/(K*kg)),
    internal_energies (kJ/kg), viscosities (cSt), conductivities (W/(K*m)), bulk_moduli (GPa), one
    value per temperature, or one for all but the energies; bulk_modulus_gain (1),
    atmospheric_pressure (MPa), minimum_pressure (kPa).
    Ports: A, anywhere in the circuit; nothing flows through it.
    """

    A = Port(thermal_liquid, sets=True, doc="any port of the circuit")
    temperatures = Parameter([f"{273.16 + 10 * k:.2f} K" for k in range(11)], ABSOLUTE, above=0,
                             doc="Temperatures of the tables, increasing")  # fmt: skip
    densities = Parameter(
        [f"{d} kg/m^3" for d in (999.8438, 999.7016, 998.2051, 995.6464, 992.2125, 988.0305,
                                 983.1907, 977.7589, 971.7842, 965.3029, 958.3706)],
        above=0, doc="Densities at atmospheric pressure")  # fmt: skip
    energy_spec = Option("specific_heats", ("specific_heats", "internal_energies"),
                         doc="which table tells the energy")  # fmt: skip
    specific_heats = Parameter(
        [f"{c} J/(K*kg)" for c in (4219.41, 4195.14, 4184.04, 4179.82, 4179.42, 4181.35, 4184.96,
                                   4190.07, 4196.76, 4205.22, 4215.64)],
        above=0, when=lambda c: c.energy_spec == "specific_heats",
        doc="Specific heat capacities at constant pressure")  # fmt: skip
    internal_energies = Parameter(
        [f"{u} kJ/kg" for u in (0.0, 42.058, 83.95, 125.763, 167.552, 209.352, 251.185, 293.062,
                                334.994, 376.998, 419.1)],
        when=lambda c: c.energy_spec == "internal_energies",
        doc="Specific internal energies at atmospheric pressure")  # fmt: skip
    viscosities = Parameter(
        [f"{v} cSt" for v in (1.7914, 1.3059, 1.0032, 0.8005, 0.6577, 0.553, 0.4739, 0.4127,
                              0.3643, 0.3254, 0.2939)],
        above=0, doc="Kinematic viscosities", advice={
            "Pa*s": "The kinematic viscosity is wanted: divide the dynamic one by the density."})
    conductivities = Parameter(
        [f"{k} W/(K*m)" for k in (0.5557, 0.5788, 0.598, 0.6144, 0.6285, 0.6406, 0.651, 0.6598,
                                  0.667, 0.6728, 0.6772)],
        above=0, doc="Thermal conductivities")  # fmt: skip
    bulk_moduli = Parameter(
        [f"{b} GPa" for b in (1.9654, 2.0918, 2.1791, 2.2337, 2.2605, 2.2638, 2.2472, 2.214,
                              2.1668, 2.1081, 2.0401)],
        above=0, doc="Isothermal bulk moduli at atmospheric pressure")  # fmt: skip
    bulk_modulus_gain = Parameter(6.25, above=1, doc="Bulk modulus gained per pressure")
    atmospheric_pressure = Parameter("0.101325 MPa", above=0, doc="Absolute pressure outside")
    minimum_pressure = Parameter("1 kPa", above=0, doc="Absolute pressure at which the run stops")

    def tables(self) -> dict[str, str]:
        """The table of every property."""
        return TABLES | {"enthalpy": self.energy_spec}

    def verify(self) -> Iterator[str]:
        columns = {name: getattr(self, name) for name in self.tables().values()}
        yield from table_faults(("temperatures", self.temperatures), **{
            name: values for name, values in columns.items()
            if np.size(values.magnitude) != 1 or name == "internal_energies"})  # fmt: skip
        energies = columns.get("internal_energies")
        if energies is not None and np.any(np.diff(energies.magnitude) <= 0):
            yield (f"internal_energies are {energies:~}, but must rise with the temperature: a "
                   "liquid that is warmer has more energy.")  # fmt: skip

    def advise(self) -> Iterator[str]:
        if any(True for _ in self.verify()):
            return
        T = np.asarray(self.temperatures.to("K").magnitude)
        for name, table in self.tables().items():
            y = np.asarray(getattr(self, table).magnitude)
            if y.size == 1 or table in ("viscosities", "internal_energies"):
                continue
            error = missed(of_table(LIQUID, name), T, 1 / y if name == "volume" else y)
            if error > 0.01:
                yield (f"the polynomial through {table} misses a point by {error:.1%}: give a "
                       "narrower range of temperatures, or smoother values.")  # fmt: skip

    def equations(self) -> Iterator[Any]:
        A, T, size = self.A, self.temperatures, len(self.temperatures)
        low, high = T[0], T[size - 1]
        half = (high - low) / 2
        yield A.mdot == 0
        yield A.Phi == 0
        yield A.middle_temperature == (low + high) / 2
        yield A.half_range == half
        given = {
            "volume": 1 / self.densities, "bulk_modulus": self.bulk_moduli,
            "conductivity": self.conductivities,
            "viscosity": log(self.viscosities / A.viscosity_unit),
        }  # fmt: skip

        def through(values: Any, degree: int, table: str) -> list[Any]:
            if len(getattr(self, table)) == 1:
                return [values[0], *(0 * values[0] for _ in range(degree))]
            return polynomial_of(degree, T, values, size, low, high)

        found = {name: through(values, LIQUID[name], TABLES[name])
                 for name, values in given.items()}  # fmt: skip
        work = [A.atmospheric_pressure * v for v in found["volume"]]
        if self.energy_spec == "internal_energies":
            energy = through(self.internal_energies, LIQUID["enthalpy"], "internal_energies")
            found["enthalpy"] = [u + w for u, w in zip(energy, work, strict=True)]
        else:
            heats = through(self.specific_heats, LIQUID["enthalpy"] - 1, "specific_heats")
            rising = [half * c for c in integral(heats)]
            zero = sum_of(c * (-1) ** k for k, c in enumerate(rising))
            found["enthalpy"] = [zero + A.atmospheric_pressure / self.densities[0], *rising]
        for name, coefficients in found.items():
            for k, coefficient in enumerate(coefficients):
                yield getattr(A, f"{name}_{k}") == coefficient
        yield A.bulk_modulus_gain == self.bulk_modulus_gain
        yield A.viscosity_unit == quantity("1 m^2/s")
        yield A.atmospheric_pressure == self.atmospheric_pressure
        yield A.minimum_pressure == self.minimum_pressure
