"""Which expressions of MATLAB's language mean the same when they are written as Python?

Arrays are lists in the text, so whatever calculates with a whole array is written as its value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import matlab as ml
from .matlab import NotUnderstood, Tree, changed, dotted
from .matlab_values import evaluate
from .python_text import CALLS, python_of, value_text

__all__ = ["same_text"]

_LOGIC = ("&&", "||", "&", "|")  # give 0 or 1 there, one of the two sides here
_CONDITIONS = ("<", "<=", ">", ">=", "==", "~=")
_OF_TWO = ("max", "min")
_LISTS = ("cumsum", "diff", "flip", "linspace")  # give an array in Python, also of one element


def same_text(tree: Tree, value: Any, names: Mapping[str, Any], name: Callable[[str], str]) -> str:
    """An expression as Python text, or its value where Python would mean another.

    ``names`` are the values of the names in it; ``name`` gives the Python text for one.
    """
    if not isinstance(value, (list, Mapping)) and _is_same(tree, names):
        try:
            return python_of(_of_numbers(tree), name)
        except NotUnderstood:
            pass
    return value_text(value)


def _is_same(tree: Tree, names: Mapping[str, Any]) -> bool:
    if isinstance(tree, (ml.Number, ml.Text)):
        return True
    if isinstance(tree, (ml.Name, ml.Field)):
        return not isinstance(evaluate(tree, names), (Mapping, list))
    if isinstance(tree, ml.Unary):
        return tree.sign == "-" and _is_scalar(tree.of, names)
    if isinstance(tree, ml.Binary):
        return tree.sign not in _LOGIC and _is_scalar(tree.left, names) and _is_scalar(
            tree.right, names)
    if isinstance(tree, (ml.Matrix, ml.Brace)):
        return all(_is_scalar(entry, names) for row in tree.rows for entry in row)
    if isinstance(tree, ml.Range):
        if not _rank(tree, names):
            return False
        parts = (tree.start, tree.step, tree.stop)
        return all(part is None or _is_scalar(part, names) for part in parts)
    if isinstance(tree, ml.Transposed):
        return _is_same(tree.of, names) and _rank(tree.of, names) < 2
    return isinstance(tree, ml.Apply) and _is_same_call(tree, names)


def _is_same_call(tree: ml.Apply, names: Mapping[str, Any]) -> bool:
    called = dotted(tree.of)
    if called.partition(".")[0] in names:  # an index
        return _rank(tree.of, names) == 1 and all(
            isinstance(index, ml.Number) for index in tree.arguments)
    if called not in CALLS:
        return False
    if called in _OF_TWO and len(tree.arguments) == 2:
        return all(_is_scalar(a, names) for a in tree.arguments)
    if called == "linspace" and len(tree.arguments) != 3:
        return False  # a hundred values there, fifty here
    if called in _LISTS and not _rank(tree, names):
        return False
    return all(_is_same(a, names) and _rank(a, names) < 2 for a in tree.arguments)


def _of_numbers(tree: Any) -> Any:
    """A tree whose conditions are numbers, and which has no brackets around one number."""
    made = changed(tree, _of_numbers)
    if isinstance(made, ml.Matrix) and [len(row) for row in made.rows] == [1]:
        return made.rows[0][0]
    conditional = isinstance(made, ml.Binary) and made.sign in _CONDITIONS
    return ml.Apply(ml.Name("float64"), (made,)) if conditional else made


def _is_scalar(tree: Tree, names: Mapping[str, Any]) -> bool:
    return _is_same(tree, names) and _rank(tree, names) == 0


def _rank(tree: Tree, names: Mapping[str, Any]) -> int:
    """0 for a number or text, 1 for a row or column, 2 for a matrix."""
    if isinstance(tree, (ml.Number, ml.Text)):
        return 0
    if isinstance(tree, ml.Binary):  # of scalars, where this is asked
        return max(_rank(tree.left, names), _rank(tree.right, names))
    if isinstance(tree, ml.Unary):
        return _rank(tree.of, names)
    shape = np.shape(evaluate(tree, names))
    return 0 if not shape else 1 if 1 in shape or len(shape) == 1 else 2
