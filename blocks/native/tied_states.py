"""How do tied states and nonlinear algebraic unknowns read as machine code?

States that constraints tie to others, torn unknowns, and what friction at nodes without mass takes
where its law is a curve, are carried along with the
integrated states: functions ``f(t, x, p, q, out)`` take them, at the end of ``x``, as what
Newton's method starts from, solve for them, and give their slopes too. So values depend on
``x`` alone, and the branch of a solution is followed by the error control. Which states are
tied stands in ``q``: code is written once for every choice.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..language.expression import TIME
from ..machine.compiling import compiled, name_of_code
from ..machine.functions import machine_code
from ..machine.signatures import indices_at, vector_at
from ..numerics.arrays import Array
from ..numerics.tolerances import (
    LAST_BITS,
    NEWTON_STALLED,
    NO_SHORTER,
    SOLVED_ALREADY,
    TIED_SOLVED,
)
from .damped_steps import take_back
from .expressions import Writer
from .forms import MOST_STATES, candidates
from .held_equations import solve_for_units
from .open_unknowns import room as open_room
from .sparse_factors import SparseFactors, is_mostly_zeros, pattern_of_choice
from .text import Text, write_derivatives

if TYPE_CHECKING:
    from ..nonsmooth.modes.carried_network import CarriedNetwork
    from ..system import Problem, System

__all__ = ["Tied", "TiedCode"]

ROUNDS = 60  # of Newton's method: down an exponential it goes by a thermal voltage a round
FULL = 6  # rounds with full steps; then no more is taken of one than shortens the next
TAKEN = 8  # number of the argument that elements at nodes without mass take
SHARE = 0.25  # of the determinant at the choice of states, below which they are chosen anew


class Tied(Text):
    """A function that solves for what is not integrated, for the others to call.

    Parameters
    ----------
    system : System
    places : of its arguments
    start : the first free entry of ``q``
    network : whose inputs are solved for, too, as torn unknowns behind the others
    given : symbols of all arguments, and residuals, where these depend on efforts
    """

    def __init__(self, system: System, places: dict[int, tuple[str, int]], start: int,
                 network: CarriedNetwork | None = None,
                 given: tuple[list[ca.SX], ca.SX] | None = None) -> None:
        tape, self.network = system.tape, network
        self.arguments, self.nx, self.nz = system.arguments, system.nx, system.nz
        self.unknowns = ca.vertcat(tape.x, tape.z)
        self.residual = ca.vertcat(tape.residual, tape.constraints)
        if network is not None:
            self.arguments, self.nz = network.symbols, system.nz + network.elements.size
            self.unknowns = ca.vertcat(self.unknowns, network.taken)
            self.residual = network.residual
        if given is not None:
            self.arguments, self.residual = given
        self.residual = ca.densify(self.residual)
        self.loops = tape.loops
        n = self.n = self.residual.numel()
        tied = candidates(system)
        #: Entries of x and z that may have to be solved for.
        self.candidates = np.array([*tied, *range(self.nx, self.nx + self.nz)], dtype=int)
        at = np.cumsum([start, n, n, n, 1, self.nx + self.nz, len(self.candidates) * n, n * n, n, n,
                        n, n, self.nx, n, 1,
                        open_room(n) * bool(tape.carried.any()), *self._room_for_derivatives(),
                        ])  # fmt: skip
        (self.columns, self.entries, self.magnitudes, self.whole, self.here, self.jacobian,
         self.matrix, self.right, self.left, self.step, self.shares, self.slope, self.pivots,
         self.done, self.open_room, self.integrated, self.changes, self.end) = (
            int(i) for i in at)
        if tape.carried.any():
            self.carried = np.append(tape.carried, np.zeros(n - self.nz, dtype=bool))
            self.carried_at, self.torn = ("%q", self.here + self.nx), self.nz
        self.places = {**places, 1: ("%q", self.here), 2: ("%q", self.here + self.nx),
                       TAKEN: ("%q", self.here + self.nx + system.nz)}
        derivative = ca.jacobian(self.residual, self.unknowns)[:, self.candidates.tolist()]
        self.pattern = derivative.sparsity()
        by_blocks = network is None and given is None and not system.clusters
        if by_blocks if self.carried is not None else is_mostly_zeros(
                pattern_of_choice(self.pattern, self.nz)):
            self.sparse = SparseFactors(self.pattern, self.end, bool(system.clusters), self.carried)
            self.end = self.sparse.end
        #: Whether efforts move the torn unknowns alone, and these linearly, so that factors serve
        #: again after they have changed; and, without tied states, at every point.
        self.serves_again = given is not None and self.carried is None and not any(
            ca.which_depends(part, ca.vertcat(tape.z, given[0][-1]), 1, True).count(True)
            for part in (self.residual[self.nz :], derivative[:, len(tied) :].nz[:])
            if part.numel())
        self.linear = self.serves_again and not system.clusters
        self._keep_apart(derivative)
        self.name = self.again = name_of_code(compiled(self._solver(), parallel=False))
        if self.serves_again:
            self.again = name_of_code(compiled(self._solver(True), parallel=False))
        self.slopes = name_of_code(compiled(self._slopes_of_torn(), parallel=False)) \
            if self.nz else ""

    def _keep_apart(self, derivative: ca.SX) -> None:
        """Take from residuals and derivatives what no round of Newton's method changes."""
        changing = {s.__hash__() for s in ca.vertsplit(self.unknowns[self.candidates.tolist()])}
        whole = ca.cse(ca.vertcat(ca.vec(derivative.nz[:]), self.residual))
        steady = [s for s in ca.symvar(whole) if s.__hash__() not in changing]
        none = ca.SX(0, 1)
        whole, symbols, values = ca.extract_parametric(whole, ca.vertcat(none, *steady), {})
        #: Symbols of that, what they stand for, and where in ``q``.
        self.steady = ca.vertcat(none, *symbols), ca.vertcat(none, *values), self.end
        self.end += len(symbols)
        entries = derivative.nnz()
        #: Derivatives and residuals by these symbols.
        self.round = ca.SX(derivative.sparsity(), whole[:entries]), whole[entries:]

    @cached_property
    def symbols(self) -> tuple[ca.SX, ca.SX]:
        """Changes of all states and unknowns, by each state and by time; and what is integrated."""
        count = self.nx + self.nz
        return ca.SX.sym("changes", count, self.nx + 1), ca.SX.sym("integrated", count)

    def _room_for_derivatives(self) -> tuple[int, int]:
        """Of every state and unknown 1, or 0 where it is solved for; and its changes, by each
        state and by time."""
        count = self.nx + self.nz
        return (count, count * (self.nx + 1)) if self.nx <= MOST_STATES else (0, 0)

    # -- what stands in q ----------------------------------------------------------------
    def fill(self, q: Array, problem: Problem) -> None:
        """Which states are tied."""
        entries = np.append(np.arange(self.nx, self.nx + self.nz), problem.tied)
        columns = np.searchsorted(self.candidates, entries)
        q.view(np.int64)[self.columns : self.columns + self.n] = columns * self.n
        q.view(np.int64)[self.entries : self.entries + self.n] = entries
        taken = problem.scale_u if self.network is not None else np.zeros(0)
        q[self.magnitudes : self.magnitudes + self.n] = np.concatenate(
            [problem.scale_z, taken, problem.scale_x[problem.tied]])
        if self.sparse is not None and self.sparse.chosen:
            self.sparse.fill(q, columns)

    def values(self, problem: Problem) -> Array:
        """What is carried along behind the states."""
        if self.network is None:
            return problem.z
        return np.append(problem.z, self.network.elements.efforts_of(problem.u))

    def give_back(self, problem: Problem, values: Array) -> None:
        """Make these the values of the problem."""
        problem.z[:] = values[: len(problem.z)]
        if self.network is not None:
            self.network.elements.put(problem.u, values[len(problem.z) :])

    def refer(self, q: Array, size: float) -> None:
        """The determinant's logarithm that others are measured against."""
        q[self.whole] = size

    def size(self, q: Array) -> float:
        """The logarithm of the determinant at the last solution."""
        pivots = q[[self._pivot(i) for i in range(self.n)]]
        return float(np.log(np.abs(pivots)).sum())

    def _pivot(self, i: int) -> int:
        """The entry of ``q`` where a pivot stands."""
        return self.matrix + i * (self.n + 1) if self.sparse is None else self.sparse.pivots + i

    # -- what other functions do with it ---------------------------------------------------
    def call(self, w: Writer, base: str = "%x", again: bool = False) -> str:
        """Solve from the values at ``base``; solutions stand in ``q``. Whether there are any.

        ``again`` after efforts alone have changed.
        """
        w.run(self.again if again else self.name, base)
        return w.compare("une", w.load("%q", self.done), w.constant(0.0))

    def share(self, w: Writer, done: str) -> str:
        """Negative where the choice of states has become a bad one."""
        size = w.constant(0.0)
        for i in range(self.n):
            pivot = w.intrinsic("fabs", w.load("%q", self._pivot(i)))
            size = w.binary("fadd", size, w.intrinsic("log", pivot))
        share = w.binary("fsub", size, w.load("%q", self.whole))
        share = w.binary("fsub", share, w.constant(np.log(SHARE)))
        return w.select(done, share, w.constant(-1.0))

    def put_follows(self, w: Writer, unit: str, modes: str, follows: str, wanted: int, sides: int,
                    stuck: bool) -> None:
        """Fill ``follows`` with what the first unknowns do at a unit of each effort; addresses.

        Of efforts of what is ``stuck`` only, where others are known already: theirs are zero.
        Behind right sides at ``unit`` there is as much room again, and for a pivot's row each.
        """
        n = self.n
        sizes = w.table(np.array((n, wanted, sides, int(stuck))))
        if self.sparse is not None:
            self.sparse.solve_for_units(w, unit, modes, follows, sizes)
            return
        rows, pivots = w.pointer("%q", self.pivots), w.new(
            f"getelementptr inbounds double, ptr {unit}, i64 {sides * n}")
        self._copy(w, pivots, rows, n)
        w.call(solve_for_units, w.pointer("%q", self.matrix), unit, modes, follows, sizes)

    def put_changes(self, w: Writer) -> None:
        """Put into ``q`` how all that is solved for moves with states and time.

        By the implicit function theorem, with the factors of the last solution; and which states
        and unknowns are not solved for.
        """
        count = self.nx + self.nz
        self._put(w, [w.constant(1.0)] * count, "%q", self.integrated)
        integrated = w.pointer("%q", self.integrated)
        for k in range(self.n):
            w.store(w.constant(0.0), integrated, self.index_of_entry(w, k))
        right = -ca.jacobian(self.residual, ca.vertcat(self.unknowns[: self.nx], TIME))
        self._clear(w, w.pointer("%q", self.changes), count * (self.nx + 1))
        solution, entries = w.pointer("%q", self.right), w.pointer("%q", self.entries)
        for j in range(self.nx + 1):
            self._clear(w, solution, self.n)
            self._fill(w, right[:, j], self.right)
            self._solve(w, self.n, factored=True)
            column = w.pointer("%q", self.changes + j * count)
            w.call(put_at, solution, entries, column, self.n, count)

    def moved(self, expression: ca.SX) -> ca.SX:
        """How an expression changes by each state and by time, what is solved for with them."""
        by_all = ca.vertcat(self.unknowns[: self.nx], TIME)
        return ca.jacobian(expression, by_all) + ca.mtimes(
            ca.jacobian(expression, self.unknowns), self.symbols[0])

    def write_derivatives(self, w: Writer, arguments: list[ca.SX], changes: ca.SX,
                          places: dict[int, tuple[str, int]]) -> None:
        """Append derivatives of slopes by the states that are integrated, and by time.

        ``changes`` of slopes are functions of ``arguments`` and of :attr:`symbols`.
        """
        nx, nz = self.nx, self.nz
        by_states = changes[:, :-1] * ca.repmat(self.symbols[1][:nx].T, nx, 1)
        whole = ca.diagcat(by_states, ca.SX(nz, nz))
        write_derivatives(w, [*arguments, *self.symbols], whole,
                          ca.vertcat(changes[:, -1], ca.SX(nz, 1)),
                          self.with_changes(places, len(arguments)))

    def with_changes(self, places: dict[int, tuple[str, int]], first: int
                     ) -> dict[int, tuple[str, int]]:
        """Places of arguments that :attr:`symbols` follow."""
        return {**places, first: ("%q", self.changes), first + 1: ("%q", self.integrated)}

    def store_solution(self, w: Writer, done: str) -> None:
        """Put the solution into ``out``; where there is none, ``out`` stays as it is.

        So it does where it is solved but for rounding: what is solved again stays the same.
        """
        solved = w.as_address(done)
        w.call(keep_solved, w.pointer("%q", self.here), "%out", self.nx + self.nz, solved)

    def put_slopes_of_torn(self, w: Writer, first: int = 0) -> None:
        """Put the slopes of torn unknowns into ``out``, behind those of all states from first on.
        """
        if self.nz:
            w.run(self.slopes, out=w.pointer("%out", first))

    # -- the function itself -------------------------------------------------------------
    def _solver(self, again: bool = False) -> str:
        """Text of Newton's method, or of what goes ``again`` from its solution, by its factors."""
        w, n, factored = Writer(), self.n, again or self.linear
        if not again:
            self._copy(w, w.pointer("%q", self.here), "%x", self.nx + self.nz)
        self._fill(w, self.steady[1], self.steady[2])
        singular = "false"
        if self.linear and not again:
            self._put_equations(w, residual=False)
            singular = self._factor(w, n)
        infinite = w.constant(np.inf)
        w.lines += ["  br label %round", "round:",
                    "  %count = phi i64 [ 0, %entry ], [ %more, %judged ], [ 0, %again ]",
                    f"  %last = phi double [ {infinite}, %entry ], [ %norm, %judged ], "
                    f"[ {infinite}, %again ]",
                    "  %second = phi i1 [ false, %entry ], [ %second, %judged ], [ true, %again ]"]
        self._put_equations(w, matrix=not factored)
        self._copy(w, w.pointer("%q", self.left), w.pointer("%q", self.right), n)
        bad = w.new(f"or i1 {singular}, {self._solve(w, n, factored)}")
        norm = whole = w.constant(0.0)
        for j in range(n):
            entry = w.pointer(w.pointer("%q", self.here), self._index(w, self.entries + j))
            step, old = w.load("%q", self.right + j), w.load(entry, 0)
            value = w.binary("fsub", old, step)
            w.store(value, entry, 0)
            size = w.binary("fadd", w.intrinsic("fabs", value), w.load("%q", self.magnitudes + j))
            part = w.binary("fdiv", w.intrinsic("fabs", step), size)
            norm = w.intrinsic("maxnum", norm, part)
            pivot = w.load("%q", self._pivot(j))
            whole = w.binary("fadd", w.binary("fadd", whole, part),
                             w.binary("fmul", pivot, w.constant(0.0)))
        w.lines.append(f"  %norm = fadd double {norm}, 0.0")
        exact = w.compare("ole", norm, w.constant(TIED_SOLVED))
        if not factored:  # where a slope is steep at first, as of a root, a step tells nothing
            exact = w.new(f"and i1 {exact}, {w.new('icmp ne i64 %count, 0')}")
        no_shorter = w.compare("ogt", norm, w.binary("fmul", w.constant(NO_SHORTER), "%last"))
        little = w.compare("ole", norm, w.constant(NEWTON_STALLED))
        stalled = w.new(f"and i1 {no_shorter}, {little}")
        exact = w.new(f"or i1 {exact}, {stalled}")
        finite = w.compare("olt", whole, w.constant(1e300))  # parts are numbers, pivots finite
        large = w.new(f"xor i1 {little}, true")
        unsure = w.new(f"and i1 {no_shorter}, {w.new(f'and i1 {finite}, {large}')}")
        w.lines += [f"  br i1 {unsure}, label %look, label %looked", "look:"]
        noise = self._is_rounding(w)
        w.lines += ["  br label %looked", "looked:"]
        noise = w.new(f"phi i1 [ false, %round ], [ {noise}, %look ]")
        exact = w.new(f"or i1 {exact}, {noise}")
        found = w.new(f"and i1 {exact}, {finite}")
        hopeless = w.new(f"or i1 {bad}, {w.new(f'xor i1 {finite}, true')}")
        w.lines += ["  %more = add i64 %count, 1",
                    f"  %late = icmp sge i64 %more, {ROUNDS}",
                    f"  %lost = or i1 %late, {hopeless}", f"  %stop = or i1 %lost, {found}",
                    "  br i1 %stop, label %ended, label %go_on", "go_on:",
                    f"  %many = icmp sge i64 %more, {FULL}", "  %damped = or i1 %second, %many",
                    "  br i1 %damped, label %shorten, label %judged", "shorten:"]
        self._shorten(w)
        w.lines += ["judged:", "  br label %round", "ended:",
                    f"  %over = or i1 %second, {found}",
                    "  br i1 %over, label %solved, label %again", "again:"]
        self._copy(w, w.pointer("%q", self.here), "%x", self.nx + self.nz)
        w.lines += ["  %begins = icmp eq i64 %count, 0",  # a law may be flat where it begins
                    f"  %flat = and i1 %begins, {hopeless}"]
        for j in range(self.nz):
            entry = w.pointer(w.pointer("%q", self.here), self._index(w, self.entries + j))
            w.store(w.new(f"select i1 %flat, double {w.load('%q', self.magnitudes + j)}, "
                          f"double {w.load(entry, 0)}"), entry, 0)
        w.lines += ["  br label %round", "solved:"]
        done = w.new(f"and i1 {found}, {w.new(f'xor i1 {bad}, true')}")
        w.store(w.truth(done), "%q", self.done)
        return self._text(w)

    def _shorten(self, w: Writer) -> None:
        """Take back what is too much of a step."""
        n = self.n
        self._copy(w, w.pointer("%q", self.step), w.pointer("%q", self.right), n)
        w.lines += ["  br label %try", "try:",
                    "  %first = phi i64 [ 1, %shorten ], [ 0, %try ]"]
        self._put_equations(w, matrix=False)
        self._solve(w, n, factored=True)
        again = w.ask(take_back, *(w.pointer("%q", i) for i in (
            self.step, self.right, self.shares, self.here, self.entries, self.magnitudes)),
            w.table(self._blocks()), n, self.nx + self.nz, w.new("inttoptr i64 %first to ptr"))
        w.lines.append(f"  br i1 {again}, label %try, label %judged")

    def _blocks(self) -> Array:
        """The block of each unknown: loops, then what elements take, then tied states."""
        numbers = np.arange(len(self.loops) + 2)
        return np.repeat(numbers, [*self.loops, self.nz - sum(self.loops), self.n - self.nz])

    def _put_equations(self, w: Writer, residual: bool = True, matrix: bool = True) -> None:
        """Put residuals, and of derivatives the columns of what is solved for together."""
        n, whole = self.n, ca.SX(self.end, 1)
        derivative, left = self.round
        slopes = ca.vec(derivative.nz[:])  # of a single row they are a row
        if residual:
            whole[self.right : self.right + n] = left
        if matrix and self.sparse is not None:
            whole[self.sparse.values : self.sparse.values + slopes.numel()] = slopes
        elif matrix:
            self._clear(w, w.pointer("%q", self.jacobian), derivative.numel())
            whole[(np.array(self.pattern.find()) + self.jacobian).tolist()] = slopes
        symbols, _, place = self.steady  # they stand behind the arguments
        self._fill(w, whole, 0, {**self.places, len(self.arguments): ("%q", place)}, symbols)
        if matrix and self.sparse is None:
            for j in range(n):
                column = w.pointer(w.pointer("%q", self.jacobian), self._index(w, self.columns + j))
                self._copy(w, w.pointer("%q", self.matrix + j * n), column, n)

    def _is_rounding(self, w: Writer) -> str:
        """Whether residuals are what the last bits of the unknowns make of them.

        A voltage that follows from the difference of two currents may be known to 1e-6 only.
        """
        rows, columns = (np.array(found) for found in self.pattern.get_triplet())
        jacobian = self.jacobian if self.sparse is None else self.sparse.values
        places = columns * self.n + rows if self.sparse is None else np.arange(len(rows))
        carried = np.zeros(self.n, dtype=int)
        if self.carried is not None:
            carried[: len(self.carried)] = self.carried
        told = w.table(np.concatenate([rows, self.candidates[columns], places, carried]))
        return w.ask(are_last_bits, *(w.pointer("%q", i) for i in (
            self.left, jacobian, self.here, self.step)), told, self.n, len(rows))

    def _slopes_of_torn(self) -> str:
        """By the implicit function theorem, with the factors of the last solution."""
        w, slope = Writer(), ca.SX.sym("slope", self.nx)
        change = ca.jacobian(self.residual, TIME)
        if self.nx:
            change += ca.jtimes(self.residual, self.unknowns[: self.nx], slope)
        self._copy(w, w.pointer("%q", self.slope), "%out", self.nx)
        places = {**self.places, len(self.arguments): ("%q", self.slope)}
        self._fill(w, ca.densify(change), self.right, places, slope)
        bad = self._solve(w, self.n, factored=True)
        for i in range(self.nz):  # only what Newton's method starts from
            value = w.new(f"fneg double {w.load('%q', self.right + i)}")
            fine = w.compare("olt", w.intrinsic("fabs", value), w.constant(1e300))
            value = w.select(fine, value, w.constant(0.0))
            w.store(w.select(bad, w.constant(0.0), value), "%out", self.nx + i)
        return self._text(w)

    def index_of_entry(self, w: Writer, k: int) -> str:
        """Which entry of x and z the k-th solution is."""
        return self._index(w, self.entries + k)

    def _index(self, w: Writer, entry: int) -> str:
        return w.new(f"load i64, ptr {w.pointer('%q', entry)}, align 8")


