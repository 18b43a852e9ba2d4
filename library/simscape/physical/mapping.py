"""Which component here is the counterpart of a block, and what are its parameters called?

Data, in ``components.csv`` and ``other_words.csv``; a user's own components are added with
:func:`add_counterpart`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from blocks import Component, declarations

from ...othernames import WORDS
from ..file.diagram import Value
from ..matlab.python_text import CORE, qualified
from ..tables import content_of, rows_of

__all__ = ["AS_HERE", "DOMAINS", "MINUS", "WITHOUT", "Counterpart", "add_counterpart",
           "counterpart_of", "domain_here", "forget_counterpart", "imported_names", "is_verified",
           "is_word", "keyword_of", "law_of", "why_none", "word_of", "words_of"]  # fmt: skip

DOMAINS: dict[str, str] = {path: row["here"] for path, row in content_of("domains.json").items()}


AS_HERE = "-"  # in place of a choice: what this value says is so here anyway
WITHOUT = "without "  # alone or after a choice: these parameters of the file say nothing then
MINUS = "minus "  # in place of a choice: the same, and this parameter of the file counts negatively


def _member(module: str, name: str) -> Any:
    """What a module has by a name; None where there is none, or no such module."""
    try:
        return getattr(import_module(module), name, None)
    except ImportError:
        return None


@dataclass
class Counterpart:
    """A component here for a component of Simscape's."""

    module: str  # "library.translational"
    name: str  # "Mass"; empty where there is none, for a reason that is known
    # By parameter: what a written value is called here. The empty value stands for a file without
    # the parameter, ``*`` for any, ``> 0``, ``zero`` and ``finite`` for such numbers.
    choices: dict[str, dict[str, str]] = field(default_factory=dict)
    # Keywords here by parameter, beside those of other_words.csv; several with spaces between them.
    words: dict[str, str] = field(default_factory=dict)
    # Ports that are called otherwise here; by place (lconn1) where files name none.
    ports: dict[str, str] = field(default_factory=dict)
    why_none: str = ""

    @property
    def component(self) -> type[Component] | None:
        """The class; None where this library has no such component yet."""
        found: type[Component] | None = _member(self.module, self.name)
        return found

    def port(self, written: str) -> str:
        """The port here: a second port of a body is its first."""
        declared = {} if self.component is None else declarations(self.component)
        usual = written if written in declared else {"N": "M", "J": "I"}.get(written, written)
        return self.ports.get(written, usual)


@cache
def _table() -> dict[str, Counterpart]:
    found: dict[str, Counterpart] = {}
    for row in rows_of("components.csv"):
        kind, _, word = row["parameter"].rpartition(" ")
        if row["parameter"].startswith("like "):
            word = row["parameter"].removeprefix("like ")
            mine, other = found[row["path"]], found[word]
            mine.choices |= {name: dict(choices) for name, choices in other.choices.items()}
            mine.words |= other.words
            mine.ports |= other.ports
        elif kind == "port":
            found[row["path"]].ports[word] = row["here"]
        elif kind == "word":
            found[row["path"]].words[word] = row["here"]
        elif word:
            choices = found[row["path"]].choices.setdefault(word, {})
            choices[row["written"]] = row["here"]
        else:
            module, _, name = row["here"].rpartition(".")
            found[row["path"]] = Counterpart(f"library.{module}", name,
                                             why_none="" if name else row["note"])
    return found


def is_verified(path: str) -> bool:
    """Whether it is known which way a block counts positive; a user's own knows it."""
    return (path, "none") not in ((row["path"], row["evidence"])
                                  for row in rows_of("directions.csv"))


def law_of(path: str) -> dict[str, Any]:
    """The law of a block that is written into the text, as the library has no such component.

    Units of its signals, equations in names of the file, and parameters that must be off; nothing
    of most blocks.
    """
    found: dict[str, Any] = content_of("laws.json").get(path, {})
    return found


