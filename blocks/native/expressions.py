"""How does an expression read as machine code?

Writes a CasADi function as LLVM text, for one point (``double``) or for several
at once (``<8 x double>``: every lane a run of its own). Knows expressions only:
no models, no solvers; :mod:`blocks.machine.compiling` makes it run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ..language.lookup import function_named
from ..machine.compiling import name_of_code, table
from ..machine.functions import MachineCode
from ..machine.operations import ARITHMETIC, COMPARE, INTRINSIC, LIBRARY, number
from ..numerics.rewriting import instructions
from .called_functions import lines_of_call

__all__ = ["Unwritable", "Writer"]

MOST_QUARTERS = 16  # of an exponent: a fourth power


class Unwritable(Exception):
    """An operation that has no machine code here; the run stays interpreted."""


@dataclass
class Writer:
    """Lines of one LLVM function body; values are double or vectors of ``lanes`` doubles."""

    lanes: int = 1
    prefix: str = "v"  # of names, where several bodies stand in one function
    inline: bool = False  # for a loop: exponentials as arithmetic, so that it can be vectorised;
    # what divides all its instances does so once, and they are multiplied
    lines: list[str] = field(default_factory=list)
    declared: set[str] = field(default_factory=set)
    constants: dict[str, float] = field(default_factory=dict)  # by their text
    _count: int = 0

    @property
    def type(self) -> str:
        return "double" if self.lanes == 1 else f"<{self.lanes} x double>"

    def _like(self, scalar: str) -> str:
        return scalar if self.lanes == 1 else f"<{self.lanes} x {scalar}>"

    def new(self, text: str) -> str:
        """A line that makes a value, and the value's name."""
        self._count += 1
        name = f"%{self.prefix}{self._count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def constant(self, value: float) -> str:
        text = self._splat("double", number(value))
        self.constants[text] = float(value)
        return text

    def _splat(self, scalar: str, text: str) -> str:
        if self.lanes == 1:
            return text
        return f"<{', '.join([f'{scalar} {text}'] * self.lanes)}>"

    # -- memory --------------------------------------------------------------------------
    def pointer(self, base: str, index: int | str) -> str:
        """Address of an entry of an array whose entries are values of this type."""
        if isinstance(index, int) and index == 0:
            return base
        text = f"i64 {index}"
        return self.new(f"getelementptr inbounds {self.type}, ptr {base}, {text}")

    def load(self, base: str, index: int | str) -> str:
        return self.new(f"load {self.type}, ptr {self.pointer(base, index)}, align 8")

    def spread(self, place: str) -> str:
        """The number at an address, the same in all lanes."""
        one = self.new(f"load double, ptr {place}, align 8")
        if self.lanes == 1:
            return one
        lane = self.new(f"insertelement {self.type} poison, double {one}, i32 0")
        return self.new(f"shufflevector {self.type} {lane}, {self.type} poison, "
                        f"<{self.lanes} x i32> zeroinitializer")

    def store(self, value: str, base: str, index: int | str) -> None:
        at = self.pointer(base, index)
        self.lines.append(f"  store {self.type} {value}, ptr {at}, align 8")

    def table(self, entries: np.ndarray, kind: str = "i64") -> str:
        """Address of a table of numbers."""
        name = table(entries)
        self.declared.add(f"{name} = external global {kind}")
        return name

    # -- calls -----------------------------------------------------------------------------
    def call(self, function: MachineCode, *given: str | int) -> str:
        """A function of addresses and whole numbers; the whole number that it returns."""
        name = name_of_code(function.callback)
        self.declared.add(f"declare i32 {name}({', '.join(['ptr'] * len(given))})")
        shown = (f"inttoptr (i64 {g} to ptr)" if isinstance(g, int) else g for g in given)
        return self.new(f"call i32 {name}({', '.join(f'ptr {g}' for g in shown)})")

    def ask(self, function: MachineCode, *given: str | int) -> str:
        """Whether such a function returns another number than 0."""
        return self.new(f"icmp ne i32 {self.call(function, *given)}, 0")

    def run(self, name: str, x: str = "%x", out: str = "%q") -> None:
        """Append the call of a function f(t, x, p, q, out)."""
        self.declared.add(f"declare void {name}(ptr, ptr, ptr, ptr, ptr)")
        self.lines.append(f"  call void {name}(ptr %t, ptr {x}, ptr %p, ptr %q, ptr {out})")

    def as_address(self, condition: str) -> str:
        """A condition as a whole number that a function of addresses takes, 1 or 0."""
        return self.new(f"inttoptr i64 {self.new(f'zext i1 {condition} to i64')} to ptr")

    # -- arithmetic ------------------------------------------------------------------------
    def binary(self, operation: str, a: str, b: str) -> str:
        return self.new(f"{operation} {self.type} {a}, {b}")

    def intrinsic(self, name: str, *operands: str) -> str:
        suffix = "f64" if self.lanes == 1 else f"v{self.lanes}f64"
        types = ", ".join([self.type] * len(operands))
        self.declared.add(f"declare {self.type} @llvm.{name}.{suffix}({types})")
        given = ", ".join(f"{self.type} {o}" for o in operands)
        return self.new(f"call {self.type} @llvm.{name}.{suffix}({given})")

    def from_libm(self, name: str, *operands: str) -> str:
        """A function of the C library, lane by lane."""
        def call(*given: str) -> str:
            return self.new(f"call double @{name}({', '.join(f'double {o}' for o in given)})")

        return self._each_lane(call, *operands)

    def _each_lane(self, one: Callable[..., str], *operands: str) -> str:
        """What is written for numbers, lane by lane."""
        if self.lanes == 1:
            return one(*operands)
        result = "poison"
        for lane in range(self.lanes):
            value = one(*(self.new(f"extractelement {self.type} {o}, i32 {lane}")
                          for o in operands))
            result = self.new(f"insertelement {self.type} {result}, double {value}, i32 {lane}")
        return result

    def truth(self, name: str) -> str:
        """1.0 or 0.0 for a condition."""
        return self.new(f"uitofp {self._like('i1')} {name} to {self.type}")

    def select(self, condition: str, yes: str, no: str) -> str:
        return self.new(
            f"select {self._like('i1')} {condition}, {self.type} {yes}, {self.type} {no}")

    def compare(self, how: str, a: str, b: str) -> str:
        return self.new(f"fcmp {how} {self.type} {a}, {b}")

    def or_zero(self, value: str) -> str:
        """A value, or 0 where it is no number."""
        fine = self.compare("olt", self.intrinsic("fabs", value), self.constant(1e300))
        return self.select(fine, value, self.constant(0.0))

    # -- exponentials of several lanes, where the C library has only scalars ------------------
    def _exponential(self, x: str) -> tuple[str, str]:
        """(2^n, q) with exp(x) = 2^n (1 + q), to the last bits, |x| <= 700."""
        c, wide = self.constant, self._like("i64")
        magic = c(1.5 * 2**52)
        high = self.intrinsic("fma", x, c(1.4426950408889634), magic)  # n in its lowest bits
        n = self.new(f"fsub {self.type} {high}, {magic}")
        r = self.intrinsic("fma", n, c(-0.6931471803691238), x)
        r = self.intrinsic("fma", n, c(-1.9082149292705877e-10), r)
        factor = 1.0
        terms = []
        for k in range(1, 14):
            factor /= k
            terms.append(factor)
        q = c(terms[-1])
        for t in reversed(terms[:-1]):
            q = self.intrinsic("fma", q, r, c(t))
        q = self.new(f"fmul {self.type} {q}, {r}")
        bits = self.new(f"bitcast {self.type} {high} to {wide}")
        shifted = self.new(f"shl {wide} {bits}, {self._splat('i64', '52')}")
        biased = self.new(f"add {wide} {shifted}, {self._splat('i64', str(1023 << 52))}")
        return self.new(f"bitcast {wide} {biased} to {self.type}"), q

    def exp(self, x: str) -> str:
        if self.lanes == 1 and not self.inline:
            return self.intrinsic("exp", x)
        inside = self.intrinsic("maxnum", self.intrinsic("minnum", x, self.constant(709.0)),
                                self.constant(-708.0))
        power, q = self._exponential(inside)
        value = self.intrinsic("fma", power, q, power)
        small = self.compare("olt", x, self.constant(-708.0))
        value = self.select(small, self.constant(0.0), value)
        large = self.compare("ogt", x, self.constant(709.0))
        value = self.select(large, self.constant(float("inf")), value)
        return self.select(self.compare("uno", x, x), x, value)

    def tanh(self, x: str) -> str:
        if self.lanes == 1 and not self.inline:
            return self.from_libm("tanh", x)
        two = self.constant(2.0)
        inside = self.intrinsic("maxnum", self.intrinsic("minnum", x, self.constant(20.0)),
                                self.constant(-20.0))
        power, q = self._exponential(self.binary("fmul", inside, two))
        below = self.new(f"fsub {self.type} {power}, {self.constant(1.0)}")
        m = self.intrinsic("fma", power, q, below)
        value = self.binary("fdiv", m, self.binary("fadd", m, two))
        return self.select(self.compare("uno", x, x), x, value)

    def power(self, x: str, exponent: str) -> str:
        """A power; by products and roots where the exponent is a few quarters."""
        quarters = 4.0 * self.constants.get(exponent, 0.0)
        count = int(abs(quarters)) if abs(quarters) <= MOST_QUARTERS else 0
        if not count or count != abs(quarters):
            return self.intrinsic("pow", x, exponent)
        factors = [x] * (count // 4)
        if count % 4:
            root = self.intrinsic("sqrt", x)
            factors += [root] * (count % 4 // 2)
            factors += [self.intrinsic("sqrt", root)] * (count % 2)
        value = factors[0]
        for factor in factors[1:]:
            value = self.binary("fmul", value, factor)
        return value if quarters > 0 else self.binary("fdiv", self.constant(1.0), value)

    # -- a CasADi function --------------------------------------------------------------------
    def write(self, function: ca.Function, read: Callable[[int, int], str],
              keep: Callable[[int, int, str], None]) -> None:
        """Append the instructions of a function of SX expressions.

        ``read`` gives the value of an argument's nonzero, ``keep`` takes a result's nonzero and its
        value.
        """
        work: dict[int, str] = {}
        conditions: dict[int, str] = {}  # work entries that hold a truth value
        seen: dict[tuple[int, int], str] = {}
        for op, given, outputs, k in instructions(function):
            if op == ca.OP_OUTPUT:
                result, i = outputs
                keep(result, i, work[given[0]])
                continue
            if op == ca.OP_INPUT:
                argument, i = given
                place = argument, i
                if place not in seen:
                    seen[place] = read(argument, i)
                work[outputs[0]] = seen[place]
            elif op == ca.OP_CONST:
                work[outputs[0]] = self.constant(function.instruction_constant(k))
            else:
                self.operate(function, k, given, outputs, work, conditions)
                continue
            conditions.pop(outputs[0], None)

    def operate(self, function: ca.Function, k: int, given: Sequence[int],
                outputs: Sequence[int], work: dict[int, str], conditions: dict[int, str]) -> None:
        """Append one instruction of a function, from work entries into others.

        ``given`` and ``outputs`` are work entries; ``work`` has their values, ``conditions`` those
        that are truth values; both are filled.
        """
        op, values = function.instruction_id(k), [work[i] for i in given]
        if op == ca.OP_CALL:
            for out, value in self._called(function, k, values, outputs):
                work[out] = value
                conditions.pop(out, None)
            return
        (out,) = outputs
        known = [conditions.get(i) for i in given]
        if (condition := self._condition(op, values, known)) is not None:
            conditions[out] = condition
            work[out] = self.truth(condition)
            return
        work[out] = self._operation(op, values, known)
        conditions.pop(out, None)

    def _called(self, function: ca.Function, k: int, given: Sequence[str],
                outputs: Sequence[int]) -> list[tuple[int, str]]:
        """Append what an instruction calls; the work entries that it fills, and their values."""
        called = function.instructions_sx()[k].which_function()
        if (known := function_named(called.name())) is not None:
            return [(outputs[0], self._each_lane(lambda *one: lines_of_call(
                known, one, self.new, self.declared), *given))]
        before = [sum(called.nnz_in(j) for j in range(i)) for i in range(called.n_in())]
        values: dict[tuple[int, int], str] = {}
        self.write(called, lambda i, entry: given[before[i] + entry],
                   lambda i, entry, value: values.__setitem__((i, entry), value))
        places = [(i, entry) for i in range(called.n_out()) for entry in range(called.nnz_out(i))]
        return [(out, values[place]) for out, place in zip(outputs, places, strict=True)
                if out >= 0]

    def values(self, function: ca.Function, places: Mapping[int, tuple[str, int]]) -> list[str]:
        """Append a function; the values of its first result, zeros included.

        ``places`` say in which array, and from which entry on, an argument stands.
        """
        dense = ca.Function(function.name(), function.sx_in(),
                            [ca.densify(function.call(function.sx_in())[0])])
        kept: dict[int, str] = {}

        def read(argument: int, i: int) -> str:
            base, offset = places[argument]
            return self.load(base, offset + i)

        def keep(_: int, i: int, value: str) -> None:
            kept[i] = value

        self.write(dense, read, keep)
        return [kept.get(i, self.constant(0.0)) for i in range(dense.nnz_out(0))]

    def _condition(self, op: int, values: Sequence[str], known: Sequence[str | None]) -> str | None:
        """The value of an operation with a truth value, else None."""
        one = self._like("i1")
        if op in COMPARE:
            return self.compare(COMPARE[op], *values)
        if op not in (ca.OP_NOT, ca.OP_AND, ca.OP_OR):
            return None
        held = [k or self.compare("une", v, self.constant(0.0))
                for k, v in zip(known, values, strict=True)]
        if op == ca.OP_NOT:
            return self.new(f"xor {one} {held[0]}, {self._splat('i1', 'true')}")
        return self.new(f"{'and' if op == ca.OP_AND else 'or'} {one} {held[0]}, {held[1]}")

    def _operation(self, op: int, values: Sequence[str], known: Sequence[str | None]) -> str:
        c = self.constant
        if op in ARITHMETIC:
            return self.binary(ARITHMETIC[op], *values)
        if op == ca.OP_IF_ELSE_ZERO:
            held = known[0] or self.compare("une", values[0], c(0.0))
            return self.select(held, values[1], c(0.0))
        if op == ca.OP_EXP:
            return self.exp(values[0])
        if op == ca.OP_TANH:
            return self.tanh(values[0])
        if op in INTRINSIC:
            return self.intrinsic(INTRINSIC[op], *values)
        if op in (ca.OP_POW, ca.OP_CONSTPOW):
            return self.power(*values)
        if op in LIBRARY:
            return self.from_libm(LIBRARY[op], *values)
        if op == ca.OP_NEG:
            return self.new(f"fneg {self.type} {values[0]}")
        if op == ca.OP_SQ:
            return self.binary("fmul", values[0], values[0])
        if op == ca.OP_TWICE:
            return self.binary("fadd", values[0], values[0])
        if op == ca.OP_INV:
            return self.binary("fdiv", c(1.0), values[0])
        if op == ca.OP_SIGN:
            up = self.truth(self.compare("ogt", values[0], c(0.0)))
            down = self.truth(self.compare("olt", values[0], c(0.0)))
            return self.binary("fsub", up, down)
        if op == ca.OP_ASSIGN:
            return values[0]
        raise Unwritable(f"operation {op}")
