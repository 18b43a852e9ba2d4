"""How do tied states and algebraic unknowns read as machine code?

States that constraints tie to others, torn unknowns, and what friction at nodes without mass takes
where its law is a curve, are carried along with the
integrated states: functions ``f(t, x, p, q, out)`` take them, at the end of ``x``, as what
Newton's method starts from, solve for them, and give their slopes too. So values depend on
``x`` alone, and the branch of a solution is followed by the error control. Which states are
tied stands in ``q``: code is written once for every choice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..language.expression import TIME
from ..machine.compiling import compiled, name_of_code
from ..machine.functions import machine_code
from ..machine.signatures import vector_at
from ..numerics.arrays import Array
from ..numerics.tolerances import CANCELLATION
from .derivatives import SolvedText, Unknowns
from .expressions import Writer
from .forms import candidates
from .newton import find_unknowns
from .sparse_factors import SparseFactors
from .text import Text

if TYPE_CHECKING:
    from ..nonsmooth.modes.carried_network import CarriedNetwork
    from ..system import Problem, System

__all__ = ["Tied", "TiedCode"]

TAKEN = 8  # number of the argument that elements at nodes without mass take
LEAST_DETERMINANT = 0.25  # of that at the choice of states, below which they are chosen anew


class Tied(Text):
    """A function that solves for what is not integrated, for the others to call.

    ``places`` are those of its arguments, ``first`` is the first free entry of ``q``; inputs of a
    ``network`` are solved for, too, as torn unknowns behind the others; ``given`` are symbols of
    all arguments, and residuals, where these depend on efforts.
    """

    def __init__(self, system: System, places: dict[int, tuple[str, int]], first: int,
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
        at = np.cumsum([first, n, n, 1, self.nx + self.nz, n, n, n, n, self.nx, 1])
        # in the order in which Newton's method knows them
        (self.entries, self.magnitudes, self.whole, self.here, self.right, _, _, _, self.slope,
         self.done, end) = (int(i) for i in at)
        self.places = {**places, 1: ("%q", self.here), 2: ("%q", self.here + self.nx),
                       TAKEN: ("%q", self.here + self.nx + system.nz)}
        derivative = ca.jacobian(self.residual, self.unknowns)[:, self.candidates.tolist()]
        self.pattern = derivative.sparsity()
        #: Rows of what flows carry, which are those of torn unknowns.
        self.carried = np.append(tape.carried, np.zeros(n - system.nz, dtype=bool))
        columns = np.zeros(len(self.candidates), dtype=bool)
        columns[len(tied) : len(tied) + system.nz] = tape.carried
        self.factors = SparseFactors(self.pattern, end, bool(system.clusters),
                                     (self.carried, columns) if columns.any() else None)
        self.end = self.factors.end
        #: Whether efforts move the torn unknowns alone, and these linearly, so that factors serve
        #: again after they have changed; and, without tied states, at every point.
        self.serves_again = given is not None and not columns.any() and not any(
            ca.which_depends(part, ca.vertcat(tape.z, given[0][-1]), 1, True).count(True)
            for part in (self.residual[self.nz :], derivative[:, len(tied) :].nz[:])
            if part.numel())
        self.linear = not system.clusters and (
            self.serves_again or given is None and network is None and system.has_linear_loops
            and not columns.any())
        self._keep_apart(derivative)
        #: Code that fills in what no round changes; the matrix, and residuals with it unless it is
        #: factored once; and residuals.
        self.codes = [self._code(lambda w: self._fill(w, self.steady[1], self.steady[2])),
                      self._code(lambda w: self._put_equations(w, residual=not self.linear)),
                      self._code(lambda w: self._put_equations(w, matrix=False))]
        self.name = self.again = self._code(self._solver)
        if self.serves_again:
            self.again = self._code(lambda w: self._solver(w, again=True))
        #: Whether Newton's method starts from anywhere: nothing needs to be foreseen.
        self.is_direct = self.linear and given is None
        predicts = self.nz and not self.is_direct
        self.slopes = self._code(self._slopes_of_torn) if predicts else ""

    def _code(self, write: Callable[[Writer], None]) -> str:
        """The name of a function whose lines are written."""
        w = Writer()
        write(w)
        return name_of_code(compiled(self._text(w), parallel=False))

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

    # -- what stands in q ----------------------------------------------------------------
    def fill(self, q: Array, problem: Problem) -> None:
        """Which states are tied."""
        entries = np.append(np.arange(self.nx, self.nx + self.nz), problem.tied)
        q.view(np.int64)[self.entries : self.entries + self.n] = entries
        taken = problem.scale_u if self.network is not None else np.zeros(0)
        q[self.magnitudes : self.magnitudes + self.n] = np.concatenate(
            [problem.scale_z, taken, problem.scale_x[problem.tied]])
        if self.factors.chosen:
            self.factors.fill(q, np.searchsorted(self.candidates, entries))

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
        pivots = q[self.factors.pivots : self.factors.pivots + self.n]
        return float(np.log(np.abs(pivots)).sum())

    # -- what other functions do with it ---------------------------------------------------
    def call(self, w: Writer, base: str = "%x", again: bool = False) -> str:
        """Solve from the values at ``base``; solutions stand in ``q``. Whether there are any.

        ``again`` after efforts alone have changed.
        """
        w.run(self.again if again else self.name, base)
        return w.compare("une", w.load("%q", self.done), w.constant(0.0))

    def reserve(self, w: Writer, done: str) -> str:
        """Negative where the choice of states has become a bad one."""
        size = w.constant(0.0)
        for i in range(self.n):
            pivot = w.intrinsic("fabs", w.load("%q", self.factors.pivots + i))
            size = w.binary("fadd", size, w.intrinsic("log", pivot))
        reserve = w.binary("fsub", size, w.load("%q", self.whole))
        reserve = w.binary("fsub", reserve, w.constant(np.log(LEAST_DETERMINANT)))
        return w.select(done, reserve, w.constant(-1.0))

    @property
    def found(self) -> Unknowns:
        """What derivatives go through."""
        return Unknowns(self.residual, self.entries, self.factors)

    def store_solution(self, w: Writer, done: str) -> None:
        """Put the solution into ``out``; where there is none, ``out`` stays as it is.

        So it does where it is solved but for rounding: what is solved again stays the same.
        """
        solved = w.as_address(done)
        w.call(keep_solved, w.pointer("%q", self.here), "%out", self.nx + self.nz, solved)

    def put_slopes_of_torn(self, w: Writer, first: int) -> None:
        """Put the slopes of torn unknowns into ``out``, behind all states from first on."""
        if self.is_direct:
            self._clear(w, w.pointer("%out", first + self.nx), self.nz)
        elif self.nz:
            w.run(self.slopes, out=w.pointer("%out", first))

    # -- the function itself -------------------------------------------------------------
    def _solver(self, w: Writer, again: bool = False) -> None:
        """Append Newton's method, or what goes ``again`` from its solution, by its factors."""
        rows, columns = np.array(self.pattern.get_triplet(), dtype=int)
        numbers = np.arange(len(self.loops) + 2)  # of blocks: loops, what elements take, tied
        blocks = np.repeat(numbers, [*self.loops, self.nz - sum(self.loops), self.n - self.nz])
        told = np.concatenate([
            [self.n, self.nx, self.nz, len(rows), self.linear, again], blocks, rows,
            self.candidates[columns], self.carried])
        w.declared |= {f"declare void {name}(ptr, ptr, ptr, ptr, ptr)" for name in self.codes}
        w.call(find_unknowns, "%t", "%x", "%p", "%q", *self.codes, *self.factors.given(w),
               w.pointer("%q", self.entries), w.table(told))

    def _put_equations(self, w: Writer, residual: bool = True, matrix: bool = True) -> None:
        """Put residuals, and of derivatives the columns of what is solved for together."""
        n, at, whole = self.n, self.factors.values, ca.SX(self.end, 1)
        derivative, left = self.round
        slopes = ca.vec(derivative.nz[:])  # of a single row they are a row
        if residual:
            whole[self.right : self.right + n] = left
        if matrix:
            whole[at : at + slopes.numel()] = slopes
        symbols, _, place = self.steady  # they stand behind the arguments
        self._fill(w, whole, 0, {**self.places, len(self.arguments): ("%q", place)}, symbols)

    def _slopes_of_torn(self, w: Writer) -> None:
        """Slopes of torn unknowns by the implicit function theorem, with the last factors."""
        slope = ca.SX.sym("slope", self.nx)
        change = ca.jacobian(self.residual, TIME)
        if self.nx:
            change += ca.jtimes(self.residual, self.unknowns[: self.nx], slope)
        self._copy(w, w.pointer("%q", self.slope), "%out", self.nx)
        places = {**self.places, len(self.arguments): ("%q", self.slope)}
        self._fill(w, ca.densify(change), self.right, places, slope)
        self.factors.solve(w, w.pointer("%q", self.right))
        for i in range(self.nz):  # only what Newton's method starts from
            value = w.or_zero(w.new(f"fneg double {w.load('%q', self.right + i)}"))
            w.store(value, "%out", self.nx + i)


