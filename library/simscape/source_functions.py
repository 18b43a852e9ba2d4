"""What do calls in a component source say in signs, and in functions that are known here?

Functions that other sources define are written out where they are called, as are those of
MATLAB's that signs or others say as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import matlab as ml
from .matlab import NotUnderstood, Tree, changed, dotted, subtrees
from .source import Function, Let, Source
from .source_enumerations import enumeration_beside
from .source_files import read_function_file

__all__ = ["written_out"]

_SAID = {name: Function(name, tuple(inputs), name, ((name, ml.parse(text)),))
         for name, inputs, text in (
    ("ceil", "a", "-floor(-a)"), ("fix", "a", "sign(a).*floor(abs(a))"),
    ("round", "a", "sign(a).*floor(abs(a) + 0.5)"),
    ("rem", "ab", "a - b.*(sign(a./b).*floor(abs(a./b)))"), ("hypot", "ab", "sqrt(a.^2 + b.^2)"),
    ("not", "a", "~a"), ("and", "ab", "a && b"), ("or", "ab", "a || b"),
    ("xor", "ab", "a && ~b || ~a && b"), ("uminus", "a", "-a"), ("plus", "ab", "a + b"),
    ("minus", "ab", "a - b"), ("times", "ab", "a.*b"), ("mtimes", "ab", "a*b"),
    ("rdivide", "ab", "a./b"), ("mrdivide", "ab", "a/b"), ("power", "ab", "a.^b"),
    ("mpower", "ab", "a^b"), ("eq", "ab", "a == b"), ("ne", "ab", "a ~= b"),
    ("lt", "ab", "a < b"), ("le", "ab", "a <= b"), ("gt", "ab", "a > b"), ("ge", "ab", "a >= b"),
)}  # fmt: skip


def written_out(source: Source, path: Path) -> Source:
    """A component without calls of functions that say what others do as well.

    NotUnderstood is raised for a call that does not fit its function.
    """
    own = {*source.names, *(name for part in subtrees(source) if isinstance(part, Let)
                            for name, _ in part.names)}
    written: Source = _Calls(path, own).written(source, path.name)
    return written


@dataclass
class _Calls:
    path: Path
    own: set[str]  # names that are no functions
    known: dict[str, Function | None] = field(default_factory=dict)

    def written(self, part: Any, place: str, within: tuple[str, ...] = ()) -> Any:
        place = getattr(part, "place", "") or place
        made = changed(part, lambda each: self.written(each, place, within))
        if not isinstance(made, ml.Apply):
            return made
        if (member := self._member(made)) is not None:
            return member
        function = self._function(made)
        return made if function is None else self._result(function, made.arguments, place, within)

    def _member(self, call: ml.Apply) -> ml.Field | None:
        """``mypackage.mode(2)``: the member of an enumeration that a number says."""
        number = call.arguments[0] if len(call.arguments) == 1 else None
        if not isinstance(call.of, ml.Field) or not isinstance(number, ml.Number):
            return None
        try:
            members = enumeration_beside(dotted(call.of), self.path) or {}
        except NotUnderstood:
            return None  # a file of something else
        return next((ml.Field(call.of, name) for name, value in members.items()
                     if value == number.value), None)

    def _function(self, call: ml.Apply) -> Function | None:
        path = dotted(call.of)
        name = path.rpartition(".")[2]
        if path in self.own or not name:
            return None
        if path in _SAID:
            return _SAID[path]
        if name not in self.known:
            beside = self.path.with_name(f"{name}{self.path.suffix}")
            self.known[name] = read_function_file(beside) if beside.is_file() else None
        return self.known[name]

    def _result(self, function: Function, given: tuple[Tree, ...], place: str,
                within: tuple[str, ...]) -> Tree:
        if len(given) != len(function.inputs):
            raise NotUnderstood(place, f"{function.name}(…) takes {len(function.inputs)} values, "
                                f"but is given {len(given)}.")
        if function.name in within:
            raise NotUnderstood(place, f"the function {function.name} calls itself.")
        values = dict(zip(function.inputs, given, strict=True))
        defined = {name: self.written(tree, place, (*within, function.name))
                   for name, tree in function.definitions}

        def circle(_: str) -> None:
            raise NotUnderstood(place, f"{function.name}(…) follows from itself.")

        for name in ml.in_order(defined, circle):
            values[name] = _put_in(defined[name], values)
        return values[function.result]


def _put_in(part: Any, values: Mapping[str, Tree]) -> Any:
    """An expression with others in the place of its names."""
    if isinstance(part, ml.Name):
        return values.get(part.name, part)
    return changed(part, lambda each: _put_in(each, values))
