"""The page of a component, made from its class."""

from __future__ import annotations

import csv
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from blocks import BlocksError, Component, Option, Replaceable
from blocks.language.documentation import Documentation
from docs.site.equations import wrapped
from docs.site.named import Said, named, tree_of
from docs.site.signs import directions, picture
from docs.site.traced import Traced, packages, traced
from docs.site.words import markdown

__all__ = ["component_page", "domain_page", "laws", "other_words", "page_of", "said_in_words",
           "table", "tables", "variants"]  # fmt: skip

ROOT = Path(__file__).resolve().parents[2]
LONGEST_LEFT = 40  # characters on the left of an equation that are still its name
LONGEST_TYPESET = 2000  # characters of an equation, before its parts are named
BOUNDS = re.compile(r", (?=at least |at most |greater than |less than |or a function)")


def page_of(cls: type[Component]) -> str:
    """Where its page is, from the root of the site, without an ending."""
    package = next(p for p, classes in packages().items() if cls in classes)
    return f"components/{package.removeprefix('library.')}/{cls.__name__}"


def component_page(cls: type[Component]) -> str:
    """The page as MyST Markdown."""
    package = page_of(cls).split("/")[1]
    base = traced(cls)
    parts = [
        f"```{{index}} ! {said_in_words(cls.__name__)}\n```",  # main: what a search finds first
        f"# {cls.__name__}",
        f"```python\nfrom library.{package} import {cls.__name__}\n```",
        _figure(picture(base, getattr(cls, "symbol", None), cls.__name__)),
        _written(cls),
        *_equations(cls),
        *tables(cls, base),
        *_elsewhere(cls, package),
        *_golden(cls, package),
        *_examples(cls),
    ]
    return "\n\n".join(parts) + "\n"


