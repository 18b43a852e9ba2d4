"""How does a loop over instances read as LLVM text?

Entries that follow each other in memory are addressed directly, others through tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..numerics.arrays import Array, Indices, distinct, grouped
from .expressions import Writer

__all__ = ["PARALLEL", "WIDE", "Body", "LoopText", "Operand", "entries_of"]

BASES = ("%x", "%q", "%p", "%out", "%t", "%room")  # by number; the last one is a function's own
Q = BASES.index("%q")
MOST_PARTS = 4  # loops that differ in factors or bases alone, or in how what they read is found
LEAST_RUN = 16  # instances in one of several such stretches
MOST_TERMS = 16  # of a sum that is written without a table
DEEPEST = 3  # so many loops are put off one within the other
MOST_RUNS = 8  # stretches of regular addresses that are written as loops of their own
PARALLEL = """
!0 = distinct !{}
!1 = distinct !{!1, !2}
!2 = !{!"llvm.loop.parallel_accesses", !0}
!3 = distinct !{!3, !4}
!4 = !{!"llvm.loop.unroll.disable"}
"""

#: Vectors as wide as the processor has them, where LLVM takes half of that for some: a fifth faster
#: where loops compute exponentials, and a tenth slower where they read at all places what lies
#: across the lines of the cache.
WIDE = '"prefer-vector-width"="512"'

#: Writes the body of a loop, with a function that reads an operand by number; its values' names.
Body: TypeAlias = Callable[[Writer, Callable[[int], str]], Sequence[str]]


@dataclass
class Operand:
    """One value per instance: entries ``index`` of an array, with coefficients."""

    base: Indices  # number of the array
    index: Indices
    factor: Array

    def part(self, which: Indices) -> Operand:
        """Return the operand for some of the instances."""
        return Operand(self.base[which], self.index[which], self.factor[which])


def entries_of(base: int | Indices, entries: Indices) -> Operand:
    """Entries of an array, or of one each, as they are."""
    return Operand(np.full(len(entries), base), entries, np.ones(len(entries)))


class LoopText:
    """The lines of some loops, one after the other.

    A loop may be put off: then its values are found where one of the next reads them, and do not
    take the way through memory.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self._count = 0
        self._put_off: list[tuple[list[Operand], Body]] = []
        self._depth = [0]  # by the number of the loop
        #: By entry of ``q``: the number of the loop, from 1 on, that is put off; -1 for one that
        #: will be; and the instance.
        self._late = np.zeros((2, 0), dtype=int)

    def put_off(self, entries: Indices) -> None:
        """Find what is added for some entries of ``q`` where :meth:`add` reads it, and only so."""
        more = max(entries.max(initial=-1) + 1 - self._late.shape[1], 0)
        self._late = np.pad(self._late, ((0, 0), (0, more)))
        self._late[0, entries] = -1

    def add(self, operands: list[Operand], targets: Sequence[Operand], body: Body) -> None:
        """Write ``targets[i] = body(operands[i])``, as few loops as the addresses allow."""
        if not self._late.size:  # nothing is put off
            self._write(operands, targets, body)
            return
        part = self._found_alike([*operands, *targets])
        if part.max(initial=0) > MOST_PARTS and len(operands) > 1:  # code would grow
            for operand in operands:
                self._write_late(operand)
            part = self._found_alike(targets)
        for mine in grouped(part):
            self._add_with([o.part(mine) for o in operands], [o.part(mine) for o in targets], body)

    def _found_alike(self, operands: Sequence[Operand]) -> Indices:
        """Which instances have values that are found by the same loops."""
        loops = [self._loop_of(o) for o in operands]
        return _alike([*loops, *(np.where(loop, o.factor, 0.0)
                                 for loop, o in zip(loops, operands, strict=True))])

    def _loop_of(self, operand: Operand) -> Indices:
        """Which loop that is put off gives a value, 0 where none does."""
        found = np.zeros(len(operand.index), dtype=int)
        mine = np.flatnonzero((operand.base == Q) & (operand.index < self._late.shape[1]))
        found[mine] = self._late[0, operand.index[mine]]
        return found

    def _add_with(self, operands: list[Operand], targets: Sequence[Operand], body: Body) -> None:
        """Write such a loop, in which everything is found by the same loops, or stands there."""
        given: list[Operand] = []
        values = [self._value(operand, given) for operand in operands]

        def whole(writer: Writer, read: Callable[[int], str]) -> Sequence[str]:
            return body(writer, lambda j: values[j](writer, read))

        depth = 1 + max((self._depth[self._loop_of(o)[0]] for o in operands), default=0)
        late = self._loop_of(target := targets[0])[0] < 0
        if late and depth > DEEPEST:
            self._late[0, target.index] = 0
        if not late or depth > DEEPEST:
            self._write(given, targets, whole)
            return
        self._depth.append(depth)
        self._put_off.append((given, lambda writer, read: [
            _times(writer, whole(writer, read)[0], target.factor)]))
        self._late[0, target.index] = len(self._put_off)
        self._late[1, target.index] = np.arange(len(target.index))

    def _value(self, operand: Operand, given: list[Operand]
               ) -> Callable[[Writer, Callable[[int], str]], str]:
        """What writes a value and gives its name; to ``given`` is added what it reads."""
        first = len(given)
        if (loop := int(self._loop_of(operand)[0])) == 0:
            given.append(operand)
            return lambda writer, read: read(first)
        operands, body = self._put_off[loop - 1]
        given += [o.part(self._late[1, operand.index]) for o in operands]
        return lambda writer, read: _times(
            writer, body(writer, lambda j: read(first + j))[0], operand.factor)

    def _write_late(self, operand: Operand) -> None:
        """Write the loops that give some values, which then stand there."""
        loops = self._loop_of(operand)
        for loop in distinct(loops[loops > 0]).tolist():
            entries = distinct(operand.index[loops == loop])
            operands, body = self._put_off[loop - 1]
            self._write([o.part(self._late[1, entries]) for o in operands],
                        [entries_of(Q, entries)], body)
            self._late[0, entries] = 0

    def _write(self, operands: list[Operand], targets: Sequence[Operand], body: Body) -> None:
        everything = [*operands, *targets]
        bases = np.stack([o.base for o in everything])
        factors = np.stack([o.factor for o in everything])
        index = np.stack([o.index for o in everything])
        part = _alike([*bases, *factors])
        if part.max(initial=-1) >= MOST_PARTS:  # factors are read from tables
            part = _alike(bases)
        for mine in grouped(part):
            names = [BASES[b] for b in bases[:, mine[0]].tolist()]
            for span in _runs(index[:, mine]):
                at = mine[span]
                loop = _Loop(self._name(), index[:, at], names, factors[:, at])
                self.lines += loop.lines(body)
                self.declared |= loop.writer.declared

    def copy(self, source: Operand, target: Operand) -> None:
        """Write ``target[i] = source[i]``."""
        self.add([source], [target], lambda _, read: [read(0)])

    def fill(self, target: Operand, value: float) -> None:
        """Write ``target[i] = value``."""
        self.add([], [target], lambda writer, _: [writer.constant(value)])

    def add_in_turn(self, turns: int, loops: list[tuple[Indices, list[Operand], Operand, Body]]
                    ) -> None:
        """Write such loops one inside the other: in each turn the instances whose turn it is.

        ``loops`` are turns of the instances, ascending, operands, target and body of each.
        """
        outer = self._name()
        self.lines += [*_head(outer, f"{outer}.last"),
                       f"  %{outer}.n = add nuw nsw i64 %{outer}.i, 1"]
        for turn, operands, target, body in loops:
            everything = [*operands, target]
            bases = np.stack([o.base for o in everything])
            index = np.stack([o.index for o in everything])
            for mine in grouped(_alike(bases)):
                names = [BASES[b] for b in bases[:, mine[0]].tolist()]
                starts = np.searchsorted(turn[mine], np.arange(turns + 1))
                loop = _LoopInTurn(self._name(), index[:, mine], names, outer, starts)
                self.lines += loop.lines(body)
                self.declared |= loop.writer.declared
        self.lines += [f"  br label %{outer}.last", f"{outer}.last:",
                       f"  %{outer}.c = icmp ult i64 %{outer}.n, {turns}",
                       f"  br i1 %{outer}.c, label %{outer}, label %{outer}.end", f"{outer}.end:"]

    def add_sums(self, which: Indices, terms: Operand, target: Operand) -> None:
        """Write ``target[i] =`` the sum of terms with ``which == i``, ascending.

        Where most sums are short and of few forms, these stand in loops without a table of ends.
        """
        size = len(target.index)
        lengths = np.bincount(which, minlength=size)
        starts = np.cumsum(lengths) - lengths
        short = np.flatnonzero(lengths <= MOST_TERMS)
        form = np.full((2, int(lengths[short].max(initial=0)), size), -1.0)
        brief = np.flatnonzero(lengths[which] <= MOST_TERMS)
        place = brief - starts[which[brief]]
        form[0, place, which[brief]] = terms.base[brief]
        form[1, place, which[brief]] = terms.factor[brief]
        part = np.full(size, -1)
        part[short] = _alike(row[short] for row in [target.base, target.factor, lengths,
                                                    *form[0], *form[1]])
        many = np.bincount(part[short], minlength=1)
        frequent = np.argsort(-many, kind="stable")[:MOST_PARTS]
        if 2 * many[frequent].sum() < size:  # code would grow for little
            frequent = frequent[:0]
        for k in frequent.tolist():
            sums = np.flatnonzero(part == k)
            length = int(lengths[sums[0]])
            operands = [terms.part(starts[sums] + j) for j in range(length)]

            def total(writer: Writer, read: Callable[[int], str], length: int = length
                      ) -> list[str]:
                value = read(0) if length else writer.constant(0.0)
                for j in range(1, length):
                    value = writer.binary("fadd", value, read(j))
                return [value]

            self.add(operands, [target.part(sums)], total)
        self._add_table_of_sums(np.flatnonzero(~np.isin(part, frequent)), which, terms, target)

    def _add_table_of_sums(self, sums: Indices, which: Indices, terms: Operand, target: Operand
                           ) -> None:
        """Some sums of any form in one loop; terms, and where those of a sum begin, are tables."""
        for base in distinct(target.base[sums]).tolist():
            these = sums[target.base[sums] == base]
            self._late[0, target.index[these[self._loop_of(target.part(these)) < 0]]] = 0
            number = np.full(len(target.index), -1)
            number[these] = np.arange(len(these))
            mine = np.flatnonzero(number[which] >= 0)
            self._write_late(terms.part(mine))
            loop = _LoopOfSums(self._name(), number[which[mine]], terms.part(mine),
                               target.part(these))
            self.lines += loop.lines()
            self.declared |= loop.writer.declared

    def _name(self) -> str:
        self._count += 1
        return f"loop{self._count}"


