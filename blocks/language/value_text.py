"""How is a value in SI units written with its unit, so that the same number is read again?"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..units import Unit, describe, quantity, unit

__all__ = ["exact", "read_value"]


def exact(value: Any, shown: Unit) -> Any:
    """A number as text with its unit; of several a list and a unit.

    In the given unit where a decimal number of it gives back the same binary one, else in SI.
    """
    flat = np.ravel(np.asarray(value, dtype=float)).tolist()
    for u in (shown, _coherent(shown)):
        numbers = [None if u is None else _number(v, u) for v in flat]
        if None not in numbers:
            break
    else:
        u, numbers = shown, [(v - shown.offset) / shown.factor for v in flat]
    assert u is not None
    if np.ndim(value) == 0:
        number = numbers[0]
        assert number is not None
        return f"{_text(number)} {u.text}" if u.text else number
    found = np.array(numbers, dtype=float).reshape(np.shape(value)).tolist()
    return {"values": found, "unit": u.text} if u.text else {"values": found}


def read_value(told: Any) -> Any:
    """The quantity of what :func:`exact` has written; anything else as it is."""
    if isinstance(told, dict) and "values" in told:
        return quantity(np.array(told["values"], dtype=float), told.get("unit", ""))
    return told


def _number(si: float, u: Unit) -> float | None:
    """The shortest number of a unit that means a value in SI exactly; None where there is none."""
    about = (si - u.offset) / u.factor
    nearby = [float(f"{about:.{digits}g}") for digits in (12, 15, 16, 17)]
    for number in (*nearby, np.nextafter(about, np.inf), np.nextafter(about, -np.inf)):
        if number * u.factor + u.offset == si:
            return float(number)
    return None


def _coherent(u: Unit) -> Unit | None:
    """The unit of SI of the same dimension."""
    if u.angular or u.frequency or not u.text:
        return None
    found = unit(describe(u.dimension))
    return found if found.factor == 1 and found.offset == 0 else None


def _text(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
