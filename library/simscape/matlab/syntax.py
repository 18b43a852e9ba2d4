"""What does an expression in MATLAB's language say?

It is parsed to a tree: literals, names, fields, arithmetic, arrays, ranges, calls, as they stand in
parameters, scripts and component sources of public models. Values are in :mod:`.matlab_values`,
statements in :mod:`.matlab_scripts`; nothing is ever run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import reduce
from typing import Any, TypeAlias

from blocks import BlocksError

__all__ = [
    "Apply", "Binary", "Brace", "Field", "Matrix", "Name", "NotUnderstood", "Number", "Parser",
    "Range", "Text", "Token", "Transposed", "Tree", "Unary", "changed", "dotted", "in_order",
    "is_constant", "names_in", "number_tree", "parse", "path_tree", "subtrees", "tokens",
]  # fmt: skip


class NotUnderstood(BlocksError):
    """A text that is not of the subset that is read here."""

    code = "simscape.expression"


@dataclass(frozen=True)
class Number:
    value: float
    text: str


@dataclass(frozen=True)
class Text:
    value: str


@dataclass(frozen=True)
class Name:
    name: str


@dataclass(frozen=True)
class Field:
    of: Tree
    name: str


@dataclass(frozen=True)
class Apply:
    """A call or an index: which of the two is known when names are."""

    of: Tree
    arguments: tuple[Tree, ...]


@dataclass(frozen=True)
class Unary:
    sign: str
    of: Tree


@dataclass(frozen=True)
class Binary:
    sign: str
    left: Tree
    right: Tree


@dataclass(frozen=True)
class Range:
    start: Tree
    step: Tree | None
    stop: Tree


@dataclass(frozen=True)
class Matrix:
    rows: tuple[tuple[Tree, ...], ...]


@dataclass(frozen=True)
class Brace:
    """``{…}``: a cell array, or in component sources a value with its unit."""

    rows: tuple[tuple[Tree, ...], ...]


@dataclass(frozen=True)
class Transposed:
    of: Tree


Tree: TypeAlias = (Number | Text | Name | Field | Apply | Unary | Binary | Range | Matrix | Brace
                   | Transposed)  # fmt: skip


def dotted(tree: Tree) -> str:
    """The path of a name or field, ``"p.cell.R"``; empty for anything else."""
    if isinstance(tree, Name):
        return tree.name
    if isinstance(tree, Field):
        of = dotted(tree.of)
        return f"{of}.{tree.name}" if of else ""
    return ""


def subtrees(part: object) -> Iterator[object]:
    """An expression, or a statement with such, and all that it consists of."""
    if is_dataclass(part):
        yield part
        part = [getattr(part, of.name) for of in fields(part)]
    if isinstance(part, (tuple, list, dict)):
        for each in part.values() if isinstance(part, dict) else part:
            yield from subtrees(each)


def changed(part: Any, change: Callable[[Any], Any]) -> Any:
    """An expression, or a statement with such, in which all that it directly holds is changed.

    What is given by name, ``f(x = y)``, keeps its name.
    """
    if isinstance(part, Binary) and part.sign == "=":
        return replace(part, right=change(part.right))
    if isinstance(part, (list, tuple)):
        return type(part)(change(each) for each in part)
    if isinstance(part, dict):
        return {key: change(each) for key, each in part.items()}
    if not is_dataclass(part) or isinstance(part, type):
        return part
    return replace(part, **{of.name: change(getattr(part, of.name)) for of in fields(part)})


def number_tree(value: float) -> Tree:
    """A number as it is written."""
    number = Number(abs(value), f"{abs(value):.15g}")
    return Unary("-", number) if value < 0 else number


def names_in(tree: Tree) -> set[str]:
    """The names that stand alone in an expression."""
    return {part.name for part in subtrees(tree) if isinstance(part, Name)}


def path_tree(path: str) -> Tree:
    """The expression of a path, ``"p.cell.R"``."""
    first, *rest = path.split(".")
    start: Tree = Name(first)
    return reduce(Field, rest, start)


def in_order(trees: Mapping[str, Tree], circle: Callable[[str], Any] = lambda name: None
             ) -> list[str]:
    """Names of expressions, each behind those that stand in its own.

    ``circle`` is told a name that follows from itself.
    """
    inside = {name: names_in(tree) for name, tree in trees.items()}
    done: list[str] = []

    def add(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            circle(name)
        elif name not in done:
            for other in trees:
                if other in inside[name]:
                    add(other, (*above, name))
            done.append(name)

    for name in trees:
        add(name, ())
    return done


def is_constant(tree: Tree) -> bool:
    return names_in(tree) <= {"pi", "inf", "int32", "double"}


# -- tokens ---------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Token:
    kind: str  # "number", "name", "text", "sign", "end" (of a line or statement), "comment"
    text: str
    spaced: bool = False  # whether white space stands before it
    line: int = 1


_BLOCK_COMMENT = re.compile(r"^[ \t]*[%#]\{[ \t]*$.*?^[ \t]*[%#]\}[ \t]*$", re.M | re.S)
_WORD = re.compile(r"""
    (?P<blank>[ \t]+|\.\.\.[^\n]*\n?) | (?P<end>\n) | (?P<comment>[%#][^\n]*)
    | (?P<text>"(?:[^"\n]|"")*"|'(?:[^'\n]|'')*')
    | (?P<number>0[xX][0-9a-fA-F]+
        |(?:\d+(?:\.(?![*/^\\'])\d*)?|\.\d+)(?:[eEdD][+-]?\d+)?)  # the point of 2.* is of the sign
    | (?P<name>[A-Za-z]\w*)
    | (?P<sign>->|[=~!<>]=|&&|\|\||\.[*/\\^']|[-+*/\\^<>=~!&|()\[\]{},;:.@?'"])""", re.X)


def tokens(text: str, where: str = "") -> list[Token]:
    """The words of a text, comments among them; ``...`` goes on in the next line.

    NotUnderstood is raised for a sign that the language does not have, or a text without its end.
    """
    text = _BLOCK_COMMENT.sub(lambda m: "\n" * m[0].count("\n"), text.replace("\r", ""))
    found: list[Token] = []
    at, line, spaced = 0, 1, False
    while at < len(text):
        last = found[-1] if found and not spaced else Token("end", "")
        transposes = text[at] == "'" and (
            last.kind in ("name", "number") or last.text in (")", "]", "}", "'", ".'"))
        match = _WORD.match(text, at)
        if match is None:
            raise NotUnderstood(where, f"{text[at]!r} is not understood in "
                                f"{text[max(0, at - 20):][:40]!r}.")
        kind, word = ("sign", "'") if transposes else (match.lastgroup or "", match[0])
        if word in ("'", '"') and not transposes:
            raise NotUnderstood(where, f"a text has no closing {word} in {text[at:at + 30]!r}.")
        if kind != "blank":
            found.append(Token(kind, word, spaced, line))
        at, line, spaced = at + len(word), line + word.count("\n"), kind == "blank"
    return found


# -- expressions ----------------------------------------------------------------------------------
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",), ("&&",), ("|",), ("&",), ("<", "<=", ">", ">=", "==", "~=", "!="), (":",),
    ("+", "-"), ("*", "/", "\\", ".*", "./", ".\\"),
)  # fmt: skip
_DEEPEST = 20  # brackets in each other: a level takes some twenty calls


class Parser:
    """Reads expressions from tokens without comments; ``where`` is the place for messages."""

    def __init__(self, given: list[Token], where: str = "") -> None:
        self.given, self.where, self.at = given, where, 0
        self.inside: list[str] = []  # brackets that are open

    def open(self, bracket: str) -> None:
        if len(self.inside) >= _DEEPEST:
            raise self.wrong("an expression is too deep")
        self.inside.append(bracket)

    def peek(self, ahead: int = 0) -> Token:
        k = self.at + ahead
        return self.given[k] if k < len(self.given) else Token("end", "")

    def next(self) -> Token:
        self.at += 1
        return self.peek(-1)

    def take(self, *signs: str) -> bool:
        """Whether the next word is one of these signs, which is passed then."""
        taken = self.peek().kind == "sign" and self.peek().text in signs
        self.at += taken
        return taken

    def expect(self, sign: str) -> None:
        if not self.take(sign):
            raise self.wrong(f"{sign!r} is missing")

    def place(self) -> str:
        """Where in which file the next word stands."""
        line = self.peek().line
        return f"{self.where} (line {line})" if line > 1 else self.where

    def wrong(self, what: str, advice: str = "") -> NotUnderstood:
        words = " ".join(t.text for t in self.given[max(0, self.at - 6): self.at + 3]).strip()
        return NotUnderstood(self.place(), f"{what} near {words!r}.", advice)

    def skip_lines(self) -> None:
        while self.peek().kind == "end" and self.peek().text:
            self.at += 1

    def expression(self, level: int = 0) -> Tree:
        if level == len(_LEVELS):
            return self._signed(self._power)
        left = self.expression(level + 1)
        signs = _LEVELS[level]
        if signs == (":",):
            return self._range(left, level)
        while not (self._is_apart() and self.peek().text in ("+", "-")  # the next entry: [1 -2]
                   and not self.peek(1).spaced) and self.take(*signs):
            sign = self.peek(-1).text
            left = Binary("~=" if sign == "!=" else sign, left, self.expression(level + 1))
        return left

    def _range(self, start: Tree, level: int) -> Tree:
        ends = self.peek(1).text in (",", ")", "]") or self.peek(1).kind == "end"
        if ends or not self.take(":"):
            return start
        second = self.expression(level + 1)
        third = self.expression(level + 1) if self.take(":") else None
        return Range(start, None, second) if third is None else Range(start, second, third)

    def _is_apart(self) -> bool:
        """Whether a blank in a row stands before the next word."""
        return self.peek().spaced and bool(self.inside) and self.inside[-1] in "[{"

    def _signed(self, operand: Callable[[], Tree]) -> Tree:
        """An operand with the signs before it."""
        signs = []
        while self.take("-", "+", "~", "!"):
            signs.append(self.peek(-1).text)
        if len(signs) > _DEEPEST:
            raise self.wrong("an expression is too deep")
        of = operand()
        for sign in reversed(signs):
            of = of if sign == "+" else Unary("~" if sign == "!" else sign, of)
        return of

    def _power(self) -> Tree:
        base = self._value()
        while self.take("^", ".^"):
            sign = self.peek(-1).text
            base = Binary(sign, base, self._signed(self._value))
        return base

    def _value(self) -> Tree:
        """A name, number or bracket with the indices, fields and transposes behind it."""
        of = self._primary()
        while True:
            if self.take("'", ".'"):
                of = Transposed(of)
            elif self.peek().text == "(" and not self._is_apart():
                of = Apply(of, self._arguments())
            elif self.peek(1).kind == "name" and not self._is_apart() and self.take("."):
                of = Field(of, self.next().text)
            else:
                return of

    def _arguments(self) -> tuple[Tree, ...]:
        self.expect("(")
        self.open("(")
        found: list[Tree] = []
        self.skip_lines()
        while not self.take(")"):
            whole = self.peek().text in (":", "*") and self.peek(1).text in (",", ")")
            found.append(Name(self.next().text) if whole else self._argument())
            self.skip_lines()
            if not self.take(","):
                self.expect(")")
                break
            self.skip_lines()
        self.inside.pop()
        return tuple(found)

    def _argument(self) -> Tree:
        value = self.expression()
        if self.take("="):  # by name: f(x, interpolation = linear)
            return Binary("=", value, self.expression())
        return value

    def _primary(self) -> Tree:
        here = self.next()
        if here.kind == "number":
            text = here.text.lower()
            return Number(float(int(text, 16)) if "x" in text else float(text.replace("d", "e")),
                          here.text)
        if here.kind == "text":
            quote = here.text[0]
            return Text(here.text[1:-1].replace(quote * 2, quote))
        if here.kind == "name":
            return Name(here.text)
        if here.text == "(":
            self.open("(")
            self.skip_lines()
            of = self.expression()
            self.skip_lines()
            self.expect(")")
            self.inside.pop()
            return of
        if here.text in ("[", "{"):
            rows = self._rows("]" if here.text == "[" else "}")
            return Matrix(rows) if here.text == "[" else Brace(rows)
        self.at -= 1
        raise self.wrong(f"a value is missing before {here.text!r}" if here.text.strip()
                         else "a value is missing")

    def _rows(self, closing: str) -> tuple[tuple[Tree, ...], ...]:
        self.open("[" if closing == "]" else "{")
        rows: list[list[Tree]] = [[]]
        while not self.take(closing):
            here = self.peek()
            if here.kind == "end" and not here.text:
                raise self.wrong(f"{closing!r} is missing")
            if here.text in (";", "\n"):
                self.at += 1
                rows.append([])
            elif not self.take(","):
                rows[-1].append(self._argument())
        self.inside.pop()
        return tuple(tuple(row) for row in rows if row)


def parse(text: str, where: str = "") -> Tree:
    """The tree of an expression without the comment behind it; NotUnderstood names the place."""
    given = [t for t in tokens(text.strip(), where) if t.kind != "comment"]
    while given and given[-1].text in ("\n", ";"):
        given.pop()
    parser = Parser(given, where)
    parser.skip_lines()
    tree = parser.expression()
    parser.skip_lines()
    if parser.at < len(given):
        raise parser.wrong(f"{parser.peek().text!r} is not expected")
    return tree
