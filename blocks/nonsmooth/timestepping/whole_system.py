"""What do time steps need of a system whose components cannot be taken off one by one?

Algebraic unknowns, tied states, and friction that follows forces of other components: the system
as one component that sees all integrated states and acts on all of them. Everything is that of the
event-driven laws, evaluated at given efforts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array
from ...system.problem import Problem

__all__ = ["WholeSystem"]


class WholeSystem:
    """A system in units of nominal values, as time steps look at it.

    ``laws`` are its set-valued ones, which are not the problem's own meanwhile; None for none.
    """

    def __init__(self, problem: Problem, laws: Any) -> None:
        self.problem, self.laws = problem, laws
        self.size = 0 if laws is None else laws.size  # how many elements there are
        self.full = bool(problem.algebraic)  # whether any state may act on any other

    def begin(self, t: float, y: Array) -> None:
        """At the start of a step: stop where efforts of what slides have no bound."""
        if self.size and self.laws.load is not None:
            self._go_to(t, y, np.zeros(self.size))
            self.laws.painleve.refuse_jam(self.problem, t, np.ones(self.size, dtype=bool))

    def slope(self, t: float, y: Array) -> Array:
        """Slopes without set-valued efforts."""
        self.problem.u[:] = 0.0
        return self.problem.slope(t, y)

    def jacobian(self, t: float, y: Array) -> Array:
        """Derivatives of the slopes by the states, column by column."""
        self.problem.u[:] = 0.0
        found = self.problem.slope_jacobian(t, y)
        if self.full:
            return found.toarray().ravel(order="F")
        data: Array = found.data
        return data

    def gaps(self, t: float, y: Array) -> Array:
        """Gaps of the contacts."""
        self._go_to(t, y, np.zeros(self.size))
        gaps: Array = self.laws.evaluation.values(self.problem, t).gap[self.laws.elements.contact]
        return gaps

    def values(self, t: float, y: Array, effort: Array) -> Array:
        """Flows, bounds, restitution and derivatives, end to end as those of a component are."""
        problem, laws, n = self.problem, self.laws, self.size
        self._go_to(t, y, effort)
        now, args = laws.evaluation.values(problem, t), problem.arguments(t)
        push = sp.dense(laws.delassus.slope_by_efforts(problem, t, np.arange(n)))[problem.free]
        by_effort = np.zeros((4, n, n)) if laws.load is None else np.array(
            [sp.dense(m) for m in laws.load.slopes(problem, t)])
        return np.concatenate([
            now.flow, now.low, now.high, now.back, now.forth, laws.functions.restitution(*args),
            (self._flow_by_states(args) * problem.scale).T.ravel(),
            by_effort.transpose(2, 0, 1).ravel(), (push / problem.scale[:, None]).T.ravel()])

    def _flow_by_states(self, args: Any) -> Array:
        """d flow / d x by the integrated states, with which others follow; (elements, states)."""
        problem = self.problem
        flow_x = sp.dense(self.laws.functions.flow_x.sparse(*args))
        by_state = flow_x[:, problem.free]
        if len(problem.tied):
            by_x = problem.system.residual_x.sparse(*args)[:, problem.free].toarray()
            follow = problem.unknowns.solver(args)(-by_x)
            by_state = by_state + flow_x[:, problem.tied] @ follow[: len(problem.tied)]
        return by_state

    def _go_to(self, t: float, y: Array, effort: Array) -> None:
        self.problem.u[:] = 0.0
        self.laws.elements.put(self.problem.u, effort)
        self.problem.solve(t, y)