def _alike(rows: Iterable[Array | Indices]) -> Indices:
    """Numbers that are the same for equal columns of an array."""
    label = np.zeros(1, dtype=int)
    for row in rows:
        if (row == row[:1]).all():
            label = np.broadcast_to(label, row.shape)
            continue
        values, number = np.unique(row, return_inverse=True)
        _, label = np.unique(label * len(values) + number.ravel(), return_inverse=True)
        label = label.ravel()
    return label


def _head(tag: str, last: str) -> list[str]:
    """The beginning of a loop over ``%{tag}.i``, which comes back from ``last`` as ``%{tag}.n``."""
    return [f"  br label %{tag}.head", f"{tag}.head:", f"  br label %{tag}", f"{tag}:",
            f"  %{tag}.i = phi i64 [ 0, %{tag}.head ], [ %{tag}.n, %{last} ]"]


def _tail(tag: str, count: int, more: str = "") -> list[str]:
    """The end of a loop that comes back at once, so many times."""
    return [f"  %{tag}.n = add nuw nsw i64 %{tag}.i, 1",
            f"  %{tag}.c = icmp ult i64 %{tag}.n, {count}",
            f"  br i1 %{tag}.c, label %{tag}, label %{tag}.end{more}", f"{tag}.end:"]


class _Loop:
    """A loop over instances; of one instance, its body alone.

    ``index``, (operand, instance), are entries of arrays, which are ``bases`` of the operands;
    ``factors``, (operand, instance), are what their values are multiplied by.
    """

    def __init__(self, tag: str, index: Indices, bases: list[str], factors: Array) -> None:
        self.tag, self.index = tag, index
        self.bases, self.factors = bases, factors
        self.count = index.shape[1]
        self.writer = Writer(prefix=f"{tag}.", inline=True)
        self.group = ", !llvm.access.group !0" if self.count > 1 else ""
        self._read_from_table: dict[bytes, str] = {}  # entries, by the table

    def lines(self, body: Body) -> list[str]:
        """The loop's text."""
        writer, tag = self.writer, self.tag
        values = body(writer, self._read)
        for j, value in enumerate(values, len(self.bases) - len(values)):
            scaled, at = self._scaled(value, j), self._address(j)
            writer.lines.append(f"  store {writer.type} {scaled}, ptr {at}, align 8{self.group}")
        if self.count == 1:
            return writer.lines
        return [*_head(tag, tag), *writer.lines, *_tail(tag, self.count, ", !llvm.loop !1")]

    def _read(self, j: int) -> str:
        address = self._address(j)
        return self._scaled(
            self.writer.new(f"load {self.writer.type}, ptr {address}, align 8{self.group}"), j)

    def _scaled(self, value: str, j: int) -> str:
        """A value times the factor of an operand."""
        return _times(self.writer, value, self.factors[j], f"%{self.tag}.i", self.group)

    def _address(self, j: int) -> str:
        """Where an operand of the present instance stands."""
        new, tag, first = self.writer.new, self.tag, self.index[j, 0]
        at, step = str(first), int(self.index[j, 1] - first) if self.count > 1 else 0
        if (np.diff(self.index[j]) != step).any():  # tables that differ by a number are one
            from_first = self.index[j] - first
            key = from_first.tobytes()
            if key not in self._read_from_table:
                self._read_from_table[key] = _entry(
                    self.writer, from_first, f"%{tag}.i", self.group)
            at = new(f"add nsw i64 {self._read_from_table[key]}, {first}")
        elif step != 0:
            at = f"%{tag}.i"
            if step != 1:
                at = new(f"mul nsw i64 {at}, {step}")
            at = new(f"add nsw i64 {at}, {first}")
        return new(f"getelementptr inbounds {self.writer.type}, ptr {self.bases[j]}, i64 {at}")


