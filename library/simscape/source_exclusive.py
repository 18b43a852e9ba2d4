"""Which declarations of a component source are one, and which of its values are numbers at once?

A name that is declared in the exclusive branches of an ``if``, the same in each, is one
declaration; ``zeros``, ``ones`` and what else makes arrays of numbers is the array.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .matlab import Apply, Binary, Brace, Matrix, Name, NotUnderstood, Number, Tree, Unary
from .matlab_values import Unknown, evaluate, free_names
from .source import Declared, Source

__all__ = ["plain_declarations"]

_MAKERS = ("zeros", "ones", "repmat", "linspace")
_DECLARING = ("nodes", "inputs", "outputs", "parameters", "variables")


def plain_declarations(source: Source) -> Source:
    """A source whose exclusive declarations are merged and whose constant arrays are written."""
    sections = {name: _merged([replace(d, value=_folded(d.value)) for d in declared])
                if name in _DECLARING else declared
                for name, declared in source.sections.items()}
    return replace(source, sections=sections)


def _merged(declared: list[Declared]) -> list[Declared]:
    """Declarations, of which two that differ in the last condition alone are one."""
    found = list(declared)
    pair = _exclusive(found)
    while pair is not None:
        first, second = pair
        found[first] = replace(found[first], condition=found[first].condition[:-1])
        del found[second]
        pair = _exclusive(found)
    return found


def _exclusive(declared: list[Declared]) -> tuple[int, int] | None:
    for j, other in enumerate(declared):
        for k, one in enumerate(declared[:j]):
            a, b = one.condition, other.condition
            if one.name == other.name and one.value == other.value and a and b \
                    and a[:-1] == b[:-1] and a[-1][0] == b[-1][0] and a[-1][1] != b[-1][1]:
                return k, j
    return None


def _folded(value: Tree) -> Tree:
    """A value with its unit whose number is an array that functions make of numbers."""
    if not isinstance(value, Brace) or not value.rows or not value.rows[0]:
        return _array(value) if isinstance(value, (Apply, Binary)) else value
    first, *rest = value.rows[0]
    return replace(value, rows=((_array(first), *rest), *value.rows[1:]))


def _array(tree: Tree) -> Tree:
    if not _makes(tree) or any(free_names(tree)):
        return tree
    try:
        made = np.atleast_2d(np.asarray(evaluate(tree, {}), dtype=float))
    except (NotUnderstood, Unknown, TypeError, ValueError):
        return tree
    return Matrix(tuple(tuple(_number(float(x)) for x in row) for row in made))


def _number(x: float) -> Tree:
    text = f"{abs(x):.15g}"
    return Unary("-", Number(abs(x), text)) if x < 0 else Number(abs(x), text)


def _makes(tree: Tree) -> bool:
    """Whether a function in it makes an array."""
    if isinstance(tree, Apply):
        return isinstance(tree.of, Name) and tree.of.name in _MAKERS
    if isinstance(tree, Binary):
        return _makes(tree.left) or _makes(tree.right)
    return isinstance(tree, Unary) and _makes(tree.of)
