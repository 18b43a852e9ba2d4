"""Which variables meet at a port for moist air, and what its two-ports share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blocks import Component, Domain, Port

from ..fluids.chambers import PRESSURES
from ..fluids.passages import Passage
from ..gas.domain import numbers_of
from ..media import media
from . import medium

__all__ = ["FRACTIONS", "HUMIDITIES", "Ends", "TwoPort", "moist_air", "moist_air_source",
           "trace"]  # fmt: skip

HUMIDITIES = ("relative", "mass_fraction", "mole_fraction", "humidity_ratio")
FRACTIONS = ("mass_fraction", "mole_fraction")
AIR = numbers_of(media("moist_air")["air"])


def trace(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """What describes a trace gas, of what describes a gas."""
    return {f"trace_{name}": value for name, value in numbers.items() if name not in PRESSURES}


moist_air = Domain(
    "moist_air",
    across={"p": "MPa", "T": "K", "x_w": "1", "x_g": "1"},
    through={"mdot": "kg/s", "Phi": "W", "mdot_w": "kg/s", "mdot_g": "kg/s"},
    parameters=AIR | trace(AIR) | {"trace_mole_constant": AIR["gas_constant"], "traced": "0"},
    typical={"p": "101325 Pa", "T": "293.15 K", "x_w": "0.01", "mdot": "0.1 kg/s", "Phi": "10 kW"},
    assumed="holds water vapour in dry air, since no MoistAirProperties says otherwise. Connect "
    "one to any of its ports for another dry gas, or to say that air is meant.",
    reference="Reservoir",
    alone="no moist air comes in or leaves",
    storage="a chamber of moist air",
    resistance="a flow resistance",
    colour="tab:cyan",
    doc="p is the absolute pressure of the port, T the absolute temperature, x_w the specific "
    "humidity (vapour by mass) and x_g the trace gas by mass of what flows there, mdot the mass "
    "flow of the mixture into the component, Phi the energy flow that it carries, mdot_w and "
    "mdot_g its parts of vapour and trace gas.",
    power=lambda port: port.Phi,
)

moist_air_source = Domain(
    "moist_air_source",
    across={"T": "K", "h_g": "J/kg", "c_g": "J/(kg*K)"},
    through={"mdot_w": "kg/s", "mdot_g": "kg/s", "Phi": "W"},
    typical={"T": "293.15 K", "h_g": "300 kJ/kg", "c_g": "840 J/(kg*K)"},
    alone="nothing is added to a volume",
    storage="a chamber of moist air",
    colour="tab:blue",
    doc="T is the temperature of the volume, h_g and c_g are enthalpy and heat capacity of its "
    "trace gas, mdot_w and mdot_g the flows of water and trace gas into the component, Phi the "
    "energy that they carry.",
    power=lambda port: port.Phi,
)


class Ends(Component):  # the two ports of a component for moist air
    fluid = medium
    A = Port(moist_air, doc="one end")
    B = Port(moist_air, doc="other end")


class TwoPort(Ends, Passage):
    """Base of components with the ports A and B for moist air, which store nothing.

    Gives the variables p = p_A - p_B (MPa) and mdot, the mass flow from A to B (kg/s), and
    ``passing()``: all equations of mass, vapour and energy, also of work done on what passes. A
    subclass yields them and one more, of p and mdot.
    """
