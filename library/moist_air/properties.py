"""What flows in a circuit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from blocks import Component, Option, Parameter, Port, quantity

from ..fluids.flows import closed
from ..gas.domain import numbers_of
from ..media import media
from . import medium
from .domain import TRACE, moist_air

__all__ = ["MoistAirProperties"]

DRY = media("gases") | {"air": media("moist_air")["air"]}
MODELS = ("none", "mass_fraction", "properties")
OWN = ("atmospheric_pressure", "minimum_pressure")
ROOM = 293.15  # K, at which the trace gas has the properties of dry gas, where it shall have them


def _acts(c: Any) -> bool:
    return bool(c.trace_gas_model == "properties")


class MoistAirProperties(Component):
    """The dry and the trace gas of the circuit that it is connected to, and the atmosphere outside.

    ``dry_gas`` is ``"air"``, 213.15 K to 623.15 K, or one of the ready gases of ``library.gas``:
    ``"nitrogen"``, ``"carbon dioxide"``, ``"methane"``, ``"hydrogen"``, in their common range with
    water vapour. Where a temperature leaves the range, or a pressure falls below
    ``minimum_pressure``, the run stops. A circuit without this component holds air.

    ``trace_gas_model`` says what the trace gas does: with ``"none"`` there is none, whatever
    reservoirs, volumes and sources say; with ``"mass_fraction"`` it flows along, but has the
    properties of dry gas of 20 °C, except where moles are counted; with ``"properties"`` it is an
    ideal gas of constant heat capacity, viscosity and conductivity, by default carbon dioxide of
    20 °C.

    Parameters: atmospheric_pressure (MPa), minimum_pressure (kPa); trace_gas_constant (J/(kg*K)),
    trace_heat_capacity (J/(kg*K)), trace_viscosity (Pa*s), trace_conductivity (W/(m*K)).
    Ports: A, anywhere in the circuit; nothing flows through it.
    """

    dry_gas = Option("air", tuple(DRY), doc="which dry gas")
    trace_gas_model = Option("none", MODELS, doc="what the trace gas does")
    A = Port(moist_air, sets=True, doc="any port of the circuit")
    atmospheric_pressure = Parameter("0.101325 MPa", above=0, doc="Absolute pressure outside")
    minimum_pressure = Parameter("1 kPa", above=0, doc="Absolute pressure at which the run stops")
    trace_gas_constant = Parameter(TRACE["trace_gas_constant"], above=0,
                                   doc="Specific gas constant of the trace gas")  # fmt: skip
    trace_heat_capacity = Parameter(TRACE["trace_heat_capacity"], above=0, when=_acts,
                                    doc="Its heat capacity at constant pressure")  # fmt: skip
    trace_viscosity = Parameter(TRACE["trace_viscosity"], above=0, when=_acts,
                                doc="Its dynamic viscosity")  # fmt: skip
    trace_conductivity = Parameter(TRACE["trace_conductivity"], above=0, when=_acts,
                                   doc="Its thermal conductivity")  # fmt: skip

    def equations(self) -> Iterator[Any]:
        A = self.A
        yield from closed(medium, A)
        dry = DRY[self.dry_gas]
        for name, value in numbers_of(dry).items():
            yield getattr(A, name) == (getattr(self, name) if name in OWN else quantity(value))
        yield A.traced == float(self.trace_gas_model != "none")
        yield A.trace_mole_constant == self.trace_gas_constant
        for name, value in _as_dry(dry).items():
            yield getattr(A, name) == (getattr(self, name) if _acts(self) else quantity(value))


def _as_dry(dry: dict[str, Any]) -> dict[str, str]:
    """What describes a trace gas that counts as dry gas."""
    half = (dry["high"] - dry["low"]) / 2
    x = (ROOM - dry["low"]) / half - 1
    h, mu, k = (np.polynomial.Polynomial(dry[name])
                for name in ("enthalpy", "viscosity", "conductivity"))
    return {"trace_gas_constant": f"{dry['gas_constant']} J/(kg*K)",
            "trace_heat_capacity": f"{h.deriv()(x) / half} J/(kg*K)",
            "trace_viscosity": f"{np.exp(mu(x))} Pa*s",
            "trace_conductivity": f"{k(x)} W/(m*K)"}  # fmt: skip
