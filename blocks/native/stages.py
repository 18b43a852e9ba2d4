"""The arithmetic of a Dormand-Prince step over all unknowns, as machine code.

Weighted sums of stages, the largest error, and the continuous extension, each one
loop that the compiler turns into vector instructions. All of them are functions
``f(x, k, out, n, h)`` of pointers; ``k`` holds the rows of :data:`ROWS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from .code import Writer, number
from .loops import PARALLEL
from .machine import compiled, target_name

__all__ = ["ROWS", "STAGE_TIMES", "arithmetic"]

ROWS = ("k1", "k2", "k3", "k4", "k5", "k6", "k7", "work", "new", "atol")
WORK, NEW, ATOL = 7, 8, 9
STAGE_TIMES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
HIGH = (-12715105075 / 11282082432, 0.0, 87487479700 / 32700410799, -10690763975 / 1880347072,
        701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423)  # fmt: skip


@cache
def arithmetic() -> np.ndarray:
    """Addresses: six weighted sums, error, continuous extension; flush denormals, and back."""
    functions = [*(_weighted(w) for w in STAGES), _error(), _inside(), *_denormals()]
    return np.array(functions, dtype=np.int64)


def _denormals() -> tuple[int, int]:
    """Functions that make numbers below 1e-308 zero, and undo it: they slow quiet chains down.

    The first keeps the state of the processor in ``x``. Where the processor is not known,
    both do nothing.
    """
    head = ("define void @main(ptr noalias %x, ptr noalias %k, ptr noalias %out, ptr noalias %n, "
            "ptr noalias %h) {\n")
    if not target_name().startswith("x86_64"):
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

    def __init__(self) -> None:
        self.writer = Writer()
        self.new = self.writer.new

    def row(self, j: int) -> str:
        at = self.new(f"mul nsw i64 %size, {j}")
        at = self.new(f"add nsw i64 {at}, %i")
        return self.load("%k", at)

    def load(self, base: str, at: str = "%i") -> str:
        place = self.new(f"getelementptr inbounds double, ptr {base}, i64 {at}")
        return self.new(f"load double, ptr {place}, align 8, !llvm.access.group !0")

    def total(self, weights: Sequence[float]) -> str:
        """Weighted sum of stages."""
        value = ""
        for j, weight in enumerate(weights):
            if weight:
                part = self.writer.binary("fmul", self.row(j), number(weight))
                value = self.writer.binary("fadd", value, part) if value else part
        return value

    def compiled(self, before: str = "", carried: str = "", after: str = "") -> int:
        text = "\n".join([
            *sorted(self.writer.declared),
            "define void @main(ptr noalias %x, ptr noalias %k, ptr noalias %out, ptr noalias %n, "
            "ptr noalias %h) {", "entry:",
            "  %size = load i64, ptr %n, align 8", "  %step = load double, ptr %h, align 8", before,
            "  %any = icmp sgt i64 %size, 0", "  br i1 %any, label %loop, label %end", "loop:",
            "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]", carried, *self.writer.lines,
            "  %next = add nuw nsw i64 %i, 1", "  %more = icmp slt i64 %next, %size",
            "  br i1 %more, label %loop, label %end, !llvm.loop !1", "end:", after,
            "  ret void", "}", PARALLEL])  # fmt: skip
        return compiled(text)


def _weighted(weights: Sequence[float]) -> int:
    """out = x + h sum of weights times stages."""
    loop = _Loop()
    rise = loop.writer.binary("fmul", loop.total(weights), "%step")
    value = loop.writer.binary("fadd", loop.load("%x"), rise)
    place = loop.new("getelementptr inbounds double, ptr %out, i64 %i")
    loop.writer.lines.append(f"  store double {value}, ptr {place}, align 8, !llvm.access.group !0")
    return loop.compiled()


def _error() -> int:
    """out = (largest error in units of the tolerances, sum of all): h points to (h, rtol)."""
    loop = _Loop()
    w = loop.writer
    error = w.binary("fmul", loop.total(ERROR), "%step")
    old, new = (w.intrinsic("fabs", v) for v in (loop.load("%x"), loop.row(NEW)))
    size = loop.new(f"call nnan double @llvm.maxnum.f64(double {old}, double {new})")
    tolerance = w.binary("fadd", loop.row(ATOL), w.binary("fmul", size, "%rtol"))
    share = w.binary("fdiv", w.intrinsic("fabs", error), tolerance)
    larger = loop.new(f"fcmp nnan nsz ogt double {share}, %largest")
    w.lines += [f"  %largest.n = select nnan nsz i1 {larger}, double {share}, double %largest",
                f"  %sum.n = fadd reassoc double %sum, {share}"]  # fmt: skip
    w.declared.add("declare double @llvm.maxnum.f64(double, double)")
    return loop.compiled(
        "  %at = getelementptr double, ptr %h, i64 1\n  %rtol = load double, ptr %at, align 8",
        "  %largest = phi double [ 0.0, %entry ], [ %largest.n, %loop ]\n"
        "  %sum = phi double [ 0.0, %entry ], [ %sum.n, %loop ]",
        "  %l = phi double [ 0.0, %entry ], [ %largest.n, %loop ]\n"
        "  %s = phi double [ 0.0, %entry ], [ %sum.n, %loop ]\n"
        "  store double %l, ptr %out, align 8\n"
        "  %second = getelementptr double, ptr %out, i64 1\n"
        "  store double %s, ptr %second, align 8",
    )  # fmt: skip


def _inside() -> int:
    """out = the continuous extension: h points to (h, part of the step)."""
    loop = _Loop()
    w = loop.writer
    x = loop.load("%x")
    rise = w.binary("fsub", loop.row(NEW), x)
    bend = w.binary("fsub", w.binary("fmul", loop.row(0), "%step"), rise)
    last = w.binary("fsub", w.binary("fsub", rise, w.binary("fmul", loop.row(6), "%step")), bend)
    high = w.binary("fmul", loop.total(HIGH), "%step")
    value = w.binary("fadd", last, w.binary("fmul", "%rest", high))
    value = w.binary("fadd", bend, w.binary("fmul", "%part", value))
    value = w.binary("fadd", rise, w.binary("fmul", "%rest", value))
    value = w.binary("fadd", x, w.binary("fmul", "%part", value))
    place = loop.new("getelementptr inbounds double, ptr %out, i64 %i")
    w.lines.append(f"  store double {value}, ptr {place}, align 8, !llvm.access.group !0")
    return loop.compiled(
        "  %at = getelementptr double, ptr %h, i64 1\n  %part = load double, ptr %at, align 8\n"
        "  %rest = fsub double 1.0, %part")
