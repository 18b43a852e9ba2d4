"""What does a text in MATLAB's language say, and what is its value?

Expressions and the statements that assign them are parsed to a tree and evaluated there;
nothing is ever run. The subset is what stands in parameters, callbacks and scripts of public
models: literals, names, fields, arithmetic, arrays, ranges, elementary functions, assignments,
``if ~exist(…)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from blocks import BlocksError

__all__ = [
    "Apply", "Assign", "Binary", "Brace", "Field", "Load", "Matrix", "Name", "NotUnderstood",
    "Number", "Range", "Run", "Statement", "Text", "Transposed", "Tree", "Unary", "Unknown",
    "evaluate", "free_names", "parse", "parse_script", "tokens",
]  # fmt: skip


class NotUnderstood(BlocksError):
    """A text that is not of the subset that is read here."""

    code = "simscape.expression"


class Unknown(BlocksError):
    """A name that has no value; ``error.name`` is it."""

    code = "simscape.name"


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


@dataclass(frozen=True)
class Assign:
    """``target = value``; ``if_missing`` where it holds only for a name without a value."""

    target: Tree
    value: Tree
    comment: str = ""
    if_missing: bool = False


@dataclass(frozen=True)
class Load:
    """``load file``."""

    file: str


@dataclass(frozen=True)
class Run:
    """A script that is called by its name."""

    script: str


@dataclass(frozen=True)
class Skipped:
    """A statement that is not understood, and the names that it would have given values."""

    text: str
    names: tuple[str, ...] = ()


Statement: TypeAlias = Assign | Load | Run | Skipped


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
    """The words of a text; comments are among them.

    Raises
    ------
    NotUnderstood
        For a sign that the language does not have, or a text without its end.
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
    if letter == '"' or (letter == "'" and not _after_value(before, spaced)):
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


def _after_value(before: list[Token], spaced: bool) -> bool:
    """Whether a quote here is a transpose: it follows a value without a blank."""
    if not before or spaced:
        return False
    last = before[-1]
    return last.kind in ("name", "number") or last.text in (")", "]", "}", "'", ".'")


# -- expressions ----------------------------------------------------------------------------------
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",), ("&&",), ("|",), ("&",), ("<", "<=", ">", ">=", "==", "~=", "!="), (":",),
    ("+", "-"), ("*", "/", "\\", ".*", "./", ".\\"),
)  # fmt: skip
_DEEPEST = 20  # brackets in each other: a level takes some twenty calls


