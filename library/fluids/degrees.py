"""Of which degree are the polynomials of the temperature that describe a fluid?"""

__all__ = ["GAS", "LIQUID"]

LIQUID = {"volume": 5, "enthalpy": 5, "bulk_modulus": 3, "viscosity": 5, "conductivity": 3}
GAS = {"enthalpy": 6, "viscosity": 5, "conductivity": 5}