def said_in_words(name: str) -> str:
    """``"hard stop"`` of ``"HardStop"``, ``"DC motor"`` of ``"DCMotor"``."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|\d+[A-Z]?|[a-z]+", name)
    return " ".join(w if w.isupper() else w.lower() for w in words)


def _figure(svg: str) -> str:
    return f'<figure class="signs-figure">{svg}</figure>'


# -- words ------------------------------------------------------------------------------------
def _sections(doc: str | None) -> dict[str, str]:
    """A docstring by its headings; what is above the first one is under an empty text."""
    parts = re.split(r"^(\w[\w ]+)\n-{3,}\n", inspect.cleandoc(doc or ""), flags=re.M)
    return {"": parts[0].strip(), **dict(zip(parts[1::2], parts[2::2], strict=True))}


def _written(cls: type) -> str:
    """What its author wrote, without what is told by tables below."""
    here = page_of(cls)

    def link(name: str) -> str | None:
        places = [page_of(c) for cs in packages().values() for c in cs if c.__name__ == name]
        near = [p for p in places if p.rpartition("/")[0] == here.rpartition("/")[0]]
        return f"../../{(near or places)[0]}.md" if places else None

    shown = [f"**{title}**\n\n" * bool(title) + markdown(text, link)
             for title, text in _sections(cls.__doc__).items()
             if title not in ("Keywords", "Ports and variables")]  # fmt: skip
    return "\n\n".join(shown)


# -- equations --------------------------------------------------------------------------------
def _own_laws(one: Traced) -> list[str]:
    """Equations without those that only pass values on to ports."""
    told = set()
    for a, b, through, across in directions(one):
        for quantity in one.ports[a].through:
            told |= {f"{a}.{quantity} == {through}", f"{b}.{quantity} == -{through}"}
        for quantity in one.ports[a].across:
            told.add(f"{across} == {a}.{quantity} - {b}.{quantity}")
    return [law for law in one.laws if law not in told]


def _typeset(said: Said) -> str:
    rows = [f'<div class="equation">{wrapped(tree)}</div>' for tree in said.equations]
    rows += ['<div class="with">with</div>'] * bool(said.parts)
    rows += [f'<div class="equation">{wrapped(tree_of(name))} <math><mo>=</mo></math> '
             f"{wrapped(tree)}</div>" for name, tree in said.parts]  # fmt: skip
    return f'<div class="equations">{"".join(rows)}</div>'


def laws(cls: type[Component], texts: list[str], taken: set[str]) -> Iterator[Said | str]:
    """Equations that can be read, and a word about those that cannot.

    The letters that they give are added to ``taken``.
    """
    taken |= {name for name in dir(cls) if len(name) < 3} | set(
        re.findall(r"(?<![\w'])[a-z](?![\w'])", inspect.getdoc(cls) or "")) - {"a"}  # fmt: skip
    rows = _rows_of_numbers(texts)
    texts = [text for text in texts if not any(text in row for row in rows.values())]
    shown = [text for text in texts if len(text) < LONGEST_TYPESET]
    hidden = [text for text in texts if text not in shown]
    together = named(shown, taken)
    for group in [shown] if together.readable else [[text] for text in shown]:
        said = named(group, taken)
        if said.readable and group:
            taken |= {name for name, _ in said.parts}
            yield said
        hidden += group * (not said.readable)
    if rows:
        said_of = ", ".join(f"`{stem}` ({len(row)})" for stem, row in rows.items())
        yield f"Rows of numbers, how many in brackets: {said_of}."
    if hidden:
        left = [text.split(" == ")[0] for text in hidden]
        alone = [f"`{name}`" for name in left if len(name) <= LONGEST_LEFT]
        told = ["the equation of " + ", ".join(alone)] * bool(alone)
        more = len(left) - len(alone)
        several = f"{more} equation{'s' * (more > 1)} with more than a name on the left"
        told += [several] * bool(more)
        yield f"Too long to be typeset, and read in the class below: {' and '.join(told)}."


def _rows_of_numbers(texts: list[str]) -> dict[str, list[str]]:
    """Numbered quantities that are given numbers, such as coefficients, by their common name."""
    found: dict[str, list[str]] = {}
    for text in texts:
        row = re.fullmatch(r"([\w.]+?)(_\d+)+ == -?[\d.]+(e[-+]?\d+)?", text)
        if row is not None:
            found.setdefault(row[1], []).append(text)
    return {stem: row for stem, row in found.items() if len(row) > 2}


def _held(one: Traced) -> Iterator[str]:
    for kind, effort, flow, gap in one.held:
        if gap:
            yield (f"`{effort}` is never negative and presses only while the gap `{gap}` is "
                   f"closed, with the rate `{flow}`; the gap is never negative either.")
        elif kind != "friction":
            yield (f"`{effort}` is set-valued: it conducts and blocks ({kind}), with the rate "
                   f"`{flow}`.")


def variants(cls: type[Component]) -> Iterator[tuple[str, list[str], list[str], list[str]]]:
    """Under which option, laws, computed values and words, the default ones first."""
    base = traced(cls)
    chosen = [(name, getattr(cls(), name)) for name, *_ in _options_with_laws(cls)]
    default = ", ".join(f"`{name}={value!r}`" for name, value in dict(chosen).items())
    words = list(_held(base))
    yield f"{default} (default)" * bool(default), _own_laws(base), base.computed, words
    shown = {*base.laws, *base.computed}
    for name, choice, other in _choices(cls):
        new = [law for law in _own_laws(other) if law not in shown]
        told = [line for line in _held(other) if line not in words]
        if new or told:
            yield f"`{name}={choice!r}`", new, [], told


def _options_with_laws(cls: type[Component]) -> Iterator[tuple[str, Any]]:
    """Options some choice of which changes the equations."""
    shown = {*traced(cls).laws}
    seen: set[str] = set()
    for name, choice, other in _choices(cls):
        if name not in seen and not shown >= {*_own_laws(other)}:
            seen.add(name)
            yield name, choice


def _equations(cls: type[Component]) -> Iterator[str]:
    yield "## Equations"
    long = False
    taken: set[str] = set()
    for option, own, computed, words in variants(cls):
        if option:
            yield f"With {option}:"
        for title, texts in (("", own), ("Computed for results:", computed)):
            if title and texts:
                yield title
            for said in laws(cls, texts, taken):
                long |= isinstance(said, str)
                yield said if isinstance(said, str) else _typeset(said)
        yield from words
    yield from _source(cls, long)


def _choices(cls: type[Component]) -> Iterator[tuple[str, Any, Traced]]:
    """Equations for every choice of every option that is not the default."""
    for name in dir(cls):
        option = inspect.getattr_static(cls, name)
        if not isinstance(option, Option) or name == "thermal_port":  # the words say enough
            continue
        listed = option.named if isinstance(option, Replaceable) else option.choices
        choices = (True, False) if isinstance(option.default, bool) else listed or ()
        for choice in choices:
            if choice != option.default:
                try:
                    yield name, choice, traced(cls, **{name: choice})
                except BlocksError:  # a choice that needs more than a name
                    continue


def _source(cls: type[Component], shown: bool) -> Iterator[str]:
    """The class's own text, shown at once where an equation is too long to be typeset."""
    for method in ("equations", "compose"):
        function = getattr(cls, method)
        if function is not getattr(Component, method):
            code = textwrap.dedent(inspect.getsource(function)).rstrip()
            yield (f"<details{' open' * shown}><summary>What the class says</summary>\n\n"
                   f"```python\n{code}\n```\n\n</details>")  # fmt: skip


