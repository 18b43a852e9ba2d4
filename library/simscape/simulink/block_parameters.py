"""What is a value of the diagram as Python text, and what are the parameters of one block?

A block for signals is mapped by what is read of it. Of what is left, names and pictures, checks,
types of numbers beside ``double`` that are not there, code generation and numerical settings change
nothing here, as ``simulink_options.csv`` says; any other option that is not at its default is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ..file.diagram import Block, Diagram
from ..file.workspace import Workspace
from ..matlab.python_text import same_text, value_text
from ..matlab.syntax import Brace, Matrix, Number, Transposed, Unary, parse
from ..matlab.values import Unknown, evaluate, free_names, value_of
from ..physical.mapping import word_of
from ..physical.units import unit_here
from ..tables import content_of, rows_of
from ..write.plan import Scope, Written

__all__ = ["BlockParameters", "Texts", "WritesValues", "defaults_of"]


class WritesValues(Protocol):
    """Gives the Python text of a value, and of a name in one."""

    def of(self, written: str, scope: Scope, where: str, unit: str = "") -> Written: ...
    def name(self, path: str, scope: Scope) -> str: ...


@dataclass
class Texts:
    """Writes values, and keeps which names have no value."""

    workspace: Workspace
    missing: dict[str, list[str]] = field(default_factory=dict)

    def of(self, written: str, scope: Scope, where: str, unit: str = "") -> Written:
        """A text of the diagram as Python.

        For a text or unit that cannot be read NotUnderstood names the place.
        """
        tree = parse(written, where)
        here = unit_here(unit, where)
        self.workspace.consulted.update(free_names(tree))
        try:
            value = evaluate(tree, scope.values, where)
        except Unknown as error:
            lacking = [n for n in free_names(tree) if n not in scope.values]
            for name in lacking or [str(error.data["name"])]:
                reason = self.workspace.unread.get(name)
                self.missing.setdefault(name, []).append(where if reason is None else
                                                         f"{where} ({reason})")
            return Written("None", None, False, here)
        literal = isinstance(tree, Number) or isinstance(tree, Unary) and isinstance(
            tree.of, Number)  # fmt: skip
        python = same_text(tree, value, scope.values, lambda path: self.name(path, scope))
        while isinstance(tree, (Transposed, Unary)):
            tree = tree.of
        if np.ndim(value) and not isinstance(tree, (Matrix, Brace)):
            python = python if python.isidentifier() else value_text(value)
        return Written(python, value, literal, here)

    def name(self, path: str, scope: Scope) -> str:
        first = path.partition(".")[0]
        if first in scope.local:
            return scope.local[first]
        return self.workspace.python.variable(path)


def defaults_of(block_type: str) -> dict[str, str]:
    """Values that files do not repeat, of a type of block."""
    found: dict[str, str] = content_of("simulink_defaults.json").get(block_type, {})
    return found


def _unread_options(block: Block, read: Collection[str], usual: Mapping[str, str]
                   ) -> list[tuple[str, str]]:
    """Names and values that a block holds, that nothing has read and that may matter.

    ``usual`` are the values that are usual for its type.
    """
    kind = block.simulink_name or block.block_type
    return [(name, value) for name, value in block.options.items()
            if name not in read and value != usual.get(name) and not any(
                all(not row[word] or re.fullmatch(row[word], given) for word, given in (
                    ("block", kind), ("option", name), ("value", value)))
                for row in rows_of("simulink_options.csv"))]


@dataclass
class BlockParameters:
    """The parameters of a block for signals; ``path`` is that of the system it stands in."""

    texts: WritesValues
    diagram: Diagram
    unit_at: Callable[[str, str], str | None]  # of the node at an end of a block
    scope: Scope
    block: Block
    path: str = ""
    # texts of values: of which parameters, and whether they are vectors
    given: dict[str, tuple[str, bool]] = field(default_factory=dict)
    _read: set[str] = field(default_factory=set)

    def written(self, name: str, default: str) -> str:
        """The text of a parameter, or its default in the file or in Simulink."""
        self._read.add(name)
        value = self.block.values.get(name)
        if value is not None:
            return value.text
        return self.block.options.get(name, self._usual.get(name, default))

    @property
    def _usual(self) -> dict[str, str]:
        kind = self.block.block_type
        return {**defaults_of(kind), **self.diagram.defaults.get(kind, {})}

    def unread(self) -> list[tuple[str, str]]:
        """What the block holds that nobody has asked for, and that may change what it gives."""
        return _unread_options(self.block, self._read, self._usual)

    def _of(self, name: str, default: str, unit: str = "") -> Written:
        where = f"{self.path}/{self.block.name}.{name}"
        return self.texts.of(self.written(name, default), self.scope, where, unit)

    def text(self, name: str, default: str) -> str:
        return self.value(name, default).python

    def number(self, name: str, default: str) -> float | None:
        value = self._of(name, default).value
        return float(value) if isinstance(value, (int, float)) else None

    def unless_zero(self, **options: str) -> dict[str, str]:
        """Keywords for parameters of which 0 is the default: those that are not 0."""
        return {word: self.value(name).argument for word, name in options.items()
                if self.number(name, "0") != 0}

    def shape(self, name: str, default: str) -> tuple[int, ...]:
        """Rows and columns of a parameter's value; nothing of a number."""
        return np.shape(self._of(name, default).value)

    def column(self, name: str, index: int) -> str:
        return value_text(np.asarray(self._of(name, "[]").value)[:, index])

    def elements(self, name: str, default: str) -> list[str]:
        """The texts of the elements of a vector, one of a number."""
        found = self._of(name, default)
        if not np.ndim(found.value):
            return [found.python]
        if found.python.isidentifier():
            return [f"{found.python}[{k}]" for k in range(np.size(found.value))]
        return [value_text(value) for value in np.ravel(found.value)]

    def rank(self, path: str) -> int | None:
        """0 for a number, 1 for a row or column, 2 for a matrix; None where it has no value."""
        value = value_of(path, self.scope.values)
        return None if value is None else len(np.shape(value)) - (1 in np.shape(value))

    def value(self, name: str, default: str = "0") -> Written:
        """The value of a parameter, of one of a component with its unit."""
        written = self.block.values.get(name)
        found = self._of(name, default, written.unit if written is not None else "")
        if found.value is not None:
            self.given[found.python] = name, bool(np.ndim(found.value))
        return found

    def name(self, path: str) -> str:
        """The Python name of a value of the workspace or of a mask; asked for if it has none."""
        return self.texts.of(path, self.scope, f"{self.path}/{self.block.name}").python

    def choice(self, name: str) -> str:
        """A choice by its last word, or its number."""
        found = self.block.values.get(name)
        return "" if found is None else word_of(found)

    def unit(self, port: str) -> str:
        end = next((e for e, p in self.block.ports.items() if p == port), "")
        return self.unit_at(self.block.sid, end) or ""

    def ports(self, kind: str) -> list[str]:
        return [p for p in self.block.ports.values() if self.block.types.get(p) == kind]
