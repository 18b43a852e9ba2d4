"""How do velocities jump where contacts close?

Newton impacts through the network, with the friction that contacts load; and flows of what comes
to rest, brought to zero exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.copies import put_back
from ...numerics.tolerances import NEAR_GAP, SAME_AS_BEFORE, SETTLED
from ...system import Problem
from ..complementarity import Friction, Impact, sequential_impact
from ..complementarity.impact import FULL, ROUNDS
from ..complementarity.scaling import dense_block
from ..unsettled import unsettled
from .bound_functions import BoundFunctions
from .elements import Elements, LawValues
from .evaluation import Evaluation
from .gaps import largest_position
from .load_dependence import LoadDependence

__all__ = ["Impacts", "impact_of", "push"]


class Impacts:
    """Impacts of the contacts of a network."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation, self.elements = evaluation, evaluation.elements
        self.state, self.delassus = evaluation.state, evaluation.delassus

    def strike(self, problem: Problem, t: float, closing: Flags) -> Flags:
        """Let contacts that close strike; returns which elements took part."""
        contact, size = self.elements.contact, self.elements.size
        struck = np.zeros(size, dtype=bool)
        if not closing.any():
            return struck
        now = self.evaluation.values(problem, t)
        index, impact = self._impact(problem, t, closing, now)
        if not impact.converged:
            raise unsettled(self.elements.names(index), t, "impulses")
        self.state.notice_flow(now.flow)
        slow = SAME_AS_BEFORE * self.state.fast
        self._push(problem, t, index, impact.impulse)
        after = self.evaluation.values(problem, t).flow
        rest = np.zeros(size, dtype=bool)
        rest[index] = np.abs(after[index]) <= slow[index]
        self.stop(problem, t, rest, rest)
        struck[index[(impact.impulse > 0) & contact[index]]] = True
        return struck

    def impulses(self, problem: Problem, t: float, struck: Flags) -> tuple[Array, Array]:
        """Impulses of all elements where some contacts are struck, and how they change states.

        Those among ``struck`` that do not close (the other end of a stop) are not.
        """
        now = self.evaluation.values(problem, t)
        near = NEAR_GAP * largest_position(problem)
        index, impact = self._impact(problem, t, struck & (now.gap <= near) & (now.flow > 0), now)
        out = np.zeros(self.elements.size)
        out[index] = impact.impulse
        change = self.delassus.slope_by_efforts(problem, t, index) @ impact.impulse
        return out, np.asarray(change).ravel()

    def _impact(self, problem: Problem, t: float, closing: Flags, now: LawValues
                ) -> tuple[Indices, Impact]:
        """Who takes part where some contacts close, and their impulses."""
        near = NEAR_GAP * largest_position(problem)
        group = self.elements.contact & self.evaluation.connected_with(problem, t, closing) & (
            closing | (self.state.modes == 0) | (now.gap <= near))
        load, contact, resting = self.evaluation.load, self.elements.contact, self.state.modes == 0
        sides = now.flow, now.low, now.high, now.back, now.forth
        if load is not None:
            endless = resting & ~np.isfinite(now.high - now.low)
            group |= (load.dependent | endless) & ~contact
        index = np.flatnonzero(group)
        d = sp.dense(self.delassus.matrix(problem, t)[index][:, index])
        return index, impact_of(problem, t, self.elements, load, resting, index, d, sides,
                                self.evaluation.functions.restitution(*problem.arguments(t)),
                                np.zeros(self.elements.size))

    def stop(self, problem: Problem, t: float, resting: Flags, stopping: Flags,
             turning: Flags | None = None) -> None:
        """Bring the flows of elements at rest to zero exactly, if any come to rest.

        Those of elements that are ``turning`` too, which move on against what is left of their
        flow, the error of the run; but not at a dead point (a piston's): hardly anything acts on
        what passes through zero there, and to stop it would take all motion there is.
        """
        if turning is not None and turning.any():
            size = np.maximum(np.abs(problem.x), problem.scale_x)
            both = resting | turning
            index, effort = self._stopping(problem, t, both)
            change = self.delassus.slope_by_efforts(problem, t, index) @ effort
            if np.all(np.abs(change) <= self.state.drift * size):
                resting, stopping = both, both
        if stopping.any():
            self._push(problem, t, *self._stopping(problem, t, resting))

    def _stopping(self, problem: Problem, t: float, resting: Flags) -> tuple[Indices, Array]:
        """Who is stopped, and the impulses that do it."""
        flow = self.evaluation.values(problem, t).flow[resting]
        effort = self.delassus.solve(self.delassus.matrix(problem, t), resting, flow)
        return np.flatnonzero(resting), effort

    def _push(self, problem: Problem, t: float, index: Indices, impulse: Array) -> None:
        """Change the states as impulses of some elements do."""
        push(problem, t, lambda: self.delassus.slope_by_efforts(problem, t, index) @ impulse,
             self.evaluation.functions.fixed)


def push(problem: Problem, t: float, change: Callable[[], Array], fixed: bool = False) -> None:
    """Change the states as impulses do, by ``change`` at the present point; ``fixed``: everywhere.

    What follows work, such as a temperature, does so at the mean of the flows before and after: the
    work of an impulse is exactly that.
    """
    before = problem.x.copy()
    for share in (1.0,) if fixed else (0.5, 1.0):
        problem.x[:] = before + share * change()
        problem.solve_algebraic(t)


def impact_of(problem: Problem, t: float, elements: Elements,
              bounds: LoadDependence | BoundFunctions | None, resting: Flags, index: Indices,
              d: Array, now: tuple[Array, ...], restitution: Array, effort: Array) -> Impact:
    """Impulses of contacts, and of friction whose bounds are proportional to impulses.

    ``index`` is who takes part, ``d`` the change of their flows by impulses, with its sign turned;
    what else is given is of all elements. Slopes of ``bounds`` by efforts are asked for at impulses
    as large efforts; they bend (gears with losses), and are found by repetition. None: contacts
    load nothing. ``now`` are flows, and bounds at rest and in motion, of which those count that
    each is at; what is finite bears no impulse unless it follows others. ``effort`` is kept by
    those that take no part.
    """
    flow, low, high, back, forth = (side[index] for side in now)
    if bounds is None:
        return sequential_impact(d, flow, restitution[index])
    contact, rests = elements.contact[index], resting[index]
    bottom, top = np.where(rests, low, back), np.where(rests, high, forth)
    bottom = np.where(np.isfinite(bottom), 0.0, bottom)
    top = np.where(contact, np.inf, np.where(np.isfinite(top), 0.0, top))

    def slopes(impulse: Array) -> list[Array]:
        effort[index] = FULL * impulse
        elements.put(problem.u, effort)
        problem.solve_algebraic(t)
        low, high, back, forth = (dense_block(s, index, index) for s in bounds.slopes(problem, t))
        return [np.where(rests[:, None], low, back), np.where(rests[:, None], high, forth)]

    with put_back(problem.u, problem.z):
        impulse = contact.astype(float)
        present = slopes(impulse)
        for _ in range(ROUNDS):
            impact = sequential_impact(d, flow, np.where(contact, restitution[index], 0.0),
                                       Friction(contact, bottom, top, *present))
            change = np.abs(impact.impulse - impulse).max()
            impulse, last = impact.impulse, present
            present = slopes(impulse)
            if all(map(np.array_equal, present, last)) or (  # the same problem again
                    change <= SETTLED * np.abs(impulse).max()):
                return impact
    settled = change <= SAME_AS_BEFORE * np.abs(impulse).max()
    return replace(impact, converged=impact.converged and settled)
