"""Which names does a model give values to, and where do these stand?

In MATLAB's order: what the base workspace is given by callbacks, by scripts that the user names and
by files of data; before these the model's own workspace; before all what the user says. Scripts
that nothing calls are not read.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..matlab.python_text import PythonNames, same_text, value_text
from ..matlab.scripts import Assign, Load, Run, Skipped, Statement, parse_script
from ..matlab.syntax import Apply, Field, NotUnderstood, Text, dotted, parse, path_tree
from ..matlab.values import Unknown, evaluate, free_names
from ..physical.mapping import imported_names
from .archive import text_of
from .diagram import Diagram
from .mat_data import file_values, workspace_values

__all__ = ["Given", "Workspace", "words_of", "workspace_of"]

_AT_LOADING, _AT_THE_START = ("PreLoadFcn", "PostLoadFcn"), ("InitFcn", "StartFcn")
OWN = "model workspace"
SCRIPT = "an .m file"


@dataclass
class Given:
    """A value of the workspace: its path in MATLAB, its text in Python and where it is from."""

    path: str
    text: str
    comment: str
    source: str


@dataclass
class Workspace:
    """Values by name."""

    folders: list[Path]
    # numbers, arrays, texts; structures are dicts
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, Given] = field(default_factory=dict)  # in the order in which they were given
    notes: list[str] = field(default_factory=list)  # what could not be read
    python: PythonNames = field(default_factory=lambda: PythonNames(  # of the script's module
        {*imported_names(), "None", "True", "False", "stop", "figure", "table"}))
    unread: dict[str, str] = field(default_factory=dict)  # names, and what is not understood
    consulted: set[str] = field(default_factory=set)  # names that something was computed from
    _written: set[str] = field(default_factory=set)  # paths that have had a line
    _running: list[str] = field(default_factory=list)

    def run(self, statements: Iterable[Statement], source: str) -> None:
        for statement in statements:
            if isinstance(statement, Assign):
                self._assign(statement, source)
            elif isinstance(statement, Load):
                name = statement.file
                found = self._find(name if "." in Path(name).name else f"{name}.mat")
                if found is None:
                    self.notes.append(f"{name} is loaded by the model but was not found.")
                else:
                    self._data(file_values, found.read_bytes(), found.name)
            elif isinstance(statement, Run):
                self._script(statement.script)
            elif (branch := self._branch(statement, source)) is not None:
                self.run(branch, source)
            else:
                for name in statement.names:
                    self._lose(name, f"{source}: {statement.text.splitlines()[0]:.60}")

    def _branch(self, statement: Skipped, source: str) -> tuple[Statement, ...] | None:
        """What an ``if`` does with these values; None where that is not known."""
        for condition, branch in statement.branches:
            try:
                value = 1.0 if condition is None else evaluate(condition, self.values, source)
            except (Unknown, NotUnderstood):
                return None
            if np.size(value) and np.all(value):
                return branch
        return () if statement.branches else None

    def _assign(self, statement: Assign, source: str) -> None:
        path, tree = dotted(statement.target), statement.value
        self.consulted.update(free_names(tree))
        if not path or self._is_property(path) or statement.if_missing and (
                self.has(path) or path in self.unread):
            return
        try:
            value = evaluate(tree, self.values, source)
        except (Unknown, NotUnderstood) as error:
            self._lose(path, f"{source}: {error.problem}")
            return
        if isinstance(tree, Apply) and isinstance(value, Mapping):  # struct('mass', 2, …)
            self._lose(path, "")
            for name, part in zip(tree.arguments[::2], tree.arguments[1::2], strict=True):
                assert isinstance(name, Text)
                self._assign(Assign(Field(statement.target, name.value), part, ""), source)
        elif isinstance(value, Mapping):
            self.give(path, copy.deepcopy(value), source)
        else:
            self._compare(path, value, source)
            self.put(path, value)
            text = same_text(tree, value, self.values, self.python.variable)
            if self.python.variable(path) in words_of(text):  # m = m / 1000
                text = value_text(value)
            self._write(path, text, statement.comment, source)
        self.unread.pop(path, None)

    def _lose(self, path: str, reason: str) -> None:
        """A value is not known any more, as a statement that is not understood changes it."""
        above, _, last = path.rpartition(".")
        of = self._value(above) if above else self.values
        if isinstance(of, dict):
            of.pop(last, None)
        for known in [p for p in self.lines if f"{p}.".startswith(f"{path}.")]:
            self._freeze(known)
        self.unread[path] = reason

    def _write(self, path: str, text: str, comment: str, source: str) -> None:
        self._freeze(path)
        self.lines[path] = Given(path, text, comment, source)
        self._written.add(path)

    def _freeze(self, path: str) -> None:
        """Take a line out; what was computed from its value keeps its own."""
        self.lines.pop(path, None)
        if path in self._written:
            name = self.python.variable(path)
            for line in self.lines.values():
                if name in words_of(line.text) and self.has(line.path):
                    line.text = value_text(self._value(line.path))

    def _value(self, path: str) -> Any:
        of: Any = self.values
        for name in path.split("."):
            of = of.get(name) if isinstance(of, Mapping) else None
        return of

    def _is_property(self, path: str) -> bool:
        """Whether a path is a property of an object, which has a value as a whole."""
        above = path.rpartition(".")[0]
        return bool(above) and (self.has(above) and not isinstance(self._value(above), dict)
                                or self._is_property(above))

    def has(self, path: str) -> bool:
        return self._value(path) is not None

    def put(self, path: str, value: Any) -> None:
        *above, last = path.split(".")
        of = self.values
        for name in above:
            if not isinstance(of.get(name), dict):
                of[name] = {}
            of = of[name]
        of[last] = value

    def give(self, path: str, value: Any, source: str) -> None:
        """Take over a value that is no text of MATLAB's."""
        for inner, number in _flat(path, value):
            self._compare(inner, number, source)
        self.put(path, value)
        for inner, number in _flat(path, value):
            self._write(inner, value_text(number), "", source)

    def _compare(self, path: str, value: Any, source: str) -> None:
        """Say where another source has given another value, which does not hold."""
        before = self.lines.get(path)
        if before is not None and before.source != source and self.has(path) and source != "given":
            old, new = value_text(self._value(path)), value_text(value)
            if old != new:
                self.notes.append(f"{path} is {old:.40} in {before.source} and {new:.40} in "
                                  f"{source}, which holds.")

    def _find(self, name: str) -> Path | None:
        """A file of this name, without regard to folders that are not there."""
        wanted = Path(name.replace("\\", "/"))
        return next((found for folder in self.folders for name in (wanted, wanted.name)
                     if (found := folder / name).is_file()
                     and found.resolve().is_relative_to(folder.resolve())), None)

    def _data(self, read: Callable[[bytes], tuple[dict[str, Any], list[str]]], content: bytes,
              source: str) -> None:
        try:
            values, unread = read(content)
        except Exception as error:  # SciPy raises many kinds for data that are not what they seem
            self.notes.append(f"{source} could not be read: {error}.")
            return
        for name, value in values.items():
            self.give(name, value, source)
        for name in unread:
            self._lose(name, f"{source}: it is no number there")

    def _script(self, name: str) -> None:
        found = self._find(f"{name}.m")
        if found is None:
            self.notes.append(f"The script {name}.m is called by the model but was not found.")
        elif name not in self._running:
            self._running.append(name)
            self.script(found)
            self._running.pop()

    def script(self, path: Path) -> None:
        self.run(parse_script(text_of(path, SCRIPT), path.name), path.name)

    def scripts_beside(self, missing: Iterable[str]) -> list[str]:
        """Scripts that nothing calls and that would give names without a value one."""
        wanted = set(missing)
        return list(dict.fromkeys(
            script.name for folder in self.folders for script in sorted(folder.glob("*.m"))
            if wanted & {dotted(s.target).partition(".")[0]
                         for s in parse_script(text_of(script, SCRIPT), script.name)
                         if isinstance(s, Assign)}))


