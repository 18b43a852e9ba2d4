"""What do arrays of a component source say entry by entry?

A variable of several entries is one variable for each, an equation of arrays one equation for each
entry, and an entry of an array that follows from others is its expression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from .matlab import (
    Apply,
    Binary,
    Brace,
    Field,
    Matrix,
    Name,
    NotUnderstood,
    Number,
    Text,
    Transposed,
    Tree,
    Unary,
    changed,
    parts_of,
)
from .python_text import PythonNames
from .source import Branch, Declared, Equal, Event, Let, Source, pair
from .source import fields as said_of
from .source_expressions import FUNCTIONS, is_constant

__all__ = ["entry_by_entry"]

_ELEMENTWISE = {*FUNCTIONS, "log10", "value", "if", "der", "delay"}


def entry_by_entry(source: Source, where: str) -> tuple[Source, dict[str, int], list[str]]:
    """A component without arrays that follow from others.

    Returns it, how many entries those parameters must have that equations ask for each of, and
    what is to be said of variables.

    Raises
    ------
    NotUnderstood
        Naming file and line, for arrays that do not fit together.
    """
    entries = _Entries(where)
    own = PythonNames(d.name for rows in source.sections.values() for d in rows)
    sections, notes = dict(source.sections), []
    sections["parameters"] = [d for d in source.sections.get("parameters", ())
                              if not entries.computes(d)]
    sections["variables"] = []
    for declared in source.sections.get("variables", ()):
        rows = entries.variables(declared, own)
        sections["variables"] += rows
        if rows != [declared]:
            notes.append(f"{declared.name} is {', '.join(row.name for row in rows)} here.")
    for section in ("inputs", "outputs"):
        for declared in source.sections.get(section, ()):
            if entries.of(said_of(declared.value).get("value", declared.value)):
                raise NotUnderstood(declared.place, f"{declared.name} is a signal of several "
                                    "values, and signals are scalars here.",
                                    "Declare one for each.")
    sections["intermediates"] = [d for d in source.sections.get("intermediates", ())
                                 if not entries.computes(d)]
    made: Source = entries.written(replace(source, sections=sections), entries.arrays)
    return made, entries.lengths, notes


@dataclass
class _Entries:
    """The entries of arrays, by name."""

    place: str
    arrays: dict[str, tuple[Tree, ...]] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)  # names that may stand for the array as well
    lengths: dict[str, int] = field(default_factory=dict)

    # -- declarations ------------------------------------------------------------------
    def computes(self, declared: Declared) -> bool:
        """Whether a computed array is known by its entries alone, and not declared."""
        self.place = declared.place
        found = () if declared.condition else self.of(declared.value)
        if not found:
            return False
        self.arrays[declared.name] = found
        if is_constant(declared.value):
            self.whole.add(declared.name)
            self.arrays[declared.name] = tuple(Apply(Name(declared.name), (_number(k),))
                                               for k in range(1, len(found) + 1))
        return not is_constant(declared.value)

    def variables(self, declared: Declared, names: PythonNames) -> list[Declared]:
        """One variable for each entry."""
        self.place = declared.place
        said = said_of(declared.value)
        found = self.of(said.get("value", declared.value))
        if not found:
            return [declared]
        rows = []
        for k, entry in enumerate(found, 1):
            value: Tree = entry
            if said:
                value = Brace((tuple(Binary("=", Name(word), entry if word == "value" else other)
                                     for word, other in said.items()),))
            rows.append(replace(declared, name=names.make(f"{declared.name}_{k}"), value=value))
        self.arrays[declared.name] = tuple(Name(row.name) for row in rows)
        return rows

    # -- entries -------------------------------------------------------------------------
    def of(self, tree: Tree, arrays: Mapping[str, tuple[Tree, ...]] | None = None
           ) -> tuple[Tree, ...]:
        """The entries of an expression; none of a scalar, and of what is not known."""
        arrays = self.arrays if arrays is None else arrays
        if isinstance(tree, Name):
            return arrays.get(tree.name, ())
        if (measured := pair(tree)) is not None:
            return tuple(Brace(((entry, Text(measured[1])),))
                         for entry in self.of(measured[0], arrays))
        if isinstance(tree, Matrix):
            row = tree.rows[0] if len(tree.rows) == 1 else tuple(
                entry for each in tree.rows for entry in each)
            plain = len(tree.rows) == 1 or len(row) == len(tree.rows)
            found = tuple(e for entry in row for e in self.of(entry, arrays) or (entry,))
            return found if plain and len(found) > 1 else ()
        if isinstance(tree, (Unary, Transposed)):
            inner = self.of(tree.of, arrays)
            return tuple(replace(tree, of=e) for e in inner) if isinstance(tree, Unary) else inner
        if isinstance(tree, Field) and tree.name == "der":
            return tuple(Field(e, "der") for e in self.of(tree.of, arrays))
        if isinstance(tree, Binary) and tree.sign != "=":
            sides = self.of(tree.left, arrays), self.of(tree.right, arrays)
            if {"*": all(sides), "/": sides[1], "^": any(sides)}.get(tree.sign):
                return ()  # of matrices
            return tuple(replace(tree, left=a, right=b)
                         for a, b in self._paired((tree.left, tree.right), sides))
        if isinstance(tree, Apply) and isinstance(tree.of, Name) and tree.of.name in _ELEMENTWISE:
            inside = [self.of(each, arrays) for each in tree.arguments]
            return tuple(replace(tree, arguments=row)
                         for row in self._paired(tree.arguments, inside))
        return ()

    def _paired(self, trees: tuple[Tree, ...], entries: Any) -> Iterator[tuple[Tree, ...]]:
        """Entries beside each other; a scalar stands beside every one."""
        counts = {len(each) for each in entries if each}
        if len(counts) > 1:
            raise NotUnderstood(self.place, "arrays of "
                                f"{' and '.join(map(str, sorted(counts)))} entries are joined.",
                                "Give them as many entries.")
        for k in range(max(counts, default=0)):
            yield tuple(each[k] if each else tree
                        for tree, each in zip(trees, entries, strict=True))

    # -- statements ------------------------------------------------------------------------
    def written(self, part: Any, arrays: Mapping[str, tuple[Tree, ...]]) -> Any:
        """A part of a source with entries in the place of arrays."""
        self.place = getattr(part, "place", "") or self.place
        if isinstance(part, (list, tuple)):
            return type(part)(each for one in part for each in self._each(one, arrays))
        if isinstance(part, Branch) and part.name in arrays or isinstance(part, Event) and any(
                name in arrays for name, _ in part.assigned):
            raise NotUnderstood(self.place, "a branch or an event of an array is not read.",
                                "Write one for each entry.")
        if isinstance(part, Name) and part.name in arrays.keys() - self.whole:
            raise NotUnderstood(self.place, f"{part.name} is asked for as a whole, and an array of "
                                "values that follow from others is read by its entries alone.",
                                f"Write {part.name}(1), or give it as a parameter.")
        if isinstance(part, Let):
            return self._let(part, arrays)
        if isinstance(part, Apply) and isinstance(part.of, Name):
            return self._applied(part, part.of.name, arrays)
        return changed(part, lambda each: self.written(each, arrays))

    def _each(self, part: Any, arrays: Mapping[str, tuple[Tree, ...]]) -> Iterator[Any]:
        """A statement, or one for each entry of an equation of arrays."""
        if isinstance(part, Equal):
            self.place = part.place
            sides = self.of(part.left, arrays), self.of(part.right, arrays)
            if all(sides):
                for left, right in self._paired((part.left, part.right), sides):
                    made = self.written(replace(part, left=left, right=right), arrays)
                    self.lengths |= {each.of.name: len(arrays[each.of.name])
                                     for each in parts_of(made) if isinstance(each, Apply)
                                     and isinstance(each.of, Name) and each.of.name in self.whole}
                    yield made
                return
        yield self.written(part, arrays)

    def _let(self, part: Let, arrays: Mapping[str, tuple[Tree, ...]]) -> Let:
        inside, names = dict(arrays), []
        for name, tree in part.names:
            found = self.of(tree, inside)
            inside.pop(name, None)
            if found:
                inside[name] = found
            else:
                names.append((name, self.written(tree, inside)))
        return replace(part, names=tuple(names), body=self.written(part.body, inside))

    def _applied(self, part: Apply, name: str, arrays: Mapping[str, tuple[Tree, ...]]) -> Tree:
        given = part.arguments
        if name in arrays:
            index = given[0] if len(given) == 1 else None
            if not isinstance(index, Number):
                return part  # refused where it is written
            found = arrays[name]
            if index.value % 1 or not 1 <= index.value <= len(found):
                raise NotUnderstood(self.place, f"an entry of {name} is asked for by one whole "
                                    f"number from 1 on, up to {len(found)}.")
            entry = found[int(index.value) - 1]
            return entry if entry == part else self.written(entry, arrays)
        if name in ("sum", "prod") and len(given) == 1 and (found := self.of(given[0], arrays)):
            sign = "+" if name == "sum" else "*"
            return self.written(reduce(lambda a, b: Binary(sign, a, b), found), arrays)
        if name in ("numel", "length") and len(given) == 1 and (found := self.of(given[0], arrays)):
            return _number(len(found))
        return replace(part, arguments=self.written(given, arrays))


def _number(k: int) -> Number:
    return Number(float(k), str(k))