class _LoopInTurn(_Loop):
    """A loop over those instances whose turn it is: of operands as they are, one after the other.

    ``outer`` is the name of the loop over turns, ``starts`` the first instance of every turn, and
    the end.
    """

    def __init__(self, tag: str, index: Indices, bases: list[str], outer: str, starts: Indices
                 ) -> None:
        super().__init__(tag, index, bases, np.ones(index.shape))
        self.outer, self.starts, self.group = outer, starts, ""

    def lines(self, body: Body) -> list[str]:
        writer, tag, last = self.writer, self.tag, len(self.bases) - 1
        before = Writer(prefix=f"{tag}.of.")
        first, end = (_entry(before, self.starts, f"%{self.outer}.{k}") for k in "in")
        (value,) = body(writer, self._read)
        writer.lines.append(f"  store {writer.type} {value}, ptr {self._address(last)}, align 8")
        writer.declared |= before.declared
        return [f"  br label %{tag}.before", f"{tag}.before:", *before.lines,
                f"  br label %{tag}.head", f"{tag}.head:",
                f"  %{tag}.i = phi i64 [ {first}, %{tag}.before ], [ %{tag}.n, %{tag} ]",
                f"  %{tag}.c = icmp slt i64 %{tag}.i, {end}",
                f"  br i1 %{tag}.c, label %{tag}, label %{tag}.end", f"{tag}:", *writer.lines,
                f"  %{tag}.n = add nuw nsw i64 %{tag}.i, 1",
                f"  br label %{tag}.head, !llvm.loop !3", f"{tag}.end:"]


