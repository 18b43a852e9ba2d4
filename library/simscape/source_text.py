"""What is the Python class of a component source?"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from blocks import FileError, quantity

from .mapping import DOMAINS
from .matlab import Name, NotUnderstood, Number, Tree, dotted
from .python_text import class_name
from .source import Declared, Equal, Source, fields, pair
from .source_expressions import FUNCTIONS, Known, number_of
from .source_files import read_component, read_file
from .source_laws import Laws
from .source_names import in_python
from .source_parts import Parts
from .units import unit_here
from .words import docstring, one_line, refuse_foreign_code

__all__ = ["SourceClass", "source_class", "source_text"]


@dataclass(frozen=True)
class SourceClass:
    """The Python module of a component source.

    Attributes
    ----------
    text : str
    remarks : list of str
        What of the source is not in it, and why.
    """

    text: str
    remarks: list[str]


def source_text(path: str | Path) -> str:
    """The Python module of an ``.ssc`` file; domains of its folder that it uses stand in it.

    Its docstrings say what of the source is not in it, and why.

    Raises
    ------
    FileError
        For a file that cannot be read, or whose domain or base is missing.
    NotUnderstood
        Naming file and line.
    """
    return source_class(path).text


def source_class(path: str | Path) -> SourceClass:
    """The same with its remarks apart.

    Raises
    ------
    FileError
        For a file that cannot be read, or whose domain or base is missing.
    NotUnderstood
        Naming file and line.
    """
    path = Path(path)
    source, called = read_component(path), dict[str, str]()
    if source.form == "component":
        source, called = in_python(source)
    if source.form == "function":
        raise FileError(str(path), "it is a function, not a component.", "Give a component or "
                        "a domain.", code="simscape.kind")
    parts: list[str] = []
    known = Known(source, path)
    known.remarks += [f"{name} is called {here} here." for name, here in called.items()]
    if source.form == "domain":
        parts.append(_domain(source))
    else:
        body = "\n".join(_Writer(known).text())
        parts += [*(_domain(found) for found in known.own_domains.values()), body]
    text = "\n\n\n".join(parts)
    head = [*docstring([f"Converted from {path.name}."], 100, ""), "", *_imports(text, known),
            "", "", ""]
    lines = [part for line in text.strip("\n").split("\n") for part in _wrapped(line)]
    whole = "\n".join(head) + "\n".join(lines) + "\n"
    return SourceClass(refuse_foreign_code(whole, path.name, known.homes),
                       list(dict.fromkeys(known.remarks)))


def _wrapped(line: str) -> list[str]:
    """A long line in several, within brackets; words for people stay in one."""
    if len(line) <= 100 or "(" not in line:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    code, sign, doc = line.strip().partition(', doc="')
    law = re.match(r"(yield |\w+ = )(?=.*\S)", code) if len(indent) > 4 else None
    if law is not None and not sign:
        inner = f"{indent}    "
        return [f"{indent}{law[1]}(", *_filled(code[law.end():], inner, inner, depth=1),
                f"{indent})"]
    lines = _filled(code + sign[:1], indent, f"{indent}    ")
    if sign:
        words = textwrap.shorten(doc.rstrip('")'), 84 - len(indent), placeholder=" …")
        lines.append(f'{indent}    doc="{words}")')
    return lines


def _filled(code: str, first: str, others: str, depth: int = 0) -> list[str]:
    """Code in lines that are broken at blanks within brackets, and nowhere in a text."""
    pieces = [first]
    for sign in re.findall(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|.', code):
        depth += (sign in ("(", "[", "{")) - (sign in (")", "]", "}"))
        if sign == " " and depth > 0:
            pieces.append("")
        else:
            pieces[-1] += sign
    lines = pieces[:1]
    for piece in pieces[1:]:
        if len(lines[-1]) + len(piece) < 100:
            lines[-1] += f" {piece}"
        else:
            lines.append(others + piece)
    return lines


def _imports(text: str, known: Known) -> list[str]:
    names = ["Component", "Discrete", "Domain", "Input", "Option", "Output", "Parameter", "Port",
             "Target", "Variable", "der", "interpolate", "interpolate_grid", "quantity", "require",
             "time", "when", "where", *FUNCTIONS.values()]  # fmt: skip
    code = re.sub(r'""".*?"""|"[^"\n]*"', "", text, flags=re.S)
    words = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*\b(?!=)", code))  # no keywords
    used = [n for n in sorted(set(names), key=lambda n: (not n[0].isupper(), n)) if n in words]
    lines = [f"from blocks import {', '.join(used)}"]
    if len(lines[0]) > 100:
        lines = ["from blocks import (", *(f"    {n}," for n in used), ")"]
    for home in sorted(known.homes):
        lines.append(f"from {home} import {', '.join(sorted(known.homes[home]))}")
    return (["import numpy as np", ""] if "np." in code else []) + lines


# -- domains ------------------------------------------------------------------------------------
def _domain(source: Source) -> str:
    across: dict[str, str] = {}
    through: dict[str, str] = {}
    powers = []
    for declared in source.sections.get("variables", []):
        found = pair(declared.value)
        unit = unit_here(found[1] if found is not None else "1", source.name) or "1"
        balanced = any(a.replace(" ", "").lower() == "balancing=true" for a in declared.attributes)
        (through if balanced else across)[declared.name] = unit
    for (a, ua), (t, ut) in zip(across.items(), through.items(), strict=False):
        if (quantity(1.0, "" if ua == "1" else ua) * quantity(1.0, "" if ut == "1" else ut)
                ).check("[power]"):
            powers.append(f"port.{a} * port.{t}")
    power = " + ".join(powers) or "0"
    written = []
    for word, units in (("across", across), ("through", through)):
        entries = ", ".join(f'"{name}": "{unit}"' for name, unit in units.items())
        written.append(f"{word}={{{entries}}}")
    shared = {d.name: found for d in source.sections.get("parameters", [])
              if (found := pair(d.value)) is not None}
    if shared:
        values = ", ".join(f'"{k}": "{number_of(v)} {unit_here(u)}"'.replace(' "', '"').strip()
                           for k, (v, u) in shared.items())
        written.append(f"parameters={{{values}}}")
    lines = [f'{source.name} = Domain(', f'    "{source.name}",']
    lines += [f"    {text}," for text in written]
    lines += [f"    power=lambda port: {power},", ")"]
    return "\n".join(lines)


# -- components -----------------------------------------------------------------------------------
@dataclass
class _Writer:
    """Writes the class of a component."""

    known: Known

    def text(self) -> Iterator[str]:
        for section in dict.fromkeys(self.known.source.skipped):
            what = "function setup, of the old form of the language," if section == "function" \
                else f"section {section}"
            self.known.remarks.append(f"Its {what} is not read.")
        declared = list(self._declarations())
        body = list(Parts(self.known).lines() if self.known.members else Laws(self.known).lines())
        yield f"class {class_name(self.known.source.name)}(Component):"
        yield from self._doc()
        yield ""
        yield from declared
        yield ""
        yield "    def compose(self):" if self.known.members else "    def equations(self):"
        yield from (f"        {line}" for line in body or ["pass"])
        yield from self._verify()

    def _verify(self) -> Iterator[str]:
        """What the values of its parameters have to be."""
        points = [d for d in self.known.of("parameters")
                  if d.name in self.known.axes.keys() - self.known.locals.keys()]
        yield from ["", "    def verify(self):"] if points else []
        for declared in points:
            exists = f"self.{declared.name} is not None and " if declared.condition else ""
            yield f"        if {exists}np.any(np.diff(self.{declared.name}.magnitude) <= 0):"
            yield f'            yield "the points {declared.name!r} must increase."'

    def _doc(self) -> Iterator[str]:
        source = self.known.source
        said = [source.title or source.name.replace("_", " "), *source.help.split("\n"),
                *dict.fromkeys(self.known.remarks)]
        first, *rest = [part for part in said if part]
        yield from docstring([first if first.endswith(".") else f"{first}.",
                              *(["", *rest] if rest else [])], 100)

    def _declarations(self) -> Iterator[str]:
        for declared in self.known.of("nodes"):
            domain = self._domain_of(declared)
            if not domain:
                continue
            yield f"    {declared.name} = Port({domain}{self._about(declared)})"
        for section, kind in (("inputs", "Input"), ("outputs", "Output")):
            for declared in self.known.of(section):
                unit = self.known.units[declared.name]
                yield f'    {declared.name} = {kind}("{unit}"{self._about(declared)})'
        for declared in self.known.of("parameters"):
            if declared.name not in self.known.locals:
                yield f"    {declared.name} = {self._parameter(declared)}"
        for declared in self.known.of("variables"):
            if not self.known.members:
                yield f"    {declared.name} = {self._variable(declared)}"

    def _about(self, declared: Declared) -> str:
        return f"{self.known.when(declared)}{_doc_of(declared)}"

    def _domain_of(self, declared: Declared) -> str:
        path = dotted(declared.value)
        name = DOMAINS.get(path)
        if name is not None:
            self.known.homes.setdefault(f"library.{name}", set()).add(name)
            return name
        last = path.rpartition(".")[2]
        found = self.known.path.parent / f"{last}.ssc"
        if not found.is_file() and path.startswith("foundation."):
            self.known.gaps.add(declared.name)
            self.known.remarks.append(f"The port {declared.name} is left out: there is no domain "
                                      f"{last} here. A {found.name} beside the file gives one.")
            return ""
        if not found.is_file():
            raise FileError(str(self.known.path), f"the node {declared.name} is of the "
                            f"domain {path}, and {last}.ssc is not beside the file.",
                            "Put the domain's source beside it.", code="simscape.domain")
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
        if found is None:
            return f"Parameter({self.known.text(declared.value)}{self._about(declared)})"
        return f"Parameter({self.known.quantity(*found)}{self._about(declared)})"

    def _variable(self, declared: Declared) -> str:
        said = fields(declared.value)
        found = pair(said.get("value", declared.value))
        priority = dotted(said["priority"]).rpartition(".")[2] if "priority" in said else "none"
        initial = self._initial(declared.name)
        if initial is not None:
            found, priority = initial, "high"
        unit = self.known.units[declared.name]
        held = any(declared.name == name for event in self.known.source.events
                   for name, _ in event.assigned)
        text = f'{"Discrete" if held else "Variable"}("{unit}"'
        if found is not None and (priority != "none" or not _is_zero(found[0])):
            try:
                text += f', "{number_of(found[0])} {unit_here(found[1])}"'.rstrip(' "') + '"'
            except NotUnderstood:
                self.known.remarks.append(f"The start value of {declared.name} is computed there; "
                                    "give it here.")
                priority = "none"
        if priority in ("high", "low"):
            text += f', priority="{priority}"'
        return f"{text}{self._about(declared)})"

    def _initial(self, name: str) -> tuple[Tree, str] | None:
        """The value that an initial equation gives a variable."""
        for stated in self.known.source.initial:
            if isinstance(stated, Equal) and stated.left == Name(name) and isinstance(
                    stated.right, Name):
                for declared in self.known.of("parameters"):
                    if declared.name == stated.right.name:
                        return pair(declared.value)
        return None


def _is_zero(tree: Tree) -> bool:
    return isinstance(tree, Number) and tree.value == 0


def _doc_of(declared: Declared) -> str:
    """The comment of a declaration without the side of a port."""
    words = declared.comment.rpartition(":")[0] if declared.comment.rpartition(":")[2].strip() in (
        "left", "right", "top", "bottom") else declared.comment
    words = one_line(words).replace("\\", "").replace('"', "'")
    return f', doc="{words}"' if words else ""
