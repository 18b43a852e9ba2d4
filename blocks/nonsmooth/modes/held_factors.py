"""Which efforts hold many elements that act on few others each? By factors that stay sparse.

Where elements stand in a row, as the draught gear of a train does, D has few entries and its
inverse is full. ``D = L diag(pivots) L'`` has hardly more of them than D itself, in the order of
least fill [P. R. Amestoy, T. A. Davis, I. S. Duff, "An approximate minimum degree ordering
algorithm", SIAM J. Matrix Anal. Appl. 17, 1996]. Rows and columns of what slides are those of the
unit matrix, so factors of all modes have one pattern. Only where D is symmetric and positive
definite.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...numerics.arrays import Indices
from ...numerics.tolerances import DELASSUS_SINGULAR, OWN_RATE_NONE, SYMMETRIC

__all__ = ["FactoredPart", "factored_part"]

FEWEST = 8  # elements: the inverse of so few is small
SAVES = 0.5  # of the entries of the inverse: factors have no more
POINTS = 3  # in the space of parameters, at which D is looked at


class FactoredPart:
    """Elements that act on each other, and the pattern of their factors.

    Parameters
    ----------
    members : the elements
    d : change of all rates by all efforts, with its sign turned

    Attributes
    ----------
    order : places of the members in the order in which they are eliminated
    starts, rows : where the strict upper triangle L' has entries, column by column of that order
    count : of its entries, and the inverse pivots behind them
    """

    def __init__(self, members: Indices, d: ca.SX) -> None:
        self.members, self._own = members, ca.diag(d)
        chosen = members.tolist()
        self._d = d[chosen, chosen]
        pattern, order = self._d.sparsity().ldl(True)
        self.order = np.array(order, dtype=np.int64)
        self.starts, self.rows = (np.array(a, dtype=np.int64)
                                  for a in (pattern.colind(), pattern.row()))
        self.count = len(self.rows) + len(members)

    def factors(self, modes: ca.SX) -> ca.SX:
        """L' without its diagonal and the inverse pivots: 0 for what nothing holds, and no number
        where D is singular."""
        own, chosen = ca.densify(self._own), self.members.tolist()
        moved = own[chosen] > OWN_RATE_NONE**2 * ca.mmax(own)
        holds = ca.logic_and(modes[chosen] == 0, moved)
        rows, columns = (np.array(a) for a in self._d.sparsity().get_triplet())
        entries = self._d.nz[:] * holds[rows.tolist()] * holds[columns.tolist()]
        diagonal = np.flatnonzero(rows == columns).tolist()
        entries[diagonal] = ca.if_else(holds, self._d.nz[diagonal], 1)
        matrix = ca.SX(self._d.sparsity(), entries)
        pivots, upper, order = ca.ldl(matrix, True)
        safe = pivots > DELASSUS_SINGULAR * ca.diag(matrix)[order]
        inverse = ca.if_else(safe, 1 / pivots, np.nan)
        return ca.vertcat(upper.nz[:], ca.if_else(holds[order], inverse, 0))

    def efforts(self, factors: ca.SX, rates: ca.SX) -> ca.SX:
        """Efforts that cancel rates of the members."""
        n, upper = len(self.members), factors[: len(self.rows)]
        inverse, of = factors[len(self.rows) :], [rates[k] for k in self.order.tolist()]
        for c in range(n):
            for e in range(self.starts[c], self.starts[c + 1]):
                of[c] -= upper[e] * of[self.rows[e]]
        of = [value * inverse[c] for c, value in enumerate(of)]
        for c in range(n - 1, -1, -1):
            for e in range(self.starts[c], self.starts[c + 1]):
                of[self.rows[e]] -= upper[e] * of[c]
        out = ca.SX(n, 1)
        out[self.order.tolist()] = ca.vertcat(*of)
        return out


def factored_part(members: Indices, d: ca.SX, parameters: ca.SX) -> FactoredPart | None:
    """A part of elements by factors; None where its inverse is small, or D has no such factors.

    Parameters
    ----------
    d : of all elements
    parameters : that it depends on
    """
    if len(members) < FEWEST:
        return None
    chosen = members.tolist()
    block = d[chosen, chosen]
    pattern = block.sparsity()
    if not pattern.is_symmetric() or not all(pattern.has_nz(k, k) for k in range(len(members))):
        return None
    part = FactoredPart(members, d)
    if part.count > SAVES * len(members) ** 2:
        return None
    modes = ca.SX.zeros(d.shape[0])
    look = ca.Function("look", [parameters], [block, ca.diag(block), part.factors(modes)])
    chance = np.random.default_rng(0)
    for _ in range(POINTS):
        found, own, factors = look(chance.uniform(0.5, 2.0, parameters.shape))
        size = float(ca.mmax(ca.fabs(own)))
        uneven = float(ca.norm_inf(ca.vec(found - found.T).nz[:])) if found.nnz() else 0.0
        inverse = np.array(factors).ravel()[len(part.rows) :]
        if not (uneven <= SYMMETRIC * size and (inverse > 0).all()):
            return None
    return part
