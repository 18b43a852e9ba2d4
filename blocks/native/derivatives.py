"""How do slopes change with states, and what is solved for with them?

By the implicit function theorem: unknowns move so that their equations keep holding. Expressions
give the entries of all matrices; what is done with these is the same for every form of model, and
for the columns of df/dx one by one or for all those at once that share no row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..language.expression import TIME
from ..machine.compiling import compiled, name_of_code
from ..machine.functions import MachineCode, machine_code
from ..machine.signatures import indices_at, run_code, vector_at
from ..numerics.arrays import Indices
from ..system.block_factors import solve_blocks
from .expressions import Writer
from .sparse_factors import SparseFactors
from .text import Beginning, Text, function_of

__all__ = ["SolvedText", "Unknowns", "derive", "derive_bordered", "derive_in_direction"]


@dataclass(frozen=True)
class Unknowns:
    """What is solved for at once."""

    rows: ca.SX  # what is zero
    entries: Indices | int  # which of all values they are, or the entry of ``q`` where that stands
    factors: SparseFactors  # of the derivatives of rows by them

    def move(self, w: Writer, room: str, first: int, *given: str) -> None:
        """Append what lets them move with what moves already.

        ``room`` is the address of as many numbers as there are rows and values, ``first`` the first
        of their rows in the matrix that is ``given`` as :func:`multiply` takes it.
        """
        which = w.table(self.entries) if isinstance(self.entries, np.ndarray) \
            else w.pointer("%q", self.entries)
        w.call(move_unknowns, *given, room, which, first, self.factors.n, *self.factors.given(w))


class SolvedText(Text):
    """Texts of functions that solve for unknowns first, and of derivatives through these."""

    stands_solved = False  # whether what is solved for stands at the points of events
    first: int  # first, end: the first entry of ``q`` that they need, and the one behind all
    end: int

    def _unknowns(self, w: Writer) -> tuple[ca.SX, list[Any], int]:
        """Append lines that solve for all unknowns and leave their factors.

        Returns states, then all that changes with them; what is solved for among these, such as
        :class:`Unknowns`, in this order; and how many values stand in ``x``.
        """
        raise NotImplementedError

    def _solve_all(self, w: Writer) -> str:
        """Append lines that solve for all unknowns; whether there are such."""
        raise NotImplementedError

    def of(self, expression: ca.SX) -> str:
        """Text of a function that gives an expression, what is solved for brought up to date."""
        w = Writer()
        self._give(w, self._solve_all(w), expression)
        return self._text(w)

    def of_function(self, function: ca.Function, more: Mapping[int, tuple[str, int]]) -> str:
        """A function of all arguments and of ``more``, which stand in places of their own."""
        w = Writer()
        self._solve_all(w)
        self._put(w, w.values(function, {**self.places, **more}), "%out", 0)
        return self._text(w)

    def with_slopes(self, expression: ca.SX) -> str:
        """Text of a function that ends with slopes of all states, those of torn unknowns behind."""
        w = Writer()
        self._give(w, self._solve_all(w), expression)
        if self.tied:
            self.tied.put_slopes_of_torn(w, expression.numel() - self.tied.nx)
        return self._text(w)

    def derivatives(self, slope: ca.SX, fill: MachineCode) -> str:
        """Text of what fills in derivatives: :func:`derive` or :func:`derive_in_direction`."""
        w, along, first = Writer(), Writer(), 0
        values, found, size = self._unknowns(w)
        rows, by = ca.vertcat(*(u.rows for u in found), slope), ca.vertcat(values, TIME)
        matrix = ca.jacobian(rows, by).T  # its columns stand one after the other
        pattern, states = matrix.sparsity(), slope.numel()
        at = np.cumsum([self.end, by.numel(), matrix.nnz(), rows.numel() + by.numel()])
        moves, entries, room, self.end = (int(i) for i in at)
        self._fill(w, ca.vec(matrix.nz[:]), entries)
        told = np.array([rows.numel(), by.numel(), *pattern.colind(), *pattern.row()])
        given = along.table(told), *(along.pointer("%q", i) for i in (entries, moves))
        for u in found:
            u.move(along, along.pointer("%q", room), first, *given)
            first += u.rows.numel()
        along.call(multiply, *given, "%out", first, states)
        names = [name_of_code(compiled(lines, parallel=False))
                 for lines in (self._text(w), function_of(along, Beginning()))]
        out = Writer(declared={f"declare void {name}(ptr, ptr, ptr, ptr, ptr)" for name in names})
        out.call(fill, "%t", "%x", "%p", "%q", "%out", *names,
                 *(out.pointer("%q", i) for i in (moves, room)), states, by.numel(),
                 size if fill is not derive_bordered else matrix.nnz())
        return function_of(out, Beginning())


@machine_code
def multiply(told: int, matrix: int, moves: int, out: int, first: int, count: int) -> int:
    """Products of so many rows of a sparse matrix, from the first one on, with a vector.

    ``told`` is the address of the numbers of rows and columns, of where the entries of each row
    begin, and of their columns; ``matrix``, ``moves`` and ``out`` are those of entries, vector and
    products.
    """
    head = indices_at(told, 2)
    rows, columns = head[0], head[1]
    entries = indices_at(told, rows + 3)[rows + 2]
    lists = indices_at(told, rows + 3 + entries)[2:]
    values, vector, products = (
        vector_at(matrix, entries), vector_at(moves, columns), vector_at(out, count))
    for i in range(count):
        total = 0.0
        for e in range(lists[first + i], lists[first + i + 1]):
            by = vector[lists[rows + 1 + e]]
            if by != 0.0:  # what is infinite moves nothing else
                total += values[e] * by
        products[i] = total
    return 0


@machine_code
def move_unknowns(told: int, matrix: int, moves: int, right: int, entries: int, first: int,
                  size: int, values: int, plan: int, room: int) -> int:
    """Let unknowns move with what moves already, so that their rows keep holding."""
    at, moved = indices_at(entries, size), vector_at(moves, indices_at(told, 2)[1])
    missed = vector_at(right, size)
    for k in range(size):
        moved[at[k]] = 0.0
    multiply(told, matrix, moves, right, first, size)
    solve_blocks(values, plan, room, right)
    for k in range(size):
        moved[at[k]] = -missed[k]
    return 0


@machine_code
def derive(t: int, x: int, p: int, q: int, out: int, begin: int, along: int, moves: int,
           column: int, states: int, total: int, size: int) -> int:
    """Fill in df/dx, a row after the other, and df/dt behind it.

    ``t``, ``x``, ``p``, ``q`` and ``out`` are addresses, as of every function of a model; ``begin``
    and ``along`` those of code that finds all matrices at this point, and the derivative in the
    direction of ``moves``; ``moves`` and ``column`` those of a direction of everything, and of room
    for derivatives in it. There are so many ``states``, and values in ``total``; ``size`` rows
    are filled in.
    """
    run_code(begin, t, x, p, q, q)
    direction, derivative, filled = (
        vector_at(moves, total), vector_at(column, states), vector_at(out, size * size + size))
    for j in range(states + 1):
        direction[:] = 0.0
        direction[j if j < states else total - 1] = 1.0
        run_code(along, t, x, p, q, column)
        for i in range(states):
            filled[i * size + j if j < states else size * size + i] = derivative[i]
    return 0


@machine_code
def derive_in_direction(t: int, x: int, p: int, q: int, out: int, begin: int, along: int,
                        moves: int, column: int, states: int, total: int, size: int) -> int:
    """Put the derivative in a direction into its place; what no number leads is begun with."""
    direction, given = vector_at(moves, total), vector_at(out, size)
    if given[0] != given[0]:
        run_code(begin, t, x, p, q, q)
        return 0
    direction[:] = 0.0
    direction[:states] = given[:states]
    given[:] = 0.0
    run_code(along, t, x, p, q, out)
    return 0


@machine_code
def derive_bordered(t: int, x: int, p: int, q: int, out: int, begin: int, along: int, moves: int,
                    column: int, states: int, total: int, entries: int) -> int:
    """Fill in the entries of all matrices, which stand behind the direction, and df/dt."""
    run_code(begin, t, x, p, q, q)
    direction, filled = vector_at(moves, total + entries), vector_at(out, entries)
    filled[:] = direction[total:]
    direction[:total] = 0.0
    direction[total - 1] = 1.0
    run_code(along, t, x, p, q, out + 8 * entries)
    return 0
