"""Which names have values inside a masked subsystem?

Its parameters, evaluated in the scope above, and what its initialisation code assigns; each is a
value of the script.
"""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass, field
from typing import Any

from ..file.diagram import Block
from ..matlab.python_text import same_text
from ..matlab.scripts import Assign, Skipped, parse_script
from ..matlab.syntax import Name, NotUnderstood
from ..matlab.values import Unknown, evaluate
from ..write.plan import Scope, SystemContext
from .block_parameters import Texts

__all__ = ["Masks"]


@dataclass
class Masks:
    """Gives the names of masks values."""

    texts: Texts
    remarks: list[str]
    # of the script: name, text, comment, source
    lines: list[tuple[str, str, str, str]] = field(default_factory=list)

    def scope(self, level: SystemContext, block: Block, name: str) -> Scope:
        """The names inside a subsystem that is called ``name`` in the script."""
        mask = block.mask
        if mask is None or not (mask.values or mask.initialisation.strip()):
            return level.scope
        values: dict[str, Any] = {}
        inner = Scope(ChainMap(values, dict(level.scope.values)), dict(level.scope.local))
        place, source = f"{level.path}/{block.name}", f"mask of {block.name}"
        for key, text in mask.values.items():
            if key in mask.literal:
                values[key] = text
                continue
            number = mask.numbers.get(key, {}).get(text, text)
            try:
                written = self.texts.of(number, level.scope, f"{place}.{key}")
            except NotUnderstood:
                continue
            if written.value is not None:
                values[key] = written.value
                self._line(inner, name, key, written.python, source)
        self._initialise(inner, values, mask.initialisation, name, place, source)
        return inner

    def _line(self, inner: Scope, name: str, key: str, text: str, source: str) -> None:
        inner.local[key] = self.texts.workspace.python.make(f"{name}_{key}")
        self.lines.append((inner.local[key], text, "", source))

    def _initialise(self, inner: Scope, values: dict[str, Any], code: str, name: str, place: str,
                    source: str) -> None:
        """Take over what the initialisation code assigns; the rest of it is named."""
        left = []
        for statement in parse_script(code, place):
            if isinstance(statement, Assign) and isinstance(statement.target, Name):
                key = statement.target.name
                try:
                    value = evaluate(statement.value, inner.values, place)
                except (Unknown, NotUnderstood):
                    values.pop(key, None)
                    left.append(key)
                    continue
                text = same_text(statement.value, value, inner.values,
                                 lambda path: self.texts.name(path, inner))
                values[key] = value
                self._line(inner, name, key, text, source)
            else:
                left += statement.names if isinstance(statement, Skipped) else \
                    [""] * isinstance(statement, Assign)
        if left:
            said = ", ".join(dict.fromkeys(key for key in left if key))
            self.remarks.append(f"{place} has code in its mask that is not run" + (
                f"; it may give {said} another value. Where that matters, set what follows from "
                "them in repair(model)." if said else "."))
