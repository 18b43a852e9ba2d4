"""Which numbers do efforts follow by as long as modes last?

Where the matrix D of the rates per effort depends on parameters only, those at rest in an island of
elements that act on each other, S, hold by ``D_SS^-1`` times the rates that there are without them.
K is that matrix, 0 elsewhere, by island; or its factors, which stay sparse where elements stand
in a row, as the draught gear of a train does. ``D = L diag(pivots) L'`` has hardly more entries
than D itself, in the order of least fill [P. R. Amestoy, T. A. Davis, I. S. Duff, "An approximate
minimum degree ordering algorithm", SIAM J. Matrix Anal. Appl. 17, 1996]. Rows and columns of what
slides are those of the unit matrix, so factors of all modes have one pattern. Only where D is
symmetric and positive definite. Where more elements may rest than there are motions to hold, K has
who of them is at a bound, held there by the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices, grouped
from ...numerics.tolerances import BLOCK_SINGULAR, DELASSUS_SINGULAR, OWN_RATE_NONE, ROUNDING, TINY
from ...system import Evaluator, Problem
from ..complementarity.scaling import DENSE_LIMIT, components
from .delassus import Matrix, pseudo_inverse
from .elements import MOST_INVERTED, MOST_TOGETHER

__all__ = ["Acting", "KeptFactors", "connected"]

FEWEST = 8  # elements: the inverse of so few is small
SAVES = 0.5  # of the entries of the inverse: factors have no more
POINTS = 3  # in the space of parameters, at which D is looked at


@dataclass(frozen=True)
class Acting:
    """How elements act on each other, where that depends on parameters only."""

    flow_x: ca.SX  # flows by states
    push: ca.SX  # slopes of states by efforts
    parameters: ca.SX  # that these depend on
    contact: Flags  # which elements are contacts

    def d(self, members: list[int]) -> ca.SX:
        """Change of their rates by their efforts, with its sign turned."""
        return -ca.mtimes(self.flow_x[members, :], self.push[:, members])

    @property
    def motion(self) -> ca.SX:
        """What flows and their rates are made of: how temperatures follow heat does not count."""
        followed = np.unique(self.flow_x.sparsity().get_col()).tolist()
        return ca.veccat(self.flow_x, self.push[followed, :])

    @cached_property
    def own(self) -> ca.SX:
        """Change of each rate by the element's own effort, through all states, its sign turned."""
        return ca.densify(-ca.sum2(self.flow_x * self.push.T))

    def share_motions(self, members: Indices) -> bool:
        """Whether elements have more flows than there are motions: what sticks may share stress."""
        flows = self._ways[members].toarray()
        return bool(np.linalg.matrix_rank(flows, tol=BLOCK_SINGULAR) < len(members))

    @cached_property
    def barred(self) -> Array:
        """1 for contacts that others bar from closing with them: of the bounds of a stop one."""
        alike = self._ways @ self._ways.T < BLOCK_SINGULAR - 1  # flows that are opposite
        pairs = sp.triu(alike.multiply(np.outer(self.contact, self.contact))).tocsr()
        out = np.zeros(len(self.contact))
        for first, later in zip(*pairs.nonzero(), strict=True):
            out[later] = max(out[later], 1.0 - out[first])  # what is barred bars none
        return out

    @cached_property
    def _ways(self) -> Any:
        """Flows by states at some parameters, each of length 1."""
        look = ca.Function("look", [self.parameters], [self.flow_x])
        flows = sp.csr_matrix(look(np.random.default_rng(0).uniform(
            0.5, 2.0, self.parameters.shape)).sparse())
        sizes = np.sqrt(flows.multiply(flows).sum(axis=1))
        return sp.csr_matrix(flows.multiply(1.0 / np.where(sizes > 0, sizes, 1.0)))


