"""How are units of Simscape written here?"""

from __future__ import annotations

import re

from blocks import BlocksError, quantity

from .matlab import NotUnderstood

__all__ = ["TEMPERATURES", "alike", "unit_here"]

# differences in units of temperature whose zero is not that of kelvin
TEMPERATURES = {"degC": "K", "degF": "delta_degF"}

# Units of Simscape's registry (MathWorks, Simscape documentation, "Unit Definitions") that are
# called otherwise here, with names of earlier releases; from memory. All others are read as they
# are written, so a unit that is missing here is refused by name.
_WORDS = {
    "deltaK": "K", "deltaC": "delta_degC", "deltaF": "delta_degF", "deltaR": "degR",
    "deltadegC": "delta_degC", "deltadegF": "delta_degF", "deltadegR": "degR", "Fh": "degF",
    "R": "degR", "hr": "hour", "fpm": "(ft/min)", "gpm": "(gallon/min)", "lpm": "(liter/min)",
    "fl_oz": "floz", "igal": "imperial_gallon", "lbm": "lb", "Btu_IT": "Btu_it",
    "HP_DIN": "metric_horsepower", "Poise": "poise", "c": "coulomb",
    "G": "(T*cm^2/m^2)",  # gauss: a unit carries no number here
}  # fmt: skip
_WORD = re.compile(rf"\b({'|'.join(_WORDS)})\b")


def unit_here(written: str, where: str = "") -> str:
    """A unit as this toolkit reads it; nothing for a number without unit.

    For a text that is no unit NotUnderstood names the place.
    """
    text = written.strip()
    if text in ("", "1", "unitless"):
        return ""
    text = _WORDS[text].strip("()") if text in _WORDS else _WORD.sub(lambda m: _WORDS[m[0]], text)
    text = re.sub(r"\s*([*/^()])\s*", r"\1", text)
    try:
        quantity(1.0, text)
    except BlocksError as error:
        raise NotUnderstood(where, f"{written!r} is no unit that is known here: {error.problem}",
                            "Correct the unit in the model.", unit=written) from None
    return text


def alike(a: str, b: str) -> bool:
    """Whether a signal in one unit may enter what takes the other."""
    return bool(quantity(1.0, a).is_compatible_with(quantity(1.0, b)))
