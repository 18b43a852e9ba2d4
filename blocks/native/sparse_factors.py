"""Linear equations in the text of functions: calls of :mod:`blocks.system.block_factors`."""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import indices_at, vector_at
from ..numerics.arrays import Array, Flags, Indices
from ..system.block_factors import HEAD, factorize_blocks, order_of, plan_of, room_for, solve_blocks
from .expressions import Writer
from .lu import factor_columns, solve_columns

__all__ = ["FullFactors", "SparseFactors", "is_mostly_zeros", "pattern_of_choice",
           "solve_blocks_for_units"]  # fmt: skip

SHARE = 0.1  # of the operations of a full matrix, below which it is mostly zeros


def is_mostly_zeros(pattern: ca.Sparsity) -> bool:
    """Whether a square matrix takes few operations, by what fills in without choosing pivots."""
    n = pattern.size1()
    if pattern.size2() != n or ca.sprank(ca.DM(pattern, 1)) < n:
        return False
    rows, columns, _ = order_of(pattern)
    square = pattern.sub(rows.tolist(), columns.tolist())[0]
    # CasADi's order of least degree takes the room of the diagonal, which is to be there, to write
    factors = (square + square.T + ca.Sparsity.diag(n)).ldl()[0]
    behind = np.diff(factors.T.colind())  # pivots, of each one
    return bool(2 * (behind**2).sum() < SHARE * 2 / 3 * n**3)


def pattern_of_choice(pattern: ca.Sparsity, torn: int) -> ca.Sparsity:
    """The square pattern for one choice of tied states.

    The ``pattern`` has rows of torn unknowns, then constraints; columns of all states that may be
    tied, then torn unknowns.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rows, tied = pattern.size1(), pattern.size2() - torn
    if rows == torn:
        return pattern
    entries = np.ones(pattern.nnz(), dtype=bool), (pattern.row(), pattern.get_col())
    constraints = csr_matrix(entries, pattern.shape)[torn:, :tied]
    chosen = maximum_bipartite_matching(constraints, perm_type="column")
    columns = [*np.sort(chosen[chosen >= 0]).tolist(), *range(tied, tied + torn)]
    return pattern.sub(list(range(rows)), columns)[0]


class FullFactors:
    """Factors of a full matrix, which take its place in ``q``: columns are vectors of a processor.

    Its numbers stand from the entry ``values`` of ``q`` on, column after column of ``n`` rows;
    ``first`` is a free entry, behind which it is told which rows change places.
    """

    def __init__(self, n: int, values: int, first: int) -> None:
        self.n, self.values, self.rows = n, values, first

    def factor(self, w: Writer) -> str:
        """As :meth:`SparseFactors.factor`."""
        return w.ask(factor_columns, *self._given(w))

    def solve(self, w: Writer, right: str) -> None:
        """As :meth:`SparseFactors.solve`."""
        w.call(solve_columns, *self._given(w), right)

    def _given(self, w: Writer) -> tuple[str, str, int]:
        return w.pointer("%q", self.values), w.pointer("%q", self.rows), self.n

    def pivots(self, w: Writer) -> list[str]:
        """Return the names of the pivots of the factors that have been made."""
        return [w.load("%q", self.values + i * (self.n + 1)) for i in range(self.n)]

    def determinant(self, w: Writer) -> str:
        """Return the name of the determinant, from the factors that have been made."""
        value = w.constant(1.0)
        for i, pivot in enumerate(self.pivots(w)):
            value = w.binary("fmul", value, pivot)
            at = w.new(f"getelementptr inbounds i64, ptr {w.pointer('%q', self.rows)}, i64 {i}")
            swapped = w.new(f"icmp ne i64 {w.new(f'load i64, ptr {at}, align 8')}, {i}")
            value = w.select(swapped, w.new(f"fneg double {value}"), value)
        return value


class SparseFactors:
    """Where a matrix, its factors and the way to them stand in ``q``.

    The ``pattern`` is that of the rows of the matrix, and of all columns it may have; ``first`` is
    the first free entry of ``q``; ``chosen``: whether its columns are chosen as it runs;
    ``carried``: which rows and which columns are of what flows carry, where any are; ``values``:
    entry of ``q`` where the numbers of the pattern stand, if not there.
    """

    def __init__(self, pattern: ca.Sparsity, first: int, chosen: bool = False,
                 carried: tuple[Flags, Flags] | None = None, values: int | None = None) -> None:
        self.pattern, self.chosen, self.carried = pattern, chosen, carried
        n = self.n = pattern.size1()
        entries = n * n if chosen else int(self._fixed_plan[HEAD - 1])
        at = np.cumsum([first, pattern.nnz() * (values is None), room_for(n, entries),
                        chosen * self._length])
        own, self._room, self._plan, self.end = (int(i) for i in at)  # end: entry behind all
        self.values = own if values is None else values
        self.pivots = self._room  # the entry of ``q`` where those of the factors stand
        self._plans: dict[bytes, Indices] = {}  # of columns that have been chosen

    @property
    def _length(self) -> int:
        return HEAD + 6 * self.n + 2 + 2 * self.pattern.nnz()

    def plan(self, columns: Indices | None = None) -> Indices:
        """What :func:`~blocks.system.block_factors.plan_of` tells, and zeros."""
        told = plan_of(self.pattern, columns, self.carried)
        return np.append(told, np.zeros(self._length - len(told), dtype=np.int64))

    def fill(self, q: Array, columns: Indices) -> None:
        """Choose columns."""
        key = columns.tobytes()
        if key not in self._plans:
            self._plans[key] = self.plan(columns)
        q.view(np.int64)[self._plan : self._plan + self._length] = self._plans[key]

    @cached_property
    def _fixed_plan(self) -> Indices:
        return self.plan()

    def given(self, w: Writer) -> list[str]:
        """Addresses of numbers, plan and room."""
        plan = w.pointer("%q", self._plan) if self.chosen else w.table(self._fixed_plan)
        return [w.pointer("%q", self.values), plan, w.pointer("%q", self._room)]

    def factor(self, w: Writer) -> str:
        """Append what factors the matrix; whether it is singular."""
        return w.ask(factorize_blocks, *self.given(w))

    def solve(self, w: Writer, right: str) -> None:
        """Append what puts the solution into the place of a right side at an address."""
        w.call(solve_blocks, *self.given(w), right)


@machine_code
def solve_blocks_for_units(values: int, plan: int, room: int, unit: int, follows: int, sizes: int
                           ) -> int:
    """Solve for many right sides, one after the other.

    ``unit`` is the address of right sides, column by column, which solutions take the places of,
    ``follows`` that of what is filled, the first so many unknowns of each solution; ``sizes`` that
    of the numbers of unknowns, of those that are wanted, and of right sides.
    """
    told = indices_at(sizes, 3)
    n, wanted, sides = told[0], told[1], told[2]
    out = vector_at(follows, wanted * sides)
    for j in range(sides):
        solve_blocks(values, plan, room, unit + 8 * n * j)
        out[j * wanted : (j + 1) * wanted] = vector_at(unit + 8 * n * j, n)[:wanted]
    return 0
