"""Which declarations of a component source are one, which values numbers, which names free?

A name that is declared in the exclusive branches of an ``if``, the same in each, is one
declaration; ``zeros``, ``ones`` and what else makes arrays of numbers is the array. Names that are
taken here are called otherwise.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from blocks import Component

from ..matlab import syntax as ml
from ..matlab.python_text import CORE, PythonNames
from ..matlab.syntax import NotUnderstood, Tree, changed, number_tree
from ..matlab.values import Unknown, evaluate, free_names
from .source import Branch, Choice, Conditions, Declared, Let, Source, pair

__all__ = ["chosen", "in_python", "plain_declarations"]

_MAKERS = ("zeros", "ones", "eye", "repmat", "linspace")
_TAKEN = {*dir(Component), *keyword.kwlist, *CORE, "count", "der", "interpolate", "np", "require",
          "self", "time", "when"}  # fmt: skip
_DECLARING = ("nodes", "inputs", "outputs", "parameters", "variables")


def plain_declarations(source: Source) -> Source:
    """A source whose exclusive declarations are merged and whose constant arrays are written."""
    sections = {name: _merged([replace(d, value=_finite(_folded(d.value))) for d in declared])
                if name in _DECLARING else declared
                for name, declared in source.sections.items()}
    return replace(source, sections=sections)


def _merged(declared: list[Declared]) -> list[Declared]:
    """Declarations, of which two that differ in the last condition alone are one."""
    for (k, one), (j, other) in combinations(enumerate(declared), 2):
        a, b = one.condition, other.condition
        alike = (one.name, one.index, one.value) == (other.name, other.index, other.value)
        if alike and a and b and a[:-1] == b[:-1] and a[-1][0] == b[-1][0] and a[-1][1] != b[-1][1]:
            return _merged([*declared[:k], replace(one, condition=a[:-1]), *declared[k + 1:j],
                            *declared[j + 1:]])
    return declared


def _folded(value: Tree) -> Tree:
    """A value with its unit whose number is an array that functions make of numbers."""
    if not isinstance(value, ml.Brace) or not value.rows or not value.rows[0]:
        return _array(value)
    first, *rest = value.rows[0]
    if isinstance(first, ml.Field) and pair(value) is not None:
        return first  # of an enumeration, with a unit
    return replace(value, rows=((_array(first), *rest), *value.rows[1:]))


def _finite(part: Any) -> Any:
    """A value with a number in the place of what is infinite: a limit that is never reached."""
    if part in (ml.Name("inf"), ml.Name("Inf")):
        return number_tree(1e30)
    whole = not isinstance(part, (tuple, ml.Unary, ml.Matrix, ml.Brace))
    return part if whole else changed(part, _finite)


def _array(tree: Tree) -> Tree:
    if not _makes(tree) or any(free_names(tree)):
        return tree
    try:
        made = np.atleast_2d(np.asarray(evaluate(tree, {}), dtype=float))
    except (NotUnderstood, Unknown, TypeError, ValueError):
        return tree
    if made.size == 1:
        return number_tree(float(made.item()))
    return ml.Matrix(tuple(tuple(number_tree(float(x)) for x in row) for row in made))


def _makes(tree: Tree) -> bool:
    """Whether a function in it makes an array, or arithmetic is of one."""
    if isinstance(tree, ml.Apply):
        return isinstance(tree.of, ml.Name) and tree.of.name in _MAKERS
    if isinstance(tree, ml.Binary):
        return any(_makes(side) or isinstance(side, (ml.Matrix, ml.Transposed))
                   for side in (tree.left, tree.right))
    return isinstance(tree, ml.Unary) and _makes(tree.of)


def chosen(rows: list[tuple[Conditions, Tree]]) -> Tree:
    """One expression of values that are declared under conditions, each written once."""
    conditions, value = rows[0]
    if not conditions:
        return value
    condition = conditions[0][0]
    others = [row for row in rows if not row[0] or row[0][0][0] != condition]
    yes, no = ([(conditions[1:], value) for conditions, value in rows
                if conditions[:1] == ((condition, holds),)] for holds in (True, False))
    if not yes:
        condition, yes, no = ml.Unary("~", condition), no, []
    cases = (chosen(yes), *([chosen([*no, *others])] if no or others else []))
    return ml.Apply(ml.Name("if"), (condition, *cases))


# -- names ----------------------------------------------------------------------------------------
def in_python(source: Source) -> tuple[Source, dict[str, str]]:
    """A component with names that are free here, and what those are called that were not.

    A name of a ``let`` that another thing of the component has, too, gets one of its own.
    """
    scope = _Scope(PythonNames(source.names))
    called = {name: scope.free_name(name) for name in source.names if name in _TAKEN}
    laws = {part: scope.renamed(getattr(source, part), called) for part in ("equations", "initial")}
    return replace(_renamed(source, called), **laws), scope.called


@dataclass
class _Scope:
    """Gives names their own place in Python, where a ``let`` opens no scope."""

    free: PythonNames
    called: dict[str, str] = field(default_factory=dict)

    def free_name(self, name: str) -> str:
        if name not in _TAKEN:
            return self.free.make(name)
        self.called[name] = self.free.make(f"{name}_")
        return self.called[name]

    def renamed(self, stated: Any, called: Mapping[str, str]) -> Any:
        if isinstance(stated, (list, tuple)):
            return type(stated)(self.renamed(each, called) for each in stated)
        if isinstance(stated, Choice):
            return replace(stated, cases=tuple(
                (_renamed(condition, called), self.renamed(body, called))
                for condition, body in stated.cases))
        if isinstance(stated, Let):
            inside = {**called, **{name: self.free_name(name) for name, _ in stated.names}}
            names = [(inside[name], _renamed(value, inside)) for name, value in stated.names]
            return replace(stated, names=tuple(names), body=self.renamed(stated.body, inside))
        return _renamed(stated, called)


def _renamed(part: Any, called: Mapping[str, str]) -> Any:
    """A part of a source; members of others (``mass.name``, ``mass(name = 1)``) stay."""
    if isinstance(part, str):
        return called.get(part, part)
    given_by_name = isinstance(part, ml.Binary) and part.sign == "="
    if given_by_name or not is_dataclass(part) or isinstance(part, type):
        return changed(part, lambda each: _renamed(each, called))
    given = {each.name: getattr(part, each.name) for each in fields(part)}
    return replace(part, **{
        name: _renamed(value, called) for name, value in given.items()
        if not isinstance(value, str) or isinstance(part, (ml.Name, Declared, Branch))
        and name == "name"})
