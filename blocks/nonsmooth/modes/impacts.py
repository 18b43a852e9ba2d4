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

__all__ = ["Impacts", "impact_with_friction"]


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
        restitution = self.evaluation.functions.restitution(*problem.arguments(t))
        if self.evaluation.load is not None:
            return self._impulses_with_friction(problem, t, group, now, restitution)
        index = np.flatnonzero(group)
        d = sp.dense(self.delassus.matrix(problem, t)[index][:, index])
        return index, sequential_impact(d, now.flow[index], restitution[index])

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
        """Change the states as impulses of some elements do.

        What follows work, such as a temperature, does so at the mean of the flows before and
        after: the work of an impulse is exactly that.
        """
        before = problem.x.copy()
        change = self.delassus.slope_by_efforts(problem, t, index) @ impulse
        problem.x += change
        if not self.evaluation.functions.fixed:
            problem.x[:] = before + change / 2
            problem.solve_algebraic(t)
            problem.x[:] = before + self.delassus.slope_by_efforts(problem, t, index) @ impulse
        problem.solve_algebraic(t)

    def _impulses_with_friction(self, problem: Problem, t: float, group: Flags, now: LawValues,
                                restitution: Array) -> tuple[Indices, Impact]:
        """Find the impulses of contacts and of the friction that they load; who, and the impact."""
        load, contact, resting = self.evaluation.load, self.elements.contact, self.state.modes == 0
        assert load is not None
        bottom = np.where(resting, now.low, now.back)
        top = np.where(resting, now.high, now.forth)
        endless = ~np.isfinite(top - bottom) & ~contact & resting
        index = np.flatnonzero(group | (load.dependent & ~contact) | endless)
        return index, impact_with_friction(
            problem, t, self.elements, load, resting, index,
            dense_block(self.delassus.matrix(problem, t), index, index), now.flow[index],
            restitution[index], bottom[index], top[index], np.zeros(self.elements.size))


def impact_with_friction(problem: Problem, t: float, elements: Elements,
                         bounds: LoadDependence | BoundFunctions, resting: Flags, index: Indices,
                         d: Array, flow: Array, restitution: Array, bottom: Array, top: Array,
                         effort: Array) -> Impact:
    """Impulses of contacts, and of friction whose bounds are proportional to impulses.

    Slopes of ``bounds`` by efforts are asked for at impulses as large efforts; they bend (gears
    with losses), and are found by repetition. Elements that are ``resting`` are at rest; of others
    bounds in motion count. ``index`` is who takes part, and what all else is of; ``d`` is the
    change of flows by impulses, with its sign turned; ``bottom`` and ``top`` are bounds of efforts
    at rest or in motion, as each is: what is finite bears no impulse unless it follows others;
    ``effort`` is of all elements, which those that take no part keep.
    """
    contact, rests = elements.contact[index], resting[index, None]
    restitution = np.where(contact, restitution, 0.0)

    def slopes(impulse: Array) -> tuple[Array, Array]:
        effort[index] = FULL * impulse
        elements.put(problem.u, effort)
        problem.solve_algebraic(t)
        low, high, back, forth = (dense_block(s, index, index) for s in bounds.slopes(problem, t))
        return np.where(rests, low, back), np.where(rests, high, forth)

    with put_back(problem.u, problem.z):
        return _with_bounds_by_impulses(d, flow, restitution, contact, bottom, top, slopes)


def _with_bounds_by_impulses(
        d: Array, flow: Array, restitution: Array, contact: Flags, bottom: Array, top: Array,
        slopes: Callable[[Array], tuple[Array, Array]]) -> Impact:
    """Find impulses, by repetition, with the slopes of bounds that they themselves lead to."""
    low = np.where(np.isfinite(bottom), 0.0, bottom)
    high = np.where(contact, np.inf, np.where(np.isfinite(top), 0.0, top))
    impulse = contact.astype(float)
    present = slopes(impulse)
    for _ in range(ROUNDS):
        impact = sequential_impact(d, flow, restitution, Friction(contact, low, high, *present))
        change = np.abs(impact.impulse - impulse).max()
        impulse, last = impact.impulse, present
        present = slopes(impulse)
        if all(map(np.array_equal, present, last)):  # the same problem again
            return impact
        if change <= SETTLED * np.abs(impulse).max():
            return impact
    settled = change <= SAME_AS_BEFORE * np.abs(impulse).max()
    return replace(impact, converged=impact.converged and settled)
