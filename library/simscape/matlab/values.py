"""What is the value of an expression in MATLAB's language?

Evaluated over its tree: arithmetic, arrays, indices and elementary functions; sizes are bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from blocks import BlocksError

from . import syntax as ml
from .functions import FUNCTIONS, MAKERS, REAL
from .syntax import NotUnderstood, Tree, dotted, subtrees

__all__ = ["Unknown", "evaluate", "free_names", "numbers_of", "value_of"]


class Unknown(BlocksError):
    """A name that has no value; ``error.name`` is it."""

    code = "simscape.name"


_CONSTANTS = {"pi": np.pi, "inf": np.inf, "Inf": np.inf, "nan": np.nan, "NaN": np.nan,
              "eps": 2.0**-52, "true": 1.0, "false": 0.0}  # fmt: skip
_OBJECTS = ("Simulink.Parameter", "Simulink.Variant")  # stand for what they hold

_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, ".*": np.multiply, "/": np.divide,
    "./": np.divide, "^": np.power, ".^": np.power,
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal,
    "~=": np.not_equal, "&": np.logical_and, "|": np.logical_or, "&&": np.logical_and,
    "||": np.logical_or,
}  # fmt: skip

_CONDITIONS = "<", "<=", ">", ">=", "==", "~=", "&", "|", "&&", "||"


def free_names(tree: Tree) -> list[str]:
    """Names in an expression that are neither functions nor constants known here."""
    parts = list(subtrees(tree))
    known = {*_CONSTANTS, *FUNCTIONS, ":", "end", *(
        "value" for part in parts if isinstance(part, ml.Apply) and part.of == ml.Name("value"))}
    return [part.name for part in parts if isinstance(part, ml.Name) and part.name not in known]


def evaluate(tree: Tree, names: Mapping[str, Any], where: str = "") -> Any:
    """The value of an expression: a number, an array (rows by columns), a text or a mapping.

    Unknown is raised for a name without a value, NotUnderstood for an operation that is not known,
    or that its values do not allow.
    """
    try:
        with np.errstate(all="ignore"):
            return _Evaluation(names, where).of(tree)
    except (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError,
            np.linalg.LinAlgError) as error:
        raise NotUnderstood(where, f"its values do not allow this: {error}.") from error


def value_of(text: str, names: Mapping[str, Any]) -> Any:
    """The value of a text; None of one that has none, or cannot be read."""
    try:
        return evaluate(ml.parse(text), names)
    except (Unknown, NotUnderstood):
        return None


def numbers_of(text: str, names: Mapping[str, Any]) -> Any:
    """The numbers of a text as an array; an empty one where it gives none."""
    value = value_of(text, names)
    known = isinstance(value, (int, float, np.ndarray)) and np.isrealobj(value)
    return np.asarray(value if known else [], dtype=float)


@dataclass
class _Evaluation:
    names: Mapping[str, Any]
    where: str
    end: float | None = None  # the last index, within one

    def of(self, tree: Tree) -> Any:
        if isinstance(tree, (ml.Number, ml.Text)):
            return tree.value
        if isinstance(tree, ml.Name):
            return self._name(tree.name)
        if isinstance(tree, ml.Field):
            return self._field(tree)
        if isinstance(tree, ml.Apply):
            return self._apply(tree)
        if isinstance(tree, ml.Unary):
            value = self._number(self.of(tree.of))
            return -value if tree.sign == "-" else _plain(np.logical_not(value) * 1.0)
        if isinstance(tree, ml.Binary):
            return self._binary(tree)
        if isinstance(tree, ml.Transposed):
            return np.atleast_2d(self._number(self.of(tree.of))).T
        if isinstance(tree, ml.Range):
            return self._range(tree)
        return self._rows(tree.rows)

    def _name(self, name: str) -> Any:
        if name in self.names:
            return self.names[name]
        if name == "end" and self.end is not None:
            return self.end
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        raise self._unknown(name)

    def _field(self, tree: ml.Field) -> Any:
        of = self.of(tree.of)
        if not isinstance(of, Mapping) or tree.name not in of:
            raise self._unknown(dotted(tree) or tree.name)
        return of[tree.name]

    def _unknown(self, path: str) -> Unknown:
        return Unknown(self.where, f"{path} has no value.", f"Give one: --set {path}=…", name=path)

    def _apply(self, tree: ml.Apply) -> Any:
        if isinstance(tree.of, ml.Name) and tree.of.name not in self.names:
            name = tree.of.name
            if name == "value" and tree.arguments:
                return self.of(tree.arguments[0])
            if name == "struct":
                return self._structure(tree.arguments)
            if name in FUNCTIONS:
                return self._function(name, tree.arguments)
            raise Unknown(self.where, f"{name}(…) is not known.", f"Give a value: --set {name}=…",
                          name=name)
        if dotted(tree.of) in _OBJECTS and tree.arguments:
            return self.of(tree.arguments[0])
        if dotted(tree.of).startswith(("Simulink.", "simscape.")):
            raise NotUnderstood(self.where, f"{dotted(tree.of)}(…) is not known.")
        return self._indexed(np.asarray(self._number(self.of(tree.of))), tree.arguments)

    def _function(self, name: str, arguments: tuple[Tree, ...]) -> Any:
        given = [self._number(self.of(a)) for a in arguments]
        if any(np.size(g) > 1 << 20 for g in given) or name in MAKERS and any(
                np.max(g) > 1 << 20 for g in given[-2:]):
            raise NotUnderstood(self.where, f"{name}() would make a very large array.")
        made = FUNCTIONS[name](*given)
        if name in REAL and np.isnan(made).any() and not any(np.isnan(g).any() for g in given):
            raise NotUnderstood(self.where, f"{name}() has no real value here.")
        return _plain(made)

    def _structure(self, arguments: tuple[Tree, ...]) -> dict[str, Any]:
        """``struct('mass', 2, 'k', 8)``."""
        names, values = ([self.of(a) for a in part] for part in (arguments[::2], arguments[1::2]))
        if len(names) != len(values) or not all(isinstance(n, str) for n in names) or any(
                isinstance(v, list) for v in values):
            raise NotUnderstood(self.where, "this struct(…) is not known.")
        return dict(zip(names, values, strict=True))

    def _indexed(self, array: Any, indices: tuple[Tree, ...]) -> Any:
        """MATLAB's index: from 1, columns first."""
        if len(indices) == 1 and indices[0] == ml.Name(":"):
            return np.ravel(array, order="F").reshape(-1, 1)
        sizes = [array.size] if len(indices) == 1 else np.atleast_2d(array).shape
        places = [slice(None) if i == ml.Name(":") else self._place(i, size)
                  for i, size in zip(indices, sizes, strict=False)]
        if any(not isinstance(p, slice) and (p < 0).any() for p in places):
            raise NotUnderstood(self.where, "an index is less than 1.")
        if len(places) == 1:
            return _plain(np.ravel(array, order="F")[places[0]].reshape(1, -1))
        made = np.atleast_2d(array)
        for axis, place in enumerate(places):
            made = made[(slice(None),) * axis + (place,)]
        return _plain(made)

    def _place(self, index: Tree, size: int) -> Any:
        """Where an index points, from 0; ``end`` is the size. A condition says which entries."""
        inside = replace(self, end=float(size))
        value = np.ravel(inside._number(inside.of(index)))
        if _is_condition(index):
            return np.flatnonzero(value)
        if size > 1 and np.array_equal(value, np.ones(size)):  # what is kept of a > 0 says as much
            raise NotUnderstood(self.where, "an index of ones may be a condition.")
        return np.asarray(value, dtype=int) - 1

    def _binary(self, tree: ml.Binary) -> Any:
        left, right = self.of(tree.left), self.of(tree.right)
        if isinstance(left, str) and isinstance(right, str) and tree.sign in ("==", "~="):
            return float((left == right) == (tree.sign == "=="))
        a, b = self._number(left), self._number(right)
        if tree.sign == "*" and np.ndim(a) and np.ndim(b):
            return _plain(np.asarray(a) @ np.asarray(b))
        if tree.sign == "/" and np.ndim(b):
            return _plain(np.linalg.solve(np.atleast_2d(b).T, np.atleast_2d(a).T).T)
        if tree.sign == "^" and (np.ndim(a) or np.ndim(b)):
            return np.linalg.matrix_power(np.atleast_2d(a), int(b))
        if tree.sign not in _OPERATIONS:
            raise NotUnderstood(self.where, f"{tree.sign!r} is not known.")
        return _plain(_OPERATIONS[tree.sign](a, b) * 1.0)

    def _range(self, tree: ml.Range) -> Any:
        start, stop = (float(self._number(self.of(t))) for t in (tree.start, tree.stop))
        step = 1.0 if tree.step is None else float(self._number(self.of(tree.step)))
        count = int(np.floor((stop - start) / step * (1 + 1e-12) + 1e-10)) + 1 if step else 0
        if count > 1 << 20:
            raise NotUnderstood(self.where, "a range would make a very large array.")
        return _plain((start + step * np.arange(max(count, 0))).reshape(1, -1))

    def _rows(self, rows: tuple[tuple[Tree, ...], ...]) -> Any:
        made = [[self.of(entry) for entry in row] for row in rows]
        if len(made) == 1 and len(made[0]) == 1:
            return made[0][0]
        if any(isinstance(v, (str, Mapping)) for row in made for v in row):
            return [v for row in made for v in row]
        if not made:
            return np.zeros((0, 0))
        return np.vstack([np.hstack([np.atleast_2d(v) for v in row]) for row in made])

    def _number(self, value: Any) -> Any:
        if isinstance(value, (str, Mapping, list)):
            raise NotUnderstood(self.where, f"{value!r:.40} is no number.")
        return value


def _is_condition(tree: Tree) -> bool:
    """Whether an index is a condition, true or false of each entry."""
    return (isinstance(tree, ml.Binary) and tree.sign in _CONDITIONS
            or isinstance(tree, ml.Unary) and tree.sign == "~"
            or isinstance(tree, ml.Apply) and dotted(tree.of) in ("logical", "isnan"))


def _plain(value: Any) -> Any:
    """An array of one entry as a number."""
    whole = np.size(value) == 1 and not np.iscomplexobj(value)
    return float(np.ravel(value)[0]) if whole else value
