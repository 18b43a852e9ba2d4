"""What does a user get from an instance: a port to connect, a variable's path?

And in ``compose()`` a parameter that was given a function of time: something to calculate with, as
with a number, ``ForceSource(force=2 * self.force)``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exceptions import ConnectionRefused, UnknownName, WrongCall
from ..numerics.arrays import Indices
from ..units import Unit, from_si
from .tree import TreeNode

__all__ = ["OfTime", "PortGroup", "PortRef", "VariableRef", "choices_with"]


@dataclass(frozen=True)
class PortRef:
    """A port (or signal) of an instance, to be connected."""

    component: TreeNode
    port: Any  # the declaration, a Port or Signal
    index: Indices | None = None  # into the component's instances, None for all

    def __post_init__(self) -> None:
        if not self.port.exists(self.component):
            kind = type(self.component).__name__
            shown = (f"Make it with {kind}({name}={value!r})."
                     for name, value in choices_with(self.component, self.port))
            raise ConnectionRefused(
                self.path, "this port exists only with other options of its component.",
                next(shown, f"See the options of {kind}."), code="connection.absent")

    @property
    def path(self) -> str:
        """Dotted path, with the instance numbers of an array."""
        return f"{self.component.path}.{self.port.name}".lstrip(".")

    @property
    def size(self) -> int:
        return self.component.size if self.index is None else len(self.index)

    def __getitem__(self, index: Any) -> PortRef:
        return PortRef(self.component, self.port, self.component._indices(index, self.index))

    def __repr__(self) -> str:
        return f"<port {self.path}>"


def choices_with(component: TreeNode, declared: Any, there: bool = True
                 ) -> Iterator[tuple[str, Any]]:
    """Options, each with a value by which alone a component would have what is declared, or not."""
    for name, option in component._declared.items():
        flag = isinstance(getattr(option, "default", None), bool)
        several = getattr(option, "named", ()) or getattr(option, "choices", ())
        for value in several or ((True, False) if flag else ()):
            values = {**component._values, name: value}
            otherwise = component._reader(**{**vars(component), "_values": values})
            if declared.exists(otherwise) == there:
                yield name, value


@dataclass(frozen=True)
class PortGroup:
    """The numbered ports of a component, to be joined one by one."""

    ports: tuple[PortRef, ...]

    def __len__(self) -> int:
        return len(self.ports)

    def __getitem__(self, index: Any) -> PortRef | PortGroup:
        if isinstance(index, slice):
            return PortGroup(self.ports[index])
        numbers = index if isinstance(index, (list, tuple)) else [index]
        for k in numbers:
            if not isinstance(k, (int, np.integer)) or not -len(self) <= k < len(self):
                raise UnknownName(f"{self.path}[{k!r}]", f"is none of the {len(self)} ports.",
                                  f"They are numbered from 0 here, and called "
                                  f"{', '.join(p.port.name for p in self.ports[:6])} elsewhere.")
        picked = tuple(self.ports[k] for k in numbers)
        return PortGroup(picked) if isinstance(index, (list, tuple)) else picked[0]

    @property
    def path(self) -> str:
        first = self.ports[0]
        return f"{first.component.path}.{first.port.group}".lstrip(".")

    def __repr__(self) -> str:
        return f"<ports {', '.join(p.path for p in self.ports)}>"


@dataclass(frozen=True)
class VariableRef:
    """A variable of an instance: its path, unit and initial target."""

    component: TreeNode
    variable: Any  # the declaration

    @property
    def path(self) -> str:
        return f"{self.component.path}.{self.variable.name}"

    @property
    def unit(self) -> Unit:
        return self.variable.unit

    @property
    def initial(self) -> Any:
        """The initial target, given or preset, as a quantity; None where there is none."""
        value = self.component._targets.get(
            self.variable.name, (self.variable.initial_of(self.component), ""))[0]
        return None if value is None else from_si(value, self.unit)

    def __float__(self) -> float:
        raise WrongCall(self.path, "is a variable of the model, which has values in a run.",
                        f"Write model.simulate('4 s')[{self.path!r}].")

    def __repr__(self) -> str:
        starts = "" if self.initial is None else f", initial target {self.initial:~P}"
        return f"<variable {self.path} in {self.unit}{starts}>"


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
