"""How are tied states and torn unknowns solved for?

By Newton's method, from their present values. What a flow carries is left open where nothing
flows: it keeps its value there (:mod:`blocks.assembly.stream_variables`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..numerics.arrays import Array, Flags, Indices
from ..numerics.copies import shallow_copy
from ..numerics.sparse_solves import factored
from ..numerics.tolerances import (
    BESIDE_ZERO,
    CANCELLATION,
    CEASED_FLOW,
    FALLS_NO_MORE,
    FULFILLED,
    LAST_BITS,
    NEWTON_CONVERGES,
    NEWTON_STALLED,
    NO_SHORTER,
    TINY,
)
from .block_factors import BlockFactors, plan_of
from .evaluator import Arguments
from .failure import STEEP, AlgebraicFailure
from .system import DENSE, System

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix  # with the first Jacobian, not at once

__all__ = ["DENSE", "MANY", "MOST_HALVINGS", "TOLD", "AlgebraicUnknowns"]

MANY = 500  # algebraic unknowns from which full matrices of their size are avoided
FEW = 12  # that are left when others have a solution, from which on each block is tried alone
MOST_STEPS = 40
MOST_HALVINGS = 30  # of a step
MOST_PIECES = 200  # steps through the pieces of a block
FAR = 10.0  # sizes of unknowns: a step that leads beyond other pieces
MOST_LOST = 3  # of these that lead to no other piece: they go round a minimum
SCANNED = 2.0 ** np.arange(-14, 14, 0.1)  # sizes at which these are looked for, nearest first
TOLD = 3  # unknowns that a failure names


class AlgebraicUnknowns:
    """The states that constraints tie, then the torn unknowns: what makes the residuals zero.

    States that are ``tied`` are solved for; ``scale`` are nominal values of all that is solved for.
    """

    def __init__(self, system: System, tied: Indices, scale: Array) -> None:
        self.system, self.tied, self.scale = system, tied, scale
        self.size = len(tied) + system.nz
        #: The matrix depends on parameters alone: once factored, it serves for all points.
        self.constant = system.linear and not len(tied)
        self._columns = np.concatenate([tied, system.nx + np.arange(system.nz)])
        #: Those that a flow carries: they may be left open where nothing flows.
        self._carried = np.concatenate([np.zeros(len(tied), dtype=bool), system.tape.carried])
        self.may_stay_open = bool(self._carried.any())
        self._said_nothing: Array = np.zeros((0, 0))  # coefficients of equations that follow
        self._which = np.zeros(0, dtype=int)  # from others, and their numbers
        self._solver: Callable[[Array], Array] | None = None
        self._open_plan: Indices | None = None  # of factors that leave unknowns open
        self._last_found = np.zeros(system.nz, dtype=bool), np.zeros(system.nz)
        self._steep = False  # whether a law is, infinitely, where a matrix was made last

    def afresh(self) -> AlgebraicUnknowns:
        """Return a copy for another problem, of which nothing is known yet."""
        new = shallow_copy(self)
        new._said_nothing, new._which, new._solver = np.zeros((0, 0)), np.zeros(0, dtype=int), None
        return new

    @property
    def left_open(self) -> bool:
        """Whether something was left open at the last solution, and has kept its value."""
        return bool(len(self._which))

    def forget(self) -> None:
        """Factor the matrix anew with the next solution: relations may have changed."""
        self._solver = None

    def solve(self, arguments: Arguments, patient: bool = True) -> None:
        """Change tied states and torn unknowns among the arguments to the solution.

        ``patient``: whether other starts are tried where Newton's method does not converge. Raises
        AlgebraicFailure, naming the unknowns with the largest residuals; the arguments are as they
        were.
        """
        t, x, z, *_ = arguments
        nt, nominal = len(self.tied), self.scale[len(self.tied):]
        before = start = np.concatenate([x[self.tied], z])
        found = np.zeros(len(z), dtype=bool)

        def begin(at: Array) -> None:
            x[self.tied], z[:] = at[:nt], at[nt:]
            self._solver = None

        for damped in (False, True):  # full steps may go round in a circle for ever
            singular = self._iterated(arguments, damped)
            if singular is None:
                return
            r = self.system.residual(*arguments)[: self.size]
            if patient:
                found = self._found(arguments, found)
                start = np.append(before[:nt], np.where(found, z, start[nt:]))
            begin(start)
            if singular or self.constant:
                break
        else:
            from .lifted_newton import approached

            if patient and approached(self.system, arguments, self.tied) and (
                    self._iterated(arguments, False) is None):
                return
            begin(start)
        beside = patient and not (self.constant or self._steep)
        for guess in (before[nt:] + BESIDE_ZERO * nominal, nominal) if beside else ():
            z[:] = np.where(found, z, guess)
            if not nt and np.count_nonzero(~found) <= FEW:  # what has no value stops no others
                for span in self.blocks():
                    if not found[span].all():
                        self.solve_block(arguments, span)
            if self._iterated(arguments, False) is None:
                return
            found = self._found(arguments, found)
            start = np.append(before[:nt], np.where(found, z, start[nt:]))
            begin(start)
        self._last_found = found, start[nt:]
        begin(before)
        raise self._failure(t, r, bool(singular))

    def count_found(self) -> int:
        """How many torn unknowns had a solution when others had none."""
        return int(np.count_nonzero(self._last_found[0]))

    def take_found(self, z: Array) -> None:
        """Go to the solution of those."""
        found, values = self._last_found
        z[found] = values[found]

    def _found(self, arguments: Arguments, known: Flags) -> Flags:
        """Torn unknowns that have a solution, by those before them that have one: they keep it
        while others are sought from elsewhere. None beside tied states, which all depend on."""
        z, found = arguments[2], known.copy()
        if len(self.tied):
            return found
        r, matrix = self.system.residual(*arguments), self.system.residual_z.sparse(*arguments)
        for span in self.blocks():
            rows, others = matrix[span].toarray(), ~found
            others[span], found[span] = False, False
            if rows[:, others].any() or not np.isfinite(rows).all():
                continue
            with contextlib.suppress(np.linalg.LinAlgError):
                step = np.linalg.solve(rows[:, span], r[span])
                found[span] = (np.abs(step) <= NEWTON_CONVERGES * (
                    np.abs(z[span]) + self.scale[span])).all()
        return found

    def _iterated(self, arguments: Arguments, damped: bool) -> bool | None:
        """Newton's method from the present point: None if it converges, else if it is singular."""
        _, x, z, *_ = arguments
        n, nt, last = self.size, len(self.tied), np.inf
        r = np.full(n, np.inf)
        for iteration in range(MOST_STEPS):
            before, r = r, self.system.residual(*arguments)[:n]
            if not np.isfinite(r).all():
                return False
            if self._solver is None or not self.constant:
                self._solver = self._factored(arguments)
            step = self._solver(r)
            if not np.isfinite(step).all():
                return True
            taken = self._damped(arguments, step) if damped else step
            now = np.concatenate([x[self.tied], z]) - taken
            size = np.abs(now) + self.scale
            norm = float((np.abs(step) / size).max())
            even = NO_SHORTER * last < norm
            # away from a pole steps are little, too, but grow; at the edge of where a law has a
            # value only parts of them are taken
            ends = (norm <= last or norm <= CANCELLATION) and (
                taken is step or np.array_equal(taken, step))
            stalled = ends and iteration > 2 and even and self._is_rounding(
                arguments, r, before, norm <= NEWTON_STALLED)
            x[self.tied], z[:] = now[:nt], now[nt:]
            if self.constant and n > MANY:  # exact but for rounding
                return None
            tells = iteration > 0 or self.constant  # a law may be steep where a root begins
            if stalled or ends and norm <= NEWTON_CONVERGES and tells and (
                    norm <= CANCELLATION or even or iteration > 2
                    or (self.constant and iteration > 0)):
                return True if len(self._which) and not self._is_consistent(r, size) else None
            last = norm
        return False

    def _is_rounding(self, arguments: Arguments, residual: Array, before: Array, little: bool
                     ) -> bool:
        """Whether residuals are what the last bits of all values make of them, or after a
        ``little`` step, fall no more.

        A voltage that follows from the difference of two currents may be known to 1e-6 only. But
        down an exponential all steps are a thermal voltage, however little that is beside the
        unknown, and every one takes the residual down by e.
        """
        values = np.abs(np.concatenate([arguments[1][self.tied], arguments[2]]))
        terms = (values @ np.abs(self._transposed(arguments)) if self.size <= DENSE
                 else abs(self.matrix(arguments)) @ values)
        if self.system.nu:  # what elements take is known to its last bits, too
            terms = terms + abs(self.system.residual_u.sparse(*arguments))[: self.size] @ np.abs(
                arguments[-1])
        if self.may_stay_open:  # small flows are differences of large ones, and known as these are
            terms[self._carried] = np.max(terms[self._carried])
        size, terms = np.abs(residual), np.maximum(terms, TINY)
        return bool(np.all(size <= LAST_BITS * terms)
                    or little and np.max(size / terms) >= FALLS_NO_MORE * np.max(
                        np.abs(before) / terms))

    def _damped(self, arguments: Arguments, step: Array) -> Array:
        """So much of a Newton step that the next one, by the same matrix, is shorter.

        The natural monotonicity test [P. Deuflhard, "Newton Methods for Nonlinear Problems",
        Springer 2004, sec. 3.3.1], for each block by itself.
        """
        assert self._solver is not None  # which has found the step
        _, x, z, *_ = arguments
        nt = len(self.tied)
        before = np.concatenate([x[self.tied], z])
        starts = [0] * bool(nt) + [nt + span.start for span in self.blocks()
                                   if span.stop > span.start]  # fmt: skip
        counts = np.diff([*starts, self.size])

        def sizes(of: Array) -> Array:
            return np.add.reduceat(np.abs(of) / (np.abs(before) + self.scale), starts)

        first, fraction = sizes(step), np.ones(len(starts))
        for _ in range(MOST_HALVINGS):
            now = before - np.repeat(fraction, counts) * step
            x[self.tied], z[:] = now[:nt], now[nt:]
            r = self.system.residual(*arguments)[: self.size]
            following = sizes(self._solver(r))
            little = (first <= NEWTON_STALLED) & np.isfinite(following)
            too_far = ~(following <= (1 - fraction / 2) * first) & ~little
            if not too_far.any():
                break
            fraction[too_far] /= 2
        x[self.tied], z[:] = before[:nt], before[nt:]
        return np.repeat(fraction, counts) * step

    def solve_in_order(self, arguments: Arguments, hold: Callable[[], None] | None = None,
                       whole: bool = True) -> None:
        """Solve torn unknowns block by block; those without a solution stay as they are.

        For a start at which it is not known yet which relations hold: blocks that do not depend
        on these have their values then, and say which do. Others are solved through their pieces,
        where it is known how relations ``hold`` at every point on the way, and if not ``whole``
        all: they are pieces of one curve, such as that of iron and its mirror image.
        """
        for span in self.blocks():
            if not (whole and self.solve_block(arguments, span)) and hold is not None:
                self._solve_pieces(arguments, span, hold)

    def blocks(self) -> Iterator[slice]:
        """The torn unknowns of each block."""
        first = 0
        for count in self.system.tape.loops:
            yield slice(first, first + count)
            first += count

    def _solve_pieces(self, arguments: Arguments, span: slice, hold: Callable[[], None]) -> None:
        """Newton's method through all pieces of a block, by steps that shorten the next one."""
        z, m = arguments[2], arguments[4]
        before, relations, scale = z.copy(), m.copy(), self.scale[-len(arguments[2]):][span]

        def residual() -> Array:
            hold()
            return self.system.residual(*arguments)[span]

        r, lost = residual(), 0  # steps that lead far away, to no other piece: round a minimum
        for _ in range(MOST_PIECES):
            matrix = self.system.residual_z.sparse(*arguments)[span, span].toarray()
            if not np.isfinite(r).all():
                break
            try:
                inverse = np.linalg.inv(np.where(np.isfinite(matrix), matrix, 0.0))
            except np.linalg.LinAlgError:
                if np.array_equal(z[span], _apart(scale)):
                    break
                z[span] = _apart(scale)  # beside, a law that rises with a power has a slope
                r = residual()
                continue
            now, step, fraction = z[span].copy(), inverse @ r, 1.0
            size = np.abs(now) + scale
            first = np.max(np.abs(step) / size)
            if first > FAR:
                if self._to_other_piece(z, span, step / first, residual, step / size**2 @ inverse):
                    r = residual()
                    continue
                lost += 1
                if lost == MOST_LOST:
                    break
            for _ in range(MOST_HALVINGS):
                z[span] = now - fraction * step
                r = residual()
                if np.max(np.abs(inverse @ r) / size) <= (1 - fraction / 2) * first:
                    break
                fraction /= 2
            if first <= NEWTON_CONVERGES:
                return
        z[:], m[:] = before, relations

    @staticmethod
    def _to_other_piece(z: Array, span: slice, direction: Array, residual: Callable[[], Array],
                        along: Array) -> bool:
        """Go along a direction, forth or back, to the nearest place from which Newton's method
        would turn round; whether there is one.

        On a flat piece it leads far away, either way: of a closed valve it knows no more than the
        leakage, and nothing of the pressure that opens it. ``along`` is how far residuals lead
        along the direction, as seen from here.
        """
        from scipy.optimize import brentq

        now = z[span].copy()

        def ahead(fraction: float) -> float:
            z[span] = now + fraction * direction
            return float(np.nan_to_num(along @ residual()))

        turned = next((side * fraction for fraction in SCANNED for side in (1, -1)
                       if ahead(side * fraction) < 0.0), 0.0)
        if not ahead(turned) < 0.0 < ahead(0.0):  # relations may depend on where one came from
            z[span] = now
            return False
        z[span] = now + direction * brentq(ahead, 0.0, turned, xtol=NEWTON_CONVERGES)
        return True

    def solve_block(self, arguments: Arguments, span: slice) -> int:
        """Newton's method for one block; the steps to a solution, 0 where it has found none."""
        z = arguments[2]
        before, n = z.copy(), span.stop - span.start
        plan = plan_of(ca.Sparsity.dense(n, n), carried=(
            self._carried[-len(z):][span], np.ones(n, dtype=bool)))
        for steps in range(1, MOST_STEPS + 1):
            r = self.system.residual(*arguments)[span]
            matrix = self.system.residual_z.sparse(*arguments)[span, span].toarray()
            if not (np.isfinite(r).all() and np.isfinite(matrix).all()):
                break
            scale = self.scale[-len(z):][span]
            factors = BlockFactors(plan, (matrix * scale).ravel(order="F"))
            rows, step = factors.says_nothing, scale * factors.solve(r)
            z[span] -= step
            if np.all(np.abs(step) <= NEWTON_CONVERGES * (np.abs(z) + self.scale[-len(z):])[span]):
                left = np.abs(self.system.residual(*arguments)[span][rows])
                allowed = FULFILLED * (np.abs(matrix[rows]) @ np.abs(z[span]) + 1)
                if np.all(left <= allowed + CEASED_FLOW * np.sum(np.abs(z[span]))):
                    return steps
                break
        z[:] = before
        return 0

    def _failure(self, t: float, residual: Array, singular: bool) -> AlgebraicFailure:
        worst = np.argsort(-np.nan_to_num(np.abs(residual), nan=np.inf))[:TOLD].tolist()
        system, advice = self.system, ""
        names = [system.torn_name(i) if i < system.nz else  # then tied states
                 system.state_name(int(self.tied[i - system.nz])) for i in worst]
        if self._steep:
            reason, advice = "a law is infinitely steep there", STEEP
        elif singular:
            reason = "no equation determines them there"
        elif np.isfinite(residual).all():
            reason = "Newton's method does not converge"
        else:
            reason = "the equations have no finite value there"
        return AlgebraicFailure(t, names, reason, singular, advice)

    def solver(self, arguments: Arguments) -> Callable[[Array], Array]:
        """What solves the linear equations at a point, for one right-hand side or for several.

        Raises RuntimeError or LinAlgError if the matrix is singular.
        """
        self._which = np.zeros(0, dtype=int)
        if self.size > DENSE:
            try:
                return self._sparse_factors(arguments)
            except RuntimeError:
                if not self.may_stay_open:
                    raise
        if self.may_stay_open:
            return self._with_open_unknowns(arguments)
        slopes = self._transposed(arguments)  # columns of the Jacobian are rows here
        self._steep = bool(np.isinf(slopes).any())
        inverse = np.linalg.inv(slopes).T
        return lambda right: inverse @ right

    def _factored(self, arguments: Arguments) -> Callable[[Array], Array]:
        """What solves the linear equations at a point; it gives nan where they are singular, or a
        slope is infinite: a step of zero would pass as solved."""
        self._steep = False
        with contextlib.suppress(RuntimeError, np.linalg.LinAlgError):
            solve = self.solver(arguments)
            if not self._steep:
                return solve
        return lambda r: np.full(len(r), np.nan)

    def _none_infinite(self, slopes: Array) -> Array:
        """Return the slopes, refused where one is infinite."""
        self._steep = bool(np.isinf(slopes).any())
        if self._steep:
            raise RuntimeError("singular: a law is infinitely steep")
        return slopes

    def _sparse_factors(self, arguments: Arguments) -> Callable[[Array], Array]:
        """Return the factors of the matrix; all problems of a system share those of a constant one.
        """
        kept, p = self.system.cache.get("constant factors"), arguments[3]
        if kept is None or not self.constant or not np.array_equal(kept[0], p):
            matrix = self.matrix(arguments)
            self._none_infinite(matrix.data)
            kept = np.array(p), factored(matrix)
            if self.constant:
                self.system.cache["constant factors"] = kept
        solver: Callable[[Array], Array] = kept[1]
        return solver

    def _transposed(self, arguments: Arguments) -> Array:
        """The full matrix: a row for every unknown, a column for every equation."""
        return self.system.residual_by_all.dense(*arguments).T[self._columns, : self.size]

    def _with_open_unknowns(self, arguments: Arguments) -> Callable[[Array], Array]:
        """Return a solve for where a flow may have ceased: what nothing determines stays."""
        matrix = self.matrix(arguments).tocsc()
        if not np.isfinite(self._none_infinite(matrix.data)).all():
            raise RuntimeError("a matrix that is not finite")
        if self._open_plan is None:
            self._open_plan = plan_of(ca.Sparsity(
                self.size, self.size, matrix.indptr, matrix.indices),
                carried=(self._carried, self._carried))
        factors = BlockFactors(
            self._open_plan, matrix.data * np.repeat(self.scale, np.diff(matrix.indptr)))
        if factors.singular:
            raise RuntimeError("singular, and no flow has ceased")
        self._which = factors.says_nothing
        self._said_nothing = matrix.tocsr()[self._which].toarray()
        return lambda right: (self.scale * factors.solve(right).T).T

    def _is_consistent(self, residual: Array, size: Array) -> bool:
        """Whether equations that say nothing new are met by what the others say."""
        allowed = FULFILLED * (np.abs(self._said_nothing) @ size + 1.0)
        allowed += CEASED_FLOW * np.sum(size[self._carried])
        return bool(np.all(np.abs(residual[self._which]) <= allowed))

    def matrix(self, arguments: Arguments) -> csc_matrix:
        """d residual / d (tied states, torn unknowns)."""
        system = self.system
        if not len(self.tied):
            return system.residual_z.sparse(*arguments)[: self.size]
        from scipy.sparse import csc_matrix

        which, rows, starts = self._pattern
        return csc_matrix((system.residual_by_all(*arguments)[which], rows, starts),
                          shape=(self.size, self.size))

    @cached_property
    def _pattern(self) -> tuple[Indices, Indices, Indices]:
        """Return which derivatives the matrix takes, their rows, and where columns start."""
        pattern = self.system.residual_by_all.function.sparsity_out(0)
        every = list(range(self.size))
        mine, which = pattern.sub(every, self._columns.tolist())
        return np.array(which, dtype=int), np.array(mine.row()), np.array(mine.colind())


def _apart(nominal: Array) -> Array:
    """About nominal values, no two alike: of a difference that is zero a root has no slope."""
    return nominal * (0.5 + (0.618034 * np.arange(len(nominal)) + 0.5) % 1)
