"""Functions in plain loops over numbers and arrays, as LLVM text.

A function says the types of its parameters and of what it returns, and uses assignments, ``if``,
``while``, ``for … in range``, arithmetic, entries, rows and parts of arrays, and other such
functions. Integers that are divided are not negative; arrays are contiguous; entries are not
checked.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .expressions import number
from .signatures import (
    BOOL,
    FLOAT,
    INT,
    CFunction,
    Kind,
    Record,
    Signature,
    Untranslatable,
    indices_at,
    kind_named,
    name_of,
    run_code,
    take,
    vector_at,
)

__all__ = ["translated"]

SIZES = {"double": 8, "i64": 8, "i8": 1}
OPERATIONS = {ast.Add: ("fadd", "add"), ast.Sub: ("fsub", "sub"), ast.Mult: ("fmul", "mul"),
              ast.FloorDiv: ("", "sdiv"), ast.Mod: ("", "srem"), ast.Div: ("fdiv", "")}  # fmt: skip
COMPARISONS = {ast.Lt: ("olt", "slt"), ast.LtE: ("ole", "sle"), ast.Gt: ("ogt", "sgt"),
               ast.GtE: ("oge", "sge"), ast.Eq: ("oeq", "eq"), ast.NotEq: ("une", "ne"),
               }  # fmt: skip
INTRINSICS = {"sqrt": 1, "exp": 1, "log": 1, "sin": 1, "cos": 1, "floor": 1, "ceil": 1,
              "copysign": 2}  # fmt: skip
INFINITY = float("inf")


@dataclass(frozen=True)
class Value:
    """A number in a register, or where an array begins and how long it is in each dimension."""

    kind: Kind
    at: str
    shape: tuple[str, ...] = ()


def translated(function: Signature, called_by_c: bool = False) -> str:
    """LLVM text of a function, of all that it calls, and of ``@main`` to call it from outside.

    ``@main`` is given where to store what the function returns, and then what it takes; or, where
    it is ``called_by_c``, is a function of C: ``double`` for a number, ``ptr`` for an integer, and
    an ``int`` that is returned.
    """
    waiting, bodies, declared = [function], {}, set()
    while waiting:
        one = waiting.pop()
        if one.symbol not in bodies:
            body = _Body(one)
            bodies[one.symbol] = body.text()
            declared |= body.declared
            waiting += body.called
    return "\n".join([*sorted(declared), *bodies.values(),
                      _callback(function) if called_by_c else _entrance(function)])


def _entrance(function: Signature) -> str:
    kind, lines = _returned(function.returns), []
    parameters = _Body(function).parameters()
    call = f"call {kind} @\"{function.symbol}\"({', '.join(parameters)})"
    lines.append(f"  {'%result = ' if function.returns else ''}{call}")
    for k, one in enumerate(function.returns):
        value, at = "%result", f"%at.{k}"
        if len(function.returns) > 1:
            value = f"%value.{k}"
            lines.append(f"  {value} = extractvalue {kind} %result, {k}")
        lines.append(f"  {at} = getelementptr i8, ptr %results, i64 {8 * k}")
        if one == BOOL:
            lines.append(f"  %wide.{k} = zext i1 {value} to i64")
            value = f"%wide.{k}"
        lines.append(f"  store {one.scalar if one != BOOL else 'i64'} {value}, ptr {at}")
    return "\n".join([f"define void @main({', '.join(['ptr %results', *parameters])}) nounwind {{",
                      *lines, "  ret void", "}", ""])


def _callback(function: Signature) -> str:
    takes, lines, given = [], [], []
    for name, kind in function.parameters:
        if kind not in (FLOAT, INT) or function.returns != (INT,):
            raise Untranslatable(f"{function.symbol}: C gives and takes numbers alone")
        takes.append(f"{'double' if kind == FLOAT else 'ptr'} %{name}")
        if kind == INT:
            lines.append(f"  %address.{name} = ptrtoint ptr %{name} to i64")
        given.append(f"double %{name}" if kind == FLOAT else f"i64 %address.{name}")
    return "\n".join([f"define i32 @main({', '.join(takes)}) nounwind {{", *lines,
                      f"  %result = call i64 @\"{function.symbol}\"({', '.join(given)})",
                      "  %short = trunc i64 %result to i32", "  ret i32 %short", "}", ""])


def _returned(kinds: tuple[Kind, ...]) -> str:
    """The type of LLVM that holds what a function returns."""
    if len(kinds) == 1:
        return kinds[0].scalar
    return "{" + ", ".join(k.scalar for k in kinds) + "}" if kinds else "void"


def _expanded(kind: Kind, name: str) -> list[str]:
    """Parameters of LLVM for one of Python: an array comes with its shape."""
    if not kind.dimensions:
        return [f"{kind.scalar} %{name}"]
    return [f"ptr %{name}", *(f"i64 %{name}.{d}" for d in range(kind.dimensions))]


class _Body:
    """The text of one function."""

    def __init__(self, function: Signature) -> None:
        self.function = function
        self.globals = {**vars(__import__("builtins")), **function.python.__globals__}
        self.entry: list[str] = []
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self.called: list[Signature] = []
        self.variables: dict[str, Value] = {}
        self.records: dict[str, dict[str, Value]] = {}  # those that were given
        self.loops: list[tuple[str, str]] = []  # where to continue, and where to end
        self.count = 0
        self.ended = False

    def text(self) -> str:
        parameters = self.parameters()
        for statement in self.function.tree.body:
            self.statement(statement)
        returns = self.function.returns
        if not self.ended:
            self.lines.append("  unreachable" if returns else "  ret void")
        head = (f"define internal {_returned(returns)} "
                f"@\"{self.function.symbol}\"({', '.join(parameters)}) nounwind {{")
        return "\n".join([head, *self.entry, *self.lines, "}", ""])

    def parameters(self) -> list[str]:
        """Parameters of LLVM; their values become known."""
        parameters = []
        for name, kind in self.function.parameters:
            if isinstance(kind, Record):
                self.records[name] = {}
                for field, of_field in kind.fields:
                    shown, value = self.given(of_field, f"given.{name}.{field}")
                    parameters += shown
                    self.records[name][field] = value
            else:
                shown, value = self.given(kind, f"given.{name}")
                parameters += shown
                self._set(name, value)
        return parameters

    def given(self, kind: Kind, name: str) -> tuple[list[str], Value]:
        shown = _expanded(kind, name)
        at, *shape = [p.split()[1] for p in shown]
        return shown, Value(kind, at, tuple(shape))

    # -- lines ---------------------------------------------------------------------------
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

    def reserve(self, kind: str, entries: int = 1) -> str:
        self.count += 1
        name = f"%room.{self.count}"
        self.entry.append(f"  {name} = alloca {kind}, i64 {entries}, align 16")
        return name

    def wrong(self, node: ast.AST, text: str) -> Untranslatable:
        first = self.function.python.__code__.co_firstlineno
        line = first - 1 + getattr(node, "lineno", 1)
        return Untranslatable(f"{self.function.symbol}, line {line}: {text}: {ast.unparse(node)}")

    # -- variables ------------------------------------------------------------------------
    def _set(self, name: str, value: Value, node: ast.AST | None = None) -> None:
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

    def _get(self, name: str, node: ast.AST) -> Value:
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
            name = f"@\"{self.function.symbol}.{hash_of(shown)}\""
            self.declared.add(
                f"{name} = private constant [{len(value)} x {kind.scalar}] [{shown}]")
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

    # -- statements -------------------------------------------------------------------------
    def statement(self, node: ast.stmt) -> None:
        find = getattr(self, f"_{type(node).__name__.lower()}", None)
        if find is None:
            raise self.wrong(node, "has no machine code")
        find(node)

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def _pass(self, node: ast.Pass) -> None:
        pass

    def _expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.expression(node.value, discard=True)

    def _assign(self, node: ast.Assign) -> None:
        if isinstance(node.value, ast.Tuple):
            (target,) = node.targets
            if not isinstance(target, ast.Tuple):
                raise self.wrong(node, "a tuple is no value")
            values = [self.expression(v) for v in node.value.elts]
            for one, value in zip(target.elts, values, strict=True):
                self.assign(one, value)
            return
        if isinstance(node.targets[0], ast.Tuple):
            for one, value in zip(node.targets[0].elts, self.several(node.value), strict=True):
                self.assign(one, value)
            return
        value = self.expression(node.value)
        for target in node.targets:
            self.assign(target, value)

    def several(self, node: ast.expr) -> list[Value]:
        """The numbers that a function returns."""
        known = self.globals.get(name_of(node.func)) if isinstance(node, ast.Call) else None
        if not isinstance(known, Signature) or not isinstance(node, ast.Call):
            raise self.wrong(node, "is no tuple")
        name = self.function_call(known, node)
        return [Value(kind, self.new(f"extractvalue {_returned(known.returns)} {name}, {k}"))
                for k, kind in enumerate(known.returns)]

    def _annassign(self, node: ast.AnnAssign) -> None:
        assert node.value is not None
        value = self.expression(node.value)
        self.assign(node.target, self.converted(value, kind_named(node.annotation), node))

    def _augassign(self, node: ast.AugAssign) -> None:
        here = ast.parse(ast.unparse(node.target), mode="eval").body
        if isinstance(node.op, (ast.BitOr, ast.BitAnd)):
            word = "or" if isinstance(node.op, ast.BitOr) else "and"
            a, b = self.expression(here), self.truth(node.value)
            self.assign(node.target, Value(BOOL, self.new(f"{word} i1 {a.at}, {b}")))
            return
        self.assign(node.target, self.expression(
            ast.copy_location(ast.BinOp(here, node.op, node.value), node)))

    def assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._set(target.id, value, target)
            return
        if not isinstance(target, ast.Subscript):
            raise self.wrong(target, "cannot be assigned to")
        place = self.place(target)
        if place.kind.dimensions:
            self.fill(place, value, target)
            return
        value = self.converted(value, Kind(place.kind.scalar), target)
        at = value.at if value.kind != BOOL else self.new(f"zext i1 {value.at} to i8")
        self.line(f"store {place.kind.stored} {at}, ptr {place.at}")

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
        test, inside, after, end = (self.fresh(n) for n in ("test", "loop", "next", "end"))
        self.line(f"store i64 {first}, ptr {index}")
        self.label(test)
        i = self.new(f"load i64, ptr {index}")
        more = self.new(f"icmp {'sgt' if step.startswith('-') else 'slt'} i64 {i}, {stop}")
        self.jump(f"br i1 {more}, label %{inside}, label %{end}")
        self.label(inside)
        self.loops.append((after, end))
        body(i)
        self.loops.pop()
        self.label(after)
        i = self.new(f"load i64, ptr {index}")
        self.line(f"store i64 {self.new(f'add i64 {i}, {step}')}, ptr {index}")
        self.jump(f"br label %{test}")
        self.label(end)

    def _for(self, node: ast.For) -> None:
        call = node.iter
        if node.orelse or not (isinstance(node.target, ast.Name) and isinstance(call, ast.Call)
                               and isinstance(call.func, ast.Name) and call.func.id == "range"):
            raise self.wrong(node, "only 'for i in range(...)'")
        given = [self.converted(self.expression(a), INT, a).at for a in call.args]
        first, stop, step = ["0", *given, "1"] if len(given) == 1 else [*given, "1"][:3]
        name = node.target.id
        # Python's index is a variable of its own: the body may change it, or read it afterwards
        index = self.reserve("i64")

        def body(i: str) -> None:
            self._set(name, Value(INT, i))
            self.block(node.body)

        self.counted(index, first, stop, step, body)

    def _while(self, node: ast.While) -> None:
        if node.orelse:
            raise self.wrong(node, "'else' of a loop")
        test, inside, end = (self.fresh(n) for n in ("while", "loop", "end"))
        self.label(test)
        self.jump(f"br i1 {self.truth(node.test)}, label %{inside}, label %{end}")
        self.label(inside)
        self.loops.append((test, end))
        self.block(node.body)
        self.loops.pop()
        if not self.ended:
            self.jump(f"br label %{test}")
        self.label(end)

    def _if(self, node: ast.If) -> None:
        yes, no, end = (self.fresh(n) for n in ("then", "else", "end"))
        self.jump(f"br i1 {self.truth(node.test)}, label %{yes}, label %{no}")
        self.label(yes)
        self.block(node.body)
        if not self.ended:
            self.jump(f"br label %{end}")
        self.label(no)
        self.block(node.orelse)
        self.label(end)

    def _break(self, node: ast.Break) -> None:
        self.jump(f"br label %{self.loops[-1][1]}")

    def _continue(self, node: ast.Continue) -> None:
        self.jump(f"br label %{self.loops[-1][0]}")

    def _return(self, node: ast.Return) -> None:
        kinds = self.function.returns
        given = node.value.elts if isinstance(node.value, ast.Tuple) else (
            [node.value] if node.value else [])
        if len(given) != len(kinds):
            raise self.wrong(node, f"returns {len(given)} values instead of {len(kinds)}")
        values = [self.converted(self.expression(v), kind, node)
                  for v, kind in zip(given, kinds, strict=True)]
        if len(values) < 2:
            self.jump(f"ret {kinds[0].scalar} {values[0].at}" if values else "ret void")
            return
        whole = "undef"
        for k, value in enumerate(values):
            whole = self.new(f"insertvalue {_returned(kinds)} {whole}, "
                             f"{value.kind.scalar} {value.at}, {k}")
        self.jump(f"ret {_returned(kinds)} {whole}")

    # -- expressions ----------------------------------------------------------------------------
    def expression(self, node: ast.expr, discard: bool = False) -> Value:
        if isinstance(node, ast.Constant):
            return self.constant(node.value, node)
        if isinstance(node, ast.Name):
            return self._get(node.id, node)
        if isinstance(node, ast.BinOp):
            return self.arithmetic(node)
        if isinstance(node, ast.UnaryOp):
            return self.unary(node)
        if isinstance(node, (ast.Compare, ast.BoolOp)):
            return Value(BOOL, self.truth(node))
        if isinstance(node, ast.IfExp):
            return self.either(node)
        if isinstance(node, ast.Call):
            return self.call(node, discard)
        if isinstance(node, ast.Subscript):
            return self.entry_of(node)
        if isinstance(node, ast.Attribute):
            return self.attribute(node)
        raise self.wrong(node, "has no machine code")

    def arithmetic(self, node: ast.BinOp) -> Value:
        a = self.expression(node.left)
        if isinstance(node.op, ast.Pow):
            if isinstance(node.right, ast.Constant) and node.right.value == 2:
                return self.operation(ast.Mult(), a, a, node)
            b = self.converted(self.expression(node.right), FLOAT, node)
            return self.intrinsic("pow", self.converted(a, FLOAT, node), b)
        return self.operation(node.op, a, self.expression(node.right), node)

    def operation(self, op: ast.operator, a: Value, b: Value, node: ast.AST) -> Value:
        if type(op) not in OPERATIONS:
            raise self.wrong(node, "is no operation of numbers")
        whole = a.kind == INT and b.kind == INT and not isinstance(op, ast.Div)
        kind, word = (INT, OPERATIONS[type(op)][1]) if whole else (FLOAT, OPERATIONS[type(op)][0])
        if not word:
            raise self.wrong(node, "is for integers only")
        a, b = self.converted(a, kind, node), self.converted(b, kind, node)
        return Value(kind, self.new(f"{word} {kind.scalar} {a.at}, {b.at}"))

    def unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return Value(BOOL, self.new(f"xor i1 {self.truth(node.operand)}, 1"))
        if isinstance(node.operand, ast.Constant) and isinstance(node.op, ast.USub):
            return self.constant(-node.operand.value, node)  # type: ignore[operator]
        value = self.expression(node.operand)
        if value.kind == FLOAT:
            return Value(FLOAT, self.new(f"fneg double {value.at}"))
        return Value(INT, self.new(f"sub i64 0, {self.converted(value, INT, node).at}"))

    def truth(self, node: ast.expr) -> str:
        """A register that holds whether something is true."""
        if isinstance(node, ast.BoolOp):
            result, end = self.reserve("i1"), self.fresh("known")
            for k, part in enumerate(node.values):
                holds = self.truth(part)
                self.line(f"store i1 {holds}, ptr {result}")
                if k + 1 < len(node.values):
                    more = self.fresh("more")
                    yes, no = (more, end) if isinstance(node.op, ast.And) else (end, more)
                    self.jump(f"br i1 {holds}, label %{yes}, label %{no}")
                    self.label(more)
            self.label(end)
            return self.new(f"load i1, ptr {result}")
        if isinstance(node, ast.Compare):
            if len(node.ops) > 1:
                between = [node.left, *node.comparators]
                return self.truth(ast.copy_location(ast.BoolOp(ast.And(), [
                    ast.copy_location(ast.Compare(a, [op], [b]), node) for a, op, b in zip(
                        between[:-1], node.ops, between[1:], strict=True)]), node))
            a, b = self.expression(node.left), self.expression(node.comparators[0])
            if type(node.ops[0]) not in COMPARISONS:
                raise self.wrong(node, "is no comparison of numbers")
            kind = FLOAT if FLOAT in (a.kind, b.kind) else INT
            a, b = self.converted(a, kind, node), self.converted(b, kind, node)
            word = COMPARISONS[type(node.ops[0])][kind == INT]
            compare = "icmp" if kind == INT else "fcmp"
            return self.new(f"{compare} {word} {kind.scalar} {a.at}, {b.at}")
        value = self.expression(node)
        if value.kind == INT:
            return self.new(f"icmp ne i64 {value.at}, 0")
        if value.kind != BOOL:
            raise self.wrong(node, "is neither true nor false")
        return value.at

    def either(self, node: ast.IfExp) -> Value:
        yes, no, end = (self.fresh(n) for n in ("then", "else", "end"))
        self.jump(f"br i1 {self.truth(node.test)}, label %{yes}, label %{no}")
        self.label(yes)
        first = self.expression(node.body)
        if first.kind.dimensions:
            raise self.wrong(node, "a choice of arrays")
        kind = FLOAT if first.kind == INT and self.is_float(node.orelse) else first.kind
        room = self.reserve(kind.scalar)
        first = self.converted(first, kind, node)
        self.line(f"store {kind.scalar} {first.at}, ptr {room}")
        self.jump(f"br label %{end}")
        self.label(no)
        second = self.converted(self.expression(node.orelse), kind, node)
        self.line(f"store {kind.scalar} {second.at}, ptr {room}")
        self.label(end)
        return Value(kind, self.new(f"load {kind.scalar}, ptr {room}"))

    def is_float(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Constant) and isinstance(node.value, float)

    def intrinsic(self, name: str, *given: Value) -> Value:
        types = ", ".join("double" for _ in given)
        self.declared.add(f"declare double @llvm.{name}.f64({types})")
        shown = ", ".join(f"double {v.at}" for v in given)
        return Value(FLOAT, self.new(f"call double @llvm.{name}.f64({shown})"))

    def call(self, node: ast.Call, discard: bool) -> Value:
        name = node.func.id if isinstance(node.func, ast.Name) else (
            node.func.attr if isinstance(node.func, ast.Attribute) else "")
        known = self.globals.get(name) if isinstance(node.func, ast.Name) else None
        if isinstance(known, Signature):
            if len(known.returns) != 1 and not (discard and not known.returns):
                raise self.wrong(node, "is no number")
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
        if name in ("max", "min"):
            result = given[0]
            for other in given[1:]:
                result = self.extreme(name, result, other, node)
            return result
        if name == "abs":
            (a,) = given
            if a.kind == INT:
                raise self.wrong(node, "is for floating-point numbers")
            return self.intrinsic("fabs", a)
        if name == "float":
            return self.converted(given[0], FLOAT, node)
        if name == "int":
            (a,) = given
            if a.kind != FLOAT:
                return self.converted(a, INT, node)
            return Value(INT, self.new(f"fptosi double {a.at} to i64"))
        if name == "len":
            return Value(INT, given[0].shape[0])
        if name == "isnan":
            (a,) = given
            return Value(BOOL, self.new(f"fcmp uno double {a.at}, {a.at}"))
        if name == "isfinite":
            size = self.intrinsic("fabs", given[0])
            return Value(BOOL, self.new(f"fcmp olt double {size.at}, {number(INFINITY)}"))
        if name in INTRINSICS and len(given) == INTRINSICS[name]:
            return self.intrinsic(name, *(self.converted(v, FLOAT, node) for v in given))
        raise self.wrong(node, "is no function that has machine code")

    def extreme(self, name: str, a: Value, b: Value, node: ast.AST) -> Value:
        """As Python does: the first, unless the other one is beyond it."""
        kind = INT if a.kind == INT and b.kind == INT else FLOAT
        a, b = self.converted(a, kind, node), self.converted(b, kind, node)
        word = {"max": ("ogt", "sgt"), "min": ("olt", "slt")}[name][kind == INT]
        compare = "icmp" if kind == INT else "fcmp"
        beyond = self.new(f"{compare} {word} {kind.scalar} {b.at}, {a.at}")
        return Value(kind, self.new(
            f"select i1 {beyond}, {kind.scalar} {b.at}, {kind.scalar} {a.at}"))

    def function_call(self, known: Signature, node: ast.Call) -> str:
        """The register with what a function returns; "0" for nothing."""
        self.called.append(known)
        if node.keywords or len(node.args) != len(known.parameters):
            raise self.wrong(node, f"{known.__name__} takes {len(known.parameters)} arguments")
        shown: list[str] = []
        for argument, (_, kind) in zip(node.args, known.parameters, strict=True):
            if isinstance(kind, Record):
                fields = self.records[name_of(argument)]
                values = [fields[name] for name, _ in kind.fields]
            else:
                values = [self.converted(self.expression(argument), kind, argument)]
            for value in values:
                shown.append(f"{'ptr' if value.kind.dimensions else value.kind.scalar} {value.at}")
                shown += [f"i64 {n}" for n in value.shape]
        text = f"call {_returned(known.returns)} @\"{known.symbol}\"({', '.join(shown)})"
        if known.returns:
            return self.new(text)
        self.line(text)
        return "0"

    def by_address(self, takes: bool, node: ast.Call) -> Value:
        address, *given = [self.pointer(a) for a in node.args]
        if takes:
            return Value(INT, self.new(f"atomicrmw add ptr {address}, i64 1 monotonic"))
        shown = ", ".join(f"ptr {g}" for g in given)
        self.line(f"call void {address}({shown})")
        return Value(INT, "0")

    def call_of_c(self, known: CFunction, node: ast.Call) -> Value:
        if node.keywords or len(node.args) != len(known.takes) + 1:
            raise self.wrong(node, f"takes an address and {len(known.takes)} arguments")
        address, shown = self.pointer(node.args[0]), []
        for argument, kind in zip(node.args[1:], known.takes, strict=True):
            if kind == "ptr":
                shown.append(f"ptr {self.pointer(argument)}")
            elif kind == "double":
                value = self.converted(self.expression(argument), FLOAT, argument)
                shown.append(f"double {value.at}")
            else:
                shown.append(f"i32 {self.new(f'trunc i64 {self.whole(argument)} to i32')}")
        result = self.new(f"call {known.returns} {address}({', '.join(shown)})")
        word = "ptrtoint" if known.returns == "ptr" else "sext"
        return Value(INT, self.new(f"{word} {known.returns} {result} to i64"))

    def pointer(self, node: ast.expr) -> str:
        value = self.expression(node)
        if value.kind.dimensions:
            return value.at
        return self.new(f"inttoptr i64 {self.converted(value, INT, node).at} to ptr")

    def array(self, node: ast.Call, zeros: bool) -> Value:
        """Room for as many numbers as is known beforehand."""
        size = self.globals.get(node.args[0].id) if isinstance(node.args[0], ast.Name) else (
            node.args[0].value if isinstance(node.args[0], ast.Constant) else None)
        if not isinstance(size, int):
            raise self.wrong(node, "room inside a function has a constant size")
        place = Value(Kind("double", 1), self.reserve("double", size), (str(size),))
        if zeros:
            self.fill(place, Value(FLOAT, number(0.0)), node)
        return place

    # -- arrays -----------------------------------------------------------------------------
    def attribute(self, node: ast.Attribute) -> Value:
        record = self.records.get(name_of(node.value)) if isinstance(node.value, ast.Name) else None
        if record is not None:
            return record[node.attr]
        if node.attr == "size":
            value = self.expression(node.value)
            entries = value.shape[0]
            for more in value.shape[1:]:
                entries = self.new(f"mul i64 {entries}, {more}")
            return Value(INT, entries)
        known = self.globals.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if inspect.ismodule(known):
            return self.constant(getattr(known, node.attr), node)
        raise self.wrong(node, "has no machine code")

    def entry_of(self, node: ast.Subscript) -> Value:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            axis = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if not isinstance(axis, int):
                raise self.wrong(node, "a dimension is a constant")
            return Value(INT, self.expression(node.value.value).shape[axis])
        place = self.place(node)
        if place.kind.dimensions:
            return place
        value = self.new(f"load {place.kind.stored}, ptr {place.at}")
        if place.kind.scalar == "i1":
            value = self.new(f"icmp ne i8 {value}, 0")
        return Value(Kind(place.kind.scalar), value)

    def place(self, node: ast.Subscript) -> Value:
        """Where an entry, a row or a part of an array begins."""
        array = self.expression(node.value)
        if not array.kind.dimensions:
            raise self.wrong(node, "is no array")
        given = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        while len(given) > 1 and isinstance(given[-1], ast.Slice) and not (
                given[-1].lower or given[-1].upper):
            given.pop()
        at, shape = array.at, list(array.shape)
        for index in given:
            if isinstance(index, ast.Slice):
                if index is not given[-1] or index.step:
                    raise self.wrong(node, "a part is the last index, without steps")
                low, high = (self.whole(i) if i else otherwise for i, otherwise in (
                    (index.lower, "0"), (index.upper, shape[0])))
                if low != "0":
                    at = self.moved(array.kind, at, low, shape[1:])
                length = high if low == "0" else self.new(f"sub i64 {high}, {low}")
                return Value(Kind(array.kind.scalar, len(shape)), at, (length, *shape[1:]))
            i = self.whole(index)
            if i.startswith("-"):
                i = self.new(f"add i64 {shape[0]}, {i}")
            at = self.moved(array.kind, at, i, shape[1:])
            shape = shape[1:]
        return Value(Kind(array.kind.scalar, len(shape)), at, tuple(shape))

    def whole(self, node: ast.expr) -> str:
        """The register of an integer."""
        return self.converted(self.expression(node), INT, node).at

    def moved(self, kind: Kind, at: str, index: str, rest: list[str]) -> str:
        for more in rest:
            index = self.new(f"mul i64 {index}, {more}")
        return self.new(f"getelementptr inbounds {kind.stored}, ptr {at}, i64 {index}")


def hash_of(text: str) -> str:
    """A short name for a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]
