"""What is the Python class of a component source?"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from blocks import FileError, quantity

from ..matlab.python_text import imports
from ..matlab.syntax import Name, NotUnderstood, dotted, parse
from ..matlab.words import WIDTH, docstring, one_line, refuse_foreign_code, wrapped, yielded
from ..physical.mapping import DOMAINS
from ..physical.units import unit_here
from .composites import DECLARATIONS, known_sources
from .expressions import FUNCTIONS, SourceContext, imported_as, number_of
from .files import file_of, read_file
from .laws import Laws
from .parts import Parts
from .source import Declared, Source, fields, pair
from .starts import Starts, literal, said_of

__all__ = ["SourceClass", "source_class", "source_text"]


@dataclass(frozen=True)
class SourceClass:
    """The Python module of a component source."""

    text: str
    remarks: list[str]  # what of the source is not in it, and why
    held: tuple[str, ...]  # parameters that say how many parts, ports or values there are


def source_text(path: str | Path, values: Mapping[str, str] | None = None) -> str:
    """The Python module of an ``.ssc`` file; domains of its folder that it uses stand in it.

    Its docstrings say what of the source is not in it, and why.

    Parameters
    ----------
    path : str or path
    values : mapping of str to str, optional
        Numbers of parameters that say how many parts, ports or values there are: ``{"N": "5"}``.

    Raises
    ------
    FileError
        For a file that cannot be read, or whose domain or base is missing.
    NotUnderstood
        Naming file and line.
    """
    return source_class(path, values or {}).text


def source_class(path: str | Path, values: Mapping[str, str], others: bool = False) -> SourceClass:
    """Return the class of a source and its remarks apart; it raises as :func:`source_text`.

    With ``others`` values of parameters that say something else are passed over.
    """
    path = Path(path)
    known = known_sources(path, {name: parse(text, name) for name, text in values.items()})
    own = known[-1]
    for name in () if others else values.keys() - own.held.keys():
        raise NotUnderstood(path.name, f"{name} does not say how many parts, ports or values there "
                            "are.", "Give it to the class, as any parameter.")
    if own.source.form == "domain":
        parts = [_domain(own.source)]
    else:
        classes = ["\n".join(_Writer(each).text()) for each in known]
        parts = [*(_domain(found) for found in own.own_domains.values()), *classes]
    text = "\n\n\n".join(parts)
    head = [*docstring([f"Converted from {path.name}."], ""), "", *_imports(text, own), "", "", ""]
    lines = [part for line in text.strip("\n").split("\n") for part in _wrapped(line)]
    whole = "\n".join(head) + "\n".join(lines) + "\n"
    said = [sentence if each is own else f"{each.class_name}: {sentence}"
            for each in known for sentence in (*each.remarks, *each.notes)]
    return SourceClass(refuse_foreign_code(whole, path.name, own.homes),
                       list(dict.fromkeys(said)), tuple(sorted(own.held)))


def _wrapped(line: str) -> list[str]:
    """A long line in several, within brackets; words for people stay in one."""
    if len(line) <= WIDTH:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    code, sign, doc = line.strip().partition(', doc="')
    law = re.match(r"(yield |\w+ = )(?=.*\S)", code) if len(indent) > 4 else None
    if law is not None and not sign:
        inner = f"{indent}    "
        return [f"{indent}{law[1]}(", *wrapped(f"{inner}{code[law.end():]}", inner, within=True),
                f"{indent})"]
    if not {"(", "{"} & {*line}:
        return [line]
    lines = wrapped(f"{indent}{code}{sign[:1]}", f"{indent}    ", code.startswith("parameters="))
    if sign:
        words = textwrap.shorten(doc.rstrip('")'), 84 - len(indent), placeholder=" …")
        lines.append(f'{indent}    doc="{words}")')
    return lines


def _imports(text: str, known: SourceContext) -> Iterator[str]:
    names = [*DECLARATIONS, "delayed", "der", "initially", "interpolate", "interpolate_grid",
             "quantity", "require", "time", "when", "where", *FUNCTIONS.values()]
    code = re.sub(r'""".*?"""|"(?:\\.|[^"\\\n])*"', "", text, flags=re.S)
    words = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*\b(?!=)", code))  # no keywords
    homes = {home: {name: imported_as(name, known.taken) for name in used}
             for home, used in known.homes.items()}
    return imports(words, dict.fromkeys(names), homes)


# -- domains ------------------------------------------------------------------------------------
def _domain(source: Source) -> str:
    given: dict[str, dict[str, str]] = {"across": {}, "through": {}}
    for declared in source.sections.get("variables", []):
        _, unit = pair(declared.value) or ("", "1")
        given["through" if declared.is_balanced else "across"][declared.name] = \
            unit_here(unit, source.name) or "1"
    power = " + ".join(
        f"port.{a} * port.{t}" for (a, ua), (t, ut) in zip(
            given["across"].items(), given["through"].items(), strict=False)
        if (quantity(1.0, ua) * quantity(1.0, ut)).check("[power]")) or "0"
    shared = {d.name: f"{number_of(found[0])} {unit_here(found[1])}".strip()
              for d in source.sections.get("parameters", [])
              if (found := pair(d.value)) is not None}
    given |= {"parameters": shared} if shared else {}
    written = [f"    {word}={json.dumps(of, ensure_ascii=False)}," for word, of in given.items()]
    return "\n".join([f"{source.name} = Domain(", f'    "{source.name}",', *written,
                      f"    power=lambda port: {power},", ")"])


# -- components -----------------------------------------------------------------------------------
@dataclass
class _Writer:
    known: SourceContext

    @cached_property
    def starts(self) -> Starts:
        return Starts(self.known)

    def text(self) -> Iterator[str]:
        for section in dict.fromkeys(self.known.source.skipped):
            what = "function setup, of the old form of the language," if section == "function" \
                else f"section {section}"
            self.known.remarks.append(f"Its {what} is not read.")
        declared = list(self._declarations())
        checks, warnings = list[str](), list[str]()
        if self.known.members:
            parts = Parts(self.known)
            body = list(parts.lines())
            checks, warnings = list(parts.checks(True)), list(parts.checks(False))
        else:
            body = [*Laws(self.known).lines(), *self.starts.equations()]
        yield f"class {self.known.class_name}(Component):"
        yield from self._doc()
        yield ""
        yield from declared
        for name, (unit, _) in self.known.integrals.items():
            yield f'    {name} = Variable("{unit}", "{f"0 {unit}".strip()}", priority="high")'
        yield from (f'    {name} = Discrete("s", "-1 s")' for name in self.known.instants.values())
        yield ""
        yield "    def compose(self):" if self.known.members else "    def equations(self):"
        yield from (f"        {line}" for line in body or ["pass"])
        checks += self._checks()
        warnings += [line[8:] for sentence in dict.fromkeys(self.known.remarks)
                     for line in yielded(sentence)]
        for method, lines in (("verify", checks), ("advise", warnings)):
            if lines:
                yield from ("", f"    def {method}(self):", *(f"        {line}" for line in lines))

    def _checks(self) -> Iterator[str]:
        """The points of tables increase, and what says how many there are is as it was read."""
        for name, number in self.known.held.items():
            yield f"if self.{self.known.called.get(name, name)} != {number:g}:"
            yield (f'    yield "{name} is {number:g} here, as it says how many parts, ports or '
                   f'values there are; convert the source with another: --set {name}=…"')
        for name, count in self.known.lengths.items():
            yield f"if np.size(self.{self.known.called.get(name, name)}) != {count}:"
            yield f'    yield "{name} must have {count} entries."'
        for declared in self.known.of("parameters"):
            if declared.name in self.known.axes.keys() - self.known.locals.keys():
                exists = f"self.{declared.name} is not None and " if declared.condition else ""
                yield f"if {exists}np.any(np.diff(self.{declared.name}.magnitude) <= 0):"
                yield f'    yield "the points {declared.name!r} must increase."'

    def _doc(self) -> Iterator[str]:
        source = self.known.source
        said = [source.title or source.name.replace("_", " "), *source.help.split("\n"),
                *dict.fromkeys((*self.known.remarks, *self.known.notes))]
        first, *rest = [part for part in said if part]
        yield from docstring([first if first.endswith(".") else f"{first}.",
                              *(["", *rest] if rest else [])])

    def _declarations(self) -> Iterator[str]:
        self._refuse_twice()
        for declared in self.known.of("nodes"):
            if domain := self._domain_of(declared):
                yield f"    {declared.name} = Port({domain}{self._about(declared)})"
        for section, kind in (("inputs", "Input"), ("outputs", "Output")):
            for declared in self.known.of(section):
                unit = self.known.units[declared.name]
                yield f'    {declared.name} = {kind}("{unit}"{self._about(declared)})'
        for declared in self.known.of("parameters"):
            if declared.name not in self.known.locals:
                yield f"    {declared.name} = {self._parameter(declared)}"
        if not self.known.members:
            for declared in self.known.of("variables"):
                yield f"    {declared.name} = {self._variable(declared)}"
            yield from (f"    {line}" for line in self.starts.declarations())

    def _refuse_twice(self) -> None:
        """Raise where a name is declared under two conditions, unless it is a computed one."""
        seen = set[str]()
        for section in ("nodes", "inputs", "outputs", "parameters", "variables"):
            for declared in self.known.of(section):
                if declared.name in seen - self.known.locals.keys():
                    self.known.place = declared.place
                    raise self.known.wrong(f"{declared.name} is declared twice.",
                                           "Declare it once, with a computed value if need be; "
                                           "in all branches of an if, with the same value.")
                seen.add(declared.name)

    def _about(self, declared: Declared) -> str:
        return f"{self.known.when(declared)}{_doc_of(declared)}"

    def _domain_of(self, declared: Declared) -> str:
        path = dotted(declared.value)
        name = DOMAINS.get(path)
        if name is not None:
            return self.known.imported(f"library.{name}", name)
        last = path.rpartition(".")[2]
        found = file_of(path, self.known.path)
        if not found.is_file() and path.startswith("foundation."):
            self.known.gaps.add(declared.name)
            self.known.remarks.append(f"The port {declared.name} is left out: there is no domain "
                                      f"{last} here. A {found.name} beside the file gives one.")
            return ""
        if not found.is_file():
            raise FileError(str(self.known.path), f"the node {declared.name} is of the "
                            f"domain {path}, and {found.name} is not beside the file, nor in its "
                            "package.", "Put the domain's source beside it.",
                            code="simscape.domain")
        self.known.own_domains[last] = read_file(found)
        return last

    def _parameter(self, declared: Declared) -> str:
        words = self.known.options.get(declared.name)
        if isinstance(words, bool):
            return f"Option({words}{_doc_of(declared)})"
        if words:
            default, choices = f'"{words[0]}"', ", ".join(f'"{word}"' for word in words)
            return f"Option({default}{f', ({choices})' * (len(words) > 1)}{_doc_of(declared)})"
        found = pair(declared.value)
        value = self.known.quantity(*found) if found else self.known.text(declared.value)
        return f"Parameter({value}{self._about(declared)})"

    def _variable(self, declared: Declared) -> str:
        value, priority = said_of(declared)
        number = literal(value)
        if declared.name in self.starts.numbers:
            number, priority = self.starts.numbers[declared.name], "high"
        held = self.starts.is_held(declared.name)
        text = f'{"Discrete" if held else "Variable"}("{self.known.units[declared.name]}"'
        if number is not None and (priority != "none" or float(number[0]) != 0):
            text += f', "{number[0]} {unit_here(number[1], self.known.source.name)}'.rstrip() + '"'
        if priority in ("high", "low"):
            text += f', priority="{priority}"'
        nominal = literal(fields(declared.value).get("nominal", Name("")))
        if nominal is not None:
            text += f', nominal="{nominal[0]} {unit_here(nominal[1])}'.rstrip() + '"'
        return f"{text}{self._about(declared)})"


def _doc_of(declared: Declared) -> str:
    """The comment of a declaration without the side of a port."""
    words = declared.comment.rpartition(":")[0] if declared.comment.rpartition(":")[2].strip() in (
        "left", "right", "top", "bottom") else declared.comment
    words = one_line(words).replace("\\", "").replace('"', "'")
    return f', doc="{words}"' if words else ""
