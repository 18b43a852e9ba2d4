"""How do efforts that are solved for at every point read as machine code?

Functions ``f(t, x, p, q, out)`` that first solve the equations of held modes
(:mod:`blocks.nonsmooth.modes.solved_modes`), block by block, and then write slopes or margins; and
one that closes the gaps of closed contacts that a step has left open, as
:mod:`blocks.nonsmooth.modes.drift_correction` does between steps in Python. ``q`` holds the
efforts that Newton's method starts from, so that values depend on ``x`` alone, and room for the
matrix.
"""

from __future__ import annotations

from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..machine.compiling import compiled, name_of_code
from ..machine.functions import machine_code
from ..machine.signatures import indices_at, vector_at
from ..nonsmooth.modes.drift_correction import ROUNDS as CLOSING
from ..nonsmooth.modes.solved_modes import ROUNDS, SolvedModes
from ..numerics.tolerances import FAR_FROM_PARADOX as FAR
from ..numerics.tolerances import NOTHING_AT_ALL, RATE_OF_STRESS, SAFE_PIVOT, SAME_AS_BEFORE
from ..system.block_factors import room_for
from .derivatives import SolvedText, Unknowns
from .expressions import Writer
from .sparse_factors import FullFactors, SparseFactors, solve_blocks_for_units
from .tied_states import Tied

if TYPE_CHECKING:
    from ..nonsmooth.contract import Laws

__all__ = ["SolvedCode"]


