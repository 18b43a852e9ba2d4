"""Which variables meet at a port for a liquid that carries heat, and what its two-ports share."""

from __future__ import annotations

from typing import Any

from blocks import Component, Domain, Port

from ..fluids.passages import Passage
from ..fluids.polynomials import LIQUID
from ..media import media
from . import liquid

__all__ = ["Ends", "TwoPort", "numbers_of", "thermal_liquid"]

UNITS = {"volume": "m^3/kg", "enthalpy": "J/kg", "bulk_modulus": "Pa", "viscosity": "",
         "thickening": "", "conductivity": "W/(m*K)"}  # fmt: skip


def numbers_of(numbers: dict[str, Any]) -> dict[str, str]:
    """The parameters of the domain that describe a liquid."""
    return {
        "middle_temperature": f"{(numbers['low'] + numbers['high']) / 2} K",
        "half_range": f"{(numbers['high'] - numbers['low']) / 2} K",
        **{f"{name}_{k}": f"{c!r} {UNITS[name]}".strip() for name in LIQUID
           for k, c in enumerate(numbers.get(name, [0.0] * (LIQUID[name] + 1)))},
        "bulk_modulus_gain": str(numbers["gain"]),
        "viscosity_unit": "1 m^2/s",
        "atmospheric_pressure": "0.101325 MPa",
        "minimum_pressure": "1 kPa",
    }  # fmt: skip


thermal_liquid = Domain(
    "thermal_liquid",
    across={"p": "MPa", "T": "K"},
    through={"mdot": "kg/s", "Phi": "W"},
    parameters=numbers_of(media("liquids")["water"]),
    typical={"p": "0.101325 MPa", "T": "293.15 K", "mdot": "0.1 kg/s", "Phi": "10 kW"},
    assumed="holds water, since neither ThermalLiquidSettings nor ThermalLiquidProperties say "
    "otherwise. Connect one of them to any of its ports for another liquid, or to say that water "
    "is meant.",
    reference="Reservoir",
    alone="no liquid comes in or leaves",
    storage="a chamber of liquid",
    resistance="a flow resistance",
    colour="tab:red",
    doc="p is the absolute pressure of the port and T the absolute temperature of what flows "
    "there, mdot the mass flow into the component and Phi the energy flow that it carries: "
    "mdot times the specific enthalpy of where it comes from.",
    power=lambda port: port.Phi,
)


class Ends(Component):  # the two ports of a component for liquid
    fluid = liquid
    A = Port(thermal_liquid, doc="one end")
    B = Port(thermal_liquid, doc="other end")


class TwoPort(Ends, Passage):
    """Base of components with the ports A and B for liquid, which store nothing.

    Gives the variables p = p_A - p_B (MPa) and mdot, the mass flow from A to B (kg/s), and
    ``passing()``: all equations of mass and energy, also of work done on what passes. A subclass
    yields them and one more, of p and mdot.
    """
