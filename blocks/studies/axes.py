"""What is varied, and over which values?

Turns a user's mapping, list or table into axes: numbers in a unit, checked
against the model's parameters, and laid out in dimensions. Runs nothing.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exceptions import BlocksError, ParameterError, brief
from ..language.component import Part
from ..numerics.arrays import Array, Indices
from ..reading.headings import heading_parts
from ..units import (
    Unit,
    in_unit,
    is_quantity,
    magnitude_of,
    quantity,
    to_si,
    unit_at,
    unit_given,
    unit_of,
)
from .settings import Setting, find_setting

__all__ = ["Axis", "Plan", "plan"]

@dataclass(frozen=True)
class Axis:
    """Values of one setting, along one dimension of the study."""

    path: str
    dim: str
    values: tuple[Any, ...]  # numbers in `unit`; names or switches where it is None
    unit: str | None
    doc: str
    sampled: bool = False

    def numbers(self, declared: Unit) -> Array:
        """All values in SI units."""
        values = np.array(self.values, dtype=float)
        return np.asarray(to_si(quantity(values, self.unit) if self.unit else values, declared,
                                self.path))  # fmt: skip

    def quantity(self, k: int) -> Any:
        """The k-th value as it is given to the model."""
        return quantity(self.values[k], self.unit) if self.unit else self.values[k]


@dataclass(frozen=True)
class Plan:
    """All points of a study, numbered; the last dimension runs fastest."""

    axes: tuple[Axis, ...]
    shape: dict[str, int]

    def __len__(self) -> int:
        return math.prod(self.shape.values())

    def places(self, numbers: Indices | int) -> list[Indices]:
        """Per axis, which of its values stand at points."""
        place = dict(zip(self.shape, np.unravel_index(numbers, tuple(self.shape.values())),
                         strict=True))  # fmt: skip
        return [place[axis.dim] for axis in self.axes]

    def point(self, number: int) -> tuple[Any, ...]:
        """Values of all axes at a point."""
        return tuple(axis.quantity(int(k))
                     for axis, k in zip(self.axes, self.places(number), strict=True))

    def order(self, settings: Sequence[Setting]) -> list[int]:
        """Numbers of the points, those of equal structure together."""
        structural = [k for k, s in enumerate(settings) if s.kind == "option"]
        numbers = range(len(self))
        if not structural:
            return list(numbers)
        return sorted(numbers, key=lambda n: [str(self.point(n)[k]) for k in structural])


def plan(model: Part, over: Any, samples: int | None, seed: int) -> tuple[Plan, list[Setting]]:
    """Axes and settings of what a user wants to vary."""
    points = _as_points(over)
    if points is not None:
        if samples is not None:
            raise ParameterError("sweep(samples=…)", "belongs to distributions, but a list of "
                                 "points was given.", "Leave it out.", given=samples)  # fmt: skip
        axes = [(path, "run", values, False) for path, values in points.items()]
    else:
        axes = list(_grid(over, samples, seed))
    if not axes:
        raise ParameterError("sweep()", "was given nothing to vary.",
                             'Write for example {"friction.coulomb_force": ["15 N", "20 N"]}.')
    paths = [path for path, *_ in axes]
    made, settings = [], []
    for path, dim, values, sampled in axes:
        setting = find_setting(model, path, [p for p in paths if p != path])
        made.append(_axis(setting, dim, values, sampled))
        settings.append(setting)
    shape: dict[str, int] = {}
    for axis in made:
        shape.setdefault(axis.dim, len(axis.values))
    if "sample" in shape:  # fastest, whatever the order they were given in
        shape["sample"] = shape.pop("sample")
    return Plan(tuple(made), shape), settings


def _as_points(over: Any) -> dict[str, Any] | None:
    """Columns of a list of points or of a table; None for a mapping of axes."""
    if hasattr(over, "columns") and hasattr(over, "iloc"):
        columns: dict[str, Any] = {}
        for k, heading in enumerate(over.columns):
            path, values = _heading(str(heading), over.iloc[:, k])
            if path in columns:
                raise ParameterError("sweep()", f"was given a table with two columns of {path}.",
                                     "Leave one out.", given=path)  # fmt: skip
            columns[path] = values
        return columns
    if isinstance(over, Mapping):
        return None
    if isinstance(over, str) or not hasattr(over, "__iter__"):
        raise ParameterError("sweep()", f"takes a mapping, a list of points or a table, but was "
                             f"given {brief(over)}.", "Write for example "
                             '{"friction.coulomb_force": ["15 N", "20 N"]}.', given=over)
    points = list(over)
    first = points[0] if points else {}
    for k, point in enumerate(points):
        if not isinstance(point, Mapping):
            raise ParameterError(f"sweep(): point {k}", f"is {brief(point)}, not a mapping of "
                                 "paths to values.", 'Write for example {"block.mass": "1 kg"}.',
                                 given=point)  # fmt: skip
        if set(point) != set(first):
            raise ParameterError(f"sweep(): point {k}",
                                 f"has {', '.join(map(str, point)) or 'nothing'}, but point "
                                 f"0 has {', '.join(map(str, first))}.",
                                 "Every point is a mapping of the same paths.", given=point)
    return {path: [point[path] for point in points] for path in first}


def _heading(text: str, column: Any) -> tuple[str, Any]:
    """Path and values of a table's column; ``path [unit]`` as in exported tables."""
    path, shown = heading_parts(text)
    if shown is None:
        return text, list(column)
    if unit_at(shown, f"column {brief(path)}").is_dimensionless and column.dtype == object:
        return path, list(column)  # names, perhaps
    try:
        return path, quantity(np.asarray(column, dtype=float), shown)
    except (TypeError, ValueError):
        raise ParameterError(path, f"has a column in {shown}, but not all of its values are "
                             "numbers.", "Give a unit in the heading or with every value, not "
                             "both.", given=text) from None  # fmt: skip


