"""How is an expression of MATLAB's language written in Python, and where does it mean the same?

Arrays are lists in the text, so whatever calculates with a whole array is written as its value.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from blocks import Model

from . import syntax as ml
from .syntax import NotUnderstood, Tree, changed, dotted
from .values import evaluate
from .words import WIDTH

__all__ = ["CORE", "MEMBERS", "SIGNS", "STRENGTH", "PythonNames", "class_name", "imports",
           "number_text", "python_name", "python_of", "qualified", "said", "same_text",
           "value_text"]  # fmt: skip

_RESERVED = {*keyword.kwlist, *dir(builtins), "np", "quantity", "model", "result", "self", "build",
             "Model", "Component", "Port", "Input", "Output", "Parameter"}  # fmt: skip

_LONGEST_NAME = 40  # signs, so that two names fit into a line

# what a script imports from ``blocks``
CORE = ("Component", "Input", "Model", "Output", "Parameter", "Port", "Target", "quantity", "abs_",
        "arccos", "arcsin", "arctan", "arctan2", "cos", "cosh", "der", "exp", "floor", "log",
        "maximum", "minimum", "mod", "sign", "sin", "sinh", "sqrt", "tan", "tanh",
        "where")  # fmt: skip

# what parts and ports of a class cannot be called
MEMBERS = (*dir(Model), *filter(str.istitle, CORE), *keyword.kwlist, "time", "count")


def python_name(written: str, default: str = "part") -> str:
    """A Python name for a name of the diagram: ``"Damper (Drag Force)"`` is damper_drag_force."""
    words = re.sub(r"([a-z0-9])([A-Z][a-z])", r"\1_\2", written)
    name = re.sub(r"\W+", "_", words, flags=re.ASCII).strip("_").lower()
    name = _shortened(re.sub(r"_+", "_", name), "_") or default
    if name[0].isdigit():
        name = f"{default}_{name}"
    return f"{name}_" if name in _RESERVED else name


def _shortened(name: str, between: str) -> str:
    """A name that is not too long, cut between its words where that is possible."""
    if len(name) <= _LONGEST_NAME:
        return name
    return name[:_LONGEST_NAME].rpartition(between)[0] or name[:_LONGEST_NAME]


def said(written: str, name: str) -> str:
    """The name in the diagram, where the Python name does not tell it."""
    words = re.sub(r"[ _-]+", "_", written.strip()).lower()
    return "" if words == name or words == name.replace("_", "") else written


def class_name(written: str) -> str:
    """A class name for a name of the diagram: ``"heat source"`` is HeatSource."""
    words = re.findall(r"[A-Za-z0-9]+", _shortened(written, " "))
    name = "".join(word[0].upper() + word[1:] for word in words) or "Subsystem"
    return f"Subsystem{name}" if name[0].isdigit() else name


def qualified(home: str, name: str) -> str:
    """What a class is called beside one of the same name: Switch is ElectricalSwitch."""
    return class_name(home.rpartition(".")[2].replace("_", " ")) + name


def imports(used: Collection[str], known: Iterable[str], homes: Mapping[str, Mapping[str, str]]
            ) -> Iterator[str]:
    """The lines that import what a text uses: of ``blocks`` what is known, of others all.

    ``homes`` are names by module, and what they are called here; classes come first.
    """
    if "np" in used:
        yield from ("import numpy as np", "")
    for home, names in [("blocks", {name: name for name in known if name in used}),
                        *sorted(homes.items())]:
        ordered = sorted((name if name == here else f"{name} as {here}"
                          for name, here in names.items()), key=lambda n: (not n[0].isupper(), n))
        line = f"from {home} import {', '.join(ordered)}"
        yield from [line] if len(line) <= WIDTH else [
            f"from {home} import (", *(f"    {name}," for name in ordered), ")"]


class PythonNames:
    """Gives every name of one scope a Python name of its own, other than those that are taken."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        self.given: dict[str, str] = {}

    def make(self, wanted: str) -> str:
        """A name like this that nothing else has."""
        name, number = wanted, 2
        gap = "_" if wanted.islower() else ""  # sensor_2, but Sensor2
        while name in self.taken:
            name, number = f"{wanted.rstrip('_')}{gap}{number}", number + 1
        self.taken.add(name)
        return name

    def variable(self, path: str) -> str:
        """The Python name of a variable of the workspace, ``"p.cell.R"``."""
        if path not in self.given:
            name = path.replace(".", "_")
            self.given[path] = self.make(f"{name}_" if name in _RESERVED else name)
        return self.given[path]


