"""What must a value be that is given to a component?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

import numpy as np

from ..exceptions import NamingError, ParameterError, brief
from ..numerics.arrays import Array, python_number
from ..units import Unit, as_written, from_si, size_in_si, to_si, unit_given
from .declarations import Option, Parameter, Target, Variable

if TYPE_CHECKING:
    from .tree import TreeNode

    Tables: TypeAlias = dict[str, dict[str, dict[str, Any]]]  # values of parts, by path

__all__ = ["Aim", "Builds", "accept_count", "aim", "are_parts", "is_same", "pass_on",
           "refuse_as_part", "shaped"]  # fmt: skip

MOST_INSTANCES = 100_000_000
_ARRAYS = {1: "a list of values", 2: "a matrix", 3: "an array of 3 dimensions"}


def accept_count(where: str, count: Any) -> int:
    """A number of instances; raise for what is none."""
    count = python_number(count)
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise ParameterError(where, f"must be a whole number of at least 1, but is {brief(count)}.",
                             given=count, code="parameter.count")
    if count > MOST_INSTANCES:
        raise ParameterError(where, f"is {brief(count)}, but may be {MOST_INSTANCES:,} at most.",
                             given=count, code="parameter.count")
    return count


def are_parts(value: object, kind: type) -> bool:
    """Whether it was meant to be a part: a class of components, or a list of these."""
    if isinstance(value, (list, tuple)):
        return any(isinstance(v, kind) for v in value)
    return isinstance(value, type) and issubclass(value, kind)


def refuse_as_part(where: str, name: str, value: object) -> NoReturn:
    """Raise for something that is given the name of a part and is no component."""
    if isinstance(value, type):
        says, hint = (f"{value.__name__} is a class, and a part is a component of that class.",
                      f"Write {value.__name__}(), with its parameters in the parentheses.")
    elif isinstance(value, (list, tuple)):
        says, hint = ("a list of components is no part.", "Make an array of equal ones, such as "
                      "Mass(count=3), or give each a name of its own: model.add('first', Mass()).")
    else:
        says, hint = (f"a part is a component, such as Mass(), and {brief(value)} is none.",
                      "Quantities are values of parameters of parts (model.mass.mass = '3 kg'), "
                      "options are those of simulate().")
    raise NamingError(where, says, hint, name=name, given=value, code="name.parts")


def shaped(declared: Parameter, values: Any, count: int | None, where: str) -> Any:
    """A parameter's values: rows are instances, columns the elements of an array parameter."""
    wanted, shape = np.ndim(declared.default), np.shape(values)
    if not wanted:
        course = (" What changes with time is a function of time, such as table(times, values)."
                  if declared.varying else "")
        return _one_per_instance(np.asarray(values), count, where, course) if shape else values
    if len(shape) == wanted and (np.size(values) or not np.size(declared.default)):
        return np.asarray(values)
    given = ("a single number" if not shape else "an empty list" if not np.size(values)
             else f"an array of {len(shape)} dimensions")
    raise ParameterError(
        where,
        f"takes {_ARRAYS[wanted]}, but was given {given}.",
        "Give a plain list." if wanted == 1 else "Give a list of rows." if wanted == 2
        else f"Give lists within lists, {wanted} deep, or an array.",
        given=values,
        code="parameter.size",
    )


def _one_per_instance(values: Array, count: int | None, where: str, advice: str = "") -> Array:
    if count is not None and values.shape == (count,):
        return values
    raise ParameterError(
        where,
        f"was given {values.size} values, but "
        + (f"there are {count} instances." if count else "takes a single value."),
        f"Give one value, or as many as count says.{advice}",
        given=values,
        code="parameter.size",
    )


@dataclass(frozen=True)
class Aim:
    """An initial target and nominal value, in SI units; None where nothing was said."""

    value: Any
    nominal: Any
    priority: str
    written_in: Unit | None  # of the value


def aim(declared: Variable, given: Any, count: int | None, where: str) -> Aim:
    """What was given as an initial target of a variable."""
    target = given if isinstance(given, Target) else Target(given)
    value = None if target.value is None else to_si(target.value, declared.unit, where)
    nominal = None if target.nominal is None else size_in_si(
        target.nominal, declared.unit, f"{where} (nominal)")
    for numbers in (value, nominal):
        if numbers is not None and np.ndim(numbers):
            _one_per_instance(numbers, count, where)
    if value is None:
        return Aim(None, nominal, target.priority, None)
    if not np.all(np.isfinite(value)):
        raise ParameterError(where, f"has the initial target {as_written(target.value)}, "
                             "which is not a finite number.",
                             f"Give a value in {declared.unit}.", code="parameter.finite")
    if declared.minimum is not None and np.any(value < declared.minimum):
        least = from_si(declared.minimum, declared.unit)
        raise ParameterError(where, f"has the initial target {as_written(target.value)}, but must "
                             f"be at least {least.magnitude:g} {declared.unit.text}.",
                             "Check its sign and unit.", given=target.value, bound=least,
                             rule="minimum", code="parameter.bounds")
    return Aim(value, nominal, target.priority, unit_given(target.value, where))


class Build(NamedTuple):
    """What a composite gives its parts, and which parts and connections it has."""

    tables: Tables
    structure: tuple[Any, ...]


class Builds:
    """What a composite gives its parts as it is built from its values.

    The latest two are kept: a value that is changed for a while, as derivatives are found, is
    followed by the one before, and by the same again in the next run.
    """

    def __init__(self) -> None:
        self._latest: list[tuple[tuple[Any, ...], Build]] = []

    def __reduce__(self) -> tuple[type[Builds], tuple[()]]:
        return Builds, ()  # a copy finds them anew

    def present(self, composite: TreeNode) -> Build:
        """Return a composite's parts and their values, by its present values."""
        given = composite._count, *composite._values.items(), *composite._units.items()
        for values, build in self._latest:
            if is_same(values, given):
                return build
        anew = composite._rebuilt()
        parts = anew._parts()
        joined = [[(ref.path, None if ref.index is None else ref.index.tobytes()) for ref in refs]
                  for whole in (anew, *parts.values()) for refs in whole._connections]
        kinds = [(path, type(part), part._count, [
            (name, value) for name, value in part._values.items()
            if isinstance(part._declared[name], Option)]) for path, part in parts.items()]
        build = Build({path: part._value_tables() for path, part in parts.items()}, (kinds, joined))
        self._latest = [(given, build), *self._latest[:1]]
        return build


def pass_on(composite: TreeNode, where: str, built: Build, anew: Build) -> None:
    """Give the parts of a composite what differs between two builds of it.

    A ParameterError says where it would have other parts or connections.
    """
    if built.structure != anew.structure:
        raise ParameterError(where, "decides which parts a composite has, and cannot change once "
                             "it is built.", f"Make a new {type(composite).__name__} with this "
                             "value.", code="parameter.structure")
    before, after = built.tables, anew.tables
    for path, part in composite._parts().items():
        if path not in before or path not in after:
            continue  # added by the user
        was, now = before[path], after[path]
        for table, mine in part._value_tables().items():
            for name in was[table].keys() | now[table].keys():
                if name not in now[table]:
                    mine.pop(name, None)
                elif name not in was[table] or not is_same(was[table][name], now[table][name]):
                    mine[name] = now[table][name]


def is_same(a: Any, b: Any) -> bool:
    """Whether two values (or targets) of a part are the same."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(is_same, a, b))
    if callable(a) or callable(b):
        return callable(a) and callable(b) and bool(a == b)
    return a is b or np.array_equal(a, b)
