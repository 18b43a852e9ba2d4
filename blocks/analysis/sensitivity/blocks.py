"""Linear equations at many points, of which few depend on each other: block after block.

Where every unknown of a large network follows from states alone, as the flow of every pipe does,
its equations are solved by a division each, at all points at once [Duff & Reid, An implementation
of Tarjan's algorithm for the block triangularization of a matrix, TOMS 4(2), 1978].
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

from ...numerics.arrays import Array, Indices

__all__ = ["Block", "blocks_of", "solved_by_blocks"]

LARGEST = 1e11  # entry of an inverse, beyond which a matrix may be singular


class Block(NamedTuple):
    """Rows and columns of a block, and the columns before it that its rows see."""

    rows: Indices
    columns: Indices
    sees: Indices


def blocks_of(row: Indices, column: Indices, size: int) -> list[Block]:
    """The blocks of a square matrix by where it may have entries, in the order of solving.

    Nothing where all is one block, or where the matrix is singular by its structure.
    """
    pattern = ca.Sparsity.triplet(size, size, row.tolist(), column.tolist())
    if not size or ca.sprank(ca.DM(pattern)) < size:
        return []
    count, of_rows, of_columns, first, *_ = pattern.btf()
    if count == 1:
        return []
    rows, columns = np.array(of_rows), np.array(of_columns)
    number, place = np.empty(size, dtype=int), np.empty(size, dtype=int)
    for of, order in ((place, rows), (number, columns)):
        of[order] = np.repeat(np.arange(count), np.diff(first))
    others = number[column] != place[row]
    return [Block(rows[a:b], columns[a:b], np.unique(column[others & (place[row] == k)]))
            for k, (a, b) in enumerate(zip(first[:-1], first[1:], strict=True))]


def solved_by_blocks(blocks: list[Block], matrix: Array, right: Array) -> Array | None:
    """Solutions at all points; None where there is one block only, or one that may be singular.

    Rows and columns of the matrices are about equally large.
    """
    if not blocks:
        return None
    out = np.empty((len(matrix), matrix.shape[2], right.shape[2]))
    for rows, columns, sees in blocks:
        given = right[:, rows]
        if len(sees):
            given = given - matrix[:, rows[:, None], sees] @ out[:, sees]
        mine = matrix[:, rows[:, None], columns]
        try:
            with np.errstate(divide="ignore"):
                inverse = np.linalg.inv(mine) if len(rows) > 1 else 1.0 / mine
        except np.linalg.LinAlgError:
            return None
        # a bound of all condition numbers
        if not len(rows) ** 2 * np.abs(inverse).max(initial=0.0) < LARGEST:
            return None
        out[:, columns] = inverse @ given if len(rows) > 1 else inverse * given
    return out
