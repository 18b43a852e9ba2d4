"""Which fluids are ready to be taken, and where do their numbers come from?

``media.json`` holds polynomials, of the temperature or, for fluids of two phases, of pressure and
internal energy, fitted once with CoolProp; nothing of CoolProp is needed to use them.
``python -m library.media`` computes the file anew (it takes the extra ``media`` and some 15 s) and
prints how far each polynomial is from what it was fitted to; these errors stand in the file, too.
To add a fluid of your own, add a line to ``LIQUIDS``, ``GASES`` or ``TWO_PHASES`` and run it, or
give its tables to ``ThermalLiquidSettings`` or ``GasProperties``.

References
----------
Bell, Wronski, Quoilin, Lemort, Pure and pseudo-pure fluid thermophysical property evaluation and
the open-source thermophysical property library CoolProp, Ind. Eng. Chem. Res. 53 (2014) 2498-2508.
"""

from __future__ import annotations

import argparse
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.polynomial import polynomial

from .fluids.polynomials import GAS, LIQUID, TWO_PHASE

__all__ = ["GASES", "LIQUIDS", "TWO_PHASES", "media"]

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
# fluid of CoolProp, lowest pressure in Pa, highest of the critical one, highest temperature in K
TWO_PHASES = {
    "water": ("Water", 700.0, 0.45, 900.0), "R134a": ("R134a", 20e3, 0.85, 450.0),
    "R1234yf": ("R1234yf", 20e3, 0.85, 405.0), "R744": ("CarbonDioxide", 0.6e6, 0.9, 450.0),
}  # fmt: skip


MOIST_AIR = (213.15, 623.15)  # range in K


@cache
def media(kind: str) -> dict[str, dict[str, Any]]:
    """Fluids of a kind ("liquids", "gases", "two_phases", "moist_air") by name, in SI units."""
    found = json.loads(Path(__file__).with_name("media.json").read_text(encoding="utf-8"))
    return dict(found[kind])


# -- computing them --------------------------------------------------------------------------
class Fits:
    """Polynomials of a temperature range, and how far they are off."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high
        self.T = np.linspace(low, high, 201)
        self.x = (self.T - (low + high) / 2) / ((high - low) / 2)
        self.errors: dict[str, float] = {}

    def values(self, letter: str, fluid: str, also: str = "P", value: float = ATMOSPHERE
               ) -> np.ndarray:
        """What CoolProp says of a fluid, at 1 atm if nothing else is given."""
        from CoolProp.CoolProp import PropsSI  # type: ignore[import-not-found]

        return np.array([PropsSI(letter, "T", T, also, value, fluid) for T in self.T])

    def of(self, name: str, y: np.ndarray, degree: int, logarithm: bool = False) -> list[float]:
        """Coefficients of y or of its logarithm; the relative error is kept."""
        shown = np.log(y) if logarithm else y
        found = polynomial.polyfit(self.x, shown, degree)
        back = polynomial.polyval(self.x, found)
        back = np.exp(back) if logarithm else back
        self.errors[name] = float(f"{np.abs(back / y - 1).max():.1e}")
        return [float(f"{c:.12g}") for c in found]

    def enthalpy(self, capacity: np.ndarray, degree: int, zero: float, value: float) -> list[float]:
        """Coefficients of the integral of a heat capacity, with its value at a temperature."""
        half = (self.high - self.low) / 2
        rising = polynomial.polyint(self.of("heat capacity", capacity, degree - 1)) * half
        rising[0] = value - polynomial.polyval((zero - self.low) / half - 1, rising)
        return [float(f"{c:.12g}") for c in rising]


def fitted_liquid(name: str) -> dict[str, Any]:
    """A liquid's numbers by CoolProp."""
    from CoolProp.CoolProp import PropsSI

    fluid, low, high, modulus, gain = LIQUIDS[name]
    fits = Fits(low, high)
    volume = 1 / fits.values("D", fluid)
    beta = np.full_like(volume, modulus) if modulus else (
        1 / fits.values("ISOTHERMAL_COMPRESSIBILITY", fluid))  # fmt: skip
    degrees = LIQUID
    found = {
        "source": f"CoolProp, {fluid}: {SAID[name]}", "low": low, "high": high, "gain": gain,
        "volume": fits.of("specific volume", volume, degrees["volume"]),
        "enthalpy": fits.enthalpy(fits.values("C", fluid), degrees["enthalpy"], 273.16,
                                  ATMOSPHERE / PropsSI("D", "T", 273.16, "P", ATMOSPHERE, fluid)),
        "bulk_modulus": fits.of("bulk modulus", beta, degrees["bulk_modulus"]),
        "viscosity": fits.of("kinematic viscosity", fits.values("V", fluid) * volume,
                             degrees["viscosity"], logarithm=True),
        "conductivity": fits.of("conductivity", fits.values("L", fluid), degrees["conductivity"]),
    }  # fmt: skip
    return {**found, "errors": fits.errors}


