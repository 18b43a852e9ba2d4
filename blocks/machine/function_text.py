"""The text of a function in machine code: its lines, registers and variables.

Every variable has a place in memory; LLVM makes registers of them.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .operations import number
from .signatures import BOOL, FLOAT, INT, Facts, Kind, Record, Signature, Untranslatable

__all__ = ["FunctionText", "Value", "given_as", "read_from", "returned"]

SHORT = 80  # lines of a function whose text stands wherever it is called
SIZES = {"double": 8, "i64": 8, "i8": 1}


@dataclass(frozen=True)
class Value:
    """A number in a register, or where an array begins and how long it is in each dimension."""

    kind: Kind
    at: str
    shape: tuple[str, ...] = ()


def returned(kinds: tuple[Kind, ...]) -> str:
    """The type of LLVM that holds what a function returns."""
    if len(kinds) == 1:
        return kinds[0].scalar
    return "{" + ", ".join(k.scalar for k in kinds) + "}" if kinds else "void"


def given_as(kind: Kind, name: str) -> tuple[list[str], Value]:
    """Parameters of LLVM for one of Python, and its value: an array comes with its shape."""
    shown = [f"{'ptr' if kind.dimensions else kind.scalar} %{name}",
             *(f"i64 %{name}.{d}" for d in range(kind.dimensions))]
    at, *shape = [p.split()[1] for p in shown]
    return shown, Value(kind, at, tuple(shape))


def read_from(table: str, place: int, shown: list[str]) -> list[str]:
    """Lines that read parameters of LLVM from a place of a table on, in which nothing changes."""
    lines = []
    for k, one in enumerate(shown, place):
        kind, register = one.split()
        lines += [f"  {register}.at = getelementptr i64, ptr {table}, i64 {k}",
                  f"  {register} = load {kind}, ptr {register}.at, !invariant.load !{{}}"]
    return lines


class FunctionText:
    """The text of one function."""

    def __init__(self, function: Signature, facts: Facts | None = None) -> None:
        self.function, self.facts = function, facts or {}
        self.globals = {**vars(__import__("builtins")), **function.python.__globals__}
        self.entry: list[str] = []
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self.called: list[Signature] = []
        self.variables: dict[str, Value] = {}
        self.records: dict[str, Record] = {}  # those that were given
        self._fields: dict[tuple[str, str], Value] = {}  # of these, as far as they are used
        self.loops: list[tuple[str, str]] = []  # where to continue, and where to end
        self.count = 0
        self.ended = False

    def parameters(self) -> list[str]:
        """Parameters of LLVM; their values become known."""
        parameters = []
        for name, kind in self.function.parameters:
            if isinstance(kind, Record):
                self.records[name] = kind
                parameters.append(f"ptr noalias readonly %given.{name}")
            else:
                shown, value = given_as(kind, f"given.{name}")
                parameters += shown
                self.set(name, value)
        return parameters

    def field(self, record: str, name: str) -> Value:
        """A field of a record, which stays as it is while machine code runs: it is read once."""
        if (record, name) not in self._fields:
            kinds = self.records[record]
            at = f"given.{record}.{name}"
            shown, value = given_as(dict(kinds.fields)[name], at)
            self.entry += read_from(f"%given.{record}", kinds.places[name], shown)
            self._fields[record, name] = value
        return self._fields[record, name]

    def fact(self, record: str, name: str) -> int | None:
        """What is known of a field of a record before it is given."""
        return self.facts.get((self.function.written(record), name))

    def finished(self, parameters: list[str]) -> str:
        """All of it, once its statements are written."""
        returns = self.function.returns
        if not self.ended:
            self.lines.append("  unreachable" if returns else "  ret void")
        short = " alwaysinline" * (len(self.entry) + len(self.lines) < SHORT)
        head = (f"define internal {returned(returns)} "
                f"@\"{self.function.symbol}\"({', '.join(parameters)}) nounwind{short} {{")
        return "\n".join([head, *self.entry, *self.lines, "}", ""])

    def new(self, text: str) -> str:
        self.count += 1
        name = f"%.{self.count}"
        self.line(f"{name} = {text}")
        return name

    def line(self, text: str) -> None:
        if self.ended:  # nothing comes here
            self.label(self.fresh("never"))
        self.lines.append(f"  {text}")

    def fresh(self, name: str) -> str:
        self.count += 1
        return f"{name}.{self.count}"

    def label(self, name: str) -> None:
        if not self.ended:
            self.lines.append(f"  br label %{name}")
        self.lines.append(f"{name}:")
        self.ended = False

    def jump(self, text: str) -> None:
        self.line(text)
        self.ended = True

    def reserve(self, kind: str) -> str:
        self.count += 1
        name = f"%room.{self.count}"
        self.entry.append(f"  {name} = alloca {kind}, align 16")
        return name

    def wrong(self, node: ast.AST, text: str) -> Untranslatable:
        line = getattr(node, "lineno", "?")
        return Untranslatable(f"{self.function.symbol}, line {line}: {text}: {ast.unparse(node)}")

    # -- variables ------------------------------------------------------------------------
    def set(self, name: str, value: Value, node: ast.AST | None = None) -> None:
        known = self.variables.get(name)
        if known is None:
            size = 1 + len(value.shape)
            kinds = ["ptr"] + ["i64"] * (size - 1) if value.kind.dimensions else [value.kind.scalar]
            rooms = [self.reserve(k) for k in kinds]
            known = self.variables[name] = Value(value.kind, rooms[0], tuple(rooms[1:]))
        if known.kind != value.kind:
            value = self.converted(value, known.kind, node)
        if value.kind.dimensions:
            for room, part in zip((known.at, *known.shape), (value.at, *value.shape), strict=True):
                self.line(f"store {'ptr' if room is known.at else 'i64'} {part}, ptr {room}")
        else:
            self.line(f"store {value.kind.scalar} {value.at}, ptr {known.at}")

    def get(self, name: str, node: ast.AST) -> Value:
        known = self.variables.get(name)
        if known is None:
            if name in self.globals:
                return self.constant(self.globals[name], node)
            raise self.wrong(node, "has no value yet")
        if not known.kind.dimensions:
            return Value(known.kind, self.new(f"load {known.kind.scalar}, ptr {known.at}"))
        shape = tuple(self.new(f"load i64, ptr {room}") for room in known.shape)
        return Value(known.kind, self.new(f"load ptr, ptr {known.at}"), shape)

    def constant(self, value: Any, node: ast.AST) -> Value:
        if isinstance(value, bool):
            return Value(BOOL, str(int(value)))
        if isinstance(value, int):
            return Value(INT, str(value))
        if isinstance(value, float):
            return Value(FLOAT, number(value))
        if isinstance(value, tuple) and value and all(
                isinstance(v, (int, float)) and not isinstance(v, bool) for v in value):
            kind = INT if all(isinstance(v, int) for v in value) else FLOAT
            shown = ", ".join(f"i64 {v}" if kind == INT else f"double {number(v)}" for v in value)
            of_text = hashlib.sha256(shown.encode()).hexdigest()[:12]
            name = f"@\"{self.function.symbol}.{of_text}\""
            self.declared.add(f"{name} = private constant [{len(value)} x {kind.scalar}] [{shown}]")
            return Value(Kind(kind.scalar, 1), name, (str(len(value)),))
        raise self.wrong(node, "is neither a number nor a tuple of numbers")

    def converted(self, value: Value, kind: Kind, node: ast.AST | None) -> Value:
        if value.kind == kind:
            return value
        change = {("i64", "double"): "sitofp", ("i1", "double"): "uitofp", ("i1", "i64"): "zext"}
        word = change.get((value.kind.scalar, kind.scalar))
        if word is None or value.kind.dimensions or kind.dimensions:
            raise self.wrong(node or ast.Pass(), f"is {value.kind}, not {kind}")
        return Value(kind, self.new(f"{word} {value.kind.scalar} {value.at} to {kind.scalar}"))

    # -- arrays ---------------------------------------------------------------------------
    def fill(self, place: Value, value: Value, node: ast.AST) -> None:
        """Copy an array of equal kind, or put a number into all entries."""
        entries = place.shape[0]
        for more in place.shape[1:]:
            entries = self.new(f"mul i64 {entries}, {more}")
        if value.kind.dimensions:
            if value.kind.scalar != place.kind.scalar:
                raise self.wrong(node, "arrays of other numbers")
            size = self.new(f"mul i64 {entries}, {SIZES[place.kind.stored]}")
            self.declared.add("declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)")
            self.line(f"call void @llvm.memmove.p0.p0.i64(ptr {place.at}, ptr {value.at}, "
                      f"i64 {size}, i1 0)")
            return
        value = self.converted(value, Kind(place.kind.scalar), node)
        at = value.at if value.kind != BOOL else self.new(f"zext i1 {value.at} to i8")
        index = self.reserve("i64")

        def body(i: str) -> None:
            where = self.new(f"getelementptr inbounds {place.kind.stored}, ptr {place.at}, i64 {i}")
            self.line(f"store {place.kind.stored} {at}, ptr {where}")

        self.counted(index, "0", entries, "1", body)

    def counted(self, index: str, first: str, stop: str, step: str,
                body: Callable[[str], None]) -> None:
        def more() -> str:
            i = self.new(f"load i64, ptr {index}")
            return self.new(f"icmp {'sgt' if step.startswith('-') else 'slt'} i64 {i}, {stop}")

        def following() -> None:
            i = self.new(f"load i64, ptr {index}")
            self.line(f"store i64 {self.new(f'add i64 {i}, {step}')}, ptr {index}")

        self.line(f"store i64 {first}, ptr {index}")
        self.loop(more, lambda: body(self.new(f"load i64, ptr {index}")), following)

    def loop(self, more: Callable[[], str], body: Callable[[], None],
             following: Callable[[], None] = lambda: None) -> None:
        test, inside, after, end = (self.fresh(n) for n in ("test", "loop", "next", "end"))
        self.label(test)
        self.jump(f"br i1 {more()}, label %{inside}, label %{end}")
        self.label(inside)
        self.loops.append((after, end))
        body()
        self.loops.pop()
        self.label(after)
        following()
        self.jump(f"br label %{test}")
        self.label(end)
