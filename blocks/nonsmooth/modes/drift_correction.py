"""Have closed contacts drifted apart? Then positions are corrected.

Closed contacts are held by their efforts: gaps keep their rates, and errors of the integration
add up. When a gap has grown beyond what is allowed, positions are moved as impulses of the
contacts would move them, velocities are stopped likewise, and the integration starts afresh.
"""

from __future__ import annotations

import numpy as np

from ...exceptions import InitialisationError
from ...numerics import sparse as sp
from ...numerics.arrays import Array, Indices
from ...numerics.tolerances import BLOCK_SINGULAR
from ...system import Evaluator, Problem
from ..contract import Laws
from ..unsettled import unsettled
from .delassus import pseudo_inverse
from .gaps import (
    RIGID,
    TWO_BODIES,
    allowed_gap,
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


def immovable(laws: Laws, problem: Problem, t: float) -> list[str]:
    """Contacts whose effort moves nothing: between parts that cannot move against each other."""
    if not isinstance(laws, SetValuedLaws):
        return []
    dead = laws.elements.contact & laws.delassus.immovable(problem, t)
    return laws.elements.names(np.flatnonzero(dead))