class FactoredIsland:
    """Elements that act on each other, and the pattern of their factors."""

    def __init__(self, members: Indices, acting: Acting) -> None:
        self.members, self._own, chosen = members, acting.own, members.tolist()
        d = acting.d(chosen)
        self._matrix = ca.project(d, d.sparsity() + ca.Sparsity.diag(len(chosen)))
        self._order = self.pattern.ldl(True)[1]
        pattern, _ = self.pattern.sub(self._order, self._order)[0].ldl(False)
        # places of the members in the order in which they are eliminated
        self.order = np.array(self._order, dtype=np.int64)
        # where the strict upper triangle L' has entries, column by column of that order
        self.starts, self.rows = (np.array(a, dtype=np.int64)
                                  for a in (pattern.colind(), pattern.row()))
        # how many entries it has, and inverse pivots behind them
        self.count = len(self.rows) + len(self._order)

    @property
    def pattern(self) -> ca.Sparsity:
        """Sparsity pattern of the matrix that is factored."""
        return self._matrix.sparsity()

    def factors(self, modes: ca.SX) -> ca.SX:
        """L' without its diagonal and the inverse pivots: 0 for what nothing holds, and no number
        where D is singular."""
        chosen = self.members.tolist()
        moved = self._own[chosen] > OWN_RATE_NONE**2 * ca.mmax(self._own)
        holds = ca.logic_and(modes[chosen] == 0, moved)
        rows, columns = (np.array(a) for a in self.pattern.get_triplet())
        entries = self._matrix.nz[:] * holds[rows.tolist()] * holds[columns.tolist()]
        diagonal = np.flatnonzero(rows == columns).tolist()
        entries[diagonal] = ca.if_else(holds, self._matrix.nz[diagonal], 1)
        order = self._order
        pivots, upper, _ = ca.ldl(ca.SX(self.pattern, entries)[order, order], False)
        safe = ca.fabs(pivots) > DELASSUS_SINGULAR * self._own[chosen][order]
        inverse = ca.if_else(safe, 1 / pivots, np.nan)
        return ca.vertcat(upper.nz[:], ca.if_else(holds[order], inverse, 0))

    def efforts(self, factors: ca.SX, rates: ca.SX) -> ca.SX:
        """Efforts that cancel rates of the members."""
        upper, inverse = factors[: len(self.rows)], factors[len(self.rows) :]
        of = [rates[k] for k in self._order]
        for c in range(len(of)):
            for e in range(self.starts[c], self.starts[c + 1]):
                of[c] -= upper[e] * of[self.rows[e]]
        of = [value * inverse[c] for c, value in enumerate(of)]
        for c in range(len(of) - 1, -1, -1):
            for e in range(self.starts[c], self.starts[c + 1]):
                of[self.rows[e]] -= upper[e] * of[c]
        out = ca.SX(len(self.members), 1)
        out[self._order] = ca.vertcat(*of)
        return out

    def is_regular(self, acting: Acting) -> bool:
        """Whether D is symmetric and positive definite, whatever the parameters, but for chance."""
        look = ca.Function("look", [acting.parameters], [
            ca.densify(self._matrix), self.factors(ca.SX(acting.barred))])
        chance = np.random.default_rng(0)
        least = TINY * (1 - acting.barred[self.members][self.order])
        for _ in range(POINTS):
            d, factors = (np.array(out) for out in look(
                chance.uniform(0.5, 2.0, acting.parameters.shape)))
            if not np.abs(d - d.T).max() <= ROUNDING * np.abs(d).max():
                return False
            if not (factors.ravel()[len(self.rows) :] >= least).all():
                return False
        return True


def _factored_island(members: Indices, acting: Acting) -> FactoredIsland | None:
    """An island by its factors; None where its inverse is small, or D has no such factors."""
    if len(members) < FEWEST:
        return None
    island = FactoredIsland(members, acting)
    fits = island.count <= SAVES * len(members) ** 2 and island.pattern.is_symmetric()
    return island if fits and island.is_regular(acting) else None


def connected(pattern: ca.Sparsity) -> list[Indices]:
    """Elements that a matrix connects, island by island."""
    acts = np.array(ca.DM(pattern, 1)) if pattern.size1() <= DENSE_LIMIT else ca.DM(
        pattern, 1).sparse()
    return grouped(components(acts)[1])


