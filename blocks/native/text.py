"""What do functions in machine code that solve equations have in common?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..machine.compiling import compiled, name_of_code
from ..machine.functions import machine_code
from ..machine.signatures import vector_at
from .expressions import Writer
from .loop_text import PARALLEL, WIDE, LoopText
from .places import ROOM
from .repetitions import Repetitions
from .sparse_factors import FullFactors, SparseFactors

__all__ = ["Beginning", "Text", "function_of"]

LONG = 500  # operations from which an expression is a function of its own, made once for several
REPEATS = 5000  # operations from which it is loops over equal patterns: these take a quarter longer
UNSOUGHT = 50_000  # from which equal ones are not sought: that grows faster than they do
ARGUMENTS = ", ".join(f"ptr noalias %{n}" for n in ("t", "x", "p", "q", "out"))


@dataclass(frozen=True)
class Beginning:
    """What every function does first, and what has to be declared for it."""

    lines: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()


class _Matrix(NamedTuple):
    """What puts a matrix somewhere: of a long one the address of a function of its own."""

    function: ca.Function
    entries: Sequence[int]
    places: Mapping[int, tuple[str, int]]
    own: int  # 0 for none


class Text:
    """Lines that solve equations, where the matrix and its factors stand in ``q``."""

    arguments: list[Any]  # of all expressions
    places: dict[int, tuple[str, int]]
    right: int  # entry of ``q`` from which right sides stand, and then solutions
    beginning = Beginning()
    tied: Any = None  # solves for states that are not integrated, where there are any

    def _solve(self, w: Writer, factors: SparseFactors | FullFactors) -> str:
        """The solution takes the place of the right side; whether there is none."""
        singular = factors.factor(w)
        factors.solve(w, w.pointer("%q", self.right))
        return singular

    def _values(self, w: Writer, expression: Any, places: Any = None, *more: Any) -> list[str]:
        function = ca.Function("part", [*self.arguments, *more], [expression])
        return w.values(function, places or self.places)

    def _give(self, w: Writer, done: str, expression: ca.SX, places: Any = None, *more: Any
              ) -> None:
        """Put values into ``out``; none of them is a number where there is no solution."""
        self._fill(w, ca.densify(expression), 0, places, *more, base="%out")
        if done != "true":
            self._blank(w, done, expression.numel())

    @staticmethod
    def _blank(w: Writer, done: str, count: int) -> None:
        """See to it that the first of ``out`` are no numbers where there is no solution."""
        w.call(blank_unless, "%out", count, w.as_address(done))

    def _fill(self, w: Writer, expression: ca.SX, entry: int, places: Any = None, *more: Any,
              base: str = "%q") -> None:
        """Put a matrix into ``q``, column by column; a long one by a function of its own.

        What is always zero is not written. No argument stands in ``%out``.
        """
        self._write(w, self._matrix(expression, places, *more), entry, base)

    def _matrix(self, expression: ca.SX, places: Any = None, *more: Any) -> _Matrix:
        """A matrix that is put somewhere, perhaps more than once."""
        given, values = [*self.arguments, *more], expression.nz[:]
        if (function := ca.Function("part", given, [values])).n_instructions() < UNSOUGHT:
            function = ca.Function("part", given, [ca.cse(values)])
        entries, places = expression.sparsity().find(), places or self.places
        own = _own_function(function, entries, places) if function.n_instructions() > LONG else 0
        return _Matrix(function, entries, places, own)

    @staticmethod
    def _write(w: Writer, matrix: _Matrix, entry: int, base: str = "%q") -> None:
        """Write lines that store a matrix from ``entry`` of ``base`` on."""
        if matrix.own:
            w.run(name_of_code(matrix.own), out=w.pointer(base, entry))
            return
        for place, value in zip(matrix.entries, w.values(matrix.function, matrix.places),
                                strict=True):
            w.store(value, base, entry + place)

    @staticmethod
    def _largest(w: Writer, values: list[str]) -> str:
        out = w.constant(0.0)
        for value in values:
            out = w.intrinsic("maxnum", out, w.intrinsic("fabs", value))
        return out

    @staticmethod
    def _put(w: Writer, values: list[str], base: str, offset: int) -> None:
        for i, value in enumerate(values):
            w.store(value, base, offset + i)

    def _copy(self, w: Writer, target: str, source: str, count: int) -> None:
        w.declared.add("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        w.lines.append(f"  call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, "
                       f"i64 {8 * count}, i1 false)")  # fmt: skip

    @staticmethod
    def _clear(w: Writer, target: str, count: int) -> None:
        w.declared.add("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        w.lines.append(f"  call void @llvm.memset.p0.i64(ptr {target}, i8 0, i64 {8 * count}, "
                       "i1 false)")  # fmt: skip

    def _text(self, w: Writer) -> str:
        return function_of(w, self.beginning)


@machine_code
def blank_unless(out: int, count: int, solved: int) -> int:
    """Make entries at an address no numbers, unless there is a solution."""
    if solved == 0:
        vector_at(out, count)[:] = np.nan
    return 0


def _own_function(function: ca.Function, entries: Sequence[int],
                  places: Mapping[int, tuple[str, int]]) -> int:
    """The address of a function that puts a long result into entries of ``%out``, where there are
    many operations by loops over equal patterns."""
    part: Writer | LoopText
    beginning = Beginning()
    if function.n_instructions() > REPEATS:
        part = LoopText()
        size = Repetitions(function).write(part, places, 0, ROOM, entries)
        beginning = Beginning((f"  %room = alloca [{size + 1} x double], align 64",))
    else:
        part = Writer()
        for entry, value in zip(entries, part.values(function, places), strict=True):
            part.store(value, "%out", entry)
    return compiled(function_of(part, beginning), parallel=False, quick=len(part.lines) > LONG)


def function_of(writer: Writer | LoopText, beginning: Beginning) -> str:
    """The text of a function whose lines are written, after those it begins with."""
    wide = WIDE if any("llvm.fma" in line for line in writer.declared) else ""
    return "\n".join([*sorted(writer.declared), *beginning.declared,
                      f"define void @main({ARGUMENTS}) {wide} {{", "entry:", *beginning.lines,
                      *writer.lines, "  ret void", "}", PARALLEL])  # fmt: skip
