"""Matrices of the equations of held modes, filled in loops instead of entry by entry.

How rates follow efforts is a full matrix where torn unknowns of loops follow these, but it is made
of few entries: those without the unknowns, and those by the unknowns times what the solution of
the loops gives.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import indices_at, vector_at
from ..numerics.tolerances import NOTHING_AT_ALL
from .expressions import Writer

__all__ = ["ThroughUnknowns", "fill_equations", "leave_minors"]

ROWS, COLUMNS, UNKNOWNS, DIRECT, THROUGH = range(5)  # entries of a table: how many there are
FIRST = 5  # entry of it from which rows and columns stand


class ThroughUnknowns:
    """A matrix ``direct + through @ follows`` of which the sparse parts are expressions."""

    def __init__(self, direct: ca.SX, through: ca.SX) -> None:
        self.values = ca.vertcat(*(part.nz[:] for part in (direct, through) if part.nnz()))
        entries = [np.array(part.sparsity().get_triplet()).T.ravel() for part in (direct, through)]
        self._table = np.concatenate(
            [[*direct.shape, through.shape[1], direct.nnz(), through.nnz()], *entries]
        ).astype(np.int64)

    def write(self, w: Writer, values: str, follows: str, out: str, by_rows: bool = False) -> None:
        """Append what fills ``out``, from the addresses of the values and of what follows."""
        w.call(add_products, w.table(self._table), values, follows, out, int(by_rows))


@machine_code
def add_products(told: int, values: int, follows: int, out: int, by_rows: int) -> int:
    """Fill a matrix, column by column or ``by_rows``, from addresses."""
    sizes = indices_at(told, FIRST)
    rows, columns, unknowns = sizes[ROWS], sizes[COLUMNS], sizes[UNKNOWNS]
    few, many = sizes[DIRECT], sizes[DIRECT] + sizes[THROUGH]
    at = indices_at(told, FIRST + 2 * many)
    value, follow = vector_at(values, many), vector_at(follows, unknowns * columns)
    a = vector_at(out, rows * columns)
    down, along = 1, rows
    if by_rows != 0:
        down, along = columns, 1
    a[:] = 0.0
    for e in range(few):
        a[at[FIRST + 2 * e] * down + at[FIRST + 2 * e + 1] * along] += value[e]
    for e in range(few, many):
        i, k = at[FIRST + 2 * e], at[FIRST + 2 * e + 1]
        for j in range(columns):
            a[i * down + j * along] += value[e] * follow[j * unknowns + k]
    return 0


@machine_code
def fill_equations(own: int, modes: int, matrix: int, size: int) -> int:
    """Fill the matrix of efforts: rows of what sticks per its own rate, else of the unit matrix.

    ``own`` is the address of the change of rates by efforts, with its sign turned, column by
    column; ``modes`` is that of modes, ``matrix`` that of what is filled.
    """
    n = size
    d, a = vector_at(own, n * n), vector_at(matrix, n * n)
    mode = vector_at(modes, n)
    least = 0.0  # at a dead centre the lever is rounding: what would hold there is none
    for i in range(n):
        least = max(least, NOTHING_AT_ALL * d[i * n + i])
    for i in range(n):
        holds = least == 0.0 or d[i * n + i] > least
        scale, sticks = 1.0, mode[i] == 0.0 and holds
        if d[i * n + i] > 0.0:
            scale = 1.0 / d[i * n + i]
        for j in range(n):
            unit = 1.0 if i == j else 0.0
            a[j * n + i] = scale * d[j * n + i] if sticks else unit
    return 0


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
