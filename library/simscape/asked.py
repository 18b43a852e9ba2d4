"""What are the parameters of one block, as texts and numbers?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .diagram import Block
from .levels import Scope
from .mapping import word_of
from .matlab_values import value_of
from .python_text import value_text
from .simulink_options import defaults_of, unread_options

if TYPE_CHECKING:
    from .diagram import Diagram
    from .node_units import NodeUnits
    from .plan import Written
    from .texts import WritesValues

__all__ = ["Asked"]


@dataclass
class Asked:
    """The parameters of a block for signals; ``path`` is that of the system it stands in."""

    texts: WritesValues
    diagram: Diagram
    units: NodeUnits
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
        return unread_options(self.block, self._read, self._usual)

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
        """The text of a column of a matrix."""
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
        """The unit of the signal at a port."""
        end = next((e for e, p in self.block.ports.items() if p == port), "")
        return self.units.of(self.block.sid, end) or ""

    def ports(self, kind: str) -> list[str]:
        """Names of the ports that are an ``"input"`` or an ``"output"``."""
        return [p for p in self.block.ports.values() if self.block.types.get(p) == kind]
