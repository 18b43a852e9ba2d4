"""Which names does a model give values to, and where do these stand?

Callbacks, the model's workspace, scripts and files of data beside the model, and what the user
says; in the order in which they are read.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .diagram import Diagram
from .mapping import imported_names
from .matlab import Apply, Field, Name, NotUnderstood, Text, Tree, dotted, parse
from .matlab_scripts import Assign, Load, Run, Skipped, Statement, parse_script
from .matlab_values import Unknown, evaluate, free_names
from .python_text import PythonNames, value_text
from .same_text import same_text

__all__ = ["Given", "Workspace", "words_of", "workspace_of"]

_CALLED = ("PreLoadFcn", "PostLoadFcn", "InitFcn", "StartFcn")
_LARGEST_SCRIPT = 1 << 22


@dataclass
class Given:
    """A value of the workspace: its path in MATLAB, its text in Python and where it is from."""

    path: str
    text: str
    comment: str
    source: str


@dataclass
class Workspace:
    """Values by name.

    Attributes
    ----------
    values : dict
        Numbers, arrays, texts; structures are dicts.
    lines : dict of str to Given
        In the order in which they were given.
    notes : list of str
        What could not be read.
    """

    folders: list[Path]
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, Given] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    python: PythonNames = field(default_factory=lambda: PythonNames(  # of the script's module
        {*imported_names(), "None", "True", "False", "stop", "figure", "table"}))
    unread: dict[str, str] = field(default_factory=dict)  # names and the statements that give them
    _kept: frozenset[str] = frozenset()  # paths that a script beside the model does not change
    _written: set[str] = field(default_factory=set)  # paths that have had a line
    _running: list[str] = field(default_factory=list)

    def run(self, statements: Iterable[Statement], source: str) -> None:
        """Take over what statements assign."""
        for statement in statements:
            if isinstance(statement, Assign):
                self._assign(statement, source)
            elif isinstance(statement, Load):
                self._load(statement.file)
            elif isinstance(statement, Run):
                self._script(statement.script)
            elif (branch := self._branch(statement, source)) is not None:
                self.run(branch, source)
            else:
                for name in statement.names:
                    if name not in self._kept:
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
        if not path or path in self._kept or self._is_property(path):
            return
        if statement.if_missing and (self.has(path) or path in self.unread):
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
            self.put(path, value)
            text = same_text(tree, value, self.values, self.python.variable)
            if self.python.variable(path) in words_of(text):  # m = m / 1000
                text = value_text(value)
            self._write(Given(path, text, statement.comment, source))
        self.unread.pop(path, None)

    def _lose(self, path: str, reason: str) -> None:
        """A value is not known any more, as a statement that is not understood changes it."""
        *above, last = path.split(".")
        of: Any = self.values
        for name in above:
            of = of.get(name, {}) if isinstance(of, dict) else {}
        if isinstance(of, dict):
            of.pop(last, None)
        for known in [p for p in self.lines if f"{p}.".startswith(f"{path}.")]:
            self._freeze(known)
        self.unread[path] = reason

    def _write(self, given: Given) -> None:
        """Write a line, in place of one that stood there."""
        self._freeze(given.path)
        self.lines[given.path] = given
        self._written.add(given.path)

    def _freeze(self, path: str) -> None:
        """Take a line out; what was computed from its value keeps its own."""
        self.lines.pop(path, None)
        if path in self._written:
            name = self.python.variable(path)
            for line in self.lines.values():
                if name in words_of(line.text):
                    line.text = value_text(self._value(line.path))

    def _value(self, path: str) -> Any:
        of: Any = self.values
        for name in path.split("."):
            of = of[name]
        return of

    def _is_property(self, path: str) -> bool:
        """Whether a path is a property of an object, which has a value as a whole."""
        above = path.rpartition(".")[0]
        return bool(above) and self.has(above) and not isinstance(self._value(above), dict) or \
            bool(above) and self._is_property(above)

    def has(self, path: str) -> bool:
        of: Any = self.values
        for name in path.split("."):
            if not isinstance(of, Mapping) or name not in of:
                return False
            of = of[name]
        return True

    def put(self, path: str, value: Any) -> None:
        *above, last = path.split(".")
        of = self.values
        for name in above:
            inner = of.get(name)
            of[name] = inner = inner if isinstance(inner, dict) else {}
            of = inner
        of[last] = value

    def give(self, path: str, value: Any, source: str) -> None:
        """Take over a value that is no text of MATLAB's."""
        if path in self._kept:
            return
        self.put(path, value)
        for inner, number in _flat(path, value):
            self._write(Given(inner, value_text(number), "", source))

    def _find(self, name: str) -> Path | None:
        """A file of this name, without regard to folders that are not there."""
        wanted = Path(name.replace("\\", "/"))
        for folder in self.folders:
            for candidate in (folder / wanted, folder / wanted.name):
                inside = candidate.resolve()
                if inside.is_file() and inside.is_relative_to(folder.resolve()):
                    return candidate
        return None

    def _load(self, name: str) -> None:
        found = self._find(name if "." in Path(name).name else f"{name}.mat")
        if found is None:
            self.notes.append(f"{name} is loaded by the model but was not found.")
            return
        from scipy.io import loadmat

        try:
            content = loadmat(found, simplify_cells=True)
        except Exception as error:  # SciPy raises many kinds for files that are not what they seem
            self.notes.append(f"{found.name} could not be read: {error}.")
            return
        for key, value in content.items():
            if not key.startswith("__") and _is_value(value):
                self.give(key, _as_float(value), found.name)

    def _script(self, name: str) -> None:
        found = self._find(f"{name}.m")
        if found is None:
            self.notes.append(f"The script {name}.m is called by the model but was not found.")
        elif name not in self._running:
            self._running.append(name)
            self.run(parse_script(_text_of(found), found.name), found.name)
            self._running.pop()

    def look_beside(self, missing: Iterable[str]) -> None:
        """Look for names without a value in scripts beside the model that nothing calls."""
        wanted, self._kept = set(missing), frozenset(self.lines)
        for folder in self.folders:
            for script in sorted(folder.glob("*.m")):
                statements = parse_script(_text_of(script), script.name)
                given = {name.partition(".")[0] for s in statements for name in (
                    [dotted(s.target)] if isinstance(s, Assign) else
                    s.names if isinstance(s, Skipped) and s.branches else [])}
                if given & {name for name in wanted if name not in self.values}:
                    self.run(statements, script.name)


