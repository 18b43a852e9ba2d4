"""Which unknowns of linear equations are left open where nothing flows, in machine code?

Gaussian elimination with the largest pivot of all rows and columns [G. H. Golub and C. F. Van
Loan, "Matrix Computations", 4th ed., sec. 3.4.8] on a copy, rows of what a flow carries coming
last; then what says nothing new is replaced by the open unknowns, which do not change (as in
:mod:`blocks.numerics.open_unknowns`).
"""

from __future__ import annotations

from ..machine.functions import machine_code
from ..machine.signatures import vector_at
from ..numerics.tolerances import OPEN_UNKNOWN

__all__ = ["leave_open", "room"]


def room(n: int) -> int:
    """Numbers of work space for n equations; the last n are 1 for those that say nothing new."""
    return n * n + 5 * n


@machine_code
def leave_open(matrix: int, right: int, work: int, size: int, carried: int, allowed: float) -> int:
    """Pin open unknowns, in place; 1 if equations contradict each other or lack a flow's unknown.

    Parameters
    ----------
    matrix : address of (size, size) numbers, column after column
    right : address of the right side
    work : address of :func:`room` numbers
    carried : address of a number per unknown: 1.0 if it may be left open, and its row say nothing
    allowed : what an equation that says nothing new may miss
    """
    n = size
    a, b, may = vector_at(matrix, n * n), vector_at(right, n), vector_at(carried, n)
    w = vector_at(work, n * n + 5 * n)
    rest = n * n
    scale, used_row, used_column, nothing = rest + n, rest + 2 * n, rest + 3 * n, rest + 4 * n
    for i in range(n):
        largest = 0.0
        for j in range(n):
            largest = max(largest, abs(a[j * n + i]))
        if largest == 0.0:
            largest = 1.0
        for j in range(n):
            w[j * n + i] = a[j * n + i] / largest
        w[scale + i] = largest
        w[rest + i] = b[i] / largest
        w[used_row + i] = 0.0
        w[used_column + i] = 0.0
        w[nothing + i] = 0.0
    first, rank = 0.0, 0
    while rank < n:
        best, row, column, by_flow, last_row, last_column = 0.0, 0, 0, 0.0, 0, 0
        for j in range(n):
            if w[used_column + j] == 0.0:
                for i in range(n):
                    entry = abs(w[j * n + i])
                    if w[used_row + i] == 0.0 and may[i] == 0.0 and entry > best:
                        best, row, column = entry, i, j
                    if w[used_row + i] == 0.0 and may[i] != 0.0 and entry > by_flow:
                        by_flow, last_row, last_column = entry, i, j
        if rank == 0:
            first = max(best, by_flow)
        if best <= OPEN_UNKNOWN * first:  # rows of what a flow carries come last
            best, row, column = by_flow, last_row, last_column
        if best <= OPEN_UNKNOWN * first:
            break
        w[used_row + row] = 1.0
        w[used_column + column] = 1.0
        rank += 1
        for i in range(n):
            if w[used_row + i] == 0.0 and w[column * n + i] != 0.0:
                factor = w[column * n + i] / w[column * n + row]
                w[rest + i] -= factor * w[rest + row]
                for j in range(n):
                    if w[used_column + j] == 0.0:
                        w[j * n + i] -= factor * w[j * n + row]
    column = 0
    for i in range(n):
        if w[used_row + i] == 0.0:
            while w[used_column + column] != 0.0:
                column += 1
            missed = abs(w[rest + i]) * w[scale + i]
            if may[column] == 0.0 or not missed <= allowed:
                return 1
            w[used_column + column] = 1.0
            for j in range(n):
                a[j * n + i] = 0.0
            a[column * n + i] = 1.0
            b[i] = 0.0
            w[nothing + i] = 1.0
    return 0
