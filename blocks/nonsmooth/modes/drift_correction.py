"""Have closed contacts drifted apart? Then positions are corrected.

Closed contacts are held by their efforts: gaps keep their rates, and errors of the integration
add up. When a gap has grown beyond what is allowed, positions are moved as impulses of the
contacts would move them, velocities are stopped likewise, and the integration starts afresh.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from ...exceptions import InitialisationError
from ...numerics import sparse as sp
from ...numerics.arrays import Array, Cube, Flags, Indices
from ...numerics.tolerances import BLOCK_SINGULAR
from ...system import Evaluator, Problem
from ...system.points import Points
from ..contract import Laws
from ..unsettled import unsettled
from .delassus import DENSE, dense_inverses, pseudo_inverse
from .gaps import (
    RIGID,
    TWO_BODIES,
    allowed_gap,
    allowed_gaps,
    gap_function,
    gaps_of,
    largest_position,
    positions_of,
    refuse_overlap,
)
from .laws import SetValuedLaws

__all__ = ["Contacts", "contacts_of", "immovable"]

LEFT = 1e3  # times what is allowed: a gap that could not be closed
ROUNDS = 4  # of Newton's method, with the first matrix
TOGETHER = 1 << 20  # entries of matrices of all points that are looked at together


class Contacts:
    """The contacts among the set-valued laws of a run.

    ``laws`` are those without laws of the load. Those of networks with nodes without mass hold
    their contacts by their equations.
    """

    def __init__(self, laws: Laws) -> None:
        self.index = np.flatnonzero(laws.elements.contact)  # element of every gap
        self.closing: _Closing | None = None
        if isinstance(laws, SetValuedLaws) and len(self.index):
            self.closing = _Closing(laws, self.index)

    def refuse_impossible(self, problem: Problem, t: float) -> None:
        """Stop at contacts of parts that overlap at the start, or cannot move against each other.

        An InitialisationError names the contact.
        """
        if self.closing is None:
            return
        laws = self.closing.laws
        for path in immovable(laws, problem, t):
            raise InitialisationError(path, RIGID, TWO_BODIES, code="contact.rigid")
        refuse_overlap(laws.system, laws.elements, self.closing.gaps(*problem.arguments(t)),
                       self.index, largest_position(problem))  # fmt: skip

    def close(self, problem: Problem, t: float) -> bool:
        """Close gaps that have drifted open; whether there were any."""
        return self.closing is not None and self.closing.close(problem, t)

    def close_at(self, problem: Problem, points: Points) -> tuple[Array, Flags]:
        """States at points of a finished run with gaps closed, and at which points they are.

        At none where the network is large or anything is solved for besides: there contacts are
        closed at one point after the other.
        """
        if self.closing is None:
            return points.x, np.zeros(len(points), dtype=bool)
        return self.closing.close_at(problem, points)


def contacts_of(laws: Laws) -> Contacts | None:
    """The contacts among the laws of a run, where there are any."""
    return Contacts(laws.set_valued) if laws.elements.contact.any() else None


class _Closing:
    """Closing of the gaps of some contacts."""

    def __init__(self, laws: SetValuedLaws, index: Indices) -> None:
        self.laws, self.index = laws, index
        system = laws.system
        self.gaps, self.positions = gap_function(system), positions_of(system)
        self.by_x: Evaluator = system.once(
            "gaps by states", lambda: system.jacobian(gaps_of(system), system.tape.x))

    def close(self, problem: Problem, t: float) -> bool:
        """Close gaps that have drifted open; whether there were any."""
        laws = self.laws
        closed = np.flatnonzero(laws.modes[self.index] == 0)
        if not len(closed):
            return False
        allowed = allowed_gap(problem)
        if np.abs(self._values(problem, t)[closed]).max() <= allowed:
            return False
        stuck = np.flatnonzero(laws.modes == 0)
        push = sp.dense(laws.delassus.slope_by_efforts(problem, t, stuck))
        self._move(problem, t, closed, push[:, np.searchsorted(stuck, self.index[closed])],
                   allowed)  # fmt: skip
        if np.abs(self._values(problem, t)[closed]).max() > LEFT * allowed:
            raise unsettled(laws.elements.names(self.index[closed]), t, "positions",
                            "Look for bodies that touch in more places than they can move.")
        d = laws.delassus.matrix(problem, t)[stuck][:, stuck]
        flow = laws.evaluation.values(problem, t).flow[stuck]
        problem.x += push @ pseudo_inverse(d)(flow)
        problem.update_anew(t)
        return True

    def close_at(self, problem: Problem, points: Points) -> tuple[Array, Flags]:
        """Close gaps at many points; states, (states, points), and where that was done."""
        x, found = points.x.copy(), np.zeros(len(points), dtype=bool)
        if problem.algebraic or not self.laws.functions.few:
            return x, found
        function = self.laws.system.once("closing contacts", self._matrices_as_column)
        if function is None:
            return x, found
        together = max(1, TOGETHER // function.function.size1_out(0))
        allowed = allowed_gaps(x, problem)
        for modes, columns in points.modes:
            if (modes[self.index] == 0).any():
                for first in range(0, len(columns), together):
                    some = columns[first : first + together]
                    x[:, some], found[some] = self._closed_at(
                        function, points.some(some), modes[: self.laws.size], allowed[some])
        return x, found

    def _closed_at(self, function: Evaluator, points: Points, modes: Indices, allowed: Array
                   ) -> tuple[Array, Flags]:
        """Close gaps at points with the same modes, as :meth:`close`, on stacks of matrices."""
        stuck, closed = np.flatnonzero(modes == 0), np.flatnonzero(modes[self.index] == 0)
        slope_x, push, by_x, _ = self._matrices_at(function, points)
        push = push[:, :, stuck]
        way = slope_x @ push[:, :, np.searchsorted(stuck, self.index[closed])]
        inverse = np.asarray(
            np.linalg.pinv(by_x[:, closed] @ way, rcond=BLOCK_SINGULAR), dtype=float)
        x = points.x.copy()
        points = replace(points, x=x)  # which goes on
        gap = points.values(self.gaps)[closed]
        first = size = np.abs(gap).max(axis=0)
        for _ in range(ROUNDS):
            apart = size > 0.01 * allowed
            if not apart.any():
                break
            x[self.positions] -= np.where(apart, _times(way, _times(inverse, gap)), 0.0)
            gap = points.values(self.gaps)[closed]
            size = np.abs(gap).max(axis=0)
        d = self._matrices_at(function, points)[3][:, stuck[:, None], stuck]
        flow = points.values(self.laws.functions.values)[stuck]
        x += _times(push, _times(dense_inverses(d), flow))
        return x, np.isfinite(x).all(axis=0) & (first > allowed) & (size <= LEFT * allowed)

    def _matrices_as_column(self) -> Evaluator | None:
        """What closing takes, as one column: how positions follow states, states efforts, gaps
        positions, and D; None where D is not dense."""
        functions, system, elements = self.laws.functions, self.laws.system, self.laws.elements
        if elements.size > DENSE:
            return None
        symbols, place = system.arguments, self.positions.tolist()
        slope_x, slope_u, by_x, rate_u = (f.function(*symbols) for f in (
            system.slope_x, functions.slope_u, self.by_x, functions.rate_u))
        return Evaluator(ca.Function("closing", symbols, [ca.densify(ca.veccat(*map(ca.densify, (
            slope_x[place, :], elements.pushed(slope_u), by_x[:, place],
            -elements.pushed(rate_u)))))]))

    def _matrices_at(self, function: Evaluator, points: Points) -> list[Cube]:
        """What closing takes, as stacks of matrices; 0 where not finite, which flows show."""
        column = points.values(function).T
        column[~np.isfinite(column).all(axis=1)] = 0.0
        nx, count, size = self.laws.system.nx, len(self.positions), self.laws.size
        shapes = (count, nx), (nx, size), (len(self.index), count), (size, size)
        parts = np.split(column, np.cumsum([a * b for a, b in shapes])[:-1], axis=1)
        return [part.reshape(-1, b, a).transpose(0, 2, 1)
                for part, (a, b) in zip(parts, shapes, strict=True)]

    def _move(self, problem: Problem, t: float, closed: Indices, push: Array, allowed: float
              ) -> None:
        """Move positions in the directions of the contacts' efforts until gaps are closed."""
        args = problem.arguments(t)
        slope_x, by_x = (f.sparse(*args).toarray() for f in (problem.system.slope_x, self.by_x))
        way = slope_x[self.positions] @ push
        inverse = np.linalg.pinv(by_x[closed][:, self.positions] @ way, rcond=BLOCK_SINGULAR)
        for _ in range(ROUNDS):
            gap = self._values(problem, t)[closed]
            if np.abs(gap).max() <= 0.01 * allowed:
                break
            problem.x[self.positions] -= way @ (inverse @ gap)
            problem.solve_algebraic(t)

    def _values(self, problem: Problem, t: float) -> Array:
        """Gaps at the present point."""
        return self.gaps(*problem.arguments(t))


def _times(matrices: Cube, columns: Array) -> Array:
    """Every matrix of a stack times a column of its own."""
    return (matrices @ columns.T[:, :, None])[..., 0].T


def immovable(laws: Laws, problem: Problem, t: float) -> list[str]:
    """Contacts whose effort moves nothing: between parts that cannot move against each other."""
    if not isinstance(laws, SetValuedLaws):
        return []
    dead = laws.elements.contact & laws.delassus.immovable(problem, t)
    return laws.elements.names(np.flatnonzero(dead))