class _LoopOfSums:
    """Sums of different numbers of terms: a loop over them, and in it one for every kind of terms.

    Terms are of a kind where they stand in the same array with the same factor. Sums with equally
    many of each follow each other, so that the processor foresees where they end. ``which`` is the
    sum that a term is in; ``terms`` are values, in one or more arrays, ``target`` is where sums go,
    in one array.
    """

    def __init__(self, tag: str, which: Indices, terms: Operand, target: Operand) -> None:
        size = len(target.index)
        kind = _alike([terms.base, terms.factor])
        if kind.max(initial=-1) >= MOST_PARTS:  # factors are read from tables
            kind = _alike([terms.base])
        counts = [np.bincount(which[kind == k], minlength=size)
                  for k in range(kind.max(initial=-1) + 1)]
        order = np.lexsort([*counts, np.bincount(which, minlength=size)])
        place = np.argsort(order)[which]
        at = np.argsort(place, kind="stable")
        self.tag, self.which, self.kind = tag, place[at], kind[at]
        self.terms, self.target = terms.part(at), target.part(order)
        self.writer = Writer(prefix=f"{tag}.")

    def lines(self) -> list[str]:
        """The loops' text."""
        w, tag, target = self.writer, self.tag, self.target
        size = len(target.index)
        w.lines += [*_head(tag, f"{tag}.last"), f"  %{tag}.n = add nuw nsw i64 %{tag}.i, 1"]
        value, last = w.constant(0.0), tag
        for kind in range(self.kind.max(initial=-1) + 1):
            value, last = self._terms(kind, value, last)
        w.lines += [f"  br label %{tag}.last", f"{tag}.last:"]
        place = _entry(w, target.index, f"%{tag}.i")
        w.store(_times(w, value, target.factor, f"%{tag}.i"), BASES[int(target.base[0])], place)
        w.lines += [f"  %{tag}.c = icmp ult i64 %{tag}.n, {size}",
                    f"  br i1 %{tag}.c, label %{tag}, label %{tag}.end", f"{tag}.end:"]
        return w.lines

    def _terms(self, kind: int, value: str, before: str) -> tuple[str, str]:
        """Add the terms of a kind; the sum, and the label of the lines that end with it."""
        w, tag, inner = self.writer, self.tag, f"{self.tag}.of{kind}"
        mine = np.flatnonzero(self.kind == kind)
        size, terms = len(self.target.index), self.terms.part(mine)
        starts = np.searchsorted(self.which[mine], np.arange(size + 1))
        first, end = (_entry(w, starts, f"%{tag}.{k}") for k in "in")
        w.lines += [f"  br label %{inner}.head", f"{inner}.head:",
                    f"  %{inner}.k = phi i64 [ {first}, %{before} ], [ %{inner}.more, %{inner} ]",
                    f"  %{inner}.sum = phi double [ {value}, %{before} ], "
                    f"[ %{inner}.added, %{inner} ]",
                    f"  %{inner}.c = icmp slt i64 %{inner}.k, {end}",
                    f"  br i1 %{inner}.c, label %{inner}, label %{inner}.end", f"{inner}:"]
        place = _entry(w, terms.index, f"%{inner}.k")
        term = _times(w, w.load(BASES[int(terms.base[0])], place), terms.factor, f"%{inner}.k")
        w.lines += [f"  %{inner}.added = fadd double %{inner}.sum, {term}",
                    f"  %{inner}.more = add nuw nsw i64 %{inner}.k, 1",
                    f"  br label %{inner}.head, !llvm.loop !3", f"{inner}.end:"]
        return f"%{inner}.sum", f"{inner}.end"