def number_text(value: float, written: str = "") -> str:
    """A number as a person writes it, as it stands in the file where that is Python."""
    if written and re.fullmatch(r"\d+(\.\d+)?(e-?\d+)?", written) and not (
            len(written) > 1 and written[0] == "0" and written[1].isdigit()):
        return written
    if np.isinf(value) or np.isnan(value):
        return "np.nan" if np.isnan(value) else "np.inf" if value > 0 else "-np.inf"
    return repr(float(value)).removesuffix(".0")


def value_text(value: Any) -> str:
    """A value as Python text."""
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {value_text(v)}" for k, v in value.items()) + "}"
    if not isinstance(value, list):
        value = np.asarray(value)
        if value.ndim == 0:
            return number_text(float(value))
        value = value.ravel() if 1 in value.shape else value
    return _list(map(value_text, value))


def _list(entries: Iterable[str]) -> str:
    return f"[{', '.join(entries)}]"


_CALLS = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "mod": "mod",
    "rem": "fmod", "fix": "trunc", "where": "where",
}  # fmt: skip
_SAME = {"sqrt", "exp", "log", "log10", "log2", "sin", "cos", "tan", "sinh", "cosh", "tanh", "abs",
         "floor", "ceil", "sign", "power", "hypot", "sum", "prod", "mean", "cumsum",
         "diff", "linspace", "deg2rad", "rad2deg", "flip", "float64"}  # fmt: skip
_TWO_WAYS = ("max", "min")  # of two numbers or of a list
_PLAIN = ("double", "single", "int32", "logical", "value")  # say nothing in Python
_KNOWN = {*_CALLS, *_SAME, *_TWO_WAYS, "double", "value"}
_CONSTANTS = {"pi": "np.pi", "inf": "np.inf", "Inf": "np.inf", "nan": "np.nan", "NaN": "np.nan",
              "eps": "2.0**-52", "true": "1.0", "false": "0.0"}  # fmt: skip
STRENGTH = {"||": 1, "&&": 2, "|": 3, "&": 4, "<": 5, "<=": 5, ">": 5, ">=": 5, "==": 5, "~=": 5,
            "+": 6, "-": 6, "*": 7, ".*": 7, "/": 7, "./": 7, "^": 9, ".^": 9}  # fmt: skip
SIGNS = {"||": "or", "&&": "and", "~=": "!=", ".*": "*", "./": "/", "^": "**", ".^": "**"}


def python_of(tree: Tree, name: Callable[[str], str]) -> str:
    """An expression as Python text; ``name`` gives that of a name of the workspace, ``"p.cell.R"``.

    NotUnderstood is raised for what has no counterpart as text; its value may still be known.
    """
    return _text(tree, name)[0]


