"""Calls of functions, as LLVM text: of others in plain loops, of C, of code at an address."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FunctionType

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

__all__ = ["Calls"]

INTRINSICS = {"sqrt": 1, "exp": 1, "log": 1, "sin": 1, "cos": 1, "floor": 1, "ceil": 1,
              "copysign": 2}  # fmt: skip
INFINITY = float("inf")
OWN = run_code, take, vector_at, indices_at, multiply_add  # not by their text


class Calls:
    """Calls in a function; ``expression`` gives the values of arguments."""

    def __init__(self, text: FunctionText, expression: Callable[[ast.expr], Value]) -> None:
        self.text, self.expression = text, expression

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
        if name == "empty" or name == "zeros":
            return self.array(node, name == "zeros")
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
        if name == "float":
            return self.text.converted(given[0], FLOAT, node)
        if name == "int":
            (a,) = given
            if a.kind != FLOAT:
                return self.text.converted(a, INT, node)
            return Value(INT, self.text.new(f"fptosi double {a.at} to i64"))
        if name == "len":
            return Value(INT, given[0].shape[0])
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
        """As Python does: the first, unless the other one is beyond it."""
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

    def array(self, node: ast.Call, zeros: bool) -> Value:
        """Room for as many numbers as is known beforehand."""
        size = self.text.globals.get(node.args[0].id) if isinstance(node.args[0], ast.Name) else (
            node.args[0].value if isinstance(node.args[0], ast.Constant) else None)
        if not isinstance(size, int):
            raise self.text.wrong(node, "room inside a function has a constant size")
        place = Value(Kind("double", 1), self.text.reserve("double", size), (str(size),))
        if zeros:
            self.text.fill(place, Value(FLOAT, number(0.0)), node)
        return place

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
