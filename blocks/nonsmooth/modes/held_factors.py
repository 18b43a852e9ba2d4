"""Which efforts hold many elements that act on few others each? By factors that stay sparse.

Where elements stand in a row, as the draught gear of a train does, D has few entries and its
inverse is full. ``D = L diag(pivots) L'`` has hardly more of them than D itself, in the order of
least fill [P. R. Amestoy, T. A. Davis, I. S. Duff, "An approximate minimum degree ordering
algorithm", SIAM J. Matrix Anal. Appl. 17, 1996]. Where many act on one body, as boxes on a belt, D
is full because of it; with the acceleration a that they give to it as an unknown, of
``[D0, -r; -r', -1/w]``, nothing is. Rows and columns of what slides are those of the unit matrix,
so factors of all modes have one pattern. Only where D is symmetric and positive definite.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ...numerics.arrays import Indices
from ...numerics.tolerances import BLOCK_SINGULAR, DELASSUS_SINGULAR, OWN_RATE_NONE, SYMMETRIC

__all__ = ["Acting", "FactoredPart", "factored_part"]

FEWEST = 8  # elements: the inverse of so few is small
CROWD = 6  # elements that act on one state, from which its acceleration is an unknown
SAVES = 0.5  # of the entries of the inverse: factors have no more
POINTS = 3  # in the space of parameters, at which D is looked at


@dataclass(frozen=True)
class Acting:
    """How elements act on each other, where that depends on parameters only.

    Attributes
    ----------
    flow_x : flows by states
    push : slopes of states by efforts
    parameters : that these depend on
    """

    flow_x: ca.SX
    push: ca.SX
    parameters: ca.SX

    def d(self, members: list[int], states: list[int]) -> ca.SX:
        """Change of their rates by their efforts through some states, with its sign turned."""
        return -ca.mtimes(self.flow_x[members, states], self.push[states, members])

    @property
    def motion(self) -> ca.SX:
        """What flows and their rates are made of: how temperatures follow heat does not count."""
        followed = np.unique(self.flow_x.sparsity().get_col()).tolist()
        return ca.veccat(self.flow_x, self.push[followed, :])

    @cached_property
    def own(self) -> ca.SX:
        """The same of every element by its own effort, through all states."""
        return ca.densify(-ca.sum2(self.flow_x * self.push.T))


    def share_motions(self, members: Indices) -> bool:
        """Whether elements have more flows than there are motions: what sticks may share stress."""
        chosen, chance = members.tolist(), np.random.default_rng(0)
        look = ca.Function("look", [self.parameters], [ca.densify(self.flow_x[chosen, :])])
        flows = np.array(look(chance.uniform(0.5, 2.0, self.parameters.shape)))
        sizes = np.linalg.norm(flows, axis=1, keepdims=True)
        flows = flows / np.where(sizes > 0, sizes, 1.0)
        return bool(np.linalg.matrix_rank(flows, tol=BLOCK_SINGULAR) < len(members))


class FactoredPart:
    """Elements that act on each other, and the pattern of their factors.

    Parameters
    ----------
    members : the elements
    acting : how they act on each other
    crowded : states whose accelerations are unknowns, besides efforts

    Attributes
    ----------
    order : places of the members in the order in which they are eliminated; those of accelerations
        are -1
    starts, rows : where the strict upper triangle L' has entries, column by column of that order
    count : of its entries, and the inverse pivots behind them
    """

    def __init__(self, members: Indices, acting: Acting, crowded: list[int]) -> None:
        self.members, self._own, chosen = members, acting.own, members.tolist()
        plain = [i for i in range(acting.push.shape[0]) if i not in crowded]
        border, back = -acting.flow_x[chosen, crowded], acting.push[crowded, chosen]
        tell = [next(k for k in range(len(chosen)) if border.has_nz(k, h) and back.has_nz(h, k))
                for h in range(len(crowded))]
        weights = [-border[k, h] / back[h, k] for h, k in enumerate(tell)]
        d = acting.d(chosen, plain)
        matrix = ca.blockcat([[d, border], [border.T, ca.diag(ca.vertcat(ca.SX(0, 1), *weights))]])
        self._matrix = ca.project(matrix, matrix.sparsity() + ca.Sparsity.diag(matrix.shape[0]))
        self._size = ca.vertcat(self._own[chosen], *map(ca.fabs, weights))
        n, among = len(chosen), d.sparsity()
        able = [k for k in range(n) if among.has_nz(k, k)]
        last = [k for k in range(n) if not among.has_nz(k, k)]  # who act on crowded states alone
        self._order = [*(able[k] for k in among.sub(able, able)[0].ldl(True)[1]),
                       *range(n, matrix.shape[0]), *last]
        pattern, _ = self.pattern.sub(self._order, self._order)[0].ldl(False)
        self.order = np.where(np.array(self._order) < n, self._order, -1).astype(np.int64)
        self.starts, self.rows = (np.array(a, dtype=np.int64)
                                  for a in (pattern.colind(), pattern.row()))
        self.count = len(self.rows) + len(self._order)

    @property
    def pattern(self) -> ca.Sparsity:
        """Of what is factored."""
        return self._matrix.sparsity()

    def factors(self, modes: ca.SX) -> ca.SX:
        """L' without its diagonal and the inverse pivots: 0 for what nothing holds, and no number
        where D is singular."""
        chosen = self.members.tolist()
        moved = self._own[chosen] > OWN_RATE_NONE**2 * ca.mmax(self._own)
        held = ca.logic_and(modes[chosen] == 0, moved)
        holds = ca.vertcat(held, ca.SX.ones(len(self._order) - len(chosen)))
        rows, columns = (np.array(a) for a in self.pattern.get_triplet())
        entries = self._matrix.nz[:] * holds[rows.tolist()] * holds[columns.tolist()]
        diagonal = np.flatnonzero(rows == columns).tolist()
        entries[diagonal] = ca.if_else(holds, self._matrix.nz[diagonal], 1)
        order = self._order
        pivots, upper, _ = ca.ldl(ca.SX(self.pattern, entries)[order, order], False)
        safe = ca.fabs(pivots) > DELASSUS_SINGULAR * self._size[order]
        inverse = ca.if_else(safe, 1 / pivots, np.nan)
        return ca.vertcat(upper.nz[:], ca.if_else(holds[order], inverse, 0))

    def efforts(self, factors: ca.SX, rates: ca.SX) -> ca.SX:
        """Efforts that cancel rates of the members."""
        upper, inverse = factors[: len(self.rows)], factors[len(self.rows) :]
        of = [rates[k] if k >= 0 else ca.SX(0) for k in self.order.tolist()]
        for c in range(len(of)):
            for e in range(self.starts[c], self.starts[c + 1]):
                of[c] -= upper[e] * of[self.rows[e]]
        of = [value * inverse[c] for c, value in enumerate(of)]
        for c in range(len(of) - 1, -1, -1):
            for e in range(self.starts[c], self.starts[c + 1]):
                of[self.rows[e]] -= upper[e] * of[c]
        out = ca.SX(len(self.members), 1)
        for c, k in enumerate(self.order.tolist()):
            if k >= 0:
                out[k] = of[c]
        return out

    def is_regular(self, acting: Acting) -> bool:
        """Whether D is symmetric and positive definite, whatever the parameters, but for chance."""
        chosen = self.members.tolist()
        whole = acting.d(chosen, list(range(acting.push.shape[0])))
        look = ca.Function("look", [acting.parameters], [
            ca.densify(whole), ca.densify(self._matrix),
            self.factors(ca.SX.zeros(acting.flow_x.shape[0]))])
        chance, sign = np.random.default_rng(0), np.where(self.order >= 0, 1, -1)
        for _ in range(POINTS):
            *matrices, factors = (np.array(out) for out in look(
                chance.uniform(0.5, 2.0, acting.parameters.shape)))
            if not all(np.abs(m - m.T).max() <= SYMMETRIC * np.abs(m).max() for m in matrices):
                return False
            if not (sign * factors.ravel()[len(self.rows) :] > 0).all():
                return False
        return True


def factored_part(members: Indices, acting: Acting) -> FactoredPart | None:
    """A part of elements by factors; None where its inverse is small, or D has no such factors."""
    if len(members) < FEWEST:
        return None
    chosen, most = members.tolist(), SAVES * len(members) ** 2
    felt, pushed = acting.flow_x[chosen, :].sparsity(), acting.push[:, chosen].sparsity()
    on_state = np.bincount(felt.get_triplet()[1], minlength=felt.size2())
    crowded = np.flatnonzero(on_state >= CROWD).tolist()
    for states in ([], crowded)[: 1 + bool(crowded)]:
        if any(not pushed.has_nz(i, k) for i in states for k in range(len(chosen))
               if felt.has_nz(k, i)):
            continue
        part = FactoredPart(members, acting, states)
        pattern = part.pattern
        if part.count <= most and pattern.is_symmetric():
            return part if part.is_regular(acting) else None
    return None