def workspace_of(diagram: Diagram, folders: Iterable[Path] = (),
                 given: Mapping[str, str] | None = None) -> Workspace:
    """The names a model and its user give values to.

    Parameters
    ----------
    diagram : Diagram
    folders : iterable of paths
        Where scripts and data are looked for, after the model's own folder.
    given : mapping of str to str, optional
        Values of the user's, as expressions in MATLAB's language; they prevail.
    """
    space = Workspace([diagram.path.parent, *folders])
    given = given or {}
    own = diagram.workspace
    if own.get("WSMATLABCode"):
        space.run(parse_script(own["WSMATLABCode"], "model workspace"), "model workspace")
    elif own.get("WSSourceFileName"):
        name = own["WSSourceFileName"]
        space.run([Load(name)] if name.endswith(".mat") else [Run(Path(name).stem)],
                  "model workspace")
    for callback in _CALLED:
        if callback in diagram.callbacks:
            space.run(parse_script(diagram.callbacks[callback], callback), callback)
    for path, text in given.items():
        tree = parse(text, f"--set {path}")
        missing = [name for name in free_names(tree) if name not in space.values]
        if missing:
            raise Unknown(f"--set {path}", f"{missing[0]} has no value.", "Give a number.",
                          name=missing[0])
        space.run([Assign(_target(path), tree, "")], "given")
    return space


def words_of(text: str) -> set[str]:
    """The names in a Python text."""
    return set(re.findall(r"[A-Za-z_]\w*", text))


def _target(path: str) -> Tree:
    first, *rest = path.split(".")
    tree: Tree = Name(first)
    for name in rest:
        tree = Field(tree, name)
    return tree


def _flat(path: str, value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(f"{path}.{name}", inner)
    else:
        yield path, value


def _is_value(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(value) and all(_is_value(v) for v in value.values())
    return isinstance(value, (int, float, str)) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.ndim <= 2)


def _as_float(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _as_float(v) for k, v in value.items()}
    if isinstance(value, str):
        return value
    return float(value) if np.ndim(value) == 0 else np.atleast_2d(np.asarray(value, dtype=float))


def _text_of(path: Path) -> str:
    with path.open("rb") as opened:
        return opened.read(_LARGEST_SCRIPT).decode("utf-8", "replace")
