"""Functions in plain loops over numbers and arrays, as LLVM text.

A function says the types of its parameters and of what it returns, and uses assignments, ``if``,
``while``, ``for … in range``, arithmetic, entries, rows and parts of arrays, and other such
functions. Integers that are divided are not negative; arrays are contiguous; entries are not
checked.
"""

from __future__ import annotations

import ast

from .function_text import FunctionText, Value, given_as, read_from, returned
from .python_expressions import Expressions
from .signatures import (
    BOOL,
    FLOAT,
    INT,
    Facts,
    Kind,
    Record,
    Signature,
    Untranslatable,
    kind_named,
    name_of,
)

__all__ = ["translated"]


def translated(function: Signature, called_by_c: bool = False, facts: Facts | None = None) -> str:
    """LLVM text of a function, of all that it calls, and of ``@main`` to call it from outside.

    What cannot be reached where the ``facts`` hold is left out.

    ``@main`` is given a table: the address where to store what the function returns, and then what
    it takes, records field by field; or, where it is ``called_by_c``, is a function of C:
    ``double`` for a number, ``ptr`` for an integer, and an ``int`` that is returned.
    """
    waiting, bodies, declared = [function], {}, set()
    while waiting:
        one = waiting.pop()
        if one.symbol not in bodies:
            text = FunctionText(one, facts)
            parameters = text.parameters()
            _Statements(text).block(one.tree.body)
            bodies[one.symbol] = text.finished(parameters)
            declared |= text.declared
            waiting += text.called
    return "\n".join([*sorted(declared), *bodies.values(),
                      _callback(function) if called_by_c else _entrance(function)])


def _entrance(function: Signature) -> str:
    result, lines, given = returned(function.returns), ["  %results = load ptr, ptr %table"], []
    place = 1
    for name, kind in function.parameters:
        if isinstance(kind, Record):
            lines.append(f"  %given.{name} = getelementptr i64, ptr %table, i64 {place}")
            given.append(f"ptr %given.{name}")
            place += kind.size
            continue
        shown, _ = given_as(kind, f"given.{name}")
        lines += read_from("%table", place, shown)
        given += shown
        place += len(shown)
    call = f"call {result} @\"{function.symbol}\"({', '.join(given)})"
    lines.append(f"  {'%result = ' if function.returns else ''}{call}")
    for k, one in enumerate(function.returns):
        value, at = "%result", f"%at.{k}"
        if len(function.returns) > 1:
            value = f"%value.{k}"
            lines.append(f"  {value} = extractvalue {result} %result, {k}")
        lines.append(f"  {at} = getelementptr i8, ptr %results, i64 {8 * k}")
        if one == BOOL:
            lines.append(f"  %wide.{k} = zext i1 {value} to i64")
            value = f"%wide.{k}"
        lines.append(f"  store {one.scalar if one != BOOL else 'i64'} {value}, ptr {at}")
    return "\n".join(["define void @main(ptr %table) nounwind {", *lines, "  ret void", "}", ""])


def _callback(function: Signature) -> str:
    takes, lines, given = [], [], []
    for name, kind in function.parameters:
        if kind not in (FLOAT, INT) or function.returns not in ((INT,), (FLOAT,)):
            raise Untranslatable(f"{function.symbol}: C gives and takes numbers alone")
        takes.append(f"{'double' if kind == FLOAT else 'ptr'} %{name}")
        if kind == INT:
            lines.append(f"  %address.{name} = ptrtoint ptr %{name} to i64")
        given.append(f"double %{name}" if kind == FLOAT else f"i64 %address.{name}")
    whole = function.returns == (INT,)
    inner, outer = ("i64", "i32") if whole else ("double", "double")
    lines.append(f"  %result = call {inner} @\"{function.symbol}\"({', '.join(given)})")
    if whole:
        lines.append("  %short = trunc i64 %result to i32")
    return "\n".join([f"define {outer} @main({', '.join(takes)}) nounwind {{", *lines,
                      f"  ret {outer} {'%short' if whole else '%result'}", "}", ""])


