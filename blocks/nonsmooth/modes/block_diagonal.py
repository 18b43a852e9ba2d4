"""Matrices at many points that are made of blocks: solved, and told of, block by block.

Elements that act on each other are a block; of matrices there are the entries of all blocks, one
after the other, each column by column.
"""

from __future__ import annotations

from collections.abc import Iterator

import casadi as ca
import numpy as np

from ...numerics.arrays import Array, Flags, Indices, Matrix, grouped

__all__ = ["BlockDiagonal"]


class BlockDiagonal:
    """The pattern of such matrices.

    ``blocks`` are the rows, and columns, of each. Functions take entries as (points, entries).
    """

    def __init__(self, blocks: list[Indices]) -> None:
        sizes = np.array([len(block) for block in blocks], dtype=int)
        starts = np.cumsum(sizes**2) - sizes**2
        self.blocks, self.count, self.size = blocks, len(blocks), int((sizes**2).sum())
        #: Blocks of one size: which, their rows (blocks, k), where entries stand (blocks, k, k).
        self.alike = [(which, np.array([blocks[b] for b in which]), starts[which][:, None, None] +
                       np.arange(k * k).reshape(k, k).T)
                      for which in grouped(sizes) for k in sizes[which[:1]].tolist()]

    def entries_of(self, matrix: ca.SX) -> ca.SX:
        """The entries of a matrix of expressions, as a column."""
        members = (block.tolist() for block in self.blocks)
        return ca.vertcat(ca.SX(0, 1), *(ca.vec(matrix[m, m]) for m in members))

    def taken_from(self, matrix: Matrix) -> Array:
        """The entries of one full matrix."""
        out = np.empty(self.size)
        for _, rows, places in self.alike:
            out[places] = matrix[rows[:, :, None], rows[:, None, :]]
        return out

    def full(self, entries: Array, n: int) -> Matrix:
        """The full matrix of ``n`` rows whose entries are given, as a row."""
        out = np.zeros((n, n))
        for _, rows, places in self.alike:
            out[rows[:, :, None], rows[:, None, :]] = entries[places]
        return out

    def least_pivots(self, entries: Array) -> Array:
        """The smallest pivot of every matrix, by elimination with the largest of each column."""
        out = np.full(len(entries), np.inf)
        for _, _, matrices in self._stacks(entries):
            pivots = _least_pivots(matrices.reshape(-1, *matrices.shape[2:]))
            out = np.minimum(out, pivots.reshape(matrices.shape[:2]).min(axis=1))
        return out

    def determinants(self, entries: Array, take: Flags) -> Array:
        """Determinants of the rows and columns that take part, (points, blocks)."""
        out = np.ones((len(entries), self.count))
        for which, rows, matrices in self._stacks(entries):
            both = take[rows][:, :, None] & take[rows][:, None, :]
            a = np.where(both, matrices, np.eye(rows.shape[1]))
            if rows.shape[1] == 1:
                out[:, which] = a[..., 0, 0]
            elif rows.shape[1] == 2:
                out[:, which] = a[..., 0, 0] * a[..., 1, 1] - a[..., 0, 1] * a[..., 1, 0]
            else:
                out[:, which] = np.linalg.det(a)
        return out

    def _stacks(self, entries: Array) -> Iterator[tuple[Indices, Indices, Array]]:
        """Yield which blocks are of one size, their rows, and matrices, (points, blocks, k, k)."""
        for which, rows, places in self.alike:
            yield which, rows, entries[:, places]


def _least_pivots(matrix: Array) -> Array:
    a, every, n = matrix.copy(), np.arange(len(matrix)), matrix.shape[1]
    for k in range(n - 1):
        best = k + np.abs(a[:, k:, k]).argmax(axis=1)
        a[every, best], a[:, k] = a[:, k].copy(), a[every, best]
        pivot = np.where(a[:, k, k] == 0.0, 1.0, a[:, k, k])
        factor = a[:, k + 1 :, k] / pivot[:, None]
        a[:, k + 1 :, k + 1 :] -= factor[..., None] * a[:, k, None, k + 1 :]
    pivots: Array = np.abs(np.diagonal(a, axis1=1, axis2=2)).min(axis=1, initial=np.inf)
    return pivots
