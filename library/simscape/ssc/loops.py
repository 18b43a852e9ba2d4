"""What do the loops of a component source repeat, and which numbers say how often?

Loops are written out. Parameters that say how many parts, ports or values there are keep the
numbers with which they were. Functions that other sources define are written out where they are
called, as are those of MATLAB's that signs or others say as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..matlab import syntax as ml
from ..matlab.functions import MAKERS
from ..matlab.syntax import NotUnderstood, Tree, changed, dotted, number_tree, subtrees
from ..matlab.values import Unknown, evaluate
from ..tables import content_of
from . import source as sc
from .files import enumeration_beside, read_function_file
from .source import SIZE, Branch, Choice, Conditions, Declared, Function, Let, Source, Stated, pair

__all__ = ["Loops", "written_out"]

_SAID = {name: Function(name, tuple(sorted({"a", "b"} & ml.names_in(said))), name, ((name, said),))
         for name, text in content_of("functions.json").items() for said in (ml.parse(text),)}
_SIZES = ("size", "length", "numel", "ndims")
_VALUES = {"reshape": 1, "repmat": 1, "linspace": 2, "logspace": 2}  # arguments before the sizes
_DECIDED = ("nodes", "inputs", "outputs", "variables", "branches")
_MOST = 10_000  # of what loops repeat


@dataclass
class Loops:
    """Writes the loops of a component out."""

    source: Source
    # what the composite around it, or a user, gives its parameters
    given: Mapping[str, Tree] = field(default_factory=dict)
    above: Loops | None = None  # of that composite: it evaluates what is given
    # parameters and their numbers that say how many parts, ports or values there are
    held: dict[str, float] = field(default_factory=dict)
    # how many entries parameters have that say it by their size
    lengths: dict[str, int] = field(default_factory=dict)
    place: str = ""
    _count: int = 0

    def __post_init__(self) -> None:
        self.values = {d.name: d.value for d in self.source.sections.get("parameters", ())}
        self.declared = {*self.source.names, *(
            name for part in subtrees(self.source.equations)
            if isinstance(part, Let) for name, _ in part.names)}
        # rows and columns of arrays that are declared one by one
        self.entries: dict[str, tuple[int, ...]] = {}

    def unrolled(self) -> Source:
        """The source without loops, its indices and sizes as numbers.

        NotUnderstood names file and line where it is not known how often a loop repeats.
        """
        source = self.source
        rows: dict[str, list[Any]] = {**source.sections, "branches": source.branches}
        # first what others ask the size of, then what numbers decide
        sections = {name: list(self._repeated(rows[name], name in _DECIDED)) for name in sorted(
            rows, key=lambda name: (name != "components", name not in _DECIDED))}
        branches = sections.pop("branches")
        given = self.held.keys() & self.given.keys()
        if given:
            sections["parameters"] = [
                replace(d, value=number_tree(self.held[d.name])) if d.name in given else d
                for d in sections["parameters"]]
        return replace(
            source, sections=sections, branches=branches,
            connections=list(self._repeated(source.connections)),
            events=list(self._repeated(source.events)),
            equations=self._stated(source.equations, {}), initial=self._stated(source.initial, {}))

    # -- loops ------------------------------------------------------------------------
    def _repeated(self, rows: Iterable[Any], decided: bool = False) -> Iterator[Any]:
        for row in rows:
            self.place = row.place
            for under, at in self._cases(row.condition, {}, decided):
                self._count += bool(at)
                if self._count > _MOST:
                    raise NotUnderstood(self.place, f"loops repeat more than {_MOST} lines.")
                made = self._written(replace(row, condition=()), at)
                if index := getattr(made, "index", ()):
                    place = [int(k.value) for k in index if isinstance(k, ml.Number)]
                    self.entries[made.name] = tuple(np.maximum(
                        self.entries.get(made.name, (0, 0)), [1, *place][-2:]))
                yield replace(made, condition=under)

    def _cases(self, conditions: Conditions, at: Mapping[str, float], decided: bool
               ) -> Iterator[tuple[Conditions, Mapping[str, float]]]:
        """What is left of conditions for every round of the loops among them."""
        if not conditions:
            yield (), at
            return
        (condition, holds), rest = conditions[0], conditions[1:]
        if isinstance(condition, ml.Binary) and condition.sign == "=":
            for round_ in self._rounds(condition, at):
                yield from self._cases(rest, round_, decided)
        elif (known := self._decided(condition, at, decided)) is None:
            for under, inner in self._cases(rest, at, decided):
                yield ((self._written(condition, at), holds), *under), inner
        elif known == holds:
            yield from self._cases(rest, at, decided)

    def _rounds(self, counter: ml.Binary, at: Mapping[str, float]) -> Iterator[Mapping[str, float]]:
        assert isinstance(counter.left, ml.Name)
        for number in np.ravel(self._number(counter.right, at, "how often a loop repeats")):
            yield {**at, counter.left.name: float(number)}

    def _decided(self, condition: Tree, at: Mapping[str, float],
                 decided: bool = False) -> bool | None:
        """Whether a condition on numbers that are held holds; None for another one.

        With ``decided`` it chooses which ports or variables there are, and holds them.
        """
        names = ml.names_in(condition)
        if names & at.keys():
            return bool(self._number(condition, at, "a condition in a loop"))
        value = self._known(condition, at) if decided or names and names <= self.held.keys() \
            else None
        return None if value is None else bool(np.all(value))

    def _stated(self, rows: Iterable[Stated], at: Mapping[str, float]) -> list[Stated]:
        return [made for row in rows for made in self._each(row, at)]

    def _each(self, row: Stated, at: Mapping[str, float]) -> Iterator[Stated]:
        self.place = row.place
        if isinstance(row, Let):
            names = tuple((name, self._written(tree, at)) for name, tree in row.names)
            yield replace(row, names=names, body=tuple(self._stated(row.body, at)))
        elif not isinstance(row, Choice):
            lengths = dict(self.lengths)
            yield self._written(self._asked(row) if isinstance(row, sc.Assertion) else row, at)
            if isinstance(row, sc.Assertion):
                self.lengths = lengths  # it says itself what they must be
        elif isinstance(counter := row.cases[0][0], ml.Binary) and counter.sign == "=":
            for round_ in self._rounds(counter, at):
                yield from self._stated(row.cases[0][1], round_)
        else:
            cases: list[tuple[Tree | None, tuple[Stated, ...]]] = []
            for condition, body in row.cases:
                known = condition is None or self._decided(condition, at)
                if known is not False:
                    cases.append((None if known else self._written(condition, at),
                                  tuple(self._stated(body, at))))
                if known:
                    break
            if cases and cases[0][0] is None:
                yield from cases[0][1]
            elif cases:
                yield replace(row, cases=tuple(cases))

    def _asked(self, part: Any) -> Any:
        """An assertion in which the lengths of vectors that are given are asked for."""
        if isinstance(part, ml.Apply) and part.of in (ml.Name("length"), ml.Name("numel")) and \
                len(part.arguments) == 1 and isinstance(part.arguments[0], ml.Name):
            tree = self.values.get(part.arguments[0].name, part.arguments[0])
            value, _ = pair(tree) or (tree, "")
            shape = np.shape(evaluate(value, {})) if ml.is_constant(value) else ()
            if 1 in shape and np.prod(shape) > 1:
                return replace(part, of=ml.Name(SIZE))
        return changed(part, self._asked)

    # -- expressions ---------------------------------------------------------------------
    def _written(self, part: Any, at: Mapping[str, float]) -> Any:
        """A part of the source with numbers for counters, indices and sizes."""
        if isinstance(part, ml.Name):
            return number_tree(at[part.name]) if part.name in at else part
        if isinstance(part, ml.Range):
            ends = [part.start, part.step or number_tree(1.0), part.stop]
            return ml.Range(*self._numbers(tuple(ends), at))
        if not isinstance(part, ml.Apply):
            made = changed(part, lambda each: self._written(each, at))
            if isinstance(made, (Branch, Declared)):
                made = replace(made, index=self._numbers(made.index, {}))
            return made
        name = part.of.name if isinstance(part.of, ml.Name) else ""
        if name in _SIZES and len(part.arguments) <= 2:
            size = self._known(part, at)
            if size is not None and np.size(size) == 1:
                return number_tree(float(size))
        made = changed(part, lambda each: self._written(each, at))
        if name in (*MAKERS, "reshape"):
            first = _VALUES.get(name, 0)
            return replace(made, arguments=(*made.arguments[:first],
                                            *self._numbers(made.arguments[first:], at)))
        if _root(part.of) in self.declared:
            return replace(made, arguments=self._numbers(made.arguments, at))
        return made

    def _numbers(self, trees: tuple[Tree, ...], at: Mapping[str, float]) -> tuple[Tree, ...]:
        """Indices or sizes as numbers, as far as they have values."""
        return tuple(tree if tree == ml.Name(":")
                     or isinstance(tree, ml.Binary) and tree.sign == "="
                     or (value := self._known(tree, at)) is None or np.size(value) != 1
                     else number_tree(float(value)) for tree in trees)

    def _known(self, tree: Tree, at: Mapping[str, float]) -> Any:
        try:
            return self._number(tree, at, "")
        except NotUnderstood:
            return None

    def _number(self, tree: Tree, at: Mapping[str, float], what: str) -> Any:
        """The value of an expression; the parameters that it follows from are held."""
        values = _Values(self, at)
        try:
            value = evaluate(tree, values, self.place)
        except Unknown as error:
            raise NotUnderstood(self.place, f"{what} follows from {error.name}, which has no "
                                "number there.", "Give it as a parameter without unit.") from None
        self.held |= {name: value for name, value in values.used.items() if np.size(value) == 1}
        self.lengths |= {name: int(np.size(value)) for name, value in values.used.items()
                         if np.size(value) != 1}
        return value


@dataclass
class _Values(Mapping[str, Any]):
    """Values of counters and parameters by name, evaluated when they are asked for."""

    loops: Loops
    at: Mapping[str, float]
    used: dict[str, Any] = field(default_factory=dict)
    _asked: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> Any:
        if name in self.at:
            return self.at[name]
        if name in self.loops.entries:
            return np.zeros(self.loops.entries[name])  # its size is asked for
        if name in self._asked:
            raise KeyError(name)
        self._asked.append(name)
        try:
            return self._parameter(name)
        except (Unknown, NotUnderstood):
            raise KeyError(name) from None
        finally:
            self._asked.pop()

    def _parameter(self, name: str) -> Any:
        given, above = self.loops.given, self.loops.above
        if self.loops.values[name] in (ml.Name("true"), ml.Name("false")):
            raise KeyError(name)  # an option
        number, unit = pair(tree := given.get(name, self.loops.values[name])) or (tree, "1")
        if name in given:
            self.used[name] = value = evaluate(number, {}) if above is None else \
                above._number(number, {}, name)
            return value
        value = evaluate(number, self)
        if unit != "1" and np.size(value) == 1:
            raise KeyError(name)
        if not ml.names_in(number):
            self.used[name] = value
        return value

    def __iter__(self) -> Iterator[str]:
        return iter({**self.at, **self.loops.values})

    def __len__(self) -> int:
        return len({**self.at, **self.loops.values})


def _root(tree: Tree) -> str:
    """The name that a path with indices begins with."""
    while isinstance(tree, (ml.Apply, ml.Field)):
        tree = tree.of
    return tree.name if isinstance(tree, ml.Name) else ""


# -- calls ----------------------------------------------------------------------------------------
def written_out(source: Source, path: Path) -> Source:
    """A component without calls of functions that say what others do as well.

    NotUnderstood is raised for a call that does not fit its function.
    """
    own = {*source.names, *(name for part in subtrees(source) if isinstance(part, Let)
                            for name, _ in part.names)}
    written: Source = _Calls(path, own).written(source, path.name)
    return written


@dataclass
class _Calls:
    path: Path
    own: set[str]  # names that are no functions
    known: dict[str, Function | None] = field(default_factory=dict)

    def written(self, part: Any, place: str, within: tuple[str, ...] = ()) -> Any:
        place = getattr(part, "place", "") or place
        made = changed(part, lambda each: self.written(each, place, within))
        if not isinstance(made, ml.Apply):
            return made
        if (member := self._member(made)) is not None:
            return member
        function = self._function(made)
        return made if function is None else self._result(function, made.arguments, place, within)

    def _member(self, call: ml.Apply) -> ml.Field | None:
        """``mypackage.mode(2)``: the member of an enumeration that a number says."""
        number = call.arguments[0] if len(call.arguments) == 1 else None
        if not isinstance(call.of, ml.Field) or not isinstance(number, ml.Number):
            return None
        try:
            members = enumeration_beside(dotted(call.of), self.path) or {}
        except NotUnderstood:
            return None  # a file of something else
        return next((ml.Field(call.of, name) for name, value in members.items()
                     if value == number.value), None)

    def _function(self, call: ml.Apply) -> Function | None:
        path = dotted(call.of)
        name = path.rpartition(".")[2]
        if path in self.own or not name:
            return None
        if path in _SAID:
            return _SAID[path]
        if name not in self.known:
            beside = self.path.with_name(f"{name}{self.path.suffix}")
            self.known[name] = read_function_file(beside) if beside.is_file() else None
        return self.known[name]

    def _result(self, function: Function, given: tuple[Tree, ...], place: str,
                within: tuple[str, ...]) -> Tree:
        if len(given) != len(function.inputs):
            raise NotUnderstood(place, f"{function.name}(…) takes {len(function.inputs)} values, "
                                f"but is given {len(given)}.")
        if function.name in within:
            raise NotUnderstood(place, f"the function {function.name} calls itself.")
        values = dict(zip(function.inputs, given, strict=True))
        defined = {name: self.written(tree, place, (*within, function.name))
                   for name, tree in function.definitions}

        def circle(_: str) -> None:
            raise NotUnderstood(place, f"{function.name}(…) follows from itself.")

        for name in ml.in_order(defined, circle):
            values[name] = _put_in(defined[name], values)
        return values[function.result]


def _put_in(part: Any, values: Mapping[str, Tree]) -> Any:
    """An expression with others in the place of its names."""
    if isinstance(part, ml.Name):
        return values.get(part.name, part)
    return changed(part, lambda each: _put_in(each, values))
