"""Expressions of Python over numbers and arrays, as LLVM text.

And calls of functions in them: of others in plain loops, of C, of code at an address.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne
from types import FunctionType
from typing import Any

from .function_text import FunctionText, Value, returned
from .operations import number
from .signatures import (
    BOOL,
    FLOAT,
    INT,
    CFunction,
    Kind,
    Record,
    Signature,
    indices_at,
    multiply_add,
    name_of,
    run_code,
    take,
    vector_at,
)

__all__ = ["Expressions"]

INTRINSICS = {"sqrt": 1, "exp": 1, "log": 1, "sin": 1, "cos": 1, "floor": 1, "ceil": 1,
              "copysign": 2}  # fmt: skip
INFINITY = float("inf")
OWN = run_code, take, vector_at, indices_at, multiply_add  # not by their text

COMPARED = {ast.Lt: lt, ast.LtE: le, ast.Gt: gt, ast.GtE: ge, ast.Eq: eq, ast.NotEq: ne}
OPERATIONS = {ast.Add: ("fadd", "add"), ast.Sub: ("fsub", "sub"), ast.Mult: ("fmul", "mul"),
              ast.FloorDiv: ("", "sdiv"), ast.Mod: ("", "srem"), ast.Div: ("fdiv", "")}  # fmt: skip
COMPARISONS = {ast.Lt: ("olt", "slt"), ast.LtE: ("ole", "sle"), ast.Gt: ("ogt", "sgt"),
               ast.GtE: ("oge", "sge"), ast.Eq: ("oeq", "eq"), ast.NotEq: ("une", "ne"),
               }  # fmt: skip


class Expressions:
    """Values of expressions in a function."""

    def __init__(self, text: FunctionText) -> None:
        self.text = text

    def expression(self, node: ast.expr, discard: bool = False) -> Value:
        if isinstance(node, ast.Constant):
            return self.text.constant(node.value, node)
        if isinstance(node, ast.Name):
            return self.text.get(node.id, node)
        if isinstance(node, (ast.Compare, ast.BoolOp)):
            return Value(BOOL, self.truth(node))
        if isinstance(node, ast.Call):
            return self.call(node, discard)
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
            return self.intrinsic("pow", self.text.converted(a, FLOAT, node), b)
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
                low, high = (self.whole(i) if i else otherwise for i, otherwise in (
                    (index.lower, "0"), (index.upper, shape[0])))
                if low != "0":
                    at = self.moved(array.kind, at, low, shape[1:])
                length = high if low == "0" else self.text.new(f"sub i64 {high}, {low}")
                return Value(Kind(array.kind.scalar, len(shape)), at, (length, *shape[1:]))
            i = self.whole(index)
            if i.startswith("-"):
                i = self.text.new(f"add i64 {shape[0]}, {i}")
            at = self.moved(array.kind, at, i, shape[1:])
            shape = shape[1:]
        return Value(Kind(array.kind.scalar, len(shape)), at, tuple(shape))

    def moved(self, kind: Kind, at: str, index: str, rest: list[str]) -> str:
        for more in rest:
            index = self.text.new(f"mul i64 {index}, {more}")
        return self.text.new(f"getelementptr inbounds {kind.stored}, ptr {at}, i64 {index}")

    # -- calls ----------------------------------------------------------------------------
    def call(self, node: ast.Call, discard: bool) -> Value:
        name = node.func.id if isinstance(node.func, ast.Name) else (
            node.func.attr if isinstance(node.func, ast.Attribute) else "")
        known = self.text.globals.get(name) if isinstance(node.func, ast.Name) else None
        if isinstance(known, FunctionType) and known not in OWN:
            known = Signature(known)  # in plain loops, too, or its text is refused
        if isinstance(known, Signature):
            if len(known.returns) != 1 and not discard:
                raise self.text.wrong(node, "is no number")
            at = self.function_call(known, node)
            return Value(known.returns[0] if known.returns else INT, at)
        if known is run_code or known is take:
            return self.by_address(known is take, node)
        if isinstance(known, CFunction):
            return self.call_of_c(known, node)
        if known is vector_at or known is indices_at:
            kind = Kind("double" if known is vector_at else "i64", 1)
            return Value(kind, self.pointer(node.args[0]), (self.whole(node.args[1]),))
        given = [self.expression(a) for a in node.args]
        if known is multiply_add:
            return self.intrinsic("fma", *(self.text.converted(v, FLOAT, node) for v in given))
        if name in ("max", "min"):
            result = given[0]
            for other in given[1:]:
                result = self.extreme(name, result, other, node)
            return result
        if name == "abs":
            (a,) = given
            if a.kind == INT:
                raise self.text.wrong(node, "is for floating-point numbers")
            return self.intrinsic("fabs", a)
        if name == "int":
            (a,) = given
            if a.kind != FLOAT:
                return self.text.converted(a, INT, node)
            return Value(INT, self.text.new(f"fptosi double {a.at} to i64"))
        if name == "isnan":
            (a,) = given
            return Value(BOOL, self.text.new(f"fcmp uno double {a.at}, {a.at}"))
        if name == "isfinite":
            size = self.intrinsic("fabs", given[0])
            return Value(BOOL, self.text.new(f"fcmp olt double {size.at}, {number(INFINITY)}"))
        if name in INTRINSICS and len(given) == INTRINSICS[name]:
            return self.intrinsic(name, *(self.text.converted(v, FLOAT, node) for v in given))
        raise self.text.wrong(node, "is no function that has machine code")

    def intrinsic(self, name: str, *given: Value) -> Value:
        types = ", ".join("double" for _ in given)
        self.text.declared.add(f"declare double @llvm.{name}.f64({types})")
        shown = ", ".join(f"double {v.at}" for v in given)
        return Value(FLOAT, self.text.new(f"call double @llvm.{name}.f64({shown})"))

    def extreme(self, name: str, a: Value, b: Value, node: ast.AST) -> Value:
        """Take ``min`` or ``max`` as Python does: the first, unless the other one is beyond it."""
        kind = INT if a.kind == INT and b.kind == INT else FLOAT
        a, b = self.text.converted(a, kind, node), self.text.converted(b, kind, node)
        word = {"max": ("ogt", "sgt"), "min": ("olt", "slt")}[name][kind == INT]
        compare = "icmp" if kind == INT else "fcmp"
        beyond = self.text.new(f"{compare} {word} {kind.scalar} {b.at}, {a.at}")
        return Value(kind, self.text.new(
            f"select i1 {beyond}, {kind.scalar} {b.at}, {kind.scalar} {a.at}"))

    def function_call(self, known: Signature, node: ast.Call) -> str:
        """The register with what a function returns; "0" for nothing."""
        self.text.called.append(known)
        if node.keywords or len(node.args) != len(known.parameters):
            raise self.text.wrong(node, f"{known.__name__} takes {len(known.parameters)} arguments")
        shown: list[str] = []
        for argument, (_, kind) in zip(node.args, known.parameters, strict=True):
            if isinstance(kind, Record):
                shown.append(f"ptr %given.{name_of(argument)}")
                continue
            value = self.text.converted(self.expression(argument), kind, argument)
            shown.append(f"{'ptr' if value.kind.dimensions else value.kind.scalar} {value.at}")
            shown += [f"i64 {n}" for n in value.shape]
        text = f"call {returned(known.returns)} @\"{known.symbol}\"({', '.join(shown)})"
        if known.returns:
            return self.text.new(text)
        self.text.line(text)
        return "0"

    def by_address(self, takes: bool, node: ast.Call) -> Value:
        address, *given = [self.pointer(a) for a in node.args]
        if takes:
            return Value(INT, self.text.new(f"atomicrmw add ptr {address}, i64 1 monotonic"))
        shown = ", ".join(f"ptr {g}" for g in given)
        self.text.line(f"call void {address}({shown})")
        return Value(INT, "0")

    def call_of_c(self, known: CFunction, node: ast.Call) -> Value:
        if node.keywords or len(node.args) != len(known.takes) + 1:
            raise self.text.wrong(node, f"takes an address and {len(known.takes)} arguments")
        address, shown = self.pointer(node.args[0]), []
        for argument, kind in zip(node.args[1:], known.takes, strict=True):
            if kind == "ptr":
                shown.append(f"ptr {self.pointer(argument)}")
            elif kind == "double":
                value = self.text.converted(self.expression(argument), FLOAT, argument)
                shown.append(f"double {value.at}")
            else:
                shown.append(f"i32 {self.text.new(f'trunc i64 {self.whole(argument)} to i32')}")
        result = self.text.new(f"call {known.returns} {address}({', '.join(shown)})")
        word = "ptrtoint" if known.returns == "ptr" else "sext"
        return Value(INT, self.text.new(f"{word} {known.returns} {result} to i64"))

    def pointer(self, node: ast.expr) -> str:
        value = self.expression(node)
        if value.kind.dimensions:
            return value.at
        return self.text.new(f"inttoptr i64 {self.text.converted(value, INT, node).at} to ptr")

    def several(self, node: ast.expr) -> list[Value]:
        """The numbers that a function returns."""
        known = self.text.globals.get(name_of(node.func)) if isinstance(node, ast.Call) else None
        if not isinstance(known, Signature) or not isinstance(node, ast.Call):
            raise self.text.wrong(node, "is no tuple")
        name = self.function_call(known, node)
        return [Value(kind, self.text.new(f"extractvalue {returned(known.returns)} {name}, {k}"))
                for k, kind in enumerate(known.returns)]

    def whole(self, node: ast.expr) -> str:
        """The register of an integer."""
        return self.text.converted(self.expression(node), INT, node).at