class SolvedCode(SolvedText):
    """Text of a model's functions while its modes are held.

    The ``held_modes`` of the laws are a :class:`~blocks.nonsmooth.modes.solved_modes.SolvedModes`;
    ``places`` are those of the arguments t, x, z, p, m, d, ``first`` is the first free entry of
    ``q``.
    """

    def __init__(self, laws: Laws, places: dict[int, tuple[str, int]], first: int) -> None:
        assert isinstance(laws.held_modes, SolvedModes)
        self.laws, self.held = laws, laws.held_modes
        n, nx = laws.size, laws.system.nx
        self.n, self.nx = n, nx
        #: Blocks of the matrix of efforts, which stand one after the other; and where the right
        #: sides of elements stand.
        self.blocks = self.held.blocks
        self.row = np.empty(n, dtype=int)
        self.row[np.concatenate(self.blocks)] = np.arange(n)
        self.e = self.held.expressions
        self.modes, self.effort = self.held.symbols[-2:]
        self.free, self.begun = ca.SX.sym("free", nx), ca.SX.sym("begun", n)
        count = len(self.blocks)
        self._put_given()
        at = np.cumsum([first, n, n, nx, count, count, 1, n, self.given.numel(), n, n * n, n, 1])
        self.known_modes, self.guess, _, self.whole, self.sliding, self.allowed, \
            self.slack, rows, *scratch, self.end = (int(i) for i in at)
        self.found, self.matrix, self.right, self.shared = scratch
        self.first = self.found
        if laws.system.clusters or laws.system.nz:
            given = None
            if self.held.with_loops:
                given = self.held.symbols, self.held.loops
            self.tied = Tied(laws.system, {**places, 6: ("%q", self.known_modes),
                                           7: ("%q", self.found)}, self.end, given=given)
            self.end = self.tied.end
            places = self.tied.places
        follows = self.held.follows.numel()
        loops = self.tied.n * n if self.held.with_loops else 0
        #: Entries of q: what torn unknowns do at a unit of each effort, and whether there is a
        #: solution.
        room = np.cumsum([self.end, follows, loops, 1])
        self.follows, self.unit, self.done, self.end = (int(i) for i in room)
        #: Factors of the blocks; and a free entry, behind which those of other matrices may stand.
        self.factors: list[FullFactors] = []
        at_block = self.matrix
        for size in map(len, self.blocks):
            self.factors.append(FullFactors(size, at_block, self.end))
            self.end += size
            at_block += size * size
        self.spare, self.end = self.end, self.end + room_for(n, n * n)
        self.places = {**places, 6: ("%q", self.known_modes), 7: ("%q", self.found),
                       8: ("%q", int(at[2])), 9: ("%q", self.follows),
                       10: ("%q", rows), 11: ("%q", self.guess)}  # fmt: skip
        self.arguments = [*self.held.symbols, self.free, self.held.follows, self.given, self.begun]
        self.solver = name_of_code(compiled(self._solver(), parallel=False)) \
            if self.held.with_loops else ""

    def _put_given(self) -> None:
        """Equations of which some rows are given, where efforts at rest share internal stress.

        Given are, for the elements of blocks that may: whether its row is (2 and -2 where it is at
        its upper or lower bound), its right side, and, block by block, column by column, the rows.
        """
        n, e, blocks = self.n, self.e, self.held.shared
        who = np.concatenate([np.zeros(0, dtype=int), *blocks])
        self.given = ca.SX.sym("given", 2 * len(who) + sum(len(block) ** 2 for block in blocks))
        self.is_given, self.off = ca.SX.zeros(n), ca.SX.zeros(n)
        self.posed = e["matrix"], e["residual"]
        if not len(who):
            return
        level, rows, start = ca.SX.zeros(n), ca.SX(n, n), 2 * len(who)
        self.is_given[who.tolist()] = self.given[: len(who)]
        level[who.tolist()] = self.given[len(who) : start]
        for block in map(np.ndarray.tolist, blocks):
            size = len(block)
            rows[block, block] = ca.reshape(self.given[start : start + size**2], size, size)
            start += size**2
        shared = {1: (rows, ca.mtimes(rows, self.effort) - level)}
        # bounds go on as they begin, where another piece of them would hold nothing
        away, torn = self.effort - self.begun, self.laws.system.tape.z
        turned = torn - ca.mtimes(self.held.follows, away) if self.held.with_loops else torn
        for kind, name in ((2, "high"), (-2, "low")):
            bound, by = ca.substitute([e[name], self.held.by_effort(e[name])], [
                self.effort, torn], [self.begun, turned])
            shared[kind] = ca.SX.eye(n) - by, self.effort - bound - ca.mtimes(by, away)
            self.off = ca.if_else(self.is_given == kind, ca.fabs(self.effort - e[name]), self.off)
        pattern = reduce(ca.Sparsity.unite, (m.sparsity() for m, _ in shared.values()),
                         e["matrix"].sparsity())
        entries, residual = ca.project(e["matrix"], pattern).nz[:], e["residual"]
        for kind, (matrix, missed) in shared.items():
            is_so = self.is_given == kind
            entries = ca.if_else(is_so[pattern.row()], ca.project(matrix, pattern).nz[:], entries)
            residual = ca.if_else(is_so, missed, residual)
        self.posed = ca.SX(pattern, entries), residual

    # -- the functions -------------------------------------------------------------------
    def slope(self) -> str:
        """Slopes, 0 for states that stuck elements hold."""
        return self.with_slopes(self.e["slope"] * self.free)

    def _unknowns(self, w: Writer) -> tuple[ca.SX, list[Any], int]:
        """Efforts move by their equations, what is tied by its own."""
        tied, (matrix, residual) = self.tied, self.posed
        self._solve_all(w)
        factors = SparseFactors(matrix.sparsity(), self.spare, values=self.matrix)
        self._fill(w, matrix.nz[:], self.matrix)
        factors.factor(w)
        values = tied.unknowns if tied else self.laws.system.tape.x
        size = values.numel()
        efforts = Unknowns(residual, np.arange(size, size + self.n), factors)
        return ca.vertcat(values, self.effort), [*([tied.found] if tied else []), efforts], size

    def margins(self) -> str:
        """Crossing functions, margins, and how far the equations are from being singular."""
        w = Writer()
        done = self._solve_all(w)
        slack = ca.SX.sym("slack", self.n)
        of_modes = self.laws.margin_expressions() + slack
        if self.held.shared:  # others must not move what a given row does not hold
            wrong = ca.fmax(ca.fabs(self.e["residual"]), self.off) > (
                RATE_OF_STRESS * ca.sum1(ca.fabs(self.effort)))
            of_modes = ca.if_else(ca.logic_and(self.is_given, wrong), -1, of_modes)
        margins = ca.vertcat(self.e["crossings"], of_modes)
        places = {**self.places, len(self.arguments): ("%q", self.slack)}
        self._give(w, done, margins, places, slack)
        if self.held.dependent.any():
            reserves = [w.binary("fdiv", now, w.load("%q", self.whole + k))
                        for k, now in enumerate(self._determinants(w))]
            if self.held.in_a_circle:
                reserves += [w.binary("fdiv", now, w.load("%q", self.sliding + k))
                             for k, now in enumerate(self._minors(w, stuck=False))]
            reserve = w.binary("fsub", self._smallest(w, reserves), w.constant(FAR))
        else:
            reserve = w.binary("fsub", self._least_pivot(w), w.constant(SAFE_PIVOT))
        if self.laws.system.clusters:
            reserve = w.intrinsic("minnum", reserve, self.tied.reserve(w, done))
        w.store(reserve, "%out", margins.numel())
        return self._text(w)

    def present(self) -> str:
        """All that decisions on modes look at, one after the other.

        What elements come to; changes, by efforts, of rates, of the four bounds
        and of slopes; the determinants of the equations, of those of what slides, and of what
        sticks. Where no bound depends on efforts the smallest pivot stands for the determinant.
        """
        w, e = Writer(), self.e
        done = self._solve_all(w)
        count = len(self.blocks)
        loaded = bool(self.held.dependent.any())
        shares = (self._determinants(w) if loaded else [self._least_pivot(w)] * count)
        for needed, stuck in ((self.held.in_a_circle, False), (loaded, True)):
            shares += self._minors(w, stuck) if needed else [w.constant(1.0)] * count
        names = "low", "high", "back", "forth"
        values = self.held.present
        bounds = [self.held.by_effort(e[name]).T for name in names]
        changes = [-self.held.by_effort(e["rate"]).T, *bounds, self.held.by_effort(e["slope"])]
        self._clear(w, w.pointer("%out", values.numel()), sum(one.numel() for one in changes))
        everything = ca.vertcat(ca.densify(values), *map(ca.vec, changes))
        self._fill(w, everything, 0, base="%out")
        if done != "true":
            self._blank(w, done, everything.numel())
        self._put(w, shares, "%out", everything.numel())
        return self._text(w)

    def project(self) -> str:
        """The states with closed contacts closed and at rest; as they were where they are.

        Before that, those that constraints tie, and torn unknowns, which stand behind them.
        """
        w, carried = Writer(), self.tied.nz if self.tied else 0
        self._copy(w, w.pointer("%out", 0), "%x", self.nx + carried)
        self._project_tied(w)
        if self.laws.elements.contact.any():
            self._close(w)
        return self._text(w)

    def _close(self, w: Writer) -> None:
        """Close the contacts of the states in ``out``."""
        contacts = np.flatnonzero(self.laws.elements.contact).tolist()
        x, e = self.laws.system.tape.x, self.e
        # what others hold is closed and stopped by them
        stuck = ca.logic_and(self.modes == 0, ca.logic_not(self.is_given))
        places = np.zeros(self.nx)
        places[self.held.positions] = 1.0
        push = self.held.by_effort(e["slope"])
        closed = stuck[contacts]
        gap = ca.if_else(closed, e["gap"][contacts], 0)
        way = ca.mtimes(ca.jacobian(e["slope"], x), push[:, contacts])
        way = way * ca.repmat(ca.DM(places), 1, len(contacts))
        widening = ca.mtimes(ca.jacobian(e["gap"][contacts], x), way)
        flow = ca.if_else(stuck, e["flow"], 0)
        zero = w.constant(0.0)
        self._put(w, [zero] * self.n, "%q", self.found)
        allowed = w.load("%q", self.allowed)
        moved = {**self.places, 1: ("%out", 0)}
        open_ = w.compare("ogt", self._largest(w, self._values(w, gap, moved)), allowed)
        w.lines += [f"  br i1 {open_}, label %close, label %end", "close:",
                    "  %count = phi i64 [ 0, %entry ], [ %more, %close ]"]
        values = self._move(w, -way, _masked(widening, closed), gap, moved)
        self._project_tied(w)
        w.lines.append("  %more = add i64 %count, 1")
        again = w.compare("ogt", self._largest(w, values), allowed)
        w.lines += [f"  %few = icmp slt i64 %more, {CLOSING}", f"  %go = and i1 {again}, %few",
                    "  br i1 %go, label %close, label %stop", "stop:"]
        own = -self.held.by_effort(ca.mtimes(ca.jacobian(e["flow"], x), e["slope"]))
        self._move(w, push, _masked(own, stuck), flow, moved)
        self._project_tied(w)
        w.lines += ["  br label %end", "end:"]

    # -- parts of them -------------------------------------------------------------------
    def _solve_blocks(self, w: Writer) -> str:
        """Solve for efforts, as far as they have to do with each other; whether it fails."""
        bad, home = "false", self.right
        for factors in self.factors:
            bad = w.new(f"or i1 {bad}, {self._solve(w, factors)}")
            self.right += factors.n
        self.right = home
        return bad

    @staticmethod
    def _smallest(w: Writer, values: list[str]) -> str:
        return reduce(partial(w.intrinsic, "minnum"), values)

    def _least_pivot(self, w: Writer) -> str:
        return self._smallest(w, [w.intrinsic("fabs", pivot) for factors in self.factors
                                  for pivot in factors.pivots(w)])

    def _determinants(self, w: Writer) -> list[str]:
        """Determinants of blocks, from the factors that the last solution has left."""
        return [factors.determinant(w) for factors in self.factors]

    def _minors(self, w: Writer, stuck: bool) -> list[str]:
        """Determinants of the equations of what sticks, or of what slides."""
        self._fill_equations(w)
        told = np.concatenate([[len(self.blocks), stuck], [*map(len, self.blocks)], *self.blocks])
        w.call(leave_minors, w.pointer("%q", self.matrix), w.pointer("%q", self.known_modes),
               w.table(told.astype(np.int64)), self.n)
        self._solve_blocks(w)
        return self._determinants(w)

    def _solve_all(self, w: Writer, base: str = "%x") -> str:
        """Solve for states that constraints tie, torn unknowns, and efforts; whether there are."""
        if not self.held.with_loops:
            done = self.tied.call(w, base) if self.tied else "true"
            self._efforts(w)
            return done
        w.run(self.solver, base)
        return w.compare("une", w.load("%q", self.done), w.constant(0.0))

    def _solver(self) -> str:
        """Text of what solves for torn unknowns and efforts that these follow.

        Unknowns follow efforts linearly: they are found at some efforts, then what follows these,
        and once more; with every round of Newton's method where bounds have kinks.
        """
        w = Writer()
        start = [w.load("%q", self.guess + i) for i in range(self.n)]
        self._put(w, start, "%q", self.found)
        first = self.tied.call(w)
        self._put_follows(w)
        self._efforts(w, start)
        last = self.tied.call(w, again=True)
        w.store(w.truth(w.new(f"and i1 {first}, {last}")), "%q", self.done)
        return self._text(w)

    def _put_follows(self, w: Writer) -> None:
        """Put into ``q`` what torn unknowns do at a unit of each effort."""
        tied, right = self.tied, -ca.jacobian(self.held.loops, self.effort)
        unit = w.pointer("%q", self.unit)
        self._clear(w, unit, right.numel())
        values = self._values(w, right.nz[:])
        for place, value in zip(right.sparsity().find(), values, strict=True):
            w.store(value, "%q", self.unit + place)
        sizes = np.array((tied.n, self.held.follows.shape[0], self.n))
        w.call(solve_blocks_for_units, *tied.factors.given(w), unit,
               w.pointer("%q", self.follows), w.table(sizes))

    def _project_tied(self, w: Writer) -> None:
        """Solve for them from what stands in ``out``, and put them there."""
        if self.tied:
            solved = self._solve_all(w, "%out") if self.held.with_loops else self.tied.call(
                w, "%out")
            self.tied.store_solution(w, solved)

    def _move(self, w: Writer, way: Any, matrix: Any, right: Any, places: Any) -> list[str]:
        """Add way @ solve(matrix, right) to the states in ``out``; the values of ``right``."""
        factors = SparseFactors(matrix.sparsity(), self.spare, values=self.matrix)
        self._put(w, self._values(w, matrix.nz[:], places), "%q", self.matrix)
        values = self._values(w, right, places)
        self._put(w, values, "%q", self.right)
        bad = self._solve(w, factors)
        by = ca.SX.sym("by", right.numel())
        steps = self._values(w, ca.mtimes(way, by), {
            **places, len(self.arguments): ("%q", self.right)}, by)
        for i, step in enumerate(steps):
            step = w.select(bad, w.constant(0.0), step)
            w.store(w.binary("fadd", w.load("%out", i), step), "%out", i)
        return values

    def _fill_equations(self, w: Writer) -> None:
        """Put matrix and residual into ``q``, block by block, and the largest bound shared."""
        if not self.given.numel():
            self._put_equations(w, *self._plain)
            return
        flags = ca.sum1(ca.fabs(self.given[: sum(map(len, self.held.shared))]))
        any_given = w.compare("une", self._values(w, flags)[0], w.constant(0.0))
        for name in self._fillers:
            w.declared.add(f"declare void {name}(ptr, ptr, ptr, ptr, ptr)")
        shared, plain = self._fillers
        filler = w.new(f"select i1 {any_given}, ptr {shared}, ptr {plain}")
        w.lines.append(f"  call void {filler}(ptr %t, ptr %x, ptr %p, ptr %q, ptr %q)")

    @cached_property
    def _fillers(self) -> list[str]:
        """Functions that put equations into ``q``: of which some rows are given, and plain ones."""
        names = []
        for equations in (self._equations(*self.posed), self._plain):
            w = Writer()
            self._put_equations(w, *equations)
            names.append(name_of_code(compiled(self._text(w), parallel=False)))
        return names

    @cached_property
    def _plain(self) -> tuple[Any, bool]:
        """The equations of which no row is given."""
        return self._equations(self.e["matrix"], self.e["residual"])

    def _equations(self, matrix: ca.SX, residual: ca.SX) -> tuple[Any, bool]:
        """Matrix and residual, block by block, and the largest bound that shares count in; whether
        the matrix has zeros."""
        blocks = [block.tolist() for block in self.blocks]
        entries = ca.vertcat(*(ca.vec(matrix[block, block]) for block in blocks))
        return self._matrix(ca.vertcat(
            entries, ca.SX(self.n**2 - entries.numel(), 1), residual[sum(blocks, [])],
            self.e["shared"])), matrix.nnz() < entries.numel()

    def _put_equations(self, w: Writer, equations: Any, has_zeros: bool) -> None:
        if has_zeros:
            self._clear(w, w.pointer("%q", self.matrix), self.n**2)
        self._write(w, equations, self.matrix)

    def _efforts(self, w: Writer, guess: list[str] | None = None) -> None:
        """Solve for the efforts; they stand in ``q`` afterwards."""
        affine, n = self.held.affine, self.n
        guess = guess or [w.constant(0.0) if affine else w.load("%q", self.guess + i)
                          for i in range(n)]
        self._put(w, guess, "%q", self.found)
        if not affine:
            w.lines += ["  br label %first", "first:", "  br label %round", "round:",
                        "  %count = phi i64 [ 0, %first ], [ %more, %round ]",
                        f"  %last = phi double [ {w.constant(1e300)}, %first ], [ %size, %round ]"]
        self._fill_equations(w)
        residual = [w.load("%q", self.right + row) for row in self.row]
        bad = self._solve_blocks(w)
        steps, efforts = [], []
        for i in range(n):
            step = w.load("%q", self.right + self.row[i])
            if not self.held.dependent[i]:  # such as no effort of an open contact, exactly
                slides = w.compare("une", w.load("%q", self.known_modes + i), w.constant(0.0))
                step = w.select(slides, residual[i], step)
            steps.append(w.select(bad, w.constant(float("nan")), step))
            old = guess[i] if affine else w.load("%q", self.found + i)
            efforts.append(w.binary("fsub", old, steps[-1]))
        self._put(w, efforts, "%q", self.found)
        if affine:
            return
        if self.held.with_loops:
            self.tied.call(w, again=True)
        # where all efforts pass through zero together, those of the start tell the size
        size, whole = self._largest(w, steps), self._largest(w, [*efforts, *guess])
        shared = w.load("%q", self.shared)
        exact = w.compare("ole", size, w.binary("fmul", self._largest(w, [whole, shared]),
                                                w.constant(NOTHING_AT_ALL)))
        small = w.compare("ole", size, w.binary("fmul", whole, w.constant(SAME_AS_BEFORE)))
        slow = w.compare("ogt", size, w.binary("fmul", "%last", w.constant(0.5)))
        w.lines += [f"  %size = fadd double {size}, {w.constant(-0.0)}",
                    f"  %noise = and i1 {small}, {slow}", f"  %done = or i1 {exact}, %noise",
                    "  %more = add i64 %count, 1", f"  %out_of_time = icmp sge i64 %more, {ROUNDS}",
                    "  %stop = or i1 %done, %out_of_time",
                    "  br i1 %stop, label %found, label %round", "found:"]
        for i, effort in enumerate(efforts):  # no solution is no number
            w.store(w.select("%done", effort, w.constant(float("nan"))), "%q", self.found + i)


