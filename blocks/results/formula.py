"""What does arithmetic make of series?

A sum, product or other function of series, sample by sample, is a recording of its own: it
has the times of the first series in it, and at any time it is evaluated from what its
operands are there, each by its own run. So it is still known of which run it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from pint import DimensionalityError

from ..exceptions import WrongDimension
from ..units import Unit, from_si, quantity, unit, unit_of
from .recording import EnergyTerm, EventRecord, VariableInfo
from .runs import along, covered, own_times, run_of

__all__ = ["Formula", "formula"]

_SIGNS = {"add": "+", "sub": "-", "subtract": "-", "mul": "*", "multiply": "*", "truediv": "/",
          "divide": "/", "pow": "**", "power": "**"}  # fmt: skip


def formula(function: Callable[..., Any], name: str, operands: Sequence[Any]
            ) -> tuple[Formula, list[VariableInfo], bool] | None:
    """The recording of a function of series and single values, or None for anything else.

    Also its variables, and whether these are instances of an array.
    """
    series = [x for x in operands if hasattr(x, "infos")]
    if any(np.ndim(getattr(x, "magnitude", x)) for x in operands if x not in _All(series)):
        return None
    lead = series[0]
    times = np.asarray(lead._recording.times)
    for other in series[1:]:
        if not own_times(lead._recording, other._recording):
            covered(other, times, lead.path)
    ones = [from_si(np.ones((len(x.infos), 1) if x.is_array else 1), x.unit)
            if x in _All(series) else x for x in operands]  # fmt: skip
    try:
        with np.errstate(all="ignore"):  # only units and shape are looked at
            tried = function(*ones)
    except DimensionalityError:
        written = _written(name, [_text(x, 0, series) for x in operands])
        units = [f"{x.units:~C}" or "1" if hasattr(x, "units") else "1" for x in ones]
        raise WrongDimension(written, f"is made of {' and '.join(units)}.",
                             "Cannot convert one into the other: look for a missing factor.",
                             given=units) from None  # fmt: skip
    if not hasattr(tried, "units"):
        if np.asarray(tried).dtype.kind != "f":  # a condition, say
            return None
        tried = quantity(tried)
    array = np.ndim(tried.magnitude) > 1
    shown, count = _familiar(unit_of(tried)), np.shape(tried.magnitude)[0] if array else 1
    infos = []
    for k in range(count):
        path = _written(name, [_text(x, k, series) for x in operands])
        infos.append(VariableInfo(path, "", path, shown, "variable", "", k))
    return Formula(function, operands, lead, infos), infos, array


def _familiar(found: Unit) -> Unit:
    """A power in W, however it was multiplied; any other unit as it is."""
    watt = unit("W")
    return watt if (found.dimension, found.factor) == (watt.dimension, watt.factor) else found


class _All:
    """Membership by identity: == of series compares samples."""

    def __init__(self, things: Sequence[Any]) -> None:
        self.ids = {id(x) for x in things}

    def __contains__(self, thing: object) -> bool:
        return id(thing) in self.ids


def _text(operand: Any, k: int, series: Sequence[Any]) -> str:
    if operand not in _All(series):
        return f"{operand:~C}" if hasattr(operand, "units") else f"{operand:g}"
    path = operand.infos[min(k, len(operand.infos) - 1)].path if operand.is_array else operand.path
    return f"({path})" if " " in path else path


def _written(name: str, texts: list[str]) -> str:
    if name in _SIGNS and len(texts) == 2:
        return f"{texts[0]} {_SIGNS[name]} {texts[1]}"
    return f"{name}({', '.join(texts)})"


class Formula:
    """A recording of what a function makes of its operands."""

    def __init__(self, function: Callable[..., Any], operands: Sequence[Any], lead: Any,
                 infos: Sequence[VariableInfo]) -> None:
        of = lead._recording
        self.function, self.operands, self.path = function, operands, lead.path
        self.recording, self.run = getattr(of, "recording", of), run_of(of)
        self.name, self.times = of.name, np.asarray(of.times)
        self.status, self.message = of.status, of.message
        self.catalog: Mapping[str, VariableInfo] = {info.path: info for info in infos}
        self.events: Sequence[EventRecord] = self.recording.events
        self.statistics: Mapping[str, Any] = self.recording.statistics

    def values(
        self, indices: Sequence[int], times: np.ndarray | None = None, side: str = "right"
    ) -> np.ndarray:
        found = self.function(*(self._read(x, times, side) for x in self.operands))
        return np.atleast_2d(quantity(found).to_base_units().magnitude)[list(indices)]

    def _read(self, operand: Any, times: np.ndarray | None, side: str) -> Any:
        if not hasattr(operand, "infos"):
            return operand
        if times is not None:
            rows = operand._recording.values([i.index for i in operand.infos], times, side)
        elif own_times(self, operand._recording):
            return operand.quantity
        else:
            rows = along(operand, self.times, self.path)
        return from_si(operand._shaped(rows), operand.unit)

    def energy_terms(self) -> Sequence[EnergyTerm]:
        return ()
