"""What can be written between the brackets of a component class, and what is in an instance?

Signatures and documentation made from declarations, when they are asked for: by
``help(Spring)``, ``inspect.signature(Spring)``, or an editor that completes names; tables of the
parts, parameters, variables and ports of a model. Costs a class nothing until then.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import BlocksError, WrongCall
from ..results.sheet import ByName, Sheet
from ..units import as_written, from_si, is_quantity, to_si
from .declarations import (
    BOUNDS,
    Declaration,
    Discrete,
    Input,
    Option,
    Output,
    Parameter,
    Port,
    Signal,
    Variable,
)

if TYPE_CHECKING:
    from .tree import TreeNode

__all__ = ["Contents", "Documentation", "Entry", "Signature", "call_of", "contents_of",
           "nameless_values", "parts_of"]  # fmt: skip


class Signature:
    """``__signature__`` of component classes: keywords with their defaults."""

    def __get__(self, instance: object, owner: type[TreeNode]) -> inspect.Signature:
        if owner._own_keywords:
            raise AttributeError("__signature__")
        keyword = inspect.Parameter.KEYWORD_ONLY
        found = [inspect.Parameter(name, keyword, default=_default(declared))
                 for name, declared in _keywords(owner)]  # fmt: skip
        return inspect.Signature([*found, inspect.Parameter("count", keyword, default=None)])


class Documentation:
    """``__doc__`` of a component class: what its author wrote, or that of a base, and what it
    declares."""

    def __init__(self, written: str | None) -> None:
        self.written = written

    def __get__(self, instance: object, owner: type[TreeNode]) -> str | None:
        if owner._own_keywords:
            return self.written
        if (written := self.written) is None:
            docs = (vars(c)["__doc__"] for c in owner.__mro__
                    if not c.__module__.startswith("blocks."))
            written = next((d.written for d in docs if getattr(d, "written", None)), None)
        parts = [inspect.cleandoc(written)] if written else []
        lines = [line for n, d in _keywords(owner) for line in (f"{n} : {_kind(d)}", *_doc(d))]
        parts.append("\n".join(["Keywords", "--------", *lines, "count : int",
                                "    Makes an array of that many."]))  # fmt: skip
        results = [(n, d) for n, d in owner._declared.items() if isinstance(d, (Variable, Port))]
        lines = [line for n, d in results for line in (f"{n} : {_what(d)}", *_doc(d))]
        if lines:
            parts.append("\n".join(["Ports and variables", "-------------------", *lines]))
        return "\n\n".join(parts) + "\n"


def nameless_values(owner: type[TreeNode], given: tuple[Any, ...]) -> WrongCall:
    """The error for values without their keywords: what the call should have been."""
    keywords = _keywords(owner)
    shown: dict[str, str] = {}
    for value in given:
        free = [(n, d) for n, d in keywords if n not in shown]
        fitting = [n for n, d in free if _fits(d, value)]
        if isinstance(value, (int, float)) and not isinstance(value, bool):  # its unit is missing
            fitting += [n for n, d in free if isinstance(d, Parameter)]
        for name in fitting[:1]:
            shown[name] = _as_written(value, dict(keywords)[name])
    known = [name for name, _ in keywords]
    advice = f"Its keywords are: {', '.join([*known, 'count'])}."
    if len(shown) == len(given):
        advice = f"Write {owner.__name__}({', '.join(f'{n}={v}' for n, v in shown.items())})."
    return WrongCall(owner.__name__, "takes its values by their names, but was given "
                     f"{', '.join(map(_as_written, given))} without one.", advice, given=given,
                     keywords=known)


def _fits(declared: Any, value: Any) -> bool:
    """Whether a value could be meant for a keyword."""
    if isinstance(declared, Option):
        choices: Any = declared.choices or getattr(declared, "named", ())
        return isinstance(value, str) and value in choices
    if callable(value) and not is_quantity(value):
        return bool(getattr(declared, "varying", False))
    try:
        to_si(value, declared.unit)
    except (BlocksError, TypeError, ValueError):
        return False
    return True


def call_of(component: TreeNode) -> str:
    """A component as somebody would make it: parameters, and whatever else is not the default."""
    shown = []
    for name, declared, value, _ in _settings(component):
        if not isinstance(declared, Option):
            shown.append(f"{name}={_number(value)}")
        elif value != declared.default:
            shown.append(f"{name}={_as_written(value, declared)}")
    if component._count:
        shown.append(f"count={component._count}")
    return f"{type(component).__name__}({', '.join(shown)})"


def table_of(component: TreeNode) -> dict[str, list[str]]:
    """What a component is set to, column by column: options, parameters, targets, parts."""
    rows = [(name, _as_written(value, declared) if isinstance(declared, Option)
             else _in_full(value), words) for name, declared, value, words in _settings(component)]
    rows += [(name, type(part).__name__, "part") for name, part in component._children.items()]
    return {heading: [row[k] for row in rows]
            for k, heading in enumerate(("name", "value", "what it is"))}


def _settings(component: TreeNode) -> Iterator[tuple[str, Any, Any, str]]:
    """Options, parameters and initial targets: name, declaration, value, and what it is."""
    for name, declared in component._declared.items():
        if isinstance(declared, (Option, Parameter)) and declared.exists(component):
            yield name, declared, getattr(component, name), declared.doc
        elif isinstance(declared, Variable):
            aimed, priority = component._targets.get(name, (None, ""))
            if aimed is not None:
                words = f"initial target, {priority} priority"
                yield (name, declared, from_si(aimed, declared.unit),
                       f"{declared.doc} ({words})" if declared.doc else words)


def _in_full(value: Any) -> str:
    """A quantity, also of several numbers, or that it is a function."""
    if not is_quantity(value):
        return _as_written(value)
    return f"{value:.12g~P}" if np.ndim(value.magnitude) == 0 else (
        f"{np.array2string(value.magnitude, threshold=8, separator=', ')} {value.units:~P}")


def _number(value: Any) -> str:
    """One quantity; of several, and of functions, that there is something."""
    single = is_quantity(value) and np.ndim(value.magnitude) == 0
    return f"{value:.12g~P}" if single else "…"


def _as_written(value: Any, declared: Any = None) -> str:
    if is_quantity(value):
        return f"'{value:~C}'"
    if callable(value) and hasattr(value, "__name__"):
        named = value.__name__.replace("<lambda>", "lambda t: …")
        return "a function" if declared is None else named
    bare = isinstance(value, (int, float)) and not isinstance(value, bool)
    text = getattr(getattr(declared, "unit", None), "text", "")
    return f"'{value:g} {text}'" if bare and text else repr(value)


def _keywords(owner: type[TreeNode]) -> list[tuple[str, Any]]:
    """Options and parameters, then variables with an initial target."""
    declared = owner._declared.items()
    chosen = [(n, d) for n, d in declared if isinstance(d, (Option, Parameter))]
    aimed = [(n, d) for n, d in declared
             if isinstance(d, Variable) and (d.default_of or d._given[0]) is not None]
    return chosen + aimed


def _text(value: Any, u: Any = None) -> Any:
    """A value as a person would write it."""
    if callable(value):
        return ...
    if is_quantity(value):
        return f"{value:~C}"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (int, float)) and u is not None and not u.is_dimensionless:
        return f"{value:g} {u.text}"
    return value


def _default(declared: Any) -> Any:
    if isinstance(declared, Option):
        return declared.default
    if isinstance(declared, Parameter):
        return _text(declared._given[0]) if declared.default_of is None else ...
    return _text(declared.default_of or declared._given[0], declared.unit)


def _chosen(declared: Any) -> str:
    default = _default(declared)
    return "from the others" if default is ... else str(default)


def _kind(declared: Any) -> str:
    if isinstance(declared, Option):
        known: Any = declared.choices or getattr(declared, "named", ())
        choices = " or ".join(map(repr, known)) or type(declared.default).__name__
        return f"{choices}, default {declared.default!r}"
    if not isinstance(declared, Parameter):
        return f"{_unit(declared)}, initial target {_chosen(declared)} ({declared.priority})"
    words = [_unit(declared), f"default {_chosen(declared)}"]
    words += [f"{BOUNDS[word][0]} {_text(bound, declared.unit)}"
              for word, bound in declared._given[1].items()]  # fmt: skip
    if declared.varying:
        words.append("or a function of time")
    return ", ".join(words)


def _unit(declared: Any) -> str:
    if declared.any_unit:
        return "in any unit"
    if declared.unit_of is not None:
        return "in the unit that follows from the others"
    named = str(declared.unit)  # angles have a unit and no dimension
    return "number" if declared.unit.is_dimensionless and named in ("", "1") else named


def _what(declared: Any) -> str:
    if isinstance(declared, Port):
        return f"{declared.domain} port"
    kind = {Input: "input, ", Output: "output, ", Discrete: "held between events, "}
    instead = getattr(declared, "default", None)  # of an input
    said = kind.get(type(declared), "") + _unit(declared)
    return f"{said}; {instead} while nothing is connected" if instead else said


def _doc(declared: Any) -> list[str]:
    if not (text := declared.doc):
        return []
    if len(text.split()[0]) > 1:  # not a symbol such as v
        text = text[0].upper() + text[1:]
    return [f"    {text}."]


# -- of an instance --------------------------------------------------------------------------
@dataclass(frozen=True)
class Entry:
    """A parameter, variable or port of an instance."""

    unit: str  # text of the unit; of a port, its domain
    # what it has where nothing is given, a quantity or an option's value; None: nothing
    default: Any
    value: Any  # what it has now; of a variable, its initial target
    doc: str  # what it is


class Contents(ByName):
    """A mapping by path that is shown as a table."""

    def __init__(self, title: str, entries: dict[str, Any],
                 columns: Callable[[dict[str, Any]], dict[str, list[str]]]) -> None:
        self._title, self._named, self._columns = title, entries, columns

    def _sheet(self) -> Sheet:
        return Sheet(self._title, self._columns(dict(self._named)))


def parts_of(part: TreeNode) -> Mapping[str, Any]:
    """Return all parts below one, by their paths in it."""
    return Contents(f"Parts of {_called(part)}", part._parts(), lambda parts: {
        "part": list(parts), "class": [type(p).__name__ for p in parts.values()],
        "what it is": [(p.__doc__ or "").partition("\n")[0] for p in parts.values()]})


def contents_of(part: TreeNode, kind: str) -> Mapping[str, Entry]:
    """Return its parameters, variables or ports, and those of all parts below it, by path."""
    kinds: Any = {"parameters": (Parameter, Option), "ports": (Port, Signal)}.get(kind, Variable)
    entries = {
        f"{path}.{name}".lstrip("."): _entry(owner, name, declared)
        for path, owner in {"": part, **part._parts()}.items()
        for name, declared in owner._declared.items()
        if isinstance(declared, kinds) and declared.exists(owner)
        and (kind == "ports" or not isinstance(declared, Signal))}
    return Contents(f"{kind.capitalize()} of {_called(part)}", entries, lambda rows: {
        kind[:-1]: list(rows), "unit": [e.unit for e in rows.values()],
        **({} if kind == "ports" else {"default": [_written(e.default) for e in rows.values()],
                                       "value": [_written(e.value) for e in rows.values()]}),
        "what it is": [e.doc for e in rows.values()]})


def _entry(owner: TreeNode, name: str, declared: Declaration) -> Entry:
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


def _called(part: TreeNode) -> str:
    return getattr(part, "name", part.path) if part._is_root else part.path


def _written(value: Any) -> str:
    return "" if value is None else as_written(value) if is_quantity(value) else str(value)
