"""Where a solution of switched equations ends: which one lies beyond?

Of a loop with several solutions (a limited amplifier that feeds back on itself) the one that the
run has followed may end, or its input may step: with the relation that has crossed switched, others
no longer hold. Switching all of these at once goes in circles where the loop feeds back on itself:
there the solution may be on a piece that the circle never comes to. So a few of the relations that
have a part in the circle are switched, the nearest first, then all that follows from them, and what
ends a circle is kept, until there is none: where one loop drives another, that of the first.

A curve that falls, as a tunnel diode's, gives a loop several solutions, too, which join in folds.
At a fold the one that the run has followed ends. Beyond it Newton's method leads far away, along
the curve's tangent; the next solution is the nearest place there from which it would turn round.

References
----------
L. O. Chua and A. Ushida, "A switching-parameter algorithm for finding multiple solutions of
nonlinear resistive circuits", Int. J. Circuit Theory Appl. 4 (1976) 215-239.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, islice, product
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..numerics.arrays import Array, Flags, Indices
from ..numerics.copies import put_back
from ..numerics.rewriting import dependent_pairs
from ..numerics.tolerances import AT_FOLD, DIRECTION_STEP, TINY
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem
from ..system.system import System

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix  # imported with the first circle, not with the package

__all__ = ["GOES_ON", "Judge", "beyond_fold", "judged_later", "next_branch"]

GOES_ON = "goes on from another solution"  # what is told of a variable as an event

MOST_SWITCHED = 3  # relations on trial at once, before what follows
MOST_TRIED = 500  # of these, before one is kept
ROUNDS = 12  # of what follows
CIRCLE = 4  # of these, the last ones: what they switch goes in circles

#: Gives crossing functions with the relations of a problem, and which of these are wrong.
Judge = Callable[[], tuple[Array, Flags]]


def next_branch(problem: Problem, judge: Judge) -> Array | None:
    """Relations (1.0 where one holds) that agree with the equations; None, where none are found.

    The relations of ``problem``, at the instant, are those of a round of the circle.
    """
    m, search = problem.m.copy(), _Search(problem, judge, problem.z.copy())
    with put_back(problem.x, problem.z, problem.m):
        found, restless = search.followed(m)
        while restless.any():  # by fewer relations each time
            if (better := search.calmer(found, restless)) is None:
                return None
            found, restless = better
        return found


def judged_later(problem: Problem, t: float, before: Array, crossed: Indices, duration: float,
                 wrong: Callable[[Array], Flags]) -> Judge:
    """What judges relations a little after ``t``, where states lead that have been moving.

    Where a solution ends another one ends, too: both hold there, and neither of them later. Up to
    there the relations ``before`` have held, of which those ``crossed`` are to switch: the solution
    that is meant lies beyond these. ``wrong`` tells what is wrong by crossing functions.
    """
    present, y = problem.m.copy(), problem.solver_vector()
    problem.m[:] = before
    problem.unknowns.forget()
    slope = np.nan_to_num(problem.slope(t, y))
    problem.m[:] = present
    later = _little(y, slope, duration)

    def judge() -> tuple[Array, Flags]:
        g = problem.crossings(t + later, y + later * slope)
        found = wrong(g)
        found[crossed] |= problem.m[crossed] == before[crossed]
        return g, found

    return judge


def _little(y: Array, slope: Array, duration: float) -> float:
    """A time in which unknowns, in nominal values, hardly move."""
    speed = float(np.max(np.abs(slope) / (np.abs(y) + 1.0), initial=0.0))
    return DIRECTION_STEP * min(1.0 / max(speed, TINY), duration)


def beyond_fold(problem: Problem, t: float, duration: float) -> Array | None:
    """Torn unknowns of the solution that lies beyond the present point.

    None where the present one goes on, or equations have no value or say nothing there. An
    AlgebraicFailure where no other one is found. The ``problem`` is without tied states, and
    without set-valued laws at nodes without mass; ``duration`` is of the run.
    """
    y, z = problem.solver_vector(), problem.z.copy()
    slope = problem.system.slope(*problem.arguments(t))[problem.free] / problem.scale
    later = _little(y, slope, duration)
    with put_back(problem.x, problem.z, problem.m):
        problem.x[problem.free] = (y + later * slope) * problem.scale
        given = problem.arguments(t + later)
        if not np.isfinite(problem.system.residual(*given)).all():
            return None
        problem.unknowns.forget()
        problem.unknowns.solve_in_order(given, lambda: None, whole=False)
        try:
            problem.unknowns.solve(given, patient=False)
        except AlgebraicFailure as failure:
            if failure.singular:
                return None
            raise AlgebraicFailure(
                t, failure.worst, "the solution that they have followed ends there, and from its "
                "end none is reached that goes on", advice="What is small and was left out decides "
                "where they go: give the nodes there a small mass, capacitance or "
                "compressibility.") from failure
        away = np.abs(problem.z - z)
        goes_on = (away <= AT_FOLD * (np.abs(z) + problem.scale_z)).all()
        return None if goes_on else problem.z.copy()


class _Search:
    """Relations at one instant, from where unknowns are always the same."""

    def __init__(self, problem: Problem, judge: Judge, z: Array) -> None:
        self.problem, self._judge, self._z = problem, judge, z
        self._reached: dict[int, list[int]] = {}

    def calmer(self, m: Array, restless: Flags) -> tuple[Array, Flags] | None:
        """Relations with one circle less, the fewest switched; what it drives may go in others."""
        other = np.where(restless, 1.0 - m, m)  # beyond half of the circle
        near = dict.fromkeys(
            q for r in np.flatnonzero(restless) for q in self._driven(int(r)))
        tried = ((base, switched) for k in range(1, MOST_SWITCHED + 1)
                 for switched, base in product(combinations(near, k), (m, other)))
        for base, switched in islice(tried, MOST_TRIED):
            start = base.copy()
            start[list(switched)] = 1.0 - start[list(switched)]
            found, left = self.followed(start)
            if self._circles(left) < self._circles(restless):
                return found, left
        return None

    def _circles(self, restless: Flags) -> list[int]:
        """How many relations each circle drives, its own among them; the most first."""
        circles = {frozenset(self._driven(int(r))) for r in np.flatnonzero(restless)}
        return sorted(map(len, circles), reverse=True)

    def _driven(self, relation: int) -> list[int]:
        """A relation, and those that it drives, nearest first."""
        if relation not in self._reached:
            from scipy.sparse.csgraph import breadth_first_order

            graph = self.problem.system.once("what relations drive", lambda: _what_drives(
                self.problem.system))
            reached = breadth_first_order(graph, relation, return_predecessors=False)
            self._reached[relation] = reached[reached < len(self.problem.m)].tolist()
        return self._reached[relation]

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

    def _at(self, m: Array) -> tuple[Array, Flags]:
        """Crossing functions, and which relations are wrong: all, where there is no solution."""
        self.problem.m[:], self.problem.z[:] = m, self._z
        self.problem.unknowns.forget()
        try:
            return self._judge()
        except AlgebraicFailure:
            return np.full(len(m), np.nan), np.ones(len(m), dtype=bool)


def _what_drives(system: System) -> csr_matrix:
    """Ones where a relation, or something that is solved for, has a part in the crossing function
    or the equation of another: relations first, then torn unknowns, then all else together."""
    from scipy.sparse import csr_matrix

    tape, last = system.tape, system.nm + system.nz
    everything = np.arange(last if system.nu else 0)  # which efforts may follow
    driven, drives = (np.minimum(k, last) for k in dependent_pairs(
        ca.vertcat(tape.crossings, tape.residual, tape.constraints),
        ca.vertcat(tape.m, tape.z, tape.u, tape.x if system.clusters else ca.SX(0, 1))))
    pairs = np.append(drives, everything), np.append(driven, np.full(len(everything), last))
    return csr_matrix((np.ones(len(pairs[0])), pairs), shape=(last + 1, last + 1))
