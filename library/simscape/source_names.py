"""Which names of a component source are taken here, and what are they called instead?"""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from blocks import Component

from .matlab import Binary, Name
from .python_text import CORE, PythonNames
from .source import Branch, Choice, Declared, Let, Source, Stated

__all__ = ["in_python"]

_TAKEN = {*dir(Component), *keyword.kwlist, *CORE, "count", "der", "interpolate", "np", "require",
          "self", "time", "when"}  # fmt: skip


def in_python(source: Source) -> tuple[Source, dict[str, str]]:
    """A component with names that are free here, and what those are called that were not."""
    own = [declared.name for section in source.sections.values() for declared in section]
    own += _local_names(source.equations)
    free = PythonNames(own)
    called = {name: free.make(f"{name}_") for name in dict.fromkeys(own) if name in _TAKEN}
    return (_renamed(source, called) if called else source), called


def _local_names(stated: Iterable[Stated]) -> Iterator[str]:
    for each in stated:
        if isinstance(each, Let):
            yield from (name for name, _ in each.names)
            yield from _local_names(each.body)
        elif isinstance(each, Choice):
            for _, body in each.cases:
                yield from _local_names(body)


def _renamed(part: Any, called: Mapping[str, str]) -> Any:
    """A part of a source; members of others (``mass.name``, ``mass(name = 1)``) stay."""
    if isinstance(part, str):
        return called.get(part, part)
    if isinstance(part, (list, tuple)):
        return type(part)(_renamed(each, called) for each in part)
    if isinstance(part, dict):
        return {key: _renamed(each, called) for key, each in part.items()}
    if isinstance(part, Binary) and part.sign == "=":
        return replace(part, right=_renamed(part.right, called))
    if not is_dataclass(part) or isinstance(part, type):
        return part
    given = {field.name: getattr(part, field.name) for field in fields(part)}
    return replace(part, **{
        name: _renamed(value, called) for name, value in given.items()
        if not isinstance(value, str) or isinstance(part, (Name, Declared, Branch))
        and name == "name"})
