"""Expressions of Python over numbers and arrays, as LLVM text."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from .function_text import FunctionText, Value
from .python_calls import Calls
from .signatures import BOOL, FLOAT, INT, Kind, name_of

__all__ = ["Expressions"]

COMPARED = {ast.Lt: lt, ast.LtE: le, ast.Gt: gt, ast.GtE: ge, ast.Eq: eq, ast.NotEq: ne}
OPERATIONS = {ast.Add: ("fadd", "add"), ast.Sub: ("fsub", "sub"), ast.Mult: ("fmul", "mul"),
              ast.FloorDiv: ("", "sdiv"), ast.Mod: ("", "srem"), ast.Div: ("fdiv", "")}  # fmt: skip
COMPARISONS = {ast.Lt: ("olt", "slt"), ast.LtE: ("ole", "sle"), ast.Gt: ("ogt", "sgt"),
               ast.GtE: ("oge", "sge"), ast.Eq: ("oeq", "eq"), ast.NotEq: ("une", "ne"),
               }  # fmt: skip


class Expressions:
    """Values of expressions in a function."""

    def __init__(self, text: FunctionText) -> None:
        self.text, self.calls = text, Calls(text, self.expression)

    def expression(self, node: ast.expr, discard: bool = False) -> Value:
        if isinstance(node, ast.Constant):
            return self.text.constant(node.value, node)
        if isinstance(node, ast.Name):
            return self.text.get(node.id, node)
        if isinstance(node, (ast.Compare, ast.BoolOp)):
            return Value(BOOL, self.truth(node))
        if isinstance(node, ast.Call):
            return self.calls.call(node, discard)
        others: dict[type[ast.expr], Callable[[Any], Value]] = {
            ast.BinOp: self.arithmetic, ast.UnaryOp: self.unary, ast.IfExp: self.either,
            ast.Subscript: self.entry_of, ast.Attribute: self.attribute}
        if type(node) not in others:
            raise self.text.wrong(node, "has no machine code")
        return others[type(node)](node)

    def arithmetic(self, node: ast.BinOp) -> Value:
        a = self.expression(node.left)
        if isinstance(node.op, ast.Pow):
            if isinstance(node.right, ast.Constant) and node.right.value == 2:
                return self.operation(ast.Mult(), a, a, node)
            b = self.text.converted(self.expression(node.right), FLOAT, node)
            return self.calls.intrinsic("pow", self.text.converted(a, FLOAT, node), b)
        return self.operation(node.op, a, self.expression(node.right), node)

    def operation(self, op: ast.operator, a: Value, b: Value, node: ast.AST) -> Value:
        if type(op) not in OPERATIONS:
            raise self.text.wrong(node, "is no operation of numbers")
        whole = a.kind == INT and b.kind == INT and not isinstance(op, ast.Div)
        kind, word = (INT, OPERATIONS[type(op)][1]) if whole else (FLOAT, OPERATIONS[type(op)][0])
        if not word:
            raise self.text.wrong(node, "is for integers only")
        a, b = self.text.converted(a, kind, node), self.text.converted(b, kind, node)
        return Value(kind, self.text.new(f"{word} {kind.scalar} {a.at}, {b.at}"))

    def unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return Value(BOOL, self.text.new(f"xor i1 {self.truth(node.operand)}, 1"))
        if isinstance(node.operand, ast.Constant) and isinstance(node.op, ast.USub):
            return self.text.constant(-node.operand.value, node)  # type: ignore[operator]
        value = self.expression(node.operand)
        if value.kind == FLOAT:
            return Value(FLOAT, self.text.new(f"fneg double {value.at}"))
        return Value(INT, self.text.new(f"sub i64 0, {self.text.converted(value, INT, node).at}"))

    def known(self, node: ast.expr) -> int | None:
        """An integer, or whether something is true, where that is known beforehand."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, int) else None
        if isinstance(node, ast.Name) and node.id not in self.text.variables:
            value = self.text.globals.get(node.id)
            return value if isinstance(value, int) else None
        if isinstance(node, ast.Attribute):
            field = node.value if node.attr == "size" else node
            if isinstance(field, ast.Attribute) and name_of(field.value) in self.text.records:
                return self.text.fact(name_of(field.value), field.attr)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            a, b = self.known(node.left), self.known(node.comparators[0])
            test = COMPARED.get(type(node.ops[0]))
            return None if a is None or b is None or test is None else test(a, b)
        if isinstance(node, ast.BoolOp):
            decisive, parts = isinstance(node.op, ast.Or), [self.known(v) for v in node.values]
            if any(part is not None and bool(part) == decisive for part in parts):
                return decisive
            return None if None in parts else not decisive
        return None

    def truth(self, node: ast.expr) -> str:
        """A register that holds whether something is true."""
        if (known := self.known(node)) is not None:
            return str(int(bool(known)))
        if isinstance(node, ast.BoolOp):
            result, end = self.text.reserve("i1"), self.text.fresh("known")
            for k, part in enumerate(node.values):
                holds = self.truth(part)
                self.text.line(f"store i1 {holds}, ptr {result}")
                if k + 1 < len(node.values):
                    more = self.text.fresh("more")
                    yes, no = (more, end) if isinstance(node.op, ast.And) else (end, more)
                    self.text.jump(f"br i1 {holds}, label %{yes}, label %{no}")
                    self.text.label(more)
            self.text.label(end)
            return self.text.new(f"load i1, ptr {result}")
        if isinstance(node, ast.Compare):
            if len(node.ops) > 1:
                between = [node.left, *node.comparators]
                return self.truth(ast.copy_location(ast.BoolOp(ast.And(), [
                    ast.copy_location(ast.Compare(a, [op], [b]), node) for a, op, b in zip(
                        between[:-1], node.ops, between[1:], strict=True)]), node))
            a, b = self.expression(node.left), self.expression(node.comparators[0])
            if type(node.ops[0]) not in COMPARISONS:
                raise self.text.wrong(node, "is no comparison of numbers")
            kind = FLOAT if FLOAT in (a.kind, b.kind) else INT
            a, b = self.text.converted(a, kind, node), self.text.converted(b, kind, node)
            word = COMPARISONS[type(node.ops[0])][kind == INT]
            compare = "icmp" if kind == INT else "fcmp"
            return self.text.new(f"{compare} {word} {kind.scalar} {a.at}, {b.at}")
        value = self.expression(node)
        if value.kind == INT:
            return self.text.new(f"icmp ne i64 {value.at}, 0")
        if value.kind != BOOL:
            raise self.text.wrong(node, "is neither true nor false")
        return value.at

    def either(self, node: ast.IfExp) -> Value:
        yes, no, end = (self.text.fresh(n) for n in ("then", "else", "end"))
        self.text.jump(f"br i1 {self.truth(node.test)}, label %{yes}, label %{no}")
        self.text.label(yes)
        first = self.expression(node.body)
        if first.kind.dimensions:
            raise self.text.wrong(node, "a choice of arrays")
        is_float = isinstance(node.orelse, ast.Constant) and isinstance(node.orelse.value, float)
        kind = FLOAT if first.kind == INT and is_float else first.kind
        room = self.text.reserve(kind.scalar)
        first = self.text.converted(first, kind, node)
        self.text.line(f"store {kind.scalar} {first.at}, ptr {room}")
        self.text.jump(f"br label %{end}")
        self.text.label(no)
        second = self.text.converted(self.expression(node.orelse), kind, node)
        self.text.line(f"store {kind.scalar} {second.at}, ptr {room}")
        self.text.label(end)
        return Value(kind, self.text.new(f"load {kind.scalar}, ptr {room}"))

    def attribute(self, node: ast.Attribute) -> Value:
        if name_of(node.value) in self.text.records:
            return self.text.field(name_of(node.value), node.attr)
        if node.attr == "size":
            value = self.expression(node.value)
            entries = value.shape[0]
            for more in value.shape[1:]:
                entries = self.text.new(f"mul i64 {entries}, {more}")
            return Value(INT, entries)
        known = self.text.globals.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if inspect.ismodule(known):
            return self.text.constant(getattr(known, node.attr), node)
        raise self.text.wrong(node, "has no machine code")

    def entry_of(self, node: ast.Subscript) -> Value:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            axis = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if not isinstance(axis, int):
                raise self.text.wrong(node, "a dimension is a constant")
            return Value(INT, self.expression(node.value.value).shape[axis])
        place = self.place(node)
        if place.kind.dimensions:
            return place
        value = self.text.new(f"load {place.kind.stored}, ptr {place.at}")
        if place.kind.scalar == "i1":
            value = self.text.new(f"icmp ne i8 {value}, 0")
        return Value(Kind(place.kind.scalar), value)

    def place(self, node: ast.Subscript) -> Value:
        """Where an entry, a row or a part of an array begins."""
        array = self.expression(node.value)
        if not array.kind.dimensions:
            raise self.text.wrong(node, "is no array")
        given = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        while len(given) > 1 and isinstance(given[-1], ast.Slice) and not (
                given[-1].lower or given[-1].upper):
            given.pop()
        at, shape = array.at, list(array.shape)
        for index in given:
            if isinstance(index, ast.Slice):
                if index is not given[-1] or index.step:
                    raise self.text.wrong(node, "a part is the last index, without steps")
                low, high = (self.calls.whole(i) if i else otherwise for i, otherwise in (
                    (index.lower, "0"), (index.upper, shape[0])))
                if low != "0":
                    at = self.moved(array.kind, at, low, shape[1:])
                length = high if low == "0" else self.text.new(f"sub i64 {high}, {low}")
                return Value(Kind(array.kind.scalar, len(shape)), at, (length, *shape[1:]))
            i = self.calls.whole(index)
            if i.startswith("-"):
                i = self.text.new(f"add i64 {shape[0]}, {i}")
            at = self.moved(array.kind, at, i, shape[1:])
            shape = shape[1:]
        return Value(Kind(array.kind.scalar, len(shape)), at, tuple(shape))

    def moved(self, kind: Kind, at: str, index: str, rest: list[str]) -> str:
        for more in rest:
            index = self.text.new(f"mul i64 {index}, {more}")
        return self.text.new(f"getelementptr inbounds {kind.stored}, ptr {at}, i64 {index}")
