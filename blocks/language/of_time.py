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

    def __add__(self, other: Any) -> OfTime:
        return OfTime(operator.add, self, other)

    def __radd__(self, other: Any) -> OfTime:
        return OfTime(operator.add, other, self)

    def __sub__(self, other: Any) -> OfTime:
        return OfTime(operator.sub, self, other)

    def __rsub__(self, other: Any) -> OfTime:
        return OfTime(operator.sub, other, self)

    def __mul__(self, other: Any) -> OfTime:
        return OfTime(operator.mul, self, other)

    def __rmul__(self, other: Any) -> OfTime:
        return OfTime(operator.mul, other, self)

    def __truediv__(self, other: Any) -> OfTime:
        return OfTime(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> OfTime:
        return OfTime(operator.truediv, other, self)

    def __pow__(self, other: Any) -> OfTime:
        return OfTime(operator.pow, self, other)
