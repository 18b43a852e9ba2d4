"""How are units of Simscape written here?"""

from __future__ import annotations

import re

from blocks import BlocksError, quantity

from ..matlab.syntax import NotUnderstood
from ..tables import rows_of

__all__ = ["TEMPERATURES", "alike", "unit_here"]

# differences in units of temperature whose zero is not that of kelvin
TEMPERATURES = {"degC": "K", "degF": "delta_degF"}

_WORDS = {row["written"]: row["here"] for row in rows_of("units.csv")}
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
