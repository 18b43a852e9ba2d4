"""Which word here is the one that somebody knows from another tool?

Packages of components bring tables of the words of others (:func:`foreign_words`); what the engine
has is called elsewhere as ``other_words.csv`` says. Read only when a word was not understood.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from sys import modules
from typing import Any, Protocol

from ..exceptions import UnknownName, WrongCall, did_you_mean, missing_in, nearest
from ..renamed import current_attribute

__all__ = ["ForeignWords", "attribute_elsewhere", "foreign_words", "keyword_elsewhere",
           "method_elsewhere", "method_nearest", "option_elsewhere", "part_elsewhere",
           "unknown_option", "variable_elsewhere"]


class Declares(Protocol):
    """What has declarations by name: a component."""

    @property
    def _declared(self) -> Mapping[str, object]: ...


_tables: list[ForeignWords] = []


@dataclass(frozen=True)
class Word:
    """What a tool calls a component (``word`` is empty) or a keyword of it."""

    tool: str  # "Simscape", "Modelica", or nothing for what is usual in textbooks
    block: str  # as the tool writes it
    word: str  # the same
    component: str  # module and class here: "translational.Spring"
    here: str  # the keyword here
    note: str  # a sentence instead, where there is no such keyword

    def sentence(self, home: str = "") -> str:
        """What to take here; ``home`` is the module that was asked for a component."""
        called = self.word or self.block
        whose = f"{self.tool}'s {called}" if self.tool else f"What is often called {called}"
        if self.note:
            return f"{whose} has no counterpart of its own: {self.note}"
        module, _, name = self.component.rpartition(".")
        if self.word:
            return f"{whose} is {self.here} here."
        return f"{whose} is {name} {'here' if module == home else f'in library.{module}'}."


class ForeignWords:
    """A table of words of other tools, with the columns of :class:`Word`: a CSV file, in which
    lines that begin with ``#`` say where the words are from."""

    def __init__(self, file: str | Path) -> None:
        self.file = Path(file) if isinstance(file, str) else file

    @cached_property
    def rows(self) -> list[Word]:
        return [Word(*(row[name] for name in Word.__annotations__)) for row in _rows(self.file)]

    def keyword(self, cls: type, name: str) -> Word | None:
        """The row of a keyword of a class or of one of its bases."""
        for row in self.rows:
            module, _, component = row.component.rpartition(".")
            if row.word == name and any(
                base.__name__ == component and f".{module}" in f".{base.__module__}"
                for base in cls.__mro__
            ):
                return row
        return None

    def usual(self, declared: Iterable[str], name: str) -> Word | None:
        """The row of a textbook's word for any class, where it means one of these declarations.

        A note that there is no counterpart is for those that do not have it under another name.
        """
        found = {row.here: row for row in self.rows
                 if row.word == name and not row.tool and row.here in declared}
        found = {here: row for here, row in found.items() if not row.note} or found
        return next(iter(found.values())) if len(found) == 1 else None

    def component(self, name: str, module: str, tool: str = "") -> Word | None:
        """The row of a component, of this module if there is one; of one tool where it is said."""
        found = [r for r in self.rows if not r.word and tool in ("", r.tool)
                 and _simplified(r.block) == _simplified(name)]
        found.sort(key=lambda row: row.component.rpartition(".")[0] != module)
        return found[0] if found else None

    def missing(self, home: str, places: Iterable[str]) -> Callable[[str], Any]:
        """A ``__getattr__`` for a package of components: what a name that it lacks is called.

        ``home`` is the package, such as ``"library.translational"``, ``places`` are those where the
        component may be instead.
        """

        def __getattr__(name: str) -> Any:
            own = find_spec(f"{home}.{name}") is not None  # a part that is about to be imported
            advice = "" if own or name.startswith("_") else self._place(name, home, places)
            if not advice:
                raise AttributeError(f"module {home!r} has no attribute {name!r}", name=name)
            raise missing_in(home, name, advice)

        return __getattr__

    def _place(self, name: str, home: str, places: Iterable[str]) -> str:
        module = home.rpartition(".")[2]
        row = self.component(name, module)
        if row is not None and row.component.startswith(f"{module}."):
            return row.sentence(module)
        own = [n for n in getattr(import_module(home), "__all__", ()) if n[0].isupper()]
        others = {p: import_module(p).__all__ for p in places if p != home}
        similar = [repr(n) for n in own if n.endswith(name)]
        for place in (p for p, names in others.items() if name in names and not similar):
            return f"It is in {place}: from {place} import {name}."
        if row is not None and not similar:
            return row.sentence(module)
        similar = similar or sorted((repr(n) for n in own if n.startswith(name)), key=len) or [
            f"{n!r} of {p}" for p, names in others.items() for n in sorted(names, key=len)
            if name in (n[: len(name)], n[-len(name) :])] or [repr(n) for n in nearest(name, own)]
        return f"Did you mean {' or '.join(similar[:3])}?" if similar else ""