def counterpart_of(path: str, values: Mapping[str, Value] | None = None) -> Counterpart | None:
    """The counterpart of a component by its path, where there is one.

    One of the ``values`` of a block may say that another component is its counterpart.
    """
    found = _entry(path, values)
    return None if found is None or found.why_none else found


def why_none(path: str, values: Mapping[str, Value]) -> str:
    """Why a block has no counterpart, where that is known."""
    found = _entry(path, values)
    return "" if found is None else found.why_none


def _entry(path: str, values: Mapping[str, Value] | None) -> Counterpart | None:
    table = _table()
    said = {f"{name}={word_of(value)}" for name, value in (values or {}).items()}
    return next((found for form, found in table.items()
                 if form.startswith(f"{path} ") and said.issuperset(form.split()[1:])),
                table.get(path))


def word_of(value: Value) -> str:
    """The last word of an enumeration, or the number of a choice."""
    try:
        return f"{float(value.text):g}"
    except ValueError:
        return value.text.rpartition(".")[2].strip().strip("'\"").lower()


def is_word(value: Value) -> bool:
    """Whether a value is a member of an enumeration, rather than a number or an expression."""
    return ".enum." in value.text


def imported_names() -> set[str]:
    """Names that a script may import: its own classes and values take others."""
    signals = import_module("library.signal").__all__
    named = {(c.module, c.name) for c in _table().values() if c.name} | {
        ("signal", name) for name in signals}
    return {*CORE, *DOMAINS.values(), *(name for _, name in named),
            *(qualified(*of) for of in named)}


def add_counterpart(path: str, component: type[Component], *,
                    parameters: Mapping[str, str] | None = None,
                    ports: Mapping[str, str] | None = None,
                    choices: Mapping[str, Mapping[str, str]] | None = None) -> None:
    """Say that a component of your own is the counterpart of a component of Simscape's.

    Parameters
    ----------
    path : str
        The path of its source, ``"my_library.actuators.piston"``.
    component : class
        Yours; it must be importable from its module.
    parameters, ports : mapping of str to str, optional
        What theirs are called in yours; equal names need not be said.
    choices : mapping, optional
        Per parameter, what each written value is in yours.
    """
    forget_counterpart(path)
    _table()[path] = Counterpart(
        component.__module__, component.__name__,
        {name: dict(values) for name, values in (choices or {}).items()},
        dict(parameters or {}), dict(ports or {}))


def forget_counterpart(path: str) -> None:
    """Take what was added for a component out again, where there is something."""
    table = _table()
    for form in [known for known in table if known == path or known.startswith(f"{path} ")]:
        del table[form]


def keyword_of(counterpart: Counterpart, word: str) -> tuple[str, str]:
    """The keyword here for a parameter, and a note where there is none."""
    component = counterpart.component
    assert component is not None
    if word in counterpart.words:
        return counterpart.words[word], ""
    asked: Any = component  # of which mypy does not see that it can be hashed
    row = _row(asked, word)
    if row is not None:
        return row.here, row.note
    declared = declarations(component)
    return next((name for name in (word, word.lower()) if name in declared), ""), ""


@cache
def _row(component: Any, word: str) -> Any:
    """The row of a parameter; the table is long, and models repeat their blocks."""
    return WORDS.keyword(component, word)


def words_of(counterpart: Counterpart) -> list[tuple[str, str]]:
    """The parameters of Simscape's component that have a keyword here, and the keyword."""
    known = [(row.word, row.here) for row in WORDS.rows if row.tool == "Simscape" and row.here
             and f"library.{row.component}" == f"{counterpart.module}.{counterpart.name}"]
    return [*known, *((word, keyword) for word, keywords in counterpart.words.items()
                      for keyword in keywords.split())]


def domain_here(path: str) -> str:
    """The package of a domain here; empty for one that this library lacks."""
    name = DOMAINS.get(path, "")
    return name if name and _member(f"library.{name}", name) is not None else ""
