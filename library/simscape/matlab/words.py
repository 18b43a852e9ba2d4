"""How do words of a file get into Python text without ever becoming code?

Names, notes and messages of a file are anybody's words. All of them pass here, and a text is
looked at once more as a whole before it is given away: it may hold nothing but what the writers
write.
"""

from __future__ import annotations

import ast
import io
import json
import re
import textwrap
import tokenize
from collections.abc import Iterable, Iterator
from contextlib import suppress

from .syntax import NotUnderstood

__all__ = ["WIDTH", "docstring", "one_line", "quoted", "refuse_foreign_code", "wrapped", "yielded"]

WIDTH = 100
_OPENED = {**dict.fromkeys("([{", 1), **dict.fromkeys(")]}", -1)}
_BUILTINS = {"len", "abs", "iter", "max", "min", "print", "range", "round"}


def quoted(text: str) -> str:
    """A text as a literal of Python, in double quotes."""
    return json.dumps(text, ensure_ascii=False)


def one_line(text: str) -> str:
    """A text for a comment: in one line, without signs that are not printed."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def docstring(said: Iterable[str], indent: str = "    ") -> Iterator[str]:
    """The lines of a docstring; each paragraph is wrapped, and an empty one is an empty line."""
    lines: list[str] = []
    for part in said:
        for line in part.splitlines():
            clean = one_line(line).replace("\\", "\\\\").replace('"""', "'''")
            lines += textwrap.wrap(clean, WIDTH - len(indent) - 4)
        lines += [""] if not part else []
    lines = lines or [""]
    if len(lines) == 1 and not lines[0].endswith('"') and len(lines[0]) <= WIDTH - len(indent) - 6:
        yield f'{indent}"""{lines[0]}"""'
        return
    yield f'{indent}"""{lines[0]}'
    yield from (f"{indent}{line}".rstrip() for line in lines[1:])
    yield f'{indent}"""'


def yielded(sentence: str) -> Iterator[str]:
    """A sentence that a method yields, over several lines where it is long."""
    lines = textwrap.wrap(one_line(sentence), WIDTH - 18)
    if len(lines) == 1:
        yield f"        yield {quoted(lines[0])}"
        return
    yield "        yield ("
    yield from (f"            {quoted(f'{line} ')}" for line in lines[:-1])
    yield f"            {quoted(lines[-1])}"
    yield "        )"


def wrapped(line: str, indent: str, within: bool = False) -> list[str]:
    """A long line in several, the further ones with ``indent``.

    It is broken between words in brackets, which a statement gets where it has none; anywhere
    where it stands ``within`` some as a whole.
    """
    if len(line) <= WIDTH:
        return [line]
    own = line[:len(line) - len(line.lstrip())]
    lines, depth = [own], int(within)
    for gap, word, opened in _words(line.strip()):
        if depth and (gap or lines[-1][-1:] in tuple("([{")) and lines[-1].strip() and \
                len(lines[-1] + gap + word) > WIDTH:
            lines.append(indent)
            gap = ""
        lines[-1] += gap + word
        depth += opened
    if within or max(map(len, lines)) <= WIDTH:
        return lines
    name, _, value = line.partition(" = ")
    return [f"{name} = (", *wrapped(f"{indent}{value}", indent, within=True), f"{own})"]


def _words(line: str) -> list[tuple[str, str, int]]:
    """The words of a line: the blanks before each, and how many brackets it opens in all.

    What nothing parts from the word before stands with it, but for what is in brackets, and what
    follows a colon with the colon; a long text is several words.
    """
    found: list[tuple[str, str, int]] = []
    at = 0
    with suppress(tokenize.TokenError):  # of brackets that are closed in another line
        for token in tokenize.generate_tokens(io.StringIO(line).readline):
            word = token.string
            gap, at = line[at:token.start[1]], token.end[1]
            last = found[-1][1][-1] if found else "("
            if last == ":" or not gap and last not in "([{":
                before = found.pop()
                found.append((before[0], before[1] + gap + word, before[2] + _OPENED.get(word, 0)))
            elif len(word) > WIDTH - 20 and re.fullmatch(r'"[^"\\]*"', word):
                for piece in re.findall(r".{1,60}[. ]|.{1,60}", word[1:-1]):
                    found.append((gap, f'"{piece}"', 0))
                    gap = " "
            elif word.strip():
                found.append((gap, word, _OPENED.get(word, 0)))
    return found


def refuse_foreign_code(text: str, where: str, modules: Iterable[str] = ()) -> str:
    """The text, where it is Python that holds only what the writers write.

    ``modules`` may be imported beside numpy, ``blocks`` and ``library``: those of counterparts. For
    a text that a name or note of the file has broken NotUnderstood is raised.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise NotUnderstood(where, f"a name or note in it cannot be written as Python: {error}.",
                            "Correct it in the model.", code="simscape.text") from error
    known, used = {*_BUILTINS, "__name__"}, set[str]()
    foreign = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else known).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            known.add(node.name)
        elif isinstance(node, ast.arg):
            known.add(node.arg)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            known |= {alias.asname or alias.name for alias in node.names}
            home = node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
            if home.partition(".")[0] not in ("numpy", "blocks", "library") and home not in modules:
                foreign.add(home)
        elif isinstance(node, ast.Attribute) and node.attr.startswith("__"):
            foreign.add(node.attr)
    foreign |= used - known
    if foreign:
        raise NotUnderstood(where, f"a name or note in it would become code: {min(foreign)}.",
                            "Do not open files of unknown origin.", code="simscape.text")
    return text
