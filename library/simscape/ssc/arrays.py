"""What do arrays of a component source say entry by entry?

A variable, signal, node or part of several entries is one for each, an equation or connection of
arrays one for each entry, and an entry of an array that follows from others is its expression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np

from ..matlab import syntax as ml
from ..matlab.python_text import PythonNames
from ..matlab.syntax import NotUnderstood, Tree, changed, dotted, number_tree, subtrees
from ..matlab.values import Unknown, evaluate
from . import source as sc
from .expressions import FUNCTIONS
from .source import Declared, Source, made_of, pair

__all__ = ["Scalars", "entry_by_entry"]

_ELEMENTWISE = {*FUNCTIONS, "log10", "value", "if", "der", "delay"}
_JOINED = {"sum": "+", "prod": ".*", "all": "&&", "any": "||", "max": "max", "min": "min"}
_SHAPED = ("horzcat", "vertcat", "cat", "transpose", "reshape")
_SIGNALS = ("inputs", "outputs")


@dataclass(frozen=True)
class Scalars:
    """A component without arrays that follow from others."""

    source: Source
    lengths: dict[str, int]  # how many entries parameters must have that equations ask for each of
    notes: list[str]  # which names arrays have become
    # names of the entries of ports that are arrays, columns first
    ports: dict[str, tuple[str, ...]]


def entry_by_entry(source: Source, where: str,
                   parts: Mapping[str, Mapping[str, tuple[str, ...]]]) -> Scalars:
    """A component whose loops are written out, read by the entries of its arrays.

    ``parts`` holds, by path, the entries of those ports of its parts that are arrays. For arrays
    that do not fit together NotUnderstood names file and line.
    """
    entries = _Entries(where, parts)
    own = PythonNames(source.names)
    sections, notes, ports = dict(source.sections), list[str](), dict[str, tuple[str, ...]]()
    for section in ("nodes", "components", "parameters", "variables", *_SIGNALS, "intermediates"):
        rows = source.sections.get(section, ())
        sections[section] = list(entries.declared_apart(rows, own)) \
            if section in ("nodes", "components") else \
            [d for d in rows if not entries.computes(d)] \
            if section in ("parameters", "intermediates") else \
            [row for declared in rows for row in entries.variables(declared, own)]
    for section in ("nodes", *_SIGNALS, "variables", "components"):
        for name in dict.fromkeys(d.name for d in source.sections.get(section, ())):
            if name in entries.arrays:
                names = tuple(dotted(each) for each in entries.arrays[name].ravel(order="F"))
                notes.append(f"{name} is {', '.join(names)} here." if len(names) < 5 else
                             f"{name} is {names[0]} to {names[-1]} here.")
                if section in ("nodes", *_SIGNALS):
                    ports[name] = names
    entries.signals = {d.name for section in _SIGNALS for d in sections[section]}
    made: Source = entries.written(replace(source, sections=sections))
    return Scalars(_without_unused(made, entries.tables), entries.lengths, notes, ports)


def _without_unused(source: Source, tables: set[str]) -> Source:
    """Without those computed tables that are read by their entries alone."""
    kept = {name: [d for d in rows if d.name not in tables]
            for name, rows in source.sections.items()}
    waiting = [d for rows in source.sections.values() for d in rows if d.name in tables]
    used = {part.name for part in subtrees(replace(source, sections=kept))
            if isinstance(part, ml.Name)}
    for _ in waiting:
        used |= set().union(*(ml.names_in(d.value) for d in waiting if d.name in used))
    return replace(source, sections={name: [d for d in rows if d.name not in tables - used]
                                     for name, rows in source.sections.items()})


@dataclass
class _Entries:
    """The entries of arrays, by name."""

    place: str
    parts: Mapping[str, Mapping[str, tuple[str, ...]]]
    arrays: dict[str, np.ndarray] = field(default_factory=dict)  # of trees, rows by columns
    whole: set[str] = field(default_factory=set)  # names that may stand for the array as well
    lengths: dict[str, int] = field(default_factory=dict)
    signals: set[str] = field(default_factory=set)
    tables: set[str] = field(default_factory=set)  # computed, of rows and columns
    ports: dict[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)  # by part

    # -- declarations ------------------------------------------------------------------
    def declared_apart(self, rows: Any, names: PythonNames) -> Iterator[Declared]:
        """Nodes or parts, and a name for each that is declared as an entry of an array."""
        places: dict[str, dict[tuple[int, ...], str]] = {}
        for declared in rows:
            self.place, name = declared.place, declared.name
            if declared.index:
                place = self._place(declared.index, name)
                known = places.setdefault(name, {})
                if place not in known:
                    known[place] = names.make("_".join([name, *(str(k + 1) for k in place)]))
                declared = replace(declared, name=known[place], index=())
            self.ports[declared.name] = self.parts.get(made_of(declared)[0], {})
            yield declared
        for name, known in places.items():
            shape = np.max([*known], axis=0) + 1
            if len(known) != np.prod(shape):
                raise NotUnderstood(self.place, f"not every entry of {name} is declared.",
                                    "Declare those from 1 on.")
            grid = np.empty(shape, dtype=object)
            for place, here in known.items():
                grid[place] = ml.Name(here)
            self.arrays[name] = np.atleast_2d(grid)

    def _place(self, index: tuple[Tree, ...], name: str) -> tuple[int, ...]:
        if not all(isinstance(k, ml.Number) and k.value >= 1 and not k.value % 1 for k in index) \
                or len(index) > 2:
            raise NotUnderstood(self.place, f"an entry of {name} is asked for by one or two whole "
                                "numbers from 1 on.")
        return tuple(int(k.value) - 1 for k in index if isinstance(k, ml.Number))

    def computes(self, declared: Declared) -> bool:
        """Whether a computed array is known by its entries alone, and not declared."""
        self.place = declared.place
        found = None if declared.condition else self.of(declared.value)
        if found is None or found.size == 1:
            return False
        name, plain = declared.name, 1 in found.shape
        self.arrays[name] = found
        if ml.is_constant(declared.value):
            self.whole.add(name)
            if not sc.is_said("access=private", declared.attributes):  # whose numbers are known
                self.arrays[name] = grid = np.empty(found.shape, dtype=object)
                for i, j in np.ndindex(found.shape):
                    grid[i, j] = ml.Apply(ml.Name(name), tuple(
                        number_tree(k + 1) for k in ([max(i, j)] if plain else [i, j])))
            return False
        if not plain:
            self.whole.add(name)
            self.tables.add(name)
        return plain

    def variables(self, declared: Declared, names: PythonNames) -> list[Declared]:
        """One variable or signal for each entry."""
        self.place = declared.place
        said = sc.fields(declared.value)
        found = self.of(said.get("value", declared.value))
        if found is None or found.size == 1:
            return [declared]
        each: dict[str, Any] = {word: self.of(other) for word, other in said.items()}
        rows, grid = list[Declared](), np.empty(found.shape, dtype=object)
        for place in _places(found.shape):
            number = [str(k + 1) for k, size in zip(place, found.shape, strict=True) if size > 1]
            value: Any = found[place]
            if said:
                value = ml.Brace((tuple(ml.Binary(
                    "=", ml.Name(word), other if each[word] is None else each[word][place])
                    for word, other in said.items()),))
            rows.append(replace(declared, name=names.make("_".join([declared.name, *number])),
                                value=value))
            grid[place] = ml.Name(rows[-1].name)
        self.arrays[declared.name] = grid
        return rows

    # -- entries -------------------------------------------------------------------------
    def of(self, tree: Tree) -> np.ndarray | None:
        """The entries of an expression; None of a scalar, and of what is not known."""
        if isinstance(tree, ml.Name):
            return self.arrays.get(tree.name)
        if (measured := pair(tree)) is not None:
            return _each(self.of(measured[0]), lambda e: ml.Brace(((e, ml.Text(measured[1])),)))
        if isinstance(tree, ml.Matrix):
            return self._matrix(tree)
        if isinstance(tree, ml.Range) and ml.is_constant(tree):
            return _grid([[number_tree(float(k)) for k in np.ravel(evaluate(tree, {}))]])
        if isinstance(tree, ml.Unary):
            return _each(self.of(tree.of), lambda e: replace(tree, of=e))
        if isinstance(tree, ml.Transposed):
            return _turned(self.of(tree.of))
        if isinstance(tree, ml.Field):
            return self._field(tree)
        if isinstance(tree, ml.Binary) and tree.sign != "=":
            return self._binary(tree)
        if isinstance(tree, ml.Apply):
            return self._call(tree)
        return None

    def _grid_of(self, tree: Tree) -> np.ndarray:
        """The entries of an expression; it is itself the one entry of a scalar."""
        found = self.of(tree)
        return _grid([[tree]]) if found is None else found

    def _matrix(self, tree: ml.Matrix) -> np.ndarray | None:
        rows = [[*map(self._grid_of, row)] for row in tree.rows if row]
        try:
            made = np.vstack([np.hstack(row) for row in rows]) if rows else None
        except ValueError:
            raise NotUnderstood(self.place, "the rows of an array do not fit together.",
                                "Give them as many entries.") from None
        return made if made is not None and made.size > 1 else None

    def _field(self, tree: ml.Field) -> np.ndarray | None:
        """Ports of an array of parts, or the entries of a port."""
        found = self.of(tree.of)
        if found is None:
            names = self.ports.get(dotted(tree.of), {}).get(tree.name)
            return None if names is None else _grid([[ml.Field(tree.of, name) for name in names]])
        inner = [self._field(ml.Field(e, tree.name)) for e in found.ravel(order="F")]
        if all(each is None for each in inner):
            return _each(found, lambda e: ml.Field(e, tree.name))
        return np.hstack([each for each in inner if each is not None])

    def _binary(self, tree: ml.Binary) -> np.ndarray | None:
        a, b = self.of(tree.left), self.of(tree.right)
        if tree.sign == "*" and a is not None and b is not None and 1 not in (a.size, b.size):
            if a.shape[1] != b.shape[0]:
                raise NotUnderstood(self.place, "a product of matrices of "
                                    f"{' and '.join('×'.join(map(str, m.shape)) for m in (a, b))} "
                                    "entries has no value.")
            return _grid([[_joined("+", [_shortened(ml.Binary("*", x, y)) for x, y in
                                         zip(row, column, strict=True)])
                           for column in b.T] for row in a])
        if tree.sign in "/^" and b is not None or tree.sign == "^" and a is not None:
            return None  # of matrices
        return self._paired((tree.left, tree.right), lambda row: _shortened(
            replace(tree, left=row[0], right=row[1])), [a, b])

    def _call(self, tree: ml.Apply) -> np.ndarray | None:
        name = tree.of.name if isinstance(tree.of, ml.Name) else ""
        if name in _ELEMENTWISE and name not in self.arrays and not (
                name in _JOINED and len(tree.arguments) == 1):
            return self._paired(tree.arguments, lambda row: replace(tree, arguments=row))
        sizes = [int(k.value) for k in tree.arguments[1:] if isinstance(k, ml.Number)]
        if name == "repmat" and len(sizes) == len(tree.arguments) - 1 > 0:
            return np.tile(self._grid_of(tree.arguments[0]),
                           sizes if len(sizes) == 2 else sizes * 2)
        if name in ("zeros", "ones", "eye"):
            return self._made(tree)
        if name in _SHAPED and name not in self.arrays:
            return self._shaped(name, tree.arguments)
        if name == "diff" and len(tree.arguments) == 1 and (
                inner := self.of(tree.arguments[0])) is not None and 1 in inner.shape:
            row = inner.ravel()
            steps = _grid([[ml.Binary("-", b, a) for a, b in zip(row, row[1:], strict=False)]])
            return steps if inner.shape[0] == 1 else steps.T
        found = self.of(tree.of) if name not in _ELEMENTWISE or name in self.arrays else None
        if found is None or len(tree.arguments) > 2:
            return None
        return self._picked(found, tree)

    def _shaped(self, name: str, given: tuple[Tree, ...]) -> np.ndarray | None:
        """Arrays beside or below each other, or one in another shape."""
        if name in ("horzcat", "vertcat", "cat"):
            parts = given[name == "cat":]
            beside = name == "horzcat" or name == "cat" and _is(given[0], 2)
            return self._matrix(ml.Matrix((parts,) if beside else tuple((e,) for e in parts)))
        found = self.of(given[0])
        sizes = [int(k.value) for k in given[1:] if isinstance(k, ml.Number)]
        if found is None or name == "transpose":
            return _turned(found)
        if len(sizes) != 2 or np.prod(sizes) != found.size:
            raise NotUnderstood(self.place, f"{found.size} entries do not fill such an array.",
                                "Give rows and columns of as many entries.")
        return found.reshape(sizes, order="F")

    def _made(self, tree: ml.Apply) -> np.ndarray | None:
        """An array of numbers, of so many rows and columns or of the size of another one."""
        like = tree.arguments[0] if len(tree.arguments) == 1 else None
        if isinstance(like, ml.Apply) and like.of == ml.Name("size") and len(like.arguments) == 1:
            shape = self._grid_of(like.arguments[0]).shape
            tree = replace(tree, arguments=tuple(number_tree(float(k)) for k in shape))
        if not all(isinstance(k, ml.Number) for k in tree.arguments):
            return None
        try:
            made = np.atleast_2d(evaluate(tree, {}))
        except NotUnderstood:
            return None  # of three dimensions
        return _grid([[number_tree(float(x)) for x in row] for row in made])

    def _picked(self, found: np.ndarray, tree: ml.Apply) -> np.ndarray | None:
        """Entries of an array by MATLAB's index: from 1, columns first."""
        flat = len(tree.arguments) == 1
        sizes = [found.size] if flat else found.shape
        places = []
        for index, size in zip(tree.arguments, sizes, strict=True):
            try:
                place = np.arange(1, size + 1) if index == ml.Name(":") else np.ravel(
                    evaluate(index, {"end": float(size)}))
            except (Unknown, NotUnderstood):
                return None
            if np.any(place % 1) or np.any(place < 1) or np.any(place > size):
                raise NotUnderstood(self.place, f"an entry of {dotted(tree.of) or 'an array'} is "
                                    "asked for by one whole number from 1 on, up to "
                                    f"{size}.")
            places.append(np.asarray(place, dtype=int) - 1)
        if flat:
            row = found.ravel(order="F")[places[0]]
            return row.reshape(-1, 1) if found.shape[1] == 1 else row.reshape(1, -1)
        return found[np.ix_(*places)]

    def _paired(self, trees: tuple[Tree, ...], made: Any, entries: Any = None) -> np.ndarray | None:
        """What is made of entries beside each other; a scalar stands beside every one."""
        entries = [*map(self.of, trees)] if entries is None else entries
        shapes = [each.shape for each in entries if each is not None]
        most = max(shapes, key=np.prod, default=None)
        if most is None:
            return None
        for shape in shapes:
            vectors = 1 in shape and 1 in most and np.prod(shape) == np.prod(most)
            if shape != most and not vectors and np.prod(shape) != 1:
                counts = sorted({int(np.prod(each)) for each in shapes})
                raise NotUnderstood(self.place, f"arrays of {' and '.join(map(str, counts))} "
                                    "entries are joined." if len(counts) > 1 else
                                    "arrays of unlike rows and columns are joined.",
                                    "Give them as many entries.")
        grid = np.empty(most, dtype=object)
        flat = [None if each is None else each.ravel(order="F") for each in entries]
        for k, place in enumerate(_places(most)):
            grid[place] = made(tuple(tree if each is None else each[k if each.size > 1 else 0]
                                     for tree, each in zip(trees, flat, strict=True)))
        return grid

    # -- statements ------------------------------------------------------------------------
    def written(self, part: Any) -> Any:
        """A part of a source with entries in the place of arrays."""
        self.place = getattr(part, "place", "") or self.place
        if isinstance(part, (list, tuple)):
            return type(part)(each for one in part for each in self._statements(one))
        if isinstance(part, sc.Branch) and part.index:
            whole = self.arrays.get(part.name)
            found = None if whole is None else self._picked(
                whole, ml.Apply(ml.Name(part.name), part.index))
            if found is None or found.size != 1:
                raise NotUnderstood(self.place, f"{part.name} has no such entry.",
                                    "Declare it as a variable of so many.")
            part = replace(part, name=dotted(found.item()), index=())
        named = {part.name} if isinstance(part, sc.Branch) else \
            {name for name, _ in part.assigned} if isinstance(part, sc.Event) else set[str]()
        if named & self.arrays.keys():
            raise NotUnderstood(self.place, "a branch or an event of an array is not read.",
                                "Write one for each entry.")
        if isinstance(part, ml.Name) and part.name in self.arrays.keys() - self.whole:
            raise NotUnderstood(self.place, f"{part.name} is asked for as a whole, and an array of "
                                "values that follow from others is read by its entries alone.",
                                f"Write {part.name}(1), or give it as a parameter.")
        if isinstance(part, sc.Let):
            return self._let(part)
        if isinstance(part, ml.Apply) and (made := self._applied(part)) is not None:
            return made
        return changed(part, self.written)

    def _statements(self, part: Any) -> Iterator[Any]:
        """A statement, or one for each entry of an equation or connection of arrays."""
        if isinstance(part, sc.Equal):
            self.place = part.place
            found = self._paired((part.left, part.right),
                                 lambda row: replace(part, left=row[0], right=row[1]))
            for equation in () if found is None else found.ravel(order="F"):
                made = self.written(equation)
                self.lengths |= {each.of.name: self.arrays[each.of.name].size
                                 for each in subtrees(made) if isinstance(each, ml.Apply)
                                 and isinstance(each.of, ml.Name)
                                 and each.of.name in self.whole & self.arrays.keys()}
                yield made
            if found is not None:
                return
        if isinstance(part, sc.Connection):
            yield from self._connections(part)
            return
        if isinstance(part, sc.Assertion) and (found := self.of(part.condition)) is not None:
            self.place = part.place
            part = replace(part, condition=_joined("&&", found.ravel(order="F")))
        yield self.written(part)

    def _connections(self, part: sc.Connection) -> Iterator[sc.Connection]:
        """``connect(a, b)`` of arrays: entry with entry, and one end with all."""
        self.place = part.place
        ends = [self.of(end) for end in part.ports]
        single = [end for end, found in zip(part.ports, ends, strict=True) if found is None]
        several = [found for found in ends if found is not None and found.size > 1]
        if several and single and any(dotted(end) in self.signals for end in (
                *single, *(e for found in several for e in found.ravel()))):
            raise NotUnderstood(self.place, "a signal of several values and one of a single value "
                                "are connected.", "Connect entries, as x(1).")
        found = self._paired(part.ports, lambda row: replace(part, ports=row), ends)
        yield from ([part] if found is None else found.ravel(order="F"))

    def _let(self, part: sc.Let) -> sc.Let:
        outside, names, given = self.arrays, [], dict(part.names)
        self.arrays = dict(outside)
        for name in ml.in_order(given):
            found = self.of(given[name])
            self.arrays.pop(name, None)
            if found is not None and found.size > 1:
                self.arrays[name] = found
            else:
                names.append((name, self.written(given[name])))
        made = replace(part, names=tuple(names), body=self.written(part.body))
        self.arrays = outside
        return made

    def _applied(self, part: ml.Apply) -> Tree | None:
        """A call that gives one value of arrays; None for another one."""
        name = part.of.name if isinstance(part.of, ml.Name) else ""
        given = part.arguments
        found = self.of(given[0]) if len(given) == 1 and (
            name in ("numel", "length") or name in _JOINED and name not in self.arrays) else None
        if found is not None and name in _JOINED:
            made: Tree = self.written(_joined(_JOINED[name], found.ravel(order="F")))
            return made
        if found is not None:
            return number_tree(float(found.size if name == "numel" else max(found.shape)))
        picked = self._call(part) if name in self.arrays or not name else None
        if picked is not None and picked.size == 1:
            entry = picked.item()
            return entry if entry == part else self.written(entry)
        if name in self.arrays:
            return part  # refused where it is written
        return replace(part, arguments=self.written(given)) if name else None


