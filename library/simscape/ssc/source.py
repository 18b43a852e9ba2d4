"""What does a component source (``.ssc``) declare and state?

The sections of a component or domain as trees; nothing is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from ..matlab.syntax import Apply, Binary, Brace, Name, Parser, Text, Tree, dotted, tokens

__all__ = ["SIZE", "Assertion", "Branch", "Choice", "Conditions", "Connection", "Declared", "Equal",
           "Event", "Function", "Let", "Source", "Stated", "fields", "given_by_name", "is_said",
           "made_of", "pair", "read_function", "read_source"]  # fmt: skip

#: Python's function for the number of entries of a vector.
SIZE = "len"
#: Conditions around a section, and whether they must hold; ``i = 1:n`` is a loop around it.
Conditions: TypeAlias = tuple[tuple[Tree, bool], ...]


def is_said(attribute: str, attributes: Iterable[str]) -> bool:
    return any(a.replace(" ", "").lower() == attribute for a in attributes)


@dataclass(frozen=True)
class Declared:
    """``name = value; % comment`` in a section, with the attributes of the section."""

    name: str
    value: Tree
    comment: str = ""
    attributes: tuple[str, ...] = ()
    condition: Conditions = ()  # around the section
    place: str = ""  # file and line
    index: tuple[Tree, ...] = ()  # which entry of an array it is, in ``name(i) = value``

    @property
    def is_balanced(self) -> bool:
        """Whether it is a through variable of a domain."""
        return is_said("balancing=true", self.attributes)

    @property
    def is_event(self) -> bool:
        return is_said("event=true", self.attributes)


@dataclass(frozen=True)
class Branch:
    """``i : p.i -> n.i``; None for the reference. Others as those of :class:`Declared`."""

    name: str
    start: Tree | None
    end: Tree | None
    condition: Conditions = ()
    place: str = ""
    index: tuple[Tree, ...] = ()


@dataclass(frozen=True)
class Connection:
    """``connect(a, b, …)``, under conditions as those of :class:`Declared`."""

    ports: tuple[Tree, ...]
    condition: Conditions = ()
    place: str = ""


@dataclass(frozen=True)
class Equal:
    left: Tree
    right: Tree
    place: str = ""


@dataclass(frozen=True)
class Assertion:
    """``assert(condition, message)``; by its ``Action`` some do not stop a run."""

    condition: Tree
    message: str
    stops: bool = True
    place: str = ""


@dataclass(frozen=True)
class Choice:
    """``if … elseif … else … end`` among equations: conditions with what holds under them."""

    cases: tuple[tuple[Tree | None, tuple[Stated, ...]], ...]
    place: str = ""


@dataclass(frozen=True)
class Let:
    """``let name = value in … end``."""

    names: tuple[tuple[str, Tree], ...]
    body: tuple[Stated, ...]
    place: str = ""


Stated = Equal | Assertion | Choice | Let


@dataclass(frozen=True)
class Event:
    """``when edge(edge) name = value; … end``, under conditions as those of :class:`Declared`.

    ``case`` counts the cases of one ``when`` whose place is ``of``; of those that come at one
    instant the first acts alone.
    """

    edge: Tree
    assigned: tuple[tuple[str, Tree], ...]
    condition: Conditions = ()
    place: str = ""
    of: str = ""
    case: int = 0


@dataclass
class Source:
    """A component, domain or function as written."""

    form: str
    name: str
    base: str = ""
    title: str = ""  # the first comment
    help: str = ""  # those that follow it
    # nodes, inputs, outputs, parameters …
    sections: dict[str, list[Declared]] = field(default_factory=dict)
    branches: list[Branch] = field(default_factory=list)
    equations: list[Stated] = field(default_factory=list)
    initial: list[Stated] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    connections: list[Connection] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """What is declared, each once."""
        return list(dict.fromkeys(d.name for rows in self.sections.values() for d in rows))


@dataclass(frozen=True)
class Function:
    """``function result = name(inputs) definitions … end end``."""

    name: str
    inputs: tuple[str, ...]
    result: str
    definitions: tuple[tuple[str, Tree], ...]


_DECLARING = ("nodes", "inputs", "outputs", "parameters", "variables", "components",
              "intermediates")  # fmt: skip
_SECTIONS = (*_DECLARING, "branches", "equations", "connections", "annotations", "events",
             "function", "entry", "modecharts")  # fmt: skip
_CLOSED = ("if", "for", "switch", "while", "when", "let", "modechart")  # each by an end
_CLOSED_SECTIONS = (*_SECTIONS, "modes", "mode", "transitions", "initial")


def read_source(text: str, where: str = "") -> Source:
    """Read a component source; NotUnderstood names the file and the line."""
    return _Sections(text, where).source()


def read_function(text: str, where: str = "") -> Function | None:
    """Read the source of a function; None for one of something else.

    NotUnderstood names the file and the line.
    """
    sections = _Sections(text, where)
    sections.over()
    return sections.function() if sections.word("function") else None


class _Sections(Parser):
    """Reads sections; comments are kept beside, by line."""

    def __init__(self, text: str, where: str) -> None:
        every = tokens(text, where)
        super().__init__([t for t in every if t.kind != "comment"], where)
        self.comments = {t.line: t.text.lstrip("%# ").strip() for t in every if t.kind == "comment"}
        self.conditions: list[tuple[Tree, bool]] = []

    # -- expressions -----------------------------------------------------------------
    def _primary(self) -> Tree:
        """A value; that of ``if condition, a else b end`` as ``if(condition, a, b)``."""
        return self._if() if self._dotted("if") else super()._primary()

    def _if(self) -> Tree:
        given = []
        for _ in range(2):
            given.append(self.expression())
            self.over()
        if self._dotted("elseif"):
            return Apply(Name("if"), (*given, self._if()))
        if not self._dotted("else"):
            raise self.wrong("the else of an if with values is missing")
        self.over()
        given.append(self.expression())
        self.over()
        if not self._dotted("end"):
            raise self.wrong("the end of an if with values is missing")
        return Apply(Name("if"), tuple(given))

    def _dotted(self, word: str) -> bool:
        """Pass a word, or one with a point before it, as of ``.if``, which chooses every entry."""
        self.at += self.peek().text == "." and self.peek(1).text == word
        return self.word(word)

    # -- words ---------------------------------------------------------------------
    def word(self, *words: str) -> bool:
        """Whether the next word is one of these, which is passed then."""
        taken = self.peek().kind == "name" and self.peek().text in words
        self.at += taken
        return taken

    def expect_name(self) -> str:
        if self.peek().kind != "name":
            raise self.wrong("a name is missing")
        return self.next().text

    def over(self) -> None:
        """Pass ends of lines and statements."""
        while self.peek().text in ("\n", ";", ",") and self.at < len(self.given):
            self.at += 1

    def up_to(self, *ends: str, called: str = "") -> Iterator[None]:
        """Once for everything that stands before one of these words, which is passed."""
        self.over()
        while not self.word(*ends):
            if self.done():
                raise self.wrong(f"{called or repr(ends[-1])} is missing")
            yield
            self.over()

    def done(self) -> bool:
        return self.at >= len(self.given)

    def attributes(self) -> tuple[str, ...]:
        if self.peek().text != "(":
            return ()
        words, depth = [self.next().text], 1
        while depth and not self.done():
            words.append(self.next().text)
            depth += (words[-1] == "(") - (words[-1] == ")")
        return tuple("".join(words[1:-1]).replace("'", "").split(","))

    # -- the whole -------------------------------------------------------------------
    def source(self) -> Source:
        self.over()
        form = self.expect_name()
        if form not in ("component", "domain", "function"):
            raise self.wrong(f"a component source begins with component or domain, not {form!r}")
        self.attributes()
        made = Source(form, self.expect_name())
        if form == "function":
            return made
        if self.take("<"):
            made.base = self.expect_name()
            while self.take("."):
                made.base += f".{self.expect_name()}"
        self._title(made)
        for _ in self.up_to("end", called=f"the 'end' of the {form}"):
            self._section(made)
        self.over()
        if not self.done():
            raise self.wrong(f"the {form} ends before this line, by an 'end' too many")
        return made

    def function(self) -> Function:
        self.attributes()
        if self.peek().text == "[":
            raise self.wrong("a function of several results is not read", "Write one for each.")
        result = self.expect_name()
        self.expect("=")
        name, inputs = self.expect_name(), list[str]()
        self.expect("(")
        while not self.take(")"):
            inputs.append(self.expect_name())
            self.take(",")
        definitions: list[tuple[str, Tree]] = []
        for _ in self.up_to("end"):
            if not self.word("definitions"):
                raise self.wrong("a function has definitions only")
            definitions += self._assigned("end")
        if result not in {defined for defined, _ in definitions}:
            raise self.wrong(f"the function {name} does not define {result}")
        return Function(name, tuple(inputs), result, tuple(definitions))

    def _assigned(self, *last: str) -> list[tuple[str, Tree]]:
        """``name = value;`` up to one of these words."""
        found = []
        for _ in self.up_to(*last):
            if self.peek().text in _CLOSED:
                raise self.wrong(f"{self.peek().text!r} among values that are given is not read: "
                                 "write name = if condition, a else b end")
            name = self.expect_name()
            self.expect("=")
            found.append((name, self.expression()))
        return found

    def _title(self, made: Source) -> None:
        """The comments between the heading and the first section, or before the heading."""
        first = next((t.line for t in self.given[self.at:] if t.text != "\n"), 10**9)
        words = [text for line, text in sorted(self.comments.items()) if line < first and text]
        if words:
            made.title = words[0].partition(":")[0].strip() if words[0].count(":") else words[0]
            made.help = "\n".join(words[1:])

    def _section(self, made: Source) -> None:
        if self.word("if", "for"):
            loop = self.peek(-1).text == "for"
            self._conditional(made, self._counter() if loop else self.expression())
            return
        name = self.expect_name()
        attributes = self.attributes()
        if name in _DECLARING:
            self._declarations(made, name, attributes)
        elif name == "equations":
            (made.initial if is_said("initial=true", attributes) else made.equations).extend(
                self._guarded(self._equations("end")))
        elif name in ("branches", "connections", "events"):
            {"branches": self._branches, "connections": self._connections,
             "events": self._events}[name](made)
        elif name in _SECTIONS:
            self._skip()
            made.skipped += [name] * (name != "annotations")
        else:
            raise self.wrong(f"{name!r} is no section")

    def _counter(self) -> Tree:
        """``i = 1:n`` of a loop."""
        name = self.expect_name()
        self.expect("=")
        return Binary("=", Name(name), self.expression())

    def _conditional(self, made: Source, condition: Tree) -> None:
        """``if`` or ``for`` around sections: what they declare holds under the condition."""
        known = len(self.conditions)
        self.conditions.append((condition, True))
        for _ in self.up_to("end"):
            if self.word("else", "elseif"):
                more = self.peek(-1).text == "elseif"
                self.conditions[-1] = (self.conditions[-1][0], False)
                self.conditions += [(self.expression(), True)] if more else []
            else:
                self._section(made)
        del self.conditions[known:]

    def _guarded(self, body: tuple[Stated, ...]) -> tuple[Stated, ...]:
        """Equations under the conditions of sections."""
        for condition, holds in reversed(self.conditions):
            cases = ((condition, body),) if holds else ((condition, ()), (None, body))
            body = (Choice(cases, body[0].place if body else ""),)
        return body

    def _skip(self) -> None:
        """Pass a section that is not read."""
        depth, brackets = 1, 0
        while depth:
            if self.done():
                raise self.wrong("'end' is missing")
            before, here = self.peek(-1).text, self.next()
            if here.kind == "sign":
                brackets += (here.text in "([{") - (here.text in ")]}")
            elif here.kind == "name" and not brackets:
                depth += here.text in _CLOSED or (
                    here.text in _CLOSED_SECTIONS and before in ("\n", ";")
                    and self.peek().text != "=")
                depth -= here.text == "end"

    def _events(self, made: Source) -> None:
        """``when edge(…) … elsewhen … end``, each case an event; ``initialevent`` is the start."""
        for _ in self.up_to("end"):
            if not self.word("when"):
                raise self.wrong("an event is written when edge(condition)")
            of, case = self.place(), 0
            while True:
                place, edge = self.place(), self.expression()
                start = edge == Name("initialevent")
                if not start and not (isinstance(edge, Apply) and edge.of == Name("edge")
                                      and len(edge.arguments) == 1):
                    raise self.wrong("an event is written when edge(condition) or when "
                                     "initialevent")
                assigned = tuple(self._assigned("elsewhen", "end"))
                if start:
                    made.initial += self._guarded(tuple(
                        Equal(Name(name), value, place) for name, value in assigned))
                elif isinstance(edge, Apply):
                    made.events.append(Event(edge.arguments[0], assigned,
                                             tuple(self.conditions), place, of, case))
                    case += 1
                if self.peek(-1).text == "end":
                    break

    # -- declarations ------------------------------------------------------------------
    def _declarations(self, made: Source, section: str, attributes: tuple[str, ...]) -> None:
        found = made.sections.setdefault(section, [])
        for _ in self.up_to("end"):
            line, place = self.peek().line, self.place()
            if self.peek().text == "[":
                raise self.wrong("a function of several results is not read",
                                 "Give each of them as a parameter.")
            name = self.expect_name()
            index = self._arguments() if self.peek().text == "(" else ()
            self.expect("=")
            value = self.expression()
            comment = self.comments.get(line, "") or self.comments.get(self.peek(-1).line, "")
            found.append(Declared(name, value, comment, attributes, tuple(self.conditions), place,
                                  index))

    def _branches(self, made: Source) -> None:
        for _ in self.up_to("end"):
            place = self.place()
            name = self.expect_name()
            index = self._arguments() if self.peek().text == "(" else ()
            start, end = self._end(":"), self._end("->")
            made.branches.append(Branch(name, start, end, tuple(self.conditions), place, index))

    def _end(self, sign: str) -> Tree | None:
        self.expect(sign)
        return None if self.take("*") else self._value()

    def _connections(self, made: Source) -> None:
        for _ in self.up_to("end"):
            place, call = self.place(), self.expression()
            if isinstance(call, Apply) and call.of == Name("connect"):
                made.connections.append(Connection(call.arguments, tuple(self.conditions), place))
            else:
                raise self.wrong("connections are written connect(a, b)")

    # -- equations ---------------------------------------------------------------------
    def _equations(self, *ends: str) -> tuple[Stated, ...]:
        return tuple(self._statement() for _ in self.up_to(*ends))

    def _statement(self) -> Stated:
        place = self.place()
        if self.word("if"):
            cases: list[tuple[Tree | None, tuple[Stated, ...]]] = []
            while (word := self.peek(-1).text) != "end":
                condition = None if word == "else" else self.expression()
                cases.append((condition, self._equations("elseif", "else", "end")))
            return Choice(tuple(cases), place)
        if self.word("let"):
            return Let(tuple(self._assigned("in")), self._equations("end"), place)
        if self.word("for"):
            return Choice(((self._counter(), self._equations("end")),), place)
        here = self.peek()
        if here.kind == "name" and here.text in ("while", "switch"):
            raise self.wrong(f"{here.text!r} among equations is not read: write them out")
        tree = self.expression()
        if isinstance(tree, Apply) and tree.of == Name("assert"):
            return _assertion(tree.arguments, place)
        if isinstance(tree, Binary) and tree.sign == "==":
            return Equal(tree.left, tree.right, place)
        raise self.wrong("an equation is written left == right")


def _assertion(arguments: tuple[Tree, ...], place: str) -> Assertion:
    said = [a.value for a in arguments[1:] if isinstance(a, Text)]
    named = {name: dotted(tree).rpartition(".")[2]
             for name, tree in given_by_name(arguments).items()}
    stops = named.get("Action", "error") == "error" and named.get("Warn", "false") == "false"
    condition = Name("true") if isinstance(arguments[0], Text) else arguments[0]
    return Assertion(condition, said[0] if said else "", stops, place)


def pair(tree: Tree) -> tuple[Tree, str] | None:
    """Value and unit of ``{value, 'unit'}``."""
    if isinstance(tree, Brace):
        entries = [entry for row in tree.rows for entry in row]
        if len(entries) == 2 and isinstance(entries[1], Text):
            return entries[0], entries[1].value
    return None


def made_of(part: Declared) -> tuple[str, tuple[Tree, ...]]:
    """The path of what a part is made of, and the values it is given."""
    call = part.value
    if isinstance(call, Apply):
        return dotted(call.of), call.arguments
    return dotted(call), ()


def fields(tree: Tree) -> dict[str, Tree]:
    """``{value = …, priority = …}`` by name."""
    return given_by_name(entry for row in tree.rows for entry in row) \
        if isinstance(tree, Brace) else {}


def given_by_name(entries: Iterable[Tree]) -> dict[str, Tree]:
    """What stands behind a name among entries or arguments, as in ``name = value``."""
    return {e.left.name: e.right for e in entries
            if isinstance(e, Binary) and e.sign == "=" and isinstance(e.left, Name)}
