"""Which equation determines which unknown?

Sees names and incidence only: no values, units or solvers. The matching and the Dulmage-Mendelsohn
parts come from CasADi's port of CSparse ``cs_dmperm`` [Davis, Direct Methods for Sparse Linear
Systems, 2006, ch. 7], which is linear in practice on chains and grids alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..numerics.arrays import Indices, distinct

__all__ = ["Matching", "connected", "joined", "match"]


@dataclass(frozen=True)
class Matching:
    """A maximum matching with its coarse and fine decomposition.

    Blocks are those of the well-determined part, in an order in which each needs only the ones
    before it.
    """

    equation_of: Indices  # of each unknown, -1 where there is none
    unknown_of: Indices  # of each equation, -1 where there is none
    over_equations: Indices  # the over-determined part
    over_unknowns: Indices
    under_equations: Indices  # the under-determined part
    under_unknowns: Indices
    block_starts: Indices
    block_equations: Indices
    block_unknowns: Indices

    @property
    def perfect(self) -> bool:
        return not (len(self.over_equations) or len(self.under_unknowns))

    @property
    def spare_equations(self) -> Indices:
        return np.flatnonzero(self.unknown_of < 0)


def connected(a: Indices, b: Indices, size: int) -> Indices:
    """Label of the connected component of every vertex, given edges a to b.

    Components of an undirected graph are the strong ones of its symmetric pattern.
    """
    if not size:
        return np.zeros(0, dtype=int)
    columns, rows = _compressed(np.concatenate([b, a]), np.concatenate([a, b]), size, size)
    sparsity = ca.Sparsity(size, size, columns.tolist(), rows.tolist())
    _, order, starts = sparsity.scc()
    label = np.empty(size, dtype=int)
    label[np.array(order, dtype=int)] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return label


def joined(pairs: Iterable[tuple[Indices, Indices]], size: int) -> Indices:
    """Labels as of :func:`connected`, where edges come as pairs of arrays."""
    none = np.zeros(0, dtype=int)
    a, b = zip((none, none), *pairs, strict=True)
    return connected(np.concatenate(a), np.concatenate(b), size)


def _compressed(rows: Indices, columns: Indices, height: int, width: int
                ) -> tuple[Indices, Indices]:
    """Column starts and sorted row indices of incidence pairs, each pair once."""
    keys = distinct(columns.astype(np.int64) * height + rows)
    starts = np.searchsorted(keys, np.arange(width + 1, dtype=np.int64) * height)
    return starts, keys % max(height, 1)


def match(rows: Indices, columns: Indices, equations: int, unknowns: int) -> Matching:
    """Match ``equations`` with ``unknowns`` given incidence pairs."""
    starts, indices = _compressed(rows, columns, equations, unknowns)
    sparsity = ca.Sparsity(equations, unknowns, starts.tolist(), indices.tolist())
    _, row_order, column_order, row_cuts, _, rr, cc = sparsity.btf()
    p, q, r = (np.array(x, dtype=int) for x in (row_order, column_order, row_cuts))
    equation_of = np.full(unknowns, -1)
    unknown_of = np.full(equations, -1)
    # rows: spare | over | square | under;  columns: over | square | under | free
    for k in range(3):
        e, u = p[rr[k + 1] : rr[k + 2]], q[cc[k] : cc[k + 1]]
        equation_of[u] = e
        unknown_of[e] = u
    inside = (r[:-1] >= rr[2]) & (r[1:] <= rr[3]) & (np.diff(r) > 0)
    starts = np.append(r[:-1][inside], rr[3]) - rr[2]
    return Matching(equation_of, unknown_of, over_equations=p[rr[0] : rr[2]],
                    over_unknowns=q[cc[0] : cc[1]], under_equations=p[rr[3] : rr[4]],
                    under_unknowns=q[cc[2] : cc[4]], block_starts=starts,
                    block_equations=p[rr[2] : rr[3]], block_unknowns=q[cc[1] : cc[2]])
