"""Which statements does a script or callback in MATLAB's language hold?

Assignments, ``if``, files of data and scripts that are called; the rest is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from .syntax import Field, Name, NotUnderstood, Parser, Token, Tree, parse, tokens

__all__ = ["Assign", "Load", "Run", "Skipped", "Statement", "parse_script"]


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
    """A statement that is not understood, and the names that it would have given values.

    Of an ``if`` what it does is known once its conditions have values: ``branches`` are conditions,
    None of ``else``, with the statements that they are for.
    """

    text: str
    names: tuple[str, ...] = ()
    branches: tuple[tuple[Tree | None, tuple[Statement, ...]], ...] = ()


Statement: TypeAlias = Assign | Load | Run | Skipped


_IDLE = {"clear", "clc", "close", "format", "warning", "disp", "figure", "addpath", "rmpath",
         "hold", "clearvars", "open_system", "load_system", "save_system", "close_system", "sim",
         "set_param", "bdclose", "fprintf", "proj", "tic", "toc", "plot", "grid", "subplot",
         "drawnow", "pause", "cd"}  # fmt: skip
_GIVEN = re.compile(r"(?:^|[;,\n])\s*([A-Za-z]\w*(?:\.\w+)*)\s*(?:[.(][^=\n]*)?=(?!=)", re.M)
_OPENING = {"if", "for", "while", "switch", "try", "function", "parfor", "arguments"}
_MISSING = re.compile(r"if\s*\(?\s*[~!]\s*exist\s*\(\s*['\"](\w+)['\"]\s*(,\s*['\"]\w+['\"])?\s*\)"
                      r"\s*\)?\s*,?")  # fmt: skip


def parse_script(text: str, where: str = "") -> list[Statement]:
    """The statements of a script or callback; what is not understood is among them as Skipped."""
    return _statements(_logical_lines(text), where)


def _statements(lines: list[tuple[str, str]], where: str) -> list[Statement]:
    found: list[Statement] = []
    k = 0
    while k < len(lines):
        line, comment = lines[k]
        k += 1
        word, missing = _word(line), _MISSING.match(line)
        if word == "return":
            break
        if missing is not None:  # its assignments hold only for names without a value
            body, k = _body(line[missing.end():], comment, lines, k)
            found += [replace(made, if_missing=True) if isinstance(made, Assign) else made
                      for inner, said in body for made in _simple(inner, said, where)]
        elif word in _OPENING:
            body, k = _body(line, comment, lines, k)
            text = "\n".join(part for part, _ in body)
            names = _GIVEN.findall(text) if word != "function" else []  # its own names
            found.append(Skipped(text, tuple(dict.fromkeys(names)),
                                 _branches(body, where) if word == "if" else ()))
        elif word not in _IDLE:
            found += _simple(line, comment, where)
    return found


def _word(line: str) -> str:
    return (re.match(r"[A-Za-z]\w*", line) or [""])[0]


def _opened(line: str) -> int:
    return (_word(line) in _OPENING) - (_word(line) == "end")


def _joined(words: Iterable[Token]) -> str:
    return "".join((" " if word.spaced else "") + word.text for word in words).strip()


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
        if token.kind == "sign":
            depth += (token.text in "([{") - (token.text in ")]}")
        if token.kind == "comment":
            said = token.text.lstrip("%# ").strip()
            lines[first:] = [(text, comment or said) for text, comment in lines[first:]]
            words += [Token("comment", said)] if words else []
        elif depth <= 0 and (token.text in ("\n", ";") or token.text == "," and not (
                words and words[0].text in _OPENING)):
            if words:
                comment = next((w.text for w in words if w.kind == "comment"), "")
                written = _joined(w for w in words if w.kind != "comment")
                lines += [(written, comment)] if written else []
                words = []
            if token.text == "\n":
                first = len(lines)
        else:
            words.append(token)
    return lines


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
        depth += _opened(line)
        if depth:
            body.append((line, said))
        elif said and body:
            body[-1] = (body[-1][0], body[-1][1] or said)
    return body, k


def _branches(body: list[tuple[str, str]], where: str
              ) -> tuple[tuple[Tree | None, tuple[Statement, ...]], ...]:
    """What an ``if`` does, by conditions; nothing where one of these is not understood."""
    found: list[tuple[Tree | None, str, list[tuple[str, str]]]] = []
    depth = 0  # of what is opened within a branch
    for line, comment in body:
        word = _word(line)
        if not found or not depth and word in ("elseif", "else"):
            try:
                condition, said, line = _condition(line[len(word):], word, where)
            except NotUnderstood:
                return ()
            found.append((condition, said, []))
        depth += _opened(line)
        if line:
            found[-1][2].append((line, comment))
    return tuple((condition, tuple(
        replace(s, comment=s.comment or said) if isinstance(s, Assign) else s
        for s in _statements(lines, where))) for condition, said, lines in found)


def _condition(text: str, word: str, where: str) -> tuple[Tree | None, str, str]:
    """The condition behind ``if`` or ``elseif``, how a comment tells it, and what follows."""
    if word == "else":
        return None, "otherwise", text.lstrip(" ,")
    given = tokens(text.strip(), where)
    parser = Parser(given, where)
    tree = parser.expression()
    return (tree, f"as {_joined(given[: parser.at])}", _joined(given[parser.at:]).lstrip(" ,"))


def _simple(line: str, comment: str, where: str) -> list[Statement]:
    match = re.match(r"load\b\s*\(?\s*['\"]?([^'\"\s;)]+)['\"]?", line)
    if match is not None and not re.match(r"load\s*=", line):
        return [Load(match[1].replace("\\", "/"))]
    match = re.fullmatch(r"(?:run\s*\(?\s*['\"]?)?([A-Za-z]\w*)(?:\.m)?['\"]?\s*\)?", line)
    if match is not None and "=" not in line:
        return [Run(match[1])]
    match = re.match(r"([A-Za-z][\w.()]*)\s*=(?!=)", line)
    if match is None:
        several = re.match(r"\[([\w\s,~.]+)\]\s*=(?!=)", line)  # [m, n] = …
        names = re.findall(r"[A-Za-z]\w*", several[1]) if several else []
        return [Skipped(line, tuple(names))]
    name = (re.match(r"[A-Za-z][\w.]*", match[1]) or [""])[0].rstrip(".")
    try:
        left = parse(match[1], where)
        if not isinstance(left, (Name, Field)):
            return [Skipped(line, (name,))]
        return [Assign(left, parse(line[match.end():], where), comment)]
    except NotUnderstood:
        return [Skipped(line, (name,) if name else ())]