def _times(writer: Writer, value: str, factors: Array, at: str = "", group: str = "") -> str:
    """A value times a factor, which stands in a table where there are several."""
    factor = float(factors[0])
    if (factors != factor).any():
        return writer.binary("fmul", value, _entry(writer, factors, at, group))
    if factor == 1.0:
        return value
    if factor == -1.0:
        return writer.new(f"fneg double {value}")
    return writer.binary("fmul", value, writer.constant(factor))


def _entry(writer: Writer, entries: Array | Indices, at: str, group: str = "") -> str:
    """An entry of a table of numbers, ``double`` or, of whole ones, ``i64``."""
    kind, size = ("double", 8) if entries.dtype.kind == "f" else ("i32", 4)
    name = writer.table(np.ascontiguousarray(entries, dtype=f"{entries.dtype.kind}{size}"), kind)
    place = writer.new(f"getelementptr inbounds {kind}, ptr {name}, i64 {at}")
    value = writer.new(f"load {kind}, ptr {place}, align {size}{group}")
    return value if kind == "double" else writer.new(f"sext i32 {value} to i64")


def _runs(index: Indices) -> list[slice]:
    """Stretches in which all addresses go on by constant steps; all as one, where too many."""
    n = index.shape[1]
    if n == 1:
        return [slice(0, 1)]
    steps = np.diff(index, axis=1)
    found: list[slice] = []
    start = 0
    changes = np.flatnonzero(np.any(steps[:, 1:] != steps[:, :-1], axis=0)) + 1
    if len(changes) > 4 * MOST_RUNS:
        return [slice(0, n)]
    for end in [*(changes + 1).tolist(), n]:
        if end <= start:
            continue
        found.append(slice(start, end))
        start = end
    if len(found) > MOST_RUNS or (len(found) > 1 and n < LEAST_RUN * len(found)):
        return [slice(0, n)]
    return found
