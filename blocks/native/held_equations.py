"""Matrices of the equations of held modes, added up in loops instead of entry by entry.

How rates follow efforts is a full matrix where torn unknowns of loops follow these, but it is made
of few entries: those without the unknowns, and those by the unknowns times what the solution of
the loops gives.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..numerics.arrays import Flags
from .expressions import Writer
from .functions import machine_code
from .machine import name_of_code, table
from .signatures import indices_at, vector_at

__all__ = ["ThroughUnknowns", "write_equations"]

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
        name, add = table(self._table), name_of_code(add_products.callback)
        w.declared.add(f"{name} = external global i64")
        w.declared.add(f"declare i32 {add}(ptr, ptr, ptr, ptr, ptr)")
        order = f"inttoptr (i64 {int(by_rows)} to ptr)"
        w.new(f"call i32 {add}(ptr {name}, ptr {values}, ptr {follows}, ptr {out}, ptr {order})")


def write_equations(w: Writer, own: str, modes: str, decides: Flags, matrix: str) -> None:
    """Append what fills the matrix of efforts, of addresses."""
    name, fill = table(decides.astype(float)), name_of_code(fill_equations.callback)
    w.declared.add(f"{name} = external global double")
    w.declared.add(f"declare i32 {fill}(ptr, ptr, ptr, ptr, ptr)")
    w.new(f"call i32 {fill}(ptr {own}, ptr {modes}, ptr {name}, ptr {matrix}, "
          f"ptr inttoptr (i64 {len(decides)} to ptr))")


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
def fill_equations(own: int, modes: int, decides: int, matrix: int, size: int) -> int:
    """Fill the matrix of efforts: rows of what sticks per its own rate, else of the unit matrix.

    Parameters
    ----------
    own : address of the change of rates by efforts, with its sign turned, column by column
    modes, decides : addresses of modes, and of a number per element that decides: 1.0
    matrix : address of what is filled
    """
    n = size
    d, a = vector_at(own, n * n), vector_at(matrix, n * n)
    mode, decide = vector_at(modes, n), vector_at(decides, n)
    for i in range(n):
        scale, sticks = 1.0, mode[i] == 0.0 and decide[i] != 0.0
        if d[i * n + i] > 0.0:
            scale = 1.0 / d[i * n + i]
        for j in range(n):
            unit = 1.0 if i == j else 0.0
            a[j * n + i] = scale * d[j * n + i] if sticks else unit
    return 0
