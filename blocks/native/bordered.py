"""The matrix of an implicit step with rows of other values beside those of states, compiled.

What is full without these rows is sparse with them: one loop through all nodes of a network lets
every state act on every other one, but each of its equations knows few unknowns; and so does each
of the sums that a voltage along a ladder is made of. Pivots are chosen,
block by block (:mod:`blocks.system.block_factors`): nothing stands on the diagonal of such rows.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import indices_at, vector_at
from ..numerics.arrays import Flags, Indices
from ..system.block_factors import HEAD as PLAN_HEAD
from ..system.block_factors import factorize_blocks, plan_of, room_for, solve_blocks
from .front_lists import (
    AT,
    BORDERED,
    COLUMN_ROWS,
    ENTRIES,
    ENTRIES_OF,
    FIRST,
    FRONT,
    HEAD,
    LEFT,
    NUMBERS,
    SIZE,
    UNKNOWNS,
    joined_lists,
)

__all__ = ["Bordered", "factorize_bordered", "solve_bordered"]


class Bordered:
    """Which entries has the matrix, and in which order is it factored?

    ``row`` and ``column`` are those of all entries, in the order in which these are written: of
    slopes by states, then of what is zero and the values in it; a column behind all is of time.
    There are ``states`` slopes and ``zeros`` behind them; ``carried`` says which of these, and of
    the values, are of what flows carry.
    """

    def __init__(self, row: Indices, column: Indices, states: int, zeros: int,
                 carried: tuple[Flags, Flags]) -> None:
        self.row, self.column, self.states, self.carried = row, column, states, carried
        self.size, self.entries = states + zeros, len(row)
        self._known: dict[bytes, Indices] = {}  # lists

    def lists(self, tied: Indices) -> Indices:
        """Lists as of :mod:`~blocks.native.front_lists`, where these states are solved for."""
        key = tied.tobytes()
        if key not in self._known:
            self._known[key] = self._made(tied)
        return self._known[key]

    def _made(self, tied: Indices) -> Indices:
        n, size = self.states, self.size
        place = np.arange(size - len(tied) + 1)  # of columns; time, the last one, has none
        place[tied], place[-1] = np.arange(size - len(tied), size), -1
        column = place[self.column]
        taken = np.flatnonzero(column >= 0)
        rows, columns = (np.append(np.arange(n), one[taken]) for one in (self.row, column))
        pattern = ca.Sparsity.triplet(size, size, rows.tolist(), columns.tolist())
        _, found = np.unique(columns * size + rows, return_inverse=True)
        entry = np.full(pattern.nnz(), -1)
        entry[found[n:]] = taken
        flags = [np.zeros(size, dtype=bool) for _ in range(2)]
        for flag, carried in zip(flags, self.carried, strict=True):
            flag[n : n + len(carried)] = carried
        plan = plan_of(pattern, carried=(flags[0], flags[1]))
        room = pattern.nnz() + room_for(size, int(plan[PLAN_HEAD - 1]))
        return joined_lists(
            {"first": plan, "entries": entry, "at": found[:n]},
            [BORDERED, n, 0, self.entries, room + size + 1, pattern.nnz(), room])


@machine_code
def factorize_bordered(of: int, entries: int, diagonal: float, of_factors: int) -> int:
    """Factors of a number on the diagonal of the rows of states, less these entries."""
    lists = indices_at(of, HEAD)
    lists = indices_at(of, lists[COLUMN_ROWS])
    values, numbers = vector_at(entries, lists[ENTRIES]), vector_at(of_factors, lists[NUMBERS])
    entry, at = lists[lists[ENTRIES_OF]:], lists[lists[AT]:]
    for k in range(lists[FRONT]):
        numbers[k] = -values[entry[k]] if entry[k] >= 0 else 0.0
    for j in range(lists[UNKNOWNS]):
        numbers[at[j]] += diagonal
    singular = factorize_blocks(
        of_factors, of + 8 * lists[FIRST], of_factors + 8 * lists[FRONT])
    numbers[lists[NUMBERS] - 1] = np.nan if singular != 0 else 1.0 / diagonal
    return 0


@machine_code
def solve_bordered(of: int, of_factors: int, of_b: int) -> int:
    """The solution takes the place of the right side, which is zero in the rows of unknowns."""
    lists = indices_at(of, HEAD)
    lists = indices_at(of, lists[COLUMN_ROWS])
    numbers, b = vector_at(of_factors, lists[NUMBERS]), vector_at(of_b, lists[SIZE])
    n, last = lists[UNKNOWNS], lists[NUMBERS] - 1
    right = numbers[lists[LEFT]:]
    for i in range(lists[LEFT], last):
        numbers[i] = 0.0
    if abs(numbers[last]) < np.inf:
        for i in range(n):
            right[i] = b[i]
        solve_blocks(of_factors, of + 8 * lists[FIRST], of_factors + 8 * lists[FRONT],
                     of_factors + 8 * lists[LEFT])
        for i in range(n):
            b[i] = right[i]
    else:
        for i in range(n):
            b[i] = np.nan
    for i in range(n, lists[SIZE]):
        b[i] *= numbers[last]
    return 0
