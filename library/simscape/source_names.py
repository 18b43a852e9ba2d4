"""Which names of a component source are taken here, and what are they called instead?"""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from blocks import Component

from .matlab import Binary, Name, changed
from .python_text import CORE, PythonNames
from .source import Branch, Choice, Declared, Let, Source, Stated

__all__ = ["in_python"]

_TAKEN = {*dir(Component), *keyword.kwlist, *CORE, "count", "der", "interpolate", "np", "require",
          "self", "time", "when"}  # fmt: skip


def in_python(source: Source) -> tuple[Source, dict[str, str]]:
    """A component with names that are free here, and what those are called that were not.

    A name of a ``let`` that another thing of the component has, too, gets one of its own.
    """
    scope = _Scope(PythonNames(source.names))
    called = {name: scope.free_name(name) for name in source.names if name in _TAKEN}
    laws = {part: scope.renamed(getattr(source, part), called) for part in ("equations", "initial")}
    return replace(_renamed(source, called), **laws), scope.called


@dataclass
class _Scope:
    """Gives names their own place in Python, where a ``let`` opens no scope."""

    free: PythonNames
    called: dict[str, str] = field(default_factory=dict)

    def free_name(self, name: str) -> str:
        if name not in _TAKEN:
            return self.free.make(name)
        self.called[name] = self.free.make(f"{name}_")
        return self.called[name]

    def renamed(self, stated: Iterable[Stated], called: Mapping[str, str]) -> list[Stated]:
        return [self._renamed(each, called) for each in stated]

    def _renamed(self, stated: Stated, called: Mapping[str, str]) -> Stated:
        if isinstance(stated, Choice):
            return replace(stated, cases=tuple(
                (_renamed(condition, called), tuple(self.renamed(body, called)))
                for condition, body in stated.cases))
        if isinstance(stated, Let):
            inside = {**called, **{name: self.free_name(name) for name, _ in stated.names}}
            names = [(inside[name], _renamed(value, inside)) for name, value in stated.names]
            return replace(stated, names=tuple(names),
                           body=tuple(self.renamed(stated.body, inside)))
        renamed: Stated = _renamed(stated, called)
        return renamed


def _renamed(part: Any, called: Mapping[str, str]) -> Any:
    """A part of a source; members of others (``mass.name``, ``mass(name = 1)``) stay."""
    if isinstance(part, str):
        return called.get(part, part)
    given_by_name = isinstance(part, Binary) and part.sign == "="
    if given_by_name or not is_dataclass(part) or isinstance(part, type):
        return changed(part, lambda each: _renamed(each, called))
    given = {each.name: getattr(part, each.name) for each in fields(part)}
    return replace(part, **{
        name: _renamed(value, called) for name, value in given.items()
        if not isinstance(value, str) or isinstance(part, (Name, Declared, Branch))
        and name == "name"})