def _grid(over: Mapping[str, Any], samples: int | None, seed: int
          ) -> Iterator[tuple[str, str, Any, bool]]:
    frozen = {path: (given, "") if hasattr(given, "rvs") else given for path, given in over.items()}
    random = {path: given for path, given in frozen.items()  # distributions, with their units
              if isinstance(given, tuple) and len(given) == 2 and hasattr(given[0], "rvs")}
    if random and (samples is None or not (_is_whole(samples) and samples > 0)):
        raise ParameterError("sweep(samples=…)", "must say how many samples of the distributions "
                             f"to take, but is {samples!r}.", "Write for example samples=200.",
                             given=samples)  # fmt: skip
    if samples is not None and not random:
        raise ParameterError("sweep(samples=…)", "belongs to distributions, but there is none.",
                             'Write for example {"block.mass": (scipy.stats.norm(1, 0.1), "kg")}.',
                             given=samples)  # fmt: skip
    if random and not (_is_whole(seed) and seed >= 0):
        raise ParameterError("sweep(seed=…)", f"must be a whole number from 0 on, but is {seed!r}.",
                             "The same number gives the same samples.", given=seed)  # fmt: skip
    count = int(samples or 0)
    for path, given in over.items():
        if path not in random:
            yield path, path, given, False
            continue
        distribution, shown = random[path]
        source = np.random.default_rng([seed, zlib.crc32(path.encode())])
        numbers = np.asarray(distribution.rvs(size=count, random_state=source), dtype=float)
        yield path, "sample", (quantity(numbers, unit_at(shown, path)) if shown else numbers), True


def _is_whole(given: Any) -> bool:
    return isinstance(given, (int, np.integer)) and not isinstance(given, bool)


def _axis(setting: Setting, dim: str, values: Any, sampled: bool) -> Axis:
    where = setting.path
    if isinstance(values, (set, frozenset)):
        raise ParameterError(where, "is varied over a set, which has no order.",
                             "Give its values as a list.", given=values)  # fmt: skip
    if isinstance(values, (str, Mapping)) or not hasattr(values, "__iter__") or (
            is_quantity(values) and np.ndim(values.magnitude) == 0):
        raise ParameterError(where, f"is varied, so it takes a list of values, but was given "
                             f"{brief(values)}.", "Write [value, value, …], also for one: "
                             f"[{brief(values)}].", given=values)  # fmt: skip
    declared = setting.unit
    if declared is None:
        chosen = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
        for value in chosen:
            setting.accept(value)
        return Axis(where, dim, _some(chosen, where), None, setting.doc)
    shown = _shown(setting, values, declared)
    given = values if is_quantity(values) or isinstance(values, np.ndarray) else list(values)
    if not is_quantity(values) and any(callable(v) and not is_quantity(v) for v in given):
        raise ParameterError(where, "cannot be varied over functions of time.",
                             "Give the component a parameter that occurs in the function.",
                             code="parameter.function")  # fmt: skip
    si = np.asarray(to_si(given, declared, where, getattr(setting.declared, "advice", "")))
    if si.ndim != 1:
        raise ParameterError(where, "takes a plain list of values to be varied over.", given=values)
    numbers = tuple(map(float, _in(values, si, shown)))
    axis = Axis(where, dim, _some(numbers, where), str(shown.text), setting.doc, sampled)
    if not sampled:  # a sample out of bounds is a failed run, a given one a mistake
        _refuse_value(setting, axis, given)
    return axis


def _refuse_value(setting: Setting, axis: Axis, given: Any) -> None:
    """Refuse the first value that the component, or the solver, refuses."""
    numbers = np.array(axis.values)
    try:
        if setting.component is None:
            raise ParameterError(axis.path, "is checked value by value.")
        setting.accept(quantity(numbers, axis.unit) if axis.unit else numbers)
    except BlocksError:  # say which value it is
        for k, value in enumerate(given):
            setting.accept(value if isinstance(value, str) else axis.quantity(k))


def _some(values: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    if not values:
        raise ParameterError(where, "was given an empty list of values to be varied over.")
    return values


def _shown(setting: Setting, values: Any, declared: Unit) -> Unit:
    """The unit in which an axis is kept: that of its first value."""
    if getattr(setting.declared, "any_unit", False):
        return declared  # another one would change the component's ports
    first = values if is_quantity(values) else next(iter(values), "")
    told = is_quantity(first) or isinstance(first, str) and first
    return unit_given(first, setting.path) if told else declared


def _in(values: Any, si: Array, shown: Unit) -> Array:
    """The numbers as they were given, converted only where units differ."""
    if is_quantity(values):
        return np.asarray(values.magnitude, dtype=float)
    converted = np.array(in_unit(si, shown), dtype=float)
    for k, value in enumerate(values):
        if (isinstance(value, str) or is_quantity(value)) and unit_of(value) == shown:
            converted[k] = float(magnitude_of(value))
    return converted
