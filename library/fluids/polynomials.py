"""What are polynomials worth, and their derivatives and integrals?"""

from __future__ import annotations

from math import e as E  # its powers change slowly here; of exp, steps look for pulses
from typing import Any

from blocks import where

__all__ = ["E", "horner", "integral", "slope", "within"]


def horner(x: Any, coefficients: list[Any]) -> Any:
    """The polynomial with these coefficients, lowest power first."""
    value = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        value = value * x + coefficient
    return value


def slope(coefficients: list[Any]) -> list[Any]:
    """Coefficients of the derivative of a polynomial."""
    return [k * c for k, c in enumerate(coefficients)][1:]


def integral(coefficients: list[Any]) -> list[Any]:
    """Coefficients of the integral from 0 of a polynomial, but for the constant."""
    return [c / (k + 1) for k, c in enumerate(coefficients)]


def within(at: Any, T: Any) -> tuple[Any, Any]:
    """Temperature between -1 and 1, and what it is beyond the range of the polynomials, where a
    run stops: trial steps may go far, and polynomials would lead them further.
    """
    x = (T - at.middle_temperature) / at.half_range
    inside = where(x > 1, 1, where(x < -1, -1, x, events=False), events=False)
    return inside, (x - inside) * at.half_range
