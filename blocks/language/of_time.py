"""What is a parameter in ``compose()`` that was given a function of time?

Something to calculate with, as with a number: ``ForceSource(force=2 * self.force)``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["OfTime"]


def _itself(value: Any) -> Any:
    return value


def _both_ways(operation: Callable[[Any, Any], Any]) -> tuple[Callable[[Any, Any], OfTime],
                                                              Callable[[Any, Any], OfTime]]:
    return (lambda one, other: OfTime(operation, one, other),
            lambda one, other: OfTime(operation, other, one))


class OfTime:
    """A function of time, given or following from others."""

    @classmethod
    def of(cls, function: Callable[..., Any]) -> OfTime:
        return cls(_itself, function)

    @property
    def plain(self) -> Callable[..., Any]:
        """The function that was given, where nothing was calculated with it."""
        return self._operands[0] if self._operation is _itself else self  # type: ignore[no-any-return]

    def __init__(self, operation: Callable[..., Any], *operands: Any) -> None:
        self._operation, self._operands = operation, operands

    def __call__(self, t: Any) -> Any:
        return self._operation(*(one(t) if callable(one) else one for one in self._operands))

    def __eq__(self, other: object) -> bool:
        """Whether another build of the same composite would give the same."""
        return isinstance(other, OfTime) and self._operation is other._operation and len(
            self._operands) == len(other._operands) and all(
            np.all(a == b) for a, b in zip(self._operands, other._operands, strict=True))

    def __hash__(self) -> int:
        return hash((self._operation, *filter(callable, self._operands)))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return OfTime(ufunc, *inputs) if method == "__call__" and not kwargs else NotImplemented

    def __neg__(self) -> OfTime:
        return OfTime(operator.neg, self)

    def __abs__(self) -> OfTime:
        return OfTime(operator.abs, self)

    def __pow__(self, other: Any) -> OfTime:
        return OfTime(operator.pow, self, other)

    __add__, __radd__ = _both_ways(operator.add)
    __sub__, __rsub__ = _both_ways(operator.sub)
    __mul__, __rmul__ = _both_ways(operator.mul)
    __truediv__, __rtruediv__ = _both_ways(operator.truediv)