class _Statements:
    """Statements of a function."""

    def __init__(self, text: FunctionText) -> None:
        self.text, self.values = text, Expressions(text)

    def statement(self, node: ast.stmt) -> None:
        find = getattr(self, f"_{type(node).__name__.lower()}", None)
        if find is None:
            raise self.text.wrong(node, "has no machine code")
        find(node)

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if self.text.ended:
                break  # nothing comes there
            self.statement(statement)

    def _pass(self, node: ast.Pass) -> None:
        pass

    def _expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.values.expression(node.value, discard=True)

    def _assign(self, node: ast.Assign) -> None:
        if isinstance(node.value, ast.Tuple):
            (target,) = node.targets
            if not isinstance(target, ast.Tuple):
                raise self.text.wrong(node, "a tuple is no value")
            values = [self.values.expression(v) for v in node.value.elts]
            for one, value in zip(target.elts, values, strict=True):
                self.assign(one, value)
            return
        if isinstance(node.targets[0], ast.Tuple):
            values = self.values.several(node.value)
            for one, value in zip(node.targets[0].elts, values, strict=True):
                self.assign(one, value)
            return
        value = self.values.expression(node.value)
        for target in node.targets:
            self.assign(target, value)

    def _annassign(self, node: ast.AnnAssign) -> None:
        assert node.value is not None
        value = self.values.expression(node.value)
        kind = kind_named(name_of(node.annotation))
        self.assign(node.target, self.text.converted(value, kind, node))

    def _augassign(self, node: ast.AugAssign) -> None:
        here = ast.parse(ast.unparse(node.target), mode="eval").body
        if isinstance(node.op, (ast.BitOr, ast.BitAnd)):
            word = "or" if isinstance(node.op, ast.BitOr) else "and"
            a, b = self.values.expression(here), self.values.truth(node.value)
            self.assign(node.target, Value(BOOL, self.text.new(f"{word} i1 {a.at}, {b}")))
            return
        self.assign(node.target, self.values.expression(
            ast.copy_location(ast.BinOp(here, node.op, node.value), node)))

    def assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.text.set(target.id, value, target)
            return
        if not isinstance(target, ast.Subscript):
            raise self.text.wrong(target, "cannot be assigned to")
        place = self.values.place(target)
        if place.kind.dimensions:
            self.text.fill(place, value, target)
            return
        value = self.text.converted(value, Kind(place.kind.scalar), target)
        at = value.at if value.kind != BOOL else self.text.new(f"zext i1 {value.at} to i8")
        self.text.line(f"store {place.kind.stored} {at}, ptr {place.at}")

    def _for(self, node: ast.For) -> None:
        call = node.iter
        if node.orelse or not (isinstance(node.target, ast.Name) and isinstance(call, ast.Call)
                               and isinstance(call.func, ast.Name) and call.func.id == "range"):
            raise self.text.wrong(node, "only 'for i in range(...)'")
        given = [self.text.converted(self.values.expression(a), INT, a).at for a in call.args]
        first, stop, step = ["0", *given, "1"] if len(given) == 1 else [*given, "1"][:3]
        name = node.target.id
        # Python's index is a variable of its own: the body may change it, or read it afterwards
        index = self.text.reserve("i64")

        def body(i: str) -> None:
            self.text.set(name, Value(INT, i))
            self.block(node.body)

        self.text.counted(index, first, stop, step, body)

    def _while(self, node: ast.While) -> None:
        if node.orelse:
            raise self.text.wrong(node, "'else' of a loop")
        self.text.loop(lambda: self.values.truth(node.test), lambda: self.block(node.body))

    def _if(self, node: ast.If) -> None:
        known = self.values.known(node.test)
        if known is not None:
            self.block(node.body if known else node.orelse)
            return
        yes, no, end = (self.text.fresh(n) for n in ("then", "else", "end"))
        self.text.jump(f"br i1 {self.values.truth(node.test)}, label %{yes}, label %{no}")
        self.text.label(yes)
        self.block(node.body)
        if not self.text.ended:
            self.text.jump(f"br label %{end}")
        self.text.label(no)
        self.block(node.orelse)
        self.text.label(end)

    def _break(self, node: ast.Break) -> None:
        self.text.jump(f"br label %{self.text.loops[-1][1]}")

    def _continue(self, node: ast.Continue) -> None:
        self.text.jump(f"br label %{self.text.loops[-1][0]}")

    def _return(self, node: ast.Return) -> None:
        kinds = self.text.function.returns
        given = node.value.elts if isinstance(node.value, ast.Tuple) else (
            [node.value] if node.value else [])
        if len(given) != len(kinds):
            raise self.text.wrong(node, f"returns {len(given)} values instead of {len(kinds)}")
        values = [self.text.converted(self.values.expression(v), kind, node)
                  for v, kind in zip(given, kinds, strict=True)]
        if len(values) < 2:
            self.text.jump(f"ret {kinds[0].scalar} {values[0].at}" if values else "ret void")
            return
        whole = "undef"
        for k, value in enumerate(values):
            whole = self.text.new(f"insertvalue {returned(kinds)} {whole}, "
                             f"{value.kind.scalar} {value.at}, {k}")
        self.text.jump(f"ret {returned(kinds)} {whole}")
