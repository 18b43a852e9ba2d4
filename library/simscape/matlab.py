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
    if isinstance(part, (tuple, list)):
        for each in part:
            yield from subtrees(each)
    elif isinstance(part, dict):
        yield from subtrees(list(part.values()))
    elif is_dataclass(part):
        yield part
        for of in fields(part):
            yield from subtrees(getattr(part, of.name))


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
    """Whether a value does not follow from others."""
    return names_in(tree) <= {"pi", "inf", "int32", "double"}


# -- tokens ---------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Token:
    kind: str  # "number", "name", "text", "sign", "end" (of a line or statement), "comment"
    text: str
    spaced: bool = False  # whether white space stands before it
    line: int = 1


_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?")
_NAME = re.compile(r"[A-Za-z]\w*")
_SIGNS = ("...", "->", "==", "~=", "!=", "<=", ">=", "&&", "||", ".*", "./", ".\\", ".^", ".'",
          "+", "-", "*", "/", "\\", "^", "<", ">", "=", "~", "!", "&", "|", "(", ")", "[", "]",
          "{", "}", ",", ";", ":", ".", "@", "?")  # fmt: skip
_BLOCK_COMMENT = re.compile(r"^[ \t]*[%#]\{[ \t]*$.*?^[ \t]*[%#]\}[ \t]*$", re.M | re.S)


def tokens(text: str, where: str = "") -> list[Token]:
    """The words of a text, comments among them.

    NotUnderstood is raised for a sign that the language does not have, or a text without its end.
    """
    text = _BLOCK_COMMENT.sub(lambda m: "\n" * m[0].count("\n"), text.replace("\r", ""))
    found: list[Token] = []
    at, line, spaced = 0, 1, False
    while at < len(text):
        letter = text[at]
        if letter in " \t":
            at, spaced = at + 1, True
            continue
        if text.startswith("...", at):  # goes on in the next line
            end = text.find("\n", at)
            at, spaced, line = (len(text) if end < 0 else end + 1), True, line + 1
            continue
        kind, word = _word(text, at, found, spaced, where)
        found.append(Token(kind, word, spaced, line))
        at += len(word)
        line += word.count("\n")
        spaced = False
    return found


def _word(text: str, at: int, before: list[Token], spaced: bool, where: str) -> tuple[str, str]:
    letter = text[at]
    if letter == "\n":
        return "end", "\n"
    if letter in "%#":
        end = text.find("\n", at)
        return "comment", text[at:] if end < 0 else text[at:end]
    last = before[-1] if before and not spaced else Token("end", "")
    after_value = last.kind in ("name", "number") or last.text in (")", "]", "}", "'", ".'")
    if letter == '"' or (letter == "'" and not after_value):  # which it would transpose
        match = re.compile(rf"{letter}(?:[^{letter}\n]|{letter}{letter})*{letter}").match(text, at)
        if match is None:
            raise NotUnderstood(where, f"a text has no closing {letter} in {text[at:at + 30]!r}.")
        return "text", match[0]
    for kind, pattern in (("number", _NUMBER), ("name", _NAME)):
        match = pattern.match(text, at)
        if match is not None:
            word = match[0]
            if kind == "number" and word.endswith(".") and text[at + len(word):][:1] in (
                    "*", "/", "^", "\\", "'"):  # the point belongs to the sign
                word = word[:-1]
            return kind, word
    if letter == "'":
        return "sign", "'"
    sign = next((s for s in _SIGNS if text.startswith(s, at)), None)
    if sign is None:
        raise NotUnderstood(where, f"{letter!r} is not understood in "
                            f"{text[max(0, at - 20):][:40]!r}.")
    return "sign", sign


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
        """Note a bracket that has been opened."""
        if len(self.inside) >= _DEEPEST:
            raise self.wrong("an expression is too deep")
        self.inside.append(bracket)

    def peek(self, ahead: int = 0) -> Token:
        k = self.at + ahead
        return self.given[k] if k < len(self.given) else Token("end", "")

    def take(self, *signs: str) -> bool:
        if self.peek().kind == "sign" and self.peek().text in signs:
            self.at += 1
            return True
        return False

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
        if self.take(":"):
            return Range(start, second, self.expression(level + 1))
        return Range(start, None, second)

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
                self.at += 1
                of = Field(of, self.peek(-1).text)
            else:
                return of

    def _arguments(self) -> tuple[Tree, ...]:
        self.expect("(")
        self.open("(")
        found: list[Tree] = []
        self.skip_lines()
        while not self.take(")"):
            if self.peek().text in (":", "*") and self.peek(1).text in (",", ")"):
                self.at += 1
                found.append(Name(self.peek(-1).text))
            else:
                found.append(self._argument())
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
        here = self.peek()
        self.at += 1
        if here.kind == "number":
            text = here.text.lower()
            text = text if "x" in text else text.replace("d", "e")
            return Number(float(int(text, 16)) if "x" in text else float(text), here.text)
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
        rows: list[tuple[Tree, ...]] = []
        row: list[Tree] = []
        while True:
            here = self.peek()
            if here.kind == "end" and not here.text:
                raise self.wrong(f"{closing!r} is missing")
            if self.take(closing):
                break
            if here.text in (";", "\n"):
                self.at += 1
                rows += [tuple(row)] if row else []
                row = []
            elif not self.take(","):
                row.append(self._argument())
        self.inside.pop()
        rows += [tuple(row)] if row else []
        return tuple(rows)


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