def _rows(file: Path) -> list[dict[str, str]]:
    """The rows of a table by their headings, without lines that begin with ``#``."""
    lines = file.read_text(encoding="utf-8").splitlines()
    found = csv.DictReader(line for line in lines if line and not line.startswith("#"))
    return [{name: (cell or "").strip() for name, cell in row.items()} for row in found]


def _simplified(name: str) -> str:
    """A name without spaces, signs and capitals."""
    return re.sub(r"[\W_]", "", name).lower()


def foreign_words(file: str | Path) -> ForeignWords:
    """Tell the engine what others call the components of a package.

    Parameters
    ----------
    file : path
        CSV with the columns tool, block, word, component, here, note: a block and a
        parameter of another tool, the class here as ``module.Class`` and its keyword; a row
        without a word names the class itself, a note says what to do where there is no such
        keyword. A keyword that was not understood is then answered with the right one.
    """
    table = ForeignWords(file)
    _tables.append(table)
    return table


def variable_elsewhere(names: Iterable[str], name: str) -> tuple[str, str]:
    """A sentence on a variable that a component with these others does not have, and what to take
    instead, if anything."""
    rows = (table.usual(names, name) for table in _tables)
    return next(((row.sentence(), row.here) for row in rows if row is not None), ("", ""))


# -- keywords of components ---------------------------------------------------------------------
_NOMINAL = "A nominal value is given with the target: {0}=Target(nominal='1 {1}')."
_ABOUT = {  # by the ends of Simscape's names; the longer ones come first
    "nominal_specify": _NOMINAL,
    "nominal_value": _NOMINAL,
    "nominal_unit": _NOMINAL,
    "unit": "A unit is written with its value: {0}='1 {1}'.",
    "specify": "A target is set by giving it: {0}='1 {1}'.",
    "priority": "A priority is given with the target: {0}=Target('1 {1}', priority='low').",
}
_START = re.compile(r"(?:(?:initial|init|start)_?(\w+?)|(\w+?)_?(?:0|start|init|ini|initial))$")


def keyword_elsewhere(component: Declares, name: str) -> tuple[str, str]:
    """A sentence on a keyword that a component does not have, and the one to take, if any."""
    for table in _tables:
        row = table.keyword(type(component), name) or table.usual(component._declared, name)
        if row is not None:
            return row.sentence(), row.here
    found_there = _of_namesake(type(component), name)
    if found_there[0]:
        return found_there
    for ending, sentence in _ABOUT.items():
        base = name.removesuffix(f"_{ending}")
        if base == name:
            continue
        said, here = ("", base) if base in component._declared else keyword_elsewhere(
            component, base)
        declared = component._declared.get(here)
        if declared is not None:
            return _about(sentence, here, declared), here
        if said:
            return said, ""
    found = _START.match(name)
    variable = (found[1] or found[2]) if found else ""
    if variable in component._declared:
        return f"The initial target is given as {variable} itself.", variable
    started = [n for n, d in component._declared.items() if getattr(d, "priority", "") == "high"]
    if found and name.startswith("init") and len(started) == 1:
        return f"The initial target is given as {started[0]} itself.", started[0]
    return "", ""