class Parser:
    """Reads expressions from tokens.

    Parameters
    ----------
    given : list of Token
        Without comments.
    where : str
        Place for messages.
    """

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

    def wrong(self, what: str) -> NotUnderstood:
        words = " ".join(t.text for t in self.given[max(0, self.at - 6): self.at + 3]).strip()
        line = self.peek().line
        place = f" (line {line})" if line > 1 else ""
        return NotUnderstood(f"{self.where}{place}", f"{what} near {words!r}.")

    def skip_lines(self) -> None:
        while self.peek().kind == "end" and self.peek().text:
            self.at += 1

    def expression(self, level: int = 0) -> Tree:
        if level == len(_LEVELS):
            return self._sign()
        left = self.expression(level + 1)
        signs = _LEVELS[level]
        if signs == (":",):
            return self._range(left, level)
        while self.peek().text in signs and self.peek().kind == "sign" and not self._separates():
            sign = self.peek().text
            self.at += 1
            left = Binary("~=" if sign == "!=" else sign, left, self.expression(level + 1))
        return left

    def _range(self, start: Tree, level: int) -> Tree:
        if not (self.peek().text == ":" and self.peek().kind == "sign"):
            return start
        if self.peek(1).text in (",", ")", "]") or self.peek(1).kind == "end":
            return start
        self.at += 1
        second = self.expression(level + 1)
        if self.peek().text == ":" and self.peek().kind == "sign":
            self.at += 1
            return Range(start, second, self.expression(level + 1))
        return Range(start, None, second)

    def _separates(self) -> bool:
        """Whether a sign here begins the next entry of a row, as in ``[1 -2]``."""
        here, after = self.peek(), self.peek(1)
        return bool(self.inside) and self.inside[-1] in "[{" and here.text in ("+", "-") \
            and here.spaced and not after.spaced

    def _sign(self) -> Tree:
        signs = []
        while self.peek().kind == "sign" and self.peek().text in ("-", "+", "~", "!"):
            signs.append(self.peek().text)
            self.at += 1
        if len(signs) > _DEEPEST:
            raise self.wrong("an expression is too deep")
        of = self._power()
        for sign in reversed(signs):
            of = of if sign == "+" else Unary("~" if sign == "!" else sign, of)
        return of

    def _power(self) -> Tree:
        base = self._postfix(self._primary())
        while self.peek().kind == "sign" and self.peek().text in ("^", ".^"):
            sign = self.peek().text
            self.at += 1
            if self.peek().text in ("-", "+", "~") and self.peek().kind == "sign":
                unary = self.peek().text
                self.at += 1
                exponent: Tree = self._postfix(self._primary())
                exponent = exponent if unary == "+" else Unary(unary, exponent)
            else:
                exponent = self._postfix(self._primary())
            base = Binary(sign, base, exponent)
        return base

    def _postfix(self, of: Tree) -> Tree:
        while True:
            here = self.peek()
            if here.kind != "sign":
                return of
            if here.text in ("'", ".'"):
                self.at += 1
                of = Transposed(of)
            elif here.text == "(" and not (here.spaced and self.inside and
                                           self.inside[-1] in "[{"):
                of = Apply(of, self._arguments())
            elif here.text == "." and self.peek(1).kind == "name" and not (
                    here.spaced and self.inside and self.inside[-1] in "[{"):
                self.at += 1
                of = Field(of, self.peek().text)
                self.at += 1
            else:
                return of

    def _arguments(self) -> tuple[Tree, ...]:
        self.expect("(")
        self.open("(")
        found: list[Tree] = []
        self.skip_lines()
        while not self.take(")"):
            if self.peek().text == ":" and self.peek(1).text in (",", ")"):
                self.at += 1
                found.append(Name(":"))
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
                entry = self.expression()
                if self.take("="):
                    entry = Binary("=", entry, self.expression())
                row.append(entry)
        self.inside.pop()
        rows += [tuple(row)] if row else []
        return tuple(rows)


def parse(text: str, where: str = "") -> Tree:
    """The tree of an expression; a comment behind it is left out.

    Raises
    ------
    NotUnderstood
        Naming the place.
    """
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


# -- statements -----------------------------------------------------------------------------------
_IDLE = {"clear", "clc", "close", "format", "warning", "disp", "figure", "addpath", "rmpath",
         "hold", "clearvars", "open_system", "set_param", "bdclose", "fprintf", "proj"}  # fmt: skip
_GIVEN = re.compile(r"(?:^|[;,\n])\s*([A-Za-z]\w*)\s*(?:[.(][^=\n]*)?=(?!=)", re.M)
_OPENING = {"if", "for", "while", "switch", "try", "function", "parfor"}
_MISSING = re.compile(r"if\s*\(?\s*[~!]\s*exist\s*\(\s*['\"](\w+)['\"]\s*(,\s*['\"]\w+['\"])?\s*\)"
                      r"\s*\)?\s*,?")  # fmt: skip


def parse_script(text: str, where: str = "") -> list[Statement]:
    """The statements of a script or callback; what is not understood is among them as Skipped."""
    found: list[Statement] = []
    lines = _logical_lines(text)
    k = 0
    while k < len(lines):
        line, comment = lines[k]
        k += 1
        word = (re.match(r"[A-Za-z]\w*", line) or [""])[0]
        missing = _MISSING.match(line)
        if missing is not None:
            body, k = _body(line[missing.end():], comment, lines, k)
            found += _guarded(body, where)
        elif word in _OPENING:
            body, k = _body(line, comment, lines, k)
            text_ = "\n".join(part for part, _ in body)
            names = _GIVEN.findall(text_)
            found.append(Skipped(text_, tuple(dict.fromkeys(names))))
        elif word not in _IDLE:
            found += _simple(line, comment, where)
    return found


