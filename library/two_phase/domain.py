"""Which variables meet at a port for a fluid of two phases, and what its two-ports share."""

from __future__ import annotations

from typing import Any

from blocks import Component, Domain, Port

from ..fluids.passages import Passage
from ..fluids.polynomials import TWO_PHASE
from ..media import media
from . import medium

__all__ = ["Ends", "TwoPort", "numbers_of", "two_phase"]

UNITS = {
    "saturated": "J/kg", "volume": "m^3/kg", "work": "J/kg", "temperature": "K",
    "entropy": "J/(kg*K)", "viscosity": "", "conductivity": "W/(m*K)",
}  # fmt: skip


def numbers_of(numbers: dict[str, Any]) -> dict[str, str]:
    """The parameters of the domain that describe a fluid."""
    found = {
        "lowest_pressure": f"{numbers['low']} Pa", "highest_pressure": f"{numbers['high']} Pa",
        "critical_pressure": f"{numbers['critical']} Pa",
        "middle": str(numbers["middle"]), "half_range": str(numbers["half"]),
        "lowest_energy": f"{numbers['first']} J/kg", "highest_liquid": f"{numbers['last']} J/kg",
        "highest_energy": f"{numbers['most']} J/kg",
        "viscosity_unit": "1 Pa*s", "atmospheric_pressure": "0.101325 MPa",
    }  # fmt: skip
    for name in TWO_PHASE:
        unit = next(unit for part, unit in UNITS.items() if part in name)
        for i, row in enumerate(numbers[name]):
            for j, c in enumerate(row):
                found[f"{name}_{i}_{j}"] = f"{c!r} {unit}".strip()
    return found


two_phase = Domain(
    "two_phase",
    across={"p": "MPa", "u": "kJ/kg"},
    through={"mdot": "kg/s", "Phi": "W"},
    parameters=numbers_of(media("two_phases")["water"]),
    typical={"p": "0.101325 MPa", "u": "1500 kJ/kg", "mdot": "0.1 kg/s", "Phi": "10 kW"},
    assumed="holds water, since no TwoPhaseFluidProperties says otherwise. Connect one to any of "
    "its ports for another fluid, or to say that water is meant.",
    reference="Reservoir",
    alone="no fluid comes in or leaves",
    storage="a chamber of fluid",
    resistance="a flow resistance",
    colour="tab:pink",
    doc="p is the absolute pressure of the port and u the specific internal energy of what flows "
    "there, mdot the mass flow into the component and Phi the energy flow that it carries: "
    "mdot times the specific enthalpy of where it comes from.",
    power=lambda port: port.Phi,
)


class Ends(Component):  # the two ports of a component for a fluid of two phases
    fluid = medium
    A = Port(two_phase, doc="one end")
    B = Port(two_phase, doc="other end")


class TwoPort(Ends, Passage):
    """Base of components with the ports A and B for a fluid of two phases, which store nothing.

    Gives the variables p = p_A - p_B (MPa) and mdot, the mass flow from A to B (kg/s), and
    ``passing()``: all equations of mass and energy, also of work done on what passes. A subclass
    yields them and one more, of p and mdot.
    """
