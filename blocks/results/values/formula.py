"""What does arithmetic make of series?

A sum, product or other function of series, sample by sample, is a recording of its own: it
has the times of the first series in it, and at any time it is evaluated from what its
operands are there, each by its own run. So it is still known of which run it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...exceptions import WrongDimension
from ...numerics.arrays import Array
from ...units import from_si, is_quantity, quantity, unit, unit_of
from ..recording import VariableInfo
from .samples import Samples, headings, refuse_times_not_covered, rows_at
from .views import View, same_samples, samples_of

__all__ = ["Formula"]

_SIGNS = {"add": "+", "sub": "-", "subtract": "-", "mul": "*", "multiply": "*", "truediv": "/",
          "divide": "/", "pow": "**", "power": "**"}  # fmt: skip


class Formula(View):
    """A recording of what a function makes of series and single values.

    Its variables, ``infos``, are one, or the instances of an array.
    """

    def __init__(self, function: Callable[..., Any], operands: Sequence[Any], lead: Samples,
                 infos: Sequence[VariableInfo], is_array: bool) -> None:
        of = lead.rows.source
        sources = [x.rows.source for x in operands if isinstance(x, Samples)]
        super().__init__(
            of, np.asarray(of.times), _joint([np.asarray(s.close_times) for s in sources]),
            samples_of(of).events, sampled=of, knots=_joint([np.asarray(s.knots) for s in sources]))
        self.function, self.operands, self.path = function, operands, lead.path
        self.infos, self.is_array = infos, is_array

    @classmethod
    def of(cls, function: Callable[..., Any], name: str, operands: Sequence[Any]) -> Formula | None:
        """The recording of a function that goes sample by sample, None for any other.

        Refused are units that do not fit, and runs that do not cover the times of the first.
        """
        series = [x for x in operands if isinstance(x, Samples)]
        if any(np.ndim(getattr(x, "magnitude", x)) for x in operands if not isinstance(x, Samples)):
            return None
        lead = series[0]
        times = np.asarray(lead.rows.source.times)
        for other in series[1:]:
            if not same_samples(lead.rows.source, other.rows.source):
                refuse_times_not_covered(other, times, lead.path)
        tried = _tried(function, name, operands)
        if not is_quantity(tried):
            if np.asarray(tried).dtype.kind != "f":  # a condition, say
                return None
            tried = quantity(tried)
        is_array = np.ndim(tried.magnitude) > 1
        shown, watt = unit_of(tried), unit("W")
        if (shown.dimension, shown.factor) == (watt.dimension, watt.factor):
            shown = watt  # a power, however it was multiplied
        count = np.shape(tried.magnitude)[0] if is_array else 1
        run_of = dict(zip(map(id, series), (text.removeprefix(x.path) for x, text in zip(
            series, headings(lead.rows.source, series), strict=True)), strict=True))
        paths = [_written(name, [_text(x, k) + run_of.get(id(x), "") for x in operands])
                 for k in range(count)]
        infos = [VariableInfo(path, "", path, shown, "variable", "", k)
                 for k, path in enumerate(paths)]
        return cls(function, operands, lead, infos, is_array)

    def values(self, indices: Sequence[int], times: Array | None = None,
               side: str = "right") -> Array:
        found = self.function(*(self._read(x, times, side) for x in self.operands))
        return np.atleast_2d(quantity(found).to_base_units().magnitude)[list(indices)]

    def _read(self, operand: Any, times: Array | None, side: str) -> Any:
        if not isinstance(operand, Samples):
            return operand
        source = operand.rows.source
        if times is not None:
            rows = source.values(operand.rows.indices, times, side)
        elif same_samples(self, source):
            return operand.quantity
        else:
            rows = rows_at(operand, self.times, self.path)
        return from_si(operand.shaped(rows), operand.declared_unit)


def _joint(times: Sequence[Array]) -> Array:
    """All times of curves in the time that these have in common; those of events twice."""
    if len(times) == 1 or any(not len(t) or np.array_equal(t, times[0]) for t in times[1:]):
        return times[0]
    start, end = max(t[0] for t in times), min(t[-1] for t in times)
    inside = [t[(t >= start) & (t <= end)] for t in times]
    once = np.unique(np.concatenate([*inside, [start, end]]))
    twice = np.unique(np.concatenate([t[1:][np.diff(t) == 0] for t in inside]))
    return np.sort(np.concatenate([once, twice]))


def _tried(function: Callable[..., Any], name: str, operands: Sequence[Any]) -> Any:
    """What the function makes of ones in the units of its operands."""
    from pint import DimensionalityError

    ones = [from_si(np.ones((len(x.infos), 1) if x.is_array else 1), x.declared_unit)
            if isinstance(x, Samples) else x for x in operands]  # fmt: skip
    try:
        with np.errstate(all="ignore"):  # only units and shape are looked at
            return function(*ones)
    except DimensionalityError:
        written = _written(name, [_text(x, 0) for x in operands])
        units = [f"{x.units:~C}" or "1" if is_quantity(x) else "1" for x in ones]
        raise WrongDimension(written, f"is made of {' and '.join(units)}.",
                             "Cannot convert one into the other: look for a missing factor.",
                             given=units) from None  # fmt: skip


def _text(operand: Any, k: int) -> str:
    """An operand as it is written, of an array its k-th instance."""
    if not isinstance(operand, Samples):
        return f"{operand:~C}" if is_quantity(operand) else f"{operand:g}"
    path = operand.infos[min(k, len(operand.infos) - 1)].path if operand.is_array else operand.path
    return f"({path})" if " " in path else path


def _written(name: str, texts: list[str]) -> str:
    if name in _SIGNS and len(texts) == 2:
        return f"{texts[0]} {_SIGNS[name]} {texts[1]}"
    return f"{name}({', '.join(texts)})"
