"""The arithmetic of one-step methods over all unknowns, as machine code; the explicit ones'.

Weighted sums of stages, the largest error, and the continuous extension, each one
loop that the compiler turns into vector instructions. All of them are functions
``f(x, k, out, n, h)`` of pointers; ``k`` holds the rows of :data:`ROWS`. A method is a table of
their addresses.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from functools import cache

import numpy as np

from ..machine.compiling import compiled
from ..numerics.arrays import Array, Indices
from ..solvers.ode45 import ERROR, STAGE_TIMES, STAGES
from ..solvers.rosenbrock import COUPLINGS, POINTS
from .expressions import Writer
from .loop_text import PARALLEL, WIDE

__all__ = ["ALL_ROWS", "ARITHMETIC", "COUPLED", "DEFECT", "EXTENSION", "FURTHER", "FURTHER_ROW",
           "INSIDE", "LOOKED_AT", "ROWS", "RUNGE_KUTTA_TIMES", "STAGE_TIMES", "THIRD_ORDER_TIMES",
           "WITHIN", "arithmetic"]  # fmt: skip

ROWS = ("k1", "k2", "k3", "k4", "k5", "k6", "k7", "work", "new", "atol")
WORK, NEW, ATOL = 7, 8, 9
#: Entries of :func:`arithmetic` after the weighted sums.
ERROR_NORM, EXTENSION, FLUSH, BACK, FURTHER = 6, 7, 8, 9, 10
COUPLED = FURTHER  # of Rodas4P the first entry that couples a stage to those before it
#: The method of order 8 has eleven rows more: stages 6 to 11, which begin at the first of them, the
#: three of its continuous extension, a point within the step, and the slope there. Its last stage
#: and the slope at the end stand where those of the pair do. Its sums come before the last entry.
ALL_ROWS, FURTHER_ROW, INSIDE, WITHIN, DEFECT = 21, 10, 19, 20, 19
LOOKED_AT = 0.75  # of a step: where its continuous extension is compared with the equations
HIGH_ORDER_ROWS = (0, 1, 2, 3, 4, *range(10, 16), 5, 6, 16, 17, 18)
#: The third divided difference of the slopes at 0, 3/10, 4/5 and 1: an estimate of lower order.
BEND = (-25 / 6, 0.0, 200 / 21, -25 / 2, 0.0, 0.0, 50 / 7)
HIGH = (-12715105075 / 11282082432, 0.0, 87487479700 / 32700410799, -10690763975 / 1880347072,
        701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423)  # fmt: skip
#: Methods of fewer stages have the last ones of these six: when they are, from that one on.
THIRD_ORDER_TIMES = (0.0, 0.0, 0.0, 1 / 2, 3 / 4, 1.0)
RUNGE_KUTTA_TIMES = (0.0, 0.0, 1 / 2, 1 / 2, 1.0, 1.0)


@cache
def arithmetic(lanes: int = 1) -> Indices:
    """Addresses: six weighted sums, error, continuous extension; flush denormals, and back.

    With several lanes, every number is a vector of ``lanes`` numbers, the step too.
    """
    return addresses(STAGES, ERROR, _inside(HIGH, lanes), lanes, lower=BEND)


@cache
def third_order_arithmetic() -> Indices:
    """Addresses of the arithmetic of the pair of order 3(2) [P. Bogacki and L. F. Shampine, "A
    3(2) pair of Runge-Kutta formulas", Appl. Math. Lett. 2(4), 1989, 321-325]."""
    return _fewer([(1 / 2,), (0.0, 3 / 4), (2 / 9, 1 / 3, 4 / 9)],
                  (5 / 72, -1 / 12, -1 / 9, 1 / 8))


@cache
def runge_kutta_arithmetic() -> Indices:
    """Addresses of the arithmetic of the classical method of order 4, which estimates no error."""
    return _fewer([(1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6)])


@cache
def euler_arithmetic() -> Indices:
    """Addresses of the arithmetic of forward Euler, whose points are joined by straight lines: a
    cubic would lead what begins to move the other way first."""
    return _fewer([(1.0,)], straight=True)


@cache
def newton_arithmetic() -> Indices:
    """Addresses of the arithmetic beside Newton's method, which takes the place of stages."""
    return _fewer([])


@cache
def rosenbrock_arithmetic() -> Indices:
    """Addresses of the arithmetic of Rodas4P, whose rows hold f(t, x) and the stages U_1 to U_6;
    and of what couples each of these to those before it."""
    sums = [(0.0, *row) for row in POINTS]  # the first row is f(t, x)
    coupled = [weighted_sum((0.0, *row), by_step="fdiv") for row in COUPLINGS]
    return np.append(addresses(sums, (0.0,) * 6 + (1.0,), 0, per_time=False), coupled)


def _fewer(sums: Sequence[Sequence[float]], error: Sequence[float] = (), straight: bool = False
           ) -> Indices:
    """The table of a method whose stages are the last ones, and its extension a cubic."""
    left_out = len(STAGES) - len(sums)

    def placed(weights: Sequence[float]) -> list[float]:
        return [weights[0], *[0.0] * left_out, *weights[1:]] if weights else []

    return addresses([*[()] * left_out, *map(placed, sums)], placed(error),
                     _inside((), straight=straight))


def addresses(sums: Sequence[Sequence[float]], error: Sequence[float], extension: int,
              lanes: int = 1, per_time: bool = True, lower: Sequence[float] = ()) -> Indices:
    """The table of a method.

    ``sums`` are of rows of ``k``, for the stages after the first and for the end of the step; empty
    for what is not called. ``error`` is the sum that estimates the error, empty for none, ``lower``
    one that does with one order less; ``extension`` is the address of the continuous extension, or
    0; ``per_time``: whether rows are slopes, which the length of the step multiplies.
    """
    by_step = "fmul" if per_time else ""
    functions = [*(weighted_sum(w, lanes, by_step) if w else 0 for w in sums),
                 _error(error, lower, lanes, per_time) if error else 0, extension, *_denormals()]
    return np.array(functions, dtype=np.int64)


@cache
def high_order_arithmetic() -> Indices:
    """Addresses of the method of order 8: behind those that all have, sums of its further stages,
    the end, and the stages of its continuous extension; and the defect of that, as an error."""
    from scipy.integrate import DOP853

    def placed(weights: Array) -> list[float]:
        rows = np.zeros(ALL_ROWS)
        rows[list(HIGH_ORDER_ROWS[: len(weights)])] = weights
        return rows.tolist()

    sums = [placed(w) for w in (*(DOP853.A[j, :j] for j in range(1, 12)), DOP853.B,
                                *(DOP853.A_EXTRA[j, : 13 + j] for j in range(3)))]
    loop = _Loop(1)
    w = loop.writer
    x = loop.load("%x")
    rise = w.binary("fsub", loop.row(NEW), x)
    begin, end = (w.binary("fmul", loop.row(j), "%step") for j in (0, 6))
    bend = w.binary("fsub", begin, rise)
    terms = [rise, bend, w.binary("fsub", w.binary("fsub", rise, end), bend),
             *(w.binary("fmul", loop.total(placed(row)), "%step") for row in DOP853.D)]
    value = terms.pop()
    for factor in ("%second", "%rest") * 3:
        value = w.binary("fadd", terms.pop(), w.binary("fmul", factor, value))
    loop.store(w.binary("fadd", x, w.binary("fmul", "%second", value)))
    extension = loop.compiled(f"  %rest = fsub double {w.constant(1.0)}, %second")
    # how the polynomials that the terms are multiplied by rise there
    s = np.polynomial.Polynomial([0.0, 1.0])
    by_term = [(s ** (1 + j // 2) * (1 - s) ** ((j + 1) // 2)).deriv()(LOOKED_AT) for j in range(7)]
    slopes = placed(by_term[3:] @ DOP853.D)
    slopes[0] += by_term[1] - by_term[2]
    slopes[6] -= by_term[2]
    slopes[WITHIN] = -1.0
    defect = _error(slopes, (), 1, True, rise=by_term[0] - by_term[1] + 2 * by_term[2])
    return np.append(
        addresses(sums[:6], placed(DOP853.E5), extension, lower=placed(DOP853.E3)),
        [*(weighted_sum(w) for w in sums[6:]), defect])


def _denormals() -> tuple[int, int]:
    """Functions that make numbers below 1e-308 zero, and undo it: they slow quiet chains down.

    The first keeps the state of the processor in ``x``. Where the processor is not known,
    both do nothing.
    """
    head = ("define void @main(ptr noalias %x, ptr noalias %k, ptr noalias %out, ptr noalias %n, "
            "ptr noalias %h) {\n")
    if platform.machine().lower() not in ("x86_64", "amd64"):
        nothing = compiled(head + "  ret void\n}\n")
        return nothing, nothing
    declared = ("declare void @llvm.x86.sse.stmxcsr(ptr)\n"
                "declare void @llvm.x86.sse.ldmxcsr(ptr)\n")
    flush = compiled(declared + head + """
  call void @llvm.x86.sse.stmxcsr(ptr %x)
  %before = load i32, ptr %x, align 4
  %after = or i32 %before, 32832
  store i32 %after, ptr %k, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr %k)
  ret void
}
""")
    back = compiled(declared + head + "  call void @llvm.x86.sse.ldmxcsr(ptr %x)\n  ret void\n}\n")
    return flush, back


class _Loop:
    """A loop over the unknowns; rows of ``k`` are addressed by number."""

    def __init__(self, lanes: int) -> None:
        self.writer = Writer(lanes)
        self.new, self.type = self.writer.new, self.writer.type

    def row(self, j: int) -> str:
        at = self.new(f"mul nsw i64 %size, {j}")
        return self.load("%k", self.new(f"add nsw i64 {at}, %i"))

    def load(self, base: str, at: str = "%i") -> str:
        place = self.writer.pointer(base, at)
        return self.new(f"load {self.type}, ptr {place}, align 8, !llvm.access.group !0")

    def store(self, value: str) -> None:
        place = self.writer.pointer("%out", "%i")
        self.writer.lines.append(
            f"  store {self.type} {value}, ptr {place}, align 8, !llvm.access.group !0")

    def total(self, weights: Sequence[float]) -> str:
        """Weighted sum of stages."""
        value = ""
        for j, weight in enumerate(weights):
            if weight:
                part = self.row(j)
                if weight != 1.0:
                    part = self.writer.binary("fmul", part, self.writer.constant(weight))
                value = self.writer.binary("fadd", value, part) if value else part
        return value

    def compiled(self, before: str = "", carried: str = "", after: str = "") -> int:
        text = "\n".join([
            *sorted(self.writer.declared),
            "define void @main(ptr noalias %x, ptr noalias %k, ptr noalias %out, ptr noalias %n, "
            f"ptr noalias %h) {WIDE} {{", "entry:",
            "  %size = load i64, ptr %n, align 8",
            f"  %step = load {self.type}, ptr %h, align 8",
            f"  %at = getelementptr {self.type}, ptr %h, i64 1",
            f"  %second = load {self.type}, ptr %at, align 8", before,
            "  %any = icmp sgt i64 %size, 0", "  br i1 %any, label %loop, label %end", "loop:",
            "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]", carried, *self.writer.lines,
            "  %next = add nuw nsw i64 %i, 1", "  %more = icmp slt i64 %next, %size",
            "  br i1 %more, label %loop, label %end, !llvm.loop !1", "end:", after,
            "  ret void", "}", PARALLEL])  # fmt: skip
        return compiled(text)


def weighted_sum(weights: Sequence[float], lanes: int = 1, by_step: str = "fmul") -> int:
    """out = x + sum of weights times stages; times h ("fmul") where these are slopes and the sum is
    none, divided by it ("fdiv") where it is the other way round."""
    loop = _Loop(lanes)
    rise = loop.total(weights)
    if by_step:
        rise = loop.writer.binary(by_step, rise, "%step")
    loop.store(loop.writer.binary("fadd", loop.load("%x"), rise))
    return loop.compiled()


def _error(error: Sequence[float], lower: Sequence[float], lanes: int, per_time: bool,
           rise: float = 0.0) -> int:
    """out = (largest error in units of the tolerances, sum of all, largest one of lower order);
    beside that, how much the last two stages differ, and their points: sums of squares.

    h points to (h, rtol). So many times the ``rise`` over the step is part of the error.
    """
    loop = _Loop(lanes)
    w, kind = loop.writer, loop.type
    truth = "i1" if lanes == 1 else f"<{lanes} x i1>"

    def larger(one: str, other: str) -> str:
        which = loop.new(f"fcmp nnan nsz ogt {kind} {one}, {other}")
        return loop.new(f"select nnan nsz {truth} {which}, {kind} {one}, {kind} {other}")

    old, new = (w.intrinsic("fabs", v) for v in (loop.load("%x"), loop.row(NEW)))
    tolerance = w.binary("fadd", loop.row(ATOL), w.binary("fmul", larger(old, new), "%second"))
    inverse = w.binary("fdiv", w.constant(1.0), tolerance)  # once: divisions are slow
    shares = []
    for weights in filter(None, (error, lower)):
        total = loop.total(weights)
        if per_time:
            total = w.binary("fmul", total, "%step")
        if rise:
            change = w.binary("fsub", loop.row(NEW), loop.load("%x"))
            total = w.binary("fadd", total, w.binary("fmul", w.constant(rise), change))
        shares.append(w.binary("fmul", w.intrinsic("fabs", total), inverse))
    zero = w.constant(0.0)
    kept = [("largest", larger(shares[0], "%largest")),
            ("sum", loop.new(f"fadd reassoc {kind} %sum, {shares[0]}")),
            ("lower", larger(shares[1], "%lower") if lower else zero)]
    for name, one, other in (("rise", 6, 5), ("across", NEW, WORK)) if lower else ():
        apart = w.binary("fmul", w.binary("fsub", loop.row(one), loop.row(other)), inverse)
        square = w.binary("fmul", apart, apart)
        kept.append((name, loop.new(f"fadd reassoc {kind} %{name}, {square}")))
    return loop.compiled(
        carried="\n".join(f"  %{name} = phi {kind} [ {zero}, %entry ], [ {value}, %loop ]"
                          for name, value in kept),
        after="\n".join(
            f"  %all.{name} = phi {kind} [ {zero}, %entry ], [ {value}, %loop ]"
            for name, value in kept) + "".join(
            f"\n  %place.{j} = getelementptr {kind}, ptr %out, i64 {j}\n"
            f"  store {kind} %all.{name}, ptr %place.{j}, align 8"
            for j, (name, _) in enumerate(kept)),
    )  # fmt: skip


def _inside(high: Sequence[float], lanes: int = 1, straight: bool = False) -> int:
    """out = the continuous extension: h points to (h, part of the step).

    It is the cubic by values and slopes at both ends, or a straight line, and a part of ``high``
    order.
    """
    loop = _Loop(lanes)
    w = loop.writer
    x = loop.load("%x")
    rise = w.binary("fsub", loop.row(NEW), x)
    bend = w.binary("fsub", w.binary("fmul", loop.row(0), "%step"), rise)
    last = w.binary("fsub", w.binary("fsub", rise, w.binary("fmul", loop.row(6), "%step")), bend)
    value = last
    if high:
        part = w.binary("fmul", loop.total(high), "%step")
        value = w.binary("fadd", last, w.binary("fmul", "%rest", part))
    value = w.binary("fadd", bend, w.binary("fmul", "%second", value))
    value = rise if straight else w.binary("fadd", rise, w.binary("fmul", "%rest", value))
    loop.store(w.binary("fadd", x, w.binary("fmul", "%second", value)))
    return loop.compiled(f"  %rest = fsub {loop.type} {w.constant(1.0)}, %second")


#: By the kind of steps (:mod:`.steps`).
ARITHMETIC = (arithmetic, rosenbrock_arithmetic, high_order_arithmetic, third_order_arithmetic,
              runge_kutta_arithmetic, euler_arithmetic, newton_arithmetic, newton_arithmetic)
