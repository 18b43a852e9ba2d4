"""What flows in a circuit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Option, Parameter, Port, quantity

from ..fluids.chambers import Described
from ..fluids.polynomials import GAS
from ..gas.domain import numbers_of
from ..gas.properties import misses, tabled
from ..media import media
from ..tables import table_faults
from ..thermal.domain import ABSOLUTE
from . import medium
from .domain import moist_air, trace

__all__ = ["MoistAirProperties"]

READY = media("gases")
DRY = READY | {"air": media("moist_air")["air"]}
MODELS = ("none", "mass_fraction", "properties")
TABLES = {"enthalpies": "enthalpy", "viscosities": "viscosity", "conductivities": "conductivity"}


def _acts(c: Any) -> bool:
    return bool(c.trace_gas_model == "properties" and c.trace_gas == "tables")


def _dry(c: Any) -> bool:
    return bool(c.dry_gas == "tables")


class MoistAirProperties(Described):
    """The dry and the trace gas of the circuit that it is connected to, and the atmosphere outside.

    ``dry_gas`` is ``"air"``, 213.15 K to 623.15 K, one of the ready gases of ``library.gas``,
    ``"nitrogen"``, ``"carbon dioxide"``, ``"methane"``, ``"hydrogen"``, or by ``"tables"`` of the
    temperature, in their common range with water vapour. Where a temperature leaves the range, or
    a pressure falls below ``minimum_pressure``, the run stops. A circuit without this component
    holds air.

    ``trace_gas_model`` says what the trace gas does: with ``"none"`` there is none, whatever
    reservoirs, volumes and sources say; with ``"mass_fraction"`` it flows along, but has the
    properties of dry gas, except where moles are counted; with ``"properties"`` it is an ideal gas
    of its own. Which, says ``trace_gas``: a ready gas, or ``"tables"``.

    Polynomials are laid through tables, of enthalpy of degree 6, of viscosity and conductivity 5;
    where one misses a point by more than 1 % ``check()`` says so. Preset are air and carbon
    dioxide.

    Ports: A, anywhere in the circuit; nothing flows through it.
    """

    fluid = medium
    dry_gas = Option("air", (*DRY, "tables"), doc="which dry gas")
    trace_gas_model = Option("none", MODELS, doc="what the trace gas does")
    trace_gas = Option("carbon dioxide", (*DRY, "tables"), doc="which trace gas")
    A = Port(moist_air, sets=True, doc="any port of the circuit")
    minimum_pressure = Parameter("1 kPa", above=0, doc="Absolute pressure at which the run stops")
    gas_constant = Parameter("287.049 J/(K*kg)", above=0, when=_dry,
                             doc="Specific gas constant of the dry gas")  # fmt: skip
    trace_gas_constant = Parameter("188.924 J/(K*kg)", above=0,
                                   when=lambda c: c.trace_gas == "tables",
                                   doc="Specific gas constant of the trace gas")  # fmt: skip
    temperatures = Parameter([f"{T} K" for T in (220, 300, 400, 500, 620)], ABSOLUTE, above=0,
                             when=lambda c: _dry(c) or _acts(c), doc="Temperatures of the tables")
    enthalpies = Parameter(
        [f"{h} kJ/kg" for h in (219.735, 300.009, 400.851, 502.929, 627.974)], when=_dry,
        doc="Specific enthalpies of the dry gas")  # fmt: skip
    viscosities = Parameter([f"{v} uPa*s" for v in (14.443, 18.537, 23.055, 27.09, 31.47)], above=0,
                            when=_dry, doc="Dynamic viscosities of the dry gas")  # fmt: skip
    conductivities = Parameter(
        [f"{k} mW/(K*m)" for k in (20.159, 26.384, 33.453, 39.945, 47.183)], above=0, when=_dry,
        doc="Thermal conductivities of the dry gas")  # fmt: skip
    trace_enthalpies = Parameter(
        [f"{h} kJ/kg" for h in (235.519, 299.713, 389.138, 486.937, 613.133)], when=_acts,
        doc="Specific enthalpies of the trace gas")  # fmt: skip
    trace_viscosities = Parameter(
        [f"{v} uPa*s" for v in (11.106, 15.003, 19.635, 23.924, 28.629)], above=0, when=_acts,
        doc="Dynamic viscosities of the trace gas")  # fmt: skip
    trace_conductivities = Parameter(
        [f"{k} mW/(K*m)" for k in (10.965, 16.774, 24.718, 32.877, 42.555)], above=0, when=_acts,
        doc="Thermal conductivities of the trace gas")  # fmt: skip

    def tables(self) -> dict[str, str]:
        """The tables that count, and the property that each gives."""
        heads = [head for head, counts in (("", _dry), ("trace_", _acts)) if counts(self)]
        return {head + table: name for head in heads for table, name in TABLES.items()}

    def verify(self) -> Iterator[str]:
        if self.tables():
            yield from table_faults(("temperatures", self.temperatures), **{
                name: getattr(self, name) for name in self.tables()})  # fmt: skip

    def advise(self) -> Iterator[str]:
        if not any(True for _ in self.verify()):
            for table, name in self.tables().items():
                yield from misses(self.temperatures, **{table: (GAS[name], getattr(self, table))})

    def equations(self) -> Iterator[Any]:
        def gas(head: str, named: str) -> dict[str, Any]:
            if named != "tables":
                return numbers_of(DRY[named])
            viscosities, conductivities, enthalpies = (getattr(self, head + name) for name in (
                "viscosities", "conductivities", "enthalpies"))  # fmt: skip
            return tabled(getattr(self, f"{head}gas_constant"), self.temperatures, viscosities,
                          conductivities, enthalpies=enthalpies)  # fmt: skip

        dry = gas("", self.dry_gas)
        added = dry if self.trace_gas_model != "properties" else gas("trace_", self.trace_gas)
        yield from self.said({
            **dry, **trace(added), "traced": float(self.trace_gas_model != "none"),
            "trace_mole_constant": self.trace_gas_constant if self.trace_gas == "tables" else
            quantity(DRY[self.trace_gas]["gas_constant"], "J/(kg*K)")})  # fmt: skip