# -- tables -----------------------------------------------------------------------------------
def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ").replace("<", "&lt;")


def table(head: list[str], rows: list[list[str]]) -> str:
    """Rows as a table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines)


def _declared(text: str) -> Iterator[tuple[str, str, str]]:
    """Name, kind and meaning of every line of a section of ``help()``."""
    for match in re.finditer(r"^(\w+) : (.*)\n?((?:^ {4}.*\n?)*)", text, re.M):
        yield match[1], match[2], " ".join(match[3].split())


def _told(cls: type[Component], section: str) -> Iterator[tuple[str, str, str]]:
    """What a section of ``help()`` declares, and after it what only one choice of an option has."""
    own = list(_declared(_sections(cls.__doc__).get(section, "")))
    yield from own
    told: dict[tuple[str, str, str], list[str]] = {}  # under which choices
    for doc, choice in _docs_of_choices(cls):
        for row in _declared(_sections(doc).get(section, "")):
            if row[0] not in {name for name, *_ in own}:
                told.setdefault(row, []).append(choice)
    alike = groupby(told.items(), lambda item: (
        item[0][0].rstrip("0123456789"), item[0][1:], item[1]))
    for (_, (kind, words), choices), rows in alike:
        names = [row[0] for row, _ in rows]
        yield ("` … `".join(dict.fromkeys([names[0], names[-1]])), kind,
               f"{words} With {', '.join(choices)}.")


def _docs_of_choices(cls: type[Component]) -> Iterator[tuple[str, str]]:
    for name in dir(cls):
        option = inspect.getattr_static(cls, name)
        for choice in (option.named or () if isinstance(option, Replaceable) else ()):
            one = Documentation("").__get__(None, cls(**{name: choice}))  # type: ignore[arg-type]
            yield one or "", f"`{name}={choice!r}`"


def tables(cls: type[Component], base: Traced) -> Iterator[str]:
    """Options, parameters, initial targets, ports and variables."""
    options, parameters, targets = [], [], []
    for name, kind, doc in _told(cls, "Keywords"):
        if name == "count":
            continue
        if ", initial target " in kind:
            unit, target = kind.split(", initial target ")
            value, priority = target.rstrip(")").rsplit(" (", 1)
            targets.append([f"`{name}`", unit, value, priority, doc])
            continue
        what, _, rest = kind.partition(", default ")
        default, *rules = BOUNDS.split(rest)
        row = [f"`{name}`", _cell(what), f"`{default}`", ", ".join(rules), doc]
        if isinstance(inspect.getattr_static(cls, name, None), Option):
            options.append([row[0], row[1].replace("'", "`"), row[2], doc])
        else:
            parameters.append(row)
    if options:
        yield "## Options"
        yield table(["option", "choices", "default", "meaning"], options)
    if parameters:
        yield "## Parameters"
        yield table(["parameter", "unit", "default", "allowed", "meaning"], parameters)
    if targets:
        yield "## Initial targets"
        yield table(["variable", "unit", "target", "priority", "meaning"], targets)
    rows = [[f"`{n}`", _cell(kind), doc]
            for n, kind, doc in _told(cls, "Ports and variables")]
    if rows:
        yield "## Ports and variables"
        yield table(["name", "what", "meaning"], rows)
        yield from (f"*{domain}*: {domain.doc}" for domain in
                    dict.fromkeys(base.ports.values()) if domain.doc)  # fmt: skip


# -- other tools ------------------------------------------------------------------------------
@cache
def other_words() -> list[dict[str, str]]:
    """Rows of what other tools call components and parameters."""
    lines = (ROOT / "library" / "other_words.csv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def _elsewhere(cls: type[Component], package: str) -> Iterator[str]:
    mine = [r for r in other_words() if r["component"] == f"{package}.{cls.__name__}" and r["tool"]]
    if not mine:
        return
    yield "## In other tools"
    rows = []
    for row in mine:
        here = f"`{row['here']}`" if row["here"] else "" if row["word"] else f"`{cls.__name__}`"
        rows.append([row["tool"], row["block"], f"`{row['word']}`" if row["word"] else "", here,
                     _cell(row["note"] or "")])  # fmt: skip
    yield table(["tool", "block", "parameter", "here", "note"], rows)


# -- what is checked --------------------------------------------------------------------------
@cache
def _checked() -> list[tuple[str, str, list[str], list[str]]]:
    """Tables of the pages about components: page, name in the first cell, head, rest of the row."""
    rows = []
    for page in sorted((ROOT / "docs").glob("components_*.md")):
        head: list[str] = []
        name = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if not line.startswith("|"):
                head = []
                continue
            cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not head:
                head = cells
            elif not set(line) <= set("|-: "):
                name = cells[0] or name
                rows.append((page.stem, name, head, cells))
    return rows


def _golden(cls: type[Component], package: str) -> Iterator[str]:
    word = re.compile(rf"`{cls.__name__}(\(.*?\))?`")
    found = [(page, head, cells) for page, name, head, cells in _checked() if word.search(name)
             and "error" in head]  # fmt: skip
    if not found:
        return
    yield "## What is checked, and how well it holds"
    page, head, _ = found[0]
    yield table(head, [cells for _, h, cells in found if h == head])
    yield f"How this was measured: [{page.replace('_', ' ')}](../../{page}.md)."


@cache
def _example_texts() -> dict[str, str]:
    return {f.stem: f.read_text(encoding="utf-8")
            for f in sorted((ROOT / "examples").glob("[a-z]*.py"))}  # fmt: skip


def _examples(cls: type[Component]) -> Iterator[str]:
    made = re.compile(rf"\b{cls.__name__}\(")
    found = [name for name, text in _example_texts().items() if made.search(text)]
    if found:
        yield "## Examples"
        yield "\n".join(f"- [{name.replace('_', ' ')}](../../gallery/{name}.md)" for name in found)


def domain_page(package: str) -> str:
    """All components of a package, with their symbols."""
    name = package.removeprefix("library.")
    cards = []
    for cls in packages()[package]:
        summary = (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ")
        svg = picture(traced(cls), getattr(cls, "symbol", None), cls.__name__)
        cards.append(f'<a class="card-link" href="{name}/{cls.__name__}.html"><span>{svg}</span>'
                     f"<b>{cls.__name__}</b><small>{escape(summary)}</small></a>")  # fmt: skip
    listed = "\n".join(f"{name}/{cls.__name__}" for cls in packages()[package])
    checks = [p for p in (ROOT / "docs").glob("components_*.md") if p.stem.endswith(f"_{name}")]
    more = f"\n\nHow all of them are checked: [{name}](../{checks[0].stem}.md)." if checks else ""
    title = name.replace("_", " ").capitalize()
    return (f"# {title}\n\n`{package}`{more}\n\n<div class=\"cards\">{''.join(cards)}</div>\n\n"
            f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{listed}\n```\n")
