"""Which fluids are ready to be taken, and where do their numbers come from?

``media.json`` holds polynomials of the temperature, fitted once with CoolProp; nothing of CoolProp
is needed to use them. ``python -m library.media`` computes the file anew (it takes the extra
``media``) and prints how far each polynomial is from what it was fitted to; these errors stand in
the file, too. To add a fluid of your own, add a line to ``LIQUIDS`` or ``GASES`` and run it, or
give its tables to ``ThermalLiquidSettings`` or ``GasProperties``.

References
----------
Bell, Wronski, Quoilin, Lemort, Pure and pseudo-pure fluid thermophysical property evaluation and
the open-source thermophysical property library CoolProp, Ind. Eng. Chem. Res. 53 (2014) 2498-2508.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.polynomial import polynomial

from .fluids.degrees import GAS, LIQUID

__all__ = ["GASES", "LIQUIDS", "media"]

ATMOSPHERE = 101325.0
# fluid of CoolProp, range in K, its bulk modulus in Pa (None: CoolProp's) and that one's growth
LIQUIDS: dict[str, tuple[str, float, float, float | None, float]] = {
    "water": ("Water", 273.16, 373.12, None, 6.25),
    "glycol 50": ("INCOMP::MEG-50%", 238.15, 373.15, 2.5e9, 6.0),
    "oil": ("INCOMP::T66", 283.15, 523.15, 1.5e9, 8.0),
}
SAID = {
    "water": "IAPWS-95 and the transport equations of IAPWS, at 1 atm",
    "glycol 50": "ethylene glycol in water, 50 % by mass, after Melinder; its bulk modulus is a "
                 "usual value, not CoolProp's, which takes it as incompressible",
    "oil": "heat transfer oil Therminol 66; its bulk modulus is a usual value, not CoolProp's, "
           "which takes it as incompressible",
}  # fmt: skip
# gas of CoolProp and range in K
GASES = {
    "air": ("Air", 200.0, 1300.0), "nitrogen": ("Nitrogen", 200.0, 1300.0),
    "carbon dioxide": ("CarbonDioxide", 220.0, 1300.0), "methane": ("Methane", 150.0, 620.0),
    "hydrogen": ("Hydrogen", 200.0, 1000.0),
}  # fmt: skip


@cache
def media(kind: str) -> dict[str, dict[str, Any]]:
    """The fluids of a kind ("liquids", "gases") by name, with their numbers in SI units."""
    found = json.loads((files("library") / "media.json").read_text(encoding="utf-8"))
    return dict(found[kind])


# -- computing them --------------------------------------------------------------------------
class Fits:
    """Polynomials of a temperature range, and how far they are off."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high
        self.T = np.linspace(low, high, 201)
        self.x = (self.T - (low + high) / 2) / ((high - low) / 2)
        self.errors: dict[str, float] = {}

    def values(self, value: Callable[[float], float]) -> np.ndarray:
        return np.array([value(T) for T in self.T])

    def of(self, name: str, y: np.ndarray, degree: int, logarithm: bool = False) -> list[float]:
        """Coefficients of y or of its logarithm; the relative error is kept."""
        shown = np.log(y) if logarithm else y
        found = polynomial.polyfit(self.x, shown, degree)
        back = polynomial.polyval(self.x, found)
        back = np.exp(back) if logarithm else back
        self.errors[name] = float(f"{np.abs(back / y - 1).max():.1e}")
        return [float(f"{c:.12g}") for c in found]

    def enthalpy(self, capacity: np.ndarray, degree: int, zero: float, value: float
                 ) -> list[float]:
        """Coefficients of the integral of a heat capacity, with its value at a temperature."""
        half = (self.high - self.low) / 2
        rising = polynomial.polyint(self.of("heat capacity", capacity, degree - 1)) * half
        rising[0] = value - polynomial.polyval((zero - self.low) / half - 1, rising)
        return [float(f"{c:.12g}") for c in rising]


def fitted_liquid(name: str) -> dict[str, Any]:
    """A liquid's numbers by CoolProp."""
    from CoolProp.CoolProp import PropsSI  # type: ignore[import-not-found]

    fluid, low, high, modulus, gain = LIQUIDS[name]
    fits = Fits(low, high)

    def property_of(letter: str) -> np.ndarray:
        return fits.values(lambda T: PropsSI(letter, "T", T, "P", ATMOSPHERE, fluid))

    volume = 1 / property_of("D")
    beta = np.full_like(volume, modulus) if modulus else (
        1 / property_of("ISOTHERMAL_COMPRESSIBILITY"))  # fmt: skip
    degrees = LIQUID
    found = {
        "source": f"CoolProp, {fluid}: {SAID[name]}", "low": low, "high": high, "gain": gain,
        "volume": fits.of("specific volume", volume, degrees["volume"]),
        "enthalpy": fits.enthalpy(property_of("C"), degrees["enthalpy"], 273.16,
                                  ATMOSPHERE / PropsSI("D", "T", 273.16, "P", ATMOSPHERE, fluid)),
        "bulk_modulus": fits.of("bulk modulus", beta, degrees["bulk_modulus"]),
        "viscosity": fits.of("kinematic viscosity", property_of("V") * volume,
                             degrees["viscosity"], logarithm=True),
        "conductivity": fits.of("conductivity", property_of("L"), degrees["conductivity"]),
    }  # fmt: skip
    return {**found, "errors": fits.errors}


def fitted_gas(name: str) -> dict[str, Any]:
    """A gas's numbers by CoolProp: heat capacity without pressure, transport at 1 atm."""
    from CoolProp.CoolProp import PropsSI

    fluid, low, high = GASES[name]
    fits = Fits(low, high)
    capacity = fits.values(lambda T: PropsSI("CP0MASS", "T", T, "D", 1e-6, fluid))

    def property_of(letter: str) -> np.ndarray:
        return fits.values(lambda T: PropsSI(letter, "T", T, "P", ATMOSPHERE, fluid))

    constant = PropsSI("GAS_CONSTANT", "", 0, "", 0, fluid) / PropsSI("M", "", 0, "", 0, fluid)
    return {
        "source": f"CoolProp, {fluid}: as an ideal gas; viscosity and conductivity at 1 atm",
        "low": low, "high": high, "gas_constant": float(f"{constant:.10g}"),
        "enthalpy": fits.enthalpy(capacity, GAS["enthalpy"], 298.15, 298.15 * 1e3),
        "viscosity": fits.of("viscosity", property_of("V"), GAS["viscosity"], logarithm=True),
        "conductivity": fits.of("conductivity", property_of("L"), GAS["conductivity"]),
        "errors": fits.errors,
    }  # fmt: skip


def main() -> None:
    """Compute ``media.json`` anew."""
    found = {"liquids": {name: fitted_liquid(name) for name in LIQUIDS},
             "gases": {name: fitted_gas(name) for name in GASES}}  # fmt: skip
    text = json.dumps(found, indent=1)
    (Path(__file__).parent / "media.json").write_text(text + "\n", encoding="utf-8")
    for fluids in found.values():
        for name, numbers in fluids.items():
            print(name, numbers["errors"])


if __name__ == "__main__":
    main()
