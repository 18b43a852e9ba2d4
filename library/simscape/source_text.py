"""What is the Python class of a component source?"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from blocks import FileError, quantity

from .mapping import DOMAINS, counterpart_of, keyword_of
from .matlab import (
    Apply,
    Binary,
    Field,
    Matrix,
    Name,
    NotUnderstood,
    Number,
    Text,
    Transposed,
    Tree,
    Unary,
)
from .python_text import class_name, number_text
from .source import (
    Assertion,
    Choice,
    Declared,
    Equal,
    Let,
    Source,
    Stated,
    fields,
    pair,
    read_source,
)
from .units import unit_here

__all__ = ["source_text"]

_FUNCTIONS = {
    "sqrt": "sqrt", "abs": "abs_", "exp": "exp", "log": "log", "sin": "sin", "cos": "cos",
    "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "max": "maximum", "min": "minimum",
    "sign": "sign", "mod": "mod", "floor": "floor",
}  # fmt: skip
_STRENGTH = {"||": 1, "&&": 2, "|": 1, "&": 2, "<": 5, "<=": 5, ">": 5, ">=": 5, "==": 5, "~=": 5,
             "+": 6, "-": 6, "*": 7, ".*": 7, "/": 7, "./": 7, "^": 9, ".^": 9}  # fmt: skip
_SIGNS = {"||": "|", "&&": "&", ".*": "*", "./": "/", "^": "**", ".^": "**", "~=": "!="}


def source_text(path: str | Path) -> str:
    """The Python module of an ``.ssc`` file; domains of its folder that it uses stand in it.

    Raises
    ------
    FileError
        For a file that cannot be read, or whose domain or base is missing.
    NotUnderstood
        Naming file and line.
    """
    path = Path(path)
    source = _read(path)
    if source.form == "function":
        raise FileError(str(path), "it is a function, not a component.", "Give a component or "
                        "a domain.", code="simscape.kind")
    parts: list[str] = []
    writer = _Writer(source, path)
    if source.form == "domain":
        parts.append(_domain(source))
    else:
        body = "\n".join(writer.text())
        parts += [*(_domain(found) for found in writer.own_domains.values()), body]
    text = "\n\n\n".join(parts)
    head = [f'"""Converted from {path.name}."""', "", *_imports(text, writer), "", "", ""]
    lines = [part for line in text.strip("\n").split("\n") for part in _wrapped(line)]
    return "\n".join(head) + "\n".join(lines) + "\n"


def _wrapped(line: str) -> list[str]:
    """A long line in several, where brackets allow it; words for people stay in one."""
    if len(line) <= 100 or "(" not in line:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    code, sign, doc = line.strip().partition(', doc="')
    lines = textwrap.wrap(code + sign[:1], 100, initial_indent=indent,
                          subsequent_indent=f"{indent}    ", break_long_words=False,
                          break_on_hyphens=False)
    if sign:
        words = textwrap.shorten(doc.rstrip('")'), 84 - len(indent), placeholder=" …")
        lines.append(f'{indent}    doc="{words}")')
    return lines


def _read(path: Path) -> Source:
    try:
        text = path.read_bytes()[: 1 << 22].decode("utf-8", "replace")
    except OSError as error:
        raise FileError(str(path), f"it cannot be read: {error.strerror or error}.",
                        "Give the path of an .ssc file.", code="simscape.file") from error
    return read_source(text, path.name)


def _imports(text: str, writer: _Writer) -> list[str]:
    names = ["Component", "Domain", "Input", "Option", "Output", "Parameter", "Port", "Target",
             "Variable", "der", "interpolate", "quantity", "require", "time", "where",
             *_FUNCTIONS.values()]  # fmt: skip
    code = re.sub(r'""".*?"""|"[^"\n]*"', "", text, flags=re.S)
    words = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", code))
    used = [n for n in sorted(set(names), key=lambda n: (not n[0].isupper(), n)) if n in words]
    lines = [f"from blocks import {', '.join(used)}"]
    if len(lines[0]) > 100:
        lines = ["from blocks import (", *(f"    {n}," for n in used), ")"]
    for home in sorted(writer.homes):
        lines.append(f"from {home} import {', '.join(sorted(writer.homes[home]))}")
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
        values = ", ".join(f'"{k}": "{_number(v)} {unit_here(u)}"'.replace(' "', '"').strip()
                           for k, (v, u) in shared.items())
        written.append(f"parameters={{{values}}}")
    lines = [f'{source.name} = Domain(', f'    "{source.name}",']
    lines += [f"    {text}," for text in written]
    lines += [f"    power=lambda port: {power},", ")"]
    return "\n".join(lines)


def _number(tree: Tree) -> str:
    if isinstance(tree, Number):
        return number_text(tree.value, tree.text)
    if isinstance(tree, Unary) and tree.sign == "-":
        return f"-{_number(tree.of)}"
    raise NotUnderstood("", "a number is missing.")


# -- components -----------------------------------------------------------------------------------
@dataclass
class _Writer:
    source: Source
    path: Path
    homes: dict[str, set[str]] = field(default_factory=dict)  # imports by module
    own_domains: dict[str, Source] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)  # of declared names
    locals: dict[str, Tree] = field(default_factory=dict)  # names that stand for expressions
    remarks: list[str] = field(default_factory=list)
    members: set[str] = field(default_factory=set)
    gaps: set[str] = field(default_factory=set)  # ports and parts that are left out

    def of(self, section: str) -> list[Declared]:
        return self.source.sections.get(section, [])

    def text(self) -> Iterator[str]:
        self._know_names()
        if self.source.base:
            self.remarks.append(f"It extends {self.source.base}, which is not read.")
        declared = list(self._declarations())
        body = list(self._compose() if self.members else self._equations())
        yield f"class {class_name(self.source.name)}(Component):"
        yield from self._doc()
        yield ""
        yield from declared
        yield ""
        yield "    def compose(self):" if self.members else "    def equations(self):"
        yield from (f"        {line}" for line in body or ["pass"])

    def _doc(self) -> Iterator[str]:
        said = [self.source.title or self.source.name.replace("_", " "), *self.source.help.split(
            "\n"), *self.remarks]  # fmt: skip
        lines = [line for part in said if part for line in textwrap.wrap(part, 92)]
        lines = [line.replace("\\", "\\\\").replace('"""', "'''") for line in lines]
        if not lines[0].endswith("."):
            lines[0] += "."
        if len(lines) == 1:
            yield f'    """{lines[0]}"""'
            return
        yield from (f'    """{lines[0]}', "", *(f"    {line}" for line in lines[1:]), '    """')

    def _know_names(self) -> None:
        for section in ("inputs", "outputs", "parameters", "variables"):
            for declared in self.of(section):
                value = fields(declared.value).get("value", declared.value)
                found = pair(value)
                if found is not None:
                    self.units[declared.name] = unit_here(found[1], self.source.name)
                elif section == "parameters" and not isinstance(value, (Number, Field)):
                    self._keep_local(declared)
                else:
                    self.units[declared.name] = ""
        for declared in self.of("intermediates"):
            self._keep_local(declared)
        self.members = {d.name for d in self.of("components")}

    def _keep_local(self, declared: Declared) -> None:
        """A computed name; under conditions it is chosen by them."""
        value = declared.value
        for condition, holds in declared.condition:
            known = self.locals.get(declared.name)
            if known is not None:
                value = Apply(Name("where"), (condition, value, known) if holds else
                              (condition, known, value))
        self.locals[declared.name] = value

    # -- declarations --------------------------------------------------------------------
    def _declarations(self) -> Iterator[str]:
        for declared in self.of("nodes"):
            domain = self._domain_of(declared)
            if not domain:
                continue
            yield f"    {declared.name} = Port({domain}{_doc_of(declared)})"
        for section, kind in (("inputs", "Input"), ("outputs", "Output")):
            for declared in self.of(section):
                unit = self.units[declared.name]
                yield f'    {declared.name} = {kind}("{unit}"{_doc_of(declared)})'
        for declared in self.of("parameters"):
            if declared.name not in self.locals:
                yield f"    {declared.name} = {self._parameter(declared)}"
        for declared in self.of("variables"):
            if not self._is_alias(declared.name):
                yield f"    {declared.name} = {self._variable(declared)}"

    def _domain_of(self, declared: Declared) -> str:
        path = _dotted(declared.value)
        name = DOMAINS.get(path)
        if name is not None:
            self.homes.setdefault(f"library.{name}", set()).add(name)
            return name
        last = path.rpartition(".")[2]
        found = self.path.parent / f"{last}.ssc"
        if path.startswith("foundation."):
            self.gaps.add(declared.name)
            self.remarks.append(f"The port {declared.name} is left out: there is no domain {last} "
                                "here.")
            return ""
        if not found.is_file():
            raise FileError(str(self.path), f"the node {declared.name} is of the domain {path}, "
                            f"and {last}.ssc is not beside the file.",
                            "Put the domain's source beside it.", code="simscape.domain")
        self.own_domains[last] = _read(found)
        return last

    def _parameter(self, declared: Declared) -> str:
        found = pair(declared.value)
        if found is None:
            if isinstance(declared.value, Field):
                return f'Option("{declared.value.name}"{_doc_of(declared)})'
            return f"Parameter({self._expression(declared.value)}{_doc_of(declared)})"
        return f"Parameter({self._quantity(*found)}{_doc_of(declared)})"

    def _quantity(self, value: Tree, unit: str) -> str:
        here = unit_here(unit, self.source.name)
        try:
            number = _number(value)
        except NotUnderstood:
            text = self._expression(value)
            return f'quantity({text}, "{here}")'
        return f'"{number} {here}"' if here else number

    def _variable(self, declared: Declared) -> str:
        said = fields(declared.value)
        found = pair(said.get("value", declared.value))
        priority = _dotted(said["priority"]).rpartition(".")[2] if "priority" in said else "none"
        initial = self._initial(declared.name)
        if initial is not None:
            found, priority = initial, "high"
        unit = self.units[declared.name]
        text = f'Variable("{unit}"'
        if found is not None and (priority != "none" or not _is_zero(found[0])):
            try:
                text += f', "{_number(found[0])} {unit_here(found[1])}"'.rstrip(' "') + '"'
            except NotUnderstood:
                self.remarks.append(f"The start value of {declared.name} is computed there; "
                                    "give it here.")
                priority = "none"
        if priority in ("high", "low"):
            text += f', priority="{priority}"'
        return f"{text}{_doc_of(declared)})"

    def _initial(self, name: str) -> tuple[Tree, str] | None:
        """The value that an initial equation gives a variable."""
        for stated in self.source.initial:
            if isinstance(stated, Equal) and stated.left == Name(name) and isinstance(
                    stated.right, Name):
                for declared in self.of("parameters"):
                    if declared.name == stated.right.name:
                        return pair(declared.value)
        return None

    # -- laws ------------------------------------------------------------------------------
    def _equations(self) -> Iterator[str]:
        used = self._used_locals()
        for name, tree in self.locals.items():
            if name in used:
                yield f"{name} = {self._expression(tree)}"
        yield from self._balances()
        for stated in self.source.equations:
            yield from self._stated(stated)

    def _used_locals(self) -> set[str]:
        return set(self.locals)

    def _balances(self) -> Iterator[str]:
        """What branches say of the through variables of ports."""
        sums: dict[str, list[str]] = {}
        nodes = {d.name for d in self.of("nodes")}
        for branch in self.source.branches:
            for end, sign in ((branch.start, ""), (branch.end, "-")):
                if end is not None:
                    sums.setdefault(self._expression(end), []).append(f"{sign}self.{branch.name}")
        for port, terms in sums.items():
            text = terms[0] + "".join(f" - {t[1:]}" if t.startswith("-") else f" + {t}"
                                      for t in terms[1:])
            yield f"yield {port} == {text}"
        touched = {port.split(".")[1] for port in sums}
        for node in sorted(nodes - touched):
            self.remarks.append(f"Nothing is said there of what flows at {node}.")

    def _stated(self, stated: Stated) -> Iterator[str]:
        if isinstance(stated, Equal):
            yield f"yield {self._expression(stated.left)} == {self._expression(stated.right)}"
        elif isinstance(stated, Assertion):
            said = stated.message or "a condition of the component does not hold"
            yield f"yield require({self._expression(stated.condition)}, {said!r})".replace("'", '"')
        elif isinstance(stated, Let):
            self.locals |= dict(stated.names)
            for name, tree in stated.names:
                yield f"{name} = {self._expression(tree)}"
            for inner in stated.body:
                yield from self._stated(inner)
        else:
            yield from self._choice(stated)

    def _choice(self, choice: Choice) -> Iterator[str]:
        cases = [(condition, self._flat(body)) for condition, body in choice.cases]
        if len({len(equations) for _, equations in cases}) > 1 or cases[-1][0] is not None:
            raise NotUnderstood(self.source.name, "the cases of an if have unequal numbers of "
                                "equations, or there is no else.")
        first = cases[0][1]
        for k, equation in enumerate(first):
            found = [(c, _matching(eqs, equation, k)) for c, eqs in cases]
            if all(e.left == equation.left for _, e in found):
                yield (f"yield {self._expression(equation.left)} == "
                       f"{self._where([(c, self._expression(e.right)) for c, e in found])}")
            else:
                residuals = [(c, self._residual(e)) for c, e in found]
                yield f"yield {self._where(residuals)} == 0"

    def _flat(self, body: tuple[Stated, ...]) -> list[Equal]:
        out: list[Equal] = []
        for stated in body:
            if isinstance(stated, Equal):
                out.append(stated)
            elif isinstance(stated, Assertion):
                self.remarks.append(f"A condition within an if is not checked: {stated.message}")
            elif isinstance(stated, Choice):
                cases = [(c, self._flat(b)) for c, b in stated.cases]
                for k, equation in enumerate(cases[0][1]):
                    found = [(c, _matching(e, equation, k)) for c, e in cases]
                    right = found[-1][1].right
                    for condition, other in reversed(found[:-1]):
                        assert condition is not None
                        right = Apply(Name("where"), (condition, other.right, right))
                    out.append(Equal(equation.left, right))
            else:
                raise NotUnderstood(self.source.name, "let within if is not read.")
        return out

    def _where(self, cases: list[tuple[Tree | None, str]]) -> str:
        text = cases[-1][1]
        for condition, value in reversed(cases[:-1]):
            assert condition is not None
            text = f"where({self._expression(condition)}, {value}, {text})"
        return text

    def _residual(self, equation: Equal) -> str:
        """An equation as a number that is zero, for cases that speak of different things."""
        unit = self._unit(equation.left)
        left, right = self._expression(equation.left), self._expression(equation.right)
        inside = f"{left} - ({right})" if any(s in right for s in "+-") else f"{left} - {right}"
        return f'({inside}) / quantity(1, "{unit}")' if unit else inside

    def _unit(self, tree: Tree) -> str:
        if isinstance(tree, Name):
            return self.units.get(tree.name, "")
        if isinstance(tree, Binary) and tree.sign in ("*", ".*", "/", "./"):
            a, b = (quantity(1.0, self._unit(t)) for t in (tree.left, tree.right))
            made = a * b if "*" in tree.sign else a / b
            return "" if made.unitless else f"{made.units:~C}"
        if isinstance(tree, (Binary, Unary)):
            return self._unit(tree.left if isinstance(tree, Binary) else tree.of)
        found = pair(tree)
        return unit_here(found[1]) if found is not None else ""

    # -- composites --------------------------------------------------------------------------
    def _is_alias(self, name: str) -> bool:
        """Whether a variable only names one of a member's."""
        return self._aliased(name) is not None

    def _aliased(self, name: str) -> Field | None:
        for stated in self.source.equations:
            if isinstance(stated, Equal):
                for one, other in ((stated.left, stated.right), (stated.right, stated.left)):
                    if one == Name(name) and isinstance(other, Field) and \
                            _dotted(other).partition(".")[0] in self.members:
                        return other
        return None

    def _compose(self) -> Iterator[str]:
        for name, tree in self.locals.items():
            yield f"{name} = {self._expression(tree)}"
        targets: dict[str, dict[str, str]] = {}
        for declared in self.of("variables"):
            alias = self._aliased(declared.name)
            if alias is not None:
                said = fields(declared.value)
                found = pair(said.get("value", declared.value))
                member, _, variable = _dotted(alias).partition(".")
                if found is not None and "high" in _dotted(said.get("priority", Name(""))):
                    targets.setdefault(member, {})[variable] = self._quantity(*found)
                self.remarks.append(f"{declared.name} is {_dotted(alias)}.")
        for declared in self.of("components"):
            yield from self._member(declared, targets.get(declared.name, {}))
        for ports in self.source.connections:
            kept = [p for p in ports if _dotted(p).partition(".")[0] not in self.gaps]
            if len(kept) > 1:
                yield f"self.connect({', '.join(self._expression(p) for p in kept)})"
        for stated in self.source.equations:
            if not (isinstance(stated, Equal) and any(
                    isinstance(s, Name) and self._is_alias(s.name)
                    for s in (stated.left, stated.right))):
                self.remarks.append("An equation beside its parts is left out: a composite here "
                                    "has parts only.")

    def _member(self, declared: Declared, targets: Mapping[str, str]) -> Iterator[str]:
        call = declared.value
        path = _dotted(call.of if isinstance(call, Apply) else call)
        counterpart = counterpart_of(path)
        component = counterpart.component if counterpart is not None else None
        if counterpart is None or component is None:
            self.gaps.add(declared.name)
            self.remarks.append(f"Its part {declared.name} is left out: {path} has no counterpart "
                                "here.")
            return
        self.homes.setdefault(counterpart.module, set()).add(counterpart.name)
        given: dict[str, str] = {}
        for argument in call.arguments if isinstance(call, Apply) else ():
            if isinstance(argument, Binary) and argument.sign == "=":
                self._argument(argument, counterpart, component, given)
        text = ", ".join(f"{k}={v}" for k, v in {**given, **targets}.items())
        yield f"self.{declared.name} = {counterpart.name}({text})"

    def _argument(self, argument: Binary, counterpart: object, component: type,
                  given: dict[str, str]) -> None:
        from blocks import Option

        word = _dotted(argument.left)
        keyword, _ = keyword_of(counterpart, word)  # type: ignore[arg-type]
        declared = component._declared.get(keyword)  # type: ignore[attr-defined]
        if declared is None or "." in word:
            return
        if isinstance(declared, Option):
            value = argument.right
            number = value.arguments[0] if isinstance(value, Apply) else value
            written = _number(number) if isinstance(number, Number) else _dotted(number)
            choices = counterpart.choices.get(word, {})  # type: ignore[attr-defined]
            here = choices.get(written.rpartition(".")[2])
            if here is not None and here != declared.default:
                given[keyword] = f'"{here}"'
            return
        said = fields(argument.right)
        found = pair(said.get("value", argument.right))
        given[keyword] = self._quantity(*found) if found is not None else \
            self._expression(said.get("value", argument.right))

    # -- expressions ---------------------------------------------------------------------------
    def _expression(self, tree: Tree) -> str:
        return self._strong(tree)[0]

    def _strong(self, tree: Tree) -> tuple[str, int]:
        """Text, and how strongly it binds."""
        found = pair(tree)
        if found is not None:
            value = self._expression(found[0])
            unit = unit_here(found[1], self.source.name)
            return (f'quantity({value}, "{unit}")' if unit else value), 11
        if isinstance(tree, Number):
            return number_text(tree.value, tree.text), 11
        if isinstance(tree, Text):
            return repr(tree.value), 11
        if isinstance(tree, Name):
            return self._name(tree.name), 11
        if isinstance(tree, Field):
            if tree.name == "der":
                return f"der({self._expression(tree.of)})", 11
            return f"{self._expression(tree.of)}.{tree.name}", 11
        if isinstance(tree, Unary):
            inner, strength = self._strong(tree.of)
            sign = "-" if tree.sign == "-" else "~"
            return f"{sign}{inner if strength >= 8 else f'({inner})'}", 8
        if isinstance(tree, Binary) and tree.sign in _STRENGTH:
            return self._binary(tree)
        if isinstance(tree, Apply):
            return self._applied(tree), 11
        if isinstance(tree, Transposed):
            return self._strong(tree.of)
        if isinstance(tree, Matrix) and len(tree.rows) == 1 and len(tree.rows[0]) == 1:
            return self._strong(tree.rows[0][0])
        from .python_text import python_of

        return python_of(tree, self._name), 11

    def _name(self, name: str) -> str:
        if name in self.locals:
            return name
        if name in ("pi", "inf"):
            return f"np.{name}"
        if name == "time":
            return "time"
        return f"self.{name}"

    def _binary(self, tree: Binary) -> tuple[str, int]:
        own = _STRENGTH[tree.sign]
        parts = []
        for side, of in enumerate((tree.left, tree.right)):
            text, strength = self._strong(of)
            weak = strength < own or strength == own and (side == 1 or own in (5, 9)) or (
                own <= 2 and strength <= 5)
            parts.append(f"({text})" if weak else text)
        sign = _SIGNS.get(tree.sign, tree.sign)
        if sign == "==":  # of a whole number, as choices are
            return f"(abs_({parts[0]} - {parts[1]}) < 0.5)", 11
        return (f"{parts[0]}**{parts[1]}" if sign == "**" else f"{parts[0]} {sign} {parts[1]}"), own

    def _applied(self, tree: Apply) -> str:
        name = tree.of.name if isinstance(tree.of, Name) else ""
        named = {a.left.name: a.right for a in tree.arguments
                 if isinstance(a, Binary) and a.sign == "=" and isinstance(a.left, Name)}
        plain = [a for a in tree.arguments if not (isinstance(a, Binary) and a.sign == "=")]
        given = [self._expression(a) for a in plain]
        if name in ("der", "where"):
            return f"{name}({', '.join(given)})"
        if name in _FUNCTIONS:
            return f"{_FUNCTIONS[name]}({', '.join(given)})"
        if name == "log10":
            return f"(log({given[0]}) / {2.302585092994046})"
        if name == "value" and isinstance(plain[1], Text):
            return f'({given[0]} / quantity(1, "{unit_here(plain[1].value)}"))'
        if name == "tablelookup" and len(plain) == 3:
            hold = _dotted(named.get("extrapolation", Name("linear"))) == "nearest"
            return f"interpolate({given[2]}, {given[0]}, {given[1]}{', hold=True' if hold else ''})"
        if name in ("int32", "double"):
            return given[0]
        raise NotUnderstood(self.source.name, f"{name or 'a call'}(…) is not known here.")


def _matching(equations: list[Equal], like: Equal, k: int) -> Equal:
    return next((e for e in equations if e.left == like.left), equations[k])


def _dotted(tree: Tree) -> str:
    if isinstance(tree, Name):
        return tree.name
    if isinstance(tree, Field):
        return f"{_dotted(tree.of)}.{tree.name}"
    return ""


def _is_zero(tree: Tree) -> bool:
    return isinstance(tree, Number) and tree.value == 0


def _doc_of(declared: Declared) -> str:
    """The comment of a declaration without the side of a port."""
    words = declared.comment.rpartition(":")[0] if declared.comment.rpartition(":")[2].strip() in (
        "left", "right", "top", "bottom") else declared.comment
    words = words.strip().replace("\\", "").replace('"', "'")
    return f', doc="{words}"' if words else ""


