"""Which variables meet at a port for gas, and what its two-ports share."""

from __future__ import annotations

from typing import Any

from blocks import Component, Domain, Port

from ..fluids.passages import Passage
from ..fluids.polynomials import GAS
from . import medium

__all__ = ["Ends", "PERFECT", "TwoPort", "gas", "numbers_of"]

UNITS = {"enthalpy": "J/kg", "viscosity": "", "conductivity": "W/(m*K)"}
LOW, HIGH = 1.0, 2999.0  # K, of a perfect gas: its polynomials are constants and a line
PERFECT = {"low": LOW, "high": HIGH, "gas_constant": 287.0, "viscosity": [-10.925138211168],
           "conductivity": [0.026], "enthalpy": [420e3 + 1e3 * (1500 - 293.15), 1e3 * 1499]}


def numbers_of(numbers: dict[str, Any]) -> dict[str, str]:
    """The parameters of the domain that describe a gas."""
    return {
        "middle_temperature": f"{(numbers['low'] + numbers['high']) / 2} K",
        "half_range": f"{(numbers['high'] - numbers['low']) / 2} K",
        **{f"{name}_{k}": f"{c!r} {UNITS[name]}".strip() for name in GAS
           for k, c in enumerate([*numbers[name], *[0.0] * GAS[name]][: GAS[name] + 1])},
        "gas_constant": f"{numbers['gas_constant']} J/(kg*K)",
        "viscosity_unit": "1 Pa*s",
        "atmospheric_pressure": "0.101325 MPa",
        "minimum_pressure": "1 kPa",
    }  # fmt: skip


gas = Domain(
    "gas",
    across={"p": "MPa", "T": "K"},
    through={"mdot": "kg/s", "Phi": "W"},
    parameters=numbers_of(PERFECT),
    typical={"p": "0.101325 MPa", "T": "293.15 K", "mdot": "0.1 kg/s", "Phi": "10 kW"},
    assumed="holds dry air as a perfect gas, since no GasProperties says otherwise. Connect one to "
    "any of its ports for another gas, or to say that air is meant.",
    reference="Reservoir",
    alone="no gas comes in or leaves",
    storage="a chamber of gas",
    resistance="a flow resistance",
    colour="tab:purple",
    doc="p is the absolute pressure of the port and T the absolute temperature of what flows "
    "there, mdot the mass flow into the component and Phi the energy flow that it carries: "
    "mdot times the specific enthalpy of where it comes from.",
    power=lambda port: port.Phi,
)


class Ends(Component):  # the two ports of a component for gas
    fluid = medium
    A = Port(gas, doc="one end")
    B = Port(gas, doc="other end")


class TwoPort(Ends, Passage):
    """Base of components with the ports A and B for gas, which store nothing.

    Gives the variables p = p_A - p_B (MPa) and mdot, the mass flow from A to B (kg/s), and
    ``passing()``: all equations of mass and energy, also of work done on what passes. A subclass
    yields them and one more, of p and mdot.
    """
