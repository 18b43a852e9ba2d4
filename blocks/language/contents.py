"""What does a model or component have: which parts, parameters, variables and ports?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..results.sheet import ByName, Sheet
from ..units import as_written, from_si, is_quantity
from .declarations import Declaration, Option, Parameter, Port, Signal, Variable

if TYPE_CHECKING:
    from .component import Component, Part

__all__ = ["Contents", "Entry", "contents_of", "parts_of"]


@dataclass(frozen=True)
class Entry:
    """A parameter, variable or port of an instance.

    Attributes
    ----------
    unit : text of the unit; of a port, its domain
    default : what it has where nothing is given, a quantity or an option's value; None: nothing
    value : what it has now; of a variable, its initial target
    doc : what it is
    """

    unit: str
    default: Any
    value: Any
    doc: str


class Contents(ByName):
    """A mapping by path that is shown as a table."""

    def __init__(self, title: str, entries: dict[str, Any], columns: dict[str, list[str]]) -> None:
        self._title, self._named, self._columns = title, entries, columns

    def __getitem__(self, path: str) -> Any:
        return self._named[path]

    def _sheet(self) -> Sheet:
        return Sheet(self._title, self._columns)


def parts_of(part: Part) -> Mapping[str, Component]:
    """Return all parts below one, by their paths in it."""
    parts = part._parts()
    return Contents(f"Parts of {_called(part)}", dict(parts), {
        "part": list(parts), "class": [type(p).__name__ for p in parts.values()],
        "what it is": [(p.__doc__ or "").partition("\n")[0] for p in parts.values()]})


def contents_of(part: Part, kind: str) -> Mapping[str, Entry]:
    """Return its parameters, variables or ports, and those of all parts below it, by path."""
    kinds: Any = {"parameters": (Parameter, Option), "ports": (Port, Signal)}.get(kind, Variable)
    entries = {
        f"{path}.{name}".lstrip("."): _entry(owner, name, declared)
        for path, owner in {"": part, **part._parts()}.items()
        for name, declared in owner._declared.items()
        if isinstance(declared, kinds) and declared.exists(owner)
        and (kind == "ports" or not isinstance(declared, Signal))}
    rows = list(entries.values())
    return Contents(f"{kind.capitalize()} of {_called(part)}", entries, {
        kind[:-1]: list(entries), "unit": [e.unit for e in rows],
        **({} if kind == "ports" else {"default": [_written(e.default) for e in rows],
                                       "value": [_written(e.value) for e in rows]}),
        "what it is": [e.doc for e in rows]})


def _entry(owner: Part, name: str, declared: Declaration) -> Entry:
    doc = getattr(declared, "doc", "")
    if isinstance(declared, Port):
        return Entry(str(declared.domain), None, None, doc)
    value = getattr(owner, name)
    if isinstance(declared, Option):
        return Entry("", declared.default, value, doc)
    unit = declared.unit  # type: ignore[attr-defined]  # of all that are left
    preset = (declared.initial_of(owner) if isinstance(declared, Variable) else
              getattr(declared, "default", None))
    default = None if preset is None or callable(preset) or isinstance(preset, str) else from_si(
        preset, unit)
    return Entry(unit.text, default, getattr(value, "initial", None) if isinstance(
        declared, Variable) else value, doc)


def _called(part: Part) -> str:
    return getattr(part, "name", part.path) if part._is_root else part.path


def _written(value: Any) -> str:
    return "" if value is None else as_written(value) if is_quantity(value) else str(value)