class TiedCode(Text):
    """Text of functions of a system whose unknowns are solved for.

    Parameters
    ----------
    system : System
    places : of its arguments
    start : the first free entry of ``q``
    network : of laws at nodes without mass, where there are any
    """

    tied: Tied

    def __init__(self, system: System, places: dict[int, tuple[str, int]], start: int,
                 network: CarriedNetwork | None = None) -> None:
        self.tied = Tied(system, places, start, network)
        self.tape, self.arguments, self.places = (
            system.tape, self.tied.arguments, self.tied.places)
        self.found = [self.tape.slope, self.tape.crossings]
        if network is not None:
            crossings = ca.vertcat(network.expressions["crossings"], network.margins)
            self.found = [network.expressions["slope"], crossings]
        self.matrix, self.right, self.pivots = (
            self.tied.matrix, self.tied.right, self.tied.pivots)
        self.carried, self.open_room = self.tied.carried, self.tied.open_room
        self.carried_at, self.torn = self.tied.carried_at, self.tied.torn
        self.chosen = bool(system.clusters)
        self.scratch = self.tied.end - start

    def slope(self) -> str:
        """Slopes of states and of torn unknowns."""
        return self.with_slopes(self.found[0])

    def with_slopes(self, expression: ca.SX) -> str:
        """What ends with the slopes of all states, and those of torn unknowns behind."""
        w, tied = Writer(), self.tied
        self._give(w, tied.call(w), expression)
        tied.put_slopes_of_torn(w, expression.numel() - tied.nx)
        return self._text(w)

    def derivatives(self, slope: ca.SX) -> str:
        """Text of the derivatives of slopes by the states that are integrated, and by time.

        What is tied to them changes with them (the implicit function theorem). Values do not
        depend on tied states and torn unknowns, which only say where Newton's method starts; how
        these themselves change needs no derivative, for the same reason.
        """
        w, tied = Writer(), self.tied
        tied.call(w)
        tied.put_changes(w)
        tied.write_derivatives(w, self.arguments, tied.moved(slope), self.places)
        return self._text(w)

    def crossings(self) -> str:
        """Crossing functions; and how far the choice of states is from being a bad one."""
        w, tied = Writer(), self.tied
        done = tied.call(w)
        self._give(w, done, self.found[1])
        if self.chosen:
            w.store(tied.share(w, done), "%out", self.found[1].numel())
        return self._text(w)

    def of(self, expression: ca.SX) -> str:
        """An expression, all that is solved for brought up to date."""
        w, tied = Writer(), self.tied
        self._give(w, tied.call(w), expression)
        return self._text(w)

    def settle(self) -> str:
        """All states and torn unknowns, solved for; as they were where there is no solution."""
        w, tied = Writer(), self.tied
        self._copy(w, w.pointer("%out", 0), "%x", tied.nx + tied.nz)
        tied.store_solution(w, tied.call(w))
        return self._text(w)