class KeptFactors:
    """Elements that act on each other, and where their numbers stand in K.

    There are ``size`` elements; ``islands`` are those that decide and act on each other, ``acting``
    says how they do so, where that depends on parameters only.
    """

    def __init__(self, size: int, islands: list[Indices], acting: Acting | None) -> None:
        self.size = size
        # elements that act on no other, whose own entries come first
        self.alone = np.array([island[0] for island in islands if len(island) == 1], dtype=int)
        # islands by their inverse, and where that stands in K
        self.full: list[tuple[Indices, Indices]] = []
        self.factored: list[FactoredIsland] = []  # by their factors, which stand behind that
        # behind, entries: where these begin, and how many numbers K is
        self.behind = len(self.alone)
        for island in (island for island in islands if len(island) > 1):
            found = None if acting is None or len(island) > MOST_TOGETHER else _factored_island(
                island, acting)
            if found is not None:
                self.factored.append(found)
                continue
            n = len(island)
            self.full.append((island, self.behind + np.arange(n * n).reshape(n, n)))
            self.behind += n * n
        stressed = [] if acting is None else [
            one for one, _ in self.full if len(one) <= MOST_INVERTED and acting.share_motions(one)]
        # elements that may share internal stress; who is at a bound then stands behind that
        self.stressed = np.concatenate([np.zeros(0, dtype=int), *stressed])
        self.behind += len(self.stressed)
        self.entries = self.behind + sum(one.count for one in self.factored)
        self.modes = ca.SX.sym("modes", size)
        # expressions of those that are factors, in the ``modes`` and parameters
        self.factors = ca.vertcat(*(island.factors(self.modes) for island in self.factored))
        if acting is not None and self.factored:
            self._factors, self._barred = Evaluator(ca.Function(
                "factors", [acting.parameters, self.modes], [self.factors])), acting.barred

    @property
    def few(self) -> bool:
        """Whether no inverse is too large."""
        return max((len(island) for island, _ in self.full), default=0) <= MOST_INVERTED

    # -- numbers -----------------------------------------------------------------------------
    def fits(self, problem: Problem, modes: Indices) -> bool:
        """Whether islands by factors have them: D may be singular for these parameters, or where
        what bars each other rests all the same."""
        return not self.factored or bool(np.isfinite(self._factors(problem.p, self._barred)).all()
                                         and np.isfinite(self._factors(problem.p, modes)).all())

    def numbers(self, problem: Problem, modes: Indices, d: Matrix) -> Array:
        """K for the elements that stick."""
        own = np.asarray(d.diagonal())
        holds = (modes == 0) & (own > OWN_RATE_NONE**2 * own.max(initial=0.0))
        out, alone = np.zeros(self.entries), self.alone
        np.divide(1.0, own[alone], out=out[: len(alone)], where=holds[alone])
        for island, entries in self.full:
            inside = np.flatnonzero(holds[island])
            if len(which := island[inside]):
                out[entries[np.ix_(inside, inside)]] = pseudo_inverse(
                    sp.dense(d[which][:, which]))(np.eye(len(which)))
        if self.factored:
            out[self.behind :] = self._factors(problem.p, modes)
        return out

    # -- expressions -------------------------------------------------------------------------
    def efforts(self, k: ca.SX, rates: ca.SX) -> ca.SX:
        """Efforts that cancel rates, of the elements that decide."""
        out = ca.SX(self.size, 1)
        if len(self.alone):
            out[self.alone.tolist()] = k[: len(self.alone)] * rates[self.alone.tolist()]
        for island, entries in self.full:
            inverse = ca.reshape(k[entries.T.ravel().tolist()], len(island), len(island))
            out[island.tolist()] = ca.mtimes(inverse, rates[island.tolist()])
        start = self.behind
        for one in self.factored:
            out[one.members.tolist()] = one.efforts(
                k[start : start + one.count], rates[one.members.tolist()])
            start += one.count
        return out

    @property
    def stress(self) -> slice:
        """Where K has who of the ``stressed`` is at a bound, held there by others."""
        return slice(self.behind - len(self.stressed), self.behind)

    def ends(self, k: ca.SX) -> ca.SX:
        """1 and -1 of what is at its upper or lower bound, held there by others."""
        out = ca.SX.zeros(self.size)
        if len(self.stressed):
            out[self.stressed.tolist()] = k[self.stress]
        return out

    # -- for machine code ------------------------------------------------------------------
    @cached_property
    def members(self) -> list[Indices]:
        """The members of each island."""
        return [*self.alone[:, None], *(island for island, _ in self.full),
                *(one.members for one in self.factored)]

    @cached_property
    def first(self) -> Indices:
        """Where the numbers of each island begin in K."""
        counts = np.array([one.count for one in self.factored], dtype=int)
        return np.array([*range(len(self.alone)), *(entries[0, 0] for _, entries in self.full),
                         *(self.behind + np.cumsum(counts) - counts)], dtype=np.int64)

    @cached_property
    def columns(self) -> tuple[Indices, Indices, Indices, Indices]:
        """Where the columns of each island's factors begin, which member each column is of, where
        its entries begin, and in which rows these are."""
        sizes = [0] * (1 + len(self.alone) + len(self.full)) + [
            len(one.order) for one in self.factored]
        counts = _joined([np.diff(one.starts) for one in self.factored])
        return (np.cumsum(sizes), _joined([one.order for one in self.factored]),
                np.append(0, np.cumsum(counts)), _joined([one.rows for one in self.factored]))


def _joined(islands: list[Indices]) -> Indices:
    return np.concatenate([np.zeros(0, dtype=np.int64), *islands])
