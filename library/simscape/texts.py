"""What is a value of the diagram as Python text, and which names lack a value?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from .levels import Scope
from .matlab import Brace, Matrix, Number, Transposed, Unary, parse
from .matlab_values import Unknown, evaluate, free_names
from .names import Workspace
from .plan import Written
from .python_text import value_text
from .same_text import same_text
from .units import unit_here

__all__ = ["Texts", "WritesValues"]


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
        """The Python name of a value."""
        first = path.partition(".")[0]
        if first in scope.local:
            return scope.local[first]
        return self.workspace.python.variable(path)
