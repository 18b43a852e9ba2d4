"""What are polynomials that describe a fluid worth, and which lies closest to a table?

That of least squares over the points, of as many powers as there are points where these are fewer.

References
----------
G. E. Forsythe, J. Soc. Indust. Appl. Math. 5 (1957) 74-88: by polynomials that are orthogonal over
the points, so that nothing is solved.
"""

from __future__ import annotations

from math import e as E  # its powers change slowly here; of exp, steps look for pulses
from typing import Any

import numpy as np

from blocks import require, where

__all__ = ["E", "GAS", "LIQUID", "TWO_PHASE", "horner", "integral", "known_at", "missed",
           "of_table", "polynomial_of", "slope", "sum_of", "within"]  # fmt: skip

#: Degrees of polynomials: of the temperature; or, of two numbers, of the first and the second
#: variable of ``two_phase.medium``.
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


def sum_of(terms: Any) -> Any:
    """The sum of expressions; that of none is an error."""
    first, *others = terms
    return sum(others, first)


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


def known_at(at: Any, T: Any, place: str, advice: str) -> Any:
    """A temperature stays within the range of the polynomials, or the run stops."""
    x, margin = (T - at.middle_temperature) / at.half_range, 1 + 1e-6
    return require((x > -margin) & (x < margin), f"the temperature {place} leaves the range in "
                   f"which the properties of {advice}")


def polynomial_of(degree: int, xs: Any, ys: Any) -> list[Any]:
    """Coefficients, lowest power first, of x between -1 and 1 over all of a table's points."""
    count = len(xs)
    x = (2 * xs - xs[0] - xs[count - 1]) / (xs[count - 1] - xs[0])
    found = [0 * ys[0]] * (degree + 1)
    now, before, size = 0 * x + 1, 0 * x, 1.0
    powers, older = [1.0], [0.0]  # of both
    for k in range(min(degree, count - 1) + 1):
        smaller, size = size, sum_of(now * now)
        share, middle = sum_of(now * ys) / size, sum_of(x * now * now) / size
        for power, coefficient in enumerate(powers):
            found[power] = found[power] + share * coefficient
        back = size / smaller if k else 0.0
        now, before = (x - middle) * now - back * before, now
        powers, older = [rising - middle * same - back * old for rising, same, old in zip(
            [0.0, *powers], [*powers, 0.0], [*older, 0.0, 0.0][: k + 2], strict=True)], powers
    return found


def missed(degree: int, xs: np.ndarray, ys: np.ndarray) -> float:
    """The largest part of its value by which that polynomial misses a point of a table.

    Where the whole table spans more than the value, it is part of that.
    """
    x = (2 * xs - xs[0] - xs[-1]) / (xs[-1] - xs[0])
    off = np.abs(horner(x, polynomial_of(degree, xs, ys)) - ys)
    return float(np.max(off / np.maximum(np.abs(ys), np.ptp(ys))))


def of_table(degrees: dict[str, int], name: str) -> int:
    """Return the degree of a table's polynomial; that of the heat capacity is one less."""
    return degrees[name] - (name == "enthalpy")
