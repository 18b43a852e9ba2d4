"""What is the text of a converted model?"""

from __future__ import annotations

import ast
import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

from ..matlab.python_text import CORE, imports, qualified
from ..matlab.words import WIDTH, docstring, one_line, quoted, refuse_foreign_code, wrapped, yielded
from .plan import ClassPlan, Script

__all__ = ["python_text"]

Homes: TypeAlias = dict[str, dict[str, str]]  # by module: names, and what they are called here


def python_text(script: Script, repairs: str = "") -> str:
    """A module that builds and runs the model; equal scripts give equal text.

    ``repairs`` is a module beside it, whose ``repair`` changes what was built, if any.
    """
    homes = _homes(script)
    build = ["", "def build() -> Model:", *docstring([f"The model {script.title}."]),
             f"    model = Model({quoted(script.title)})",
             *_content(script.root, "model", homes),
             "    return repair(model)" if repairs else "    return model", ""]
    body = [*_stubs(script), *_classes(script, homes), *build, *_run(script)]
    text = "\n".join(body)
    values = list(_values(script, _names(text)))
    used = _names(f"{text}\n" + "\n".join(values))
    own = ["", f"from {repairs} import repair"] if repairs else []
    head = [*docstring(_title(script), ""), "", *imports(used, CORE, homes), *own, ""]
    if values:
        head += [*values, ""]
    return refuse_foreign_code("\n".join([*head, text]).rstrip() + "\n", script.source,
                               {*homes, repairs})


def _title(script: Script) -> Iterator[str]:
    release = f", {script.release}" if script.release else ""
    yield f"Converted from {script.source}{release}."
    for paragraphs in (dict.fromkeys(script.remarks), script.root.notes):
        yield from ("", *paragraphs) if paragraphs else ()


def _homes(script: Script) -> Homes:
    """What each module gives, and what it is called here: of two of one name both say theirs."""
    found: Homes = {}
    for plan in (*script.classes, script.root):
        for part in plan.parts:
            if part.home:
                name = part.component.rpartition(".")[2]
                found.setdefault(part.home, {})[name] = name
    for ports in [*(p.ports for p in script.classes), *(s.ports for s in script.stubs)]:
        for port in ports:
            if port.kind == "Port":
                found.setdefault(f"library.{port.argument}", {})[port.argument] = port.argument
    count = Counter(name for names in found.values() for name in names)
    for home, names in found.items():
        names |= {name: qualified(home, name) for name in names if count[name] > 1}
    return found


def _names(text: str) -> set[str]:
    """The names that a text uses; none of one that is no Python, which is refused as a whole."""
    try:
        return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)
                and isinstance(node.ctx, ast.Load)}
    except (SyntaxError, ValueError):
        return set()


def _values(script: Script, used: set[str]) -> Iterator[str]:
    """The values that are used, and those that these are computed from."""
    kept = []
    for row in reversed(script.values):
        if row[0] in used:
            used |= _names(row[1])
            kept.append(row)
    source = None
    for name, text, comment, where in reversed(kept):
        if where != source:
            yield from _above(f"values: {where}")
            source = where
        yield from _told(wrapped(f"{name} = {text}", "    "), comment)


def _told(lines: list[str], comment: str, indent: str = "") -> Iterator[str]:
    """A statement with a comment behind it, or above it where both are too long for a line."""
    said = f"  # {one_line(comment)}" if one_line(comment) else ""
    if len(lines) > 1 or len(lines[0] + said) > WIDTH:
        yield from _above(comment, indent) if said else ()
        yield from lines
    else:
        yield lines[0] + said


def _above(comment: str, indent: str = "") -> list[str]:
    return textwrap.wrap(one_line(comment), WIDTH, initial_indent=f"{indent}# ",
                         subsequent_indent=f"{indent}# ")


