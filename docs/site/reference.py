"""Reference pages that are read in the repository: plain Markdown, one page a package."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from blocks import Component
from docs.site.components import laws, said_in_words, tables, variants
from docs.site.named import Said
from docs.site.traced import packages, traced

__all__ = ["reference_pages", "write_reference"]

WIDTH = 100


def reference_pages() -> Iterator[tuple[str, str]]:
    """Name and text of every page."""
    rows = []
    for package, classes in packages().items():
        name = package.removeprefix("library.")
        title = name.replace("_", " ").capitalize()
        listed = ", ".join(f"[{c.__name__}](#{c.__name__.lower()})" for c in classes)
        yield f"{name}.md", "\n\n".join([
            f"# {title}", f"`from {package} import …`: {listed}", MADE,
            *(part for cls in classes for part in _component(cls))]) + "\n"
        links = ", ".join(f"[{c.__name__}]({name}.md#{c.__name__.lower()})" for c in classes)
        rows.append(f"**[{title}]({name}.md)**: {links}")
    yield "README.md", "\n\n".join(["# Every component", MADE, *rows]) + "\n"


MADE = ("Parameters with unit, default and range, ports, and the equations of every choice. "
        "Made from the classes by `python -m docs reference`.")


def _component(cls: type[Component]) -> Iterator[str]:
    yield f"## {cls.__name__}"
    summary = (inspect.getdoc(cls) or said_in_words(cls.__name__)).split("\n\n")[0]
    yield re.sub(r"``([^`]*)``", r"`\1`", re.sub(r":\w+:`~?([^`]*)`", r"`\1`",
                                                summary.replace("\n", " ")))
    yield from (part for part in tables(cls, traced(cls)) if part.startswith("|"))
    taken: set[str] = set()
    for option, own, computed, words in variants(cls):
        head = f"With {option}:"
        for title, texts in ((head * bool(option), own), ("Computed for results:", computed)):
            found = list(laws(cls, texts, taken))
            groups = [_wrapped(said) for said in found if isinstance(said, Said)]
            if title and texts:
                yield title
            if groups:
                yield "```text\n" + "\n".join(groups) + "\n```"
            for said in found:
                if isinstance(said, str):
                    yield said.replace("typeset, and read in the class below",
                                       "shown here, and read in the class")
        if option and words and not own:
            yield head
        yield from words


def _wrapped(said: Said) -> str:
    lines = [line.replace(" == ", " = ", 1) for line in said.lines()]
    if said.parts:
        lines.insert(len(said.equations), "with")
        first = len(said.equations) + 1
        lines[first:] = [f"  {line}" for line in lines[first:]]
    return "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="      ",
                                   break_long_words=False) for line in lines)


def write_reference(folder: Path) -> None:
    """Write the pages anew."""
    folder.mkdir(exist_ok=True)
    for name, text in reference_pages():
        (folder / name).write_text(text, encoding="utf-8")
