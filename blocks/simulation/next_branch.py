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

import numpy as np

from ..numerics.arrays import Array, Flags, Indices
from ..numerics.tolerances import ON_PATH, TINY
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem

__all__ = ["next_branch"]

MOST_PIECES = 100  # of a path
MOST_LOOKS = 50  # for the end of a piece
LITTLE = 1e-6  # of the time in which a state changes by its size: what slopes are taken over
FAR = 1e9  # of that time: nothing ends a piece any more


class _Lost(Exception):
    """A path that cannot be followed."""


def next_branch(problem: Problem, t: float, before: Array, crossed: Indices, known: Flags,
                duration: float) -> Array | None:
    """The relations (1.0 where one holds) of the branch on which the path comes back to ``t``.

    Parameters
    ----------
    problem : at the instant; its point and relations are as they were afterwards
    before : relations that have held up to now
    crossed : of these, those that no longer can
    known : relations of time alone, which are left alone
    duration : of the run
    """
    m, z = problem.m.copy(), problem.z.copy()
    try:
        path = _Path(problem, t, before, known, duration)
        for start in (crossed, np.zeros(0, dtype=int)):  # from one end, then from the other
            try:
                return path.followed(before, start)
            except _Lost:
                continue
        return None
    finally:
        problem.m[:], problem.z[:] = m, z
        problem.unknowns.forget()
        problem.solve(t, path.y)


class _Path:
    """Solutions along the line on which time and states have been moving."""

    def __init__(self, problem: Problem, t: float, before: Array, known: Flags, duration: float
                 ) -> None:
        self.problem, self.t, self.known = problem, t, known
        self.y = problem.start_vector()
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
            if abs(self._margins(m, end)[k]) <= ON_PATH * size[k]:
                return end, np.array([k])
            at = end
        raise _Lost
