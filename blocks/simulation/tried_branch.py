"""Which relations agree with the equations, where switching them leads to none?

A circle is broken by switching a few of those that have a part in it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, islice, product

import numpy as np

from ..numerics.arrays import Array, Flags
from ..numerics.tolerances import LAST_DIGITS
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem

__all__ = ["tried_branch"]

MOST_SWITCHED = 3  # relations on trial at once, before what follows
MOST_TRIED = 500  # of these, before one is kept
ROUNDS = 12  # of what follows
CIRCLE = 4  # of these, the last ones: what they switch goes in circles

Judge = Callable[[], tuple[Array, Flags]]


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