def _text(tree: Tree, name: Callable[[str], str]) -> tuple[str, int]:
    """Text, and how strongly it binds."""
    if isinstance(tree, ml.Number):
        return number_text(tree.value, tree.text), 11
    if isinstance(tree, ml.Text):
        return repr(tree.value), 11
    if isinstance(tree, (ml.Name, ml.Field)):
        path = dotted(tree)
        if not path:
            raise _too_long()
        return (_CONSTANTS[path], 11) if path in _CONSTANTS else (name(path), 11)
    if isinstance(tree, ml.Unary):
        inner, strength = _text(tree.of, name)
        sign, own = ("-", 8) if tree.sign == "-" else ("not ", 0)
        return f"{sign}{inner if strength >= own else f'({inner})'}", own
    if isinstance(tree, ml.Binary) and tree.sign in STRENGTH:
        return _binary(tree, name)
    if isinstance(tree, ml.Apply):
        return _applied(tree, name), 11
    if isinstance(tree, (ml.Matrix, ml.Brace)):
        rows = [[python_of(entry, name) for entry in row] for row in tree.rows]
        flat = len(rows) == 1 or all(len(row) == 1 for row in rows)
        return _list(e for row in rows for e in row) if flat else _list(map(_list, rows)), 11
    if isinstance(tree, ml.Range):
        start, step, stop = (python_of(t, name) for t in (
            tree.start, tree.step or ml.Number(1, "1"), tree.stop))
        return f"np.arange({start}, {stop} + {step} / 2, {step})", 11
    if isinstance(tree, ml.Transposed) and isinstance(tree.of, (ml.Matrix, ml.Range, ml.Name)):
        return _text(tree.of, name)  # rows and columns are both lists here
    raise _too_long()


def _too_long() -> NotUnderstood:
    return NotUnderstood("", "this has no counterpart in Python that is as short.")


def _binary(tree: ml.Binary, name: Callable[[str], str]) -> tuple[str, int]:
    strength = STRENGTH[tree.sign]
    parts = []
    for side, of in enumerate((tree.left, tree.right)):
        text, own = _text(of, name)
        array = isinstance(of, (ml.Matrix, ml.Brace)) and strength >= 6
        weak = own < strength or own == strength and (side == 1 or strength == 9)
        if strength == 9 and side == 1 and isinstance(of, ml.Unary) and of.sign == "-":
            weak = False
        parts.append(f"np.array({text})" if array else f"({text})" if weak else text)
    sign = SIGNS.get(tree.sign, tree.sign)
    return (sign if sign == "**" else f" {sign} ").join(parts), strength


def _applied(tree: ml.Apply, name: Callable[[str], str]) -> str:
    given, called = [python_of(a, name) for a in tree.arguments], dotted(tree.of)
    if called in _PLAIN:
        return given[0]
    if called in _SAME or called in _CALLS or called in _TWO_WAYS and len(given) == 1:
        return f"np.{_CALLS.get(called, called)}({', '.join(given)})"
    if called in _TWO_WAYS:
        return f"{called}({', '.join(given)})"
    if len(tree.arguments) == 1 and isinstance(tree.arguments[0], ml.Number) and called:
        return f"{name(called)}[{int(tree.arguments[0].value) - 1}]"
    raise _too_long()


# -- what means the same --------------------------------------------------------------------------
_LOGIC = ("&&", "||", "&", "|")  # give 0 or 1 there, one of the two sides here
_CONDITIONS = ("<", "<=", ">", ">=", "==", "~=")
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
        return bool(_rank(tree, names)) and all(
            part is None or _is_scalar(part, names) for part in (tree.start, tree.step, tree.stop))
    if isinstance(tree, ml.Transposed):
        return _is_same(tree.of, names) and _rank(tree.of, names) < 2
    return isinstance(tree, ml.Apply) and _is_same_call(tree, names)


def _is_same_call(tree: ml.Apply, names: Mapping[str, Any]) -> bool:
    called = dotted(tree.of)
    if called.partition(".")[0] in names:  # an index
        return _rank(tree.of, names) == 1 and all(
            isinstance(index, ml.Number) for index in tree.arguments)
    if called not in _KNOWN:
        return False
    if called in _TWO_WAYS and len(tree.arguments) == 2:
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
    if isinstance(tree, ml.Binary):  # of scalars, where this is asked
        return max(_rank(tree.left, names), _rank(tree.right, names))
    if isinstance(tree, ml.Unary):
        return _rank(tree.of, names)
    shape = np.shape(evaluate(tree, names))
    return 0 if not shape else 1 if 1 in shape or len(shape) == 1 else 2
