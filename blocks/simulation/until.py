"""Where does a run end that goes on until a condition is met?

The conditions belong to a part of a copy of the model, which reads variables of other parts and
requires that none of them hold: so they are located as every other requirement is.
"""

from __future__ import annotations

import copy
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

import casadi as ca

from ..exceptions import ParameterError, UnitError, UnknownName, WrongCall, brief
from ..language.component import Component
from ..language.declarations import Input
from ..language.expression import Condition, Expression
from ..language.statements import Requirement
from ..results.lookup import find_all, find_one
from ..results.recording import VariableInfo
from .actions import EndOfRun
from .catalog import Catalog

__all__ = ["model_until"]

RELATION = re.compile(r"([^<>]+?)\s*(>=|<=|>|<)\s*([^<>]+)")
COMPARED = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
WHERE = "simulate(until=…)"


def model_until(model: Any, until: Any) -> Any:
    """Return a copy of a model whose runs end where one of some conditions is met.

    Parameters
    ----------
    until : str, function of the model that gives a condition, or list of these
    """
    given = list(until) if isinstance(until, (list, tuple)) else [until]
    if not given:
        raise ParameterError(WHERE, "is empty.", "Write for example until='block.x > 1 m'.")
    catalog, made = Catalog.of(model.compile()), copy.deepcopy(model)
    paths: dict[str, VariableInfo] = {}  # that are read
    asked = _Reader(catalog, model.name, lambda info: paths.setdefault(
        info.path, info) and Expression.in_unit(ca.SX.sym(info.path), info.unit))
    named = [(one, f"function {k} holds" if len(given) > 1 else "its function holds")
             for k, one in enumerate(given, 1)]
    for one in named:  # it tells what it reads when it is evaluated
        list(_conditions(*one, asked))

    def equations(self: Any) -> Iterator[Any]:
        reader = _Reader(catalog, model.name, lambda info: getattr(self, info.path))
        for one in named:
            for told, condition in _conditions(*one, reader):
                yield Requirement(~condition, EndOfRun(told))

    kind = type("Until", (Component,), {"equations": equations, **{
        path: Input(info.unit.text or "1", doc=f"what {path} is") for path, info in paths.items()}})
    part = "until"
    while part in made.parts or hasattr(type(made), part):
        part += "_"
    made.add(part, kind())
    made._reads = {(part, path): path for path in paths}
    return made


def _conditions(given: Any, nameless: str, reader: _Reader) -> Iterator[tuple[str, Condition]]:
    """What a condition is called, and what it is; of an array, one for each instance."""
    if callable(given):
        if getattr(getattr(given, "__code__", None), "co_argcount", 1) < 1:
            raise ParameterError(WHERE, "has a function that is given nothing.", "Have it take "
                                 "the model: until=lambda m: m.block.x > '1 m'.")
        condition = given(reader)
        if not isinstance(condition, Condition):
            raise ParameterError(WHERE, f"has a function that gave {brief(condition)}.",
                                 "Give a relation: until=lambda m: m.block.x > '1 m'.")
        name = getattr(given, "__name__", "<lambda>")
        yield nameless if name == "<lambda>" else name, condition
        return
    found = RELATION.fullmatch(given.strip()) if (
        isinstance(given, str) and not re.search(r"\w\(", given)) else None
    if found is None:
        raise WrongCall(WHERE, f"takes a condition, but was given {brief(given)}.",
                        "Write for example until='block.x > 1 m', or a list of such, of which one "
                        "is to be met, or a function of the model: until=lambda m: "
                        "(abs_(m.block.x) > '1 m') & (m.block.v < '0 m/s').", given=given)
    left, sign, right = found.groups()
    if right in reader.catalog and left not in reader.catalog:
        left, sign, right = right, {"<": ">", ">": "<"}[sign[0]] + sign[1:], left
    there = reader.all(left)
    for path, value in there.items():
        told = given.strip() if len(there) == 1 else f"{path} {sign} {right}"
        bound = reader[right] if right in reader.catalog else right
        try:
            yield told, COMPARED[sign](value, bound)
        except UnitError as error:
            unit = find_one(reader.catalog, path, WHERE).unit
            raise type(error)(f"simulate(until={told!r})", error.problem,
                              f"{path} is in {unit}. Compare it with a value in such a unit, or "
                              "with a variable; of a parameter, write its value.") from None


class _Reader:
    """Stands for the model, or for a part of it, in conditions: ``m.block.x``, ``m["block.x"]``."""

    def __init__(self, catalog: Catalog, name: str, read: Callable[[VariableInfo], Any],
                 path: str = "") -> None:
        self.catalog, self._name, self._read, self._path = catalog, name, read, path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        path = f"{self._path}.{name}".lstrip(".")
        known = path in self.catalog
        return self[path] if known else _Reader(self.catalog, self._name, self._read, path)

    def __getitem__(self, path: str | int) -> Any:
        if isinstance(path, int):
            return _Reader(self.catalog, self._name, self._read, f"{self._path}[{path}]")
        found = self.all(path)
        if len(found) > 1:
            raise ParameterError(WHERE, f"compares {path!r}, which is an array.",
                                 f"Name one of them: '{next(iter(found))}'.")
        return next(iter(found.values()))

    def all(self, path: str) -> dict[str, Any]:
        """What stands for a variable, or for each of an array, by path."""
        infos = find_all(self.catalog, path, WHERE)
        for info in infos:
            if info.kind == "discrete" or info.words is not None:
                beside = sorted((p for p, other in self.catalog.items() if other.words is None and
                                 other.component == info.component and other.kind != "discrete"),
                                key=lambda path: path.count("."))
                raise ParameterError(WHERE, f"compares {info.path!r}, which changes at events "
                                     "alone.", "Compare what decides it, such as "
                                     f"{' or '.join(beside[:4]) or 'an output'}.")
        return {info.path: self._read(info) for info in infos}

    def _refuse(self, other: object) -> Any:
        raise UnknownName(WHERE, f"there is no variable {self._path!r} in {self._name!r}.",
                          "result.variables lists them.", name=self._path)

    __gt__ = __lt__ = __ge__ = __le__ = __add__ = __sub__ = __mul__ = __abs__ = _refuse