def _masked(matrix: ca.SX, rows: ca.SX) -> ca.SX:
    """Rows and columns that do not take part are those of the unit matrix."""
    n = matrix.shape[0]
    pattern = matrix.sparsity().unite(ca.Sparsity.diag(n))
    i, j = pattern.get_triplet()
    entries = ca.if_else(ca.logic_and(rows[i], rows[j]), ca.project(matrix, pattern).nz[:],
                         ca.project(ca.SX.eye(n), pattern).nz[:])
    return ca.SX(pattern, entries)


@machine_code
def leave_minors(matrix: int, modes: int, told: int, size: int) -> int:
    """Make rows and columns of what slides, or sticks, those of the unit matrix, block by block.

    ``matrix`` is the address of the blocks, each column by column, ``modes`` that of those of all
    elements, ``told`` that of the number of blocks, of whether those of what sticks are left, 0 or
    1, of their sizes, and of their members.
    """
    mode, head = vector_at(modes, size), indices_at(told, 2)
    count, stuck = head[0], head[1] != 0
    sizes = indices_at(told, 2 + count + size)
    member, place = 2 + count, 0
    for b in range(count):
        n = sizes[2 + b]
        block = vector_at(matrix, place + n * n)
        for j in range(n):
            for i in range(n):
                if (mode[sizes[member + i]] == 0.0) != stuck or (
                        mode[sizes[member + j]] == 0.0) != stuck:
                    block[place + j * n + i] = 1.0 if i == j else 0.0
        member += n
        place += n * n
    return 0
