"""Where a solution of switched equations ends: which one lies beyond?

Of a loop with several solutions (a limited amplifier that feeds back on itself) the one that the
run has followed may end: with the relation that has crossed switched, the equations have a solution
on the other side of the instant only. Its pieces join into a path all the same: going back in time
along the second piece, then forward along the third, one comes to the instant again, on another
branch. That is where the path leads that was interrupted, and where the run goes on.

References
----------
J. Katzenelson, "An algorithm for solving nonlinear resistor networks", Bell Syst. Tech. J. 44
(1965) 1605-1620. L. O. Chua and A. Ushida, "A switching-parameter algorithm for finding multiple
solutions of nonlinear resistive circuits", Int. J. Circuit Theory Appl. 4 (1976) 215-239.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, islice, product

import casadi as ca
import numpy as np

from ..numerics.arrays import Array, Flags, Indices
from ..numerics.tolerances import LAST_DIGITS, TINY, ZERO_MARGIN
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem
from ..system.system import System

__all__ = ["next_branch", "tried_branch"]

MOST_PIECES = 100  # of a path
MOST_LOOKS = 50  # for the end of a piece
LITTLE = 1e-6  # of the time in which a state changes by its size: what slopes are taken over
FAR = 1e9  # of that time: nothing ends a piece any more
MOST_SWITCHED = 3  # relations on trial at once, before what follows
MOST_TRIED = 500  # of these, before one is kept
ROUNDS = 12  # of what follows
CIRCLE = 4  # of these, the last ones: what they switch goes in circles

Judge = Callable[[], tuple[Array, Flags]]


class _Lost(Exception):
    """A path that cannot be followed."""


def next_branch(problem: Problem, t: float, before: Array, crossed: Indices, known: Flags,
                duration: float) -> Array | None:
    """The relations (1.0 where one holds) of the branch on which the path comes back to ``t``.

    The problem is at the instant; its point and relations are as they were afterwards. Relations
    ``before`` have held up to now, those ``crossed`` no longer can; ``known`` are relations of time
    alone, which are left alone, as are those of other loops: one path is followed for each loop.
    """
    m, z, found = problem.m.copy(), problem.z.copy(), before.copy()
    loop = problem.system.once("loops of relations", lambda: _loops(problem.system))
    try:
        path = _Path(problem, t, before, known, duration)
        for one in np.unique(loop[crossed]):
            path.known = known | (loop != one)
            for start in (crossed[loop[crossed] == one], crossed[:0]):  # from one end, or the other
                try:
                    found[loop == one] = path.followed(before, start)[loop == one]
                    break
                except _Lost:
                    continue
            else:
                return None
        return found
    finally:
        problem.m[:], problem.z[:] = m, z
        problem.unknowns.forget()
        problem.solve(t, path.y)


def _loops(system: System) -> Indices:
    """A number for each relation, the same of those that feel each other through unknowns."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    tape, nm, nz, nu = system.tape, system.nm, system.nz, system.nu
    row, column = (np.array(k, dtype=int) for k in ca.jacobian(
        ca.vertcat(tape.crossings, tape.residual), ca.vertcat(tape.m, tape.z, tape.u)
        ).sparsity().get_triplet())
    first = nm + nz  # of efforts, which may all feel each other
    one = np.concatenate([column, np.arange(first, first + nu)])
    other = np.concatenate([np.where(row < nm, row, row + nz + nu), np.full(nu, first)])
    graph = coo_matrix((np.ones(len(one)), (one, other)), 2 * [first + nu + nz])
    return np.asarray(connected_components(graph, directed=False)[1][:nm])


class _Path:
    """Solutions along the line on which time and states have been moving."""

    def __init__(self, problem: Problem, t: float, before: Array, known: Flags, duration: float
                 ) -> None:
        self.problem, self.t, self.known = problem, t, known
        self.y = problem.solver_vector()
        problem.m[:] = before
        problem.unknowns.forget()
        self.slope = problem.slope(t, self.y)
        speed = float(np.max(np.abs(self.slope) / (np.abs(self.y) + 1.0), initial=0.0))
        self.unit = min(1.0 / max(speed, TINY), duration)

    def followed(self, before: Array, crossed: Indices) -> Array:
        """The relations where the path comes to the instant going forward in time."""
        m, at = before.copy(), 0.0
        m[crossed] = 1.0 - m[crossed]
        forward = self._is_forward(m, at, crossed) if len(crossed) else False
        for _ in range(MOST_PIECES):
            if forward and at >= 0:
                return m
            at, switched = self._end_of_piece(m, at, forward, crossed)
            if forward and at > 0:
                return m
            m[switched] = 1.0 - m[switched]
            crossed = switched
            forward = self._is_forward(m, at, crossed)
        raise _Lost

    def _margins(self, m: Array, at: float) -> Array:
        """Crossing functions, positive where the relations hold as in ``m``."""
        problem = self.problem
        problem.m[:] = m
        problem.unknowns.forget()
        try:
            g = problem.crossings(self.t + at, self.y + at * self.slope)
        except AlgebraicFailure as failure:
            raise _Lost from failure
        margin: Array = np.where(m > 0.5, g, -g)
        margin[self.known] = np.inf
        if np.isnan(margin).any():
            raise _Lost
        return margin

    def _is_forward(self, m: Array, at: float, crossed: Indices) -> bool:
        """Whether what has just been switched holds later, not earlier."""
        h = LITTLE * self.unit
        change = (self._margins(m, at + h) - self._margins(m, at - h))[crossed]
        if not (change > 0).all() and not (change < 0).all():
            raise _Lost
        return bool((change > 0).all())

    def _end_of_piece(self, m: Array, at: float, forward: bool, crossed: Indices
                      ) -> tuple[float, Indices]:
        """Where the next relation ceases to hold, and which; past the instant where none does."""
        sense = 1.0 if forward else -1.0
        for _ in range(MOST_LOOKS):
            h = sense * LITTLE * self.unit
            here, there = self._margins(m, at), self._margins(m, at + h)
            here[crossed] = np.maximum(here[crossed], 0.0)
            falls = (there < here) & np.isfinite(here)
            falls[crossed] = False
            with np.errstate(divide="ignore", invalid="ignore"):
                distance = np.where(falls, here / (here - there), np.inf) * abs(h)
            k = int(np.argmin(distance)) if len(distance) else -1
            if k < 0 or distance[k] > FAR * self.unit:
                if forward:
                    return max(at, 0.0) + self.unit, crossed
                raise _Lost
            end = at + sense * float(distance[k])
            if forward and end > 0:
                return end, crossed
            size = np.abs(here) + np.abs(there) + TINY
            if abs(self._margins(m, end)[k]) <= ZERO_MARGIN * size[k]:
                return end, np.array([k])
            at = end
        raise _Lost