def _logical_lines(text: str) -> list[tuple[str, str]]:
    """Statements as texts, each with the comment of its line."""
    try:
        given = tokens(text)
    except NotUnderstood:
        return [(line.strip(), "") for line in text.splitlines() if line.strip()]
    lines: list[tuple[str, str]] = []
    words: list[Token] = []
    depth, first = 0, 0  # brackets that are open; first statement of this line
    for token in [*given, Token("end", "\n")]:
        if token.kind == "sign" and token.text in "([{":
            depth += 1
        elif token.kind == "sign" and token.text in ")]}":
            depth -= 1
        if token.kind == "comment":
            lines[first:] = [(t, c or token.text.lstrip("%# ").strip()) for t, c in lines[first:]]
            if words:
                words.append(Token("comment", token.text.lstrip("%# ").strip()))
        elif depth <= 0 and (token.text in ("\n", ";") or token.text == "," and not _opens(words)):
            if words:
                comment = next((w.text for w in words if w.kind == "comment"), "")
                written = "".join((" " if w.spaced else "") + w.text for w in words
                                  if w.kind != "comment").strip()
                lines += [(written, comment)] if written else []
                words = []
            if token.text == "\n":
                first = len(lines)
        else:
            words.append(token)
    return lines


def _opens(words: list[Token]) -> bool:
    return bool(words) and words[0].text in _OPENING


def _body(first: str, comment: str, lines: list[tuple[str, str]], k: int
          ) -> tuple[list[tuple[str, str]], int]:
    """The lines up to the ``end`` of what has been opened."""
    body = [(first.strip(), comment)] if first.strip() else []
    if re.search(r"\bend\s*$", first):
        return [(re.sub(r"\s*\bend\s*$", "", first), comment)], k
    depth = 1
    while k < len(lines) and depth:
        line, said = lines[k]
        k += 1
        word = (re.match(r"[A-Za-z]\w*", line) or [""])[0]
        depth += (word in _OPENING) - (word == "end")
        if depth:
            body.append((line, said))
        elif said and body:
            body[-1] = (body[-1][0], body[-1][1] or said)
    return body, k


def _guarded(body: list[tuple[str, str]], where: str) -> list[Statement]:
    """Assignments that hold only for names without a value."""
    found: list[Statement] = []
    for line, comment in body:
        for statement in _simple(line, comment, where):
            found.append(Assign(statement.target, statement.value, statement.comment, True)
                         if isinstance(statement, Assign) else statement)
    return found


def _simple(line: str, comment: str, where: str) -> list[Statement]:
    match = re.match(r"load\s*\(?\s*['\"]?([^'\"\s;)]+)['\"]?", line)
    if match is not None and not re.match(r"load\s*=", line):
        return [Load(match[1].replace("\\", "/"))]
    match = re.fullmatch(r"(?:run\s*\(?\s*['\"]?)?([A-Za-z]\w*)(?:\.m)?['\"]?\s*\)?", line)
    if match is not None and "=" not in line:
        return [Run(match[1])]
    target, sign, value = _halves(line)
    if not sign:
        return [Skipped(line)]
    name = (re.match(r"[A-Za-z]\w*", target.strip()) or [""])[0]
    try:
        left = parse(target, where)
        if not isinstance(left, (Name, Field)):
            return [Skipped(line, (name,))]
        return [Assign(left, parse(value, where), comment)]
    except NotUnderstood:
        return [Skipped(line, (name,) if name else ())]


def _halves(line: str) -> tuple[str, str, str]:
    """What stands left and right of the ``=`` of an assignment."""
    match = re.match(r"([A-Za-z][\w.()]*)\s*=(?!=)", line)
    return (match[1], "=", line[match.end():]) if match is not None else (line, "", "")


# -- values ---------------------------------------------------------------------------------------
_CONSTANTS = {"pi": np.pi, "inf": np.inf, "Inf": np.inf, "nan": np.nan, "NaN": np.nan,
              "eps": 2.0**-52, "true": 1.0, "false": 0.0}  # fmt: skip


def _row(n: Any, m: Any = None) -> tuple[int, int]:
    return int(n), int(n if m is None else m)