def workspace_of(diagram: Diagram, folders: Iterable[Path], given: Mapping[str, str],
                 scripts: Iterable[Path]) -> Workspace:
    """The names a model and its user give values to.

    Scripts and data are looked for in the model's own folder, then in ``folders``. What is
    ``given`` prevails, as expressions in MATLAB's language. ``scripts`` are run after the model is
    loaded, in this order; a name alone is looked for in the folders.
    """
    space = Workspace([diagram.path.parent, *folders])
    for callback in (*_AT_LOADING, "", *_AT_THE_START):
        if callback in diagram.callbacks:
            space.run(parse_script(diagram.callbacks[callback], callback), callback)
        for script in () if callback else scripts:  # those of the user, once it is loaded
            space.script(script if script.is_file() else space._find(str(script)) or script)
    own = diagram.workspace
    if own.get("WSMATLABCode"):
        space.run(parse_script(own["WSMATLABCode"], OWN), OWN)
    elif own.get("WSSourceFileName"):
        name = own["WSSourceFileName"]
        space.run([Load(name)] if name.endswith(".mat") else [Run(Path(name).stem)], OWN)
    elif diagram.workspace_data:
        space._data(workspace_values, diagram.workspace_data, OWN)
    for path, text in given.items():
        tree = parse(text, f"--set {path}")
        missing = [name for name in free_names(tree) if name not in space.values]
        if missing:
            raise Unknown(f"--set {path}", f"{missing[0]} has no value.", "Give a number.",
                          name=missing[0])
        space.run([Assign(path_tree(path), tree, "")], "given")
    return space


def words_of(text: str) -> set[str]:
    """The names in a Python text."""
    return set(re.findall(r"[A-Za-z_]\w*", text))


def _flat(path: str, value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(f"{path}.{name}", inner)
    else:
        yield path, value
