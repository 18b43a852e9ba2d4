"""Which declarations of a component source are one, and which of its values are numbers at once?

A name that is declared in the exclusive branches of an ``if``, the same in each, is one
declaration; ``zeros``, ``ones`` and what else makes arrays of numbers is the array.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from . import matlab as ml
from .matlab import NotUnderstood, Tree, changed, number_tree
from .matlab_values import Unknown, evaluate, free_names
from .source import Conditions, Declared, Source, pair

__all__ = ["chosen", "plain_declarations"]

_MAKERS = ("zeros", "ones", "eye", "repmat", "linspace")
_DECLARING = ("nodes", "inputs", "outputs", "parameters", "variables")


def plain_declarations(source: Source) -> Source:
    """A source whose exclusive declarations are merged and whose constant arrays are written."""
    sections = {name: _merged([replace(d, value=_finite(_folded(d.value))) for d in declared])
                if name in _DECLARING else declared
                for name, declared in source.sections.items()}
    return replace(source, sections=sections)


def _merged(declared: list[Declared]) -> list[Declared]:
    """Declarations, of which two that differ in the last condition alone are one."""
    found = list(declared)
    while (both := _exclusive(found)) is not None:
        first, second = both
        found[first] = replace(found[first], condition=found[first].condition[:-1])
        del found[second]
    return found


def _exclusive(declared: list[Declared]) -> tuple[int, int] | None:
    for (k, one), (j, other) in combinations(enumerate(declared), 2):
        a, b = one.condition, other.condition
        alike = (one.name, one.index, one.value) == (other.name, other.index, other.value)
        if alike and a and b and a[:-1] == b[:-1] \
                and a[-1][0] == b[-1][0] and a[-1][1] != b[-1][1]:
            return k, j
    return None


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