def _turned(grid: np.ndarray | None) -> np.ndarray | None:
    return None if grid is None else grid.T


def _places(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The places of an array, columns first."""
    return (place[::-1] for place in np.ndindex(shape[::-1]))


def _grid(rows: list[list[Any]]) -> np.ndarray:
    return np.array(rows, dtype=object)


def _each(grid: np.ndarray | None, change: Any) -> np.ndarray | None:
    return None if grid is None else _grid([[change(e) for e in row] for row in grid])


def _joined(sign: str, entries: Any) -> Tree:
    """One value of all entries; of a sum, those that are not zero."""
    rows = [e for e in entries if sign != "+" or not _is(e, 0)] or [*entries][:1]
    made: Tree = reduce(lambda a, b: ml.Apply(ml.Name(sign), (a, b)) if sign.isalpha() else
                        ml.Binary(sign, a, b), rows)
    return made


def _is(tree: Tree, value: float) -> bool:
    return isinstance(tree, ml.Number) and tree.value == value


def _shortened(tree: ml.Binary) -> Tree:
    """Arithmetic with numbers, zeros and ones as its value."""
    numbers = [_value(side) for side in (tree.left, tree.right)]
    product, quotient = tree.sign in ("*", ".*"), tree.sign in ("/", "./")
    if None not in numbers and tree.sign in ("+", "-", "*", ".*") or quotient and _is(tree.left, 0):
        return number_tree(0.0 if quotient else float(evaluate(tree, {})))
    if product and 0.0 in numbers:
        return number_tree(0.0)
    if product and 1.0 in numbers:
        return tree.right if numbers[0] == 1 else tree.left
    return ml.Unary("-", tree.right) if product and numbers[0] == -1.0 else tree


def _value(tree: Tree) -> float | None:
    sign, number = (-1, tree.of) if isinstance(tree, ml.Unary) and tree.sign == "-" else (1, tree)
    return sign * number.value if isinstance(number, ml.Number) else None