def _of_namesake(cls: type, name: str) -> tuple[str, str]:
    """Advice where another component class of the same name has what this one lacks.

    ``from library.electrical import *`` and one from library.signal after it leave one Switch.
    """
    waiting = [base for base in cls.__mro__ if "_declared" in vars(base)][-1:]
    while waiting:
        other = waiting.pop()
        waiting += other.__subclasses__()
        declared = vars(other).get("_declared", {})
        laws = [law.declarations for d in declared.values()
                for law in getattr(d, "named", {}).values()]
        if other is not cls and other.__name__ == cls.__name__ and any(
                name in names for names in (declared, *laws)):
            mine, there = _imported_from(cls), _imported_from(other)
            return (f"This is the {cls.__name__} of {mine}; that of {there} has {name!r}. Of two "
                    f"imports of one name the last holds: write {there}.{cls.__name__}(…)."), name
    return "", ""


def _imported_from(cls: type) -> str:
    """The shortest name of a package that has a class."""
    parts = cls.__module__.split(".")
    names = [".".join(parts[: k + 1]) for k in range(len(parts))]
    return next((n for n in names if n in modules and vars(modules[n]).get(
        cls.__name__) is cls), cls.__module__)


def _about(sentence: str, here: str, declared: object) -> str:
    """What is said of a keyword, with an example in its unit."""
    unit = "N" if getattr(declared, "any_unit", False) else getattr(declared, "unit", None)
    if unit is None:
        return f"{here} is a choice and takes no unit here."
    return sentence.format(here, unit).replace(" 1'", "'")


# -- what the engine is called ----------------------------------------------------------------
@cache
def _of_engine() -> list[dict[str, str]]:
    """The rows of ``other_words.csv``: about what, the name here, words of others, a sentence."""
    return _rows(Path(__file__).with_name("other_words.csv"))


def _told(about: str, name: str, only: Container[str] | None = None) -> tuple[str, str]:
    """Return sentence and name here of a word of others; both empty for one that is not known.

    Where ``only`` is given, a name here counts if it is one of these.
    """
    for row in _of_engine():
        here = row["here"]
        if row["about"] == about and (only is None or not here or here in only) and _simplified(
                name) in {_simplified(word) for word in row["words"].split()}:
            return row["sentence"].replace("{name}", name), here
    return "", ""


def option_elsewhere(name: str, given: object = None, call: str = "simulate({0})"
                     ) -> tuple[str, str]:
    """A sentence on an option that ``simulate()`` does not have, and the one to take, if any."""
    sentence, here = _told("option", name)
    if not (sentence or here):
        return "", ""
    shown = repr(given) if isinstance(given, str) else "'4 s'"
    return (sentence or f"It is {here}= here.").format(shown, call.format(shown)), here


def unknown_option(where: str, options: Iterable[str], known: Iterable[str]) -> WrongCall:
    """The error for an option of tables and pictures that does not exist."""
    name, known = next(iter(options)), list(known)
    sentence, here = _told("look", name, known)
    return WrongCall(where, f"there is no option {name!r}.", sentence or (
        f"It is {here}= here." if here else did_you_mean(name, known, "options")), name=name,
        known=known)


#: A sentence on a method of integration that another tool calls so, and the one here, if any.
method_elsewhere = partial(_told, "method")

#: A sentence on what a model is asked for in other words, and the name to take, if any.
part_elsewhere = partial(_told, "part")


def attribute_elsewhere(thing: object, name: str, about: str = "", called: str = "__doc__",
                        has: str = "it has") -> Any:
    """Return what an attribute is that had this name before; say what is meant by any other one.

    ``called`` is the attribute with what the thing is called, ``has`` that it has none such.
    """
    try:
        return current_attribute(thing, name, 5)
    except AttributeError:
        if name.startswith("_"):
            raise
    (sentence, here), known = _told(about, name), [n for n in dir(type(thing)) if n[0] != "_"]
    where = getattr(thing, called) if about else type(thing).__name__
    raise UnknownName(where, f"{has} no {name!r}.", sentence or did_you_mean(name, known),
                      name=name, nearest=[here] if here else nearest(name, known))


def method_nearest(kind: type, name: str) -> tuple[str, str]:
    """A sentence on the method of a class that is spelled nearly so, as in American."""
    hits = nearest(name, [n for n in dir(kind) if not n.startswith("_")])
    return (f"Did you mean the method {hits[0]}()?", hits[0]) if hits else ("", "")
