"""Which degrees have the polynomials that describe a fluid?

One number: of the temperature. Two: of the first and the second variable of ``two_phase.medium``.
"""

__all__ = ["GAS", "LIQUID", "TWO_PHASE", "of_table"]

LIQUID = {"volume": 5, "enthalpy": 5, "bulk_modulus": 3, "viscosity": 5, "thickening": 3,
          "conductivity": 3}  # fmt: skip
GAS = {"enthalpy": 6, "viscosity": 5, "conductivity": 5}
TWO_PHASE = {
    "saturated_liquid": (8, 0), "saturated_vapour": (8, 0),
    "liquid_volume": (8, 2), "liquid_temperature": (8, 2), "liquid_entropy": (8, 2),
    "liquid_viscosity": (7, 0), "liquid_conductivity": (6, 0),
    "vapour_work": (6, 4), "vapour_temperature": (6, 4), "vapour_entropy": (6, 4),
    "vapour_viscosity": (4, 3), "vapour_conductivity": (4, 3),
}  # fmt: skip


def of_table(degrees: dict[str, int], name: str) -> int:
    """Return the degree of a table's polynomial; that of the heat capacity is one less."""
    return degrees[name] - (name == "enthalpy")
