"""What does a user ask of an operating point?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...exceptions import BlocksError, ParameterError, brief
from ...numerics.arrays import Array
from ...system.system import System
from ...units import Unit, to_si
from ..linear.signals import InputSignal, OutputSignal, signals_of

__all__ = ["Bound", "Free", "OutputSpec", "OperatingSpec", "free", "read_spec"]

WHERE = "operating_point()"


class Free:
    """What an operating point may choose: :data:`free`."""

    def __repr__(self) -> str:
        return "free"


#: Says of an input that the operating point may choose it.
free = Free()


@dataclass(frozen=True, eq=False)
class OutputSpec:
    """A variable that shall have a value (SI)."""

    signal: OutputSignal
    value: float
    text: str


@dataclass(frozen=True, eq=False)
class Bound:
    """A variable or free input that shall lie between two values (SI)."""

    signal: InputSignal | OutputSignal
    low: float
    high: float

    @property
    def inside(self) -> list[float]:
        """Values between them, the middle first; the one that there is, where the other is none."""
        some = [v for v in (self.low, self.high) if np.isfinite(v)]
        if len(some) < 2:
            return some
        return [self.low + part * (self.high - self.low) for part in (0.5, 0.25, 0.75)]


@dataclass(frozen=True, eq=False)
class OperatingSpec:
    """All that is asked: values of variables, inputs that are free or have values, bounds."""

    values: list[OutputSpec] = field(default_factory=list)
    free: list[InputSignal] = field(default_factory=list)
    given: list[tuple[InputSignal, float]] = field(default_factory=list)
    bounds: list[Bound] = field(default_factory=list)

    def parameters(self, p: Array) -> Array:
        """The parameter vector with the given inputs."""
        out = p.copy()
        for signal, value in self.given:
            out[signal.place] = signal.sign * value
        return out


def read_spec(system: System, asked: Mapping[str, Any] | None) -> OperatingSpec:
    """Targets by path: a value with its unit, ``free``, or a pair of bounds."""
    spec = OperatingSpec()
    if asked is not None and not isinstance(asked, Mapping):
        raise ParameterError(WHERE, f"takes targets by path, but was given {brief(asked)}.",
                             'Write for example {"car.v": "90 km/h", "throttle.y": free}.')
    signals = signals_of(system)
    for path, value in (asked or {}).items():
        if isinstance(value, str) and value.strip() == "free":
            raise ParameterError(f"{WHERE}: {path}", "was given the text 'free'.", "Write free "
                                 "without quotes, after from blocks.analysis import free.")
        try:
            as_input: InputSignal | None = signals.input(path, WHERE)
        except BlocksError as error:
            if error.code == "analysis.input" and "function of time" in error.problem:
                raise
            as_input, refusal = None, error
        if isinstance(value, Free) or _is_pair(value):
            if as_input is None and isinstance(value, Free):
                raise refusal
            _add_range(spec, signals.output(path, WHERE) if as_input is None else as_input,
                       value, path)
        elif as_input is not None:
            spec.given.append((as_input, _number(value, as_input.unit, path)))
        else:
            for one in signals.output(path, WHERE):
                spec.values.append(OutputSpec(one, _number(value, one.unit, path),
                                          f"{one.path} = {value}"))
    return spec


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2


def _add_range(spec: OperatingSpec, target: InputSignal | list[OutputSignal], value: Any, path: str
               ) -> None:
    named = [target] if isinstance(target, InputSignal) else target
    if isinstance(target, InputSignal):
        spec.free.append(target)
    if not _is_pair(value):
        return
    for one in named:
        low, high = (s * np.inf if v is None else _number(v, one.unit, path)
                     for s, v in zip((-1, 1), value, strict=True))
        if not low <= high:
            raise ParameterError(f"{WHERE}: {path}", f"was given the bounds {value[0]} and "
                                 f"{value[1]}, which leave nothing between them.",
                                 "Give the lower bound first.")  # fmt: skip
        if np.isfinite(low) or np.isfinite(high):
            spec.bounds.append(Bound(one, low, high))


def _number(value: Any, declared: Unit, path: str) -> float:
    number = to_si(value, declared, f"{WHERE}: {path}")
    if np.ndim(number) or not np.isfinite(number):
        raise ParameterError(f"{WHERE}: {path}", f"takes one finite value, but was given "
                             f"{brief(value)}.", f"Give it in {declared}.", given=value)
    return float(number)
