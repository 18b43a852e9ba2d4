"""What are the keywords of the component that a physical block becomes?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blocks import BlocksError, Component, Input, Option, Output, Parameter, Variable, quantity

from .diagram import Block, Value
from .levels import Scope
from .mapping import Counterpart, keyword_of, words_of
from .matlab import NotUnderstood
from .texts import Texts

__all__ = ["Keywords", "keywords_of", "signal_unit"]

_ON = ("1", "1.0", "true", "on")
_PRIORITIES = {"High": "high", "Low": "low", "None": "none"}
_SETTINGS = {"num_ports", "ZeroCross"}


@dataclass
class Keywords:
    """Texts by keyword, the values they stand for, and what is to be said of them."""

    texts: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    defaults: list[str] = field(default_factory=list)  # not in the file: the default here holds

    def instance(self, component: type[Component]) -> Component | None:
        """A component with these values, where they are known and fit."""
        try:
            return component(**{k: v for k, v in self.values.items() if v is not None})
        except BlocksError as error:
            self.notes.append(f"{error.problem}")
            return None


def keywords_of(block: Block, counterpart: Counterpart, texts: Texts, scope: Scope, where: str
                ) -> Keywords:
    """The keywords of a block's counterpart."""
    component = counterpart.component
    assert component is not None
    found = Keywords()
    declared: Mapping[str, Any] = component._declared
    _choose(block, counterpart, declared, found)
    chosen = found.instance(component) or component()
    for name, value in block.values.items():
        keyword, note = keyword_of(counterpart, name)
        mine = declared.get(keyword)
        if mine is None or isinstance(mine, Option):
            if note and value.specify is not False and name not in _SETTINGS:
                found.notes.append(f"{name}: {note}")
            elif not keyword and value.specify is not False and name not in _SETTINGS:
                found.notes.append(f"{name} = {value.text} {value.unit}".rstrip()
                                   + " has no counterpart here.")
            continue
        if not mine.exists(chosen) or value.specify is False:
            continue
        try:
            _take(keyword, mine, value, found, texts, scope, f"{where}.{name}")
        except NotUnderstood as error:
            found.notes.append(f"{name}: {error.problem} The default here holds.")
    for word, keyword in words_of(counterpart):
        mine = declared.get(keyword)
        if isinstance(mine, Parameter) and mine.exists(chosen) and word not in block.values:
            found.defaults.append(keyword)
    return found


def _choose(block: Block, counterpart: Counterpart, declared: Mapping[str, Any],
            found: Keywords) -> None:
    """Options first: which parameters there are depends on them."""
    for name, choices in counterpart.choices.items():
        if name not in block.values and "" in choices:
            _option(keyword_of(counterpart, name)[0], choices[""], declared, found)
    for name, value in block.values.items():
        keyword, _ = keyword_of(counterpart, name)
        mine = declared.get(keyword)
        if not isinstance(mine, Option):
            continue
        written = value.text.rpartition(".")[2].strip().strip("'\"")
        number = written[:-2] if written.endswith(".0") else written
        choices = counterpart.choices.get(name, {})
        if isinstance(mine.default, bool):
            _option(keyword, written.lower() in _ON, declared, found)
        elif number in choices:
            _option(keyword, choices[number], declared, found)
        else:
            wanted = written.replace("_", " ").lower()
            here = next((c for c in mine.choices or () if str(c).lower() == wanted), None)
            if here is not None:
                _option(keyword, here, declared, found)
            else:
                found.notes.append(f"{name} = {value.text}: this choice is not known here; "
                                   f"{keyword}={mine.default!r} holds.")


def _option(keyword: str, value: Any, declared: Mapping[str, Any], found: Keywords) -> None:
    if value != declared[keyword].default:
        found.texts[keyword] = repr(value).replace("'", '"')
        found.values[keyword] = value


def _take(keyword: str, mine: Any, value: Value, found: Keywords, texts: Texts, scope: Scope,
          where: str) -> None:
    """A parameter, or the target of a variable."""
    written = texts.of(value.text, scope, where, value.unit)
    if isinstance(mine, Parameter) and np.ndim(mine.default) and np.ndim(written.value) == 0 \
            and written.value is not None:
        written.python, written.literal = f"[{written.python}]", False
    if written.literal and written.value == 0 and np.ndim(_default(mine)) == 0 and \
            _default(mine) == 0 and value.priority in ("", "High"):
        return  # as it is here without being said
    text = written.argument
    number = None if written.value is None else quantity(
        np.ravel(written.value) if 1 in np.shape(written.value) else written.value,
        written.unit or None)
    if isinstance(mine, Variable) and value.priority in ("Low", "None") and value.specify:
        text = f'Target({text}, priority="{_PRIORITIES[value.priority]}")'
        number = None
    found.texts[keyword] = text
    found.values[keyword] = number


def _default(mine: Any) -> Any:
    return mine.initial if isinstance(mine, Variable) else mine.default


def signal_unit(instance: Component | type[Component], port: str) -> tuple[str, str]:
    """``"input"`` or ``"output"`` and the unit of a signal port; nothing for other ports."""
    declared = instance._declared.get(port)
    if isinstance(declared, (Input, Output)):
        kind = "input" if isinstance(declared, Input) else "output"
        return kind, "" if declared.open else declared.unit.text
    return "", ""