def fitted_gas(name: str) -> dict[str, Any]:
    """A gas's numbers by CoolProp: heat capacity without pressure, transport at 1 atm."""
    fluid, low, high = GASES[name]
    fits = Fits(low, high)
    return {"source": f"CoolProp, {fluid}: as an ideal gas; viscosity and conductivity at 1 atm",
            **gas(fits, fluid, fits.values("CP0MASS", fluid, "D", 1e-6), (298.15, 298.15 * 1e3))}


def gas(fits: Fits, fluid: str, capacity: np.ndarray, known: tuple[float, float],
        *at: Any) -> dict[str, Any]:
    """Numbers of a gas with this heat capacity, whose enthalpy is ``known`` at a temperature."""
    from CoolProp.CoolProp import PropsSI

    constant = PropsSI("GAS_CONSTANT", "", 0, "", 0, fluid) / PropsSI("M", "", 0, "", 0, fluid)
    return {
        "low": fits.low, "high": fits.high, "gas_constant": float(f"{constant:.10g}"),
        "enthalpy": fits.enthalpy(capacity, GAS["enthalpy"], *known),
        "viscosity": fits.of("viscosity", fits.values("V", fluid, *at), GAS["viscosity"],
                             logarithm=True),
        "conductivity": fits.of("conductivity", fits.values("L", fluid, *at), GAS["conductivity"]),
        "errors": fits.errors,
    }  # fmt: skip


def fitted_moist_air() -> dict[str, dict[str, Any]]:
    """Air at 1 atm, water vapour as an ideal gas, and the enthalpy of liquid water, 0 at its
    triple point; that of air is 0 at 0 °C.
    """
    from CoolProp.CoolProp import PropsSI

    air, vapour = Fits(*MOIST_AIR), Fits(*MOIST_AIR)
    fits = Fits(273.16, 473.15)
    liquid = fits.values("H", "Water", "Q", 0)
    powers = polynomial.polyfit(fits.x, liquid, 4)
    off = np.abs(polynomial.polyval(fits.x, powers) - liquid).max()
    fits.errors["enthalpy"] = float(f"{off:.1e}")
    return {
        "air": {"source": "CoolProp, Air: heat capacity at 1 atm, transport without pressure",
                **gas(air, "Air", air.values("C", "Air"), (273.15, 0.0), "D", 1e-3)},
        "vapour": {"source": "CoolProp, Water: as an ideal gas, 2500.9 kJ/kg at the triple point",
                   **gas(vapour, "Water", vapour.values("CP0MASS", "Water", "D", 1e-4), (
                       273.15, PropsSI("H", "T", 273.16, "Q", 1, "Water")), "D", 1e-4)},
        "liquid": {"source": "CoolProp, Water: saturated liquid; the error is in J/kg",
                   "low": fits.low, "high": fits.high,
                   "enthalpy": [float(f"{c:.12g}") for c in powers], "errors": fits.errors},
    }  # fmt: skip