def _filled(value: float) -> Callable[..., Any]:
    return lambda n=1, m=None: np.full(_row(n, m), value)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "log10": np.log10, "log2": np.log2,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "abs": np.abs,
    "floor": np.floor, "ceil": np.ceil, "round": np.round, "fix": np.trunc, "sign": np.sign,
    "mod": np.mod, "rem": np.fmod, "power": np.power, "hypot": np.hypot,
    "max": lambda a, b=None: np.max(a) if b is None else np.maximum(a, b),
    "min": lambda a, b=None: np.min(a) if b is None else np.minimum(a, b),
    "sum": np.sum, "prod": np.prod, "mean": np.mean, "cumsum": np.cumsum, "diff": np.diff,
    "numel": np.size, "length": lambda a: float(max(np.shape(a), default=1)),
    "linspace": lambda a, b, n=100: np.linspace(a, b, int(n)).reshape(1, -1),
    "logspace": lambda a, b, n=50: np.logspace(a, b, int(n)).reshape(1, -1),
    "ones": _filled(1.0), "zeros": _filled(0.0), "eye": lambda n: np.eye(int(n)),
    "repmat": lambda a, n, m=None: np.tile(np.atleast_2d(a), _row(n, m)),
    "deg2rad": np.deg2rad, "rad2deg": np.rad2deg, "double": lambda a: a, "int32": lambda a: a,
    "single": lambda a: a, "logical": lambda a: a, "flip": np.flip, "diag": np.diag,
}  # fmt: skip

_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add, "-": np.subtract, ".*": np.multiply, "./": np.divide, ".^": np.power,
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal,
    "~=": np.not_equal, "&": np.logical_and, "|": np.logical_or, "&&": np.logical_and,
    "||": np.logical_or,
}  # fmt: skip


def free_names(tree: Tree) -> Iterator[str]:
    """Names in an expression that are neither functions nor constants known here."""
    if isinstance(tree, Name):
        if tree.name not in _CONSTANTS and tree.name not in FUNCTIONS and tree.name != ":":
            yield tree.name
    elif isinstance(tree, Field):
        yield from free_names(tree.of)
    elif isinstance(tree, Apply):
        if tree.of != Name("value"):
            yield from free_names(tree.of)
        for argument in tree.arguments:
            yield from free_names(argument)
    elif isinstance(tree, (Unary, Transposed)):
        yield from free_names(tree.of)
    elif isinstance(tree, Binary):
        yield from free_names(tree.left)
        yield from free_names(tree.right)
    elif isinstance(tree, Range):
        for part in (tree.start, tree.step, tree.stop):
            if part is not None:
                yield from free_names(part)
    elif isinstance(tree, (Matrix, Brace)):
        for row in tree.rows:
            for entry in row:
                yield from free_names(entry)


def evaluate(tree: Tree, names: Mapping[str, Any], where: str = "") -> Any:
    """The value of an expression: a number, an array (rows by columns), a text or a mapping.

    Raises
    ------
    Unknown
        For a name without a value.
    NotUnderstood
        For an operation that is not known, or that its values do not allow.
    """
    try:
        with np.errstate(all="ignore"):
            value = _Evaluation(names, where).of(tree)
    except (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError,
            np.linalg.LinAlgError) as error:
        raise NotUnderstood(where, f"its values do not allow this: {error}.") from error
    return value


