"""What flows in a circuit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Component, Option, Parameter, Port, quantity

from ..fluids.flows import closed
from ..gas.domain import numbers_of
from ..media import media
from . import medium
from .domain import moist_air

__all__ = ["MoistAirProperties"]

DRY = media("gases") | {"air": media("moist_air")["air"]}
OWN = ("atmospheric_pressure", "minimum_pressure")


class MoistAirProperties(Component):
    """The dry gas of the circuit that it is connected to, and the atmosphere outside.

    ``dry_gas`` is ``"air"``, 213.15 K to 623.15 K, or one of the ready gases of ``library.gas``:
    ``"nitrogen"``, ``"carbon dioxide"``, ``"methane"``, ``"hydrogen"``, in their common range with
    water vapour. Where a temperature leaves the range, or a pressure falls below
    ``minimum_pressure``, the run stops. A circuit without this component holds air.

    Parameters: atmospheric_pressure (MPa), minimum_pressure (kPa).
    Ports: A, anywhere in the circuit; nothing flows through it.
    """

    dry_gas = Option("air", tuple(DRY), doc="which dry gas")
    A = Port(moist_air, sets=True, doc="any port of the circuit")
    atmospheric_pressure = Parameter("0.101325 MPa", above=0, doc="Absolute pressure outside")
    minimum_pressure = Parameter("1 kPa", above=0, doc="Absolute pressure at which the run stops")

    def equations(self) -> Iterator[Any]:
        A = self.A
        yield from closed(medium, A)
        for name, value in numbers_of(DRY[self.dry_gas]).items():
            yield getattr(A, name) == (getattr(self, name) if name in OWN else quantity(value))
