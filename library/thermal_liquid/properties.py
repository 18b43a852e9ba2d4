"""What flows in a circuit."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from blocks import Option, Parameter, Port, exp, interpolate, log, maximum

from ..fluids.chambers import Described
from ..fluids.polynomials import LIQUID, integral, missed, of_table, polynomial_of, sum_of
from ..media import media
from ..tables import table_faults
from ..thermal.domain import ABSOLUTE
from . import liquid
from .domain import numbers_of, thermal_liquid

__all__ = ["ThermalLiquidProperties", "ThermalLiquidSettings", "ThermalLiquidTables"]

LIQUIDS = tuple(media("liquids"))
TABLES = {"volume": "densities", "enthalpy": "specific_heats", "viscosity": "viscosities",
          "conductivity": "conductivities", "bulk_modulus": "bulk_moduli"}  # fmt: skip
SMALLEST = 1.1  # of K, whose law has no value at 0 and 1
DIVIDE = {"Pa*s": "The kinematic viscosity is wanted: divide the dynamic one by the density."}


def rows(unit: str, *values: tuple[float, ...]) -> list[list[str]]:
    """A table with its unit."""
    return [[f"{value} {unit}" for value in row] for row in values]


def yielding(p0: Any, p: Any, rho_0: Any, rho: Any, of: Any) -> tuple[Any, Any]:
    """K, and beta over the temperature, of densities over temperature and pressure.

    Between two pressures beta + K P is near (p_2 - p_1)/ln(rho_2/rho_1) in the middle.
    """
    middle, last = len(p) // 2, len(p) - 1
    halfway, whole = of.log(rho[:, middle] / rho_0), of.log(rho[:, last] / rho_0)
    each = 2 / (p[last] - p0) * (
        (p[last] - p[middle]) / (whole - halfway) - (p[middle] - p0) / halfway)  # fmt: skip
    K = of.maximum(sum_of(each) / len(each), SMALLEST)
    return K, K * (p[last] - p0) / (of.exp(K * whole) - 1)


class ThermalLiquidProperties(Described):
    """A ready liquid in the circuit that it is connected to.

    ``liquid`` is one of ``"water"`` (273.16 K to 373.12 K), ``"glycol 50"`` (ethylene glycol in
    water, 50 % by mass, 238.15 K to 373.15 K) and ``"oil"`` (heat transfer oil Therminol 66,
    283.15 K to 523.15 K): polynomials fitted with CoolProp, errors in ``library.media``. Where a
    temperature leaves the range, or a pressure falls below ``minimum_pressure``, the run stops:
    the liquid would freeze or boil, which is not modelled. Where a circuit has no such component
    it holds water.

    Ports: A, anywhere in the circuit; nothing flows through it.

    Examples
    --------
    >>> coolant = ThermalLiquidProperties(liquid="glycol 50")
    """

    fluid = liquid
    liquid = Option("water", LIQUIDS, doc="which liquid")
    A = Port(thermal_liquid, sets=True, doc="any port of the circuit")
    minimum_pressure = Parameter("1 kPa", above=0, doc="Absolute pressure at which the run stops")

    def equations(self) -> Iterator[Any]:
        yield from self.said(numbers_of(media("liquids")[self.liquid]))


class Tabled(Described):
    """Base of liquids by tables, through which polynomials of the temperature are laid."""

    fluid = liquid
    temperatures: Any
    energy_spec = Option("specific_heats", ("specific_heats", "internal_energies"),
                         doc="which table tells the energy")  # fmt: skip
    A = Port(thermal_liquid, sets=True, doc="any port of the circuit")
    minimum_pressure = Parameter("1 kPa", above=0, doc="Absolute pressure at which the run stops")

    def tables(self) -> dict[str, str]:
        """The table of every property."""
        return {name: table for name, table in TABLES.items() if hasattr(self, table)} | {
            "enthalpy": self.energy_spec}  # fmt: skip

    def verify(self) -> Iterator[str]:
        columns = {name: getattr(self, name).T for name in self.tables().values()}
        size = np.shape(getattr(self, "pressures", 1.0))  # of a row, none where there is one value
        yield from table_faults(("temperatures", self.temperatures), **{
            name: values[0] if size else values for name, values in columns.items()
            if size or np.size(values.magnitude) != 1 or name == "internal_energies"})  # fmt: skip
        energies = columns.get("internal_energies")
        if energies is not None and np.any(np.diff(energies.magnitude) <= 0):
            yield (f"internal_energies are {energies.T:~}, but must rise with the temperature: a "
                   "liquid that is warmer has more energy.")  # fmt: skip

    def advise(self) -> Iterator[str]:
        if any(True for _ in self.verify()):
            return
        T = np.asarray(self.temperatures.to("K").magnitude)
        for name, table in self.tables().items():
            columns = np.atleast_2d(np.asarray(getattr(self, table).magnitude).T)
            if columns.size == 1 or table in ("viscosities", "internal_energies"):
                continue
            error = max(missed(of_table(LIQUID, name), T, 1 / y if name == "volume" else y)
                        for y in columns)  # fmt: skip
            if error > 0.01:
                yield (f"the polynomial through {table} misses a point by {error:.1%}: give a "
                       "narrower range of temperatures, or smoother values.")  # fmt: skip

    def columns(self) -> tuple[dict[str, Any], Any]:
        """Every property over the temperature at atmospheric pressure, and the growth of beta."""
        raise NotImplementedError

    def equations(self) -> Iterator[Any]:
        A, T = self.A, self.temperatures
        size = len(T)
        low, high = T[0], T[size - 1]
        half = (high - low) / 2
        columns, gain = self.columns()
        densities, energies = columns.pop("densities"), columns.pop("enthalpy")

        def through(values: Any, degree: int) -> list[Any]:
            if len(values) == 1:
                return [values[0], *(0 * values[0] for _ in range(degree))]
            return polynomial_of(degree, T, values)

        found = {name: through(values, LIQUID[name]) for name, values in (
            columns | {"volume": 1 / densities}).items()}  # fmt: skip
        if self.energy_spec == "internal_energies":
            work = [A.atmospheric_pressure * v for v in found["volume"]]
            energy = through(energies, LIQUID["enthalpy"])
            found["enthalpy"] = [u + w for u, w in zip(energy, work, strict=True)]
        else:
            rising = [half * c for c in integral(through(energies, LIQUID["enthalpy"] - 1))]
            zero = sum_of(c * (-1) ** k for k, c in enumerate(rising))
            found["enthalpy"] = [zero + A.atmospheric_pressure / densities[0], *rising]
        yield from self.said({
            "middle_temperature": (low + high) / 2, "half_range": half,
            **{f"{name}_{k}": coefficient for name, coefficients in found.items()
               for k, coefficient in enumerate(coefficients)},
            "bulk_modulus_gain": gain, "viscosity_unit": "1 m^2/s"})  # fmt: skip


class ThermalLiquidSettings(Tabled):
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

    temperatures = Parameter([f"{273.16 + 10 * k:.2f} K" for k in range(11)], ABSOLUTE, above=0,
                             doc="Temperatures of the tables, increasing")  # fmt: skip
    densities = Parameter(
        [f"{d} kg/m^3" for d in (999.8438, 999.7016, 998.2051, 995.6464, 992.2125, 988.0305,
                                 983.1907, 977.7589, 971.7842, 965.3029, 958.3706)],
        above=0, doc="Densities at atmospheric pressure")  # fmt: skip
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
        above=0, doc="Kinematic viscosities", advice=DIVIDE)
    conductivities = Parameter(
        [f"{k} W/(K*m)" for k in (0.5557, 0.5788, 0.598, 0.6144, 0.6285, 0.6406, 0.651, 0.6598,
                                  0.667, 0.6728, 0.6772)],
        above=0, doc="Thermal conductivities")  # fmt: skip
    bulk_moduli = Parameter(
        [f"{b} GPa" for b in (1.9654, 2.0918, 2.1791, 2.2337, 2.2605, 2.2638, 2.2472, 2.214,
                              2.1668, 2.1081, 2.0401)],
        above=0, doc="Isothermal bulk moduli at atmospheric pressure")  # fmt: skip
    bulk_modulus_gain = Parameter(6.25, above=1, doc="Bulk modulus gained per pressure")

    def columns(self) -> tuple[dict[str, Any], Any]:
        return {"densities": self.densities, "enthalpy": getattr(self, self.energy_spec),
                "viscosity": log(self.viscosities / self.A.viscosity_unit),
                "thickening": [0.0], "conductivity": self.conductivities,
                "bulk_modulus": self.bulk_moduli}, self.bulk_modulus_gain


class ThermalLiquidTables(Tabled):
    """A liquid by tables of temperature and pressure, in the circuit that it is connected to.

    Each table has a row per temperature and a column per pressure, of which there are three or
    more. What is taken of them is what belongs together: the densities alone say how far the
    liquid yields to pressure and to heat, as rho = rho_0 (1 + K P/beta)^(1/K) with P the pressure
    above the atmosphere, rho_0(T) and beta(T) such that it is met at atmospheric pressure and at
    the last one, and K in between. The energies count at atmospheric pressure; beyond, the
    enthalpy is the only one that belongs to that density. The viscosity is met at both, and
    between them grows by a power of the density. The conductivity is that at atmospheric pressure.

    Polynomials are laid through them as by ``ThermalLiquidSettings``; where one misses a point, or
    the law of the pressure a density, by more than 1 %, ``check()`` says so. Where a temperature
    leaves the tables, or a pressure falls below ``minimum_pressure``, the run stops. Preset is
    water.

    Parameters: temperatures (K), pressures (MPa), absolute; densities (kg/m^3),
    specific_heats (J/(K*kg)) or with ``energy_spec="internal_energies"`` internal_energies (kJ/kg),
    viscosities (cSt), conductivities (W/(K*m)), such as ``quantity([[1000, 1010, 1020], ...],
    "kg/m^3")``; atmospheric_pressure (MPa), minimum_pressure (kPa).
    Ports: A, anywhere in the circuit; nothing flows through it.

    References
    ----------
    F. D. Murnaghan, Proc. Natl. Acad. Sci. 30 (1944) 244-247.
    """

    temperatures = Parameter([f"{T} K" for T in (275, 300, 325, 350, 370)], ABSOLUTE, above=0,
                             doc="Temperatures of the rows, increasing")  # fmt: skip
    pressures = Parameter(["0.1 MPa", "20 MPa", "50 MPa"], above=0,
                          doc="Absolute pressures of the columns, increasing")  # fmt: skip
    densities = Parameter(
        rows("kg/m^3", (999.937, 1009.703, 1023.621), (996.556, 1005.307, 1017.846),
             (987.187, 995.682, 1007.829), (973.728, 982.388, 994.703),
             (960.591, 969.608, 982.351)), above=0, doc="Densities")  # fmt: skip
    specific_heats = Parameter(
        rows("J/(K*kg)", (4213.48, 4128.77, 4028.88), (4180.64, 4128.22, 4062.18),
             (4181.9, 4138.93, 4082.91), (4194.47, 4153.33, 4099.1), (4212.15, 4169.32, 4113.14)),
        above=0, when=lambda c: c.energy_spec == "specific_heats",
        doc="Specific heat capacities at constant pressure")  # fmt: skip
    internal_energies = Parameter(
        rows("kJ/kg", (7.76, 7.864, 7.73), (112.553, 110.943, 108.632), (217.052, 214.082, 209.974),
             (321.735, 317.454, 311.597), (405.787, 400.403, 393.082)),
        when=lambda c: c.energy_spec == "internal_energies",
        doc="Specific internal energies")  # fmt: skip
    viscosities = Parameter(
        rows("cSt", (1.6821, 1.6318, 1.5714), (0.8567, 0.848, 0.838), (0.5368, 0.5366, 0.537),
             (0.3784, 0.3805, 0.3838), (0.3031, 0.3058, 0.3099)),
        above=0, doc="Kinematic viscosities", advice=DIVIDE)  # fmt: skip
    conductivities = Parameter(
        rows("W/(K*m)", (0.5603, 0.5743, 0.5933), (0.6095, 0.6203, 0.6354),
             (0.6427, 0.6528, 0.6673), (0.6649, 0.6753, 0.6904), (0.676, 0.687, 0.703)),
        above=0, doc="Thermal conductivities")  # fmt: skip

    def verify(self) -> Iterator[str]:
        p, count = self.pressures, len(self.pressures)
        yield from table_faults(("pressures", p), **{
            name: getattr(self, name)[0] for name in self.tables().values()})  # fmt: skip
        if count < 3 or not p[0] <= self.atmospheric_pressure < p[count // 2]:
            yield (f"pressures are {p:~}, but must be three or more, with atmospheric_pressure, "
                   f"{self.atmospheric_pressure:~P}, in their first half.")  # fmt: skip
            return
        yield from super().verify()
        if np.any(np.diff(self.densities.magnitude) <= 0):
            yield (f"densities are {self.densities:~}, but must rise with the pressure along each "
                   "row: a row is a temperature, and a column a pressure.")  # fmt: skip

    def advise(self) -> Iterator[str]:
        yield from super().advise()
        if any(True for _ in self.verify()):
            return
        p, rho = (np.asarray(of.magnitude) for of in (
            self.pressures.to("Pa"), self.densities))  # fmt: skip
        p0 = self.atmospheric_pressure.to("Pa").magnitude
        K, beta = yielding(p0, p, np.array([np.interp(p0, p, row) for row in rho]), rho, np)
        found = (1 + K * (p[:, None] - p0) / beta) ** (1 / K)
        error = np.abs(found.T / (rho / rho[:, :1]) - 1).max()
        if error > 0.01:
            yield (f"the law of the pressure misses a density by {error:.1%}: a liquid with gas in "
                   "it, or near its critical point, yields otherwise.")  # fmt: skip

    def columns(self) -> tuple[dict[str, Any], Any]:
        p, p0, rho = self.pressures, self.atmospheric_pressure, self.densities
        last, unit = len(p) - 1, self.A.viscosity_unit
        share = [interpolate(p0, p, np.eye(last + 1)[j]) for j in range(last + 1)]

        def outside(table: Any) -> Any:
            return sum_of(w * table[:, j] for j, w in enumerate(share))

        rho_0, nu_0, nu = outside(rho), outside(self.viscosities), self.viscosities[:, last]
        K, beta = yielding(p0, p, rho_0, rho, SimpleNamespace(log=log, exp=exp, maximum=maximum))
        return {"densities": rho_0, "enthalpy": outside(getattr(self, self.energy_spec)),
                "viscosity": log(nu_0 / unit), "conductivity": outside(self.conductivities),
                "thickening": log(nu / nu_0) / log(rho[:, last] / rho_0), "bulk_modulus": beta}, K
