"""Which equation determines which unknown?

Sees names and incidence only: no values, units or solvers. The matching and the Dulmage-Mendelsohn
parts come from CasADi's port of CSparse ``cs_dmperm`` [Davis, Direct Methods for Sparse Linear
Systems, 2006, ch. 7], which is linear in practice on chains and grids alike; of large systems
without other parts than the well-determined one, a tenth of the time, from SciPy's search by
Hopcroft and Karp [SIAM J. Comput. 2(4), 1973] and strong components by Pearce's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..numerics.arrays import Indices, distinct

__all__ = ["Matching", "connected", "joined", "match"]

BIG = 100_000  # vertices from which SciPy's search is worth its import


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
    if size > BIG:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        # of the types that SciPy takes as they are: half of the time goes into new memory
        edges = coo_array((np.ones(len(a)), (a.astype(np.int32), b.astype(np.int32))),
                          shape=(size, size))
        return connected_components(edges, directed=False)[1]
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
    if (equations == unknowns and equations + unknowns > BIG
            and (found := _well_determined(rows, columns, unknowns))):
        return found
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


def _well_determined(rows: Indices, columns: Indices, size: int) -> Matching | None:
    """The matching of a large system that has no part but the well-determined one."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

    # Those with the fewest partners first: what is left to search for is next to nothing, where
    # SciPy may take hours in another order [I. S. Duff, K. Kaya, B. Ucar, ACM TOMS 38(2), 2011].
    first, second = (np.argsort(np.bincount(v, minlength=size), kind="stable")
                     for v in (rows, columns))
    pattern = csr_array((np.ones(len(rows), dtype=bool),
                         (np.argsort(first)[rows], np.argsort(second)[columns])),
                        shape=(size, size))
    found = maximum_bipartite_matching(pattern, perm_type="column")
    if (found < 0).any():
        return None
    unknown_of = np.empty(size, dtype=int)
    unknown_of[first] = second[found]
    equation_of = np.argsort(unknown_of)
    needed = equation_of[columns]  # the equation that gives what another one needs
    needs = csr_array((np.ones(len(rows), dtype=bool), (rows, needed)), shape=(size, size))
    count, block = connected_components(needs, connection="strong")
    if (block[needed] > block[rows]).any():  # numbered in an order in which none needs a later one
        return None
    equations = np.argsort(block, kind="stable")
    none = np.zeros(0, dtype=int)
    return Matching(equation_of, unknown_of, none, none, none, none,
                    np.searchsorted(block[equations], np.arange(count + 1)),
                    equations, unknown_of[equations])