@dataclass
class _Evaluation:
    names: Mapping[str, Any]
    where: str
    size: int = field(default=0)

    def of(self, tree: Tree) -> Any:
        if isinstance(tree, Number):
            return tree.value
        if isinstance(tree, Text):
            return tree.value
        if isinstance(tree, Name):
            return self._name(tree.name)
        if isinstance(tree, Field):
            return self._field(self.of(tree.of), tree.name)
        if isinstance(tree, Apply):
            return self._apply(tree)
        if isinstance(tree, Unary):
            value = self._number(self.of(tree.of))
            return -value if tree.sign == "-" else _plain(np.logical_not(value) * 1.0)
        if isinstance(tree, Binary):
            return self._binary(tree)
        if isinstance(tree, Transposed):
            return np.atleast_2d(self._number(self.of(tree.of))).T
        if isinstance(tree, Range):
            return self._range(tree)
        return self._rows(tree.rows)

    def _name(self, name: str) -> Any:
        if name in self.names:
            return self.names[name]
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        raise Unknown(self.where, f"{name} has no value.", f"Give one: --set {name}=…", name=name)

    def _field(self, of: Any, name: str) -> Any:
        if not isinstance(of, Mapping) or name not in of:
            raise Unknown(self.where, f"the field {name} has no value.",
                          f"Give the whole: --set …{name}=…", name=name)
        return of[name]

    def _apply(self, tree: Apply) -> Any:
        if isinstance(tree.of, Name) and tree.of.name not in self.names:
            name = tree.of.name
            if name == "value" and tree.arguments:
                return self.of(tree.arguments[0])
            if name in FUNCTIONS:
                given = [self._number(self.of(a)) for a in tree.arguments]
                if any(np.size(g) > 1 << 20 for g in given) or name in (
                        "ones", "zeros", "repmat", "linspace", "logspace", "eye") and any(
                        np.max(g) > 1 << 20 for g in given[-2:]):
                    raise NotUnderstood(self.where, f"{name}() would make a very large array.")
                return _plain(FUNCTIONS[name](*given))
            raise Unknown(self.where, f"{name}(…) is not known.", f"Give a value: --set {name}=…",
                          name=name)
        return self._indexed(np.asarray(self._number(self.of(tree.of))), tree.arguments)

    def _indexed(self, array: Any, indices: tuple[Tree, ...]) -> Any:
        """MATLAB's index: from 1, columns first."""
        if len(indices) == 1 and indices[0] == Name(":"):
            return np.ravel(array, order="F").reshape(-1, 1)
        places = [slice(None) if i == Name(":") else
                  np.asarray(self._number(self.of(i)), dtype=int).ravel() - 1 for i in indices]
        if any(not isinstance(p, slice) and (p < 0).any() for p in places):
            raise NotUnderstood(self.where, "an index is less than 1.")
        if len(places) == 1:
            return _plain(np.ravel(array, order="F")[places[0]].reshape(1, -1))
        made = np.atleast_2d(array)
        for axis, place in enumerate(places):
            made = made[(slice(None),) * axis + (place,)]
        return _plain(made)

    def _binary(self, tree: Binary) -> Any:
        left, right = self.of(tree.left), self.of(tree.right)
        if isinstance(left, str) and isinstance(right, str) and tree.sign in ("==", "~="):
            return float((left == right) == (tree.sign == "=="))
        a, b = self._number(left), self._number(right)
        scalar = np.ndim(a) == 0 or np.ndim(b) == 0
        if tree.sign == "*":
            return _plain(np.multiply(a, b) if scalar else np.asarray(a) @ np.asarray(b))
        if tree.sign == "/":
            return _plain(np.divide(a, b) if np.ndim(b) == 0 else
                          np.linalg.solve(np.atleast_2d(b).T, np.atleast_2d(a).T).T)
        if tree.sign in ("^", ".^"):
            if tree.sign == "^" and not (np.ndim(a) == 0 and np.ndim(b) == 0):
                return np.linalg.matrix_power(np.atleast_2d(a), int(b))
            return _plain(np.power(a, b))
        if tree.sign not in _OPERATIONS:
            raise NotUnderstood(self.where, f"{tree.sign!r} is not known.")
        return _plain(_OPERATIONS[tree.sign](a, b) * 1.0)

    def _range(self, tree: Range) -> Any:
        start, stop = (float(self._number(self.of(t))) for t in (tree.start, tree.stop))
        step = 1.0 if tree.step is None else float(self._number(self.of(tree.step)))
        count = int(np.floor((stop - start) / step * (1 + 1e-12) + 1e-10)) + 1 if step else 0
        if count > 1 << 20:
            raise NotUnderstood(self.where, "a range would make a very large array.")
        return (start + step * np.arange(max(count, 0))).reshape(1, -1)

    def _rows(self, rows: tuple[tuple[Tree, ...], ...]) -> Any:
        made = [[self.of(entry) for entry in row] for row in rows]
        if len(made) == 1 and len(made[0]) == 1:
            return made[0][0]
        if any(isinstance(v, (str, Mapping)) for row in made for v in row):
            return [v for row in made for v in row]
        if not made:
            return np.zeros((0, 0))
        return np.vstack([np.hstack([np.atleast_2d(v) for v in row]) for row in made])

    def _number(self, value: Any) -> Any:
        if isinstance(value, (str, Mapping, list)):
            raise NotUnderstood(self.where, f"{value!r:.40} is no number.")
        return value


def _plain(value: Any) -> Any:
    """An array of one entry as a number."""
    whole = np.size(value) == 1 and not np.iscomplexobj(value)
    return float(np.ravel(value)[0]) if whole else value
