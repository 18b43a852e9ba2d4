"""What is the text of a converted model?"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator

from .plan import ClassPlan, Part, Script, Written
from .python_text import CORE
from .words import docstring, one_line, quoted, refuse_foreign_code, yielded

__all__ = ["python_text"]

_WIDTH = 100


def python_text(script: Script, repairs: str = "") -> str:
    """A module that builds and runs the model; equal scripts give equal text.

    Parameters
    ----------
    script : Script
    repairs : str
        A module beside it, whose ``repair`` changes what was built; none where it is empty.
    """
    body = [*_stubs(script), *_classes(script), *_build(script, bool(repairs)), *_run(script)]
    text = "\n".join(body)
    values = list(_values(script))
    imports = _imports(script, f"{text}\n" + "\n".join(values))
    own = ["", f"from {repairs} import repair"] if repairs else []
    head = [*docstring(_title(script), _WIDTH, ""), "", *imports, *own, ""]
    if values:
        head += [*values, ""]
    homes = {part.home for plan in (*script.classes, script.root)
             for part in plan.parts}
    return refuse_foreign_code("\n".join([*head, text]).rstrip() + "\n", script.source,
                               {*homes, repairs})


def _title(script: Script) -> Iterator[str]:
    release = f", {script.release}" if script.release else ""
    yield f"Converted from {script.source}{release}."
    for paragraphs in (dict.fromkeys(script.remarks), script.root.notes):
        yield from ("", *paragraphs) if paragraphs else ()


def _imports(script: Script, text: str) -> list[str]:
    used = _names(text)
    core = [name for name in CORE if name in used]
    homes: dict[str, set[str]] = {}
    for plan in (*script.classes, script.root):
        for part in plan.parts:
            if part.home:
                homes.setdefault(part.home, set()).add(part.component.rpartition(".")[2])
    for ports in [*(p.ports for p in script.classes), *(s.ports for s in script.stubs)]:
        for port in ports:
            if port.kind == "Port":
                homes.setdefault(f"library.{port.argument}", set()).add(port.argument)
    lines = ["import numpy as np", ""] if "np" in used else []
    lines += list(_import("blocks", core))
    for home in sorted(homes):
        lines += _import(home, homes[home])
    return lines


def _names(text: str) -> set[str]:
    """The names that a text uses; none of one that is no Python, which is refused as a whole."""
    try:
        return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    except (SyntaxError, ValueError):
        return set()


def _import(home: str, names: Iterable[str]) -> Iterator[str]:
    ordered = sorted(names, key=lambda n: (not n[0].isupper(), n))
    line = f"from {home} import {', '.join(ordered)}"
    if len(line) <= _WIDTH:
        yield line
    else:
        yield f"from {home} import ("
        yield from (f"    {name}," for name in ordered)
        yield ")"


def _values(script: Script) -> Iterator[str]:
    source = None
    for name, text, comment, where in script.values:
        if where != source:
            yield f"# values: {one_line(where)}"
            source = where
        line, said = f"{name} = {text}", f"# {one_line(comment)}" if comment else ""
        if said and len(f"{line}  {said}") > _WIDTH:
            yield said
            said = ""
        yield from _wrapped(f"{line}  {said}".rstrip() if said else line)


def _wrapped(line: str, indent: str = "    ") -> Iterator[str]:
    if len(line) <= _WIDTH or not {"[", "("} & {*line} or re.search(r'"[^"]* [^"]*"', line):
        yield line
        return
    lines = textwrap.wrap(line, _WIDTH, subsequent_indent=indent, break_long_words=False,
                          break_on_hyphens=False)
    yield from lines if _is_python("\n".join(lines)) else [line]


def _is_python(text: str) -> bool:
    """Whether a line is one still where it was broken, or broken outside of all brackets."""
    try:
        return len(ast.parse(textwrap.dedent(text)).body) == 1
    except (SyntaxError, ValueError):
        return False


def _stubs(script: Script) -> Iterator[str]:
    for stub in script.stubs:
        yield from ("", f"class {stub.name}(Component):")
        yield from docstring(stub.doc.split("\n"), _WIDTH)
        yield ""
        if stub.ports or stub.parameters:
            yield from (f"    {port.name} = {port.text}" for port in stub.ports)
            for name, text in stub.parameters.items():
                yield from _call(f"    {name} = Parameter(", [text], "    ")
            yield ""
        yield "    def equations(self):"
        for equation in stub.equations:
            yield from _equation(equation)
        if not stub.equations:
            yield "        return iter(())"
        if stub.missing:
            yield ""
            yield "    def advise(self):"
            yield from yielded(stub.missing, _WIDTH)
        yield ""


def _equation(text: str) -> Iterator[str]:
    line = f"        yield {text}"
    if len(line) <= _WIDTH:
        yield line
        return
    left, _, right = text.partition(" == ")
    yield f"        yield {left} == ("
    yield from textwrap.wrap(right, _WIDTH, initial_indent=" " * 12, subsequent_indent=" " * 12,
                             break_long_words=False, break_on_hyphens=False)
    yield "        )"


def _classes(script: Script) -> Iterator[str]:
    for plan in script.classes:
        yield from ("", f"class {plan.name}(Component):")
        yield from docstring([f"{plan.title}.", *(["", *plan.notes] if plan.notes else [])], _WIDTH)
        yield ""
        if plan.ports:
            yield from (f"    {port.name} = {port.text}{_comment(port.original)}"
                        for port in plan.ports)
            yield ""
        yield "    def compose(self):"
        yield from _content(plan, "self") or ["        pass"]
        yield ""


def _content(plan: ClassPlan, owner: str) -> list[str]:
    indent = "        " if owner == "self" else "    "
    lines = [line for part in plan.parts for line in _part(part, owner, indent)]
    if plan.connections and lines:
        lines.append("")
    for texts in plan.connections:
        lines += _call(f"{indent}{owner}.connect(", texts, indent)
    return lines


def _part(part: Part, owner: str, indent: str) -> Iterator[str]:
    name = part.component.rpartition(".")[2]
    given = [f"{keyword}={text}" for keyword, text in part.keywords.items()]
    comment = _comment(part.original if part.original != part.name else "")
    line = f"{indent}{owner}.{part.name} = {name}({', '.join(given)}){comment}"
    if len(line) <= _WIDTH:
        yield line
        return
    if comment:
        yield f"{indent}{comment.strip()}"
    yield from _call(f"{indent}{owner}.{part.name} = {name}(", given, indent)


def _comment(original: str) -> str:
    """The name in the diagram, behind a line."""
    return f"  # {one_line(original)}" if one_line(original) else ""


def _call(head: str, given: list[str], indent: str) -> list[str]:
    whole = f"{head}{', '.join(given)})"
    if len(whole) <= _WIDTH:
        return [whole]
    inner = f"{indent}    "
    return [head, *(line for text in given for line in _wrapped(f"{inner}{text},", f"{inner}    ")),
            f"{indent})"]


def _build(script: Script, repaired: bool) -> Iterator[str]:
    yield from ("", "def build() -> Model:")
    yield from docstring([f"The model {script.title}."], _WIDTH)
    yield f"    model = Model({quoted(script.title)})"
    yield from _content(script.root, "model")
    yield "    return repair(model)" if repaired else "    return model"
    yield ""


def _run(script: Script) -> Iterator[str]:
    stop, step, tolerance = (script.times.get(word) for word in ("StopTime", "MaxStep", "RelTol"))
    shown, tenth = f'"{_of_the_endless(step)} s"', f'"{float(_of_the_endless(step)) / 10:.6g} s"'
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


def _of_the_endless(step: Written | None) -> str:
    """How much of a model without an end is shown: 10 s, or a thousand of its largest steps."""
    return "10" if step is None else f"{min(10.0, 1000 * step.value):.6g}"