class TiedCode(SolvedText):
    """Text of functions of a system whose unknowns are solved for.

    ``places`` are those of its arguments, ``first`` is the first free entry of ``q``, ``network``
    that of laws at nodes without mass, where there are any.
    """

    tied: Tied
    stands_solved = True

    def __init__(self, system: System, places: dict[int, tuple[str, int]], first: int,
                 network: CarriedNetwork | None = None) -> None:
        self.tied = Tied(system, places, first, network)
        self.tape, self.arguments, self.places = (
            system.tape, self.tied.arguments, self.tied.places)
        self.found = [self.tape.slope, self.tape.crossings]
        if network is not None:
            crossings = ca.vertcat(network.expressions["crossings"], network.margins)
            self.found = [network.expressions["slope"], crossings]
        self.chosen = bool(system.clusters)
        self.first, self.end = first, self.tied.end

    def slope(self) -> str:
        """Slopes of states and of torn unknowns."""
        return self.with_slopes(self.found[0])

    def _solve_all(self, w: Writer) -> str:
        return self.tied.call(w)

    def _unknowns(self, w: Writer) -> tuple[ca.SX, list[Any], int]:
        """Slopes do not depend on tied states and torn unknowns, which only say where Newton's
        method starts; how these themselves change needs no derivative, for the same reason."""
        tied = self.tied
        tied.call(w)
        return tied.unknowns, [tied.found], tied.nx + tied.nz

    def crossings(self) -> str:
        """Crossing functions; and how far the choice of states is from being a bad one."""
        w, tied = Writer(), self.tied
        done = tied.call(w)
        self._give(w, done, self.found[1])
        if self.chosen:
            w.store(tied.reserve(w, done), "%out", self.found[1].numel())
        return self._text(w)

    def project(self) -> str:
        """All states and torn unknowns, solved for; as they were where there is no solution."""
        w, tied = Writer(), self.tied
        self._copy(w, w.pointer("%out", 0), "%x", tied.nx + tied.nz)
        tied.store_solution(w, tied.call(w))
        return self._text(w)


@machine_code
def keep_solved(solution: int, values: int, count: int, solved: int) -> int:
    """Put a solution that has been found into the place of values, but for rounding; addresses."""
    new, old = vector_at(solution, count), vector_at(values, count)
    if solved != 0:
        for i in range(count):
            if abs(new[i] - old[i]) > CANCELLATION * abs(old[i]):
                old[i] = new[i]
    return 0