def tried_branch(problem: Problem, judge: Judge) -> Array | None:
    """Relations (1.0 where one holds) that agree with the equations, where no branch leads to any.

    Switching all relations at once that do not hold goes in circles in a loop that feeds back on
    itself (a limited amplifier between two of its limits): there the solution may be on a piece
    that the circle never comes to. A source that steps leaves no path to go along either. So a few
    of the relations that have a part in the circle are switched, then all that follows from them,
    and what ends a circle is kept, until there is none: where one loop drives another, that of the
    first. The relations of ``problem``, at the instant, are those of a round of the circle;
    ``judge`` gives crossing functions and which relations are wrong, as they are there. None, where
    none are found.
    """
    m, z = problem.m.copy(), problem.z.copy()
    search = _Search(problem, judge, z)
    try:
        found, restless = search.followed(m)
        while restless.any():
            if (better := search.calmer(found, restless)) is None:
                return None
            found, restless = better
        return found
    finally:
        problem.m[:], problem.z[:] = m, z
        problem.unknowns.forget()


class _Search:
    """Relations at one instant, from where unknowns are always the same."""

    def __init__(self, problem: Problem, judge: Judge, z: Array) -> None:
        self.problem, self._judge, self._z = problem, judge, z

    def calmer(self, m: Array, restless: Flags) -> tuple[Array, Flags] | None:
        """Relations with one circle less, the fewest switched; what it drives may go in others."""
        other = np.where(restless, 1.0 - m, m)  # beyond half of the circle
        near, drives = self._driven(restless, (m, other))

        def driven(left: Flags) -> list[int]:
            return sorted((drives.get(int(r), len(m)) for r in np.flatnonzero(left)), reverse=True)

        tried = ((base, switched) for k in range(1, MOST_SWITCHED + 1)
                 for switched, base in product(combinations(near, k), (m, other)))
        for base, switched in islice(tried, MOST_TRIED):
            start = base.copy()
            start[list(switched)] = 1.0 - start[list(switched)]
            found, left = self.followed(start)
            if driven(left) < driven(restless):
                return found, left
        return None

    def followed(self, m: Array) -> tuple[Array, Flags]:
        """What follows from relations, and which of them do not come to rest."""
        m, restless = m.copy(), np.zeros(len(m), dtype=bool)
        for k in range(ROUNDS):
            wrong = self._at(m)[1]
            if not wrong.any():
                return m, wrong
            if k >= ROUNDS - CIRCLE:
                restless |= wrong
            m[wrong] = 1.0 - m[wrong]
        return m, restless

    def _driven(self, restless: Flags, bases: tuple[Array, ...]
                ) -> tuple[list[int], dict[int, int]]:
        """Relations that the restless ones drive, nearest first, and how many each one drives.

        One drives another whose crossing function changes as it is switched.
        """
        at_first = [self._at(base)[0] for base in bases]
        near = [int(r) for r in np.flatnonzero(restless)]
        drives = np.zeros((len(restless), len(restless)), dtype=bool)
        for r in near:  # which grows
            for base, g in zip(bases, at_first, strict=True):
                switched = base.copy()
                switched[r] = 1.0 - switched[r]
                with np.errstate(invalid="ignore"):
                    drives[r] |= np.abs(self._at(switched)[0] - g) > LAST_DIGITS * (1 + np.abs(g))
            near.extend(int(q) for q in np.flatnonzero(drives[r]) if q not in near)
        for r in near:
            drives[drives[:, r]] |= drives[r]
        return near, {r: int(drives[r].sum()) for r in near}

    def _at(self, m: Array) -> tuple[Array, Flags]:
        """Crossing functions, and which relations are wrong: all, where there is no solution."""
        self.problem.m[:], self.problem.z[:] = m, self._z
        self.problem.unknowns.forget()
        try:
            return self._judge()
        except AlgebraicFailure:
            return np.full(len(m), np.nan), np.ones(len(m), dtype=bool)
