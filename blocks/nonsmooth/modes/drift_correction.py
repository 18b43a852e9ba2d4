"""Have closed contacts drifted apart? Then positions are corrected.

Closed contacts are held by their efforts: gaps keep their rates, and errors of the integration
add up. When a gap has grown beyond what is allowed, positions are moved as impulses of the
contacts would move them, velocities are stopped likewise, and the integration starts afresh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ...exceptions import InitialisationError
from ...numerics import sparse as sp
from ...numerics.arrays import Array, Indices
from ...numerics.tolerances import BLOCK_SINGULAR
from ..contract import Laws
from ..unsettled import unsettled
from .delassus import pseudo_inverse
from .gaps import (
    RIGID,
    TWO_BODIES,
    allowed_gap,
    gaps_of,
    largest_position,
    positions_of,
    refuse_overlap,
)
from .laws import SetValuedLaws

if TYPE_CHECKING:
    from ...system import Evaluator, Problem

__all__ = ["Contacts", "immovable"]

DENSE = 60  # states up to which matrices are made densely
LEFT = 1e3  # times what is allowed: a gap that could not be closed
ROUNDS = 4  # of Newton's method, with the first matrix


class Contacts:
    """The contacts among the set-valued laws of a run.

    Parameters
    ----------
    laws : those without laws of the load
        Those of networks with nodes without mass hold their contacts by their equations.
    """

    def __init__(self, laws: Laws) -> None:
        self.index = np.flatnonzero(laws.contact)  # element of every gap
        self.closing: _Closing | None = None
        if isinstance(laws, SetValuedLaws) and len(self.index):
            self.closing = _Closing(laws, self.index)

    def refuse_impossible(self, problem: Problem, t: float) -> None:
        """Stop at contacts of parts that overlap at the start, or cannot move against each other.

        Raises
        ------
        InitialisationError
            Naming the contact.
        """
        if self.closing is None:
            return
        laws, functions = self.closing.laws, self.closing.functions
        for path in immovable(laws, problem, t):
            raise InitialisationError(path, RIGID, TWO_BODIES, code="contact.rigid")
        refuse_overlap(laws.system, laws.elements, functions.gaps(*problem.arguments(t)),
                       self.index, largest_position(problem))  # fmt: skip

    def close(self, problem: Problem, t: float) -> bool:
        """Close gaps that have drifted open; whether there were any."""
        return self.closing is not None and self.closing.close(problem, t)


@dataclass(frozen=True)
class _GapFunctions:
    """Gaps of a system's contacts, their derivatives by states, and states that are positions."""

    gaps: Evaluator
    by_x: Evaluator
    positions: Indices


class _Closing:
    """Closing of the gaps of some contacts."""

    def __init__(self, laws: SetValuedLaws, index: Indices) -> None:
        self.laws, self.index = laws, index
        system = laws.system
        if "contacts" not in system.cache:
            gaps = gaps_of(system)
            system.cache["contacts"] = _GapFunctions(
                system.function("gaps", ca.densify(gaps)),
                system.jacobian(gaps, system.tape.x), positions_of(system))
        self.functions: _GapFunctions = system.cache["contacts"]
        self.positions = self.functions.positions

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
        push = laws.delassus.slope_by_efforts(problem, t, stuck)
        push = push.toarray() if sp.issparse(push) else push
        self._move(problem, t, closed, push[:, np.searchsorted(stuck, self.index[closed])],
                   allowed)  # fmt: skip
        if np.abs(self._values(problem, t)[closed]).max() > LEFT * allowed:
            raise unsettled((laws.name(int(k)) for k in self.index[closed]), t, "positions",
                            "Look for bodies that touch in more places than they can move.")
        d = laws.delassus.matrix(problem, t)[stuck][:, stuck]
        flow = laws.look(problem, t).flow[stuck]
        problem.x += push @ pseudo_inverse(d)(flow)
        problem.settle(t)
        return True

    def _move(self, problem: Problem, t: float, closed: Indices, push: Array, allowed: float
              ) -> None:
        """Move positions in the directions of the contacts' efforts until gaps are closed."""
        slope_x, by_x = self._derivatives(problem, t)
        way = slope_x[self.positions] @ push
        inverse = np.linalg.pinv(by_x[closed][:, self.positions] @ way, rcond=BLOCK_SINGULAR)
        for _ in range(ROUNDS):
            gap = self._values(problem, t)[closed]
            if np.abs(gap).max() <= 0.01 * allowed:
                break
            problem.x[self.positions] -= way @ (inverse @ gap)
            problem.solve_algebraic(t)

    def _derivatives(self, problem: Problem, t: float) -> tuple[Array, Array]:
        """d slope / d x and d gap / d x, dense."""
        system, args = problem.system, problem.arguments(t)
        if system.nz or system.nx > DENSE:
            return (system.slope_x.sparse(*args).toarray(),
                    self.functions.by_x.sparse(*args).toarray())
        return system.slope_x.dense(*args), self.functions.by_x.dense(*args)

    def _values(self, problem: Problem, t: float) -> Array:
        """Gaps at the present point."""
        return self.functions.gaps(*problem.arguments(t))


def immovable(laws: Laws, problem: Problem, t: float) -> list[str]:
    """Contacts whose effort moves nothing: between parts that cannot move against each other."""
    if not isinstance(laws, SetValuedLaws):
        return []
    dead = laws.contact & laws.delassus.immovable(problem, t)
    return [laws.name(int(k)) for k in np.flatnonzero(dead)]
