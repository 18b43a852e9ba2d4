"""How do tied states and nonlinear algebraic unknowns read as machine code?

States that constraints tie to others, and torn unknowns, are carried along with the
integrated states: functions ``f(t, x, p, q, out)`` take them, at the end of ``x``, as what
Newton's method starts from, solve for them, and give their slopes too. So values depend on
``x`` alone, and the branch of a solution is followed by the error control. Which states are
tied stands in ``q``: code is written once for every choice.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ..expression import TIME
from .code import Writer
from .solved import Text

__all__ = ["TiedCode"]

ROUNDS = 15  # of Newton's method
SOLVED = 1e-9  # change, against an unknown's size, after which it has converged: squared it is 0
SHARE = 0.25  # of the determinant at the choice of states, below which they are chosen anew


class TiedCode(Text):
    """Text of functions of a system whose tied and torn unknowns are solved for.

    Parameters
    ----------
    system : System
    places : of its arguments
    start : the first free entry of ``q``
    """

    def __init__(self, system: Any, places: dict[int, tuple[str, int]], start: int) -> None:
        super().__init__()
        self.system, self.tape = system, system.tape
        self.nx, self.nz = system.nx, system.nz
        self.residual = ca.densify(ca.vertcat(self.tape.residual, self.tape.constraints))
        n = self.n = self.residual.numel()
        states = {int(c): i for i, c in enumerate(self.tape.reduced.states)}
        tied = {states[int(c)] for cluster in system.clusters for _, classes in cluster.levels
                for c in classes}
        #: Entries of x and z that may have to be solved for.
        self.candidates = np.array(sorted(tied | set(range(self.nx, self.nx + self.nz))), dtype=int)
        at = np.cumsum([start, n, n, n, 1, self.nx + self.nz, len(self.candidates) * n, n * n, n,
                        n // 2 + 1, 1])  # fmt: skip
        (self.columns, self.entries, self.magnitudes, self.whole, self.here, self.jacobian,
         self.matrix, self.right, self.pivots, self.failed, self.end) = (int(i) for i in at)
        self.room = self.end - start
        self.places = {**places, 1: ("%q", self.here), 2: ("%q", self.here + self.nx)}
        self.arguments = system.arguments

    def fill(self, q: np.ndarray, problem: Any) -> None:
        """Write into ``q`` which states are tied."""
        entries = np.concatenate([problem.tied, np.arange(self.nx, self.nx + self.nz)])
        columns = np.searchsorted(self.candidates, entries) * self.n
        q.view(np.int64)[self.columns : self.columns + self.n] = columns
        q.view(np.int64)[self.entries : self.entries + self.n] = entries
        q[self.magnitudes : self.magnitudes + self.n] = problem.scale_w

    def refer(self, q: np.ndarray, share: float) -> None:
        """Take the determinant at the present point as what others are measured against."""
        q[self.whole] += share + np.log(SHARE)

    # -- the functions -------------------------------------------------------------------
    def slope(self) -> str:
        """Slopes of states and of torn unknowns."""
        w = Writer()
        done = self._unknowns(w)
        self._put(w, self._kept(w, done, self._values(w, self.tape.slope)), "%out", 0)
        if self.nz:
            slope = ca.SX.sym("slope", self.nx)
            change = ca.jtimes(self.residual, self.tape.x, slope)
            change += ca.jacobian(self.residual, TIME)
            places = {**self.places, len(self.arguments): ("%out", 0)}
            self._put(w, self._values(w, change, places, slope), "%q", self.right)
            bad = self._solve(w, self.n, factored=True)
            for i in range(self.nz):  # only what Newton's method starts from
                value = w.new(f"fneg double {w.load('%q', self.right + self.n - self.nz + i)}")
                size = w.intrinsic("fabs", value)
                fine = w.compare("olt", size, w.constant(1e300))
                value = w.select(fine, value, w.constant(0.0))
                w.store(w.select(bad, w.constant(0.0), value), "%out", self.nx + i)
        return self._text(w)

    def crossings(self) -> str:
        """Crossing functions; and how far the choice of states is from being a bad one."""
        w = Writer()
        done = self._unknowns(w)
        values = self._kept(w, done, self._values(w, self.tape.crossings))
        if self.system.clusters:
            size = w.constant(0.0)
            for i in range(self.n):
                pivot = w.intrinsic("fabs", w.load("%q", self.matrix + i * (self.n + 1)))
                size = w.binary("fadd", size, w.intrinsic("log", pivot))
            share = w.binary("fsub", size, w.load("%q", self.whole))
            share = w.binary("fsub", share, w.constant(np.log(SHARE)))
            values.append(w.select(done, share, w.constant(-1.0)))
        self._put(w, values, "%out", 0)
        return self._text(w)

    def settle(self) -> str:
        """All states and torn unknowns, solved for; as they were where there is no solution."""
        w = Writer()
        done = self._unknowns(w)
        for i in range(self.nx + self.nz):
            w.store(w.select(done, w.load("%q", self.here + i), w.load("%x", i)), "%out", i)
        return self._text(w)

    # -- parts of them -------------------------------------------------------------------
    @staticmethod
    def _kept(w: Writer, done: str, values: list[str]) -> list[str]:
        return [w.select(done, value, w.constant(float("nan"))) for value in values]

    def _copy(self, w: Writer, target: str, source: str, count: int) -> None:
        w.declared.add("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        w.lines.append(f"  call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, "
                       f"i64 {8 * count}, i1 false)")  # fmt: skip

    def _index(self, w: Writer, entry: int) -> str:
        return w.new(f"load i64, ptr {w.pointer('%q', entry)}, align 8")

    def _unknowns(self, w: Writer) -> str:
        """Solve for tied and torn unknowns, which stand in ``q``; whether they were found."""
        n, full = self.n, ca.vertcat(self.tape.x, self.tape.z)
        self._copy(w, w.pointer("%q", self.here), "%x", self.nx + self.nz)
        w.lines += ["  br label %round", "round:",
                    "  %count = phi i64 [ 0, %entry ], [ %more, %round ]"]
        parts = ca.vertcat(
            ca.vec(ca.densify(ca.jacobian(self.residual, full)[:, self.candidates.tolist()])),
            self.residual)  # fmt: skip
        values = self._values(w, parts)
        self._put(w, values[:-n], "%q", self.jacobian)
        self._put(w, values[-n:], "%q", self.right)
        for j in range(n):
            column = w.pointer(w.pointer("%q", self.jacobian), self._index(w, self.columns + j))
            self._copy(w, w.pointer("%q", self.matrix + j * n), column, n)
        bad = self._solve(w, n)
        norm = whole = w.constant(0.0)
        for j in range(n):
            entry = w.pointer(w.pointer("%q", self.here), self._index(w, self.entries + j))
            step, old = w.load("%q", self.right + j), w.load(entry, 0)
            value = w.binary("fsub", old, step)
            w.store(value, entry, 0)
            size = w.binary("fadd", w.intrinsic("fabs", value), w.load("%q", self.magnitudes + j))
            part = w.binary("fdiv", w.intrinsic("fabs", step), size)
            norm = w.intrinsic("maxnum", norm, part)
            whole = w.binary("fadd", whole, part)
        exact = w.compare("ole", norm, w.constant(SOLVED))
        finite = w.compare("olt", whole, w.constant(1e300))  # a part may be no number
        found = w.new(f"and i1 {exact}, {finite}")
        hopeless = w.new(f"or i1 {bad}, {w.new(f'xor i1 {finite}, true')}")
        w.lines += ["  %more = add i64 %count, 1", f"  %late = icmp sge i64 %more, {ROUNDS}",
                    f"  %lost = or i1 %late, {hopeless}", f"  %stop = or i1 %lost, {found}",
                    "  br i1 %stop, label %solved, label %round", "solved:"]
        return w.new(f"and i1 {found}, {w.new(f'xor i1 {bad}, true')}")
