"""What do the loops of a component source repeat, and which numbers say how often?

Loops are written out. Parameters that say how many parts, ports or values there are keep the
numbers with which they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from . import matlab as ml
from .matlab import NotUnderstood, Tree, changed, number_tree, subtrees
from .matlab_functions import MAKERS
from .matlab_values import Unknown, evaluate
from .source import SIZE, Assertion, Branch, Choice, Conditions, Declared, Let, Source, Stated, pair

__all__ = ["Loops"]

_SIZES = ("size", "length", "numel", "ndims")
_VALUES = {"reshape": 1, "repmat": 1, "linspace": 2, "logspace": 2}  # arguments before the sizes
_DECIDED = ("nodes", "inputs", "outputs", "variables", "branches")
_MOST = 10_000  # of what loops repeat


def _order(section: str) -> tuple[bool, bool]:
    """What sections are read first: what others ask the size of, then what numbers decide."""
    return section != "components", section not in _DECIDED


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
        sections = {name: list(self._repeated(rows[name], name in _DECIDED))
                    for name in sorted(rows, key=_order)}
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
            yield replace(row, names=tuple((name, self._written(tree, at))
                                           for name, tree in row.names),
                          body=tuple(self._stated(row.body, at)))
        elif not isinstance(row, Choice):
            lengths = dict(self.lengths)
            yield self._written(self._asked(row) if isinstance(row, Assertion) else row, at)
            if isinstance(row, Assertion):
                self.lengths = lengths  # it says itself what they must be
        elif isinstance(counter := row.cases[0][0], ml.Binary) and counter.sign == "=":
            for round_ in self._rounds(counter, at):
                yield from self._stated(row.cases[0][1], round_)
        else:
            cases: list[tuple[Tree | None, tuple[Stated, ...]]] = []
            for condition, body in row.cases:
                known = True if condition is None else self._decided(condition, at)
                if known is not False:
                    cases.append((None if known or condition is None else
                                  self._written(condition, at), tuple(self._stated(body, at))))
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