def _stubs(script: Script) -> Iterator[str]:
    for stub in script.stubs:
        yield from ("", f"class {stub.name}(Component):")
        yield from docstring(stub.doc.split("\n"))
        yield ""
        if stub.ports or stub.parameters:
            yield from (f"    {port.name} = {port.text}" for port in stub.ports)
            for name, text in stub.parameters.items():
                yield from _call(f"    {name} = Parameter(", [text], "    ")
            yield ""
        yield "    def equations(self):"
        for equation in stub.equations:
            left, _, right = equation.partition(" == ")
            line = f"        yield {equation}"
            yield from [line] if len(line) <= WIDTH else [f"        yield {left} == (", *wrapped(
                f"{' ' * 12}{right}", " " * 12, within=True), "        )"]
        if not stub.equations:
            yield "        return iter(())"
        if stub.missing:
            yield from ("", "    def advise(self):", *yielded(stub.missing))
        yield ""


def _classes(script: Script, homes: Homes) -> Iterator[str]:
    for plan in script.classes:
        yield from ("", f"class {plan.name}(Component):")
        yield from docstring([f"{plan.title}.", *(["", *plan.notes] if plan.notes else [])])
        yield ""
        if plan.ports:
            for port in plan.ports:
                yield from _told([f"    {port.name} = {port.text}"], port.original, "    ")
            yield ""
        yield "    def compose(self):"
        yield from _content(plan, "self", homes) or ["        pass"]
        yield ""


def _content(plan: ClassPlan, owner: str, homes: Homes) -> list[str]:
    indent = "        " if owner == "self" else "    "
    lines = list[str]()
    for part in plan.parts:
        name = part.component.rpartition(".")[2]
        name = homes.get(part.home, {}).get(name, name)
        given = [f"{keyword}={text}" for keyword, text in part.keywords.items()]
        lines += _told(_call(f"{indent}{owner}.{part.name} = {name}(", given, indent),
                       part.original if part.original != part.name else "", indent)
    if plan.connections and lines:
        lines.append("")
    for texts in plan.connections:
        lines += _call(f"{indent}{owner}.connect(", texts, indent)
    return lines


def _call(head: str, given: list[str], indent: str) -> list[str]:
    whole = f"{head}{', '.join(given)})"
    if len(whole) <= WIDTH:
        return [whole]
    inner = f"{indent}    "
    return [head, *(line for text in given
                   for line in wrapped(f"{inner}{text},", f"{inner}    ", within=True)),
            f"{indent})"]


def _run(script: Script) -> Iterator[str]:
    stop, step, tolerance = (script.times.get(word) for word in ("StopTime", "MaxStep", "RelTol"))
    # of a model without an end 10 s are shown, or a thousand of its largest steps
    most = float(f"{10.0 if step is None else min(10.0, 1000 * step.value):.6g}")
    shown, tenth = f'"{most:.6g} s"', f'"{most / 10:.6g} s"'
    if stop is not None and stop.literal:
        shown, tenth = stop.argument, f'"{stop.value / 10:.6g} s"'
    elif stop is not None:
        shown, tenth = "stop", "stop / 10"
    arguments = [shown, *(f"{keyword}={text}" for keyword, text in script.solver.items())]
    if step is not None and not script.solver:
        arguments.append(f"max_step={step.argument}")
    if tolerance is not None and tolerance.value < 1e-6 and not script.solver:
        arguments.append(f"rtol={tolerance.python}")
    yield from ("", 'if __name__ == "__main__":')
    if stop is None:
        yield (f"    # the model runs until {one_line(script.stop)}; the first {shown[1:-1]} are "
               "shown")
    elif not stop.literal:
        yield f"    stop = {stop.argument}"
    yield f"    result = build().simulate({', '.join(arguments)})"
    if script.plots:
        paths = [quoted(path) for path in script.plots]
        yield from _call("    figure = result.plot(", paths, "    ")
        picture = quoted(f"{script.title}.png")
        yield f'    figure.savefig({picture}, bbox_inches="tight")'
        yield from _call("    table = result.table(", [*paths, f"every={tenth}"], "    ")
        yield "    print(table.to_string())"
    else:
        yield "    print(result)"