@machine_code
def put_at(values: int, entries: int, target: int, count: int, size: int) -> int:
    """Put values at some entries of a target of that size; addresses."""
    new, at, out = vector_at(values, count), indices_at(entries, count), vector_at(target, size)
    for k in range(count):
        out[at[k]] = new[k]
    return 0


@machine_code
def keep_solved(solution: int, values: int, count: int, solved: int) -> int:
    """Put a solution that has been found into the place of values, but for rounding; addresses."""
    new, old = vector_at(solution, count), vector_at(values, count)
    if solved != 0:
        for i in range(count):
            if abs(new[i] - old[i]) > SOLVED_ALREADY * abs(old[i]):
                old[i] = new[i]
    return 0


@machine_code
def are_last_bits(left: int, jacobian: int, here: int, bounds: int, told: int, rows: int,
                  entries: int) -> int:
    """Whether residuals are what the last bits of the unknowns make of them: 1, or 0.

    Parameters
    ----------
    left, here : addresses of residuals, and of all states and unknowns
    jacobian : address of derivatives
    bounds : address of room for a number per residual
    told : address of the row of each derivative, of what it is by, of where it stands, and of
        which rows are of what flows carry
    """
    r, bound = vector_at(left, rows), vector_at(bounds, rows)
    at = indices_at(told, 3 * entries + rows)
    bound[:] = 0.0
    for e in range(entries):
        x = vector_at(here, at[entries + e] + 1)
        a = vector_at(jacobian, at[2 * entries + e] + 1)
        bound[at[e]] += abs(a[at[2 * entries + e]] * x[at[entries + e]])
    most = 0.0  # small flows are differences of large ones, and known as these are
    for i in range(rows):
        if at[3 * entries + i] != 0:
            most = max(most, bound[i])
    for i in range(rows):
        allowed = most if at[3 * entries + i] != 0 else bound[i]
        if not abs(r[i]) <= LAST_BITS * allowed:
            return 0
    return 1