def fitted_two_phases(name: str) -> dict[str, Any]:
    """Liquid and vapour of a fluid by CoolProp, over pressure and internal energy."""
    from CoolProp.CoolProp import PropsSI
    from scipy.optimize import brentq

    fluid, low, share, hottest = TWO_PHASES[name]
    critical = PropsSI("PCRIT", "", 0, "", 0, fluid)
    high = share * critical
    ends = [float(np.sqrt(np.log(critical / p))) for p in (low, high)]
    middle, half = sum(ends) / 2, (ends[0] - ends[1]) / 2
    nodes = [np.cos(np.pi * (np.arange(n) + 0.5) / n) for n in (60, 12)]
    pressure = [critical * np.exp(-((middle + half * x) ** 2)) for x in nodes[0]]
    errors: dict[str, float] = {}

    def saturated(p: float, quality: int) -> float:
        return float(PropsSI("U", "P", p, "Q", quality, fluid))

    def at(p: float, u: float, phase: str, bounds: tuple[float, float]) -> float:
        """The temperature of one phase."""
        return float(brentq(lambda T: PropsSI("U", "T", T, f"P|{phase}", p, fluid) - u, *bounds))

    def fit(called: str, x: Any, z: Any, y: Any, absolute: float = 0) -> list[list[float]]:
        """Coefficients, and the error: of the value, or of so much of the largest one."""
        degrees = TWO_PHASE[called]
        shown = np.log(y) if called.endswith("viscosity") else y
        weight = 1 / np.abs(y) if not absolute else np.full_like(y, 1 / absolute)
        if called.endswith("viscosity"):
            weight = np.ones_like(y)
        powers = polynomial.polyvander2d(x, z, degrees)
        found = np.linalg.lstsq(powers * weight[:, None], shown * weight, rcond=None)[0]
        errors[called] = float(f"{np.abs((powers @ found - shown) * weight).max():.1e}")
        return [[float(f"{c:.10g}") for c in row] for row in
                found.reshape([d + 1 for d in degrees])]

    none = np.zeros_like(nodes[0])
    energies = [np.array([saturated(p, q) for p in pressure]) for q in (0, 1)]
    latent = float(np.min(energies[1] - energies[0]))
    first, last = saturated(low, 0), saturated(high, 0)
    most = min(PropsSI("U", "T", hottest, "P", p, fluid) for p in (low, high))
    rows: dict[str, list[list[float]]] = {"liquid": [], "vapour": []}
    for p, u_l, u_v in zip(pressure, *energies, strict=True):
        boiling = PropsSI("T", "P", p, "Q", 0, fluid)
        x = (np.sqrt(np.log(critical / p)) - middle) / half
        for beyond in (nodes[1] + 1) / 2:
            above = p + beyond**2 * (high - p)  # liquid of this energy
            T = at(above, u_l, "liquid", (boiling - 5, PropsSI("T", "P", above, "Q", 0, fluid)))
            rows["liquid"].append([2 * (u_l - first) / (last - first) - 1, above / high, T, *(
                PropsSI(o, "T", T, "P|liquid", above, fluid) for o in "DSVL")])  # fmt: skip
            u = u_v + beyond * (most - u_v)
            T = at(p, u, "gas", (boiling, hottest + 20))
            rows["vapour"].append([x, beyond, T, *(
                PropsSI(o, "T", T, "P|gas", p, fluid) for o in "DSVL"), p])  # fmt: skip
    y, z, T_l, rho_l, s_l, mu_l, k_l = np.array(rows["liquid"]).T
    x, w, T_v, rho_v, s_v, mu_v, k_v, p_v = np.array(rows["vapour"]).T
    at_x = np.array([(np.sqrt(np.log(critical / p)) - middle) / half for p in pressure])
    gas = PropsSI("GAS_CONSTANT", "", 0, "", 0, fluid) / PropsSI("M", "", 0, "", 0, fluid)
    found = {
        "source": f"CoolProp, {fluid}", "low": low, "high": high, "critical": critical,
        "middle": middle, "half": half, "first": first, "last": last, "most": most,
        "saturated_liquid": fit("saturated_liquid", at_x, none, energies[0], latent),
        "saturated_vapour": fit("saturated_vapour", at_x, none, energies[1], latent),
        "liquid_volume": fit("liquid_volume", y, z, 1 / rho_l),
        "liquid_temperature": fit("liquid_temperature", y, z, T_l),
        "liquid_entropy": fit("liquid_entropy", y, z, s_l, gas),
        "liquid_viscosity": fit("liquid_viscosity", y, z, mu_l),
        "liquid_conductivity": fit("liquid_conductivity", y, z, k_l),
        "vapour_work": fit("vapour_work", x, w, p_v / rho_v),
        "vapour_temperature": fit("vapour_temperature", x, w, T_v),
        "vapour_entropy": fit("vapour_entropy", x, w, s_v, gas),
        "vapour_viscosity": fit("vapour_viscosity", x, w, mu_v),
        "vapour_conductivity": fit("vapour_conductivity", x, w, k_v),
    }  # fmt: skip
    return {**found, "errors": errors}


def main() -> None:
    """Compute ``media.json`` anew."""
    parser = argparse.ArgumentParser(
        prog="python -m library.media", description="Fit polynomials to the fluids of CoolProp "
        "(which takes some 15 s), and print how far each is off.")
    parser.add_argument("-o", "--output", type=Path, help="where they go; media.json by default",
                        default=Path(__file__).with_name("media.json"))
    output = parser.parse_args().output
    try:
        import CoolProp  # noqa: F401
    except ImportError:
        parser.error("it takes CoolProp. Install it with: pip install CoolProp")
    found = {"liquids": {name: fitted_liquid(name) for name in LIQUIDS},
             "gases": {name: fitted_gas(name) for name in GASES},
             "moist_air": fitted_moist_air(),
             "two_phases": {name: fitted_two_phases(name) for name in TWO_PHASES}}  # fmt: skip
    text = json.dumps(found, indent=1)
    output.write_text(text + "\n", encoding="utf-8")
    for fluids in found.values():
        for name, numbers in fluids.items():
            print(name, numbers["errors"])


if __name__ == "__main__":
    main()
